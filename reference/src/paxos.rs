//! `paxos`: private set intersection, as in `docs/wire/paxos.md`, section 13.
//!
//! ```text
//!     receiver                                         sender
//!     if there are several buckets:
//!  1                          ── Commitment: H(r) ──→
//!                             ←── Coin: s ──
//!                             ── Opening: r ──→
//!     for every bucket:
//!  2  row seed ρ, slots D
//!  3                          ── RowSeed: ρ ──→
//!  4                          ←─ 1-of-N OT of words D ─→
//!     rows T                                           rows Q = T ⊕ Δ·C(D)
//!  5  tags of items y: H(y, dec(T, y))                 tags of items x: H(x, dec(Q, x) ⊕ Δ·C(w(x)))
//!     and then
//!  6                          ←── Tags, ascending ──
//! ```

use crate::blake3::derive_key_from;
use crate::okvs::{Shape, encode, row_seed};
use crate::one_of_n::{self, Bits};
use crate::oracle::{Id, oracle32, sub_session_id};
use crate::{bits_from_bytes, bytes_from_bits, oracle, xor};

/// An item's digest.
pub type Item = [u8; 32];

/// A tag.
pub type Tag = u128;

/// Public values that both parties know.
#[derive(Clone, Debug)]
pub struct Protocol {
    /// The sub-session.
    pub id: Id,
    /// Security against malicious peers.
    pub checked: bool,
    /// Items of the receiver.
    pub receiver_items: usize,
    /// Items of the sender.
    pub sender_items: usize,
    /// The number of buckets.
    pub buckets: usize,
}

impl Protocol {
    /// Returns the number of buckets for this number of the receiver's items.
    #[must_use]
    pub fn buckets_for(receiver_items: usize) -> usize {
        receiver_items.div_ceil(1 << 20).max(1)
    }

