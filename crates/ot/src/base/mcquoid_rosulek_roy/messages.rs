//! The two messages of `mcquoid-rosulek-roy` (`docs/wire/mcquoid-rosulek-roy.md`, section 12).

use alloc::{vec, vec::Vec};
use core::marker::PhantomData;

use foxtrot_kernel::{Backend, curve::Invalid};

use super::{
    super::{check_batch, message::encoding},
    Pair,
};
use crate::{Decode, Error, agreement::Agreement, expect_len, popf::Popf};

/// S → R: the sender's share, one for all instances.
#[derive(Clone, PartialEq, Eq)]
#[must_use]
pub struct KeyShare<P> {
    bytes: Vec<u8>,
    n: usize,
    pair: PhantomData<P>,
}

/// R → S: φ of every instance.
#[derive(Clone, PartialEq, Eq)]
#[must_use]
pub struct Blinded<P> {
    bytes: Vec<u8>,
    n: usize,
    pair: PhantomData<P>,
}

encoding!([P: Pair] KeyShare<P>);
encoding!([P: Pair] Blinded<P>);

impl<P: Pair> KeyShare<P> {
    /// Length in bytes, whatever the number of instances.
    #[must_use]
    pub fn encoded_len(_n: usize) -> usize {
        P::Agreement::SHARE_LEN
    }

    /// A message for n instances from the peer's bytes.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`](crate::Usage); [`Decode`] if the bytes are none.
    pub fn decode(bytes: &[u8], n: usize) -> Result<Self, Error> {
        check_batch(n)?;
        expect_len(Self::NAME, bytes, Self::encoded_len(n))?;
        if !P::Agreement::is_share(bytes) {
            return Err(Decode::Point { message: Self::NAME, instance: 0 }.into());
        }
        Ok(Self::new(bytes.to_vec(), n))
    }

    pub(super) fn new(bytes: Vec<u8>, n: usize) -> Self {
        Self { bytes, n, pair: PhantomData }
    }
}

impl<P: Pair> Blinded<P> {
    /// Length in bytes for n instances.
    #[must_use]
    pub fn encoded_len(n: usize) -> usize {
        n.saturating_mul(P::Popf::PHI_LEN)
    }

    /// A message of n instances from the peer's bytes.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`](crate::Usage); [`Decode`] if the bytes are none.
    pub fn decode(bytes: &[u8], n: usize) -> Result<Self, Error> {
        check_batch(n)?;
        expect_len(Self::NAME, bytes, Self::encoded_len(n))?;
        match P::Popf::check(Backend::best(), bytes) {
            Ok(()) => Ok(Self { bytes: bytes.to_vec(), n, pair: PhantomData }),
            Err(Invalid { index: instance }) => {
                Err(Decode::Point { message: Self::NAME, instance }.into())
            }
        }
    }

    pub(super) fn blank(n: usize) -> Self {
        Self { bytes: vec![0; Self::encoded_len(n)], n, pair: PhantomData }
    }

    pub(super) fn phis_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}
