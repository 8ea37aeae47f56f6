//! The receiver's result: rows of its file, or their number.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use serde_json::json;

use super::{agreement::Agreed, party::Found};
use crate::{
    args::{Common, RowsOut},
    failure::Failure,
    files::{Access, Draft, Existing, put_in_place},
    output::Output,
    report::{Report, counted, object},
    table::{More, Set, printable},
};

/// The header of the column that tells by which key a row matches.
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
    let rows = sets.first().map_or(0, |set| set.items_of_rows().count());
    let mut by = vec![None; rows];
    for (number, (set, found)) in sets.iter().zip(found).enumerate() {
        let mut is_common = vec![false; set.items().len()];
        found.iter().for_each(|&item| is_common[item] = true);
        for (by, item) in by.iter_mut().zip(set.items_of_rows()) {
            if by.is_none() && item.is_some_and(|item| is_common[item]) {
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
    found: &Found,
    (agreed, report): (&Agreed, &Report),
    out: &RowsOut,
    common: &Common,
) -> Result<(), Failure> {
    let Found { items: found, fields: theirs } = found;
    let by = matches(&sets, found);
    let rows_found = by.iter().flatten().count();
    let wanted: Vec<_> = by.iter().map(|by| by.is_some() ^ out.invert).collect();
    let names: Vec<_> = (0..sets.len()).map(|number| agreed.key_name(number)).collect();
    let of_rows = sets[0].items_of_rows().zip(&wanted).filter(|(_, wanted)| **wanted);
    let of_rows: Vec<_> = of_rows.map(|(item, _)| item).collect();
    let by: Vec<_> = by.into_iter().flatten().collect();
    let fields = |row: usize| -> Vec<Cow<'_, str>> {
        match of_rows[row].and_then(|item| theirs.get(item)) {
            Some(fields) => fields.iter().map(Cow::from).collect(),
            None => vec![names[by[row]].as_str().into()],
        }
    };
    let more = match &agreed.terms.columns {
        Some(columns) => More { names: columns.names.clone(), fields: &fields },
        None => More { names: vec![MATCHED_BY.into()], fields: &fields },
    };
    let has_more = sets.len() > 1 || agreed.terms.columns.is_some();
    let more = (has_more && !out.invert).then_some(&more);
    let set = &mut sets[0];
    let rows = set.rows_at(&wanted);
    if let Some(path) = out.file() {
        let len = |fields: &[Cow<'_, str>]| fields.iter().map(|it| 2 * it.len() + 3).sum::<usize>();
        let header = |more: &More<'_>| more.names.iter().map(|it| 2 * it.len() + 3).sum::<usize>();
        let more_len = more.map_or(0, |more| {
            header(more) + (0..rows.len()).map(|row| len(&(more.fields)(row))).sum::<usize>()
        });
        let len = set.written_len(&rows) + more_len as u64;
        let mut draft = Draft::begin(Access::Usual, path, len)?;
        set.write(&rows, more, |piece| draft.append(piece))?;
        put_in_place(Existing::Replaced, vec![draft])?;
    } else if !common.json {
        let mut stdout = io::stdout().lock();
        if out.count {
            let count = if found.len() > 1 { rows_found } else { found.iter().map(Vec::len).sum() };
            writeln!(stdout, "{count}").map_err(|e| Failure::stdout(&e))?;
        } else {
            let to = |piece: &[u8]| stdout.write_all(piece).map_err(|e| Failure::stdout(&e));
            set.write(&rows, more, to)?;
        }
        stdout.flush().map_err(|e| Failure::stdout(&e))?;
    }
    let keys: usize = found.iter().map(Vec::len).sum();
    let wrote = out.file().map_or(String::new(), |path| format!(", written to {}", path.display()));
    let (mut words, rows) = (counted(keys, "key in common"), counted(rows.len(), "row"));
    if found.len() > 1 {
        let each = found.iter().zip(&names).map(|(found, name)| format!("{} {name}", found.len()));
        words += &format!(" ({})", printable(&each.collect::<Vec<_>>().join(", ")));
    }
    let rows = if out.invert { rows + " without a match" } else { rows };
    Output::new(common).note(&format!("found {words}, {rows}{wrote} ({})", report.figures()));
    Output::new(common).detail(&format!("flows of the run: {}", report.rounds));
    let sizes = [agreed.receivers_keys(), agreed.senders_keys()];
    if keys == 0 && !sizes.contains(&0) {
        let columns = agreed.columns_in_words();
        Output::new(common).note(&format!(
            "warning: no key in common ({columns}); compare the output of `foxtrot psi inspect --show 5` on both \
             sides: columns, formats of dates, upper case, spaces"
        ));
    }
    agreed.hint().iter().for_each(|hint| Output::new(common).note(hint));
    let mut result = agreed.json();
    result.extend(object(json!({ "keys_found": keys, "rows_found": rows_found })));
    if found.len() > 1 {
        let each = found
            .iter()
            .zip(&names)
            .map(|(found, name)| json!({ "key": name, "keys_found": found.len() }));
        result.insert("found_by".into(), each.collect());
    }
    if let Some(path) = out.file() {
        result.insert("files".into(), json!([path.display().to_string()]));
    }
    report.print(common, result)
}
