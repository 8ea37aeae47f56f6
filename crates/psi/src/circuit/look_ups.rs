//! Look-ups in tables of sixteen bits by random OTs \[DKSSZZ17\]: shares of whether the sender's nibble is the receiver's, and by layers of them
//! whether its string is.

use alloc::{collections::VecDeque, vec::Vec};
use core::ops::Range;

use foxtrot_kernel::memcheck;
use foxtrot_ot::{engine::Io, erase::Secret};
use zeroize::Zeroizing;

use super::{Error, gates::receive};

/// A layer of look-ups, which makes a bit of every four of a lane.
#[derive(Clone, Copy)]
struct Layer {
    /// Bits of a lane.
    bits: usize,
    /// Look-ups of a lane.
    look_ups: usize,
    /// True if a last bit would be alone in a look-up: it is left to the next layer.
    leaves: bool,
}

impl Layer {
    /// The layer of so many bits of a lane; `None` if they are one.
    const fn of(bits: usize) -> Option<Self> {
        if bits <= 1 {
            return None;
        }
        let leaves = bits % 4 == 1;
        Some(Self { bits, look_ups: if leaves { bits / 4 } else { bits.div_ceil(4) }, leaves })
    }

    /// The layer of what this one makes.
    const fn next(self) -> Option<Self> {
        Self::of(self.look_ups + self.leaves as usize)
    }

    /// Ones for the bits of a look-up.
    const fn ones(self, look_up: usize) -> u8 {
        if look_up < self.bits / 4 { 0xf } else { (1 << (self.bits % 4)) - 1 }
    }
}

/// Look-ups of a lane with strings of so many bits.
pub(super) const fn number(bits: usize) -> usize {
    let (mut number, mut layer) = (0, Layer::of(bits));
    while let Some(it) = layer {
        number += it.look_ups;
        layer = it.next();
    }
    number
}

/// Look-ups of a frame.
const FRAME: usize = 1 << 17;
/// Frames that the receiver sends before it reads the first of the sender's.
const AHEAD: usize = 4;
/// Look-ups whose tables are sent together, in a word less.
const GROUP: usize = 16;

/// Bytes of `Nibbles` of so many look-ups.
pub(super) const fn nibbles_len(look_ups: usize) -> usize {
    look_ups / 2
}

