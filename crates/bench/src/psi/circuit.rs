//! Counts and sums over an intersection: both parties in one thread.

use std::time::Instant;

use foxtrot_cli::shared::Failure;
use foxtrot_ot::{Context, Direction, Session, Sid, engine::Engine};
use foxtrot_psi::circuit::{
    Outcome, Parameters,
    protocol::{CircuitPlan, receive, send},
};

use super::{RECEIVER, SENDER, Sample, Setting, memory::advance, sets};
use crate::ext::memory::{Meter, seed};

pub(super) fn in_memory(parameters: Parameters, setting: &Setting<'_>) -> Result<Sample, Failure> {
    let ([ours, theirs], common) = sets(setting.n);
    let direction = Direction::InitiatorSends;
    let (started, base) = (Instant::now(), setting.base);
    let plan = CircuitPlan { parameters, base, direction, counter: 0 };
    let workers = [setting.workers.for_another(), setting.workers.for_another()];
    let session = |party: usize| workers[party].in_session(Session::new(Sid::from_bytes([0; 32])));
    let numbers: Vec<u64> = match parameters.terms().largest {
        Some(_) => (0..setting.n as u64).collect(),
        None => Vec::new(),
    };
    // The common items are the sender's first ones.
    let sum = parameters.terms().largest.map(|_| numbers[..common.len()].iter().sum());
    let expected = Outcome::Released { count: common.len() as u64, sum };
    let senders = session(SENDER);
    let mut meter = Meter::start();
    let mut sender = Engine::new(|io| async move {
        send(&io, &mut Context::new(&senders, seed(3)), plan, theirs, &numbers, &mut |_| ()).await
    });
    let receivers = session(RECEIVER);
    let mut receiver = Engine::new(|io| async move {
        receive(&io, &mut Context::new(&receivers, seed(4)), plan, ours, &mut |_| ()).await
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
    if received != Some(expected) {
        return Err(Failure::run("the count or the sum is wrong"));
    }
    Ok(meter.sample(started, &workers))
}
