//! `circuit-psi`: counts and sums over an intersection, as in `docs/wire/circuit-psi.md`, section 24, with the bit triples of
//! section 25. Semi-honest.
//!
//! ```text
//!     receiver                                            sender
//!  1  items in bins of their own                          items in all of their bins
//!  2  OPRF                                                OPRF
//!  3                        ←── RowSeed, Slots ──         t of each bin under the OPRF's values
//!  4  s of each bin         ── Nibbles ──→  ←── Tables ── equal bits, shared (layer by layer)
//!  5                        ── Flips ──→  ←── Products ── sums, shared
//!  6                        ←─ Gates ─→  ←── Shares ──    the result
//! ```

use crate::blake3::derive_key_from;
use crate::extension::{Block, array};
use crate::oracle::{Id, oracle32, sub_session_id};
use crate::{bytes_from_nibbles, xor};

/// A party's shares of the words of bit triples.
pub type Triple = [u64; 3];

/// Returns L for this number of the receiver's items.
#[must_use]
pub fn segment(receiver_items: usize) -> usize {
    (127 * receiver_items).div_ceil(300) + 90
}

/// Returns the bins of an item.
#[must_use]
pub fn bins(id: &Id, item: &[u8; 32], segment: usize) -> [usize; 3] {
    let key = oracle32("foxtrot v1 circuit bins key", id, 0, 0, &[]);
    let answer = derive_key_from(&key, item, 24);
    core::array::from_fn(|i| {
        let word = word(&answer, i);
        i * segment + usize::try_from((u128::from(word) * segment as u128) >> 64).unwrap_or(0)
    })
}

/// Returns ℓ, the number of bits that are compared, for this number of bins.
///
/// # Panics
///
/// If there are none.
#[must_use]
pub fn compared_bits(bins: usize) -> usize {
    assert!(bins > 0, "at least one bin");
    40 + (0..).take_while(|k| bins > 1 << k).count()
}

/// Returns ω₀ and ω₁, the bytes of numbers, from c, the items of the smaller set, and m, the largest number.
///
/// # Panics
///
/// If the sum of c numbers can have more than 64 bits.
#[must_use]
pub fn number_bytes(c: usize, m: u64) -> [usize; 2] {
    let (count, sum) = (c as u128, u128::from(m) * c as u128);
    assert!(sum < 1 << 64, "a sum of 64 bits");
    // A count less the threshold has a sign.
    let bytes = |x: u128| (0..).take_while(|bytes| x >= 1 << (8 * bytes)).count();
    [bytes(2 * count), bytes(sum).max(1)]
}

/// Returns the OPRF's value of an item and its element f, for the `id` of section 24.
#[must_use]
pub fn oprf_value(id: &Id, item: &[u8; 32], f: Block) -> [u8; 16] {
    let id = sub_session_id(id, 0, 0, "circuit oprf");
    let key = oracle32("foxtrot v1 circuit oprf key", &id, 0, 0, &[]);
    array(&derive_key_from(&key, &[&item[..], &f.to_le_bytes()].concat(), 16))
}

/// Returns the value of an item in the slots' store: three columns, of which `t` and the numbers less r have an entry each. The OPRF's values
/// are `hidden`. There are numbers if `omega` is their bytes.
#[must_use]
pub fn value(
    t: [u64; 3],
    numbers_less_r: [u64; 3],
    hidden: &[[u8; 16]; 3],
    lambda: usize,
    omega: Option<usize>,
) -> Vec<u8> {
    let column = |i: usize| {
        let (string, number) = (t[i].to_le_bytes(), numbers_less_r[i].to_le_bytes());
        let bytes = [&string[..lambda], &number[..omega.unwrap_or(0)]].concat();
        xor(&bytes, &hidden[i][..bytes.len()])
    };
    (0..3).flat_map(column).collect()
}

