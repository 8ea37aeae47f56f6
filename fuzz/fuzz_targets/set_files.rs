//! A set's file, as CSV, lines or Parquet, of which the fuzzer changes anything: it is read or refused, and what is
//! written of its rows is read as the same set.
#![no_main]

use std::{fs, path::Path, sync::LazyLock};

use foxtrot_cli::fuzzing::{Read, Reading, read_set};
use foxtrot_fuzz::{Change, changed};
use libfuzzer_sys::fuzz_target;
use parquet::{
    data_type::{ByteArrayType, Int64Type},
    file::writer::SerializedFileWriter,
    schema::parser::parse_message_type,
};

const TEXT: &str = "\u{feff}name,\"e-mail\"\r\n\
    Anna,Anna@Example.com \r\n\
    \"Müller, \"\"Bo\"\"\nof Ulm\",bo@example.com\r\n\
    \r\n\
    Nobody,\n\
    anna again,ANNA@example.com\r\n\
    Bo,+49 (170) 123";

static PARQUET: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let schema = "message people { required int64 id; optional binary email (UTF8); }";
    let schema = parse_message_type(schema).unwrap();
    let mut bytes = Vec::new();
    let mut writer =
        SerializedFileWriter::new(&mut bytes, schema.into(), Default::default()).unwrap();
    let mut group = writer.next_row_group().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<Int64Type>().write_batch(&[1, 2, 3], None, None).unwrap();
    column.close().unwrap();
    let mut column = group.next_column().unwrap().unwrap();
    let emails = ["anna@example.com".into(), "bo@example.com".into()];
    column.typed::<ByteArrayType>().write_batch(&emails, Some(&[1, 0, 1]), None).unwrap();
    column.close().unwrap();
    group.close().unwrap();
    writer.close().unwrap();
    assert!(!takes_hours(&bytes));
    bytes
});

const NORMALISERS: [&str; 8] =
    ["none", "trim", "lower", "nfc", "digits", "email", "phone:+49", "trim,lower,nfc"];

fuzz_target!(|input: (u8, Option<u8>, u8, bool, Vec<Change>)| {
    let (form, key, normalize, header, changes) = input;
    let (name, honest) = match form % 4 {
        0 => ("set.csv", TEXT.as_bytes()),
        1 => ("set.tsv", TEXT.as_bytes()),
        2 => ("set.txt", TEXT.as_bytes()),
        _ => ("set.parquet", PARQUET.as_slice()),
    };
    let text = form % 4 != 3;
    let reading = Reading {
        key: key.filter(|_| form % 4 != 2).map(|key| key % 4),
        normalize: NORMALISERS[usize::from(normalize) % NORMALISERS.len()],
        no_header: !header && form % 4 < 2,
    };
    let content = changed(honest, &changes);
    if !text && takes_hours(&content) {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    match read(&path, reading, &content) {
        // A second byte order mark would be the first of what is written.
        Ok(set) if !(text && set.rows.starts_with("\u{feff}".as_bytes())) => {
            let again = read(&path, reading, &set.rows).expect("our own rows");
            assert_eq!(again.items, set.items);
            assert!(!text || again.rows == set.rows);
        }
        Ok(_) => {}
        Err(why) => assert!(!(text && why.contains("changed")), "{why}"),
    }
});

/// Returns true if a part of the file may be a list, set or map of very many truth values: the crate `parquet`
/// goes through them one by one although they take no bytes (SECURITY.md, "Denial of service").
fn takes_hours(content: &[u8]) -> bool {
    let goes_on = |byte: &u8| byte & 0x80 != 0;
    let of_list = |header: u8| matches!(header, 0xf1 | 0xf2);
    let of_map = |types: &u8| matches!(types, 0x11 | 0x12 | 0x21 | 0x22);
    content.windows(4).any(|part| of_list(part[0]) && part[1..].iter().all(goes_on))
        || content.windows(5).any(|part| part[..3].iter().all(goes_on) && of_map(&part[4]))
}

fn read(path: &Path, reading: Reading, content: &[u8]) -> Result<Read, String> {
    fs::write(path, content).unwrap();
    read_set(path, reading)
}
