//! AES-NI: eight blocks at a time, which hides the latency of a round. Keystreams take two blocks to a vector where
//! the processor has VAES.

use core::arch::x86_64::*;

use super::{Aes128, RoundKeys, Schedule};
use crate::{
    Block,
    backend::has_vaes,
    erase, halves,
    x86::{load128, store128, store256},
};

/// Blocks at a time.
const WIDE: usize = 8;

/// Groups whose hashes go through the first half together, then through the second: in one group
/// the second half would wait for the first.
const GROUPS: usize = 8;

/// FIPS 197, section 5.2. All columns of the last round's input are the rotated last word of the
/// key, so that its ShiftRows does nothing, its SubBytes is SubWord, and its key is the constant.
#[target_feature(enable = "avx2,aes")]
pub(super) fn schedule(key: &Block) -> Schedule {
    const CONSTANTS: [i32; 10] = [1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36];
    let rotate_last = _mm_set1_epi32(0x0c0f_0e0d);
    let mut key = load128(key);
    let mut keys = RoundKeys([key; 11]);
    for (round_key, constant) in keys.0[1..].iter_mut().zip(CONSTANTS) {
        let rotated = _mm_shuffle_epi8(key, rotate_last);
        let word = _mm_aesenclast_si128(rotated, _mm_set1_epi32(constant));
        key = _mm_xor_si128(key, _mm_slli_si128::<4>(key));
        key = _mm_xor_si128(key, _mm_slli_si128::<8>(key));
        key = _mm_xor_si128(key, word);
        *round_key = key;
    }
    Schedule::RoundKeys(keys)
}

#[target_feature(enable = "avx2,aes")]
pub(super) fn ctr(pi: &Aes128, first: u128, out: &mut [Block]) {
    let mut counter = counter(first);
    let in_pairs = if has_vaes() { out.len() - out.len() % (2 * WIDE) } else { 0 };
    let (pairs, out) = out.split_at_mut(in_pairs);
    if in_pairs > 0 {
        let pairs = pairs.as_chunks_mut().0;
        #[allow(unsafe_code, reason = "calls code compiled for a detected instruction")]
        // SAFETY: VAES was detected.
        unsafe {
            ctr_in_pairs(pi, &mut counter, pairs);
        }
    }
    ctr_singly(pi, counter, out);
}

/// [`ctr`] with a block to a vector.
#[inline]
#[target_feature(enable = "avx2,aes")]
fn ctr_singly(pi: &Aes128, mut counter: __m128i, out: &mut [Block]) {
    let (wide, rest) = out.as_chunks_mut::<WIDE>();
    for out in wide {
        let stream = encrypt(pi, count::<WIDE>(&mut counter));
        for (block, vector) in out.iter_mut().zip(stream) {
            store128(block, vector);
        }
    }
    if !rest.is_empty() {
        let stream = encrypt(pi, count::<WIDE>(&mut counter));
        for (block, vector) in rest.iter_mut().zip(stream) {
            store128(block, vector);
        }
    }
}

/// [`ctr`] for whole rounds of eight vectors of two blocks; moves `counter` beyond them.
#[target_feature(enable = "avx2,vaes")]
fn ctr_in_pairs(pi: &Aes128, counter: &mut __m128i, out: &mut [[Block; 2 * WIDE]]) {
    let mut keys = [_mm256_setzero_si256(); 11];
    for (pair, key) in keys.iter_mut().zip(pi.round_keys()) {
        *pair = _mm256_broadcastsi128_si256(*key);
    }
    let next = _mm_add_epi64(*counter, _mm_set_epi64x(0, 1));
    let mut counters = _mm256_set_m128i(next, *counter);
    for out in out {
        let mut x = [counters; WIDE];
        for x in &mut x {
            *x = _mm256_xor_si256(counters, keys[0]);
            counters = _mm256_add_epi64(counters, _mm256_set_epi64x(0, 2, 0, 2));
        }
        for key in &keys[1..10] {
            for x in &mut x {
                *x = _mm256_aesenc_epi128(*x, *key);
            }
        }
        for (bytes, x) in out.as_flattened_mut().as_chunks_mut().0.iter_mut().zip(x) {
            store256(bytes, _mm256_aesenclast_epi128(x, keys[10]));
        }
    }
    *counter = _mm256_castsi256_si128(counters);
}

#[target_feature(enable = "avx2,aes")]
pub(super) fn encrypt_blocks(pi: &Aes128, blocks: &mut [Block]) {
    let (wide, rest) = blocks.as_chunks_mut::<WIDE>();
    for blocks in wide {
        encrypt_wide(pi, blocks);
    }
    if !rest.is_empty() {
        let mut padded = [[0; 16]; WIDE];
        padded[..rest.len()].copy_from_slice(rest);
        encrypt_wide(pi, &mut padded);
        rest.copy_from_slice(&padded[..rest.len()]);
        erase(&mut padded, [0; 16]);
    }
}

#[inline]
#[target_feature(enable = "avx2,aes")]
fn encrypt_wide(pi: &Aes128, blocks: &mut [Block; WIDE]) {
    let vectors = encrypt(pi, load_rows::<false>(blocks, _mm_setzero_si128()));
    for (block, vector) in blocks.iter_mut().zip(vectors) {
        store128(block, vector);
    }
}

#[target_feature(enable = "avx2,aes")]
pub(super) fn tmmo(pi: &Aes128, first: u64, rows: &[Block], out: &mut [Block]) {
    hash::<false>(pi, first, _mm_setzero_si128(), rows, out);
}

