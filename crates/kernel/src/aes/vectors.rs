//! Eight vectors of blocks at a time, which hides the latency of a round.

use super::RoundKeys;
use crate::{Block, blocks::Cipher, erase};

/// Vectors at a time.
pub(crate) const WIDE: usize = 8;

/// Round keys, each in all blocks.
pub(crate) type Keys<V> = [V; 11];

#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn ctr<C: Cipher>(c: C, keys: &RoundKeys, first: u128, out: &mut [Block]) {
    let (keys, mut counter) = (spread(c, keys), counter(c, first));
    let mut wide = out.as_flattened_mut().chunks_exact_mut(WIDE * C::BYTES);
    for out in &mut wide {
        c.store_all(encrypt(c, &keys, count::<_, WIDE>(c, &mut counter)), out);
    }
    let rest = wide.into_remainder();
    match rest.len().div_ceil(C::BYTES) {
        0 => {}
        1 => c.store_parts(encrypt(c, &keys, [counter]), rest),
        2..=4 => c.store_parts(encrypt(c, &keys, count::<_, 4>(c, &mut counter)), rest),
        _ => c.store_parts(encrypt(c, &keys, count::<_, WIDE>(c, &mut counter)), rest),
    }
}

#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn encrypt_blocks<C: Cipher>(c: C, keys: &RoundKeys, blocks: &mut [Block]) {
    let keys = spread(c, keys);
    let mut wide = blocks.as_flattened_mut().chunks_exact_mut(WIDE * C::BYTES);
    for bytes in &mut wide {
        c.store_all::<WIDE>(encrypt(c, &keys, c.load_all(bytes)), bytes);
    }
    let rest = wide.into_remainder();
    if !rest.is_empty() {
        c.store_parts::<WIDE>(encrypt(c, &keys, c.load_parts(rest)), rest);
    }
}

/// Hashes every row x; with a Δ, hashes x and x ⊕ Δ.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn tmmo<C: Cipher>(
    c: C,
    keys: &RoundKeys,
    first: u64,
    delta: Option<&Block>,
    rows: &[Block],
    out: &mut [Block],
) {
    // How many groups of vectors go through the first half together.
    match (const { C::GROUPS == 1 }, delta) {
        (true, None) => hash::<C, 1, false>(c, keys, first, &[0; 16], rows, out),
        (true, Some(delta)) => hash::<C, 1, true>(c, keys, first, delta, rows, out),
        (false, None) => hash::<C, 8, false>(c, keys, first, &[0; 16], rows, out),
        (false, Some(delta)) => hash::<C, 8, true>(c, keys, first, delta, rows, out),
    }
}

#[cfg_attr(not(unoptimized), inline(always))]
fn hash<C: Cipher, const GROUPS: usize, const PAIRS: bool>(
    c: C,
    keys: &RoundKeys,
    first: u64,
    delta: &Block,
    rows: &[Block],
    out: &mut [Block],
) {
    let (keys, mut tweak) = (spread(c, keys), counter(c, first.into()));
    let delta = c.splat(delta);
    let (rows_wide, out_wide) = (if PAIRS { WIDE / 2 } else { WIDE } * C::BYTES, WIDE * C::BYTES);
    let mut masks = [[c.zero(); WIDE]; GROUPS];
    let rows = rows.as_flattened().chunks(GROUPS * rows_wide);
    for (rows, out) in rows.zip(out.as_flattened_mut().chunks_mut(GROUPS * out_wide)) {
        let (rows, mut out) = (rows.chunks_exact(rows_wide), out.chunks_exact_mut(out_wide));
        let (rest, groups) = (rows.remainder(), rows.len());
        for (masks, rows) in masks.iter_mut().zip(rows) {
            *masks = if PAIRS {
                encrypt(c, &keys, pairs(c, c.load_all(rows), delta))
            } else {
                encrypt(c, &keys, c.load_all(rows))
            };
        }
        for (masks, out) in masks.iter().zip(&mut out) {
            c.store_all(finish::<C, PAIRS>(c, &keys, &mut tweak, *masks), out);
        }
        if !rest.is_empty() {
            masks[groups] = if PAIRS {
                encrypt(c, &keys, pairs(c, c.load_parts(rest), delta))
            } else {
                encrypt(c, &keys, c.load_parts(rest))
            };
            let hashes = finish::<C, PAIRS>(c, &keys, &mut tweak, masks[groups]);
            c.store_parts(hashes, out.into_remainder());
        }
    }
    // One group never leaves the registers.
    if const { GROUPS > 1 } {
        erase(&mut masks, [c.zero(); WIDE]);
    }
}

