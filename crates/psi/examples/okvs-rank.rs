//! Statistics of encoding: cores, deficits of rank, and how far a store is from a core of linear size.
//!
//!     cargo run --release -p foxtrot-psi --example okvs-rank -- [deficits|threshold] [H] [N] [TRIALS]
//!
//! Without arguments it prints the tables of `docs/protocols/okvs.md`. Keys are numbers, row seeds the
//! numbers of the trials.
//!
//! `deficits`: how many of the trials leave a core, its mean and largest size, the deficits that occur,
//! the mean of 2^deficit − 1 and the first moment that bounds it, and log₂ of the bound on failure.
//!
//! `threshold`: keys are added to the store until the core has a tenth of `N` rows; the mean of their
//! number over `N`, its deviation, and how many deviations `N` is away.

#[path = "../tests/support/moment.rs"]
mod moment;

use foxtrot_ot::{Session, Sid};
use foxtrot_psi::{
    Digest, RowSeed,
    okvs::{Okvs, OkvsPlan, Structure},
};

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number = |k: usize| arguments.get(k).and_then(|argument| argument.parse().ok());
    match (arguments.first().map(String::as_str), number(1), number(2), number(3)) {
        (None, ..) => tables(),
        (Some("deficits"), Some(h @ 2..=4), Some(n), Some(trials)) => deficits(&okvs(h, n), trials),
        (Some("threshold"), Some(h @ 2..=4), Some(n), Some(trials)) => {
            threshold(&okvs(h, n), trials);
        }
        _ => eprintln!("usage: okvs-rank [deficits|threshold 2|3|4 N TRIALS]"),
    }
}

fn okvs(h: usize, n: usize) -> Okvs {
    let okvs = match h {
        2 => Okvs::two(n),
        3 => Okvs::three(n),
        _ => Okvs::four(n),
    };
    okvs.expect("not too many")
}

fn tables() {
    println!(
        "H n m trials | core: share mean largest | deficits | mean 2^d-1, moment | log2 bound"
    );
    let small = [(8, 200_000), (32, 200_000), (128, 100_000), (512, 20_000), (1 << 11, 10_000)];
    let large = [(1 << 13, 2000), (1 << 16, 200), (1 << 18, 40), (1 << 20, 10), (1 << 22, 2)];
    for (n, trials) in small.into_iter().chain(large) {
        deficits(&okvs(3, n), trials);
    }
    for (n, trials) in small.into_iter().chain(large) {
        deficits(&okvs(2, n), trials.min(20_000));
    }
    for (n, trials) in [(1 << 17, 200), (1 << 18, 100), (1 << 20, 20), (1 << 22, 2)] {
        deficits(&okvs(4, n), trials);
    }
    println!("H n m trials | keys at the threshold / n, deviation | deviations from n");
    for (n, trials) in [(1 << 11, 400), (1 << 13, 200), (1 << 14, 100), (1 << 16, 50)] {
        threshold(&okvs(3, n), trials);
    }
    for (n, trials) in [(1 << 18, 20), (1 << 19, 10), ((1 << 19) + 1, 10), (1 << 20, 10)] {
        threshold(&okvs(3, n), trials);
    }
    for (n, trials) in [(1 << 17, 20), (1 << 18, 20), (1 << 20, 10), (1 << 21, 4)] {
        threshold(&okvs(4, n), trials);
    }
}

fn plan(okvs: &Okvs, trial: usize, keys: &[Digest]) -> OkvsPlan {
    let session = Session::new(Sid::from_bytes([1; 32])).sub("rank", 0, Default::default());
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&trial.to_le_bytes());
    let seed = RowSeed::decode(&seed).expect("32 bytes");
    okvs.plan(&session, &seed, keys).expect("not too many")
}

fn keys(n: usize) -> Vec<Digest> {
    let key = |k: usize| core::array::from_fn(|i| k.to_le_bytes().get(i).copied().unwrap_or(0));
    (0..n).map(key).collect()
}

fn deficits(okvs: &Okvs, trials: usize) {
    let keys = keys(okvs.keys());
    let (mut with_core, mut rows, mut largest, mut moment) = (0, 0, 0, 0.0);
    let mut counts = [0_usize; 64];
    for trial in 0..trials {
        let Structure { core, deficit } = plan(okvs, trial, &keys).structure();
        with_core += usize::from(core > 0);
        rows += core;
        largest = largest.max(core);
        match deficit {
            Some(deficit) => {
                counts[deficit.min(63)] += 1;
                moment += (deficit as f64).exp2() - 1.0;
            }
            None => println!("trial {trial}: a core of {core} rows is too large"),
        }
    }
    let share = |count: usize| count as f64 / trials as f64;
    print!("{} {} {} {trials} | ", okvs.sparse(), keys.len(), okvs.slots());
    print!("{:.1e} {:.2} {largest} |", share(with_core), share(rows));
    let deficits = counts.iter().enumerate().filter(|(_, count)| **count > 0);
    deficits.for_each(|(deficit, &count)| print!(" {deficit}:{:.2e}", share(count)));
    print!(" | {:.2e}, ", moment / trials as f64);
    if okvs.starts() == 1 {
        print!("{:.2e}", moment::plain(okvs));
    } else {
        print!("-");
    }
    println!(" | {:.1}", moment::log2_failure(okvs));
}

fn threshold(okvs: &Okvs, trials: usize) {
    let n = okvs.keys();
    let keys = keys(2 * n);
    let (mut sum, mut squares) = (0.0, 0.0);
    for trial in 0..trials {
        let (mut low, mut high) = (n / 2, 2 * n);
        while high - low > (n / 4096).max(1) {
            let middle = usize::midpoint(low, high);
            if plan(okvs, trial, &keys[..middle]).core_len() > n / 10 {
                high = middle;
            } else {
                low = middle;
            }
        }
        let ratio = high as f64 / n as f64;
        sum += ratio;
        squares += ratio * ratio;
    }
    let mean = sum / trials as f64;
    let deviation = (squares / trials as f64 - mean * mean).max(0.0).sqrt();
    print!("{} {n} {} {trials} | {mean:.4}, {deviation:.5}", okvs.sparse(), okvs.slots());
    println!(" | {:.1}", (mean - 1.0) / deviation);
}
