//! The side with Δ and both keys; in the base OTs it was the receiver.

#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::iter;

use foxtrot_kernel::{aegis, bits::xor_masked, vole};
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{
    Challenge, Extension, ROWS, Shape,
    check::{hash_rows, numbers},
    check_owner, coefficients,
    matrix::Matrix,
    output::{Coins, Output, Places, flips},
    receiver::commit,
    sending::Sending,
    trees::{Tree, nonces, regrow, trees},
};
use crate::{
    Error, Misbehaved, Seed, Session, Sid, Usage,
    base::{Block, ReceiverKeys},
    expect_count, expect_len,
    tasks::{Executor, InPlace, for_each, map},
};

/// The sender of an extension, which makes batch after batch from one set of base OTs.
pub struct Sender {
    pub(crate) extension: Extension,
    pub(super) state: Sending,
}

/// A batch that waits for the receiver's proof, which is empty where there is no check; there is no way to its output
/// but [`Sender::finish`], which takes it.
///
/// ```
/// # use foxtrot_ot::extension::{Places, Sender, Unverified};
/// # fn once(mut sender: Sender, batch: Unverified) {
/// let _ = sender.finish(vec![(batch, &[], Places::Random(&mut []))]);
/// # }
/// ```
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::extension::{Places, Sender, Unverified};
/// # fn twice(mut sender: Sender, batch: Unverified) {
/// let _ = sender.finish(vec![(batch, &[], Places::Random(&mut []))]);
/// let _ = sender.finish(vec![(batch, &[], Places::Correlated(&mut []))]);
/// # }
/// ```
#[must_use = "the batch has no output yet"]
pub struct Unverified {
    session: Sid,
    number: u64,
    shape: Shape,
    matrix: Matrix,
    check: Option<Check>,
}