/// Bytes of `Tables` of so many look-ups.
pub(super) const fn tables_len(look_ups: usize) -> usize {
    look_ups / GROUP * 2 * (GROUP - 1)
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
            let ones = layer.ones(k);
            for (nibble, string) in nibbles.iter_mut().zip(strings) {
                *nibble = low(string >> (4 * k)) & ones;
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

/// S: its shares of which strings are the receiver's in so many low bits, from the tables of as many OTs as look-ups. Counts look-ups.
pub(super) async fn send(
    io: &Io,
    (bits, strings): (usize, &[u64]),
    mut tables: &[[u8; 2]],
    mut count: impl FnMut(usize),
) -> Result<Secret<u64>, Error> {
    let first = Layer::of(bits).expect("strings have several bits");
    let mut lanes = Lanes::of_strings(first, strings);
    loop {
        let nibbles = &lanes.nibbles;
        let (of_layer, rest) = tables.split_at(nibbles.len());
        let mut shares = Secret::<u8>::zeroed(nibbles.len());
        for range in frames(nibbles.len()) {
            let moves = receive(io, "Nibbles", nibbles_len(range.len())).await?;
            let (nibbles, tables) = (&nibbles[range.clone()], &of_layer[range.clone()]);
            io.send(answer(nibbles, tables, &moves, &mut shares[range.clone()])).await;
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
fn answer(nibbles: &[u8], tables: &[[u8; 2]], moves: &[u8], shares: &mut [u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(tables_len(nibbles.len()));
    let mut words = Zeroizing::new([0_u16; GROUP]);
    let groups = (nibbles.as_chunks().0.iter().zip(tables.as_chunks::<GROUP>().0))
        .zip(shares.as_chunks_mut::<GROUP>().0);
    for (((nibbles, tables), shares), moves) in groups.zip(moves.as_chunks().0) {
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
        words.iter_mut().for_each(|word| *word ^= (*word & 1).wrapping_neg());
        // The last table fills up the bits that the others do not need.
        let [others @ .., last] = &mut *words;
        for (word, place) in others.iter_mut().zip(PLACES) {
            let bit = *last & place;
            *word |= (bit | bit.wrapping_neg()) >> 15;
        }
        others.iter().for_each(|word| message.extend_from_slice(&word.to_le_bytes()));
    }
    memcheck::public(&mut message);
    message
}

/// In the last table of a group, the bit that goes with each of the others.
const PLACES: [u16; GROUP - 1] = {
    let mut places = [0; GROUP - 1];
    let mut k = 0;
    while k < places.len() {
        places[k] = 2 << k;
        k += 1;
    }
    places
};

/// Ones for 1, zeros for 0.
const fn ones(bit: u8) -> u16 {
    (bit as u16 & 1).wrapping_neg()
}

/// Moves bit v ⊕ d of each table to v, d the lower half of `by`, which may be secret. A shift by it would do, but the compiler makes `btc` of that, which valgrind
/// takes for an access to memory.
fn exchange(tables: &mut [u16; GROUP], by: &[u8; GROUP]) {
    for (bit, mask) in [(0, 0x5555), (1, 0x3333), (2, 0x0f0f), (3, 0x00ff)] {
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
    (bits, strings): (usize, &[u64]),
    mut choices: &[u8],
    mut count: impl FnMut(usize),
) -> Result<Secret<u64>, Error> {
    let first = Layer::of(bits).expect("strings have several bits");
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
            let tables = receive(io, "Tables", tables_len(range.len())).await?;
            let (nibbles, choices) = (&nibbles[range.clone()], &of_layer[range.clone()]);
            read(nibbles, choices, &tables, &mut shares[range.clone()]);
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
fn read(nibbles: &[u8], choices: &[u8], tables: &[u8], shares: &mut [u8]) {
    let groups = (nibbles.as_chunks::<GROUP>().0.iter().zip(choices.as_chunks::<GROUP>().0))
        .zip(shares.as_chunks_mut::<GROUP>().0);
    for (((nibbles, choices), shares), tables) in groups.zip(tables.chunks(2 * (GROUP - 1))) {
        let mut sent = [0_u16; GROUP];
        for (word, sent) in tables.as_chunks::<2>().0.iter().zip(&mut sent) {
            *sent = u16::from_le_bytes(*word);
        }
        let [others @ .., last] = &mut sent;
        for (word, place) in others.iter_mut().zip(PLACES) {
            *last |= (*word & 1).wrapping_neg() & place;
            *word &= !1;
        }
        for bit in 0..4 {
            for (word, nibble) in sent.iter_mut().zip(nibbles) {
                *word ^= (*word ^ *word >> (1 << bit)) & ones(nibble >> bit);
            }
        }
        for ((share, choice), word) in shares.iter_mut().zip(choices).zip(sent) {
            *share = choice >> 4 ^ word.to_le_bytes()[0] & 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use foxtrot_ot::{engine::Engine, pair::Pair};

    use super::*;

    /// Numbers that look random.
    fn random(seed: u64) -> impl Iterator<Item = u64> {
        (1..).map(move |k: u64| {
            let word = (k ^ seed << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            (word ^ word >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9) ^ word >> 7
        })
    }

    /// Runs look-ups of strings of so many bits, with random OTs, and asserts that they share which strings are equal.
    fn check(bits: usize, ours: &[u64], theirs: &[u64]) {
        let n = number(bits) * ours.len();
        let tables: Vec<[u8; 2]> =
            random(3).take(n).map(|it| [it.to_le_bytes()[6], it.to_le_bytes()[7]]).collect();
        let choices: Vec<u8> = random(4)
            .zip(&tables)
            .map(|(choice, table)| {
                let choice = choice.to_le_bytes()[7] & 0xf;
                choice | (u16::from_le_bytes(*table) >> choice & 1).to_le_bytes()[0] << 4
            })
            .collect();
        let (tables, choices) = (&tables, &choices);
        let mut counts = [0; 2];
        let [of_sender, of_receiver] = &mut counts;
        let sender = Engine::new(|io| async move {
            send(&io, (bits, ours), tables, |more| *of_sender += more).await
        });
        let receiver = Engine::new(|io| async move {
            look_up(&io, (bits, theirs), choices, |more| *of_receiver += more).await
        });
        let (one, other) = Pair::new(sender, receiver).run().unwrap();
        for (k, (ours, theirs)) in ours.iter().zip(theirs).enumerate() {
            let equal = (one[k / 64] ^ other[k / 64]) >> (k % 64) & 1;
            let same = (ours ^ theirs) << (64 - bits) == 0;
            assert_eq!(equal == 1, same, "{bits} bits, lane {k}");
        }
        assert_eq!(counts, [n; 2]);
    }

    #[test]
    fn look_ups_of_many_frames_share_which_strings_are_equal() {
        // Of the first layer's six frames the last one is not full; the second layer has two, the third one.
        let lanes = 5 * 8192 + 64;
        let ours: Vec<u64> = random(1).take(lanes).collect();
        // Equal, different in a bit or in all.
        let theirs: Vec<u64> = (0..)
            .zip(random(2).zip(&ours))
            .map(|(k, (other, one))| match k % 3 {
                0 => *one,
                1 => one ^ 1 << (other % 64),
                _ => other,
            })
            .collect();
        check(64, &ours, &theirs);
    }

    #[test]
    fn strings_of_any_length_are_compared_bit_by_bit() {
        let ours: Vec<u64> = random(5).take(128).collect();
        // The first half differs in a bit, which may be above those that are compared, the other one in none or in all.
        let theirs: Vec<u64> = (0..)
            .zip(&ours)
            .map(|(k, one)| match k {
                0..64 => one ^ 1 << k,
                _ if k % 2 == 0 => *one,
                _ => !one,
            })
            .collect();
        for bits in 2..=64 {
            check(bits, &ours, &theirs);
        }
    }

    #[test]
    fn a_lone_last_bit_costs_no_look_up() {
        assert_eq!(
            [1, 2, 4, 5, 16, 17, 48, 49, 57, 60, 61, 62, 64].map(number),
            [0, 1, 1, 2, 5, 6, 16, 16, 19, 20, 20, 21, 21]
        );
    }

    #[test]
    fn a_look_up_shares_whether_nibbles_are_equal() {
        for number in 0..4096_u16 {
            let table = number.wrapping_mul(40_503) ^ number >> 5;
            let [x, y, c] = [0, 4, 8].map(|shift| (number >> shift).to_le_bytes()[0] & 0xf);
            let bit = (table >> c).to_le_bytes()[0] & 1;
            // Each place of a group.
            let of_all = |value: u8| [value; GROUP];
            let [mut ours, mut theirs] = [[0; GROUP]; 2];
            let moves = ask(&of_all(y), &of_all(c | bit << 4));
            let tables = answer(&of_all(x), &[table.to_le_bytes(); GROUP], &moves, &mut ours);
            assert_eq!(tables.len(), tables_len(GROUP));
            read(&of_all(y), &of_all(c | bit << 4), &tables, &mut theirs);
            let equal = u8::from(x == y);
            assert!(ours.iter().zip(&theirs).all(|(one, other)| one ^ other == equal));
        }
    }
}
