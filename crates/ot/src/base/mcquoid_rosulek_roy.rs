//! Endemic OT in one flow: McQuoid, Rosulek and Roy
//! [[MRR21](https://eprint.iacr.org/2021/682), Figure 3; [MRR20](https://eprint.iacr.org/2020/1043)].
//!
//! A programmable-once public function φ is a key-agreement message in two places, of which the
//! receiver knows the secret of one. The sender's message is one for all instances; the tags
//! (sub-sid, i, j) of the agreed keys are what makes that safe. Any [`popf`](crate::popf) goes with any
//! [`agreement`](crate::agreement) whose messages are uniform in its domain: thirteen pairs. For
//! instance i (steps and what the proof needs: `docs/protocols/mcquoid-rosulek-roy.md`; bytes:
//! `docs/wire/mcquoid-rosulek-roy.md`, section 12)
//!
//! ```text
//! R (choice c)                                          S
//! b, B of the key agreement                             once per batch: a, A of the key agreement
//! φ = Program(i, c, B)
//!                  ── Blinded: φ ──►
//!                  ◄── KeyShare: A ──                   at the same time
//!                                                       for j = 0, 1:
//!                                                       P = Eval(φ, i, j)
//! key = Key(b, A, tag (i, c))                           keys = Key(a, P, tag (i, j))
//! ```
//!
//! Realises batch endemic OT against malicious adversaries in the UC framework (MRR21, Theorem 11),
//! under the tagged oracle Diffie–Hellman assumption, which gap-DH implies in the random oracle
//! model; on curve and twist together for Möller's agreement. 32 to 80 bytes from R per instance and 32
//! or 64 from S per batch. The messages do not depend on each other: one flow. Not given:
//! security against quantum computers; keys that are uniform if a party cheats (a corrupt one
//! fixes its own).

mod messages;
mod pairs;

pub use messages::{Blinded, KeyShare};
pub use pairs::{
    EkeElligator, EkeMoeller, EvenMansourElligator, EvenMansourMoeller, Feistel2Elligator,
    Feistel2Moeller, Feistel2Ristretto, FeistelElligator, FeistelMoeller, FeistelRistretto,
    MasnyRindalElligator, MasnyRindalMoeller, MasnyRindalReuse, MasnyRindalRistretto, Pair,
};

use alloc::{vec, vec::Vec};
use core::marker::PhantomData;

use super::{
    BaseOt, Block, Choice, Protocol, ReceiverKeys, Run, SenderKeys, check_batch, expect_count,
};
use crate::{
    Bits, Seed, Session, Usage,
    agreement::{Agreement, Tag, draw},
    engine::Engine,
    erase::{SecretBytes, erase},
    popf::{Elements, Popf},
};

/// Prefix of the names of this protocol; the POPF and the agreement follow.
pub const NAME: &str = "mcquoid-rosulek-roy";

/// Instances that are computed together.
const GROUP: usize = 256;

/// The group in which a pair's key agreement has its messages.
type Domain<P> = <<P as Pair>::Agreement as Agreement>::Domain;

/// The protocol with that pair as a [`BaseOt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct McQuoidRosulekRoy<P>(PhantomData<P>);

impl<P: Pair> McQuoidRosulekRoy<P> {
    /// The value.
    pub const NEW: Self = Self(PhantomData);
}

/// The sender, waiting for [`Blinded`].
///
/// It answers one: with many, a receiver could ask for the keys of one tag at points of its choice.
///
/// ```
/// # use foxtrot_ot::{Bits, Seed, Session, Sid};
/// # use foxtrot_ot::base::mcquoid_rosulek_roy::{FeistelMoeller, Receiver, Sender};
/// # let session = || Session::new(Sid::from_bytes([0; 32]));
/// # let (choices, seed) = (Bits::from_bools([true]), || Seed::from_bytes([0; 32]));
/// let (sender, share) = Sender::<FeistelMoeller>::start(session(), 1, seed())?;
/// let (receiver, blinded) = Receiver::start(session(), choices, seed())?;
/// let keys = sender.finish(&blinded)?;
/// assert_eq!(receiver.finish(&share)?.keys()[0], keys.pairs()[0][1]);
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::base::mcquoid_rosulek_roy::{Blinded, FeistelMoeller, Sender};
/// # fn twice(sender: Sender<FeistelMoeller>, blinded: &Blinded<FeistelMoeller>) {
/// let _ = sender.finish(blinded);
/// let _ = sender.finish(blinded);
/// # }
/// ```
#[must_use = "the protocol is not finished"]
pub struct Sender<P: Pair> {
    session: Session,
    n: usize,
    secret: <P::Agreement as Agreement>::Sender,
    share: KeyShare<P>,
}

/// The receiver, waiting for the [`KeyShare`]. It takes one.
#[must_use = "the protocol is not finished"]
pub struct Receiver<P: Pair> {
    session: Session,
    choices: Bits,
    secrets: <P::Agreement as Agreement>::Receiver,
}

