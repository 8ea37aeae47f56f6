//! The way in which transfers are made: the base OT, the extension if any, and the adversary.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

pub use foxtrot_ot::transfers::{Extension, Method};
use foxtrot_ot::{
    base::{Adversary, BaseOt, Functionality, registry},
    extension::{self, Incompatible, ROWS, one_of_n, two_round},
    protocol::{Protocol, Purpose, compatible, suits},
    silent,
};
use foxtrot_psi::{
    circuit,
    method::{self as psi, Assumption},
};

use crate::{args::Common, failure::Failure};

/// The extension that is taken unless another is named.
const DEFAULT: &str = "softspoken";

/// Kinds of base OTs that a job takes below an extension, the best first.
fn preferred(purpose: Purpose) -> [Functionality; 3] {
    // Keys that are random if either party cheats need a random Δ; for all else given choices are
    // enough, and cost a message less.
    let [first, second] = match purpose {
        Purpose::Random => [Functionality::Random, Functionality::Endemic],
        Purpose::Messages => [Functionality::Endemic, Functionality::Random],
    };
    [first, second, Functionality::ChosenMessage]
}

/// The method of `n` transfers of one of two, as the user wants it, or else as the job has it.
pub(crate) fn choose(common: &Common, purpose: Purpose, n: usize) -> Result<Method, Failure> {
    let name = common.extension.as_deref().unwrap_or(match purpose {
        // An extension runs 128 base OTs, whatever comes after.
        Purpose::Messages if n <= ROWS => "none",
        _ => DEFAULT,
    });
    of(registry(), &common.base, name, adversary(common), purpose)
}

/// The method of `n` transfers of one of so many messages.
pub(crate) fn one_of(common: &Common, choices: usize, n: usize) -> Result<Method, Failure> {
    let both = [Adversary::Malicious, Adversary::SemiHonest];
    let named = |name: &str| both.iter().any(|&it| one_of_n::find(name, it).is_some());
    if choices == 2 && !common.extension.as_deref().is_some_and(named) {
        return choose(common, Purpose::Messages, n);
    }
    let adversary = adversary(common);
    let default = if adversary == Adversary::Malicious { "oos" } else { "kkrt" };
    let name = common.extension.as_deref().unwrap_or(default);
    let extension = of_n(name, adversary)?;
    let info = extension.info();
    let base = below(registry(), &common.base, (info.name, info), adversary, Purpose::Messages)?;
    let method = Method { base, extension: Extension::OneOfN(extension) };
    method.check(Purpose::Messages, adversary, choices).map_err(|_| {
        Failure::usage(format!("{} cannot transfer one of {choices} messages", info.name))
            .hint(format!("use {default}"))
    })?;
    Ok(method)
}

/// The method of private set intersection, which chooses its extension by the sizes.
pub(crate) fn psi(common: &Common, assumption: Assumption) -> Result<psi::Method, Failure> {
    if common.extension.is_some() {
        let why = "psi takes no --extension";
        let hint = "--assumption and the sizes of the sets choose the protocol";
        return Err(Failure::usage(why).hint(hint));
    }
    let adversary = adversary(common);
    let above = psi::Method::of_large_sets(assumption, adversary);
    let base = below(registry(), &common.base, ("psi", above), adversary, Purpose::Messages)?;
    Ok(psi::Method { base, assumption, adversary })
}

/// The method of counts and sums, which are secure only if both sides follow the protocol.
pub(crate) fn circuit(common: &Common) -> Result<psi::Method, Failure> {
    let above = ("psi count", &circuit::PROTOCOL);
    let adversary = Adversary::SemiHonest;
    let base = below(registry(), &common.base, above, adversary, Purpose::Messages)?;
    Ok(psi::Method { base, assumption: Assumption::Lpn, adversary })
}

fn of(
    bases: &[&'static dyn BaseOt],
    base: &str,
    extension: &str,
    adversary: Adversary,
    purpose: Purpose,
) -> Result<Method, Failure> {
    if extension == "none" {
        let base = alone(bases, base, adversary, purpose)?;
        return Ok(Method { base, extension: Extension::None });
    }
    if extension == two_round::FAMILY {
        let base = in_two_rounds(bases, base, purpose)?;
        return Ok(Method { base, extension: Extension::None });
    }
    let extension = extension_of(extension, adversary)?;
    let info = extension.info().expect("an extension");
    let base = below(bases, base, (info.name, info), adversary, purpose)?;
    Ok(Method { base, extension })
}

/// The parameters of all that is run.
#[must_use]
pub fn params(method: &Method) -> String {
    params_over(method.extension.info(), method.base.info())
}

/// The adversary and the assumptions of all that is run.
#[must_use]
pub fn security(method: &Method) -> String {
    security_over(method.extension.info(), method.base.info(), method.adversary())
}

pub(crate) fn params_over(above: Option<&Protocol>, base: &Protocol) -> String {
    above.map_or(base.params.into(), |above| {
        format!("{}; base OT {}: {}", above.params, base.name, base.params)
    })
}

pub(crate) fn security_over(
    above: Option<&Protocol>,
    base: &Protocol,
    adversary: Adversary,
) -> String {
    above.map_or(base.security.into(), |above| {
        format!("{adversary}; {}; base OT: {}", above.assumption, base.security)
    })
}

pub(crate) fn words(method: &Method) -> String {
    let (base, adversary) = (method.base.info().name, method.adversary());
    match method.extension.info() {
        None if method.is_two_round() => format!("{base}, {adversary} security"),
        None => format!("base OT {base}, {adversary} security"),
        Some(extension) => {
            format!("{} from base OT {base}, {adversary} security", extension.name)
        }
    }
}

fn adversary(common: &Common) -> Adversary {
    if common.semi_honest { Adversary::SemiHonest } else { Adversary::Malicious }
}

/// The adversaries against whom security suffices, the wanted one first.
fn sufficient(wanted: Adversary) -> impl Iterator<Item = Adversary> {
    let all = [Adversary::SemiHonest, Adversary::Malicious];
    all.into_iter().filter(move |is| is.suffices(wanted))
}

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
        || of_two(name, Adversary::SemiHonest).is_some();
    let why = match known {
        true => format!("{name} transfers only one of two messages"),
        false => format!("unknown extension {name}"),
    };
    Err(Failure::usage(why).hint(format!("use {instead}")))
}

