//! The transform on vectors.
//!
//! Layers over many vectors are done in memory. Then blocks of four vectors are taken through all the
//! other layers: first those between them, then those within each two of them, where before each
//! layer one bit of the index of a lane is exchanged with the choice between the two vectors, so that
//! butterflies are between vectors. Forward, the last three bits are rather reached by interleaving
//! eight lanes with eight, which is fewer instructions on x86; back it would be more on AVX2.
//!
//! Work on one block hides the latency of others: one or two blocks of each of P polynomials go
//! through a layer before any goes on, two where registers about suffice. The compiler leaves on the
//! stack what does not fit into registers.

#![expect(
    clippy::needless_range_loop,
    reason = "blocks and polynomials are indices of several things"
)]

use core::marker::PhantomData;

use super::{super::ntt::Tables, barrett, centred, montgomery};
use crate::{
    map_all,
    ring::field::{inverse_mod_2_16, montgomery_constant},
    simd::Simd,
};

/// The most layers within a pair of vectors.
const INNER: usize = 6;

/// The bits of the index of one of eight lanes.
const EIGHTS: usize = 3;

/// Zetas in Montgomery form, centred, each with its quotient by Q mod 2¹⁶.
struct Zetas<S, const N: usize, const Q: u16>(PhantomData<S>);

impl<S: Simd, const N: usize, const Q: u16> Zetas<S, N, Q> {
    const FORWARD: &[[u16; 2]; N] = &with_quotients::<N, Q>(Tables::<N, Q>::ZETAS);
    const INVERSE: &[[u16; 2]; N] = &with_quotients::<N, Q>(Tables::<N, Q>::INVERSE_ZETAS);
    const INNER_FORWARD: &Rows<N> = &Rows(rows::<N>(Self::FORWARD, S::LANES, true));
    const INNER_INVERSE: &Rows<N> = &Rows(rows::<N>(Self::INVERSE, S::LANES, false));
    /// 1/N and ζ/N for the last layer of the inverse, for products of reduced factors and of those
    /// that lack a factor of 2¹⁶.
    const LAST: [[u16; 2]; 2] = [
        with_quotient::<Q>(Tables::<N, Q>::INVERSE_OF_N),
        with_quotient::<Q>(montgomery_constant::<Q>(
            Tables::<N, Q>::INVERSE_ZETAS[1],
            Tables::<N, Q>::INVERSE_OF_N,
        )),
    ];
}

/// The array that [`rows`] makes, aligned so that no vector lies in two cache lines.
#[repr(C, align(64))]
struct Rows<const N: usize>([[u16; N]; INNER]);

const fn with_quotient<const Q: u16>(zeta: u16) -> [u16; 2] {
    let zeta = centred::<Q>(zeta);
    [zeta, zeta.wrapping_mul(inverse_mod_2_16(Q))]
}

const fn with_quotients<const N: usize, const Q: u16>(zetas: [u16; N]) -> [[u16; 2]; N] {
    let mut all = [[0; 2]; N];
    let mut k = 0;
    while k < N {
        all[k] = with_quotient::<Q>(zetas[k]);
        k += 1;
    }
    all
}

/// Makes row `bit` for the layer with butterflies at distance 2^bit: for each pair of vectors the
/// zetas of all lanes, then their quotients. `interleaved` says that the bits below [`EIGHTS`] were
/// reached by `interleave_eights`, the others by `exchange`.
const fn rows<const N: usize>(
    zetas: &[[u16; 2]; N],
    lanes: usize,
    interleaved: bool,
) -> [[u16; N]; INNER] {
    let mut rows = [[0; N]; INNER];
    let mut bit = 0;
    while 1 << bit < lanes {
        let mut i = 0;
        while i < N {
            let (pair, part, lane) = (i / (2 * lanes), i / lanes % 2, i % lanes);
            // The first of the two vectors: without the bit that chooses between them.
            let element = if interleaved && bit < EIGHTS {
                // Each time the four bits of a place, in either vector, were rotated to the left.
                (lane >> EIGHTS << (EIGHTS + 1)) + rotated_right(lane % 8, EIGHTS - bit)
            } else {
                (lane >> bit << (bit + 1)) + lane % (1 << bit)
            };
            let element = pair * 2 * lanes + element;
            rows[bit][i] = zetas[(N >> (bit + 1)) + (element >> (bit + 1))][part];
            i += 1;
        }
        bit += 1;
    }
    rows
}

