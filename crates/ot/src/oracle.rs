//! The random oracle: BLAKE3 in derive-key mode (`docs/wire/README.md`, section 1).

use alloc::{vec, vec::Vec};
use core::ops::{Range, RangeInclusive};

#[cfg(not(all(not(feature = "std"), any(target_arch = "arm", target_arch = "riscv32"))))]
use blake3::{Hasher, hazmat::HasherExt};
#[cfg(all(not(feature = "std"), any(target_arch = "arm", target_arch = "riscv32")))]
use foxtrot_kernel::blake3::small::Hasher;
use foxtrot_kernel::{
    Backend, SMALL,
    blake3::{Blocks, MAX_INPUT, derive_keys, keyed, lanes, small::hash_derive_key_context},
    counters::{Operation, count},
};

use zeroize::Zeroize;

use crate::erase::erase;

/// Bytes of queries that are hashed in one piece. Side by side BLAKE3 takes no more chunks than divide what it has
/// hashed before: after a short field the first sixteen of a long one would go as 1, 1, 2, 4, 8. Shorter
/// queries have no two whole chunks, and longer ones not much to gain.
const IN_ONE_PIECE: RangeInclusive<usize> = 2048..=1 << 15;

/// The purpose of an oracle: a string that nothing else in Foxtrot has, hashed.
#[derive(Clone, Copy, Debug)]
pub struct Purpose([u8; 32]);

impl Purpose {
    /// The purpose that the string names. A constant is hashed when the program is compiled, which small machines
    /// need not do then.
    ///
    /// # Panics
    /// If the string has more than 1024 bytes.
    #[must_use]
    pub const fn new(name: &'static str) -> Self {
        Self(hash_derive_key_context(name))
    }
}

impl From<&'static str> for Purpose {
    fn from(name: &'static str) -> Self {
        Self::new(name)
    }
}

/// The oracle of one purpose in one session.
#[derive(Clone)]
pub struct Oracle {
    context_key: [u8; 32],
    id: [u8; 32],
}

/// A query to the oracle, to which fields are added one by one.
#[derive(Clone)]
#[must_use]
pub struct Query(Hasher);

impl Oracle {
    pub(crate) fn new(context: impl Into<Purpose>, id: &[u8; 32]) -> Self {
        Self { context_key: context.into().0, id: *id }
    }

    /// A query about instance `i` and one of its two branches.
    #[inline]
    pub fn query(&self, i: u64, branch: u8) -> Query {
        let mut hasher = Hasher::new_from_context_key(&self.context_key);
        hasher.update(&self.start(i, branch));
        Query(hasher)
    }

    /// The answer to a query with these fields. It takes less of the stack than a [`Query`], which is
    /// moved with every field.
    #[inline(never)]
    pub fn answer(&self, i: u64, branch: u8, fields: &[&[u8]], answer: &mut [u8]) {
        count(Operation::Oracle, 1);
        let mut hasher = Hasher::new_from_context_key(&self.context_key);
        let len = START_LEN + fields.iter().map(|field| 8 + field.len()).sum::<usize>();
        if !SMALL && IN_ONE_PIECE.contains(&len) {
            // All that it will need: a buffer that grows leaves copies behind.
            let mut question = Vec::with_capacity(len);
            self.write(i, branch, fields.iter().copied(), &mut question);
            debug_assert_eq!(question.len(), len);
            hasher.update(&question);
            erase(&mut question);
        } else {
            hasher.update(&self.start(i, branch));
            for field in fields {
                length_prefixed(&mut hasher, field);
            }
        }
        finish(&hasher, answer);
    }

    /// Appends a whole query.
    fn write<'a>(
        &self,
        i: u64,
        branch: u8,
        fields: impl IntoIterator<Item = &'a [u8]>,
        to: &mut Vec<u8>,
    ) {
        to.extend_from_slice(&self.start(i, branch));
        for field in fields {
            to.extend_from_slice(&(field.len() as u64).to_le_bytes());
            to.extend_from_slice(field);
        }
    }

    /// The bytes that every query begins with.
    fn start(&self, i: u64, branch: u8) -> [u8; START_LEN] {
        let mut start = [0; START_LEN];
        start[..32].copy_from_slice(&self.id);
        start[32..].copy_from_slice(&position(i, branch));
        start
    }
}

