//! Facts about each extension, and the base OTs that it may stand on.

use core::fmt;

use super::{Extension, Shape, iknp, kos, softspoken};
use crate::base::{self, Adversary, Functionality};

/// What there is to know about an extension before running it.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// Its name, also in sub-sids and hellos.
    pub name: &'static str,
    /// Name without parameters.
    pub family: &'static str,
    /// Where it comes from.
    pub paper: &'static str,
    /// Against whom.
    pub adversary: Adversary,
    /// Under which assumption, besides that of the base OTs.
    pub assumption: &'static str,
    /// Rows that one correction serves.
    pub k: usize,
    /// Messages of a batch, without the base OTs.
    pub flows: usize,
}

impl Extension {
    /// What it is.
    #[must_use]
    pub fn info(&self) -> Info {
        let &Self { name, k, adversary, .. } = self;
        let (family, paper) = match name {
            "iknp" => ("iknp", "IKNP03, ALSZ13"),
            "kos" => ("kos", "KOS15, check of 2022"),
            _ => ("softspoken", "Roy22"),
        };
        let flows = if self.checked() { 3 } else { 1 };
        let assumption = "AEGIS-128L as a PRG, AES as an ideal cipher, random oracle";
        Info { name, family, paper, adversary, assumption, k, flows }
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

/// Every extension.
pub fn registry() -> impl Iterator<Item = Extension> {
    let malicious = (1..=8).filter_map(|k| softspoken::malicious(k).ok()).chain([kos::malicious()]);
    let semi_honest = (1..=8).filter_map(|k| softspoken::semi_honest(k).ok());
    malicious.chain(semi_honest).chain([iknp::semi_honest()])
}

/// The extension of that name, with or without the adversary in it, or the default of that family,
/// against that adversary.
#[must_use]
pub fn find(name: &str, adversary: Adversary) -> Option<Extension> {
    registry().find(|extension| {
        let info = extension.info();
        let is_default = info.family != "softspoken" || info.k == softspoken::DEFAULT_K;
        let short = info.name.strip_suffix("-semi-honest");
        info.adversary == adversary
            && (info.name == name || short == Some(name) || info.family == name && is_default)
    })
}

/// Why a base OT cannot carry an extension.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Incompatible {
    /// It is here to reproduce a paper.
    Reproduction,
    /// It is secure against weaker adversaries than the extension.
    Adversary,
    /// Its choices or keys are not bound as an extension against malicious peers needs it.
    Functionality(Functionality),
    /// It takes more than a message of the receiver and one of the sender.
    Flows,
    /// It could, but this crate has no variant of the extension over it.
    NoVariant,
}

impl fmt::Display for Incompatible {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reproduction => f.write_str("it only reproduces a paper"),
            Self::Adversary => {
                f.write_str("it is secure against semi-honest peers only, the extension is not")
            }
            Self::Flows => f.write_str("it takes more than one message of either side"),
            Self::NoVariant => f.write_str("there is no variant over it"),
            Self::Functionality(functionality) => {
                write!(
                    f,
                    "{functionality} is not enough under an extension against malicious peers"
                )
            }
        }
    }
}

impl core::error::Error for Incompatible {}

/// Whether that base OT may carry that extension.
///
/// Endemic OT is enough [[MR19](https://eprint.iacr.org/2019/706)]: a corrupt party that fixes
/// its own keys could as well have sent other corrections. A chosen-message OT is not used below
/// an extension against malicious peers but through `rot_from_ot`. OT with selective failure is enough
/// for `kos`, whose sender's Δ may leak bits to guesses anyway
/// [[CSW20](https://eprint.iacr.org/2020/110)].
///
/// # Errors
/// [`Incompatible`], the reason why not.
pub fn compatible(base: &base::Info, extension: &Info) -> Result<(), Incompatible> {
    match (base.adversary, base.functionality) {
        (Adversary::Malicious, Functionality::SelectiveFailure)
            if extension.family == "kos" && !base.reproduction =>
        {
            Ok(())
        }
        _ => carries(base, extension.adversary),
    }
}

/// Whether that base OT may carry extensions against that adversary.
pub(super) fn carries(base: &base::Info, adversary: Adversary) -> Result<(), Incompatible> {
    if base.reproduction {
        return Err(Incompatible::Reproduction);
    }
    match (adversary, base.adversary, base.functionality) {
        (Adversary::SemiHonest, ..) => Ok(()),
        (Adversary::Malicious, Adversary::SemiHonest, _) => Err(Incompatible::Adversary),
        (_, _, Functionality::Random | Functionality::Endemic) => Ok(()),
        (_, _, other) => Err(Incompatible::Functionality(other)),
    }
}