    /// Returns the extension's name.
    #[must_use]
    pub fn extension(&self) -> &'static str {
        if self.checked { "oos-802" } else { "oos-semi-honest" }
    }

    /// Returns the extension.
    #[must_use]
    pub fn ots(&self) -> one_of_n::Protocol {
        let id = sub_session_id(&self.id, 0, 0, self.extension());
        one_of_n::Protocol::named(self.extension(), &id)
    }

    /// Returns the shape of a bucket's store.
    #[must_use]
    pub fn shape(&self) -> Shape {
        let n = load(self.receiver_items, self.buckets);
        Shape::new(n, if n < 1 << 17 { 3 } else { 4 })
    }

    /// Returns the OTs of each batch of a bucket.
    #[must_use]
    pub fn batches(&self) -> Vec<usize> {
        let max = if self.checked { 16320 } else { 16384 };
        let m = self.shape().slots();
        (0..m).step_by(max).map(|first| max.min(m - first)).collect()
    }

    /// Returns ℓ, the bits of a tag.
    #[must_use]
    pub fn tag_bits(&self) -> usize {
        let pairs = self.receiver_items.max(1) * self.sender_items.max(1);
        let log = (0_usize..).find(|&log| 1_usize << log >= pairs).unwrap_or_default();
        if self.checked { 128 } else { 40 + log }
    }

    /// Returns a bucket's sub-session.
    #[must_use]
    pub fn bucket_id(&self, bucket: usize) -> Id {
        sub_session_id(&self.id, bucket, 0, "paxos bucket")
    }

    /// Returns w(x).
    #[must_use]
    pub fn word(&self, bucket: usize, seed: &[u8; 32], item: &Item) -> Vec<u8> {
        let id = self.bucket_id(bucket);
        let key = oracle32("foxtrot v1 paxos word key", &id, 0, 0, &[seed]);
        derive_key_from(&key, item, if self.checked { 29 } else { 11 })
    }

    /// Returns t(x, row).
    #[must_use]
    pub fn tag(&self, bucket: usize, seed: &[u8; 32], item: &Item, row: &[u8]) -> Tag {
        let id = self.bucket_id(bucket);
        let key = oracle32("foxtrot v1 paxos tag key", &id, 0, 0, &[seed]);
        let answer = derive_key_from(&key, &[item, row].concat(), 16);
        number(&answer) & Tag::MAX >> (128 - self.tag_bits())
    }

    /// Returns the bytes of `Tags`, all frames in one, of the tags of all buckets; none for a receiver without items.
    #[must_use]
    #[expect(clippy::missing_panics_doc, reason = "first bits are few")]
    pub fn code(&self, mut tags: Vec<Tag>) -> Vec<u8> {
        if self.receiver_items == 0 || tags.is_empty() {
            return Vec::new();
        }
        tags.sort_unstable();
        let (n, bits) = (tags.len(), self.tag_bits());
        let first = (0..).take_while(|&k| 1_usize << (k + 1) <= n).count();
        let mut marks = vec![false; n + (1 << first) - 1];
        for (i, tag) in tags.iter().enumerate() {
            let steps = if first == 0 { 0 } else { tag >> (bits - first) };
            marks[i + usize::try_from(steps).expect("first bits")] = true;
        }
        let rests: Vec<bool> =
            tags.iter().flat_map(|tag| (0..bits - first).map(move |k| tag >> k & 1 == 1)).collect();
        [bytes_from_bits(&marks), bytes_from_bits(&rests)].concat()
    }

    /// Returns the tags that [`Protocol::code`] made these bytes of; `n` are expected.
    #[must_use]
    pub fn read(&self, n: usize, bytes: &[u8]) -> Vec<Tag> {
        if n == 0 {
            return Vec::new();
        }
        let first = (0..).take_while(|&k| 1_usize << (k + 1) <= n).count();
        let (len, rest) = (n + (1 << first) - 1, self.tag_bits() - first);
        let (marks, rests) = bytes.split_at(len.div_ceil(8));
        let places = bits_from_bytes(marks, len).into_iter().enumerate().filter(|(_, mark)| *mark);
        let rests = bits_from_bytes(rests, n * rest);
        let rests = rests.chunks(rest).map(|bits| number(&bytes_from_bits(bits)));
        let tag = |(i, ((place, _), low)): (usize, ((usize, bool), Tag))| {
            // With one tag there are no steps, and all of its bits may be here.
            ((place - i) as Tag).checked_shl(u32::try_from(rest).unwrap_or(128)).unwrap_or(0) | low
        };
        places.zip(rests).enumerate().map(tag).collect()
    }

    /// Returns r, the receiver's half of the joint coin.
    #[must_use]
    pub fn receiver_coin(&self, seed: &[u8; 32]) -> [u8; 32] {
        oracle32("foxtrot v1 paxos receiver coin", &self.id, 0, 0, &[seed])
    }

    /// Returns s, the sender's half.
    #[must_use]
    pub fn sender_coin(&self, seed: &[u8; 32]) -> [u8; 32] {
        oracle32("foxtrot v1 paxos sender coin", &self.id, 0, 0, &[seed])
    }

    /// Returns what the receiver commits to the half `r` of the joint coin with.
    #[must_use]
    pub fn commitment(&self, r: &[u8; 32]) -> [u8; 32] {
        oracle32("foxtrot v1 paxos commitment", &self.id, 0, 0, &[r])
    }

    /// Returns the joint coin.
    #[must_use]
    pub fn joint_coin(&self, r: &[u8; 32], s: &[u8; 32]) -> [u8; 32] {
        oracle32("foxtrot v1 paxos joint coin", &self.id, 0, 0, &[r, s])
    }

    /// Returns the bucket of an item; with one bucket no coin is needed.
    #[must_use]
    pub fn bucket_of(&self, coin: &[u8; 32], item: &Item) -> usize {
        let key = oracle32("foxtrot v1 paxos bucket key", &self.id, 0, 0, &[coin]);
        let word = derive_key_from(&key, item, 8).try_into().map_or(0, u64::from_le_bytes);
        usize::try_from((u128::from(word) * self.buckets as u128) >> 64).unwrap_or_default()
    }
}

