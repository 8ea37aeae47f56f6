//! How triples are made: a method with its parameters.

use std::ops::Range;

use foxtrot_ot::base::{BaseOt, roted::Endemic};
use foxtrot_triples::gilboa::protocol::bytes_of_run;
use foxtrot_triples::{formats::record_len, gilboa, params};

use super::bounds::set_up_bytes;
use crate::{
    args::{TriplesMethod, TriplesOut},
    failure::Failure,
};

/// The base OT below `gilboa`.
pub(crate) const BASE: &dyn BaseOt = &Endemic;

/// A kind of triples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// From ring-LWE.
    Rlwe(&'static params::Set),
    /// From oblivious transfer.
    Gilboa(&'static gilboa::Set),
}

/// The most triples that `--method auto` makes by `gilboa`; more are made by `rlwe`. Up to there `gilboa` needs less computing
/// and no more bytes for every ℓ: measurements in `docs/protocols/gilboa.md`, section 7.
pub(crate) const FEW: u64 = 2048;

impl Kind {
    /// Finds the kind that the options name, or that the rule of `auto` gives.
    pub(super) fn of(out: &TriplesOut) -> Result<Self, Failure> {
        let k = match out.method {
            TriplesMethod::Auto if out.count > FEW => return Self::rlwe(out),
            TriplesMethod::Rlwe => return Self::rlwe(out),
            TriplesMethod::GilboaK2 => 2,
            TriplesMethod::Auto | TriplesMethod::Gilboa => gilboa::DEFAULT_K,
            TriplesMethod::GilboaK8 => 8,
        };
        let set = gilboa::of_bits(out.bits, k).ok_or_else(no_parameters)?;
        if !serves(set, out.count) {
            let most = set.most_batches().saturating_mul(set.usable() as u64);
            let why = format!("{} makes at most {most} triples in a run", set.name());
            return Err(Failure::usage(why).hint("--method rlwe makes more"));
        }
        Ok(Self::Gilboa(set))
    }

    fn rlwe(out: &TriplesOut) -> Result<Self, Failure> {
        let fits = |set: &&params::Set| {
            let lifts = set.fix().is_none();
            set.bits() == out.bits && set.sigma() == out.sigma && lifts == out.lift
        };
        params::registry().find(fits).map(Self::Rlwe).ok_or_else(no_parameters)
    }

    pub(crate) fn find(name: &str) -> Option<Self> {
        let from_ot = || gilboa::find(name).map(Self::Gilboa);
        params::find(name).map(Self::Rlwe).or_else(from_ot)
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Rlwe(set) => set.name(),
            Self::Gilboa(set) => set.name(),
        }
    }

    /// ℓ.
    pub(crate) fn bits(self) -> u32 {
        match self {
            Self::Rlwe(set) => set.bits(),
            Self::Gilboa(set) => set.bits(),
        }
    }

    /// σ, if something is hidden statistically.
    pub(crate) fn sigma(self) -> Option<u32> {
        match self {
            Self::Rlwe(set) => Some(set.sigma()),
            Self::Gilboa(_) => None,
        }
    }

    /// Bytes of both parties before the first batch.
    pub(crate) fn set_up_bytes(self) -> u64 {
        match self {
            Self::Rlwe(set) => set_up_bytes(set),
            Self::Gilboa(set) => bytes_of_run(set, BASE, 0).iter().sum(),
        }
    }

    /// Triples of a whole batch that are used.
    pub(super) fn usable(self) -> usize {
        match self {
            Self::Rlwe(set) => set.usable(),
            Self::Gilboa(set) => set.usable(),
        }
    }

    /// Batches for so many triples.
    pub(super) fn batches(self, triples: u64) -> u64 {
        triples.div_ceil(self.usable() as u64)
    }

    /// How many are made for so many.
    pub(super) fn made(self, triples: u64) -> u64 {
        match self {
            Self::Rlwe(set) => self.batches(triples) * set.n() as u64,
            Self::Gilboa(_) => triples,
        }
    }

    /// Bytes in the direction that has more, with all that is once per session, for these batches of a run of so many
    /// triples. The one with fewer has a batch less at most.
    pub(super) fn bytes_each_way(self, batches: &Range<u64>, count: u64) -> u64 {
        let Range { start, end } = *batches;
        match self {
            // A batch is made whole, and in half of the batches a party requests.
            Self::Rlwe(set) => {
                let each = set.batch_bytes().iter().sum::<usize>() as u64;
                let opened = (end - start).saturating_mul(record_len(set.bits()) as u64);
                (end - start).saturating_mul(each) / 2 + opened + set_up_bytes(set) / 2
            }
            Self::Gilboa(set) => {
                let triples = count.saturating_sub(start * set.usable() as u64);
                bytes_of_run(set, BASE, triples).into_iter().max().unwrap_or(0)
            }
        }
    }

    /// For a report.
    pub(super) fn params(self) -> String {
        match self {
            Self::Rlwe(set) => {
                let (bits, sigma) = (set.bits(), set.sigma());
                format!("l = {bits}, sigma = {sigma}, ring of dimension {}", set.n())
            }
            Self::Gilboa(set) => {
                let (extension, base) = (set.extension().name(), BASE.info().name);
                format!("l = {}, {extension} from {base}", set.bits())
            }
        }
    }

    /// The term of the hello that names it.
    pub(super) fn method(self) -> String {
        match self {
            Self::Rlwe(set) if set.fix().is_none() => "rlwe-lift".into(),
            Self::Rlwe(_) => "rlwe".into(),
            Self::Gilboa(set) => match set.k() {
                gilboa::DEFAULT_K => "gilboa".into(),
                k => format!("gilboa-k{k}"),
            },
        }
    }

    /// As options.
    pub(super) fn options(self) -> String {
        let bits = self.bits();
        match self {
            Self::Rlwe(set) => {
                let lift = if set.fix().is_some() { "" } else { " --lift" };
                format!("--bits {bits} --sigma {}{lift}", set.sigma())
            }
            Self::Gilboa(_) => format!("--bits {bits} --method {}", self.method()),
        }
    }
}

/// Whether an extension of that set has OTs for so many triples.
fn serves(set: &gilboa::Set, triples: u64) -> bool {
    set.batches(triples) <= set.most_batches()
}

fn no_parameters() -> Failure {
    Failure::usage("there are no parameters for that")
}

#[cfg(test)]
mod tests {
    use clap::ValueEnum;

    use super::*;

    #[test]
    fn every_kind_is_found_by_its_name() {
        let all = params::registry().map(Kind::Rlwe).chain(gilboa::registry().map(Kind::Gilboa));
        for kind in all {
            assert_eq!(Kind::find(kind.name()), Some(kind));
        }
        assert_eq!(Kind::find("rlwe-paper-8"), None);
    }

    #[test]
    fn the_help_of_auto_says_up_to_how_many_triples_are_few() {
        let value = TriplesMethod::Auto.to_possible_value().unwrap();
        let help = value.get_help().unwrap().to_string();
        assert!(help.contains(&format!(" {FEW} ")), "{help}");
    }

    #[test]
    fn more_triples_than_an_extension_has_ots_for_are_not_from_it() {
        for set in gilboa::registry() {
            let most = set.most_batches() * set.usable() as u64;
            assert!(serves(set, most) && !serves(set, most + 1), "{set:?}");
        }
    }
}
