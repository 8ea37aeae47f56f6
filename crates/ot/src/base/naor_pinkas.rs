//! OT of Naor and Pinkas [[NP01](https://dl.acm.org/doi/10.5555/365411.365502), section 3], over
//! Ristretto255, with one message of the sender for a batch.
//!
//! For instance i, in additive notation (bytes: `docs/wire/naor-pinkas.md`, section 15)
//!
//! ```text
//! S                                                     R (choice c)
//! 1  C, r;  A = r·G
//!                  ── Setup: C, A ──►
//!                                                       2  k;  P_c = k·G
//!                  ◄── PublicKeys: P₀ ──                3  P_{1−c} = C − P_c
//! 4  H(i, j, C, A, P₀, r·P_j), P₁ = C − P₀, j = 0, 1    5  H(i, c, C, A, P₀, k·A)
//! ```
//!
//! Realises OT against peers that follow the protocol, under CDH in the random oracle model. Choices are
//! hidden unconditionally, and a corrupt R cannot compute both keys, but its choice is extracted too
//! late for a simulator (below). 64 bytes from S per batch, 32 from R per
//! instance. Not given: security against quantum computers.
//!
//! # Letters
//!
//! | symbol | meaning | in code |
//! |---|---|---|
//! | C, r, A; k, P₀ | of Naor and Pinkas | `setup`, `r`; `k`, `public_keys` |
#![doc = ""]
#![doc = include_str!("naor_pinkas.md")]
#![doc = base_ot_example!("base::naor_pinkas::NaorPinkas", "Choice::Given(Bits::from_bools([false, true]))")]

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{
    Backend,
    counters::{Operation, count},
    curve::{self, Invalid, Point, ristretto},
    memcheck,
};
use zeroize::Zeroizing;

use super::{
    Adversary, BaseOt, Choice, Protocol, ReceiverKeys, Run, SenderKeys, check_batch, expect_count,
    message::message, set_pairs,
};
use crate::{
    Bits, Decode, Seed, Session, Usage,
    agreement::{draw, hash_elements, is_element, multiples, products, products_of_base, scalars},
    engine::Engine,
    erase::Secrets,
    popf::{Ristretto, check, decoded},
};

/// Instances that are computed together.
const GROUP: usize = 256;

/// The protocol as a [`BaseOt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NaorPinkas;

message! {
    /// S → R: C and A, neither of them neutral.
    Setup,
    len: |_n| 64,
    check: |bytes, _n| match bytes.as_chunks::<32>().0.iter().all(is_element) {
        true => Ok(()),
        false => Err(Decode::Point { message: Self::NAME, instance: 0 }),
    }
}

message! {
    /// R → S: P₀ of every instance.
    PublicKeys,
    len: |n| n * 32,
    check: |bytes, _n| {
        check::<Ristretto>(Backend::best(), bytes.as_chunks().0)
            .map_err(|Invalid { index: instance }| Decode::Point { message: Self::NAME, instance })
    }
}

/// The sender, waiting for [`PublicKeys`].
///
/// ```
/// # use foxtrot_ot::{Bits, Seed, Session, Sid, base::naor_pinkas::{Sender, choose}};
/// # let session = || Session::new(Sid::from_bytes([0; 32]));
/// # let (choices, seed) = (Bits::from_bools([true]), || Seed::from_bytes([0; 32]));
/// let (sender, setup) = Sender::start(session(), 1, seed())?;
/// let (received, public_keys) = choose(session(), choices, &setup, seed())?;
/// assert_eq!(received.keys()[0], sender.finish(&public_keys)?.pairs()[0][1]);
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
///
/// It answers one:
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::base::naor_pinkas::{PublicKeys, Sender};
/// # fn twice(sender: Sender, public_keys: &PublicKeys) {
/// let _ = sender.finish(public_keys);
/// let _ = sender.finish(public_keys);
/// # }
/// ```
#[must_use = "the protocol is not finished"]
pub struct Sender {
    session: Session,
    r: Zeroizing<[u8; 32]>,
    setup: Setup,
}

impl Sender {
    /// Step 1: begins a batch of n.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`].
    pub fn start(session: Session, n: usize, seed: Seed) -> Result<(Self, Setup), Usage> {
        check_batch(n)?;
        let backend = session.backend();
        let context = "foxtrot v1 naor-pinkas sender coins";
        let coins = draw(&session, context, &seed, 64, 2, |k| (0, [0, 1][k]));
        let r = Zeroizing::new(scalars(&coins[..64])[0]);
        let mut points = vec![Point::IDENTITY];
        // So S also knows no k with C = k·G.
        ristretto::from_uniform(backend, coins[64..].as_chunks().0, &mut points);
        points.extend(products(backend, &[*r], &[Point::BASE]));
        let mut setup = Setup::blank(n);
        ristretto::encode(backend, &points, setup.bytes.as_chunks_mut().0);
        memcheck::public(&mut setup.bytes);
        Ok((Self { session, r, setup: setup.clone() }, setup))
    }

