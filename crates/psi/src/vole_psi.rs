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
//! The VOLE is [silent](foxtrot_ot::silent) and rests on LPN; for small sets it is packed from OTs, without LPN. The steps are
//! below; `docs/protocols/vole-psi.md` has what is proved and what is not. Bytes are in
//! `docs/wire/vole-psi.md`, section 21. Items are 32-byte digests, distinct, from a collision-resistant hash.
//!
//! The states take the outputs of a VOLE whose check has passed; [`method::protocol`](crate::method::protocol) runs everything.
//!
//! # Steps
//!
//! 1. *Set-up*, once for all buckets: 128 base OTs, in which S chooses Δ, and the set-up of `softspoken-8`. With B > 1, the joint coin.
//! 2. *VOLE* of m outputs with its checks: S's check of R's OTs before S sends anything of a tree; R's check of S's trees before R
//!    sends anything that depends on U.
//! 3. *Encode (R)*, with coins that are secret until Y is fixed: (ρ, P) with dec(P, y) = w(y) for all y of the bucket. If there are no slots the
//!    session ends; there is no second seed. Encoding needs nothing of the VOLE. R encodes while S computes W: beside R's own last step of the
//!    VOLE if R has threads, else after it. R sends ρ and A only after its check has passed.
//! 4. *R → S:* ρ and A = U + P.
//! 5. *S:* K = W + A·Δ. R's value of y is dec(V, y), S's of x is dec(K, x) + w(x)·Δ.
//! 6. *Tags* t(x) = H(ρ, bucket, sid; x, value).
//! 7. *S → R:* all tags of all buckets, sorted, after the last bucket.
//! 8. *Output (R):* all y ∈ Y whose tag is among them. Nothing is sent after that.
//!
//! # Helpers
//!
//! * *One hash* of an item under K(ρ, bucket, sid) gives 64 bytes, one compression of BLAKE3: row, and word. The tag's hash has another key.
//! * *Linearity.* K = W + A·Δ = V + P·Δ, and decoding is linear over B, so dec(K, x) = dec(V, x) + dec(P, x)·Δ.
//! * *Tags* are hashes of the item and a field element. The item is in it, or S's could not be extracted.
//! * *Sorted tags* are Elias–Fano coded (`elias_fano`): ℓ − ⌊log₂ n⌋ + 2 bits each at most. The length depends on n and ℓ only. The decoder takes
//!   exactly one string for each set of tags, and no other string.
//!
//! # Letters
//!
//! | symbol | meaning | in code |
//! |---|---|---|
//! | F; B | GF(2^128), semi-honest: an F-plane over B = GF(2^64) | `Vole` |
//! | n_y, n_x; B, L(n) | sizes; buckets and their loads (`docs/protocols/paxos.md`, section 2) | `Parameters` |
//! | ρ, P, m | row seed, store, its slots (`docs/protocols/okvs.md`) | `row_seed`; `slots` |
//! | w(x) | the word of an item, in B (malicious: F) | `plan_words` |
//! | U, V; Δ, W | the VOLE: V = W + U·Δ, U in B^m, the others in F | `Mask`; `Ideal` |
//! | A; K | A = U + P; K = W + A·Δ | `sums`; `k` |
//! | dec(M, x) | the XOR of the elements of M at the slots of row(x) | `OkvsPlan::decode_range` |
//! | t; ℓ | tag; its length in bits | `tag_bits` |
//!
//! # What the proof asks of the program
//!
//! | obligation | held by |
//! |---|---|
//! | U, V serve one A | `Encoded::mask` takes both, and itself; it does not compile twice |
//! | no second ρ | `Receiver::encode` takes the receiver; the seed is drawn once |
//! | Y fixed before ρ | items come with `Receiver::new`; the seed is secret until then |
//! | VOLE checked before A, and before tags | `protocol`; a test counts the messages after a failed check |
//! | tags after all buckets | `Sent` exists after the last bucket only |
//! | distinct items | repeats end the run: `Unlucky`, `RepeatedItem` |
//! | words without reduction | 16 bytes are an element, zero included |
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
    okvs::{Decoder, OkvsPlan},
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
    (plan, decoder): (&OkvsPlan, &Decoder<'_, 16>),
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
