//! The layers of the transform, several in one pass over memory.
//!
//! Layer m, m = 1, 2, 4 … n/2, has m blocks of n/m coefficients; block i has the root `roots[m + i]`.
//! Its inverse is −`roots[2m − 1 − i]`, so the same table serves both directions. Passes keep up to
//! eight vectors in registers; the last one of the forward transform, which is the first one back, has
//! the two layers between four vectors, and then those within vectors.

use super::super::{lanes::Lanes, modulus::Modulus};

/// The vectors of the pass that has the layers within vectors.
const INNER: usize = 4;

/// Coefficients to values; canonical.
#[inline(always)]
pub(super) fn forward<L: Lanes>(l: L, modulus: &Modulus, roots: [&[u64]; 2], f: &mut [u64]) {
    let p = l.prime(modulus);
    let inner = f.len() / (INNER * L::LANES);
    let mut m = 1;
    while m < inner {
        m <<= match (m == 1, layers(L::MOST_LAYERS, inner / m)) {
            (true, 1) => outer::<_, 2, 1, true>(l, p, roots, m, f),
            (true, 2) => outer::<_, 4, 2, true>(l, p, roots, m, f),
            (true, _) => outer::<_, 8, 3, true>(l, p, roots, m, f),
            (false, 1) => outer::<_, 2, 1, false>(l, p, roots, m, f),
            (false, 2) => outer::<_, 4, 2, false>(l, p, roots, m, f),
            (false, _) => outer::<_, 8, 3, false>(l, p, roots, m, f),
        };
    }
    let n = f.len();
    for (i, f) in f.chunks_exact_mut(INNER * L::LANES).enumerate() {
        let [a, b, c, d] = split(f, L::LANES);
        let mut x = [l.resume(a), l.resume(b), l.resume(c), l.resume(d)];
        x[0] = l.settle(p, x[0]);
        x[1] = l.settle(p, x[1]);
        layer::<_, INNER>(l, p, roots, inner, i, 0, &mut x);
        layer::<_, INNER>(l, p, roots, 2 * inner, 2 * i, 1, &mut x);
        for (pair, to) in [[0, 1], [2, 3]].into_iter().zip([[a, b], [c, d]]) {
            let x = within(l, p, roots, n, 2 * i + pair[0] / 2, pair.map(|k| x[k]));
            for (x, to) in x.into_iter().zip(to) {
                l.store(p, l.narrow(p, x), to);
            }
        }
    }
}

/// Values to coefficients; canonical.
#[inline(always)]
pub(super) fn inverse<L: Lanes>(
    l: L,
    modulus: &Modulus,
    roots: [&[u64]; 2],
    last: [[u64; 2]; 2],
    f: &mut [u64],
) {
    let p = l.prime(modulus);
    let n = f.len();
    let inner = n / (INNER * L::LANES);
    for (i, f) in f.chunks_exact_mut(INNER * L::LANES).enumerate() {
        let [a, b, c, d] = split(f, L::LANES);
        let [x0, x1] = within_back(l, p, roots, n, 2 * i, [l.load(a), l.load(b)]);
        let [x2, x3] = within_back(l, p, roots, n, 2 * i + 1, [l.load(c), l.load(d)]);
        let mut x = [x0, x1, x2, x3];
        layer_back::<_, INNER>(l, p, roots, 2 * inner, 2 * i, 1, &mut x);
        layer_back::<_, INNER>(l, p, roots, inner, i, 0, &mut x);
        l.suspend(l.settle(p, x[0]), a);
        l.suspend(l.settle(p, x[1]), b);
        l.suspend(x[2], c);
        l.suspend(x[3], d);
    }
    let mut m = inner;
    while m > 1 {
        let layers = layers(L::MOST_LAYERS, m);
        m >>= layers;
        match (m == 1, layers) {
            (true, 1) => outer_back::<_, 2, 1, true>(l, p, roots, last, m, f),
            (true, 2) => outer_back::<_, 4, 2, true>(l, p, roots, last, m, f),
            (true, _) => outer_back::<_, 8, 3, true>(l, p, roots, last, m, f),
            (false, 1) => outer_back::<_, 2, 1, false>(l, p, roots, last, m, f),
            (false, 2) => outer_back::<_, 4, 2, false>(l, p, roots, last, m, f),
            (false, _) => outer_back::<_, 8, 3, false>(l, p, roots, last, m, f),
        }
    }
}