/// Returns the triples of sender and receiver of random OTs, 64 to a word: pairs of key bits, and choices.
#[must_use]
pub fn triples(pairs: &[[bool; 2]], choices: &[bool]) -> [Vec<Triple>; 2] {
    let n = pairs.len() / 2;
    let mut all = [vec![[0; 3]; n / 64], vec![[0; 3]; n / 64]];
    for i in 0..n {
        let ([k0, k1], [l0, l1], r, s) = (pairs[i], pairs[n + i], choices[i], choices[n + i]);
        let (a, b) = (k0 ^ k1, l0 ^ l1);
        let sender = [a, b, a & b ^ k0 ^ l0];
        let receiver = [s, r, s & r ^ pairs[i][usize::from(r)] ^ pairs[n + i][usize::from(s)]];
        for (all, bits) in all.iter_mut().zip([sender, receiver]) {
            for (word, bit) in all[i / 64].iter_mut().zip(bits) {
                *word |= u64::from(bit) << (i % 64);
            }
        }
    }
    all
}

/// A party of gates: its triples, of which some are used, and whether it is the first.
#[derive(Debug)]
pub struct Gates {
    /// Triples that are left.
    pub triples: Vec<Triple>,
    /// True for the sender.
    pub first: bool,
}

/// Multiplies shares of both parties, the sender's first: their messages, and their shares of the products.
#[must_use]
pub fn multiply(
    parties: &mut [Gates; 2],
    x: [&[u64]; 2],
    y: [&[u64]; 2],
) -> ([Vec<u8>; 2], [Vec<u64>; 2]) {
    let n = x[0].len();
    let used: Vec<Vec<Triple>> =
        parties.iter_mut().map(|it| it.triples.drain(..n).collect()).collect();
    let opened = |p: usize, i: usize| [x[p][i] ^ used[p][i][0], y[p][i] ^ used[p][i][1]];
    let message = |p: usize| {
        (0..n).flat_map(|i| opened(p, i)).flat_map(u64::to_le_bytes).collect::<Vec<u8>>()
    };
    let product = |p: usize, i: usize| {
        let ([d, e], [a, b, c]) = ([0, 1].map(|k| opened(0, i)[k] ^ opened(1, i)[k]), used[p][i]);
        c ^ d & b ^ e & a ^ if p == 0 { d & e } else { 0 }
    };
    let products = [0, 1].map(|p| (0..n).map(|i| product(p, i)).collect());
    ([message(0), message(1)], products)
}

/// One-of-sixteen OTs of a bit, of both parties.
#[derive(Clone, Debug)]
pub struct LookUps {
    /// The sender's bits of each OT: bit c is that of choice c.
    pub masks: Vec<u16>,
    /// The receiver's choice of each OT.
    pub choices: Vec<u8>,
    /// The receiver's bit of each OT.
    pub bits: Vec<bool>,
}

/// Returns `Nibbles`, which tell the sender d = y ⊕ c of each look-up.
#[must_use]
pub fn nibbles(choices: &[u8], y: &[u8]) -> Vec<u8> {
    let changes: Vec<u8> = choices.iter().zip(y).map(|(c, y)| c ^ y).collect();
    bytes_from_nibbles(&changes)
}

/// Returns `Tables`, and the sender's share of x = y of each look-up.
#[must_use]
pub fn tables(masks: &[u16], x: &[u8], nibbles: &[u8]) -> (Vec<u8>, Vec<bool>) {
    // Bit v is w_v.
    let table = |(i, (mask, x)): (usize, (&u16, &u8))| {
        let d = nibbles[i / 2] >> (4 * (i % 2)) & 15;
        (0..16).fold(1 << x, |table: u16, v| table ^ (mask >> (v ^ d) & 1) << v)
    };
    let tables: Vec<u16> = masks.iter().zip(x).enumerate().map(table).collect();
    let shares: Vec<bool> = tables.iter().map(|table| table & 1 == 1).collect();
    let sent: Vec<u16> =
        tables.iter().map(|table| if table & 1 == 1 { !table } else { *table }).collect();
    let words = sent
        .chunks_exact(16)
        .flat_map(|sixteen| (0..15).map(|j| sixteen[j] | sixteen[15] >> (j + 1) & 1));
    (words.flat_map(u16::to_le_bytes).collect(), shares)
}

