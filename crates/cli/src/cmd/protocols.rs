//! `foxtrot protocols`: everything there is to choose from.

mod extensions;
mod psi;
mod triples;

use std::io::{self, Write};

use foxtrot_ot::base::registry;
use serde_json::json;

use crate::{args::ProtocolsArgs, failure::Failure};

pub(crate) fn run(args: &ProtocolsArgs) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    if args.json { print_json(&mut out) } else { print_table(&mut out) }
        .map_err(|e| Failure::stdout(&e))
}

/// Bytes of both parties per instance, in a batch of n.
fn bytes_per_ot(info: &foxtrot_ot::base::Info, n: usize) -> f64 {
    ((info.sender_bytes)(n) + (info.receiver_bytes)(n)) as f64 / n as f64
}

fn print_json(out: &mut impl Write) -> io::Result<()> {
    let all = registry().iter().map(|base| {
        let info = base.info();
        json!({
            "name": info.name,
            "family": info.family,
            "kind": "base",
            "paper": info.paper,
            "functionality": info.functionality.to_string(),
            "adversary": info.adversary.to_string(),
            "assumption": info.assumption,
            "params": info.params,
            "security": info.security,
            "caveat": info.caveat,
            "reproduction": info.reproduction,
            "rounds": info.flows,
            "bytes_per_ot_128": bytes_per_ot(info, 128),
        })
    });
    let all =
        all.chain(extensions::in_json(registry())).chain(extensions::one_of_n_in_json(registry()));
    let all = all.chain(psi::in_json(registry())).chain(triples::in_json());
    writeln!(out, "{}", serde_json::Value::from_iter(all))
}

fn print_table(out: &mut impl Write) -> io::Result<()> {
    let rows = registry().iter().map(|base| {
        let info = base.info();
        [
            info.name.to_owned(),
            info.functionality.to_string(),
            info.adversary.to_string(),
            info.flows.to_string(),
            format!("{:.0}", bytes_per_ot(info, 128)),
            info.paper.to_owned(),
        ]
    });
    let head =
        ["base OT", "realises", "adversary", "flows", "bytes/OT", "paper"].map(str::to_owned);
    let rows: Vec<_> = [head].into_iter().chain(rows).collect();
    let widths: [usize; 6] = std::array::from_fn(|column| {
        rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0)
    });
    for row in &rows {
        let cells = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    writeln!(out)?;
    for base in registry() {
        let info = base.info();
        write!(out, "{}: {}; {}; {}", info.name, info.assumption, info.params, info.security)?;
        if !info.caveat.is_empty() {
            write!(out, "; caveat: {}", info.caveat)?;
        }
        writeln!(out)?;
    }
    writeln!(out)?;
    writeln!(
        out,
        "`ot` takes an endemic base OT, `rot` a random one, also below an extension; --base NAME\n\
         finds the mode. Bytes of both parties, in batches of 128.\n"
    )?;
    extensions::print_table(out)?;
    writeln!(out)?;
    extensions::print_one_of_n(out)?;
    writeln!(out)?;
    extensions::print_carriers(out, registry())?;
    writeln!(out)?;
    psi::print_table(out)?;
    writeln!(out)?;
    triples::print_table(out)
}
