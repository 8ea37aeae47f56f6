//! Two-round endemic OT extension: [`kos`](super::kos) over a base OT of two flows or one, with the
//! challenge of its check taken from the random oracle
//! [[MRR21](https://eprint.iacr.org/2021/682), section 7, Figure 10].
//!
//! The extension's receiver answers the base OTs, and in the same message corrects and proves:
//!
//! ```text
//! S                                                     R (choices)
//! Δ ← {0, 1}^128
//!                  ── Invitation: φ of 128 base OTs ──►
//!                                                       both keys of the base OTs; T, X
//!                                                       χ = H(n, base OT, φ, answer, D)
//!                  ◄── Response: answer, D, h(X), h(T) ──
//! one key each; Q = W ⊕ Δ·D
//! h(Q) = h(T) ⊕ Δ·h(X)?
//! keys = H(q), H(q ⊕ Δ)                                 key = H(t)
//! ```
//!
//! Realises batch endemic OT against malicious adversaries in the random oracle and ideal cipher
//! model: a corrupt party may fix its own keys, so this is no F_ROT. A corrupt receiver searches for
//! a challenge offline, so the check has two elements of GF(2^128): q queries find a bad one with
//! probability < q·2⁻²⁴³. Bounds and what is not proved: below; bytes:
//! `docs/wire/two-round.md`, section 11. 16 bytes per OT from R, and 4128 with the base OTs per run.
//!
//! Step by step:
//!
//! ```
//! use foxtrot_ot::{Bits, Seed, Session, Sid, extension::two_round};
//!
//! # let (senders_seed, receivers_seed) = (Seed::from_bytes([1; 32]), Seed::from_bytes([2; 32]));
//! let session = || Session::new(Sid::from_bytes([7; 32])).sub("example", 0, Default::default());
//!
//! // The default, over `roted-endemic`.
//! let protocol = &two_round::VARIANTS[0];
//! let (sender, invitation) = protocol.start(session(), 1000, senders_seed)?;
//! let choices = Bits::from_bools((0..1000).map(|i| i % 3 == 0));
//! let (chosen, response) = protocol.respond(session(), &invitation, choices, receivers_seed)?;
//! let keys = sender.finish(&response)?;
//! assert_eq!(keys.pairs()[0][1], chosen.keys()[0]);
//! # Ok::<(), foxtrot_ot::Error>(())
//! ```
//!
//! # Steps
//!
//! S is the sender of the extension and the receiver of the base OTs. R is the receiver of the extension and the sender of the base OTs.
//!
//! 1. S draws Δ, 128 bits, and sends the base OTs' receiver message for the choices Δ.
//! 2. R answers as the sender of the base OTs. It has both keys of every base OT.
//! 3. Both sides expand rows as in [the extension](super#steps), steps 1 to 6, with k = 1. X is the n choices followed by at least 256
//!    random bits. D_r = G_r0 ⊕ G_r1 ⊕ X for every row.
//! 4. *Challenge.* R queries the oracle for χ¹ and χ². The query contains sub-sid, n, the name of the protocol with its base OT, φ, A and
//!    all D. The sub-sid has the direction, so it fixes who is S. R appends h¹ and h² of X and of every T_r.
//! 5. S takes its base keys, and Q_r = T_r ⊕ Δ_r·X if R was honest.
//! 6. S compares both hashes of all rows, in one verdict. If it fails, there is no output, and Δ is erased.
//! 7. *Output* as in [the extension](super#steps), step 10, without coins: the position is unique, and Δ serves one run.
#![doc = ""]
#![doc = include_str!("two_round.md")]
#![doc = base_ot_example!("extension::two_round::VARIANTS[0]", "Choice::Given(Bits::from_bools([false, true]))")]

mod check;
mod info;

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{
    bits::{xor, xor_masked},
    vole,
};
use zeroize::Zeroizing;

pub use info::{FAMILY, PROTOCOL, VARIANTS, carriers, find, registry};