/// Returns the receiver's share of x = y of each look-up, from `Tables`.
#[must_use]
pub fn look_up(bits: &[bool], y: &[u8], tables: &[u8]) -> Vec<bool> {
    let words: Vec<u16> = tables.as_chunks().0.iter().map(|it| u16::from_le_bytes(*it)).collect();
    let sent = |i: usize| {
        let words = &words[15 * (i / 16)..15 * (i / 16 + 1)];
        let last = || (0..15).fold(0, |sent, j| sent | (words[j] & 1) << (j + 1));
        words.get(i % 16).map_or_else(last, |word| word & !1)
    };
    let shares = bits.iter().zip(y).enumerate();
    shares.map(|(i, (bit, y))| bit ^ (sent(i) >> y & 1 == 1)).collect()
}

/// The most look-ups of a frame.
const FRAME: usize = 1 << 17;

/// Returns the number of look-ups of a lane in a layer where it has c bits.
fn look_ups_of_layer(c: usize) -> usize {
    if c % 4 == 1 { (c - 1) / 4 } else { c.div_ceil(4) }
}

/// Returns G, the number of look-ups of a lane in all layers, for this number of bits that are compared.
#[must_use]
pub fn look_ups(compared: usize) -> usize {
    let (mut c, mut all) = (compared, 0);
    while c > 1 {
        let of_layer = look_ups_of_layer(c);
        all += of_layer;
        c = of_layer + usize::from(c % 4 == 1);
    }
    all
}

/// Compares the first bits of strings of lanes, a multiple of 64, the sender's first: `Nibbles` and `Tables` of each frame, and both parties' shares of the
/// bits that tell which strings are equal.
#[must_use]
pub fn equal(
    ots: &LookUps,
    compared: usize,
    strings: [&[u64]; 2],
) -> (Vec<[Vec<u8>; 2]>, [Vec<u64>; 2]) {
    // Bit k of every lane, for each k.
    let mut layer = strings.map(|strings| -> Vec<Vec<bool>> {
        (0..compared).map(|k| strings.iter().map(|it| it >> k & 1 == 1).collect()).collect()
    });
    let (mut messages, mut used) = (vec![], 0);
    while layer[0].len() > 1 {
        let look_ups = look_ups_of_layer(layer[0].len());
        let inputs = layer.each_ref().map(|bits| {
            bits.chunks(4).take(look_ups).flat_map(nibbles_from_bits).collect::<Vec<_>>()
        });
        let mut shares = [vec![], vec![]];
        for (x, y) in inputs[0].chunks(FRAME).zip(inputs[1].chunks(FRAME)) {
            let ots_of_frame = used..used + x.len();
            used = ots_of_frame.end;
            let nibbles = nibbles(&ots.choices[ots_of_frame.clone()], y);
            let (tables, share) = tables(&ots.masks[ots_of_frame.clone()], x, &nibbles);
            shares[0].extend(share);
            shares[1].extend(look_up(&ots.bits[ots_of_frame], y, &tables));
            messages.push([nibbles, tables]);
        }
        // Bits are equal where the look-up gives 1, for S flips its share. A bit that no look-up has follows.
        layer = [0, 1].map(|p| {
            let looked_up = shares[p].chunks(strings[p].len()).map(|bits| flipped(bits, p == 0));
            looked_up.chain(layer[p].iter().skip(4 * look_ups).cloned()).collect()
        });
    }
    (messages, [0, 1].map(|p| words_from_bits(&flipped(&layer[p][0], p == 0))))
}

/// Returns a nibble of every lane from up to four bits of every lane.
fn nibbles_from_bits(bits: &[Vec<bool>]) -> Vec<u8> {
    let nibble = |lane: usize| (0..).zip(bits).map(|(k, bits)| u8::from(bits[lane]) << k).sum();
    (0..bits[0].len()).map(nibble).collect()
}

fn flipped(bits: &[bool], flip: bool) -> Vec<bool> {
    bits.iter().map(|bit| bit ^ flip).collect()
}

fn words_from_bits(bits: &[bool]) -> Vec<u64> {
    let word = |bits: &[bool]| (0..).zip(bits).map(|(k, &bit)| u64::from(bit) << k).sum();
    bits.chunks(64).map(word).collect()
}

