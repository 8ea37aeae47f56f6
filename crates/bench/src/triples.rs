//! `triples/<set>`: n triples from nothing, keys and base OTs included; the shares are written into buffers that are used
//! again. `rlwe` runs in two streams with the roles swapped, `gilboa` in both directions at once, the paper's protocol in one
//! and in one thread.

mod gilboa;
mod over;

use std::{
    hint::black_box,
    io::{self, Write},
    time::Instant,
};

use foxtrot_cli::shared::{Failure, Workers};
use foxtrot_ot::{
    Backend, Bits, Direction, Session, Sid,
    base::{Block, Choice},
    extension::{Extension, OtKind, Places, ROWS, Receiver, Sender, Shape},
};
use foxtrot_papers::rlwe_paper::{self, PaperSet, SETS};
use foxtrot_triples::{
    Shares, gilboa as from_ot,
    params::{self, Set},
    rlwe::{Answering, Chosen, Duplex, Receiving},
    wrong_in_batch,
};

use super::{
    Measured, Setting, effort,
    ext::{
        AT_LEAST, BASE, MEASURE_FOR, Sample,
        memory::{Meter, base_ots, seed, session},
    },
    over::Over,
    yardsticks::Yardsticks,
};
use crate::args::BenchOptions;

/// Triples of a run.
pub(super) const SIZES: [usize; 1] = [1 << 20];

/// A role, as an index: what is counted is a role's work, whichever party does it.
const P0: usize = 0;
const P1: usize = 1;

