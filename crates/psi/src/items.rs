//! Items of a set, and which of them are in which bucket.

use alloc::{vec, vec::Vec};
use core::ops::Deref;

use foxtrot_kernel::memcheck;
use foxtrot_ot::{Seed, Session, expect_count};

use crate::{Digest, Error, Joint, erase::Secret, hashes::Keyed};

/// The most items of a set: 2³⁰.
pub const MAX_ITEMS: usize = 1 << 30;

/// A party's items, and which of them are in which bucket.
pub(crate) struct Items {
    items: Secret<Digest>,
    /// Indices of the items, those of a bucket one after another; `None` if there is one bucket.
    order: Option<Secret<u32>>,
    /// Starts of all buckets, and at last the end of the last one.
    starts: Vec<usize>,
    /// Number of items to which every bucket is filled up.
    load: usize,
}

impl Items {
    pub(crate) fn new(
        session: &Session,
        buckets: usize,
        (expected, load): (usize, usize),
        items: Vec<Digest>,
        joint: Option<Joint>,
    ) -> Result<Self, Error> {
        let items = Secret(items);
        expect_count("items", expected, items.0.len())?;
        expect_count("joint coins", usize::from(buckets > 1), usize::from(joint.is_some()))?;
        let Some(joint) = joint else {
            let starts = vec![0, items.0.len()];
            return Ok(Self { items, order: None, starts, load });
        };
        let of = buckets_of(session, &joint, &items.0, buckets);
        // Counting sort.
        let mut starts = vec![0; buckets + 1];
        for &bucket in &of.0 {
            starts[bucket as usize + 1] += 1;
        }
        if starts.iter().any(|&number| number > load) {
            return Err(Error::Unlucky);
        }
        for bucket in 0..buckets {
            starts[bucket + 1] += starts[bucket];
        }
        let mut next = starts.clone();
        let mut order = Secret(vec![0; items.0.len()]);
        for (index, &bucket) in (0..).zip(&of.0) {
            let place = &mut next[bucket as usize];
            order.0[*place] = index;
            *place += 1;
        }
        Ok(Self { items, order: Some(order), starts, load })
    }

    /// The number of all items.
    pub(crate) fn len(&self) -> usize {
        self.items.0.len()
    }

    /// Returns the number of a bucket's items, without those that fill it up.
    pub(crate) fn number(&self, bucket: usize) -> usize {
        self.starts[bucket + 1] - self.starts[bucket]
    }

    /// Returns the first place of a bucket among the places of all buckets.
    pub(crate) fn start(&self, bucket: usize) -> usize {
        self.starts[bucket]
    }

    /// The index of the item at a place among all.
    pub(crate) fn index(&self, place: usize) -> usize {
        self.order.as_ref().map_or(place, |order| order.0[place] as usize)
    }

    /// The bucket's items, and after them random ones, which are nobody's.
    pub(crate) fn filled(&self, session: &Session, seed: &Seed, bucket: usize) -> Filled<'_> {
        let Some(order) = &self.order else { return Filled::All(&self.items.0) };
        let indices = &order.0[self.starts[bucket]..self.starts[bucket + 1]];
        let mut filled = Vec::with_capacity(self.load);
        filled.extend(indices.iter().map(|&index| self.items.0[index as usize]));
        filled.resize(self.load, [0; 32]);
        let others = filled[indices.len()..].as_flattened_mut();
        seed.fill(&session.oracle("foxtrot v1 paxos others"), bucket as u64, others);
        // They are placed as items are, at addresses that follow from them.
        memcheck::public(others);
        Filled::Bucket(Secret(filled))
    }
}

/// A bucket's items.
pub(crate) enum Filled<'a> {
    All(&'a [Digest]),
    Bucket(Secret<Digest>),
}

impl Deref for Filled<'_> {
    type Target = [Digest];

    fn deref(&self) -> &[Digest] {
        match self {
            Self::All(items) => items,
            Self::Bucket(items) => &items.0,
        }
    }
}

/// The namespace of a bucket.
pub(crate) fn bucket_session(session: &Session, bucket: usize) -> Session {
    session.sub("paxos bucket", bucket as u64, Default::default())
}

/// The bucket of every item.
pub(crate) fn buckets_of(
    session: &Session,
    joint: &Joint,
    items: &[Digest],
    buckets: usize,
) -> Secret<u32> {
    let mut of = Secret::<u32>::zeroed(items.len());
    #[expect(clippy::cast_possible_truncation, reason = "less than the number of buckets")]
    let bucket =
        |word: &_| ((u128::from(u64::from_le_bytes(*word)) * buckets as u128) >> 64) as u32;
    let hash = Keyed::under(session, "foxtrot v1 paxos bucket key", &joint.0);
    hash.map(items, &mut of, bucket);
    of
}
