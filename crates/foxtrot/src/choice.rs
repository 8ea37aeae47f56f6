//! The protocols that a job runs: the safe default, or the caller's own choice.

use core::fmt;

use foxtrot_ot::{
    Usage,
    base::{Adversary, BaseOt, roted},
    extension::{ROWS, code::Linear, kkrt, oos, softspoken, two_round},
    protocol::Purpose,
    transfers::{Extension, Method},
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

    /// The protocols of `n` transfers of one in `choices`, which fit each other and the job.
    ///
    /// # Errors
    /// Errors of [`Method::check`].
    pub(crate) fn method(
        &self,
        purpose: Purpose,
        n: usize,
        choices: usize,
    ) -> Result<Method, Usage> {
        let base = self.base.unwrap_or(match purpose {
            Purpose::Random => &roted::Rot,
            Purpose::Messages => &roted::Endemic,
        });
        let semi_honest = self.adversary == Adversary::SemiHonest;
        let extension = match self.extension {
            Some(extension) => extension,
            None if choices > 2 && semi_honest => Extension::OneOfN(kkrt::semi_honest()),
            None if choices > 2 => Extension::OneOfN(oos::malicious(Linear::Bch512)),
            None if base.info().family == two_round::FAMILY => Extension::None,
            // An extension runs 128 base OTs, whatever comes after.
            None if purpose == Purpose::Messages && n <= ROWS => Extension::None,
            None if semi_honest => {
                Extension::OneOfTwo(softspoken::semi_honest(softspoken::DEFAULT_K)?)
            }
            None => Extension::OneOfTwo(softspoken::malicious(softspoken::DEFAULT_K)?),
        };
        let method = Method { base, extension };
        method.check(purpose, self.adversary, choices)?;
        Ok(method)
    }
}

impl fmt::Debug for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Options")
            .field("base", &self.base.map(|base| base.info().name))
            .field("extension", &self.extension.map(|it| it.info().map_or("none", |it| it.name)))
            .field("adversary", &self.adversary)
            .finish()
    }
}
