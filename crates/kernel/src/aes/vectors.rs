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

/// Hashes every row with each of sixteen multiples added, for the hashes' first bits. The blocks are a stream, sixteen of each row.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn tmmo_tables<C: Cipher>(
    c: C,
    keys: &RoundKeys,
    first: u64,
    multiples: &[Block; 16],
    rows: &[Block],
    tables: &mut [[u8; 2]],
) {
    let keys = spread(c, keys);
    let one = c.splat(&1_u128.to_le_bytes());
    let mut bits = [0; 64];
    // As many bytes as vectors have blocks, of as many blocks as WIDE vectors.
    for (group, out) in tables.as_flattened_mut().chunks_mut(C::BLOCKS).enumerate() {
        let [mut x, mut tweaks] = [[c.zero(); WIDE]; 2];
        for (v, (x, tweak)) in x.iter_mut().zip(&mut tweaks).enumerate() {
            let block = (group * WIDE + v) * C::BLOCKS;
            // What fills up the last group is hashed again, and not written.
            let row = (block / 16).min(rows.len() - 1);
            *x = c.xor(c.splat(&rows[row]), c.load(multiples[block % 16..].as_flattened()));
            *tweak = c.splat(&(u128::from(first) + row as u128).to_le_bytes());
        }
        let masks = encrypt(c, &keys, x);
        let hashes = c.xor_all(encrypt(c, &keys, c.xor_all(tweaks, masks)), masks);
        // In each block the first bits of its column, so far apart that those of the other blocks come between.
        let mut all = c.zero();
        for hash in hashes.into_iter().rev() {
            for _ in 0..C::BLOCKS {
                all = c.add(all, all);
            }
            all = c.xor(all, c.and(hash, one));
        }
        c.store(all, &mut bits);
        let blocks = bits[..C::BYTES].as_chunks::<16>().0.iter().rev();
        let word = |block: &Block| u32::from_le_bytes([block[0], block[1], block[2], block[3]]);
        let table = blocks.fold(0, |table, block| table << 1 | word(block));
        out.copy_from_slice(&table.to_le_bytes()[..out.len()]);
    }
    erase(&mut bits, 0);
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
    let mut pairs = [c.zero(); WIDE];
    for (pairs, x) in pairs.as_chunks_mut().0.iter_mut().zip(x) {
        *pairs = c.pairs(x, delta);
    }
    pairs
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
    mut x: [C::Vector; N],
) -> [C::Vector; N] {
    x = c.xor_all(x, [keys[0]; N]);
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

/// Blocks that count from `first`.
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
