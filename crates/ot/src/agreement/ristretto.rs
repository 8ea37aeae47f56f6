//! Diffie and Hellman over Ristretto255, whose order is prime: there is no cofactor, and no small
//! subgroup to hide a choice in. b is within 2⁻²⁵⁶ of uniform modulo the order, and so is b·G.

use alloc::vec::Vec;

use curve25519_dalek::Scalar;
use foxtrot_kernel::{
    counters::{Operation, count},
    curve::{self, Point, mul_base, ristretto},
};
use zeroize::Zeroizing;

use super::{Agreement, Tag, draw, hash_elements, is_element, multiples};
use crate::{
    Seed, Session,
    base::Block,
    erase::Secrets,
    popf::{self, Elements, decoded},
};

/// Bytes of coins for a scalar.
const SCALAR_COINS: usize = 64;

/// The key agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ristretto;

impl Agreement for Ristretto {
    const NAME: &'static str = "ristretto";
    type Domain = popf::Ristretto;
    type Sender = Zeroizing<[u8; 32]>;
    type Receiver = Secrets;
    const SHARE_LEN: usize = 32;

    fn is_share(share: &[u8]) -> bool {
        matches!(share.as_chunks(), ([encoding], []) if is_element(encoding))
    }

    fn share(session: &Session, seed: &Seed) -> (Self::Sender, Vec<u8>) {
        let context = "foxtrot v1 mcquoid-rosulek-roy sender coins";
        let coins = draw(session, context, seed, SCALAR_COINS, 1, |_| (0, 0));
        let a = scalars(&coins);
        let (mut points, mut share) = ([Point::IDENTITY], [[0; 32]]);
        count(Operation::PointMultiplication, 1);
        // One only, which is not worth a table.
        curve::mul(session.backend(), &a, &[Point::BASE], &mut points);
        ristretto::encode(session.backend(), &points, &mut share);
        (Zeroizing::new(a[0]), share.as_flattened().to_vec())
    }

    fn respond(session: &Session, n: usize, seed: &Seed) -> (Secrets, Elements<popf::Ristretto>) {
        let context = "foxtrot v1 mcquoid-rosulek-roy receiver coins";
        let scalars = scalars(&draw(session, context, seed, SCALAR_COINS, n, |i| (i as u64, 0)));
        let mut messages = Elements::zeros(n);
        count(Operation::PointMultiplication, n);
        mul_base(session.backend(), &scalars, &mut messages);
        (scalars, messages)
    }

    fn sender_keys(
        session: &Session,
        (a, share): (&Self::Sender, &[u8]),
        messages: &[Point],
        tags: impl Fn(usize) -> Tag,
        keys: &mut [Block],
    ) {
        let mut points = Elements::<popf::Ristretto>::zeros(messages.len());
        count(Operation::PointMultiplication, messages.len());
        curve::mul(session.backend(), &[**a], messages, &mut points);
        derive(session, share, &points, tags, keys);
    }

    fn receiver_keys(
        session: &Session,
        scalars: &Secrets,
        share: &[u8],
        tags: impl Fn(usize) -> Tag,
        keys: &mut [Block],
    ) {
        let backend = session.backend();
        let a = decoded::<popf::Ristretto>(backend, share.as_chunks().0);
        let mut points = Elements::<popf::Ristretto>::zeros(scalars.len());
        multiples(backend, &a[0], scalars, &mut points);
        derive(session, share, &points, tags, keys);
    }
}

/// Scalars from 64 bytes each, modulo the order of the group.
pub(crate) fn scalars(coins: &[u8]) -> Secrets {
    let (coins, _) = coins.as_chunks::<SCALAR_COINS>();
    let mut scalars = Secrets::zeroed(coins.len());
    for (scalar, coins) in scalars.iter_mut().zip(coins) {
        *scalar = *Zeroizing::new(Scalar::from_bytes_mod_order_wide(coins)).as_bytes();
    }
    scalars
}

fn derive(
    session: &Session,
    share: &[u8],
    points: &[Point],
    tags: impl Fn(usize) -> Tag,
    keys: &mut [Block],
) {
    let position = |k: usize| (tags(k).instance, tags(k).branch);
    let context = "foxtrot v1 mcquoid-rosulek-roy output";
    keys.copy_from_slice(&hash_elements(session, context, points, position, |_| [share]));
}
