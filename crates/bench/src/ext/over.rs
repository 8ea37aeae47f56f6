//! A thread for each party, and a channel between them.

use std::hint::black_box;

use foxtrot_cli::shared::{Failure, Workers};
use foxtrot_net::drive;
use foxtrot_ot::{
    Direction, Session, Sid,
    base::Choice,
    extension::{
        Extension, OtKind, Shape,
        protocol::{ExtensionPlan, Receiver, Sender},
    },
};

use super::{Sample, Setting};
use crate::over::both;

pub(super) fn sample(extension: Extension, setting: &Setting<'_>) -> Result<Sample, Failure> {
    let session = |workers: &Workers| workers.in_session(Session::new(Sid::from_bytes([0; 32])));
    let (n, base) = (setting.n, setting.base);
    let plan = ExtensionPlan { extension, base, direction: Direction::InitiatorSends, counter: 0 };
    both(
        setting.over,
        setting.workers,
        |end| {
            let session = session(end.workers);
            let mut cx = drive::context(&session)?;
            let mut sender =
                drive::play(
                    end.channel,
                    |io| async move { Sender::set_up(&io, &mut cx, plan).await },
                )?;
            end.is_set_up();
            drive::play(end.channel, |io| async move {
                let sink = |keys: &[_]| {
                    black_box(keys);
                    Ok(())
                };
                sender.random(&io, Shape::random(n), sink).await
            })
        },
        |end| {
            let session = session(end.workers);
            let mut cx = drive::context(&session)?;
            let mut receiver = drive::play(end.channel, |io| async move {
                Receiver::set_up(&io, &mut cx, plan).await
            })?;
            end.is_set_up();
            drive::play(end.channel, |io| async move {
                let sink = |choices: &_, keys: &[_]| {
                    black_box((choices, keys));
                    Ok(())
                };
                receiver.run(&io, &Choice::Random(n), OtKind::Random, sink).await
            })
        },
    )
}
