//! Programmable-once public functions [[MRR21](https://eprint.iacr.org/2021/682)]: a short
//! description φ of a function from {0, 1} to a group that its maker can fix at one point of its
//! choice, while the other value comes out of a random oracle.

mod feistel2;
mod ristretto;

pub use feistel2::{Digests, Feistel2, GROUP, Room, S_LEN};
pub use ristretto::{RISTRETTO_LEN, Ristretto};

use zeroize::Zeroize;

/// An additive group with an encoding and a random oracle into it.
pub trait Group {
    /// Its elements.
    type Element: Clone + Zeroize;

    /// Length of an encoding in bytes.
    const ENCODED_LEN: usize;

    /// Length in bytes of the oracle's answers from which elements are made.
    const ANSWER_LEN: usize;

    /// The neutral element.
    fn zero(&self) -> Self::Element;

    /// The elements that uniform answers of [`Group::ANSWER_LEN`] bytes each, one after another,
    /// stand for. The time must not depend on the answers: only one of two answers that the peer
    /// knows is computed here, and which one is the secret.
    fn hash(&self, answers: &[u8], elements: &mut [Self::Element]);

    /// The same for one public answer, of those to both points of a description; the time may
    /// depend on it.
    fn hash_public(&self, answer: &[u8], element: &mut Self::Element);

    /// Adds an element in its encoding, which was checked before.
    fn add_encoded(&self, a: &mut Self::Element, bytes: &[u8]);
}
