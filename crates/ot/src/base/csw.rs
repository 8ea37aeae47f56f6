//! OT with selective failure in three messages: Canetti, Sarkar and Wang
//! [[CSW20](https://eprint.iacr.org/2020/110), π_SFROT], over Ristretto255.
//!
//! For instance i, in additive notation (bytes: `docs/wire/csw.md`, section 17)
//!
//! ```text
//! R (choices c)                                         S
//! 1  seed′, T = H₁(seed′)
//! 2  α;  B = α·G + c·T
//!                  ── Points: seed′, B ──►
//!                                                       3  r;  z = r·G;  p_j = H₂(i, j, z, B, r·(B − j·T))
//!                                                       4  h_j = H₃(i, j, p_j);  χ = h₀ ⊕ h₁;  a = H₄(all h₀);  γ = H₅(a)
//!                  ◄── Challenge: z, γ, χ ──
//! 5  p = H₂(i, c, z, B, α·z);  h₀′ = H₃(i, c, p) ⊕ c·χ;  a′ = H₄(all h₀′);  H₅(a′) = γ?
//!                  ── Response: a′ ──►
//!                                                       6  a′ = a?
//! ```
//!
//! Realises OT with *selective failure* in the UC framework, under CDH in the observable random oracle
//! model, for batches of more than 2·40 instances: a corrupt S that changes some χ guesses these
//! choices, and sees by R's going on that it guessed right. That is harmless below `kos`, and nowhere
//! else here (below). 96 bytes from R and 64 from S per batch, 32 and 16 per
//! instance. Not given: security against quantum computers.
//!
//! # Letters
//!
//! | symbol | meaning | in code |
//! |---|---|---|
//! | seed′, T, α, B; r, z | of Canetti, Sarkar and Wang | `seed`, `secrets`, `points`; `r`, `z` |
//! | χ, a, γ | their challenge, answer and proof | `differences`; `answer`; `proof` |
#![doc = ""]
#![doc = include_str!("csw.md")]
#![doc = base_ot_example!("base::csw::Csw", "Choice::Given(Bits::from_bools([false, true]))")]

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{
    Backend, bits,
    counters::{Operation, count},
    curve::{self, Invalid, Point, ristretto},
};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{
    BaseOt, Block, Choice, Functionality, Protocol, ReceiverKeys, Run, SenderKeys, check_batch,
    expect_count, message::message, set_pairs,
};
use crate::{
    Bits, Decode, Error, Misbehaved, Seed, Session, Usage,
    agreement::{
        draw, hash_elements, hash_encodings, is_element, multiples, products, products_of_base,
        scalars,
    },
    choices::verdict,
    engine::Engine,
    erase::Secrets,
    popf::{Ristretto, check, decoded},
};

/// Instances that are computed together.
const GROUP: usize = 256;

/// The protocol as a [`BaseOt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Csw;

/// Bytes before what belongs to instances: the seed, or z.
const HEAD: usize = 32;
/// Bytes of γ.
const PROOF: usize = 32;

message! {
    /// R → S: the seed of T, and B of every instance.
    Points,
    len: |n| HEAD + n * 32,
    check: |bytes, _n| {
        check::<Ristretto>(Backend::best(), bytes[HEAD..].as_chunks().0)
            .map_err(|Invalid { index: instance }| Decode::Point { message: Self::NAME, instance })
    }
}

message! {
    /// S → R: z, which is not neutral, γ, and χ of every instance.
    Challenge,
    len: |n| HEAD + PROOF + n * 16,
    check: |bytes, _n| match bytes.as_chunks().0.first() {
        Some(z) if is_element(z) => Ok(()),
        _ => Err(Decode::Point { message: Self::NAME, instance: 0 }),
    }
}

message! {
    /// R → S: a′. Every string is one.
    Response,
    len: |_n| 32,
    check: |_bytes, _n| Ok(())
}

impl Points {
    fn seed(&self) -> &[u8; 32] {
        &self.bytes.as_chunks().0[0]
    }

    fn encodings(&self) -> &[[u8; 32]] {
        self.bytes[HEAD..].as_chunks().0
    }
}

impl Challenge {
    fn z(&self) -> &[u8; HEAD] {
        &self.bytes.as_chunks().0[0]
    }

    fn proof(&self) -> &[u8; PROOF] {
        &self.bytes.as_chunks().0[1]
    }
}

/// The receiver, waiting for the [`Challenge`].
///
/// ```
/// # use foxtrot_ot::{Bits, Seed, Session, Sid, base::csw::{Receiver, Sender}};
/// # let session = || Session::new(Sid::from_bytes([0; 32]));
/// # let (choices, seed) = (Bits::from_bools([true]), || Seed::from_bytes([0; 32]));
/// let (receiver, points) = Receiver::start(session(), choices, seed())?;
/// let (sender, challenge) = Sender::challenge(session(), &points, seed());
/// let (received, response) = receiver.respond(&challenge)?;
/// assert_eq!(received.keys()[0], sender.finish(&response)?.pairs()[0][1]);
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
///
/// It answers one challenge; with more a sender could guess again:
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::base::csw::{Challenge, Receiver};
/// # fn twice(receiver: Receiver, challenge: &Challenge) {
/// let _ = receiver.respond(challenge);
/// let _ = receiver.respond(challenge);
/// # }
/// ```
#[must_use = "the protocol is not finished"]
pub struct Receiver {
    session: Session,
    choices: Bits,
    points: Points,
    secrets: Secrets,
}

