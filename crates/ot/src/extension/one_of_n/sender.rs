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
    Bits, Error, Misbehaved, Seed, Session, Usage,
    base::{Block, ReceiverKeys},
    choices::verdict,
    erase::SecretBytes,
    expect_count, expect_len,
    extension::{
        Challenge,
        check::{fit, hash_rows, numbers},
        check_owner,
        code::{Code, Parameters},
        matrix::{Matrix, Pool},
        sender::mask,
        streams::{Keys, Nonces},
    },
    oracle::Oracle,
    tasks::for_each,
};

/// The sender of a 1-of-N extension, which makes batch after batch from one set of base OTs.
pub struct Sender {
    pub(super) extension: Extension,
    pub(super) session: Session,
    seed: Seed,
    pub(super) code: Box<dyn Code>,
    pub(super) delta: Bits,
    leaves: Keys,
    /// Batches so far.
    batch: u64,
    nonces: Nonces,
    /// A check has failed: there is no output any more.
    pub(super) ended: bool,
    rows: Pool,
    words: Pool,
    /// C(v)·Δ of the first words, as many as [`Sender::all`] was asked for last.
    differences: SecretBytes,
}

/// A batch that waits for the receiver's proof, which is empty where there is no check; there is no way to its output
/// but [`Sender::verify`].
///
/// ```compile_fail,E0308
/// # use foxtrot_ot::extension::one_of_n::{Sender, Unverified};
/// # fn unchecked(sender: &mut Sender, batch: Unverified) {
/// let _ = sender.open(batch);
/// # }
/// ```
#[must_use = "the batch has no output yet"]
pub struct Unverified {
    batch: Batch,
    challenge: Option<Challenge>,
}

/// A batch whose output can be had, once.
///
/// ```
/// # use foxtrot_ot::extension::one_of_n::{Sender, Sent};
/// # fn once(sender: &mut Sender, batch: Sent) {
/// let _ = sender.open(batch);
/// # }
/// ```
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::extension::one_of_n::{Sender, Sent};
/// # fn twice(sender: &mut Sender, batch: Sent) {
/// let _ = sender.open(batch);
/// let _ = sender.rows(batch, &mut []);
/// # }
/// ```
#[must_use = "it holds the output"]
pub struct Sent {
    batch: Batch,
    challenge: Option<Challenge>,
}

/// The keys of a batch that the sender wants, and the memory for them.
pub enum Places<'a> {
    /// Keys of one word of every OT.
    Words(&'a [u8], &'a mut [Block]),
    /// Keys of the first words of every OT: their number, and room for the keys.
    All(usize, &'a mut [Block]),
}

