//! The side with the choices; in the base OTs it was the sender.

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{bits::xor, gf::gf64, vole};
use zeroize::Zeroizing;

use super::{
    Challenge, Extension, PROOF_LEN, ROWS, Shape,
    check::hash_rows,
    check_owner, coefficients,
    matrix::{Matrix, Pool},
    output::{Coins, OtKind, Output, flips},
    streams::{Keys, Nonces},
    trees::{grow, nonces, trees},
};
use crate::{
    Bits, Error, Seed, Session, Sid, Usage,
    base::{Block, Choice, SenderKeys},
    engine::batches::Runs,
    expect_count, expect_len,
    tasks::{Executor, for_each, map},
};

/// The receiver of an extension, which makes batch after batch from one set of base OTs.
pub struct Receiver {
    pub(crate) extension: Extension,
    pub(super) session: Session,
    seed: Seed,
    leaves: Keys,
    /// Batches so far.
    batch: u64,
    nonces: Nonces,
    pool: Pool,
    pub(super) runs: Runs,
}

/// A batch that has its number, and where its message goes.
struct Begun<'m> {
    number: u64,
    choice: Choice,
    columns: usize,
    matrix: Matrix,
    message: &'m mut Vec<u8>,
}

/// A batch that waits for the sender's [`Challenge`], which is empty where there is no check. It answers one challenge: two
/// answers would tell a sum of choices.
///
/// ```
/// # use foxtrot_ot::extension::{OtKind, Receiver, Unanswered};
/// # fn once(mut receiver: Receiver, batch: Unanswered) {
/// let _ = receiver.finish(OtKind::Random, vec![(batch, &[0; 32], &mut [])]);
/// # }
/// ```
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::extension::{OtKind, Receiver, Unanswered};
/// # fn twice(mut receiver: Receiver, batch: Unanswered) {
/// let _ = receiver.finish(OtKind::Random, vec![(batch, &[0; 32], &mut [])]);
/// let _ = receiver.finish(OtKind::Random, vec![(batch, &[1; 32], &mut [])]);
/// # }
/// ```
#[must_use = "the batch has no output yet"]
pub struct Unanswered {
    session: Sid,
    number: u64,
    shape: Shape,
    /// The choice of every column.
    choices: Zeroizing<Vec<u8>>,
    matrix: Matrix,
    /// Coin for the proof.
    coin: Option<Zeroizing<[u8; 32]>>,
}

impl Receiver {
    /// Steps 1 to 3: from both keys of 128 base OTs; with what has to be sent first, if that is not
    /// empty.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not 128.
    pub fn new(
        session: Session,
        extension: Extension,
        base: SenderKeys,
        seed: Seed,
    ) -> Result<(Self, Vec<u8>), Usage> {
        expect_count("base OTs", ROWS, base.pairs().len())?;
        let (leaves, setup) = grow(&session, extension.k, extension.checked(), &base);
        let (batch, nonces) = (0, nonces(&session));
        let (pool, runs) = (Pool::default(), Runs::default());
        let receiver = Self { extension, session, seed, leaves, batch, nonces, pool, runs };
        Ok((receiver, setup))
    }