/// The sender, waiting for the [`Response`].
#[must_use = "the protocol is not finished"]
pub struct Sender {
    keys: SenderKeys,
    expected: Zeroizing<[u8; 32]>,
}

impl Receiver {
    /// Steps 1 and 2: begins a batch with these choices.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`].
    pub fn start(session: Session, choices: Bits, seed: Seed) -> Result<(Self, Points), Usage> {
        let n = choices.len();
        check_batch(n)?;
        let backend = session.backend();
        let context = "foxtrot v1 csw receiver coins";
        let public_seed = draw(&session, context, &seed, 32, 1, |_| (0, 1));
        let mut points = Points::blank(n);
        points.bytes[..HEAD].copy_from_slice(&public_seed);
        let t = point_of(&session, points.seed());
        let secrets = scalars(&draw(&session, context, &seed, 64, n, |i| (i as u64, 0)));
        let zero = products_of_base(backend, &secrets);
        let mut one = vec![Point::IDENTITY; n];
        curve::add(backend, &zero, &[t], &mut one);
        let mut b = vec![Point::IDENTITY; n];
        curve::select(backend, choices.as_bytes(), &zero, &one, &mut b);
        ristretto::encode(backend, &b, points.bytes[HEAD..].as_chunks_mut().0);
        Ok((Self { session, choices, points: points.clone(), secrets }, points))
    }

    /// Step 5: the chosen keys, if the challenge is answered well.
    ///
    /// # Errors
    /// [`Misbehaved::Challenge`], which depends on the choices if the sender has cheated;
    /// [`Usage::CountMismatch`] if the message was decoded for another number of instances.
    pub fn respond(self, challenge: &Challenge) -> Result<(ReceiverKeys, Response), Error> {
        let Self { session, choices, points, secrets } = self;
        let n = choices.len();
        expect_count("instances in the challenge", n, challenge.instances())?;
        let backend = session.backend();
        let z = decoded::<Ristretto>(backend, core::slice::from_ref(challenge.z()));
        let shared = multiples(backend, &z[0], &secrets);
        let position = |i: usize| (i as u64, choices.get(i).unwrap_u8());
        let own = |i: usize| &points.encodings()[i];
        let keys = pads(&session, challenge.z(), own, &shared, position);
        let mut hashes = hashes(&session, &keys, position);
        let (differences, _) = challenge.bytes[HEAD + PROOF..].as_chunks::<16>();
        for (i, (hash, chi)) in hashes.iter_mut().zip(differences).enumerate() {
            let mask = choices.get(i).unwrap_u8().wrapping_neg();
            bits::xor_masked(backend, hash, chi, mask);
        }
        let answer = answer(&session, &hashes);
        if !verdict(proof(&session, &answer).ct_eq(challenge.proof())) {
            return Err(Misbehaved::Challenge.into());
        }
        Ok((ReceiverKeys::new(choices, keys.to_vec()), Response { bytes: answer.to_vec(), n }))
    }
}

impl Sender {
    /// Steps 3 and 4: the keys, and what shows that the receiver knows its own.
    pub fn challenge(session: Session, points: &Points, seed: Seed) -> (Self, Challenge) {
        let context = "foxtrot v1 csw sender coins";
        let r = scalars(&draw(&session, context, &seed, 64, 1, |_| (0, 0)));
        Self::challenge_with(&session, points, &r)
    }

    /// Makes the challenge from the given r.
    fn challenge_with(session: &Session, points: &Points, r: &[[u8; 32]]) -> (Self, Challenge) {
        let (n, backend) = (points.instances(), session.backend());
        let z = products(backend, r, &[Point::BASE]);
        let of_t = products(backend, r, &[point_of(session, points.seed())]);
        let mut challenge = Challenge::blank(n);
        ristretto::encode(backend, &z, challenge.bytes[..HEAD].as_chunks_mut().0);
        let mut keys = vec![[[0; 16]; 2]; n];
        let mut of_zero = Secrets::<16>::zeroed(n);
        for (first, pairs) in (0..n).step_by(GROUP).zip(keys.chunks_mut(GROUP)) {
            let range = first..first + pairs.len();
            let encodings = &points.encodings()[range.clone()];
            let b = decoded::<Ristretto>(backend, encodings);
            // Those of branch 0 first.
            let count_of = pairs.len();
            let mut shared = vec![Point::IDENTITY; 2 * count_of];
            let (zero, one) = shared.split_at_mut(count_of);
            count(Operation::PointMultiplication, count_of);
            curve::mul(backend, r, &b, zero);
            curve::sub(backend, zero, &of_t, one);
            let position = |k: usize| ((first + k % count_of) as u64, u8::from(k >= count_of));
            let own = |k: usize| &encodings[k % count_of];
            let keys = pads(session, challenge.z(), own, &shared, position);
            set_pairs(pairs, &keys);
            let hashes = hashes(session, &keys, position);
            let (zeros, ones) = hashes.split_at(count_of);
            let (differences, _) = challenge.bytes[HEAD + PROOF..].as_chunks_mut();
            let differences: &mut [Block] = &mut differences[range.clone()];
            differences.copy_from_slice(zeros);
            bits::xor(backend, differences.as_flattened_mut(), ones.as_flattened());
            of_zero[range].copy_from_slice(zeros);
        }
        let expected = answer(session, &of_zero);
        challenge.bytes[HEAD..][..PROOF].copy_from_slice(&proof(session, &expected));
        (Self { keys: SenderKeys::new(keys), expected }, challenge)
    }