/// Four bits, rotated to the right by 1 to 3.
const fn rotated_right(x: usize, by: usize) -> usize {
    (x >> by | x << (4 - by)) & 15
}

/// Bounds in units of Q/64, rounded up.
const UNIT: u32 = 64;

/// The largest bound, in units of Q/[`UNIT`], that fits in a 16-bit lane.
const fn limit<const Q: u16>() -> u32 {
    UNIT * 32767 / Q as u32
}

/// The bound after [`montgomery`] by a centred factor: Q/2 + bound·Q/2/2¹⁶.
const fn after_product<const Q: u16>(bound: u32) -> u32 {
    UNIT / 2 + bound * (Q as u32 / 2 + 1) / (1 << 16) + 1
}

/// The bound after [`barrett`]: half of Q, and the error of the rounded reciprocal at 2¹⁵.
const fn after_barrett<const Q: u16>() -> u32 {
    let error = 32768 * (32768 - (32768 / Q as u32) * Q as u32) / 32768;
    UNIT / 2 + (UNIT * error).div_ceil(Q as u32) + 1
}

/// The layers in which lanes must be reduced so that all fit.
struct Reductions<const Q: u16>;

impl<const Q: u16> Reductions<Q> {
    /// The first input of the butterflies of [`forward`], from coefficients below Q.
    const FORWARD: [bool; 16] = {
        let (mut reduces, mut bound, mut layer) = ([false; 16], UNIT, 0);
        while layer < reduces.len() {
            // x ± ζy: the bound of x grows by that of a product, which hardly depends on y. x is
            // reduced first where the sum would not fit.
            let product = after_product::<Q>(bound);
            reduces[layer] = bound + product > limit::<Q>();
            bound = product + if reduces[layer] { after_barrett::<Q>() } else { bound };
            assert!(bound <= limit::<Q>());
            layer += 1;
        }
        reduces
    };

    /// The sums of [`inverse`], so that those of the next layer fit.
    const INVERSE: [bool; 16] = {
        let (mut reduces, mut bound, mut layer) = ([false; 16], UNIT, 0);
        while layer < reduces.len() {
            // x + y and x − y have twice the bound. The difference is multiplied, and small again;
            // the sum is reduced where twice its bound would not fit in the next layer.
            assert!(2 * bound <= limit::<Q>());
            let product = after_product::<Q>(2 * bound);
            reduces[layer] = 4 * bound > limit::<Q>();
            bound = if reduces[layer] { after_barrett::<Q>() } else { 2 * bound };
            if product > bound {
                bound = product;
            }
            layer += 1;
        }
        reduces
    };
}

/// The array of what an expression is for each block and polynomial. Unlike `map` it leaves no closure
/// that the compiler could keep as a function.
macro_rules! vectors {
    ($simd:ident, |$b:ident, $p:ident| $value:expr) => {{
        let mut vectors = [[$simd.splat(0); P]; B];
        for $b in 0..B {
            for $p in 0..P {
                vectors[$b][$p] = $value;
            }
        }
        vectors
    }};
}

#[cfg_attr(not(unoptimized), inline(always))]
fn splat_both<S: Simd>(simd: S, [zeta, quotient]: [u16; 2]) -> [S::Lanes; 2] {
    [simd.splat(zeta), simd.splat(quotient)]
}

#[cfg_attr(not(unoptimized), inline(always))]
fn butterfly<S: Simd, const Q: u16>(
    simd: S,
    (x, y): (S::Lanes, S::Lanes),
    [zeta, quotient]: [S::Lanes; 2],
    layer: u32,
) -> (S::Lanes, S::Lanes) {
    let x = if Reductions::<Q>::FORWARD[layer as usize] { barrett::<S, Q>(simd, x) } else { x };
    let t = montgomery::<S, Q>(simd, y, zeta, quotient);
    (simd.add(x, t), simd.sub(x, t))
}

#[cfg_attr(not(unoptimized), inline(always))]
fn inverse_butterfly<S: Simd, const Q: u16>(
    simd: S,
    (x, y): (S::Lanes, S::Lanes),
    [zeta, quotient]: [S::Lanes; 2],
    layer: u32,
) -> (S::Lanes, S::Lanes) {
    let (sum, difference) = (simd.add(x, y), simd.sub(x, y));
    let sum =
        if Reductions::<Q>::INVERSE[layer as usize] { barrett::<S, Q>(simd, sum) } else { sum };
    (sum, montgomery::<S, Q>(simd, difference, zeta, quotient))
}

