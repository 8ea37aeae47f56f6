//! The transform on vectors.
//!
//! Layers over more than eight vectors are done in memory. Then eight vectors at a time are taken
//! through all the other layers: first those between them, then those within each two of them, where
//! before each layer one bit of the index of a lane is exchanged with the choice between the two
//! vectors, so that butterflies are between vectors.

use core::marker::PhantomData;

use super::{super::ntt::Tables, barrett, centred, montgomery};
use crate::{
    ring::field::{inverse_mod_2_16, montgomery_multiply},
    simd::Simd,
};

/// The most layers within a pair of vectors.
const INNER: usize = 6;

/// Zetas in Montgomery form, centred, each with its quotient by Q mod 2¹⁶.
struct Zetas<S, const N: usize, const Q: u16>(PhantomData<S>);

impl<S: Simd, const N: usize, const Q: u16> Zetas<S, N, Q> {
    const FORWARD: &[[u16; 2]; N] = &with_quotients::<N, Q>(Tables::<N, Q>::ZETAS);
    const INVERSE: &[[u16; 2]; N] = &with_quotients::<N, Q>(Tables::<N, Q>::INVERSE_ZETAS);
    const INNER_FORWARD: &[[u16; N]; INNER] = &rows::<N>(Self::FORWARD, S::LANES);
    const INNER_INVERSE: &[[u16; N]; INNER] = &rows::<N>(Self::INVERSE, S::LANES);
    /// 1/N and ζ/N for the last layer of the inverse, for products of reduced factors and of those
    /// that lack a factor of 2¹⁶.
    const LAST: [[u16; 2]; 2] = [
        with_quotient::<Q>(Tables::<N, Q>::INVERSE_OF_N),
        with_quotient::<Q>(montgomery_multiply::<Q>(
            Tables::<N, Q>::INVERSE_ZETAS[1],
            Tables::<N, Q>::INVERSE_OF_N,
        )),
    ];
}

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

/// For the layer with butterflies at distance 2^bit row `bit`: for each pair of vectors the zetas of
/// all lanes, then their quotients.
const fn rows<const N: usize>(zetas: &[[u16; 2]; N], lanes: usize) -> [[u16; N]; INNER] {
    let mut rows = [[0; N]; INNER];
    let mut bit = 0;
    while 1 << bit < lanes {
        let mut i = 0;
        while i < N {
            let (pair, part, lane) = (i / (2 * lanes), i / lanes % 2, i % lanes);
            // The index of a lane lacks the bit that chooses between the vectors.
            let element = pair * 2 * lanes + (lane >> bit << (bit + 1)) + lane % (1 << bit);
            rows[bit][i] = zetas[(N >> (bit + 1)) + (element >> (bit + 1))][part];
            i += 1;
        }
        bit += 1;
    }
    rows
}

/// Bounds in units of Q/64, rounded up.
const UNIT: u32 = 64;

/// What a 16-bit lane holds.
const fn limit<const Q: u16>() -> u32 {
    UNIT * 32767 / Q as u32
}

/// After [`montgomery`] by a centred factor: Q/2 + bound·Q/2/2¹⁶.
const fn after_product<const Q: u16>(bound: u32) -> u32 {
    UNIT / 2 + bound * (Q as u32 / 2 + 1) / (1 << 16) + 1
}

/// After [`barrett`]: half of Q and what the rounded reciprocal errs by at 2¹⁵.
const fn after_barrett<const Q: u16>() -> u32 {
    let error = 32768 * (32768 - (32768 / Q as u32) * Q as u32) / 32768;
    UNIT / 2 + (UNIT * error).div_ceil(Q as u32) + 1
}

/// In which layers lanes must be reduced so that all fit.
struct Reductions<const Q: u16>;

