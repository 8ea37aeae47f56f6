//! A set's rows in the order in which they are worked on.

use alloc::vec::Vec;
use core::ops::Range;

use foxtrot_ot::{
    Session, Usage, expect_count,
    tasks::{erase_with, for_each},
};

use super::{
    Okvs,
    decode::Decoder,
    elimination::System,
    peel::{Peeled, peel},
    rows::Row,
};
use crate::{Digest, RowSeed, erase::Secret, ranges::Ranges};

/// The rows of some keys, sorted by where they start, so that what works through them moves
/// through the slots once. Erased when dropped.
pub struct OkvsPlan {
    pub(super) okvs: Okvs,
    pub(super) rows: Secret<Row>,
    pub(super) order: Secret<u32>,
}

/// The structure that encoding some keys has to deal with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Structure {
    /// Number of rows that are not peeled.
    pub core: usize,
    /// Difference between the number of keys and the rank of the sparse parts; `None` if the core
    /// is too large to be solved.
    pub deficit: Option<usize>,
}

impl Okvs {
    /// Hashes and sorts keys, of which there may be as many as you like: those of the other party,
    /// or a part of them.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`] if there are more than [`MAX_KEYS`](super::MAX_KEYS).
    pub fn plan(
        &self,
        session: &Session,
        seed: &RowSeed,
        keys: &[Digest],
    ) -> Result<OkvsPlan, Usage> {
        Ok(self.plan_words::<0>(session, seed, keys)?.0)
    }

    /// Plans keys as [`Okvs::plan`] does, and returns their words, in the order of the plan: the first W ≤ 16 of the last 16
    /// bytes of each key's hash, of which the row takes others.
    pub(crate) fn plan_words<const W: usize>(
        &self,
        session: &Session,
        seed: &RowSeed,
        keys: &[Digest],
    ) -> Result<(OkvsPlan, Secret<[u8; W]>), Usage> {
        let number = Self::check_keys(keys.len())?;
        let (rows, words) = self.rows(session, seed, keys);
        if self.starts == 1 {
            let order = Secret((0..number).collect());
            return Ok((OkvsPlan { okvs: *self, rows, order }, words));
        }
        let mut sorted = Secret::<Row>::zeroed(rows.0.len());
        let mut sorted_words = Secret::<[u8; W]>::zeroed(rows.0.len());
        let mut order = Secret::zeroed(rows.0.len());
        let (executor, start) = (session.executor(), |row: &Row| self.start(row));
        let ranges = Ranges::count(executor, self.starts(), &rows, start);
        let places = (ranges.places(&mut sorted).zip(ranges.places(&mut sorted_words)))
            .zip(ranges.places(&mut order));
        let things = ranges
            .parts(&rows)
            .zip(ranges.parts(&words))
            .zip((0..number).step_by(ranges.part_len()));
        for_each(
            executor,
            things.zip(places),
            |(things, ((mut sorted, mut of_words), mut order))| {
                let ((rows, words), first) = things;
                for (index, (row, word)) in (first..).zip(rows.iter().zip(words)) {
                    let start = start(row);
                    sorted.put(start, *row);
                    of_words.put(start, *word);
                    order.put(start, index);
                }
            },
        );
        erase_with(executor, rows);
        erase_with(executor, words);
        Ok((OkvsPlan { okvs: *self, rows: sorted, order }, sorted_words))
    }
}

impl OkvsPlan {
    /// The number of keys.
    pub(super) fn len(&self) -> usize {
        self.order.0.len()
    }

    /// The keys' indices in the order of the plan.
    #[must_use]
    pub fn order(&self) -> &[u32] {
        &self.order.0
    }

    /// The values of the keys at these places *of the plan*; they belong to the indices in the same
    /// range of [`OkvsPlan::order`]. In consecutive ranges that is the fastest.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if `values` has another length, the range is not one of the plan, or
    /// the decoder is that of another shape.
    pub fn decode_range<const W: usize>(
        &self,
        decoder: &Decoder<'_, W>,
        range: Range<usize>,
        values: &mut [[u8; W]],
    ) -> Result<(), Usage> {
        self.check_shape(decoder)?;
        let (expected, got) = (range.len(), values.len());
        let rows = self.rows.0.get(range);
        let rows = rows.filter(|_| expected == got);
        let rows = rows.ok_or(Usage::CountMismatch { what: "values", expected, got })?;
        decoder.values(rows, |place, value| values[place] = value);
        Ok(())
    }

    /// The values of all keys, in the keys' order.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there is not one value per key, or the decoder is that of another
    /// shape.
    pub fn decode<const W: usize>(
        &self,
        decoder: &Decoder<'_, W>,
        values: &mut [[u8; W]],
    ) -> Result<(), Usage> {
        self.check_shape(decoder)?;
        expect_count("values", self.len(), values.len())?;
        decoder.values(&self.rows.0, |place, value| values[self.order.0[place] as usize] = value);
        Ok(())
    }

    /// Returns the number of rows that are not peeled, for statistics.
    #[must_use]
    pub fn core_len(&self) -> usize {
        peel(&self.okvs, &self.rows.0).core_len()
    }

    /// The structure of the system, for statistics.
    #[must_use]
    pub fn structure(&self) -> Structure {
        let core = self.core(&peel(&self.okvs, &self.rows.0));
        let deficit = System::<0>::new(&self.okvs, &core.0).map(|mut system| {
            system.forget_dense();
            core.0.len() - system.rank()
        });
        Structure { core: core.0.len(), deficit }
    }

    /// The rows that are not peeled.
    pub(super) fn core(&self, peeled: &Peeled) -> Secret<Row> {
        let mut core = Vec::with_capacity(peeled.core_len());
        core.extend(peeled.core().map(|place| self.rows.0[place]));
        Secret(core)
    }

    fn check_shape<const W: usize>(&self, decoder: &Decoder<'_, W>) -> Result<(), Usage> {
        if decoder.okvs == self.okvs {
            return Ok(());
        }
        let (expected, got) = (self.okvs.slots(), decoder.okvs.slots());
        Err(Usage::CountMismatch { what: "slots", expected, got })
    }
}

foxtrot_kernel::redacted! {
    OkvsPlan, plan => "{} keys", plan.len();
}
