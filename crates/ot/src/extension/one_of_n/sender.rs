//! The side with Δ and all keys; in the base OTs it was the receiver.

#[cfg(test)]
mod tests;

use alloc::{boxed::Box, vec, vec::Vec};
use core::fmt;

use foxtrot_kernel::{aegis, bits::xor_masked};
use zeroize::Zeroizing;

use super::{
    Extension, GROUP, coefficients, nonces,
    output::{Batch, oracle},
    stream,
};
use crate::{
    Error, Seed, Session, Usage,
    base::{Block, ReceiverKeys},
    erase::SecretBytes,
    expect_count, expect_len,
    extension::{
        Challenge,
        check::{hash_rows, numbers},
        check_owner,
        code::{Code, Parameters},
        matrix::{Matrix, Pool},
        sender::mask,
        sending::Sending,
        streams::Keys,
    },
    oracle::Oracle,
    tasks::for_each,
};

/// Sums that are shifted together.
const SUMS: usize = 512;

/// The sender of a 1-of-N extension, which makes batch after batch from one set of base OTs.
pub struct Sender {
    pub(super) extension: Extension,
    pub(super) state: Sending,
    code: Box<dyn Code>,
    words: Pool,
    /// C(v)·Δ of the first words, as many as were wanted last.
    differences: SecretBytes,
}

/// The keys of a batch, of any word.
pub struct Opened<'a> {
    sender: &'a Sender,
    oracle: Oracle,
    delta: Zeroizing<Vec<u8>>,
    rows: SecretBytes,
}

/// A batch that waits for the receiver's proof, which is empty where there is no check; there is no way to its output
/// but [`Sender::finish`] and [`Sender::open`], which take it.
///
/// ```
/// # use foxtrot_ot::extension::one_of_n::{Places, Sender, Unverified};
/// # fn once(mut sender: Sender, batch: Unverified) {
/// let _ = sender.finish(batch, &[], Places::All(1, &mut []));
/// # }
/// ```
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::extension::one_of_n::{Places, Sender, Unverified};
/// # fn twice(mut sender: Sender, batch: Unverified) {
/// let _ = sender.finish(batch, &[], Places::All(1, &mut []));
/// let _ = sender.finish(batch, &[], Places::Rows(&mut []));
/// # }
/// ```
#[must_use = "the batch has no output yet"]
pub struct Unverified {
    batch: Batch,
    challenge: Option<Challenge>,
}

/// The output of a batch that the sender wants, with the memory for it.
pub enum Places<'a> {
    /// Keys of one word of every OT.
    Words(&'a [u8], &'a mut [Block]),
    /// Keys of the words 0, 1, … of every OT, one after another: their number, and room for the keys.
    All(usize, &'a mut [Block]),
    /// The rows q = t ⊕ C(w)·Δ themselves, one after another.
    ///
    /// They are not hashed: one row, with that of the receiver and its word, gives Δ ∧ C(w) to a party
    /// that has both. Whatever leaves must first be hashed under session, position and the whole row.
    Rows(&'a mut [u8]),
}

impl Opened<'_> {
    /// The key of that word in OT i.
    ///
    /// # Panics
    /// If the batch has no OT i, or the word has another length than words have.
    #[must_use]
    pub fn key(&self, i: usize, word: &[u8]) -> Block {
        let parameters = self.sender.extension.parameters();
        assert!(word.len() == parameters.word_len(), "a word");
        let row_len = parameters.row_len();
        let mut row = SecretBytes::zeroed(row_len);
        self.sender.code.encode(self.sender.state.session.backend(), word, &mut row);
        mask_rows(&mut row, &self.delta);
        row.iter_mut().zip(&self.rows[i * row_len..][..row_len]).for_each(|(a, b)| *a ^= b);
        self.oracle.query(i as u64, 0).field(&row).finish()
    }
}

impl Sender {
    /// Step 1: from the chosen keys of as many base OTs as the code is long, whose choices become Δ.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are more or fewer.
    pub fn new(
        session: Session,
        extension: Extension,
        base: ReceiverKeys,
        seed: Seed,
    ) -> Result<Self, Usage> {
        expect_count("base OTs", extension.parameters().length, base.keys().len())?;
        let delta = base.choices().slice(0..base.keys().len());
        let leaves = base.keys().iter().enumerate();
        let leaves =
            leaves.map(|(row, key)| *stream(&session, row, delta.get(row).unwrap_u8(), key));
        let (leaves, nonces) = (Keys::new(leaves.collect()), nonces(&session));
        let code = extension.family.of_session(&session);
        let state = Sending::new(session, delta, leaves, nonces, seed);
        let differences = SecretBytes::zeroed(0);
        Ok(Self { extension, state, code, words: Pool::default(), differences })
    }

