//! What triples cost: about how long a party computes.

use std::time::Duration;

use foxtrot_ot::Backend;
use foxtrot_triples::gilboa;

use super::kind::Kind;

/// Nanoseconds of CPU of a party per triple, for ℓ = 8, 16, 32, 64: of `rlwe`, of that with `--lift`, and of `gilboa` with
/// k = 2, 4, 8. Measured, files included, by `triples local -n 1048576 --json` (131072 where it takes long) on the machine of
/// `bench/record`. Sets of σ = 64 take a little more.
struct Table {
    rlwe: [f64; 4],
    lift: [f64; 4],
    gilboa: [[f64; 4]; 3],
}

const AVX512: Table = Table {
    rlwe: [86.0, 90.0, 140.0, 216.0],
    lift: [105.0, 104.0, 166.0, 239.0],
    gilboa: [
        [170.0, 354.0, 666.0, 1271.0],
        [190.0, 353.0, 668.0, 1477.0],
        [607.0, 1143.0, 2294.0, 4625.0],
    ],
};

const AVX2: Table = Table {
    rlwe: [135.0, 144.0, 211.0, 339.0],
    lift: [166.0, 163.0, 245.0, 389.0],
    gilboa: [
        [221.0, 433.0, 857.0, 1745.0],
        [279.0, 540.0, 1027.0, 2234.0],
        [1093.0, 2174.0, 4296.0, 8637.0],
    ],
};

const PORTABLE: Table = Table {
    rlwe: [328.0, 334.0, 503.0, 772.0],
    lift: [404.0, 408.0, 650.0, 931.0],
    gilboa: [
        [324.0, 576.0, 1098.0, 2241.0],
        [373.0, 730.0, 1369.0, 2777.0],
        [1449.0, 2834.0, 5486.0, 11252.0],
    ],
};

/// Once per session, from the same with -n 1, on AVX-512: keys of `rlwe`, base OTs of either.
pub(super) fn once(kind: Kind) -> Duration {
    Duration::from_millis(match kind {
        Kind::Rlwe(set) => [4, 4, 6, 10][column(set.bits())],
        Kind::Gilboa(_) => 3,
    })
}

/// Nanoseconds per triple with one thread and the instructions of this machine.
pub(super) fn each(kind: Kind) -> f64 {
    let table = match Backend::best().name() {
        "avx512" => AVX512,
        "avx2" => AVX2,
        _ => PORTABLE,
    };
    let of_kind = match kind {
        Kind::Rlwe(set) if set.fix().is_some() => table.rlwe,
        Kind::Rlwe(_) => table.lift,
        Kind::Gilboa(set) => {
            table.gilboa[match set.k() {
                ..gilboa::DEFAULT_K => 0,
                gilboa::DEFAULT_K => 1,
                _ => 2,
            }]
        }
    };
    of_kind[column(kind.bits())]
}

/// The place of ℓ among 8, 16, 32, 64.
fn column(bits: u32) -> usize {
    (bits / 8).ilog2() as usize
}