impl Zeroize for Oracle {
    fn zeroize(&mut self) {
        self.context_key.zeroize();
        self.id.zeroize();
    }
}

impl Query {
    /// Appends a field, with its length before it.
    #[inline]
    pub fn field(mut self, bytes: &[u8]) -> Self {
        length_prefixed(&mut self.0, bytes);
        self
    }

    /// The first L bytes of the answer.
    #[inline]
    #[must_use]
    pub fn finish<const L: usize>(self) -> [u8; L] {
        let mut answer = [0; L];
        self.fill(&mut answer);
        answer
    }

    /// Fills `answer` with the first bytes of the oracle's answer.
    #[inline]
    pub fn fill(self, answer: &mut [u8]) {
        count(Operation::Oracle, 1);
        finish(&self.0, answer);
    }
}

/// Asks many queries of one form, side by side where the backend can.
pub struct Wide {
    backend: Backend,
    inputs: Vec<u8>,
}

/// The most queries that are faster one by one.
const FEW: usize = 2;

/// The most queries that [`Keyed`] puts at once.
const AT_ONCE: usize = 16;

/// An oracle for many queries of one form, a text and a position: BLAKE3's keyed hash under a key
/// that another oracle has given.
pub struct Keyed {
    pub(crate) backend: Backend,
    key: [u8; 32],
}

/// Texts of `len` bytes, the first ones of every `stride` bytes.
#[derive(Clone, Copy)]
pub(crate) struct Texts<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) stride: usize,
    pub(crate) len: usize,
}

impl Keyed {
    pub(crate) fn new(backend: Backend, key: [u8; 32]) -> Self {
        Self { backend, key }
    }

    /// Answers `number` queries, each an instance, a branch and a text of at most 55 bytes, or 64 to 119. The
    /// answers are one after another and equally long.
    pub fn ask<const L: usize>(
        &self,
        number: usize,
        question: impl Fn(usize) -> (u64, u8, [u8; L]),
        answers: &mut [u8],
    ) {
        const { assert!(L % 64 + POSITION_LEN <= 64 && L < 128, "one block, or two") };
        self.ask_groups(number, answers, |group, answers| {
            if self.one_by_one(group.len()) {
                self.ask_each(group, &question, answers);
            } else {
                self.ask_together(group, &question, answers);
            }
        });
    }

    /// [`Keyed::ask`] with answers of `whole` bytes, of which the first `usual` mostly do: `take` gets so
    /// many, and all if it says that they did not do; what it is given it may write over. There is room
    /// for the usual ones. Which of the answers do not do is seen in the time.
    pub fn ask_by_need<const L: usize>(
        &self,
        number: usize,
        question: impl Fn(usize) -> (u64, u8, [u8; L]),
        [usual, whole]: [usize; 2],
        room: &mut [u8],
        mut take: impl FnMut(usize, &mut [u8]) -> bool,
    ) {
        self.ask(number, &question, &mut room[..number * usual]);
        if number == 1 && room.len() >= whole {
            // No more memory than there is.
            if !take(0, &mut room[..usual]) {
                self.ask(1, question, &mut room[..whole]);
                take(0, &mut room[..whole]);
            }
            return;
        }
        let answers = &mut room[..number * usual];
        for (k, answer) in answers.chunks_exact_mut(usual).enumerate() {
            if !take(k, answer) {
                let mut answer = vec![0; whole];
                self.ask(1, |_| question(k), &mut answer);
                take(k, &mut answer);
            }
        }
    }

    /// Calls `ask` for as many queries as are put at once, with room for their answers.
    fn ask_groups(
        &self,
        number: usize,
        answers: &mut [u8],
        mut ask: impl FnMut(Range<usize>, &mut [u8]),
    ) {
        count(Operation::Oracle, number);
        if number == 0 {
            return;
        }
        let answer_len = answers.len() / number;
        for (group, answers) in answers.chunks_mut(AT_ONCE * answer_len).enumerate() {
            let first = group * AT_ONCE;
            ask(first..first + answers.len() / answer_len, answers);
        }
    }

