//! Multiplication triples.

use std::io::{self, Write};

use foxtrot_triples::params::{self, Set};
use serde_json::{Value, json};

const PAPER: &str = "after RSS19, rounding in place of flooding";
const ADVERSARY: &str = "semi-honest";
const ASSUMPTION: &str = "Ring-LWE, random oracle";
const CAVEAT: &str =
    "a peer that departs from the protocol may learn shares or spoil triples, and is not found out";

/// A request and its response; the keys before them are one more each way.
const FLOWS: usize = 2;

fn functionality(set: &Set) -> String {
    format!("triples modulo 2^{}", set.bits())
}

/// log₂ of the probability that a triple is wrong, on average: 2^(2ℓ − 3.4)/p.
fn wrong(set: &Set) -> f64 {
    let p: f64 = set.plain().iter().map(|&prime| (prime as f64).log2()).sum();
    f64::from(2 * set.bits()) - 3.4 - p
}

/// Bytes of both parties per triple of a whole batch, without the keys.
fn bytes_per_triple(set: &Set) -> f64 {
    (set.request_len() + set.response_len()) as f64 / set.n() as f64
}

pub(super) fn in_json() -> impl Iterator<Item = Value> {
    params::registry().map(|set| {
        json!({
            "name": set.name(),
            "family": "rlwe",
            "kind": "triples",
            "paper": PAPER,
            "functionality": functionality(set),
            "adversary": ADVERSARY,
            "assumption": ASSUMPTION,
            "caveat": CAVEAT,
            "params": format!("ring of dimension {}", set.n()),
            "bits": set.bits(),
            "sigma": set.sigma(),
            "wrong_log2": wrong(set).ceil(),
            "flows": FLOWS,
            "bytes_per_triple": bytes_per_triple(set),
            "key_bytes": set.public_key_len(),
        })
    })
}

pub(super) fn print_table(out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "triples      realises              adversary    sigma  wrong  flows  bytes/triple  paper"
    )?;
    for set in params::registry() {
        writeln!(
            out,
            "{:<12} {:<21} {ADVERSARY:<12} {:<6} 2^{:<4.0} {FLOWS:<6} {:<13.2} {PAPER}",
            set.name(),
            functionality(set),
            set.sigma(),
            wrong(set).ceil(),
            bytes_per_triple(set),
        )?;
    }
    writeln!(out)?;
    writeln!(
        out,
        "They assume {ASSUMPTION}. Each party has a share of a, b and c = a·b; what is hidden statistically\n\
         is so up to 2^-sigma for each batch of 8192 to 32768 triples. Each is wrong, which tells nothing, with the\n\
         probability given. Semi-honest: {CAVEAT}.\n\
         Bytes of both parties, without two keys of 117 to 1120 KiB."
    )
}
