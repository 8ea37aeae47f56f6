//! Streams in the blocks of vectors, one in each: a single one, whose rounds hide each other's latency, two, or four.

use super::{CONSTANTS, STEP, WARM_UP};
#[cfg(target_arch = "x86_64")]
use crate::blocks::{Blocks, w256::Two};
use crate::{Block, blocks::Aes, erase};

/// S₀ to S₇.
pub(crate) type State<V> = [V; 8];

/// The streams of keys, one for each block of a vector.
#[cfg_attr(not(unoptimized), inline(always))]
pub(crate) fn begin<A: Aes>(a: A, keys: &[Block], nonce: &Block) -> State<A::Vector> {
    let (keys, nonce) = (a.load(keys.as_flattened()), a.splat(nonce));
    let [c0, c1] = [a.splat(&CONSTANTS[0]), a.splat(&CONSTANTS[1])];
    let both = a.xor(keys, nonce);
    let [of_c0, of_c1] = [a.xor(keys, c0), a.xor(keys, c1)];
    let mut s = [both, c1, c0, c1, both, of_c0, of_c1, of_c0];
    for _ in 0..WARM_UP {
        update(a, &mut s);
        // What is absorbed is part of these two rounds' keys, which come last.
        s[0] = a.xor(s[0], nonce);
        s[4] = a.xor(s[4], keys);
    }
    s
}

/// Writes the streams' next bytes, two blocks each.
#[cfg_attr(not(unoptimized), inline(always))]
pub(crate) fn next<A: Aes>(a: A, s: &mut State<A::Vector>) -> [A::Vector; 2] {
    let out = [a.xor3(s[6], s[1], a.and(s[2], s[3])), a.xor3(s[2], s[5], a.and(s[6], s[7]))];
    update(a, s);
    out
}

#[cfg_attr(not(unoptimized), inline(always))]
fn update<A: Aes>(a: A, s: &mut State<A::Vector>) {
    let last = s[7];
    for i in (1..8).rev() {
        s[i] = a.round(s[i - 1], s[i]);
    }
    s[0] = a.round(last, s[0]);
}

/// Writes a single stream's next bytes.
#[cfg_attr(not(unoptimized), inline(always))]
fn fill<A: Aes>(a: A, s: &mut State<A::Vector>, out: &mut [[u8; STEP]]) {
    for out in out {
        a.store_all(next(a, s), out);
    }
}

/// Writes the next bytes of a single stream whose state is in memory.
#[cfg(target_arch = "aarch64")]
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn fill_from<A: Aes>(a: A, state: &mut [Block], out: &mut [[u8; STEP]]) {
    let mut s = a.load_all(state.as_flattened());
    fill(a, &mut s, out);
    a.store_all(s, state.as_flattened_mut());
    erase(&mut s, a.zero());
}

#[cfg(any(target_arch = "x86_64", target_feature = "simd128"))]
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn keystream<A: Aes>(a: A, key: &Block, nonce: &Block, out: &mut [[u8; STEP]]) {
    let mut s = begin(a, &[*key], nonce);
    fill(a, &mut s, out);
    erase(&mut s, a.zero());
}

#[cfg(target_arch = "x86_64")]
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn two_keystreams(
    two: Two<true>,
    keys: &[Block; 2],
    nonce: &Block,
    [one, other]: [&mut [[u8; STEP]]; 2],
) {
    let mut s = begin(two, keys, nonce);
    for (one, other) in one.iter_mut().zip(other) {
        let [first, second] = two.apart(next(two, &mut s));
        two.store(first, one);
        two.store(second, other);
    }
    erase(&mut s, two.zero());
}