/// The factors of the last layer of [`inverse`].
#[cfg_attr(not(unoptimized), inline(always))]
fn last_factors<S: Simd, const N: usize, const Q: u16>(simd: S) -> [[S::Lanes; 2]; 2] {
    let [one, zeta] = Zetas::<S, N, Q>::LAST;
    [splat_both(simd, one), splat_both(simd, zeta)]
}

/// The last layer of [`inverse`], with 1/N in its factors.
#[cfg_attr(not(unoptimized), inline(always))]
fn last_butterfly<S: Simd, const Q: u16>(
    simd: S,
    (x, y): (S::Lanes, S::Lanes),
    [one, zeta]: [[S::Lanes; 2]; 2],
) -> (S::Lanes, S::Lanes) {
    let sum = montgomery::<S, Q>(simd, simd.add(x, y), one[0], one[1]);
    (sum, montgomery::<S, Q>(simd, simd.sub(x, y), zeta[0], zeta[1]))
}

/// Does the same for two pairs of vectors of every block. Vectors have names, as a loop over four would
/// keep them in memory.
macro_rules! for_pairs {
    ([$x0:ident, $y0:ident, $x1:ident, $y1:ident],
     |$pair:pat_param, $b:pat_param, $xy:pat_param| $operation:expr) => {
        for_pairs!(0, $x0, $y0, |$pair, $b, $xy| $operation);
        for_pairs!(1, $x1, $y1, |$pair, $b, $xy| $operation);
    };
    ($number:literal, $x:ident, $y:ident,
     |$pair:pat_param, $b:pat_param, $xy:pat_param| $operation:expr) => {{
        let $pair: usize = $number;
        for b in 0..B {
            for p in 0..P {
                let ($b, $xy) = (b, ($x[b][p], $y[b][p]));
                ($x[b][p], $y[b][p]) = $operation;
            }
        }
    }};
}

/// Applies an operation to each of four vectors.
macro_rules! for_vectors {
    ([$x0:ident, $x1:ident, $x2:ident, $x3:ident], |$k:pat_param, $x:ident| $operation:expr) => {
        for_vectors!(0, $k, $x, $x0, $operation);
        for_vectors!(1, $k, $x, $x1, $operation);
        for_vectors!(2, $k, $x, $x2, $operation);
        for_vectors!(3, $k, $x, $x3, $operation);
    };
    ($number:literal, $k:pat_param, $x:ident, $vector:ident, $operation:expr) => {{
        let ($k, $x): (usize, _) = ($number, &mut $vector);
        $operation;
    }};
}

/// The first layer of [`forward`], into memory.
#[cfg_attr(not(unoptimized), inline(always))]
fn one_layer<S: Simd, const N: usize, const Q: u16>(
    simd: S,
    f: &mut [u16; N],
    mut source: impl FnMut(&[u16; N], usize) -> S::Lanes,
) {
    let zeta = splat_both(simd, Zetas::<S, N, Q>::FORWARD[1]);
    for i in (0..N / 2).step_by(S::LANES) {
        let xy = (source(f, i), source(f, i + N / 2));
        let (x, y) = butterfly::<S, Q>(simd, xy, zeta, 0);
        simd.store(x, &mut f[i..]);
        simd.store(y, &mut f[i + N / 2..]);
    }
}

/// Two layers of [`forward`], into memory, over what begins at `start` and is butterfly block `block`
/// of the first of them: all, or half of it.
#[cfg_attr(not(unoptimized), inline(always))]
fn two_layers<S: Simd, const N: usize, const Q: u16>(
    simd: S,
    f: &mut [u16; N],
    (start, block): (usize, usize),
    mut source: impl FnMut(&[u16; N], usize) -> S::Lanes,
) {
    let layer = block.ilog2();
    let quarter = N >> (layer + 2);
    let [first, second, third] = map_all(
        [block, 2 * block, 2 * block + 1],
        inlined!(|k| splat_both(simd, Zetas::<S, N, Q>::FORWARD[k])),
    );
    for i in (start..start + quarter).step_by(S::LANES) {
        let (a, b) = (source(f, i), source(f, i + quarter));
        let (c, d) = (source(f, i + 2 * quarter), source(f, i + 3 * quarter));
        let (a, c) = butterfly::<S, Q>(simd, (a, c), first, layer);
        let (b, d) = butterfly::<S, Q>(simd, (b, d), first, layer);
        let (a, b) = butterfly::<S, Q>(simd, (a, b), second, layer + 1);
        let (c, d) = butterfly::<S, Q>(simd, (c, d), third, layer + 1);
        for (k, x) in [a, b, c, d].into_iter().enumerate() {
            simd.store(x, &mut f[i + k * quarter..]);
        }
    }
}

