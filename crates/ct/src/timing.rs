//! Tests if time depends on secrets, by statistics on this processor [Reparaz, Balasch, Verbauwhede, *Dude, is my
//! code constant time?*, DATE 2017]: for code that valgrind cannot run, AVX-512 above all. It finds gross faults
//! only, and passing proves nothing.
//!
//! A step runs many times, at random with a secret that is always the same or with a fresh one. Welch's t of
//! both times, for all of them and for the fastest parts, is beyond 10 where they certainly differ. The secret is a party's choices or
//! words, its Δ, or its seed, from which its scalars, noise and shares come.

mod base;
mod extension;
mod one_of_n;
mod psi;
mod silent;
mod triples;

use std::{hint::black_box, process::ExitCode, time::Instant};

use foxtrot_ot::{Backend, Direction, Seed, Session, Sid, oracle};

/// The value of Welch's t from which the two times certainly differ.
const CERTAIN: f64 = 10.0;
/// Runs of a step. The first tenth is dropped.
const RUNS: usize = 3000;

/// A step to be measured: nanoseconds of a step in run `run`, with a secret from these coins.
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
    let steps = base::steps().chain(extension::steps());
    let steps = steps.chain(one_of_n::steps()).chain(silent::steps());
    let steps = steps.chain(psi::steps()).chain(triples::steps());
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

/// A seed of these coins, for run after run another one if they are random.
fn secret_seed(secret: &[u8; 128]) -> Seed {
    Seed::from_bytes(*secret.first_chunk().expect("128 bytes"))
}

fn session(backend: Backend, protocol: &str) -> Session {
    Session::new(Sid::from_bytes([0; 32])).with_backend(backend).sub(
        protocol,
        0,
        Direction::InitiatorSends,
    )
}
