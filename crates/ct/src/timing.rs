//! Whether time depends on secrets, by statistics on this processor [Reparaz, Balasch, Verbauwhede, *Dude, is my
//! code constant time?*, DATE 2017]: for what valgrind cannot run, AVX-512 above all. It finds gross faults only,
//! and passing proves nothing.
//!
//! A step runs many times, at random with a secret that is always the same or with a fresh one. Welch's t of
//! both times, for all of them and for the fastest parts, is beyond 10 where they certainly differ.

use std::{hint::black_box, process::ExitCode, time::Instant};

use foxtrot_ot::{
    Backend, Bits, Direction, Seed, Session, Sid,
    base::{self, BaseOt, Choice, Functionality},
    extension::{Kind, Places, ROWS, Shape, registry},
    ideal, oracle,
    pair::{Event, Pair, Party},
};

/// Where the two certainly differ.
const CERTAIN: f64 = 10.0;
/// Runs of a step. The first tenth is dropped.
const RUNS: usize = 3000;

/// What is measured: nanoseconds of a step in run `run`, with a secret from these coins.
struct Step {
    name: String,
    run: Box<Timed>,
}

type Timed = dyn Fn(Backend, usize, &[u8; 128]) -> f64;

pub(crate) fn run(wanted: &[String]) -> ExitCode {
    let coins = Session::new(Sid::from_bytes([0x74; 32])).oracle("foxtrot ct coins");
    println!("The greatest |t| of {RUNS} runs each; beyond {CERTAIN} time depends on the secret.");
    let control = Step { name: "control: a loop as long as a secret".into(), run: Box::new(leak) };
    let seen = greatest_t(&control, Backend::best(), &coins);
    println!("{:<9} {:<52} {seen:6.1}", "", control.name);
    if seen < CERTAIN {
        eprintln!("foxtrot-ct: that was not seen");
        return ExitCode::FAILURE;
    }
    let steps = ["roted", "mcquoid-rosulek-roy", "masny-rindal", "csw", "chou-orlandi"];
    let steps = steps.into_iter().filter_map(|name| base::find(name, functionality(name)));
    let steps = steps.map(choices_of).chain(extension_steps());
    let mut leaks = 0;
    for step in
        steps.filter(|step| wanted.is_empty() || wanted.iter().any(|it| step.name.contains(it)))
    {
        for backend in Backend::all() {
            let t = greatest_t(&step, backend, &coins);
            let what = if t > CERTAIN { "LEAKS" } else { "" };
            leaks += usize::from(t > CERTAIN);
            println!("{:<9} {:<52} {t:6.1} {what}", backend.name(), step.name);
        }
    }
    if leaks == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn greatest_t(step: &Step, backend: Backend, coins: &oracle::Oracle) -> f64 {
    let mut times = [Vec::new(), Vec::new()];
    for run in 0..RUNS {
        let mut random = [0; 129];
        coins.query(run as u64, 0).fill(&mut random);
        let ([class], secret) = random.split_first_chunk().expect("129 bytes");
        let class = usize::from(class & 1);
        // Both are copied, so that memory tells nothing.
        let mut secret: [u8; 128] = secret.try_into().expect("128 bytes");
        if class == 0 {
            secret = [0; 128];
        }
        let time = (step.run)(backend, run, black_box(&secret));
        if run >= RUNS / 10 {
            times[class].push(time);
        }
    }
    let mut all: Vec<f64> = times.iter().flatten().copied().collect();
    all.sort_by(f64::total_cmp);
    let up_to = [100, 95, 75, 50].map(|percent| all[(all.len() - 1) * percent / 100]);
    up_to.iter().map(|most| t(&times, *most).abs()).fold(0.0, f64::max)
}

/// Welch's t of the times up to that.
fn t(times: &[Vec<f64>; 2], most: f64) -> f64 {
    let [(m0, v0), (m1, v1)] = times.each_ref().map(|times| {
        let times: Vec<f64> = times.iter().copied().filter(|time| *time <= most).collect();
        let n = times.len() as f64;
        let mean = times.iter().sum::<f64>() / n;
        (mean, times.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0) / n)
    });
    (m0 - m1) / (v0 + v1).sqrt()
}

fn leak(_: Backend, _: usize, secret: &[u8; 128]) -> f64 {
    let start = Instant::now();
    (0..100 * usize::from(secret[0] & 15)).for_each(|i| _ = black_box(i));
    nanoseconds(start)
}

