//! Sets of parameters: the triples, and the extension below them.

use core::fmt;

use foxtrot_ot::{
    base::{Adversary, Functionality},
    extension::{Extension, ROWS, Shape, softspoken},
    protocol::{Protocol, ProtocolKind},
    records,
};

use crate::{CAVEAT, Shares};

/// The k of a set whose name does not say it.
pub const DEFAULT_K: usize = softspoken::DEFAULT_K;

/// A set of parameters that two parties agree on: the bits of a triple's shares, and the k of the extension.
///
/// A whole batch has 2¹⁶/ℓ triples; the last one of a run may have fewer.
#[derive(PartialEq, Eq)]
pub struct Set {
    name: &'static str,
    bits: u32,
    k: usize,
}

impl Set {
    /// Its name in `docs/wire/gilboa.md`, which is also the protocol of its sub-session.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// ℓ, the bits of a share: 8, 16, 32 or 64.
    #[must_use]
    pub const fn bits(&self) -> u32 {
        self.bits
    }

    /// Bytes of a share.
    #[must_use]
    pub const fn width(&self) -> usize {
        self.bits as usize / 8
    }

    /// Base OTs per tree of the extension: a larger one sends less and computes more.
    #[must_use]
    pub const fn k(&self) -> usize {
        self.k
    }

    /// Triples of a whole batch, of which one is opened.
    #[must_use]
    pub const fn n(&self) -> usize {
        self.extension().max_batch() / self.bits as usize
    }

    /// Triples of a whole batch that are used: one is opened, to find accidents.
    #[must_use]
    pub const fn usable(&self) -> usize {
        self.n() - 1
    }

    /// Returns the number of batches for these usable triples.
    #[must_use]
    pub const fn batches(&self, triples: u64) -> u64 {
        triples.div_ceil(self.usable() as u64)
    }

    /// The most batches of a session: those of the extension, of which the first stream has one more for base OTs.
    #[must_use]
    pub const fn most_batches(&self) -> u64 {
        self.extension().max_batches() - 1
    }

    /// The extension.
    ///
    /// # Panics
    /// Never: every k of a set has one.
    #[must_use]
    pub const fn extension(&self) -> Extension {
        match softspoken::semi_honest(self.k) {
            Ok(extension) => extension,
            Err(_) => panic!("1 to 8"),
        }
    }

    /// Returns the OTs of a direction for these triples.
    pub(super) const fn shape(&self, n: usize) -> Shape {
        Shape::random(n.saturating_mul(self.bits as usize))
    }

    /// Bytes of the responder's `Opening`: the set-up of its extension, and the corrections of 128 OTs.
    #[must_use]
    pub fn opening_len(&self) -> usize {
        self.setup_len() + self.extension().corrections_len(Shape::random(ROWS))
    }

    /// Bytes of the initiator's `Setup`.
    #[must_use]
    pub fn setup_len(&self) -> usize {
        self.extension().setup_len()
    }

    /// Bytes of each party's `Corrections` for a batch of n triples.
    #[must_use]
    pub fn corrections_len(&self, n: usize) -> usize {
        self.extension().corrections_len(self.shape(n))
    }

    /// Bytes of each party's `Products` for a batch of n triples: ℓ(ℓ + 1)/2 bits each.
    #[must_use]
    pub const fn products_len(&self, n: usize) -> usize {
        let bits = self.bits as usize;
        n.saturating_mul(bits * (bits + 1) / 2).div_ceil(8)
    }

    const fn record(&self) -> Protocol {
        Protocol {
            name: self.name,
            family: "gilboa",
            is_default: self.k == DEFAULT_K,
            kind: ProtocolKind::Triples,
            paper: "Gil99, DSZ15; choices are random",
            functionality: Functionality::Triples { bits: self.bits },
            adversary: Adversary::SemiHonest,
            assumption: "AES and AEGIS-128L as PRGs, AES as an ideal cipher, random oracle; Module-LWE, random oracle",
            params: match self.k {
                2 => "softspoken-2-semi-honest from roted-endemic",
                4 => "softspoken-4-semi-honest from roted-endemic",
                8 => "softspoken-8-semi-honest from roted-endemic",
                _ => panic!("no set has another one"),
            },
            security: "core-SVP 164 classical, 148 quantum",
            caveat: CAVEAT,
            // Corrections and products; before them are base OTs and two set-ups.
            flows: 2,
            ..Protocol::BASE_OT
        }
    }

    /// Payload bytes of either party for n triples in whole batches, without set-ups.
    fn sender_bytes(&self, n: usize) -> usize {
        let batch = self.corrections_len(self.n()) + self.products_len(self.n());
        n.div_ceil(self.n()).saturating_mul(batch)
    }

    fn receiver_bytes(&self, n: usize) -> usize {
        self.sender_bytes(n)
    }

    /// Room for a batch of n triples.
    #[must_use]
    pub fn shares(&self, n: usize) -> Shares {
        Shares::with(self.width(), n)
    }
}

impl fmt::Debug for Set {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

const fn set(name: &'static str, bits: u32, k: usize) -> Set {
    Set { name, bits, k }
}

/// The sets: for each ℓ the default, and one that computes less and one that sends less.
static SETS: [Set; 12] = [
    set("gilboa-8", 8, DEFAULT_K),
    set("gilboa-16", 16, DEFAULT_K),
    set("gilboa-32", 32, DEFAULT_K),
    set("gilboa-64", 64, DEFAULT_K),
    set("gilboa-8-k2", 8, 2),
    set("gilboa-16-k2", 16, 2),
    set("gilboa-32-k2", 32, 2),
    set("gilboa-64-k2", 64, 2),
    set("gilboa-8-k8", 8, 8),
    set("gilboa-16-k8", 16, 8),
    set("gilboa-32-k8", 32, 8),
    set("gilboa-64-k8", 64, 8),
];

/// The records of every set over the base OT `roted-endemic`.
pub static PROTOCOLS: [Protocol; 12] = records![
    SETS[0], SETS[1], SETS[2], SETS[3], SETS[4], SETS[5], SETS[6], SETS[7], SETS[8], SETS[9],
    SETS[10], SETS[11],
];

/// Every set, the defaults first.
pub fn registry() -> impl Iterator<Item = &'static Set> {
    SETS.iter()
}

/// The set of that name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Set> {
    registry().find(|set| set.name == name)
}

/// The set for ℓ bits and that k.
#[must_use]
pub fn of_bits(bits: u32, k: usize) -> Option<&'static Set> {
    registry().find(|set| set.bits == bits && set.k == k)
}
