//! Look-ups in tables of sixteen bits by random OTs \[DKSSZZ17\]: shares of whether the sender's nibble is the receiver's, and by layers of them
//! whether its string is. The sender draws its strings by the OTs of the first layer, which saves four of fifteen bits of each table.

use alloc::{collections::VecDeque, vec, vec::Vec};
use core::{array, ops::Range};

use foxtrot_kernel::memcheck;
use foxtrot_ot::{engine::Io, erase::Secret};
use zeroize::Zeroizing;

use super::gates::receive;
use crate::Error;

/// A layer of look-ups, which makes a bit of every four of a lane.
#[derive(Clone, Copy)]
struct Layer {
    /// Bits of a lane.
    bits: usize,
    /// Look-ups of a lane.
    look_ups: usize,
    /// True if a last bit would be alone in a look-up: it is left to the next layer.
    leaves: bool,
    /// The numbers of the coefficients that are sent.
    sent: &'static [usize],
}

/// The coefficients that are sent unless nibbles are drawn.
const ALL: &[usize] = &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15];
/// The coefficients that are sent if nibbles are drawn.
const OTHERS: &[usize] = &[1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15];
/// The coefficients that drawn nibbles decide: entry k is that of all bits but bit k.
const DRAWN: [usize; 4] = [0b1110, 0b1101, 0b1011, 0b0111];

impl Layer {
    /// The first layer, of the bits of strings, which fill their look-ups.
    const fn first(bits: u32) -> Option<Self> {
        debug_assert!(bits % 4 < 2, "whole nibbles, and one bit at most");
        Self::of(bits as usize, OTHERS)
    }

    /// The layer of so many bits of a lane; `None` if they are one.
    const fn of(bits: usize, sent: &'static [usize]) -> Option<Self> {
        if bits <= 1 {
            return None;
        }
        let leaves = bits % 4 == 1;
        let look_ups = if leaves { bits / 4 } else { bits.div_ceil(4) };
        Some(Self { bits, look_ups, leaves, sent })
    }

    /// The layer of what this one makes.
    const fn next(self) -> Option<Self> {
        Self::of(self.look_ups + self.leaves as usize, ALL)
    }

    /// True if the sender's nibbles are drawn.
    const fn draws(self) -> bool {
        self.sent.len() < ALL.len()
    }

    /// Bytes of `Tables` of so many look-ups.
    const fn tables_len(self, look_ups: usize) -> usize {
        look_ups / GROUP * 2 * self.sent.len()
    }
}

/// Look-ups of a lane with strings of so many bits, and bytes of their `Tables` for every 64 lanes.
const fn total(bits: u32) -> [usize; 2] {
    let (mut total, mut layer) = ([0; 2], Layer::first(bits));
    while let Some(it) = layer {
        total[0] += it.look_ups;
        total[1] += it.tables_len(64 * it.look_ups);
        layer = it.next();
    }
    total
}

/// Look-ups of a lane with strings of so many bits.
pub(super) const fn number(bits: u32) -> usize {
    total(bits)[0]
}

/// Bytes of all `Tables` for every 64 lanes with strings of so many bits.
pub(super) const fn tables_len(bits: u32) -> usize {
    total(bits)[1]
}

/// The least length of strings, from this on, with which every look-up of the first layer has four bits.
pub(super) const fn whole(bits: u32) -> u32 {
    if bits % 4 == 1 { bits } else { bits.next_multiple_of(4) }
}

/// Look-ups of a frame.
const FRAME: usize = 1 << 17;
/// Frames that the receiver sends before it reads the first of the sender's.
const AHEAD: usize = 4;
/// Look-ups whose tables are sent together, a word for each coefficient.
const GROUP: usize = 16;

/// Bytes of `Nibbles` of so many look-ups.
pub(super) const fn nibbles_len(look_ups: usize) -> usize {
    look_ups / 2
}

