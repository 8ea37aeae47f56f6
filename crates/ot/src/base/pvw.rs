//! Chosen-message OT from DDH: the dual-mode cryptosystem of Peikert, Vaikuntanathan and Waters
//! [[PVW08](https://eprint.iacr.org/2007/348), Section 5] on P-256.
//!
//! Realises F_OT for messages of one [`Block`], against malicious adversaries in the UC framework,
//! in two messages. The reference string is four points that nobody knows a relation of: hashed to
//! the curve from the sub-sid. For instance i, in additive notation (proof and differences
//! from the paper: [`rot_from_ot`](super::rot_from_ot), section 2; bytes: `docs/wire/rot-from-ot.md`, section 9)
//!
//! ```text
//! R (choice b)                                          S (messages M_0, M_1)
//! pk = (r·G_b, r·H_b) = (P, Q)
//!                  ── PublicKeys: P, Q ──►
//!                                                       for j = 0, 1, fresh s, t:
//!                                                       U = s·G_j + t·H_j,  V = s·P + t·Q
//!                                                       C = M_j ⊕ H(i, j, P, Q, U, V)
//!                  ◄── Ciphertexts: U, C for j = 0, 1 ──
//! M_b = C_b ⊕ H(i, b, P, Q, U_b, r·U_b)
//! ```
//!
//! The choice is hidden under DDH. The other message is hidden statistically, up to the oracle:
//! given U, the V of branch 1 − b is uniform. 66 bytes from R and 98 from S per instance; 3 and 8
//! point multiplications. Not given: security against quantum computers.
//!
//! # Steps
//!
//! * **Step 1 (R).** r ← Z_ℓ from the seed.
//! * **Step 2 (R→S).** `PublicKeys`: P = r·G_b, Q = r·H_b for all i.
//! * **Step 3 (S).** For each branch s, t ← Z_ℓ; U_j = s·G_j + t·H_j, V_j = s·P + t·Q.
//! * **Step 4 (S→R).** `Ciphertexts`: U_j, C_j = M_j ⊕ H(i, j, P, Q, U_j, V_j).
//! * **Step 5 (R).** Select branch b without a branch; M_b = C_b ⊕ H(i, b, P, Q, U_b, r·U_b).
#![doc = base_ot_example!("base::pvw::Pvw", "Choice::Given(Bits::from_bools([false, true]))")]

mod curve;

use alloc::{vec, vec::Vec};

use foxtrot_kernel::p256::{Point, Scalar, decode};
use subtle::Choice;
use zeroize::Zeroizing;

use super::{
    Block, Functionality, Protocol, ReceiverKeys, SenderKeys, check_batch,
    chosen::{ChosenMessageOt, Sent, sealed::Sealed},
    expect_count,
    message::message,
};
use crate::{
    Bits, Decode, Error, Seed, Session, Usage, choices::select, engine::Io, oracle::Oracle,
};
use curve::{Crs, POINT_LEN};

/// The protocol as a [`super::BaseOt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pvw;

/// Bytes of P and Q.
const KEY_LEN: usize = 2 * POINT_LEN;
/// Bytes of U and C.
const BRANCH_LEN: usize = POINT_LEN + 16;

message! {
    /// R → S: the public key (P, Q) of every instance.
    PublicKeys,
    len: |n| n * KEY_LEN,
    check: |bytes, _n| check_points(bytes, Self::NAME, POINT_LEN)
}

message! {
    /// S → R: (U, C) for both branches of every instance.
    Ciphertexts,
    len: |n| n * 2 * BRANCH_LEN,
    check: |bytes, _n| check_points(bytes, Self::NAME, BRANCH_LEN)
}

/// Checks the point at the beginning of every `stride` bytes, of which an instance has two.
fn check_points(bytes: &[u8], message: &'static str, stride: usize) -> Result<(), Decode> {
    for (k, part) in bytes.chunks_exact(stride).enumerate() {
        if decode(&part[..POINT_LEN]).is_none() {
            return Err(Decode::Point { message, instance: k / 2 });
        }
    }
    Ok(())
}

fn decoded(bytes: &[u8]) -> Point {
    decode(bytes).unwrap_or_else(|| unreachable!("checked when it was decoded"))
}

impl PublicKeys {
    fn set(&mut self, i: usize, key: &[[u8; POINT_LEN]; 2]) {
        self.bytes[i * KEY_LEN..][..KEY_LEN].copy_from_slice(key.as_flattened());
    }

    /// The encoding of one key.
    fn of(&self, i: usize) -> &[u8] {
        &self.bytes[i * KEY_LEN..][..KEY_LEN]
    }

    fn points(&self, i: usize) -> [Point; 2] {
        let (p, q) = self.of(i).split_at(POINT_LEN);
        [p, q].map(decoded)
    }
}

