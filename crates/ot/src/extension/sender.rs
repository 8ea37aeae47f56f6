//! The side with Δ and both keys; in the base OTs it was the receiver.

#[cfg(test)]
mod tests;

use alloc::{vec, vec::Vec};
use core::iter;

use foxtrot_kernel::{aegis, bits::xor_masked, vole};
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{
    Challenge, Extension, ROWS, Shape,
    check::{fit, hash_rows, numbers},
    check_owner, coefficients,
    matrix::{Matrix, Pool},
    output::{Coins, Output, Places, flips},
    receiver::commit,
    streams::{Keys, Nonces},
    trees::{Tree, nonces, regrow, trees},
};
use crate::{
    Bits, Error, Misbehaved, Seed, Session, Sid, Usage,
    base::{Block, ReceiverKeys},
    choices::verdict,
    expect_count, expect_len,
    tasks::{Executor, InPlace, for_each, map, only},
};

/// The sender of an extension, which makes batch after batch from one set of base OTs.
pub struct Sender {
    extension: Extension,
    session: Session,
    seed: Seed,
    delta: Bits,
    leaves: Keys,
    /// Batches so far.
    batch: u64,
    nonces: Nonces,
    /// A check has failed: there is no output any more.
    ended: bool,
    pool: Pool,
}

/// A batch whose corrections have come.
struct Batch {
    session: Sid,
    number: u64,
    shape: Shape,
    matrix: Matrix,
}

/// A batch that waits for the receiver's proof, which is empty where there is no check; there is no way to its output
/// but [`Sender::verify`].
///
/// ```compile_fail,E0308
/// # use foxtrot_ot::{Usage, extension::{Sender, Unverified}};
/// # fn unchecked(sender: &mut Sender, batch: Unverified) -> Result<(), Usage> {
/// sender.random(batch, &mut [])
/// # }
/// ```
#[must_use = "the batch has no output yet"]
pub struct Unverified {
    batch: Batch,
    check: Option<Check>,
}

/// Values that a proof is checked against.
struct Check {
    commitment: [u8; 32],
    challenge: Challenge,
}

/// A batch whose output can be had, once.
///
/// ```
/// # use foxtrot_ot::{Usage, extension::{Sender, Sent}};
/// # fn once(sender: &mut Sender, batch: Sent) -> Result<(), Usage> {
/// sender.random(batch, &mut [])
/// # }
/// ```
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::{Usage, extension::{Sender, Sent}};
/// # fn twice(sender: &mut Sender, batch: Sent) -> Result<(), Usage> {
/// sender.random(batch, &mut [])?;
/// sender.correlated(batch, &mut [])
/// # }
/// ```
#[must_use = "it holds the output"]
pub struct Sent {
    batch: Batch,
    coins: Option<Coins>,
}

impl Sender {
    /// Steps 1 to 4: from the chosen keys of 128 base OTs, whose choices become Δ, and the
    /// receiver's `Setup`.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not 128; [`Decode`](crate::Decode) if `setup` has another length;
    /// [`Misbehaved::ConsistencyCheck`]: these base OTs must then not be used for anything.
    pub fn new(
        session: Session,
        extension: Extension,
        base: ReceiverKeys,
        setup: &[u8],
        seed: Seed,
    ) -> Result<Self, Error> {
        expect_count("base OTs", ROWS, base.keys().len())?;
        let leaves = regrow(&session, extension.k, extension.checked(), &base, setup)?;
        let delta = base.choices().slice(0..ROWS);
        let (batch, nonces, ended) = (0, nonces(&session), false);
        let pool = Pool::default();
        Ok(Self { extension, session, seed, delta, leaves, batch, nonces, ended, pool })
    }

    /// Δ, bit r of which is bit r mod 8 of byte ⌊r/8⌋: as secret as all keys together.
    ///
    /// # Errors
    /// [`Usage::SessionEnded`] after a failed check.
    pub fn delta(&self) -> Result<Zeroizing<Block>, Usage> {
        if self.ended { Err(Usage::SessionEnded) } else { Ok(self.packed_delta()) }
    }

