//! The key-value store of a bucket, with three or four sparse slots per row.

use core::{mem, ops::Range};

use foxtrot_ot::{Session, Usage, erase::Secret};

use crate::{
    error::Error,
    okvs::{self, Coins, Digest, Okvs3, Okvs4, RowSeed},
};

/// The fewest keys of a store with four sparse slots per row.
const FOUR: usize = 1 << 17;

/// A store's shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Store {
    Three(Okvs3),
    Four(Okvs4),
}

/// Keys in the order of a store.
pub(crate) enum Plan {
    Three(okvs::Plan<3>),
    Four(okvs::Plan<4>),
}

/// Slots ready for look-up.
pub(crate) enum Decoder<'a, const W: usize> {
    Three(okvs::Decoder<'a, 3, W>),
    Four(okvs::Decoder<'a, 4, W>),
}

impl Store {
    pub(crate) fn new(keys: usize) -> Result<Self, Usage> {
        Ok(if keys < FOUR { Self::Three(Okvs3::new(keys)?) } else { Self::Four(Okvs4::new(keys)?) })
    }

    pub(crate) const fn keys(&self) -> usize {
        match self {
            Self::Three(okvs) => okvs.keys(),
            Self::Four(okvs) => okvs.keys(),
        }
    }

    pub(crate) const fn slots(&self) -> usize {
        match self {
            Self::Three(okvs) => okvs.slots(),
            Self::Four(okvs) => okvs.slots(),
        }
    }

    /// Encodes values that are computed from the row seed, as [`okvs::Okvs::encode_with`] does.
    pub(crate) fn encode_with<const W: usize, V: AsRef<[u8]>>(
        &self,
        session: &Session,
        coins: Coins,
        keys: &[Digest],
        values: impl FnOnce(&RowSeed) -> V,
        slots: &mut [[u8; W]],
    ) -> Result<(RowSeed, Plan), Error> {
        Ok(match self {
            Self::Three(okvs) => {
                let (seed, plan) = okvs.encode_with(session, coins, keys, values, slots)?;
                (seed, Plan::Three(plan))
            }
            Self::Four(okvs) => {
                let (seed, plan) = okvs.encode_with(session, coins, keys, values, slots)?;
                (seed, Plan::Four(plan))
            }
        })
    }

    /// Begins to encode words of W bytes, as [`okvs::Okvs::begin_words`] does; they and the slots are strings of bytes.
    pub(crate) fn begin_words<const W: usize>(
        &self,
        session: &Session,
        coins: Coins,
        keys: &[Digest],
        slots: &mut [u8],
    ) -> Result<(RowSeed, Plan, Secret<u8>), Usage> {
        let slots = slots.as_chunks_mut::<W>().0;
        let (seed, plan, mut words) = match self {
            Self::Three(okvs) => {
                let (seed, plan, words) = okvs.begin_words(session, coins, keys, slots)?;
                (seed, Plan::Three(plan), words)
            }
            Self::Four(okvs) => {
                let (seed, plan, words) = okvs.begin_words(session, coins, keys, slots)?;
                (seed, Plan::Four(plan), words)
            }
        };
        Ok((seed, plan, Secret(mem::take(&mut words.0).into_flattened())))
    }

    pub(crate) fn plan(
        &self,
        session: &Session,
        seed: &RowSeed,
        keys: &[Digest],
    ) -> Result<Plan, Usage> {
        Ok(self.plan_words::<0>(session, seed, keys)?.0)
    }

    /// Plans keys, and returns their words, as [`okvs::Okvs::plan_words`] does.
    pub(crate) fn plan_words<const W: usize>(
        &self,
        session: &Session,
        seed: &RowSeed,
        keys: &[Digest],
    ) -> Result<(Plan, Secret<[u8; W]>), Usage> {
        Ok(match self {
            Self::Three(okvs) => {
                let (plan, words) = okvs.plan_words(session, seed, keys)?;
                (Plan::Three(plan), words)
            }
            Self::Four(okvs) => {
                let (plan, words) = okvs.plan_words(session, seed, keys)?;
                (Plan::Four(plan), words)
            }
        })
    }

    pub(crate) fn decoder<'a, const W: usize>(
        &self,
        slots: &'a [[u8; W]],
    ) -> Result<Decoder<'a, W>, Usage> {
        Ok(match self {
            Self::Three(okvs) => Decoder::Three(okvs.decoder(slots)?),
            Self::Four(okvs) => Decoder::Four(okvs.decoder(slots)?),
        })
    }
}

impl Plan {
    /// The keys' indices in the order of the plan.
    pub(crate) fn order(&self) -> &[u32] {
        match self {
            Self::Three(plan) => plan.order(),
            Self::Four(plan) => plan.order(),
        }
    }

    /// Encodes words of W bytes, as [`okvs::Plan::encode_words`] does.
    pub(crate) fn encode_words<const W: usize>(
        &self,
        words: &[u8],
        slots: &mut [u8],
    ) -> Result<(), Error> {
        let (words, slots) = (words.as_chunks::<W>().0, slots.as_chunks_mut::<W>().0);
        match self {
            Self::Three(plan) => plan.encode_words(words, slots),
            Self::Four(plan) => plan.encode_words(words, slots),
        }
    }

    /// The values of the keys at these places of the plan.
    pub(crate) fn decode_range<const W: usize>(
        &self,
        decoder: &Decoder<'_, W>,
        range: Range<usize>,
        values: &mut [[u8; W]],
    ) -> Result<(), Usage> {
        match (self, decoder) {
            (Self::Three(plan), Decoder::Three(decoder)) => {
                plan.decode_range(decoder, range, values)
            }
            (Self::Four(plan), Decoder::Four(decoder)) => plan.decode_range(decoder, range, values),
            _ => Err(Usage::SessionEnded),
        }
    }

    /// The values of all keys, in the keys' order.
    pub(crate) fn decode<const W: usize>(
        &self,
        decoder: &Decoder<'_, W>,
        values: &mut [[u8; W]],
    ) -> Result<(), Usage> {
        match (self, decoder) {
            (Self::Three(plan), Decoder::Three(decoder)) => plan.decode(decoder, values),
            (Self::Four(plan), Decoder::Four(decoder)) => plan.decode(decoder, values),
            _ => Err(Usage::SessionEnded),
        }
    }
}