    /// A group, side by side. Never inlined: a caller with a single query has no such frame.
    #[inline(never)]
    fn ask_together<const L: usize>(
        &self,
        group: Range<usize>,
        question: &impl Fn(usize) -> (u64, u8, [u8; L]),
        answers: &mut [u8],
    ) {
        let mut ends = [[0; 64]; AT_ONCE];
        let ends = &mut ends[..group.len()];
        // Few texts have a block before their last one. Where none has, no room stays for it in the frame.
        let (before, mut room) = (L / 64, [[0; 64]; AT_ONCE]);
        let firsts = if before == 0 { &mut [][..] } else { &mut room[..group.len()] };
        for (n, (end, k)) in ends.iter_mut().zip(group).enumerate() {
            let (i, branch, text) = question(k);
            let (whole, rest) = text.split_at(64 * before);
            firsts[before * n..][..before].as_flattened_mut().copy_from_slice(whole);
            set_end(end, rest, i, branch);
        }
        let blocks = Blocks { bytes: firsts.as_flattened(), stride: 64 * before, number: before };
        keyed(self.backend, &self.key, blocks, (ends, L % 64 + POSITION_LEN), answers);
        erase(ends.as_flattened_mut());
        erase(firsts.as_flattened_mut());
    }

    /// A group, one after another.
    fn ask_each<const L: usize>(
        &self,
        group: Range<usize>,
        question: &impl Fn(usize) -> (u64, u8, [u8; L]),
        answers: &mut [u8],
    ) {
        let answer_len = answers.len() / group.len();
        for (k, answer) in group.zip(answers.chunks_exact_mut(answer_len)) {
            let (i, branch, mut text) = question(k);
            self.ask_one(i, branch, &text, answer);
            erase(&mut text);
        }
    }

    /// Never inlined: a hasher takes 2 KB of the stack.
    #[inline(never)]
    fn ask_one(&self, i: u64, branch: u8, text: &[u8], answer: &mut [u8]) {
        let mut hasher = Hasher::new_keyed(&self.key);
        hasher.update(text).update(&position(i, branch));
        finish(&hasher, answer);
    }

    /// Returns true if this number of queries is put one after another.
    fn one_by_one(&self, number: usize) -> bool {
        lanes(self.backend) == 1 || number <= FEW
    }

    /// [`Keyed::ask`] with longer public texts: those of branch 0 of the instances from `first` on.
    pub(crate) fn ask_long<const L: usize>(
        &self,
        first: u64,
        texts: Texts<'_>,
        answers: &mut [[u8; L]],
    ) {
        self.ask_groups(answers.len(), answers.as_flattened_mut(), |group, answers| {
            if self.one_by_one(group.len()) {
                for (k, answer) in group.zip(answers.chunks_exact_mut(L)) {
                    let text = &texts.bytes[k * texts.stride..][..texts.len];
                    self.ask_one(first + k as u64, 0, text, answer);
                }
            } else {
                let bytes = &texts.bytes[group.start * texts.stride..];
                let first = first + group.start as u64;
                self.ask_long_together(first, group.len(), Texts { bytes, ..texts }, answers);
            }
        });
    }

    /// A group, side by side.
    #[inline(never)]
    fn ask_long_together(&self, first: u64, number: usize, texts: Texts<'_>, answers: &mut [u8]) {
        let Texts { bytes, stride, len } = texts;
        let whole = len / 64 * 64;
        let mut ends = [[0; 64]; AT_ONCE];
        let ends = &mut ends[..number];
        for (k, end) in ends.iter_mut().enumerate() {
            set_end(end, &bytes[k * stride + whole..][..len - whole], first + k as u64, 0);
        }
        let blocks = Blocks { bytes, stride, number: whole / 64 };
        let ends = (&*ends, len - whole + POSITION_LEN);
        keyed(self.backend, &self.key, blocks, ends, answers);
    }
}

fn finish(hasher: &Hasher, answer: &mut [u8]) {
    #[cfg(all(not(feature = "std"), any(target_arch = "arm", target_arch = "riscv32")))]
    return hasher.fill(answer);
    #[cfg(not(all(not(feature = "std"), any(target_arch = "arm", target_arch = "riscv32"))))]
    if answer.len() <= blake3::OUT_LEN {
        answer.copy_from_slice(&hasher.finalize().as_bytes()[..answer.len()]);
    } else {
        hasher.finalize_xof().fill(answer);
    }
}

