//! `foxtrot protocols`: everything there is to choose from.

mod carriers;
mod facts;
mod notes;

use std::io::{self, Write};

use foxtrot_ot::protocol::{Protocol, ProtocolKind};
use serde_json::{Map, Value, json};

use facts::{Fact, N, facts};

use crate::{args::ProtocolsArgs, failure::Failure};

/// Names that a kind of protocols has in its table and, as keys, in JSON.
struct Table {
    kind: ProtocolKind,
    title: &'static str,
    heading: &'static str,
    key: &'static str,
    flows_key: &'static str,
    bytes: &'static str,
    bytes_key: &'static str,
    digits: usize,
    /// The number of outputs that bytes are counted for.
    outputs: usize,
}

const fn table(
    (kind, digits, outputs): (ProtocolKind, usize, usize),
    [title, heading, key, flows_key, bytes, bytes_key]: [&'static str; 6],
) -> Table {
    Table { kind, title, heading, key, flows_key, bytes, bytes_key, digits, outputs }
}

#[rustfmt::skip]
const TABLES: [Table; 6] = [
    table((ProtocolKind::BaseOt, 0, 128), ["base OT", "Base OTs", "base", "rounds", "bytes/OT", "bytes_per_ot_128"]),
    table((ProtocolKind::Extension, 2, N), ["extension", "OT extensions", "extension", "messages_per_batch", "bytes/OT", "bytes_per_ot_1048576"]),
    table((ProtocolKind::OneOfN, 2, N), ["one of N", "1-of-N OT extensions", "one-of-n extension", "messages_per_batch", "bytes/OT", "bytes_per_ot_1048576"]),
    table((ProtocolKind::Vole, 2, N), ["VOLE", "Vector OLE", "VOLE", "messages_per_batch", "bytes/output", "bytes_per_output_1048576"]),
    table((ProtocolKind::Psi, 1, N), ["set intersection", "Private set intersection", "private set intersection", "flows", "bytes/key", "bytes_per_key_1048576"]),
    table((ProtocolKind::Triples, 2, N), ["triples", "Multiplication triples", "triples", "flows", "bytes/triple", "bytes_per_triple"]),
];

fn registry() -> impl Iterator<Item = &'static Protocol> {
    foxtrot_ot::protocols().chain(foxtrot_psi::protocols()).chain(foxtrot_triples::protocols())
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

    fn rows(&self) -> Vec<Vec<String>> {
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
        head.into_iter().chain(rows.into_iter().map(|(_, row)| row)).collect()
    }

    /// A row for each family: what its protocols have in common, and the range where they differ.
    fn families(&self) -> Vec<[String; 5]> {
        let records: Vec<_> = self.records().collect();
        let mut names = Vec::new();
        for it in &records {
            if !names.contains(&it.family) {
                names.push(it.family);
            }
        }
        let mut rows = vec![["", "protocols", "security", "flows", self.bytes].map(str::to_owned)];
        rows[0][0] = self.heading.into();
        for name in names {
            let all = || records.iter().filter(|it| it.family == name);
            let flows = range(all().map(|it| it.flows as f64), 0);
            let bytes = range(all().map(|it| self.bytes_of(it)), self.digits);
            let mut security: Vec<_> = all().map(|it| it.adversary.to_string()).collect();
            security.sort();
            security.dedup();
            let security = security.join(", ");
            rows.push([format!("  {name}"), all().count().to_string(), security, flows, bytes]);
        }
        rows
    }

    /// Names of protocols, and the words that they have in common.
    fn words(&self) -> Vec<(Vec<&'static str>, String)> {
        let mut all: Vec<(Vec<_>, String)> = Vec::new();
        for it in self.records() {
            let words = words(it);
            match all.last_mut() {
                Some((names, of_last)) if *of_last == words => names.push(it.name),
                _ => all.push((vec![it.name], words)),
            }
        }
        all
    }

    fn markdown(&self) -> String {
        let line = |(names, words): (Vec<&str>, String)| {
            let names: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
            format!("* {}: {words}\n", names.join(", "))
        };
        let (table, notes) = (markdown_table(&self.rows()), notes::of(self.kind));
        let words: String = self.words().into_iter().map(line).collect();
        format!("## {}\n\n{table}\n{words}\n{notes}\n", self.heading)
    }

    fn one(&self, it: &Protocol) -> String {
        let common = [
            ("kind", self.title.to_owned()),
            ("realises", it.functionality.to_string()),
            ("adversary", it.adversary.to_string()),
            ("assumption", it.assumption.into()),
            ("parameters", it.params.into()),
            ("security", it.security.into()),
            ("caveat", it.caveat.into()),
            ("flows", it.flows.to_string()),
            (self.bytes, format!("{:.*}", self.digits, self.bytes_of(it))),
            ("paper", it.paper.into()),
            carriers::of(it),
        ];
        let facts = facts(it).into_iter().map(|it| (it.column.unwrap_or(it.key), it.text));
        let known = common.into_iter().chain(facts).filter(|(_, text)| !text.is_empty());
        let known: Vec<_> = known.map(|(key, text)| vec![format!("  {key}"), text]).collect();
        format!("{}\n{}", it.name, aligned(&known))
    }
}

