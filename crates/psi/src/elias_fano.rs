//! Ascending tags in few bits (Elias 1974, Fano 1971): the first bits of each in unary, as steps from one tag to the
//! next, and the rest as it is.
//!
//! Of n ≥ 1 tags of b bits the first k = ⌊log₂ n⌋ bits are written with 2ᵏ − 1 steps and n marks: less than two bits for a
//! tag in place of k. The length depends on n and b only.
//!
//! First come the marks and steps, one bit each, the lowest bit of a byte first: a mark (1) per tag, and before the mark of a tag as
//! many steps (0) in all as the number of its first bits says. Zeros fill the last byte. Then come the other b − k bits
//! of every tag, the lowest bit first, one tag after another; zeros fill the last byte.
//!
//! ```
//! use foxtrot_ot::tasks::InPlace;
//! use foxtrot_psi::elias_fano::{Coding, Tags};
//!
//! let coding = Coding::new(4, 10, false).expect("of at most 128 bits");
//! let frames: Vec<Vec<u8>> = coding.frames(&[3, 300, 301, 1023], 100).collect();
//! assert_eq!(frames.concat().len(), coding.len());
//! assert_eq!(coding.len(), 1 + 4); // 7 bits of 4 marks and 3 steps; 4 times 8 bits
//!
//! let mut tags = Tags::new(coding);
//! frames.iter().try_for_each(|frame| tags.take(&InPlace, frame))?;
//! assert_eq!(tags.all(), Some([3, 300, 301, 1023].as_slice()));
//! # Ok::<(), foxtrot_ot::Error>(())
//! ```

use alloc::{vec, vec::Vec};
use core::iter;

use foxtrot_kernel::memory::prefer_huge_pages;
use foxtrot_ot::{
    Error, Misbehaved, Usage,
    engine::batches::sizes,
    tasks::{Executor, for_each},
};

use crate::packed::{WINDOW, below, expect_no_more, get, put};

/// A list's public shape: how many tags, of how many bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Coding {
    /// The number of tags.
    pub(crate) tags: usize,
    /// ℓ, the bits of a tag.
    pub(crate) bits: u32,
    /// True if equal tags are no error.
    pub(crate) repeats: bool,
}

impl Coding {
    /// The shape of a list of so many tags of so many bits. Where they may repeat, equal ones are no error.
    ///
    /// `None` unless tags have more than log₂ n bits, and 128 at most.
    #[must_use]
    pub const fn new(tags: usize, bits: u32, repeats: bool) -> Option<Self> {
        let first = if tags == 0 { 0 } else { tags.ilog2() };
        if bits > 128 || bits <= first || tags as u64 > 1 << 40 {
            return None;
        }
        Some(Self { tags, bits, repeats })
    }

    /// k, the number of first bits.
    const fn first(&self) -> u32 {
        if self.tags == 0 { 0 } else { self.tags.ilog2() }
    }

    /// The number of other bits.
    const fn rest(&self) -> u32 {
        self.bits - self.first()
    }

    /// Bytes of the marks and steps.
    const fn marks(&self) -> usize {
        if self.tags == 0 { 0 } else { (self.tags + (1 << self.first()) - 1).div_ceil(8) }
    }

    /// The number of bytes of all.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "a length, not a list")]
    pub const fn len(&self) -> usize {
        self.marks() + (self.tags * self.rest() as usize).div_ceil(8)
    }

    /// The lengths of frames of `longest` bytes at most.
    pub fn frame_lens(&self, longest: usize) -> impl Iterator<Item = usize> + use<> {
        sizes(self.len(), longest)
    }

