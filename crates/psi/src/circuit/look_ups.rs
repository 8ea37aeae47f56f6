//! Look-ups in tables of sixteen bits by random OTs \[DKSSZZ17\]: shares of whether the sender's nibble is the receiver's, and by layers of them
//! whether its string of 64 bits is.

use alloc::{collections::VecDeque, vec::Vec};
use core::ops::Range;

use foxtrot_kernel::memcheck;
use foxtrot_ot::{engine::Io, erase::Secret};

use super::{Error, gates::receive};

/// Look-ups of a lane: of the nibbles of its strings, of four shares each of what these give, and of what those give.
pub(super) const LOOK_UPS: usize = 16 + 4 + 1;

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

/// Nibble k of every string, then nibble k + 1.
fn of_strings(strings: &[u64]) -> Secret<u8> {
    let nibbles = (0..16).flat_map(|k| {
        strings
            .iter()
            .map(move |it| it.to_le_bytes()[k / 2])
            .map(move |byte| byte >> (k % 2 * 4) & 0xf)
    });
    let mut list = Secret(Vec::with_capacity(16 * strings.len()));
    list.0.extend(nibbles);
    list
}

/// Four shares of every lane as a nibble, then the next four.
fn of_shares(shares: &[u8], lanes: usize) -> Secret<u8> {
    let mut nibbles = Secret(Vec::with_capacity(shares.len() / 4));
    for four in shares.chunks(4 * lanes) {
        let share = |k: usize, lane: usize| four[k * lanes + lane] << k;
        nibbles.0.extend((0..lanes).map(|lane| (0..4).fold(0, |it, k| it | share(k, lane))));
    }
    nibbles
}

/// Shares as bits, 64 to a word.
fn words(shares: &[u8]) -> Secret<u64> {
    let word =
        |shares: &[u8]| (0..).zip(shares).fold(0, |word, (k, share)| word | u64::from(*share) << k);
    let mut words = Secret(Vec::with_capacity(shares.len() / 64));
    words.0.extend(shares.chunks(64).map(word));
    words
}

/// The frames of so many look-ups.
fn frames(look_ups: usize) -> impl Iterator<Item = Range<usize>> {
    (0..look_ups).step_by(FRAME).map(move |start| start..look_ups.min(start + FRAME))
}

/// S: its shares of which strings are the receiver's, from the tables of as many OTs as look-ups. Counts look-ups.
pub(super) async fn send(
    io: &Io,
    strings: &[u64],
    mut tables: &[[u8; 2]],
    mut count: impl FnMut(usize),
) -> Result<Secret<u64>, Error> {
    let mut nibbles = of_strings(strings);
    loop {
        let (of_layer, rest) = tables.split_at(nibbles.len());
        let mut shares = Secret::<u8>::zeroed(nibbles.len());
        for range in frames(nibbles.len()) {
            let moves = receive(io, "Nibbles", nibbles_len(range.len())).await?;
            let (nibbles, tables) = (&nibbles[range.clone()], &of_layer[range.clone()]);
            io.send(answer(nibbles, tables, &moves, &mut shares[range.clone()])).await;
            count(range.len());
        }
        if rest.is_empty() {
            return Ok(words(&shares));
        }
        nibbles = of_shares(&shares, strings.len());
        nibbles.iter_mut().for_each(|nibble| *nibble ^= 0xf);
        tables = rest;
    }
}

