//! Endemic OT in one flow: McQuoid, Rosulek and Roy
//! [[MRR21](https://eprint.iacr.org/2021/682), Figure 3; [MRR20](https://eprint.iacr.org/2020/1043)].
//!
//! A programmable-once public function φ is a key-agreement message in two places, of which the
//! receiver knows the secret of one. The sender's message is one for all instances; the tags
//! (sub-sid, i, j) of the agreed keys are what makes that safe. Any [`popf`] goes with any
//! [`agreement`] whose messages are uniform in its domain: thirteen pairs. For
//! instance i (what the proof needs: below; bytes:
//! `docs/wire/mcquoid-rosulek-roy.md`, section 12)
//!
//! ```text
//! S                                                     R (choices)
//! 1  a;  A = share(a)
//!                                                       2  b;  B = message(b)
//!                                                       3  φ = Program(i, c, B)
//!                  ── KeyShare: A ──►
//!                  ◄── Blinded: φ per instance ──
//! 4  P^j = Eval(φ, i, j), j = 0, 1
//! 5  K(i, j, A, a·P^j)                                  6  K(i, c, A, b·A)
//! ```
//!
//! Realises batch endemic OT against malicious adversaries in the UC framework (MRR21, Theorem 11),
//! under the tagged oracle Diffie–Hellman assumption, which gap-DH implies in the random oracle
//! model; on curve and twist together for Möller's agreement. 32 to 80 bytes from R per instance and 32
//! or 64 from S per batch. The messages do not depend on each other: one flow. Not given:
//! security against quantum computers; keys that are uniform if a party cheats (a corrupt one
//! fixes its own).
//!
//! # Letters
//!
//! | symbol | meaning | in code |
//! |---|---|---|
//! | G; G₀, G₁ | generator of Ristretto255; of the whole curve, of the whole twist | `mul_base`; `mul_generators` |
//! | a, A | the sender's scalar and share, one per batch | `secret`; `share` |
//! | b, β, B | the receiver's scalar, its side, its message | `secrets`; `on_twist`; `points`, `messages` |
//! | φ | description of the POPF | `phis` |
//! | x | where it is programmed: the choice | `x` |
//! | T, s, r, H₁, H′ | as for `roted`, in this group | `Feistel2` |
//! | t, s; s₀, s₁ | parts of φ | `Feistel`; `MasnyRindal` |
//! | P^j | value of the POPF | `values` of `Sender::finish` |
//! | tag | (sub-sid, i, j) of a key | `agreement::keys` |
#![doc = ""]
#![doc = include_str!("mcquoid_rosulek_roy.md")]
#![doc = base_ot_example!("base::find(\"mcquoid-rosulek-roy\", base::Functionality::Endemic).unwrap()", "Choice::Given(Bits::from_bools([false, true]))")]

use alloc::{vec, vec::Vec};
use core::marker::PhantomData;

use foxtrot_kernel::{Backend, curve::Invalid};
use zeroize::Zeroizing;

use super::{
    BaseOt, Choice, Protocol, ReceiverKeys, Run, SenderKeys, check_batch, expect_count,
    message::message, set_pairs,
};
use crate::{
    Bits, Decode, Seed, Session, Usage,
    agreement::{self, Agreement, draw, keys},
    engine::Engine,
    erase::SecretBytes,
    popf::{self, Domain, Popf},
};

/// Prefix of the names of this protocol; the POPF and the agreement follow.
pub const NAME: &str = "mcquoid-rosulek-roy";

/// Instances that are computed together.
const GROUP: usize = 256;

/// The protocol with that POPF and that key agreement as a [`BaseOt`].
#[derive(Debug)]
pub struct McQuoidRosulekRoy<P, A> {
    info: &'static Protocol,
    pair: PhantomData<(P, A)>,
}

message! {
    /// S → R: the sender's share, one for all instances.
    [A: Agreement] KeyShare,
    len: |_n| A::SHARE_LEN,
    check: |bytes, _n| match A::is_share(bytes) {
        true => Ok(()),
        false => Err(Decode::Point { message: Self::NAME, instance: 0 }),
    }
}

message! {
    /// R → S: φ of every instance.
    [P: Popf] Blinded,
    len: |n| n.saturating_mul(P::PHI_LEN),
    check: |bytes, _n| P::check(Backend::best(), bytes)
        .map_err(|Invalid { index: instance }| Decode::Point { message: Self::NAME, instance })
}

