//! The side with the words; in the base OTs it was the sender.

use alloc::{boxed::Box, vec::Vec};

use foxtrot_kernel::vole;
use zeroize::Zeroizing;

use super::{
    Extension, GROUP, coefficients, nonces,
    output::{Batch, oracle},
    stream,
};
use crate::{
    Error, Seed, Session, Usage,
    base::{Block, SenderKeys},
    engine::batches::Runs,
    expect_count, expect_len,
    extension::{
        Challenge, MASK_COLUMNS,
        check::hash_rows,
        check_owner,
        code::{Code, Parameters},
        matrix::{Matrix, Pool},
        streams::{Keys, Nonces},
    },
    tasks::for_each,
};

/// The receiver of a 1-of-N extension, which makes batch after batch from one set of base OTs.
pub struct Receiver {
    pub(super) extension: Extension,
    session: Session,
    seed: Seed,
    code: Box<dyn Code>,
    /// Two for each row: of the sum with the other, and of the receiver's row.
    leaves: Keys,
    /// Batches so far.
    batch: u64,
    nonces: Nonces,
    rows: Pool,
    words: Pool,
    pub(super) runs: Runs,
}

/// A batch that waits for the sender's [`Challenge`], which is empty where there is no check. It answers one challenge: two
/// answers would tell a sum of words.
///
/// ```
/// # use foxtrot_ot::extension::one_of_n::{Receiver, Unanswered};
/// # fn once(mut receiver: Receiver, batch: Unanswered) {
/// let _ = receiver.finish(batch, &[0; 32], &mut []);
/// # }
/// ```
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::extension::one_of_n::{Receiver, Unanswered};
/// # fn twice(mut receiver: Receiver, batch: Unanswered) {
/// let _ = receiver.finish(batch, &[0; 32], &mut []);
/// let _ = receiver.finish(batch, &[1; 32], &mut []);
/// # }
/// ```
#[must_use = "the batch has no output yet"]
pub struct Unanswered {
    batch: Batch,
    /// Words for the proof.
    words: Option<Matrix>,
}

impl Receiver {
    /// Step 1: from both keys of as many base OTs as the code is long.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are more or fewer.
    pub fn new(
        session: Session,
        extension: Extension,
        base: SenderKeys,
        seed: Seed,
    ) -> Result<Self, Usage> {
        expect_count("base OTs", extension.parameters().length, base.pairs().len())?;
        // The leaf of index 0 belongs to branch 1: the row is the stream of branch 0, and the sum of
        // both goes with the bits of Δ.
        let mut leaves = Keys::new(Vec::with_capacity(2 * base.pairs().len()));
        for (row, [zero, one]) in base.pairs().iter().enumerate() {
            leaves.push(*stream(&session, row, 1, one));
            leaves.push(*stream(&session, row, 0, zero));
        }
        let nonces = nonces(&session);
        let code = extension.family.of_session(&session);
        let (rows, words, runs) = (Pool::default(), Pool::default(), Runs::default());
        Ok(Self { extension, session, seed, code, leaves, batch: 0, nonces, rows, words, runs })
    }

    /// Steps 2 and 3: begins a batch of n words; `corrections` becomes its message, whatever was in
    /// it.
    ///
    /// Other batches may begin before this one is answered.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`], [`Usage::TooManyBatches`]; [`Usage::CountMismatch`] if there are not
    /// n words.
    pub fn extend(
        &mut self,
        n: usize,
        words: &[u8],
        corrections: &mut Vec<u8>,
    ) -> Result<Unanswered, Usage> {
        self.extension.check_batch(self.batch, n)?;
        self.extension.check_words(n, words)?;
        let (backend, columns) = (self.session.backend(), self.extension.columns(n));
        let len = columns / 8;
        let (number, nonce) = (self.batch, self.nonces.of_batch(self.batch));
        self.batch += 1;

        let turned = self.turn(number, n, words, columns);
        let Parameters { length, .. } = self.extension.parameters();
        let mut rows = self.rows.take(length.next_multiple_of(GROUP), columns);
        let stride = rows.stride();
        // Bits that make codewords whole bytes.
        rows.bytes_mut()[length * stride..].chunks_mut(stride).take(7).for_each(|row| row.fill(0));
        corrections.resize(self.extension.corrections_len(n), 0);

        let (code, leaves) = (&*self.code, &self.leaves);
        let of_words = (turned.bytes(), turned.stride());
        let parts = rows.bytes_mut().chunks_mut(GROUP * stride);
        let parts = parts.zip(corrections.chunks_mut(GROUP * len)).zip(leaves.chunks(2 * GROUP));
        for_each(self.session.executor(), parts.enumerate(), |(group, ((rows, sums), leaves))| {
            let parts = rows.chunks_mut(stride).zip(sums.chunks_mut(len));
            for ((row, sum), leaves) in parts.zip(leaves.chunks(2)) {
                vole::expand(backend, leaves, &nonce, sum, row, stride);
            }
            let bits = group * GROUP..length.min((group + 1) * GROUP);
            code.add(backend, bits, of_words, (sums, len), len);
        });
        let words = if self.extension.checked() {
            Some(turned)
        } else {
            self.words.put(turned);
            None
        };
        Ok(Unanswered { batch: Batch { session: *self.session.id(), number, n, rows }, words })
    }

