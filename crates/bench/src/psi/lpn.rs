//! Set intersection over VOLE: both parties in one thread, or a thread for each.

use std::time::Instant;

use foxtrot_cli::shared::{Failure, Workers};
use foxtrot_net::drive;
use foxtrot_ot::{
    Context, Direction, Session, Sid,
    engine::{Engine, Progress},
};
use foxtrot_psi::vole_psi::{
    Error, Parameters,
    protocol::{Plan, Receiver, Sender},
};

use super::{RECEIVER, SENDER, Sample, Setting, sets};
use crate::{
    ext::memory::{Meter, seed},
    over::both,
};

fn session(workers: &Workers) -> Session {
    workers.in_session(Session::new(Sid::from_bytes([0; 32])))
}

fn plan<'a>(parameters: Parameters, setting: &Setting<'a>) -> Plan<'a> {
    Plan { parameters, base: setting.base, direction: Direction::InitiatorSends, counter: 0 }
}

pub(super) fn in_memory(parameters: Parameters, setting: &Setting<'_>) -> Result<Sample, Failure> {
    let ([ours, theirs], common) = sets(setting.n);
    let (started, plan) = (Instant::now(), plan(parameters, setting));
    let workers = [setting.workers.for_another(), setting.workers.for_another()];
    let senders = session(&workers[SENDER]);
    let mut meter = Meter::start();
    let mut sender = Engine::new(|io| async move {
        let mut cx = Context::new(&senders, seed(3));
        Sender::set_up(&io, &mut cx, plan).await?.run(&io, theirs, |_| ()).await
    });
    let receivers = session(&workers[RECEIVER]);
    let mut receiver = Engine::new(|io| async move {
        let mut cx = Context::new(&receivers, seed(4));
        Receiver::set_up(&io, &mut cx, plan).await?.run(&io, ours, |_| ()).await
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
    if !meter.step(RECEIVER, || received.intersect())?.into_iter().eq(common) {
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
        let progress = meter.step(party, || this.advance())?;
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

pub(super) fn over(parameters: Parameters, setting: &Setting<'_>) -> Result<Sample, Failure> {
    let ([ours, theirs], common) = sets(setting.n);
    let plan = plan(parameters, setting);
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
                sender.run(&io, theirs, |_| ()).await
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
                receiver.run(&io, ours, |_| ()).await?.intersect()
            })?;
            if found.into_iter().eq(common) {
                Ok(())
            } else {
                Err(Failure::run("the intersection is wrong"))
            }
        },
    )
}