/// Hashes blocks in place.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn mmo<C: Cipher>(c: C, keys: &RoundKeys, blocks: &mut [Block]) {
    let keys = spread(c, keys);
    let mut wide = blocks.as_flattened_mut().chunks_exact_mut(WIDE * C::BYTES);
    for bytes in &mut wide {
        c.store_all::<WIDE>(hashed(c, &keys, c.load_all(bytes)), bytes);
    }
    let rest = wide.into_remainder();
    if !rest.is_empty() {
        c.store_parts::<WIDE>(hashed(c, &keys, c.load_parts(rest)), rest);
    }
}

/// Hashes x and x ⊕ Δ of every row x.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn mmo_pairs<C: Cipher>(
    c: C,
    keys: &RoundKeys,
    delta: &Block,
    rows: &[Block],
    out: &mut [Block],
) {
    let (keys, delta) = (spread(c, keys), c.splat(delta));
    let mut wide = rows.as_flattened().chunks_exact(WIDE / 2 * C::BYTES);
    let mut out = out.as_flattened_mut().chunks_exact_mut(WIDE * C::BYTES);
    for (rows, out) in (&mut wide).zip(&mut out) {
        c.store_all(hashed(c, &keys, pairs(c, c.load_all(rows), delta)), out);
    }
    let rest = wide.remainder();
    if !rest.is_empty() {
        let x = pairs(c, c.load_parts(rest), delta);
        c.store_parts(hashed(c, &keys, x), out.into_remainder());
    }
}

/// π(x) ⊕ x.
#[cfg_attr(not(unoptimized), inline(always))]
fn hashed<C: Cipher, const N: usize>(
    c: C,
    keys: &Keys<C::Vector>,
    x: [C::Vector; N],
) -> [C::Vector; N] {
    c.xor_all(encrypt(c, keys, x), x)
}

/// Hashes every row with each of sixteen multiples added, for a bit of each hash.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn mmo_tables<C: Cipher>(
    c: C,
    keys: &RoundKeys,
    multiples: &[Block; 16],
    rows: &[Block],
    tables: &mut [[u8; 2]],
) {
    let mut keys = spread(c, keys);
    // Of every two vectors the first has the even multiples, the second the odd ones. They have the first round key already, and what is added
    // to the last round takes it away again.
    let mut whitened = [[0; 16]; 16];
    for (k, to) in whitened.iter_mut().enumerate() {
        let (pair, within) = (k / (2 * C::BLOCKS), k % (2 * C::BLOCKS));
        let (odd, block) = (within / C::BLOCKS, within % C::BLOCKS);
        *to = multiples[pair * 2 * C::BLOCKS + 2 * block + odd];
    }
    let [zero, last] = [0, 10].map(|round| keys[round]);
    for blocks in whitened.as_flattened_mut().chunks_exact_mut(C::BYTES) {
        c.store(c.xor(c.load(blocks), zero), blocks);
    }
    keys[10] = c.xor(last, zero);
    // As many bytes as vectors have blocks, of as many blocks as WIDE vectors.
    for (group, out) in tables.as_flattened_mut().chunks_mut(C::BLOCKS).enumerate() {
        let mut x = [c.zero(); WIDE];
        for (v, x) in x.iter_mut().enumerate() {
            let block = (group * WIDE + v) * C::BLOCKS;
            // What fills up the last group is hashed again, and not written.
            let row = (block / 16).min(rows.len() - 1);
            *x = c.xor(c.splat(&rows[row]), c.load(whitened[block % 16..].as_flattened()));
        }
        let hashes = c.xor_all(rounds(c, &keys, x), x);
        let mut bits = 0;
        for (pair, hashes) in hashes.as_chunks::<2>().0.iter().enumerate() {
            bits |= c.signs(hashes[0], hashes[1]) << (pair * 2 * C::BLOCKS);
        }
        out.copy_from_slice(&bits.to_le_bytes()[..out.len()]);
    }
    erase(&mut whitened, [0; 16]);
}

