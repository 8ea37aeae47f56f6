use std::{
    collections::{BTreeSet, HashSet},
    fmt::Write,
};

use proptest::prelude::*;

use super::*;

const CSV: Form = Form { grammar: Grammar::Csv { delimiter: b',' }, header: true, ..Form::LINES };

fn table(form: Form, key: &[&str], normalisers: &[&str]) -> Table {
    Table::new(form)
        .key(key.iter().map(|it| it.parse().unwrap()).collect())
        .normalise(normalisers.iter().map(|it| it.parse().unwrap()).collect())
        .showing(3)
}

fn read(mut table: Table, bytes: impl AsRef<[u8]>) -> Result<(Table, Keys), String> {
    let keys = table.read(bytes.as_ref()).and_then(|()| table.end());
    keys.map(|keys| (table, keys)).map_err(|e| e.to_string())
}

/// The rows as they are written, by their places.
fn written(table: &Table, file: &[u8], rows: &[usize]) -> String {
    let mut all = table.above();
    for &row in rows {
        let (start, len) = table.place(row).unwrap();
        let start = usize::try_from(start).unwrap();
        all.extend_from_slice(&file[start..start + len as usize]);
        table.extend(&mut all, [""; 0]);
    }
    String::from_utf8(all).unwrap()
}

fn common(ours: &Keys, theirs: &Keys) -> Vec<usize> {
    let theirs: HashSet<_> = theirs.items().iter().collect();
    let common = (0..ours.len()).filter(|&key| theirs.contains(&ours.items()[key]));
    ours.indices(&common.collect::<Vec<_>>())
}

