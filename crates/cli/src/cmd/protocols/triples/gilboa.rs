//! Those from oblivious transfer.

use std::io::{self, Write};

use foxtrot_triples::gilboa::protocol::bytes_of_run;
use foxtrot_triples::gilboa::{Set, registry};
use serde_json::{Value, json};

use super::{ADVERSARY, CAVEAT};
use crate::cmd::triples::kind::{BASE, FEW};

const PAPER: &str = "Gil99, DSZ15; choices are random";
const ASSUMPTION: &str = "AES and AEGIS-128L as PRGs, AES as an ideal cipher, random oracle";

/// Corrections and products; before them are base OTs and two set-ups.
const FLOWS: usize = 2;

fn functionality(set: &Set) -> String {
    format!("triples modulo 2^{}", set.bits())
}

fn assumption() -> String {
    format!("{ASSUMPTION}; {}", BASE.info().assumption)
}

/// Bytes of both parties per triple of a whole batch.
fn bytes_per_triple(set: &Set) -> f64 {
    let n = set.n();
    2.0 * (set.corrections_len(n) + set.products_len(n)) as f64 / n as f64
}

fn set_up_bytes(set: &Set) -> u64 {
    bytes_of_run(set, BASE, 0).iter().sum()
}

pub(super) fn in_json() -> impl Iterator<Item = Value> {
    registry().map(|set| {
        json!({
            "name": set.name(),
            "family": "gilboa",
            "kind": "triples",
            "paper": PAPER,
            "functionality": functionality(set),
            "adversary": ADVERSARY,
            "assumption": assumption(),
            "caveat": CAVEAT,
            "params": format!("{} from {}", set.extension().name(), BASE.info().name),
            "security": BASE.info().security,
            "bits": set.bits(),
            "sigma": Value::Null,
            "wrong_log2": Value::Null,
            "flows": FLOWS,
            "bytes_per_triple": bytes_per_triple(set),
            "key_bytes": 0,
            "set_up_bytes": set_up_bytes(set),
        })
    })
}

pub(super) fn print_rows(out: &mut impl Write) -> io::Result<()> {
    for set in registry() {
        writeln!(
            out,
            "{:<17} {:<21} {ADVERSARY:<12} {:<6} {:<7} {:<9} {FLOWS:<6} {:<13.2} {PAPER}",
            set.name(),
            functionality(set),
            "-",
            "none",
            "-",
            bytes_per_triple(set),
        )?;
    }
    Ok(())
}

pub(super) fn print_notes(out: &mut impl Write) -> io::Result<()> {
    let (base, assumption) = (BASE.info().name, assumption());
    writeln!(
        out,
        "Those from oblivious transfer assume {assumption}.\n\
         Nothing is hidden statistically only, and a batch may have any number. A larger k (4 without a suffix) sends less and\n\
         computes more. Bytes of both parties, without 128 base OTs (`{base}`) and two set-ups, about 450 KiB.\n\
         `triples --method auto` makes up to {FEW} triples by gilboa, more by rlwe."
    )
}
