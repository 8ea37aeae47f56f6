//! The cost of triples: about how long a party computes.

use std::time::Duration;

use foxtrot_triples::gilboa;

use super::kind::TripleKind;
use crate::report::of_this_machine;

/// Nanoseconds of CPU of a party per triple, for ℓ = 8, 16, 32, 64: of `rlwe`, of that with `--lift`, and of `gilboa` with
/// k = 2, 4, 8. Measured, files included, by `triples local -n 1048576 --json` (131072 where it takes long) on the machine of
/// `bench/record`. Sets of σ = 64 take a little more.
struct Table {
    rlwe: [u32; 4],
    lift: [u32; 4],
    gilboa: [[u32; 4]; 3],
    /// Bits from `softspoken-4`, and from silent OTs.
    bits: [u32; 2],
}

const AVX512: Table = Table {
    rlwe: [86, 90, 140, 216],
    lift: [105, 104, 166, 239],
    gilboa: [[186, 327, 529, 1099], [171, 301, 573, 1229], [371, 707, 1382, 2872]],
    bits: [22, 78],
};

const AVX2: Table = Table {
    rlwe: [135, 144, 211, 339],
    lift: [166, 163, 245, 389],
    gilboa: [[245, 427, 783, 1627], [256, 486, 908, 1881], [732, 1423, 2842, 5832]],
    bits: [26, 80],
};

const PORTABLE: Table = Table {
    rlwe: [328, 334, 503, 772],
    lift: [404, 408, 650, 931],
    gilboa: [[550, 920, 1636, 3142], [767, 1357, 2532, 5030], [4319, 8250, 16275, 32065]],
    bits: [115, 210],
};

/// Returns the time once per session, from the same with -n 1, on AVX-512: keys of `rlwe`, base OTs
/// of either.
pub(super) fn once(kind: TripleKind) -> Duration {
    Duration::from_millis(match kind {
        TripleKind::Rlwe(set) => [4, 4, 6, 10][column(set.bits())],
        TripleKind::Gilboa(_) => 3,
        TripleKind::Bits(_) => 8,
    })
}

/// Nanoseconds per triple with one thread and the instructions of this machine.
pub(super) fn each(kind: TripleKind) -> u32 {
    of_this_machine([AVX512, AVX2, PORTABLE]).each(kind)
}

impl Table {
    fn each(&self, kind: TripleKind) -> u32 {
        let of_kind = match kind {
            TripleKind::Bits(set) => return self.bits[usize::from(set.is_silent())],
            TripleKind::Rlwe(set) if set.fix().is_some() => self.rlwe,
            TripleKind::Rlwe(_) => self.lift,
            TripleKind::Gilboa(set) => {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_cost_on_every_backend() {
        for table in [AVX512, AVX2, PORTABLE] {
            for kind in TripleKind::registry() {
                assert!(table.each(kind) > 0, "{kind:?}");
                assert!(once(kind) > Duration::ZERO, "{kind:?}");
            }
        }
    }
}
