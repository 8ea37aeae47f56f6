//! Facts about each 1-of-N extension.

use super::Extension;
use crate::{
    base::{self, Adversary},
    extension::{
        Incompatible,
        code::{Family, Linear, Parameters},
        info, kkrt, oos,
    },
};

/// Facts about a 1-of-N extension before it runs.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Its name, also in sub-sids and hellos.
    pub name: &'static str,
    /// Name without parameters.
    pub family: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// What it realises, in words.
    pub functionality: &'static str,
    /// Against whom.
    pub adversary: Adversary,
    /// Under which assumption, besides that of the base OTs.
    pub assumption: &'static str,
    /// Its code, in words.
    pub code: &'static str,
    /// The lengths of its code.
    pub parameters: Parameters,
    /// Messages of a batch, without the base OTs.
    pub flows: usize,
}

impl Extension {
    /// What it is.
    #[must_use]
    pub fn info(&self) -> Info {
        const OF_LINEAR: &str = "AEGIS-128L as a PRG, random oracle";
        const OF_PSEUDORANDOM: &str = "AEGIS-128L as a PRG, AES as a PRF, random oracle";
        let of_linear = |code| ("oos", "OOS17, check of KOS15 (2022)", code, OF_LINEAR);
        let (family, paper, code, assumption) = match self.family {
            Family::Linear(Linear::Repetition128) => of_linear("repetition [128, 1]"),
            Family::Linear(Linear::Bch512) => {
                of_linear("extended BCH [512, 85], distance at least 128")
            }
            Family::Linear(Linear::Bch802) => {
                of_linear("shortened extended BCH [802, 231], distance at least 128")
            }
            Family::Pseudorandom => ("kkrt", "KKRT16", "pseudorandom [512, 128]", OF_PSEUDORANDOM),
        };
        let (flows, functionality) = match self.checked() {
            true => (3, "endemic 1-of-N OT with abort"),
            false => (1, "endemic 1-of-N OT"),
        };
        let (name, adversary, parameters) = (self.name, self.adversary, self.parameters());
        Info { name, family, paper, functionality, adversary, assumption, code, parameters, flows }
    }

    /// The sizes of the batches of a run of n OTs.
    pub fn batches(&self, n: usize) -> impl Iterator<Item = usize> + use<> {
        let max = self.max_batch();
        (0..n).step_by(max).map(move |start| max.min(n - start))
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

    /// Whether that base OT may carry this extension; see [`extension::compatible`].
    ///
    /// # Errors
    /// [`Incompatible`], the reason why not.
    ///
    /// [`extension::compatible`]: crate::extension::compatible
    pub fn compatible(&self, base: &base::Info) -> Result<(), Incompatible> {
        info::carries(base, self.adversary)
    }
}

/// Every 1-of-N extension.
pub fn registry() -> impl Iterator<Item = Extension> {
    const CODES: [Linear; 3] = [Linear::Bch512, Linear::Bch802, Linear::Repetition128];
    let (checked, unchecked) = (CODES.map(oos::malicious), CODES.map(oos::semi_honest));
    checked.into_iter().chain(unchecked).chain([kkrt::semi_honest()])
}

/// The 1-of-N extension of that name, with or without the adversary in it, against that adversary.
#[must_use]
pub fn find(name: &str, adversary: Adversary) -> Option<Extension> {
    registry().find(|extension| {
        let info = extension.info();
        let short = info.name.strip_suffix("-semi-honest");
        info.adversary == adversary && (info.name == name || short == Some(name))
    })
}
