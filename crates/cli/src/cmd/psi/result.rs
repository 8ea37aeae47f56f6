//! The receiver's result: rows of its file, or their number.

use std::{
    borrow::Cow,
    io::{self, IsTerminal},
};

use foxtrot::psi::run::Found;
use foxtrot_net::escaped;
use serde_json::json;

use super::{agreement::Agreed, cells::Form};
use crate::{
    args::{RowsOut, file},
    failure::Failure,
    files::write_rows,
    output::{Output, print},
    report::{Report, counted, object},
    table::{More, Set},
};

const MATCHED_BY: &str = "matched_by";

/// Fails if the result could not be written as it is wanted.
pub(super) fn check(sets: &[Set], with: bool, out: &RowsOut) -> Result<(), Failure> {
    let are_more = sets.len() > 1 || with;
    match sets {
        [set, ..] if are_more && !out.count && !out.invert => set.check_csv(),
        _ => Ok(()),
    }
}

/// The first key by which each row of the file matches, if there is one.
fn matches(sets: &[Set], found: &[Vec<usize>]) -> Vec<Option<usize>> {
    let rows = sets.first().map_or(0, |set| set.keys.rows());
    let mut by = vec![None; rows];
    for (number, (set, found)) in sets.iter().zip(found).enumerate() {
        for (by, is_common) in by.iter_mut().zip(set.keys.rows_of(found)) {
            if by.is_none() && is_common {
                *by = Some(number);
            }
        }
    }
    by
}

/// Writes the rows that match where they are wanted, and says what happened. The file was read once for each key, and
/// `found` has the common items of each.
pub(super) fn deliver(
    mut sets: Vec<Set>,
    found: Found,
    (agreed, report): (&Agreed, &Report),
    out: &RowsOut,
    output: Output,
) -> Result<(), Failure> {
    let mut theirs = Vec::new();
    let (found, payloads) = (found.items.clone(), found);
    if let Some(columns) = &agreed.psi.terms.columns {
        theirs = vec![Vec::new(); sets[0].keys.len()];
        for (item, fields) in payloads.fields(columns.padding)? {
            theirs[item] = fields;
        }
    }
    let by = matches(&sets, &found);
    let rows_found = by.iter().flatten().count();
    let rows = by.iter().enumerate().filter(|(_, by)| by.is_some() ^ out.invert);
    let rows: Vec<_> = rows.map(|(row, _)| row).collect();
    let names: Vec<_> = (0..sets.len()).map(|number| agreed.key_name(number)).collect();
    let of_rows: Vec<_> = rows.iter().map(|&row| sets[0].keys.key_of(row)).collect();
    let by: Vec<_> = by.into_iter().flatten().collect();
    let to = file(&out.output);
    let form =
        Form { is_shown: to.is_none() && io::stdout().is_terminal(), is_safe: out.safe_cells };
    let fields = |row: usize| -> Vec<Cow<'_, str>> {
        match of_rows[row].and_then(|item| theirs.get(item)) {
            Some(fields) => fields.iter().map(|field| form.of(field)).collect(),
            None => vec![names[by[row]].as_str().into()],
        }
    };
    let more = match &agreed.psi.terms.columns {
        Some(columns) => {
            let names = columns.names.iter().map(|name| form.of(name).into_owned());
            More { names: names.collect(), fields: &fields }
        }
        None => More { names: vec![MATCHED_BY.into()], fields: &fields },
    };
    let has_more = sets.len() > 1 || agreed.psi.terms.columns.is_some();
    let more = (has_more && !out.invert).then_some(&more);
    let set = &mut sets[0];
    match (to, output.json) {
        (None, true) => {}
        (None, false) if out.count => {
            let count = if found.len() > 1 { rows_found } else { found.iter().map(Vec::len).sum() };
            print(count)?;
        }
        _ => {
            let quoted = |len: usize| 2 * len + 3;
            let len_of = |more: &More<'_>| -> usize {
                let rows = (0..rows.len()).flat_map(more.fields);
                let header = more.names.iter().map(|it| quoted(it.len())).sum::<usize>();
                header + rows.map(|it| quoted(it.len())).sum::<usize>()
            };
            let len = |path| (path, set.written_len(&rows) + more.map_or(0, len_of) as u64);
            write_rows(to.map(len), |out| set.write(&rows, more, out))?;
        }
    }
    let keys: usize = found.iter().map(Vec::len).sum();
    let wrote = to.map_or(String::new(), |path| format!(", written to {}", path.display()));
    let (mut words, rows) = (counted(keys, "key in common"), counted(rows.len(), "row"));
    if found.len() > 1 {
        let each = found.iter().zip(&names).map(|(found, name)| format!("{} {name}", found.len()));
        words += &format!(" ({})", escaped(&each.collect::<Vec<_>>().join(", ")));
    }
    let rows = if out.invert { rows + " without a match" } else { rows };
    output.note(&format!("found {words}, {rows}{wrote} ({})", report.figures()));
    output.detail(&format!("flows of the run: {}", report.rounds));
    let sizes = agreed.psi.sizes();
    if keys == 0 && !sizes.contains(&0) {
        let columns = agreed.columns_in_words();
        output.note(&format!(
            "warning: no key in common ({columns}); compare the output of `foxtrot psi inspect --show 5` on both \
             sides: columns, formats of dates, upper case, spaces"
        ));
    }
    agreed.hint().iter().for_each(|hint| output.note(hint));
    let mut result = agreed.json();
    result.extend(object(json!({ "keys_found": keys, "rows_found": rows_found })));
    if found.len() > 1 {
        let each = found
            .iter()
            .zip(&names)
            .map(|(found, name)| json!({ "key": name, "keys_found": found.len() }));
        result.insert("found_by".into(), each.collect());
    }
    if let Some(path) = to {
        result.insert("files".into(), json!([path.display().to_string()]));
    }
    report.print(output, result)
}
