//! Which protocols a job runs: the safe default, or the caller's own choice.

use core::fmt;

use foxtrot_ot::{
    Direction, Error, Usage,
    base::{Adversary, BaseOt, Functionality, roted},
    extension::{self, Extension, ROWS, protocol::Plan, softspoken},
};

/// A base OT and the extension of it.
#[derive(Clone, Copy)]
pub(crate) struct Choice {
    base: Option<&'static dyn BaseOt>,
    extension: Option<Extension>,
    adversary: Adversary,
}

impl Choice {
    pub(crate) const DEFAULT: Self =
        Self { base: None, extension: None, adversary: Adversary::Malicious };

    pub(crate) fn base(self, base: &'static dyn BaseOt) -> Self {
        Self { base: Some(base), ..self }
    }

    pub(crate) fn extension(self, extension: Extension) -> Self {
        Self { extension: Some(extension), ..self }
    }

    pub(crate) fn semi_honest(self) -> Self {
        Self { adversary: Adversary::SemiHonest, ..self }
    }

    pub(crate) fn adversary(&self) -> Adversary {
        self.adversary
    }

    /// The extension of random OTs.
    ///
    /// # Errors
    /// [`Usage::Incompatible`] if it is secure against weaker peers than the caller asked for.
    pub(crate) fn extension_of_two(&self) -> Result<Extension, Error> {
        let default = || match self.adversary {
            Adversary::SemiHonest => softspoken::semi_honest(softspoken::DEFAULT_K),
            _ => softspoken::malicious(softspoken::DEFAULT_K),
        };
        let extension = self.extension.map_or_else(default, Ok)?;
        match (extension.info().adversary, self.adversary) {
            (Adversary::SemiHonest, Adversary::Malicious) => {
                Err(Usage::Incompatible(extension::Incompatible::Adversary).into())
            }
            _ => Ok(extension),
        }
    }

    /// The base OT below an extension whose keys are random whoever cheats: against malicious peers that takes base OTs
    /// with a random Δ.
    ///
    /// # Errors
    /// [`Usage::Incompatible`].
    pub(crate) fn base_for_random(
        &self,
        extension: &Extension,
    ) -> Result<&'static dyn BaseOt, Error> {
        let base = self.base.unwrap_or(&roted::Rot);
        let functionality = base.info().functionality;
        let uniform = functionality == Functionality::Random
            || extension.info().adversary == Adversary::SemiHonest;
        match uniform {
            true => Ok(base),
            false => {
                let why = extension::Incompatible::Functionality(functionality);
                Err(Usage::Incompatible(why).into())
            }
        }
    }

    /// The base OT below everything else.
    pub(crate) fn base_for_given(&self) -> &'static dyn BaseOt {
        self.base.unwrap_or(&roted::Endemic)
    }

    /// Whether so many transfers of chosen messages are base OTs themselves: an extension needs 128 of these.
    pub(crate) fn is_base_only(&self, n: usize) -> bool {
        self.extension.is_none() && n <= ROWS
    }
}

/// The plan of the first extension of a session.
pub(crate) fn plan(
    extension: Extension,
    base: &'static dyn BaseOt,
    direction: Direction,
) -> Plan<'static> {
    Plan { extension, base, direction, counter: 0 }
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("base", &self.base.map(|base| base.info().name))
            .field("extension", &self.extension.map(|extension| extension.info().name))
            .field("adversary", &self.adversary)
            .finish()
    }
}
