//! `foxtrot protocols`: everything there is to choose from.

mod extensions;

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
            "rounds": info.flows,
            "bytes_per_ot_128": bytes_per_ot(info, 128),
        })
    });
    writeln!(out, "{}", serde_json::Value::from_iter(all.chain(extensions::in_json(registry()))))
}

fn print_table(out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "base OT         realises              adversary   flows  bytes/OT  paper")?;
    for base in registry() {
        let info = base.info();
        writeln!(
            out,
            "{:<15} {:<21} {:<11} {:<6} {:<9.0} {}",
            info.name,
            info.functionality.to_string(),
            info.adversary.to_string(),
            info.flows,
            bytes_per_ot(info, 128),
            info.paper
        )?;
    }
    writeln!(out)?;
    for base in registry() {
        let info = base.info();
        writeln!(out, "{}: {}; {}; {}", info.name, info.assumption, info.params, info.security)?;
    }
    writeln!(out)?;
    writeln!(
        out,
        "`ot` takes an endemic base OT, `rot` a random one; --base NAME finds the mode."
    )?;
    writeln!(
        out,
        "Bytes of both parties, in batches of 128. An extension prefers an endemic base OT.\n"
    )?;
    extensions::print_table(out)?;
    writeln!(out)?;
    extensions::print_carriers(out, registry())
}