/// A protocol with its set.
#[derive(Clone, Copy)]
pub(super) enum Protocol {
    Rlwe(&'static Set),
    Gilboa(&'static from_ot::Set),
    Paper(&'static PaperSet),
}

impl Protocol {
    pub(super) fn all() -> impl Iterator<Item = Self> {
        let rlwe = params::registry().map(Self::Rlwe);
        rlwe.chain(from_ot::registry().map(Self::Gilboa)).chain(SETS.iter().map(Self::Paper))
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rlwe(set) => set.name(),
            Self::Gilboa(set) => set.name(),
            Self::Paper(set) => set.name(),
        }
    }

    /// Triples of the least run.
    pub(super) fn least(self) -> usize {
        match self {
            Self::Rlwe(set) => set.n(),
            Self::Gilboa(_) => 1,
            Self::Paper(set) => set.n(),
        }
    }

    fn params(self) -> String {
        let (bits, sigma, n) = match self {
            Self::Rlwe(set) => (set.bits(), set.sigma(), set.n()),
            Self::Gilboa(set) => {
                return format!("l = {}, softspoken-{}-semi-honest", set.bits(), set.k());
            }
            Self::Paper(set) => (set.bits(), 40, set.n()),
        };
        format!("l = {bits}, sigma = {sigma}, ring of dimension {n}")
    }
}

pub(super) fn run(protocol: Protocol, setting: &Setting<'_>) -> Result<Measured, Failure> {
    let Setting { n, over, workers, .. } = *setting;
    let samples =
        effort::repeat(setting.effort, (MEASURE_FOR, AT_LEAST), || match (over, protocol) {
            (Over::Memory, Protocol::Rlwe(set)) => sample(set, n, workers),
            (Over::Memory, Protocol::Gilboa(set)) => gilboa::sample(set, n, workers),
            (Over::Memory, Protocol::Paper(set)) => paper_sample(set, n, workers),
            _ => over::sample(protocol, setting),
        })?;
    let (params, security) = (protocol.params(), "semi-honest".into());
    Ok(Measured::of_both(
        format!("triples/{}", protocol.name()),
        params,
        security,
        setting,
        samples,
    ))
}

/// Buffers that batches at the same place in a group use one after another.
struct Buffers {
    requests: Vec<Vec<u8>>,
    responses: Vec<Vec<u8>>,
    corrections: Vec<Vec<u8>>,
    ours: Vec<Shares>,
    theirs: Vec<Shares>,
    ots: Vec<OtBuffers>,
}

/// Buffers for the OTs of a batch.
struct OtBuffers {
    message: Vec<u8>,
    pairs: Vec<[Block; 2]>,
    keys: Vec<Block>,
    choices: Option<Bits>,
}

impl Buffers {
    fn new(set: &Set, n: usize) -> Self {
        let shares = || (0..n).map(|_| Shares::new(set)).collect();
        let ots = |_| OtBuffers {
            message: Vec::new(),
            pairs: vec![[[0; 16]; 2]; set.ots()],
            keys: vec![[0; 16]; set.ots()],
            choices: None,
        };
        Self {
            requests: vec![Vec::new(); n],
            responses: vec![Vec::new(); n],
            corrections: vec![Vec::new(); n],
            ours: shares(),
            theirs: shares(),
            ots: (0..n).map(ots).collect(),
        }
    }
}

/// The OTs of a stream: P₀'s side and P₁'s.
struct Ots {
    shape: Shape,
    sender: Sender,
    receiver: Receiver,
}

impl Ots {
    fn new(
        meter: &mut Meter,
        set: &Set,
        extension: Extension,
        workers: &[Workers; 2],
    ) -> Result<Self, Failure> {
        let (sent, received) = base_ots(meter, BASE, ROWS, workers)?;
        let session = |party: usize| {
            workers[party].in_session(session(extension.name(), Direction::InitiatorSends))
        };
        let (receiver, setup) =
            meter.step(P1, || Receiver::new(session(P1), extension, sent, seed(3)))?;
        meter.sent(P1, setup.len());
        let sender =
            meter.step(P0, || Sender::new(session(P0), extension, received, &setup, seed(4)))?;
        Ok(Self { shape: Shape::random(set.ots()), sender, receiver })
    }

    /// Runs the OTs of several batches at once.
    fn run(&mut self, meter: &mut Meter, buffers: &mut [OtBuffers]) -> Result<(), Failure> {
        let Self { shape, sender, receiver } = self;
        meter.step(P1, || {
            let batches = buffers.iter_mut().map(|it| (Choice::Random(shape.n()), &mut it.message));
            let batches = receiver.extend(batches.collect())?;
            let places = buffers.iter_mut().map(|it| &mut *it.keys);
            let batches = batches.into_iter().zip(places).map(|(it, keys)| (it, &[][..], keys));
            let received = receiver.finish(OtKind::Random, batches.collect())?;
            buffers
                .iter_mut()
                .zip(received)
                .for_each(|(it, (choices, _))| it.choices = Some(choices));
            Ok::<_, Failure>(())
        })?;
        buffers.iter().for_each(|it| meter.sent(P1, it.message.len()));
        meter.step(P0, || {
            let messages: Vec<_> = buffers.iter().map(|it| (*shape, &*it.message)).collect();
            let batches = sender.absorb(&messages)?;
            let places = buffers.iter_mut().map(|it| Places::Random(&mut it.pairs));
            let batches = batches.into_iter().zip(places);
            let batches = batches.map(|((it, _), places)| (it, &[][..], places));
            sender.finish(batches.collect())?;
            Ok(())
        })
    }
}

fn sample(set: &'static Set, n: usize, workers: &Workers) -> Result<Sample, Failure> {
    let started = Instant::now();
    // Those of the two roles.
    let workers = [workers.for_another(), workers.for_another()];
    let mut meter = Meter::start();
    // Both streams' threads are counted as P₀'s: they do not say whose task it is.
    let session = || workers[P0].in_session(Session::new(Sid::from_bytes([0; 32])));
    let mut join = |direction, byte| {
        meter.step(P0, || Duplex::new(&session(), set, direction, &seed(byte), 0))
    };
    let (one, first_key) = join(Direction::InitiatorSends, 1);
    let (other, second_key) = join(Direction::ResponderSends, 2);
    let mut parties = Vec::new();
    for (finish, key) in [(one, second_key), (other, first_key)] {
        meter.sent(P0, key.len());
        let party = meter.step(P1, || finish(&key))?;
        parties.push(party);
    }
    let mut ots = Vec::new();
    if let Some(extension) = set.fix() {
        for _ in &parties {
            ots.push(Ots::new(&mut meter, set, extension, &workers)?);
        }
    }

    let batches = n.div_ceil(set.n()) as u64;
    let mut buffers = Buffers::new(set, workers[0].threads());
    let mut pending = [batches.div_ceil(2), batches / 2];
    for asking in [0, 1].into_iter().cycle() {
        if pending == [0, 0] {
            break;
        }
        let group = usize::try_from(pending[asking]).unwrap_or(usize::MAX);
        let group = group.min(workers[0].threads());
        if group > 0 {
            if let Some(ots) = ots.get_mut(asking) {
                ots.run(&mut meter, &mut buffers.ots[..group])?;
            }
            run_group(&mut meter, &mut parties, asking, group, &mut buffers)?;
            pending[asking] -= group as u64;
        }
    }
    Ok(meter.sample(started, &workers))
}

/// Batches at once, all of one stream.
fn run_group(
    meter: &mut Meter,
    parties: &mut [Duplex],
    asking: usize,
    group: usize,
    buffers: &mut Buffers,
) -> Result<(), Failure> {
    let Buffers { requests, responses, corrections, ours, theirs, ots } = buffers;
    let (requests, responses) = (&mut requests[..group], &mut responses[..group]);
    let (ours, theirs) = (&mut ours[..group], &mut theirs[..group]);
    let (corrections, ots) = (&mut corrections[..group], &ots[..group]);
    let requested = meter.step(P0, || parties[asking].p0.request(requests.iter_mut().collect()));
    requests.iter().for_each(|request| meter.sent(P0, request.len()));
    let responded = meter.step(P1, || {
        let batches = requests.iter().zip(ots).zip(theirs.iter_mut().zip(&mut *responses));
        let batches = batches.map(|((request, ots), (shares, response))| {
            let ots =
                ots.choices.as_ref().map(|choices| Chosen { choices, keys: ots.keys.as_slice() });
            Answering { request, ots, shares, response }
        });
        parties[1 - asking].p1.respond(batches.collect())
    })?;
    responses.iter().for_each(|response| meter.sent(P1, response.len()));
    meter.step(P0, || {
        let batches = requested.into_iter().zip(&*responses).zip(ots);
        let batches = batches.zip(ours.iter_mut().zip(&mut *corrections));
        let batches = batches.map(|(((requested, response), ots), (shares, correction))| {
            Receiving { requested, response, ots: Some(&*ots.pairs), shares, correction }
        });
        parties[asking].p0.receive(batches.collect())
    })?;
    corrections.iter().for_each(|correction| meter.sent(P0, correction.len()));
    meter.step(P1, || {
        let batches = responded.into_iter().zip(&*corrections).zip(&mut *theirs);
        let batches =
            batches.map(|((responded, correction), shares)| (responded, &**correction, shares));
        parties[1 - asking].p1.finish(batches.collect())
    })?;
    let wrong: usize =
        ours.iter().zip(&*theirs).map(|(ours, theirs)| wrong_in_batch(ours, theirs)).sum();
    black_box((&ours, &theirs));
    check(wrong)
}

fn paper_sample(set: &'static PaperSet, n: usize, workers: &Workers) -> Result<Sample, Failure> {
    let started = Instant::now();
    let workers = [workers.for_another(), workers.for_another()];
    let mut meter = Meter::start();
    let session = || session(set.name(), Direction::InitiatorSends);
    let (mut p0, key) = meter.step(P0, || rlwe_paper::P0::new(session(), set, seed(1)));
    meter.sent(P0, key.len());
    let mut p1 = meter.step(P1, || rlwe_paper::P1::new(session(), set, &key, seed(2)))?;
    let (mut ours, mut theirs) = (set.shares(), set.shares());
    let (mut request, mut response) = (Vec::new(), Vec::new());
    for _ in 0..set.batches(n as u64) {
        let requested = meter.step(P0, || p0.request(&mut request));
        meter.sent(P0, request.len());
        meter.step(P1, || p1.respond(&request, &mut theirs, &mut response))?;
        meter.sent(P1, response.len());
        meter.step(P0, || p0.receive(requested, &response, &mut ours))?;
        check(wrong_in_batch(&ours, &theirs))?;
        black_box((&ours, &theirs));
    }
    Ok(meter.sample(started, &workers))
}

fn check(wrong: usize) -> Result<(), Failure> {
    if wrong == 0 { Ok(()) } else { Err(Failure::run(format!("{wrong} triples are wrong"))) }
}

pub(super) fn print_head(out: &mut impl Write, options: &BenchOptions) -> io::Result<()> {
    let (backend, threads) = (Backend::best().name(), options.threads);
    let parties = Over::new(options.transport, options.net).words();
    writeln!(
        out,
        "CPU time per triple, medians, keys and base OTs included, {parties}, threads: {threads}, backend {backend}; \
         who is P0 in one half of the batches and P1 in the other takes the mean"
    )?;
    writeln!(
        out,
        "{:<28} {:>9} {:>7} {:>7} {:>8} {:>12} {:>6}",
        "name", "n", "P0 ns", "P1 ns", "party ns", "bytes/triple", "/ aes"
    )
}

pub(super) fn print_row(
    out: &mut impl Write,
    measured: &Measured,
    yardsticks: &Yardsticks,
) -> io::Result<()> {
    let Measured { report, .. } = measured;
    let n = report.n as f64;
    let [p0, p1] = [report.cpu_sender, report.cpu_receiver]
        .map(|time| time.unwrap_or_default().as_secs_f64() * 1e9 / n);
    let bytes = report.bytes_sender.unwrap_or(0) + report.bytes_receiver.unwrap_or(0);
    let party = (p0 + p1) / 2.0;
    writeln!(
        out,
        "{:<28} {:>9} {p0:>7.1} {p1:>7.1} {party:>8.1} {:>12.2} {:>6.1}",
        report.name,
        report.n,
        bytes as f64 / n,
        party / yardsticks.aes_block_ns,
    )
}
