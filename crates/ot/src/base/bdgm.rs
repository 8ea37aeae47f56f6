//! Chosen-message OT from Module-LWE: the four-message framework of Branco, Ding, Goulão and Mateus
//! [[BDGM19](https://doi.org/10.1007/978-3-030-35199-1_5)], with another challenge than in its
//! authors' code; the OT that `roted` was made from, and its yardstick.
//!
//! Realises F_OT for messages of one [`Block`], with abort, against malicious
//! adversaries in the UC framework, under Module-LWE in the random oracle model. The receiver's
//! first message is that of [`super::roted`]. Then the sender challenges the receiver to decrypt a w
//! that it encrypted under both points, and only a receiver that answers gets messages. For instance i (proof
//! and differences from the authors' code: [`rot_from_ot`](super::rot_from_ot), section 3; bytes:
//! `docs/wire/rot-from-ot.md`, section 9)
//!
//! ```text
//! R (choice c)                                          S (messages M_0, M_1)
//! P = A·s_R + e_R
//! T = P − H₁(i, c, r),  s = r ⊕ H′(i, c, T)
//!                  ── Blinded: T, s ──►
//!                                                       P_j = T + H₁(i, j, s ⊕ H′(i, j, T))
//!                                                       w random;  for j = 0, 1, coins G(i, j, w):
//!                                                       (U_j, hints_j, sk_j) for P_j
//!                                                       x_j = w ⊕ H₂(i, j, sk_j)
//!                  ◄── Challenge: U_j, hints_j, x_j ──
//! sk, w from (U_c, hints_c, x_c)
//! recompute all of Challenge from w; abort if it differs
//!                  ── Response: H₄(every w) ──►
//!                                                       abort if it differs;  fresh coins:
//!                                                       (U′_j, hints′_j, sk′_j) for P_j
//!                                                       C_j = M_j ⊕ H(i, j, sk′_j, …)
//!                  ◄── Ciphertexts: U′_j, hints′_j, C_j ──
//! M_c = C_c ⊕ H(i, c, sk′, …)
//! ```
//!
//! 1296 bytes from R and 4448 from S per instance. Not given: a proof against quantum
//! access to the oracles; a reason to prefer it to `roted-endemic`, which is shorter and faster.
//!
//! # Steps
//!
//! * **Steps 1 to 4 (R→S).** As in [`roted`](super::roted#steps) without brackets: `Blinded` = (T, s) for all i.
//! * **Step 5 (S).** P^j as there.
//! * **Step 6 (S).** w ← {0,1}²⁵⁶. For both branches (U^j, hints^j), sk^j = Enc(P^j; G(i, j, w)) and
//!   x^j = w ⊕ H₂(i, j, sk^j).
//! * **Step 7 (S→R).** `Challenge` = (U^j, hints^j, x^j) for all i and j.
//! * **Step 8 (R).** Select branch c without a branch; sk = bit(⟨s_R, Ũ^c⟩, hints^c), w = x^c ⊕ H₂(i, c, sk).
//!   Repeat Step 6 for *both* branches with this w. If any instance differs in any byte, abort, without
//!   saying which.
//! * **Step 9 (R→S).** `Response` = H₄(all w).
//! * **Step 10 (S).** Abort unless it is that.
//! * **Step 11 (S→R).** With fresh coins, independent of w, (U′^j, hints′^j), sk′^j = Enc(P^j). τ is the
//!   hash of `Blinded` and `Challenge`. `Ciphertexts` = (U′^j, hints′^j, C^j = M_j ⊕ H(i, j, sk′^j, τ)).
//! * **Step 12 (R).** Select branch c; M_c = C^c ⊕ H(i, c, sk′, τ).
#![doc = base_ot_example!("base::bdgm::Bdgm", "Choice::Given(Bits::from_bools([false, true]))")]

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{bits, memcheck};
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{
    Block, Functionality, Protocol, ReceiverKeys, SenderKeys, check_batch,
    chosen::{ChosenMessageOt, Sent, sealed::Sealed},
    expect_count,
    message::message,
    roted::instances::{
        self, BRANCH_LEN, Batch, Blinding, Chosen, Contexts, PHI_LEN, SENDER_COINS_LEN, Scratch,
        Sk, Vector, check_phis,
    },
};
use crate::{
    Bits, Error, Misbehaved, Seed, Session, Usage,
    choices::{select, verdict},
    engine::Io,
    oracle::{Oracle, Purpose},
};