    /// The extension.
    #[must_use]
    pub fn extension(&self) -> Extension {
        self.extension
    }

    pub(super) fn session(&self) -> &Session {
        &self.session
    }

    fn packed_delta(&self) -> Zeroizing<Block> {
        let mut delta = Zeroizing::new([0; 16]);
        delta.copy_from_slice(self.delta.as_bytes());
        delta
    }

    fn check_owner(&self, of_batch: &Sid, checked: bool) -> Result<(), Usage> {
        check_owner((&self.session, self.extension.checked()), (of_batch, checked))
    }

    /// Checks that the messages may come now, and have the lengths that their shapes give them.
    fn check_messages(&self, messages: &[(Shape, &[u8])]) -> Result<(), Error> {
        if self.ended {
            return Err(Usage::SessionEnded.into());
        }
        for (number, (shape, corrections)) in (self.batch..).zip(messages) {
            self.extension.check_batch(number, shape.n)?;
            let expected = self.extension.corrections_len(*shape);
            expect_len("Corrections", corrections, expected)?;
        }
        Ok(())
    }

    /// The next batches, with the messages, which have been checked, that they are to be filled
    /// from.
    fn begin<'m>(&mut self, messages: &[(Shape, &'m [u8])]) -> Vec<(Batch, &'m [u8])> {
        let begin = |(shape, message): &(Shape, &'m [u8])| {
            let matrix = self.pool.take(ROWS, self.extension.columns(shape.n));
            let (session, number) = (*self.session.id(), self.batch);
            self.batch += 1;
            (Batch { session, number, shape: *shape, matrix }, *message)
        };
        messages.iter().map(begin).collect()
    }

    /// Step 6: the matrix.
    fn fill(&self, executor: &dyn Executor, batch: &mut Batch, corrections: &[u8]) {
        let (k, delta, backend) = (self.extension.k, &self.delta, self.session.backend());
        let &mut Batch { number, shape, ref mut matrix, .. } = batch;
        let (stride, nonce) = (matrix.stride(), self.nonces.of_batch(number));
        let len = self.extension.columns(shape.n) / 8;
        // The first tree has no correction where its sum is the choices.
        let uncorrected = self.extension.first_tree(shape);
        let correction = |tree: &Tree| {
            tree.index.checked_sub(uncorrected).map(|at| &corrections[at * len..][..len])
        };
        // Trees of one leaf go by two, since keystreams do.
        let (leaves, together) = ((1 << k) - 1, if k == 1 { 2 } else { 1 });
        let parts = self.leaves.chunks(together * leaves);
        let parts = parts.zip(matrix.bytes_mut().chunks_mut(together * k * stride)).enumerate();
        for_each(executor, parts, |(part, (all, rows))| {
            if k == 1 {
                aegis::keystreams(backend, all, &nonce, rows, stride, len);
            }
            let trees = trees(k).skip(part * together).zip(all.chunks(leaves));
            for ((tree, leaves), rows) in trees.zip(rows.chunks_mut(k * stride)) {
                if k > 1 {
                    let leaves = &leaves[..(1 << tree.rows.len()) - 1];
                    vole::expand_punctured(backend, leaves, &nonce, rows, stride, len);
                }
                let Some(correction) = correction(&tree) else { continue };
                for (row, r) in rows.chunks_mut(stride).zip(tree.rows) {
                    xor_masked(backend, &mut row[..len], correction, mask(delta.get(r)));
                }
            }
        });
    }

    /// Step 10: random OTs, both keys of each to where the caller wants them.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not as many places as OTs; the batch is then lost.
    /// [`Usage::SessionEnded`] after a failed check; [`Usage::ForeignBatch`].
    pub fn random(&mut self, sent: Sent, keys: &mut [[Block; 2]]) -> Result<(), Usage> {
        self.output_all(vec![(sent, Places::Random(keys))])
    }

    /// Step 10: correlated OTs, q = t ⊕ bΔ.
    ///
    /// # Errors
    /// As for [`Sender::random`].
    pub fn correlated(&mut self, sent: Sent, rows: &mut [Block]) -> Result<(), Usage> {
        self.output_all(vec![(sent, Places::Correlated(rows))])
    }

    /// Step 10 of several batches at once, one per thread.
    ///
    /// # Errors
    /// Errors of [`Sender::random`], for any of them: then there is no output, and all are lost.
    pub fn output_all(&mut self, batches: Vec<(Sent, Places<'_>)>) -> Result<(), Usage> {
        if self.ended {
            return Err(Usage::SessionEnded);
        }
        for (sent, places) in &batches {
            self.check_owner(&sent.batch.session, sent.coins.is_some())?;
            expect_count("places for keys", sent.n(), places.len())?;
        }
        let (session, delta) = (&self.session, &*self.packed_delta());
        let read = map(self.session.executor(), batches, |executor, (sent, places)| {
            let Sent { batch: Batch { number: batch, matrix, .. }, coins } = sent;
            let output = Output { session, executor, batch, coins, matrix: &matrix };
            match places {
                Places::Random(keys) => output.pairs(delta, keys),
                Places::Correlated(rows) => output.correlated(rows),
            }
            matrix
        });
        read.into_iter().for_each(|matrix| self.pool.put(matrix));
        Ok(())
    }

    /// Steps 6 and 7: takes the receiver's corrections of the next batch, and challenges them, if there is a check.
    ///
    /// Other batches may follow before this one is verified.
    ///
    /// # Errors
    /// [`Decode`](crate::Decode) if they have another length; [`Usage::BatchTooLarge`]; [`Usage::SessionEnded`]
    /// after a failed check.
    pub fn absorb(
        &mut self,
        shape: Shape,
        corrections: &[u8],
    ) -> Result<(Unverified, Option<Challenge>), Error> {
        Ok(only(self.absorb_all(&[(shape, corrections)])?))
    }

    /// Absorbs the messages of the next batches in their order, at once: one per thread.
    ///
    /// # Errors
    /// Errors of [`Sender::absorb`], for any of them: then none has been taken.
    pub fn absorb_all(
        &mut self,
        messages: &[(Shape, &[u8])],
    ) -> Result<Vec<(Unverified, Option<Challenge>)>, Error> {
        self.check_messages(messages)?;
        let begun = self.begin(messages);
        Ok(map(self.session.executor(), begun, |executor, (mut batch, message)| {
            let (commitment, corrections) = message.split_at(self.extension.commitment_len());
            self.fill(executor, &mut batch, corrections);
            let check = self.extension.checked().then(|| {
                let coin = self.session.oracle("foxtrot v1 extension sender coin");
                let challenge = coin.query(batch.number, 0).field(self.seed.as_bytes()).finish();
                Check { commitment: core::array::from_fn(|k| commitment[k]), challenge }
            });
            let challenge = check.as_ref().map(|check| check.challenge);
            (Unverified { batch, check }, challenge)
        }))
    }

    /// Step 9: checks the proof of the batch, which is empty where there is no check.
    ///
    /// # Errors
    /// [`Decode`](crate::Decode) if it has another length, and [`Misbehaved::ConsistencyCheck`]: after either this
    /// sender has forgotten Δ, and everything is [`Usage::SessionEnded`]. [`Usage::ForeignBatch`].
    pub fn verify(&mut self, unverified: Unverified, proof: &[u8]) -> Result<Sent, Error> {
        Ok(only(self.verify_all(vec![(unverified, proof)])?))
    }

    /// Verifies several batches at once, one per thread.
    ///
    /// # Errors
    /// The error of [`Sender::verify`] for the first batch that has one; no batch then has output.
    pub fn verify_all(&mut self, batches: Vec<(Unverified, &[u8])>) -> Result<Vec<Sent>, Error> {
        if self.ended {
            return Err(Usage::SessionEnded.into());
        }
        for (unverified, _) in &batches {
            self.check_owner(&unverified.batch.session, unverified.check.is_some())?;
        }
        // Without check there is no work for threads.
        let executor = if self.extension.checked() { self.session.executor() } else { &InPlace };
        let checked = map(executor, batches, |executor, (unverified, proof)| {
            self.check(executor, unverified, proof)
        });
        let verified: Result<_, _> = checked.into_iter().collect();
        if verified.is_err() {
            self.end();
        }
        verified
    }

    /// Step 9; whatever goes wrong ends the session.
    fn check(
        &self,
        executor: &dyn Executor,
        unverified: Unverified,
        proof: &[u8],
    ) -> Result<Sent, Error> {
        expect_len("Proof", proof, self.extension.proof_len())?;
        let Unverified { mut batch, check } = unverified;
        let Some(Check { commitment, challenge }) = check else {
            return Ok(Sent { batch, coins: None });
        };
        let coin_and_hashes = proof.split_first_chunk::<32>();
        let (coin, hashes) = coin_and_hashes.ok_or(Misbehaved::ConsistencyCheck)?;
        let (backend, session, shape) = (self.session.backend(), &self.session, batch.shape);
        let columns = self.extension.columns(shape.n);
        let coefficients = coefficients(session, batch.number, shape, &challenge, columns);
        let ours = hash_rows(backend, executor, &batch.matrix, ROWS, &coefficients);
        let theirs: Vec<u64> = numbers(hashes).collect();
        let (of_choices, theirs) = theirs.split_at(1);
        let opened = commit(session, batch.number, coin).ct_eq(&commitment);
        // The codeword of a choice is the choice, repeated.
        let codeword = iter::repeat(of_choices[0]);
        if !verdict(opened & fit(&ours, theirs, &self.delta, codeword)) {
            return Err(Misbehaved::ConsistencyCheck.into());
        }
        if !shape.given {
            let flips = flips(session, batch.number, &challenge, shape.n);
            let stride = batch.matrix.stride();
            let rows = batch.matrix.bytes_mut().chunks_mut(stride).enumerate();
            for_each(executor, rows, |(r, row)| {
                xor_masked(backend, &mut row[..flips.len()], &flips, mask(self.delta.get(r)));
            });
        }
        Ok(Sent { batch, coins: Some(Coins { receiver: *coin, sender: challenge }) })
    }

    /// Checks the proof of a batch, and writes its output.
    ///
    /// # Errors
    /// Errors of [`Sender::verify`] and [`Sender::random`].
    pub fn finish(
        &mut self,
        batch: Unverified,
        proof: &[u8],
        places: Places<'_>,
    ) -> Result<(), Error> {
        self.finish_all(vec![(batch, proof, places)])
    }

    /// Finishes several batches at once, one per thread.
    ///
    /// # Errors
    /// Errors of [`Sender::finish`], for any of them: there is no output then.
    pub fn finish_all(
        &mut self,
        batches: Vec<(Unverified, &[u8], Places<'_>)>,
    ) -> Result<(), Error> {
        let (mut unverified, mut all_places) = (Vec::new(), Vec::new());
        for (batch, proof, places) in batches {
            unverified.push((batch, proof));
            all_places.push(places);
        }
        let sent = self.verify_all(unverified)?;
        Ok(self.output_all(sent.into_iter().zip(all_places).collect())?)
    }

    /// A peer that guesses Δ must not guess twice. Rows of earlier batches would also tell Δ.
    fn end(&mut self) {
        self.ended = true;
        self.leaves = Keys::default();
        self.pool = Pool::default();
        self.seed = Seed::from_bytes([0; 32]);
        self.delta = Bits::from_random(vec![0; ROWS / 8], ROWS);
    }
}

impl Sent {
    /// The number of OTs.
    #[must_use]
    pub const fn n(&self) -> usize {
        self.batch.shape.n
    }
}

/// 0xff for 1, 0 for 0.
pub(super) fn mask(bit: Choice) -> u8 {
    bit.unwrap_u8().wrapping_neg()
}

foxtrot_kernel::redacted! {
    Sender, sender => "{}, {} batches", sender.extension.name, sender.batch;
    Unverified, unverified => "batch {}, <redacted>", unverified.batch.number;
    Sent, sent => "batch {}, <redacted>", sent.batch.number;
}
