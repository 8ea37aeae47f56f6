//! Endemic OT of Masny and Rindal [[MR19](https://eprint.iacr.org/2019/706)] over Ristretto255, with
//! messages of the sender for every instance and branch.
//!
//! For instance i, in additive notation (bytes: `docs/wire/masny-rindal.md`, section 16)
//!
//! ```text
//! R (choice c)                                          S
//! 1  b;  s_{1−c} uniform
//! 2  s_c = b·G − H_c(i, s_{1−c})
//!                  ── Blinded: s₀, s₁ ──►
//!                                                       3  for j = 0, 1:  P^j = s_j + H_j(i, s_{1−j}),  a_j,  A_j = a_j·G
//!                  ◄── Shares: A₀, A₁ ──                4  K(i, j, A_j, a_j·P^j)
//! 5  K(i, c, A_c, b·A_c)
//! ```
//!
//! Realises endemic OT against malicious adversaries in the UC framework under DDH in the random oracle
//! model. Every a is used once, so no assumption with an oracle is needed, unlike for
//! `masny-rindal-reuse` ([`super::mcquoid_rosulek_roy`]). 64 bytes each way per instance. A corrupt
//! party may fix its own keys; quantum computers read everything.
#![doc = ""]
#![doc = include_str!("masny_rindal.md")]
#![doc = base_ot_example!("base::masny_rindal::MasnyRindal", "Choice::Given(Bits::from_bools([false, true]))")]

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{
    Backend,
    curve::{self, Invalid, Point},
};

use super::{
    BaseOt, Choice, Protocol, ReceiverKeys, Run, SenderKeys, check_batch, expect_count,
    message::message,
};
use crate::{
    Bits, Decode, Seed, Session, Usage,
    agreement::{draw, encoded, hash_elements, products, products_of_base, scalars},
    choices::select,
    engine::Engine,
    erase::{SecretBytes, Secrets},
    popf::{self, Popf, Ristretto, check, column, decoded},
};

type Values = popf::MasnyRindal<Ristretto>;

/// Bytes of φ, and of both points of the sender.
const PAIR_LEN: usize = 64;

/// Instances that are computed together.
const GROUP: usize = 256;

/// The protocol as a [`BaseOt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MasnyRindal;

message! {
    /// R → S: (s₀, s₁) of every instance.
    Blinded,
    len: |n| n * PAIR_LEN,
    check: |bytes, _n| Values::check(Backend::best(), bytes)
        .map_err(|Invalid { index: instance }| Decode::Point { message: Self::NAME, instance })
}

message! {
    /// S → R: (A₀, A₁) of every instance, none of them neutral.
    Shares,
    len: |n| n * PAIR_LEN,
    check: |bytes, _n| {
        let (points, _) = bytes.as_chunks::<32>();
        let decoded = check::<Ristretto>(Backend::best(), points).err().map(|Invalid { index }| index);
        let neutral = points.iter().position(|point| *point == [0; 32]);
        match decoded.or(neutral) {
            None => Ok(()),
            Some(k) => Err(Decode::Point { message: Self::NAME, instance: k / 2 }),
        }
    }
}

/// The receiver, waiting for [`Shares`].
///
/// ```
/// # use foxtrot_ot::{Bits, Seed, Session, Sid, base::masny_rindal::{self, Receiver}};
/// # let session = || Session::new(Sid::from_bytes([0; 32]));
/// # let (choices, seed) = (Bits::from_bools([true]), || Seed::from_bytes([0; 32]));
/// let (receiver, blinded) = Receiver::start(session(), choices, seed())?;
/// let (keys, shares) = masny_rindal::respond(session(), &blinded, seed());
/// assert_eq!(receiver.finish(&shares)?.keys()[0], keys.pairs()[0][1]);
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
///
/// It takes one answer:
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::base::masny_rindal::{Receiver, Shares};
/// # fn twice(receiver: Receiver, shares: &Shares) {
/// let _ = receiver.finish(shares);
/// let _ = receiver.finish(shares);
/// # }
/// ```
#[must_use = "the protocol is not finished"]
pub struct Receiver {
    session: Session,
    choices: Bits,
    secrets: Secrets,
}

impl Receiver {
    /// Steps 1 and 2: begins a batch with these choices.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`].
    pub fn start(session: Session, choices: Bits, seed: Seed) -> Result<(Self, Blinded), Usage> {
        let n = choices.len();
        check_batch(n)?;
        let backend = session.backend();
        let context = "foxtrot v1 masny-rindal receiver coins";
        let secrets = scalars(&draw(&session, context, &seed, 64, n, |i| (i as u64, 0)));
        let points = products_of_base(backend, &secrets);
        let coins = draw(&session, context, &seed, Values::COINS_LEN, n, |i| (i as u64, 1));
        let mut x = SecretBytes::zeroed(n);
        x.iter_mut().enumerate().for_each(|(i, x)| *x = choices.get(i).unwrap_u8());
        let mut blinded = Blinded::blank(n);
        Values::new(&session).program(0, &x, &points, &coins, &mut blinded.bytes);
        Ok((Self { session, choices, secrets }, blinded))
    }

