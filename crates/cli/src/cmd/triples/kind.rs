//! The kind of triples: a method with its parameters, as options name it.

use foxtrot::triples::Method;
pub(crate) use foxtrot_triples::TripleKind;
use foxtrot_triples::{BASE, DEFAULT_SIGMA, bits::WORD, gilboa};

use crate::{
    args::{TriplesMethod, TriplesOut},
    failure::Failure,
};

/// The method without an option for it: the library's, unless another option is of one method only.
pub(super) fn usual(out: &TriplesOut) -> TriplesMethod {
    match Method::choose(out.bits, out.count) {
        Method::Gilboa if out.bits == 1 => TriplesMethod::Gilboa,
        _ if out.lift || out.sigma != DEFAULT_SIGMA => TriplesMethod::Rlwe,
        _ => TriplesMethod::Auto,
    }
}

/// Finds the kind that the options name, or that the rule of `auto` gives.
pub(super) fn of(out: &TriplesOut) -> Result<TripleKind, Failure> {
    if out.bits == 1 {
        return of_bits(out);
    }
    let k = match out.method.unwrap_or_else(|| usual(out)) {
        TriplesMethod::Auto if Method::choose(out.bits, out.count) == Method::Rlwe => None,
        TriplesMethod::Rlwe => None,
        TriplesMethod::GilboaK2 => Some(2),
        TriplesMethod::Auto | TriplesMethod::Gilboa => Some(gilboa::DEFAULT_K),
        TriplesMethod::GilboaK8 => Some(8),
        TriplesMethod::Silent => {
            return Err(
                Failure::usage("--method silent makes triples of bits only").hint("use --bits 1")
            );
        }
    };
    let kind = match k {
        None => TripleKind::rlwe(out.bits, out.sigma, out.lift),
        Some(k) => TripleKind::gilboa(out.bits, k),
    };
    let kind = kind.ok_or_else(|| Failure::usage("there are no parameters for that"))?;
    match (kind, kind.most()) {
        (TripleKind::Gilboa(set), most) if out.count > most => {
            let why = format!("{} makes at most {most} triples in a run", set.name());
            Err(Failure::usage(why).hint("--method rlwe makes more"))
        }
        _ => Ok(kind),
    }
}

fn of_bits(out: &TriplesOut) -> Result<TripleKind, Failure> {
    let silent = match out.method {
        None | Some(TriplesMethod::Gilboa | TriplesMethod::Auto) => false,
        Some(TriplesMethod::Silent) => true,
        Some(other) => {
            let why = format!("--method {} does not make triples of bits", other.name());
            return Err(Failure::usage(why).hint("with --bits 1, use --method gilboa or silent"));
        }
    };
    if !out.count.is_multiple_of(WORD as u64) {
        let why = "--bits 1 makes whole words of 64 triples";
        let more = out.count.next_multiple_of(WORD as u64);
        return Err(Failure::usage(why).hint(format!("use -n {more}")));
    }
    TripleKind::bit_triples(silent)
        .ok_or_else(|| Failure::usage("there are no parameters for that"))
}

pub(super) fn params(kind: TripleKind) -> String {
    match kind {
        TripleKind::Rlwe(set) => {
            let (bits, sigma) = (set.bits(), set.sigma());
            format!("l = {bits}, sigma = {sigma}, ring of dimension {}", set.n())
        }
        TripleKind::Gilboa(set) => {
            let (extension, base) = (set.extension().name(), BASE.info().name);
            format!("l = {}, {extension} from {base}", set.bits())
        }
        TripleKind::Bits(set) => {
            let (extension, base) = (set.method(BASE).name(), BASE.info().name);
            format!("l = 1, {extension} from {base}")
        }
    }
}

pub(super) fn options(kind: TripleKind) -> String {
    let bits = kind.bits();
    match kind {
        TripleKind::Rlwe(set) => {
            let lift = if set.fix().is_some() { "" } else { " --lift" };
            format!("--bits {bits} --sigma {}{lift}", set.sigma())
        }
        TripleKind::Gilboa(_) | TripleKind::Bits(_) => {
            format!("--bits {bits} --method {}", kind.method())
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;
    use foxtrot_triples::FEW;

    use super::*;

    #[test]
    fn the_help_of_auto_says_up_to_how_many_triples_are_few() {
        let value = TriplesMethod::Auto.to_possible_value().unwrap();
        let help = value.get_help().unwrap().to_string();
        assert!(help.contains(&format!(" {FEW} ")), "{help}");
    }
}
