//! Tags of both parties: gathered bucket after bucket, sent sorted and coded, and looked up by the receiver.

use alloc::{vec, vec::Vec};
use core::{
    mem,
    ops::Range,
    sync::atomic::{AtomicUsize, Ordering},
};

use foxtrot_kernel::{memcheck, memory::prefetch};
use foxtrot_ot::{
    Session, Usage,
    engine::Io,
    erase::{Secret, erase},
    expect_len,
    tasks::{Executor, erase_with, for_each},
};

use crate::{
    Error,
    elias_fano::{Coding, Tags},
    hashes::TOGETHER,
    items::Items,
    matches::{ItemKey, Keys, Matches},
    ranges::Ranges,
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
        let (tags, frames) = (self.tags, self.frame_lens(FRAME).count());
        (0..frames).map(move |frame| tags / frames + usize::from(frame < tags % frames))
    }
}

/// A party's tags of all buckets so far, and where they are wanted the indices of their items and the keys.
pub(crate) struct Ours {
    pub(crate) tags: Secret<u128>,
    owners: Option<Secret<u32>>,
    keys: Option<Secret<ItemKey>>,
}

/// Tags of items, and their keys if these are wanted.
pub(crate) struct Answers {
    pub(crate) tags: Secret<u128>,
    pub(crate) keys: Option<Secret<ItemKey>>,
}

/// The answers of a part of all items.
pub(crate) struct Part<'a> {
    tags: &'a mut [u128],
    keys: Option<&'a mut [ItemKey]>,
}

/// The receiver, who waits for tags.
pub struct Received {
    session: Session,
    coding: Coding,
    pub(crate) ours: Ours,
    theirs: Tags,
    /// Bytes so far.
    bytes: usize,
}

/// The sender's tags, sorted.
pub struct Sent {
    session: Session,
    coding: Coding,
    tags: Secret<u128>,
    keys: Option<Keys>,
}

impl Ours {
    /// No tags yet; a receiver's have owners.
    pub(crate) fn new(items: &Items, owned: bool) -> Self {
        let n = items.len();
        let owners = owned.then(|| Secret::with_capacity(n));
        Self { tags: Secret::with_capacity(n), owners, keys: None }
    }

    /// Keeps keys and owners of the tags that come.
    pub(crate) fn keep_keys(&mut self) {
        let n = self.tags.0.capacity();
        self.owners.get_or_insert_with(|| Secret::with_capacity(n));
        self.keys = Some(Secret::with_capacity(n));
    }

    /// Returns true if keys are wanted.
    pub(crate) const fn keyed(&self) -> bool {
        self.keys.is_some()
    }

    /// Adds the tags of items of a bucket, which come in this order, from the bucket's item `first` on. Tags of items that
    /// fill it up are nobody's.
    pub(crate) fn add(
        &mut self,
        answers: Answers,
        order: &[u32],
        items: &Items,
        (bucket, first): (usize, usize),
    ) {
        let (start, number) = (items.start(bucket), items.number(bucket));
        let own = || {
            let places = order.iter().map(move |&index| first + index as usize).enumerate();
            places.filter(move |(_, place)| *place < number)
        };
        if let Some(owners) = &mut self.owners {
            #[expect(clippy::cast_possible_truncation, reason = "items are fewer than 2³²")]
            owners.0.extend(own().map(|(_, place)| items.index(start + place) as u32));
        }
        if (answers.tags.len(), number) == (items.len(), items.len()) {
            // The only part, without items that fill it up: its buffers become ours.
            (self.tags, self.keys) = (answers.tags, answers.keys);
            return;
        }
        self.tags.0.extend(own().map(|(k, _)| answers.tags[k]));
        if let Some((all, keys)) = self.keys.as_mut().zip(answers.keys) {
            all.0.extend(own().map(|(k, _)| keys[k]));
        }
    }
}

