//! What triples cost: about how long a party computes.

use std::time::Duration;

use foxtrot_ot::Backend;
use foxtrot_triples::gilboa;

use super::kind::Kind;

/// Nanoseconds of CPU of a party per triple, for ℓ = 8, 16, 32, 64: of `rlwe`, of that with `--lift`, and of `gilboa` with
/// k = 2, 4, 8. Measured, files included, by `triples local -n 1048576 --json` (131072 where it takes long) on the machine of
/// `bench/record`. Sets of σ = 64 take a little more.
pub(super) struct Table {
    rlwe: [u32; 4],
    lift: [u32; 4],
    gilboa: [[u32; 4]; 3],
}

pub(super) const AVX512: Table = Table {
    rlwe: [86, 90, 140, 216],
    lift: [105, 104, 166, 239],
    gilboa: [[170, 354, 666, 1271], [190, 353, 668, 1477], [607, 1143, 2294, 4625]],
};

pub(super) const AVX2: Table = Table {
    rlwe: [135, 144, 211, 339],
    lift: [166, 163, 245, 389],
    gilboa: [[221, 433, 857, 1745], [279, 540, 1027, 2234], [1093, 2174, 4296, 8637]],
};

pub(super) const PORTABLE: Table = Table {
    rlwe: [328, 334, 503, 772],
    lift: [404, 408, 650, 931],
    gilboa: [[324, 576, 1098, 2241], [373, 730, 1369, 2777], [1449, 2834, 5486, 11252]],
};

/// Once per session, from the same with -n 1, on AVX-512: keys of `rlwe`, base OTs of either.
pub(super) fn once(kind: Kind) -> Duration {
    Duration::from_millis(match kind {
        Kind::Rlwe(set) => [4, 4, 6, 10][column(set.bits())],
        Kind::Gilboa(_) => 3,
    })
}

/// Nanoseconds per triple with one thread and the instructions of this machine.
pub(super) fn each(kind: Kind) -> u32 {
    match Backend::best().name() {
        "avx512" => AVX512.each(kind),
        "avx2" => AVX2.each(kind),
        _ => PORTABLE.each(kind),
    }
}

impl Table {
    /// Nanoseconds per triple with one thread.
    pub(super) fn each(&self, kind: Kind) -> u32 {
        let of_kind = match kind {
            Kind::Rlwe(set) if set.fix().is_some() => self.rlwe,
            Kind::Rlwe(_) => self.lift,
            Kind::Gilboa(set) => {
                self.gilboa[match set.k() {
                    ..gilboa::DEFAULT_K => 0,
                    gilboa::DEFAULT_K => 1,
                    _ => 2,
                }]
            }
        };
        of_kind[column(kind.bits())]
    }
}

/// The place of ℓ among 8, 16, 32, 64.
fn column(bits: u32) -> usize {
    (bits / 8).ilog2() as usize
}