/// A table of files that people have, and what each is read as: the only reader has the same words for everybody who reads with
/// it.
#[test]
fn files_as_people_have_them_are_read_or_refused_with_their_place() {
    const PACKED: &str = "the file is compressed with gzip";
    let long = |len: usize| format!("k,l\n1,\"{}\"\n2,y\n", "x".repeat(len));
    let cases: [(&[u8], &str); 36] = [
        (b"", "the file is empty"),
        (b"\xef\xbb\xbf", "the file is empty"),
        (b"\n\r\n", "the file has only empty lines"),
        (b"id,mail\n", "[id, mail] rows 0 keys 0 repeated [] empty [] blank 0"),
        (b"id,mail", "[id, mail] rows 0 keys 0 repeated [] empty [] blank 0"),
        (b"\n,,\na,b,c\n", "line 2: the header has no names"),
        (b" ,  \n1,2\n", "line 1: the header has no names"),
        (b"\n\r\nid,a\n1,2\n\n", "[id, a] rows 1 keys 1 repeated [] empty [] blank 3"),
        (b"sep=;\r\nid;a\r\n1;2\r\n", "[id, a] rows 1 keys 1 repeated [] empty [] blank 0"),
        (b"\xef\xbb\xbfSEP=\t\nid\ta\n1\t2", "[id, a] rows 1 keys 1 repeated [] empty [] blank 0"),
        (b"sep=\n1\n", "[sep=] rows 1 keys 1 repeated [] empty [] blank 0"),
        (b"a,b\r\n1,2", "[a, b] rows 1 keys 1 repeated [] empty [] blank 0"),
        (b"a,b\n1,x\n1,y\n,z\n2,\n", "[a, b] rows 4 keys 2 repeated [3] empty [4] blank 0"),
        (
            b"a,b\n\"1\",\"x\n\"\"y\"\"\"\n1,y\n",
            "[a, b] rows 2 keys 1 repeated [4] empty [] blank 0",
        ),
        (b"a,b\"c\n5\" pipe,2\n", "[a, b\"c] rows 1 keys 1 repeated [] empty [] blank 0"),
        (b"\"a\nb;c\",e\n1,2\n", "[a\nb;c, e] rows 1 keys 1 repeated [] empty [] blank 0"),
        (b"a,a\n1,2\n", "[a, a] rows 1 keys 1 repeated [] empty [] blank 0"),
        (b"a,b\r1,2\r", "line 1, column 4: a carriage return without a line feed"),
        (b"a,b\n1,2\r", "line 2, column 4: a carriage return without a line feed"),
        (
            b"a,b\n1,2\n\"1,2\n3,4\n",
            "line 3, column 1: the quote that begins this field is never closed",
        ),
        (
            "a,b\n\"é\n\",é\"\n\"ü\",\"ü\" x\n".as_bytes(),
            "line 4, column 8: text after the closing quote of a field",
        ),
        (b"a,b\n1,\xe4\n", "line 2, column 3: not UTF-8, more likely windows-1252"),
        (b"a,b\n1\0,2\n", "line 2: a NUL byte in the key"),
        (b"a,b\n1,2\0\n", "[a, b] rows 1 keys 1 repeated [] empty [] blank 0"),
        (b"a,b\n1,2\n\"x\ny\",2,3\n", "line 3: 3 fields; the header has 2"),
        (b"a,b\n1\n", "line 2: 1 fields; the header has 2"),
        (b"\x1f\x8b\x08\0", PACKED),
        (b"PK\x03\x04 and so on", "the file is a spreadsheet (.xlsx, .ods) or another ZIP archive"),
        (b"\xff\xfei\0,\0", "[i, ] rows 0 keys 0 repeated [] empty [] blank 0"),
        (b"\xff\xfei\0,\0\n", "line 1, column 3: not UTF-16LE"),
        (b"i\0d\0,\0", "the file is UTF-16 without a byte order mark"),
        (b"PAR1\x15", "the file is a Parquet file"),
        (b"PAR1\n1\n", "[PAR1] rows 1 keys 1 repeated [] empty [] blank 0"),
        (&long(MAX_ROW - 5).into_bytes(), "[k, l] rows 2 keys 2 repeated [] empty [] blank 0"),
        (&long(MAX_ROW - 4).into_bytes(), "line 2: a row of more than 16 MiB"),
        (&[b"k,l\n\"", &vec![b'\n'; 1 << 25][..]].concat(), "line 2: a row of more than 16 MiB"),
    ];
    for (bytes, expected) in cases {
        for at_once in [3, CHUNK, usize::MAX] {
            if at_once == 3 && bytes.len() > 1 << 20 {
                continue;
            }
            let mut table = table(CSV, &["#1"], &[]);
            let read = bytes.chunks(at_once).try_for_each(|piece| table.push(piece));
            let found = read.and_then(|()| table.end());
            let found = match found {
                Err(fault) => fault.to_string(),
                Ok(keys) => {
                    let (Findings { duplicates, empty, blank }, rows) =
                        (table.findings(), table.rows());
                    assert_eq!(keys.duplicates().count(), duplicates.count);
                    assert_eq!(keys.without_key().count(), empty.count);
                    let mut words = format!("[{}] rows {rows} ", table.names().join(", "));
                    let (repeated, empty) = (&duplicates.first, &empty.first);
                    write!(
                        words,
                        "keys {} repeated {repeated:?} empty {empty:?} blank {blank}",
                        keys.len()
                    )
                    .unwrap();
                    words
                }
            };
            assert_eq!(
                found,
                expected,
                "{:?}",
                String::from_utf8_lossy(&bytes[..bytes.len().min(80)])
            );
        }
    }
}

#[test]
fn lines_are_keys_and_quotes_and_delimiters_are_characters() {
    let (table, keys) = read(table(Form::LINES, &[], &[]), "sep=;\n\"a,b\n\n c\nb\n\"a,b").unwrap();
    assert_eq!((keys.rows(), keys.len(), table.findings().blank), (5, 4, 1));
    assert_eq!(keys.left_out().collect::<Vec<_>>(), [4]);
    assert_eq!(table.findings().duplicates.first, [6]);
    let (_, keys) = read(self::table(Form::LINES, &[], &["trim"]), "\n \n").unwrap();
    assert_eq!((keys.rows(), keys.len()), (1, 0));
}