const CONTEXTS: Contexts = Contexts {
    a: Purpose::new("foxtrot v1 bdgm A"),
    h1: Purpose::new("foxtrot v1 bdgm H1"),
    digest: Purpose::new("foxtrot v1 bdgm T"),
    h_prime: Purpose::new("foxtrot v1 bdgm H'"),
    receiver_coins: Purpose::new("foxtrot v1 bdgm receiver coins"),
    spares_memory: false,
};

/// The protocol as a [`super::BaseOt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bdgm;

/// Bytes of U, hints and x.
const CHALLENGE_BRANCH: usize = BRANCH_LEN + 32;
const CHALLENGE_LEN: usize = 2 * CHALLENGE_BRANCH;
/// Bytes of U, hints and C.
const CIPHERTEXT_BRANCH: usize = BRANCH_LEN + 16;
/// Bytes of the ciphertexts of one instance.
const CIPHERTEXT_LEN: usize = 2 * CIPHERTEXT_BRANCH;

message! {
    /// R → S: φ = (T, s) of every instance.
    Blinded,
    len: |n| n * PHI_LEN,
    check: |bytes, _n| check_phis(Self::NAME, bytes)
}

message! {
    /// S → R: (U, hints, x) for both branches of every instance.
    Challenge,
    len: |n| n * CHALLENGE_LEN,
    check: |_bytes, _n| Ok(())
}

message! {
    /// R → S: the hash of every w.
    Response,
    len: |_n| 32,
    check: |_bytes, _n| Ok(())
}

message! {
    /// S → R: (U, hints, C) for both branches of every instance.
    Ciphertexts,
    len: |n| n * CIPHERTEXT_LEN,
    check: |_bytes, _n| Ok(())
}

impl Blinded {
    fn phi(&self, i: usize) -> &[u8] {
        &self.bytes[i * PHI_LEN..][..PHI_LEN]
    }
}

/// The receiver, waiting for the [`Challenge`].
///
/// ```
/// # use foxtrot_ot::{Bits, Seed, Session, Sid, base::{bdgm::{Receiver, Sender}, chosen::drawn_messages}};
/// # let session = || Session::new(Sid::from_bytes([0; 32]));
/// # let (choices, seed) = (Bits::from_bools([true]), || Seed::from_bytes([0; 32]));
/// let messages = drawn_messages(&session(), 1, &seed());
/// let (receiver, blinded) = Receiver::start(session(), choices, seed())?;
/// let (sender, challenge) = Sender::challenge(session(), &blinded, messages, seed())?;
/// let (receiver, response) = receiver.respond(&challenge)?;
/// let (ciphertexts, sent) = sender.finish(&response)?;
/// assert_eq!(receiver.finish(&ciphertexts)?.keys()[0], sent.into_messages().pairs()[0][1]);
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
///
/// It answers one challenge. With answers to more challenges, or to more batches of ciphertexts, a sender learns s_R.
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::base::bdgm::{Challenge, Receiver};
/// # fn twice(receiver: Receiver, challenge: &Challenge) {
/// let _ = receiver.respond(challenge);
/// let _ = receiver.respond(challenge);
/// # }
/// ```
#[must_use = "the protocol is not finished"]
pub struct Receiver {
    session: Session,
    blinding: Blinding,
    blinded: Blinded,
}

/// The receiver, waiting for the [`Ciphertexts`]. It takes one batch of them.
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::base::bdgm::{Ciphertexts, Responded};
/// # fn twice(receiver: Responded, ciphertexts: &Ciphertexts) {
/// let _ = receiver.finish(ciphertexts);
/// let _ = receiver.finish(ciphertexts);
/// # }
/// ```
#[must_use = "the protocol is not finished"]
pub struct Responded {
    session: Session,
    blinding: Blinding,
    transcript: [u8; 32],
}

/// The sender, waiting for the [`Response`]. It gives no ciphertexts before that is checked.
///
/// ```compile_fail,E0599
/// # use foxtrot_ot::base::bdgm::Sender;
/// # fn unchecked(sender: &Sender) {
/// let ciphertexts = sender.ciphertexts();
/// # }
/// ```
#[must_use = "the protocol is not finished"]
pub struct Sender {
    ciphertexts: Ciphertexts,
    sent: Sent,
    expected: Zeroizing<[u8; 32]>,
}