impl Answers {
    /// The answers of so many items. `work` gets the places of TOGETHER of them at most, and room for their answers.
    pub(crate) fn compute(
        executor: &dyn Executor,
        items: usize,
        keyed: bool,
        work: impl Fn(Range<usize>, Part<'_>) -> Result<(), Usage> + Sync,
    ) -> Result<Self, Usage> {
        let mut tags = Secret::zeroed(items);
        let mut keys = keyed.then(|| Secret::zeroed(items));
        let mut done = vec![Ok(()); items.div_ceil(TOGETHER)];
        let of_parts = keys.iter_mut().flat_map(|keys| keys.chunks_mut(TOGETHER));
        let of_parts = of_parts.map(Some).chain(core::iter::repeat_with(|| None));
        let parts = tags.chunks_mut(TOGETHER).zip(of_parts).zip(&mut done).enumerate();
        for_each(executor, parts, |(part, ((tags, keys), done))| {
            let first = part * TOGETHER;
            *done = work(first..first + tags.len(), Part { tags, keys });
        });
        done.into_iter().collect::<Result<(), _>>()?;
        Ok(Self { tags, keys })
    }
}

impl Part<'_> {
    /// Takes tags of so many bits, and keys, from the answers of the oracle that `ask` asks, each of this many bytes.
    pub(crate) fn fill(&mut self, bits: u32, ask: impl FnOnce(usize, &mut [u8])) {
        let len = if self.keys.is_some() { 64 } else { 16 };
        let mut answers = Secret::<u8>::zeroed(self.tags.len() * len);
        ask(len, &mut answers);
        let answers = answers.chunks_exact(len);
        for (tag, answer) in self.tags.iter_mut().zip(answers.clone()) {
            let first = answer.first_chunk().map_or(0, |first| u128::from_le_bytes(*first));
            *tag = first & u128::MAX >> (128 - bits);
        }
        if let Some(keys) = &mut self.keys {
            keys.iter_mut().zip(answers).for_each(|(key, it)| key.copy_from_slice(&it[32..]));
        }
    }
}

impl Received {
    pub(crate) const fn new(session: Session, coding: Coding, ours: Ours) -> Self {
        Self { session, coding, ours, theirs: Tags::new(coding), bytes: 0 }
    }

    /// Takes the next frame of tags. What it does depends on nothing that the sender does not know.
    ///
    /// # Errors
    /// [`Decode`](foxtrot_ot::Decode) if it has another length than is next, or spare bits are set;
    /// [`Misbehaved::Tags`](foxtrot_ot::Misbehaved::Tags) if there is another number of tags or they do not ascend.
    pub fn take(&mut self, frame: &[u8]) -> Result<(), Error> {
        let expected = self.coding.frame_lens(FRAME).nth(self.bytes.div_ceil(FRAME));
        expect_len("Tags", frame, expected.ok_or(Usage::SessionEnded)?)?;
        self.bytes += frame.len();
        Ok(self.theirs.take(self.session.executor(), frame)?)
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
        let find = self.find()?;
        let [mut found, mut common] = [0; 2].map(|_| Secret::<bool>::zeroed(self.ours.tags.len()));
        for_each(self.session.executor(), found.chunks_mut(PART).enumerate(), |(part, found)| {
            (part * PART..).zip(found).for_each(|(k, it)| *it = find(k).is_some());
        });
        let owners = self.ours.owners.iter().flat_map(|owners| owners.iter());
        owners.zip(&*found).for_each(|(&owner, found)| common[owner as usize] = *found);
        Ok((0..common.len()).filter(|&owner| common[owner]).collect())
    }

    /// Returns the matches with their keys. After the last message, unless the sender learns their number: its time depends on
    /// the sets.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if not all tags have come, or keys were not kept.
    pub fn matches(mut self) -> Result<Matches, Error> {
        // Which of them the sender also has is the output; the others are as good as random.
        memcheck::public(&mut self.ours.tags);
        let none = Usage::CountMismatch { what: "keys", expected: self.ours.tags.len(), got: 0 };
        let find = self.find()?;
        let kept = self.ours.keys.as_ref().zip(self.ours.owners.as_ref());
        let (keys, owners) = kept.ok_or(none)?;
        let all = || (0_u32..).zip(0..self.ours.tags.len());
        let found = || all().filter_map(|(index, k)| Some((find(k)?, index)));
        let n = found().count();
        let mut pairs = Secret::with_capacity(n);
        pairs.0.extend(found());
        pairs.sort_unstable();
        let mut matches = Matches {
            places: Secret::with_capacity(n),
            owners: Secret::with_capacity(n),
            keys: Secret::with_capacity(n),
        };
        for &(place, k) in &*pairs {
            matches.places.0.push(place);
            matches.owners.0.push(owners[k as usize]);
            matches.keys.0.push(keys[k as usize]);
        }
        Ok(matches)
    }

