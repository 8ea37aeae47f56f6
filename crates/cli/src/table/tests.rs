use std::{collections::HashSet, fs, path::PathBuf};

use super::*;

/// A file in a folder of its own, which goes away with it.
struct Case {
    folder: tempfile::TempDir,
    path: PathBuf,
}

impl Case {
    fn new(name: &str, content: impl AsRef<[u8]>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        fs::write(&path, content).unwrap();
        Self { folder, path }
    }

    fn read(&self, keys: &[&str], normalisers: &[&str]) -> Result<Set, Failure> {
        Set::read(&self.path, &options(keys, normalisers))
    }
}

fn options(keys: &[&str], normalisers: &[&str]) -> SetOptions {
    SetOptions {
        key: keys.iter().map(|text| text.parse().unwrap()).collect(),
        normalize: normalisers.iter().map(|text| text.parse().unwrap()).collect(),
        ..SetOptions::default()
    }
}

#[expect(clippy::panic_in_result_fn, reason = "both are asked for")]
fn written(set: &mut Set, rows: &[usize]) -> Result<String, Failure> {
    let mut all = Vec::new();
    let written = set.write(rows, None, |piece| {
        all.extend_from_slice(piece);
        Ok(())
    });
    assert!(all.len() as u64 <= set.written_len(rows));
    written.map(|()| String::from_utf8(all).unwrap())
}

/// Returns the receiver's result.
fn intersection(ours: &mut Set, theirs: &Set) -> String {
    let theirs: HashSet<&Item> = theirs.keys.items().iter().collect();
    let items = ours.keys.items();
    let common = (0..items.len()).filter(|&key| theirs.contains(&items[key]));
    let rows = ours.keys.indices(&common.collect::<Vec<_>>());
    written(ours, &rows).unwrap()
}

const OURS: &str = "\u{feff}name,\"e-mail\"\r\n\
    Anna,Anna@Example.com \r\n\
    \"Müller, \"\"Bo\"\"\nof Ulm\",bo@example.com\r\n\
    \r\n\
    Nobody,\n\
    anna again,ANNA@example.com\r\n\
    Only ours,c@example.com\r\n\
    Bo,\"bo@example.com\"";

#[test]
fn matching_rows_come_out_in_order_with_their_bytes() {
    let mut ours = Case::new("ours.csv", OURS).read(&["e-mail"], &["email"]).unwrap();
    let theirs = Case::new("theirs.txt", "bo@EXAMPLE.com\n\n anna@example.com\nd@example.com");
    let theirs = theirs.read(&[], &["email"]).unwrap();
    assert_eq!(ours.keys.terms(), theirs.keys.terms());
    assert_eq!(
        intersection(&mut ours, &theirs),
        "name,\"e-mail\"\r\n\
         Anna,Anna@Example.com \r\n\
         \"Müller, \"\"Bo\"\"\nof Ulm\",bo@example.com\r\n\
         anna again,ANNA@example.com\r\n\
         Bo,\"bo@example.com\"\n"
    );
}

#[test]
fn duplicates_and_rows_without_key_are_left_out_and_told() {
    let mut ours = Case::new("ours.csv", OURS).read(&["#2"], &["email"]).unwrap();
    assert_eq!(
        ours.words(),
        "6 rows, 3 keys; skipped 2 duplicates (lines 7, 9), 1 row without a key (line 6)"
    );
    assert_eq!(ours.table.findings().blank, 1);
    let rows: Vec<_> = ours.keys.left_out().collect();
    let left_out = written(&mut ours, &rows).unwrap();
    assert!(left_out.ends_with("Nobody,\nanna again,ANNA@example.com\r\nBo,\"bo@example.com\"\n"));
}