    /// Δ, packed as a row: as secret as all keys together. Whatever is computed from it and a row must
    /// be hashed under session, position and the whole row before it leaves.
    ///
    /// # Errors
    /// [`Usage::SessionEnded`] after a failed check.
    pub fn delta(&self) -> Result<Zeroizing<Vec<u8>>, Usage> {
        self.state.expect_open()?;
        Ok(self.state.packed_delta())
    }

    /// Step 3, for a message that has been checked.
    fn expand(&mut self, n: usize, corrections: &[u8]) -> Batch {
        let state = &mut self.state;
        let (backend, columns) = (state.session.backend(), self.extension.columns(n));
        let (number, len) = (state.next(), columns / 8);
        let nonce = state.nonces.of_batch(number);

        let Parameters { length, .. } = self.extension.parameters();
        let mut rows = state.rows.take(length.next_multiple_of(GROUP), columns);
        let stride = rows.stride();
        rows.bytes_mut()[length * stride..].chunks_mut(stride).take(7).for_each(|row| row.fill(0));
        let delta = &state.delta;
        // Two keystreams at a time.
        let parts = rows.bytes_mut().chunks_mut(2 * stride);
        let parts = parts.zip(corrections.chunks(2 * len)).zip(state.leaves.chunks(2)).enumerate();
        for_each(state.session.executor(), parts, |(i, ((rows, corrections), leaves))| {
            aegis::keystreams(backend, leaves, &nonce, rows, stride, len);
            let rows = rows.chunks_mut(stride).zip(corrections.chunks(len));
            for ((row, correction), j) in rows.zip(2 * i..) {
                xor_masked(backend, &mut row[..len], correction, mask(delta.get(j)));
            }
        });
        Batch { session: *state.session.id(), number, n, rows }
    }

    /// Adds C(w)·Δ to the rows, for words w.
    fn shift(&mut self, rows: &mut Matrix, words: &[u8], n: usize) {
        let session = &self.state.session;
        let (backend, columns) = (session.backend(), self.extension.columns(n));
        let len = columns.min(n.next_multiple_of(512)) / 8;
        let length = self.extension.parameters().length;
        let mut turned = self.words.take(self.code.turned(), columns);
        let turned_stride = turned.stride();
        for row in turned.bytes_mut().chunks_mut(turned_stride) {
            row[n / 128 * 16..len].fill(0);
        }
        self.code.turn(backend, words, turned.bytes_mut(), turned_stride);
        let mut codewords = self.words.take(length, columns);
        let stride = rows.stride();
        let (code, delta) = (&*self.code, &self.state.delta);
        let of_words = (turned.bytes(), turned_stride);
        let parts = rows.bytes_mut().chunks_mut(GROUP * stride);
        let parts = parts.zip(codewords.bytes_mut().chunks_mut(GROUP * stride)).enumerate();
        for_each(session.executor(), parts, |(group, (rows, codewords))| {
            codewords.chunks_mut(stride).for_each(|row| row[..len].fill(0));
            let bits = group * GROUP..length.min((group + 1) * GROUP);
            code.add(backend, bits.clone(), of_words, (codewords, stride), len);
            let rows = rows.chunks_mut(stride).zip(codewords.chunks(stride));
            for ((row, codeword), j) in rows.zip(bits) {
                xor_masked(backend, &mut row[..len], &codeword[..len], mask(delta.get(j)));
            }
        });
        self.words.put(turned);
        self.words.put(codewords);
    }

    /// C(v)·Δ of the first words, unless it has them.
    fn set_differences(&mut self, choices: usize) {
        let parameters = self.extension.parameters();
        let (word_len, row_len) = (parameters.word_len(), parameters.row_len());
        if self.differences.len() == choices * row_len {
            return;
        }
        let mut words = vec![0; choices * word_len];
        for (choice, word) in (0_u64..).zip(words.chunks_exact_mut(word_len)) {
            word.iter_mut().zip(choice.to_le_bytes()).for_each(|(to, byte)| *to = byte);
        }
        let mut differences = SecretBytes::zeroed(choices * row_len);
        self.code.encode(self.state.session.backend(), &words, &mut differences);
        mask_rows(&mut differences, self.state.delta.as_bytes());
        self.differences = differences;
    }

