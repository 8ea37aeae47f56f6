//! Encoding: slots that give each key its value.

use core::mem::take;

use foxtrot_kernel::{aes::Aes128, memcheck, memory::prefetch};
use foxtrot_ot::{Session, Usage, erase::Secret, expect_count, tasks::for_each};
use zeroize::Zeroize;

use super::{
    Coins, Okvs, OkvsPlan,
    decode::{AHEAD, ask, value},
    dense::{Dense, xor},
    elimination::System,
    peel::{Peeled, peel},
};
use crate::{Digest, Error, RowSeed, erase::erase};

impl Okvs {
    /// Draws the row seed and fills all slots so that every key has its value. The keys are distinct.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not as many keys and values as the store is made for, or
    /// slots as it has. [`Error::Unlucky`] if the rows of the keys depend on each other: the session must end, as another attempt would
    /// tell about the keys. Distinct keys come to this with probability 2⁻⁴⁰ at most (of more than 2¹³ keys that is in part
    /// measured, see [the module](super)), equal ones surely. The slots are zero then.
    pub fn encode<const W: usize>(
        &self,
        session: &Session,
        coins: Coins,
        keys: &[Digest],
        values: &[[u8; W]],
        slots: &mut [[u8; W]],
    ) -> Result<RowSeed, Error> {
        expect_count("values", self.keys, values.len())?;
        Ok(self.encode_with(session, coins, keys, |_| values.as_flattened(), slots)?.0)
    }

    /// Encodes values that are computed from the row seed, one after another, as many as keys. Also returns the plan of
    /// the keys, which it needs anyway.
    pub(crate) fn encode_with<const W: usize, V: AsRef<[u8]>>(
        &self,
        session: &Session,
        coins: Coins,
        keys: &[Digest],
        values: impl FnOnce(&RowSeed) -> V,
        slots: &mut [[u8; W]],
    ) -> Result<(RowSeed, OkvsPlan), Error> {
        let seed = self.begin(session, &coins, keys, slots)?;
        let plan = self.plan(session, &seed, keys)?;
        let values = values(&seed);
        let values = values.as_ref().as_chunks().0;
        plan.solve(|place| &values[plan.order.0[place] as usize], slots)?;
        Ok((seed, plan))
    }

    /// Draws the row seed, and random bytes for all slots; returns the plan of the keys and their [words](Okvs::plan_words), for
    /// [`OkvsPlan::encode_words`]. Words of W bytes and slots are strings of bytes.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not as many keys as the store is made for, or slots as it has.
    pub(crate) fn begin_words<const W: usize>(
        &self,
        session: &Session,
        coins: Coins,
        keys: &[Digest],
        slots: &mut [u8],
    ) -> Result<(RowSeed, OkvsPlan, Secret<u8>), Usage> {
        let seed = self.begin(session, &coins, keys, slots.as_chunks_mut::<W>().0)?;
        let (plan, mut words) = self.plan_words::<W>(session, &seed, keys)?;
        Ok((seed, plan, Secret(take(&mut words.0).into_flattened())))
    }

    /// Draws the row seed, and random bytes for all slots.
    fn begin<const W: usize>(
        &self,
        session: &Session,
        coins: &Coins,
        keys: &[Digest],
        slots: &mut [[u8; W]],
    ) -> Result<RowSeed, Usage> {
        self.check_slots(slots)?;
        expect_count("keys", self.keys, keys.len())?;
        let oracle = session.oracle("foxtrot v1 okvs coins");
        let mut seed = RowSeed(oracle.query(0, 0).field(coins.0.as_slice()).finish());
        // Every user of the store sends the seed, unless its session ends before; where keys are placed follows from it.
        memcheck::public(&mut seed.0);
        let mut key = oracle.query(0, 1).field(coins.0.as_slice()).finish();
        let cipher = Aes128::new(session.backend(), &key);
        let parts = slots.as_flattened_mut().chunks_mut(FILLED).enumerate();
        for_each(session.executor(), parts, |(part, bytes)| {
            fill(&cipher, (part * FILLED / 16) as u128, bytes);
        });
        key.zeroize();
        Ok(seed)
    }
}

