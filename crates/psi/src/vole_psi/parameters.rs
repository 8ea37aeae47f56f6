//! Parameters that both parties compute from the sizes alone.

use core::ops::Deref;

use foxtrot_ot::{
    Usage,
    base::{Adversary, Functionality},
    engine::batches::sizes,
    protocol::{self, Protocol, ProtocolKind},
    silent::{self, Gf64, Gf128, Silent},
};

use crate::{
    FRAME, MAX_ITEMS, paxos,
    sets::{Sets, buckets},
};

/// The most items of a sender whose peers follow the protocol with words of 64 bits: an item that the receiver does not
/// have fits with probability 2⁻⁶⁴.
const MAX_SMALL: usize = 1 << 24;

/// The VOLE that masks the stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vole {
    /// VOLE of GF(2^128) from LPN, against malicious peers.
    Silent,
    /// VOLE of GF(2^64) from LPN, against semi-honest peers.
    Small,
    /// VOLE of GF(2^128) without LPN, against malicious peers: for small sets.
    Packed,
}

impl Vole {
    const ALL: [Self; 3] = [Self::Silent, Self::Small, Self::Packed];

    /// The VOLE of the protocol of that name, with or without the adversary in it, against that adversary.
    #[must_use]
    pub fn find(name: &str, adversary: Adversary) -> Option<Self> {
        protocol::find(Self::ALL, Self::info, name, |it| it.adversary == adversary)
    }

    /// Facts about the protocol with this VOLE.
    #[must_use]
    pub fn info(&self) -> &'static Protocol {
        &PROTOCOLS[*self as usize]
    }

    /// The name of the VOLE itself.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self.field() {
            Field::Large(silent) => silent.name(),
            Field::Small(silent) => silent.name(),
        }
    }

    /// The VOLE itself.
    pub(super) const fn field(self) -> Field<Silent<Gf128>, Silent<Gf64>> {
        match self {
            Self::Silent => Field::Large(silent::vole()),
            Self::Small => Field::Small(silent::vole_semi_honest()),
            Self::Packed => Field::Large(silent::vole_packed()),
        }
    }
}

/// Something of a VOLE in either field.
#[derive(Debug)]
pub enum Field<L, S> {
    /// Elements of GF(2^128).
    Large(L),
    /// Elements of GF(2^64).
    Small(S),
}

/// The terms of the two parties: the sizes, and the parameters that follow from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    vole: Vole,
    sets: Sets,
}

impl Deref for Parameters {
    type Target = Sets;

    fn deref(&self) -> &Sets {
        &self.sets
    }
}

impl Parameters {
    /// Computes the parameters of sets of these sizes, 0 included, where LPN may be assumed: with the VOLE that costs fewer
    /// bytes.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`] if a set has more than [`MAX_ITEMS`].
    pub fn new(
        adversary: Adversary,
        receiver_items: usize,
        sender_items: usize,
    ) -> Result<Self, Usage> {
        let vole = match adversary {
            Adversary::SemiHonest if sender_items <= MAX_SMALL => Vole::Small,
            _ => Vole::Silent,
        };
        let silent = Self::of(vole, receiver_items, sender_items)?;
        let packed = Self::of(Vole::Packed, receiver_items, sender_items).ok();
        Ok(packed.filter(|it| it.bytes() < silent.bytes()).unwrap_or(silent))
    }

    /// The parameters without LPN, if that costs fewer bytes than [`paxos`] does, both with this base OT.
    #[must_use]
    pub fn without_lpn(
        adversary: Adversary,
        receiver_items: usize,
        sender_items: usize,
        base: &Protocol,
    ) -> Option<Self> {
        let packed = Self::of(Vole::Packed, receiver_items, sender_items).ok()?;
        let other = paxos::Parameters::new(adversary, receiver_items, sender_items).ok()?;
        let others = other.receiver_bytes() + other.sender_bytes() + base.bytes(other.base_ots());
        (packed.bytes() + base.bytes(packed.base_ots()) < others).then_some(packed)
    }

    /// The parameters with that VOLE.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`] if a set has more than [`MAX_ITEMS`], or the VOLE has no use for so many.
    pub fn of(vole: Vole, receiver_items: usize, sender_items: usize) -> Result<Self, Usage> {
        let buckets = buckets(receiver_items);
        let parameters = Self::with_buckets(vole, receiver_items, sender_items, buckets)?;
        if vole == Vole::Packed {
            silent::vole_packed().size(parameters.slots())?;
        }
        Ok(parameters)
    }

