//! The bins of items: a cuckoo table with three hashes, without a stash.
//!
//! Each hash has a segment of its own, so that the three bins of an item differ. The receiver finds a bin of its own for every
//! item whenever there is such an assignment: it peels off items that share no bin with others, and looks for augmenting paths
//! between the rest. Only a set of s items with less than s bins in all has no assignment.

use alloc::{vec, vec::Vec};
use core::array;

use foxtrot_kernel::{memcheck, memory::prefetch};
use foxtrot_ot::Session;

use crate::{Digest, Error, erase::Secret, hashes::Keyed};

/// Hash functions, each with a segment of its own of all bins.
pub(super) const HASHES: usize = 3;

/// Bins that are fetched ahead.
const AHEAD: usize = 12;

/// Nobody's bin, and no item.
const NONE: u32 = u32::MAX;

/// The bins of an item by hash.
type Bins = [u32; HASHES];

/// Computes the bins of items.
pub(super) fn bins(session: &Session, items: &[Digest], segment: usize) -> Secret<Bins> {
    let hash = Keyed::of(session, "foxtrot v1 circuit bins key");
    let mut bins = Secret::<Bins>::zeroed(items.len());
    hash.map(items, &mut bins, |answer: &[u8; 8 * HASHES]| {
        array::from_fn(|k| {
            let word = u64::from_le_bytes(answer.as_chunks().0[k]);
            let within = (u128::from(word) * segment as u128) >> 64;
            #[expect(clippy::cast_possible_truncation, reason = "bins are fewer than 2³²")]
            let place = (k * segment) as u32 + within as u32;
            place
        })
    });
    // Items are placed at addresses that follow from them.
    memcheck::public(&mut bins);
    bins
}

/// Assigns items to bins of their own: for each item, which of its bins that is.
pub(super) fn assign(bins: &[Bins], number: usize) -> Result<Secret<u8>, Error> {
    let mut table = Table::new(bins, number);
    table.peel();
    for item in 0..bins.len() {
        if table.which[item] == u8::MAX && !table.augment(item) {
            return Err(Error::Unlucky);
        }
    }
    Ok(table.which)
}

/// The number of the hash that gives a bin.
fn number_of(bins: Bins, bin: u32) -> u8 {
    bins.into_iter().zip(0..).find(|(it, _)| *it == bin).map_or(0, |(_, which)| which)
}

struct Table<'a> {
    bins: &'a [Bins],
    /// The item in each bin.
    owner: Secret<u32>,
    /// The number of each item's bin among its bins.
    which: Secret<u8>,
}

impl<'a> Table<'a> {
    fn new(bins: &'a [Bins], number: usize) -> Self {
        let mut table =
            Self { bins, owner: Secret::zeroed(number), which: Secret::zeroed(bins.len()) };
        table.owner.fill(NONE);
        table.which.fill(u8::MAX);
        table
    }

    fn put(&mut self, item: usize, which: u8) {
        self.which[item] = which;
        #[expect(clippy::cast_possible_truncation, reason = "items are fewer than 2³²")]
        let owner = item as u32;
        self.owner[self.bins[item][usize::from(which)] as usize] = owner;
    }

    /// Gives every item a bin that no other item has left, one item after another.
    fn peel(&mut self) {
        // The items that have the bin: their number, and the XOR of their indices.
        let mut left = Secret::<(u32, u32)>::zeroed(self.owner.len());
        for (bins, item) in self.bins.iter().zip(0_u32..) {
            for &bin in bins {
                let (number, sum) = &mut left[bin as usize];
                (*number, *sum) = (*number + 1, *sum ^ item);
            }
        }
        let single = (0_u32..).zip(&*left).filter(|(_, (number, _))| *number == 1);
        let mut ready = Vec::with_capacity(self.owner.len());
        ready.extend(single.map(|(bin, _)| bin));
        // First in, first out, so that the processor can fetch ahead: bins, and then the item that each has.
        let mut next = 0;
        while let Some(&bin) = ready.get(next) {
            ready.get(next + 2 * AHEAD).iter().for_each(|bin| prefetch(&left[**bin as usize]));
            let ahead = ready.get(next + AHEAD).and_then(|bin| {
                let (_, item) = left[*bin as usize];
                self.bins.get(item as usize)
            });
            ahead.iter().for_each(|bins| prefetch(*bins));
            next += 1;
            let (1, item) = left[bin as usize] else { continue };
            let bins = self.bins[item as usize];
            self.put(item as usize, number_of(bins, bin));
            for bin in bins {
                let (number, sum) = &mut left[bin as usize];
                (*number, *sum) = (*number - 1, *sum ^ item);
                if *number == 1 {
                    ready.push(bin);
                }
            }
        }
    }

    /// Finds a place for an item by moving others, breadth first; false if there is none.
    fn augment(&mut self, item: usize) -> bool {
        // Items to be moved, each with the place in this list of the item that takes its bin.
        let mut queue: Vec<(usize, usize)> = vec![(item, 0)];
        let mut seen = vec![false; self.owner.len()];
        let mut next = 0;
        while let Some(&(item, _)) = queue.get(next) {
            for (bin, which) in self.bins[item].into_iter().zip(0_u8..) {
                let bin = bin as usize;
                if core::mem::replace(&mut seen[bin], true) {
                    continue;
                }
                if self.owner[bin] != NONE {
                    queue.push((self.owner[bin] as usize, next));
                    continue;
                }
                // Along the path back, each takes the bin of the next.
                let (mut at, mut which) = (next, which);
                loop {
                    let (mover, taker) = queue[at];
                    let old = self.which[mover];
                    self.put(mover, which);
                    if at == 0 {
                        return true;
                    }
                    let freed = self.bins[mover][usize::from(old)];
                    which = number_of(self.bins[queue[taker].0], freed);
                    at = taker;
                }
            }
            next += 1;
        }
        false
    }
}
