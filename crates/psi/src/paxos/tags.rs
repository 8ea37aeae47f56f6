//! Tags: hashes of items and rows, how they are sent and compared.

use alloc::{vec, vec::Vec};
use core::ops::Range;

use foxtrot_ot::{
    Decode, Misbehaved, Session, Usage,
    extension::one_of_n,
    tasks::{Executor, for_each},
};

use super::{
    Digest, Error, Parameters, RowSeed,
    hashes::{Keyed, TOGETHER},
    parameters::TAG,
};
use crate::{
    erase::Secret,
    okvs::{Decoder, Plan},
};

pub(super) type Tag = [u8; TAG];

/// Tags that are in memory beside the list of all.
const BLOCK: usize = 1 << 14;

/// The hashes and settings with which a bucket's tags are computed.
pub(super) struct Work<'a> {
    pub(super) parameters: &'a Parameters,
    executor: &'a dyn Executor,
    pub(super) words: Keyed,
    pub(super) tags: Keyed,
    /// The sender's, to turn its rows into those that the receiver would have.
    pub(super) shift: Option<&'a one_of_n::Sender>,
}

impl<'a> Work<'a> {
    pub(super) fn new(
        parameters: &'a Parameters,
        (bucket, seed): (&'a Session, &RowSeed),
        shift: Option<&'a one_of_n::Sender>,
    ) -> Self {
        let (words, tags) = (Keyed::words(bucket, seed), Keyed::tags(bucket, seed));
        Self { parameters, executor: bucket.executor(), words, tags, shift }
    }

    /// The tags of a plan's items, in their order, from the rows of all slots.
    pub(super) fn run(
        &self,
        plan: &Plan<3>,
        items: &[Digest],
        rows: &[u8],
        tags: &mut [Tag],
    ) -> Result<(), Usage> {
        if self.parameters.checked() {
            self.run_rows::<101>(plan, items, rows, tags)
        } else {
            self.run_rows::<64>(plan, items, rows, tags)
        }
    }

    fn run_rows<const N: usize>(
        &self,
        plan: &Plan<3>,
        items: &[Digest],
        rows: &[u8],
        tags: &mut [Tag],
    ) -> Result<(), Usage> {
        let decoder = self.parameters.okvs().decoder::<N>(rows.as_chunks().0)?;
        let mut block = Secret(vec![[0; TAG]; BLOCK.min(plan.len())]);
        for first in (0..plan.len()).step_by(BLOCK) {
            let order = &plan.order()[first..plan.len().min(first + BLOCK)];
            let block = &mut block.0[..order.len()];
            let mut done = vec![Ok(()); order.len().div_ceil(TOGETHER)];
            let parts = order.chunks(TOGETHER).zip(block.chunks_mut(TOGETHER)).zip(&mut done);
            for_each(self.executor, parts.enumerate(), |(part, ((order, tags), done))| {
                let start = first + part * TOGETHER;
                let range = start..start + order.len();
                *done = self.part(plan, (&decoder, range), items, tags);
            });
            done.into_iter().collect::<Result<(), _>>()?;
            for (&index, tag) in order.iter().zip(&*block) {
                tags[index as usize] = *tag;
            }
        }
        Ok(())
    }

    /// Computes TOGETHER tags at most, in the order of the plan.
    fn part<const N: usize>(
        &self,
        plan: &Plan<3>,
        (decoder, range): (&Decoder<'_, 3, N>, Range<usize>),
        items: &[Digest],
        tags: &mut [Tag],
    ) -> Result<(), Usage> {
        let mut ordered = Secret(Vec::with_capacity(range.len()));
        ordered.0.extend(plan.order()[range.clone()].iter().map(|&index| items[index as usize]));
        let mut rows = Secret(vec![0; range.len() * N]);
        plan.decode_range(decoder, range, rows.0.as_chunks_mut().0)?;
        if let Some(sender) = self.shift {
            let word_len = self.parameters.lengths().word_len();
            let mut words = Secret(vec![0; ordered.0.len() * word_len]);
            self.words.words_of(&ordered.0, &mut words.0, word_len);
            sender.shift_sums(&words.0, &mut rows.0)?;
        }
        self.tags.tags_of(&ordered.0, &rows.0, tags);
        let len = self.parameters.tag_len();
        tags.iter_mut().for_each(|tag| tag[len..].fill(0));
        Ok(())
    }
}

/// The sender's tags, as they come.
#[derive(Debug)]
pub(super) struct Incoming {
    parameters: Parameters,
    tags: Vec<Tag>,
}

impl Incoming {
    pub(super) fn new(parameters: Parameters) -> Self {
        Self { parameters, tags: Vec::new() }
    }

    /// Takes a frame; every tag must be above the one before. Semi-honest senders may have two items of
    /// one tag, as tags are short.
    pub(super) fn take(&mut self, frame: &[u8]) -> Result<(), Error> {
        let len = self.parameters.tag_len();
        let expected =
            self.parameters.tag_frames().nth(self.tags.len().div_ceil(super::TAGS_PER_FRAME));
        let expected = expected.ok_or(Usage::SessionEnded)?;
        if frame.len() != expected {
            return Err(Decode::Length { message: "Tags", expected, got: frame.len() }.into());
        }
        let repeats = !self.parameters.checked();
        self.tags.reserve(frame.len() / len);
        for bytes in frame.chunks_exact(len) {
            let mut tag = [0; TAG];
            tag[..len].copy_from_slice(bytes);
            if self.tags.last().is_some_and(|last| tag < *last || (tag == *last && !repeats)) {
                return Err(Misbehaved::Tags.into());
            }
            self.tags.push(tag);
        }
        Ok(())
    }

    /// Tells for each of these tags, in order, if it is among the received tags, which must be
    /// complete.
    pub(super) fn among(&self, tags: &[Tag]) -> Result<Vec<bool>, Usage> {
        let theirs = &self.tags;
        super::same("tags", self.parameters.tags(), theirs.len())?;
        // Where tags with the same first bits begin.
        let bits = theirs.len().max(2).ilog2().min(24);
        let first = |tag: &Tag| {
            let [a, b, c, d, ..] = *tag;
            (u32::from_be_bytes([a, b, c, d]) >> (32 - bits)) as usize
        };
        let mut starts = vec![0_usize; (1 << bits) + 1];
        theirs.iter().for_each(|tag| starts[first(tag) + 1] += 1);
        for k in 1..starts.len() {
            starts[k] += starts[k - 1];
        }
        Ok(tags
            .iter()
            .map(|tag| {
                let (start, end) = (starts[first(tag)], starts[first(tag) + 1]);
                theirs[start..end].binary_search(tag).is_ok()
            })
            .collect())
    }
}
