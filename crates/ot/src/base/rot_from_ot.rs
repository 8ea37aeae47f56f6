//! Random OT from chosen-message OT: Figure 2 of
//! [[BFGMMS21](https://doi.org/10.46586/tches.v2021.i4.215-238)].
//!
//! Realises F_ROT with abort from any F_OT, in the random oracle model, under the assumptions
//! of the [`ChosenMessageOt`]. A batch of n (proof:
//! below, section 4; bytes: `docs/wire/rot-from-ot.md`, section 9)
//!
//! ```text
//! R (t random, b random bits)                           S (m_0, m_1 random)
//!                  ── Commitment: H(t) ──►
//!                  ◄── F_OT: b; m_0, m_1 ──►
//!                  ◄── Swap: c random bits ──
//!                  ── Opening: t ──►
//! b ⊕ c,  m_b ⊕ H(i, b, t)                              m_j ⊕ H(i, j, t) at position j ⊕ c
//! ```
//!
//! Three messages, 64 + ⌈n/8⌉ bytes and 2n + 3 hashes more than the OT. The typed states do not
//! know where the messages m come from: that is the role of [`RotFromOt`]. Not given:
//! fairness (a corrupt receiver sees its keys before it opens, so a failed batch must not be
//! retried in the same context).
//!
//! # Steps
//!
//! * **Step 1 (R).** t ← {0,1}²⁵⁶ and bits b_i from the seed.
//! * **Step 2 (R→S).** `Commitment` = H(t).
//! * **Step 3.** The OT under a sub-sid of its own: S's messages m_{i,0}, m_{i,1} are drawn from its seed,
//!   R's choices are b_i.
//! * **Step 4 (S→R).** `Swap` = bits c_i.
//! * **Step 5 (R→S).** `Opening` = t.
//! * **Step 6 (R).** Output b_i ⊕ c_i and m_{i,b_i} ⊕ H_t(i, b_i, t).
//! * **Step 7 (S).** Abort unless H(t) is the commitment.
//! * **Step 8 (S).** Output m_{i,j} ⊕ H_t(i, j, t) at position j ⊕ c_i.
//!
//! # Letters
//!
//! Of this protocol, [`bdgm`](super::bdgm) and [`pvw`](super::pvw):
//!
//! | symbol | meaning | in code |
//! |---|---|---|
//! | G_j, H_j | reference string of `pvw` | `Crs`; reference `reference_string` |
//! | r; P, Q | the receiver's scalar and public key | `secrets`; `PublicKeys` |
//! | s, t; U, V | the sender's scalars; the point sent, the secret point | `s`, `t`, `u`, `v` |
//! | C | masked message | `c`, part of `Ciphertexts` |
//! | w, x | what a `bdgm` challenge encrypts; w masked | `w`, `x`; for all instances `answers` |
//! | Enc(P; coins) | Steps 6 and 7 of `roted` | `Batch::answer` |
//! | m_j, M_j | messages of the OT; keys of Figure 2 | `sent`, `received`; `keys` |
//! | t, t_{i,j} | Figure 2's committed string; its shares | `t`, `share` |
//! | b, c | Figure 2's choices in the OT; bits that swap | `choices`; `Swap` |
#![doc = ""]
#![doc = include_str!("rot_from_ot.md")]
#![doc = base_ot_example!("base::rot_from_ot::RotFromOt::<base::pvw::Pvw>::NEW", "Choice::Random(2)")]

use alloc::{vec, vec::Vec};
use core::marker::PhantomData;

use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{
    BaseOt, Block, Choice, Functionality, Protocol, ReceiverKeys, Run, SenderKeys, check_batch,
    chosen::{ChosenMessageOt, Sent, drawn_messages},
    expect_count,
    message::message,
};
use crate::{
    Bits, Direction, Misbehaved, Seed, Session, Usage, choices::verdict, engine::Engine,
    oracle::Oracle,
};

/// The protocol over an OT, as a [`BaseOt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RotFromOt<O>(PhantomData<O>);

message! {
    /// R → S, before the OT: the hash of t, one for the whole batch.
    Commitment,
    len: |_n| 32,
    check: |_bytes, _n| Ok(())
}

message! {
    /// S → R, after the OT: a bit c for every instance.
    Swap,
    len: |n| n.div_ceil(8),
    check: |bytes, n| Bits::decode(Self::NAME, bytes, n).map(drop)
}

message! {
    /// R → S: the committed t.
    Opening,
    len: |_n| 32,
    check: |_bytes, _n| Ok(())
}

/// H(t), one for the batch whatever its size.
fn commit(session: &Session, t: &[u8]) -> [u8; 32] {
    session.oracle("foxtrot v1 rot-from-ot commitment").query(0, 0).field(t).finish()
}

