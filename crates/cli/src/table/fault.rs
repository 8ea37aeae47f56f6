//! Faults of tables in the words of the command: with the file, and with options that help.

use std::path::Path;

use foxtrot::table::{Column, Fault, NoText, What, nearest, visible};

use crate::failure::Failure;

/// The failure of a file with these columns.
pub(super) fn failure(path: &Path, fault: Fault, names: &[String]) -> Failure {
    let (file, hint) = (path.display(), fault.hint());
    let (why, hint) = match &fault.what {
        What::Io(e) => return Failure::reading(path, e),
        What::Memory(_) => return Failure::run(fault.what.to_string()),
        What::NoText(it) => {
            let hint = match it.code {
                "utf-16" => Some("pass --encoding utf-16le or --encoding utf-16be"),
                "excel" if *it == NoText::WORKBOOK && !cfg!(feature = "spreadsheets") => Some(
                    "this build does not read .xlsx: build with `--features spreadsheets`, save it as CSV UTF-8, or use \
                     `soffice --headless --convert-to csv FILE`",
                ),
                "json" if it.is == "JSON" => Some("read JSON lines with --format jsonl"),
                _ => hint,
            };
            (format!("{file} is {}", it.is), hint.map(Into::into))
        }
        What::Empty => (format!("{file} is empty"), None),
        What::OnlyBlank => (format!("{file} has only empty lines"), None),
        What::TooManyKeys(_) => (format!("{file} has {}", fault.what), None),
        What::NoKey(columns) => {
            (format!("--key is missing: {file} has {columns} columns"), Some(choice(names)))
        }
        What::NoColumn(column) => {
            let hint = match column {
                Column::Name(wanted) => like(names, wanted),
                Column::Number(_) => choice(names),
            };
            (format!("{} in {file}", fault.what), Some(hint))
        }
        What::NoHeader(name) => {
            (format!("{file} has no header, so no column is named {name}"), Some(choice(names)))
        }
        What::SameName(name, [first, second]) => (
            format!("{file} has several columns named {name}"),
            Some(format!("choose one: --key '#{}' or --key '#{}'", first + 1, second + 1)),
        ),
        What::Twice(name) => {
            (format!("--key names column {} twice", visible(name)), hint.map(Into::into))
        }
        What::Normalisers(given, columns) => (
            format!("--normalize is given {given} times; the key has {columns} columns"),
            Some("pass --normalize once for all columns, or once for each".into()),
        ),
        what => {
            let hint = match what {
                What::OtherDelimiter(_) => Some("remove --delimiter, or this line of the file"),
                What::NotUtf8(likely) => {
                    let hint = format!(
                        "if the file is {likely}, pass --encoding {likely} or convert it with `iconv`"
                    );
                    return Failure::usage(format!("{file}, {fault}")).hint(hint);
                }
                What::NotInEncoding(_) => {
                    Some("pass the --encoding of the file; without it UTF-8 is read")
                }
                What::DelimiterInside(..) => Some("pass another --delimiter , ; or tab"),
                What::Delimiters(several) => {
                    let each = several.iter().map(|it| match it {
                        '\t' => "--delimiter tab".into(),
                        it => format!("--delimiter '{it}'"),
                    });
                    let hint = format!("pass {}", each.collect::<Vec<_>>().join(" or "));
                    return Failure::usage(format!("{file}: {fault}")).hint(hint);
                }
                What::NoNames => Some("if the file has no header, pass --no-header"),
                _ => hint,
            };
            (format!("{file}, {fault}"), hint.map(Into::into))
        }
    };
    let failure = Failure::usage(why);
    hint.into_iter().fold(failure, |failure, hint: String| failure.hint(hint))
}

/// The columns that there are to choose from.
fn choice(names: &[String]) -> String {
    if let [name] = names
        && let Some(delimiter) = [',', ';', '\t', '|'].into_iter().find(|&c| name.contains(c))
    {
        let delimiter = if delimiter == '\t' { "tab".into() } else { format!("'{delimiter}'") };
        let name = visible(name);
        return format!("the header has one column, {name}; try --delimiter {delimiter}");
    }
    let (some, rest) = names.split_at(names.len().min(LISTED));
    let some: Vec<_> = some.iter().map(|name| visible(name)).collect();
    let more = if rest.is_empty() { String::new() } else { format!(" and {} more", rest.len()) };
    format!("columns are {}{more}", some.join(", "))
}

/// The columns that somebody may have meant.
fn like(names: &[String], wanted: &str) -> String {
    if names.len() <= LISTED {
        return choice(names);
    }
    let near: Vec<_> = nearest(names, wanted, 3).into_iter().map(visible).collect();
    format!("the nearest of {} columns are {}", names.len(), near.join(", "))
}

/// The most columns that a hint lists.
const LISTED: usize = 12;

#[cfg(test)]
mod tests {
    use foxtrot::table::{Form, Table};

    use super::*;

    #[test]
    fn a_missing_or_wrong_key_option_lists_the_columns() {
        for (file, header, key, why) in [
            (
                "id,e-mail,id",
                true,
                &[][..],
                "--key is missing: a.csv has 3 columns: columns are id, e-mail, id",
            ),
            ("id,name", true, &["email"], "column email not found in a.csv: columns are id, name"),
            ("id,name", true, &["#4"], "column #4 not found in a.csv: columns are id, name"),
            (
                "id,name,id",
                true,
                &["id"],
                "a.csv has several columns named id: choose one: --key '#1' or --key '#3'",
            ),
            (
                "id,e-mail",
                true,
                &["e-mail", "#2"],
                "--key names column e-mail twice: give each key column once",
            ),
            (
                "id ,first name,,Ort\u{a0}",
                true,
                &["id"],
                r#"column id not found in a.csv: columns are "id ", "first name", "", "Ort\u{a0}""#,
            ),
            ("1", false, &["id"], "a.csv has no header, so no column is named id: columns are #1"),
            (
                "id;name",
                true,
                &["id"],
                "column id not found in a.csv: the header has one column, id;name; try --delimiter ';'",
            ),
        ] {
            let mut table = Table::new(Form { header, ..Form::csv(b',') });
            table = table.key(key.iter().map(|it| it.parse().unwrap()).collect());
            let fault = table.read(file.as_bytes()).and_then(|()| table.end()).map(drop);
            let failure = failure(Path::new("a.csv"), fault.unwrap_err(), table.names());
            assert_eq!(format!("{}: {}", failure.message(), failure.hint.as_deref().unwrap()), why);
        }
    }
}
