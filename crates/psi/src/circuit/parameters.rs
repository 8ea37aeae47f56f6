//! Parameters that both parties compute from terms and sizes alone.

use foxtrot_ot::{
    Usage,
    base::{Adversary, Functionality},
    protocol::{Protocol, ProtocolKind},
    silent::{self, Field, Silent},
};
use foxtrot_triples::bits;

use super::{
    gates,
    look_ups::{self, nibbles_len},
    oprf,
};
use crate::{RowSeed, circuit::cuckoo::HASHES, okvs::Okvs, packed};

/// The most items of a set: the slots of the receiver's store are the outputs of one VOLE.
pub const MAX_ITEMS: usize = 1 << 20;

/// Slots of a frame.
pub(super) const SLOTS: usize = 1 << 14;

/// Bytes of a slot in memory: a word for each column, or two with a sum.
pub(super) const COUNT_ONLY: usize = 8 * HASHES;
pub(super) const WITH_SUM: usize = 16 * HASHES;

/// Terms of what is computed, and of who learns it. Both parties have the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CircuitTerms {
    /// The largest number that there may be, if the sender's numbers are added up also. Sums are below 2^64: sizes with which one could be
    /// larger are [refused](Parameters::new).
    pub largest: Option<u64>,
    /// The least number of common items with which there is a result.
    pub at_least: u64,
    /// True if the sender learns the result also.
    pub both: bool,
}

impl CircuitTerms {
    /// Numbers of the result: the count, and the sum.
    pub(super) const fn numbers(&self) -> usize {
        if self.largest.is_some() { 2 } else { 1 }
    }
}

/// Terms, sizes, and what follows from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    terms: CircuitTerms,
    receiver_items: usize,
    sender_items: usize,
    /// The store of the receiver's items.
    pub(super) oprf: Okvs,
    /// The store of the sender's items.
    pub(super) store: Okvs,
}

impl Parameters {
    /// Computes the parameters of sets of these sizes, 0 included.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`] if a set has more than [`MAX_ITEMS`]; [`Usage::SumTooLarge`] if as many items as both may have in
    /// common could add up to 2^64.
    pub fn new(
        terms: CircuitTerms,
        receiver_items: usize,
        sender_items: usize,
    ) -> Result<Self, Usage> {
        let n = receiver_items.max(sender_items);
        if n > MAX_ITEMS {
            return Err(Usage::BatchTooLarge { n, max: MAX_ITEMS });
        }
        let common = receiver_items.min(sender_items) as u64;
        let largest = terms.largest.unwrap_or(0);
        if largest.checked_mul(common).is_none() {
            return Err(Usage::SumTooLarge { largest, items: common });
        }
        let (oprf, store) = (Okvs::new(receiver_items)?, Okvs::new(sender_items)?);
        Ok(Self { terms, receiver_items, sender_items, oprf, store })
    }