    /// Steps 3 and 4: takes the receiver's corrections of the next batch, of n OTs, and challenges them, if there is a
    /// check.
    ///
    /// Other batches may follow before this one is verified.
    ///
    /// # Errors
    /// [`Decode`](crate::Decode) if they have another length; [`Usage::BatchTooLarge`]; [`Usage::SessionEnded`]
    /// after a failed check.
    pub fn absorb(
        &mut self,
        n: usize,
        corrections: &[u8],
    ) -> Result<(Unverified, Option<Challenge>), Error> {
        self.state.expect_open()?;
        self.extension.check_batch(self.state.batch, n)?;
        expect_len("Corrections", corrections, self.extension.corrections_len(n))?;
        let batch = self.expand(n, corrections);
        let coin = || self.state.challenge("foxtrot v1 one-of-n sender coin", batch.number);
        let challenge = self.extension.checked().then(coin);
        Ok((Unverified { batch, challenge }, challenge))
    }

    /// Steps 6 and 7: checks the proof of the batch, which is empty where there is no check, and writes its output.
    ///
    /// # Errors
    /// [`Decode`](crate::Decode) if it has another length, and [`Misbehaved::ConsistencyCheck`](crate::Misbehaved::ConsistencyCheck): after either this
    /// sender has forgotten Δ, and everything is [`Usage::SessionEnded`]. [`Usage::CountMismatch`] if there are not as many
    /// words or places as OTs; [`Usage::Choices`] if there are no choices, or more than words; [`Usage::ForeignBatch`].
    /// After an error the batch is lost.
    pub fn finish(
        &mut self,
        batch: Unverified,
        proof: &[u8],
        places: Places<'_>,
    ) -> Result<(), Error> {
        self.check_owner(&batch)?;
        self.check_places(batch.batch.n, &places)?;
        let (Batch { n, mut rows, .. }, oracle) = self.verify(batch, proof)?;
        match places {
            Places::Words(words, keys) => {
                self.shift(&mut rows, words, n);
                self.extension.output(&self.state.session, &rows).keys(&oracle, keys);
            }
            Places::All(choices, keys) => {
                if n > 0 {
                    self.set_differences(choices);
                }
                let output = self.extension.output(&self.state.session, &rows);
                output.all(&oracle, &self.differences, n, keys);
            }
            Places::Rows(places) => {
                self.extension.output(&self.state.session, &rows).rows(places);
            }
        }
        self.state.rows.put(rows);
        Ok(())
    }

