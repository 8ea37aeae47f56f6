//! How transfers are made: from which base OT, with which extension if any, against whom.

#[cfg(test)]
mod tests;

use std::{collections::BTreeSet, fmt};

use foxtrot_ot::{
    base::{Adversary, BaseOt, Functionality, registry},
    extension::{self, ROWS, one_of_n, two_round},
    protocol::{Protocol, compatible},
};
use foxtrot_psi::paxos::Parameters;

use crate::{args::Common, failure::Failure};

/// The extension that is taken unless another is named.
const DEFAULT: &str = "softspoken";

/// Instances of a batch of base OTs, the last of a run excepted.
const BATCH: usize = 1024;

/// Transfers of a run of the two-round extension, the last one excepted. Its second message is one
/// frame of 1 MiB and the base OTs' answer then, as long as a batch of the other extensions: a
/// frame has to come within one timeout, also over a slow link.
pub(crate) const TWO_ROUND_RUN: usize = 1 << 16;

/// The extensions that are taken for one of more than two.
const DEFAULT_OF_N: [(Adversary, &str); 2] =
    [(Adversary::Malicious, "oos"), (Adversary::SemiHonest, "kkrt")];

/// What both sides do.
#[derive(Clone, Copy)]
pub struct Method {
    /// The base OT.
    pub base: &'static dyn BaseOt,
    /// The extension, if there is one.
    pub extension: Extension,
}

/// What is made of the base OTs.
#[derive(Clone, Copy, Debug)]
pub enum Extension {
    /// Nothing: they are the transfers.
    None,
    /// Transfers of one of two.
    OneOfTwo(extension::Extension),
    /// Transfers of one of any number.
    OneOfN(one_of_n::Extension),
}

impl Extension {
    fn info(&self) -> Option<&'static Protocol> {
        match self {
            Self::None => None,
            Self::OneOfTwo(extension) => Some(extension.info()),
            Self::OneOfN(extension) => Some(extension.info()),
        }
    }

    fn name(&self) -> Option<&'static str> {
        self.info().map(|info| info.name)
    }
}

/// What the transfers are for.
#[derive(Clone, Copy)]
pub(crate) enum Job {
    /// Random OTs.
    Rot,
    /// So many transfers of chosen messages.
    Ot(usize),
}

impl Job {
    /// Kinds of base OTs that it takes below an extension, the best first.
    fn preferred(self) -> [Functionality; 3] {
        // Keys that are random whoever cheats need a random Δ; for all else given choices are
        // enough, and cost a message less.
        match self {
            Self::Rot => {
                [Functionality::Random, Functionality::Endemic, Functionality::ChosenMessage]
            }
            Self::Ot(_) => {
                [Functionality::Endemic, Functionality::Random, Functionality::ChosenMessage]
            }
        }
    }
}

impl Method {
    /// As the user wants it, or else as the job has it.
    pub(crate) fn choose(common: &Common, job: Job) -> Result<Self, Failure> {
        let name = common.extension.as_deref().unwrap_or(match job {
            // An extension runs 128 base OTs, whatever comes after.
            Job::Ot(n) if n <= ROWS => "none",
            _ => DEFAULT,
        });
        Self::of(registry(), &common.base, name, adversary(common), job)
    }

    /// For n transfers of one of so many messages.
    pub(crate) fn one_of(common: &Common, choices: usize, n: usize) -> Result<Self, Failure> {
        let named = |name: &str| {
            [Adversary::Malicious, Adversary::SemiHonest]
                .into_iter()
                .any(|adversary| one_of_n::find(name, adversary).is_some())
        };
        let job = Job::Ot(n);
        if choices == 2 && !common.extension.as_deref().is_some_and(named) {
            return Self::choose(common, job);
        }
        let adversary = adversary(common);
        let default = DEFAULT_OF_N.into_iter().find(|(against, _)| *against == adversary);
        let default = default.map_or("", |(_, name)| name);
        let name = common.extension.as_deref().unwrap_or(default);
        let extension = of_n(name, adversary)?;
        if extension.parameters().word(choices as u64 - 1).is_none() {
            let name = extension.info().name;
            return Err(Failure::usage(format!(
                "{name} cannot transfer one of {choices} messages"
            ))
            .hint(format!("use {default}")));
        }
        let fits =
            |base: &Protocol| compatible(base, extension.info()).map_err(|why| why.to_string());
        let base = below(registry(), &common.base, extension.info().name, &fits, job)?;
        Ok(Self { base, extension: Extension::OneOfN(extension) })
    }

