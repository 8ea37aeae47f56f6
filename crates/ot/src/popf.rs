//! Programmable-once public functions [[MRR21](https://eprint.iacr.org/2021/682)]: a short
//! description φ of a function from {0, 1} to a group that its maker can fix at one point of its
//! choice, while the other value comes out of a random oracle.

mod feistel2;

pub use feistel2::{Feistel2, Opened, S_LEN};

use crate::oracle::Query;

/// An additive group with an encoding and a random oracle into it.
pub trait Group {
    /// Its elements.
    type Element;

    /// Length of an encoding in bytes.
    const ENCODED_LEN: usize;

    /// The element that answers the query. Its time must not depend on the answer: only one of
    /// two answers that the peer knows is computed here, and which one is the secret.
    fn hash(&self, query: Query) -> Self::Element;

    /// a += b.
    fn add(&self, a: &mut Self::Element, b: &Self::Element);

    /// a −= b.
    fn sub(&self, a: &mut Self::Element, b: &Self::Element);

    /// Writes the one encoding of `a` to exactly [`Group::ENCODED_LEN`] bytes.
    fn encode(&self, a: &Self::Element, bytes: &mut [u8]);
}