/// The keys of a batch, of any word.
pub struct Opened<'a> {
    sender: &'a Sender,
    oracle: Oracle,
    delta: Zeroizing<Vec<u8>>,
    rows: SecretBytes,
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
        let (rows, words) = (Pool::default(), Pool::default());
        let (batch, ended) = (0, false);
        Ok(Self {
            extension,
            session,
            seed,
            code,
            delta,
            leaves,
            batch,
            nonces,
            ended,
            rows,
            words,
            differences: SecretBytes::zeroed(0),
        })
    }

    /// The code.
    #[must_use]
    pub fn code(&self) -> &dyn Code {
        &*self.code
    }

    /// Δ, packed as a row: as secret as all keys together. Whatever is computed from it and a row must
    /// be hashed under session, position and the whole row before it leaves.
    ///
    /// # Errors
    /// [`Usage::SessionEnded`] after a failed check.
    pub fn delta(&self) -> Result<Zeroizing<Vec<u8>>, Usage> {
        if self.ended { Err(Usage::SessionEnded) } else { Ok(self.packed_delta()) }
    }

    fn packed_delta(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.delta.as_bytes().to_vec())
    }

    /// Checks that the message may come now, and that its length is right for a batch of n.
    fn check_message(&self, n: usize, corrections: &[u8]) -> Result<(), Error> {
        if self.ended {
            return Err(Usage::SessionEnded.into());
        }
        self.extension.check_batch(self.batch, n)?;
        Ok(expect_len("Corrections", corrections, self.extension.corrections_len(n))?)
    }

    /// Step 3, for a message that has been checked.
    fn expand(&mut self, n: usize, corrections: &[u8]) -> Batch {
        let (backend, columns) = (self.session.backend(), self.extension.columns(n));
        let (number, len) = (self.batch, columns / 8);
        let nonce = self.nonces.of_batch(number);
        self.batch += 1;

        let Parameters { length, .. } = self.extension.parameters();
        let mut rows = self.rows.take(length.next_multiple_of(GROUP), columns);
        let stride = rows.stride();
        rows.bytes_mut()[length * stride..].chunks_mut(stride).take(7).for_each(|row| row.fill(0));
        let delta = &self.delta;
        // Two keystreams at a time.
        let parts = rows.bytes_mut().chunks_mut(2 * stride);
        let parts = parts.zip(corrections.chunks(2 * len)).zip(self.leaves.chunks(2)).enumerate();
        for_each(self.session.executor(), parts, |(i, ((rows, corrections), leaves))| {
            aegis::keystreams(backend, leaves, &nonce, rows, stride, len);
            let rows = rows.chunks_mut(stride).zip(corrections.chunks(len));
            for ((row, correction), j) in rows.zip(2 * i..) {
                xor_masked(backend, &mut row[..len], correction, mask(delta.get(j)));
            }
        });
        Batch { session: *self.session.id(), number, n, rows }
    }

    fn oracle(&self, sent: &Sent) -> Oracle {
        oracle(&self.session, sent.batch.number, sent.challenge.as_ref())
    }

    /// Step 7: the key of one word of every OT, to where the caller wants them.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not as many words or places as OTs; the batch is then
    /// lost. [`Usage::SessionEnded`] after a failed check; [`Usage::ForeignBatch`].
    pub fn keys(&mut self, sent: Sent, words: &[u8], keys: &mut [Block]) -> Result<(), Usage> {
        self.check_owner(&sent.batch, sent.challenge.is_some())?;
        let oracle = self.oracle(&sent);
        let Batch { n, mut rows, .. } = sent.batch;
        self.extension.check_words(n, words)?;
        expect_count("places for keys", n, keys.len())?;
        self.shift(&mut rows, words, n);
        self.extension.output(&self.session, &rows).keys(&oracle, keys);
        self.rows.put(rows);
        Ok(())
    }

    /// Adds C(w)·Δ to the rows, for words w.
    fn shift(&mut self, rows: &mut Matrix, words: &[u8], n: usize) {
        let (backend, columns) = (self.session.backend(), self.extension.columns(n));
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
        let (code, delta) = (&*self.code, &self.delta);
        let of_words = (turned.bytes(), turned_stride);
        let parts = rows.bytes_mut().chunks_mut(GROUP * stride);
        let parts = parts.zip(codewords.bytes_mut().chunks_mut(GROUP * stride)).enumerate();
        for_each(self.session.executor(), parts, |(group, (rows, codewords))| {
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

    /// Step 7: of every OT the keys of the words 0, 1, … `choices` − 1, one after another; a word is
    /// its number, little endian.
    ///
    /// # Errors
    /// As for [`Sender::keys`]; [`Usage::Choices`] if there are no choices, or more than words.
    pub fn all(&mut self, sent: Sent, choices: usize, keys: &mut [Block]) -> Result<(), Usage> {
        self.check_owner(&sent.batch, sent.challenge.is_some())?;
        let Parameters { word_bits, .. } = self.extension.parameters();
        if choices == 0 || word_bits < 64 && (choices as u64) > 1 << word_bits {
            return Err(Usage::Choices { choices });
        }
        let n = sent.batch.n;
        expect_count("places for keys", n.saturating_mul(choices), keys.len())?;
        if n > 0 {
            self.set_differences(choices);
            let (oracle, output) =
                (self.oracle(&sent), self.extension.output(&self.session, &sent.batch.rows));
            output.all(&oracle, &self.differences, n, keys);
        }
        self.rows.put(sent.batch.rows);
        Ok(())
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
        self.code.encode(self.session.backend(), &words, &mut differences);
        mask_rows(&mut differences, self.delta.as_bytes());
        self.differences = differences;
    }

    /// Step 7: the rows q = t ⊕ C(w)·Δ themselves, one after another.
    ///
    /// They are not hashed: one row, with that of the receiver and its word, gives Δ ∧ C(w) to a party
    /// that has both. Whatever leaves must first be hashed under session, position and the whole row.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not as many bytes as rows have; the batch is then lost.
    /// [`Usage::SessionEnded`] after a failed check; [`Usage::ForeignBatch`].
    pub fn rows(&mut self, sent: Sent, rows: &mut [u8]) -> Result<(), Usage> {
        self.check_owner(&sent.batch, sent.challenge.is_some())?;
        expect_count(
            "bytes for rows",
            sent.batch.n * self.extension.parameters().row_len(),
            rows.len(),
        )?;
        self.extension.output(&self.session, &sent.batch.rows).rows(rows);
        self.rows.put(sent.batch.rows);
        Ok(())
    }

    /// Step 7: the batch, to ask for the key of any word of any OT.
    ///
    /// # Errors
    /// [`Usage::SessionEnded`] after a failed check; [`Usage::ForeignBatch`].
    pub fn open(&mut self, sent: Sent) -> Result<Opened<'_>, Usage> {
        self.check_owner(&sent.batch, sent.challenge.is_some())?;
        let mut rows = SecretBytes::zeroed(sent.batch.n * self.extension.parameters().row_len());
        self.extension.output(&self.session, &sent.batch.rows).rows(&mut rows);
        let oracle = self.oracle(&sent);
        self.rows.put(sent.batch.rows);
        Ok(Opened { sender: self, oracle, delta: self.packed_delta(), rows })
    }

    /// Checks that the batch is ours, and that the session has not ended.
    fn check_owner(&self, batch: &Batch, checked: bool) -> Result<(), Usage> {
        if self.ended {
            return Err(Usage::SessionEnded);
        }
        check_owner((&self.session, self.extension.checked()), (&batch.session, checked))
    }
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
        self.sender.code.encode(self.sender.session.backend(), word, &mut row);
        mask_rows(&mut row, &self.delta);
        row.iter_mut().zip(&self.rows[i * row_len..][..row_len]).for_each(|(a, b)| *a ^= b);
        self.oracle.query(i as u64, 0).field(&row).finish()
    }
}