#[test]
fn a_chosen_delimiter_is_not_contradicted() {
    let form = |delimiter| Form { is_chosen: true, ..Form::csv(delimiter) };
    let file = "sep=;\nid;mail\n1;a\n";
    assert!(read(table(form(b';'), &["id"], &[]), file).is_ok());
    let why = read(table(form(b'\t'), &["id"], &[]), file).unwrap_err();
    assert_eq!(why, "line 1: the line sets ';' as the field separator");
}

#[test]
fn rows_come_out_with_their_bytes_below_what_stands_above_them() {
    let file = "\u{feff}sep=;\r\nid;mail\r\n1;\"a\n\"\"b\"\r\n\r\n2;c\r\n1;d";
    let (mut table, keys) = read(table(CSV, &["id"], &[]), file).unwrap();
    assert_eq!(keys.indices(&[0]), [0, 2]);
    let written = written(&table, file.as_bytes(), &[0, 2]);
    assert_eq!(written, "sep=;\r\nid;mail\r\n1;\"a\n\"\"b\"\r\n1;d\n");
    let row = b"1;\"a\n\"\"b\"\r\n";
    assert_eq!(table.fields(row, &[0, 1]).unwrap(), ["1", "a\n\"b"]);
    assert!(table.is_row(&keys, 0, row) && !table.is_row(&keys, 1, row));
    for other in [&b"1;\"a"[..], b"1;a\n2;b\n", b"\xff;a\n", b""] {
        assert!(!table.is_row(&keys, 0, other));
    }
    let mut more = row.to_vec();
    table.extend(&mut more, ["x;y"]);
    assert_eq!(more, b"1;\"a\n\"\"b\";\"x;y\"\r\n");
}

#[test]
fn a_header_without_a_line_end_gets_one() {
    let (table, _) = read(table(CSV, &[], &[]), "id").unwrap();
    assert_eq!(table.above(), b"id\n");
}

#[test]
fn keys_are_shown_before_and_after() {
    let file = "name,mail\nAnna,Anna@Example.com \nBo,\"b@c\"\n,\nCid,e@f\n";
    let (table, _) = read(table(CSV, &["mail"], &["email"]), file).unwrap();
    let shown: Vec<_> =
        table.shown().iter().map(|it| (it.line, &*it.before[0], &*it.after[0])).collect();
    let first = (2, "Anna@Example.com ", "anna@example.com");
    assert_eq!(shown, [first, (3, "b@c", "b@c"), (4, "", "")]);
}

/// Each side has its own format, and they agree on the normaliser.
#[test]
fn dates_of_two_formats_are_the_same_key() {
    let dates = |format: &str, file: &str| read(table(Form::LINES, &[], &[format]), file).unwrap();
    let (ours, mine) = dates("date:D.M.YYYY", "1.2.1990\n31.12.2000\n31.2.2000\n");
    let (theirs, others) = dates("date", "2000-12-31\n1990-02-01\n");
    assert_eq!((&*ours.terms(), &*theirs.terms()), ("date/1", "date/1"));
    assert_eq!(ours.findings().empty.first, [3]);
    assert_eq!(common(&mine, &others), [0, 1]);
}

#[test]
fn keys_of_several_columns_match_in_the_order_given() {
    let of = |form, key: &[&str], file: &str| {
        read(table(form, key, &["lower", "trim,lower"]), file).unwrap().1
    };
    let ours = "Last,First,Born\nMeyer,Eva,1980\nEva,Meyer,1980\n,Eva,1980\n";
    let ours = of(CSV, &["First", "Last"], ours);
    let theirs = "born;first;last\n1980;EVA; Meyer\n1980;EVA;\n";
    let theirs = of(Form::csv(b';'), &["first", "last"], theirs);
    assert_eq!(common(&ours, &theirs), [0]);
    let three = read(table(CSV, &["#1", "#2"], &["none"; 3]), "a,b\n").unwrap_err();
    assert_eq!(three, "line 1: 3 normalisers; the key has 2 columns");
}