use super::{
    ROWS,
    matrix::{Matrix, Pool},
    output::Output,
    trees::{grow, nonces, regrow},
};
use crate::{
    Bits, Error, Misbehaved, Seed, Session,
    base::{BaseOt, Choice, Protocol, ReceiverKeys, Run, SenderKeys},
    choices::verdict,
    engine::{Engine, Progress},
    expect_at_most, expect_len,
    tasks::InPlace,
};
use check::{Coefficients, Proof};

/// The most OTs of one run, which are one message of 16 MiB: its hash comes after all of it.
pub const MAX_BATCH: usize = 1 << 20;

/// Columns by which a batch is longer: an element of the field for each of the two hashes.
const MASK_COLUMNS: usize = 256;

/// The protocol over a base OT, which is endemic, secure against malicious peers, and of two flows, the receiver's first,
/// or of one. As a [`BaseOt`] its sender speaks first.
#[derive(Clone, Copy)]
pub struct TwoRound {
    base: &'static dyn BaseOt,
    info: &'static Protocol,
}

/// The sender, waiting for the `Response`. It takes one, whatever comes of it: with a second one a
/// receiver could guess bits of Δ again.
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::extension::two_round::Sender;
/// # fn twice(sender: Sender) {
/// let _ = sender.finish(&[]);
/// let _ = sender.finish(&[]);
/// # }
/// ```
///
/// ```
/// # use foxtrot_ot::extension::two_round::Sender;
/// # fn once(sender: Sender) {
/// let _ = sender.finish(&[]);
/// # }
/// ```
#[must_use = "the protocol is not finished"]
pub struct Sender {
    protocol: TwoRound,
    session: Session,
    n: usize,
    invitation: Vec<u8>,
    base: Engine<'static, ReceiverKeys>,
}

impl TwoRound {
    /// Step 1: begins a run of n OTs; with the `Invitation`.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`](crate::Usage::BatchTooLarge).
    pub fn start(
        &self,
        session: Session,
        n: usize,
        seed: Seed,
    ) -> Result<(Sender, Vec<u8>), Error> {
        expect_at_most(MAX_BATCH, n)?;
        let mut delta = Zeroizing::new([0; ROWS / 8]);
        let oracle = session.oracle("foxtrot v1 two-round delta");
        oracle.query(0, 0).field(seed.as_bytes()).fill(delta.as_mut_slice());
        let delta = Choice::Given(Bits::from_bytes(delta.as_slice(), ROWS));
        let mut base = self.base.receiver(self.base_session(&session), delta, seed)?;
        base.advance()?;
        let first = base.outgoing().map(|(_stream, message)| message);
        let invitation = first.unwrap_or_else(|| unreachable!("the receiver speaks first"));
        let sender = Sender { protocol: *self, session, n, invitation: invitation.clone(), base };
        Ok((sender, invitation))
    }

    /// Steps 2 to 4 and 7: answers an `Invitation`. Returns the receiver's keys and the `Response`.
    ///
    /// # Errors
    /// [`Decode`](crate::Decode) if the invitation is none; [`Usage::BatchTooLarge`](crate::Usage::BatchTooLarge).
    pub fn respond(
        &self,
        session: Session,
        invitation: &[u8],
        choices: Bits,
        seed: Seed,
    ) -> Result<(ReceiverKeys, Vec<u8>), Error> {
        let n = choices.len();
        expect_at_most(MAX_BATCH, n)?;
        let (backend, columns) = (session.backend(), columns(n));

        // Step 2.
        let base = self.base.sender(self.base_session(&session), ROWS, seed.again())?;
        let (base, mut response) = played(base, invitation)?;
        let answer_len = response.len();

        // Step 3.
        let all_choices = choices_of_columns(&session, &seed, &choices);
        response.reserve_exact(ROWS * columns / 8 + Proof::ENCODED_LEN);
        response.resize(answer_len + ROWS * columns / 8, 0);
        let corrections = &mut response[answer_len..];
        let matrix = matrix_of_receiver(&session, &base, &all_choices, corrections);

        // Step 4.
        let (answer, corrections) = response.split_at(answer_len);
        let coefficients = self.coefficients(&session, n, invitation, answer, corrections);
        let of_choices = coefficients.hash(backend, &all_choices);
        let of_rows = coefficients.hash_rows(backend, &matrix);
        Proof::new(of_choices, of_rows).encode(&mut response);

        // Step 7.
        let mut keys = vec![[0; 16]; n];
        output(&session, &matrix).keys(&mut keys);
        Ok((ReceiverKeys::new(choices, keys), response))
    }

