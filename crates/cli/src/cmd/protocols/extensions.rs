//! The extensions, and which base OT carries which.

use std::{
    collections::BTreeSet,
    io::{self, Write},
};

use foxtrot_ot::{
    base::{self, Adversary, BaseOt},
    extension::{Extension, Incompatible, ROWS, compatible, one_of_n, registry, two_round},
};
use serde_json::{Map, Value, json};

use crate::method::TWO_ROUND_RUN;

/// As many transfers, of random choices, are the measure of bytes.
const N: usize = 1 << 20;

/// Bytes of both parties per transfer, without the base OTs.
fn bytes_per_ot(sender_and_receiver: [usize; 2]) -> f64 {
    sender_and_receiver.iter().sum::<usize>() as f64 / N as f64
}

fn bytes_of(extension: &Extension) -> f64 {
    bytes_per_ot([extension.sender_bytes(N), extension.receiver_bytes(N)])
}

fn bytes_of_n(extension: &one_of_n::Extension) -> f64 {
    bytes_per_ot([extension.sender_bytes(N), extension.receiver_bytes(N)])
}

/// The same of the two-round extension.
fn bytes_per_ot_two_round() -> f64 {
    let (info, base) = (two_round::registry()[0].info(), two_round::carriers().next());
    let both = |info: &base::Info, n| (info.sender_bytes)(n) + (info.receiver_bytes)(n);
    (both(info, N) - base.map_or(0, |base| both(base, ROWS))) as f64 / N as f64
}

/// Those that may carry an extension, and why not the others.
fn carriers(
    bases: &[&dyn BaseOt],
    compatible: impl Fn(&base::Info) -> Result<(), Incompatible>,
) -> (Vec<&'static str>, Map<String, Value>) {
    let (mut carriers, mut refused) = (Vec::new(), Map::new());
    for base in bases.iter().map(|base| base.info()) {
        match compatible(base) {
            Ok(()) => carriers.push(base.name),
            Err(why) => drop(refused.insert(base.name.into(), why.to_string().into())),
        }
    }
    (carriers, refused)
}

pub(super) fn in_json(bases: &[&dyn BaseOt]) -> impl Iterator<Item = Value> {
    let two_round = {
        let info = two_round::registry()[0].info();
        let (carriers, refused) = carriers(bases, two_round::compatible);
        json!({
            "name": two_round::FAMILY,
            "family": two_round::FAMILY,
            "kind": "extension",
            "paper": info.paper,
            "adversary": info.adversary.to_string(),
            "assumption": registry().next().map(|extension| extension.info().assumption),
            "params": "k = 1, Fiat-Shamir, s = 256",
            "messages_per_batch": info.flows,
            "batch": TWO_ROUND_RUN,
            "bytes_per_ot_1048576": bytes_per_ot_two_round(),
            "base_ots": carriers,
            "base_ots_refused": refused,
        })
    };
    let others = registry().map(|extension| {
        let info = extension.info();
        let (carriers, refused) = carriers(bases, |base| compatible(base, &info));
        json!({
            "name": info.name,
            "family": info.family,
            "kind": "extension",
            "paper": info.paper,
            "adversary": info.adversary.to_string(),
            "assumption": info.assumption,
            "params": format!("k = {}", info.k),
            "messages_per_batch": info.flows,
            "batch": extension.max_batch(),
            "bytes_per_ot_1048576": bytes_of(&extension),
            "base_ots": carriers,
            "base_ots_refused": refused,
        })
    });
    others.chain([two_round])
}

/// Those for one of N.
pub(super) fn one_of_n_in_json(bases: &[&dyn BaseOt]) -> impl Iterator<Item = Value> {
    one_of_n::registry().map(|extension| {
        let info = extension.info();
        let (carriers, refused) = carriers(bases, |base| extension.compatible(base));
        json!({
            "name": info.name,
            "family": info.family,
            "kind": "one-of-n extension",
            "paper": info.paper,
            "functionality": info.functionality,
            "adversary": info.adversary.to_string(),
            "assumption": info.assumption,
            "params": info.code,
            "word_bits": info.parameters.word_bits,
            "base_ots_needed": info.parameters.length,
            "messages_per_batch": info.flows,
            "batch": extension.max_batch(),
            "bytes_per_ot_1048576": bytes_of_n(&extension),
            "base_ots": carriers,
            "base_ots_refused": refused,
        })
    })
}