/// `Tables`, and the shares.
fn answer(nibbles: &[u8], tables: &[[u8; 2]], moves: &[u8], shares: &mut [u8]) -> Vec<u8> {
    let mut message = Vec::with_capacity(tables_len(nibbles.len()));
    let mut sent = Secret::<u16>::zeroed(GROUP);
    let groups = nibbles.chunks(GROUP).zip(tables.chunks(GROUP)).zip(shares.chunks_mut(GROUP));
    for (((nibbles, tables), shares), moves) in groups.zip(moves.chunks(GROUP / 2)) {
        for (k, (sent, table)) in sent.iter_mut().zip(tables).enumerate() {
            let table = moved(u16::from_le_bytes(*table), moves[k / 2] >> (k % 2 * 4));
            let word = table ^ moved(1, nibbles[k]);
            shares[k] = word.to_le_bytes()[0] & 1;
            *sent = word ^ (word & 1).wrapping_neg();
        }
        // The last table fills up the bits that the others do not need.
        let last = sent[GROUP - 1];
        for (j, word) in (1..).zip(&sent[..GROUP - 1]) {
            message.extend_from_slice(&(word | last >> j & 1).to_le_bytes());
        }
    }
    memcheck::public(&mut message);
    message
}

/// The table with bit v ⊕ d at v, d the lower half of `by`, which may be secret. A shift by it would do, but the compiler makes `btc` of that, which valgrind
/// takes for an access to memory.
fn moved(mut table: u16, by: u8) -> u16 {
    for (bit, mask) in [(0, 0x5555), (1, 0x3333), (2, 0x0f0f), (3, 0x00ff)] {
        let shift = 1 << bit;
        let swap = (table >> shift ^ table) & mask & u16::from(by >> bit & 1).wrapping_neg();
        table ^= swap | swap << shift;
    }
    table
}

/// R: its shares, from as many choices and bits of OTs as look-ups. Counts look-ups.
pub(super) async fn look_up(
    io: &Io,
    strings: &[u64],
    mut choices: &[u8],
    mut count: impl FnMut(usize),
) -> Result<Secret<u64>, Error> {
    let mut nibbles = of_strings(strings);
    loop {
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
        if rest.is_empty() {
            return Ok(words(&shares));
        }
        nibbles = of_shares(&shares, strings.len());
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
    let groups = nibbles.chunks(GROUP).zip(choices.chunks(GROUP)).zip(shares.chunks_mut(GROUP));
    for (((nibbles, choices), shares), tables) in groups.zip(tables.chunks(2 * (GROUP - 1))) {
        let mut sent = [0_u16; GROUP];
        for (word, sent) in tables.as_chunks::<2>().0.iter().zip(&mut sent) {
            *sent = u16::from_le_bytes(*word);
        }
        let last = (1..).zip(&sent[..GROUP - 1]).fold(0, |last, (j, word)| last | (word & 1) << j);
        sent[..GROUP - 1].iter_mut().for_each(|word| *word &= !1);
        sent[GROUP - 1] = last;
        for (k, (share, sent)) in shares.iter_mut().zip(sent).enumerate() {
            *share = choices[k] >> 4 ^ moved(sent, nibbles[k]).to_le_bytes()[0] & 1;
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
        let tables: Vec<[u8; 2]> = random(3)
            .take(LOOK_UPS * lanes)
            .map(|it| [it.to_le_bytes()[6], it.to_le_bytes()[7]])
            .collect();
        let choices: Vec<u8> = random(4)
            .zip(&tables)
            .map(|(choice, table)| {
                let choice = choice.to_le_bytes()[7] & 0xf;
                choice | (u16::from_le_bytes(*table) >> choice & 1).to_le_bytes()[0] << 4
            })
            .collect();
        let (strings, tables, asked, choices) = (&ours, &tables, &theirs, &choices);
        let mut counts = [0; 2];
        let [of_sender, of_receiver] = &mut counts;
        let sender =
            Engine::new(
                |io| async move { send(&io, strings, tables, |more| *of_sender += more).await },
            );
        let receiver = Engine::new(|io| async move {
            look_up(&io, asked, choices, |more| *of_receiver += more).await
        });
        let (one, other) = Pair::new(sender, receiver).run().unwrap();
        for (k, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
            let equal = (one[k / 64] ^ other[k / 64]) >> (k % 64) & 1;
            assert_eq!(equal == 1, ours == theirs, "lane {k}");
        }
        assert_eq!(counts, [LOOK_UPS * lanes; 2]);
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
