//! The simplest OT: Chou and Orlandi [[CO15](https://eprint.iacr.org/2015/267)], 1 of m, on Curve25519
//! in Edwards form.
//!
//! For instance i, with B of prime order ℓ and E(P) the encoding of a point of the whole curve (cofactor and claims:
//! below; bytes: `docs/wire/chou-orlandi.md`, section 14)
//!
//! ```text
//! S                                                     R (choices c < m)
//! 1  y;  S = y·B
//!                  ── Share: E(S) ──►
//!                                                       2  x;  8R = c·8S + 8x·B
//!                  ◄── Points: E(8R) ──                 3
//! 4  T = y·S
//! 5  keys: H(i, j, E(8S), E(64R), E(64(y·R − j·T))), j < m
//!                                                       6  key: H(i, c, E(8S), E(64R), E(64x·S))
//! 7  (α, β) = key;  c₁ = M + α,  c₂ = β·c₁
//!                  ── Ciphertexts ──►
//!                                                       8  c₂ = β·c₁?  M = c₁ + α
//! ```
//!
//! Every point that arrives is multiplied by 8 before it meets a secret.
//!
//! Realises OT against peers that follow the protocol, under gap-DH in the random oracle
//! model; 32 bytes from S per batch and from R per instance, 64 more from S for two chosen messages.
//! Not given: UC security against malicious peers, as choices are bound too late; security against
//! quantum computers. A corrupt S that encrypts one message wrongly learns from an abort whether it
//! was chosen.
//!
//! # Letters
//!
//! | symbol | meaning | in code |
//! |---|---|---|
//! | y, S, T; x, R | of Chou and Orlandi: the sender's and the receiver's | `y`, `share`, `t`; `x`, `points` |
//! | α, β | halves of a key, for messages | `alpha`, `beta` |
#![doc = ""]
#![doc = include_str!("chou_orlandi.md")]
#![doc = base_ot_example!("base::chou_orlandi::ChouOrlandi", "Choice::Given(Bits::from_bools([false, true]))")]

mod adaptor;

pub use adaptor::{ChouOrlandi, ChouOrlandiChosen};

use alloc::{vec, vec::Vec};
use core::ops::Range;

