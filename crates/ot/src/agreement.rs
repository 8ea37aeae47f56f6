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
//! Keys come out under a tag and no other way: what both parties computed is hashed here, with
//! sub-sid, instance and branch. One share for all instances is safe by that only.

mod elligator;
mod moeller;
mod ristretto;
#[cfg(test)]
mod tests;

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{
    Backend,
    counters::{Operation, count},
    curve::{
        self, Point, Sixteen, Table, ladder, mul_base, on_curve, ristretto as kernel_ristretto,
    },
};
use zeroize::Zeroizing;

pub use elligator::Elligator;
pub use moeller::Moeller;
pub use ristretto::Ristretto;
pub(crate) use ristretto::scalars;

use crate::{
    Seed, Session,
    erase::{SecretBytes, Secrets},
    oracle::Wide,
    popf::Domain,
};

/// Number of instances from which on a receiver prepares a table of the sender's share, where there
/// is memory for it; for fewer that costs more than it saves.
const FOR_TABLE: usize = 48;

/// Memory for a table of that length, if n multiplications are worth it.
pub(crate) fn memory_for(n: usize, table_len: usize) -> Option<Vec<Sixteen>> {
    (cfg!(feature = "std") && n >= FOR_TABLE).then(|| vec![Sixteen::ZERO; table_len])
}

/// Encodings of points that both parties share, which are read only to hash them to keys.
#[derive(Debug)]
pub struct Shared(Secrets);

/// A key agreement. Its secrets and what both parties compute stay inside; a step of a party consumes
/// nothing, so that protocols can cut a batch, but a sender must give one key per position only.
pub trait Agreement: Copy + Send + Sync + 'static {
    /// Name in the names of protocols.
    const NAME: &'static str;

    /// The assumption of an OT by it, without and with an ideal cipher.
    const ASSUMPTIONS: [&'static str; 2] = [
        "tagged oracle Diffie-Hellman, random oracle",
        "tagged oracle Diffie-Hellman, ideal cipher, random oracle",
    ];

    /// The curve.
    const PARAMS: &'static str;

    /// The context of keys.
    const OUTPUT: &'static str;

    /// The group in which the receiver's messages are uniform.
    type Domain: Domain;

    /// The receiver's secrets of a batch.
    type Receiver: Send;

    /// Length in bytes of the sender's share.
    const SHARE_LEN: usize;

    /// Returns true if the bytes are a share: strictly decoded, and of an order that is not small.
    /// Takes variable time.
    fn is_share(share: &[u8]) -> bool;

    /// The sender's secret, and its share.
    fn share(session: &Session, seed: &Seed) -> (Zeroizing<[u8; 32]>, Vec<u8>);

    /// The receiver's secrets and messages of a batch of n.
    fn respond(
        session: &Session,
        n: usize,
        seed: &Seed,
    ) -> (Self::Receiver, <Self::Domain as Domain>::Elements);

    /// The points that the sender shares with a receiver that knows the secrets of these messages.
    fn sender_points(
        backend: Backend,
        secret: &[u8; 32],
        messages: &[<Self::Domain as Domain>::Element],
    ) -> Shared;

    /// The points that the receiver shares with the sender of that share, which was checked.
    fn receiver_points(backend: Backend, receiver: &Self::Receiver, share: &[u8]) -> Shared;
}

/// K(i, j, share, point) of shared points, each at its position (i, j).
pub(crate) fn keys<A: Agreement>(
    session: &Session,
    share: &[u8],
    Shared(points): &Shared,
    position: impl Fn(usize) -> (u64, u8),
) -> Secrets<16> {
    hash_encodings(session, A::OUTPUT, points, position, |_| [share])
}

/// The products of scalars and points, of either of which there may be one for all of the other.
pub(crate) fn products(backend: Backend, scalars: &[[u8; 32]], points: &[Point]) -> Vec<Point> {
    let n = if scalars.len() == 1 { points.len() } else { scalars.len() };
    let mut products = vec![Point::IDENTITY; n];
    count(Operation::PointMultiplication, n);
    curve::mul(backend, scalars, points, &mut products);
    products
}

pub(crate) fn products_of_base(backend: Backend, scalars: &[[u8; 32]]) -> Vec<Point> {
    let mut products = vec![Point::IDENTITY; scalars.len()];
    count(Operation::PointMultiplication, scalars.len());
    mul_base(backend, scalars, &mut products);
    products
}

/// The products of one point of Ristretto255 and many scalars, by a table where that is worth it.
pub(crate) fn multiples(backend: Backend, point: &Point, scalars: &[[u8; 32]]) -> Vec<Point> {
    let Some(mut memory) = memory_for(scalars.len(), Table::LEN) else {
        return products(backend, scalars, core::slice::from_ref(point));
    };
    let mut products = vec![Point::IDENTITY; scalars.len()];
    count(Operation::PointMultiplication, scalars.len());
    Table::new(backend, point, &mut memory).mul(backend, scalars, &mut products);
    products
}

/// Hashes of shared elements of Ristretto255, each with what else its key is to depend on.
pub(crate) fn hash_elements<'a, const N: usize>(
    session: &Session,
    context: &'static str,
    elements: &[Point],
    position: impl Fn(usize) -> (u64, u8),
    fields: impl Fn(usize) -> [&'a [u8]; N],
) -> Secrets<16> {
    let encodings = encoded(session.backend(), elements);
    hash_encodings(session, context, &encodings, position, fields)
}

pub(crate) fn encoded(backend: Backend, elements: &[Point]) -> Secrets {
    let mut encodings = Secrets::zeroed(elements.len());
    kernel_ristretto::encode(backend, elements, &mut encodings);
    encodings
}

/// Hashes of encodings of shared points, each with what else its key is to depend on.
pub(crate) fn hash_encodings<'a, const N: usize, const M: usize, const L: usize>(
    session: &Session,
    context: &'static str,
    points: &[[u8; M]],
    position: impl Fn(usize) -> (u64, u8),
    fields: impl Fn(usize) -> [&'a [u8]; N],
) -> Secrets<L> {
    let mut keys = Secrets::zeroed(points.len());
    let question = |k: usize| {
        let (i, j) = position(k);
        (i, j, fields(k).into_iter().chain([&points[k][..]]))
    };
    let (oracle, places) = (session.oracle(context), keys.as_flattened_mut());
    Wide::new(session.backend()).ask(&oracle, points.len(), question, places);
    keys
}

/// A clamped scalar, and the x-coordinates of its products with these generators, all of a share.
fn clamped_share(
    session: &Session,
    context: &'static str,
    seed: &Seed,
    generators: &[[u8; 32]],
) -> (Zeroizing<[u8; 32]>, Vec<u8>) {
    let coins = draw(session, context, seed, 32, 1, |_| (0, 0));
    let a = Zeroizing::new(clamped(coins.as_chunks().0[0]));
    let mut share = vec![[0; 32]; generators.len()];
    count(Operation::PointMultiplication, generators.len());
    ladder::mul(session.backend(), &[*a], generators, &mut share);
    (a, share.into_flattened())
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
