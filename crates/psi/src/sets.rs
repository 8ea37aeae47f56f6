//! Consequences of the sizes of two sets in either intersection: buckets, stores and tags.

use foxtrot_ot::Usage;

use crate::{FRAME, elias_fano::Coding, largest_fitted_set, load, okvs::Okvs};

/// Items of the receiver that one bucket is for, about.
const BUCKET: usize = 1 << 20;

/// Queries of a cheating receiver to the hash of items, as a logarithm.
const LOG2_QUERIES: u32 = 80;

/// The sizes of both sets, and what follows from them in either protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sets {
    /// Bits of a word against malicious peers.
    word_bits: Option<usize>,
    receiver_items: usize,
    sender_items: usize,
    buckets: usize,
    /// The store of a bucket.
    pub(crate) store: Okvs,
}

/// The usual number of buckets for a receiver's set of this size.
pub(crate) fn buckets(receiver_items: usize) -> usize {
    receiver_items.div_ceil(BUCKET).max(1)
}

impl Sets {
    /// Sets of these sizes in so many buckets, with words of so many bits if the peer is checked.
    pub(crate) fn new(
        word_bits: Option<usize>,
        [receiver_items, sender_items]: [usize; 2],
        buckets: usize,
    ) -> Result<Self, Usage> {
        let store = Okvs::new(load::most(receiver_items, buckets))?;
        Ok(Self { word_bits, receiver_items, sender_items, buckets, store })
    }

    /// Returns true against malicious peers.
    pub(crate) const fn checked(&self) -> bool {
        self.word_bits.is_some()
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

    /// Returns the number of buckets into which both sets are divided; with one, there is no joint coin.
    #[must_use]
    pub const fn buckets(&self) -> usize {
        self.buckets
    }

    /// The keys of each bucket's store: the receiver's items, and what fills them up to a number that tells nothing.
    #[must_use]
    pub const fn keys(&self) -> usize {
        self.store.keys()
    }

    /// Returns the number of items with which the sender works in each bucket.
    #[must_use]
    pub fn sender_load(&self) -> usize {
        load::most(self.sender_items, self.buckets)
    }

    /// Slots of a bucket: as many OTs, or elements of a VOLE, it needs.
    #[must_use]
    pub const fn slots(&self) -> usize {
        self.store.slots()
    }

    /// The coding of the tags.
    pub(crate) fn coding(&self) -> Coding {
        Coding::of_sets(self.checked(), self.receiver_items, self.sender_items)
    }

    /// Bits of a tag.
    #[must_use]
    pub fn tag_bits(&self) -> u32 {
        self.coding().bits
    }

    /// The number of tags that are sent: one of each of the sender's items, and none to a receiver without items.
    #[must_use]
    pub fn tags(&self) -> usize {
        self.coding().tags
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

    /// Steps of a run, as a run counts them: slots and tags.
    #[must_use]
    pub fn steps(&self) -> usize {
        self.buckets * self.slots() + self.tags()
    }

    /// Bytes of the joint coin's messages, of receiver and sender.
    pub(crate) const fn coin_bytes(&self) -> [usize; 2] {
        if self.buckets > 1 { [2 * 32, 32] } else { [0, 0] }
    }

    /// The largest set that a cheating receiver can have instead of its own, but with probability
    /// 2⁻⁴⁰, if it asks the hash of items 2⁸⁰ times: n′ of `docs/protocols/paxos.md` and `docs/protocols/vole-psi.md`. Most of
    /// what is above the declared number takes no query and always fits: two items less than there are slots. `None` if there
    /// is no bound: against semi-honest peers none is needed. Without tags it is 0.
    #[must_use]
    pub fn largest_set(&self) -> Option<u64> {
        let word_bits = u32::try_from(self.word_bits?).ok()?;
        if self.tags() == 0 {
            return Some(0);
        }
        // The row seeds of further buckets count as slots: they have 256 bits.
        let slots = self.buckets * self.slots() + 2 * (self.buckets - 1);
        largest_fitted_set(word_bits, LOG2_QUERIES, slots)
    }
}
