//! The record of each extension.

use super::{Extension, Shape, iknp, kos, softspoken};
use crate::{
    base::{Adversary, Functionality},
    protocol::{self, Protocol, ProtocolKind},
    records,
};

/// Assumption of every extension, besides that of its base OTs.
pub(crate) const ASSUMPTION: &str = "AEGIS-128L as a PRG, AES as an ideal cipher, random oracle";

impl Extension {
    const fn record(&self) -> Protocol {
        const PARAMS: [&str; 8] =
            ["k = 1", "k = 2", "k = 3", "k = 4", "k = 5", "k = 6", "k = 7", "k = 8"];
        let (family, paper) = match (self.all_trees, self.checked()) {
            (true, true) => ("kos", "KOS15, check of 2022"),
            (true, false) => ("iknp", "IKNP03, ALSZ13"),
            (false, _) => ("softspoken", "Roy22"),
        };
        let (flows, functionality) = match self.checked() {
            true => (3, Functionality::Random),
            false => (1, Functionality::SemiHonestRandom),
        };
        Protocol {
            name: self.name,
            family,
            is_default: self.all_trees || self.k == softspoken::DEFAULT_K,
            kind: ProtocolKind::Extension,
            paper,
            functionality,
            adversary: self.adversary,
            assumption: ASSUMPTION,
            params: PARAMS[self.k - 1],
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

    /// Payload bytes of the receiver for a run of n OTs with random choices, without base OTs.
    #[must_use]
    pub fn receiver_bytes(&self, n: usize) -> usize {
        let batches = Shape::random(n).batches(self.max_batch());
        let bytes = batches.map(|shape| self.corrections_len(shape) + self.proof_len());
        self.setup_len() + bytes.sum::<usize>()
    }

    /// Payload bytes of the sender for a run of n OTs, without base OTs.
    #[must_use]
    pub fn sender_bytes(&self, n: usize) -> usize {
        self.challenge_len() * n.div_ceil(self.max_batch())
    }
}

/// Extensions in the order of [`PROTOCOLS`].
static ALL: [Extension; 18] = {
    let mut all = [kos::malicious(); 18];
    let mut k = 1;
    while let (Ok(malicious), Ok(semi_honest)) =
        (softspoken::malicious(k), softspoken::semi_honest(k))
    {
        (all[k - 1], all[k + 8]) = (malicious, semi_honest);
        k += 1;
    }
    all[17] = iknp::semi_honest();
    all
};

/// The records of every extension of three messages or one; see [`two_round`](super::two_round) for the other.
pub static PROTOCOLS: [Protocol; 18] = records![
    ALL[0], ALL[1], ALL[2], ALL[3], ALL[4], ALL[5], ALL[6], ALL[7], ALL[8], ALL[9], ALL[10],
    ALL[11], ALL[12], ALL[13], ALL[14], ALL[15], ALL[16], ALL[17],
];

/// Every extension.
pub fn registry() -> impl Iterator<Item = Extension> {
    ALL.iter().copied()
}

/// The extension of that name, with or without the adversary in it, or the default of that family,
/// against that adversary.
#[must_use]
pub fn find(name: &str, adversary: Adversary) -> Option<Extension> {
    protocol::find(registry(), Extension::info, name, |it| it.adversary == adversary)
}