impl Wide {
    /// Prepares queries on this backend.
    #[must_use]
    pub fn new(backend: Backend) -> Self {
        // All that it will ever need: a buffer that grows leaves copies behind.
        let capacity = if lanes(backend) > 1 { lanes(backend) * MAX_INPUT } else { 0 };
        Self { backend, inputs: Vec::with_capacity(capacity) }
    }

    /// Answers `number` queries, each an instance, a branch and fields; the fields of all have the same
    /// lengths. The answers, one after another and equally long, are those of [`Query::fill`].
    ///
    /// # Panics
    /// If a query with its lengths takes more than [`MAX_INPUT`] bytes.
    pub fn ask<'a, F: IntoIterator<Item = &'a [u8]>>(
        &mut self,
        oracle: &Oracle,
        number: usize,
        question: impl Fn(usize) -> (u64, u8, F),
        answers: &mut [u8],
    ) {
        if number == 0 {
            return;
        }
        let len = answers.len() / number;
        let lanes = lanes(self.backend);
        if lanes == 1 || number <= FEW {
            for (k, answer) in answers.chunks_exact_mut(len).enumerate() {
                let (i, branch, fields) = question(k);
                fields.into_iter().fold(oracle.query(i, branch), Query::field).fill(answer);
            }
            return;
        }
        count(Operation::Oracle, number);
        for (group, answers) in answers.chunks_mut(lanes * len).enumerate() {
            self.inputs.clear();
            let asked = answers.len() / len;
            for k in 0..asked {
                let (i, branch, fields) = question(group * lanes + k);
                oracle.write(i, branch, fields, &mut self.inputs);
            }
            let input_len = self.inputs.len() / asked;
            assert!(input_len <= MAX_INPUT, "a question of {input_len} bytes");
            derive_keys(self.backend, &oracle.context_key, input_len, &self.inputs, answers);
        }
    }
}

impl Drop for Wide {
    fn drop(&mut self) {
        let capacity = self.inputs.capacity();
        self.inputs.resize(capacity, 0);
        erase(&mut self.inputs);
    }
}

/// Bytes of a position.
const POSITION_LEN: usize = 9;

/// Bytes that every query begins with.
const START_LEN: usize = 32 + POSITION_LEN;

fn position(i: u64, branch: u8) -> [u8; POSITION_LEN] {
    let mut position = [0; POSITION_LEN];
    position[..8].copy_from_slice(&i.to_le_bytes());
    position[8] = branch;
    position
}

/// The end of a text, and the position behind it.
fn set_end(end: &mut [u8; 64], text: &[u8], i: u64, branch: u8) {
    end[..text.len()].copy_from_slice(text);
    end[text.len()..][..POSITION_LEN].copy_from_slice(&position(i, branch));
}

/// The hash of fields in a context, outside every session.
pub(crate) fn hash(context: &str, fields: &[&[u8]]) -> [u8; 32] {
    let mut hasher = Hasher::new_from_context_key(&hash_derive_key_context(context));
    fields.iter().for_each(|field| length_prefixed(&mut hasher, field));
    let mut hash = [0; 32];
    finish(&hasher, &mut hash);
    hash
}

fn length_prefixed(hasher: &mut Hasher, bytes: &[u8]) {
    hasher.update(&(bytes.len() as u64).to_le_bytes()).update(bytes);
}

