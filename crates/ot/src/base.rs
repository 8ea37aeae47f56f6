//! Base oblivious transfers: their common types, and their registry.
//!
//! Each protocol's typed states are its primary API. [`BaseOt`] is a protocol chosen at run
//! time, for drivers, the command line and tests.
//!
//! Each protocol's page has its figure and an example.

pub mod bdgm;
pub mod chosen;
pub mod chou_orlandi;
pub mod csw;
pub mod masny_rindal;
pub mod mcquoid_rosulek_roy;
pub mod naor_pinkas;
pub mod pvw;
pub mod resumed;
pub mod rot_from_ot;
pub mod roted;

#[cfg(test)]
mod malformed;
mod message;

use alloc::vec::Vec;

pub use crate::protocol::{Adversary, Functionality, Protocol};
use crate::{
    Bits, Seed, Session, Usage, engine::Engine, erase::erase, expect_at_most, expect_count,
    protocol,
};

/// A 128-bit output of an oblivious transfer.
pub type Block = [u8; 16];

/// The sender's output: both keys of every instance. Comparing takes variable time: for tests.
#[derive(PartialEq, Eq)]
pub struct SenderKeys(Vec<[Block; 2]>);

/// The receiver's output: its choice and that one key, for every instance. Comparing takes variable
/// time: for tests.
#[derive(PartialEq, Eq)]
pub struct ReceiverKeys {
    choices: Bits,
    keys: Vec<Block>,
}

impl SenderKeys {
    /// The keys that a protocol gives, or messages of the sender's choice for a [`chosen::ChosenMessageOt`].
    #[must_use]
    pub fn new(keys: Vec<[Block; 2]>) -> Self {
        Self(keys)
    }

    /// One pair per instance.
    #[must_use]
    pub fn pairs(&self) -> &[[Block; 2]] {
        &self.0
    }
}

impl ReceiverKeys {
    /// The choices and keys that a protocol gives.
    ///
    /// # Panics
    /// If there are not as many keys as choices.
    #[must_use]
    pub fn new(choices: Bits, keys: Vec<Block>) -> Self {
        assert_eq!(choices.len(), keys.len());
        Self { choices, keys }
    }

    /// The choice bit of each instance.
    #[must_use]
    pub fn choices(&self) -> &Bits {
        &self.choices
    }

    /// The chosen key of each instance.
    #[must_use]
    pub fn keys(&self) -> &[Block] {
        &self.keys
    }
}

impl Drop for SenderKeys {
    fn drop(&mut self) {
        // A caller's vector may have had more in it.
        self.0.resize(self.0.capacity(), Default::default());
        erase(self.0.as_flattened_mut().as_flattened_mut());
    }
}

impl Drop for ReceiverKeys {
    fn drop(&mut self) {
        self.keys.resize(self.keys.capacity(), Default::default());
        erase(self.keys.as_flattened_mut());
    }
}

foxtrot_kernel::redacted! {
    SenderKeys, sender_keys => "<{} redacted>", sender_keys.0.len();
    ReceiverKeys, receiver_keys => "<{} redacted>", receiver_keys.keys.len();
}

/// Sets pairs of keys, of which those of branch 0 come first.
fn set_pairs(pairs: &mut [[Block; 2]], keys: &[Block]) {
    let (zeros, ones) = keys.split_at(pairs.len());
    for (pair, (zero, one)) in pairs.iter_mut().zip(zeros.iter().zip(ones)) {
        *pair = [*zero, *one];
    }
}

/// The receiver's side of a choice.
#[derive(Debug)]
pub enum Choice {
    /// These bits; for endemic and chosen-message OT.
    Given(Bits),
    /// Number of random bits that the protocol draws, for random OT.
    Random(usize),
}

impl Choice {
    /// The number of bits.
    pub(crate) fn n(&self) -> usize {
        match self {
            Self::Given(bits) => bits.len(),
            Self::Random(n) => *n,
        }
    }

    /// The given bits, for a protocol that takes these only.
    pub(crate) fn given(self, protocol: &'static str) -> Result<Bits, Usage> {
        match self {
            Self::Given(choices) => Ok(choices),
            Self::Random(_) => Err(Usage::Choice { protocol, takes: "given choices" }),
        }
    }