impl<const Q: u16> Reductions<Q> {
    /// The first input of the butterflies of [`forward`], from coefficients below Q.
    const FORWARD: [bool; 16] = {
        let (mut reduces, mut bound, mut layer) = ([false; 16], UNIT, 0);
        while layer < reduces.len() {
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

/// The same table. On AVX-512 LLVM is to know nothing of the entries: it would make all of its vectors
/// before a loop over several transforms, and keep them on the stack.
#[inline(always)]
fn opaque<S: Simd, T>(table: &'static T) -> &'static T {
    if S::LANES == 32 { core::hint::black_box(table) } else { table }
}

#[inline(always)]
fn splat_both<S: Simd>(simd: S, [zeta, quotient]: [u16; 2]) -> [S::Lanes; 2] {
    [simd.splat(zeta), simd.splat(quotient)]
}

#[inline(always)]
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

#[inline(always)]
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

/// Does the same for each of the four pairs of eight vectors before it goes on: what is done to one
/// hides the latency of the others.
macro_rules! for_pairs {
    ([$x0:ident, $x1:ident, $x2:ident, $x3:ident, $x4:ident, $x5:ident, $x6:ident, $x7:ident],
     |$pair:ident, $xy:ident| $operation:expr) => {
        for_pairs!(0, $pair, $xy, $x0, $x1, $operation);
        for_pairs!(1, $pair, $xy, $x2, $x3, $operation);
        for_pairs!(2, $pair, $xy, $x4, $x5, $operation);
        for_pairs!(3, $pair, $xy, $x6, $x7, $operation);
    };
    ($number:literal, $pair:ident, $xy:ident, $x:ident, $y:ident, $operation:expr) => {
        let ($pair, $xy) = ($number, ($x, $y));
        let _: usize = $pair;
        ($x, $y) = $operation;
    };
}

/// The array of what an expression is for the indices 0 to 7. Unlike `map` it leaves no closure that
/// the compiler could keep as a function.
macro_rules! eight {
    (|$k:ident| $value:expr) => {
        eight!($k, $value, 0 1 2 3 4 5 6 7)
    };
    ($k:ident, $value:expr, $($index:literal)*) => {
        [$({
            let $k = $index;
            $value
        }),*]
    };
}

/// The last layer of [`inverse`], with 1/N in its factors.
#[inline(always)]
fn last_butterfly<S: Simd, const Q: u16>(
    simd: S,
    (x, y): (S::Lanes, S::Lanes),
    [one, zeta]: [[S::Lanes; 2]; 2],
) -> (S::Lanes, S::Lanes) {
    let sum = montgomery::<S, Q>(simd, simd.add(x, y), one[0], one[1]);
    (sum, montgomery::<S, Q>(simd, simd.sub(x, y), zeta[0], zeta[1]))
}

/// The first layer of [`forward`], into memory.
#[inline(always)]
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
#[inline(always)]
fn two_layers<S: Simd, const N: usize, const Q: u16>(
    simd: S,
    f: &mut [u16; N],
    (start, block): (usize, usize),
    mut source: impl FnMut(&[u16; N], usize) -> S::Lanes,
) {
    let layer = block.ilog2();
    let quarter = N >> (layer + 2);
    let [first, second, third] = [block, 2 * block, 2 * block + 1].map(
        #[inline(always)]
        |k| splat_both(simd, Zetas::<S, N, Q>::FORWARD[k]),
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

/// f ↦ f̂ from the coefficients below Q that `source` gives for each index, f the room to compute in.
/// `operation` gets values below Q and gives what is to be stored.
#[inline(always)]
pub(in crate::ring) fn forward<S: Simd, const N: usize, const Q: u16>(
    simd: S,
    f: &mut [u16; N],
    mut source: impl FnMut(&[u16; N], usize) -> S::Lanes,
    mut operation: impl FnMut(usize, S::Lanes) -> S::Lanes,
) {
    let (zetas, inner) =
        (Zetas::<S, N, Q>::FORWARD, opaque::<S, _>(Zetas::<S, N, Q>::INNER_FORWARD));
    let layers = N.ilog2();
    let blocks = N / (8 * S::LANES);
    let before = blocks.ilog2();
    match blocks {
        1 => {}
        2 => one_layer::<S, N, Q>(
            simd,
            f,
            #[inline(always)]
            |f, i| source(f, i),
        ),
        4 => two_layers::<S, N, Q>(
            simd,
            f,
            (0, 1),
            #[inline(always)]
            |f, i| source(f, i),
        ),
        8 => {
            one_layer::<S, N, Q>(
                simd,
                f,
                #[inline(always)]
                |f, i| source(f, i),
            );
            for half in 0..2 {
                two_layers::<S, N, Q>(
                    simd,
                    f,
                    (half * N / 2, 2 + half),
                    #[inline(always)]
                    |f, i| simd.load(&f[i..]),
                );
            }
        }
        _ => unreachable!("eight, 16, 32 or 64 vectors"),
    }

    // Three layers between eight vectors, the others within each two of them.
    for block in 0..blocks {
        let start = block * 8 * S::LANES;
        let [mut a, mut b, mut c, mut d, mut e, mut g, mut h, mut i] = eight!(|k| {
            let at = start + k * S::LANES;
            if blocks == 1 { source(f, at) } else { simd.load(&f[at..]) }
        });
        let zeta = |layer: u32, k: usize| {
            splat_both(simd, zetas[(1 << layer) + (block << (layer - before)) + k])
        };
        let first = zeta(before, 0);
        (a, e) = butterfly::<S, Q>(simd, (a, e), first, before);
        (b, g) = butterfly::<S, Q>(simd, (b, g), first, before);
        (c, h) = butterfly::<S, Q>(simd, (c, h), first, before);
        (d, i) = butterfly::<S, Q>(simd, (d, i), first, before);
        let second = [zeta(before + 1, 0), zeta(before + 1, 1)];
        (a, c) = butterfly::<S, Q>(simd, (a, c), second[0], before + 1);
        (b, d) = butterfly::<S, Q>(simd, (b, d), second[0], before + 1);
        (e, h) = butterfly::<S, Q>(simd, (e, h), second[1], before + 1);
        (g, i) = butterfly::<S, Q>(simd, (g, i), second[1], before + 1);
        for_pairs!([a, b, c, d, e, g, h, i], |pair, xy| butterfly::<S, Q>(
            simd,
            xy,
            zeta(before + 2, pair),
            before + 2
        ));

        macro_rules! layer {
            ($bit:literal) => {
                for_pairs!([a, b, c, d, e, g, h, i], |pair, xy| {
                    let at = start + pair * 2 * S::LANES;
                    let zetas = &inner[$bit][at..];
                    let zetas = [simd.load(zetas), simd.load(&zetas[S::LANES..])];
                    let xy = simd.exchange::<$bit>(xy.0, xy.1);
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
        for_pairs!([a, b, c, d, e, g, h, i], |pair, xy| simd.interleave(xy.0, xy.1));
        for (k, x) in [a, b, c, d, e, g, h, i].into_iter().enumerate() {
            let at = start + k * S::LANES;
            let x = operation(at, barrett::<S, Q>(simd, x));
            simd.store(x, &mut f[at..]);
        }
    }
}

/// The inverse of [`forward`] from the values below Q that `source` gives for each index. `operation`
/// gets coefficients below Q and gives what is to be stored.
#[inline(always)]
pub(in crate::ring) fn inverse<S: Simd, const N: usize, const Q: u16>(
    simd: S,
    f: &mut [u16; N],
    mut source: impl FnMut(&[u16; N], usize) -> S::Lanes,
    mut operation: impl FnMut(usize, S::Lanes) -> S::Lanes,
) {
    let (zetas, inner) =
        (Zetas::<S, N, Q>::INVERSE, opaque::<S, _>(Zetas::<S, N, Q>::INNER_INVERSE));
    let blocks = N / (8 * S::LANES);
    let within = S::LANES.ilog2();
    let last = N.ilog2() - 1;
    // The last layer, with 1/N in its factors.
    let last_factors = Zetas::<S, N, Q>::LAST.map(
        #[inline(always)]
        |factor| splat_both(simd, factor),
    );
    for block in 0..blocks {
        let start = block * 8 * S::LANES;
        let [mut a, mut b, mut c, mut d, mut e, mut g, mut h, mut i] =
            eight!(|k| source(f, start + k * S::LANES));
        for_pairs!([a, b, c, d, e, g, h, i], |pair, xy| simd.deinterleave(xy.0, xy.1));
        macro_rules! layer {
            ($bit:literal) => {
                for_pairs!([a, b, c, d, e, g, h, i], |pair, xy| {
                    let at = start + pair * 2 * S::LANES;
                    let zetas = &inner[$bit][at..];
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

        // Three layers between eight vectors.
        let zeta = |layer: u32, k: usize| {
            let groups = N >> (layer + 1);
            splat_both(simd, zetas[groups + block * (groups / blocks) + k])
        };
        for_pairs!([a, b, c, d, e, g, h, i], |pair, xy| inverse_butterfly::<S, Q>(
            simd,
            xy,
            zeta(within, pair),
            within
        ));
        let second = [zeta(within + 1, 0), zeta(within + 1, 1)];
        (a, c) = inverse_butterfly::<S, Q>(simd, (a, c), second[0], within + 1);
        (b, d) = inverse_butterfly::<S, Q>(simd, (b, d), second[0], within + 1);
        (e, h) = inverse_butterfly::<S, Q>(simd, (e, h), second[1], within + 1);
        (g, i) = inverse_butterfly::<S, Q>(simd, (g, i), second[1], within + 1);
        if blocks == 1 {
            (a, e) = last_butterfly::<S, Q>(simd, (a, e), last_factors);
            (b, g) = last_butterfly::<S, Q>(simd, (b, g), last_factors);
            (c, h) = last_butterfly::<S, Q>(simd, (c, h), last_factors);
            (d, i) = last_butterfly::<S, Q>(simd, (d, i), last_factors);
        } else {
            let third = zeta(within + 2, 0);
            (a, e) = inverse_butterfly::<S, Q>(simd, (a, e), third, within + 2);
            (b, g) = inverse_butterfly::<S, Q>(simd, (b, g), third, within + 2);
            (c, h) = inverse_butterfly::<S, Q>(simd, (c, h), third, within + 2);
            (d, i) = inverse_butterfly::<S, Q>(simd, (d, i), third, within + 2);
        }
        for (k, x) in [a, b, c, d, e, g, h, i].into_iter().enumerate() {
            let at = start + k * S::LANES;
            let x = if blocks == 1 { operation(at, x) } else { x };
            simd.store(x, &mut f[at..]);
        }
    }

    let mut layer = within + 3;
    while layer < last {
        let half = 1 << layer;
        for (block, f) in f.chunks_exact_mut(2 * half).enumerate() {
            let zeta = splat_both(simd, zetas[N / 2 / half + block]);
            let (low, high) = f.split_at_mut(half);
            for (x, y) in low.chunks_exact_mut(S::LANES).zip(high.chunks_exact_mut(S::LANES)) {
                let xy = (simd.load(x), simd.load(y));
                let (sum, difference) = inverse_butterfly::<S, Q>(simd, xy, zeta, layer);
                simd.store(sum, x);
                simd.store(difference, y);
            }
        }
        layer += 1;
    }
    if blocks > 1 {
        for i in (0..N / 2).step_by(S::LANES) {
            let xy = (simd.load(&f[i..]), simd.load(&f[i + N / 2..]));
            let (x, y) = last_butterfly::<S, Q>(simd, xy, last_factors);
            simd.store(operation(i, x), &mut f[i..]);
            simd.store(operation(i + N / 2, y), &mut f[i + N / 2..]);
        }
    }
}