#[test]
fn rows_and_columns_have_limits() {
    let lines = || table(Form::LINES, &[], &[]);
    for table in [lines().room(3), lines().at_most(3, 1)] {
        assert_eq!(read(table, "1\n2\n3\n4\n").unwrap_err(), "line 4: more than 3 rows");
    }
    let why = read(table(CSV, &["#1"], &[]).at_most(9, 2), "a,b,c\n").unwrap_err();
    assert_eq!(why, "line 1: 3 columns, more than are shown");
}

#[test]
fn names_are_read_without_a_key() {
    let (table, _) = read(table(CSV, &[], &[]).without_key(), "a,b\n1,2\n").unwrap();
    assert_eq!((table.names(), table.rows()), (&["a".into(), "b".into()][..], 1));
}

#[test]
fn a_table_grows_with_its_rows() {
    let file: String = (0..20_000).map(|i| format!("{}\n", i % 15_000)).collect();
    let (table, grown) = read(table(Form::LINES, &[], &[]), &file).unwrap();
    let (_, at_once) = read(self::table(Form::LINES, &[], &[]).room(20_000), &file).unwrap();
    assert_eq!(grown.items(), at_once.items());
    assert!(grown.of_rows().eq((0..20_000).map(|row| Some(row % 15_000))));
    assert_eq!(
        (table.findings().duplicates.count, grown.duplicates().next()),
        (5000, Some(15_000))
    );
}

#[test]
fn shards_have_each_row_once() {
    let file: String =
        (0..500).map(|i| format!("{},x\n", if i % 7 == 0 { 0 } else { i })).collect();
    let file = format!("k,l\n{file},none\n");
    let division = Division::from_parts([1; 32], [2; 32], 3).unwrap();
    let (all, _) = read(table(CSV, &["k"], &[]), &file).unwrap();
    let mut rows = Vec::new();
    for shard in 0..3 {
        let of = table(CSV, &["k"], &[]).room(501).of_shard(Some((division.clone(), shard)));
        let (table, keys) = read(of, &file).unwrap();
        assert!(division.shards_of(keys.items()).iter().all(|it| *it == shard));
        assert_eq!(keys.without_key().count(), usize::from(shard == 0));
        rows.extend((0..keys.rows()).map(|row| table.place(row).unwrap()));
    }
    rows.sort_unstable();
    assert_eq!(rows, (0..501).map(|row| all.place(row).unwrap()).collect::<Vec<_>>());
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
        let _ = read(table(Form::LINES, &[], &["trim"]), &bytes);
        let form = Form { header, ..Form::csv(delimiter.as_bytes()[0]) };
        let _ = read(table(form, &["#1"], &["trim"]), &bytes);
    }

    #[test]
    fn writing_every_row_reproduces_the_file(pieces in prop::collection::vec(
        prop::sample::select(vec!["a", "é", ",", "\"", "\"\"", "\n", "\r\n", "\"\n,\"\n"]), 0..24,
    )) {
        let text = pieces.concat();
        for (form, key) in [(CSV, &["#1"][..]), (Form::LINES, &[])] {
            let Ok((table, keys)) = read(table(form, key, &[]), &text) else { continue };
            // Empty lines are no rows of a table: here they may be in quotes only.
            prop_assume!(table.findings().blank == 0);
            prop_assert!(keys.rows() + usize::from(form.header) == form.count(text.as_bytes()));
            let end = if text.ends_with('\n') { "" } else { "\n" };
            let rows: Vec<_> = (0..keys.rows()).collect();
            prop_assert_eq!(written(&table, text.as_bytes(), &rows), format!("{text}{end}"));
        }
    }

    #[test]
    fn intersection_matches_a_naive_comparison(
        ours in prop::collection::vec(messy_key(), 0..12),
        theirs in prop::collection::vec(messy_key(), 0..12),
    ) {
        let file = |keys: &[(u8, String)]| -> String {
            let rows = keys.iter().enumerate().map(|(i, (_, key))| format!("{i},{key}\n"));
            "i,k\n".chars().map(String::from).chain(rows).collect()
        };
        let of = |keys| read(table(CSV, &["k"], &["email"]), file(keys)).unwrap().1;
        let found = common(&of(&ours), &of(&theirs));
        let distinct: BTreeSet<u8> = ours.iter().map(|(number, _)| *number).collect();
        prop_assert_eq!(of(&ours).len(), distinct.len());
        let theirs: BTreeSet<u8> = theirs.iter().map(|(number, _)| *number).collect();
        let expected = ours.iter().enumerate().filter(|(_, (number, _))| theirs.contains(number));
        prop_assert_eq!(found, expected.map(|(row, _)| row).collect::<Vec<_>>());
    }
}

