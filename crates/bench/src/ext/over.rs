//! A thread for each party, and a channel between them.

use std::hint::black_box;

use foxtrot_cli::shared::{Failure, Workers};
use foxtrot_net::drive;
use foxtrot_ot::{
    Direction, Session, Sid,
    base::Choice,
    engine::Engine,
    extension::{
        Any, Kind, Shape,
        protocol::{Plan, Receiver, Sender},
    },
};

use super::{Sample, Setting};
use crate::over::both;

pub(super) fn sample(extension: Any, setting: &Setting<'_>) -> Result<Sample, Failure> {
    let session = |workers: &Workers| workers.in_session(Session::new(Sid::from_bytes([0; 32])));
    let (n, base) = (setting.n, setting.base);
    let plan = Plan { extension, base, direction: Direction::InitiatorSends, counter: 0 };
    both(
        setting.over,
        setting.workers,
        |end| {
            let session = session(end.workers);
            let mut cx = drive::context(&session)?;
            let set_up = Engine::new(|io| async move { Sender::set_up(&io, &mut cx, plan).await });
            let mut sender = drive::run(end.channel, set_up)?;
            end.is_set_up();
            let run = Engine::new(|io| async move {
                let sink = |keys: &[_]| {
                    black_box(keys);
                    Ok(())
                };
                sender.random(&io, Shape::random(n), sink).await
            });
            drive::run(end.channel, run)
        },
        |end| {
            let session = session(end.workers);
            let mut cx = drive::context(&session)?;
            let set_up =
                Engine::new(|io| async move { Receiver::set_up(&io, &mut cx, plan).await });
            let mut receiver = drive::run(end.channel, set_up)?;
            end.is_set_up();
            let run = Engine::new(|io| async move {
                let sink = |choices: &_, keys: &[_]| {
                    black_box((choices, keys));
                    Ok(())
                };
                receiver.run(&io, &Choice::Random(n), Kind::Random, sink).await
            });
            drive::run(end.channel, run)
        },
    )
}