    /// Writes tags, ascending, in frames of `longest` bytes at most. Tags that are too many or too long are cut.
    pub fn frames<'a>(
        &self,
        tags: &'a [u128],
        longest: usize,
    ) -> impl Iterator<Item = Vec<u8>> + use<'a> {
        let (written, frames) = (self.write(tags), self.frame_lens(longest).enumerate());
        frames.map(move |(k, len)| written.part(k * longest, len))
    }

    /// Prepares to write tags, ascending. Tags that are too many or too long are cut.
    pub(crate) fn write<'a>(&self, tags: &'a [u128]) -> Written<'a> {
        let mut marks = vec![0; self.marks()];
        for (i, tag) in tags.iter().take(self.tags).enumerate() {
            let at = i + (above(*tag, self.rest()) & ((1 << self.first()) - 1)) as usize;
            if let Some(byte) = marks.get_mut(at / 8) {
                *byte |= 1 << (at % 8);
            }
        }
        Written { coding: *self, tags, marks }
    }
}

/// Tags, of which each part can be written by itself.
pub(crate) struct Written<'a> {
    coding: Coding,
    tags: &'a [u128],
    marks: Vec<u8>,
}

impl Written<'_> {
    /// The bytes from `at` on.
    pub(crate) fn part(&self, at: usize, len: usize) -> Vec<u8> {
        let Self { coding, tags, marks } = self;
        let rest = coding.rest() as usize;
        // With room for what of a tag belongs to the next part.
        let mut part = vec![0; len + WINDOW];
        let of_marks = &marks[at.min(marks.len())..(at + len).min(marks.len())];
        part[..of_marks.len()].copy_from_slice(of_marks);
        // Bits of the rests, from the first of this part on.
        let first = 8 * (at + of_marks.len() - marks.len().min(at + of_marks.len()));
        let last = 8 * (at + len).saturating_sub(marks.len());
        let begin = first / rest;
        let end = last.div_ceil(rest).min(coding.tags);
        for (i, &tag) in tags.iter().enumerate().take(end).skip(begin) {
            let rest_of = tag & below(coding.rest());
            match (i * rest).checked_sub(first) {
                Some(bit) => put(&mut part, 8 * of_marks.len() + bit, rest_of),
                None => put(
                    &mut part,
                    8 * of_marks.len(),
                    above(rest_of, u32::try_from(first - i * rest).unwrap_or(128)),
                ),
            }
        }
        part.truncate(len);
        part
    }
}

/// Tags as they come.
#[derive(Debug)]
pub struct Tags {
    coding: Coding,
    /// Marks and steps, as far as they have come.
    marks: Vec<u8>,
    /// The end of the last frame that the next tag began in.
    begun: Vec<u8>,
    /// A place in the marks that is not behind the mark of the next tag.
    seen: Seen,
    tags: Vec<u128>,
}

/// A whole word of marks, and the number of marks before it.
#[derive(Clone, Copy, Debug)]
struct Seen {
    word: usize,
    marks: usize,
}

impl Tags {
    /// Begins a list.
    #[must_use]
    pub const fn new(coding: Coding) -> Self {
        Self {
            coding,
            marks: Vec::new(),
            begun: Vec::new(),
            seen: Seen { word: 0, marks: 0 },
            tags: Vec::new(),
        }
    }

    /// Takes the next frame, with the threads of an executor. What it does depends on nothing but the bytes.
    ///
    /// # Errors
    /// [`Usage::SessionEnded`] if there is more than the list has; [`Decode::SpareBits`](foxtrot_ot::Decode::SpareBits) if bits after the last are not
    /// zero; [`Misbehaved::Tags`] if marks are too few or too many, or tags do not ascend. After an error the list is not to
    /// be used.
    pub fn take(&mut self, executor: &dyn Executor, frame: &[u8]) -> Result<(), Error> {
        let left = self.coding.marks() - self.marks.len();
        let (marks, rests) = frame.split_at(left.min(frame.len()));
        self.marks.extend_from_slice(marks);
        if left > 0 && self.marks.len() == self.coding.marks() {
            self.check_marks()?;
        }
        self.take_rests(executor, rests)
    }

    /// Refuses any other number of marks, and bits behind them.
    fn check_marks(&self) -> Result<(), Error> {
        let bits = self.coding.tags + (1 << self.coding.first()) - 1;
        expect_no_more("Tags", &self.marks, bits)?;
        let marks: usize = self.marks.iter().map(|byte| byte.count_ones() as usize).sum();
        if marks == self.coding.tags { Ok(()) } else { Err(Misbehaved::Tags.into()) }
    }

