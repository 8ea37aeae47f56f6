//! The record of each silent protocol.

use super::{
    Field, Gf2, Silent, ot, ot_16_semi_honest, ot_semi_honest, vole, vole_margin, vole_packed,
    vole_semi_honest,
};
use crate::{
    base::{Adversary, Functionality},
    protocol::{self, Protocol, ProtocolKind},
    records,
};

/// Assumption of the protocols with trees, besides that of the base OTs.
const LPN: &str = "dual LPN over a block–accumulate code, AEGIS-128L as a PRG, AES as an ideal cipher, random oracle";

/// Name of the silent OTs' family.
const FAMILY: &str = "silent";

impl<F: Field> Silent<F> {
    const fn record(&self) -> Protocol {
        let is_ot = F::BITS == 1;
        let (functionality, flows) = match (is_ot, self.checked(), self.has_noise()) {
            (true, true, _) => (Functionality::Random, 6),
            (true, false, _) => (Functionality::SemiHonestRandom, 2),
            (false, true, true) => (Functionality::Vole { bits: F::BITS }, 6),
            (false, true, false) => (Functionality::Vole { bits: F::BITS }, 3),
            (false, false, _) => (Functionality::Vole { bits: F::BITS }, 2),
        };
        let (family, is_default, params) = match self.noise() {
            0 => (self.name(), true, "k = 8"),
            224 => (FAMILY, true, "t ≥ 224"),
            256 => ("silent-vole", false, "t ≥ 256"),
            576 => ("silent-16", true, "t ≥ 576"),
            _ => ("silent-vole", true, "t ≥ 192"),
        };
        Protocol {
            name: self.name(),
            family,
            is_default,
            kind: if is_ot { ProtocolKind::Extension } else { ProtocolKind::Vole },
            paper: match () {
                () if !self.has_noise() => "Roy22",
                () if is_ot => "BCGIKRS19, WYKW21, GYWZXZ23, Roy22",
                () => "BCGIKRS19, WYKW21, Roy22",
            },
            functionality,
            adversary: self.adversary(),
            assumption: if self.has_noise() { LPN } else { crate::extension::ASSUMPTION },
            params,
            flows,
            ..Protocol::BASE_OT
        }
    }

    /// Returns the protocol's entry in the registry.
    ///
    /// # Panics
    /// Never: every silent protocol is in the registry.
    #[must_use]
    pub fn info(&self) -> &'static Protocol {
        let mut all = PROTOCOLS.iter();
        all.find(|it| it.name == self.name()).expect("every silent protocol is in the registry")
    }

    /// Payload bytes of the receiver for a run of n outputs with random choices, without base OTs.
    #[must_use]
    pub fn receiver_bytes(&self, n: usize) -> usize {
        let batches = self.batches(n).map(|m| self.receiver_batch(m));
        self.extension().setup_len() + batches.sum::<usize>()
    }

    /// Payload bytes of the sender for a run of n outputs, without base OTs.
    #[must_use]
    pub fn sender_bytes(&self, n: usize) -> usize {
        self.batches(n).map(|m| self.sender_batch(m)).sum()
    }
}

/// The records of every silent protocol.
pub static PROTOCOLS: [Protocol; 7] = records![
    ot(),
    ot_semi_honest(),
    vole(),
    vole_margin(),
    vole_semi_honest(),
    vole_packed(),
    ot_16_semi_honest(),
];

/// The silent OTs of that name, with or without the adversary in it, against that adversary.
#[must_use]
pub fn find(name: &str, adversary: Adversary) -> Option<Silent<Gf2>> {
    protocol::find([ot(), ot_semi_honest()], Silent::info, name, |it| it.adversary == adversary)
}
