//! A thread for each party, and a channel between them.

use foxtrot_cli::shared::{Failure, Workers};
use foxtrot_net::drive;
use foxtrot_ot::{Direction, Session, Sid};
use foxtrot_psi::method::{
    Parameters,
    protocol::{IntersectionPlan, Receiver, Sender},
};

use super::{Sample, Setting, sets};
use crate::over::both;

pub(super) fn sample(parameters: Parameters, setting: &Setting<'_>) -> Result<Sample, Failure> {
    let ([ours, theirs], common) = sets(setting.n);
    let session = |workers: &Workers| workers.in_session(Session::new(Sid::from_bytes([0; 32])));
    let (base, direction) = (setting.base, Direction::InitiatorSends);
    let plan = IntersectionPlan { parameters, base, direction, counter: 0 };
    both(
        setting.over,
        setting.workers,
        |end| {
            let session = session(end.workers);
            let mut cx = drive::context(&session)?;
            let sender =
                drive::play(
                    end.channel,
                    |io| async move { Sender::set_up(&io, &mut cx, plan).await },
                )?;
            end.is_set_up();
            Ok::<_, Failure>(drive::play(end.channel, |io| async move {
                sender.run(&io, theirs, &mut |_| ()).await
            })?)
        },
        |end| {
            let session = session(end.workers);
            let mut cx = drive::context(&session)?;
            let receiver = drive::play(end.channel, |io| async move {
                Receiver::set_up(&io, &mut cx, plan).await
            })?;
            end.is_set_up();
            let found = drive::play(end.channel, |io| async move {
                receiver.run(&io, ours, &mut |_| ()).await?.intersect()
            })?;
            if found.into_iter().eq(common) {
                Ok(())
            } else {
                Err(Failure::run("the intersection is wrong"))
            }
        },
    )
}