/// The sender, waiting for [`Blinded`].
///
/// It answers one: with many, a receiver could ask for the keys of one tag at points of its choice.
///
/// ```
/// # use foxtrot_ot::{Bits, Seed, Session, Sid};
/// # use foxtrot_ot::base::mcquoid_rosulek_roy::{Receiver, Sender};
/// # use foxtrot_ot::{agreement::Moeller, popf::{Feistel, Strings}};
/// # let session = || Session::new(Sid::from_bytes([0; 32]));
/// # let (choices, seed) = (Bits::from_bools([true]), || Seed::from_bytes([0; 32]));
/// let (sender, share) = Sender::<Feistel<Strings>, Moeller>::start(session(), 1, seed())?;
/// let (receiver, blinded) = Receiver::start(session(), choices, seed())?;
/// let keys = sender.finish(&blinded)?;
/// assert_eq!(receiver.finish(&share)?.keys()[0], keys.pairs()[0][1]);
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::base::mcquoid_rosulek_roy::{Blinded, Sender};
/// # use foxtrot_ot::{agreement::Moeller, popf::{Feistel, Strings}};
/// # fn twice(sender: Sender<Feistel<Strings>, Moeller>, blinded: &Blinded<Feistel<Strings>>) {
/// let _ = sender.finish(blinded);
/// let _ = sender.finish(blinded);
/// # }
/// ```
#[must_use = "the protocol is not finished"]
pub struct Sender<P: Popf, A: Agreement<Domain = P::Domain>> {
    session: Session,
    secret: Zeroizing<[u8; 32]>,
    share: KeyShare<A>,
    pair: PhantomData<P>,
}

/// The receiver, waiting for the [`KeyShare`]. It takes one.
#[must_use = "the protocol is not finished"]
pub struct Receiver<P: Popf, A: Agreement<Domain = P::Domain>> {
    session: Session,
    choices: Bits,
    secrets: A::Receiver,
    pair: PhantomData<P>,
}

impl<P: Popf, A: Agreement<Domain = P::Domain>> Sender<P, A> {
    /// Step 1: begins a batch of n.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`].
    pub fn start(session: Session, n: usize, seed: Seed) -> Result<(Self, KeyShare<A>), Usage> {
        check_batch(n)?;
        let (secret, bytes) = A::share(&session, &seed);
        let share = KeyShare { bytes, n, of: PhantomData };
        Ok((Self { session, secret, share: share.clone(), pair: PhantomData }, share))
    }

    /// Steps 4 and 5: both keys of every instance.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if the message was decoded for another number of instances.
    pub fn finish(self, blinded: &Blinded<P>) -> Result<SenderKeys, Usage> {
        let Self { session, secret, share, .. } = self;
        let n = share.instances();
        expect_count("instances in the receiver's message", n, blinded.instances())?;
        let popf = P::new(&session);
        let mut pairs = vec![[[0; 16]; 2]; n];
        let phis = blinded.as_bytes().chunks(GROUP * P::PHI_LEN);
        for (first, (pairs, phis)) in (0..).step_by(GROUP).zip(pairs.chunks_mut(GROUP).zip(phis)) {
            // Step 4: those of branch 0 first.
            let count = pairs.len();
            let mut values = P::Domain::zeros(2 * count);
            let (zero, one) = values.split_at_mut(count);
            popf.evaluate(first, phis, [zero, one]);
            // Step 5.
            let position = |k: usize| (first + (k % count) as u64, u8::from(k >= count));
            let points = A::sender_points(session.backend(), &secret, &values);
            set_pairs(pairs, &keys::<A>(&session, share.as_bytes(), &points, position));
        }
        Ok(SenderKeys::new(pairs))
    }
}

impl<P: Popf, A: Agreement<Domain = P::Domain>> Receiver<P, A> {
    /// Steps 2 and 3: begins a batch with these choices.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`].
    pub fn start(session: Session, choices: Bits, seed: Seed) -> Result<(Self, Blinded<P>), Usage> {
        let n = choices.len();
        check_batch(n)?;
        // Step 2.
        let (secrets, points) = A::respond(&session, n, &seed);
        // Step 3.
        let popf = P::new(&session);
        let mut blinded = Blinded::blank(n);
        let groups = blinded.bytes.chunks_mut(GROUP * P::PHI_LEN);
        for (first, (phis, points)) in (0..n).step_by(GROUP).zip(groups.zip(points.chunks(GROUP))) {
            let count = points.len();
            let mut x = SecretBytes::zeroed(count);
            x.iter_mut().enumerate().for_each(|(k, x)| *x = choices.get(first + k).unwrap_u8());
            let position = |k: usize| ((first + k) as u64, 1);
            let context = "foxtrot v1 mcquoid-rosulek-roy receiver coins";
            let coins = draw(&session, context, &seed, P::COINS_LEN, count, position);
            popf.program(first as u64, &x, points, &coins, phis);
        }
        Ok((Self { session, choices, secrets, pair: PhantomData }, blinded))
    }

