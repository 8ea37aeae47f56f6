//! The beginning of a text file: nothing that it should not have, perhaps a byte order mark, perhaps Excel's
//! `sep=;`.

use super::{Grammar, NoText, What};

pub(super) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Bytes that are enough to know what a file is: a dump of a database begins with comments.
pub(super) const LOOKED_AT: usize = 256;

impl NoText {
    /// A Parquet file.
    pub const PARQUET: Self = Self::new(
        "parquet",
        "a Parquet file",
        "write it as CSV, or intersect it from Python; docs/psi-files.md has both ways",
    );
    const UTF_16: Self = Self::new(
        "utf-16",
        "UTF-16 without a byte order mark",
        "save the file as UTF-8, for example with `iconv -f UTF-16LE -t UTF-8`",
    );
    /// A workbook, or another ZIP archive.
    pub const WORKBOOK: Self = Self::new(
        "excel",
        "a spreadsheet (.xlsx, .ods) or another ZIP archive",
        "save it as CSV UTF-8, or with `soffice --headless --convert-to csv FILE`",
    );
    const JSON: Self = Self::new(
        "json",
        "a JSON array",
        "write a line for each object, with `jq -c '.[]' FILE > FILE.jsonl`",
    );
    const JSON_LINES: Self =
        Self::new("json", "JSON", "JSON lines are read by name, as FILE.jsonl");
    const HTML: Self = Self::new(
        "html",
        "HTML or XML, as some programs save under .xls",
        "make CSV of it with `soffice --headless --convert-to csv FILE`",
    );
    const MYSQL: Self = Self::new(
        "sql",
        "a dump of MySQL or MariaDB",
        "export the table: `mariadb --batch -e 'SELECT * FROM TABLE' DATABASE > FILE.tsv`",
    );
    const POSTGRESQL: Self = Self::new(
        "sql",
        "a dump of PostgreSQL",
        "export the table: `psql --csv -c 'SELECT * FROM TABLE' DATABASE > FILE.csv`",
    );
    const SQLITE: Self = Self::new(
        "sql",
        "a database or a dump of SQLite",
        "export the table: `sqlite3 -header -csv FILE.db 'SELECT * FROM TABLE' > FILE.csv`",
    );
    const SQL: Self =
        Self::new("sql", "SQL statements", "export the table from the database as CSV");

    const fn new(code: &'static str, is: &'static str, hint: &'static str) -> Self {
        Self { code, is, hint }
    }

    const fn packed(is: &'static str, hint: &'static str) -> Self {
        Self::new("packed", is, hint)
    }
}

/// First bytes of what is no text.
const OTHERS: [(&[u8], NoText); 10] = [
    (b"\x1f\x8b", NoText::packed("compressed with gzip", "unpack it with `gunzip`")),
    (b"\x28\xb5\x2f\xfd", NoText::packed("compressed with Zstandard", "unpack it with `unzstd`")),
    (b"BZh91AY&SY", NoText::packed("compressed with bzip2", "unpack it with `bunzip2`")),
    (b"\xfd7zXZ\0", NoText::packed("compressed with xz", "unpack it with `unxz`")),
    (b"7z\xbc\xaf\x27\x1c", NoText::packed("a 7z archive", "unpack the archive first")),
    (b"PK\x03\x04", NoText::WORKBOOK),
    (
        b"\xd0\xcf\x11\xe0",
        NoText::new(
            "excel",
            "an old Excel file (.xls) or another one of Office",
            "save it as CSV UTF-8, or with `soffice --headless --convert-to csv FILE`",
        ),
    ),
    (b"PAR1\x15", NoText::PARQUET),
    (b"SQLite format 3\0", NoText::SQLITE),
    (b"PGDMP", NoText::POSTGRESQL),
];

/// First words of texts that are no tables, in small letters.
const WORDS: [(&str, NoText); 16] = [
    ("-- mysql dump", NoText::MYSQL),
    ("-- mariadb dump", NoText::MYSQL),
    ("/*m!999999", NoText::MYSQL),
    ("-- phpmyadmin sql dump", NoText::MYSQL),
    ("--\n-- postgresql database dump", NoText::POSTGRESQL),
    ("pragma foreign_keys=", NoText::SQLITE),
    ("create table ", NoText::SQL),
    ("drop table ", NoText::SQL),
    ("insert into ", NoText::SQL),
    ("begin transaction;", NoText::SQL),
    ("<!doctype html", NoText::HTML),
    ("<html", NoText::HTML),
    ("<table", NoText::HTML),
    ("<meta ", NoText::HTML),
    ("<?xml", NoText::HTML),
    ("<workbook", NoText::HTML),
];

