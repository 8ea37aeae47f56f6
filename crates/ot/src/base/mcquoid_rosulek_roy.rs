//! Endemic OT in one flow: McQuoid, Rosulek and Roy
//! [[MRR21](https://eprint.iacr.org/2021/682), Figure 3; [MRR20](https://eprint.iacr.org/2020/1043)],
//! with the two-round Feistel POPF and Diffie–Hellman over Ristretto255.
//!
//! A programmable-once public function φ is a key-agreement message in two places, of which the
//! receiver knows the secret of one. The sender's message is one for all instances; the tags
//! (sub-sid, i, j) of the agreed keys are what makes that safe. For instance i, in additive notation
//! (steps and what the proof needs: `docs/protocols/mcquoid-rosulek-roy.md`; bytes:
//! `docs/wire.md`, section 12)
//!
//! ```text
//! R (choice c)                                          S
//! B = b·G                                               once per batch: A = a·G
//! T = B − H₁(i, c, r),  s = r ⊕ H′(i, c, T)
//!                  ── Blinded: T, s ──►
//!                  ◄── KeyShare: A ──                   at the same time
//!                                                       for j = 0, 1:
//!                                                       P = T + H₁(i, j, s ⊕ H′(i, j, T))
//! key = H(i, c, A, b·A)                                 keys = H(i, j, A, a·P)
//! ```
//!
//! Realises batch endemic OT against malicious adversaries in the UC framework (MRR21, Theorem 11),
//! under the tagged oracle Diffie–Hellman assumption, which gap-DH implies in the random oracle
//! model. 80 bytes from R per instance and 32 from S per batch. The messages do not depend on each
//! other: one flow. What it does not give: any security against quantum computers; keys that are
//! uniform whoever cheats (a corrupt party fixes its own).

mod messages;

pub use messages::{Blinded, KeyShare};

use alloc::{boxed::Box, vec, vec::Vec};
use core::fmt;

use curve25519_dalek::{RistrettoPoint, Scalar};
use foxtrot_kernel::counters::{Operation, count};
use zeroize::{Zeroize, Zeroizing};

use super::{
    Adversary, BaseOt, Block, Choice, Functionality, Info, ReceiverKeys, Role, SenderKeys, Step,
    Waiting, check_batch, expect_count,
};
use crate::{
    Bits, Seed, Session, Usage,
    oracle::Oracle,
    popf::{Feistel2, GROUP, Group, RISTRETTO_LEN, Ristretto, S_LEN},
};

/// The name, with its POPF and its group: others may follow.
const NAME: &str = "mcquoid-rosulek-roy:feistel2:ristretto";

/// Bytes of φ.
const PHI_LEN: usize = RISTRETTO_LEN + S_LEN;
/// Bytes of coins for a scalar: reduction leaves it within 2⁻²⁵⁶ of uniform.
const SCALAR_COINS: usize = 64;

/// The protocol as a [`BaseOt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct McQuoidRosulekRoy;

/// The sender, waiting for [`Blinded`].
///
/// It answers one: with many, a receiver could ask for the keys of one tag at points of its choice.
///
/// ```
/// # use foxtrot_ot::{Bits, Seed, Session, Sid, base::mcquoid_rosulek_roy::{Receiver, Sender}};
/// # let session = || Session::new(Sid::from_bytes([0; 32]));
/// # let (choices, seed) = (Bits::from_bools([true]), || Seed::from_bytes([0; 32]));
/// let (sender, share) = Sender::start(session(), 1, seed())?;
/// let (receiver, blinded) = Receiver::start(session(), choices, seed())?;
/// let keys = sender.finish(&blinded)?;
/// assert_eq!(receiver.finish(&share)?.keys()[0], keys.pairs()[0][1]);
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::{Bits, Seed, Session, Sid, base::mcquoid_rosulek_roy::{Receiver, Sender}};
/// # let session = || Session::new(Sid::from_bytes([0; 32]));
/// # let (choices, seed) = (Bits::from_bools([true]), || Seed::from_bytes([0; 32]));
/// let (sender, share) = Sender::start(session(), 1, seed())?;
/// let (receiver, blinded) = Receiver::start(session(), choices, seed())?;
/// let keys = sender.finish(&blinded)?;
/// let again = sender.finish(&blinded)?;
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
#[must_use = "the protocol is not finished"]
pub struct Sender {
    session: Session,
    n: usize,
    a: Zeroizing<Scalar>,
    share: KeyShare,
}