impl Receiver {
    /// Steps 1 to 4: begins a batch with these choices.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`].
    pub fn start(session: Session, choices: Bits, seed: Seed) -> Result<(Self, Blinded), Usage> {
        check_batch(choices.len())?;
        let mut blinded = Blinded::blank(choices.len());
        let (blinding, _) =
            instances::blind(&session, &CONTEXTS, choices, &seed, &mut blinded.bytes);
        memcheck::public(&mut blinded.bytes);
        Ok((Self { session, blinding, blinded: blinded.clone() }, blinded))
    }

    /// Steps 8 and 9: decrypts w, checks both branches with it, and answers.
    ///
    /// # Errors
    /// [`Misbehaved::Challenge`]; [`Usage::CountMismatch`] if the challenge was decoded for another
    /// number of instances.
    pub fn respond(self, challenge: &Challenge) -> Result<(Responded, Response), Error> {
        let Self { session, blinding, blinded } = self;
        let n = blinding.choices.len();
        expect_count("instances in the challenge", n, challenge.instances())?;
        let challenger = Challenger::new(&session);
        let (mut chosen, mut scratch) = (Chosen::empty(), Scratch::default());
        let batch = &blinding.batch;
        let mut room = batch.popf.room(1);
        let mut answers = Zeroizing::new(vec![0; 32 * n]);
        let mut recomputed = Zeroizing::new([0; CHALLENGE_LEN]);
        let mut all_equal = Choice::from(1);
        let instances = challenge.bytes.chunks_exact(CHALLENGE_LEN).enumerate();
        for ((i, received), w) in instances.zip(answers.chunks_exact_mut(32)) {
            let choice = blinding.choices.get(i);
            let (zero, one) = received.split_at(CHALLENGE_BRANCH);
            let [(zero, zero_x), (one, one_x)] = [zero, one].map(|b| b.split_at(BRANCH_LEN));
            let mut sk = Zeroizing::new([0; 32]);
            blinding.recover_one(i, [zero, one], &mut sk, &mut chosen);
            let mask = challenger.mask(i, choice, &sk);
            select(choice, zero_x, one_x, w);
            bits::xor(session.backend(), w, mask.as_slice());
            let points = batch.open(&mut room, i, blinded.phi(i));
            challenger.encrypt(batch, i, &points, w, recomputed.as_mut_slice(), &mut scratch);
            all_equal &= recomputed.as_slice().ct_eq(received);
        }
        // Both branches are checked whatever the choice, so that this does not depend on it.
        if !verdict(all_equal) {
            return Err(Misbehaved::Challenge.into());
        }
        let response = Response { bytes: response(&session, &answers).to_vec(), n };
        let transcript = transcript(&session, &blinded, challenge);
        Ok((Responded { session, blinding, transcript }, response))
    }
}

impl Responded {
    /// Step 12: the chosen messages.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if the ciphertexts were decoded for another number of instances.
    pub fn finish(self, ciphertexts: &Ciphertexts) -> Result<ReceiverKeys, Usage> {
        let Self { session, blinding, transcript } = self;
        let choices = &blinding.choices;
        expect_count("instances in the ciphertexts", choices.len(), ciphertexts.instances())?;
        let oracle = session.oracle("foxtrot v1 bdgm message mask");
        let mut chosen = Chosen::empty();
        let chosen =
            ciphertexts.bytes.chunks_exact(CIPHERTEXT_LEN).enumerate().map(|(i, bytes)| -> Block {
                let choice = choices.get(i);
                let (zero, one) = bytes.split_at(CIPHERTEXT_BRANCH);
                let [(zero, zero_c), (one, one_c)] = [zero, one].map(|b| b.split_at(BRANCH_LEN));
                let mut sk = Zeroizing::new([0; 32]);
                blinding.recover_one(i, [zero, one], &mut sk, &mut chosen);
                let mask = message_mask(&oracle, i, choice, &sk, &transcript);
                core::array::from_fn(|k| {
                    u8::conditional_select(&zero_c[k], &one_c[k], choice) ^ mask[k]
                })
            });
        let chosen = chosen.collect();
        Ok(ReceiverKeys::new(blinding.into_choices(), chosen))
    }
}