/// Rows of a file in another encoding, all of them, and their keys' items.
fn reread(form: Form, file: &[u8]) -> (Table, Keys, Vec<u8>) {
    let (mut table, keys) = read(table(form, &["Straße"], &["lower"]), file).unwrap();
    let mut all = table.above();
    for row in 0..keys.rows() {
        let (start, len) = table.place(row).unwrap();
        let start = usize::try_from(start).unwrap();
        let bytes = &file[start..start + len as usize];
        assert!(table.is_row(&keys, row, bytes));
        all.extend_from_slice(bytes);
        table.extend(&mut all, [""; 0]);
    }
    (table, keys, all)
}

#[test]
fn rows_in_another_encoding_have_the_keys_of_utf_8_and_keep_their_bytes() {
    let text = "id;Straße\r\n1;\"Süd\"\"\r\n;1\"\r\n2;Ähre\r\n3;😀 ähre";
    let csv = Form::csv(b';');
    let (_, expected, _) = reread(csv, text.as_bytes());
    for (big, encoding) in [(false, Encoding::UTF_16LE), (true, Encoding::UTF_16BE)] {
        let bytes = |text: &str| -> Vec<u8> {
            let unit = |it: u16| if big { it.to_be_bytes() } else { it.to_le_bytes() };
            text.encode_utf16().flat_map(unit).collect()
        };
        let file = bytes(&format!("\u{feff}{text}"));
        let (table, keys, mut all) = reread(csv, &file);
        assert_eq!((table.encoding(), keys.items()), (encoding, expected.items()));
        assert_eq!(all, bytes(&format!("\u{feff}{text}\n")));
        table.extend(&mut all, ["ü"]);
        assert_eq!(all, bytes(&format!("\u{feff}{text};ü\n")));
        // Without the mark it has to be named.
        let (_, keys, all) = reread(Form { encoding, ..csv }, &bytes(text));
        assert_eq!((keys.items(), all), (expected.items(), bytes(&format!("{text}\n"))));
        let sep = bytes("\u{feff}sep=|\r\nid|Straße\r\n1|a\r\n");
        assert_eq!(reread(csv, &sep).2, sep);
    }
}