#[test]
fn a_failure_names_the_file_the_place_and_an_option_that_helps() {
    for (name, content, keys, why, hint) in [
        ("t.csv", "a,b\n1,2\n\"1,2\n", &["a"][..], "t.csv, line 3, column 1: the quote that", ""),
        ("t.csv", "a,b\n1,2,3\n", &["a"], "t.csv, line 2: 3 fields; the header has 2", ""),
        ("t.csv", "\u{feff}", &["a"], "t.csv is empty", ""),
        ("t.csv", "\n\r\n", &["a"], "t.csv has only empty lines", ""),
        ("t.csv", "i\0d\0", &["a"], "t.csv is UTF-16 without", "pass --encoding utf-16le"),
        (
            "t.csv",
            "a,b;c\n",
            &["a"],
            "t.csv: the first row has ',' and ';'",
            "pass --delimiter ','",
        ),
        ("t.txt", "{\"a\": 1}\n", &[], "t.txt is JSON", "read JSON lines with --format jsonl"),
        ("t.csv", "<table><tr>", &[], "t.csv is HTML or XML", "make CSV of it with `soffice"),
        ("t.sql", "-- MySQL dump", &[], "t.sql is a dump of MySQL", "export the table: `mariadb"),
        (
            "t.csv",
            ",\n1,2\n",
            &["a"],
            "t.csv, line 1: the header has no names",
            "if the file has no header, pass --no-header",
        ),
        ("t.csv", "a,b\n", &["c"], "column c not found in t.csv", "columns are a, b"),
        (
            "t.txt",
            "a",
            &["a"],
            "--key needs a table; t.txt is read as lines",
            "read it as CSV with --format csv",
        ),
        ("t.txt", "", &[], "t.txt is empty", ""),
        ("a.parquet", "PAR1", &["k"], "a.parquet is a Parquet file", "write it as CSV"),
    ] {
        let case = Case::new(name, content);
        let failure = case.read(keys, &[]).map(drop).unwrap_err();
        let folder = format!("{}/", case.folder.path().display());
        let said = failure.message().replace(&folder, "");
        assert!(said.starts_with(why), "{said}");
        assert!(failure.hint.clone().unwrap_or_default().starts_with(hint), "{:?}", failure.hint);
        assert_eq!(failure.hint.is_none(), hint.is_empty(), "{said}");
    }
    let case = Case::new("t.csv", "sep=;\na;b\n");
    let delimiter = Some("tab".parse().unwrap());
    let failure = Set::read(&case.path, &SetOptions { delimiter, ..options(&["a"], &[]) });
    let hint = failure.map(drop).unwrap_err().hint;
    assert_eq!(hint.as_deref(), Some("remove --delimiter, or this line of the file"));
    let failure = Case::new("t.csv", "a,b\n").read(&["#1", "#2"], &["none"; 3]).map(drop);
    let why = failure.unwrap_err().message().to_owned();
    assert_eq!(why, "--normalize is given 3 times; the key has 2 columns");
}

#[test]
fn a_file_that_has_changed_is_no_source_of_rows() {
    let case = Case::new("a.csv", "k,l\n1,x\n2,y\n");
    let mut set = case.read(&["k"], &[]).unwrap();
    let rows = [0, 1];
    assert_eq!(written(&mut set, &rows).unwrap(), "k,l\n1,x\n2,y\n");
    let modified = fs::metadata(&case.path).unwrap().modified().unwrap();
    let rewrite = |content: &str| {
        fs::write(&case.path, content).unwrap();
        // The clock of the file system may be coarse.
        File::options().write(true).open(&case.path).unwrap().set_modified(modified).unwrap();
    };
    for other in ["k,l\n1,x\n3,y\n", "k,l\n1,x\n\"2,y", "k,l\n1,x\n2,y\n3,z\n", "k,l\n"] {
        rewrite(other);
        let failure = written(&mut set, &rows).unwrap_err();
        assert!(failure.message().ends_with("has changed since it was read"), "{other:?}");
    }
    rewrite("k,l\n1,x\n2,y\n");
    assert!(written(&mut set, &rows).is_ok());
    let later = modified + std::time::Duration::from_secs(1);
    File::options().write(true).open(&case.path).unwrap().set_modified(later).unwrap();
    assert!(written(&mut set, &rows).is_err());
}

#[test]
fn replacing_the_file_while_it_is_open_changes_no_row() {
    let case = Case::new("a.txt", "1\n2\n");
    let mut set = case.read(&[], &[]).unwrap();
    let other = case.folder.path().join("b.txt");
    fs::write(&other, "3\n").unwrap();
    fs::rename(&other, &case.path).unwrap();
    assert_eq!(written(&mut set, &[1]).unwrap(), "2\n");
}

#[test]
fn a_file_that_is_not_utf_8_is_read_by_the_option_that_its_error_names() {
    let case = Case::new("a.csv", b"id,name\n1,M\xfcller\n");
    let failure = case.read(&["name"], &[]).map(drop).unwrap_err();
    assert!(
        failure.message().ends_with("a.csv, line 2, column 4: not UTF-8, more likely windows-1252")
    );
    let hint = failure.hint.unwrap();
    assert!(
        hint.starts_with("if the file is windows-1252, pass --encoding windows-1252 or"),
        "{hint}"
    );
    let encoding = Some("windows-1252".parse().unwrap());
    let mut set =
        Set::read(&case.path, &SetOptions { encoding, ..options(&["name"], &[]) }).unwrap();
    let utf_8 = Case::new("b.csv", "name\nMüller\n").read(&[], &[]).unwrap();
    assert_eq!(set.keys.items(), utf_8.keys.items());
    let mut all = Vec::new();
    let more = More { names: vec!["ort".into()], fields: &|_| vec!["Köln".into()] };
    set.write(&[0], Some(&more), |piece| {
        all.extend_from_slice(piece);
        Ok(())
    })
    .unwrap();
    assert_eq!(all, b"id,name,ort\n1,M\xfcller,K\xf6ln\n");
}

