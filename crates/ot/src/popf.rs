//! Programmable-once public functions [[MRR21](https://eprint.iacr.org/2021/682)]: a short
//! description φ of a function from {0, 1} to a group that its maker can fix at one point of its
//! choice, while the other value comes out of a random oracle.
//!
//! [`Feistel2`] over a [`Group`] goes instance by instance, for the rings of the lattice protocols. The
//! others implement [`Popf`] over a [`Domain`], batch by batch, for the curves:
//!
//! | | φ | bytes | domain |
//! |---|---|---|---|
//! | [`Eke`] | E_x(P) | 32 | strings |
//! | [`EvenMansour`] | Π(P) ⊕ x | 32 | strings |
//! | [`MasnyRindal`] | (s₀, s₁); P = s_x + H_x(s_{1−x}) | 64 | any |
//! | [`Feistel`] | (t, s); P = t + H(x, s ⊕ x·t) | 64 | any |
//! | [`Feistel2`] | (T, s); P = T + H₁(x, s ⊕ H′(x, T)) | 80 | any |

mod domain;
mod eke;
mod even_mansour;
mod feistel;
mod feistel2;
mod masny_rindal;
#[cfg(test)]
mod tests;

use alloc::vec::Vec;

pub use domain::{Domain, ENCODED_LEN, Ristretto, Strings};
pub use eke::Eke;
pub use even_mansour::EvenMansour;
pub use feistel::Feistel;
pub use feistel2::{Digests, Feistel2, GROUP, Hashed, Room, S_LEN};
pub use masny_rindal::MasnyRindal;

use foxtrot_kernel::{Backend, curve::Invalid};
use zeroize::Zeroize;

use crate::{Session, erase::SecretBytes, oracle::Keyed};

/// A POPF with values in a domain, for many consecutive instances at once. All its oracles are
/// bound to the session, and to the instance but for the permutation of [`EvenMansour`].
pub trait Popf: sealed::Sealed + Sized + Send + Sync + 'static {
    /// The group of its values.
    type Domain: Domain;

    /// Name in the names of protocols.
    const NAME: &'static str;

    /// The paper of an OT by it.
    const PAPER: &'static str = "MRR21";

    /// True if it takes an ideal cipher.
    const IDEAL_CIPHER: bool = false;

    /// The caveat of an OT by it.
    const CAVEAT: &'static str = if Self::IDEAL_CIPHER {
        "a quantum computer reads choices and keys; a corrupt party may fix its own keys; Rijndael on \
            256 bits is taken for an ideal cipher, and little studied"
    } else {
        "a quantum computer reads choices and keys; a corrupt party may fix its own keys"
    };

    /// Length of φ in bytes.
    const PHI_LEN: usize;

    /// Bytes of uniform coins for each φ.
    const COINS_LEN: usize;

    /// The one of that session.
    fn new(session: &Session) -> Self;

    /// Returns an error unless every φ is a valid encoding.
    ///
    /// # Errors
    /// [`Invalid`], with the first that is none.
    fn check(backend: Backend, phis: &[u8]) -> Result<(), Invalid>;

    /// Writes the φ of the instances from `first` on, each with its value at its x, 0 or 1, from
    /// uniform coins. Neither time nor addresses depend on `x`, `values` and `coins`. There is one of
    /// each for each φ.
    fn program(&self, first: u64, x: &[u8], values: &[Value<Self>], coins: &[u8], phis: &mut [u8]);

    /// The values at 0 and at 1 of as many φ of the instances from `first` on, which were checked.
    fn evaluate(&self, first: u64, phis: &[u8], values: [&mut [Value<Self>]; 2]);
}

// How secure an OT by a POPF is, is a claim of this crate.
mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Eke {}
    impl Sealed for super::EvenMansour {}
    impl<D: super::Domain> Sealed for super::MasnyRindal<D> {}
    impl<D: super::Domain> Sealed for super::Feistel<D> {}
    impl<D: super::Domain> Sealed for super::Feistel2<D> {}
}

/// A value of that POPF.
pub type Value<P> = <<P as Popf>::Domain as Domain>::Element;

/// An additive group with an encoding and a random oracle into it.
pub trait Group {
    /// Its elements.
    type Element: Clone + Zeroize;

    /// Length of an encoding in bytes.
    const ENCODED_LEN: usize;

    /// Length in bytes of the oracle's answers from which elements are made.
    const ANSWER_LEN: usize;

    /// Number of bytes that mostly suffice for a public element.
    const USUAL_LEN: usize;

    /// The neutral element.
    fn zero(&self) -> Self::Element;

    /// The elements that uniform answers of [`Group::ANSWER_LEN`] bytes each, one after another,
    /// stand for. The time must not depend on the answers: only one of two answers that the peer
    /// knows is computed here, and which one is the secret.
    fn hash(&self, answers: &[u8], elements: &mut [Self::Element]);

    /// Hashes one public answer, of the two for both points of a description, to an element; the
    /// time may depend on it. It may be its first [`Group::USUAL_LEN`] bytes only. Returns whether
    /// it had enough; if not, the element is neutral.
    fn hash_public(&self, answer: &[u8], element: &mut Self::Element) -> bool;

    /// Adds an element in its encoding, which was checked before.
    fn add_encoded(&self, a: &mut Self::Element, bytes: &[u8]);
}

/// The 32 bytes at `at` of every `stride` ones.
pub(crate) fn column(bytes: &[u8], stride: usize, at: usize) -> Vec<[u8; ENCODED_LEN]> {
    let part = |phi: &[u8]| core::array::from_fn(|k| phi[at + k]);
    bytes.chunks_exact(stride).map(part).collect()
}

/// Their elements, which were checked before.
pub(crate) fn decoded<D: Domain>(backend: Backend, bytes: &[[u8; ENCODED_LEN]]) -> D::Elements {
    let mut elements = D::zeros(bytes.len());
    D::decode(backend, bytes, &mut elements)
        .unwrap_or_else(|_| unreachable!("checked when it was decoded"));
    elements
}

/// The elements that an oracle answers.
fn hashes<D: Domain, const L: usize>(
    oracle: &Keyed,
    n: usize,
    question: impl Fn(usize) -> (u64, u8, [u8; L]),
) -> D::Elements {
    let mut answers = SecretBytes::zeroed(n * D::ANSWER_LEN);
    oracle.ask(n, question, &mut answers);
    let mut hashes = D::zeros(n);
    D::hash(oracle.backend, &answers, &mut hashes);
    hashes
}

/// Checks that the strings are encodings.
pub(crate) fn check<D: Domain>(
    backend: Backend,
    bytes: &[[u8; ENCODED_LEN]],
) -> Result<(), Invalid> {
    D::decode(backend, bytes, &mut D::zeros(bytes.len()))
}
