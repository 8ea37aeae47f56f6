//! The transform on vectors.
//!
//! Layers over at least two vectors are done in memory, two at a time. Then two vectors at a time
//! are taken through all the other layers: before each layer one bit of the index of a lane is
//! exchanged with the choice between the two vectors, so that butterflies are between vectors.

use core::marker::PhantomData;

use super::{super::ntt::Tables, barrett, canonical, centred, montgomery};
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
        let (mut reduces, mut bound, mut layer) = ([false; 16], start_of_inverse::<Q>(), 0);
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

/// What [`inverse`] takes: sums of three products at Q = 7681, of one at 13313.
pub(in crate::ring) const fn start_of_inverse<const Q: u16>() -> u32 {
    limit::<Q>() / 2
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

/// f ↦ f̂ from coefficients below Q, canonical if `operation`, the last thing done to each vector, is
/// [`canonical`] or what ends with it; it gets values below Q.
#[inline(always)]
pub(in crate::ring) fn forward<S: Simd, const N: usize, const Q: u16>(
    simd: S,
    f: &mut [u16; N],
    mut operation: impl FnMut(usize, S::Lanes) -> S::Lanes,
) {
    let zetas = Zetas::<S, N, Q>::FORWARD;
    let layers = N.ilog2();
    let mut layer = 0;
    while N >> layer > 4 * S::LANES {
        // Two layers at a time, or one if only one is left.
        let two = N >> (layer + 1) > 4 * S::LANES;
        let quarter = N >> (layer + 2);
        for (block, f) in f.chunks_exact_mut(4 * quarter).enumerate() {
            let first = splat_both(simd, zetas[(1 << layer) + block]);
            let second = splat_both(simd, zetas[(2 << layer) % N + 2 * block]);
            let third = splat_both(simd, zetas[(2 << layer) % N + 2 * block + 1]);
            for i in (0..quarter).step_by(S::LANES) {
                let at = |k: usize| i + k * quarter;
                let [a, b, c, d] = [0, 1, 2, 3].map(
                    #[inline(always)]
                    |k| simd.load(&f[at(k)..]),
                );
                let (a, c) = butterfly::<S, Q>(simd, (a, c), first, layer);
                let (b, d) = butterfly::<S, Q>(simd, (b, d), first, layer);
                let (a, b, c, d) = if two {
                    let (a, b) = butterfly::<S, Q>(simd, (a, b), second, layer + 1);
                    let (c, d) = butterfly::<S, Q>(simd, (c, d), third, layer + 1);
                    (a, b, c, d)
                } else {
                    (a, b, c, d)
                };
                for (k, x) in [a, b, c, d].into_iter().enumerate() {
                    simd.store(x, &mut f[at(k)..]);
                }
            }
        }
        layer += if two { 2 } else { 1 };
    }

    // Two layers between four vectors, the others within each two of them.
    let quarter = S::LANES;
    for (block, f) in f.chunks_exact_mut(4 * quarter).enumerate() {
        let first = splat_both(simd, zetas[(1 << layer) + block]);
        let second = splat_both(simd, zetas[(2 << layer) + 2 * block]);
        let third = splat_both(simd, zetas[(2 << layer) + 2 * block + 1]);
        let [a, b, c, d] = [0, 1, 2, 3].map(
            #[inline(always)]
            |k| simd.load(&f[k * quarter..]),
        );
        let (a, c) = butterfly::<S, Q>(simd, (a, c), first, layer);
        let (b, d) = butterfly::<S, Q>(simd, (b, d), first, layer);
        let ab = butterfly::<S, Q>(simd, (a, b), second, layer + 1);
        let cd = butterfly::<S, Q>(simd, (c, d), third, layer + 1);
        let pairs = [(2 * block, ab), (2 * block + 1, cd)];
        for ((pair, xy), f) in pairs.into_iter().zip(f.chunks_exact_mut(2 * quarter)) {
            let (x, y) = within::<S, N, Q>(simd, pair, xy, layers);
            for (half, x) in [x, y].into_iter().enumerate() {
                let x = operation((2 * pair + half) * S::LANES, barrett::<S, Q>(simd, x));
                simd.store(x, &mut f[half * S::LANES..]);
            }
        }
    }
}

/// The layers within a pair of vectors.
#[inline(always)]
fn within<S: Simd, const N: usize, const Q: u16>(
    simd: S,
    pair: usize,
    mut xy: (S::Lanes, S::Lanes),
    layers: u32,
) -> (S::Lanes, S::Lanes) {
    macro_rules! layer {
        ($bit:literal) => {
            let zetas = &Zetas::<S, N, Q>::INNER_FORWARD[$bit][pair * 2 * S::LANES..];
            let zetas = [simd.load(zetas), simd.load(&zetas[S::LANES..])];
            xy = simd.exchange::<$bit>(xy.0, xy.1);
            xy = butterfly::<S, Q>(simd, xy, zetas, layers - 1 - $bit);
        };
    }
    if S::LANES == 32 {
        layer!(4);
    }
    layer!(3);
    layer!(2);
    layer!(1);
    layer!(0);
    simd.interleave(xy.0, xy.1)
}

/// The inverse of [`forward`] from values below `start_of_inverse`/64·Q: the vectors that `values`
/// gives for each index, written to `f` as canonical coefficients.
#[inline(always)]
pub(in crate::ring) fn inverse<S: Simd, const N: usize, const Q: u16>(
    simd: S,
    f: &mut [u16; N],
    mut values: impl FnMut(&[u16; N], usize) -> S::Lanes,
) {
    let zetas = Zetas::<S, N, Q>::INVERSE;
    let quarter = S::LANES;
    let last = N.ilog2() - 1;
    for block in 0..N / (4 * quarter) {
        let start = block * 4 * quarter;
        let [ab, cd] = [2 * block, 2 * block + 1].map(
            #[inline(always)]
            |pair| {
                let x = values(f, pair * 2 * S::LANES);
                let y = values(f, pair * 2 * S::LANES + S::LANES);
                inverse_within::<S, N, Q>(simd, pair, (x, y))
            },
        );
        let layer = S::LANES.ilog2();
        let groups = N / (2 * quarter);
        let second = splat_both(simd, zetas[groups + 2 * block]);
        let third = splat_both(simd, zetas[groups + 2 * block + 1]);
        let first = splat_both(simd, zetas[groups / 2 + block]);
        let (a, b) = inverse_butterfly::<S, Q>(simd, ab, second, layer);
        let (c, d) = inverse_butterfly::<S, Q>(simd, cd, third, layer);
        let (a, c) = inverse_butterfly::<S, Q>(simd, (a, c), first, layer + 1);
        let (b, d) = inverse_butterfly::<S, Q>(simd, (b, d), first, layer + 1);
        for (k, x) in [a, b, c, d].into_iter().enumerate() {
            simd.store(x, &mut f[start + k * quarter..]);
        }
    }

    let mut layer = S::LANES.ilog2() + 2;
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

    // The last layer, with 1/N in its factors.
    let [one, zeta] = Zetas::<S, N, Q>::LAST.map(
        #[inline(always)]
        |factor| splat_both(simd, factor),
    );
    let (low, high) = f.split_at_mut(N / 2);
    for (x, y) in low.chunks_exact_mut(S::LANES).zip(high.chunks_exact_mut(S::LANES)) {
        let (a, b) = (simd.load(x), simd.load(y));
        let sum = montgomery::<S, Q>(simd, simd.add(a, b), one[0], one[1]);
        let difference = montgomery::<S, Q>(simd, simd.sub(a, b), zeta[0], zeta[1]);
        simd.store(canonical::<S, Q>(simd, sum), x);
        simd.store(canonical::<S, Q>(simd, difference), y);
    }
}

/// The layers within a pair of vectors.
#[inline(always)]
fn inverse_within<S: Simd, const N: usize, const Q: u16>(
    simd: S,
    pair: usize,
    (x, y): (S::Lanes, S::Lanes),
) -> (S::Lanes, S::Lanes) {
    let mut xy = simd.deinterleave(x, y);
    macro_rules! layer {
        ($bit:literal) => {
            let zetas = &Zetas::<S, N, Q>::INNER_INVERSE[$bit][pair * 2 * S::LANES..];
            let zetas = [simd.load(zetas), simd.load(&zetas[S::LANES..])];
            xy = inverse_butterfly::<S, Q>(simd, xy, zetas, $bit);
            xy = simd.exchange::<$bit>(xy.0, xy.1);
        };
    }
    layer!(0);
    layer!(1);
    layer!(2);
    layer!(3);
    if S::LANES == 32 {
        layer!(4);
    }
    xy
}