use foxtrot_kernel::{
    Backend,
    counters::{Operation, count},
    curve::{self, Invalid, Point, Table},
    gf::gf128,
    memcheck,
};
use subtle::{ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{Block, MAX_BATCH, check_batch, expect_count, message::message};
use crate::{
    Decode, Error, Misbehaved, Seed, Session, Usage,
    agreement::{draw, hash_encodings, memory_for, products, products_of_base},
    choices::verdict,
    erase::{SecretBytes, Secrets},
    expect_at_most, expect_len,
};

/// The most choices: a branch is a byte.
pub const MAX_CHOICES: usize = 256;

/// The most keys of a batch, over all branches.
const MAX_KEYS: usize = 1 << 20;

/// Instances that are computed together.
const GROUP: usize = 256;

/// The context of H(i, j, E(8S), E(64R), point).
const OUTPUT: &str = "foxtrot v1 chou-orlandi output";

message! {
    /// S → R: a point of the curve whose multiple by 8 is not the neutral one.
    Share,
    len: |_n| 32,
    check: |bytes, _n| {
        let (backend, mut point, mut neutral) = (Backend::best(), [Point::IDENTITY], [0]);
        let decoded = curve::decompress(backend, bytes.as_chunks().0, &mut point);
        curve::mul_by_cofactor(backend, &mut point);
        curve::is_identity(backend, &point, &mut neutral);
        match decoded {
            Ok(()) if neutral[0] & 1 == 0 => Ok(()),
            _ => Err(Decode::Point { message: Self::NAME, instance: 0 }),
        }
    }
}

message! {
    /// R → S: a point of the curve for every instance.
    Points,
    len: |n| n * 32,
    check: |bytes, n| {
        let mut points = vec![Point::IDENTITY; n];
        curve::decompress(Backend::best(), bytes.as_chunks().0, &mut points)
            .map_err(|Invalid { index: instance }| Decode::Point { message: Self::NAME, instance })
    }
}

impl Share {
    /// 8S, and its encoding.
    fn times_8(&self, backend: Backend) -> (Point, [u8; 32]) {
        let (mut point, mut bytes) = ([Point::IDENTITY], [[0; 32]]);
        curve::decompress(backend, self.bytes.as_chunks().0, &mut point)
            .unwrap_or_else(|_| unreachable!("checked when it was decoded"));
        curve::mul_by_cofactor(backend, &mut point);
        curve::compress(backend, &point, &mut bytes);
        let [point] = point;
        (point, bytes[0])
    }
}

impl Points {
    fn points(&self, backend: Backend, range: Range<usize>) -> Vec<Point> {
        let mut points = vec![Point::IDENTITY; range.len()];
        curve::decompress(backend, &self.bytes.as_chunks().0[range], &mut points)
            .unwrap_or_else(|_| unreachable!("checked when it was decoded"));
        points
    }
}

/// The sender, waiting for [`Points`].
///
/// ```
/// # use foxtrot_ot::{Seed, Session, Sid, base::chou_orlandi::{Sender, choose}};
/// # let session = || Session::new(Sid::from_bytes([0; 32]));
/// # let seed = |byte| Seed::from_bytes([byte; 32]);
/// // Two instances of one of five.
/// let (sender, share) = Sender::start(session(), 2, 5, seed(1))?;
/// let (chosen, points) = choose(session(), 5, &[4, 0], &share, seed(2))?;
/// let keys = sender.finish(&points)?;
/// assert_eq!(chosen.keys(), &[keys.of(0)[4], keys.of(1)[0]]);
/// # Ok::<(), foxtrot_ot::Error>(())
/// ```
///
/// It answers one:
///
/// ```compile_fail,E0382
/// # use foxtrot_ot::base::chou_orlandi::{Points, Sender};
/// # fn twice(sender: Sender, points: &Points) {
/// let _ = sender.finish(points);
/// let _ = sender.finish(points);
/// # }
/// ```
#[must_use = "the protocol is not finished"]
pub struct Sender {
    session: Session,
    m: usize,
    y: Zeroizing<[u8; 32]>,
    share: Share,
}

/// All keys of the sender, of 256 bits each.
pub struct Keys {
    session: Session,
    m: usize,
    keys: Secrets,
}

/// The receiver's keys, one for each instance, and its choices.
pub struct Chosen {
    session: Session,
    m: usize,
    choices: SecretBytes,
    keys: Secrets,
}

impl Sender {
    /// Step 1: begins a batch of n instances of 1 of m.
    ///
    /// # Errors
    /// [`Usage::Choices`] unless m is 2 to [`MAX_CHOICES`]; [`Usage::BatchTooLarge`].
    pub fn start(session: Session, n: usize, m: usize, seed: Seed) -> Result<(Self, Share), Usage> {
        check_size(n, m)?;
        let coins =
            draw(&session, "foxtrot v1 chou-orlandi sender coins", &seed, 32, 1, |_| (0, 0));
        let y = Zeroizing::new(coins.as_chunks().0[0]);
        let point = products(session.backend(), &[*y], &[Point::BASE]);
        let mut share = [[0; 32]];
        curve::compress(session.backend(), &point, &mut share);
        memcheck::public(&mut share);
        let share = Share { bytes: share[0].to_vec(), n };
        Ok((Self { session, m, y, share: share.clone() }, share))
    }

    /// Steps 4 and 5: the keys of all branches.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if the message was decoded for another number of instances.
    pub fn finish(self, points: &Points) -> Result<Keys, Usage> {
        let Self { session, m, y, share } = self;
        let n = share.instances();
        expect_count("instances in the receiver's message", n, points.instances())?;
        let backend = session.backend();
        let (s, s_bytes) = share.times_8(backend);
        // 64T.
        let mut t = products(backend, &[*y], &[s]);
        curve::mul_by_cofactor(backend, &mut t);
        let mut keys = Secrets::zeroed(n * m);
        for (first, keys) in (0..n).step_by(GROUP).zip(keys.chunks_mut(GROUP * m)) {
            let count_of = keys.len() / m;
            let mut r = points.points(backend, first..first + count_of);
            curve::mul_by_cofactor(backend, &mut r);
            let mut r_bytes = vec![[0; 32]; count_of];
            curve::compress(backend, &r, &mut r_bytes);
            let mut shared = products(backend, &[*y], &r);
            let mut encodings = Secrets::zeroed(count_of);
            for j in 0..m {
                curve::compress(backend, &shared, &mut encodings);
                let position = |k: usize| ((first + k) as u64, branch(j));
                let fields = |k: usize| [&s_bytes[..], &r_bytes[k]];
                let of_branch = hash_encodings(&session, OUTPUT, &encodings, position, fields);
                for (k, key) in of_branch.iter().enumerate() {
                    keys[k * m + j] = *key;
                }
                if j + 1 < m {
                    let before = shared.clone();
                    curve::sub(backend, &before, &t, &mut shared);
                }
            }
        }
        Ok(Keys { session, m, keys })
    }
}

/// Steps 2, 3 and 6: the receiver with these choices, each below m, answers, and has its keys.
///
/// # Errors
/// [`Usage::Choices`] unless m is 2 to [`MAX_CHOICES`]; [`Usage::NoSuchChoice`];
/// [`Usage::BatchTooLarge`]; [`Usage::CountMismatch`] if the message was decoded for another number
/// of instances.
pub fn choose(
    session: Session,
    m: usize,
    choices: &[u8],
    share: &Share,
    seed: Seed,
) -> Result<(Chosen, Points), Usage> {
    let n = choices.len();
    check_size(n, m)?;
    expect_count("instances of the sender's message", n, share.instances())?;
    let beyond = |c: &u8| u8::from(usize::from(*c) >= m);
    if memcheck::decided(choices.iter().fold(0, |any, c| any | beyond(c)) == 1) {
        return Err(Usage::NoSuchChoice { choices: m as u64 });
    }
    let backend = session.backend();
    let (s, s_bytes) = share.times_8(backend);
    let mut memory = memory_for(n, Table::LEN);
    let table = memory.as_mut().map(|memory| Table::new(backend, &s, memory));
    let position = |i: usize| (i as u64, 0);
    let x = draw(&session, "foxtrot v1 chou-orlandi receiver coins", &seed, 32, n, position);
    let (x, _) = x.as_chunks();
    let mut points = Points::blank(n);
    let mut keys = Secrets::zeroed(n);
    for (first, keys) in (0..n).step_by(GROUP).zip(keys.chunks_mut(GROUP)) {
        let count_of = keys.len();
        let (x, choices) = (&x[first..][..count_of], &choices[first..][..count_of]);
        // Step 2: 8x·B, and the c-th multiple of 8S.
        let mut base = products_of_base(backend, x);
        curve::mul_by_cofactor(backend, &mut base);
        let mut r = vec![Point::IDENTITY; count_of];
        curve::add(backend, &base, &multiples(backend, &s, m, choices), &mut r);
        // Step 3.
        let r_bytes = &mut points.bytes.as_chunks_mut().0[first..][..count_of];
        curve::compress(backend, &r, r_bytes);
        // Step 6.
        curve::mul_by_cofactor(backend, &mut r);
        let mut r_bytes = Secrets::zeroed(count_of);
        curve::compress(backend, &r, &mut r_bytes);
        let shared = &mut base;
        count(Operation::PointMultiplication, count_of);
        match &table {
            Some(table) => table.mul(backend, x, shared),
            None => curve::mul(backend, x, core::slice::from_ref(&s), shared),
        }
        curve::mul_by_cofactor(backend, shared);
        let mut encodings = Secrets::zeroed(count_of);
        curve::compress(backend, shared, &mut encodings);
        let position = |k: usize| ((first + k) as u64, choices[k]);
        let fields = |k: usize| [&s_bytes[..], &r_bytes[k]];
        keys.copy_from_slice(&hash_encodings(&session, OUTPUT, &encodings, position, fields));
    }
    let mut own = SecretBytes::zeroed(n);
    own.copy_from_slice(choices);
    Ok((Chosen { session, m, choices: own, keys }, points))
}

/// c·P for each choice c < m, reading all multiples.
fn multiples(backend: Backend, p: &Point, m: usize, choices: &[u8]) -> Vec<Point> {
    let n = choices.len();
    let mut chosen = vec![Point::IDENTITY; n];
    let mut multiple = [Point::IDENTITY];
    for j in 1..m {
        let before = multiple.clone();
        curve::add(backend, &before, core::slice::from_ref(p), &mut multiple);
        let mut equal = SecretBytes::zeroed(n.div_ceil(8));
        for (i, c) in choices.iter().enumerate() {
            equal[i / 8] |= c.ct_eq(&branch(j)).unwrap_u8() << (i % 8);
        }
        let before = chosen.clone();
        curve::select(backend, &equal, &before, &multiple, &mut chosen);
    }
    chosen
}

/// Bytes of the third message, of chosen messages: (c₁, c₂) of all m of every instance.
#[must_use]
pub const fn ciphertexts_len(n: usize, m: usize) -> usize {
    n.saturating_mul(m).saturating_mul(32)
}

impl Keys {
    /// The m keys of an instance.
    ///
    /// # Panics
    /// If there is no such instance.
    #[must_use]
    pub fn of(&self, i: usize) -> &[[u8; 32]] {
        &self.keys[i * self.m..][..self.m]
    }

    /// Number of instances.
    #[must_use]
    pub fn instances(&self) -> usize {
        self.keys.len() / self.m
    }

    /// Step 7: these messages, m for each instance, encrypted.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if there are more or fewer.
    pub fn encrypt(self, messages: &[Block]) -> Result<Vec<u8>, Usage> {
        expect_count("messages", self.keys.len(), messages.len())?;
        let mut ciphertexts = Vec::with_capacity(32 * messages.len());
        for (key, message) in self.keys.iter().zip(messages) {
            let [alpha, beta] = halves(key);
            let c_1 = u128::from_le_bytes(*message) ^ *alpha;
            let c_2 = gf128::mul(self.session.backend(), *beta, c_1);
            ciphertexts.extend(c_1.to_le_bytes());
            ciphertexts.extend(c_2.to_le_bytes());
        }
        Ok(ciphertexts)
    }
}

impl Chosen {
    /// The chosen keys.
    #[must_use]
    pub fn keys(&self) -> &[[u8; 32]] {
        &self.keys
    }

    /// Step 8: the chosen messages.
    ///
    /// The error depends on the choices if the sender has cheated: see `convert`.
    ///
    /// # Errors
    /// [`Misbehaved::MessageAuthentication`] if one does not decrypt; [`Decode`] if there
    /// are not as many.
    pub fn decrypt(self, ciphertexts: &[u8]) -> Result<Vec<Block>, Error> {
        let n = self.keys.len();
        expect_len("Ciphertexts", ciphertexts, ciphertexts_len(n, self.m))?;
        let (ciphertexts, _) = ciphertexts.as_chunks::<32>();
        let mut valid = subtle::Choice::from(1);
        let mut messages = Zeroizing::new(vec![[0; 16]; n]);
        for (i, (key, message)) in self.keys.iter().zip(messages.iter_mut()).enumerate() {
            let mut chosen = Zeroizing::new([0; 32]);
            for (j, c) in ciphertexts[i * self.m..][..self.m].iter().enumerate() {
                let this = self.choices[i].ct_eq(&branch(j));
                chosen.iter_mut().zip(c).for_each(|(to, c)| to.conditional_assign(c, this));
            }
            let ([alpha, beta], [c_1, c_2]) = (halves(key), halves(&chosen));
            let expected = Zeroizing::new(gf128::mul(self.session.backend(), *beta, *c_1));
            valid &= expected.ct_eq(&c_2);
            *message = (*c_1 ^ *alpha).to_le_bytes();
        }
        if verdict(valid) {
            Ok(core::mem::take(&mut *messages))
        } else {
            Err(Misbehaved::MessageAuthentication.into())
        }
    }
}

fn check_size(n: usize, m: usize) -> Result<(), Usage> {
    if !(2..=MAX_CHOICES).contains(&m) {
        return Err(Usage::Choices { choices: m });
    }
    check_batch(n)?;
    expect_at_most(MAX_BATCH.min(MAX_KEYS / m), n)
}

/// j < 256.
fn branch(j: usize) -> u8 {
    u8::try_from(j).unwrap_or_else(|_| unreachable!("m is {MAX_CHOICES} at most"))
}

fn halves(key: &[u8; 32]) -> [Zeroizing<u128>; 2] {
    let half = |k: usize| u128::from_le_bytes(key.as_chunks().0[k]);
    [0, 1].map(|k| Zeroizing::new(half(k)))
}

foxtrot_kernel::redacted! {
    Sender, sender => "<{} instances>", sender.share.n;
    Keys, keys => "<{} redacted>", keys.keys.len();
    Chosen, chosen => "<{} redacted>", chosen.keys.len();
}

#[cfg(test)]
mod tests;