impl Sender {
    /// Steps 5 to 7: challenges the receiver. Step 11 is also done here; its result stays in the
    /// state.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are not as many pairs of messages as instances.
    pub fn challenge(
        session: Session,
        blinded: &Blinded,
        messages: SenderKeys,
        seed: Seed,
    ) -> Result<(Self, Challenge), Usage> {
        let n = blinded.instances();
        expect_count("pairs of messages", n, messages.pairs().len())?;
        let (batch, mut scratch) = (Batch::new(&session, &CONTEXTS, n), Scratch::default());
        let mut room = batch.popf.room(1);
        let challenger = Challenger::new(&session);
        let w_of = session.oracle("foxtrot v1 bdgm challenge seed");
        let coins_of = session.oracle("foxtrot v1 bdgm message coins");
        let mut challenge = Challenge::blank(n);
        let mut ciphertexts = Ciphertexts::blank(n);
        let mut answers = Zeroizing::new(vec![0; 32 * n]);
        let mut strings = Zeroizing::new(vec![[[0; 32]; 2]; n]);
        let mut coins = Zeroizing::new([0; SENDER_COINS_LEN]);
        let challenges = challenge.bytes.chunks_exact_mut(CHALLENGE_LEN);
        let outputs = challenges.zip(ciphertexts.bytes.chunks_exact_mut(CIPHERTEXT_LEN));
        let secrets = answers.chunks_exact_mut(32).zip(strings.iter_mut());
        for ((i, (challenge, ciphertext)), (w, strings)) in outputs.enumerate().zip(secrets) {
            // Step 5.
            let points = batch.open(&mut room, i, blinded.phi(i));

            // Step 6.
            w_of.query(i as u64, 0).field(seed.as_bytes()).fill(w);
            challenger.encrypt(&batch, i, &points, w, challenge, &mut scratch);

            // Step 11, but for the masks.
            let branches = ciphertext.chunks_exact_mut(CIPHERTEXT_BRANCH).zip(strings);
            for ((j, p), (branch, sk)) in (0..).zip(&points).zip(branches) {
                coins_of.query(i as u64, j).field(seed.as_bytes()).fill(coins.as_mut_slice());
                batch.answer(p, coins.as_slice(), &mut branch[..BRANCH_LEN], sk, &mut scratch);
            }
        }

        let transcript = transcript(&session, blinded, &challenge);
        let oracle = session.oracle("foxtrot v1 bdgm message mask");
        let pairs = messages.pairs().iter().zip(strings.iter());
        let instances = ciphertexts.bytes.chunks_exact_mut(CIPHERTEXT_LEN);
        for ((i, (pair, strings)), bytes) in pairs.enumerate().zip(instances) {
            let branches = bytes.chunks_exact_mut(CIPHERTEXT_BRANCH);
            for ((j, branch), (message, sk)) in (0..).zip(branches).zip(pair.iter().zip(strings)) {
                let mask = message_mask(&oracle, i, Choice::from(j), sk, &transcript);
                let c = &mut branch[BRANCH_LEN..];
                c.copy_from_slice(message);
                bits::xor(session.backend(), c, mask.as_slice());
            }
        }
        let expected = Zeroizing::new(response(&session, &answers));
        Ok((Self { ciphertexts, sent: Sent::new(messages), expected }, challenge))
    }

    /// Steps 10 and 11: the ciphertexts, for a receiver that has answered, and the messages in them.
    ///
    /// # Errors
    /// [`Misbehaved::Response`].
    pub fn finish(self, response: &Response) -> Result<(Ciphertexts, Sent), Misbehaved> {
        if verdict(self.expected.as_slice().ct_eq(response.as_bytes())) {
            Ok((self.ciphertexts, self.sent))
        } else {
            Err(Misbehaved::Response)
        }
    }
}

/// Step 6: what both parties compute from w.
struct Challenger {
    coins: Oracle,
    mask: Oracle,
}

impl Challenger {
    fn new(session: &Session) -> Self {
        Self {
            coins: session.oracle("foxtrot v1 bdgm challenge coins"),
            mask: session.oracle("foxtrot v1 bdgm challenge mask"),
        }
    }

    /// H₂(i, j, sk).
    fn mask(&self, i: usize, j: Choice, sk: &Sk) -> Zeroizing<[u8; 32]> {
        Zeroizing::new(self.mask.query(i as u64, j.unwrap_u8()).field(sk).finish())
    }