    /// Step 5: the chosen keys.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if the message was decoded for another number of instances.
    pub fn finish(self, shares: &Shares) -> Result<ReceiverKeys, Usage> {
        let Self { session, choices, secrets } = self;
        let (n, backend) = (choices.len(), session.backend());
        expect_count("instances of the sender's message", n, shares.instances())?;
        // Decoding takes variable time: both points of all, which are public, before one is chosen.
        let branch =
            |j: usize| decoded::<Ristretto>(backend, &column(shares.as_bytes(), PAIR_LEN, 32 * j));
        let [zero, one] = [0, 1].map(branch);
        let mut points = vec![Point::IDENTITY; n];
        curve::select(backend, choices.as_bytes(), &zero, &one, &mut points);
        let mut chosen = Secrets::zeroed(n);
        for (i, (chosen, pair)) in
            chosen.iter_mut().zip(shares.as_bytes().chunks_exact(PAIR_LEN)).enumerate()
        {
            select(choices.get(i), &pair[..32], &pair[32..], chosen);
        }
        let shared = products(backend, &secrets, &points);
        let position = |i: usize| (i as u64, choices.get(i).unwrap_u8());
        let keys = derive(&session, &chosen, &shared, position).to_vec();
        Ok(ReceiverKeys::new(choices, keys))
    }
}

/// Steps 3 and 4: the sender answers, and has its keys.
pub fn respond(session: Session, blinded: &Blinded, seed: Seed) -> (SenderKeys, Shares) {
    let (n, backend) = (blinded.instances(), session.backend());
    let popf = Values::new(&session);
    let context = "foxtrot v1 masny-rindal sender coins";
    let mut keys = vec![[[0; 16]; 2]; n];
    let mut shares = Shares::blank(n);
    let phis = blinded.as_bytes().chunks(GROUP * PAIR_LEN);
    let groups = keys.chunks_mut(GROUP).zip(phis.zip(shares.bytes.chunks_mut(GROUP * PAIR_LEN)));
    for (first, (pairs, (phis, shares))) in (0..).step_by(GROUP).zip(groups) {
        let n = pairs.len();
        // Those of branch 0 first.
        let mut values = vec![Point::IDENTITY; 2 * n];
        let (zero, one) = values.split_at_mut(n);
        popf.evaluate(first, phis, [zero, one]);
        let position = |k: usize| (first + (k % n) as u64, u8::from(k >= n));
        let a = scalars(&draw(&session, context, &seed, 64, 2 * n, position));
        let encodings = encoded(backend, &products_of_base(backend, &a));
        let derived = derive(&session, &encodings, &products(backend, &a, &values), position);
        let (shares, _) = shares.as_chunks_mut::<32>();
        for k in 0..2 * n {
            pairs[k % n][k / n] = derived[k];
            shares[2 * (k % n) + k / n] = encodings[k];
        }
    }
    (SenderKeys::new(keys), shares)
}

/// K(i, j, A, point) for all.
fn derive(
    session: &Session,
    shares: &[[u8; 32]],
    points: &[Point],
    position: impl Fn(usize) -> (u64, u8),
) -> Secrets<16> {
    hash_elements(session, "foxtrot v1 masny-rindal output", points, position, |k| [&shares[k]])
}

impl BaseOt for MasnyRindal {
    fn info(&self) -> &'static Protocol {
        &Protocol {
            name: "masny-rindal",
            family: "masny-rindal",
            paper: "MR19",
            assumption: "DDH, random oracle",
            params: "Ristretto255",
            security: "126 classical, 0 quantum",
            caveat: "a quantum computer reads choices and keys; a corrupt party may fix its own keys",
            flows: 2,
            receiver_bytes: Blinded::encoded_len,
            sender_bytes: Shares::encoded_len,
            ..Protocol::BASE_OT
        }
    }

    fn sender(&self, session: Session, n: usize, seed: Seed) -> Run<SenderKeys> {
        check_batch(n)?;
        Ok(Engine::new(move |io| async move {
            let blinded = Blinded::receive(&io, n).await?;
            let (keys, shares) = respond(session, &blinded, seed);
            io.send(shares.into_bytes()).await;
            Ok(keys)
        }))
    }

    fn receiver(&self, session: Session, choice: Choice, seed: Seed) -> Run<ReceiverKeys> {
        let choices = choice.given(self.info().name)?;
        let n = choices.len();
        check_batch(n)?;
        Ok(Engine::new(move |io| async move {
            let (receiver, blinded) = Receiver::start(session, choices, seed)?;
            io.send(blinded.into_bytes()).await;
            Ok(receiver.finish(&Shares::receive(&io, n).await?)?)
        }))
    }
}

foxtrot_kernel::redacted! {
    Receiver, receiver => "<{} instances>", receiver.choices.len();
}

#[cfg(test)]
mod tests;
