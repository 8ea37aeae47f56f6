//! The three messages: checked bytes, in the layout of `docs/wire/roted.md`, section 5.

use alloc::{vec, vec::Vec};
use core::marker::PhantomData;

use super::{
    super::message::encoding,
    Endemic, Rot, check_batch,
    instances::{PHI_LEN, REPLY_LEN, check_phis},
};
use crate::{Bits, Decode, Error, Session, Usage, expect_count, expect_len, oracle::Purpose};

/// The bytes that each of the two modes puts before the instances.
pub trait Mode: sealed::Sealed {
    /// Bytes before the instances of a `Blinded`.
    #[doc(hidden)]
    const BLINDED_HEAD: usize;

    /// Bytes before the n instances of a `Reply`.
    #[doc(hidden)]
    fn reply_head(n: usize) -> usize;
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Rot {}
    impl Sealed for super::Endemic {}
}

impl Mode for Rot {
    const BLINDED_HEAD: usize = 32;

    fn reply_head(n: usize) -> usize {
        32 + n.div_ceil(8)
    }
}

impl Mode for Endemic {
    const BLINDED_HEAD: usize = 0;

    fn reply_head(_: usize) -> usize {
        0
    }
}

/// R → S: one φ = (T, s) per instance; in F_ROT mode a commitment before them.
#[derive(Clone, PartialEq, Eq)]
#[must_use]
pub struct Blinded<M> {
    bytes: Vec<u8>,
    n: usize,
    mode: PhantomData<M>,
}

/// S → R: (U, hints) for both branches of every instance; in F_ROT mode u and the bits a before
/// them.
#[derive(Clone, PartialEq, Eq)]
#[must_use]
pub struct Reply<M> {
    bytes: Vec<u8>,
    n: usize,
    mode: PhantomData<M>,
}

/// R → S, in F_ROT mode: the committed t.
#[derive(Clone, PartialEq, Eq)]
#[must_use]
pub struct Opening(pub(super) [u8; 32]);

/// A checked message of n instances, in the peer's bytes.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    bytes: &'a [u8],
    head: usize,
    n: usize,
}

impl<'a> View<'a> {
    /// Returns the bytes that the mode puts before the instances.
    pub(super) fn head(self) -> &'a [u8] {
        &self.bytes[..self.head]
    }

    pub(super) fn instances(self) -> usize {
        self.n
    }

    pub(super) fn instances_bytes(self) -> &'a [u8] {
        &self.bytes[self.head..]
    }

    /// The digest of a `Blinded`, from what the transcript has of each instance.
    pub(super) fn digest(self, session: &Session, condensed: &[u8]) -> [u8; 32] {
        let mut digest = [0; 32];
        let oracle = session.oracle(const { Purpose::new("foxtrot v1 roted Blinded") });
        oracle.answer(0, 0, &[self.head(), condensed], &mut digest);
        digest
    }

    /// The whole message.
    pub(super) fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// The typed states hold n, the message holds n: they must be the same batch.
    pub(super) fn expect_instances(self, expected: usize) -> Result<(), Usage> {
        expect_count("instances in the reply", expected, self.n)
    }

    /// The sender's u, in a reply of mode F_ROT.
    pub(super) fn u(self) -> &'a [u8] {
        &self.bytes[..32]
    }

    /// The sender's a, in a reply of mode F_ROT.
    pub(super) fn a(self) -> Bits {
        Bits::from_random(self.bytes[32..self.head].to_vec(), self.n)
    }
}

encoding!([M: Mode] Blinded<M>);

impl<M: Mode> Blinded<M> {
    /// Length in bytes for n instances.
    #[must_use]
    pub fn encoded_len(n: usize) -> usize {
        M::BLINDED_HEAD + n * PHI_LEN
    }

    /// A message of n instances from the peer's bytes.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`]; [`Decode`] if the length is wrong or a coefficient is not below q.
    pub fn decode(bytes: &[u8], n: usize) -> Result<Self, Error> {
        Self::check(bytes, n)?;
        Ok(Self { bytes: bytes.to_vec(), n, mode: PhantomData })
    }

    /// Checks an encoding without copying it.
    pub(super) fn check(bytes: &[u8], n: usize) -> Result<View<'_>, Error> {
        check_batch(n)?;
        expect_len(Self::NAME, bytes, Self::encoded_len(n))?;
        check_phis(Self::NAME, &bytes[M::BLINDED_HEAD..])?;
        Ok(View { bytes, head: M::BLINDED_HEAD, n })
    }

    pub(super) fn view(&self) -> View<'_> {
        View { bytes: &self.bytes, head: M::BLINDED_HEAD, n: self.n }
    }

    pub(super) fn blank(n: usize) -> Self {
        Self { bytes: vec![0; Self::encoded_len(n)], n, mode: PhantomData }
    }

    pub(super) fn head_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[..M::BLINDED_HEAD]
    }

    pub(super) fn phis_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[M::BLINDED_HEAD..]
    }
}

encoding!([M: Mode] Reply<M>);

impl<M: Mode> Reply<M> {
    /// Length in bytes for n instances.
    #[must_use]
    pub fn encoded_len(n: usize) -> usize {
        M::reply_head(n) + n * REPLY_LEN
    }

    /// A message of n instances from the peer's bytes. Rounded coefficients and hints have no
    /// invalid encoding.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`]; [`Decode`] if the length is wrong or spare bits after the bits a are
    /// set.
    pub fn decode(bytes: &[u8], n: usize) -> Result<Self, Error> {
        Self::check(bytes, n)?;
        Ok(Self { bytes: bytes.to_vec(), n, mode: PhantomData })
    }

    /// Checks an encoding without copying it.
    pub(super) fn check(bytes: &[u8], n: usize) -> Result<View<'_>, Error> {
        check_batch(n)?;
        expect_len(Self::NAME, bytes, Self::encoded_len(n))?;
        if let Some(a) = bytes[..M::reply_head(n)].get(32..) {
            Bits::decode(Self::NAME, a, n)?;
        }
        Ok(View { bytes, head: M::reply_head(n), n })
    }

    pub(super) fn blank(n: usize) -> Self {
        Self { bytes: vec![0; Self::encoded_len(n)], n, mode: PhantomData }
    }

    pub(super) fn view(&self) -> View<'_> {
        View { bytes: &self.bytes, head: M::reply_head(self.n), n: self.n }
    }

    pub(super) fn instances_bytes_mut(&mut self) -> &mut [u8] {
        &mut self.bytes[M::reply_head(self.n)..]
    }
}

impl Reply<Rot> {
    pub(super) fn set_head(&mut self, u: &[u8; 32], a: &Bits) {
        self.bytes[..32].copy_from_slice(u);
        self.bytes[32..Rot::reply_head(self.n)].copy_from_slice(a.as_bytes());
    }
}

impl Opening {
    /// Length in bytes.
    pub const ENCODED_LEN: usize = 32;

    /// Decodes the peer's bytes.
    ///
    /// # Errors
    /// [`Decode`] if there are not 32.
    pub fn decode(bytes: &[u8]) -> Result<Self, Decode> {
        expect_len("Opening", bytes, Self::ENCODED_LEN)?;
        let mut t = [0; 32];
        t.copy_from_slice(bytes);
        Ok(Self(t))
    }

    /// The encoding.
    #[must_use]
    pub fn into_bytes(self) -> Vec<u8> {
        self.0.to_vec()
    }
}

foxtrot_kernel::redacted! {
    Opening;
}
