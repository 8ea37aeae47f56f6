//! Set intersection: both parties in one thread.

use std::time::Instant;

use foxtrot_cli::shared::{Failure, Workers};
use foxtrot_ot::{
    Context, Direction, Session, Sid,
    engine::{Engine, Progress},
};
use foxtrot_psi::{
    Error,
    method::{
        Parameters,
        protocol::{IntersectionPlan, Receiver, Sender},
    },
};

use super::{RECEIVER, SENDER, Sample, Setting, sets};
use crate::ext::memory::{Meter, seed};

fn session(workers: &Workers) -> Session {
    workers.in_session(Session::new(Sid::from_bytes([0; 32])))
}

pub(super) fn sample(parameters: Parameters, setting: &Setting<'_>) -> Result<Sample, Failure> {
    let ([ours, theirs], common) = sets(setting.n);
    let started = Instant::now();
    let (base, direction) = (setting.base, Direction::InitiatorSends);
    let plan = IntersectionPlan { parameters, base, direction, counter: 0 };
    let workers = [setting.workers.for_another(), setting.workers.for_another()];
    let senders = session(&workers[SENDER]);
    let mut meter = Meter::start();
    let mut sender = Engine::new(|io| async move {
        let mut cx = Context::new(&senders, seed(3));
        Sender::set_up(&io, &mut cx, plan).await?.run(&io, theirs, &mut |_| ()).await
    });
    let receivers = session(&workers[RECEIVER]);
    let mut receiver = Engine::new(|io| async move {
        let mut cx = Context::new(&receivers, seed(4));
        Receiver::set_up(&io, &mut cx, plan).await?.run(&io, ours, &mut |_| ()).await
    });
    let (mut sent, mut received) = (None, None);
    while sent.is_none() || received.is_none() {
        if sent.is_none() {
            sent = advance(&mut meter, SENDER, &mut sender, &mut receiver)?;
        }
        if received.is_none() {
            received = advance(&mut meter, RECEIVER, &mut receiver, &mut sender)?;
        }
    }
    let received = received.ok_or_else(|| Failure::run("the receiver has nothing"))?;
    let found = meter.step(RECEIVER, || received.intersect());
    if !found.map_err(foxtrot_ot::Error::from)?.into_iter().eq(common) {
        return Err(Failure::run("the intersection is wrong"));
    }
    Ok(meter.sample(started, &workers))
}

/// Runs a party as far as it comes, and hands its messages over.
pub(super) fn advance<Out, Other>(
    meter: &mut Meter,
    party: usize,
    this: &mut Engine<'_, Out, Error>,
    other: &mut Engine<'_, Other, Error>,
) -> Result<Option<Out>, Failure> {
    loop {
        let progress = meter.step(party, || this.advance()).map_err(foxtrot_ot::Error::from)?;
        while let Some((stream, message)) = this.outgoing() {
            meter.sent(party, message.len());
            other.deliver(stream, message);
        }
        match progress {
            Progress::Sending => {}
            Progress::Waiting { .. } => return Ok(None),
            Progress::Done(out) => return Ok(Some(out)),
        }
    }
}
