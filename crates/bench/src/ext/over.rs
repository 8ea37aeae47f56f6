//! A thread for each party, and a channel between them.

use std::hint::black_box;

use foxtrot_cli::shared::Failure;
use foxtrot_net::extend::{Plan, Receiver, Sender};
use foxtrot_ot::{
    Direction, Session, Sid,
    base::Choice,
    extension::{Any, Kind, Shape},
};

use super::{Sample, Setting};
use crate::over::both;

pub(super) fn sample(extension: Any, setting: &Setting<'_>) -> Result<Sample, Failure> {
    let session = Session::new(Sid::from_bytes([0; 32]));
    let (n, base) = (setting.n, setting.base);
    let plan = Plan {
        extension,
        base,
        session: &session,
        direction: Direction::InitiatorSends,
        counter: 0,
    };
    both(
        setting.over,
        setting.workers,
        |end| {
            let sender = Sender::set_up(end.channel, &plan)?;
            end.is_set_up();
            let mut sender = match end.workers.executor() {
                Some(executor) => sender.with_executor(executor),
                None => sender,
            };
            sender.random(Shape::random(n), |keys| {
                black_box(keys);
                Ok::<_, foxtrot_net::Error>(())
            })
        },
        |end| {
            let receiver = Receiver::set_up(end.channel, &plan)?;
            end.is_set_up();
            let mut receiver = match end.workers.executor() {
                Some(executor) => receiver.with_executor(executor),
                None => receiver,
            };
            receiver.run(&Choice::Random(n), Kind::Random, |choices, keys| {
                black_box((choices, keys));
                Ok(())
            })
        },
    )
}