    /// Computes parameters with any number of buckets, which no peer would have: for tests.
    ///
    /// # Errors
    /// The errors of [`Parameters::of`].
    #[doc(hidden)]
    pub fn with_buckets(
        vole: Vole,
        receiver_items: usize,
        sender_items: usize,
        buckets: usize,
    ) -> Result<Self, Usage> {
        let max = if vole == Vole::Small { MAX_SMALL } else { MAX_ITEMS };
        let n = if receiver_items > MAX_ITEMS { receiver_items } else { sender_items };
        if n > max {
            return Err(Usage::BatchTooLarge { n, max });
        }
        let word_bits = (vole != Vole::Small).then_some(128);
        let sets = Sets::new(word_bits, [receiver_items, sender_items], buckets)?;
        Ok(Self { vole, sets })
    }

    /// Returns the VOLE.
    #[must_use]
    pub const fn vole(&self) -> Vole {
        self.vole
    }

    /// Bytes of a word.
    pub(super) const fn word_len(&self) -> usize {
        if self.sets.checked() { 16 } else { 8 }
    }

    /// Base OTs, in which the sender is the receiver.
    #[must_use]
    pub const fn base_ots(&self) -> usize {
        128
    }

    /// Facts about the protocol with this VOLE.
    #[must_use]
    pub fn info(&self) -> &'static Protocol {
        self.vole.info()
    }

    /// Bytes of a bucket's sums.
    pub(super) fn sums_len(&self) -> usize {
        self.slots() * self.word_len()
    }

    /// The lengths of the frames of a bucket's sums.
    pub fn sum_frames(&self) -> impl Iterator<Item = usize> + use<> {
        sizes(self.sums_len(), FRAME)
    }

    /// Payload bytes of the receiver, without base OTs.
    #[must_use]
    pub fn receiver_bytes(&self) -> usize {
        let [coin, _] = self.coin_bytes();
        // The set-up is for all buckets.
        let (vole, setup) = match self.vole.field() {
            Field::Large(it) => (it.receiver_bytes(self.slots()), it.extension().setup_len()),
            Field::Small(it) => (it.receiver_bytes(self.slots()), it.extension().setup_len()),
        };
        coin + setup + self.buckets() * (vole - setup + 32 + self.sums_len())
    }

    /// Payload bytes of the sender, without base OTs.
    #[must_use]
    pub fn sender_bytes(&self) -> usize {
        let [_, coin] = self.coin_bytes();
        let vole = match self.vole.field() {
            Field::Large(silent) => silent.sender_bytes(self.slots()),
            Field::Small(silent) => silent.sender_bytes(self.slots()),
        };
        coin + self.buckets() * vole + self.tags_len()
    }

    /// Payload bytes of both, without base OTs.
    fn bytes(&self) -> usize {
        self.receiver_bytes() + self.sender_bytes()
    }
}

/// The record of silent VOLE against malicious peers. Flows are those of a run in one batch of OTs.
const MALICIOUS: Protocol = Protocol {
    name: "vole-psi",
    family: "vole-psi",
    kind: ProtocolKind::Psi,
    paper: "RS21, RR22 over silent VOLE",
    functionality: Functionality::Psi,
    assumption: "dual LPN over a block–accumulate code, AEGIS-128L as a PRG, AES as an ideal cipher, random oracle",
    params: "GF(2^128), t ≥ 192",
    flows: 8,
    receiver_bytes: |n| bytes(Vole::Silent, n, Parameters::receiver_bytes),
    sender_bytes: |n| bytes(Vole::Silent, n, Parameters::sender_bytes),
    ..Protocol::BASE_OT
};

/// The records of each [`Vole`], in that order.
pub static PROTOCOLS: [Protocol; 3] = [
    MALICIOUS,
    Protocol {
        name: "vole-psi-semi-honest",
        adversary: Adversary::SemiHonest,
        params: "GF(2^64), t ≥ 192",
        flows: 4,
        receiver_bytes: |n| bytes(Vole::Small, n, Parameters::receiver_bytes),
        sender_bytes: |n| bytes(Vole::Small, n, Parameters::sender_bytes),
        ..MALICIOUS
    },
    Protocol {
        name: "vole-psi-packed",
        is_default: false,
        paper: "RS21 over SoftSpokenOT, Roy22",
        assumption: "AEGIS-128L and AES as PRGs, random oracle",
        params: "GF(2^128), k = 8",
        flows: 4,
        receiver_bytes: |n| bytes(Vole::Packed, n, Parameters::receiver_bytes),
        sender_bytes: |n| bytes(Vole::Packed, n, Parameters::sender_bytes),
        ..MALICIOUS
    },
];