    /// Step 6: the chosen keys.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if the message was decoded for another number of instances.
    pub fn finish(self, share: &KeyShare<A>) -> Result<ReceiverKeys, Usage> {
        let Self { session, choices, secrets, .. } = self;
        expect_count("instances of the sender's message", choices.len(), share.instances())?;
        let points = A::receiver_points(session.backend(), &secrets, share.as_bytes());
        let position = |i: usize| (i as u64, choices.get(i).unwrap_u8());
        let keys = keys::<A>(&session, share.as_bytes(), &points, position);
        Ok(ReceiverKeys::new(choices, keys.to_vec()))
    }
}

impl<P: Popf, A: Agreement<Domain = P::Domain>> McQuoidRosulekRoy<P, A> {
    /// The protocol.
    pub const NEW: Self = Self { info: &Self::INFO, pair: PhantomData };

    /// The name in a room, and its length.
    const NAME: &'static ([u8; 64], usize) = &joined([NAME, ":", P::NAME, ":", A::NAME]);

    const INFO: Protocol = Protocol {
        name: match core::str::from_utf8(Self::NAME.0.split_at(Self::NAME.1).0) {
            Ok(name) => name,
            Err(_) => unreachable!(),
        },
        family: NAME,
        paper: P::PAPER,
        assumption: A::ASSUMPTIONS[P::IDEAL_CIPHER as usize],
        params: A::PARAMS,
        security: "126 classical, 0 quantum",
        caveat: P::CAVEAT,
        flows: 1,
        receiver_bytes: Blinded::<P>::encoded_len,
        sender_bytes: KeyShare::<A>::encoded_len,
        ..Protocol::BASE_OT
    };
}

const fn joined(parts: [&str; 5]) -> ([u8; 64], usize) {
    let (mut room, mut len, mut part) = ([0; 64], 0, 0);
    while part < parts.len() {
        let (_, rest) = room.split_at_mut(len);
        let (to, _) = rest.split_at_mut(parts[part].len());
        to.copy_from_slice(parts[part].as_bytes());
        len += to.len();
        part += 1;
    }
    (room, len)
}

impl McQuoidRosulekRoy<popf::MasnyRindal<popf::Ristretto>, agreement::Ristretto> {
    /// The OT of Masny and Rindal with one message of the sender for all instances: the same pair
    /// under the name by which it is known.
    pub const REUSE: Self = Self {
        info: &Protocol {
            name: "masny-rindal-reuse",
            family: "masny-rindal",
            paper: "MR19, batched as MRR21",
            ..Self::INFO
        },
        pair: PhantomData,
    };
}

impl<P: Popf, A: Agreement<Domain = P::Domain>> BaseOt for McQuoidRosulekRoy<P, A> {
    fn info(&self) -> &'static Protocol {
        self.info
    }

    fn sender(&self, session: Session, n: usize, seed: Seed) -> Run<SenderKeys> {
        check_batch(n)?;
        Ok(Engine::new(move |io| async move {
            let (sender, share) = Sender::<P, A>::start(session, n, seed)?;
            io.send(share.into_bytes()).await;
            Ok(sender.finish(&Blinded::receive(&io, n).await?)?)
        }))
    }

    fn receiver(&self, session: Session, choice: Choice, seed: Seed) -> Run<ReceiverKeys> {
        let choices = choice.given(self.info.name)?;
        let n = choices.len();
        check_batch(n)?;
        Ok(Engine::new(move |io| async move {
            let (receiver, blinded) = Receiver::<P, A>::start(session, choices, seed)?;
            io.send(blinded.into_bytes()).await;
            Ok(receiver.finish(&KeyShare::receive(&io, n).await?)?)
        }))
    }
}

foxtrot_kernel::redacted! {
    [P: Popf, A: Agreement<Domain = P::Domain>] Sender<P, A>, sender => "<{} instances>", sender.share.n;
    [P: Popf, A: Agreement<Domain = P::Domain>] Receiver<P, A>, receiver => "<{} instances>", receiver.choices.len();
}

#[cfg(test)]
mod tests;