/// The receiver, waiting for the [`KeyShare`]. It takes one.
#[must_use = "the protocol is not finished"]
pub struct Receiver {
    session: Session,
    choices: Bits,
    /// b of every instance.
    secrets: Zeroizing<Vec<Scalar>>,
}

impl Sender {
    /// Step 1: begins a batch of n.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`].
    pub fn start(session: Session, n: usize, seed: Seed) -> Result<(Self, KeyShare), Usage> {
        check_batch(n)?;
        let mut coins = Zeroizing::new([0; SCALAR_COINS]);
        let coins_of = session.oracle("foxtrot v1 mcquoid-rosulek-roy sender coins");
        coins_of.query(0, 0).field(seed.as_bytes()).fill(coins.as_mut_slice());
        let a = Zeroizing::new(Scalar::from_bytes_mod_order_wide(&coins));
        let share = KeyShare::new(&times_generator(&a), n);
        Ok((Self { session, n, a, share: share.clone() }, share))
    }

    /// Steps 4 and 5: both keys of every instance.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if the message was decoded for another number of instances.
    pub fn finish(self, blinded: &Blinded) -> Result<SenderKeys, Usage> {
        let Self { session, n, a, share } = self;
        expect_count("instances in the receiver's message", n, blinded.instances())?;
        let popf = popf(&session);
        let oracle = output(&session);
        let mut room = popf.room(n);
        let mut keys = vec![[[0; 16]; 2]; n];
        let groups = keys.chunks_mut(GROUP).zip(blinded.as_bytes().chunks(GROUP * PHI_LEN));
        for (first, (keys, phis)) in (0..n).step_by(GROUP).zip(groups) {
            let digests = popf.open(first as u64, phis);
            for j in [0, 1] {
                popf.evaluate(&mut room, &digests, phis, j, |k, point| {
                    let shared = Secret(times(point, &a));
                    keys[k][usize::from(j)] = key(&oracle, first + k, j, &share, &shared);
                });
            }
        }
        Ok(SenderKeys::new(keys))
    }
}

impl Receiver {
    /// Steps 2 and 3: begins a batch with these choices.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`].
    pub fn start(session: Session, choices: Bits, seed: Seed) -> Result<(Self, Blinded), Usage> {
        let n = choices.len();
        check_batch(n)?;
        let coins_of = session.oracle("foxtrot v1 mcquoid-rosulek-roy receiver coins");
        let popf = popf(&session);
        let mut room = popf.room(n);
        let mut blinded = Blinded::blank(n);
        let mut secrets = Zeroizing::new(Vec::with_capacity(n));
        let mut coins = Zeroizing::new([0; SCALAR_COINS]);
        let mut r = Zeroizing::new([[0; S_LEN]; GROUP]);
        for (first, phis) in
            (0..n).step_by(GROUP).zip(blinded.phis_mut().chunks_mut(GROUP * PHI_LEN))
        {
            let count = phis.len() / PHI_LEN;
            let mut points = vec![Ristretto.zero(); count];
            let mut x = Zeroizing::new([0; GROUP]);
            for k in 0..count {
                let i = first + k;
                coins_of.query(i as u64, 0).field(seed.as_bytes()).fill(coins.as_mut_slice());
                let b = Zeroizing::new(Scalar::from_bytes_mod_order_wide(&coins));
                coins_of.query(i as u64, 1).field(seed.as_bytes()).fill(&mut r[k]);
                points[k] = times_generator(&b);
                secrets.push(*b);
                x[k] = choices.get(i).unwrap_u8();
            }
            let difference = |k: usize, hash: &RistrettoPoint, t: &mut [u8]| {
                t.copy_from_slice((points[k] - hash).compress().as_bytes());
            };
            popf.program(&mut room, first as u64, &x[..count], &r[..count], difference, phis);
        }
        Ok((Self { session, choices, secrets }, blinded))
    }

