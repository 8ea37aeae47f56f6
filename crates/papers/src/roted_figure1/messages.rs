//! The three messages: checked bytes, in the layout of `crates/papers/wire.md`, section 8.

use foxtrot_kernel::{Backend, ring::vectors};
use foxtrot_ot::{Decode, message};

use super::{
    common::{BITS_LEN, POLY_LEN, total},
    ring::BITS,
};

/// Refuses an instance of which the polynomial at its beginning has a coefficient that is not below q.
fn polynomial(message: &'static str, bytes: &[u8], instance_len: usize) -> Result<(), Decode> {
    for (instance, bytes) in bytes.chunks_exact(instance_len).enumerate() {
        if !vectors::in_range::<512, 13313, BITS>(Backend::best(), &bytes[..POLY_LEN]) {
            return Err(Decode::Coefficient { message, instance });
        }
    }
    Ok(())
}

message! {
    /// R → S: p⁰, r and the commitments to t₀ and t₁ of each instance.
    Blinded,
    len: |n| n * Self::INSTANCE,
    check: |bytes, _n| polynomial(Self::NAME, bytes, Self::INSTANCE)
}

message! {
    /// S → R: p_S, K_a, K_{1−a}, σ₀, σ₁ and u of each instance.
    Reply,
    len: |n| n * Self::INSTANCE,
    check: |bytes, _n| polynomial(Self::NAME, bytes, Self::INSTANCE)
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
            pub(super) const INSTANCE: usize = total(Self::LAYOUT);

            pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
                &mut self.bytes
            }
        }
    };
}

layout! { Blinded: 4 parts [POLY_LEN, 16, 32, 32] }
layout! { Reply: 6 parts [POLY_LEN, 16, 16, BITS_LEN, BITS_LEN, 16] }
layout! { Opening: 2 parts [16, 16] }
