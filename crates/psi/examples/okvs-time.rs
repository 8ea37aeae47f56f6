//! CPU time of the stores: `cargo run --release -p foxtrot-psi --example okvs-time [RUNS]`.
//!
//! For each shape and size the least of so many runs (3), in nanoseconds per key: planning (hash and
//! sort), peeling, all of encoding values of V bytes, and decoding rows of D bytes, planned before,
//! 512 at a time; then encoding, planning and decoding of all keys together in milliseconds.
//! The yardstick is a copy of 32 MiB.

use std::time::Duration;

use foxtrot_ot::{Session, Sid};
use foxtrot_psi::{
    Digest,
    okvs::{Coins, Okvs},
};

fn main() {
    let runs = std::env::args().nth(1).and_then(|runs| runs.parse().ok()).unwrap_or(3);
    println!("copy of 32 MiB: {:.2} ms", least(runs, copy).as_secs_f64() * 1e3);
    println!("H  V   D       n       m   plan   peel encode decode | together");
    for log in [11, 16] {
        report::<16, 16>(&Okvs::three(1 << log).expect("not too many"), runs);
    }
    for log in [17, 18, 20, 22] {
        report::<16, 16>(&Okvs::four(1 << log).expect("not too many"), runs);
    }
    for log in [11, 16, 18, 19, 20, 22] {
        report::<29, 104>(&Okvs::three(1 << log).expect("not too many"), runs);
    }
    for log in [11, 16, 20] {
        report::<29, 104>(&Okvs::two(1 << log).expect("not too many"), runs);
    }
}

fn report<const V: usize, const D: usize>(okvs: &Okvs, runs: usize) {
    let n = okvs.keys();
    let session = Session::new(Sid::from_bytes([1; 32])).sub("time", 0, Default::default());
    let keys: Vec<Digest> = (0..n).map(key).collect();
    let values: Vec<[u8; V]> = keys.iter().map(|key| core::array::from_fn(|k| key[k])).collect();
    let mut slots = vec![[0; V]; okvs.slots()];
    let mut seed = None;
    let encode = least(runs, || {
        let coins = Coins::from_bytes([2; 32]);
        seed = Some(okvs.encode(&session, coins, &keys, &values, &mut slots).expect("solved"));
    });
    let seed = seed.expect("encoded");
    let plan = least(runs, || drop(okvs.plan(&session, &seed, &keys)));
    let planned = okvs.plan(&session, &seed, &keys).expect("not too many");
    let peel = least(runs, || _ = std::hint::black_box(planned.structure()));

    let slots = vec![[3; D]; okvs.slots()];
    let decoder = okvs.decoder(&slots).expect("as many as there are");
    let mut rows = [[0; D]; 512];
    let decode = least(runs, || {
        for first in (0..n).step_by(rows.len()) {
            let range = first..n.min(first + rows.len());
            let rows = &mut rows[..range.len()];
            planned.decode_range(&decoder, range, rows).expect("in the plan");
            std::hint::black_box(rows);
        }
    });
    let each = |time: Duration| time.as_secs_f64() * 1e9 / n as f64;
    print!("{} {V:2} {D:3} {n:7} {:7} ", okvs.sparse(), okvs.slots());
    print!("{:6.1} {:6.1} ", each(plan), each(peel));
    print!("{:6.1} {:6.1} | ", each(encode), each(decode));
    println!("{:.1} ms", (encode + plan + decode).as_secs_f64() * 1e3);
}

/// Digests: any distinct strings do.
fn key(index: usize) -> Digest {
    let mut key = [0x5a; 32];
    key[..8].copy_from_slice(&index.to_le_bytes());
    key
}

fn copy() {
    static SOURCE: [u8; 32 << 20] = [7; 32 << 20];
    std::hint::black_box(std::hint::black_box(&SOURCE).to_vec());
}

/// The least CPU time of some runs.
fn least(runs: usize, mut run: impl FnMut()) -> Duration {
    let timed = |()| {
        let start = thread_cpu();
        run();
        thread_cpu() - start
    };
    std::iter::repeat_n((), runs).map(timed).min().unwrap_or_default()
}

fn thread_cpu() -> Duration {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
    Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default())
}