/// Bytes for sets of n items each.
fn bytes(vole: Vole, n: usize, of: fn(&Parameters) -> usize) -> usize {
    Parameters::with_buckets(vole, n, n, buckets(n)).map_or(usize::MAX, |it| of(&it))
}

#[cfg(test)]
mod tests {
    extern crate std;

    use foxtrot_ot::base;

    use super::*;
    use crate::largest_fitted_set;

    #[test]
    fn a_key_costs_33_bytes_and_18_against_semi_honest_peers() {
        let of = |vole, log: u32| {
            let parameters = Parameters::of(vole, 1 << log, 1 << log).unwrap();
            let roted = base::find("roted", Functionality::Endemic).unwrap();
            let base_ots = roted.info().bytes(parameters.base_ots());
            (
                parameters.bytes() as f64,
                (parameters.bytes() + base_ots) as f64 / f64::from(1 << log),
            )
        };
        assert!(of(Vole::Silent, 20).1 < 33.0, "{:?}", of(Vole::Silent, 20));
        assert!(of(Vole::Small, 20).1 < 18.0, "{:?}", of(Vole::Small, 20));
        assert!(of(Vole::Silent, 16).1 < 43.0, "{:?}", of(Vole::Silent, 16));
        assert!(of(Vole::Silent, 11).0 < 170_000.0, "{:?}", of(Vole::Silent, 11));
    }

    #[test]
    fn the_vole_that_costs_fewer_bytes_is_taken() {
        let vole = |n| Parameters::new(Adversary::Malicious, n, n).unwrap().vole();
        assert_eq!([0, 1, 50, 100].map(vole), [Vole::Packed; 4]);
        assert_eq!([1 << 8, 1 << 11, 1 << 20].map(vole), [Vole::Silent; 3]);
        let roted = base::find("roted", Functionality::Endemic).unwrap().info();
        let symmetric = |n| Parameters::without_lpn(Adversary::Malicious, n, n, roted).is_some();
        assert_eq!([0, 1, 1 << 8, 1 << 12, 1 << 13].map(symmetric), [true; 5]);
        assert_eq!([1 << 15, 1 << 16, 1 << 20].map(symmetric), [false; 3]);
    }

    #[test]
    fn words_of_64_bits_are_for_senders_of_few_items_only() {
        let of = |n| Parameters::new(Adversary::SemiHonest, 1 << 20, n).unwrap().vole();
        assert_eq!((of(1 << 24), of((1 << 24) + 1)), (Vole::Small, Vole::Silent));
        let max = MAX_SMALL;
        let too_large = Usage::BatchTooLarge { n: max + 1, max };
        assert_eq!(Parameters::of(Vole::Small, 1, max + 1), Err(too_large));
    }

    /// The formula of section 5 of the document, in floating point, at the bound and one above.
    #[test]
    fn the_largest_set_is_the_largest_that_the_formula_allows() {
        for (n, ratio) in [(1 << 8, 3.06), (1 << 11, 2.325), (1 << 16, 2.0), (1 << 20, 1.73)] {
            let parameters = Parameters::of(Vole::Silent, n, n).unwrap();
            let excluded = |queries: f64, largest: u64| {
                let n = largest as f64;
                let bits = 128.0 - queries + (n / core::f64::consts::E).log2();
                n * bits >= 128.0 * parameters.slots() as f64 + 256.0 + 40.0
            };
            let largest = parameters.largest_set().unwrap();
            assert!(!excluded(80.0, largest) && excluded(80.0, largest + 1));
            let fewer = largest_fitted_set(128, 64, parameters.slots()).unwrap();
            assert!((fewer as f64 / n as f64 / ratio - 1.0).abs() < 0.005, "{n}: {fewer}");
        }
        assert_eq!(Parameters::of(Vole::Small, 9, 9).unwrap().largest_set(), None);
        assert_eq!(Parameters::of(Vole::Silent, 0, 9).unwrap().largest_set(), Some(0));
    }
}