/// The extension of one of two of that name that suffices against that adversary.
fn of_two(name: &str, adversary: Adversary) -> Option<Extension> {
    sufficient(adversary).find_map(|it| {
        let silent = || silent::find(name, it).map(Extension::Silent);
        extension::find(name, it).map(Extension::OneOfTwo).or_else(silent)
    })
}

fn extension_of(name: &str, adversary: Adversary) -> Result<Extension, Failure> {
    if let Some(extension) = of_two(name, adversary) {
        return Ok(extension);
    }
    if one_of_n::registry().any(|extension| extension.info().name == name) {
        return Err(Failure::usage(format!("{name} works only with ot --one-of")));
    }
    let families = |fits: &dyn Fn(Adversary) -> bool| {
        let infos = extension::registry().map(|extension| extension.info());
        let names = infos.filter(|info| fits(info.adversary)).map(|info| info.family);
        let mut names: BTreeSet<_> = names.collect();
        if fits(Adversary::Malicious) {
            names.extend([two_round::FAMILY, "silent"]);
        }
        Vec::from_iter(names).join(", ")
    };
    if of_two(name, Adversary::SemiHonest).is_some() {
        let instead = families(&|is| is == Adversary::Malicious);
        return Err(too_weak(name, &format!(", or use {instead}")));
    }
    Err(Failure::usage(format!("unknown extension {name}"))
        .hint(format!("use none, {}; see `foxtrot protocols --all`", families(&|_| true))))
}

/// The first base OT that fits; otherwise the reason against the first.
fn first_fitting(
    named: Vec<&'static dyn BaseOt>,
    fits: impl Fn(&Protocol) -> Result<(), Incompatible>,
) -> Result<&'static dyn BaseOt, Option<Incompatible>> {
    let mut why = None;
    for base in named {
        match fits(base.info()) {
            Ok(()) => return Ok(base),
            Err(e) => why = why.or(Some(e)),
        }
    }
    Err(why)
}

/// The base OT as the job needs it when there is no extension.
fn alone(
    bases: &[&'static dyn BaseOt],
    name: &str,
    adversary: Adversary,
    purpose: Purpose,
) -> Result<&'static dyn BaseOt, Failure> {
    let fits = |base: &Protocol| suits(base, None, purpose, adversary);
    let named = named(bases, name);
    let weak = named.iter().map(|it| it.info()).find(|it| fits(it) == Err(Incompatible::Weak));
    first_fitting(named, fits).map_err(|why| {
        if let Some(weak) = weak {
            return too_weak(weak.name, "");
        }
        let fitting = bases.iter().map(|base| base.info()).filter(|info| fits(info).is_ok());
        let mut families: Vec<_> = fitting.map(|info| info.family).collect();
        families.dedup();
        match why {
            Some(Incompatible::Alone(functionality)) => {
                Failure::usage(format!("{name} is not {functionality}, which this command needs"))
            }
            Some(why) => Failure::usage(format!("{name} does not work with this command: {why}")),
            None => no_base(name),
        }
        .hint(format!("use {}", families.join(" or ")))
    })
}

/// The base OT in the mode in which it carries the extension of that name.
fn below(
    bases: &[&'static dyn BaseOt],
    name: &str,
    (extension, above): (&str, &Protocol),
    adversary: Adversary,
    purpose: Purpose,
) -> Result<&'static dyn BaseOt, Failure> {
    let fits = |base: &Protocol| suits(base, Some(above), purpose, adversary);
    let preferred = preferred(purpose);
    let mut named = named(bases, name);
    named.sort_by_key(|base| preferred.iter().position(|&it| it == base.info().functionality));
    first_fitting(named, fits).map_err(|why| {
        let carriers = bases.iter().map(|base| base.info()).filter(|info| fits(info).is_ok());
        cannot_carry(name, extension, why, &in_short(&carriers.collect::<Vec<_>>()))
    })
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

/// The two-round extension over that base OT.
fn in_two_rounds(
    bases: &[&'static dyn BaseOt],
    name: &str,
    purpose: Purpose,
) -> Result<&'static dyn BaseOt, Failure> {
    let family = two_round::FAMILY;
    if purpose == Purpose::Random {
        let why = Incompatible::NotUniform;
        return Err(Failure::usage(format!("{family} does not work with rot: {why}"))
            .hint("use softspoken or kos"));
    }
    two_round::find(name).ok_or_else(|| {
        let fits = |base: &Protocol| compatible(base, &two_round::PROTOCOL);
        let why = first_fitting(named(bases, name), fits).err().flatten();
        let carriers: Vec<_> = two_round::carriers().map(|info| info.name).collect();
        cannot_carry(name, family, why, &carriers.join(", "))
    })
}

fn cannot_carry(name: &str, above: &str, why: Option<Incompatible>, carriers: &str) -> Failure {
    match why {
        Some(why) => Failure::usage(format!("{name} cannot carry {above}: {why}")),
        None => no_base(name),
    }
    .hint(format!("{above} can use {carriers}"))
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
