use std::fs;

use parquet::{data_type::ByteArray, schema::parser::parse_message_type};

use super::*;

const SCHEMA: &str = "message people {
    required int64 id;
    optional binary email (UTF8);
    repeated binary tags (UTF8);
    optional double score;
}";

type Person = (i64, Option<&'static str>, &'static [&'static str], Option<f64>);

const PEOPLE: [Person; 5] = [
    (1, Some("Anna@Example.com"), &["a", "b"], None),
    (2, None, &[], Some(0.5)),
    (3, Some("bo@example.com"), &["c"], None),
    (4, Some(" anna@example.com"), &[], Some(1.5)),
    (5, Some("c@example.com"), &["d", "e", "f"], Some(2.5)),
];

/// A file with a row group for each part.
fn write(path: &Path, groups: &[&[Person]]) {
    let schema = Arc::new(parse_message_type(SCHEMA).unwrap());
    let file = File::create(path).unwrap();
    let mut writer = SerializedFileWriter::new(file, schema, Arc::default()).unwrap();
    let texts = |all: &[&str]| all.iter().map(|&text| text.into()).collect::<Vec<ByteArray>>();
    for group in groups {
        let mut to = writer.next_row_group().unwrap();
        let mut column = to.next_column().unwrap().unwrap();
        let ids: Vec<_> = group.iter().map(|person| person.0).collect();
        column.typed::<Int64Type>().write_batch(&ids, None, None).unwrap();
        column.close().unwrap();
        let mut column = to.next_column().unwrap().unwrap();
        let emails: Vec<_> = group.iter().filter_map(|person| person.1).collect();
        let defined: Vec<_> = group.iter().map(|person| i16::from(person.1.is_some())).collect();
        let emails = texts(&emails);
        column.typed::<ByteArrayType>().write_batch(&emails, Some(&defined), None).unwrap();
        column.close().unwrap();
        let mut column = to.next_column().unwrap().unwrap();
        let (mut tags, mut defined, mut repeated) = (Vec::new(), Vec::new(), Vec::new());
        for person in *group {
            tags.extend(texts(person.2));
            let levels = person.2.len().max(1);
            defined.extend((0..levels).map(|_| i16::from(!person.2.is_empty())));
            repeated.extend((0..levels).map(|i| i16::from(i > 0)));
        }
        let typed = column.typed::<ByteArrayType>();
        typed.write_batch(&tags, Some(&defined), Some(&repeated)).unwrap();
        column.close().unwrap();
        let mut column = to.next_column().unwrap().unwrap();
        let scores: Vec<_> = group.iter().filter_map(|person| person.3).collect();
        let defined: Vec<_> = group.iter().map(|person| i16::from(person.3.is_some())).collect();
        column.typed::<DoubleType>().write_batch(&scores, Some(&defined), None).unwrap();
        column.close().unwrap();
        to.close().unwrap();
    }
    writer.close().unwrap();
}

/// All rows, as text.
fn rows(path: &Path) -> Vec<String> {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect()
}

fn options(keys: &[&str], normalisers: &[&str]) -> SetOptions {
    SetOptions {
        key: keys.iter().map(|text| text.parse().unwrap()).collect(),
        normalize: normalisers.iter().map(|text| text.parse().unwrap()).collect(),
        ..SetOptions::default()
    }
}

#[test]
fn chosen_rows_come_out_with_all_their_columns() {
    let folder = tempfile::tempdir().unwrap();
    let [path, copy] = ["a.parquet", "b.parquet"].map(|name| folder.path().join(name));
    write(&path, &[&PEOPLE[..3], &PEOPLE[3..]]);
    let mut set = Set::read(&path, &options(&["email"], &["email"])).unwrap();
    let words = "5 rows, 3 keys; skipped 1 duplicate (row 4), 1 row without a key (row 2)";
    assert_eq!(set.findings().words(set.items().len()), words);
    let all = rows(&path);
    for wanted in [&[0][..], &[1], &[2], &[0, 2], &[], &[0, 1, 2]] {
        let chosen = set.rows(|item, _| item.is_some_and(|item| wanted.contains(&item)));
        let mut bytes = Vec::new();
        set.write(&chosen, |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })
        .unwrap();
        fs::write(&copy, bytes).unwrap();
        let item_of = [0, 9, 1, 0, 2];
        let expected = all.iter().zip(item_of).filter(|(_, item)| wanted.contains(item));
        let expected: Vec<_> = expected.map(|(row, _)| row.clone()).collect();
        assert_eq!(rows(&copy), expected);
    }
}

#[test]
fn a_key_is_the_same_in_parquet_and_csv() {
    let folder = tempfile::tempdir().unwrap();
    let [parquet, csv] = ["a.parquet", "a.csv"].map(|name| folder.path().join(name));
    write(&parquet, &[&PEOPLE]);
    let lines = PEOPLE.map(|(id, email, ..)| format!("{},{id}\n", email.unwrap_or_default()));
    fs::write(&csv, format!("mail,number\n{}", lines.concat())).unwrap();
    let parquet = Set::read(&parquet, &options(&["email", "id"], &["email", "none"])).unwrap();
    let csv = Set::read(&csv, &options(&["mail", "number"], &["email", "none"])).unwrap();
    assert_eq!((parquet.items(), parquet.items().len()), (csv.items(), 4));
}

#[test]
fn parquet_columns_that_cannot_be_keys_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    write(&path, &[&PEOPLE]);
    for key in ["tags", "score", "name"] {
        assert!(Set::read(&path, &options(&[key], &[])).is_err(), "{key}");
    }
    let whole = fs::read(&path).unwrap();
    for len in [0, 4, whole.len() / 2, whole.len() - 1] {
        fs::write(&path, &whole[..len]).unwrap();
        assert!(Set::read(&path, &options(&["id"], &[])).is_err(), "{len}");
    }
}

