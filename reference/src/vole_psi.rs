//! `vole-psi`: private set intersection from VOLE, as in `docs/wire/vole-psi.md`, section 21.
//!
//! ```text
//!     receiver                                         sender
//!     joint coin, if there are several buckets, as in `paxos`
//!     for every bucket:
//!  1  U, V = W ⊕ U·Δ                                   Δ, W
//!  2  row seed ρ, slots P
//!  3                          ── RowSeed: ρ ──→
//!  4                          ── Masked: A = U ⊕ P ──→
//!  5  tags of items y: H(y, dec(V, y))                 K = W ⊕ A·Δ; of items x: H(x, dec(K, x) ⊕ w(x)·Δ)
//!     and then
//!  6                          ←── Tags, ascending ──
//! ```

use crate::blake3::derive_key_from;
use crate::okvs::{Shape, decode, encode, row_seed};
use crate::oracle::{Id, oracle, oracle32};
use crate::paxos::{self, Item, number as element};
use crate::silent::multiply;
use crate::xor;

/// An element of GF(2^128), or of GF(2^64) in the low half.
pub type Element = u128;

/// Public values that both parties know.
#[derive(Clone, Debug)]
pub struct Protocol {
    /// The sub-session.
    pub id: Id,
    /// Words in GF(2^64), for semi-honest peers.
    pub small: bool,
    /// Items of the receiver.
    pub receiver_items: usize,
    /// Items of the sender.
    pub sender_items: usize,
    /// The number of buckets.
    pub buckets: usize,
}

impl Protocol {
    /// Returns the values that buckets and coin have in common with `paxos`.
    fn of_paxos(&self) -> paxos::Protocol {
        let Self { id, small, receiver_items, sender_items, buckets } = *self;
        paxos::Protocol { id, checked: !small, receiver_items, sender_items, buckets }
    }

    /// Returns the shape of a bucket's store.
    #[must_use]
    pub fn shape(&self) -> Shape {
        self.of_paxos().shape()
    }

    /// Returns the bytes of a word.
    #[must_use]
    pub fn word_len(&self) -> usize {
        if self.small { 8 } else { 16 }
    }

    /// Returns ℓ, the bits of a tag.
    #[must_use]
    pub fn tag_bits(&self) -> usize {
        self.of_paxos().tag_bits()
    }

    /// Returns w(x).
    #[must_use]
    pub fn word(&self, bucket: usize, seed: &[u8; 32], item: &Item) -> Vec<u8> {
        let answer = self.shape().answer(&self.of_paxos().bucket_id(bucket), seed, item);
        answer[48..48 + self.word_len()].to_vec()
    }

    /// Returns u·a: with small words, u times either half of a in GF(2^64).
    #[must_use]
    pub fn product(&self, u: Element, a: Element) -> Element {
        if !self.small {
            return multiply(u, a);
        }
        let half = |a: Element| {
            (0..64).rev().fold(0, |product: Element, k| {
                let doubled = product << 1;
                let overflow = if doubled >> 64 == 1 { 1 << 64 | 0b1_1011 } else { 0 };
                doubled ^ overflow ^ if u >> k & 1 == 1 { a } else { 0 }
            })
        };
        half(a >> 64) << 64 | half(a & Element::from(u64::MAX))
    }

    /// Returns the tag of an item and a value.
    #[must_use]
    pub fn tag(&self, bucket: usize, seed: &[u8; 32], item: &Item, value: Element) -> Element {
        let id = self.of_paxos().bucket_id(bucket);
        let key = oracle32("foxtrot v1 paxos tag key", &id, 0, 0, &[seed]);
        let answer = derive_key_from(&key, &[&item[..], &value.to_le_bytes()].concat(), 16);
        element(&answer) & Element::MAX >> (128 - self.tag_bits())
    }

    /// Returns the joint coin of the seeds of receiver and sender.
    #[must_use]
    pub fn joint_coin(&self, seeds: [&[u8; 32]; 2]) -> [u8; 32] {
        let paxos = self.of_paxos();
        paxos.joint_coin(&paxos.receiver_coin(seeds[0]), &paxos.sender_coin(seeds[1]))
    }