impl Ciphertexts {
    fn set(&mut self, i: usize, j: usize, u: &[u8; POINT_LEN], c: &Block) {
        let place = &mut self.bytes[(2 * i + j) * BRANCH_LEN..][..BRANCH_LEN];
        place[..POINT_LEN].copy_from_slice(u);
        place[POINT_LEN..].copy_from_slice(c);
    }

    /// The bytes U ‖ C of one branch.
    fn branch(&self, i: usize, j: usize) -> &[u8] {
        &self.bytes[(2 * i + j) * BRANCH_LEN..][..BRANCH_LEN]
    }

    fn u(&self, i: usize, j: usize) -> Point {
        decoded(&self.branch(i, j)[..POINT_LEN])
    }
}

/// The receiver, waiting for the [`Ciphertexts`].
///
/// ```
/// # use foxtrot_ot::{Bits, Seed, Session, Sid, base::{chosen::drawn_messages, pvw::{self, Receiver}}};
/// # let session = || Session::new(Sid::from_bytes([0; 32]));
/// # let (choices, seed) = (Bits::from_bools([true]), || Seed::from_bytes([0; 32]));
/// let messages = drawn_messages(&session(), 1, &seed());
/// let (receiver, keys) = Receiver::start(session(), choices, seed())?;
/// let (ciphertexts, sent) = pvw::send(session(), &keys, messages, seed())?;
/// assert_eq!(receiver.finish(&ciphertexts)?.keys()[0], sent.into_messages().pairs()[0][1]);
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
///
/// It takes one answer only: with a second one a sender could try ciphertexts on the same r.
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::base::pvw::{Ciphertexts, Receiver};
/// # fn twice(receiver: Receiver, ciphertexts: &Ciphertexts) {
/// let _ = receiver.finish(ciphertexts);
/// let _ = receiver.finish(ciphertexts);
/// # }
/// ```
#[must_use = "the protocol is not finished"]
pub struct Receiver {
    session: Session,
    choices: Bits,
    keys: PublicKeys,
    /// r of every instance.
    secrets: Vec<Scalar>,
}

impl Receiver {
    /// Steps 1 and 2: begins a batch with these choices.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`].
    pub fn start(session: Session, choices: Bits, seed: Seed) -> Result<(Self, PublicKeys), Usage> {
        check_batch(choices.len())?;
        let crs = Crs::new(&session);
        let coins_of = session.oracle("foxtrot v1 pvw receiver coins");
        let mut keys = PublicKeys::blank(choices.len());
        let mut secrets = Vec::with_capacity(choices.len());
        let mut coins = Zeroizing::new([0; Scalar::COINS]);
        for i in 0..choices.len() {
            // Step 1.
            coins_of.query(i as u64, 0).field(seed.as_bytes()).fill(coins.as_mut_slice());
            let r = Scalar::from_coins(&coins);
            keys.set(i, &crs.key(choices.get(i).unwrap_u8(), &r));
            secrets.push(r);
        }
        Ok((Self { session, choices, keys: keys.clone(), secrets }, keys))
    }

    /// Step 5: the chosen messages.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if the ciphertexts were decoded for another number of instances.
    pub fn finish(self, ciphertexts: &Ciphertexts) -> Result<ReceiverKeys, Usage> {
        let Self { session, choices, keys, secrets } = self;
        expect_count("instances in the ciphertexts", choices.len(), ciphertexts.instances())?;
        let oracle = session.oracle("foxtrot v1 pvw mask");
        let mut chosen = Vec::with_capacity(choices.len());
        for (i, r) in secrets.iter().enumerate() {
            let choice = choices.get(i);
            let [(zero, zero_bytes), (one, one_bytes)] =
                [0, 1].map(|j| (ciphertexts.u(i, j), ciphertexts.branch(i, j)));
            let u = Zeroizing::new(Point::select(&zero, &one, choice.unwrap_u8()));
            let v = curve::combine([(&u, r)]);
            let mut branch = Zeroizing::new([0; BRANCH_LEN]);
            select(choice, zero_bytes, one_bytes, branch.as_mut_slice());
            let (u, c) = branch.split_at(POINT_LEN);
            let mask = mask(&oracle, i, choice, keys.of(i), u, &v);
            chosen.push(core::array::from_fn(|k| c[k] ^ mask[k]));
        }
        Ok(ReceiverKeys::new(choices, chosen))
    }
}

/// Steps 3 and 4: sends these messages, and is then finished.
///
/// # Errors
/// [`Usage::CountMismatch`] if there are not as many pairs of messages as keys.
pub fn send(
    session: Session,
    keys: &PublicKeys,
    messages: SenderKeys,
    seed: Seed,
) -> Result<(Ciphertexts, Sent), Usage> {
    expect_count("pairs of messages", keys.instances(), messages.pairs().len())?;
    Ok(send_under(&Crs::new(&session), &session, keys, messages, seed))
}

