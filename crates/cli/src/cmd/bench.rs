//! `foxtrot bench`: figures of this machine, with yardsticks of the same run beside them.

mod base;
mod yardsticks;

use std::io::{self, Write};

use foxtrot_ot::base::registry;

use crate::{args::BenchCommand, failure::Failure, report::Report};
use yardsticks::Yardsticks;

pub(crate) fn run(command: &BenchCommand) -> Result<(), Failure> {
    match command {
        BenchCommand::List => list().map_err(|e| Failure::stdout(&e)),
        BenchCommand::Run { names, json } => {
            let selected = select(names)?;
            let yardsticks = Yardsticks::measure()?;
            let mut out = io::stdout().lock();
            if !json {
                print_head(&mut out).map_err(|e| Failure::stdout(&e))?;
            }
            for name in selected {
                for n in base::SIZES {
                    let report = base::run(&name, n)?;
                    if *json {
                        print_json(&mut out, &report, &yardsticks)
                    } else {
                        print_row(&mut out, &report, &yardsticks)
                    }
                    .map_err(|e| Failure::stdout(&e))?;
                }
            }
            if *json { Ok(()) } else { yardsticks.print(&mut out).map_err(|e| Failure::stdout(&e)) }
        }
    }
}

fn names() -> impl Iterator<Item = String> {
    registry().iter().map(|base| format!("base/{}", base.info().name))
}

fn list() -> io::Result<()> {
    let mut out = io::stdout().lock();
    for name in names() {
        writeln!(out, "{name}  n = {}", base::SIZES.map(|n| n.to_string()).join(", "))?;
    }
    Ok(())
}

/// Names as given, or all that begin with one that ends in `/`.
fn select(wanted: &[String]) -> Result<Vec<String>, Failure> {
    let mut selected = Vec::new();
    for want in wanted {
        let fits = |name: &String| name == want || (want.ends_with('/') && name.starts_with(want));
        if !names().any(|name| fits(&name)) {
            return Err(Failure::usage(format!("there is no benchmark named {want}"))
                .hint("`foxtrot bench list` names them all"));
        }
        for name in names().filter(fits) {
            if !selected.contains(&name) {
                selected.push(name);
            }
        }
    }
    Ok(selected)
}

fn print_head(out: &mut impl Write) -> io::Result<()> {
    let backend = foxtrot_ot::Backend::best().name();
    writeln!(out, "CPU time per OT, medians, both parties in one thread, backend {backend}")?;
    writeln!(
        out,
        "{:<20} {:>5} {:>9} {:>10} {:>12} {:>9} {:>9} {:>9}",
        "name", "n", "both µs", "sender µs", "receiver µs", "OT/s", "bytes/OT", "/ x25519"
    )
}

fn print_row(out: &mut impl Write, report: &Report, yardsticks: &Yardsticks) -> io::Result<()> {
    let per_ot = |time: Option<std::time::Duration>| {
        time.unwrap_or_default().as_secs_f64() * 1e6 / report.n as f64
    };
    let (sender, receiver) = (per_ot(report.cpu_sender), per_ot(report.cpu_receiver));
    let bytes = report.bytes_sender.unwrap_or(0) + report.bytes_receiver.unwrap_or(0);
    let both = sender + receiver;
    writeln!(
        out,
        "{:<20} {:>5} {both:>9.2} {sender:>10.2} {receiver:>12.2} {:>9.0} {:>9.1} {:>9.3}",
        report.name,
        report.n,
        1e6 / both,
        bytes as f64 / report.n as f64,
        both / yardsticks.x25519_us
    )
}

fn print_json(out: &mut impl Write, report: &Report, yardsticks: &Yardsticks) -> io::Result<()> {
    let mut object = report.json();
    object.extend(yardsticks.json());
    writeln!(out, "{}", serde_json::Value::Object(object))
}