/// Returns to how many items each of `buckets` buckets is filled up if there are n.
#[must_use]
pub fn load(n: usize, buckets: usize) -> usize {
    if buckets == 1 || n == 0 {
        return n;
    }
    let (n, b) = (n as i128, buckets as i128);
    let log_b = (0..).find(|&log| 1_i128 << log >= b).unwrap_or_default();
    let rare = |a: i128| {
        a * b * (lg(a * b) - lg(n) - 1) - (a * b - n) * 24_204_407 >= ((41 + log_b) * b) << 24
    };
    let load = (n / b..n).find(|&load| rare(load + 1)).unwrap_or(n);
    usize::try_from(load).unwrap_or_default()
}

/// Returns about 2²⁴·log₂ x.
fn lg(x: i128) -> i128 {
    let whole = x.ilog2();
    let mut log = i128::from(whole);
    let mut power = x.unsigned_abs() << (63 - whole);
    for _ in 0..24 {
        power = (power * power) >> 63;
        let carry = power >= 1 << 64;
        power >>= u32::from(carry);
        log = 2 * log + i128::from(carry);
    }
    log
}

/// The receiver.
#[derive(Debug)]
pub struct Receiver {
    protocol: Protocol,
    ots: one_of_n::Receiver,
    items: Vec<Item>,
    coin: [u8; 32],
    seed: [u8; 32],
    tags: Vec<(Tag, usize)>,
}

impl Receiver {
    /// Takes both keys of every base OT.
    #[must_use]
    pub fn new(
        protocol: &Protocol,
        base_keys: Vec<[[u8; 16]; 2]>,
        items: &[Item],
        coin: [u8; 32],
        seed: [u8; 32],
    ) -> Self {
        let of_ots = oracle32("foxtrot v1 paxos receiver seed", &protocol.id, 0, 0, &[&seed]);
        let ots = one_of_n::Receiver::new(protocol.ots(), base_keys, of_ots);
        let (protocol, items) = (protocol.clone(), items.to_vec());
        Receiver { protocol, ots, items, coin, seed, tags: Vec::new() }
    }

    /// Steps 2 to 4 of a bucket: returns `RowSeed`, and for every batch its state and `Corrections`.
    ///
    /// # Panics
    ///
    /// If items repeat; otherwise but for 2⁻⁴⁰ not.
    pub fn bucket(&mut self, bucket: usize) -> ([u8; 32], Vec<(one_of_n::ReceiverBatch, Vec<u8>)>) {
        let (protocol, shape) = (&self.protocol, self.protocol.shape());
        let id = protocol.bucket_id(bucket);
        let coins = oracle32("foxtrot v1 paxos coins", &protocol.id, bucket, 0, &[&self.seed]);
        let seed = row_seed(&id, &coins);
        let mut keys: Vec<Item> = self.items_of(bucket).map(|(_, item)| item).collect();
        // What fills the bucket up is nobody's business.
        let others = "foxtrot v1 paxos others";
        let others = oracle::oracle(others, &protocol.id, bucket, 0, &[&self.seed], 32 * shape.n);
        keys.extend(others.as_chunks::<32>().0.iter().take(shape.n - keys.len()));
        let rows: Vec<Vec<usize>> = keys.iter().map(|key| shape.row(&id, &seed, key)).collect();
        let values: Vec<Vec<u8>> =
            keys.iter().map(|key| protocol.word(bucket, &seed, key)).collect();
        let random = crate::okvs::test_strings(&coins, shape.slots(), self.word_len());
        let slots = encode(&rows, &values, random).expect("distinct items");
        let words: Vec<Bits> = slots
            .iter()
            .map(|slot| bits_from_bytes(slot, self.protocol.ots().code().word_bits()))
            .collect();
        let mut words = words.as_slice();
        let mut batches = Vec::new();
        for n in protocol.batches() {
            let (now, rest) = words.split_at(n);
            words = rest;
            batches.push(self.ots.begin(now));
        }
        (seed, batches)
    }