/// Returns `Products` of the lanes and the share of the party with the numbers, which have `omega` bytes. `flips` are the peer's shares as sums with its
/// choices.
#[must_use]
pub fn products(
    pairs: &[[[u8; 16]; 2]],
    bits: &[bool],
    flips: &[bool],
    numbers: &[Vec<u64>],
    omega: &[usize],
) -> (Vec<u8>, Vec<u64>) {
    let mut sums = vec![0_u64; omega.len()];
    let mut message = Vec::new();
    for (((pair, bit), flip), numbers) in pairs.iter().zip(bits).zip(flips).zip(numbers) {
        let [zero, one] = if *flip { [pair[1], pair[0]] } else { *pair };
        for (i, &v) in numbers.iter().enumerate() {
            let (zero, one) = (word(&zero, i), word(&one, i));
            let change = if *bit { v.wrapping_neg() } else { v };
            let own = if *bit { v } else { 0 };
            sums[i] = sums[i].wrapping_add(own).wrapping_sub(zero);
            let sent = zero.wrapping_add(change).wrapping_sub(one).to_le_bytes();
            message.extend(&sent[..omega[i]]);
        }
    }
    (message, sums)
}

/// Returns the other party's share.
#[must_use]
pub fn accept(keys: &[[u8; 16]], bits: &[bool], message: &[u8], omega: &[usize]) -> Vec<u64> {
    let mut sums = vec![0_u64; omega.len()];
    let mut rest = message;
    for (key, bit) in keys.iter().zip(bits) {
        for (i, &bytes) in omega.iter().enumerate() {
            let (number, behind) = rest.split_at(bytes);
            rest = behind;
            let more = if *bit { number_from_bytes(number) } else { 0 };
            sums[i] = sums[i].wrapping_add(word(key, i)).wrapping_add(more);
        }
    }
    sums
}

/// Returns a share of a sum of `omega` bytes as it is released: the sum's highest bit becomes bit 63.
#[must_use]
pub fn raise(share: u64, omega: usize) -> u64 {
    share << (64 - 8 * omega)
}

/// Returns the sum of `omega` bytes that is released as this word.
#[must_use]
pub fn lower(word: u64, omega: usize) -> u64 {
    word >> (64 - 8 * omega)
}

/// Returns what both parties send in `Shares`, the sender first, for their shares of numbers, as [`raise`] makes them.
#[must_use]
pub fn release(parties: &mut [Gates; 2], numbers: [&[u64]; 2]) -> [Vec<u64>; 2] {
    let n = numbers[0].len();
    let zero = vec![0; n];
    let mut carry = multiply(parties, [numbers[0], &zero], [&zero, numbers[1]]).1;
    let mut pass = numbers.map(<[u64]>::to_vec);
    for s in [1, 2, 4, 8, 16, 32] {
        let shift = |it: &[u64]| it.iter().map(|it| it << s).collect::<Vec<_>>();
        let x = [0, 1].map(|p| [&*pass[p], &*pass[p]].concat());
        let y = [0, 1].map(|p| [shift(&carry[p]), shift(&pass[p])].concat());
        let next = multiply(parties, [&x[0], &x[1]], [&y[0], &y[1]]).1;
        for p in 0..2 {
            carry[p].iter_mut().zip(&next[p][..n]).for_each(|(carry, more)| *carry ^= more);
            pass[p] = next[p][n..].to_vec();
        }
    }
    let sums: [Vec<u64>; 2] =
        [0, 1].map(|p| (0..n).map(|i| numbers[p][i] ^ carry[p][i] << 1).collect());
    let masks = [0, 1].map(|p| {
        let sign = if sums[p][0] >> 63 == 1 { u64::MAX } else { 0 };
        vec![sign ^ if p == 0 { u64::MAX } else { 0 }; n]
    });
    let masked = multiply(parties, [&masks[0], &masks[1]], [&sums[0], &sums[1]]).1;
    [0, 1].map(|p| [&masks[p][..1], &masked[p]].concat())
}

/// Word i of a string.
fn word(bytes: &[u8], i: usize) -> u64 {
    number_from_bytes(&bytes[8 * i..8 * i + 8])
}

/// Returns a number of up to 8 bytes.
fn number_from_bytes(bytes: &[u8]) -> u64 {
    (0..).zip(bytes).map(|(k, byte)| u64::from(*byte) << (8 * k)).sum()
}