    fn take_rests(&mut self, executor: &dyn Executor, rests: &[u8]) -> Result<(), Error> {
        if rests.is_empty() {
            return Ok(());
        }
        let rest = self.coding.rest() as usize;
        // Bits before this frame.
        let bits = self.tags.len() * rest;
        let skipped = bits / 8 * 8;
        self.begun.extend_from_slice(rests);
        let have = self.begun.len();
        let end = ((skipped + 8 * have) / rest).min(self.coding.tags);
        let all = (self.coding.len() - self.coding.marks()) * 8;
        if skipped + 8 * have > all {
            return Err(Usage::SessionEnded.into());
        }
        self.begun.resize(have + WINDOW, 0);
        let (first, room) = (self.tags.len(), self.tags.capacity());
        self.tags.reserve(end - first);
        if self.tags.capacity() > room {
            prefer_huge_pages(self.tags.spare_capacity_mut());
        }
        self.tags.resize(end, 0);
        let len = (end - first).div_ceil(executor.threads().max(1)).max(1);
        let parts = (first..).step_by(len).zip(self.tags[first..].chunks_mut(len));
        for_each(executor, parts, |(first, tags)| {
            for ((i, tag), place) in (first..).zip(tags).zip(places(&self.marks, self.seen, first))
            {
                // The number of steps before the mark.
                let steps = (place - i) as u128;
                let rest_of = get(&self.begun, i * rest - skipped) & below(self.coding.rest());
                *tag = steps.checked_shl(self.coding.rest()).unwrap_or(0) | rest_of;
            }
        });
        let repeats = self.coding.repeats;
        let ascend = |pair: &[u128]| pair[0] < pair[1] || pair[0] == pair[1] && repeats;
        self.seen = seek(&self.marks, self.seen, end);
        if !self.tags[first.saturating_sub(1)..].windows(2).all(ascend) {
            return Err(Misbehaved::Tags.into());
        }
        self.begun.truncate(have);
        if skipped + 8 * have == all {
            expect_no_more("Tags", &self.begun, self.coding.tags * rest)?;
        }
        self.begun.drain(..(end * rest / 8 - skipped / 8).min(have));
        Ok(())
    }

    /// All tags, ascending, if they have come.
    #[must_use]
    pub fn all(&self) -> Option<&[u128]> {
        (self.tags.len() == self.coding.tags).then_some(&*self.tags)
    }
}

/// Bytes as words.
fn words(bytes: &[u8]) -> impl Iterator<Item = u64> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    bytes.chunks(8).map(word)
}

/// The word that has this mark, sought from `seen` on; the end, if there are not so many.
fn seek(marks: &[u8], mut seen: Seen, mark: usize) -> Seen {
    for word in words(marks.get(8 * seen.word..).unwrap_or_default()) {
        let marks = seen.marks + word.count_ones() as usize;
        if marks > mark {
            break;
        }
        seen = Seen { word: seen.word + 1, marks };
    }
    seen
}

/// The places of marks from this one on, sought from `seen` on.
fn places(marks: &[u8], seen: Seen, mark: usize) -> impl Iterator<Item = usize> {
    let Seen { word, marks: before } = seek(marks, seen, mark);
    let rest = words(marks.get(8 * word..).unwrap_or_default());
    let mut rest = (64 * word..).step_by(64).zip(rest);
    let (mut first, mut word) = (0, 0);
    let places = iter::from_fn(move || {
        while word == 0 {
            (first, word) = rest.next()?;
        }
        let place = first + word.trailing_zeros() as usize;
        word &= word - 1;
        Some(place)
    });
    // Fewer than 64.
    places.skip(mark - before.min(mark))
}

/// The bits from `from` on.
const fn above(tag: u128, from: u32) -> u128 {
    match tag.checked_shr(from) {
        Some(above) => above,
        None => 0,
    }
}

#[cfg(test)]
mod tests;
