//! `circuit-psi`: counts and sums over an intersection, as in `docs/wire/circuit-psi.md`, section 24, with the bit triples of
//! section 25. Semi-honest.
//!
//! ```text
//!     receiver                                            sender
//!  1  OTs of look-ups                                     OTs of look-ups, which give t of each bin
//!  2  items in bins of their own                          items in all of their bins
//!  3  OPRF                                                OPRF
//!  4                        ←── RowSeed, Slots ──         t of each bin under the OPRF's values
//!  5  s of each bin         ── Nibbles ──→  ←── Tables ── equal bits, shared (layer by layer)
//!  6                        ── Flips ──→  ←── Products ── sums, shared
//!  7                        ←─ Gates ─→  ←── Shares ──    the result
//! ```

use crate::blake3::derive_key_from;
use crate::extension::{Block, array};
use crate::oracle::{Id, oracle32, sub_session_id};
use crate::{bits_from_bytes, bytes_from_bits, bytes_from_nibbles};

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
    let mut bits = 40 + (0..).take_while(|k| bins > 1 << k).count();
    while bits % 4 > 1 {
        bits += 1;
    }
    bits
}

/// Returns ω₀ and ω₁, the bits of numbers, from c, the items of the smaller set, and m, the largest number. Without a sum ω₁ is 0 instead.
///
/// # Panics
///
/// If the sum of c numbers can have more than 64 bits.
#[must_use]
pub fn number_bits(c: usize, m: u64) -> [usize; 2] {
    let (count, sum) = (c as u128, u128::from(m) * c as u128);
    assert!(sum < 1 << 64, "a sum of 64 bits");
    let bits = |x: u128| (0..).take_while(|bits| x >= 1 << bits).count();
    // A count less the threshold has a sign.
    [bits(count) + 1, bits(sum).max(1)]
}

/// Returns a number modulo 2^`bits`.
fn low_bits(number: u128, bits: usize) -> u128 {
    (0..bits).map(|k| number & 1 << k).sum()
}

/// Returns numbers modulo 2^`bits` one after another, each with its lowest bit first, in bytes.
#[must_use]
pub fn packed(numbers: &[u128], bits: usize) -> Vec<u8> {
    let bits_of = |number: &u128| (0..bits).map(|k| number >> k & 1 == 1).collect::<Vec<_>>();
    bytes_from_bits(&numbers.iter().flat_map(bits_of).collect::<Vec<_>>())
}

/// Returns the numbers that are [`packed`] in these bytes, or none if their length is another or ones are behind the last number.
#[must_use]
pub fn unpacked(bytes: &[u8], numbers: usize, bits: usize) -> Option<Vec<u128>> {
    if bytes.len() != (numbers * bits).div_ceil(8) {
        return None;
    }
    let all = bits_from_bytes(bytes, 8 * bytes.len());
    let bit = |k: usize| u128::from(all[k]);
    let number = |i: usize| (0..bits).map(|k| bit(i * bits + k) << k).sum();
    let spare = &all[numbers * bits..];
    (!spare.contains(&true)).then(|| (0..numbers).map(number).collect())
}

/// Returns the OPRF's value of an item and its element f, for the `id` of section 24.
#[must_use]
pub fn oprf_value(id: &Id, item: &[u8; 32], f: Block) -> [u8; 16] {
    let id = sub_session_id(id, 0, 0, "circuit oprf");
    let key = oracle32("foxtrot v1 circuit oprf key", &id, 0, 0, &[]);
    array(&derive_key_from(&key, &[&item[..], &f.to_le_bytes()].concat(), 16))
}

/// Returns a column of an item's value in the slots' store: the string of its bin, and above it the number less r, under the OPRF's value `hidden`. Without a
/// sum `omega1` is 0.
#[must_use]
pub fn column(
    t: u64,
    number_less_r: u64,
    hidden: &[u8; 16],
    compared: usize,
    omega1: usize,
) -> u128 {
    let (string, number) = (low_bits(t.into(), compared), low_bits(number_less_r.into(), omega1));
    (string + (number << compared)) ^ low_bits(u128::from_le_bytes(*hidden), compared + omega1)
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

/// The layer that look-ups are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layer {
    /// The first layer, where the sender's nibbles are [`drawn`].
    First,
    /// Any other layer.
    Later,
}

