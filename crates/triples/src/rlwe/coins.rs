//! Coins derived from a party's seed and from the session (`docs/wire/rlwe.md`, section 18).

use foxtrot_kernel::rns::sample::Streams;
use foxtrot_ot::{Seed, Session};
use zeroize::Zeroizing;

/// Streams of P₀'s key.
pub(super) mod key {
    pub(in crate::rlwe) const SECRET: u64 = 0;
    pub(in crate::rlwe) const ERROR: u64 = 1;
}

/// Streams of P₀'s batches.
pub(super) mod asking {
    pub(in crate::rlwe) const SHARES: [u64; 2] = [0, 1];
    pub(in crate::rlwe) const ERRORS: [u64; 2] = [2, 3];
}

/// Streams of P₁'s batches.
pub(super) mod answering {
    pub(in crate::rlwe) const SHARES: [u64; 2] = [0, 1];
    pub(in crate::rlwe) const RANDOMISER: u64 = 2;
    pub(in crate::rlwe) const ERRORS: [u64; 2] = [3, 4];
}

/// The uniform half of an answer: the residues of y₀ modulo the primes of p.
pub(super) const ANSWER: u8 = 2;

/// The streams of P₀'s secret and its key's error.
pub(super) fn of_key(session: &Session, seed: &Seed) -> Streams {
    secret(session, "foxtrot v1 rlwe key", seed, 0)
}

pub(super) fn of_request(session: &Session, seed: &Seed, batch: u64) -> Streams {
    secret(session, "foxtrot v1 rlwe request", seed, batch)
}

pub(super) fn of_response(session: &Session, seed: &Seed, batch: u64) -> Streams {
    secret(session, "foxtrot v1 rlwe response", seed, batch)
}

/// The streams of the uniform half of the public key, one for each prime.
pub(super) fn of_public_key(session: &Session) -> Streams {
    public(session, "foxtrot v1 rlwe public key", 0, 0)
}

/// The streams of a uniform half of a batch, one for each prime: `which` is 0 for a₀, 1 for b₀, and [`ANSWER`] for
/// the answer of P₁.
pub(super) fn of_uniform_half(session: &Session, batch: u64, which: u8) -> Streams {
    public(session, "foxtrot v1 rlwe uniform half", batch, which)
}

/// A seed for the stream in that session, from a party's.
pub(super) fn stream_seed(session: &Session, seed: &Seed) -> Seed {
    let mut bytes = Zeroizing::new([0; 32]);
    seed.fill(&session.oracle("foxtrot v1 rlwe stream seed"), 0, bytes.as_mut_slice());
    Seed::from_bytes(*bytes)
}

fn secret(session: &Session, context: &'static str, seed: &Seed, batch: u64) -> Streams {
    let mut bytes = Zeroizing::new([0; 24]);
    seed.fill(&session.oracle(context), batch, bytes.as_mut_slice());
    Streams::new(session.backend(), &bytes)
}

fn public(session: &Session, context: &'static str, batch: u64, which: u8) -> Streams {
    Streams::new(session.backend(), &session.oracle(context).query(batch, which).finish())
}
