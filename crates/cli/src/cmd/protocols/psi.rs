//! Private set intersection.

use std::io::{self, Write};

use foxtrot_ot::base::{Adversary, BaseOt};
use foxtrot_psi::paxos::Parameters;
use serde_json::{Map, Value, json};

/// As many keys of each side are the measure of bytes.
const N: usize = 1 << 20;

const NAME: &str = "paxos";
const PAPER: &str = "PRTY20 over OOS17, three hashes";
const ASSUMPTION: &str = "AEGIS-128L and AES as PRGs, random oracle";
const FUNCTIONALITY: &str = "F_PSI with sizes (n, n')";

/// What there is, for N keys of each side.
fn all() -> impl Iterator<Item = Parameters> {
    let of = |adversary| Parameters::new(adversary, N, N).ok();
    [Adversary::Malicious, Adversary::SemiHonest].into_iter().filter_map(of)
}

/// Bytes of both parties per key, without the base OTs.
fn bytes_per_key(parameters: &Parameters) -> f64 {
    (parameters.sender_bytes() + parameters.receiver_bytes()) as f64 / N as f64
}

/// Flows of a run in one batch, without those of the base OTs.
fn flows(parameters: &Parameters) -> usize {
    // Seed and corrections, challenge, proof, tags; the challenge only if there is a proof.
    if parameters.adversary() == Adversary::SemiHonest { 2 } else { 4 }
}

pub(super) fn in_json(bases: &[&dyn BaseOt]) -> impl Iterator<Item = Value> {
    all().map(|parameters| {
        let info = parameters.extension().info();
        let (mut carriers, mut refused) = (Vec::new(), Map::new());
        for base in bases.iter().map(|base| base.info()) {
            match parameters.compatible(base) {
                Ok(()) => carriers.push(base.name),
                Err(why) => drop(refused.insert(base.name.into(), why.to_string().into())),
            }
        }
        json!({
            "name": NAME,
            "family": NAME,
            "kind": "private set intersection",
            "paper": PAPER,
            "functionality": FUNCTIONALITY,
            "adversary": parameters.adversary().to_string(),
            "assumption": ASSUMPTION,
            "params": info.code,
            "extension": info.name,
            "base_ots_needed": parameters.base_ots(),
            "flows": flows(&parameters),
            "bytes_per_key_1048576": bytes_per_key(&parameters),
            "most_keys_of_a_cheating_receiver_1048576": parameters.largest_set(),
            "base_ots": carriers,
            "base_ots_refused": refused,
        })
    })
}

pub(super) fn print_table(out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "set intersection  realises                  adversary    over              base OTs  flows  \
         bytes/key  n'/n  paper"
    )?;
    for parameters in all() {
        let ratio = parameters.largest_set().map(|most| format!("{:.2}", most as f64 / N as f64));
        writeln!(
            out,
            "{NAME:<17} {FUNCTIONALITY:<25} {:<12} {:<17} {:<9} {:<6} {:<10.1} {:<5} {PAPER}",
            parameters.adversary().to_string(),
            parameters.extension().info().name,
            parameters.base_ots(),
            flows(&parameters),
            bytes_per_key(&parameters),
            ratio.as_deref().unwrap_or("-"),
        )?;
    }
    writeln!(out)?;
    // A row has one sparse slot in each of three segments, so two equations depend on the others.
    let free =
        all().map(|it| (it.buckets() * (it.slots() - 2)) as f64 / N as f64).fold(0.0, f64::max);
    writeln!(
        out,
        "Which of the receiver's n keys the sender has, too, is the receiver's output; each learns the\n\
         size of the other's set. A receiver that cheats can test more keys than it has: {free:.2} n for certain, n' at most with 2^80\n\
         hashes, but for a chance of about 2^-40. Encoding fails with probability 2^-40 at most, in part measured for more than\n\
         8192 keys. Bytes and n'/n for a million keys each, flows for at most ten thousand, both without the base OTs,\n\
         which are those that carry the extension."
    )
}
