//! Private set intersection from vector OLE [[RS21](https://eprint.iacr.org/2021/266),
//! [RR22](https://eprint.iacr.org/2022/320)]: 33 bytes per key, malicious or semi-honest.
//!
//! The receiver learns which of its items the sender also has. The sender learns nothing. Both learn the sizes of the sets.
//! A cheating receiver can fit more items than it declared, [`Parameters::largest_set`](crate::Sets::largest_set) at most. Either party can make the
//! other end without output.
//!
//! ```text
//! R: items Y                                            S: items X
//!                  ── Commitment ──►
//!                  ◄── Coin ──
//!                  ── Opening ──►                       only if there are several buckets
//!    per bucket:
//! U, V = W ⊕ U·Δ   ◄─ VOLE ─►                           Δ, W
//! P: words at Y    ── RowSeed, Masked: A = U ⊕ P ──►    K = W ⊕ A·Δ
//! dec(V) at Y                                           dec(K) ⊕ w·Δ at X
//!    once all buckets are done:
//! X ∩ Y            ◄── Tags ──
//! ```
//!
//! The VOLE is [silent](foxtrot_ot::silent) and rests on LPN; for small sets it is packed from OTs, without LPN. The states carry
//! out `docs/protocols/vole-psi.md`, which has the steps, what is proved and what is not. Bytes are in
//! `docs/wire/vole-psi.md`, section 21. Items are 32-byte digests, distinct, from a collision-resistant hash.
//!
//! The states take the outputs of a VOLE whose check has passed; [`method::protocol`](crate::method::protocol) runs everything.
#![doc = intersection_example!("foxtrot_psi::vole_psi::Parameters::of(foxtrot_psi::vole_psi::Vole::Silent, ours.len(), theirs.len())")]

use core::ops::Range;

use foxtrot_kernel::memory::strings;
use foxtrot_ot::{
    Backend, Usage,
    erase::Secret,
    expect_count,
    tasks::{Executor, for_each},
};

mod parameters;
pub(crate) mod protocol;
mod receiver;
mod sender;

pub use parameters::{Field, PROTOCOLS, Parameters, Vole};
pub use receiver::{Encoded, Masked, Planned, Receiver};
pub use sender::{Opened, Sender};

use crate::{
    Digest,
    hashes::TOGETHER,
    okvs::{Decoder, Plan},
    party::TagHash,
    tags::Answers,
};

/// The receiver's U of a bucket.
pub type Mask = Field<Secret<u128>, Secret<u64>>;

impl Mask {
    /// Adds U to words of this many bytes, if it has as many elements of that length.
    pub(crate) fn add_to(
        &self,
        executor: &dyn Executor,
        (word_len, words): (usize, &mut [u8]),
    ) -> Result<(), Usage> {
        let (got, bytes) = match self {
            Self::Large(u) => (u.len(), size_of::<u128>()),
            Self::Small(u) => (u.len(), size_of::<u64>()),
        };
        let got = if bytes == word_len { got } else { 0 };
        expect_count("elements of U", words.len() / word_len, got)?;
        let parts = words.chunks_mut(TOGETHER * bytes).enumerate();
        for_each(executor, parts, |(part, words)| match self {
            Self::Large(u) => {
                let words = words.as_chunks_mut().0.iter_mut().zip(&u[part * TOGETHER..]);
                words.for_each(|(to, u)| *to = (u128::from_le_bytes(*to) ^ u).to_le_bytes());
            }
            Self::Small(u) => {
                let words = words.as_chunks_mut().0.iter_mut().zip(&u[part * TOGETHER..]);
                words.for_each(|(to, u)| *to = (u64::from_le_bytes(*to) ^ u).to_le_bytes());
            }
        });
        Ok(())
    }
}

/// Adds Δ times a word to each sum. A word of 16 bytes is an element of GF(2^128), one of 8 bytes of GF(2^64).
pub(crate) fn add_products<const W: usize>(
    backend: Backend,
    delta: u128,
    words: &[[u8; W]],
    sums: &mut [u128],
) {
    use foxtrot_kernel::gf::{gf128, tower};
    if W == 16 {
        let mut elements = Secret::<u128>::zeroed(words.len());
        for (element, word) in elements.iter_mut().zip(words) {
            *element = u128::from_le_bytes(core::array::from_fn(|k| word[k]));
        }
        gf128::add_products(backend, delta, &elements, sums);
    } else {
        let mut elements = Secret::<u64>::zeroed(words.len());
        for (element, word) in elements.iter_mut().zip(words) {
            *element = u64::from_le_bytes(core::array::from_fn(|k| word[k]));
        }
        tower::add_products(backend, delta, &elements, sums);
    }
}

/// Computes the tags of a plan's items, in the order of the plan. `shift` gets decoded values by their places in the plan, and turns them into
/// the receiver's.
fn tags(
    hash: &TagHash,
    (plan, decoder): (&Plan, &Decoder<'_, 16>),
    items: &[Digest],
    shift: impl Fn(Range<usize>, &mut [u128]) + Sync,
) -> Result<Answers, Usage> {
    const ITEM: usize = size_of::<Digest>();
    hash.tags::<{ ITEM + 16 }>(plan, items, |range, inputs| {
        let mut values = Secret::zeroed(range.len());
        plan.decode_range(decoder, range.clone(), strings(&mut values))?;
        values.iter_mut().for_each(|value| *value = u128::from_le(*value));
        shift(range, &mut values);
        for (input, value) in inputs.iter_mut().zip(&*values) {
            input[ITEM..].copy_from_slice(&value.to_le_bytes());
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests;