impl Layer {
    /// Returns each i whose coefficient a_i the sender sends.
    #[must_use]
    pub fn sent(self) -> Vec<usize> {
        (1..16).filter(|i| self == Self::Later || ![7, 11, 13, 14].contains(i)).collect()
    }
}

/// Returns the nibble of the sender that an OT gives, from its bits.
#[must_use]
pub fn drawn(mask: u16) -> u8 {
    let bit = |k: u8| {
        let without = (0..16).filter(|v| v >> k & 1 == 0);
        without.fold(true, |bit, v| bit ^ (mask >> v & 1 == 1))
    };
    (0..4).map(|k| u8::from(bit(k)) << k).sum()
}

/// Returns the words t of all lanes. The first layer's look-ups, whose OTs come first in `masks`, give the bits that they compare, and `words` the higher ones.
#[must_use]
pub fn drawn_words(masks: &[u16], compared: usize, words: &[u64]) -> Vec<u64> {
    let look_ups = compared / 4;
    let word = |(lane, word): (usize, &u64)| {
        let nibble = |j: usize| u64::from(drawn(masks[j * words.len() + lane])) << (4 * j);
        let higher = (4 * look_ups..64).map(|k| word & 1 << k);
        (0..look_ups).map(nibble).chain(higher).sum()
    };
    words.iter().enumerate().map(word).collect()
}

/// Returns the sum of a word's bits v over all v that have no bit which i has not: a_i of a word w, and w_i of a word a.
fn sum_below(word: u16, i: usize) -> bool {
    (0..16).filter(|v| v & !i == 0).fold(false, |sum, v| sum ^ (word >> v & 1 == 1))
}

/// Returns `Tables`, and the sender's share of x = y of each look-up.
///
/// # Panics
///
/// If nibbles of the first layer are not those that the OTs give.
#[must_use]
pub fn tables(layer: Layer, masks: &[u16], x: &[u8], nibbles: &[u8]) -> (Vec<u8>, Vec<bool>) {
    // Bit v is w_v.
    let table = |(i, (mask, x)): (usize, (&u16, &u8))| {
        assert!(layer == Layer::Later || *x == drawn(*mask), "a drawn nibble");
        let d = nibbles[i / 2] >> (4 * (i % 2)) & 15;
        (0..16).fold(1 << x, |table: u16, v| table ^ (mask >> (v ^ d) & 1) << v)
    };
    let tables: Vec<u16> = masks.iter().zip(x).enumerate().map(table).collect();
    let shares: Vec<bool> = tables.iter().map(|table| table & 1 == 1).collect();
    let word = |sixteen: &[u16], i: usize| -> u16 {
        (0..).zip(sixteen).map(|(j, table)| u16::from(sum_below(*table, i)) << j).sum()
    };
    let words = tables
        .chunks_exact(16)
        .flat_map(|sixteen| layer.sent().into_iter().map(move |i| word(sixteen, i)));
    (words.flat_map(u16::to_le_bytes).collect(), shares)
}

