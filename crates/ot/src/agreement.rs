//! Tagged key agreements of one flow [[MRR21](https://eprint.iacr.org/2021/682), section 6]: a sender's
//! share serves a whole batch, and each of the receiver's messages is uniform in the domain of a
//! POPF.
//!
//! | | receiver's messages | share |
//! |---|---|---|
//! | [`Moeller`] | x-coordinates on Curve25519 or its twist: strings | two x-coordinates, 64 bytes |
//! | [`Elligator`] | points of Curve25519 as strings | an x-coordinate, 32 bytes |
//! | [`Ristretto`] | elements of Ristretto255 | one element, 32 bytes |
//!
//! Keys come out under a [`Tag`] and no other way: what both parties computed is hashed here, with
//! sub-sid, instance and branch. One share for all instances is safe by that only.

mod elligator;
mod moeller;
mod ristretto;
#[cfg(test)]
mod tests;

use alloc::{vec, vec::Vec};
use core::fmt;

use foxtrot_kernel::{
    Backend,
    counters::{Operation, count},
    curve::{self, Point, Sixteen, Table, on_curve, ristretto as kernel_ristretto},
};

pub use elligator::Elligator;
pub use moeller::Moeller;
pub use ristretto::Ristretto;
pub(crate) use ristretto::scalars;

use crate::{
    Seed, Session,
    base::Block,
    erase::{SecretBytes, Secrets},
    oracle::Wide,
    popf::{Domain, Elements},
};

/// Number of instances from which on a receiver prepares a table of the sender's share, where there
/// is memory for it; for fewer that costs more than it saves.
const FOR_TABLE: usize = 48;

/// Memory for a table of that length, if n multiplications are worth it.
pub(crate) fn memory_for(n: usize, table_len: usize) -> Option<Vec<Sixteen>> {
    (cfg!(feature = "std") && n >= FOR_TABLE).then(|| vec![Sixteen::ZERO; table_len])
}

/// The purpose of a key, beside its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tag {
    /// Index of the instance in the batch.
    pub instance: u64,
    /// Index of the branch in the instance.
    pub branch: u8,
}

/// A key agreement. Its secrets and what both parties compute stay inside; a step of a party consumes
/// nothing, so that protocols can cut a batch, but a sender must give one key per tag only.
pub trait Agreement: Copy + fmt::Debug + Send + Sync + 'static {
    /// Name in the names of protocols.
    const NAME: &'static str;

    /// The group in which the receiver's messages are uniform.
    type Domain: Domain;

    /// The sender's secret.
    type Sender: Send;

    /// The receiver's secrets of a batch.
    type Receiver: Send;

    /// Length in bytes of the sender's share.
    const SHARE_LEN: usize;

    /// Returns true if the bytes are a share: strictly decoded, and of an order that is not small.
    /// Takes variable time.
    fn is_share(share: &[u8]) -> bool;

    /// The sender's secret, and its share.
    fn share(session: &Session, seed: &Seed) -> (Self::Sender, Vec<u8>);

    /// The receiver's secrets and messages of a batch of n.
    fn respond(
        session: &Session,
        n: usize,
        seed: &Seed,
    ) -> (Self::Receiver, Elements<Self::Domain>);

    /// The keys that the sender of that share agrees on with a receiver that knows the secrets of
    /// these messages.
    ///
    /// # Panics
    /// If there are not as many of each.
    fn sender_keys(
        session: &Session,
        sender: (&Self::Sender, &[u8]),
        messages: &[<Self::Domain as Domain>::Element],
        tags: impl Fn(usize) -> Tag,
        keys: &mut [Block],
    );

    /// The keys that the receiver agrees on with the sender of that share, which was checked.
    ///
    /// # Panics
    /// If there are not as many keys as messages.
    fn receiver_keys(
        session: &Session,
        receiver: &Self::Receiver,
        share: &[u8],
        tags: impl Fn(usize) -> Tag,
        keys: &mut [Block],
    );
}

/// K(i, j, share, point) of every shared point's encoding.
fn derive(
    session: &Session,
    context: &'static str,
    share: &[u8],
    points: &Secrets,
    tags: impl Fn(usize) -> Tag,
    keys: &mut [Block],
) {
    assert_eq!(points.len(), keys.len(), "a key for every point");
    let question = |k: usize| {
        let Tag { instance, branch } = tags(k);
        (instance, branch, [share, &points[k]])
    };
    let (oracle, keys) = (session.oracle(context), keys.as_flattened_mut());
    Wide::new(session.backend()).ask(&oracle, points.len(), question, keys);
}

