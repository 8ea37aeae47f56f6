//! Messages of the sender's choice: sealing, and selecting what was chosen. Opening is no check: the receiver's time
//! depends on the true length and the validity of what it opens, as SECURITY.md says.

use foxtrot_kernel::memcheck::public;
use foxtrot_ot::{
    Backend, Direction,
    convert::{Receiver, Sender},
};

use super::{Check, base::choices, secrets, session};

const N: usize = 5;

pub(crate) fn checks() -> impl Iterator<Item = Check> {
    let name = "chosen messages, sealed and selected".into();
    [Check { name, run: Box::new(run) }].into_iter()
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
