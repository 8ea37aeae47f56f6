//! `foxtrot psi inspect`: how a set is read.

use std::path::{Path, PathBuf};

use foxtrot::table::{Shown, visible};
use serde_json::{Value, json};

use crate::{
    args::{SetOptions, file},
    failure::Failure,
    files::write_rows,
    output::{self, say},
    report::object,
    table::Set,
};

pub(super) fn print(path: &Path, options: &SetOptions, json: bool) -> Result<(), Failure> {
    let set = Set::read(path, options)?;
    match json {
        true => output::print(in_json(&set))?,
        false => table(&set).chain(shown(&set)).try_for_each(output::print)?,
    }
    set.warnings().iter().for_each(|warning| say(warning));
    Ok(())
}

fn shown(set: &Set) -> impl Iterator<Item = String> {
    set.shown().iter().map(|Shown { line, before, after }| {
        let quoted = |parts: &[String]| {
            let parts: Vec<_> = parts.iter().map(|part| format!("{part:?}")).collect();
            parts.join(" ")
        };
        let after = match after.iter().any(String::is_empty) {
            true => "no key".into(),
            false => quoted(after),
        };
        format!("line {line}: {} → {after}", quoted(before))
    })
}

fn table(set: &Set) -> impl Iterator<Item = String> {
    let listed =
        |names: &[String]| names.iter().map(|name| visible(name)).collect::<Vec<_>>().join(", ");
    let mut table = vec![("format", set.form())];
    if let (Some(all), Some(keys)) = (set.columns(), set.key_columns()) {
        let columns = format!("{} ({})", all.len(), listed(all));
        table.extend([("columns", columns), ("key", listed(&keys))]);
    }
    table.push(("normalisers", set.keys.terms().into()));
    table.extend(set.findings());
    table.into_iter().map(|(name, value)| {
        let name = format!("{name}:");
        format!("{name:13}{value}")
    })
}

fn in_json(set: &Set) -> String {
    let mut fields = object(json!({
        "schema": 1,
        "format": set.form(),
        "columns": set.columns(),
        "key": set.key_columns(),
        "normalisers": set.keys.terms(),
    }));
    fields.extend(set.findings_in_json());
    if !set.shown().is_empty() {
        let shown = set.shown().iter().map(|Shown { line, before, after }| {
            let after = (!after.iter().any(String::is_empty)).then_some(after);
            json!({ "line": line, "before": before, "after": after })
        });
        fields.insert("shown".into(), shown.collect());
    }
    output::json(&Value::Object(fields))
}

pub(super) fn write_left_out(
    path: &Path,
    options: &SetOptions,
    to: &Option<PathBuf>,
) -> Result<(), Failure> {
    let mut set = Set::read(path, options)?;
    let rows: Vec<_> = set.keys.left_out().collect();
    let file = file(to).map(|path| (path, set.written_len(&rows)));
    write_rows(file, |out| set.write(&rows, None, out))?;
    say(&format!("read {}", set.words()));
    Ok(())
}