    /// Step 4's challenge: bound to everything that both parties have said before it.
    fn coefficients(
        &self,
        session: &Session,
        n: usize,
        invitation: &[u8],
        answer: &[u8],
        corrections: &[u8],
    ) -> Coefficients {
        let query = session
            .oracle("foxtrot v1 two-round challenge")
            .query(n as u64, 0)
            .field(self.info.name.as_bytes())
            .field(invitation)
            .field(answer)
            .field(corrections);
        Coefficients::new(query, columns(n))
    }

    /// The base OTs run the other way under a namespace of their own.
    fn base_session(&self, session: &Session) -> Session {
        session.sub(self.base.info().name, 0, Default::default())
    }

    /// Bytes of the `Invitation`: the message of the base OTs' receiver.
    fn invitation_len(&self) -> usize {
        (self.base.info().receiver_bytes)(ROWS)
    }

    fn answer_len(&self) -> usize {
        (self.base.info().sender_bytes)(ROWS)
    }

    fn response_len(&self, n: usize) -> usize {
        own_bytes(n).saturating_add(self.answer_len())
    }
}

impl Sender {
    /// Steps 5 to 7: checks the `Response`, and returns the keys.
    ///
    /// # Errors
    /// [`Decode`](crate::Decode), and [`Misbehaved::ConsistencyCheck`]. The run is then over, and its Δ gone.
    pub fn finish(self, response: &[u8]) -> Result<SenderKeys, Error> {
        let Self { protocol, session, n, invitation, base } = self;
        expect_len("Response", response, protocol.response_len(n))?;
        let columns = columns(n);
        let (bound, proof) = response.split_at(response.len() - Proof::ENCODED_LEN);
        let (answer, corrections) = bound.split_at(protocol.answer_len());
        let coefficients = protocol.coefficients(&session, n, &invitation, answer, corrections);

        // Step 5.
        let (base, _) = played(base, answer)?;
        let matrix = matrix_of_sender(&session, &base, corrections, columns)?;

        // Step 6.
        let hashes = coefficients.hash_rows(session.backend(), &matrix);
        if !verdict(Proof::decode(proof).fits(&hashes, base.choices())) {
            return Err(Misbehaved::ConsistencyCheck.into());
        }
        let mut delta = Zeroizing::new([0; ROWS / 8]);
        delta.copy_from_slice(base.choices().as_bytes());

        // Step 7.
        let mut keys = vec![[[0; 16]; 2]; n];
        output(&session, &matrix).pairs(&delta, &mut keys);
        Ok(SenderKeys::new(keys))
    }
}

/// Runs a party of the base OTs to its end, with the peer's only message. Returns its keys, and its own message if it sends
/// one now.
fn played<Keys>(
    mut party: Engine<'static, Keys>,
    message: &[u8],
) -> Result<(Keys, Vec<u8>), Error> {
    party.deliver(0, message.to_vec());
    let mut said = Vec::new();
    loop {
        let progress = party.advance()?;
        said = party.outgoing().map_or(said, |(_stream, message)| message);
        match progress {
            Progress::Done(keys) => return Ok((keys, said)),
            Progress::Sending => {}
            Progress::Waiting { .. } => unreachable!("each party has one message"),
        }
    }
}

