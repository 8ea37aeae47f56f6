//! Both parties in this thread, one after the other, with a batch for each of their threads at a time.

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use foxtrot_cli::shared::{Failure, Workers, thread_cpu};
use foxtrot_ot::{
    Bits, Direction, Error, Seed, Session, Sid,
    base::{BaseOt, Block, Choice, Functionality, ReceiverKeys, SenderKeys},
    extension::{Extension, OtKind, Places, ROWS, Receiver, Sender, Shape},
    pair::{Pair, PairParty},
};
use zeroize::{Zeroize, Zeroizing};

use super::{RECEIVER, SENDER, Sample, Setting};

/// The time and bytes of both parties so far.
pub(crate) struct Meter {
    wall: [Duration; 2],
    cpu: [Duration; 2],
    bytes: [u64; 2],
    flows: u64,
    last: Option<usize>,
    /// Start of the current step.
    since: (Instant, Duration),
}

pub(super) fn sample(extension: Extension, setting: &Setting<'_>) -> Result<Sample, Failure> {
    let started = Instant::now();
    let Setting { n, workers, base, .. } = *setting;
    let workers = [workers.for_another(), workers.for_another()];
    let mut meter = Meter::start();
    let (base_sent, base_received) = base_ots(&mut meter, base, ROWS, &workers)?;

    let session =
        |party: usize| workers[party].in_session(session("bench", Direction::InitiatorSends));
    let (mut receiver, setup) =
        meter.step(RECEIVER, || Receiver::new(session(RECEIVER), extension, base_sent, seed(3)))?;
    meter.sent(RECEIVER, setup.len());
    let mut sender = meter
        .step(SENDER, || Sender::new(session(SENDER), extension, base_received, &setup, seed(4)))?;

    let shapes: Vec<_> = Shape::random(n).batches(extension.max_batch()).collect();
    let mut buffers = Buffers::default();
    for shapes in shapes.chunks(workers[0].threads()) {
        run(&mut meter, &mut sender, &mut receiver, shapes, &mut buffers)?;
    }

    Ok(meter.sample(started, &workers))
}

/// Buffers that batches at the same place in a group use one after another.
#[derive(Default)]
struct Buffers {
    corrections: Vec<Vec<u8>>,
    keys: Vec<Zeroizing<Vec<Block>>>,
    pairs: Vec<Zeroizing<Vec<[Block; 2]>>>,
}

/// Runs batches at once.
fn run(
    meter: &mut Meter,
    sender: &mut Sender,
    receiver: &mut Receiver,
    shapes: &[Shape],
    buffers: &mut Buffers,
) -> Result<(), Error> {
    let Buffers { corrections, keys, pairs } = buffers;
    corrections.resize_with(shapes.len(), Vec::new);
    let begun = meter.step(RECEIVER, || {
        let choices = shapes.iter().map(|shape| Choice::Random(shape.n()));
        receiver.extend(choices.zip(&mut *corrections).collect())
    })?;
    corrections.iter().for_each(|message| meter.sent(RECEIVER, message.len()));
    let messages: Vec<_> =
        shapes.iter().copied().zip(corrections.iter().map(Vec::as_slice)).collect();
    let absorbed = meter.step(SENDER, || sender.absorb(&messages))?;
    let (absorbed, challenges): (Vec<_>, Vec<_>) = absorbed.into_iter().unzip();
    let challenges: Vec<&[u8]> =
        challenges.iter().map(|challenge| challenge.as_slice().as_flattened()).collect();
    challenges.iter().for_each(|challenge| meter.sent(SENDER, challenge.len()));
    let received = meter.step(RECEIVER, || {
        let keys = places(keys, shapes).map(|keys| keys.as_mut_slice());
        let batches = begun.into_iter().zip(challenges).zip(keys);
        let batches = batches.map(|((batch, challenge), keys)| (batch, challenge, keys));
        receiver.finish(OtKind::Random, batches.collect())
    })?;
    received.iter().for_each(|(_, proof)| meter.sent(RECEIVER, proof.len()));
    meter.step(SENDER, || {
        let pairs = places(pairs, shapes).map(|pairs| Places::Random(pairs));
        let batches = absorbed.into_iter().zip(&received).zip(pairs);
        let batches = batches.map(|((batch, (_, proof)), pairs)| (batch, proof.as_slice(), pairs));
        sender.finish(batches.collect())
    })?;
    black_box((&pairs, &keys, received));
    Ok(())
}