    /// For private set intersection, which has an extension of its own.
    pub(crate) fn psi(common: &Common) -> Result<Self, Failure> {
        let adversary = adversary(common);
        // It does not depend on the sizes.
        let extension = Parameters::new(adversary, 0, 0)?.extension();
        if common.extension.is_some() {
            let why = format!("psi uses {} and takes no --extension", extension.info().name);
            return Err(Failure::usage(why));
        }
        let fits =
            |base: &Protocol| compatible(base, extension.info()).map_err(|why| why.to_string());
        let base = below(registry(), &common.base, "psi", &fits, Job::Ot(0))?;
        Ok(Self { base, extension: Extension::OneOfN(extension) })
    }

    fn of(
        bases: &[&'static dyn BaseOt],
        base: &str,
        extension: &str,
        adversary: Adversary,
        job: Job,
    ) -> Result<Self, Failure> {
        if extension == "none" {
            let base = alone(bases, base, adversary, job)?;
            return Ok(Self { base, extension: Extension::None });
        }
        if extension == two_round::FAMILY {
            let base = in_two_rounds(bases, base, job)?;
            return Ok(Self { base, extension: Extension::None });
        }
        let extension = extension_of(extension, adversary)?;
        let info = extension.info();
        let fits = |base: &Protocol| match compatible(base, info) {
            Ok(()) if !uniform(base, info, job) => Err(NOT_UNIFORM.to_owned()),
            verdict => verdict.map_err(|why| why.to_string()),
        };
        let base = below(bases, base, info.name, &fits, job)?;
        Ok(Self { base, extension: Extension::OneOfTwo(extension) })
    }

    /// The name of the protocol that yields the keys.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.extension.name().unwrap_or(self.base.info().name)
    }

    /// As in the hello.
    pub(crate) fn extension_name(&self) -> &'static str {
        match self.extension.name() {
            Some(name) => name,
            None if self.is_two_round() => two_round::FAMILY,
            None => "none",
        }
    }

    /// Whether `base` is an extension with its base OTs.
    pub(crate) fn is_two_round(&self) -> bool {
        self.base.info().family == two_round::FAMILY
    }

    /// The most transfers of one run of `base`, where there is no other extension.
    pub(crate) fn batch(&self) -> usize {
        if self.is_two_round() { TWO_ROUND_RUN } else { BATCH }
    }

    /// Against whom the whole is secure: that against which its weaker part is.
    pub(crate) fn adversary(&self) -> Adversary {
        match self.extension.info().map(|info| info.adversary) {
            Some(Adversary::SemiHonest) => Adversary::SemiHonest,
            _ => self.base.info().adversary,
        }
    }

    /// The parameters of all that is run.
    #[must_use]
    pub fn params(&self) -> String {
        let base = self.base.info();
        self.extension.info().map_or(base.params.into(), |extension| {
            format!("{}; base OT {}: {}", extension.params, base.name, base.params)
        })
    }

    /// The adversary and the assumptions of all that is run.
    #[must_use]
    pub fn security(&self) -> String {
        let base = self.base.info();
        self.extension.info().map_or(base.security.into(), |extension| {
            format!("{}; {}; base OT: {}", self.adversary(), extension.assumption, base.security)
        })
    }

    /// What both sides have agreed on, in words.
    pub(crate) fn words(&self) -> String {
        let (base, adversary) = (self.base.info().name, self.adversary());
        match self.extension.name() {
            None if self.is_two_round() => format!("{base}, {adversary} security"),
            None => format!("base OT {base}, {adversary} security"),
            Some(extension) => {
                format!("{extension} from base OT {base}, {adversary} security")
            }
        }
    }
}