/// Returns the receiver's share of x = y of each look-up, from its choices and bits of the OTs and `Tables`.
#[must_use]
pub fn look_up(layer: Layer, choices: &[u8], bits: &[bool], y: &[u8], tables: &[u8]) -> Vec<bool> {
    let sent = layer.sent();
    let words: Vec<u16> = tables.as_chunks().0.iter().map(|it| u16::from_le_bytes(*it)).collect();
    // Bit i is a_i, a_0 = 0.
    let coefficients = |look_up: usize| {
        let words = &words[look_up / 16 * sent.len()..];
        let mut a: u16 =
            sent.iter().zip(words).map(|(i, it)| (it >> (look_up % 16) & 1) << i).sum();
        if layer == Layer::First && a >> 15 == 0 {
            let d = choices[look_up] ^ y[look_up];
            a += (0..4).map(|k| u16::from(d >> k & 1) << (15 - (1 << k))).sum::<u16>();
        }
        a
    };
    let share = |i: usize| bits[i] ^ sum_below(coefficients(i), y[i].into());
    (0..y.len()).map(share).collect()
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
/// bits that tell which strings are equal. The sender's strings are [`drawn_words`].
///
/// # Panics
///
/// If they are not, or if the number of bits that are compared is not 0 or 1 modulo 4.
#[must_use]
pub fn equal(
    ots: &LookUps,
    compared: usize,
    strings: [&[u64]; 2],
) -> (Vec<[Vec<u8>; 2]>, [Vec<u64>; 2]) {
    assert!(compared % 4 < 2, "0 or 1 modulo 4");
    // Bit k of every lane, for each k.
    let mut layer = strings.map(|strings| -> Vec<Vec<bool>> {
        (0..compared).map(|k| strings.iter().map(|it| it >> k & 1 == 1).collect()).collect()
    });
    let (mut messages, mut used) = (vec![], 0);
    while layer[0].len() > 1 {
        let kind = if used == 0 { Layer::First } else { Layer::Later };
        let look_ups = look_ups_of_layer(layer[0].len());
        let inputs = layer.each_ref().map(|bits| {
            bits.chunks(4).take(look_ups).flat_map(nibbles_from_bits).collect::<Vec<_>>()
        });
        let mut shares = [vec![], vec![]];
        for (x, y) in inputs[0].chunks(FRAME).zip(inputs[1].chunks(FRAME)) {
            let ots_of_frame = used..used + x.len();
            used = ots_of_frame.end;
            let choices = &ots.choices[ots_of_frame.clone()];
            let nibbles = nibbles(choices, y);
            let (tables, share) = tables(kind, &ots.masks[ots_of_frame.clone()], x, &nibbles);
            shares[0].extend(share);
            shares[1].extend(look_up(kind, choices, &ots.bits[ots_of_frame], y, &tables));
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

/// Returns `Products` of the lanes and the share of the party with the numbers, which have `omega` bits. `flips` are the peer's shares as sums with its
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
    let mut all_sent = Vec::new();
    for (((pair, bit), flip), numbers) in pairs.iter().zip(bits).zip(flips).zip(numbers) {
        let [zero, one] = if *flip { [pair[1], pair[0]] } else { *pair };
        // The numbers of a lane as one, the first one lowest.
        let (mut sent_of_lane, mut place) = (0, 0);
        for (i, &v) in numbers.iter().enumerate() {
            let (zero, one) = (word(&zero, i), word(&one, i));
            let change = if *bit { v.wrapping_neg() } else { v };
            let own = if *bit { v } else { 0 };
            sums[i] = sums[i].wrapping_add(own).wrapping_sub(zero);
            let sent = zero.wrapping_add(change).wrapping_sub(one);
            sent_of_lane += low_bits(sent.into(), omega[i]) << place;
            place += omega[i];
        }
        all_sent.push(sent_of_lane);
    }
    (packed(&all_sent, omega.iter().sum()), sums)
}

/// Returns the other party's share.
///
/// # Panics
///
/// If the message is not that of as many lanes.
#[must_use]
pub fn accept(keys: &[[u8; 16]], bits: &[bool], message: &[u8], omega: &[usize]) -> Vec<u64> {
    let mut sums = vec![0_u64; omega.len()];
    let all_sent = unpacked(message, keys.len(), omega.iter().sum()).expect("packed numbers");
    for ((key, bit), sent_of_lane) in keys.iter().zip(bits).zip(all_sent) {
        let mut place = 0;
        for (i, &omega) in omega.iter().enumerate() {
            let sent = u64::try_from(low_bits(sent_of_lane >> place, omega)).expect("64 bits");
            let more = if *bit { sent } else { 0 };
            sums[i] = sums[i].wrapping_add(word(key, i)).wrapping_add(more);
            place += omega;
        }
    }
    sums
}

/// Returns a share of a sum of `omega` bits as it is released: the sum's highest bit becomes bit 63.
#[must_use]
pub fn raise(share: u64, omega: usize) -> u64 {
    share << (64 - omega)
}

/// Returns the sum of `omega` bits that is released as this word.
#[must_use]
pub fn lower(word: u64, omega: usize) -> u64 {
    word >> (64 - omega)
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

/// Returns word i of a string.
fn word(bytes: &[u8], i: usize) -> u64 {
    (0..).zip(&bytes[8 * i..8 * i + 8]).map(|(k, byte)| u64::from(*byte) << (8 * k)).sum()
}