/// Fails if a file that begins so is no table, and says what it is.
pub(super) fn check(bytes: &[u8], grammar: Grammar) -> Result<(), What> {
    let other = OTHERS.iter().find(|(first, _)| bytes.starts_with(first)).map(|(_, it)| *it);
    // Without a byte order mark every other byte of what most files begin with is zero.
    let other = other.or(match bytes {
        [0, a, 0, b, ..] | [a, 0, b, 0, ..] if *a != 0 && *b != 0 => Some(NoText::UTF_16),
        _ => None,
    });
    let text = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes).trim_ascii_start();
    let text = String::from_utf8_lossy(text).to_ascii_lowercase().replace("\r\n", "\n");
    let other =
        other.or_else(|| WORDS.iter().find(|(word, _)| text.starts_with(word)).map(|it| it.1));
    let behind = |first: char| text.strip_prefix(first).map(str::trim_start);
    let other = other.or(match (behind('['), behind('{')) {
        (Some(rest), _) if rest.starts_with('{') => Some(NoText::JSON),
        (_, Some(rest)) if rest.starts_with('"') && grammar != Grammar::JsonLines => {
            Some(NoText::JSON_LINES)
        }
        _ => None,
    });
    other.map_or(Ok(()), |it| Err(What::NoText(it)))
}

/// The delimiter that the first line names for Excel, and the length of the line with its end.
pub(super) fn named_delimiter(bytes: &[u8]) -> Option<(u8, usize)> {
    let (word, rest) = bytes.split_at_checked(4)?;
    let (&delimiter, end) = rest.split_first()?;
    let len = match end {
        [b'\n', ..] => 6,
        [b'\r', b'\n', ..] => 7,
        _ => return None,
    };
    let is_one = delimiter.is_ascii() && !matches!(delimiter, b'"' | b'\n' | b'\r');
    (word.eq_ignore_ascii_case(b"sep=") && is_one).then_some((delimiter, len))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_no_text_is_named_by_its_first_bytes() {
        for (bytes, words) in [
            (&b"\x1f\x8b\x08\0"[..], "compressed with gzip; unpack it with `gunzip`"),
            (
                b"PK\x03\x04\x14",
                "a spreadsheet (.xlsx, .ods) or another ZIP archive; save it as CSV",
            ),
            (
                b"\xd0\xcf\x11\xe0",
                "an old Excel file (.xls) or another one of Office; save it as CSV",
            ),
            (b"-- MySQL dump 10.13", "a dump of MySQL or MariaDB; export the table: `mariadb"),
            (b"/*M!999999\\- enable", "a dump of MySQL or MariaDB; export the table: `mariadb"),
            (
                b"\xef\xbb\xbf--\r\n-- PostgreSQL database dump",
                "a dump of PostgreSQL; export the table: `psql --csv",
            ),
            (b"PRAGMA foreign_keys=OFF;", "a database or a dump of SQLite; export"),
            (b"SQLite format 3\0", "a database or a dump of SQLite; export"),
            (b"insert INTO t VALUES", "SQL statements; export"),
            (b"\n[\n  {\"id\"", "a JSON array; write a line for each object"),
            (b"{ \"id\": 1", "JSON; JSON lines are read by name"),
            (b"<HTML xmlns", "HTML or XML, as some programs save under .xls; make CSV of it"),
            (b"<?xml version", "HTML or XML, as some programs save under .xls; make CSV of it"),
            (b"PAR1\x15", "a Parquet file; write it as CSV"),
            (b"i\0d\0,\0", "UTF-16 without a byte order mark; save the file as UTF-8"),
            (b"\0i\0d\0,", "UTF-16 without a byte order mark; save the file as UTF-8"),
        ] {
            let Err(What::NoText(NoText { is, hint, .. })) = check(bytes, Grammar::Lines) else {
                panic!()
            };
            let said = format!("{is}; {hint}");
            assert!(said.starts_with(words), "{said}");
        }
        check(b"{\"id\": 1}", Grammar::JsonLines).unwrap();
        for text in [
            &b""[..],
            b"P",
            b"PK",
            b"PAR1001",
            b"BZh",
            b"id,name\n",
            b"\xef\xbb\xbfid",
            b"\x1f",
            b"{3f25-11}",
            b"[a]",
            b"--",
            b"<id>",
            b"create",
        ] {
            check(text, Grammar::Lines).unwrap();
        }
    }

    #[test]
    fn the_first_line_may_name_the_delimiter() {
        assert_eq!(named_delimiter(b"sep=;\nid;name"), Some((b';', 6)));
        assert_eq!(named_delimiter(b"SEP=\t\r\n"), Some((b'\t', 7)));
        for text in [
            &b"sep=;"[..],
            b"sep=;\r",
            b"sep=\n\n",
            b"sep=;;\n",
            b"sep=\"\n",
            b"separator\n",
            b"sep",
        ] {
            assert_eq!(named_delimiter(text), None);
        }
    }
}
