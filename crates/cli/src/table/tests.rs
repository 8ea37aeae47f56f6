use std::{
    collections::{BTreeSet, HashSet},
    fs,
    path::PathBuf,
};

use proptest::prelude::*;

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

    /// Returns the reason why the file cannot be read, without the folder.
    fn why(&self, keys: &[&str]) -> String {
        let failure = self.read(keys, &[]).map(drop).unwrap_err();
        let folder = format!("{}/", self.folder.path().display());
        failure.message().replace(&folder, "")
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
fn written(set: &mut Set, rows: &[Row]) -> Result<String, Failure> {
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
    let theirs: HashSet<&Item> = theirs.items.iter().collect();
    let common: Vec<bool> = ours.items.iter().map(|item| theirs.contains(item)).collect();
    let rows = ours.rows(|item, _| item.is_some_and(|item| common[item]));
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
    assert_eq!(ours.terms(), theirs.terms());
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
    assert_eq!(ours.items.len(), 3);
    assert_eq!(
        ours.findings.words(3),
        "6 rows, 3 keys; skipped 2 duplicates (lines 7, 9), 1 row without a key (line 6)"
    );
    assert_eq!(ours.findings.blank, 1);
    let rows = ours.rows(|item, first| item.is_none() || !first);
    let left_out = written(&mut ours, &rows).unwrap();
    assert!(left_out.ends_with("Nobody,\nanna again,ANNA@example.com\r\nBo,\"bo@example.com\"\n"));
}

#[test]
fn a_first_line_for_excel_names_the_delimiter_and_stays() {
    let text = "\u{feff}sep=;\r\nid;mail\r\n1;a@b.c\r\n2;d@e.f\r\n3;a@b.c\r\n";
    let mut set = Case::new("a.csv", text).read(&["mail"], &[]).unwrap();
    assert_eq!(set.form(), "CSV with ';'");
    assert_eq!(set.findings.words(2), "3 rows, 2 keys; skipped 1 duplicate (line 5)");
    let rows = set.rows(|item, _| item == Some(1));
    assert_eq!(written(&mut set, &rows).unwrap(), "sep=;\r\nid;mail\r\n2;d@e.f\r\n");
    // The same is said by the option, and another thing refused.
    let case = Case::new("a.csv", text);
    let with = |delimiter: &str| {
        let delimiter = Some(delimiter.parse().unwrap());
        Set::read(&case.path, &SetOptions { delimiter, ..options(&["mail"], &[]) })
    };
    assert!(with(";").is_ok());
    let why = with("tab").map(drop).unwrap_err();
    assert!(why.message().ends_with("line 1: the line sets ';' as the field separator"));
    // It is a name, or a row of lines, where nothing else would make sense.
    let set = Case::new("a.csv", "sep=\n1\n").read(&[], &[]).unwrap();
    assert_eq!(set.columns().unwrap(), ["sep="]);
    assert_eq!(Case::new("a.txt", "sep=;\n1\n").read(&[], &[]).unwrap().items.len(), 2);
}

#[test]
fn a_nul_byte_in_a_key_is_refused() {
    let case = Case::new("a.csv", "id,mail\n1\0,a\n2,b\0\n");
    assert_eq!(case.why(&["mail"]), "a.csv, line 3: a NUL byte in the key");
    assert_eq!(case.why(&["id"]), "a.csv, line 2: a NUL byte in the key");
    let case = Case::new("a.txt", "a\nb\nc\0");
    assert_eq!(case.why(&[]), "a.txt, line 3: a NUL byte in the key");
    // In other columns it is the file's own matter.
    Case::new("a.csv", "id,mail\n1,a\0\n").read(&["id"], &[]).unwrap();
}

#[test]
fn keys_are_shown_before_and_after() {
    let case = Case::new("ours.csv", OURS);
    let set = Set::read(&case.path, &options(&["e-mail"], &["email"]).showing(3)).unwrap();
    let shown: Vec<_> =
        set.shown.iter().map(|it| (it.place, &*it.before[0], &*it.after[0])).collect();
    assert_eq!(
        shown,
        [
            (2, "Anna@Example.com ", "anna@example.com"),
            (3, "bo@example.com", "bo@example.com"),
            (6, "", ""),
        ]
    );
    assert!(case.read(&["e-mail"], &["email"]).unwrap().shown.is_empty());
}

/// Each side has its own format, and they agree on the normaliser.
#[test]
fn dates_of_two_formats_are_the_same_key() {
    let ours =
        Case::new("a.txt", "1.2.1990\n31.12.2000\n31.2.2000\n").read(&[], &["date:D.M.YYYY"]);
    let theirs = Case::new("b.txt", "2000-12-31\n1990-02-01\n").read(&[], &["date"]);
    let (mut ours, theirs) = (ours.unwrap(), theirs.unwrap());
    assert_eq!((ours.terms(), theirs.terms()), ("date/1".into(), "date/1".into()));
    assert_eq!(ours.findings.words(2), "3 rows, 2 keys; skipped 1 row without a key (line 3)");
    assert_eq!(intersection(&mut ours, &theirs), "1.2.1990\n31.12.2000\n");
}

#[test]
fn an_empty_intersection_writes_only_the_header() {
    let mut ours = Case::new("ours.csv", "id\n1").read(&[], &[]).unwrap();
    let theirs = Case::new("theirs.csv", "number").read(&[], &[]).unwrap();
    assert_eq!(intersection(&mut ours, &theirs), "id\n");
    let mut ours = Case::new("ours.txt", "1\n2\n").read(&[], &[]).unwrap();
    assert_eq!(intersection(&mut ours, &theirs), "");
}

#[test]
fn keys_of_several_columns_match_in_the_order_given() {
    let rows = "Last,First,Born\nMeyer,Eva,1980\nEva,Meyer,1980\n,Eva,1980\n";
    let mut ours =
        Case::new("a.csv", rows).read(&["First", "Last"], &["lower", "trim,lower"]).unwrap();
    let theirs = "born;first;last\n1980;EVA; Meyer\n1980;EVA;\n";
    let theirs = Case::new("b.csv", theirs);
    let mut options = options(&["first", "last"], &["lower", "trim,lower"]);
    options.delimiter = Some(";".parse().unwrap());
    let theirs = Set::read(&theirs.path, &options).unwrap();
    assert_eq!(intersection(&mut ours, &theirs), "Last,First,Born\nMeyer,Eva,1980\n");
}

#[test]
fn errors_in_a_file_name_their_place() {
    for (content, why) in [
        (&b"a,b\n1,2\n\"x\ny\",2,3\n"[..], "t.csv, line 3: 3 fields; the header has 2"),
        (b"a,b\n1,\xe4\n", "t.csv, line 2, column 3: not UTF-8"),
        ("a,b\n\"é\n\",é\"\n\"ü\",\"ü\" x\n".as_bytes(), "t.csv, line 4, column 8: text after"),
        (b"a,b\n1,2\n\"1,2\n3,4\n", "t.csv, line 3, column 1: the quote that begins"),
        (b"a,b\r1,2\r", "t.csv, line 1, column 4: a carriage return without a line feed"),
        (b"\xff\xfea\0", "t.csv is UTF-16"),
        (b"", "t.csv is empty"),
        (b"\xef\xbb\xbf", "t.csv is empty"),
        (b"\n\r\n", "t.csv has only empty lines"),
        (b" \n  \n", "t.csv, line 1: the header has no names"),
        (b"\n,,\na,b,c\n", "t.csv, line 2: the header has no names"),
    ] {
        let found = Case::new("t.csv", content).why(&["a"]);
        assert!(found.starts_with(why), "{found}");
    }
    assert_eq!(Case::new("t.txt", "a").why(&["a"]), "--key needs a table; t.txt is read as lines");
    for (content, why) in [("", "t.txt is empty"), ("\n\r\n", "t.txt has only empty lines")] {
        assert_eq!(Case::new("t.txt", content).why(&[]), why);
    }
    assert_eq!(Case::new("t.txt", "\n \n").read(&[], &["trim"]).unwrap().items.len(), 0);
    let number = options(&["#1", "#2"], &["none", "none", "none"]);
    let failure = Set::read(&Case::new("t.csv", "a,b\n").path, &number).map(drop).unwrap_err();
    assert_eq!(failure.message(), "--normalize is given 3 times; the key has 2 columns");
}

#[test]
fn a_parquet_file_is_not_taken_for_lines() {
    assert_eq!(Case::new("a.parquet", "PAR1").why(&["k"]), "a.parquet is a Parquet file");
    assert_eq!(Case::new("a", "PAR1\x15").why(&[]), "a is a Parquet file");
}

#[test]
fn long_fields_are_read_and_endless_ones_are_not() {
    let long = "x".repeat(records::MAX_ROW - 4);
    let mut set = Case::new("a.csv", format!("k\n\"{long}\"\n1\n")).read(&[], &[]).unwrap();
    let rows = set.rows(|_, _| true);
    assert_eq!(written(&mut set, &rows).unwrap().len(), long.len() + 7);
    let text = format!("k,l\n1,\"{long}\n{long}\"\n");
    assert_eq!(Case::new("a.csv", text).why(&["k"]), "a.csv, line 2: a row of more than 16 MiB");
    let endless = Case::new("a.txt", "x".repeat(records::MAX_ROW + 2));
    assert_eq!(endless.why(&[]), "a.txt, line 1: a row of more than 16 MiB");
}

#[test]
fn a_file_that_has_changed_is_no_source_of_rows() {
    let case = Case::new("a.csv", "k,l\n1,x\n2,y\n");
    let mut set = case.read(&["k"], &[]).unwrap();
    let rows = set.rows(|_, _| true);
    assert_eq!(written(&mut set, &rows).unwrap(), "k,l\n1,x\n2,y\n");
    let modified = fs::metadata(&case.path).unwrap().modified().unwrap();
    let rewrite = |content: &str| {
        fs::write(&case.path, content).unwrap();
        // The clock of the file system may be coarse.
        fs::File::options().write(true).open(&case.path).unwrap().set_modified(modified).unwrap();
    };
    for other in ["k,l\n1,x\n3,y\n", "k,l\n1,x\n\"2,y", "k,l\n1,x\n2,y\n3,z\n", "k,l\n"] {
        rewrite(other);
        let failure = written(&mut set, &rows).unwrap_err();
        assert!(failure.message().ends_with("has changed since it was read"), "{other:?}");
    }
    rewrite("k,l\n1,x\n2,y\n");
    assert!(written(&mut set, &rows).is_ok());
    let later = modified + std::time::Duration::from_secs(1);
    fs::File::options().write(true).open(&case.path).unwrap().set_modified(later).unwrap();
    assert!(written(&mut set, &rows).is_err());
}

#[test]
fn replacing_the_file_while_it_is_open_changes_no_row() {
    let case = Case::new("a.txt", "1\n2\n");
    let mut set = case.read(&[], &[]).unwrap();
    let other = case.folder.path().join("b.txt");
    fs::write(&other, "3\n").unwrap();
    fs::rename(&other, &case.path).unwrap();
    let rows = set.rows(|item, _| item == Some(1));
    assert_eq!(written(&mut set, &rows).unwrap(), "2\n");
}

/// A key, as it is and in some of the ways in which people write it.
fn messy_key() -> impl Strategy<Value = (u8, String)> {
    (0u8..12, 0usize..4).prop_map(|(number, way)| {
        let key = format!("ä{number}@x");
        let text = match way {
            0 => key,
            1 => format!(" {} ", key.to_uppercase()),
            2 => key.replace('ä', "a\u{308}"),
            _ => format!("\"{key}\t\""),
        };
        (number, text)
    })
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>, header: bool, delimiter in "[,;\t]") {
        for name in ["a.csv", "a.txt"] {
            let case = Case::new(name, &bytes);
            let mut options = options(&[], &["trim"]);
            if name == "a.csv" {
                options.no_header = !header;
                options.delimiter = Some(delimiter.parse().unwrap());
                options.key.push("#1".parse().unwrap());
            }
            let _ = Set::read(&case.path, &options);
        }
    }

    #[test]
    fn writing_every_row_reproduces_the_file(pieces in prop::collection::vec(
        prop::sample::select(vec!["a", "é", ",", "\"", "\"\"", "\n", "\r\n", "\"\n,\"\n"]), 0..24,
    )) {
        let text = pieces.concat();
        for name in ["a.csv", "a.txt"] {
            let keys: &[_] = if name == "a.csv" { &["#1"] } else { &[] };
            let Ok(mut set) = Case::new(name, &text).read(keys, &[]) else { continue };
            let rows = set.rows(|_, _| true);
            // Empty lines are no rows of a table: here they may be in quotes only.
            prop_assume!(set.findings.blank == 0);
            let end = if text.ends_with('\n') { "" } else { "\n" };
            prop_assert_eq!(written(&mut set, &rows).unwrap(), format!("{text}{end}"));
        }
    }

    #[test]
    fn intersection_matches_a_naive_comparison(
        ours in prop::collection::vec(messy_key(), 0..12),
        theirs in prop::collection::vec(messy_key(), 0..12),
    ) {
        let table = |keys: &[(u8, String)]| -> String {
            let rows = keys.iter().enumerate().map(|(i, (_, key))| format!("{i},{key}\n"));
            "i,k\n".chars().map(String::from).chain(rows).collect()
        };
        let read = |keys| Case::new("a.csv", table(keys)).read(&["k"], &["email"]).unwrap();
        let (mut set, other) = (read(&ours), read(&theirs));
        let distinct: BTreeSet<u8> = ours.iter().map(|(number, _)| *number).collect();
        prop_assert_eq!(set.items.len(), distinct.len());
        let theirs: BTreeSet<u8> = theirs.iter().map(|(number, _)| *number).collect();
        let expected = ours.iter().enumerate().filter(|(_, (number, _))| theirs.contains(number));
        let expected: String = expected.map(|(i, (_, key))| format!("{i},{key}\n")).collect();
        prop_assert_eq!(intersection(&mut set, &other), format!("i,k\n{expected}"));
    }
}
