//! The side with the choices; in the base OTs it was the sender.

use alloc::{vec, vec::Vec};
use core::marker::PhantomData;

use foxtrot_kernel::{bits::xor, vole};
use zeroize::Zeroizing;

use super::{
    Challenge, Extension, Malicious, PROOF_LEN, ROWS, Security, SemiHonest, Shape,
    check::{Hashes, coefficients, hash_choices, hash_rows},
    check_base, check_session,
    matrix::{Matrix, Pool},
    output::{Coins, Kind, Output, check_places, flips},
    streams::{Keys, Nonces},
    trees::{grow, nonces, trees},
};
use crate::{
    Bits, Seed, Session, Sid, Usage,
    base::{Block, Choice, SenderKeys},
    tasks::{Executor, for_each, map, only},
};

/// The receiver of an extension, which makes batch after batch from one set of base OTs.
pub struct Receiver<S> {
    extension: Extension<S>,
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

/// A batch that waits for the sender's [`Challenge`].
#[must_use = "the batch has no output yet"]
pub struct Unanswered {
    batch: Batch,
    coin: Zeroizing<[u8; 32]>,
}

/// A batch whose output can be had, once.
#[must_use = "it holds the output"]
pub struct Received<S> {
    session: Sid,
    number: u64,
    coins: Option<Coins>,
    choices: Bits,
    matrix: Matrix,
    security: PhantomData<S>,
}

/// With its proof.
type Answered = (Received<Malicious>, Vec<u8>);

impl<S: Security> Receiver<S> {
    /// Steps 1 to 3: from both keys of 128 base OTs; with what has to be sent first, if that is not
    /// empty.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not 128.
    pub fn new(
        session: Session,
        extension: Extension<S>,
        base: SenderKeys,
        seed: Seed,
    ) -> Result<(Self, Vec<u8>), Usage> {
        check_base(base.pairs().len())?;
        let (leaves, setup) = grow(&session, extension.k, Extension::<S>::CHECKED, &base);
        let (batch, nonces, pool) = (0, nonces(&session), Pool::default());
        let receiver = Self { extension, session, seed, leaves, batch, nonces, pool };
        Ok((receiver, setup))
    }

