//! The layers of the transform, several in one pass over memory.
//!
//! Layer m, m = 1, 2, 4 … n/2, has m blocks of n/m coefficients; block i has root m + i, which is ψ^rev(m + i).
//! Its inverse is the negative of root 2m − 1 − i, so the same table serves both directions, read
//! backwards. The last layers, those between the vectors of a *group* and those within vectors, are one
//! pass; the others are passes of two or three layers.
//!
//! The table has the roots of the other layers first, as entries, root i at 2i. Then come, group by
//! group, those of the last pass in the order in which it takes them: entries for the layers between
//! vectors, then for the layers within vectors, for every two vectors, the first words of all entries
//! and then the second ones.

use crate::map_all;

use super::super::{lanes::Lanes, modulus::Modulus};

/// Returns the places of the two words of root `i` in the table for `n` coefficients in groups of
/// SIZE vectors.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) const fn place<L: Lanes, const SIZE: usize>(n: usize, i: usize) -> [usize; 2] {
    let groups = n / (SIZE * L::LANES);
    if i < groups {
        return [2 * i, 2 * i + 1];
    }
    // Root i is the one of block i − m of layer m = 2^⌊log₂ i⌋, and `blocks` of the m blocks are in
    // each group.
    let layer = 1 << i.ilog2();
    let (block, blocks) = (i - layer, layer / groups);
    if blocks < SIZE {
        // Between vectors: one entry for each block, after the
        // 1 + 2 + 4 + … + blocks/2 = blocks − 1 of earlier layers.
        let at = 2 * groups + block / blocks * words::<L, SIZE>();
        let at = at + 2 * (blocks - 1 + block % blocks);
        return [at, at + 1];
    }
    // Every two vectors have so many blocks.
    let count = 2 * blocks / SIZE;
    let (pair, lane) = (block / count, block % count);
    // Layers within vectors that come before, with 2, 4 … count/2 blocks for each of SIZE/2 pairs,
    // take 2·SIZE/2·(2 + 4 + … + count/2) = SIZE·(count − 2) words.
    let at = 2 * groups + pair / (SIZE / 2) * words::<L, SIZE>() + 2 * (SIZE - 1);
    let at = at + SIZE * (count - 2) + 2 * count * (pair % (SIZE / 2)) + lane;
    [at, at + count]
}

/// Words of the table for each group of the last pass.
#[cfg_attr(not(unoptimized), inline(always))]
const fn words<L: Lanes, const SIZE: usize>() -> usize {
    2 * (SIZE * L::LANES - 1)
}

/// Coefficients to values; canonical.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn forward<L: Lanes, const SIZE: usize>(
    l: L,
    modulus: &Modulus,
    table: &[u64],
    f: &mut [u64],
) {
    let p = l.prime(modulus);
    let groups = f.len() / (SIZE * L::LANES);
    let (roots, of_groups) = table.split_at(2 * groups);
    // A block of layer m is f mod X^2h − ω², where h = n/2m and ω is its root. As
    // X^2h − ω² = (X^h − ω)·(X^h + ω), the butterflies low ± ω·high make it f mod X^h − ω and f mod
    // X^h + ω, which are blocks 2i and 2i + 1 of layer 2m. Layer 1 begins with Xⁿ + 1: its root is
    // ψ^(n/2), and ψⁿ = −1.
    let mut m = 1;
    while m < groups {
        m <<= match (m == 1, layers(L::MOST_LAYERS, groups / m)) {
            (true, 1) => outer::<_, 2, 1, true>(l, p, roots, m, f),
            (true, 2) => outer::<_, 4, 2, true>(l, p, roots, m, f),
            (true, _) => outer::<_, 8, 3, true>(l, p, roots, m, f),
            (false, 1) => outer::<_, 2, 1, false>(l, p, roots, m, f),
            (false, 2) => outer::<_, 4, 2, false>(l, p, roots, m, f),
            (false, _) => outer::<_, 8, 3, false>(l, p, roots, m, f),
        };
    }
    let of_groups = of_groups.chunks_exact(words::<L, SIZE>());
    for (f, roots) in f.chunks_exact_mut(SIZE * L::LANES).zip(of_groups) {
        let (between, within) = roots.split_at(2 * (SIZE - 1));
        let mut x = [l.splat(0); SIZE];
        for (k, x) in x.iter_mut().enumerate() {
            *x = l.resume(&f[k * L::LANES..]);
            if k < SIZE / 2 {
                *x = l.settle(p, *x);
            }
        }
        for s in 0..SIZE.ilog2() {
            layer::<_, SIZE, false>(l, p, &between[2 * ((1 << s) - 1)..], s, &mut x);
        }
        // An exchange brings coefficients that are WEIGHT apart into the same lane of two vectors.
        // In the end one vector of a pair has the even coefficients, the other one the odd ones.
        if L::LANES >= 8 {
            layer_within::<_, SIZE, 4, false>(l, p, within, &mut x);
        }
        if L::LANES >= 4 {
            layer_within::<_, SIZE, 2, false>(l, p, within, &mut x);
        }
        if L::LANES >= 2 {
            layer_within::<_, SIZE, 1, false>(l, p, within, &mut x);
            for k in 0..SIZE / 2 {
                [x[2 * k], x[2 * k + 1]] = l.interleave(x[2 * k], x[2 * k + 1]);
            }
        }
        for (k, x) in x.into_iter().enumerate() {
            l.store(p, l.narrow(p, x), &mut f[k * L::LANES..]);
        }
    }
}