/// The lanes' bits in a layer, as a party has them.
struct Lanes {
    layer: Layer,
    /// Nibble k of every lane, then nibble k + 1.
    nibbles: Secret<u8>,
    /// The bits that the layer leaves, if it does.
    left: Secret<u8>,
}

impl Lanes {
    /// The first layer: the low bits of strings, of which there are several.
    fn of_strings(layer: Layer, strings: &[u64]) -> Self {
        let mut nibbles = Secret::<u8>::zeroed(layer.look_ups * strings.len());
        for (k, nibbles) in nibbles.chunks_mut(strings.len()).enumerate() {
            for (nibble, string) in nibbles.iter_mut().zip(strings) {
                *nibble = low(string >> (4 * k)) & 0xf;
            }
        }
        let mut left = Secret::<u8>::zeroed(if layer.leaves { strings.len() } else { 0 });
        let last = layer.bits - 1;
        left.iter_mut().zip(strings).for_each(|(bit, string)| *bit = low(string >> last) & 1);
        Self { layer, nibbles, left }
    }

    /// The layer of the shares that the look-ups of this one have given, each with `flip` added, and of the bits that it has left; or the shares as words,
    /// if it was the last one.
    fn next(self, mut shares: Secret<u8>, lanes: usize, flip: u8) -> Result<Self, Secret<u64>> {
        let Some(layer) = self.layer.next() else { return Err(words(&shares)) };
        shares.iter_mut().for_each(|share| *share ^= flip);
        let mut bits = shares.chunks(lanes).chain(self.left.chunks(lanes));
        let mut nibbles = Secret::<u8>::zeroed(layer.look_ups * lanes);
        for (at, nibbles) in nibbles.chunks_mut(lanes).enumerate() {
            for (k, bits) in (4 * at..layer.bits.min(4 * at + 4)).zip(&mut bits) {
                nibbles.iter_mut().zip(bits).for_each(|(nibble, bit)| *nibble |= bit << (k % 4));
            }
        }
        let mut left = Secret::<u8>::zeroed(if layer.leaves { lanes } else { 0 });
        bits.next().iter().for_each(|bits| left.copy_from_slice(bits));
        Ok(Self { layer, nibbles, left })
    }
}

/// The low byte.
const fn low(word: u64) -> u8 {
    word.to_le_bytes()[0]
}

/// The low word of two bytes.
const fn low_word(word: u64) -> u16 {
    let [low, high, ..] = word.to_le_bytes();
    u16::from_le_bytes([low, high])
}

/// Shares as bits, 64 to a word.
fn words(shares: &[u8]) -> Secret<u64> {
    let word =
        |shares: &[u8]| (0..).zip(shares).fold(0, |word, (k, share)| word | u64::from(*share) << k);
    let mut words = Secret::with_capacity(shares.len() / 64);
    words.0.extend(shares.chunks(64).map(word));
    words
}

/// The frames of so many look-ups.
fn frames(look_ups: usize) -> impl Iterator<Item = Range<usize>> {
    (0..look_ups).step_by(FRAME).map(move |start| start..look_ups.min(start + FRAME))
}

/// S: sets the bits of strings, of so many bits, that look-ups of the first layer have, to what their tables draw.
pub(super) fn draw(bits: u32, tables: &[[u8; 2]], strings: &mut [u64]) {
    let mut words = Zeroizing::new([0_u16; GROUP]);
    for (k, tables) in tables.chunks(strings.len()).take(bits as usize / 4).enumerate() {
        let groups = tables.as_chunks().0.iter().zip(strings.as_chunks_mut::<GROUP>().0);
        for (tables, strings) in groups {
            *words = tables.map(u16::from_le_bytes);
            to_coefficients(&mut words);
            for (string, word) in strings.iter_mut().zip(&*words) {
                let bits = DRAWN.iter().enumerate();
                let nibble = bits.fold(0xf, |nibble, (j, at)| nibble ^ (word >> at & 1) << j);
                *string = *string & !(0xf << (4 * k)) | u64::from(nibble) << (4 * k);
            }
        }
    }
}

