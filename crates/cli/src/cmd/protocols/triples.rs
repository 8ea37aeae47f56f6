//! Multiplication triples.

mod gilboa;

use std::io::{self, Write};

use foxtrot_triples::params::{self, Set};
use serde_json::{Value, json};

use crate::cmd::triples::bounds::{set_up_bytes, wrong_log2};

const PAPER: &str = "after RSS19, rounding in place of flooding";
const ADVERSARY: &str = "semi-honest";
const ASSUMPTION: &str = "Ring-LWE, AES as a PRG and as an ideal cipher, random oracle";
/// What the OTs of the fix assume besides.
const OTS: &str = "Module-LWE, AEGIS-128L as a PRG";
const CAVEAT: &str =
    "a peer that departs from the protocol may learn shares or spoil triples, and is not found out";

/// A request, its response and the correction, if there is any; keys and base OTs before them are two more each way.
fn flows(set: &Set) -> usize {
    if set.fix().is_some() { 3 } else { 2 }
}

fn assumption(set: &Set) -> String {
    match set.fix() {
        Some(_) => format!("{ASSUMPTION}, {OTS}"),
        None => ASSUMPTION.into(),
    }
}

/// Sets whose modulus is larger than the limits for quantum attacks.
const QUANTUM: &str =
    "rlwe-8, rlwe-32, rlwe-64-s64, rlwe-lift-8, rlwe-lift-16, rlwe-lift-64 and rlwe-lift-32-s64";

fn functionality(set: &Set) -> String {
    format!("triples modulo 2^{}", set.bits())
}

fn security(set: &Set) -> String {
    let [classical, quantum] = set.core_svp();
    format!("core-SVP {classical} classical, {quantum} quantum")
}

/// log₂ of a bound on the probability that a triple is wrong, rounded up.
fn wrong(set: &Set) -> f64 {
    wrong_log2(set, 1).ceil()
}

/// Bytes of both parties per triple of a whole batch, without keys and base OTs.
fn bytes_per_triple(set: &Set) -> f64 {
    set.batch_bytes().iter().sum::<usize>() as f64 / set.n() as f64
}

pub(super) fn in_json() -> impl Iterator<Item = Value> {
    let rlwe = params::registry().map(|set| {
        json!({
            "name": set.name(),
            "family": "rlwe",
            "kind": "triples",
            "paper": PAPER,
            "functionality": functionality(set),
            "adversary": ADVERSARY,
            "assumption": assumption(set),
            "caveat": CAVEAT,
            "params": format!("ring of dimension {}", set.n()),
            "security": security(set),
            "bits": set.bits(),
            "sigma": set.sigma(),
            "wrong_log2": wrong(set),
            "flows": flows(set),
            "bytes_per_triple": bytes_per_triple(set),
            "key_bytes": set.public_key_len(),
            "set_up_bytes": set_up_bytes(set),
        })
    });
    rlwe.chain(gilboa::in_json())
}

pub(super) fn print_table(out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "triples           realises              adversary    sigma  wrong   core-SVP  flows  bytes/triple  paper"
    )?;
    for set in params::registry() {
        let [classical, quantum] = set.core_svp();
        writeln!(
            out,
            "{:<17} {:<21} {ADVERSARY:<12} {:<6} {:<7} {:<9} {:<6} {:<13.2} {PAPER}",
            set.name(),
            functionality(set),
            set.sigma(),
            format!("2^{:.0}", wrong(set)),
            format!("{classical}/{quantum}"),
            flows(set),
            bytes_per_triple(set),
        )?;
    }
    gilboa::print_rows(out)?;
    writeln!(out)?;
    let kib = |sets: fn(&Set) -> bool| {
        let sizes = params::registry().filter(|set| sets(set)).map(|set| set_up_bytes(set) >> 10);
        sizes.fold((u64::MAX, 0), |(least, most), size| (least.min(size), most.max(size)))
    };
    let (fixed, lifted) = (kib(|set| set.fix().is_some()), kib(|set| set.fix().is_none()));
    writeln!(
        out,
        "Those from ring-LWE assume {ASSUMPTION}; and, but for rlwe-lift (`triples --lift`), {OTS}, for\n\
         a random OT per triple. Each party has a share of a, b and c = a·b; what is hidden statistically is so up to 2^-(sigma - 1)\n\
         for each batch of 4095 to 32767 triples, and up to 2^-sigma if noise is as experiments find it. A triple is wrong with\n\
         the probability given at most: with its whole batch, or, of rlwe-lift and rlwe-64-s64, by itself.\n\
         The triple of each batch that is opened almost always finds a wrong batch, which ends the run on both sides. It does not find\n\
         a single wrong triple, and a party that learns of one learns something of the peer's secrets.\n\
         Semi-honest: {CAVEAT}.\n\
         Core-SVP is classical/quantum; guidelines count polynomial factors, too, by which all sets have 128 bits classically,\n\
         and {QUANTUM}\n\
         less than 128 against quantum attacks (eprint 2024/463).\n\
         Bytes of both parties, without what comes before the first batch: two keys and, but for rlwe-lift, two times 128 base\n\
         OTs (`roted-endemic`), {} to {} KiB together; for rlwe-lift {} to {}.\n",
        fixed.0, fixed.1, lifted.0, lifted.1
    )?;
    gilboa::print_notes(out)
}