    /// The next batches, to be filled by their choices.
    fn begin<'m>(
        &mut self,
        batches: Vec<(Choice, &'m mut Vec<u8>)>,
    ) -> Result<Vec<Begun<'m>>, Usage> {
        for (number, (choice, _)) in (self.batch..).zip(&batches) {
            Extension::<S>::check_batch(number, Shape::of(choice).n)?;
        }
        let begin = |(choice, message): (Choice, &'m mut Vec<u8>)| {
            let columns = Extension::<S>::columns(Shape::of(&choice).n);
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
        let (n, first) = (shape.n, self.extension.first_tree(shape));

        let mut choices = Zeroizing::new(vec![0; columns / 8]);
        if first == 0 {
            let oracle = self.session.oracle("foxtrot v1 extension choices");
            oracle.query(number, 0).field(self.seed.as_bytes()).fill(&mut choices);
        }
        if let Choice::Given(given) = choice {
            let (whole, rest) = given.as_bytes().split_at(n / 8);
            choices[..n / 8].copy_from_slice(whole);
            if let [rest] = rest {
                let kept = u8::MAX << (n % 8);
                choices[n / 8] = choices[n / 8] & kept | rest;
            }
        }

        let (k, nonce) = (self.extension.k, self.nonces.of_batch(number));
        let stride = matrix.stride();
        message.resize(self.extension.corrections_len(shape), 0);
        let corrections = &mut message[Extension::<S>::commitment_len()..];
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
    pub fn random(&mut self, received: Received<S>, keys: &mut [Block]) -> Result<Bits, Usage> {
        Ok(only(self.output_all(Kind::Random, vec![(received, keys)])?))
    }

    /// Step 10: correlated OTs, t = q ⊕ bΔ; returns the choices b.
    ///
    /// # Errors
    /// As for [`Receiver::random`].
    pub fn correlated(&mut self, received: Received<S>, rows: &mut [Block]) -> Result<Bits, Usage> {
        Ok(only(self.output_all(Kind::Correlated, vec![(received, rows)])?))
    }

    /// Step 10 of several batches at once, one per thread; returns their choices.
    ///
    /// # Errors
    /// Those of [`Receiver::random`], for any of them: then there is no output, and all are lost.
    pub fn output_all(
        &mut self,
        kind: Kind,
        batches: Vec<(Received<S>, &mut [Block])>,
    ) -> Result<Vec<Bits>, Usage> {
        for (received, places) in &batches {
            check_session(&self.session, &received.session)?;
            check_places(received.choices.len(), places.len())?;
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
}

impl Receiver<SemiHonest> {
    /// Steps 5 and 6: begins a batch; `corrections` becomes its message, whatever was in it.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`].
    pub fn extend(
        &mut self,
        choice: Choice,
        corrections: &mut Vec<u8>,
    ) -> Result<Received<SemiHonest>, Usage> {
        Ok(only(self.extend_all(vec![(choice, corrections)])?))
    }

    /// The same for the next batches, in their order, at once: one per thread.
    ///
    /// # Errors
    /// Those of [`Receiver::extend`], for any of them: then none has begun.
    pub fn extend_all(
        &mut self,
        batches: Vec<(Choice, &mut Vec<u8>)>,
    ) -> Result<Vec<Received<SemiHonest>>, Usage> {
        let begun = self.begin(batches)?;
        Ok(map(self.session.executor(), begun, |executor, begun| {
            let (batch, _) = self.expand(executor, begun);
            batch.end(None, None)
        }))
    }
}

impl Receiver<Malicious> {
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

    /// The same for the next batches, in their order, at once: one per thread.
    ///
    /// # Errors
    /// Those of [`Receiver::extend`], for any of them: then none has begun.
    pub fn extend_all(
        &mut self,
        batches: Vec<(Choice, &mut Vec<u8>)>,
    ) -> Result<Vec<Unanswered>, Usage> {
        let begun = self.begin(batches)?;
        Ok(map(self.session.executor(), begun, |executor, begun| {
            let (batch, corrections) = self.expand(executor, begun);
            let coin = self.session.oracle("foxtrot v1 extension receiver coin");
            let coin = coin.query(batch.number, 0).field(self.seed.as_bytes()).finish();
            let coin = Zeroizing::new(coin);
            corrections[..32].copy_from_slice(&commit(&self.session, batch.number, &coin));
            Unanswered { batch, coin }
        }))
    }

    /// Step 8: the proof that the corrections were all for the same choices.
    ///
    /// A batch answers one challenge: two answers would tell a sum of choices.
    ///
    /// ```compile_fail,E0382
    /// # use foxtrot_ot::extension::{Malicious, Receiver, Unanswered};
    /// # fn twice(receiver: Receiver<Malicious>, batch: Unanswered) {
    /// let _ = receiver.answer(batch, &[0; 32]);
    /// let _ = receiver.answer(batch, &[1; 32]);
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Usage::ForeignBatch`].
    pub fn answer(
        &self,
        unanswered: Unanswered,
        challenge: &Challenge,
    ) -> Result<(Received<Malicious>, Vec<u8>), Usage> {
        Ok(only(self.answer_all(vec![(unanswered, *challenge)])?))
    }

    /// The same for several batches at once, one per thread.
    ///
    /// # Errors
    /// [`Usage::ForeignBatch`], for any of them: all are then lost.
    pub fn answer_all(
        &self,
        batches: Vec<(Unanswered, Challenge)>,
    ) -> Result<Vec<Answered>, Usage> {
        for (unanswered, _) in &batches {
            check_session(&self.session, &unanswered.batch.session)?;
        }
        Ok(map(self.session.executor(), batches, |executor, (unanswered, challenge)| {
            self.prove(executor, unanswered, challenge)
        }))
    }

    fn prove(
        &self,
        executor: &dyn Executor,
        unanswered: Unanswered,
        challenge: Challenge,
    ) -> (Received<Malicious>, Vec<u8>) {
        let Unanswered { batch, coin } = unanswered;
        let (backend, session) = (self.session.backend(), &self.session);
        let columns = 8 * batch.choices.len();
        let coefficients = coefficients(session, batch.number, batch.shape, &challenge, columns);
        let hashes = Hashes::new(
            hash_choices(backend, &batch.choices, &coefficients),
            hash_rows(backend, executor, &batch.matrix, &coefficients),
        );
        let mut proof = Vec::with_capacity(PROOF_LEN);
        proof.extend_from_slice(coin.as_slice());
        hashes.encode(&mut proof);
        let flips = match batch.shape.given {
            true => None,
            false => Some(flips(session, batch.number, &challenge, batch.shape.n)),
        };
        let coins = Coins { receiver: *coin, sender: challenge };
        (batch.end(flips.as_deref(), Some(coins)), proof)
    }
}

impl Batch {
    fn end<S>(self, flips: Option<&[u8]>, coins: Option<Coins>) -> Received<S> {
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
            security: PhantomData,
        }
    }
}

/// The commitment to the receiver's coin.
pub(super) fn commit(session: &Session, batch: u64, coin: &[u8; 32]) -> [u8; 32] {
    session.oracle("foxtrot v1 extension commitment").query(batch, 0).field(coin).finish()
}

foxtrot_kernel::redacted! {
    [S] Receiver<S>, receiver => "{}, {} batches", receiver.extension.name, receiver.batch;
    Unanswered, unanswered => "batch {}, <redacted>", unanswered.batch.number;
    [S] Received<S>, received => "batch {}, <redacted>", received.number;
}