/// How many of the log₂ `blocks` layers that are left the next pass has, at most `most`: about as
/// many as every other pass.
#[inline(always)]
fn layers(most: u32, blocks: usize) -> u32 {
    let left = blocks.trailing_zeros();
    left / left.div_ceil(most)
}

/// Four vectors of a slice.
#[inline(always)]
fn split(f: &mut [u64], lanes: usize) -> [&mut [u64]; 4] {
    let (low, high) = f.split_at_mut(2 * lanes);
    let ((a, b), (c, d)) = (low.split_at_mut(lanes), high.split_at_mut(lanes));
    [a, b, c, d]
}

/// LAYERS layers from layer `m` on, SIZE = 2^LAYERS vectors at a time; returns LAYERS.
#[inline(always)]
fn outer<L: Lanes, const SIZE: usize, const LAYERS: u32, const FIRST: bool>(
    l: L,
    p: L::Prime,
    roots: [&[u64]; 2],
    m: usize,
    f: &mut [u64],
) -> u32 {
    let stride = f.len() / (m * SIZE);
    for (i, block) in f.chunks_exact_mut(SIZE * stride).enumerate() {
        let mut parts = parts::<SIZE>(block, stride);
        for at in (0..stride).step_by(L::LANES) {
            let mut x = [l.splat(0); SIZE];
            for (k, (x, part)) in x.iter_mut().zip(&parts).enumerate() {
                *x = if FIRST { l.load(&part[at..]) } else { l.resume(&part[at..]) };
                if k < SIZE / 2 {
                    *x = l.settle(p, *x);
                }
            }
            for s in 0..LAYERS {
                layer::<_, SIZE>(l, p, roots, m << s, i << s, s, &mut x);
            }
            for (x, part) in x.into_iter().zip(&mut parts) {
                l.suspend(x, &mut part[at..]);
            }
        }
    }
    LAYERS
}

/// The inverse of [`outer`], but for a factor 2^LAYERS; the last one has the factor 1/n.
#[inline(always)]
fn outer_back<L: Lanes, const SIZE: usize, const LAYERS: u32, const LAST: bool>(
    l: L,
    p: L::Prime,
    roots: [&[u64]; 2],
    last: [[u64; 2]; 2],
    m: usize,
    f: &mut [u64],
) {
    let [scale, root] = last.map(
        #[inline(always)]
        |entry| l.factor(entry),
    );
    let stride = f.len() / (m * SIZE);
    for (i, block) in f.chunks_exact_mut(SIZE * stride).enumerate() {
        let mut parts = parts::<SIZE>(block, stride);
        for at in (0..stride).step_by(L::LANES) {
            let mut x = [l.splat(0); SIZE];
            for (x, part) in x.iter_mut().zip(&parts) {
                *x = l.resume(&part[at..]);
            }
            for s in (u32::from(LAST)..LAYERS).rev() {
                layer_back::<_, SIZE>(l, p, roots, m << s, i << s, s, &mut x);
            }
            if LAST {
                for k in 0..SIZE / 2 {
                    let [sum, y] = l.inverse(p, x[k], x[k + SIZE / 2], root);
                    [x[k], x[k + SIZE / 2]] = [l.mul_by(p, sum, scale), y];
                }
            }
            for (k, (x, part)) in x.into_iter().zip(&mut parts).enumerate() {
                if LAST {
                    l.store(p, x, &mut part[at..]);
                } else if k < SIZE / 2 {
                    l.suspend(l.settle(p, x), &mut part[at..]);
                } else {
                    l.suspend(x, &mut part[at..]);
                }
            }
        }
    }
}

/// SIZE parts of a block.
#[inline(always)]
fn parts<const SIZE: usize>(block: &mut [u64], stride: usize) -> [&mut [u64]; SIZE] {
    let mut parts = block.chunks_exact_mut(stride);
    core::array::from_fn(
        #[inline(always)]
        |_| parts.next().unwrap_or_default(),
    )
}