    /// Step 4: both keys of every instance.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if the message was decoded for another number of instances.
    pub fn finish(self, public_keys: &PublicKeys) -> Result<SenderKeys, Usage> {
        let Self { session, r, setup } = self;
        let n = setup.instances();
        expect_count("instances in the receiver's message", n, public_keys.instances())?;
        let backend = session.backend();
        // r·C, once for all.
        let c = decoded::<Ristretto>(backend, &setup.bytes.as_chunks().0[..1]);
        let of_c = products(backend, &[*r], &c);
        let mut keys = vec![[[0; 16]; 2]; n];
        let (encodings, _) = public_keys.as_bytes().as_chunks();
        let groups = keys.chunks_mut(GROUP).zip(encodings.chunks(GROUP));
        for (first, (pairs, encodings)) in (0..).step_by(GROUP).zip(groups) {
            let points = decoded::<Ristretto>(backend, encodings);
            // Those of branch 0 first.
            let n = pairs.len();
            let mut shared = vec![Point::IDENTITY; 2 * n];
            let (zero, one) = shared.split_at_mut(n);
            count(Operation::PointMultiplication, n);
            curve::mul(backend, &[*r], &points, zero);
            curve::sub(backend, &of_c, zero, one);
            let position = |k: usize| ((first + k % n) as u64, u8::from(k >= n));
            let keys = derive(&session, &setup, &shared, position, |k| &encodings[k % n]);
            set_pairs(pairs, &keys);
        }
        Ok(SenderKeys::new(keys))
    }
}

/// Steps 2, 3 and 5: the receiver with these choices answers, and has its keys.
///
/// # Errors
/// [`Usage::BatchTooLarge`]; [`Usage::CountMismatch`] if the message was decoded for another number of
/// instances.
pub fn choose(
    session: Session,
    choices: Bits,
    setup: &Setup,
    seed: Seed,
) -> Result<(ReceiverKeys, PublicKeys), Usage> {
    let n = choices.len();
    check_batch(n)?;
    expect_count("instances of the sender's message", n, setup.instances())?;
    let backend = session.backend();
    let context = "foxtrot v1 naor-pinkas receiver coins";
    let k = scalars(&draw(&session, context, &seed, 64, n, |i| (i as u64, 0)));
    let points = decoded::<Ristretto>(backend, setup.bytes.as_chunks().0);
    let (c, a) = points.split_at(1);
    // Steps 2 and 3.
    let own = products_of_base(backend, &k);
    let mut other = vec![Point::IDENTITY; n];
    curve::sub(backend, c, &own, &mut other);
    let mut zero = vec![Point::IDENTITY; n];
    curve::select(backend, choices.as_bytes(), &own, &other, &mut zero);
    let mut public_keys = PublicKeys::blank(n);
    let (encodings, _) = public_keys.bytes.as_chunks_mut();
    ristretto::encode(backend, &zero, encodings);
    // Step 5.
    let shared = multiples(backend, &a[0], &k);
    let position = |i: usize| (i as u64, choices.get(i).unwrap_u8());
    let keys = derive(&session, setup, &shared, position, |i| &encodings[i]);
    Ok((ReceiverKeys::new(choices, keys.to_vec()), public_keys))
}

/// H(i, j, C, A, P₀, point) for all.
fn derive<'a>(
    session: &Session,
    setup: &Setup,
    shared: &[Point],
    position: impl Fn(usize) -> (u64, u8),
    own: impl Fn(usize) -> &'a [u8; 32],
) -> Secrets<16> {
    let context = "foxtrot v1 naor-pinkas output";
    hash_elements(session, context, shared, position, |k| [setup.as_bytes(), own(k)])
}

impl BaseOt for NaorPinkas {
    fn info(&self) -> &'static Protocol {
        &Protocol {
            name: "naor-pinkas",
            family: "naor-pinkas",
            paper: "NP01",
            adversary: Adversary::SemiHonest,
            assumption: "CDH, random oracle",
            params: "Ristretto255",
            security: "126 classical, 0 quantum",
            caveat: "one-sided simulation against malicious peers; a quantum computer reads \
                choices and keys",
            flows: 2,
            receiver_bytes: PublicKeys::encoded_len,
            sender_bytes: Setup::encoded_len,
            ..Protocol::BASE_OT
        }
    }

    fn sender(&self, session: Session, n: usize, seed: Seed) -> Run<SenderKeys> {
        check_batch(n)?;
        Ok(Engine::new(move |io| async move {
            let (sender, setup) = Sender::start(session, n, seed)?;
            io.send(setup.into_bytes()).await;
            Ok(sender.finish(&PublicKeys::receive(&io, n).await?)?)
        }))
    }

    fn receiver(&self, session: Session, choice: Choice, seed: Seed) -> Run<ReceiverKeys> {
        let choices = choice.given(self.info().name)?;
        let n = choices.len();
        check_batch(n)?;
        Ok(Engine::new(move |io| async move {
            let setup = Setup::receive(&io, n).await?;
            let (keys, answer) = choose(session, choices, &setup, seed)?;
            io.send(answer.into_bytes()).await;
            Ok(keys)
        }))
    }
}

foxtrot_kernel::redacted! {
    Sender, sender => "<{} instances>", sender.setup.n;
}

#[cfg(test)]
mod tests;
