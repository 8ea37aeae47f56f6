//! The three messages: checked bytes, in the layout of `docs/wire/roted.md`, section 5.

use alloc::{vec, vec::Vec};

use super::{
    super::message::message,
    Endemic, Rot,
    instances::{PHI_LEN, REPLY_LEN, check_phis},
};
use crate::{Bits, Session, oracle::Purpose};

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

message! {
    /// R → S: one φ = (T, s) per instance; in F_ROT mode a commitment before them.
    [M: Mode] Blinded,
    len: |n| M::BLINDED_HEAD + n * PHI_LEN,
    check: |bytes, _n| check_phis(Self::NAME, &bytes[M::BLINDED_HEAD..])
}

message! {
    /// S → R: (U, hints) for both branches of every instance; in F_ROT mode u and the bits a before
    /// them. Rounded coefficients and hints have no invalid encoding.
    [M: Mode] Reply,
    len: |n| M::reply_head(n) + n * REPLY_LEN,
    check: |bytes, n| match bytes[..M::reply_head(n)].get(32..) {
        Some(a) => Bits::decode(Self::NAME, a, n).map(drop),
        None => Ok(()),
    }
}

message! {
    /// R → S, in F_ROT mode: the committed t, one for the whole batch. Every string is one.
    Opening,
    len: |_n| 32,
    check: |_bytes, _n| Ok(())
}

impl<M: Mode> Blinded<M> {
    pub(super) fn phis(&self) -> &[u8] {
        &self.bytes[M::BLINDED_HEAD..]
    }

    /// The digest of the message, from what the transcript has of each instance.
    pub(super) fn digest(&self, session: &Session, condensed: &[u8]) -> [u8; 32] {
        let mut digest = [0; 32];
        let oracle = session.oracle(const { Purpose::new("foxtrot v1 roted Blinded") });
        oracle.answer(0, 0, &[&self.bytes[..M::BLINDED_HEAD], condensed], &mut digest);
        digest
    }
}

impl<M: Mode> Reply<M> {
    /// Both parts: the bytes that the mode puts before the instances, and those of the instances.
    pub(super) fn parts(&self) -> (&[u8], &[u8]) {
        self.bytes.split_at(M::reply_head(self.n))
    }
}

impl Reply<Rot> {
    /// The sender's a.
    pub(super) fn a(&self) -> Bits {
        Bits::from_random(self.parts().0[32..].to_vec(), self.n)
    }
}