/// The layers of [`forward`] that are done in memory, so that `groups` groups of blocks are left.
#[cfg_attr(not(unoptimized), inline(always))]
fn layers_in_memory<S: Simd, const N: usize, const Q: u16>(
    simd: S,
    f: &mut [u16; N],
    groups: usize,
    source: impl FnMut(&[u16; N], usize) -> S::Lanes,
) {
    match groups {
        1 => {}
        2 => one_layer::<S, N, Q>(simd, f, source),
        4 => two_layers::<S, N, Q>(simd, f, (0, 1), source),
        8 => {
            one_layer::<S, N, Q>(simd, f, source);
            for half in 0..2 {
                two_layers::<S, N, Q>(
                    simd,
                    f,
                    (half * N / 2, 2 + half),
                    inlined!(|f, i| simd.load(&f[i..])),
                );
            }
        }
        _ => unreachable!("at most eight groups"),
    }
}

/// f ↦ f̂ for each of P polynomials from the coefficients below Q that `source` gives for a number and
/// an index, f the room to compute in; it may read there what is at the index. `operation` gets
/// values below Q and gives what is to be stored.
#[cfg_attr(not(unoptimized), inline(always))]
pub(in crate::ring) fn forward<S: Simd, const N: usize, const Q: u16, const P: usize>(
    simd: S,
    f: [&mut [u16; N]; P],
    source: impl FnMut(usize, &[u16; N], usize) -> S::Lanes,
    operation: impl FnMut(usize, usize, S::Lanes) -> S::Lanes,
) {
    if const { in_twos::<S, P>() } {
        forward_blocks::<S, N, Q, P, 2>(simd, f, source, operation);
    } else {
        forward_blocks::<S, N, Q, P, 1>(simd, f, source, operation);
    }
}

/// Returns true if the registers can hold two blocks of each polynomial beside the operands of a
/// butterfly.
const fn in_twos<S: Simd, const P: usize>() -> bool {
    8 * P + 8 <= S::REGISTERS
}

#[cfg_attr(not(unoptimized), inline(always))]
fn forward_blocks<S: Simd, const N: usize, const Q: u16, const P: usize, const B: usize>(
    simd: S,
    f: [&mut [u16; N]; P],
    mut source: impl FnMut(usize, &[u16; N], usize) -> S::Lanes,
    mut operation: impl FnMut(usize, usize, S::Lanes) -> S::Lanes,
) {
    let (zetas, inner) = (Zetas::<S, N, Q>::FORWARD, Zetas::<S, N, Q>::INNER_FORWARD);
    let layers = N.ilog2();
    let blocks = N / (4 * S::LANES);
    let groups = blocks / B;
    for p in 0..P {
        layers_in_memory::<S, N, Q>(simd, f[p], groups, inlined!(|f, i| source(p, f, i)));
    }
    for group in 0..groups {
        let at = |b: usize, k: usize| (4 * (group * B + b) + k) * S::LANES;
        macro_rules! vector {
            ($k:literal) => {
                vectors!(simd, |b, p| if groups == 1 {
                    source(p, f[p], at(b, $k))
                } else {
                    simd.load(&f[p][at(b, $k)..])
                })
            };
        }
        let (mut x0, mut x1, mut x2, mut x3) = (vector!(0), vector!(1), vector!(2), vector!(3));

        // The layers between vectors.
        // Each layer with a zeta per block: between the two blocks, at a distance of two vectors,
        // of one.
        if B == 2 {
            let layer = groups.ilog2();
            let zeta = splat_both(simd, zetas[groups + group]);
            for_vectors!([x0, x1, x2, x3], |_, x| for p in 0..P {
                (x[0][p], x[1][p]) = butterfly::<S, Q>(simd, (x[0][p], x[1][p]), zeta, layer);
            });
        }
        let layer = blocks.ilog2();
        for_pairs!([x0, x2, x1, x3], |_, b, xy| {
            let zeta = splat_both(simd, zetas[blocks + group * B + b]);
            butterfly::<S, Q>(simd, xy, zeta, layer)
        });
        for_pairs!([x0, x1, x2, x3], |pair, b, xy| {
            let zeta = splat_both(simd, zetas[2 * (blocks + group * B + b) + pair]);
            butterfly::<S, Q>(simd, xy, zeta, layer + 1)
        });

        // Those within vectors.
        // Elements 2^bit apart come into the same lane of two vectors, so that no lane of a
        // butterfly is idle; their zetas are in the same order in `inner`.
        macro_rules! layer {
            ($bit:literal) => {
                for_pairs!([x0, x1, x2, x3], |pair, b, (x, y)| {
                    let zetas = &inner.0[$bit][at(b, 2 * pair)..];
                    let zetas = [simd.load(zetas), simd.load(&zetas[S::LANES..])];
                    let xy = if $bit < EIGHTS {
                        simd.interleave_eights(x, y)
                    } else {
                        simd.exchange::<$bit>(x, y)
                    };
                    butterfly::<S, Q>(simd, xy, zetas, layers - 1 - $bit)
                });
            };
        }
        if S::LANES == 32 {
            layer!(4);
        }
        if S::LANES >= 16 {
            layer!(3);
        }
        layer!(2);
        layer!(1);
        layer!(0);
        for_pairs!([x0, x1, x2, x3], |_, _, (x, y)| simd.interleave(x, y));
        for_vectors!([x0, x1, x2, x3], |k, x| for b in 0..B {
            for p in 0..P {
                let at = at(b, k);
                // Lanes are as large as the last layers left them: one reduction for all.
                let x = operation(p, at, barrett::<S, Q>(simd, x[b][p]));
                simd.store(x, &mut f[p][at..]);
            }
        });
    }
}

