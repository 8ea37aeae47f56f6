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

fn security(set: &Set) -> String {
    let [classical, quantum] = set.core_svp();
    format!("core-SVP {classical} classical, {quantum} quantum")
}

/// log₂ of the probability that a triple is wrong, on average: 2^(2ℓ − 3.4)/p.
pub(crate) fn wrong_log2(set: &Set) -> f64 {
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
            "security": security(set),
            "bits": set.bits(),
            "sigma": set.sigma(),
            "wrong_log2": wrong_log2(set).ceil(),
            "flows": FLOWS,
            "bytes_per_triple": bytes_per_triple(set),
            "key_bytes": set.public_key_len(),
        })
    })
}

pub(super) fn print_table(out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "triples      realises              adversary    sigma  wrong  core-SVP  flows  bytes/triple  paper"
    )?;
    for set in params::registry() {
        let [classical, quantum] = set.core_svp();
        writeln!(
            out,
            "{:<12} {:<21} {ADVERSARY:<12} {:<6} 2^{:<4.0} {:<9} {FLOWS:<6} {:<13.2} {PAPER}",
            set.name(),
            functionality(set),
            set.sigma(),
            wrong_log2(set).ceil(),
            format!("{classical}/{quantum}"),
            bytes_per_triple(set),
        )?;
    }
    writeln!(out)?;
    writeln!(
        out,
        "They assume {ASSUMPTION}. Each party has a share of a, b and c = a·b; what is hidden statistically\n\
         is so up to 2^-sigma for each batch of 8192 to 32768 triples. Each is wrong with the probability given; who\n\
         learns of one that it was learns a bound on the peer's shares. Semi-honest: {CAVEAT}.\n\
         Core-SVP is classical/quantum; guidelines count polynomial factors, too, by which all sets have 128 bits classically,\n\
         and rlwe-8, rlwe-16, rlwe-64 and rlwe-32-s64 less than 128 against quantum attacks (eprint 2024/463).\n\
         Bytes of both parties, without two keys of 117 to 1120 KiB."
    )
}