/// The products of one point of Ristretto255 and many scalars, by a table where that is worth it.
pub(crate) fn multiples(
    backend: Backend,
    point: &Point,
    scalars: &[[u8; 32]],
    products: &mut [Point],
) {
    count(Operation::PointMultiplication, scalars.len());
    match memory_for(scalars.len(), Table::LEN) {
        Some(mut memory) => Table::new(backend, point, &mut memory).mul(backend, scalars, products),
        None => curve::mul(backend, scalars, core::slice::from_ref(point), products),
    }
}

/// Hashes of shared elements of Ristretto255, each with what else its key is to depend on.
pub(crate) fn hash_elements<'a, const N: usize>(
    session: &Session,
    context: &'static str,
    elements: &[Point],
    position: impl Fn(usize) -> (u64, u8),
    fields: impl Fn(usize) -> [&'a [u8]; N],
) -> Secrets<16> {
    let mut encodings = Secrets::<32>::zeroed(elements.len());
    kernel_ristretto::encode(session.backend(), elements, &mut encodings);
    let mut keys = Secrets::zeroed(elements.len());
    let question = |k: usize| {
        let (i, j) = position(k);
        (i, j, fields(k).into_iter().chain([&encodings[k][..]]))
    };
    let (oracle, places) = (session.oracle(context), keys.as_flattened_mut());
    Wide::new(session.backend()).ask(&oracle, elements.len(), question, places);
    keys
}

/// Uniform bytes, `len` for each of n positions: what the oracle says about the seed.
pub(crate) fn draw(
    session: &Session,
    context: &'static str,
    seed: &Seed,
    len: usize,
    n: usize,
    position: impl Fn(usize) -> (u64, u8),
) -> SecretBytes {
    let mut coins = SecretBytes::zeroed(n * len);
    if len == 0 {
        return coins;
    }
    let question = |k: usize| (position(k).0, position(k).1, [&seed.as_bytes()[..]]);
    Wide::new(session.backend()).ask(&session.oracle(context), n, question, &mut coins);
    coins
}

/// A scalar as X25519 has them: a multiple of 8, so that points of small order give nothing away, with
/// a fixed highest bit.
fn clamped(mut bytes: [u8; 32]) -> [u8; 32] {
    bytes[0] &= 0xf8;
    bytes[31] = bytes[31] & 0x7f | 0x40;
    bytes
}

/// Returns true for an x-coordinate below p, bit 255 zero, of a point of large order on the curve or,
/// if wanted, on the twist.
fn is_coordinate(bytes: &[u8; 32], on_twist: bool) -> bool {
    let mut side = [0];
    on_curve(Backend::best(), &[*bytes], &mut side);
    is_canonical(bytes) && !SMALL_ORDER.contains(bytes) && (side[0] & 1 == 0) == on_twist
}

/// Returns true if the bytes encode an element of Ristretto255 that is not neutral. Takes variable
/// time.
pub(crate) fn is_element(bytes: &[u8; 32]) -> bool {
    let decoded = kernel_ristretto::decode(Backend::best(), &[*bytes], &mut [Point::IDENTITY]);
    // Zeros are the neutral element.
    *bytes != [0; 32] && decoded.is_ok()
}

/// Returns true if the number is below p.
fn is_canonical(bytes: &[u8; 32]) -> bool {
    let middle = bytes[1..31].iter().all(|&byte| byte == 0xff);
    bytes[31] < 0x7f || bytes[31] == 0x7f && !(middle && bytes[0] >= 0xed)
}

/// The x-coordinates of points of order 8 or less: 0, 1, −1, and those of order 8.
const SMALL_ORDER: [[u8; 32]; 5] = [
    [0; 32],
    {
        let mut one = [0; 32];
        one[0] = 1;
        one
    },
    {
        let mut minus_one = [0xff; 32];
        minus_one[0] = 0xec;
        minus_one[31] = 0x7f;
        minus_one
    },
    [
        0xe0, 0xeb, 0x7a, 0x7c, 0x3b, 0x41, 0xb8, 0xae, 0x16, 0x56, 0xe3, 0xfa, 0xf1, 0x9f, 0xc4,
        0x6a, 0xda, 0x09, 0x8d, 0xeb, 0x9c, 0x32, 0xb1, 0xfd, 0x86, 0x62, 0x05, 0x16, 0x5f, 0x49,
        0xb8, 0x00,
    ],
    [
        0x5f, 0x9c, 0x95, 0xbc, 0xa3, 0x50, 0x8c, 0x24, 0xb1, 0xd0, 0xb1, 0x55, 0x9c, 0x83, 0xef,
        0x5b, 0x04, 0x44, 0x5c, 0xc4, 0x58, 0x1c, 0x8e, 0x86, 0xd8, 0x22, 0x4e, 0xdd, 0xd0, 0x9f,
        0x11, 0x57,
    ],
];