    /// Looks our tags up, by their index, among the sender's: the place of the first that is equal.
    fn find(&self) -> Result<impl Fn(usize) -> Option<u32> + use<'_>, Usage> {
        let expected = self.coding.tags;
        let wrong = Usage::CountMismatch { what: "tags", expected, got: 0 };
        Ok(finder(self.theirs.all().ok_or(wrong)?, &self.ours.tags, self.coding.bits))
    }
}

impl Sent {
    /// Sorts the tags of all of the sender's items: their order then says no more than the tags themselves.
    ///
    /// # Errors
    /// [`Usage::RepeatedItem`], which the peer would take for a sender that cheats. Against semi-honest peers, where that does
    /// no harm, tags are too short to tell.
    pub(crate) fn new(session: Session, coding: Coding, ours: Ours) -> Result<Self, Usage> {
        let Ours { mut tags, owners, keys } = ours;
        // How they are sorted says whose they are, but only to a neighbour on the processor.
        memcheck::public(&mut tags);
        let (keys, repeated) = match keys.zip(owners) {
            Some((keys, owners)) => {
                let mut keys = Keys { keys, owners };
                keys.sort(&mut tags);
                (Some(keys), repeated(&tags))
            }
            None => (None, sort(session.executor(), &mut tags, coding.bits)),
        };
        if !coding.repeats && repeated > 0 {
            return Err(Usage::RepeatedItem);
        }
        Ok(Self { session, coding, tags, keys })
    }

    /// The keys of all items in the order of the tags.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if keys were not kept.
    pub fn keys(self) -> Result<Keys, Usage> {
        let none = Usage::CountMismatch { what: "keys", expected: self.tags.len(), got: 0 };
        self.keys.ok_or(none)
    }

    /// The frames that are sent.
    pub fn frames(&self) -> impl Iterator<Item = Vec<u8>> + '_ {
        self.coding.frames(&self.tags, FRAME)
    }

    /// Sends all tags to the peer; counts them.
    pub(crate) async fn send_all(&self, io: &Io, mut count: impl FnMut(usize)) {
        let (written, executor) = (self.coding.write(&self.tags), self.session.executor());
        let lens: Vec<_> = self.coding.frame_lens(FRAME).enumerate().collect();
        let mut counts = self.coding.of_frames();
        for lens in lens.chunks(executor.threads().max(1)) {
            let mut frames = vec![Vec::new(); lens.len()];
            for_each(executor, lens.iter().zip(&mut frames), |(&(k, len), frame)| {
                *frame = written.part(k * FRAME, len);
            });
            for (frame, tags) in frames.into_iter().zip(&mut counts) {
                io.send(frame).await;
                count(tags);
            }
        }
    }
}

/// Sorts tags of `bits` bits, which are as good as random: into ranges by their first bits, then each range. Returns the number of
/// tags that are the same as the one before.
fn sort(executor: &dyn Executor, tags: &mut Secret<u128>, bits: u32) -> usize {
    let few = (tags.len() / RANGE).max(1).ilog2().min(12).min(bits);
    if few == 0 {
        tags.sort_unstable();
        return repeated(tags);
    }
    let range = |tag: &u128| (tag >> (bits - few)) as usize;
    let ranges = Ranges::count(executor, 1 << few, tags, range);
    let mut sorted = Secret::zeroed(tags.len());
    for_each(executor, ranges.parts(tags).zip(ranges.places(&mut sorted)), |(tags, mut places)| {
        tags.iter().for_each(|tag| places.put(range(tag), *tag));
    });
    let all = AtomicUsize::new(0);
    for_each(executor, ranges.split(&mut sorted), |tags| {
        sort_range(tags, bits - few);
        all.fetch_add(repeated(tags), Ordering::Relaxed);
    });
    erase_with(executor, mem::replace(tags, sorted));
    all.into_inner()
}

/// Tags of a range, about, of up to 2²⁰ tags.
const RANGE: usize = 256;