    /// The words by columns; those of the last columns, if there is a check, are random.
    fn turn(&mut self, number: u64, n: usize, words: &[u8], columns: usize) -> Matrix {
        let mut turned = self.words.take(self.code.turned(), columns);
        let (stride, len) = (turned.stride(), columns / 8);
        for row in turned.bytes_mut().chunks_mut(stride) {
            row[n / 128 * 16..len].fill(0);
        }
        self.code.turn(self.session.backend(), words, turned.bytes_mut(), stride);
        if self.extension.checked() {
            const MASK: usize = MASK_COLUMNS / 8;
            let mut masks = Zeroizing::new(alloc::vec![0; MASK * self.code.turned()]);
            let oracle = self.session.oracle("foxtrot v1 one-of-n words");
            oracle.query(number, 0).field(self.seed.as_bytes()).fill(&mut masks);
            let rows = turned.bytes_mut().chunks_mut(stride);
            for (row, mask) in rows.zip(masks.chunks(MASK)) {
                row[len - MASK..len].copy_from_slice(mask);
            }
        }
        turned
    }

    /// Steps 5 and 7: proves to the sender that all columns of the corrections are bits of codewords, and writes the key of
    /// every word; where there is no check, challenge and proof are empty.
    ///
    /// # Errors
    /// [`Decode`](crate::Decode) if the challenge has another length; [`Usage::CountMismatch`] if there are not as many places
    /// as OTs; [`Usage::ForeignBatch`]. After an error the batch is lost.
    pub fn finish(
        &mut self,
        batch: Unanswered,
        challenge: &[u8],
        keys: &mut [Block],
    ) -> Result<Vec<u8>, Error> {
        expect_count("places for keys", batch.batch.n, keys.len())?;
        let (batch, challenge, proof) = self.answer(batch, challenge)?;
        let oracle = oracle(&self.session, batch.number, challenge.as_ref());
        self.extension.output(&self.session, &batch.rows).keys(&oracle, keys);
        self.rows.put(batch.rows);
        Ok(proof)
    }

    /// Answers as [`finish`](Self::finish) does, and writes the rows t = q ⊕ C(w)·Δ themselves, one after another.
    ///
    /// They are not hashed: one row, with that of the sender, gives C(w) ∧ Δ to a party that has both.
    /// Whatever leaves must first be hashed under session, position and the whole row.
    ///
    /// # Errors
    /// Errors of [`finish`](Self::finish); the places are bytes of rows.
    pub fn finish_rows(
        &mut self,
        batch: Unanswered,
        challenge: &[u8],
        rows: &mut [u8],
    ) -> Result<Vec<u8>, Error> {
        let row_len = self.extension.parameters().row_len();
        expect_count("bytes for rows", batch.batch.n * row_len, rows.len())?;
        let (batch, _, proof) = self.answer(batch, challenge)?;
        self.extension.output(&self.session, &batch.rows).rows(rows);
        self.rows.put(batch.rows);
        Ok(proof)
    }

    /// Step 5.
    fn answer(
        &mut self,
        unanswered: Unanswered,
        challenge: &[u8],
    ) -> Result<(Batch, Option<Challenge>, Vec<u8>), Error> {
        let Unanswered { batch, words } = unanswered;
        let ours = (&self.session, self.extension.checked());
        check_owner(ours, (&batch.session, words.is_some()))?;
        expect_len("Challenge", challenge, self.extension.challenge_len())?;
        let Some(words) = words else { return Ok((batch, None, Vec::new())) };
        let challenge: Challenge = core::array::from_fn(|k| challenge[k]);
        let backend = self.session.backend();
        let columns = self.extension.columns(batch.n);
        let coefficients = coefficients(&self.session, batch.number, batch.n, &challenge, columns);
        let Parameters { length, word_bits } = self.extension.parameters();
        let hash =
            |matrix, n| hash_rows(backend, self.session.executor(), matrix, n, &coefficients);
        let hashes = [hash(&words, word_bits), hash(&batch.rows, length)];
        let proof = hashes.iter().flat_map(|hashes| hashes.iter());
        let proof = proof.flat_map(|hash| hash.to_le_bytes()).collect();
        self.words.put(words);
        Ok((batch, Some(challenge), proof))
    }
}

foxtrot_kernel::redacted! {
    Receiver, receiver => "{}, {} batches", receiver.extension.name, receiver.batch;
    Unanswered, unanswered => "batch {}, <redacted>", unanswered.batch.number;
}
