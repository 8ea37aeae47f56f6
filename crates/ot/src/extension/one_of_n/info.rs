//! The record of each 1-of-N extension.

use super::{Extension, kkrt, oos};
use crate::{
    base::{Adversary, Functionality},
    engine::batches::sizes,
    extension::code::{Family, Linear},
    protocol::{self, Protocol, ProtocolKind},
    records,
};

impl Extension {
    const fn record(&self) -> Protocol {
        let (family, paper, assumption) = match self.family {
            Family::Linear(_) => {
                ("oos", "OOS17, check of KOS15 (2022)", "AEGIS-128L as a PRG, random oracle")
            }
            Family::Pseudorandom => {
                ("kkrt", "KKRT16", "AEGIS-128L as a PRG, AES as a PRF, random oracle")
            }
        };
        let (flows, functionality) = match self.checked() {
            true => (3, Functionality::OneOfNWithAbort),
            false => (1, Functionality::OneOfN),
        };
        Protocol {
            name: self.name,
            family,
            kind: ProtocolKind::OneOfN,
            paper,
            functionality,
            adversary: self.adversary,
            assumption,
            params: self.family.words(),
            flows,
            ..Protocol::BASE_OT
        }
    }

    /// Returns the extension's entry in the registry.
    ///
    /// # Panics
    /// Never: every extension is in the registry.
    #[must_use]
    pub fn info(&self) -> &'static Protocol {
        let mut all = PROTOCOLS.iter();
        all.find(|it| it.name == self.name).expect("every extension is in the registry")
    }

    /// The sizes of the batches of a run of n OTs.
    pub fn batches(&self, n: usize) -> impl Iterator<Item = usize> + use<> {
        sizes(n, self.max_batch())
    }

    /// Payload bytes of the receiver for a run of n OTs, without base OTs.
    #[must_use]
    pub fn receiver_bytes(&self, n: usize) -> usize {
        self.batches(n).map(|n| self.corrections_len(n) + self.proof_len()).sum()
    }

    /// Payload bytes of the sender for a run of n OTs, without base OTs.
    #[must_use]
    pub fn sender_bytes(&self, n: usize) -> usize {
        self.challenge_len() * n.div_ceil(self.max_batch())
    }
}

/// Extensions in the order of [`PROTOCOLS`].
static ALL: [Extension; 7] = [
    oos::malicious(Linear::Bch512),
    oos::malicious(Linear::Bch802),
    oos::malicious(Linear::Repetition128),
    oos::semi_honest(Linear::Bch512),
    oos::semi_honest(Linear::Bch802),
    oos::semi_honest(Linear::Repetition128),
    kkrt::semi_honest(),
];

/// The records of every 1-of-N extension.
pub static PROTOCOLS: [Protocol; 7] =
    records![ALL[0], ALL[1], ALL[2], ALL[3], ALL[4], ALL[5], ALL[6]];

/// Every 1-of-N extension.
pub fn registry() -> impl Iterator<Item = Extension> {
    ALL.iter().copied()
}

/// The 1-of-N extension of that name, with or without the adversary in it, against that adversary.
#[must_use]
pub fn find(name: &str, adversary: Adversary) -> Option<Extension> {
    protocol::find(registry(), Extension::info, name, |it| it.adversary == adversary)
}