/// S: its shares of which strings, [drawn](draw), are the receiver's in so many low bits, from the tables of as many OTs as look-ups. Counts look-ups.
pub(super) async fn send(
    io: &Io,
    (bits, strings): (u32, &[u64]),
    mut tables: &[[u8; 2]],
    mut count: impl FnMut(usize),
) -> Result<Secret<u64>, Error> {
    let first = Layer::first(bits).expect("strings have several bits");
    let mut lanes = Lanes::of_strings(first, strings);
    loop {
        let nibbles = &lanes.nibbles;
        let (of_layer, rest) = tables.split_at(nibbles.len());
        let mut shares = Secret::<u8>::zeroed(nibbles.len());
        for range in frames(nibbles.len()) {
            let moves = receive(io, "Nibbles", nibbles_len(range.len())).await?;
            let (nibbles, tables) = (&nibbles[range.clone()], &of_layer[range.clone()]);
            io.send(answer(lanes.layer, nibbles, tables, &moves, &mut shares[range.clone()])).await;
            count(range.len());
        }
        // Its share of whether all of some are equal is that of whether its shares, flipped, are the receiver's.
        lanes = match lanes.next(shares, strings.len(), 1) {
            Ok(next) => next,
            Err(shares) => return Ok(shares),
        };
        tables = rest;
    }
}

/// `Tables`, and the shares.
fn answer(
    layer: Layer,
    nibbles: &[u8],
    tables: &[[u8; 2]],
    moves: &[u8],
    shares: &mut [u8],
) -> Vec<u8> {
    let mut message = vec![0; layer.tables_len(nibbles.len())];
    let mut words = Zeroizing::new([0_u16; GROUP]);
    let groups = (nibbles.as_chunks().0.iter().zip(tables.as_chunks::<GROUP>().0))
        .zip(shares.as_chunks_mut::<GROUP>().0);
    let groups = groups.zip(message.chunks_exact_mut(layer.tables_len(GROUP)));
    for ((((nibbles, tables), shares), sent), moves) in groups.zip(moves.as_chunks().0) {
        *words = tables.map(u16::from_le_bytes);
        let moves: [u8; GROUP / 2] = *moves;
        let mut each = [0; GROUP];
        for (each, moves) in each.as_chunks_mut().0.iter_mut().zip(moves) {
            *each = [moves, moves >> 4];
        }
        exchange(&mut words, &each);
        for (word, one) in words.iter_mut().zip(at(nibbles)) {
            *word ^= one;
        }
        *shares = words.map(|word| word.to_le_bytes()[0] & 1);
        to_coefficients(&mut words);
        transpose(&mut words);
        for (sent, &at) in sent.as_chunks_mut().0.iter_mut().zip(layer.sent) {
            *sent = words[at].to_le_bytes();
        }
    }
    memcheck::public(&mut message);
    message
}

/// Changes sixteen bits of a function of a nibble to its coefficients: bit i becomes the sum of all bits v with v ∧ i = v.
fn to_coefficients(words: &mut [u16; GROUP]) {
    for (bit, mask) in HALVES {
        words.iter_mut().for_each(|word| *word ^= (*word & mask) << (1 << bit));
    }
}

/// For each bit of a nibble, the places without it.
const HALVES: [(u32, u16); 4] = [(0, 0x5555), (1, 0x3333), (2, 0x0f0f), (3, 0x00ff)];

/// Exchanges words and bits: bit j of word k becomes bit k of word j.
fn transpose(words: &mut [u16; GROUP]) {
    // Of four words each. A step exchanges two quarters of squares, whose sides halve.
    let mut rows = [0_u64; 4];
    for (row, words) in rows.iter_mut().zip(words.as_chunks::<4>().0) {
        *row = words.iter().rev().fold(0, |row, word| row << 16 | u64::from(*word));
    }
    let [a, b, c, d] = &mut rows;
    swap(8, 0x00ff_00ff_00ff_00ff, [a, c]);
    swap(8, 0x00ff_00ff_00ff_00ff, [b, d]);
    swap(4, 0x0f0f_0f0f_0f0f_0f0f, [a, b]);
    swap(4, 0x0f0f_0f0f_0f0f_0f0f, [c, d]);
    for (row, words) in rows.iter_mut().zip(words.as_chunks_mut::<4>().0) {
        for (bits, far, mask) in [(2, 32, 0x3333_3333), (1, 16, 0x5555_0000_5555)] {
            let swap = (*row >> bits ^ *row >> far) & mask;
            *row ^= swap << bits ^ swap << far;
        }
        *words = array::from_fn(|k| low_word(*row >> (16 * k)));
    }
}

