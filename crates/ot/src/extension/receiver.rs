//! The side with the choices; in the base OTs it was the sender.

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{bits::xor, gf::gf64, vole};
use zeroize::Zeroizing;

use super::{
    Challenge, Extension, PROOF_LEN, ROWS, Shape,
    check::hash_rows,
    check_owner, coefficients,
    matrix::{Matrix, Pool},
    output::{Coins, Kind, Output, flips},
    streams::{Keys, Nonces},
    trees::{grow, nonces, trees},
};
use crate::{
    Bits, Error, Seed, Session, Sid, Usage,
    base::{Block, Choice, SenderKeys},
    expect_count, expect_len,
    tasks::{Executor, InPlace, for_each, map, only},
};

/// The receiver of an extension, which makes batch after batch from one set of base OTs.
pub struct Receiver {
    extension: Extension,
    session: Session,
    seed: Seed,
    leaves: Keys,
    /// Batches so far.
    batch: u64,
    nonces: Nonces,
    pool: Pool,
}

/// A batch whose corrections are on their way.
struct Batch {
    session: Sid,
    number: u64,
    shape: Shape,
    /// The choice of every column.
    choices: Zeroizing<Vec<u8>>,
    matrix: Matrix,
}

/// A batch that has its number, and where its message goes.
struct Begun<'m> {
    number: u64,
    choice: Choice,
    columns: usize,
    matrix: Matrix,
    message: &'m mut Vec<u8>,
}

/// A batch that waits for the sender's [`Challenge`], which is empty where there is no check.
#[must_use = "the batch has no output yet"]
pub struct Unanswered {
    batch: Batch,
    /// Coin for the proof.
    coin: Option<Zeroizing<[u8; 32]>>,
}

/// A batch whose output can be had, once.
#[must_use = "it holds the output"]
pub struct Received {
    session: Sid,
    number: u64,
    coins: Option<Coins>,
    choices: Bits,
    matrix: Matrix,
}