/// Those for one of N.
pub(super) fn print_one_of_n(out: &mut impl Write) -> io::Result<()> {
    writeln!(
        out,
        "one of N              realises                      adversary    word bits  base OTs  \
         messages  bytes/OT  paper"
    )?;
    for extension in one_of_n::registry() {
        let info = extension.info();
        writeln!(
            out,
            "{:<21} {:<29} {:<12} {:<10} {:<9} {:<9} {:<9.2} {}",
            info.name,
            info.functionality,
            info.adversary.to_string(),
            info.parameters.word_bits,
            info.parameters.length,
            info.flows,
            bytes_of_n(&extension),
            info.paper
        )?;
    }
    writeln!(out)?;
    for extension in one_of_n::registry() {
        let info = extension.info();
        writeln!(out, "{}: {}; {}", info.name, info.assumption, info.code)?;
    }
    writeln!(out)?;
    writeln!(out, "Messages per batch of about 16 thousand; bytes as above, without the base OTs.")
}

pub(super) fn print_table(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "extension                 adversary    messages  bytes/OT  paper")?;
    let rows = registry().map(|extension| {
        let info = extension.info();
        (info.name, info.adversary, info.flows, bytes_of(&extension), info.paper)
    });
    let two_round = two_round::registry()[0].info();
    let two_round = (
        two_round::FAMILY,
        two_round.adversary,
        two_round.flows,
        bytes_per_ot_two_round(),
        two_round.paper,
    );
    for (name, adversary, flows, bytes, paper) in rows.chain([two_round]) {
        let adversary = adversary.to_string();
        writeln!(out, "{name:<25} {adversary:<12} {flows:<9} {bytes:<9.2} {paper}")?;
    }
    writeln!(out)?;
    for assumption in
        registry().map(|extension| extension.info().assumption).collect::<BTreeSet<_>>()
    {
        writeln!(out, "They assume {assumption}.")?;
    }
    writeln!(
        out,
        "Messages per batch of about 65 thousand; bytes of both parties in a run of {N}, without\n\
         the 128 base OTs. Those of {0} are in its two messages, one batch is {1} OTs,\n\
         and its keys are random only if no peer cheats: it is for `ot`, not for `rot`.",
        two_round::FAMILY,
        TWO_ROUND_RUN
    )
}

/// For each base OT the extensions that it carries, and why not the others.
pub(super) fn print_carriers(out: &mut impl Write, bases: &[&dyn BaseOt]) -> io::Result<()> {
    let width = bases.iter().map(|base| base.info().name.len()).max().unwrap_or(0);
    writeln!(out, "{:<width$}  carries", "base OT")?;
    for info in bases.iter().map(|base| base.info()) {
        writeln!(out, "{:<width$}  {}", info.name, carries(info))?;
    }
    Ok(())
}

fn carries(base: &base::Info) -> String {
    let verdicts = |adversary| {
        let extensions = registry().map(|extension| extension.info());
        let extensions = extensions.filter(move |extension| extension.adversary == adversary);
        extensions.map(|extension| (extension.family, compatible(base, &extension)))
    };
    let why = |adversary| verdicts(adversary).find_map(|(_, verdict)| verdict.err());
    let some = verdicts(Adversary::Malicious).filter(|(_, verdict)| verdict.is_ok());
    let some: BTreeSet<_> = some.map(|(family, _)| family).collect();
    match (why(Adversary::Malicious), why(Adversary::SemiHonest)) {
        (None, _) => match two_round::compatible(base) {
            Ok(()) => "every extension".into(),
            Err(why) => format!("every extension but {}: {why}", two_round::FAMILY),
        },
        (Some(why), None) if some.is_empty() => format!("semi-honest extensions only: {why}"),
        (Some(why), None) => {
            let some = some.into_iter().collect::<Vec<_>>().join(", ");
            format!("{some} and semi-honest extensions only: {why}")
        }
        (_, Some(why)) => format!("no extension: {why}"),
    }
}

#[cfg(test)]
mod tests {
    use foxtrot_ot::base::{Functionality, roted};

    use super::*;

    #[test]
    fn a_base_ot_is_told_with_the_reasons_against_it() {
        let like = roted::Endemic.info();
        assert_eq!(carries(like), "every extension");
        let weak = base::Info { adversary: Adversary::SemiHonest, ..*like };
        let why = "it is secure against semi-honest peers only, the extension is not";
        assert_eq!(carries(&weak), format!("semi-honest extensions only: {why}"));
        let chosen = base::Info { functionality: Functionality::ChosenMessage, ..*like };
        assert!(carries(&chosen).contains("only: chosen-message OT is not enough"));
        let guessed = base::Info { functionality: Functionality::SelectiveFailure, ..*like };
        let of_guessed = carries(&guessed);
        let expected =
            "kos and semi-honest extensions only: OT with selective failure is not enough";
        assert!(of_guessed.starts_with(expected), "{of_guessed}");
        let unnamed = base::Info { name: "another", ..*like };
        let expected = "every extension but kos-two-round: there is no variant over it";
        assert_eq!(carries(&unnamed), expected);
    }
}