fn output<'a>(session: &'a Session, matrix: &'a Matrix) -> Output<'a> {
    Output { session, executor: &InPlace, batch: 0, coins: None, matrix }
}

/// T, and the corrections of its rows for X.
fn matrix_of_receiver(
    session: &Session,
    base: &SenderKeys,
    choices: &[u8],
    corrections: &mut [u8],
) -> Matrix {
    let (leaves, _) = grow(session, 1, true, base);
    let nonce = nonces(session).of_batch(0);
    let mut matrix = Pool::default().take(ROWS, 8 * choices.len());
    let stride = matrix.stride();
    let corrections = corrections.chunks_mut(choices.len());
    let parts = matrix.bytes_mut().chunks_mut(stride).zip(corrections).zip(leaves.chunks(2));
    for ((row, correction), leaves) in parts {
        vole::expand(session.backend(), leaves, &nonce, correction, row, stride);
        xor(session.backend(), correction, choices);
    }
    matrix
}

/// Q.
fn matrix_of_sender(
    session: &Session,
    base: &ReceiverKeys,
    corrections: &[u8],
    columns: usize,
) -> Result<Matrix, Error> {
    let leaves = regrow(session, 1, true, base, &[])?;
    let nonce = nonces(session).of_batch(0);
    let mut matrix = Pool::default().take(ROWS, columns);
    let stride = matrix.stride();
    let parts = matrix.bytes_mut().chunks_mut(stride).zip(corrections.chunks(columns / 8));
    for (r, ((row, correction), leaf)) in parts.zip(leaves.chunks(1)).enumerate() {
        vole::expand_punctured(session.backend(), leaf, &nonce, row, stride, columns / 8);
        let mask = base.choices().get(r).unwrap_u8().wrapping_neg();
        xor_masked(session.backend(), &mut row[..columns / 8], correction, mask);
    }
    Ok(matrix)
}

/// X: the given choices, and random ones for the columns after them.
fn choices_of_columns(session: &Session, seed: &Seed, choices: &Bits) -> Zeroizing<Vec<u8>> {
    let mut all = Zeroizing::new(vec![0; columns(choices.len()) / 8]);
    let oracle = session.oracle("foxtrot v1 two-round choices");
    oracle.query(0, 0).field(seed.as_bytes()).fill(&mut all);
    choices.copy_to(&mut all);
    all
}

fn columns(n: usize) -> usize {
    super::columns(n, MASK_COLUMNS)
}

fn own_bytes(n: usize) -> usize {
    ROWS.saturating_mul(columns(n) / 8).saturating_add(Proof::ENCODED_LEN)
}

impl BaseOt for TwoRound {
    fn info(&self) -> &'static Protocol {
        self.info
    }

    fn sender(&self, session: Session, n: usize, seed: Seed) -> Run<SenderKeys> {
        expect_at_most(MAX_BATCH, n)?;
        let this = *self;
        Ok(Engine::new(move |io| async move {
            let (sender, invitation) = this.start(session, n, seed)?;
            io.send(invitation).await;
            sender.finish(&io.recv(this.response_len(n)).await)
        }))
    }

    fn receiver(&self, session: Session, choice: Choice, seed: Seed) -> Run<ReceiverKeys> {
        let choices = choice.given(self.info.name)?;
        expect_at_most(MAX_BATCH, choices.len())?;
        let this = *self;
        Ok(Engine::new(move |io| async move {
            let invitation = io.recv(this.invitation_len()).await;
            let (keys, response) = this.respond(session, &invitation, choices, seed)?;
            io.send(response).await;
            Ok(keys)
        }))
    }
}

foxtrot_kernel::redacted! {
    TwoRound, protocol => "{}", protocol.info.name;
    Sender, sender => "{}, <{} instances>", sender.protocol.info.name, sender.n;
}

#[cfg(test)]
mod tests;