    /// Step 5 of a bucket, from the rows of all slots.
    pub fn finish(&mut self, bucket: usize, seed: &[u8; 32], rows: &[Bits]) {
        let shape = self.protocol.shape();
        let id = self.protocol.bucket_id(bucket);
        let tags: Vec<_> = self
            .items_of(bucket)
            .map(|(index, item)| {
                let row = sum(&shape.row(&id, seed, &item), rows);
                (self.protocol.tag(bucket, seed, &item, &row), index)
            })
            .collect();
        self.tags.extend(tags);
    }

    /// Step 6: returns the indices of the items that the sender also has.
    #[must_use]
    pub fn intersect(&self, tags: &[u8]) -> Vec<usize> {
        let n = if self.items.is_empty() { 0 } else { self.protocol.sender_items };
        let tags = self.protocol.read(n, tags);
        let common = self.tags.iter().filter(|(tag, _)| tags.contains(tag));
        let mut indices: Vec<usize> = common.map(|(_, index)| *index).collect();
        indices.sort_unstable();
        indices
    }

    fn items_of(&self, bucket: usize) -> impl Iterator<Item = (usize, Item)> {
        let items = self.items.iter().copied().enumerate();
        items.filter(move |(_, item)| self.protocol.bucket_of(&self.coin, item) == bucket)
    }

    fn word_len(&self) -> usize {
        self.protocol.ots().code().word_bits().div_ceil(8)
    }
}

/// The sender.
#[derive(Debug)]
pub struct Sender {
    protocol: Protocol,
    ots: one_of_n::Sender,
    delta: Bits,
    items: Vec<Item>,
    coin: [u8; 32],
    tags: Vec<Tag>,
}

impl Sender {
    /// Takes Δ and the key of Δⱼ of every base OT.
    #[must_use]
    pub fn new(
        protocol: &Protocol,
        (delta, base_keys): (Bits, Vec<[u8; 16]>),
        items: &[Item],
        coin: [u8; 32],
        seed: [u8; 32],
    ) -> Self {
        let of_ots = oracle32("foxtrot v1 paxos sender seed", &protocol.id, 0, 0, &[&seed]);
        let ots = one_of_n::Sender::new(protocol.ots(), delta.clone(), base_keys, of_ots);
        let (protocol, items) = (protocol.clone(), items.to_vec());
        Sender { protocol, ots, delta, items, coin, tags: Vec::new() }
    }

    /// Step 4: takes `Corrections` of the next batch; returns the state and `Challenge`, empty where
    /// there is none.
    pub fn batch(&mut self, n: usize, corrections: &[u8]) -> (one_of_n::SenderBatch, Vec<u8>) {
        self.ots.begin(n, corrections)
    }

    /// Step 5 of a bucket, from the rows of all slots, after all checks.
    pub fn finish(&mut self, bucket: usize, seed: &[u8; 32], rows: &[Bits]) {
        let (protocol, shape) = (&self.protocol, self.protocol.shape());
        let (id, code) = (protocol.bucket_id(bucket), protocol.ots().code().clone());
        for item in &self.items {
            if protocol.bucket_of(&self.coin, item) != bucket {
                continue;
            }
            let word = bits_from_bytes(&protocol.word(bucket, seed, item), code.word_bits());
            let masked: Bits =
                code.encode(&word).iter().zip(&self.delta).map(|(c, delta)| c & delta).collect();
            let row = sum(&shape.row(&id, seed, item), rows);
            let row = xor(&row, &bytes_from_bits(&masked));
            self.tags.push(protocol.tag(bucket, seed, item, &row));
        }
    }

    /// Step 6: returns `Tags`.
    #[must_use]
    pub fn tags(self) -> Vec<u8> {
        self.protocol.code(self.tags)
    }
}

/// Returns the number with these low bytes.
pub(crate) fn number(bytes: &[u8]) -> u128 {
    bytes.iter().rev().fold(0, |sum, &byte| sum << 8 | u128::from(byte))
}

/// Returns dec: the sum of the rows at these slots.
fn sum(slots: &[usize], rows: &[Bits]) -> Vec<u8> {
    let zero = bytes_from_bits(&vec![false; rows[0].len()]);
    slots.iter().fold(zero, |sum, &slot| xor(&sum, &bytes_from_bits(&rows[slot])))
}
