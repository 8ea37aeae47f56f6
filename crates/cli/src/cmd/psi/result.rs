//! The receiver's result: rows of its file, or their number.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::agreement::Agreed;
use crate::{
    args::{Common, RowsOut},
    failure::Failure,
    files::{Access, Draft, Existing, put_in_place},
    output::Output,
    report::{Report, counted},
    table::Set,
};

/// Writes the rows with these items where they are wanted, and says what happened.
pub(super) fn deliver(
    mut set: Set,
    items: &[usize],
    (agreed, report): (&Agreed, &Report),
    out: &RowsOut,
    common: &Common,
) -> Result<(), Failure> {
    let mut matched = vec![false; set.items().len()];
    items.iter().for_each(|&item| matched[item] = true);
    let matches: Vec<_> =
        set.items_of_rows().map(|item| item.is_some_and(|item| matched[item])).collect();
    let rows_found = matches.iter().filter(|&&matches| matches).count();
    let wanted: Vec<_> = matches.iter().map(|matches| matches ^ out.invert).collect();
    let rows = set.rows_at(&wanted);
    if let Some(path) = out.file() {
        let mut draft = Draft::begin(Access::Usual, path, set.written_len(&rows))?;
        set.write(&rows, |piece| draft.append(piece))?;
        put_in_place(Existing::Replaced, vec![draft])?;
    } else if !common.json {
        let mut stdout = io::stdout().lock();
        if out.count {
            writeln!(stdout, "{}", items.len()).map_err(|e| Failure::stdout(&e))?;
        } else {
            set.write(&rows, |piece| stdout.write_all(piece).map_err(|e| Failure::stdout(&e)))?;
        }
        stdout.flush().map_err(|e| Failure::stdout(&e))?;
    }
    let keys = items.len();
    let wrote = out.file().map_or(String::new(), |path| format!(", written to {}", path.display()));
    let (found, rows) = (counted(keys, "key in common"), counted(rows.len(), "row"));
    let rows = if out.invert { rows + " without a match" } else { rows };
    Output::new(common).note(&format!("found {found}, {rows}{wrote} ({})", report.figures()));
    agreed.hint().iter().for_each(|hint| Output::new(common).note(hint));
    Output::new(common).detail(&format!("flows of the run: {}", report.rounds));
    let sizes = [agreed.parameters.receiver_items(), agreed.parameters.sender_items()];
    if keys == 0 && !sizes.contains(&0) {
        let columns = agreed.columns_in_words();
        Output::new(common).note(&format!(
            "warning: no key in common ({columns}); compare the output of `foxtrot psi inspect --show 5` on both \
             sides: columns, formats of dates, upper case, spaces"
        ));
    }
    let mut result = json!({ "keys_found": keys, "rows_found": rows_found });
    if let (Some(object), Some(path)) = (result.as_object_mut(), out.file()) {
        object.insert("files".into(), json!([path.display().to_string()]));
    }
    print_object(agreed, report, common, result)
}

/// Prints the report of a side without result as one object; for `--json`.
pub(super) fn print_json(agreed: &Agreed, report: &Report, common: &Common) -> Result<(), Failure> {
    print_object(agreed, report, common, Value::Object(Map::new()))
}

fn print_object(
    agreed: &Agreed,
    report: &Report,
    common: &Common,
    result: Value,
) -> Result<(), Failure> {
    if !common.json {
        return Ok(());
    }
    let mut object = report.json();
    object.extend(agreed.json());
    if let Value::Object(result) = result {
        object.extend(result);
    }
    writeln!(io::stdout().lock(), "{}", Value::Object(object)).map_err(|e| Failure::stdout(&e))
}