/// Exchanges the bits of the first row that are so far above those of the mask with these of the second one.
fn swap(shift: u32, mask: u64, [first, second]: [&mut u64; 2]) {
    let swap = (*first >> shift ^ *second) & mask;
    *first ^= swap << shift;
    *second ^= swap;
}

/// Ones for 1, zeros for 0.
const fn ones(bit: u8) -> u16 {
    (bit as u16 & 1).wrapping_neg()
}

/// Moves bit v ⊕ d of each table to v, d the lower half of `by`, which may be secret. A shift by it would do, but the compiler makes `btc` of that, which valgrind
/// takes for an access to memory.
fn exchange(tables: &mut [u16; GROUP], by: &[u8; GROUP]) {
    for (bit, mask) in HALVES {
        let shift = 1 << bit;
        for (table, by) in tables.iter_mut().zip(by) {
            let swap = (*table >> shift ^ *table) & mask & ones(by >> bit);
            *table ^= swap | swap << shift;
        }
    }
}

/// For each nibble, its bit alone.
fn at(nibbles: &[u8; GROUP]) -> [u16; GROUP] {
    let mut words = [1; GROUP];
    for bit in 0..4 {
        for (word, nibble) in words.iter_mut().zip(nibbles) {
            *word ^= (*word ^ *word << (1 << bit)) & ones(nibble >> bit);
        }
    }
    words
}

/// R: its shares, from as many choices and bits of OTs as look-ups. Counts look-ups.
pub(super) async fn look_up(
    io: &Io,
    (bits, strings): (u32, &[u64]),
    mut choices: &[u8],
    mut count: impl FnMut(usize),
) -> Result<Secret<u64>, Error> {
    let first = Layer::first(bits).expect("strings have several bits");
    let mut lanes = Lanes::of_strings(first, strings);
    loop {
        let nibbles = &lanes.nibbles;
        let (of_layer, rest) = choices.split_at(nibbles.len());
        let mut shares = Secret::<u8>::zeroed(nibbles.len());
        let mut waiting = VecDeque::with_capacity(AHEAD);
        let mut all = frames(nibbles.len());
        loop {
            let next = all.next();
            if let Some(range) = &next {
                io.send(ask(&nibbles[range.clone()], &of_layer[range.clone()])).await;
            }
            let is_last = next.is_none();
            waiting.extend(next);
            if !is_last && waiting.len() < AHEAD {
                continue;
            }
            let Some(range) = waiting.pop_front() else { break };
            let len = lanes.layer.tables_len(range.len());
            let tables = receive(io, "Tables", len).await?;
            let (nibbles, choices) = (&nibbles[range.clone()], &of_layer[range.clone()]);
            read(lanes.layer, nibbles, choices, &tables, &mut shares[range.clone()]);
            count(range.len());
        }
        lanes = match lanes.next(shares, strings.len(), 0) {
            Ok(next) => next,
            Err(shares) => return Ok(shares),
        };
        choices = rest;
    }
}

/// `Nibbles`.
fn ask(nibbles: &[u8], choices: &[u8]) -> Vec<u8> {
    let pairs = nibbles.as_chunks::<2>().0.iter().zip(choices.as_chunks::<2>().0);
    let mut message: Vec<u8> = pairs
        .map(|(nibbles, choices)| {
            let [low, high] = [0, 1].map(|k| (nibbles[k] ^ choices[k]) & 0xf);
            low | high << 4
        })
        .collect();
    memcheck::public(&mut message);
    message
}