/// A batch with its proof.
type Answered = (Received, Vec<u8>);

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
        let (batch, nonces, pool) = (0, nonces(&session), Pool::default());
        let receiver = Self { extension, session, seed, leaves, batch, nonces, pool };
        Ok((receiver, setup))
    }

    /// The extension.
    #[must_use]
    pub fn extension(&self) -> Extension {
        self.extension
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    fn check_owner(&self, of_batch: &Sid, checked: bool) -> Result<(), Usage> {
        check_owner((&self.session, self.extension.checked()), (of_batch, checked))
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

    /// Steps 5 and 6: the matrix, and the corrections in `message`, behind the commitment's place.
    fn expand<'m>(&self, executor: &dyn Executor, begun: Begun<'m>) -> (Batch, &'m mut Vec<u8>) {
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
        (Batch { session: *self.session.id(), number, shape, choices, matrix }, message)
    }

    /// Step 10: random OTs, the keys to where the caller wants them; returns the choices.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not as many places as OTs; the batch is then lost.
    /// [`Usage::ForeignBatch`].
    pub fn random(&mut self, received: Received, keys: &mut [Block]) -> Result<Bits, Usage> {
        Ok(only(self.output_all(Kind::Random, vec![(received, keys)])?))
    }

    /// Step 10: correlated OTs, t = q ⊕ bΔ; returns the choices b.
    ///
    /// # Errors
    /// As for [`Receiver::random`].
    pub fn correlated(&mut self, received: Received, rows: &mut [Block]) -> Result<Bits, Usage> {
        Ok(only(self.output_all(Kind::Correlated, vec![(received, rows)])?))
    }

    /// Step 10 of several batches at once, one per thread; returns their choices.
    ///
    /// # Errors
    /// Errors of [`Receiver::random`], for any of them: then there is no output, and all are lost.
    pub fn output_all(
        &mut self,
        kind: Kind,
        batches: Vec<(Received, &mut [Block])>,
    ) -> Result<Vec<Bits>, Usage> {
        for (received, places) in &batches {
            self.check_owner(&received.session, received.coins.is_some())?;
            expect_count("places for keys", received.choices.len(), places.len())?;
        }
        let session = &self.session;
        let read = map(self.session.executor(), batches, |executor, (received, places)| {
            let Received { number: batch, coins, choices, matrix, .. } = received;
            let output = Output { session, executor, batch, coins, matrix: &matrix };
            match kind {
                Kind::Random => output.keys(places),
                Kind::Correlated => output.correlated(places),
            }
            (choices, matrix)
        });
        let recycle = |(choices, matrix)| {
            self.pool.put(matrix);
            choices
        };
        Ok(read.into_iter().map(recycle).collect())
    }

    /// Steps 5 and 6: begins a batch; `corrections` becomes its message, whatever was in it.
    ///
    /// Other batches may begin before this one is answered.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`].
    pub fn extend(
        &mut self,
        choice: Choice,
        corrections: &mut Vec<u8>,
    ) -> Result<Unanswered, Usage> {
        Ok(only(self.extend_all(vec![(choice, corrections)])?))
    }

    /// Extends the next batches in their order, at once: one per thread.
    ///
    /// # Errors
    /// Errors of [`Receiver::extend`], for any of them: then none has begun.
    pub fn extend_all(
        &mut self,
        batches: Vec<(Choice, &mut Vec<u8>)>,
    ) -> Result<Vec<Unanswered>, Usage> {
        let begun = self.begin(batches)?;
        Ok(map(self.session.executor(), begun, |executor, begun| {
            let (batch, corrections) = self.expand(executor, begun);
            let coin = self.extension.checked().then(|| {
                let coin = self.session.oracle("foxtrot v1 extension receiver coin");
                let coin = coin.query(batch.number, 0).field(self.seed.as_bytes()).finish();
                let coin = Zeroizing::new(coin);
                corrections[..32].copy_from_slice(&commit(&self.session, batch.number, &coin));
                coin
            });
            Unanswered { batch, coin }
        }))
    }

    /// Step 8: the proof that the corrections were all for the same choices; where there is no check, challenge and
    /// proof are empty.
    ///
    /// A batch answers one challenge: two answers would tell a sum of choices.
    ///
    /// ```compile_fail,E0382
    /// # use foxtrot_ot::extension::{Receiver, Unanswered};
    /// # fn twice(receiver: Receiver, batch: Unanswered) {
    /// let _ = receiver.answer(batch, &[0; 32]);
    /// let _ = receiver.answer(batch, &[1; 32]);
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Decode`](crate::Decode) if the challenge has another length; [`Usage::ForeignBatch`].
    pub fn answer(
        &self,
        unanswered: Unanswered,
        challenge: &[u8],
    ) -> Result<(Received, Vec<u8>), Error> {
        Ok(only(self.answer_all(vec![(unanswered, challenge)])?))
    }

    /// Answers several batches at once, one per thread.
    ///
    /// # Errors
    /// Errors of [`Receiver::answer`], for any of them: all are then lost.
    pub fn answer_all(&self, batches: Vec<(Unanswered, &[u8])>) -> Result<Vec<Answered>, Error> {
        for (unanswered, challenge) in &batches {
            self.check_owner(&unanswered.batch.session, unanswered.coin.is_some())?;
            expect_len("Challenge", challenge, self.extension.challenge_len())?;
        }
        // Without check there is no work for threads.
        let executor = if self.extension.checked() { self.session.executor() } else { &InPlace };
        Ok(map(executor, batches, |executor, (Unanswered { batch, coin }, challenge)| match coin {
            Some(coin) => {
                let challenge = core::array::from_fn(|k| challenge[k]);
                self.prove(executor, batch, &coin, challenge)
            }
            None => (batch.end(None, None), Vec::new()),
        }))
    }

    fn prove(
        &self,
        executor: &dyn Executor,
        batch: Batch,
        coin: &[u8; 32],
        challenge: Challenge,
    ) -> Answered {
        let (backend, session) = (self.session.backend(), &self.session);
        let len = batch.choices.len();
        let coefficients = coefficients(session, batch.number, batch.shape, &challenge, 8 * len);
        let mut of_choices = [0];
        gf64::inner_products(backend, &batch.choices, len, &coefficients, &mut of_choices);
        let of_rows = hash_rows(backend, executor, &batch.matrix, ROWS, &coefficients);
        let mut proof = Vec::with_capacity(PROOF_LEN);
        proof.extend_from_slice(coin);
        proof.extend(of_choices.iter().chain(of_rows.iter()).flat_map(|hash| hash.to_le_bytes()));
        let flips = match batch.shape.given {
            true => None,
            false => Some(flips(session, batch.number, &challenge, batch.shape.n)),
        };
        let coins = Coins { receiver: *coin, sender: challenge };
        (batch.end(flips.as_deref(), Some(coins)), proof)
    }

    /// Answers the challenge to a batch and writes its output; returns the choices, and the proof.
    ///
    /// # Errors
    /// Errors of [`Receiver::answer`] and [`Receiver::random`].
    pub fn finish(
        &mut self,
        batch: Unanswered,
        challenge: &[u8],
        kind: Kind,
        keys: &mut [Block],
    ) -> Result<(Bits, Vec<u8>), Error> {
        Ok(only(self.finish_all(kind, vec![(batch, challenge, keys)])?))
    }

    /// Finishes several batches at once, one per thread.
    ///
    /// # Errors
    /// Errors of [`Receiver::finish`], for any of them: there is no output then.
    pub fn finish_all(
        &mut self,
        kind: Kind,
        batches: Vec<(Unanswered, &[u8], &mut [Block])>,
    ) -> Result<Vec<(Bits, Vec<u8>)>, Error> {
        let (mut unanswered, mut places) = (Vec::new(), Vec::new());
        for (batch, challenge, keys) in batches {
            unanswered.push((batch, challenge));
            places.push(keys);
        }
        let (received, proofs): (Vec<_>, Vec<_>) = self.answer_all(unanswered)?.into_iter().unzip();
        let received = received.into_iter().zip(places).collect();
        Ok(self.output_all(kind, received)?.into_iter().zip(proofs).collect())
    }
}

impl Received {
    /// The number of OTs.
    #[must_use]
    pub fn n(&self) -> usize {
        self.choices.len()
    }
}

impl Batch {
    fn end(self, flips: Option<&[u8]>, coins: Option<Coins>) -> Received {
        let mut choices = self.choices[..self.shape.n.div_ceil(8)].to_vec();
        if let Some(flips) = flips {
            choices.iter_mut().zip(flips).for_each(|(choice, flip)| *choice ^= flip);
        }
        Received {
            session: self.session,
            number: self.number,
            coins,
            choices: Bits::from_random(choices, self.shape.n),
            matrix: self.matrix,
        }
    }
}

/// The commitment to the receiver's coin.
pub(super) fn commit(session: &Session, batch: u64, coin: &[u8; 32]) -> [u8; 32] {
    session.oracle("foxtrot v1 extension commitment").query(batch, 0).field(coin).finish()
}

foxtrot_kernel::redacted! {
    Receiver, receiver => "{}, {} batches", receiver.extension.name, receiver.batch;
    Unanswered, unanswered => "batch {}, <redacted>", unanswered.batch.number;
    Received, received => "batch {}, <redacted>", received.number;
}