impl Sender {
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
        self.check_message(n, corrections)?;
        let batch = self.expand(n, corrections);
        let challenge = self.extension.checked().then(|| {
            let coin = self.session.oracle("foxtrot v1 one-of-n sender coin");
            coin.query(batch.number, 0).field(self.seed.as_bytes()).finish()
        });
        Ok((Unverified { batch, challenge }, challenge))
    }

    /// Step 6: checks the proof of the batch, which is empty where there is no check.
    ///
    /// # Errors
    /// [`Decode`](crate::Decode) if it has another length, and [`Misbehaved::ConsistencyCheck`]: after either this
    /// sender has forgotten Δ, and everything is [`Usage::SessionEnded`]. [`Usage::ForeignBatch`].
    pub fn verify(&mut self, unverified: Unverified, proof: &[u8]) -> Result<Sent, Error> {
        let Unverified { batch, challenge } = unverified;
        self.check_owner(&batch, challenge.is_some())?;
        if let Err(error) = self.check(&batch, challenge.as_ref(), proof) {
            self.end();
            return Err(error);
        }
        Ok(Sent { batch, challenge })
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
        let columns = self.extension.columns(batch.n);
        let coefficients = coefficients(&self.session, batch.number, batch.n, challenge, columns);
        let Parameters { length, word_bits } = self.extension.parameters();
        let (backend, executor) = (self.session.backend(), self.session.executor());
        let ours = hash_rows(backend, executor, &batch.rows, length, &coefficients);
        let theirs: Vec<u64> = numbers(proof).collect();
        let (words, rows) = theirs.split_at(word_bits);
        let code = self.code.linear().ok_or(Usage::NotLinear)?;
        let codeword = code.encode_elements(words).into_iter();
        match verdict(fit(&ours, rows, &self.delta, codeword)) {
            true => Ok(()),
            false => Err(Misbehaved::ConsistencyCheck.into()),
        }
    }

    /// Checks the proof of a batch, and writes its keys.
    ///
    /// # Errors
    /// Errors of [`Sender::verify`], [`Sender::keys`] and [`Sender::all`].
    pub fn finish(
        &mut self,
        batch: Unverified,
        proof: &[u8],
        places: Places<'_>,
    ) -> Result<(), Error> {
        let sent = self.verify(batch, proof)?;
        match places {
            Places::Words(words, keys) => self.keys(sent, words, keys)?,
            Places::All(choices, keys) => self.all(sent, choices, keys)?,
        }
        Ok(())
    }

    /// A peer that guesses Δ must not guess twice. Rows of earlier batches would also tell Δ.
    fn end(&mut self) {
        self.ended = true;
        self.leaves = Keys::default();
        (self.rows, self.words) = (Pool::default(), Pool::default());
        self.differences = SecretBytes::zeroed(0);
        self.seed = Seed::from_bytes([0; 32]);
        self.delta = Bits::from_random(vec![0; self.delta.as_bytes().len()], self.delta.len());
    }
}

/// Every row ∧ Δ.
pub(super) fn mask_rows(rows: &mut [u8], delta: &[u8]) {
    for row in rows.chunks_exact_mut(delta.len()) {
        row.iter_mut().zip(delta).for_each(|(byte, delta)| *byte &= delta);
    }
}

foxtrot_kernel::redacted! {
    Sender, sender => "{}, {} batches", sender.extension.name, sender.batch;
    Unverified, unverified => "batch {}, <redacted>", unverified.batch.number;
    Sent, sent => "batch {}, <redacted>", sent.batch.number;
    Opened<'_>, opened => "{}, <redacted>", opened.sender.extension.name;
}

impl fmt::Debug for Places<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Words(_, keys) => write!(f, "Words(<{} redacted>)", keys.len()),
            Self::All(choices, keys) => write!(f, "All({choices}, <{} redacted>)", keys.len()),
        }
    }
}
