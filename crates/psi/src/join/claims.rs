//! Claims: a value for each match of the receiver, in ascending order, by which the sender finds its own matches.

use alloc::vec::Vec;
use core::mem::take;

use foxtrot_kernel::memcheck;
use foxtrot_ot::{Decode, Misbehaved, Usage, erase::Secret, expect_count, expect_len};

use super::{FRAME, ItemKey, Join, Keys, Matches};
use crate::{Error, hashes::Keyed, matches::indices};

/// Bytes of a value. One that is invented is right with probability 2⁻¹²⁸.
pub(super) const VALUE: usize = 16;
/// Bytes of the number of values.
pub(super) const COUNT: usize = 8;

impl Join {
    /// The values of keys as numbers that sort like their bytes, in the order of the keys.
    fn values(&self, keys: &[ItemKey]) -> Secret<u128> {
        let hash = Keyed::of(&self.session, "foxtrot v1 psi claim key");
        let mut values = Secret::<u128>::zeroed(keys.len());
        hash.map(keys, &mut values, |answer: &[u8; VALUE]| u128::from_be_bytes(*answer));
        values
    }

    /// The receiver's messages: the number of its matches, and frames of their values.
    pub fn claim(&self, matches: &Matches) -> impl Iterator<Item = Vec<u8>> + use<> {
        let mut values = self.values(&matches.keys);
        // They are sent.
        memcheck::public(&mut values);
        values.sort_unstable();
        let count = (values.len() as u64).to_le_bytes().to_vec();
        let mut bytes = take(&mut values.0).into_iter().map(u128::to_be_bytes);
        let frames = core::iter::from_fn(move || {
            let frame: Vec<u8> = bytes.by_ref().take(FRAME / VALUE).flatten().collect();
            (!frame.is_empty()).then_some(frame)
        });
        core::iter::once(count).chain(frames)
    }
}

/// The sender, who takes claims.
pub struct Claimed {
    /// Values and owners, ascending by value, from the first one that can be claimed next.
    ours: alloc::vec::IntoIter<(u128, u32)>,
    /// Claims that were announced, and that have come.
    announced: usize,
    come: usize,
    matches: Secret<u32>,
}

impl Claimed {
    /// Takes the number of claims, at most `most`.
    ///
    /// # Errors
    /// [`Decode::Length`]; [`Misbehaved::Claims`] if there are more.
    pub fn new(join: &Join, keys: &Keys, count: &[u8], most: usize) -> Result<Self, Error> {
        let wrong = Decode::Length { message: "Claims", expected: COUNT, got: count.len() };
        let count = u64::from_le_bytes(count.try_into().map_err(|_| wrong)?);
        let announced = usize::try_from(count).ok().filter(|count| *count <= most);
        let announced = announced.ok_or(Misbehaved::Claims)?;
        let mut ours: Vec<_> = {
            let values = join.values(&keys.keys);
            values.iter().copied().zip(keys.owners.iter().copied()).collect()
        };
        // Whose they are follows from the order, but only for a neighbour on the processor.
        memcheck::public(&mut ours);
        ours.sort_unstable();
        let matches = Secret::with_capacity(announced);
        Ok(Self { ours: ours.into_iter(), announced, come: 0, matches })
    }

    /// The lengths of the frames of claims.
    pub fn frames(&self) -> impl Iterator<Item = usize> + use<> {
        let (n, each) = (self.announced, FRAME / VALUE);
        (0..n).step_by(each).map(move |start| VALUE * each.min(n - start))
    }

    /// Takes the next frame.
    ///
    /// # Errors
    /// [`Decode::Length`] if it has another length than is next; [`Misbehaved::Claims`] if values do not ascend, or one
    /// belongs to no item here. After an error there is no output.
    pub fn take(&mut self, frame: &[u8]) -> Result<(), Error> {
        let expected = VALUE * (FRAME / VALUE).min(self.announced - self.come);
        if expected == 0 {
            return Err(Usage::SessionEnded.into());
        }
        expect_len("Claims", frame, expected)?;
        for claim in frame.as_chunks::<VALUE>().0 {
            let claim = u128::from_be_bytes(*claim);
            // Both lists ascend: what was passed cannot be claimed again.
            match self.ours.find(|(value, _)| *value >= claim) {
                Some((value, owner)) if value == claim => self.matches.0.push(owner),
                _ => return Err(Misbehaved::Claims.into()),
            }
            self.come += 1;
        }
        Ok(())
    }

    /// The indices of the sender's items that match, ascending.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if not all claims have come.
    pub fn finish(self) -> Result<Vec<usize>, Error> {
        expect_count("claims", self.announced, self.come)?;
        Ok(indices(&self.matches))
    }
}

foxtrot_kernel::redacted! {
    Claimed, claimed => "{} of {} claims, <redacted>", claimed.come, claimed.announced;
}
