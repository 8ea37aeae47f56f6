//! Diffie and Hellman over Ristretto255, whose order is prime: there is no cofactor, and no small
//! subgroup to hide a choice in. b is within 2⁻²⁵⁶ of uniform modulo the order, and so is b·G.

use alloc::vec::Vec;

use curve25519_dalek::Scalar;
use foxtrot_kernel::{Backend, curve::Point};
use zeroize::Zeroizing;

use super::{Agreement, Shared, draw, encoded, is_element, multiples, products, products_of_base};
use crate::{
    Seed, Session,
    erase::Secrets,
    popf::{self, decoded},
};

const SCALAR_COINS: usize = 64;

/// The key agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ristretto;

impl Agreement for Ristretto {
    const NAME: &'static str = "ristretto";
    const PARAMS: &'static str = "Ristretto255";
    const OUTPUT: &'static str = "foxtrot v1 mcquoid-rosulek-roy output";
    type Domain = popf::Ristretto;
    type Receiver = Secrets;
    const SHARE_LEN: usize = 32;

    fn is_share(share: &[u8]) -> bool {
        matches!(share.as_chunks(), ([encoding], []) if is_element(encoding))
    }

    fn share(session: &Session, seed: &Seed) -> (Zeroizing<[u8; 32]>, Vec<u8>) {
        let context = "foxtrot v1 mcquoid-rosulek-roy sender coins";
        let coins = draw(session, context, seed, SCALAR_COINS, 1, |_| (0, 0));
        let a = scalars(&coins);
        // One only, which is not worth a table.
        let points = products(session.backend(), &a, &[Point::BASE]);
        let share = encoded(session.backend(), &points);
        (Zeroizing::new(a[0]), share.as_flattened().to_vec())
    }

    fn respond(session: &Session, n: usize, seed: &Seed) -> (Secrets, Vec<Point>) {
        let context = "foxtrot v1 mcquoid-rosulek-roy receiver coins";
        let scalars = scalars(&draw(session, context, seed, SCALAR_COINS, n, |i| (i as u64, 0)));
        let messages = products_of_base(session.backend(), &scalars);
        (scalars, messages)
    }

    fn sender_points(backend: Backend, secret: &[u8; 32], messages: &[Point]) -> Shared {
        Shared(encoded(backend, &products(backend, &[*secret], messages)))
    }

    fn receiver_points(backend: Backend, scalars: &Secrets, share: &[u8]) -> Shared {
        let a = decoded::<popf::Ristretto>(backend, share.as_chunks().0);
        Shared(encoded(backend, &multiples(backend, &a[0], scalars)))
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