/// The second half of a group's hash.
#[cfg_attr(not(unoptimized), inline(always))]
fn finish<C: Cipher, const PAIRS: bool>(
    c: C,
    keys: &Keys<C::Vector>,
    tweak: &mut C::Vector,
    masks: [C::Vector; WIDE],
) -> [C::Vector; WIDE] {
    let tweaks = if PAIRS { pairs(c, count(c, tweak), c.zero()) } else { count(c, tweak) };
    c.xor_all(encrypt(c, keys, c.xor_all(tweaks, masks)), masks)
}

/// x₀, x₀ ⊕ Δ, x₁, x₁ ⊕ Δ, … of all blocks.
#[cfg_attr(not(unoptimized), inline(always))]
pub(crate) fn pairs<C: Cipher>(
    c: C,
    x: [C::Vector; WIDE / 2],
    delta: C::Vector,
) -> [C::Vector; WIDE] {
    interleaved(c, x, c.xor_all(x, [delta; WIDE / 2]))
}

/// a₀, b₀, a₁, b₁, … of all blocks.
#[cfg_attr(not(unoptimized), inline(always))]
pub(crate) fn interleaved<C: Cipher>(
    c: C,
    a: [C::Vector; WIDE / 2],
    b: [C::Vector; WIDE / 2],
) -> [C::Vector; WIDE] {
    let mut all = [c.zero(); WIDE];
    for (all, (a, b)) in all.as_chunks_mut().0.iter_mut().zip(a.into_iter().zip(b)) {
        *all = c.interleave(a, b);
    }
    all
}

/// The round keys in all blocks.
#[cfg_attr(not(unoptimized), inline(always))]
pub(crate) fn spread<C: Cipher>(c: C, keys: &RoundKeys) -> Keys<C::Vector> {
    let mut spread = [c.zero(); 11];
    for (spread, key) in spread.iter_mut().zip(&keys.0) {
        *spread = c.splat(key);
    }
    spread
}

#[cfg_attr(not(unoptimized), inline(always))]
pub(crate) fn encrypt<C: Cipher, const N: usize>(
    c: C,
    keys: &Keys<C::Vector>,
    x: [C::Vector; N],
) -> [C::Vector; N] {
    rounds(c, keys, c.xor_all(x, [keys[0]; N]))
}

/// The rounds of blocks to which the first round key has been added.
#[cfg_attr(not(unoptimized), inline(always))]
fn rounds<C: Cipher, const N: usize>(
    c: C,
    keys: &Keys<C::Vector>,
    mut x: [C::Vector; N],
) -> [C::Vector; N] {
    for key in &keys[1..10] {
        for x in &mut x {
            *x = c.round(*x, *key);
        }
    }
    for x in &mut x {
        *x = c.last_round(*x, keys[10]);
    }
    x
}

#[cfg_attr(not(unoptimized), inline(always))]
fn counter<C: Cipher>(c: C, first: u128) -> C::Vector {
    const FROM_ZERO: [Block; 4] =
        [0u128.to_le_bytes(), 1u128.to_le_bytes(), 2u128.to_le_bytes(), 3u128.to_le_bytes()];
    c.add(c.splat(&first.to_le_bytes()), c.load(FROM_ZERO.as_flattened()))
}

/// N vectors that count from `counter`; moves `counter` beyond them.
#[cfg_attr(not(unoptimized), inline(always))]
fn count<C: Cipher, const N: usize>(c: C, counter: &mut C::Vector) -> [C::Vector; N] {
    let step = c.splat(&(C::BLOCKS as u128).to_le_bytes());
    let mut counters = [*counter; N];
    for x in &mut counters {
        *x = *counter;
        *counter = c.add(*counter, step);
    }
    counters
}