/// The shares from `Tables`.
fn read(layer: Layer, nibbles: &[u8], choices: &[u8], tables: &[u8], shares: &mut [u8]) {
    let groups = (nibbles.as_chunks::<GROUP>().0.iter().zip(choices.as_chunks::<GROUP>().0))
        .zip(shares.as_chunks_mut::<GROUP>().0);
    let mut words = Zeroizing::new([0_u16; GROUP]);
    for (((nibbles, choices), shares), tables) in groups.zip(tables.chunks(layer.tables_len(GROUP)))
    {
        *words = [0; GROUP];
        for (sent, &at) in tables.as_chunks().0.iter().zip(layer.sent) {
            words[at] = u16::from_le_bytes(*sent);
        }
        transpose(&mut words);
        if layer.draws() {
            for ((word, nibble), choice) in words.iter_mut().zip(nibbles).zip(choices) {
                let moves = u16::from(nibble ^ choice) & (*word >> 15).wrapping_sub(1);
                let bits = DRAWN.iter().enumerate();
                *word = bits.fold(*word, |word, (j, at)| word | (moves >> j & 1) << at);
            }
        }
        for bit in (0..4).rev() {
            for (word, nibble) in words.iter_mut().zip(nibbles) {
                *word ^= *word >> (1 << bit) & ones(nibble >> bit);
            }
        }
        for ((share, choice), word) in shares.iter_mut().zip(choices).zip(&*words) {
            *share = choice >> 4 ^ word.to_le_bytes()[0] & 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use foxtrot_ot::{
        engine::Engine,
        pair::{Pair, PairParty},
    };

    use super::*;

    /// Numbers that look random.
    fn random(seed: u64) -> impl Iterator<Item = u64> {
        (1..).map(move |k: u64| {
            let word = (k ^ seed << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (word ^ word >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ word >> 7
        })
    }

    /// Runs look-ups of drawn strings of so many bits, with random OTs, and asserts that they share which strings are equal. The receiver's string of a lane
    /// is made of the sender's.
    fn check(bits: u32, lanes: usize, theirs: impl Fn(usize, u64) -> u64) {
        let n = number(bits) * lanes;
        let tables: Vec<[u8; 2]> =
            random(3).take(n).map(|it| [it.to_le_bytes()[6], it.to_le_bytes()[7]]).collect();
        let choices: Vec<u8> = random(4)
            .zip(&tables)
            .map(|(choice, table)| {
                let choice = choice.to_le_bytes()[7] & 0xf;
                choice | (u16::from_le_bytes(*table) >> choice & 1).to_le_bytes()[0] << 4
            })
            .collect();
        let mut ours: Vec<u64> = random(1).take(lanes).collect();
        draw(bits, &tables, &mut ours);
        let theirs: Vec<u64> = (0..).zip(&ours).map(|(k, one)| theirs(k, *one)).collect();
        let (tables, choices) = (&tables, &choices);
        let mut counts = [0; 2];
        let [of_sender, of_receiver] = &mut counts;
        let (of_ours, of_theirs) = (&ours, &theirs);
        let sender = Engine::new(|io| async move {
            send(&io, (bits, of_ours), tables, |more| *of_sender += more).await
        });
        let receiver = Engine::new(|io| async move {
            look_up(&io, (bits, of_theirs), choices, |more| *of_receiver += more).await
        });
        let mut bytes = [0; 2];
        let (one, other) = Pair::new(sender, receiver)
            .run_over(|party, stream, message| {
                bytes[usize::from(party == PairParty::Receiver)] += message.len();
                vec![(stream, message)]
            })
            .unwrap();
        for (k, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            let equal = (one[k / 64] ^ other[k / 64]) >> (k % 64) & 1;
            let same = (ours ^ theirs) << (64 - bits) == 0;
            assert_eq!(equal == 1, same, "{bits} bits, lane {k}");
        }
        assert_eq!(counts, [n; 2]);
        assert_eq!(bytes, [tables_len(bits) * lanes / 64, n / 2]);
    }

    #[test]
    fn look_ups_of_many_frames_share_which_strings_are_equal() {
        // Of the first layer's six frames the last one is not full; the second layer has two, the third one. Strings are equal, different in a bit or in all.
        check(64, 5 * 8192 + 64, |k, one| match k % 3 {
            0 => one,
            1 => one ^ 1 << (one % 64),
            _ => one.wrapping_mul(3) ^ 1 << 40,
        });
    }

    #[test]
    fn strings_of_any_length_are_compared_bit_by_bit() {
        for bits in (2..=64).filter(|&bits| whole(bits) == bits) {
            // The first half differs in a bit, which may be above those that are compared, the other one in none or in all.
            check(bits, 128, |k, one| match k {
                0..64 => one ^ 1 << k,
                _ if k % 2 == 0 => one,
                _ => !one,
            });
        }
    }

    #[test]
    fn drawn_strings_have_the_bits_above_as_they_were_and_look_random() {
        let tables: Vec<[u8; 2]> = (0..=u16::MAX).map(u16::to_le_bytes).collect();
        let (first, above) = (0xfedc_ba98_7654_3210, 0xfedc_ba98_7654_0000);
        let mut strings = vec![first; 1 << 14];
        draw(17, &tables, &mut strings);
        assert!(strings.iter().all(|string| string & !0xffff == above));
        let mut counts = [0; 16];
        strings.iter().for_each(|string| counts[(string & 0xf) as usize] += 1);
        assert_eq!(counts, [1 << 10; 16]);
    }

    #[test]
    fn bit_j_of_word_k_becomes_bit_k_of_word_j() {
        let words: [u16; GROUP] = array::from_fn(|k| low_word(random(6).nth(k).unwrap_or(0)));
        let mut transposed = words;
        transpose(&mut transposed);
        for (k, j) in (0..GROUP).flat_map(|k| (0..GROUP).map(move |j| (k, j))) {
            assert_eq!(words[k] >> j & 1, transposed[j] >> k & 1, "{k} {j}");
        }
    }

    #[test]
    fn strings_fill_their_look_ups() {
        assert_eq!([2, 4, 5, 6, 40, 58, 59, 60, 61].map(whole), [4, 4, 5, 8, 40, 60, 60, 60, 61]);
    }

    #[test]
    fn a_lone_last_bit_costs_no_look_up() {
        assert_eq!(
            [1, 4, 5, 16, 17, 48, 49, 57, 60, 61, 64].map(number),
            [0, 1, 2, 5, 6, 16, 16, 19, 20, 20, 21]
        );
    }

    #[test]
    fn a_look_up_shares_whether_nibbles_are_equal() {
        for number in 0..4096_u16 {
            let table = number.wrapping_mul(40_503) ^ number >> 5;
            let [x, y, c] = [0, 4, 8].map(|shift| (number >> shift).to_le_bytes()[0] & 0xf);
            let bit = (table >> c).to_le_bytes()[0] & 1;
            let mut drawn = [0; GROUP];
            draw(4, &[table.to_le_bytes(); GROUP], &mut drawn);
            // Each place of a group.
            let of_all = |value: u8| [value; GROUP];
            for (layer, x) in [(Layer::of(4, ALL), x), (Layer::first(4), low(drawn[0]))] {
                let layer = layer.unwrap();
                let [mut ours, mut theirs] = [[0; GROUP]; 2];
                let moves = ask(&of_all(y), &of_all(c | bit << 4));
                let tables =
                    answer(layer, &of_all(x), &[table.to_le_bytes(); GROUP], &moves, &mut ours);
                assert_eq!(tables.len(), layer.tables_len(GROUP));
                read(layer, &of_all(y), &of_all(c | bit << 4), &tables, &mut theirs);
                let equal = u8::from(x == y);
                assert!(ours.iter().zip(&theirs).all(|(one, other)| one ^ other == equal));
            }
        }
    }
}