    /// Step 6: the chosen keys.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if the message was decoded for another number of instances.
    pub fn finish(self, share: &KeyShare) -> Result<ReceiverKeys, Usage> {
        let Self { session, choices, secrets } = self;
        expect_count("instances of the sender's message", choices.len(), share.instances())?;
        let (a, oracle) = (share.point(), output(&session));
        let key = |(i, b): (usize, &Scalar)| {
            let shared = Secret(times(&a, b));
            key(&oracle, i, choices.get(i).unwrap_u8(), share, &shared)
        };
        let keys = secrets.iter().enumerate().map(key).collect();
        Ok(ReceiverKeys::new(choices, keys))
    }
}

/// A secret point.
struct Secret(RistrettoPoint);

impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

fn popf(session: &Session) -> Feistel2<Ristretto> {
    Feistel2::new(
        Ristretto,
        session.keyed("foxtrot v1 mcquoid-rosulek-roy H1", &[]),
        session.keyed("foxtrot v1 mcquoid-rosulek-roy T", &[]),
        session.keyed("foxtrot v1 mcquoid-rosulek-roy H'", &[]),
    )
}

fn output(session: &Session) -> Oracle {
    session.oracle("foxtrot v1 mcquoid-rosulek-roy output")
}

/// H(i, j, A, shared point).
fn key(oracle: &Oracle, i: usize, j: u8, share: &KeyShare, shared: &Secret) -> Block {
    let bytes = Zeroizing::new(shared.0.compress().to_bytes());
    oracle.query(i as u64, j).field(share.as_bytes()).field(bytes.as_slice()).finish()
}

fn times(point: &RistrettoPoint, scalar: &Scalar) -> RistrettoPoint {
    count(Operation::PointMultiplication, 1);
    point * scalar
}

fn times_generator(scalar: &Scalar) -> RistrettoPoint {
    count(Operation::PointMultiplication, 1);
    RistrettoPoint::mul_base(scalar)
}

impl BaseOt for McQuoidRosulekRoy {
    fn info(&self) -> &'static Info {
        &Info {
            name: NAME,
            family: "mcquoid-rosulek-roy",
            paper: "MRR21, POPF of MRR20",
            functionality: Functionality::Endemic,
            adversary: Adversary::Malicious,
            assumption: "tagged oracle Diffie-Hellman, random oracle",
            params: "Ristretto255",
            security: "126 classical, 0 quantum",
            caveat: "a quantum computer reads choices and keys; a corrupt party may fix its own keys",
            reproduction: false,
            flows: 1,
            receiver_bytes: Blinded::encoded_len,
            sender_bytes: KeyShare::encoded_len,
        }
    }

    fn sender(
        &self,
        session: Session,
        n: usize,
        seed: Seed,
    ) -> Result<Box<dyn Role<Out = SenderKeys>>, Usage> {
        check_batch(n)?;
        Ok(Waiting::first(move || {
            let (sender, share) = Sender::start(session, n, seed)?;
            let finish = Waiting::message(Blinded::encoded_len(n), move |bytes| {
                Ok(Step::done(None, sender.finish(&Blinded::decode(bytes, n)?)?))
            });
            Ok(Step::send(share.into_bytes(), finish))
        }))
    }

    fn receiver(
        &self,
        session: Session,
        choice: Choice,
        seed: Seed,
    ) -> Result<Box<dyn Role<Out = ReceiverKeys>>, Usage> {
        let Choice::Given(choices) = choice else {
            return Err(Usage::Choice { protocol: NAME, takes: "given choices" });
        };
        let n = choices.len();
        check_batch(n)?;
        Ok(Waiting::first(move || {
            let (receiver, blinded) = Receiver::start(session, choices, seed)?;
            let finish = Waiting::message(KeyShare::encoded_len(n), move |bytes| {
                Ok(Step::done(None, receiver.finish(&KeyShare::decode(bytes, n)?)?))
            });
            Ok(Step::send(blinded.into_bytes(), finish))
        }))
    }
}

impl fmt::Debug for Sender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sender(<{} instances>)", self.n)
    }
}

impl fmt::Debug for Receiver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Receiver(<{} instances>)", self.choices.len())
    }
}

#[cfg(test)]
mod tests;