/// Tags of the largest range that is sorted by places: of up to 2²² tags.
const LARGEST: usize = 2048;

/// Sorts tags, as good as random, that differ in their last `bits` bits only: by the first eight of these, which nearly sorts a range, and then each among
/// its neighbours.
fn sort_range(tags: &mut [u128], bits: u32) {
    let Some(rest) = bits.checked_sub(8).filter(|_| tags.len() <= LARGEST) else {
        return tags.sort_unstable();
    };
    let first = |tag: &u128| (tag >> rest) as usize & 0xff;
    let mut unsorted = [0; LARGEST];
    let unsorted = &mut unsorted[..tags.len()];
    unsorted.copy_from_slice(tags);
    let mut places = [0_usize; 256];
    unsorted.iter().for_each(|tag| places[first(tag)] += 1);
    let mut sum = 0;
    for place in &mut places {
        (*place, sum) = (sum, sum + *place);
    }
    for tag in &*unsorted {
        let place = &mut places[first(tag)];
        tags[*place] = *tag;
        *place += 1;
    }
    erase(unsorted);
    for k in 1..tags.len() {
        let tag = tags[k];
        let mut at = k;
        while at > 0 && tags[at - 1] > tag {
            tags[at] = tags[at - 1];
            at -= 1;
        }
        tags[at] = tag;
    }
}

/// The number of tags, of ascending ones, that are the same as the one before.
fn repeated(tags: &[u128]) -> usize {
    tags.windows(2).filter(|pair| pair[0] == pair[1]).count()
}

/// Looks our tags up, by their index, among these, which ascend; all have `bits` bits. In ascending order of the index that is the
/// fastest.
fn finder<'a>(
    theirs: &'a [u128],
    ours: &'a [u128],
    bits: u32,
) -> impl Fn(usize) -> Option<u32> + use<'a> {
    // Where tags with the same first bits begin.
    let few = theirs.len().max(2).ilog2().min(24).min(bits);
    let first = move |tag: &u128| (tag >> (bits - few)) as usize;
    let mut starts = Secret::<u32>::zeroed((1 << few) + 1);
    theirs.iter().for_each(|tag| starts[first(tag) + 1] += 1);
    for k in 1..starts.len() {
        starts[k] += starts[k - 1];
    }
    move |k| {
        // Places in memory are random: starts are asked for first, then the tags there.
        ours.get(k + 2 * AHEAD).iter().for_each(|tag| prefetch(&starts[first(tag)]));
        let next = ours.get(k + AHEAD).and_then(|tag| theirs.get(starts[first(tag)] as usize));
        next.iter().for_each(|tag| prefetch(*tag));
        let tag = &ours[k];
        let [start, end] = [0, 1].map(|next| starts[first(tag) + next] as usize);
        let place = theirs[start..end].iter().position(|it| it == tag)?;
        u32::try_from(start + place).ok()
    }
}

/// Tags that are looked up together.
const PART: usize = 1 << 14;

/// Tags that are fetched ahead.
const AHEAD: usize = 16;

foxtrot_kernel::redacted! {
    Received, received => "{} items, <redacted>", received.ours.tags.len();
    Sent, sent => "{} tags", sent.coding.tags;
}

#[cfg(test)]
mod tests {
    use foxtrot_ot::tasks::InPlace;

    use super::*;

    #[test]
    fn tags_are_sorted_however_many_and_alike_they_are() {
        for n in [0, 1, 2, 511, 512, 513, 5000] {
            for bits in [1, 8, 41, 127, 128] {
                // In all places, and in a few ranges only.
                for spread in [bits, bits.min(3)] {
                    let tag = |k: u128| {
                        let random = k.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
                        random >> (128 - spread)
                    };
                    let mut tags = Secret((0..n).map(tag).collect());
                    let mut expected = tags.0.clone();
                    expected.sort_unstable();
                    let repeated = sort(&InPlace, &mut tags, bits);
                    let mut distinct = expected.clone();
                    distinct.dedup();
                    assert_eq!(repeated, expected.len() - distinct.len());
                    assert_eq!(tags.0, expected, "{n} tags of {bits} bits");
                }
            }
        }
    }
}