impl fmt::Debug for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words())
    }
}

fn adversary(common: &Common) -> Adversary {
    if common.semi_honest { Adversary::SemiHonest } else { Adversary::Malicious }
}

/// Whether security against one adversary is as much as is wanted: malicious peers include semi-honest ones.
fn suffices(is: Adversary, wanted: Adversary) -> bool {
    is == wanted || is == Adversary::Malicious
}

/// The adversaries against whom security suffices, the wanted one first.
fn sufficient(wanted: Adversary) -> impl Iterator<Item = Adversary> {
    let all = [Adversary::SemiHonest, Adversary::Malicious];
    all.into_iter().filter(move |&is| suffices(is, wanted))
}

/// The 1-of-N extension of that name against that adversary.
fn of_n(name: &str, adversary: Adversary) -> Result<one_of_n::Extension, Failure> {
    if let Some(extension) = sufficient(adversary).find_map(|it| one_of_n::find(name, it)) {
        return Ok(extension);
    }
    let fitting = one_of_n::registry().map(|extension| extension.info());
    let fitting = fitting.filter(|info| info.adversary == adversary).map(|info| info.name);
    let instead = fitting.collect::<Vec<_>>().join(", ");
    if one_of_n::find(name, Adversary::SemiHonest).is_some() {
        return Err(too_weak(name, &format!(", or use {instead}")));
    }
    let known = ["none", two_round::FAMILY].contains(&name)
        || sufficient(Adversary::SemiHonest).any(|it| extension::find(name, it).is_some());
    let why = match known {
        true => format!("{name} transfers only one of two messages"),
        false => format!("unknown extension {name}"),
    };
    Err(Failure::usage(why).hint(format!("use {instead}")))
}

/// The extension of that name against that adversary.
fn extension_of(name: &str, adversary: Adversary) -> Result<extension::Extension, Failure> {
    if let Some(extension) = sufficient(adversary).find_map(|it| extension::find(name, it)) {
        return Ok(extension);
    }
    if one_of_n::registry().any(|extension| extension.info().name == name) {
        return Err(Failure::usage(format!("{name} works only with ot --one-of")));
    }
    let families = |fits: &dyn Fn(Adversary) -> bool| {
        let infos = extension::registry().map(|extension| extension.info());
        let names = infos.filter(|info| fits(info.adversary)).map(|info| info.family);
        let malicious = fits(Adversary::Malicious).then_some(two_round::FAMILY);
        names.chain(malicious).collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(", ")
    };
    if extension::find(name, Adversary::SemiHonest).is_some() {
        let instead = families(&|is| is == Adversary::Malicious);
        return Err(too_weak(name, &format!(", or use {instead}")));
    }
    Err(Failure::usage(format!("unknown extension {name}"))
        .hint(format!("use none, {}; see `foxtrot protocols --all`", families(&|_| true))))
}

/// The base OT as the job needs it when there is no extension.
fn alone(
    bases: &[&'static dyn BaseOt],
    name: &str,
    adversary: Adversary,
    job: Job,
) -> Result<&'static dyn BaseOt, Failure> {
    let functionality = match job {
        Job::Rot => Functionality::Random,
        Job::Ot(_) => Functionality::Endemic,
    };
    let fits = |info: &Protocol| info.functionality == functionality;
    let named = named(bases, name);
    let Some(base) = named.iter().find(|base| fits(base.info())) else {
        let infos = bases.iter().map(|base| base.info());
        let infos = infos.filter(|info| fits(info) && suffices(info.adversary, adversary));
        let mut families: Vec<_> = infos.map(|info| info.family).collect();
        families.dedup();
        return Err(match named.is_empty() {
            true => no_base(name),
            false => {
                Failure::usage(format!("{name} is not {functionality}, which this command needs"))
            }
        }
        .hint(format!("use {}", families.join(" or "))));
    };
    let info = base.info();
    if suffices(info.adversary, adversary) { Ok(*base) } else { Err(too_weak(info.name, "")) }
}

