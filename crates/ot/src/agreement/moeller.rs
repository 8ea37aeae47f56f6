//! Diffie and Hellman on Curve25519 and its twist, after Möller
//! [[MRR21](https://eprint.iacr.org/2021/682), section 6.2, Figure 9]: every string is an x-coordinate
//! on one of the two.
//!
//! The receiver draws b of 255 bits and a coin β, and sends the x-coordinate of b·G_β, with one more
//! coin as bit 255. G₀ and G₁ generate the whole groups, of orders 8ℓ and 4ℓ′, and b is not clamped:
//! a point of a subgroup would show where a POPF was programmed, since its other value is a point of
//! any order. 8ℓ and 4ℓ′ are within 2¹²⁸ of 2²⁵⁵, so the string is within 2⁻¹²⁴ of uniform.
//!
//! The sender's share is a·G₀ and a·G₁ with one clamped a, so that it need not know on which side a
//! message lies; what it computes of points of small order is 0. That one scalar serves both sides
//! rests on an oracle Diffie–Hellman assumption on curve and twist together.

use alloc::vec::Vec;

use foxtrot_kernel::{
    Backend,
    counters::{Operation, count},
    curve::{CURVE_GENERATOR, TWIST_GENERATOR, TwinTable, ladder, mul_generators},
};
use zeroize::Zeroizing;

use super::{Agreement, Shared, clamped_share, draw, is_coordinate, memory_for};
use crate::{
    Seed, Session,
    erase::{SecretBytes, Secrets},
    popf::Strings,
};

/// Bytes of coins for b, β and bit 255.
const COINS_LEN: usize = 33;

/// The key agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moeller;

impl Agreement for Moeller {
    const NAME: &'static str = "moeller";
    const ASSUMPTIONS: [&'static str; 2] = [
        "tagged oracle Diffie-Hellman jointly on curve and twist, random oracle",
        "tagged oracle Diffie-Hellman jointly on curve and twist, ideal cipher, random oracle",
    ];
    const PARAMS: &'static str = "Curve25519 and its twist";
    const OUTPUT: &'static str = "foxtrot v1 moeller output";
    type Domain = Strings;
    /// b of every instance, and β, packed.
    type Receiver = (Secrets, SecretBytes);
    const SHARE_LEN: usize = 64;

    fn is_share(share: &[u8]) -> bool {
        let ([curve, twist], []) = share.as_chunks() else { return false };
        // Both are looked at: which one is wrong is nobody's business.
        is_coordinate(curve, false) & is_coordinate(twist, true)
    }

    fn share(session: &Session, seed: &Seed) -> (Zeroizing<[u8; 32]>, Vec<u8>) {
        let context = "foxtrot v1 moeller sender coins";
        clamped_share(session, context, seed, &[CURVE_GENERATOR, TWIST_GENERATOR])
    }

    fn respond(session: &Session, n: usize, seed: &Seed) -> (Self::Receiver, Secrets) {
        let position = |i: usize| (i as u64, 0);
        let coins =
            draw(session, "foxtrot v1 moeller receiver coins", seed, COINS_LEN, n, position);
        let mut scalars = Secrets::zeroed(n);
        let mut on_twist = SecretBytes::zeroed(n.div_ceil(8));
        for (i, (scalar, coins)) in
            scalars.iter_mut().zip(coins.chunks_exact(COINS_LEN)).enumerate()
        {
            scalar.copy_from_slice(&coins[..32]);
            scalar[31] &= 0x7f;
            on_twist[i / 8] |= (coins[32] & 1) << (i % 8);
        }
        let mut messages = Secrets::zeroed(n);
        count(Operation::PointMultiplication, n);
        mul_generators(session.backend(), &scalars, &on_twist, &mut messages);
        for (message, coins) in messages.iter_mut().zip(coins.chunks_exact(COINS_LEN)) {
            message[31] |= coins[31] & 0x80;
        }
        ((scalars, on_twist), messages)
    }

    fn sender_points(backend: Backend, secret: &[u8; 32], messages: &[[u8; 32]]) -> Shared {
        let mut points = Secrets::zeroed(messages.len());
        count(Operation::PointMultiplication, messages.len());
        // Bit 255 is ignored, and strings of p and above are reduced.
        ladder::mul(backend, &[*secret], messages, &mut points);
        Shared(points)
    }

    fn receiver_points(
        backend: Backend,
        (scalars, on_twist): &Self::Receiver,
        share: &[u8],
    ) -> Shared {
        let n = scalars.len();
        let mut points = Secrets::zeroed(n);
        let ([curve, twist], []) = share.as_chunks() else {
            unreachable!("checked when it was decoded")
        };
        let pair = &[*curve, *twist];
        count(Operation::PointMultiplication, n);
        let mut memory = memory_for(n, TwinTable::LEN);
        match memory.as_mut().and_then(|memory| TwinTable::new(backend, pair, memory)) {
            Some(table) => table.mul(backend, scalars, on_twist, &mut points),
            None => ladder::mul_either(backend, scalars, pair, on_twist, &mut points),
        }
        Shared(points)
    }
}