/// A place for every OT.
fn places<'a, T: Clone + Default + Zeroize>(
    buffers: &'a mut Vec<Zeroizing<Vec<T>>>,
    shapes: &[Shape],
) -> impl Iterator<Item = &'a mut Vec<T>> {
    buffers.resize_with(shapes.len(), Zeroizing::default);
    for (buffer, shape) in buffers.iter_mut().zip(shapes) {
        buffer.resize(shape.n(), T::default());
    }
    buffers.iter_mut().map(|buffer| &mut **buffer)
}

/// The keys of n base OTs, whose sender is the extension's receiver.
pub(crate) fn base_ots(
    meter: &mut Meter,
    base: &dyn BaseOt,
    n: usize,
    workers: &[Workers; 2],
) -> Result<(SenderKeys, ReceiverKeys), Error> {
    let session = |party: usize| {
        workers[party].in_session(session(base.info().name, Direction::ResponderSends))
    };
    let delta = match base.info().functionality {
        Functionality::Random => Choice::Random(n),
        _ => Choice::Given(Bits::from_bools((0..n).map(|i| i % 3 == 0))),
    };
    let sender = base.sender(session(RECEIVER), n, seed(1))?;
    let pair = Pair::new(sender, base.receiver(session(SENDER), delta, seed(2))?);
    let mut last = SENDER;
    meter.begin();
    let keys = pair.run_through(|party, message| {
        last = match party {
            PairParty::Sender => RECEIVER,
            PairParty::Receiver => SENDER,
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

pub(crate) fn session(protocol: &str, direction: Direction) -> Session {
    Session::new(Sid::from_bytes([0; 32])).sub(protocol, 0, direction)
}

pub(crate) fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

impl Meter {
    pub(crate) fn start() -> Self {
        let none = [Duration::ZERO; 2];
        let since = (Instant::now(), thread_cpu());
        Self { wall: none, cpu: none, bytes: [0; 2], flows: 0, last: None, since }
    }

    pub(crate) fn step<T>(&mut self, party: usize, step: impl FnOnce() -> T) -> T {
        self.begin();
        let result = step();
        self.end(party);
        result
    }

    pub(crate) fn begin(&mut self) {
        self.since = (Instant::now(), thread_cpu());
    }

    pub(crate) fn end(&mut self, party: usize) {
        self.cpu[party] += thread_cpu() - self.since.1;
        self.wall[party] += self.since.0.elapsed();
    }

    /// A message; one without bytes is not sent.
    pub(crate) fn sent(&mut self, party: usize, len: usize) {
        self.bytes[party] += len as u64;
        if len > 0 && self.last.replace(party) != Some(party) {
            self.flows += 1;
        }
    }

    /// Makes the sample, with the time of both parties' other threads.
    pub(crate) fn sample(self, started: Instant, workers: &[Workers; 2]) -> Sample {
        let Self { wall, cpu, bytes, flows, .. } = self;
        let cpu = [SENDER, RECEIVER].map(|party| cpu[party] + workers[party].busy());
        // Others also use the machine: the clock on the wall is needed for several threads only.
        let took = if workers[0].threads() > 1 { wall } else { cpu };
        let slower = took[SENDER].max(took[RECEIVER]);
        Sample { wall: started.elapsed(), cpu, slower, bytes, flows, ..Sample::default() }
    }
}
