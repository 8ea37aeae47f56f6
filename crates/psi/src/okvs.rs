//! Oblivious key-value stores: slots that give every key its value, and look random otherwise.
//!
//! A key has a row of bits, hashed under a public [`RowSeed`](crate::RowSeed): H ones among the sparse slots and about
//! half of the few dense ones. Its value is the XOR of the slots where its row has ones, so decoding
//! is linear over GF(2). Encoding solves for the slots: most keys are peeled off one by one, the
//! rest is solved by elimination. `docs/protocols/okvs.md` has the notation, the layout and the
//! proof that the equations of distinct keys depend on each other with probability at most 2⁻⁴⁰, for every
//! number of keys. Encoding also fails if more than 2¹³ keys are left when no more can be peeled off: that
//! this is as rare is measured, not proved, for stores of more than 2¹³ keys.
//!
//! * [`Okvs::three`]: three sparse slots, 1.22 to 1.3 slots per key; for fewer than 2¹⁷ keys.
//! * [`Okvs::four`]: four sparse slots, 1.2 slots per key of 2¹⁷, 1.1 of 2²²; for 2¹⁷ keys and more.
//! * [`Okvs::two`]: two sparse slots, 2.4 per key, as in [PRTY20].
//!
//! [PRTY20]: https://eprint.iacr.org/2020/193
//!
//! ```
//! use foxtrot_ot::{Session, Sid};
//! use foxtrot_psi::okvs::{Coins, Okvs};
//!
//! let session = Session::new(Sid::from_bytes([7; 32])).sub("example", 0, Default::default());
//! let keys = [[1; 32], [2; 32], [3; 32]];
//! let values = [*b"one  ", *b"two  ", *b"three"];
//!
//! let okvs = Okvs::new(keys.len())?;
//! let mut slots = vec![[0; 5]; okvs.slots()];
//! let coins = Coins::from_bytes([9; 32]); // in earnest: fresh, uniform and secret
//! let seed = okvs.encode(&session, coins, &keys, &values, &mut slots)?;
//!
//! let mut decoded = [[0; 5]; 3];
//! okvs.plan(&session, &seed, &keys)?.decode(&okvs.decoder(&slots)?, &mut decoded)?;
//! assert_eq!(decoded, values);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Security
//!
//! *Uniformity.* If the values are uniform, so are the slots, whatever the keys: every full-rank system
//! maps values and free slots one to one to slots.
//!
//! *One seed.* The row seed comes out of the coins that [`Okvs::encode`] consumes, after the keys are
//! fixed, and only if it has succeeded. To try again after a failure would make the seed depend on
//! the keys; it ends the session instead.
//!
//! *Time.* Encoding and planning work at addresses, and peel in an order, that follow from the rows,
//! hence from the owner's keys and a seed that becomes public. The number of hashes, of slots
//! written and of rows decoded depends on the number of keys only. What else there is to see from
//! outside is the size of the core that does not peel, in the time of one encoding: a function of all keys
//! under a fresh seed, empty but for a small probability (`docs/protocols/okvs.md`). Who shares
//! the owner's caches sees more than that: such an attacker is not defended against here.
//!
//! # Steps
//!
//! Encoding of keys x₁ … x_n, distinct, and values v₁ … v_n:
//!
//! 1. *Seed.* ρ from coins that were drawn after the set was fixed. Once: a failure ends the session.
//! 2. *Plan.* Rows, sorted by s.
//! 3. *Peel.* As long as some slot is in one row only: put the row aside, with that slot for its own.
//! 4. *Fill* all of D with random bytes.
//! 5. *Core.* Gauss and Jordan on the rows left, over their slots and the dense ones, for vᵢ ⊕ row(xᵢ)·D; add
//!    the solution at the pivots.
//! 6. *Assign.* The rows put aside, last first: add what the value lacks to the row's own slot.
//!
//! Decoding of y: the XOR of the slots of row(y).
//!
//! Work that is done in the order of s moves through a window of H segments, for 2²⁰ keys 4·2¹³ slots: 3.3 MB of 101-byte
//! rows, 0.5 MB of 16-byte ones; `OkvsPlan::decode_range` gives values in that order.
//!
//! Step 3 is one pass over the segments. The rows that start at a segment are counted at their slots just before the segment is
//! looked through; then all rows of its slots are counted. A slot with one row left is taken as soon as all its rows are
//! counted. Peeling then moves from the first segment to the last, some segments behind the counting, and step 6 moves
//! back the same way.

use foxtrot_ot::{Seed, Session, Usage};
use zeroize::Zeroizing;

mod decode;
mod dense;
mod elimination;
mod encode;
mod peel;
mod plan;
mod rows;
mod shapes;

pub use decode::Decoder;
pub use plan::{OkvsPlan, Structure};

/// The most keys that a store takes.
pub const MAX_KEYS: usize = 1 << 22;

/// The shape of a store, by the number of its keys alone.
///
/// Slots are numbered: the dense ones, then segments of equal length. A row starts at one of
/// the first segments and has a slot in each of H segments from there on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Okvs {
    keys: usize,
    /// H: 2, 3 or 4.
    sparse: u8,
    dense: u32,
    starts: u32,
    segment: u32,
}

impl Okvs {
    /// Lays a store out for this number of keys: with four sparse slots per row from 2¹⁷ keys on, with three below.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`] if there are more than [`MAX_KEYS`].
    pub fn new(keys: usize) -> Result<Self, Usage> {
        if keys < shapes::FEWEST as usize { Self::three(keys) } else { Self::four(keys) }
    }

    /// The number of keys that the store is made for.
    #[must_use]
    pub const fn keys(&self) -> usize {
        self.keys
    }

    /// The number of all slots, the paper's m.
    #[must_use]
    pub const fn slots(&self) -> usize {
        self.dense as usize + (self.starts as usize + self.sparse() - 1) * self.segment as usize
    }

    /// Returns the number of sparse slots of a row, H.
    #[must_use]
    pub const fn sparse(&self) -> usize {
        self.sparse as usize
    }

    /// Returns the number of dense slots, which come first.
    #[must_use]
    pub const fn dense(&self) -> usize {
        self.dense as usize
    }

    /// Returns the number of segments in which a row can start.
    #[must_use]
    pub const fn starts(&self) -> usize {
        self.starts as usize
    }

    /// The slots of a segment.
    #[must_use]
    pub const fn segment(&self) -> usize {
        self.segment as usize
    }

    fn check_keys(keys: usize) -> Result<u32, Usage> {
        match u32::try_from(keys) {
            Ok(n) if keys <= MAX_KEYS => Ok(n),
            _ => Err(Usage::BatchTooLarge { n: keys, max: MAX_KEYS }),
        }
    }
}

/// The randomness of one encoding: row seed and free slots. Used once.
pub struct Coins(Zeroizing<[u8; 32]>);

impl Coins {
    /// Takes bytes that the caller vouches for: uniform, secret, drawn after the keys were fixed,
    /// and never used before.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes.into())
    }

    /// Derives coins from a party's seed.
    pub(crate) fn of(seed: &Seed, session: &Session, context: &'static str, number: u64) -> Self {
        let mut coins = Self::from_bytes([0; 32]);
        seed.fill(&session.oracle(context), number, coins.0.as_mut_slice());
        coins
    }
}

foxtrot_kernel::redacted! {
    Coins;
}

#[cfg(test)]
mod tests;