/// message ⊕ H(i, j, t).
fn masked(oracle: &Oracle, i: usize, j: u8, t: &[u8], message: &Block) -> Block {
    let share: Zeroizing<Block> = Zeroizing::new(oracle.query(i as u64, j).field(t).finish());
    core::array::from_fn(|k| message[k] ^ share[k])
}

/// The receiver, while the OT runs with the choices that it drew.
///
/// It opens once, as in the example at [`Sender`]: what was opened cannot be used under another [`Swap`].
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::base::{ReceiverKeys, rot_from_ot::{Receiver, Swap}};
/// # fn twice(receiver: Receiver, [one, other]: [ReceiverKeys; 2], swap: &Swap) {
/// let _ = receiver.finish(one, swap);
/// let _ = receiver.finish(other, swap);
/// # }
/// ```
#[must_use = "the protocol is not finished"]
pub struct Receiver {
    session: Session,
    n: usize,
    t: Zeroizing<[u8; 32]>,
}

/// The sender, waiting for the [`Opening`]. It has no keys to give before that is checked.
///
/// It tells the bits c when the OT is over, which a [`Sent`] proves. A receiver that knew them
/// before it chose would choose b ⊕ c. The OT needs a session of its own, such as a
/// [`sub`](Session::sub) of this one.
///
/// ```
/// # use foxtrot_ot::{Direction, Seed, Session, Sid, base::{chosen::drawn_messages, pvw, rot_from_ot::{Receiver, Sender}}};
/// # let session = || Session::new(Sid::from_bytes([0; 32]));
/// # let seed = || Seed::from_bytes([0; 32]);
/// let ot_session = || session().sub("pvw", 0, Direction::InitiatorSends);
/// let messages = drawn_messages(&ot_session(), 1, &seed());
/// let (receiver, commitment, choices) = Receiver::start(session(), 1, &seed())?;
/// let (ot_receiver, keys) = pvw::Receiver::start(ot_session(), choices, seed())?;
/// let swap = Sender::start(session(), &commitment, &seed());
/// let (ciphertexts, sent) = pvw::send(ot_session(), &keys, messages, seed())?;
/// let (sender, swap) = swap(sent)?;
/// let (_, opening) = receiver.finish(ot_receiver.finish(&ciphertexts)?, &swap)?;
/// sender.finish(&opening)?.pairs();
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
///
/// ```compile_fail,E0308
/// # use foxtrot_ot::{Seed, Session, base::{SenderKeys, rot_from_ot::{Commitment, Sender}}};
/// # fn early(session: Session, commitment: &Commitment, messages: SenderKeys, seed: &Seed) {
/// let _ = Sender::start(session, commitment, seed)(messages);
/// # }
/// ```
///
/// ```compile_fail,E0599
/// # use foxtrot_ot::base::rot_from_ot::Sender;
/// # fn unchecked(sender: &Sender) {
/// sender.pairs();
/// # }
/// ```
#[must_use = "the protocol is not finished"]
pub struct Sender {
    session: Session,
    commitment: Commitment,
    swap: Bits,
    sent: SenderKeys,
}

impl Receiver {
    /// Steps 1 and 2: begins a batch of n; the OT is to be run with these choices.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`].
    pub fn start(
        session: Session,
        n: usize,
        seed: &Seed,
    ) -> Result<(Self, Commitment, Bits), Usage> {
        check_batch(n)?;
        let mut coins = Zeroizing::new(vec![0; 32 + n.div_ceil(8)]);
        let oracle = session.oracle("foxtrot v1 rot-from-ot receiver coins");
        oracle.query(0, 0).field(seed.as_bytes()).fill(&mut coins);
        let (t, b) = coins.split_at(32);
        let t = Zeroizing::new(core::array::from_fn(|k| t[k]));
        let commitment = Commitment { bytes: commit(&session, t.as_slice()).to_vec(), n };
        Ok((Self { session, n, t }, commitment, Bits::from_random(b.to_vec(), n)))
    }

    /// Steps 5 and 6: what the OT gave becomes keys; and the opening without which the sender has
    /// none.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if the three are not of one batch.
    pub fn finish(
        self,
        received: ReceiverKeys,
        swap: &Swap,
    ) -> Result<(ReceiverKeys, Opening), Usage> {
        expect_count("received messages", self.n, received.keys().len())?;
        expect_count("instances to swap", self.n, swap.instances())?;
        let oracle = self.session.oracle("foxtrot v1 rot-from-ot share");
        let keys = received.keys().iter().enumerate().map(|(i, message)| {
            let b = received.choices().get(i).unwrap_u8();
            masked(&oracle, i, b, self.t.as_slice(), message)
        });
        let keys = keys.collect();
        Ok((
            ReceiverKeys::new(
                received.choices().xor(&Bits::from_random(swap.bytes.clone(), self.n)),
                keys,
            ),
            Opening { bytes: self.t.to_vec(), n: self.n },
        ))
    }
}

