//! The agreement of both sides, and its consequences.

use std::time::Duration;

use foxtrot::{
    job::Role,
    triples::terms::{EarlierRun, TriplesAgreement, TriplesTerms},
};
use foxtrot_triples::{DEFAULT_SIGMA, LEAST_HIDDEN, formats::Format, params};
use serde_json::{Map, Value, json};

use super::{
    bounds::wrong_log2,
    costs,
    kind::{self, TripleKind},
    record::Record,
};
use crate::{
    args::{Common, TriplesMethod, TriplesOut},
    failure::Failure,
    link::{Cost, Link},
    report::{Report, estimate, object},
};

/// Bits that a run hides statistically; with fewer the user is warned.
const FEW: u32 = 30;

/// The terms of one side, and the form of its file.
pub(super) struct PartyTerms {
    pub(super) party: u8,
    format: Format,
    pub(super) triples: TriplesTerms,
}

pub(super) struct Agreed {
    pub(super) record: Record,
    pub(super) triples: TriplesAgreement,
}

impl PartyTerms {
    /// Makes the terms of a run, or of one that is continued: then it has to be of the same
    /// triples.
    pub(super) fn new(
        party: u8,
        out: &TriplesOut,
        common: &Common,
        earlier: Option<(Record, u64)>,
    ) -> Result<Self, Failure> {
        if common.extension.is_some() || common.base != "roted" {
            return Err(Failure::usage("triples takes neither --base nor --extension"));
        }
        let TriplesOut { method, sigma, lift, count, format, .. } = *out;
        if !format.has(out.bits) {
            let why = format!("--format {format} does not support {} bits", out.bits);
            return Err(Failure::usage(why).hint("use --bits 64"));
        }
        let method = method.unwrap_or_else(|| kind::usual(out));
        let from_ot = out.bits == 1 || !matches!(method, TriplesMethod::Auto | TriplesMethod::Rlwe);
        if from_ot && (lift || sigma != DEFAULT_SIGMA) {
            let why = format!("--sigma and --lift do not work with --method {}", method.name());
            return Err(Failure::usage(why).hint("they need --method rlwe or auto"));
        }
        let kind = kind::of(out)?;
        check_hidden(kind, count)?;
        let earlier = earlier.map(|(there, batches)| {
            let wanted = Record { party, kind, count, format, run: there.run.clone() };
            if there == wanted {
                return Ok(EarlierRun { run: there.run, batches });
            }
            let (there, wanted) = (there.words(), wanted.words());
            Err(Failure::usage(format!("the interrupted run makes {there}, not {wanted}")))
        });
        let role = if party == 0 { Role::Sender } else { Role::Receiver };
        let triples = TriplesTerms { role, kind, count, earlier: earlier.transpose()? };
        Ok(Self { party, format, triples })
    }
}

impl Agreed {
    /// Agrees with the peer of this link: what one of the two does not have is made anew.
    pub(super) fn on(terms: &PartyTerms, link: &mut Link) -> Result<Self, Failure> {
        let agreed = terms.triples.agree(&link.agreed);
        let triples = agreed.map_err(|e| link.refuse(e.into()))?;
        Ok(Self::of(terms, triples))
    }

    fn of(&PartyTerms { party, format, .. }: &PartyTerms, triples: TriplesAgreement) -> Self {
        let (&TriplesTerms { kind, count, .. }, run) = (&triples.terms, triples.run.clone());
        Self { record: Record { party, kind, count, format, run }, triples }
    }

    pub(super) fn words(&self, threads: usize) -> Vec<String> {
        let Record { kind, count, .. } = self.record;
        let (bits, name) = (kind.bits(), kind.name());
        let triples = if count == 1 { "triple" } else { "triples" };
        let (promise, warning) = match kind {
            TripleKind::Rlwe(set) => of_rlwe(set, count),
            TripleKind::Gilboa(_) => ("; all correct".into(), None),
            TripleKind::Bits(_) => (String::new(), None),
        };
        let mut lines = vec![
            format!("agreed: {count} {triples} modulo 2^{bits}, {name}{promise}"),
            "semi-honest: a cheating peer is not detected".into(),
        ];
        lines.extend(warning);
        let batches = &self.triples.batches;
        if self.triples.terms.earlier.is_some() {
            lines.push(format!("continuing after {} of {} batches", batches.start, batches.end));
        }
        let size = kind.bytes_each_way(batches, count);
        let computed = match threads {
            1 => "each side".into(),
            _ => format!("each side with {threads} threads"),
        };
        lines.extend(estimate((size, "each way"), (self.computing(threads), &computed)));
        lines
    }

    /// Says what was not checked of a run that was continued over a connection without keys.
    pub(super) fn of_earlier(&self) -> String {
        format!(
            "batches of earlier sessions: {}; their opened triples were right, but their messages may not have been compared; \
             `triples verify`, with the files of both parties, checks every triple",
            self.triples.batches.start
        )
    }

    fn computing(&self, threads: usize) -> Duration {
        let Record { kind, .. } = self.record;
        let made = kind.made(self.triples.made()) as f64;
        let each = f64::from(costs::each(kind)) * 1e-9 / threads as f64;
        costs::once(kind) + Duration::from_secs_f64(made * each)
    }