/// Values that a proof is checked against.
struct Check {
    commitment: [u8; 32],
    challenge: Challenge,
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
        let nonces = nonces(&session);
        Ok(Self { extension, state: Sending::new(session, delta, leaves, nonces, seed) })
    }

    /// Δ, bit r of which is bit r mod 8 of byte ⌊r/8⌋: as secret as all keys together. Of every correlated OT the receiver's
    /// row is the sender's, plus Δ where its choice is 1.
    ///
    /// # Errors
    /// [`Usage::SessionEnded`] after a failed check.
    pub fn delta(&self) -> Result<Zeroizing<Block>, Usage> {
        self.state.expect_open()?;
        Ok(self.packed_delta())
    }

    fn packed_delta(&self) -> Zeroizing<Block> {
        let mut delta = Zeroizing::new([0; 16]);
        delta.copy_from_slice(self.state.delta.as_bytes());
        delta
    }

    /// Step 6: the matrix.
    fn fill(
        &self,
        executor: &dyn Executor,
        number: u64,
        shape: Shape,
        corrections: &[u8],
        matrix: &mut Matrix,
    ) {
        let Sending { session, delta, leaves, nonces, .. } = &self.state;
        let (k, backend) = (self.extension.k, session.backend());
        let (stride, nonce) = (matrix.stride(), nonces.of_batch(number));
        let len = self.extension.columns(shape.n) / 8;
        // The first tree has no correction where its sum is the choices.
        let uncorrected = self.extension.first_tree(shape);
        let correction = |tree: &Tree| {
            tree.index.checked_sub(uncorrected).map(|at| &corrections[at * len..][..len])
        };
        // Trees of one leaf go by two, since keystreams do.
        let (of_tree, together) = ((1 << k) - 1, if k == 1 { 2 } else { 1 });
        let parts = leaves.chunks(together * of_tree);
        let parts = parts.zip(matrix.bytes_mut().chunks_mut(together * k * stride)).enumerate();
        for_each(executor, parts, |(part, (all, rows))| {
            if k == 1 {
                aegis::keystreams(backend, all, &nonce, rows, stride, len);
            }
            let trees = trees(k).skip(part * together).zip(all.chunks(of_tree));
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

    /// Steps 6 and 7: takes the receiver's corrections of the next batches in their order, and challenges them, if there is a
    /// check. Each batch is worked on by one thread.
    ///
    /// Other batches may follow before these are finished.
    ///
    /// # Errors
    /// [`Decode`](crate::Decode) if corrections have another length; [`Usage::BatchTooLarge`]; [`Usage::SessionEnded`]
    /// after a failed check. If any batch has an error, none has been taken.
    pub fn absorb(
        &mut self,
        messages: &[(Shape, &[u8])],
    ) -> Result<Vec<(Unverified, Option<Challenge>)>, Error> {
        self.state.expect_open()?;
        for (number, (shape, corrections)) in (self.state.batch..).zip(messages) {
            self.extension.check_batch(number, shape.n)?;
            let expected = self.extension.corrections_len(*shape);
            expect_len("Corrections", corrections, expected)?;
        }
        let begin = |&(shape, message): &(Shape, _)| {
            let matrix = self.state.rows.take(ROWS, self.extension.columns(shape.n));
            (self.state.next(), matrix, shape, message)
        };
        let begun: Vec<(u64, _, _, &[u8])> = messages.iter().map(begin).collect();
        let state = &self.state;
        let session = *state.session.id();
        Ok(map(
            state.session.executor(),
            begun,
            |executor, (number, mut matrix, shape, message)| {
                let (commitment, corrections) = message.split_at(self.extension.commitment_len());
                self.fill(executor, number, shape, corrections, &mut matrix);
                let check = self.extension.checked().then(|| {
                    let challenge = state.challenge("foxtrot v1 extension sender coin", number);
                    Check { commitment: core::array::from_fn(|k| commitment[k]), challenge }
                });
                let challenge = check.as_ref().map(|check| check.challenge);
                (Unverified { session, number, shape, matrix, check }, challenge)
            },
        ))
    }

    /// Steps 9 and 10: checks the proofs of batches, which are empty where there is no check, and writes their output to where
    /// the caller wants it. Each batch is worked on by one thread.
    ///
    /// # Errors
    /// For the first batch that has one, [`Decode`](crate::Decode) if its proof has another length, and
    /// [`Misbehaved::ConsistencyCheck`]: after either this sender has forgotten Δ, and everything is
    /// [`Usage::SessionEnded`]. [`Usage::CountMismatch`] if there are not as many places as OTs; [`Usage::ForeignBatch`].
    /// After an error there is no output of any batch, and all are lost.
    pub fn finish(&mut self, batches: Vec<(Unverified, &[u8], Places<'_>)>) -> Result<(), Error> {
        self.state.expect_open()?;
        for (batch, _, places) in &batches {
            let ours = (&self.state.session, self.extension.checked());
            check_owner(ours, (&batch.session, batch.check.is_some()))?;
            expect_count("places for keys", batch.shape.n, places.len())?;
        }
        // Without check there is no work for threads.
        let executor =
            if self.extension.checked() { self.state.session.executor() } else { &InPlace };
        let checked = map(executor, batches, |executor, (mut batch, proof, places)| {
            let coins = self.check(executor, &mut batch, proof)?;
            Ok((batch, coins, places))
        });
        let verified: Result<Vec<_>, Error> = checked.into_iter().collect();
        if verified.is_err() {
            self.state.end();
        }
        let (session, delta) = (&self.state.session, &*self.packed_delta());
        let read = map(session.executor(), verified?, |executor, (batch, coins, places)| {
            let Unverified { number: batch, matrix, .. } = batch;
            let output = Output { session, executor, batch, coins, matrix: &matrix };
            match places {
                Places::Random(keys) => output.pairs(delta, keys),
                Places::Correlated(rows) => output.correlated(rows),
            }
            matrix
        });
        read.into_iter().for_each(|matrix| self.state.rows.put(matrix));
        Ok(())
    }

    /// Step 9; whatever goes wrong ends the session. Returns the coins that outputs are bound to.
    fn check(
        &self,
        executor: &dyn Executor,
        batch: &mut Unverified,
        proof: &[u8],
    ) -> Result<Option<Coins>, Error> {
        expect_len("Proof", proof, self.extension.proof_len())?;
        let Some(Check { commitment, challenge }) = batch.check else { return Ok(None) };
        let coin_and_hashes = proof.split_first_chunk::<32>();
        let (coin, hashes) = coin_and_hashes.ok_or(Misbehaved::ConsistencyCheck)?;
        let (session, shape) = (&self.state.session, batch.shape);
        let backend = session.backend();
        let columns = self.extension.columns(shape.n);
        let coefficients = coefficients(session, batch.number, shape, &challenge, columns);
        let ours = hash_rows(backend, executor, &batch.matrix, ROWS, &coefficients);
        let theirs: Vec<u64> = numbers(hashes).collect();
        let (of_choices, theirs) = theirs.split_at(1);
        let opened = commit(session, batch.number, coin).ct_eq(&commitment);
        // The codeword of a choice is the choice, repeated.
        let codeword = iter::repeat(of_choices[0]);
        self.state.check(opened, [&ours, theirs], codeword)?;
        if !shape.given {
            let flips = flips(session, batch.number, &challenge, shape.n);
            let stride = batch.matrix.stride();
            let rows = batch.matrix.bytes_mut().chunks_mut(stride).enumerate();
            for_each(executor, rows, |(r, row)| {
                xor_masked(backend, &mut row[..flips.len()], &flips, mask(self.state.delta.get(r)));
            });
        }
        Ok(Some(Coins { receiver: *coin, sender: challenge }))
    }
}

/// 0xff for 1, 0 for 0.
pub(super) fn mask(bit: Choice) -> u8 {
    bit.unwrap_u8().wrapping_neg()
}

foxtrot_kernel::redacted! {
    Sender, sender => "{}, {} batches", sender.extension.name, sender.state.batch;
    Unverified, unverified => "batch {}, <redacted>", unverified.number;
}
