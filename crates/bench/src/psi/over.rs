//! A thread for each party, and a channel between them.

use std::sync::Arc;

use foxtrot_cli::shared::Failure;
use foxtrot_net::psi::{Plan, Receiver, Sender};
use foxtrot_ot::{Direction, Session, Sid};
use foxtrot_psi::paxos::Parameters;

use super::{Sample, Setting, sets};
use crate::over::both;

pub(super) fn sample(parameters: &Parameters, setting: &Setting<'_>) -> Result<Sample, Failure> {
    let ([ours, theirs], common) = sets(setting.n);
    let session = Session::new(Sid::from_bytes([0; 32]));
    let plan = Plan {
        parameters: *parameters,
        base: setting.base,
        session: &session,
        direction: Direction::InitiatorSends,
        counter: 0,
    };
    both(
        setting.over,
        setting.workers,
        |end| {
            let mut sender = Sender::set_up(end.channel, &plan)?;
            end.is_set_up();
            if let Some(executor) = end.workers.executor() {
                sender = sender.with_executor(Arc::from(executor));
            }
            Ok::<_, Failure>(sender.run(theirs, |_| ())?)
        },
        |end| {
            let mut receiver = Receiver::set_up(end.channel, &plan)?;
            end.is_set_up();
            if let Some(executor) = end.workers.executor() {
                receiver = receiver.with_executor(Arc::from(executor));
            }
            let found = receiver.run(ours, |_| ())?;
            if found.into_iter().eq(common) {
                Ok(())
            } else {
                Err(Failure::run("the intersection is wrong"))
            }
        },
    )
}