#[test]
fn a_compression_that_we_cannot_undo_is_named_in_words() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    write(&path, &[&PEOPLE]);
    let bytes = fs::read(&path).unwrap();
    // In the metadata of a column its codec stands behind its name.
    let before = b"\x18\x05email\x15";
    let at = bytes.windows(before.len()).position(|some| some == before).unwrap() + before.len();
    for (codec, name) in [(4, "gzip"), (8, "Brotli"), (14, "LZ4")] {
        let mut others = bytes.clone();
        others[at] = codec;
        fs::write(&path, others).unwrap();
        // Also for the sake of another key: all columns come out.
        for key in ["email", "id"] {
            let why = Set::read(&path, &options(&[key], &["none"])).err().unwrap();
            assert!(why.message().ends_with(&format!(" are compressed with {name}")));
        }
    }
}

#[test]
fn a_nul_byte_in_a_key_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    write(&path, &[&[(1, Some("a@b.c"), &[], None), (2, Some("a\0b"), &[], None)]]);
    let why = Set::read(&path, &options(&["email"], &["none"])).err().unwrap();
    assert!(why.message().ends_with("row 2: a NUL byte in the key"), "{}", why.message());
    Set::read(&path, &options(&["id"], &["none"])).unwrap();
}

/// The crate `parquet` panics at some of these files.
#[test]
fn a_damaged_file_is_read_or_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    write(&path, &[&PEOPLE]);
    let bytes = fs::read(&path).unwrap();
    let mut contradictions = 0;
    for at in 0..bytes.len() {
        for bits in [0x01, 0x0e, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] ^= bits;
            fs::write(&path, damaged).unwrap();
            let of_panic = |why: Failure| usize::from(why.message().contains("contradict"));
            let read = Set::read(&path, &options(&["email", "id"], &["email", "none"]));
            contradictions += read.map_or_else(of_panic, |mut set| {
                let rows = set.rows(|_, _| true);
                set.write(&rows, |_| Ok(())).map_or_else(of_panic, |()| 0)
            });
        }
    }
    assert!(contradictions > 0, "the crate does not panic any more");
}

/// The header of a page begins with a list of 2³¹ − 1 numbers in a field that nobody knows.
#[test]
fn impossible_lengths_in_a_parquet_file_are_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.parquet");
    write(&path, &[&PEOPLE]);
    let mut bytes = fs::read(&path).unwrap();
    bytes[4..11].copy_from_slice(&[0xf9, 0xf7, 0xff, 0xff, 0xff, 0xff, 0x07]);
    fs::write(&path, bytes).unwrap();
    let why = Set::read(&path, &options(&["id"], &["none"])).err().unwrap();
    assert!(why.message().contains("as Parquet"), "{}", why.message());
}

#[test]
fn the_end_of_the_file_is_an_error_only_if_more_is_read() {
    let mut reader = Ending(&b"ab"[..]);
    assert_eq!(reader.read(&mut [0; 3]).unwrap(), 2);
    assert_eq!(reader.read(&mut []).unwrap(), 0);
    assert_eq!(reader.read(&mut [0]).unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
}
