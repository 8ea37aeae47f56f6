//! The two messages of `mcquoid-rosulek-roy` (`docs/wire/mcquoid-rosulek-roy.md`, section 12).

use alloc::{vec, vec::Vec};
use core::marker::PhantomData;

use foxtrot_kernel::{Backend, curve::Invalid};

use super::{super::message::message, Pair};
use crate::{Decode, agreement::Agreement, popf::Popf};

message! {
    /// S → R: the sender's share, one for all instances.
    [P: Pair] KeyShare,
    len: |_n| P::Agreement::SHARE_LEN,
    check: |bytes, _n| match P::Agreement::is_share(bytes) {
        true => Ok(()),
        false => Err(Decode::Point { message: Self::NAME, instance: 0 }),
    }
}

message! {
    /// R → S: φ of every instance.
    [P: Pair] Blinded,
    len: |n| n.saturating_mul(P::Popf::PHI_LEN),
    check: |bytes, _n| P::Popf::check(Backend::best(), bytes)
        .map_err(|Invalid { index: instance }| Decode::Point { message: Self::NAME, instance })
}

impl<P: Pair> KeyShare<P> {
    pub(super) fn new(bytes: Vec<u8>, n: usize) -> Self {
        Self { bytes, n, of: PhantomData }
    }
}

impl<P: Pair> Blinded<P> {
    pub(super) fn phis_mut(&mut self) -> &mut [u8] {
        &mut self.bytes
    }
}
