//! The kind of triples: a method with its parameters, as options name it.

pub(crate) use foxtrot_triples::Kind;
use foxtrot_triples::{BASE, FEW, gilboa};

use crate::{
    args::{TriplesMethod, TriplesOut},
    failure::Failure,
};

/// Finds the kind that the options name, or that the rule of `auto` gives.
pub(super) fn of(out: &TriplesOut) -> Result<Kind, Failure> {
    let k = match out.method {
        TriplesMethod::Auto if out.count > FEW as u64 => None,
        TriplesMethod::Rlwe => None,
        TriplesMethod::GilboaK2 => Some(2),
        TriplesMethod::Auto | TriplesMethod::Gilboa => Some(gilboa::DEFAULT_K),
        TriplesMethod::GilboaK8 => Some(8),
    };
    let kind = match k {
        None => Kind::rlwe(out.bits, out.sigma, out.lift),
        Some(k) => Kind::gilboa(out.bits, k),
    };
    let kind = kind.ok_or_else(|| Failure::usage("there are no parameters for that"))?;
    match (kind, kind.most()) {
        (Kind::Gilboa(set), most) if out.count > most => {
            let why = format!("{} makes at most {most} triples in a run", set.name());
            Err(Failure::usage(why).hint("--method rlwe makes more"))
        }
        _ => Ok(kind),
    }
}

/// The parameters of a kind, for a report.
pub(super) fn params(kind: Kind) -> String {
    match kind {
        Kind::Rlwe(set) => {
            let (bits, sigma) = (set.bits(), set.sigma());
            format!("l = {bits}, sigma = {sigma}, ring of dimension {}", set.n())
        }
        Kind::Gilboa(set) => {
            let (extension, base) = (set.extension().name(), BASE.info().name);
            format!("l = {}, {extension} from {base}", set.bits())
        }
    }
}

/// A kind as options.
pub(super) fn options(kind: Kind) -> String {
    let bits = kind.bits();
    match kind {
        Kind::Rlwe(set) => {
            let lift = if set.fix().is_some() { "" } else { " --lift" };
            format!("--bits {bits} --sigma {}{lift}", set.sigma())
        }
        Kind::Gilboa(_) => format!("--bits {bits} --method {}", kind.method()),
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn the_help_of_auto_says_up_to_how_many_triples_are_few() {
        let value = TriplesMethod::Auto.to_possible_value().unwrap();
        let help = value.get_help().unwrap().to_string();
        assert!(help.contains(&format!(" {FEW} ")), "{help}");
    }
}