#[target_feature(enable = "avx2,aes")]
pub(super) fn tmmo_pairs(
    pi: &Aes128,
    first: u64,
    delta: &Block,
    rows: &[Block],
    out: &mut [[Block; 2]],
) {
    hash::<true>(pi, first, load128(delta), rows, out.as_flattened_mut());
}

/// One key for every row, or with `PAIRS` two.
#[inline]
#[target_feature(enable = "avx2,aes")]
fn hash<const PAIRS: bool>(
    pi: &Aes128,
    first: u64,
    delta: __m128i,
    rows: &[Block],
    out: &mut [Block],
) {
    let rows_wide = if PAIRS { WIDE / 2 } else { WIDE };
    let mut masks = [[_mm_setzero_si128(); WIDE]; GROUPS];
    let mut tweak = counter(first.into());
    for (rows, out) in rows.chunks(GROUPS * rows_wide).zip(out.chunks_mut(GROUPS * WIDE)) {
        let wide = rows.chunks_exact(rows_wide);
        let (rest, groups) = (wide.remainder(), wide.len());
        for (masks, rows) in masks.iter_mut().zip(wide) {
            *masks = encrypt(pi, load_rows::<PAIRS>(rows, delta));
        }
        let (wide, out) = out.as_chunks_mut();
        for (masks, out) in masks.iter().zip(wide) {
            finish::<PAIRS>(pi, &mut tweak, masks, out);
        }
        if !rest.is_empty() {
            let (mut padded, mut hashes) = ([[0; 16]; WIDE], [[0; 16]; WIDE]);
            padded[..rest.len()].copy_from_slice(rest);
            masks[groups] = encrypt(pi, load_rows::<PAIRS>(&padded[..rows_wide], delta));
            finish::<PAIRS>(pi, &mut tweak, &masks[groups], &mut hashes);
            out.copy_from_slice(&hashes[..out.len()]);
            erase(&mut padded, [0; 16]);
            erase(&mut hashes, [0; 16]);
        }
    }
    erase(&mut masks, [_mm_setzero_si128(); WIDE]);
}

/// What the hash of a group's rows begins with.
#[inline]
#[target_feature(enable = "avx2")]
fn load_rows<const PAIRS: bool>(rows: &[Block], delta: __m128i) -> [__m128i; WIDE] {
    let mut x = [_mm_setzero_si128(); WIDE];
    if PAIRS {
        for (x, row) in x.as_chunks_mut::<2>().0.iter_mut().zip(rows) {
            *x = [load128(row), _mm_xor_si128(load128(row), delta)];
        }
    } else {
        for (x, row) in x.iter_mut().zip(rows) {
            *x = load128(row);
        }
    }
    x
}

/// The second half of a group's hash.
#[inline]
#[target_feature(enable = "avx2,aes")]
fn finish<const PAIRS: bool>(
    pi: &Aes128,
    tweak: &mut __m128i,
    masks: &[__m128i; WIDE],
    out: &mut [Block; WIDE],
) {
    let mut tweaks = [*tweak; WIDE];
    if PAIRS {
        let pairs = tweaks.as_chunks_mut::<2>().0.iter_mut();
        pairs.zip(count::<{ WIDE / 2 }>(tweak)).for_each(|(pair, tweak)| *pair = [tweak; 2]);
    } else {
        tweaks = count(tweak);
    }
    let hashes = xor(encrypt(pi, xor(tweaks, *masks)), *masks);
    for (block, vector) in out.iter_mut().zip(hashes) {
        store128(block, vector);
    }
}

#[inline]
#[target_feature(enable = "avx2,aes")]
fn encrypt<const N: usize>(pi: &Aes128, mut x: [__m128i; N]) -> [__m128i; N] {
    let keys = pi.round_keys();
    for x in &mut x {
        *x = _mm_xor_si128(*x, keys[0]);
    }
    for key in &keys[1..10] {
        for x in &mut x {
            *x = _mm_aesenc_si128(*x, *key);
        }
    }
    for x in &mut x {
        *x = _mm_aesenclast_si128(*x, keys[10]);
    }
    x
}

#[inline]
#[target_feature(enable = "avx2")]
fn counter(first: u128) -> __m128i {
    let [low, high] = halves(first);
    _mm_set_epi64x(high.cast_signed(), low.cast_signed())
}

/// N blocks that count from `counter`; moves `counter` beyond them.
#[inline]
#[target_feature(enable = "avx2")]
fn count<const N: usize>(counter: &mut __m128i) -> [__m128i; N] {
    let mut counters = [*counter; N];
    for x in &mut counters {
        *x = *counter;
        *counter = _mm_add_epi64(*counter, _mm_set_epi64x(0, 1));
    }
    counters
}

#[inline]
#[target_feature(enable = "avx2")]
fn xor<const N: usize>(mut a: [__m128i; N], b: [__m128i; N]) -> [__m128i; N] {
    for (a, b) in a.iter_mut().zip(b) {
        *a = _mm_xor_si128(*a, b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Backend;

    #[test]
    fn keystreams_are_the_same_without_vaes() {
        let Ok(backend) = Backend::named("avx2") else { return };
        let pi = Aes128::new(backend, &[0x5a; 16]);
        for n in [7, 8, 16, 24, 37, 56] {
            let (mut expected, mut singly) = ([[0; 16]; 56], [[0; 16]; 56]);
            pi.ctr(u128::from(u64::MAX) - 99, expected[..n].as_flattened_mut());
            #[allow(unsafe_code, reason = "calls code compiled for a detected instruction set")]
            // SAFETY: the processor has the backend.
            unsafe {
                ctr_singly(&pi, counter(u128::from(u64::MAX) - 99), &mut singly[..n]);
            }
            assert_eq!(expected, singly, "{n}");
            assert_ne!(expected[n - 1], [0; 16]);
        }
    }
}
