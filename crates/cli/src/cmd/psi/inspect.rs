//! `foxtrot psi inspect`: how a set is read.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
};

use serde_json::{Value, json};

use crate::{
    args::{SetOptions, file},
    failure::Failure,
    files::write_rows,
    output::say,
    report::object,
    table::{Set, Shown},
};

pub(super) fn print(path: &Path, options: &SetOptions, json: bool) -> Result<(), Failure> {
    let set = Set::read(path, options)?;
    let mut out = io::stdout().lock();
    if json { print_json(&set, &mut out) } else { print_table(&set, &mut out) }
        .map_err(|e| Failure::stdout(&e))?;
    set.warnings().iter().for_each(|warning| say(warning));
    Ok(())
}

fn shown(set: &Set) -> impl Iterator<Item = String> {
    set.shown.iter().map(|Shown { place, before, after }| {
        let quoted = |parts: &[String]| {
            let parts: Vec<_> = parts.iter().map(|part| format!("{part:?}")).collect();
            parts.join(" ")
        };
        let after = match after.iter().any(String::is_empty) {
            true => "no key".into(),
            false => quoted(after),
        };
        format!("line {place}: {} → {after}", quoted(before))
    })
}

fn print_table(set: &Set, out: &mut impl Write) -> io::Result<()> {
    let listed = |names: &[&str]| {
        names.iter().map(|name| crate::table::visible(name)).collect::<Vec<_>>().join(", ")
    };
    let columns = |names: &[&str]| format!("{} ({})", names.len(), listed(names));
    let mut table = vec![("format", set.form())];
    if let (Some(all), Some(keys)) = (set.columns(), set.key_columns()) {
        let all: Vec<_> = all.iter().map(String::as_str).collect();
        table.extend([("columns", columns(&all)), ("key", listed(&keys))]);
    }
    table.push(("normalisers", set.terms()));
    table.extend(set.findings.table(set.items.len()));
    for (name, value) in table {
        // Names of columns may be anything.
        writeln!(out, "{:13}{}", format!("{name}:"), crate::table::printable(&value))?;
    }
    shown(set).try_for_each(|line| writeln!(out, "{line}"))?;
    out.flush()
}

fn print_json(set: &Set, out: &mut impl Write) -> io::Result<()> {
    let mut fields = object(json!({
        "schema": 1,
        "format": set.form(),
        "columns": set.columns(),
        "key": set.key_columns(),
        "normalisers": set.terms(),
    }));
    fields.extend(set.findings.json(set.items.len()));
    if !set.shown.is_empty() {
        let shown = set.shown.iter().map(|Shown { place, before, after }| {
            let after = (!after.iter().any(String::is_empty)).then_some(after);
            json!({ "line": place, "before": before, "after": after })
        });
        fields.insert("shown".into(), shown.collect());
    }
    writeln!(out, "{}", Value::Object(fields))
}

pub(super) fn write_left_out(
    path: &Path,
    options: &SetOptions,
    to: &Option<PathBuf>,
) -> Result<(), Failure> {
    let mut set = Set::read(path, options)?;
    let rows = set.rows(|item, first| item.is_none() || !first);
    let file = file(to).map(|path| (path, set.written_len(&rows)));
    write_rows(file, |out| set.write(&rows, None, out))?;
    say(&format!("read {}", set.findings.words(set.items.len())));
    Ok(())
}
