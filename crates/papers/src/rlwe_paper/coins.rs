//! Coins that are derived from seeds and the session.

use foxtrot_kernel::rns::sample::Streams;
use foxtrot_ot::{Seed, Session};
use zeroize::Zeroizing;

/// Streams of a key: the secret and its error.
pub(super) const KEY: [u64; 2] = [0, 1];

/// Streams of the encryptions of a₀ and b₀: randomiser, both errors.
pub(super) const ENCRYPTIONS: [[u64; 3]; 2] = [[0, 1, 2], [3, 4, 5]];

/// Streams of P₁'s encryption: randomiser, error, flood.
pub(super) const FLOODED: [u64; 3] = [0, 1, 2];

/// Streams of a party's shares of a and b, and of r.
pub(super) const SHARES: [u64; 2] = [0, 1];
pub(super) const MASK: u64 = 2;

/// Secret streams of batch and instance; what has no instance is instance 0.
pub(super) fn secret(
    session: &Session,
    context: &'static str,
    seed: &Seed,
    batch: u64,
    instance: usize,
) -> Streams {
    let mut bytes = Zeroizing::new([0; 24]);
    seed.fill(&session.oracle(context), 8 * batch + instance as u64, bytes.as_mut_slice());
    Streams::new(session.backend(), &bytes)
}

/// Returns the streams of the uniform half of an instance's public key.
pub(super) fn public_key(session: &Session, instance: usize) -> Streams {
    let query = session.oracle("foxtrot v1 rlwe-paper public key").query(instance as u64, 0);
    Streams::new(session.backend(), &query.finish())
}