    /// Returns the terms.
    #[must_use]
    pub const fn terms(&self) -> CircuitTerms {
        self.terms
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

    /// Returns true if one set is empty: then the result is known.
    pub(super) const fn is_trivial(&self) -> bool {
        self.receiver_items == 0 || self.sender_items == 0
    }

    /// Bins of a segment: 0.4234 times the receiver's items, and 90. The receiver's items fail to find places of their own with
    /// probability 2⁻⁴⁰ at most: `docs/protocols/circuit-psi.md`, section 5.
    #[must_use]
    pub const fn segment(&self) -> usize {
        (127 * self.receiver_items).div_ceil(300) + 90
    }

    /// The number of bins.
    #[must_use]
    pub const fn bins(&self) -> usize {
        HASHES * self.segment()
    }

    /// Words of a bit per bin.
    pub(super) const fn words(&self) -> usize {
        self.bins().div_ceil(64)
    }

    /// Bit triples.
    #[must_use]
    pub const fn triples(&self) -> usize {
        64 * gates::words_to_release(self.terms.numbers())
    }

    /// Look-ups, with a random OT of one of sixteen bits each, in which the sender sends.
    #[must_use]
    pub const fn look_ups(&self) -> usize {
        look_ups::number(self.bits()) * 64 * self.words()
    }

    /// Random OTs in which the sender sends: those of the triples, and one per bin.
    #[must_use]
    pub const fn forward_ots(&self) -> usize {
        bits::ots(self.triples()) + 64 * self.words()
    }

    /// Random OTs in which the receiver sends: one per bin, for a sum.
    #[must_use]
    pub const fn backward_ots(&self) -> usize {
        if self.terms.largest.is_some() { 64 * self.words() } else { 0 }
    }

    /// The number of steps that [`Progress`](super::protocol::Progress) counts, unless a set is empty: random OTs, look-ups, and bytes of
    /// slots and gates.
    #[must_use]
    pub fn steps(&self) -> usize {
        let ots = self.forward_ots() + self.backward_ots() + 2 * self.look_ups();
        ots + self.slots_len() + self.triples() / 4
    }

    /// ℓ, the bits of a bin's strings: so many that two which differ are taken for equal in some lane with probability 2⁻⁴⁰ at most, and that fill their look-ups.
    /// There are at least 273 bins, so rounded up to a power of two they are not fewer than the lanes.
    pub(super) const fn bits(&self) -> u32 {
        look_ups::whole(40 + self.bins().next_power_of_two().trailing_zeros())
    }

    /// The threshold: one that no count can reach is as good as any higher one.
    pub(super) fn threshold(&self) -> u64 {
        self.terms.at_least.min(self.common() + 1)
    }

    /// The most items that both can have.
    fn common(&self) -> u64 {
        self.receiver_items.min(self.sender_items) as u64
    }

    /// Bits of the count less the threshold, with its sign, and of the sum, as few as it takes; 0 without a sum.
    pub(super) fn number_bits(&self) -> [u32; 2] {
        let bits = |largest: u64| u64::BITS - largest.leading_zeros();
        let sum = self.terms.largest.map(|largest| bits(largest * self.common()).max(1));
        [bits(self.common()) + 1, sum.unwrap_or(0)]
    }

    /// Bits of a column of a slot: a bin's string, and a share of a number.
    pub(super) fn column_bits(&self) -> u32 {
        self.bits() + self.number_bits()[1]
    }

    /// Bytes of all `Slots`.
    pub(super) fn slots_len(&self) -> usize {
        let len = |slots: usize| packed::len(HASHES * slots, self.column_bits());
        let slots = self.store.slots();
        slots / SLOTS * len(SLOTS) + len(slots % SLOTS)
    }

    /// Bytes of an item's value, and of a slot, in memory.
    const fn width(&self) -> usize {
        if self.terms.largest.is_some() { WITH_SUM } else { COUNT_ONLY }
    }

    /// The most elements of the memory's strings: leaves of a batch of the silent protocols, and what the values and slots take.
    pub(super) fn elements(&self) -> usize {
        fn of<F: Field>(silent: Silent<F>, outputs: usize) -> usize {
            silent.size(outputs.min(silent.max_batch())).map_or(0, |size| size.leaves())
        }
        let of_store = (self.width() * self.store.slots()).div_ceil(16);
        of(silent::vole_semi_honest(), self.oprf.slots())
            .max(of_store)
            .max(of(silent::ot_16_semi_honest(), self.look_ups()))
            .max(of(silent::ot_semi_honest(), self.forward_ots()))
    }

    /// Bytes that both parties send of look-ups and of what follows them, but for the random OTs: sender and receiver.
    fn circuit_bytes(&self) -> [usize; 2] {
        let and = 2 * self.triples() / 8;
        let [count, sum] = self.number_bits();
        let (words, result) = (self.words(), 8 * (self.terms.numbers() + 1));
        // Lanes are a multiple of eight, in all frames.
        let products = |bits: u32| packed::len(64 * words, bits);
        let forward = [products(count + sum), 8 * words];
        let backward =
            if self.terms.largest.is_some() { [8 * words, products(sum)] } else { [0; 2] };
        let back = if self.terms.both { result } else { 0 };
        let look_ups = [look_ups::tables_len(self.bits()) * words, nibbles_len(self.look_ups())];
        let shared = [and + look_ups[0], and + look_ups[1]];
        [shared[0] + forward[0] + backward[0] + result, shared[1] + forward[1] + backward[1] + back]
    }

    /// Payload bytes of the receiver, without base OTs.
    #[must_use]
    pub fn receiver_bytes(&self) -> usize {
        if self.is_trivial() {
            return 0;
        }
        let ots = silent::ot_semi_honest();
        let backward =
            if self.backward_ots() > 0 { ots.sender_bytes(self.backward_ots()) } else { 0 };
        let vole = silent::vole_semi_honest().receiver_bytes(self.oprf.slots());
        let oprf = vole + RowSeed::LEN + oprf::sums_len(&self.oprf);
        let look_ups = silent::ot_16_semi_honest().receiver_bytes(self.look_ups());
        oprf + look_ups
            + ots.receiver_bytes(self.forward_ots())
            + backward
            + self.circuit_bytes()[1]
    }

    /// Payload bytes of the sender, without base OTs.
    #[must_use]
    pub fn sender_bytes(&self) -> usize {
        if self.is_trivial() {
            return 0;
        }
        let ots = silent::ot_semi_honest();
        let backward =
            if self.backward_ots() > 0 { ots.receiver_bytes(self.backward_ots()) } else { 0 };
        let slots = RowSeed::LEN + self.slots_len();
        let oprf = silent::vole_semi_honest().sender_bytes(self.oprf.slots());
        let look_ups = silent::ot_16_semi_honest().sender_bytes(self.look_ups());
        let forward = ots.sender_bytes(self.forward_ots());
        oprf + slots + look_ups + forward + backward + self.circuit_bytes()[0]
    }
}

/// The record. Flows are not counted: the gates take many.
pub static PROTOCOL: Protocol = Protocol {
    name: "circuit-psi",
    family: "circuit-psi",
    kind: ProtocolKind::Psi,
    paper: "PSTY19, RR22 over silent VOLE and OT",
    functionality: Functionality::PsiCount,
    adversary: Adversary::SemiHonest,
    assumption: "dual LPN over a block–accumulate code, AEGIS-128L as a PRG, AES as an ideal cipher, random oracle",
    params: "GF(2^64), at least 40 + ⌈log₂ bins⌉ bits of each bin",
    flows: 26,
    receiver_bytes: |n| {
        Parameters::new(CircuitTerms::default(), n, n).map_or(usize::MAX, |it| it.receiver_bytes())
    },
    sender_bytes: |n| {
        Parameters::new(CircuitTerms::default(), n, n).map_or(usize::MAX, |it| it.sender_bytes())
    },
    ..Protocol::BASE_OT
};
