//! Tags of both parties: gathered bucket after bucket, sent sorted and coded, and looked up by the receiver.

use alloc::{vec, vec::Vec};

use foxtrot_kernel::memcheck;
use foxtrot_ot::{Decode, Usage, engine::Io, erase::Secret};

use crate::{
    elias_fano::{Coding, Tags},
    paxos::{Error, buckets::Items},
    sizes::SIGMA,
};

/// Frames of tags have so many bytes, but for the last.
pub const FRAME: usize = 1 << 20;

impl Coding {
    /// The coding of the tags of sets of these sizes, n_x of the sender's. Tags have 128 bits against malicious peers; else as
    /// many as make a false match as rare as 2⁻⁴⁰, and equal ones are no fault.
    ///
    /// A receiver without items gets no tags. It would learn nothing from them, and one that cheats could test what its store
    /// has room for.
    pub(crate) fn of_sets(checked: bool, receiver_items: usize, sender_items: usize) -> Self {
        let pairs = receiver_items.max(1) as u64 * sender_items.max(1) as u64;
        let bits = if checked { 128 } else { SIGMA + pairs.next_power_of_two().ilog2() };
        let tags = if receiver_items == 0 { 0 } else { sender_items };
        Self::new(tags, bits, !checked)
            .expect("tags have more bits than the logarithm of their number")
    }

    /// The tags that each frame counts for in a run's progress: about as many for each.
    fn of_frames(&self) -> impl Iterator<Item = usize> + use<> {
        let (tags, frames) = (self.tags(), self.frame_lens(FRAME).count());
        (0..frames).map(move |frame| tags / frames + usize::from(frame < tags % frames))
    }
}

/// The receiver's tags of all buckets so far, and the indices of their items.
pub(crate) struct Ours {
    pub(crate) tags: Secret<u128>,
    owners: Secret<u32>,
}

/// The receiver, who waits for tags.
pub struct Received {
    coding: Coding,
    pub(crate) ours: Ours,
    theirs: Tags,
    /// Bytes so far.
    bytes: usize,
}

/// The sender's tags, sorted.
pub struct Sent {
    coding: Coding,
    tags: Secret<u128>,
}

impl Ours {
    pub(crate) fn new(items: &Items) -> Self {
        let n = items.len();
        Self { tags: Secret(Vec::with_capacity(n)), owners: Secret(Vec::with_capacity(n)) }
    }

    /// Adds the tags of a bucket's items, which come in this order. Tags of items that fill it up are nobody's.
    pub(crate) fn add(&mut self, tags: &[u128], order: &[u32], items: &Items, bucket: usize) {
        let (start, number) = (items.start(bucket), items.number(bucket));
        let own = tags.iter().zip(order).filter(|(_, index)| (**index as usize) < number);
        for (&tag, &index) in own {
            self.tags.0.push(tag);
            #[expect(clippy::cast_possible_truncation, reason = "items are fewer than 2³²")]
            self.owners.0.push(items.index(start + index as usize) as u32);
        }
    }
}

impl Received {
    pub(crate) const fn new(coding: Coding, ours: Ours) -> Self {
        Self { coding, ours, theirs: Tags::new(coding), bytes: 0 }
    }

    /// Takes the next frame of tags. What it does depends on nothing that the sender does not know.
    ///
    /// # Errors
    /// [`Decode`] if it has another length than is next, or spare bits are set;
    /// [`Misbehaved::Tags`](foxtrot_ot::Misbehaved::Tags) if there is another number of tags or they do not ascend.
    pub fn take(&mut self, frame: &[u8]) -> Result<(), Error> {
        let expected = self.coding.frame_lens(FRAME).nth(self.bytes.div_ceil(FRAME));
        let expected = expected.ok_or(Usage::SessionEnded)?;
        if frame.len() != expected {
            return Err(Decode::Length { message: "Tags", expected, got: frame.len() }.into());
        }
        self.bytes += frame.len();
        Ok(self.theirs.take(frame)?)
    }

    /// Takes all tags from the peer; counts them.
    pub(crate) async fn take_all(
        &mut self,
        io: &Io,
        mut count: impl FnMut(usize),
    ) -> Result<(), Error> {
        for (len, tags) in self.coding.frame_lens(FRAME).zip(self.coding.of_frames()) {
            self.take(&io.recv(len).await)?;
            count(tags);
        }
        Ok(())
    }

    /// Returns the indices, ascending, of the items that the sender also has. After the last message: its time depends on the
    /// sets.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if not all tags have come.
    pub fn intersect(self) -> Result<Vec<usize>, Error> {
        let expected = self.coding.tags();
        let wrong = Usage::CountMismatch { what: "tags", expected, got: 0 };
        let theirs = self.theirs.all().ok_or(wrong)?;
        let among = among(theirs, &self.ours.tags, self.coding.bits());
        let owners = self.ours.owners.iter().zip(among).filter(|(_, among)| *among);
        let mut indices: Vec<usize> = owners.map(|(&owner, _)| owner as usize).collect();
        indices.sort_unstable();
        Ok(indices)
    }
}

impl Sent {
    /// Sorts the tags of all of the sender's items: their order then says no more than the tags themselves.
    ///
    /// # Errors
    /// [`Usage::RepeatedItem`], which the peer would take for a sender that cheats. Against semi-honest peers, where that does
    /// no harm, tags are too short to tell.
    pub(crate) fn new(coding: Coding, mut tags: Secret<u128>) -> Result<Self, Usage> {
        // How they are sorted says whose they are, but only to a neighbour on the processor.
        memcheck::public(&mut tags);
        tags.sort_unstable();
        let repeated = tags.windows(2).filter(|pair| pair[0] == pair[1]).count();
        if !coding.repeats() && repeated > 0 {
            return Err(Usage::RepeatedItem);
        }
        Ok(Self { coding, tags })
    }

    /// The frames that are sent.
    pub fn frames(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        self.coding.frames(&self.tags, FRAME)
    }

    /// Sends all tags to the peer; counts them.
    pub(crate) async fn send_all(&self, io: &Io, mut count: impl FnMut(usize)) {
        for (frame, tags) in self.frames().zip(self.coding.of_frames()) {
            io.send(frame).await;
            count(tags);
        }
    }
}

/// Tells for each of our tags, in order, if it is among theirs, which ascend; both have `bits` bits.
fn among(theirs: &[u128], ours: &[u128], bits: u32) -> Vec<bool> {
    // Where tags with the same first bits begin.
    let few = theirs.len().max(2).ilog2().min(24).min(bits);
    let first = |tag: &u128| (tag >> (bits - few)) as usize;
    let mut starts = vec![0_usize; (1 << few) + 1];
    theirs.iter().for_each(|tag| starts[first(tag) + 1] += 1);
    for k in 1..starts.len() {
        starts[k] += starts[k - 1];
    }
    let is = |tag: &u128| theirs[starts[first(tag)]..starts[first(tag) + 1]].contains(tag);
    ours.iter().map(is).collect()
}

foxtrot_kernel::redacted! {
    Received, received => "{} items, <redacted>", received.ours.owners.len();
    Sent, sent => "{} tags", sent.coding.tags();
}
