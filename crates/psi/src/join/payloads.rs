//! Payloads: a check of 8 bytes and the encrypted bytes, one record per tag, in the order of tags.

use alloc::vec::Vec;
use core::ops::Range;

use foxtrot_kernel::memcheck;
use foxtrot_ot::{Misbehaved, Usage, engine::Abandoned, erase::Secret, tasks::for_each};

use super::{FRAME, ItemKey, Join, Keys, Matches, Store, TOGETHER};
use crate::{Error, hashes::Keyed};

/// Bytes of a check. A payload under another key passes with probability 2⁻⁶⁴.
const CHECK: usize = 8;

/// Bytes of a record of a payload of `len` bytes.
pub(super) const fn record_len(len: usize) -> usize {
    CHECK + len
}

/// The oracles of payloads.
struct Oracles {
    streams: Keyed,
    checks: Keyed,
}

impl Join {
    fn oracles(&self) -> Oracles {
        Oracles {
            streams: Keyed::of(&self.session, "foxtrot v1 psi payload stream key"),
            checks: Keyed::of(&self.session, "foxtrot v1 psi payload check key"),
        }
    }

    /// Bytes of a record.
    fn record_len(&self) -> Result<usize, Usage> {
        let none = Usage::CountMismatch { what: "payloads", expected: 0, got: 1 };
        self.terms.payload.map(record_len).ok_or(none)
    }

    /// The places of the tags whose payloads are in each frame.
    pub fn payload_frames(&self, tags: usize) -> impl Iterator<Item = Range<usize>> + use<> {
        let each = FRAME / record_len(self.terms.payload.unwrap_or(0));
        let tags = self.terms.payloads(tags);
        (0..tags).step_by(each).map(move |start| start..tags.min(start + each))
    }

    /// Encrypts the payloads of a frame. `payload` gets the index of an item and writes all bytes of its payload.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] without payloads or if there are no such tags; [`Usage::Abandoned`].
    pub fn seal(
        &self,
        keys: &Keys,
        frame: Range<usize>,
        mut payload: impl FnMut(usize, &mut [u8]) -> Result<(), Abandoned>,
    ) -> Result<Vec<u8>, Error> {
        let record_len = self.record_len()?;
        let of_frame = keys.keys.get(frame.clone()).zip(keys.owners.get(frame.clone()));
        let wrong =
            Usage::CountMismatch { what: "keys", expected: frame.end, got: keys.keys.len() };
        let (keys, owners) = of_frame.ok_or(wrong)?;
        let mut records = Secret::<u8>::zeroed(keys.len() * record_len);
        for (record, &owner) in records.chunks_exact_mut(record_len).zip(owners) {
            payload(owner as usize, &mut record[CHECK..]).map_err(|_| Usage::Abandoned)?;
        }
        let oracles = self.oracles();
        let parts = keys.chunks(TOGETHER).zip(records.chunks_mut(TOGETHER * record_len));
        for_each(self.session.executor(), parts, |(keys, records)| {
            let checks = oracles.checks(keys, records);
            oracles.crypt(keys, records);
            let records = records.chunks_exact_mut(record_len);
            records
                .zip(&*checks)
                .for_each(|(record, check)| record[..CHECK].copy_from_slice(check));
        });
        let mut records = core::mem::take(&mut records.0);
        // They are sent.
        memcheck::public(&mut records);
        Ok(records)
    }

    /// Decrypts the payloads of matches, and hands each to `take` with the index of its item, in the order of tags.
    ///
    /// # Errors
    /// [`Misbehaved::Payload`] if one does not belong to its key; [`Usage::Abandoned`].
    pub fn open(
        &self,
        matches: &Matches,
        store: &mut (impl Store + ?Sized),
        mut take: impl FnMut(usize, &[u8]),
    ) -> Result<(), Error> {
        let (record_len, oracles) = (self.record_len()?, self.oracles());
        let parts = matches.keys.chunks(TOGETHER).zip(matches.places.chunks(TOGETHER));
        for ((keys, places), owners) in parts.zip(matches.owners.chunks(TOGETHER)) {
            let mut records = Secret::<u8>::zeroed(keys.len() * record_len);
            for (record, &place) in records.chunks_exact_mut(record_len).zip(places) {
                let at = u64::from(place) * record_len as u64;
                store.read(at, record).map_err(|_| Usage::Abandoned)?;
            }
            oracles.crypt(keys, &mut records);
            let checks = oracles.checks(keys, &records);
            let mut differs = 0;
            for (record, check) in records.chunks_exact(record_len).zip(&*checks) {
                differs |= u64::from_le_bytes(core::array::from_fn(|k| record[k] ^ check[k]));
            }
            if !memcheck::decided(differs == 0) {
                return Err(Misbehaved::Payload.into());
            }
            for (record, &owner) in records.chunks_exact(record_len).zip(owners) {
                take(owner as usize, &record[CHECK..]);
            }
        }
        Ok(())
    }
}

impl Oracles {
    /// Encrypts or decrypts what follows the check of every record.
    fn crypt(&self, keys: &[ItemKey], records: &mut [u8]) {
        let record_len = records.len() / keys.len();
        let len = record_len - CHECK;
        let mut streams = Secret::<u8>::zeroed(keys.len() * len);
        self.streams.hash(size_of::<ItemKey>(), keys.as_flattened(), len, &mut streams);
        let records = records.chunks_exact_mut(record_len).map(|record| &mut record[CHECK..]);
        for (record, stream) in records.zip(streams.chunks_exact(len.max(1))) {
            record.iter_mut().zip(stream).for_each(|(to, byte)| *to ^= byte);
        }
    }

    /// The checks of records that are not encrypted.
    fn checks(&self, keys: &[ItemKey], records: &[u8]) -> Secret<[u8; CHECK]> {
        let record_len = records.len() / keys.len();
        let input_len = size_of::<ItemKey>() + record_len - CHECK;
        let mut inputs = Secret::<u8>::zeroed(keys.len() * input_len);
        let records = records.chunks_exact(record_len).zip(keys);
        for (input, (record, key)) in inputs.chunks_exact_mut(input_len).zip(records) {
            let (of_key, of_payload) = input.split_at_mut(key.len());
            of_key.copy_from_slice(key);
            of_payload.copy_from_slice(&record[CHECK..]);
        }
        let mut checks = Secret::<[u8; CHECK]>::zeroed(keys.len());
        self.checks.hash(input_len, &inputs, CHECK, checks.as_flattened_mut());
        checks
    }
}