/// `3`, or `1 to 3` where the least and the largest differ.
fn range(values: impl Iterator<Item = f64>, digits: usize) -> String {
    let mut values: Vec<_> = values.collect();
    values.sort_by(f64::total_cmp);
    let ends = [values.first(), values.last()];
    match ends.map(|end| end.map(|it| format!("{it:.digits$}")).unwrap_or_default()) {
        [least, most] if least == most => least,
        [least, most] => format!("{least} to {most}"),
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

fn aligned(rows: &[Vec<String>]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let line = |row: &Vec<String>| {
        let cells = row.iter().enumerate().map(|(column, cell)| {
            let width = width(column).unwrap_or(0);
            format!("{cell:<width$}")
        });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned() + "\n"
    };
    rows.iter().map(line).collect()
}

fn markdown_table(rows: &[Vec<String>]) -> String {
    let mut lines: Vec<_> = rows.iter().map(|row| format!("| {} |\n", row.join(" | "))).collect();
    lines.insert(1, format!("|{}\n", "---|".repeat(rows[0].len())));
    lines.concat()
}

pub(crate) fn run(args: &ProtocolsArgs) -> Result<(), Failure> {
    let text = match &args.name {
        Some(name) => named(name)?,
        None if args.json => {
            let all = TABLES.iter().flat_map(|table| table.records().map(|it| table.json(it)));
            format!("{}\n", Value::from_iter(all))
        }
        None if args.markdown => markdown(),
        None if args.all => {
            let tables: String = TABLES.iter().map(|it| aligned(&it.rows()) + "\n").collect();
            tables
                + "`foxtrot protocols NAME` describes one protocol, for example `roted`, or a family.\n"
        }
        None => families(),
    };
    io::stdout().lock().write_all(text.as_bytes()).map_err(|e| Failure::stdout(&e))
}

fn families() -> String {
    let mut rows: Vec<_> = TABLES.iter().map(Table::families).collect();
    rows[1..].iter_mut().for_each(|rows| rows.insert(0, Default::default()));
    let rows: Vec<_> = rows.concat().into_iter().map(Vec::from).collect();
    aligned(&rows)
        + "\n`foxtrot protocols NAME` describes a family or a protocol, `--all` lists every protocol.\n"
}

fn named(name: &str) -> Result<String, Failure> {
    let mut text = String::new();
    for table in &TABLES {
        let found = table.records().filter(|it| it.name == name || it.family == name);
        let found: Vec<_> = found.map(|it| table.one(it)).collect();
        if !found.is_empty() {
            let between = if text.is_empty() { "" } else { "\n" };
            text += &format!("{between}{}\n{}", found.join("\n"), notes::of(table.kind));
        }
    }
    match text.is_empty() {
        true => Err(Failure::usage(format!("unknown protocol {name}"))
            .hint("`foxtrot protocols --all` lists all names")),
        false => Ok(text),
    }
}

/// The page `docs/protocols/README.md`.
fn markdown() -> String {
    let tables: String = TABLES.iter().map(Table::markdown).collect();
    let carriers = markdown_table(&carriers::table());
    format!(
        "# Protocols\n\n\
         Generated by `foxtrot protocols --markdown`. The pages beside this one have steps and proofs.\n\n\
         {tables}## Which base OT goes with which extension\n\n{carriers}"
    )
}