/// The inverse of [`forward`] from the values below Q that `source` gives for a number and an index; it
/// may read the room at the index. `operation` gets coefficients below Q and gives what is to be stored.
#[cfg_attr(not(unoptimized), inline(always))]
pub(in crate::ring) fn inverse<S: Simd, const N: usize, const Q: u16, const P: usize>(
    simd: S,
    f: [&mut [u16; N]; P],
    source: impl FnMut(usize, &[u16; N], usize) -> S::Lanes,
    operation: impl FnMut(usize, usize, S::Lanes) -> S::Lanes,
) {
    if const { in_twos::<S, P>() } {
        inverse_blocks::<S, N, Q, P, 2>(simd, f, source, operation);
    } else {
        inverse_blocks::<S, N, Q, P, 1>(simd, f, source, operation);
    }
}

#[cfg_attr(not(unoptimized), inline(always))]
fn inverse_blocks<S: Simd, const N: usize, const Q: u16, const P: usize, const B: usize>(
    simd: S,
    f: [&mut [u16; N]; P],
    mut source: impl FnMut(usize, &[u16; N], usize) -> S::Lanes,
    mut operation: impl FnMut(usize, usize, S::Lanes) -> S::Lanes,
) {
    let (zetas, inner) = (Zetas::<S, N, Q>::INVERSE, Zetas::<S, N, Q>::INNER_INVERSE);
    let within = S::LANES.ilog2();
    let blocks = N / (4 * S::LANES);
    let groups = blocks / B;
    let last_factors = last_factors::<S, N, Q>(simd);
    for group in 0..groups {
        let at = |b: usize, k: usize| (4 * (group * B + b) + k) * S::LANES;
        macro_rules! vector {
            ($k:literal) => {
                vectors!(simd, |b, p| source(p, f[p], at(b, $k)))
            };
        }
        let (mut x0, mut x1, mut x2, mut x3) = (vector!(0), vector!(1), vector!(2), vector!(3));

        // The layers within vectors.
        // Even elements to one vector, odd ones to the other: distance 1 is between vectors, and
        // each layer ends with the exchange for the next distance.
        for_pairs!([x0, x1, x2, x3], |_, _, (x, y)| simd.deinterleave(x, y));
        macro_rules! layer {
            ($bit:literal) => {
                for_pairs!([x0, x1, x2, x3], |pair, b, xy| {
                    let zetas = &inner.0[$bit][at(b, 2 * pair)..];
                    let zetas = [simd.load(zetas), simd.load(&zetas[S::LANES..])];
                    let (x, y) = inverse_butterfly::<S, Q>(simd, xy, zetas, $bit);
                    simd.exchange::<$bit>(x, y)
                });
            };
        }
        layer!(0);
        layer!(1);
        layer!(2);
        if S::LANES >= 16 {
            layer!(3);
        }
        if S::LANES == 32 {
            layer!(4);
        }

        // Those between vectors.
        for_pairs!([x0, x1, x2, x3], |pair, b, xy| {
            let zeta = splat_both(simd, zetas[2 * (blocks + group * B + b) + pair]);
            inverse_butterfly::<S, Q>(simd, xy, zeta, within)
        });
        for_pairs!([x0, x2, x1, x3], |_, b, xy| {
            let zeta = splat_both(simd, zetas[blocks + group * B + b]);
            inverse_butterfly::<S, Q>(simd, xy, zeta, within + 1)
        });
        if B == 2 {
            let zeta = splat_both(simd, zetas[groups + group]);
            for_vectors!([x0, x1, x2, x3], |_, x| for p in 0..P {
                let xy = (x[0][p], x[1][p]);
                (x[0][p], x[1][p]) = if groups == 1 {
                    last_butterfly::<S, Q>(simd, xy, last_factors)
                } else {
                    inverse_butterfly::<S, Q>(simd, xy, zeta, within + 2)
                };
            });
        }
        for_vectors!([x0, x1, x2, x3], |k, x| for b in 0..B {
            for p in 0..P {
                let at = at(b, k);
                let x = if groups == 1 { operation(p, at, x[b][p]) } else { x[b][p] };
                simd.store(x, &mut f[p][at..]);
            }
        });
    }

    if groups > 1 {
        for p in 0..P {
            last_layers_in_memory::<S, N, Q>(
                simd,
                f[p],
                groups,
                inlined!(|i, x| operation(p, i, x)),
            );
        }
    }
}