/// The blocks of layer `m` from block `i` on, 2^`s` of them in SIZE vectors.
#[inline(always)]
fn layer<L: Lanes, const SIZE: usize>(
    l: L,
    p: L::Prime,
    [first, second]: [&[u64]; 2],
    m: usize,
    i: usize,
    s: u32,
    x: &mut [L::Vector; SIZE],
) {
    let half = SIZE >> (s + 1);
    for b in 0..1 << s {
        let w = l.factor([first[m + i + b], second[m + i + b]]);
        for k in 2 * half * b..2 * half * b + half {
            [x[k], x[k + half]] = l.forward(p, x[k], x[k + half], w);
        }
    }
}

/// The inverse of [`layer`], but for a factor 2.
#[inline(always)]
fn layer_back<L: Lanes, const SIZE: usize>(
    l: L,
    p: L::Prime,
    [first, second]: [&[u64]; 2],
    m: usize,
    i: usize,
    s: u32,
    x: &mut [L::Vector; SIZE],
) {
    let half = SIZE >> (s + 1);
    for b in 0..1 << s {
        let at = 2 * m - 1 - i - b;
        let w = l.factor([first[at], second[at]]);
        for k in 2 * half * b..2 * half * b + half {
            [x[k], x[k + half]] = l.inverse(p, x[k], x[k + half], w);
        }
    }
}

/// The layers within the two vectors number `g`.
#[inline(always)]
fn within<L: Lanes>(
    l: L,
    p: L::Prime,
    roots: [&[u64]; 2],
    n: usize,
    g: usize,
    mut x: [L::Vector; 2],
) -> [L::Vector; 2] {
    if L::LANES >= 8 {
        x = within_layer::<_, 4>(l, p, roots, n, g, x);
    }
    if L::LANES >= 4 {
        x = within_layer::<_, 2>(l, p, roots, n, g, x);
    }
    if L::LANES >= 2 {
        let [a, b] = within_layer::<_, 1>(l, p, roots, n, g, x);
        x = l.interleave(a, b);
    }
    x
}

/// The layer of coefficients that are WEIGHT apart.
#[inline(always)]
fn within_layer<L: Lanes, const WEIGHT: usize>(
    l: L,
    p: L::Prime,
    roots: [&[u64]; 2],
    n: usize,
    g: usize,
    [a, b]: [L::Vector; 2],
) -> [L::Vector; 2] {
    let at = n / (2 * WEIGHT) + L::LANES / WEIGHT * g;
    let w = l.factors::<WEIGHT>(roots.map(
        #[inline(always)]
        |roots| &roots[at..],
    ));
    let [a, b] = l.exchange::<WEIGHT>(a, b);
    l.forward(p, a, b, w)
}

/// The inverse of [`within`], but for a factor, from canonical values; settled.
#[inline(always)]
fn within_back<L: Lanes>(
    l: L,
    p: L::Prime,
    roots: [&[u64]; 2],
    n: usize,
    g: usize,
    [a, b]: [L::Vector; 2],
) -> [L::Vector; 2] {
    let mut x = [l.settle(p, a), l.settle(p, b)];
    if L::LANES >= 2 {
        x = l.deinterleave(x[0], x[1]);
        x = within_layer_back::<_, 1>(l, p, roots, n, g, x);
    }
    if L::LANES >= 4 {
        x = within_layer_back::<_, 2>(l, p, roots, n, g, x);
    }
    if L::LANES >= 8 {
        x = within_layer_back::<_, 4>(l, p, roots, n, g, x);
    }
    x.map(
        #[inline(always)]
        |x| l.settle(p, x),
    )
}

/// The inverse of [`within_layer`], but for a factor 2.
#[inline(always)]
fn within_layer_back<L: Lanes, const WEIGHT: usize>(
    l: L,
    p: L::Prime,
    roots: [&[u64]; 2],
    n: usize,
    g: usize,
    [a, b]: [L::Vector; 2],
) -> [L::Vector; 2] {
    let at = n / WEIGHT - L::LANES / WEIGHT * (g + 1);
    let w = l.factors_reversed::<WEIGHT>(roots.map(
        #[inline(always)]
        |roots| &roots[at..],
    ));
    let [a, b] = l.inverse(p, a, b, w);
    l.exchange::<WEIGHT>(a, b)
}
