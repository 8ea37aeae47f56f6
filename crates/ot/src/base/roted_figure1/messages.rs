//! The three messages: checked bytes, in the layout of `docs/wire.md`, section 8.

use alloc::{vec, vec::Vec};
use core::slice::{ChunksExact, ChunksExactMut};

use foxtrot_kernel::{
    Backend,
    ring::paper512::{BITS, NttPoly},
};

use super::common::{BITS_LEN, POLY_LEN, total};
use crate::{Decode, base::message::message};

/// Refuses an instance of which one of the polynomials at its beginning has a coefficient that is
/// not below q.
fn polynomials(
    message: &'static str,
    bytes: &[u8],
    instance_len: usize,
    count: usize,
) -> Result<(), Decode> {
    for (instance, bytes) in bytes.chunks_exact(instance_len).enumerate() {
        for poly in bytes.chunks_exact(POLY_LEN).take(count) {
            if NttPoly::unpack::<BITS>(Backend::best(), poly).is_err() {
                return Err(Decode::Coefficient { message, instance });
            }
        }
    }
    Ok(())
}

message! {
    /// R → S: p⁰, r and the commitments to t₀ and t₁ of each instance.
    Blinded,
    len: |n| n * Self::INSTANCE,
    check: |bytes, _n| polynomials(Self::NAME, bytes, Self::INSTANCE, 1)
}

message! {
    /// S → R: p_S, K_a, K_{1−a}, σ₀, σ₁ and u of each instance.
    Reply,
    len: |n| n * Self::INSTANCE,
    check: |bytes, _n| polynomials(Self::NAME, bytes, Self::INSTANCE, 1)
}

message! {
    /// R → S: t₀ and t₁ of each instance.
    Opening,
    len: |n| n * Self::INSTANCE,
    check: |_bytes, _n| Ok(())
}

/// Declares the lengths of the parts of an instance.
macro_rules! layout {
    ($name:ident: $parts:literal parts $layout:expr) => {
        impl $name {
            pub(super) const LAYOUT: [usize; $parts] = $layout;
            const INSTANCE: usize = total(Self::LAYOUT);

            pub(super) fn blank(n: usize) -> Self {
                Self { bytes: vec![0; Self::encoded_len(n)], n }
            }

            pub(super) fn each(&self) -> ChunksExact<'_, u8> {
                self.bytes.chunks_exact(Self::INSTANCE)
            }

            pub(super) fn each_mut(&mut self) -> ChunksExactMut<'_, u8> {
                self.bytes.chunks_exact_mut(Self::INSTANCE)
            }
        }
    };
}

layout! { Blinded: 4 parts [POLY_LEN, 16, 32, 32] }
layout! { Reply: 6 parts [POLY_LEN, 16, 16, BITS_LEN, BITS_LEN, 16] }
layout! { Opening: 2 parts [16, 16] }