/// Values to coefficients; canonical.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn inverse<L: Lanes, const SIZE: usize>(
    l: L,
    modulus: &Modulus,
    table: &[u64],
    last: [[u64; 2]; 2],
    f: &mut [u64],
) {
    let p = l.prime(modulus);
    let groups = f.len() / (SIZE * L::LANES);
    let (roots, of_groups) = table.split_at(2 * groups);
    // Let ω be the root of block i. That of block m − 1 − i is −1/ω, because
    // rev(m + i) + rev(2m − 1 − i) = n and ψⁿ = −1. So with this root u = a + ωb and v = a − ωb
    // give u + v = 2a and (v − u)·(−1/ω) = 2b: the table is read backwards. The factors 2 of all
    // layers are n, by which the last layer divides.
    let of_groups = of_groups.chunks_exact(words::<L, SIZE>()).rev();
    for (f, roots) in f.chunks_exact_mut(SIZE * L::LANES).zip(of_groups) {
        let (between, within) = roots.split_at(2 * (SIZE - 1));
        let mut x = [l.splat(0); SIZE];
        for (k, x) in x.iter_mut().enumerate() {
            *x = l.settle(p, l.load(&f[k * L::LANES..]));
        }
        if L::LANES >= 2 {
            for k in 0..SIZE / 2 {
                [x[2 * k], x[2 * k + 1]] = l.deinterleave(x[2 * k], x[2 * k + 1]);
            }
            layer_within::<_, SIZE, 1, true>(l, p, within, &mut x);
        }
        if L::LANES >= 4 {
            layer_within::<_, SIZE, 2, true>(l, p, within, &mut x);
        }
        if L::LANES >= 8 {
            layer_within::<_, SIZE, 4, true>(l, p, within, &mut x);
        }
        // Sums of doubles have doubled in each layer, so they are settled before the next ones.
        // Sums of integers are narrow already.
        for x in &mut x {
            *x = l.settle(p, *x);
        }
        for s in (0..SIZE.ilog2()).rev() {
            layer::<_, SIZE, true>(l, p, &between[2 * ((1 << s) - 1)..], s, &mut x);
        }
        for (k, x) in x.into_iter().enumerate() {
            // The last layer leaves sums in the lower half, and products, which are narrow, in the
            // upper one.
            let x = if k < SIZE / 2 { l.settle(p, x) } else { x };
            l.suspend(x, &mut f[k * L::LANES..]);
        }
    }
    let mut m = groups;
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

/// Returns the number of layers of the next pass, at most `most`, of the log₂ `blocks` layers that
/// are left: about as many as every other pass.
#[cfg_attr(not(unoptimized), inline(always))]
fn layers(most: u32, blocks: usize) -> u32 {
    // As few passes as possible, the shorter ones first.
    let left = blocks.trailing_zeros();
    left / left.div_ceil(most)
}

/// LAYERS layers from layer `m` on, SIZE = 2^LAYERS vectors at a time; returns LAYERS.
#[cfg_attr(not(unoptimized), inline(always))]
fn outer<L: Lanes, const SIZE: usize, const LAYERS: u32, const FIRST: bool>(
    l: L,
    p: L::Prime,
    roots: &[u64],
    m: usize,
    f: &mut [u64],
) -> u32 {
    // SIZE vectors that are a stride apart are closed under LAYERS layers of butterflies: each
    // coefficient is loaded and stored once for all of them.
    let stride = f.len() / (m * SIZE);
    for (i, block) in f.chunks_exact_mut(SIZE * stride).enumerate() {
        let mut parts = parts::<SIZE>(block, stride);
        for at in (0..stride).step_by(L::LANES) {
            let mut x = [l.splat(0); SIZE];
            for (k, (x, part)) in x.iter_mut().zip(&parts).enumerate() {
                *x = if FIRST { l.load(&part[at..]) } else { l.resume(&part[at..]) };
                // The first layer multiplies the upper half, and a product is narrow whatever its
                // factor was. The lower half is only added to: doubles are settled here, and grow
                // by a product, p at most, in each layer.
                if k < SIZE / 2 {
                    *x = l.settle(p, *x);
                }
            }
            for s in 0..LAYERS {
                layer::<_, SIZE, false>(l, p, &roots[2 * ((m + i) << s)..], s, &mut x);
            }
            for (x, part) in x.into_iter().zip(&mut parts) {
                l.suspend(x, &mut part[at..]);
            }
        }
    }
    LAYERS
}

/// The inverse of [`outer`], but for a factor 2^LAYERS; the last one has the factor 1/n.
#[cfg_attr(not(unoptimized), inline(always))]
fn outer_back<L: Lanes, const SIZE: usize, const LAYERS: u32, const LAST: bool>(
    l: L,
    p: L::Prime,
    roots: &[u64],
    last: [[u64; 2]; 2],
    m: usize,
    f: &mut [u64],
) {
    let [scale, root] = map_all(last, inlined!(|entry| l.factor(entry)));
    let stride = f.len() / (m * SIZE);
    for (i, block) in f.chunks_exact_mut(SIZE * stride).enumerate() {
        let mut parts = parts::<SIZE>(block, stride);
        for at in (0..stride).step_by(L::LANES) {
            let mut x = [l.splat(0); SIZE];
            for (x, part) in x.iter_mut().zip(&parts) {
                *x = l.resume(&part[at..]);
            }
            for s in (u32::from(LAST)..LAYERS).rev() {
                layer::<_, SIZE, true>(l, p, &roots[2 * ((2 * m - 1 - i) << s)..], s, &mut x);
            }
            if LAST {
                for k in 0..SIZE / 2 {
                    // `root` is that of layer 1 divided by n: both halves get the factor 1/n, and
                    // come out narrow.
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

#[cfg_attr(not(unoptimized), inline(always))]
fn parts<const SIZE: usize>(block: &mut [u64], stride: usize) -> [&mut [u64]; SIZE] {
    let mut parts = block.chunks_exact_mut(stride);
    core::array::from_fn(inlined!(|_| parts.next().unwrap_or_default()))
}

/// The 2^`s` blocks of a layer that SIZE vectors are, with the first of these entries; or, if BACK, the inverse but for a factor 2, with
/// the entries of what mirrors these blocks.
#[cfg_attr(not(unoptimized), inline(always))]
fn layer<L: Lanes, const SIZE: usize, const BACK: bool>(
    l: L,
    p: L::Prime,
    entries: &[u64],
    s: u32,
    x: &mut [L::Vector; SIZE],
) {
    let (half, blocks) = (SIZE >> (s + 1), 1 << s);
    let entries = &entries[..2 * blocks];
    for b in 0..blocks {
        let at = if BACK { blocks - 1 - b } else { b };
        let w = l.factor([entries[2 * at], entries[2 * at + 1]]);
        for k in 2 * half * b..2 * half * b + half {
            [x[k], x[k + half]] = if BACK {
                l.inverse(p, x[k], x[k + half], w)
            } else {
                l.forward(p, x[k], x[k + half], w)
            };
        }
    }
}

/// The layer of coefficients that are WEIGHT apart, of a group; or, if BACK, the inverse but for a factor 2, with the words of the group
/// that mirrors it.
#[cfg_attr(not(unoptimized), inline(always))]
fn layer_within<L: Lanes, const SIZE: usize, const WEIGHT: usize, const BACK: bool>(
    l: L,
    p: L::Prime,
    words: &[u64],
    x: &mut [L::Vector; SIZE],
) {
    let count = L::LANES / WEIGHT;
    for k in 0..SIZE / 2 {
        let at = if BACK { SIZE / 2 - 1 - k } else { k };
        let (first, second) = words[SIZE * (count - 2) + 2 * count * at..].split_at(count);
        let (a, b) = (x[2 * k], x[2 * k + 1]);
        [x[2 * k], x[2 * k + 1]] = if BACK {
            let w = l.factors_reversed::<WEIGHT>([first, second]);
            let [a, b] = l.inverse(p, a, b, w);
            l.exchange::<WEIGHT>(a, b)
        } else {
            let w = l.factors::<WEIGHT>([first, second]);
            let [a, b] = l.exchange::<WEIGHT>(a, b);
            l.forward(p, a, b, w)
        };
    }
}
