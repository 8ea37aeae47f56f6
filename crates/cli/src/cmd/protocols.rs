//! `foxtrot protocols`: everything there is to choose from.

mod carriers;
mod facts;
mod notes;

use std::io::{self, Write};

use foxtrot_ot::protocol::{self, Kind, Protocol};
use serde_json::{Map, Value, json};

use crate::{args::ProtocolsArgs, failure::Failure};
use facts::{Fact, N, facts};

/// Names that a kind of protocols has in its table and, as keys, in JSON.
struct Table {
    kind: Kind,
    title: &'static str,
    key: &'static str,
    flows_key: &'static str,
    bytes: &'static str,
    bytes_key: &'static str,
    digits: usize,
    /// As many outputs are the measure of bytes.
    outputs: usize,
}

const fn table(
    (kind, digits, outputs): (Kind, usize, usize),
    [title, key, flows_key, bytes, bytes_key]: [&'static str; 5],
) -> Table {
    Table { kind, title, key, flows_key, bytes, bytes_key, digits, outputs }
}

#[rustfmt::skip]
const TABLES: [Table; 5] = [
    table((Kind::BaseOt, 0, 128), ["base OT", "base", "rounds", "bytes/OT", "bytes_per_ot_128"]),
    table((Kind::Extension, 2, N), ["extension", "extension", "messages_per_batch", "bytes/OT", "bytes_per_ot_1048576"]),
    table((Kind::OneOfN, 2, N), ["one of N", "one-of-n extension", "messages_per_batch", "bytes/OT", "bytes_per_ot_1048576"]),
    table((Kind::Psi, 1, N), ["set intersection", "private set intersection", "flows", "bytes/key", "bytes_per_key_1048576"]),
    table((Kind::Triples, 2, N), ["triples", "triples", "flows", "bytes/triple", "bytes_per_triple"]),
];

/// The records of all crates.
fn registry() -> impl Iterator<Item = &'static Protocol> {
    protocol::registry().chain(foxtrot_psi::protocols()).chain(foxtrot_triples::protocols())
}

impl Table {
    fn records(&self) -> impl Iterator<Item = &'static Protocol> {
        registry().filter(|it| it.kind == self.kind)
    }

    /// Bytes of both parties per output, without base OTs.
    fn bytes_of(&self, protocol: &Protocol) -> f64 {
        protocol.bytes(self.outputs) as f64 / self.outputs as f64
    }

    fn json(&self, it: &Protocol) -> Value {
        let common = [
            ("name", it.name.into()),
            ("family", it.family.into()),
            ("kind", self.key.into()),
            ("paper", it.paper.into()),
            ("functionality", it.functionality.to_string().into()),
            ("adversary", it.adversary.to_string().into()),
            ("assumption", it.assumption.into()),
            ("params", it.params.into()),
            ("security", it.security.into()),
            ("caveat", it.caveat.into()),
            ("reproduction", it.reproduction.into()),
            (self.flows_key, it.flows.into()),
            (self.bytes_key, json!(self.bytes_of(it))),
        ];
        let facts = facts(it).into_iter().map(|Fact { key, value, .. }| (key, value));
        let fields = common.into_iter().chain(facts).chain(carriers::in_json(it));
        fields.map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>().into()
    }

    fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let rows = self.records().map(|it| {
            let first = [
                (self.title, it.name.into()),
                ("realises", it.functionality.to_string()),
                ("adversary", it.adversary.to_string()),
            ];
            let last = [
                ("flows", it.flows.to_string()),
                (self.bytes, format!("{:.*}", self.digits, self.bytes_of(it))),
                ("paper", it.paper.into()),
            ];
            let facts = facts(it).into_iter().filter_map(|it| Some((it.column?, it.text)));
            first.into_iter().chain(facts).chain(last).unzip()
        });
        let rows: Vec<(Vec<&str>, Vec<String>)> = rows.collect();
        let head = rows.first().map(|(head, _)| head.iter().map(|&it| it.to_owned()).collect());
        print_aligned(out, head.into_iter().chain(rows.into_iter().map(|(_, row)| row)).collect())?;
        writeln!(out)?;
        let mut records = self.records().peekable();
        while let Some(it) = records.next() {
            // Protocols of the same words are in one line.
            write!(out, "{}", it.name)?;
            if records.peek().is_some_and(|next| words(next) == words(it)) {
                write!(out, ", ")?;
                continue;
            }
            writeln!(out, ": {}", words(it))?;
        }
        writeln!(out, "\n{}", notes::of(self.kind))
    }
}

fn words(it: &Protocol) -> String {
    let mut words = it.assumption.to_owned();
    for (before, more) in [("", it.params), ("", it.security), ("caveat: ", it.caveat)] {
        if !more.is_empty() {
            words.extend(["; ", before, more]);
        }
    }
    words
}

fn print_aligned(out: &mut impl Write, rows: Vec<Vec<String>>) -> io::Result<()> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    for row in &rows {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let width = width(column).unwrap_or(0);
            format!("{cell:<width$}")
        });
        writeln!(out, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

pub(crate) fn run(args: &ProtocolsArgs) -> Result<(), Failure> {
    let out = &mut io::stdout().lock();
    if args.json { print_json(out) } else { print(out) }.map_err(|e| Failure::stdout(&e))
}

fn print_json(out: &mut impl Write) -> io::Result<()> {
    let all = TABLES.iter().flat_map(|table| table.records().map(|it| table.json(it)));
    writeln!(out, "{}", Value::from_iter(all))
}

fn print(out: &mut impl Write) -> io::Result<()> {
    TABLES.iter().try_for_each(|table| table.print(out))?;
    print_aligned(out, carriers::table())
}
