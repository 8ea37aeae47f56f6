//! Parameters that both parties compute from the sizes alone.

use foxtrot_ot::{
    Usage,
    base::{Adversary, Functionality},
    extension::{
        code::{self, Family, Linear},
        one_of_n::Extension,
        oos,
    },
    protocol::{Kind, Protocol},
};

use super::load;
use crate::{elias_fano::Coding, largest_fitted_set, store::Store, tags::FRAME};

/// The most items of a set: 2³⁰.
pub const MAX_ITEMS: usize = 1 << 30;

/// Items of the receiver that one bucket is for, about.
const BUCKET: usize = 1 << 20;

/// The terms of the two parties: adversary and sizes, and the parameters that follow from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    adversary: Adversary,
    receiver_items: usize,
    sender_items: usize,
    buckets: usize,
    store: Store,
}

impl Parameters {
    /// Computes the parameters of sets of these sizes, 0 included.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`] if one has more than [`MAX_ITEMS`].
    pub fn new(
        adversary: Adversary,
        receiver_items: usize,
        sender_items: usize,
    ) -> Result<Self, Usage> {
        let n = receiver_items.max(sender_items);
        if n > MAX_ITEMS {
            return Err(Usage::BatchTooLarge { n, max: MAX_ITEMS });
        }
        let buckets = receiver_items.div_ceil(BUCKET).max(1);
        Self::with_buckets(adversary, receiver_items, sender_items, buckets)
    }

    /// Parameters with another number of buckets.
    pub(crate) fn with_buckets(
        adversary: Adversary,
        receiver_items: usize,
        sender_items: usize,
        buckets: usize,
    ) -> Result<Self, Usage> {
        let store = Store::new(load::most(receiver_items, buckets))?;
        Ok(Self { adversary, receiver_items, sender_items, buckets, store })
    }

    /// Parameters with another number of buckets, which no peer would have: for fuzzing.
    ///
    /// # Errors
    /// The errors of [`Parameters::new`].
    #[cfg(feature = "fuzzing")]
    pub fn in_buckets(self, buckets: usize) -> Result<Self, Usage> {
        Self::with_buckets(self.adversary, self.receiver_items, self.sender_items, buckets)
    }

    /// Returns the adversary against whom the intersection is secure.
    #[must_use]
    pub const fn adversary(&self) -> Adversary {
        self.adversary
    }

    /// The size of the receiver's set.
    #[must_use]
    pub const fn receiver_items(&self) -> usize {
        self.receiver_items
    }

    /// The size of the sender's set.
    #[must_use]
    pub const fn sender_items(&self) -> usize {
        self.sender_items
    }

    /// Returns the number of buckets into which both sets are divided; with one, there is no joint
    /// coin.
    #[must_use]
    pub const fn buckets(&self) -> usize {
        self.buckets
    }

    /// The keys of each bucket's store: the receiver's items, and what fills them up to a number that
    /// tells nothing.
    #[must_use]
    pub const fn keys(&self) -> usize {
        self.store.keys()
    }

    /// Returns the number of items with which the sender works in each bucket.
    #[must_use]
    pub fn sender_load(&self) -> usize {
        load::most(self.sender_items, self.buckets)
    }

    /// Returns true against malicious peers; a peer that is not said to be semi-honest is one.
    pub(super) const fn checked(&self) -> bool {
        !matches!(self.adversary, Adversary::SemiHonest)
    }

    pub(super) const fn store(&self) -> Store {
        self.store
    }

    /// Slots of a bucket: as many OTs it needs.
    #[must_use]
    pub const fn slots(&self) -> usize {
        self.store.slots()
    }

    /// The code: the dimension keeps a cheating receiver from fitting many more items.
    #[must_use]
    pub const fn code(&self) -> Linear {
        if self.checked() { Linear::Bch802 } else { Linear::Bch512 }
    }

    /// The extension that carries it.
    #[must_use]
    pub const fn extension(&self) -> Extension {
        if self.checked() { oos::malicious(self.code()) } else { oos::semi_honest(self.code()) }
    }

    /// Its lengths.
    pub(super) fn lengths(&self) -> code::Parameters {
        self.code().parameters()
    }

    /// Base OTs, in which the sender is the receiver.
    #[must_use]
    pub fn base_ots(&self) -> usize {
        self.lengths().length
    }

