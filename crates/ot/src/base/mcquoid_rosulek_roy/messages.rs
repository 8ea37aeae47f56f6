//! The two messages of `mcquoid-rosulek-roy` (`docs/wire.md`, section 12).

use alloc::{vec, vec::Vec};

use curve25519_dalek::RistrettoPoint;

use super::{super::message::message, PHI_LEN};
use crate::{
    Decode,
    popf::{RISTRETTO_LEN, Ristretto},
};

message! {
    /// S → R: the sender's point A, one for all instances.
    KeyShare,
    len: |_n| RISTRETTO_LEN,
    check: |bytes, _n| match Ristretto::decode_generator(bytes) {
        Some(_) => Ok(()),
        None => Err(Decode::Point { message: Self::NAME, instance: 0 }),
    }
}

message! {
    /// R → S: φ = (T, s) of every instance.
    Blinded,
    len: |n| n.saturating_mul(PHI_LEN),
    check: |bytes, _n| {
        for (instance, phi) in bytes.chunks_exact(PHI_LEN).enumerate() {
            if Ristretto::decode(&phi[..RISTRETTO_LEN]).is_none() {
                return Err(Decode::Point { message: Self::NAME, instance });
            }
        }
        Ok(())
    }
}

fn decoded(bytes: &[u8]) -> RistrettoPoint {
    Ristretto::decode(bytes).unwrap_or_else(|| unreachable!("checked when it was decoded"))
}

impl KeyShare {
    pub(super) fn new(a: &RistrettoPoint, n: usize) -> Self {
        Self { bytes: a.compress().as_bytes().to_vec(), n }
    }

    pub(super) fn point(&self) -> RistrettoPoint {
        decoded(&self.bytes)
    }
}

impl Blinded {
    pub(super) fn blank(n: usize) -> Self {
        Self { bytes: vec![0; Self::encoded_len(n)], n }
    }

    pub(super) fn phis_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}