impl OkvsPlan {
    /// Corrects some slots, of all that are random, so that every key has its word of W bytes; the words are in the order of the plan.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not as many words as keys, or slots as the store has; [`Error::Unlucky`] if
    /// the rows depend on each other; the slots are zero then.
    pub(crate) fn encode_words<const W: usize>(
        &self,
        words: &[u8],
        slots: &mut [u8],
    ) -> Result<(), Error> {
        let (words, slots) = (words.as_chunks().0, slots.as_chunks_mut::<W>().0);
        self.okvs.check_slots(slots)?;
        expect_count("words", self.len(), words.len())?;
        self.solve(|place| &words[place], slots)
    }

    /// Corrects some slots, of all that are random, so that the row at every place has its value. If the rows depend on
    /// each other, the slots are zero.
    pub(super) fn solve<'a, const W: usize>(
        &self,
        value_of: impl Fn(usize) -> &'a [u8; W],
        slots: &mut [[u8; W]],
    ) -> Result<(), Error> {
        let peeled = peel(&self.okvs, &self.rows.0);
        let solved = match self.okvs.sparse {
            2 => self.solve_rows::<2, W>(&peeled, value_of, slots),
            3 => self.solve_rows::<3, W>(&peeled, value_of, slots),
            _ => self.solve_rows::<4, W>(&peeled, value_of, slots),
        };
        solved.ok_or_else(|| {
            erase(slots.as_flattened_mut());
            Error::Unlucky
        })
    }

    fn solve_rows<'a, const H: usize, const W: usize>(
        &self,
        peeled: &Peeled,
        value_of: impl Fn(usize) -> &'a [u8; W],
        slots: &mut [[u8; W]],
    ) -> Option<()> {
        self.solve_core::<H, W>(peeled, &value_of, slots)?;
        self.solve_peeled::<H, W>(peeled, value_of, slots);
        Some(())
    }

    /// The core's rows, by as many slots.
    fn solve_core<'a, const H: usize, const W: usize>(
        &self,
        peeled: &Peeled,
        value_of: impl Fn(usize) -> &'a [u8; W],
        slots: &mut [[u8; W]],
    ) -> Option<()> {
        let core = self.core(peeled);
        if core.0.is_empty() {
            return Some(());
        }
        let mut system = System::new(&self.okvs, &core.0)?;
        let dense = Dense::new(&slots[..self.okvs.dense()]);
        for ((place, row), right) in peeled.core().zip(&core.0).zip(&mut system.right) {
            *right = value::<H, W>(&self.okvs, slots, &dense, row);
            xor(right, value_of(place));
        }
        let pivots = system.solve()?;
        for (&slot, correction) in pivots.0.iter().zip(&system.right) {
            xor(&mut slots[slot as usize], correction);
        }
        Some(())
    }

    /// Every other row, by the slot that it has for itself.
    fn solve_peeled<'a, const H: usize, const W: usize>(
        &self,
        peeled: &Peeled,
        value_of: impl Fn(usize) -> &'a [u8; W],
        slots: &mut [[u8; W]],
    ) {
        let dense = Dense::new(&slots[..self.okvs.dense()]);
        let steps = &peeled.steps.0;
        for (k, &step) in steps.iter().enumerate().rev() {
            // Rows and values first, and when they are there, what rows name.
            if let Some(&step) = k.checked_sub(2 * AHEAD).and_then(|k| steps.get(k)) {
                let (place, _) = Peeled::split(step);
                prefetch(&self.rows.0[place]);
                ask(value_of(place));
            }
            if let Some(&step) = k.checked_sub(AHEAD).and_then(|k| steps.get(k)) {
                let (place, _) = Peeled::split(step);
                let named = self.okvs.slots_of::<H>(&self.rows.0[place]);
                named.iter().for_each(|&slot| ask(&slots[slot as usize]));
            }
            let (place, which) = Peeled::split(step);
            let row = &self.rows.0[place];
            let mut correction = value::<H, W>(&self.okvs, slots, &dense, row);
            xor(&mut correction, value_of(place));
            xor(&mut slots[self.okvs.slots_of::<H>(row)[which] as usize], &correction);
        }
    }
}

/// Bytes of slots that are filled together; whole blocks.
const FILLED: usize = 1 << 20;

/// Keystream from this block on. The last block may be cut.
fn fill(cipher: &Aes128, first: u128, bytes: &mut [u8]) {
    let whole = bytes.len() - bytes.len() % 16;
    let (blocks, rest) = bytes.split_at_mut(whole);
    cipher.ctr(first, blocks);
    let mut last = [0; 16];
    cipher.ctr(first + whole as u128 / 16, &mut last);
    rest.copy_from_slice(&last[..rest.len()]);
    erase(&mut last);
}