    /// The next batches, to be filled by their choices.
    fn begin<'m>(
        &mut self,
        batches: Vec<(Choice, &'m mut Vec<u8>)>,
    ) -> Result<Vec<Begun<'m>>, Usage> {
        for (number, (choice, _)) in (self.batch..).zip(&batches) {
            self.extension.check_batch(number, Shape::of(choice).n)?;
        }
        let begin = |(choice, message): (Choice, &'m mut Vec<u8>)| {
            let columns = self.extension.columns(Shape::of(&choice).n);
            let (number, matrix) = (self.batch, self.pool.take(ROWS, columns));
            self.batch += 1;
            Begun { number, choice, columns, matrix, message }
        };
        Ok(batches.into_iter().map(begin).collect())
    }

    /// Steps 5 and 6: the matrix, and the message.
    fn expand(&self, executor: &dyn Executor, begun: Begun<'_>) -> Unanswered {
        let Begun { number, choice, columns, mut matrix, message } = begun;
        let (backend, shape) = (self.session.backend(), Shape::of(&choice));
        let first = self.extension.first_tree(shape);

        let mut choices = Zeroizing::new(vec![0; columns / 8]);
        if first == 0 {
            let oracle = self.session.oracle("foxtrot v1 extension choices");
            oracle.query(number, 0).field(self.seed.as_bytes()).fill(&mut choices);
        }
        if let Choice::Given(given) = choice {
            given.copy_to(&mut choices);
        }

        let (k, nonce) = (self.extension.k, self.nonces.of_batch(number));
        let stride = matrix.stride();
        message.resize(self.extension.corrections_len(shape), 0);
        let corrections = &mut message[self.extension.commitment_len()..];
        let (mut rows, mut leaves) = (matrix.bytes_mut(), self.leaves.as_slice());
        if first == 1 {
            // The choices are the sum of the first tree.
            let (of_first, others) = leaves.split_at(1 << k);
            let (rows_of_first, other_rows) = rows.split_at_mut(k * stride);
            vole::expand(backend, of_first, &nonce, &mut choices, rows_of_first, stride);
            (rows, leaves) = (other_rows, others);
        }
        let parts = trees(k)
            .skip(first)
            .zip(leaves.chunks(1 << k))
            .zip(rows.chunks_mut(k * stride))
            .zip(corrections.chunks_mut(columns / 8));
        for_each(executor, parts, |(((tree, leaves), rows), correction)| {
            let leaves = &leaves[..1 << tree.rows.len()];
            vole::expand(backend, leaves, &nonce, correction, rows, stride);
            xor(backend, correction, &choices);
        });
        let coin = self.extension.checked().then(|| {
            let coin = self.session.oracle("foxtrot v1 extension receiver coin");
            let coin = coin.query(number, 0).field(self.seed.as_bytes()).finish();
            message[..32].copy_from_slice(&commit(&self.session, number, &coin));
            Zeroizing::new(coin)
        });
        Unanswered { session: *self.session.id(), number, shape, choices, matrix, coin }
    }

    /// Steps 5 and 6: begins the next batches in their order; each message becomes the batch's corrections, whatever was in it.
    /// Each batch is worked on by one thread.
    ///
    /// Other batches may begin before these are finished.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`], [`Usage::TooManyBatches`]: then none has begun.
    pub fn extend(
        &mut self,
        batches: Vec<(Choice, &mut Vec<u8>)>,
    ) -> Result<Vec<Unanswered>, Usage> {
        let begun = self.begin(batches)?;
        Ok(map(self.session.executor(), begun, |executor, begun| self.expand(executor, begun)))
    }

    /// Steps 8 and 10: proves to the sender that the corrections of each batch were all for the same choices, and writes the
    /// output to where the caller wants it: keys of random OTs, or rows t = q ⊕ bΔ. Returns the choices b and the proofs;
    /// where there is no check, challenges and proofs are empty. Each batch is worked on by one thread.
    ///
    /// # Errors
    /// [`Decode`](crate::Decode) if a challenge has another length; [`Usage::CountMismatch`] if there are not as many places as
    /// OTs; [`Usage::ForeignBatch`]. After an error there is no output of any batch, and all are lost.
    pub fn finish(
        &mut self,
        kind: OtKind,
        batches: Vec<(Unanswered, &[u8], &mut [Block])>,
    ) -> Result<Vec<(Bits, Vec<u8>)>, Error> {
        for (batch, challenge, places) in &batches {
            let ours = (&self.session, self.extension.checked());
            check_owner(ours, (&batch.session, batch.coin.is_some()))?;
            expect_len("Challenge", challenge, self.extension.challenge_len())?;
            expect_count("places for keys", batch.shape.n, places.len())?;
        }
        let session = &self.session;
        let finished = map(session.executor(), batches, |executor, (batch, challenge, places)| {
            let n = batch.shape.n;
            let mut choices = batch.choices[..n.div_ceil(8)].to_vec();
            let (mut coins, mut proof) = (None, Vec::new());
            if let Some(coin) = &batch.coin {
                let challenge = core::array::from_fn(|k| challenge[k]);
                proof = self.prove(executor, &batch, coin, &challenge);
                if !batch.shape.given {
                    let flips = flips(session, batch.number, &challenge, n);
                    choices.iter_mut().zip(flips).for_each(|(choice, flip)| *choice ^= flip);
                }
                coins = Some(Coins { receiver: **coin, sender: challenge });
            }
            let Unanswered { number: batch, matrix, .. } = batch;
            let output = Output { session, executor, batch, coins, matrix: &matrix };
            match kind {
                OtKind::Random => output.keys(places),
                OtKind::Correlated => output.correlated(places),
            }
            ((Bits::from_random(choices, n), proof), matrix)
        });
        let recycle = |(output, matrix)| {
            self.pool.put(matrix);
            output
        };
        Ok(finished.into_iter().map(recycle).collect())
    }

    /// Step 8.
    fn prove(
        &self,
        executor: &dyn Executor,
        batch: &Unanswered,
        coin: &[u8; 32],
        challenge: &Challenge,
    ) -> Vec<u8> {
        let (backend, session) = (self.session.backend(), &self.session);
        let len = batch.choices.len();
        let coefficients = coefficients(session, batch.number, batch.shape, challenge, 8 * len);
        let mut of_choices = [0];
        gf64::inner_products(backend, &batch.choices, len, &coefficients, &mut of_choices);
        let of_rows = hash_rows(backend, executor, &batch.matrix, ROWS, &coefficients);
        let mut proof = Vec::with_capacity(PROOF_LEN);
        proof.extend_from_slice(coin);
        proof.extend(of_choices.iter().chain(of_rows.iter()).flat_map(|hash| hash.to_le_bytes()));
        proof
    }
}

/// The commitment to the receiver's coin.
pub(super) fn commit(session: &Session, batch: u64, coin: &[u8; 32]) -> [u8; 32] {
    session.oracle("foxtrot v1 extension commitment").query(batch, 0).field(coin).finish()
}

foxtrot_kernel::redacted! {
    Receiver, receiver => "{}, {} batches", receiver.extension.name, receiver.batch;
    Unanswered, unanswered => "batch {}, <redacted>", unanswered.number;
}