impl Sender {
    /// Step 3: takes the commitment, without which the OT must not begin. Returns step 4, a function of the messages that
    /// were sent in the OT: it returns the bits that swap them, or [`Usage::CountMismatch`] if the OT had another number of
    /// instances.
    pub fn start(
        session: Session,
        commitment: &Commitment,
        seed: &Seed,
    ) -> impl FnOnce(Sent) -> Result<(Self, Swap), Usage> + use<> {
        let (n, commitment) = (commitment.instances(), commitment.clone());
        let mut coins = vec![0; n.div_ceil(8)];
        let oracle = session.oracle("foxtrot v1 rot-from-ot sender coins");
        oracle.query(0, 0).field(seed.as_bytes()).fill(&mut coins);
        let mut bits = Bits::from_random(coins, n);
        bits.make_public();
        move |sent| {
            let sent = sent.into_messages();
            expect_count("sent messages", n, sent.pairs().len())?;
            let swap = Swap { bytes: bits.as_bytes().to_vec(), n };
            Ok((Self { session, commitment, swap: bits, sent }, swap))
        }
    }

    /// Steps 7 and 8: checks the opening and gives the keys.
    ///
    /// # Errors
    /// [`Misbehaved::CommitmentMismatch`]: the receiver opened something else than it committed to.
    pub fn finish(self, opening: &Opening) -> Result<SenderKeys, Misbehaved> {
        let computed = commit(&self.session, &opening.bytes);
        if !verdict(computed.as_slice().ct_eq(self.commitment.as_bytes())) {
            return Err(Misbehaved::CommitmentMismatch);
        }
        let oracle = self.session.oracle("foxtrot v1 rot-from-ot share");
        let keys = self.sent.pairs().iter().enumerate().map(|(i, pair)| {
            let key = |j: u8| masked(&oracle, i, j, &opening.bytes, &pair[usize::from(j)]);
            // The bit c is public.
            let c = self.swap.get(i).unwrap_u8();
            [key(c), key(1 ^ c)]
        });
        Ok(SenderKeys::new(keys.collect()))
    }
}

impl<O> RotFromOt<O> {
    /// The protocol.
    pub const NEW: Self = Self(PhantomData);
}

impl<O: ChosenMessageOt> RotFromOt<O> {
    const INFO: Protocol = Protocol {
        name: O::NAME_AS_ROT,
        family: "rot-from-ot",
        paper: "BFGMMS21, Figure 2",
        functionality: Functionality::Random,
        adversary: O::INFO.adversary,
        assumption: O::INFO.assumption,
        params: O::INFO.params,
        security: O::INFO.security,
        caveat: O::CAVEAT_AS_ROT,
        reproduction: O::INFO.reproduction,
        flows: O::INFO.flows + 3,
        receiver_bytes: |n| {
            Commitment::encoded_len(n) + (O::INFO.receiver_bytes)(n) + Opening::encoded_len(n)
        },
        sender_bytes: |n| (O::INFO.sender_bytes)(n) + Swap::encoded_len(n),
        ..Protocol::BASE_OT
    };
}

impl<O: ChosenMessageOt> BaseOt for RotFromOt<O> {
    fn info(&self) -> &'static Protocol {
        const { &Self::INFO }
    }

    fn sender(&self, session: Session, n: usize, seed: Seed) -> Run<SenderKeys> {
        check_batch(n)?;
        Ok(Engine::new(move |io| async move {
            let commitment = Commitment::receive(&io, n).await?;
            let ot_session = ot_session::<O>(&session);
            let messages = drawn_messages(&ot_session, n, &seed);
            let swap = Sender::start(session, &commitment, &seed);
            let (sender, swap) = swap(O::send(&io, ot_session, messages, seed.again()).await?)?;
            io.send(swap.into_bytes()).await;
            Ok(sender.finish(&Opening::receive(&io, n).await?)?)
        }))
    }

    fn receiver(&self, session: Session, choice: Choice, seed: Seed) -> Run<ReceiverKeys> {
        let n = choice.random(O::NAME_AS_ROT)?;
        check_batch(n)?;
        Ok(Engine::new(move |io| async move {
            let ot_session = ot_session::<O>(&session);
            let (receiver, commitment, choices) = Receiver::start(session, n, &seed)?;
            io.send(commitment.into_bytes()).await;
            let received = O::receive(&io, ot_session, choices, seed).await?;
            let (keys, opening) = receiver.finish(received, &Swap::receive(&io, n).await?)?;
            io.send(opening.into_bytes()).await;
            Ok(keys)
        }))
    }
}

/// The namespace of the OT below.
fn ot_session<O: ChosenMessageOt>(session: &Session) -> Session {
    session.sub(O::INFO.name, 0, Direction::InitiatorSends)
}

foxtrot_kernel::redacted! {
    Receiver, receiver => "<{} instances>", receiver.n;
    Sender, sender => "<{} instances>", sender.commitment.instances();
}