    /// Facts about the protocol with these sizes.
    #[must_use]
    pub fn info(&self) -> &'static Protocol {
        &PROTOCOLS[usize::from(!self.checked())]
    }

    /// The OTs of each batch of a bucket.
    pub fn batches(&self) -> impl Iterator<Item = usize> + use<> {
        self.extension().batches(self.slots())
    }

    /// The coding of the tags.
    pub(super) fn coding(&self) -> Coding {
        Coding::of_sets(self.checked(), self.receiver_items, self.sender_items)
    }

    /// Bits of a tag.
    #[must_use]
    pub fn tag_bits(&self) -> u32 {
        self.coding().bits()
    }

    /// The number of tags that are sent: one of each of the sender's items, and none to a receiver without items.
    #[must_use]
    pub fn tags(&self) -> usize {
        self.coding().tags()
    }

    /// Bytes of all tags.
    #[must_use]
    pub fn tags_len(&self) -> usize {
        self.coding().len()
    }

    /// The lengths of the frames of tags.
    pub fn tag_frames(&self) -> impl Iterator<Item = usize> + use<> {
        self.coding().frame_lens(FRAME)
    }

    /// The largest set that a cheating receiver can have instead of its own, but with probability
    /// 2⁻⁴⁰, if it asks the hash of items 2⁸⁰ times: n′ of `docs/protocols/paxos.md`. Most of what is above the
    /// declared number takes no query and always fits: two items less than there are slots. `None` if there
    /// is no bound: against semi-honest peers none is needed. Without tags it is 0.
    #[must_use]
    pub fn largest_set(&self) -> Option<u64> {
        const LOG2_QUERIES: u32 = 80;
        if !self.checked() {
            return None;
        }
        if self.tags() == 0 {
            return Some(0);
        }
        let bits = u32::try_from(self.lengths().word_bits).ok()?;
        // The row seeds of further buckets count as slots: they have 256 bits.
        let slots = self.buckets * self.slots() + 2 * (self.buckets - 1);
        largest_fitted_set(bits, LOG2_QUERIES, slots)
    }

    /// Payload bytes of the receiver, without base OTs.
    #[must_use]
    pub fn receiver_bytes(&self) -> usize {
        let coin = if self.buckets > 1 { 2 * 32 } else { 0 };
        coin + self.buckets * (32 + self.extension().receiver_bytes(self.slots()))
    }

    /// Payload bytes of the sender, without base OTs.
    #[must_use]
    pub fn sender_bytes(&self) -> usize {
        let coin = if self.buckets > 1 { 32 } else { 0 };
        let challenges = self.buckets * self.extension().sender_bytes(self.slots());
        coin + challenges + self.tags_len()
    }
}

/// The record against malicious peers. Flows are those of a run in one batch: seed and corrections, challenge, proof, tags.
const MALICIOUS: Protocol = Protocol {
    name: "paxos",
    family: "paxos",
    kind: Kind::Psi,
    paper: "PRTY20 over OOS17",
    functionality: Functionality::Psi,
    assumption: "AEGIS-128L and AES as PRGs, random oracle",
    params: Family::Linear(Linear::Bch802).words(),
    flows: 4,
    receiver_bytes: |n| bytes(Adversary::Malicious, n, Parameters::receiver_bytes),
    sender_bytes: |n| bytes(Adversary::Malicious, n, Parameters::sender_bytes),
    ..Protocol::BASE_OT
};

/// The records against malicious peers and against semi-honest ones, for whom there is neither challenge nor proof.
pub static PROTOCOLS: [Protocol; 2] = [
    MALICIOUS,
    Protocol {
        adversary: Adversary::SemiHonest,
        params: Family::Linear(Linear::Bch512).words(),
        flows: 2,
        receiver_bytes: |n| bytes(Adversary::SemiHonest, n, Parameters::receiver_bytes),
        sender_bytes: |n| bytes(Adversary::SemiHonest, n, Parameters::sender_bytes),
        ..MALICIOUS
    },
];

/// Bytes for sets of n items each.
fn bytes(adversary: Adversary, n: usize, of: fn(&Parameters) -> usize) -> usize {
    Parameters::new(adversary, n, n).map_or(usize::MAX, |it| of(&it))
}