/// The layers of [`inverse`] over `groups` groups of blocks.
#[cfg_attr(not(unoptimized), inline(always))]
fn last_layers_in_memory<S: Simd, const N: usize, const Q: u16>(
    simd: S,
    f: &mut [u16; N],
    mut groups: usize,
    mut operation: impl FnMut(usize, S::Lanes) -> S::Lanes,
) {
    let zetas = Zetas::<S, N, Q>::INVERSE;
    let last_factors = last_factors::<S, N, Q>(simd);
    while groups > 4 {
        let half = N / groups;
        for (block, f) in f.chunks_exact_mut(2 * half).enumerate() {
            let zeta = splat_both(simd, zetas[groups / 2 + block]);
            let (low, high) = f.split_at_mut(half);
            for (x, y) in low.chunks_exact_mut(S::LANES).zip(high.chunks_exact_mut(S::LANES)) {
                let xy = (simd.load(x), simd.load(y));
                let (sum, difference) = inverse_butterfly::<S, Q>(simd, xy, zeta, half.ilog2());
                simd.store(sum, x);
                simd.store(difference, y);
            }
        }
        groups /= 2;
    }
    if groups == 4 {
        let quarter = N / 4;
        let [first, second] = map_all([2, 3], inlined!(|k| splat_both(simd, zetas[k])));
        for i in (0..quarter).step_by(S::LANES) {
            let (a, b) = (simd.load(&f[i..]), simd.load(&f[i + quarter..]));
            let (c, d) = (simd.load(&f[i + 2 * quarter..]), simd.load(&f[i + 3 * quarter..]));
            let (a, b) = inverse_butterfly::<S, Q>(simd, (a, b), first, quarter.ilog2());
            let (c, d) = inverse_butterfly::<S, Q>(simd, (c, d), second, quarter.ilog2());
            // The last layer multiplies sums also, by 1/N: so it leaves nothing to be reduced.
            let (a, c) = last_butterfly::<S, Q>(simd, (a, c), last_factors);
            let (b, d) = last_butterfly::<S, Q>(simd, (b, d), last_factors);
            for (k, x) in [a, b, c, d].into_iter().enumerate() {
                let at = i + k * quarter;
                simd.store(operation(at, x), &mut f[at..]);
            }
        }
    } else {
        for i in (0..N / 2).step_by(S::LANES) {
            let xy = (simd.load(&f[i..]), simd.load(&f[i + N / 2..]));
            let (x, y) = last_butterfly::<S, Q>(simd, xy, last_factors);
            simd.store(operation(i, x), &mut f[i..]);
            simd.store(operation(i + N / 2, y), &mut f[i + N / 2..]);
        }
    }
}