    /// Returns the number of bits to draw, for a protocol that draws its choices.
    ///
    /// # Errors
    /// [`Usage::Choice`] if choices are given.
    pub fn random(self, protocol: &'static str) -> Result<usize, Usage> {
        match self {
            Self::Random(n) => Ok(n),
            Self::Given(_) => Err(Usage::Choice { protocol, takes: "no choices: it draws them" }),
        }
    }
}

/// A party's run, or why there is none.
pub type Run<Keys> = Result<Engine<'static, Keys>, Usage>;

/// A base OT as a value: makes the two parties' runs of one batch.
pub trait BaseOt: Sync {
    /// Description of the protocol.
    fn info(&self) -> &'static Protocol;

    /// The sender of a batch of `n`, with all its randomness from `seed`.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`].
    fn sender(&self, session: Session, n: usize, seed: Seed) -> Run<SenderKeys>;

    /// The receiver of a batch, with all its randomness from `seed`.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`]; [`Usage::Choice`] if the functionality takes the other kind.
    fn receiver(&self, session: Session, choice: Choice, seed: Seed) -> Run<ReceiverKeys>;
}

/// The most instances of one batch.
pub const MAX_BATCH: usize = 1 << 16;

/// Checks the number of instances of a batch.
///
/// # Errors
/// [`Usage::BatchTooLarge`].
pub fn check_batch(n: usize) -> Result<(), Usage> {
    expect_at_most(MAX_BATCH, n)
}

/// Every base OT, the default of each functionality first, and the default of each family.
#[must_use]
// Inlined, it would have every protocol compiled once more where it is called.
#[inline(never)]
pub fn registry() -> &'static [&'static dyn BaseOt] {
    use crate::{
        agreement::{Elligator, Moeller, Ristretto},
        popf::{Eke, EvenMansour, Feistel, Feistel2, MasnyRindal, Ristretto as Elements, Strings},
    };
    use mcquoid_rosulek_roy::McQuoidRosulekRoy;
    &[
        &roted::Rot,
        &roted::Endemic,
        &McQuoidRosulekRoy::<Feistel<Strings>, Moeller>::NEW,
        &McQuoidRosulekRoy::<MasnyRindal<Strings>, Moeller>::NEW,
        &McQuoidRosulekRoy::<Feistel2<Strings>, Moeller>::NEW,
        &McQuoidRosulekRoy::<EvenMansour, Moeller>::NEW,
        &McQuoidRosulekRoy::<Eke, Moeller>::NEW,
        &McQuoidRosulekRoy::<Feistel<Strings>, Elligator>::NEW,
        &McQuoidRosulekRoy::<MasnyRindal<Strings>, Elligator>::NEW,
        &McQuoidRosulekRoy::<Feistel2<Strings>, Elligator>::NEW,
        &McQuoidRosulekRoy::<EvenMansour, Elligator>::NEW,
        &McQuoidRosulekRoy::<Eke, Elligator>::NEW,
        &McQuoidRosulekRoy::<Feistel<Elements>, Ristretto>::NEW,
        &McQuoidRosulekRoy::<MasnyRindal<Elements>, Ristretto>::NEW,
        &McQuoidRosulekRoy::<Feistel2<Elements>, Ristretto>::NEW,
        &masny_rindal::MasnyRindal,
        &McQuoidRosulekRoy::REUSE,
        &csw::Csw,
        &chou_orlandi::ChouOrlandi,
        &chou_orlandi::ChouOrlandiChosen,
        &naor_pinkas::NaorPinkas,
        &bdgm::Bdgm,
        &pvw::Pvw,
        &rot_from_ot::RotFromOt::<bdgm::Bdgm>::NEW,
        &rot_from_ot::RotFromOt::<pvw::Pvw>::NEW,
    ]
}

/// The base OT of that family (or full name) with that functionality.
#[must_use]
pub fn find(name: &str, functionality: Functionality) -> Option<&'static dyn BaseOt> {
    let all = registry().iter().copied();
    protocol::find(all, |base| base.info(), name, |it| it.functionality == functionality)
}