    /// Steps 6 and 7 as by [`finish`](Self::finish): the batch, to ask for the key of any word of any OT.
    ///
    /// # Errors
    /// Errors of [`finish`](Self::finish) but for those of words and places.
    pub fn open(&mut self, batch: Unverified, proof: &[u8]) -> Result<Opened<'_>, Error> {
        self.check_owner(&batch)?;
        let (batch, oracle) = self.verify(batch, proof)?;
        let mut rows = SecretBytes::zeroed(batch.n * self.extension.parameters().row_len());
        self.extension.output(&self.state.session, &batch.rows).rows(&mut rows);
        self.state.rows.put(batch.rows);
        Ok(Opened { sender: self, oracle, delta: self.state.packed_delta(), rows })
    }

    fn check_owner(&self, batch: &Unverified) -> Result<(), Usage> {
        self.state.expect_open()?;
        let ours = (&self.state.session, self.extension.checked());
        check_owner(ours, (&batch.batch.session, batch.challenge.is_some()))
    }

    /// Step 6; whatever goes wrong ends the session. Returns the batch and the hash of its keys.
    fn verify(&mut self, batch: Unverified, proof: &[u8]) -> Result<(Batch, Oracle), Error> {
        let Unverified { batch, challenge } = batch;
        if let Err(error) = self.check(&batch, challenge.as_ref(), proof) {
            self.end();
            return Err(error);
        }
        let oracle = oracle(&self.state.session, batch.number, challenge.as_ref());
        Ok((batch, oracle))
    }

    /// Checks that there is a place for all output of n OTs.
    fn check_places(&self, n: usize, places: &Places<'_>) -> Result<(), Usage> {
        let parameters = self.extension.parameters();
        match *places {
            Places::Words(words, ref keys) => {
                self.extension.check_words(n, words)?;
                expect_count("places for keys", n, keys.len())
            }
            Places::All(choices, ref keys) => {
                let word_bits = parameters.word_bits;
                if choices == 0 || word_bits < 64 && (choices as u64) > 1 << word_bits {
                    return Err(Usage::Choices { choices });
                }
                expect_count("places for keys", n.saturating_mul(choices), keys.len())
            }
            Places::Rows(ref rows) => {
                expect_count("bytes for rows", n * parameters.row_len(), rows.len())
            }
        }
    }

    /// Step 6; whatever goes wrong ends the session.
    fn check(
        &self,
        batch: &Batch,
        challenge: Option<&Challenge>,
        proof: &[u8],
    ) -> Result<(), Error> {
        expect_len("Proof", proof, self.extension.proof_len())?;
        let Some(challenge) = challenge else { return Ok(()) };
        let (session, columns) = (&self.state.session, self.extension.columns(batch.n));
        let coefficients = coefficients(session, batch.number, batch.n, challenge, columns);
        let Parameters { length, word_bits } = self.extension.parameters();
        let (backend, executor) = (session.backend(), session.executor());
        let ours = hash_rows(backend, executor, &batch.rows, length, &coefficients);
        let theirs: Vec<u64> = numbers(proof).collect();
        let (words, rows) = theirs.split_at(word_bits);
        let code = self.code.linear().ok_or(Usage::NotLinear)?;
        let codeword = code.encode_elements(words).into_iter();
        self.state.check(1.into(), [&ours, rows], codeword)
    }

    /// Adds C(v)·Δ to sums of rows, one word v for each, both one after another. What was the sum of
    /// rows q is then the sum of the receiver's rows t, if the sum of its words is v.
    ///
    /// The sums are not hashed, as [rows](super::Places::Rows) are not: one sum shifted by two known
    /// words, or shifted by one and beside the receiver's, gives bits of Δ to a party that has both.
    /// Hash whatever leaves: the session, the position of the sum, and the whole sum.
    ///
    /// # Errors
    /// [`Usage::NotLinear`]; [`Usage::CountMismatch`] if there are not as many sums as words;
    /// [`Usage::SessionEnded`] after a failed check.
    pub fn shift_sums(&self, words: &[u8], sums: &mut [u8]) -> Result<(), Usage> {
        let parameters = self.extension.parameters();
        let (word_len, row_len) = (parameters.word_len(), parameters.row_len());
        self.state.expect_open()?;
        let code = self.code.linear().ok_or(Usage::NotLinear)?;
        let n = words.len() / word_len;
        expect_count("bytes of words", n * word_len, words.len())?;
        expect_count("bytes of sums", n * row_len, sums.len())?;
        let mut codewords = SecretBytes::zeroed(n.min(SUMS) * row_len);
        let parts = words.chunks(SUMS * word_len).zip(sums.chunks_mut(SUMS * row_len));
        for (words, sums) in parts {
            let codewords = &mut codewords[..sums.len()];
            code.encode(self.state.session.backend(), words, codewords);
            mask_rows(codewords, self.state.delta.as_bytes());
            sums.iter_mut().zip(&*codewords).for_each(|(sum, codeword)| *sum ^= codeword);
        }
        Ok(())
    }

    fn end(&mut self) {
        self.state.end();
        self.words = Pool::default();
        self.differences = SecretBytes::zeroed(0);
    }
}

/// Every row ∧ Δ.
fn mask_rows(rows: &mut [u8], delta: &[u8]) {
    for row in rows.chunks_exact_mut(delta.len()) {
        row.iter_mut().zip(delta).for_each(|(byte, delta)| *byte &= delta);
    }
}

foxtrot_kernel::redacted! {
    Sender, sender => "{}, {} batches", sender.extension.name, sender.state.batch;
    Unverified, unverified => "batch {}, <redacted>", unverified.batch.number;
    Opened<'_>, opened => "{}, <redacted>", opened.sender.extension.name;
}

impl fmt::Debug for Places<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(_, keys) => write!(f, "Words(<{} redacted>)", keys.len()),
            Self::All(choices, keys) => write!(f, "All({choices}, <{} redacted>)", keys.len()),
            Self::Rows(rows) => write!(f, "Rows(<{} redacted>)", rows.len()),
        }
    }
}