impl<P: Pair> Sender<P> {
    /// Step 1: begins a batch of n.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`].
    pub fn start(session: Session, n: usize, seed: Seed) -> Result<(Self, KeyShare<P>), Usage> {
        check_batch(n)?;
        let (secret, share) = P::Agreement::share(&session, &seed);
        let share = KeyShare::new(share, n);
        Ok((Self { session, n, secret, share: share.clone() }, share))
    }

    /// Steps 4 and 5: both keys of every instance.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if the message was decoded for another number of instances.
    pub fn finish(self, blinded: &Blinded<P>) -> Result<SenderKeys, Usage> {
        let Self { session, n, secret, share } = self;
        expect_count("instances in the receiver's message", n, blinded.instances())?;
        let popf = P::Popf::new(&session);
        let mut keys = vec![[[0; 16]; 2]; n];
        let mut of_group = [[0; 16]; 2 * GROUP];
        let phis = blinded.as_bytes().chunks(GROUP * P::Popf::PHI_LEN);
        for (first, (pairs, phis)) in (0..).step_by(GROUP).zip(keys.chunks_mut(GROUP).zip(phis)) {
            // Step 4: those of branch 0 first.
            let count = pairs.len();
            let mut points = Elements::<Domain<P>>::zeros(2 * count);
            let (zero, one) = points.split_at_mut(count);
            popf.evaluate(first, phis, [zero, one]);
            // Step 5.
            let tag = |k: usize| Tag {
                instance: first + (k % count) as u64,
                branch: u8::from(k >= count),
            };
            let of_group = &mut of_group[..2 * count];
            let sender = (&secret, share.as_bytes());
            P::Agreement::sender_keys(&session, sender, &points, tag, of_group);
            let (zeros, ones) = of_group.split_at(count);
            for (pair, (zero, one)) in pairs.iter_mut().zip(zeros.iter().zip(ones)) {
                *pair = [*zero, *one];
            }
        }
        erase(of_group.as_flattened_mut());
        Ok(SenderKeys::new(keys))
    }
}

impl<P: Pair> Receiver<P> {
    /// Steps 2 and 3: begins a batch with these choices.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`].
    pub fn start(session: Session, choices: Bits, seed: Seed) -> Result<(Self, Blinded<P>), Usage> {
        let n = choices.len();
        check_batch(n)?;
        // Step 2.
        let (secrets, points) = P::Agreement::respond(&session, n, &seed);
        // Step 3.
        let popf = P::Popf::new(&session);
        let mut blinded = Blinded::blank(n);
        let groups = blinded.phis_mut().chunks_mut(GROUP * P::Popf::PHI_LEN);
        for (first, (phis, points)) in (0..n).step_by(GROUP).zip(groups.zip(points.chunks(GROUP))) {
            let count = points.len();
            let mut x = SecretBytes::zeroed(count);
            x.iter_mut().enumerate().for_each(|(k, x)| *x = choices.get(first + k).unwrap_u8());
            let position = |k: usize| ((first + k) as u64, 1);
            let context = "foxtrot v1 mcquoid-rosulek-roy receiver coins";
            let coins = draw(&session, context, &seed, P::Popf::COINS_LEN, count, position);
            popf.program(first as u64, &x, points, &coins, phis);
        }
        Ok((Self { session, choices, secrets }, blinded))
    }

    /// Step 6: the chosen keys.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if the message was decoded for another number of instances.
    pub fn finish(self, share: &KeyShare<P>) -> Result<ReceiverKeys, Usage> {
        let Self { session, choices, secrets } = self;
        expect_count("instances of the sender's message", choices.len(), share.instances())?;
        let mut keys: Vec<Block> = vec![[0; 16]; choices.len()];
        let tag = |i: usize| Tag { instance: i as u64, branch: choices.get(i).unwrap_u8() };
        P::Agreement::receiver_keys(&session, &secrets, share.as_bytes(), tag, &mut keys);
        Ok(ReceiverKeys::new(choices, keys))
    }
}

impl<P: Pair> BaseOt for McQuoidRosulekRoy<P> {
    fn info(&self) -> &'static Protocol {
        P::INFO
    }

    fn sender(&self, session: Session, n: usize, seed: Seed) -> Run<SenderKeys> {
        check_batch(n)?;
        Ok(Engine::new(move |io| async move {
            let (sender, share) = Sender::<P>::start(session, n, seed)?;
            io.send(share.into_bytes()).await;
            Ok(sender.finish(&Blinded::receive(&io, n).await?)?)
        }))
    }

    fn receiver(&self, session: Session, choice: Choice, seed: Seed) -> Run<ReceiverKeys> {
        let choices = choice.given(P::INFO.name)?;
        let n = choices.len();
        check_batch(n)?;
        Ok(Engine::new(move |io| async move {
            let (receiver, blinded) = Receiver::<P>::start(session, choices, seed)?;
            io.send(blinded.into_bytes()).await;
            Ok(receiver.finish(&KeyShare::receive(&io, n).await?)?)
        }))
    }
}

foxtrot_kernel::redacted! {
    [P: Pair] Sender<P>, sender => "<{} instances>", sender.n;
    [P: Pair] Receiver<P>, receiver => "<{} instances>", receiver.choices.len();
}

#[cfg(test)]
mod tests;
