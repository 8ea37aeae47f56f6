//! Both parties in this thread, one after the other.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use foxtrot_ot::{
    Bits, Direction, Error, Seed, Session, Sid,
    base::{Choice, ReceiverKeys, SenderKeys},
    extension::{Any, Kind, Places, ROWS, Shape},
    pair::{Pair, Party},
};
use zeroize::Zeroizing;

use super::{BASE, RECEIVER, SENDER, Sample};
use crate::{clock::thread_cpu, failure::Failure, workers::Workers};

/// The time and bytes of both parties so far.
pub(in crate::cmd::bench) struct Meter {
    wall: [Duration; 2],
    cpu: [Duration; 2],
    bytes: [u64; 2],
    flows: u64,
    last: Option<usize>,
    /// When the current step began.
    since: (Instant, Duration),
}

pub(super) fn sample(extension: Any, n: usize, workers: &Workers) -> Result<Sample, Failure> {
    let started = Instant::now();
    let workers = [workers.for_another(), workers.for_another()];
    let mut meter = Meter::start();
    let (base_sent, base_received) = base_ots(&mut meter, ROWS)?;

    let session = || session("bench", Direction::InitiatorSends);
    let (receiver, setup) =
        meter.step(RECEIVER, || extension.receiver(session(), base_sent, seed(3)))?;
    meter.sent(RECEIVER, setup.len());
    let sender =
        meter.step(SENDER, || extension.sender(session(), base_received, &setup, seed(4)))?;
    let (mut sender, mut receiver) = match workers.each_ref().map(Workers::executor) {
        [Some(first), Some(second)] => {
            (sender.with_executor(first), receiver.with_executor(second))
        }
        _ => (sender, receiver),
    };

    let (mut pairs, mut keys) = (Zeroizing::new(Vec::new()), Zeroizing::new(Vec::new()));
    let mut corrections = Vec::new();
    for shape in Shape::random(n).batches(extension.max_batch()) {
        let started = meter
            .step(RECEIVER, || receiver.extend(Choice::Random(shape.n()), &mut corrections))?;
        meter.sent(RECEIVER, corrections.len());
        let (absorbed, challenge) = meter.step(SENDER, || sender.absorb(shape, &corrections))?;
        let challenge = challenge.as_ref().map_or(&[][..], |challenge| challenge);
        meter.sent(SENDER, challenge.len());
        let (choices, proof) = meter.step(RECEIVER, || {
            keys.resize(shape.n(), [0; 16]);
            receiver.finish(started, challenge, Kind::Random, &mut keys)
        })?;
        meter.sent(RECEIVER, proof.len());
        meter.step(SENDER, || {
            pairs.resize(shape.n(), [[0; 16]; 2]);
            sender.finish(absorbed, &proof, Places::Random(&mut pairs))
        })?;
        black_box((&pairs, &keys, choices));
    }

    Ok(meter.sample(started, &workers))
}

/// The keys of n base OTs, whose sender is the extension's receiver.
pub(in crate::cmd::bench) fn base_ots(
    meter: &mut Meter,
    n: usize,
) -> Result<(SenderKeys, ReceiverKeys), Error> {
    let session = || session(BASE.info().name, Direction::ResponderSends);
    let delta = Bits::from_bools((0..n).map(|i| i % 3 == 0));
    let sender = BASE.sender(session(), n, seed(1))?;
    let pair = Pair::new(sender, BASE.receiver(session(), Choice::Given(delta), seed(2))?);
    let mut last = SENDER;
    meter.begin();
    let keys = pair.run_through(|party, message| {
        last = match party {
            Party::Sender => RECEIVER,
            Party::Receiver => SENDER,
        };
        meter.end(last);
        meter.sent(last, message.len());
        meter.begin();
        message
    });
    // Who got the last message has the last step.
    meter.end(1 - last);
    keys.map_err(|(_, error)| error)
}

pub(in crate::cmd::bench) fn session(protocol: &str, direction: Direction) -> Session {
    Session::new(Sid::from_bytes([0; 32])).sub(protocol, 0, direction)
}

pub(in crate::cmd::bench) fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

impl Meter {
    pub(in crate::cmd::bench) fn start() -> Self {
        let none = [Duration::ZERO; 2];
        let since = (Instant::now(), thread_cpu());
        Self { wall: none, cpu: none, bytes: [0; 2], flows: 0, last: None, since }
    }

    pub(in crate::cmd::bench) fn step<T>(&mut self, party: usize, step: impl FnOnce() -> T) -> T {
        self.begin();
        let result = step();
        self.end(party);
        result
    }

    fn begin(&mut self) {
        self.since = (Instant::now(), thread_cpu());
    }

    fn end(&mut self, party: usize) {
        self.cpu[party] += thread_cpu() - self.since.1;
        self.wall[party] += self.since.0.elapsed();
    }

    /// A message; one without bytes is not sent.
    pub(in crate::cmd::bench) fn sent(&mut self, party: usize, len: usize) {
        self.bytes[party] += len as u64;
        if len > 0 && self.last.replace(party) != Some(party) {
            self.flows += 1;
        }
    }

    /// What it comes to, with the time of both parties' other threads.
    pub(in crate::cmd::bench) fn sample(self, started: Instant, workers: &[Workers; 2]) -> Sample {
        let Self { wall, cpu, bytes, flows, .. } = self;
        let cpu = [SENDER, RECEIVER].map(|party| cpu[party] + workers[party].busy());
        // Others use the machine, too: the clock on the wall is needed for several threads only.
        let took = if workers[0].threads() > 1 { wall } else { cpu };
        let slower = took[SENDER].max(took[RECEIVER]);
        Sample { wall: started.elapsed(), cpu, slower, bytes, flows }
    }
}
