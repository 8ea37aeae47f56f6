//! The three messages: checked bytes, in the layout of `docs/wire.md`, section 8.

use alloc::{vec, vec::Vec};
use core::{
    fmt,
    slice::{ChunksExact, ChunksExactMut},
};

use foxtrot_kernel::{
    Backend,
    ring::paper512::{BITS, NttPoly},
};

use super::common::{BITS_LEN, POLY_LEN, total};
use crate::{
    Decode, Error, Usage,
    base::{check_batch, message::expect_len},
};

/// The typed states hold n, the message holds n: they must be the same batch.
pub(super) fn expect_instances(
    what: &'static str,
    got: usize,
    expected: usize,
) -> Result<(), Usage> {
    if got == expected { Ok(()) } else { Err(Usage::CountMismatch { what, expected, got }) }
}

/// Declares a message by the parts of an instance, of which the first so many are polynomials.
macro_rules! message {
    ($(#[$doc:meta])* $name:ident: $parts:literal parts $layout:expr, $polynomials:expr) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq)]
        #[must_use]
        pub struct $name(Vec<u8>);

        impl $name {
            /// Lengths of the parts of an instance.
            pub(super) const LAYOUT: [usize; $parts] = $layout;
            const INSTANCE: usize = total(Self::LAYOUT);

            /// Length in bytes for n instances.
            #[must_use]
            pub fn encoded_len(n: usize) -> usize {
                n * Self::INSTANCE
            }

            /// A message of n instances from the peer's bytes.
            ///
            /// # Errors
            /// [`Usage::BatchTooLarge`]; [`Decode`] if the length is wrong or a coefficient is not
            /// below q.
            pub fn decode(bytes: &[u8], n: usize) -> Result<Self, Error> {
                check_batch(n)?;
                expect_len(stringify!($name), bytes, Self::encoded_len(n))?;
                for (instance, bytes) in bytes.chunks_exact(Self::INSTANCE).enumerate() {
                    for poly in bytes.chunks_exact(POLY_LEN).take($polynomials) {
                        if NttPoly::unpack::<BITS>(Backend::best(), poly).is_err() {
                            let message = stringify!($name);
                            return Err(Decode::Coefficient { message, instance }.into());
                        }
                    }
                }
                Ok(Self(bytes.to_vec()))
            }

            /// The encoding.
            #[must_use]
            pub fn as_bytes(&self) -> &[u8] {
                &self.0
            }

            /// The encoding.
            #[must_use]
            pub fn into_bytes(self) -> Vec<u8> {
                self.0
            }

            /// Number of instances.
            #[must_use]
            pub fn instances(&self) -> usize {
                self.0.len() / Self::INSTANCE
            }

            pub(super) fn blank(n: usize) -> Self {
                Self(vec![0; Self::encoded_len(n)])
            }

            pub(super) fn each(&self) -> ChunksExact<'_, u8> {
                self.0.chunks_exact(Self::INSTANCE)
            }

            pub(super) fn each_mut(&mut self) -> ChunksExactMut<'_, u8> {
                self.0.chunks_exact_mut(Self::INSTANCE)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({} instances)"), self.instances())
            }
        }
    };
}

message! {
    /// R → S: p⁰, r and the commitments to t₀ and t₁ of each instance.
    Blinded: 4 parts [POLY_LEN, 16, 32, 32], 1
}

message! {
    /// S → R: p_S, K_a, K_{1−a}, σ₀, σ₁ and u of each instance.
    Reply: 6 parts [POLY_LEN, 16, 16, BITS_LEN, BITS_LEN, 16], 1
}

message! {
    /// R → S: t₀ and t₁ of each instance.
    Opening: 2 parts [16, 16], 0
}