/// The base OT in the mode in which it carries the extension of that name.
fn below(
    bases: &[&'static dyn BaseOt],
    name: &str,
    extension: &str,
    fits: &dyn Fn(&Protocol) -> Result<(), String>,
    job: Job,
) -> Result<&'static dyn BaseOt, Failure> {
    let preferred = job.preferred();
    let mut named = named(bases, name);
    named.sort_by_key(|base| preferred.iter().position(|&it| it == base.info().functionality));
    let mut why = None;
    for base in named {
        match fits(base.info()) {
            Ok(()) => return Ok(base),
            Err(e) => why = why.or(Some(e)),
        }
    }
    let carriers = bases.iter().map(|base| base.info()).filter(|info| fits(info).is_ok());
    let carriers = in_short(&carriers.collect::<Vec<_>>());
    Err(match why {
        Some(why) => Failure::usage(format!("{name} cannot carry {extension}: {why}")),
        None => no_base(name),
    }
    .hint(format!("{extension} can use {carriers}")))
}

/// Their names, or that of their family where it has many.
fn in_short(infos: &[&Protocol]) -> String {
    let name = |info: &&Protocol| match infos.iter().filter(|it| it.family == info.family).count() {
        0..=2 => info.name,
        _ => info.family,
    };
    let mut names: Vec<_> = infos.iter().map(name).collect();
    names.dedup();
    names.join(", ")
}

/// Why a job of random keys does without endemic OT.
const NOT_UNIFORM: &str = "its keys are not random if a peer cheats, as rot promises";

/// Whether Δ is random enough for the job: a corrupt sender that chooses it can make both keys of
/// every transfer the same.
fn uniform(base: &Protocol, extension: &Protocol, job: Job) -> bool {
    match (job, extension.adversary) {
        (Job::Rot, Adversary::Malicious) => base.functionality == Functionality::Random,
        _ => true,
    }
}

/// The two-round extension over that base OT.
fn in_two_rounds(
    bases: &[&'static dyn BaseOt],
    name: &str,
    job: Job,
) -> Result<&'static dyn BaseOt, Failure> {
    let family = two_round::FAMILY;
    if let Job::Rot = job {
        return Err(Failure::usage(format!("{family} does not work with rot: {NOT_UNIFORM}"))
            .hint("use softspoken or kos"));
    }
    if let Some(base) = two_round::find(name) {
        return Ok(base);
    }
    let why = named(bases, name)
        .iter()
        .find_map(|base| compatible(base.info(), &two_round::PROTOCOL).err());
    let carriers: Vec<_> = two_round::carriers().map(|info| info.name).collect();
    Err(match why {
        Some(why) => Failure::usage(format!("{name} cannot carry {family}: {why}")),
        None => no_base(name),
    }
    .hint(format!("{family} can use {}", carriers.join(", "))))
}

fn named(bases: &[&'static dyn BaseOt], name: &str) -> Vec<&'static dyn BaseOt> {
    let is_named = |info: &Protocol| info.name == name || info.family == name;
    bases.iter().copied().filter(|base| is_named(base.info())).collect()
}

fn no_base(name: &str) -> Failure {
    Failure::usage(format!("unknown base OT {name}"))
}

/// The failure of a protocol that is secure against semi-honest peers only, where more is wanted.
fn too_weak(name: &str, or: &str) -> Failure {
    Failure::usage(format!("{name} is secure against semi-honest peers only"))
        .hint(format!("pass --semi-honest to accept that{or}"))
}