    /// Returns the items of a bucket, with their places in the list.
    fn items_of<'a>(
        &'a self,
        coin: &'a [u8; 32],
        bucket: usize,
        items: &'a [Item],
    ) -> impl Iterator<Item = (usize, &'a Item)> {
        let paxos = self.of_paxos();
        items.iter().enumerate().filter(move |(_, item)| paxos.bucket_of(coin, item) == bucket)
    }

    /// Returns the receiver's messages of a bucket, `RowSeed` and `Masked`, for its seed and U.
    ///
    /// # Panics
    ///
    /// If items repeat; otherwise but for 2⁻⁴⁰ not.
    #[must_use]
    pub fn sums(
        &self,
        (coin, bucket): (&[u8; 32], usize),
        items: &[Item],
        seed: &[u8; 32],
        u: &[Element],
    ) -> ([u8; 32], Vec<u8>) {
        let (shape, id) = (self.shape(), self.of_paxos().bucket_id(bucket));
        let coins = oracle32("foxtrot v1 paxos coins", &self.id, bucket, 0, &[seed]);
        let row_seed = row_seed(&id, &coins);
        let mut keys: Vec<Item> = self.items_of(coin, bucket, items).map(|(_, it)| *it).collect();
        let others = oracle("foxtrot v1 paxos others", &self.id, bucket, 0, &[seed], 32 * shape.n);
        keys.extend(others.as_chunks::<32>().0.iter().take(shape.n - keys.len()));
        let rows: Vec<_> = keys.iter().map(|key| shape.row(&id, &row_seed, key)).collect();
        let words: Vec<_> = keys.iter().map(|key| self.word(bucket, &row_seed, key)).collect();
        let random = crate::okvs::test_strings(&coins, shape.slots(), self.word_len());
        let slots = encode(&rows, &words, random).expect("distinct items");
        let sum = |(slot, u): (&Vec<u8>, &Element)| xor(slot, &u.to_le_bytes()[..slot.len()]);
        (row_seed, slots.iter().zip(u).flat_map(sum).collect())
    }

    /// Returns the receiver's tags of a bucket, with the places of their items.
    #[must_use]
    pub fn receiver_tags(
        &self,
        (coin, bucket): (&[u8; 32], usize),
        items: &[Item],
        row_seed: &[u8; 32],
        v: &[Element],
    ) -> Vec<(usize, Element)> {
        let tag = |item| {
            let value = self.decode(bucket, row_seed, item, v);
            self.tag(bucket, row_seed, item, value)
        };
        self.items_of(coin, bucket, items).map(|(place, item)| (place, tag(item))).collect()
    }

    /// Returns the sender's tags of a bucket.
    #[must_use]
    pub fn sender_tags(
        &self,
        (coin, bucket): (&[u8; 32], usize),
        items: &[Item],
        (row_seed, sums): (&[u8; 32], &[u8]),
        (delta, w): (Element, &[Element]),
    ) -> Vec<Element> {
        let k: Vec<Element> = w
            .iter()
            .zip(sums.chunks(self.word_len()))
            .map(|(w, sum)| w ^ self.product(element(sum), delta))
            .collect();
        let tag = |item| {
            let word = element(&self.word(bucket, row_seed, item));
            let value = self.decode(bucket, row_seed, item, &k) ^ self.product(word, delta);
            self.tag(bucket, row_seed, item, value)
        };
        self.items_of(coin, bucket, items).map(|(_, item)| tag(item)).collect()
    }

    /// Returns dec: the sum of the elements at the slots of the item's row.
    fn decode(&self, bucket: usize, seed: &[u8; 32], item: &Item, elements: &[Element]) -> Element {
        let row = self.shape().row(&self.of_paxos().bucket_id(bucket), seed, item);
        let strings: Vec<_> = elements.iter().map(|it| it.to_le_bytes().to_vec()).collect();
        element(&decode(&row, &strings))
    }

    /// Returns the bytes of `Tags`, all frames in one, of the tags of all buckets.
    #[must_use]
    pub fn tags(&self, tags: Vec<Element>) -> Vec<u8> {
        self.of_paxos().code(tags)
    }

    /// Returns the tags that [`Protocol::tags`] made these bytes of; `n` are expected.
    #[must_use]
    pub fn read_tags(&self, n: usize, bytes: &[u8]) -> Vec<Element> {
        self.of_paxos().read(n, bytes)
    }
}