    /// Step 6: the keys, if the receiver knew its own.
    ///
    /// # Errors
    /// [`Misbehaved::Response`].
    pub fn finish(self, response: &Response) -> Result<SenderKeys, Misbehaved> {
        let Self { keys, expected } = self;
        let right = expected.as_slice().ct_eq(response.as_bytes());
        if verdict(right) { Ok(keys) } else { Err(Misbehaved::Response) }
    }
}

/// T = H₁(seed).
fn point_of(session: &Session, seed: &[u8; 32]) -> Point {
    let oracle = session.oracle("foxtrot v1 csw H1");
    let answer: [u8; 64] = oracle.query(0, 0).field(seed).finish();
    let mut point = [Point::IDENTITY];
    ristretto::from_uniform(session.backend(), &[answer], &mut point);
    let [point] = point;
    point
}

/// H₂(i, j, z, B, point) for all: the keys.
fn pads<'a>(
    session: &Session,
    z: &'a [u8; 32],
    b: impl Fn(usize) -> &'a [u8; 32],
    points: &[Point],
    position: impl Fn(usize) -> (u64, u8),
) -> Secrets<16> {
    hash_elements(session, "foxtrot v1 csw H2", points, position, |k| [z, b(k)])
}

/// H₃(i, j, key) for all.
fn hashes(session: &Session, keys: &[Block], position: impl Fn(usize) -> (u64, u8)) -> Secrets<16> {
    hash_encodings(session, "foxtrot v1 csw H3", keys, position, |_| [])
}

/// H₄ of all hashes of keys of branch 0.
fn answer(session: &Session, hashes: &[Block]) -> Zeroizing<[u8; 32]> {
    let query = session.oracle("foxtrot v1 csw H4").query(0, 0);
    Zeroizing::new(query.field(hashes.as_flattened()).finish())
}

/// H₅ of the answer.
fn proof(session: &Session, answer: &[u8; 32]) -> [u8; 32] {
    session.oracle("foxtrot v1 csw H5").query(0, 0).field(answer).finish()
}

impl BaseOt for Csw {
    fn info(&self) -> &'static Protocol {
        &Protocol {
            name: "csw",
            family: "csw",
            paper: "CSW20",
            functionality: Functionality::SelectiveFailure,
            assumption: "CDH, observable random oracle",
            params: "Ristretto255",
            security: "126 classical, 0 quantum",
            caveat: "a corrupt sender may guess choices and is caught only if it guessed wrongly; \
                proved for more than 80 instances; a quantum computer reads choices and keys",
            flows: 3,
            receiver_bytes: |n| Points::encoded_len(n) + Response::encoded_len(n),
            sender_bytes: Challenge::encoded_len,
            ..Protocol::BASE_OT
        }
    }

    fn sender(&self, session: Session, n: usize, seed: Seed) -> Run<SenderKeys> {
        check_batch(n)?;
        Ok(Engine::new(move |io| async move {
            let points = Points::receive(&io, n).await?;
            let (sender, challenge) = Sender::challenge(session, &points, seed);
            io.send(challenge.into_bytes()).await;
            Ok(sender.finish(&Response::receive(&io, n).await?)?)
        }))
    }

    fn receiver(&self, session: Session, choice: Choice, seed: Seed) -> Run<ReceiverKeys> {
        let choices = choice.given(self.info().name)?;
        let n = choices.len();
        check_batch(n)?;
        Ok(Engine::new(move |io| async move {
            let (receiver, points) = Receiver::start(session, choices, seed)?;
            io.send(points.into_bytes()).await;
            let (keys, response) = receiver.respond(&Challenge::receive(&io, n).await?)?;
            io.send(response.into_bytes()).await;
            Ok(keys)
        }))
    }
}

foxtrot_kernel::redacted! {
    Sender, sender => "<{} instances>", sender.keys.pairs().len();
    Receiver, receiver => "<{} instances>", receiver.choices.len();
}

#[cfg(test)]
mod tests;
