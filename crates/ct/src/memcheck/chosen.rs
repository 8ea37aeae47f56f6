//! Messages of the sender's choice: sealing, and selecting what was chosen. Opening is no check: the receiver's time
//! depends on the true length and the validity of what it opens, as SECURITY.md says.

use foxtrot_kernel::memcheck::public;
use foxtrot_ot::{
    Backend, Direction,
    convert::{Receiver, Sender, one_of_n},
};

use super::{Check, base::choices, secrets, session};

const N: usize = 5;

pub(crate) fn checks() -> impl Iterator<Item = Check> {
    let named = |name: &str, run: fn(Backend)| Check { name: name.into(), run: Box::new(run) };
    [
        named("chosen messages, sealed and selected", run),
        named("chosen messages, one of four", run_one_of_four),
    ]
    .into_iter()
}

fn run(backend: Backend) {
    let session = || session(backend, "chosen-messages", Direction::InitiatorSends);
    let pairs = [[secrets([1; 16]), secrets([2; 16])]; N];
    let messages = [[secrets(*b"forty-one"), secrets(*b"forty-two")]; N];
    let mut sender = Sender::new(session(), 9).expect("a small message");
    let mut frame = sender.seal(&pairs, &messages).expect("a message for each key");
    public(&mut frame);
    let mut receiver = Receiver::new(session(), 9).expect("a small message");
    receiver.take(&choices(N), &[secrets([1; 16]); N], &frame).expect("a frame");
}

fn run_one_of_four(backend: Backend) {
    let session = || session(backend, "chosen-messages", Direction::InitiatorSends);
    let (keys, messages) = ([secrets([1; 16]); 4 * N], [secrets(*b"forty-one"); 4 * N]);
    let mut sender = one_of_n::Sender::new(session(), 9, 4).expect("a small message");
    let mut frame = sender.seal(&keys, &messages).expect("a message for each key");
    public(&mut frame);
    let chosen = (0..N as u64).map(|i| u64::from_le_bytes(secrets((i % 4).to_le_bytes())));
    let chosen = chosen.collect::<Vec<_>>().into();
    let mut receiver = one_of_n::Receiver::new(session(), 9, 4, chosen).expect("choices below 4");
    receiver.take(&frame).expect("a frame");
}
