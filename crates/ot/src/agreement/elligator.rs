//! Diffie and Hellman on Curve25519 with points that look like strings
//! [[MRR21](https://eprint.iacr.org/2021/682), section 6.1, Figure 8; Bernstein, Hamburg, Krasnova and
//! Lange, CCS 2013].
//!
//! The receiver draws b of 255 bits, not clamped, and sends a string of b·G under Elligator 2, where G
//! generates the whole group of order 8ℓ. Half of all points have strings; for the others b is drawn
//! again. Of the two or four strings of a point a coin chooses, another one is bit 255. So the string
//! is within 2⁻¹²⁴ of uniform. How many draws it took says nothing of the one that counts: draws are
//! independent.
//!
//! The sender's a is clamped: what it computes of points of small order is 0.

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{
    Backend,
    counters::{Operation, count},
    curve::{CURVE_GENERATOR, TWIST_GENERATOR, TwinTable, elligator, ladder, mul_generators},
    memcheck,
};
use zeroize::Zeroizing;

use super::{Agreement, Shared, clamped_share, draw, is_coordinate, memory_for};
use crate::{
    Seed, Session,
    erase::{SecretBytes, Secrets},
    popf::Strings,
};

/// Bytes of coins for b and the choice of a string.
const COINS_LEN: usize = 33;

/// The key agreement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elligator;

impl Agreement for Elligator {
    const NAME: &'static str = "elligator";
    const PARAMS: &'static str = "Curve25519";
    const OUTPUT: &'static str = "foxtrot v1 elligator output";
    type Domain = Strings;
    type Receiver = Secrets;
    const SHARE_LEN: usize = 32;

    fn is_share(share: &[u8]) -> bool {
        matches!(share.as_chunks(), ([point], []) if is_coordinate(point, false))
    }

    fn share(session: &Session, seed: &Seed) -> (Zeroizing<[u8; 32]>, Vec<u8>) {
        let context = "foxtrot v1 elligator sender coins";
        clamped_share(session, context, seed, &[CURVE_GENERATOR])
    }

    fn respond(session: &Session, n: usize, seed: &Seed) -> (Secrets, Secrets) {
        let (mut scalars, mut messages) = (Secrets::zeroed(n), Secrets::zeroed(n));
        let mut pending: Vec<usize> = (0..n).collect();
        for attempt in 0..=u8::MAX {
            if pending.is_empty() {
                break;
            }
            let missing = draw_strings(session, seed, attempt, &pending, |i, scalar, string| {
                scalars[i] = *scalar;
                messages[i] = *string;
            });
            count(Operation::HashToCurve, missing.len());
            pending = missing;
        }
        assert!(pending.is_empty(), "half of all points have strings");
        count(Operation::PointMultiplication, n);
        (scalars, messages)
    }

    fn sender_points(backend: Backend, secret: &[u8; 32], messages: &[[u8; 32]]) -> Shared {
        let (mut coordinates, mut points) =
            (Secrets::zeroed(messages.len()), Secrets::zeroed(messages.len()));
        elligator::map(backend, messages, &mut coordinates);
        count(Operation::PointMultiplication, messages.len());
        ladder::mul(backend, &[*secret], &coordinates, &mut points);
        Shared(points)
    }

    fn receiver_points(backend: Backend, scalars: &Secrets, share: &[u8]) -> Shared {
        let n = scalars.len();
        let mut points = Secrets::zeroed(n);
        let [point] = share.as_chunks().0 else { unreachable!("checked when it was decoded") };
        count(Operation::PointMultiplication, n);
        let pair = [*point, TWIST_GENERATOR];
        let mut memory = memory_for(n, TwinTable::LEN);
        match memory.as_mut().and_then(|memory| TwinTable::new(backend, &pair, memory)) {
            Some(table) => {
                let on_twist = vec![0; n.div_ceil(8)];
                table.mul(backend, scalars, &on_twist, &mut points);
            }
            None => ladder::mul(backend, scalars, &[*point], &mut points),
        }
        Shared(points)
    }
}

/// Draws a point for each of these instances, and gives b and the string of those that have one to
/// `found`. Returns the others.
fn draw_strings(
    session: &Session,
    seed: &Seed,
    attempt: u8,
    instances: &[usize],
    mut found: impl FnMut(usize, &[u8; 32], &[u8; 32]),
) -> Vec<usize> {
    let n = instances.len();
    let position = |k: usize| (instances[k] as u64, attempt);
    let coins = draw(session, "foxtrot v1 elligator receiver coins", seed, COINS_LEN, n, position);
    let (mut scalars, mut points) = (Secrets::zeroed(n), Secrets::zeroed(n));
    let mut choices = SecretBytes::zeroed(n);
    for (k, coins) in coins.chunks_exact(COINS_LEN).enumerate() {
        scalars[k].copy_from_slice(&coins[..32]);
        scalars[k][31] &= 0x7f;
        choices[k] = coins[32];
    }
    let mut has = vec![0; n.div_ceil(8)];
    mul_generators(session.backend(), &scalars, &has, &mut points);
    let mut strings = Secrets::zeroed(n);
    elligator::inverse(session.backend(), &points, &choices, &mut strings, &mut has);
    // Whether a point has a string is independent of the string, and of the scalar that is kept.
    memcheck::public(&mut has);
    let mut missing = Vec::new();
    for (k, &i) in instances.iter().enumerate() {
        if has[k / 8] >> (k % 8) & 1 == 1 {
            found(i, &scalars[k], &strings[k]);
        } else {
            missing.push(i);
        }
    }
    missing
}