fn nanoseconds(start: Instant) -> f64 {
    start.elapsed().as_nanos() as f64
}

fn seed(byte: u8, run: usize) -> Seed {
    let mut seed = [byte; 32];
    seed[..8].copy_from_slice(&(run as u64).to_le_bytes());
    Seed::from_bytes(seed)
}

fn session(backend: Backend, protocol: &str) -> Session {
    Session::new(Sid::from_bytes([0; 32])).with_backend(backend).sub(
        protocol,
        0,
        Direction::InitiatorSends,
    )
}

fn functionality(name: &str) -> Functionality {
    if name == "csw" { Functionality::SelectiveFailure } else { Functionality::Endemic }
}

/// The receiver's steps in a batch, by its choices.
fn choices_of(base: &'static dyn BaseOt) -> Step {
    const N: usize = 16;
    let name = base.info().name;
    let run = move |backend, run, secret: &[u8; 128]| {
        let choice = Choice::Given(Bits::from_bytes(&secret[..N / 8], N));
        let sender = base.sender(session(backend, name), N, seed(1, run)).expect("a small batch");
        let receiver = base.receiver(session(backend, name), choice, seed(2, run));
        let mut pair = Pair::new(sender, receiver.expect("choices that it takes"));
        let mut time = 0.0;
        loop {
            let start = Instant::now();
            let event = pair.step().unwrap_or_else(|(party, error)| panic!("{party:?}: {error}"));
            let Some(Event { party, message }) = event else { break time };
            if party == Party::Receiver {
                time += nanoseconds(start);
            }
            if let Some(message) = message {
                pair.deliver(party, message);
            }
        }
    };
    Step { name: format!("{name}: choices"), run: Box::new(run) }
}

/// The extension's receiver by its choices, and its sender by Δ.
fn extension_steps() -> impl Iterator<Item = Step> {
    const N: usize = 512;
    let all =
        registry().filter(|it| ["softspoken-2", "softspoken-8", "kos"].contains(&it.info().name));
    all.flat_map(|extension| {
        [Party::Receiver, Party::Sender].map(|timed| {
            let name = extension.info().name;
            let run = move |backend, run, secret: &[u8; 128]| {
                // One of the two is the secret.
                let (delta, choices) = match timed {
                    Party::Sender => (secret, &[0x35; 128]),
                    Party::Receiver => (&[0x35; 128], secret),
                };
                let delta = Bits::from_bytes(&delta[..ROWS / 8], ROWS);
                let (sent, received) = ideal::given(delta, &seed(1, run));
                let session = || session(backend, name);
                let (mut receiver, setup) =
                    extension.receiver(session(), sent, seed(2, run)).expect("128 base OTs");
                let choice = Choice::Given(Bits::from_bytes(&choices[..N / 8], N));
                let shape = Shape::of(&choice);
                let (mut keys, mut pairs) = (vec![[0; 16]; N], vec![[[0; 16]; 2]; N]);
                let mut corrections = Vec::new();
                let mut times = [0.0; 2];

                let start = Instant::now();
                let mut sender =
                    extension.sender(session(), received, &setup, seed(3, run)).expect("a setup");
                times[0] += nanoseconds(start);
                let start = Instant::now();
                let batch = receiver.extend(choice, &mut corrections).expect("a batch");
                times[1] += nanoseconds(start);
                let start = Instant::now();
                let (absorbed, challenge) =
                    sender.absorb(shape, &corrections).expect("corrections");
                times[0] += nanoseconds(start);
                let challenge = challenge.map_or(Vec::new(), |challenge| challenge.to_vec());
                let start = Instant::now();
                let finished = receiver.finish(batch, &challenge, Kind::Random, &mut keys);
                times[1] += nanoseconds(start);
                let (_, proof) = finished.expect("a challenge");
                let start = Instant::now();
                sender.finish(absorbed, &proof, Places::Random(&mut pairs)).expect("a proof");
                times[0] += nanoseconds(start);
                black_box((&keys, &pairs));
                times[usize::from(timed == Party::Receiver)]
            };
            let what = if timed == Party::Sender { "Δ" } else { "choices" };
            Step { name: format!("{name}: {what}"), run: Box::new(run) }
        })
    })
}
