//! Messages of the sender's choice: sealing, and selecting what was chosen. Opening is no check: the receiver's time
//! depends on the true length and the validity of what it opens, as SECURITY.md says.

use foxtrot_kernel::memcheck::public;
use foxtrot_ot::{
    Backend, Direction,
    base::Block,
    convert::{Format, Receiver, Sender},
};

use super::{Check, secrets, session};

const N: usize = 5;

pub(crate) fn checks() -> impl Iterator<Item = Check> {
    let named = |name: &str, format: Format| Check {
        name: name.into(),
        run: Box::new(move |backend| run(backend, format)),
    };
    [
        named("chosen messages, sealed and selected", Format::Pairs),
        named("chosen messages, one of four", Format::OneOf(4)),
    ]
    .into_iter()
}

fn run(backend: Backend, format: Format) {
    let session = || session(backend, "chosen-messages", Direction::InitiatorSends);
    let choices = match format {
        Format::Pairs => 2,
        Format::OneOf(choices) => choices,
    };
    let keys: Vec<Block> = (0..choices * N).map(|_| secrets([1; 16])).collect();
    let messages: Vec<_> = (0..choices * N).map(|_| secrets(*b"forty-one")).collect();
    let mut sender = Sender::new(session(), format, 9).expect("a small message");
    let mut frame = sender.seal(&keys, &messages).expect("a message for each key");
    public(&mut frame);
    let chosen = (0..N).map(|i| u64::from_le_bytes(secrets(((i % choices) as u64).to_le_bytes())));
    let (chosen, keys) = (chosen.collect::<Vec<_>>().into(), keys[..N].to_vec().into());
    let mut receiver =
        Receiver::new(session(), format, 9, chosen, keys).expect("choices there are");
    receiver.take(&frame).expect("a frame");
}