#[test]
fn recognised_forms_are_said_with_the_options_that_set_others() {
    let said = |name: &str, content: &[u8], key: &str| {
        let set = Case::new(name, content).read(&[key], &[]).unwrap();
        set.words()
    };
    let utf_16: Vec<u8> =
        "\u{feff}id\ta\n1\t2\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    for (name, content, words) in [
        ("a.csv", &b"id,a\n1,2\n"[..], "1 row, 1 key"),
        ("a.tsv", b"id\ta\n1\t2\n", "1 row, 1 key"),
        ("a.csv", b"id;a\n1;2,5\n", "CSV with ';' (--delimiter sets another); 1 row, 1 key"),
        (
            "a.csv",
            &utf_16,
            "CSV with tabs (--delimiter sets another), UTF-16LE (--encoding sets another); 1 row, 1 key",
        ),
        ("a.ndjson", b"{\"id\":1}\n", "JSON lines (--format sets another); 1 row, 1 key"),
    ] {
        assert_eq!(said(name, content, "id"), words, "{name}");
    }
}

#[test]
fn packed_files_are_read_by_their_first_bytes_and_come_out_unpacked() {
    use std::io::Write as _;
    let text = "id;name\n1;a\n2;b\n";
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(text.as_bytes()).unwrap();
    let gzip = gzip.finish().unwrap();
    for name in ["a.csv.gz", "a.CSV", "a.csv.zst"] {
        let mut set = Case::new(name, &gzip).read(&["id"], &[]).unwrap();
        assert!(
            set.words().starts_with("unpacked from gzip, CSV with ';' (--delimiter"),
            "{}",
            set.words()
        );
        assert_eq!(written(&mut set, &[1]).unwrap(), "id;name\n2;b\n");
    }
    let case = Case::new("a.csv.gz", &gzip[..gzip.len() - 4]);
    let failure = case.read(&["id"], &[]).map(drop).unwrap_err();
    assert!(
        failure.message().ends_with("a.csv.gz: the gzip archive ends too early"),
        "{}",
        failure.message()
    );
    assert!(failure.hint.unwrap().starts_with("unpack the file first"));
    let options = SetOptions { max_input: Some(9), ..options(&["id"], &[]) };
    let failure = Set::read(&Case::new("a.csv.gz", &gzip).path, &options).map(drop).unwrap_err();
    assert!(failure.message().ends_with("a.csv.gz has more than 9 B"), "{}", failure.message());
}

#[test]
fn a_wrong_name_among_many_columns_lists_the_nearest_three() {
    let names: Vec<_> = (0..5000).map(|i| format!("c{i}")).chain(["e-mail".into()]).collect();
    let case = Case::new("a.csv", names.join(",") + "\n");
    let hint = |key: &str| case.read(&[key], &[]).map(drop).unwrap_err().hint.unwrap();
    assert_eq!(hint("email"), "the nearest of 5001 columns are e-mail, c0, c1");
    assert!(hint("#5002").ends_with("c10, c11 and 4989 more"), "{}", hint("#5002"));
}

#[cfg(not(feature = "spreadsheets"))]
#[test]
fn a_build_without_spreadsheets_says_so() {
    let case = Case::new("a.xlsx", b"PK\x03\x04 and so on");
    let options = SetOptions { sheet: Some("A".into()), ..options(&["a"], &[]) };
    for options in [options, self::options(&["a"], &[])] {
        let failure = Set::read(&case.path, &options).map(drop).unwrap_err();
        assert!(
            failure
                .message()
                .ends_with("a.xlsx is a spreadsheet (.xlsx, .ods) or another ZIP archive")
        );
        assert!(
            failure.hint.unwrap().starts_with(
                "this build does not read .xlsx: build with `--features spreadsheets`"
            )
        );
    }
}

#[test]
fn a_sheet_is_of_workbooks_only() {
    let case = Case::new("a.csv", "a,b\n");
    let options = SetOptions { sheet: Some("A".into()), ..options(&["a"], &[]) };
    let failure = Set::read(&case.path, &options).map(drop).unwrap_err();
    assert!(failure.message().starts_with("--sheet needs a workbook (.xlsx); "));
}