#[cfg(feature = "encodings")]
#[test]
fn rows_in_an_encoding_by_name_have_the_keys_of_utf_8_and_keep_their_bytes() {
    let form = |name: &str| Form { encoding: name.parse().unwrap(), ..Form::csv(b',') };
    let file = b"id,Stra\xdfe\n1,\xc4hre\n2,\"\x80\"\n";
    let (_, expected, _) = reread(Form::csv(b','), "id,Straße\n1,Ähre\n2,€\n".as_bytes());
    let (table, keys, mut all) = reread(form("windows-1252"), file);
    assert_eq!((keys.items(), &all[..]), (expected.items(), &file[..]));
    table.extend(&mut all, ["ü😀"]);
    assert!(all.ends_with(b",\"\x80\",\xfc\\u{1f600}\n"));
    let japanese = b"id,Strasse\n1,\x83\x5c\x83\x7c\n".map(|byte| byte);
    let keys =
        |form, key: &str, file: &[u8]| read(self::table(form, &[key], &[]), file).map(|it| it.1);
    let found = keys(form("Shift_JIS"), "Strasse", &japanese).unwrap();
    let expected = keys(Form::csv(b','), "Strasse", "id,Strasse\n1,ソポ\n".as_bytes()).unwrap();
    assert_eq!(found.items(), expected.items());
    let barred = Form { encoding: "sjis".parse().unwrap(), ..Form::csv(b'|') };
    let why = keys(barred, "#1", &japanese).map(drop).unwrap_err();
    assert_eq!(why, "'|' may be a part of another character in Shift_JIS");
    let why = keys(form("sjis"), "#1", b"id,Strasse\n1,\x83\n").map(drop).unwrap_err();
    assert_eq!(why, "line 2: not Shift_JIS");
    assert!(
        "iso-2022-jp".parse::<Encoding>().unwrap_err().starts_with("iso-2022-jp cannot be read")
    );
    assert!("latin".parse::<Encoding>().unwrap_err().starts_with("unknown encoding latin"));
}

#[cfg(feature = "encodings")]
#[test]
fn the_likely_encoding_is_named() {
    for (bytes, name) in [
        (&b"id\nM\xfcller\n"[..], "windows-1252"),
        (b"id\n\xcc\xee\xf1\xea\xe2\xe0 \xe3\xee\xf0\xee\xe4\n", "windows-1251"),
        (b"id\n\x82\xa9\x82\xc8\n", "shift_jis"),
        (b"id\n\xa4\xab\xa4\xca\n", "euc-jp"),
        (b"id\n\xb0\xa1\xb3\xaa\n", "euc-kr"),
        (b"id\n\xb1\xb1\xbe\xa9\xca\xd0\n", "gbk"),
    ] {
        let why = read(table(Form::LINES, &[], &[]), bytes).map(drop).unwrap_err();
        assert!(why.ends_with(&format!("not UTF-8, more likely {name}")), "{why}");
    }
}

#[test]
fn keys_of_json_lines_are_found_by_name() {
    let json = |key: &[&str], file: &str| read(table(Form::JSON_LINES, key, &["lower"]), file);
    let file = "{\"id\":1,\"mail\":\"\\u00c4@x\"}\n\n{\"mail\":\"b@x\",\"more\":[1]}\r\n{\"id\":3,\"mail\":null}\n{\"id\":4,\"mail\":\"ä@X\"}";
    let (table, keys) = json(&["mail"], file).unwrap();
    assert_eq!((table.names(), keys.len()), (&["id".into(), "mail".into()][..], 2));
    let Findings { duplicates, empty, blank } = table.findings();
    assert_eq!((&duplicates.first[..], &empty.first[..], *blank), (&[5][..], &[4][..], 1));
    assert_eq!(
        written(&table, file.as_bytes(), &[0, 1]),
        "{\"id\":1,\"mail\":\"\\u00c4@x\"}\n{\"mail\":\"b@x\",\"more\":[1]}\r\n"
    );
    let lines = read(self::table(Form::LINES, &[], &[]), "ä@x\n").unwrap().1;
    assert_eq!(common(&keys, &lines), [0, 3]);
    for (key, file, why) in [
        (&["e"][..], "{\"id\":1}\n", "line 1: column e not found"),
        (&[], "{\"id\":1,\"e\":2}\n", "line 1: no key is named, and there are 2 columns"),
        (&["id"], "{\"id\":1}\n{\"id\":\n", "line 2, column 7: this is no value of JSON"),
        (
            &["id"],
            "{\"id\":1}\n[2]\n",
            "line 2, column 1: a line of JSON is an object, from { to }",
        ),
        (
            &["id"],
            "{\"id\":1}\n{\"id\":2,\"id\":3}\n",
            "line 2, column 1: an object has a name twice",
        ),
        (&["id"], "[{\"id\":1}]", "the file is a JSON array"),
    ] {
        assert_eq!(json(key, file).map(drop).unwrap_err(), why);
    }
}