    pub(super) fn report(&self, threads: usize, costs: [Option<&Cost>; 2]) -> Report {
        let (kind, made) = (self.record.kind, self.triples.made());
        let n = usize::try_from(made).unwrap_or(usize::MAX);
        let name = format!("triples/{}", kind.name());
        let about = [name, kind::params(kind), "semi-honest".into()];
        Report::of_parties(about, (n, threads), costs)
    }

    pub(super) fn json(&self, files: &[String]) -> Map<String, Value> {
        let Record { kind, count, run, .. } = &self.record;
        object(json!({
            "count": count,
            "set": kind.name(),
            "bits": kind.bits(),
            "sigma": kind.sigma(),
            "run": run.name,
            "batches_before": self.triples.batches.start,
            "batches": self.triples.batches.end,
            "files": files,
        }))
    }
}

/// Describes the security of a run with this set, with a warning if that is little.
fn of_rlwe(set: &params::Set, count: u64) -> (String, Option<String>) {
    let hidden = set.hidden(count);
    let wrong = wrong_log2(set, count).ceil();
    let promise =
        format!("; statistical security 2^-{hidden}; wrong with probability 2^{wrong:.0}");
    let warning = (hidden < FEW).then(|| {
        let more = with_more(set, count);
        format!("warning: statistical security of 2^-{hidden} is low; {more}")
    });
    (promise, warning)
}

fn check_hidden(kind: TripleKind, count: u64) -> Result<(), Failure> {
    let TripleKind::Rlwe(set) = kind else { return Ok(()) };
    let hidden = set.hidden(count);
    if hidden >= LEAST_HIDDEN {
        return Ok(());
    }
    let sigma = set.sigma();
    let why = format!(
        "{count} triples with --sigma {sigma} have statistical security of 2^-{hidden} only"
    );
    Err(Failure::usage(why).hint(with_more(set, count)))
}

fn with_more(set: &params::Set, count: u64) -> String {
    let stronger = |it: &&params::Set| {
        let alike = it.bits() == set.bits() && it.fix().is_some() == set.fix().is_some();
        alike && it.sigma() > set.sigma()
    };
    match params::registry().find(stronger) {
        Some(it) => {
            let more = it.hidden(count);
            format!("--sigma {} gives 2^-{more}", it.sigma())
        }
        None => "there is no larger --sigma".into(),
    }
}

#[cfg(test)]
mod tests {
    use foxtrot::triples::terms::TriplesRun;

    use super::*;

    fn lines(bits: u32, sigma: u32, count: u64) -> Vec<String> {
        let set = params::registry().find(|set| set.bits() == bits && set.sigma() == sigma);
        lines_of(set.unwrap(), count)
    }

    fn lines_of(set: &'static params::Set, count: u64) -> Vec<String> {
        of_kind(TripleKind::Rlwe(set), count)
    }

    fn of_kind(kind: TripleKind, count: u64) -> Vec<String> {
        let terms = TriplesTerms { role: Role::Sender, kind, count, earlier: None };
        let run = TriplesRun { session: None, name: "run".into() };
        let triples =
            TriplesAgreement { batches: 0..kind.batches(count), run, terms: terms.clone() };
        Agreed::of(&PartyTerms { party: 0, format: Format::Raw, triples: terms }, triples).words(1)
    }

    #[test]
    fn the_bounds_of_the_run_are_said_and_few_bits_are_warned_of() {
        // Whole batches.
        let of_a_million = lines(8, 40, 256 * 4095);
        let agreed = "agreed: 1048320 triples modulo 2^8, rlwe-8; statistical security 2^-32; wrong with \
                      probability 2^-34";
        assert_eq!(of_a_million[0], agreed);
        assert!(lines(64, 40, 64 * 16_383)[0].ends_with("2^-34; wrong with probability 2^-36"));
        let lift = params::find("rlwe-lift-8").unwrap();
        let agreed = "agreed: 1048448 triples modulo 2^8, rlwe-lift-8; statistical security 2^-33; wrong with \
                      probability 2^-23";
        assert_eq!(lines_of(lift, 128 * 8191)[0], agreed);
        let agreed = "agreed: 1 triple modulo 2^16, gilboa-16-k2; all correct";
        assert_eq!(of_kind(TripleKind::find("gilboa-16-k2").unwrap(), 1)[0], agreed);
        let warned = |lines: &[String]| lines.iter().any(|line| line.starts_with("warning: "));
        assert!(!warned(&of_a_million) && !warned(&lines(8, 40, 1024 * 4095)));
        assert!(!warned(&lines_of(lift, 1024 * 8191)) && warned(&lines_of(lift, 2048 * 8191)));
        let many = lines(8, 40, 2048 * 4095);
        let warning = "warning: statistical security of 2^-29 is low; --sigma 64 gives 2^-54";
        assert!(many.iter().any(|line| line == warning), "{many:?}");
        assert!(!warned(&lines(8, 64, 1 << 30)));
    }
}