fn send_under(
    crs: &Crs,
    session: &Session,
    keys: &PublicKeys,
    messages: SenderKeys,
    seed: Seed,
) -> (Ciphertexts, Sent) {
    let coins_of = session.oracle("foxtrot v1 pvw sender coins");
    let oracle = session.oracle("foxtrot v1 pvw mask");
    let mut ciphertexts = Ciphertexts::blank(keys.instances());
    let mut coins = Zeroizing::new([[0; Scalar::COINS]; 2]);
    for (i, pair) in messages.pairs().iter().enumerate() {
        let [p, q] = keys.points(i);
        for (j, message) in (0..).zip(pair) {
            // Step 3.
            coins_of.query(i as u64, j).field(seed.as_bytes()).fill(coins.as_flattened_mut());
            let [s, t] = coins.each_ref().map(Scalar::from_coins);
            let u = crs.combine(j, [&s, &t]);
            let v = curve::combine([(&p, &s), (&q, &t)]);

            // Step 4.
            let mask = mask(&oracle, i, Choice::from(j), keys.of(i), &u, &v);
            let c: Block = core::array::from_fn(|k| message[k] ^ mask[k]);
            ciphertexts.set(i, usize::from(j), &u, &c);
        }
    }
    (ciphertexts, Sent::new(messages))
}

/// H(i, j, P, Q, U, V).
fn mask(oracle: &Oracle, i: usize, j: Choice, key: &[u8], u: &[u8], v: &Point) -> Zeroizing<Block> {
    let v = curve::encode(v);
    let query = oracle.query(i as u64, j.unwrap_u8()).field(key).field(u).field(v.as_slice());
    Zeroizing::new(query.finish())
}

impl Sealed for Pvw {}

impl ChosenMessageOt for Pvw {
    const INFO: &'static Protocol = &Protocol {
        name: "pvw",
        family: "pvw",
        paper: "PVW08, DDH",
        functionality: Functionality::ChosenMessage,
        assumption: "DDH, random oracle",
        params: "P-256",
        security: "128 classical, 0 quantum",
        caveat: "a quantum computer reads choices and messages",
        flows: 2,
        receiver_bytes: PublicKeys::encoded_len,
        sender_bytes: Ciphertexts::encoded_len,
        ..Protocol::BASE_OT
    };

    const NAME_AS_ROT: &'static str = "rot-from-ot:pvw";
    const CAVEAT_AS_ROT: &'static str = "a quantum computer reads choices and keys; a receiver sees \
        its keys before it opens, so never retry a failed batch";

    async fn send(
        io: &Io,
        session: Session,
        messages: SenderKeys,
        seed: Seed,
    ) -> Result<Sent, Error> {
        let n = messages.pairs().len();
        check_batch(n)?;
        let keys = PublicKeys::receive(io, n).await?;
        let (ciphertexts, sent) = send(session, &keys, messages, seed)?;
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
        let (receiver, keys) = Receiver::start(session, choices, seed)?;
        io.send(keys.into_bytes()).await;
        Ok(receiver.finish(&Ciphertexts::receive(io, n).await?)?)
    }
}

foxtrot_kernel::redacted! {
    Receiver, receiver => "<{} instances>", receiver.choices.len();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Sid;

    /// Shows why nobody may know a relation between the two halves of the reference string: with
    /// (r/y)·U the other branch also opens.
    #[test]
    fn knowing_the_trapdoor_y_decrypts_both_branches() {
        let session = || Session::new(Sid::from_bytes([1; 32]));
        let scalar = |x: u8| {
            let mut coins = [0; Scalar::COINS];
            coins[0] = x;
            Scalar::from_coins(&coins)
        };
        let oracle = session().oracle("foxtrot v1 pvw CRS");
        let [g_0, h_0] = [0, 1].map(|k| curve::hash_to_curve(&oracle, k));
        // y = 5; r = 35 is 7 times as much.
        let times_5 = |p| Point::combine([(p, &scalar(5))]);
        let crs = Crs::of([[g_0, h_0], [times_5(&g_0), times_5(&h_0)]]);
        let mut keys = PublicKeys::blank(1);
        keys.set(0, &crs.key(0, &scalar(35)));
        let messages = SenderKeys::new(vec![[[1; 16], [2; 16]]]);
        let (sent, _) = send_under(&crs, &session(), &keys, messages, Seed::from_bytes([2; 32]));

        let oracle = session().oracle("foxtrot v1 pvw mask");
        let opened = |j: u8, exponent: &Scalar| -> Block {
            let u = sent.u(0, j.into());
            let v = curve::combine([(&u, exponent)]);
            let (u, c) = sent.branch(0, j.into()).split_at(POINT_LEN);
            let mask = mask(&oracle, 0, Choice::from(j), keys.of(0), u, &v);
            core::array::from_fn(|k| c[k] ^ mask[k])
        };
        assert_eq!(opened(0, &scalar(35)), [1; 16]);
        assert_ne!(opened(1, &scalar(35)), [2; 16]);
        assert_eq!(opened(1, &scalar(7)), [2; 16]);
    }
}
