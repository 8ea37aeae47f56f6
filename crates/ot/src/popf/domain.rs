//! The groups in which the values of POPFs lie, many elements at once.

use alloc::{vec, vec::Vec};
use core::{fmt, ops::DerefMut};

use foxtrot_kernel::{
    Backend,
    curve::{self, Invalid, Point, ristretto},
};

use crate::erase::Secrets;

/// Bytes of an encoded element.
pub const ENCODED_LEN: usize = 32;

/// An additive group whose elements have encodings of 32 bytes, with a random oracle into it.
///
/// Neither time nor addresses depend on elements and answers, but for [`Domain::decode`]. Functions
/// panic if the lists that they are given differ in length.
pub trait Domain: Copy + Default + fmt::Debug + Send + Sync + 'static {
    /// Its elements.
    type Element: Clone + Send + Sync;

    /// Lists of them, which are erased when they are dropped.
    type Elements: DerefMut<Target = [Self::Element]> + Send;

    /// Length in bytes of the oracle's answers from which elements are made.
    const ANSWER_LEN: usize;

    /// Makes n neutral elements.
    fn zeros(n: usize) -> Self::Elements;

    /// The elements that uniform answers of [`Domain::ANSWER_LEN`] bytes each, one after another,
    /// stand for; they are uniform.
    fn hash(backend: Backend, answers: &[u8], elements: &mut [Self::Element]);

    /// The encodings.
    fn encode(backend: Backend, elements: &[Self::Element], bytes: &mut [[u8; ENCODED_LEN]]);

    /// The elements that are encoded so. Takes variable time: for public bytes.
    ///
    /// # Errors
    /// [`Invalid`], with the first that is no encoding; then `elements` is undefined.
    fn decode(
        backend: Backend,
        bytes: &[[u8; ENCODED_LEN]],
        elements: &mut [Self::Element],
    ) -> Result<(), Invalid>;

    /// a + b.
    fn add(backend: Backend, a: &[Self::Element], b: &[Self::Element], sums: &mut [Self::Element]);

    /// a − b.
    fn sub(
        backend: Backend,
        a: &[Self::Element],
        b: &[Self::Element],
        differences: &mut [Self::Element],
    );
}

/// Strings of 256 bits under bitwise addition: every string is an element and its own encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Strings;

/// Ristretto255 (RFC 9496), of prime order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ristretto;

impl Domain for Strings {
    type Element = [u8; 32];
    type Elements = Secrets;
    const ANSWER_LEN: usize = 32;

    fn zeros(n: usize) -> Secrets {
        Secrets::zeroed(n)
    }

    fn hash(_: Backend, answers: &[u8], elements: &mut [[u8; 32]]) {
        elements.as_flattened_mut().copy_from_slice(answers);
    }

    fn encode(_: Backend, elements: &[[u8; 32]], bytes: &mut [[u8; 32]]) {
        bytes.copy_from_slice(elements);
    }

    fn decode(_: Backend, bytes: &[[u8; 32]], elements: &mut [[u8; 32]]) -> Result<(), Invalid> {
        elements.copy_from_slice(bytes);
        Ok(())
    }

    fn add(_: Backend, a: &[[u8; 32]], b: &[[u8; 32]], sums: &mut [[u8; 32]]) {
        assert!(a.len() == sums.len() && b.len() == sums.len());
        let pairs = a.as_flattened().iter().zip(b.as_flattened());
        for (sum, (a, b)) in sums.as_flattened_mut().iter_mut().zip(pairs) {
            *sum = a ^ b;
        }
    }

    fn sub(backend: Backend, a: &[[u8; 32]], b: &[[u8; 32]], differences: &mut [[u8; 32]]) {
        Self::add(backend, a, b, differences);
    }
}

impl Domain for Ristretto {
    type Element = Point;
    /// A [`Point`] erases itself.
    type Elements = Vec<Point>;
    const ANSWER_LEN: usize = 64;

    fn zeros(n: usize) -> Vec<Point> {
        vec![Point::IDENTITY; n]
    }

    fn hash(backend: Backend, answers: &[u8], elements: &mut [Point]) {
        ristretto::from_uniform(backend, answers.as_chunks().0, elements);
    }

    fn encode(backend: Backend, elements: &[Point], bytes: &mut [[u8; 32]]) {
        ristretto::encode(backend, elements, bytes);
    }

    fn decode(backend: Backend, bytes: &[[u8; 32]], elements: &mut [Point]) -> Result<(), Invalid> {
        ristretto::decode(backend, bytes, elements)
    }

    fn add(backend: Backend, a: &[Point], b: &[Point], sums: &mut [Point]) {
        curve::add(backend, a, b, sums);
    }

    fn sub(backend: Backend, a: &[Point], b: &[Point], differences: &mut [Point]) {
        curve::sub(backend, a, b, differences);
    }
}
