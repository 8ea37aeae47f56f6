//! A set's file, as CSV, lines or JSON lines in several encodings, of which the fuzzer changes anything: it is read or refused, and what is written of its
//! rows is read as the same set.
#![no_main]

use std::fs;

use foxtrot_cli::fuzzing::read_set;
use foxtrot_fuzz::{Change, changed};
use libfuzzer_sys::fuzz_target;

const TEXT: &str = "\u{feff}name,\"e-mail\"\r\n\
    Anna,Anna@Example.com \r\n\
    \"Müller, \"\"Bo\"\"\nof Ulm\",bo@example.com\r\n\
    \r\n\
    Nobody,\n\
    anna again,ANNA@example.com\r\n\
    Bo,+49 (170) 123";

const JSON: &str = "{\"name\":\"Anna \\u00e4\\n\",\"mail\":[1,{\"a\":null}]}\n\n\
    {\"mail\":-1.5e3,\"name\":null,\"more\":true}\r\n{\"name\":\"\\ud83d\\ude00\"}";

const NORMALISERS: [&str; 17] = [
    "none",
    "trim",
    "lower",
    "nfc",
    "digits",
    "email",
    "phone:+49",
    "trim,lower,nfc",
    "zeros",
    "number",
    "fold",
    "words",
    "gmail",
    "email,sha256",
    "email,md5:hashed",
    "date:DD.MM.YY:year2:30",
    "phone:+39",
];

const ENCODINGS: [&str; 6] =
    ["utf-8", "utf-16le", "utf-16be", "windows-1252", "shift_jis", "gb18030"];

fuzz_target!(|input: (u8, Option<u8>, u8, u8, bool, Vec<Change>)| {
    let (form, key, normalize, encoding, header, changes) = input;
    let name = ["set.csv", "set.tsv", "set.txt", "set.jsonl"][usize::from(form % 4)];
    let key = key.filter(|_| form % 4 != 2).map(|key| key % 4);
    let normalize = NORMALISERS[usize::from(normalize) % NORMALISERS.len()];
    let encoding = ENCODINGS[usize::from(encoding) % ENCODINGS.len()];
    let no_header = !header && form % 4 < 2;
    let text = if form % 4 == 3 { JSON } else { TEXT };
    let content = match encoding {
        "utf-16le" => text.encode_utf16().flat_map(u16::to_le_bytes).collect(),
        "utf-16be" => text.encode_utf16().flat_map(u16::to_be_bytes).collect(),
        _ => text.as_bytes().to_vec(),
    };
    let content = changed(&content, &changes);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let read = |content: &[u8]| {
        fs::write(&path, content).unwrap();
        read_set(&path, key, normalize, encoding, no_header)
    };
    match read(&content) {
        // A second byte order mark would be the first of what is written.
        Ok((items, rows)) if !rows.starts_with("\u{feff}".as_bytes()) => {
            assert_eq!(read(&rows).expect("our own rows"), (items, rows));
        }
        Ok(_) => {}
        Err(why) => assert!(!why.contains("changed"), "{why}"),
    }
});