foxtrot_kernel::redacted! {
    Oracle;
    Keyed;
    Wide, wide => "{:?}", wide.backend;
    Query;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_answers_match_single_queries() {
        let oracle = Oracle::new("foxtrot test", &[7; 32]);
        for backend in Backend::all() {
            let mut wide = Wide::new(backend);
            for number in [0, 1, 2, 3, 15, 16, 17, 40] {
                for len in [16, 48, 816] {
                    let first = [9; 32];
                    let second: [u8; 40] = core::array::from_fn(|k| u8::try_from(k).unwrap());
                    let question = |k: usize| (900 + k as u64, u8::from(k.is_multiple_of(3)));
                    let fields = |k: usize| [&first[..], &second[k % 8..][..32]];
                    let mut answers = vec![0; number * len];
                    let ask = |k| (question(k).0, question(k).1, fields(k));
                    wide.ask(&oracle, number, ask, &mut answers);
                    for (k, answer) in answers.chunks(len).enumerate() {
                        let mut expected = vec![0; len];
                        let query = oracle.query(question(k).0, question(k).1);
                        query.field(fields(k)[0]).field(fields(k)[1]).fill(&mut expected);
                        assert_eq!(answer, expected);
                    }
                }
            }
        }
    }

    #[test]
    fn a_long_query_equals_the_hash_of_its_concatenated_fields() {
        let oracle = Oracle::new("foxtrot test", &[7; 32]);
        let text: Vec<u8> = (0..40_000u32).map(|k| (k % 251) as u8).collect();
        // Beside the text there are two lengths and two bytes.
        let (first, last) =
            (IN_ONE_PIECE.start() - START_LEN - 18, IN_ONE_PIECE.end() - START_LEN - 18);
        for len in [0, first - 1, first, 9000, last, last + 1, text.len()] {
            let (mut answer, fields) = ([0; 48], [&text[..len], &text[..2]]);
            oracle.answer(5, 1, &fields, &mut answer);
            let query = oracle.query(5, 1).field(fields[0]).field(fields[1]);
            assert_eq!(answer, query.finish::<48>(), "{len}");
        }
    }

    #[test]
    fn a_caller_that_needs_more_of_an_answer_gets_all_of_it() {
        for backend in Backend::all() {
            let oracle = Keyed::new(backend, [3; 32]);
            for number in [0, 1, 16, 17] {
                let question = |k: usize| (900 + k as u64, 1, [7; 48]);
                let mut whole = vec![0; number * 70];
                oracle.ask(number, question, &mut whole);
                // With room for a whole answer of a single query, and without.
                for (spare, needy) in [(5, 1), (5, 0), (6, 0)] {
                    let (mut room, mut taken) =
                        (vec![0; number * 64 + spare], vec![vec![]; number]);
                    oracle.ask_by_need(number, question, [64, 70], &mut room, |k, answer| {
                        taken[k].push(answer.to_vec());
                        k % 3 != needy
                    });
                    for (k, (answer, taken)) in whole.chunks(70).zip(taken).enumerate() {
                        let expected = [&answer[..64], answer];
                        assert_eq!(taken, expected[..1 + usize::from(k % 3 == needy)]);
                    }
                }
            }
        }
    }

    #[test]
    fn keyed_answers_are_keyed_hashes_of_text_and_position() {
        let texts: Vec<u8> = (0..60_000u32).map(|k| (k % 241) as u8).collect();
        let expected = |text: &[u8], i: u64, branch: u8, len: usize| {
            let mut expected = vec![0; len];
            let mut hasher = Hasher::new_keyed(&[3; 32]);
            hasher.update(text).update(&i.to_le_bytes()).update(&[branch]);
            hasher.finalize_xof().fill(&mut expected);
            expected
        };
        for backend in Backend::all() {
            let oracle = Keyed::new(backend, [3; 32]);
            for number in [0, 1, 2, 3, 15, 16, 17, 40] {
                for len in [16, 48, 816] {
                    let mut answers = vec![0; number * len];
                    let text = |k: usize| -> [u8; 48] { core::array::from_fn(|b| texts[k + b]) };
                    let branch = |k: usize| u8::from(k.is_multiple_of(3));
                    oracle.ask(number, |k| (900 + k as u64, branch(k), text(k)), &mut answers);
                    for (k, answer) in answers.chunks(len).enumerate() {
                        assert_eq!(answer, expected(&text(k), 900 + k as u64, branch(k), len));
                    }
                }
                macro_rules! holds {
                    ($len:literal) => {
                        let text =
                            |k: usize| -> [u8; $len] { core::array::from_fn(|b| texts[k + b]) };
                        let mut answers = vec![0; number * 70];
                        oracle.ask(number, |k| (k as u64, 1, text(k)), &mut answers);
                        for (k, answer) in answers.chunks(70).enumerate() {
                            assert_eq!(answer, expected(&text(k), k as u64, 1, 70));
                        }
                    };
                }
                holds!(1);
                holds!(55);
                holds!(64);
                holds!(96);
                holds!(119);
                let mut digests = vec![[0; 32]; number];
                let all = Texts { bytes: &texts, stride: 1296, len: 1248 };
                oracle.ask_long(700, all, &mut digests);
                for (k, digest) in digests.iter().enumerate() {
                    let text = &texts[1296 * k..][..1248];
                    assert_eq!(digest[..], expected(text, 700 + k as u64, 0, 32));
                }
            }
        }
    }
}