    /// Writes U, hints and x of both branches.
    fn encrypt(
        &self,
        batch: &Batch,
        i: usize,
        points: &[Vector; 2],
        w: &[u8],
        bytes: &mut [u8],
        scratch: &mut Scratch,
    ) {
        let mut coins = Zeroizing::new([0; SENDER_COINS_LEN]);
        let mut sk = Zeroizing::new([0; 32]);
        let branches = bytes.chunks_exact_mut(CHALLENGE_BRANCH);
        for ((j, p), branch) in (0..).zip(points).zip(branches) {
            self.coins.query(i as u64, j).field(w).fill(coins.as_mut_slice());
            let (reply, x) = branch.split_at_mut(BRANCH_LEN);
            batch.answer(p, coins.as_slice(), reply, &mut sk, scratch);
            let mask = self.mask(i, Choice::from(j), &sk);
            x.copy_from_slice(w);
            bits::xor(batch.backend, x, mask.as_slice());
        }
    }
}

/// H₄(every w).
fn response(session: &Session, answers: &[u8]) -> [u8; 32] {
    session.oracle("foxtrot v1 bdgm response").query(0, 0).field(answers).finish()
}

fn transcript(session: &Session, blinded: &Blinded, challenge: &Challenge) -> [u8; 32] {
    let query = session.oracle("foxtrot v1 bdgm transcript").query(0, 0);
    query.field(blinded.as_bytes()).field(challenge.as_bytes()).finish()
}

fn message_mask(
    oracle: &Oracle,
    i: usize,
    j: Choice,
    sk: &Sk,
    transcript: &[u8; 32],
) -> Zeroizing<Block> {
    Zeroizing::new(oracle.query(i as u64, j.unwrap_u8()).field(sk).field(transcript).finish())
}

impl Sealed for Bdgm {}

impl ChosenMessageOt for Bdgm {
    const INFO: &'static Protocol = &Protocol {
        name: "bdgm",
        family: "bdgm",
        paper: "after BDGM19",
        functionality: Functionality::ChosenMessage,
        assumption: "Module-LWE, random oracle",
        params: "Module768: N = 256, rank 3, q = 7681, η = 2, U in 11 bits",
        security: "core-SVP 164 classical, 148 quantum",
        caveat: "a yardstick: roted-endemic is shorter and faster",
        flows: 4,
        receiver_bytes: |n| Blinded::encoded_len(n) + Response::encoded_len(n),
        sender_bytes: |n| Challenge::encoded_len(n) + Ciphertexts::encoded_len(n),
        ..Protocol::BASE_OT
    };

    const NAME_AS_ROT: &'static str = "rot-from-ot:bdgm";
    const CAVEAT_AS_ROT: &'static str = "a yardstick: roted is shorter and faster; a receiver sees \
        its keys before it opens, so never retry a failed batch";

    async fn send(
        io: &Io,
        session: Session,
        messages: SenderKeys,
        seed: Seed,
    ) -> Result<Sent, Error> {
        let n = messages.pairs().len();
        check_batch(n)?;
        let blinded = Blinded::receive(io, n).await?;
        let (sender, challenge) = Sender::challenge(session, &blinded, messages, seed)?;
        io.send(challenge.into_bytes()).await;
        let (ciphertexts, sent) = sender.finish(&Response::receive(io, n).await?)?;
        io.send(ciphertexts.into_bytes()).await;
        Ok(sent)
    }

    async fn receive(
        io: &Io,
        session: Session,
        choices: Bits,
        seed: Seed,
    ) -> Result<ReceiverKeys, Error> {
        let n = choices.len();
        check_batch(n)?;
        let (receiver, blinded) = Receiver::start(session, choices, seed)?;
        io.send(blinded.into_bytes()).await;
        let (receiver, response) = receiver.respond(&Challenge::receive(io, n).await?)?;
        io.send(response.into_bytes()).await;
        Ok(receiver.finish(&Ciphertexts::receive(io, n).await?)?)
    }
}

foxtrot_kernel::redacted! {
    Receiver, receiver => "<{} instances>", receiver.blinding.choices.len();
    Responded, responded => "<{} instances>", responded.blinding.choices.len();
    Sender, sender => "<{} instances>", sender.ciphertexts.instances();
}
