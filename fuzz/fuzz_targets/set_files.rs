//! A set's file, as CSV or lines, of which the fuzzer changes anything: it is read or refused, and what is written of its
//! rows is read as the same set.
#![no_main]

use std::{fs, path::Path};

use foxtrot_cli::fuzzing::{Read, Reading, read_set};
use foxtrot_fuzz::{Change, changed};
use libfuzzer_sys::fuzz_target;

const TEXT: &str = "\u{feff}name,\"e-mail\"\r\n\
    Anna,Anna@Example.com \r\n\
    \"Müller, \"\"Bo\"\"\nof Ulm\",bo@example.com\r\n\
    \r\n\
    Nobody,\n\
    anna again,ANNA@example.com\r\n\
    Bo,+49 (170) 123";

const NORMALISERS: [&str; 8] =
    ["none", "trim", "lower", "nfc", "digits", "email", "phone:+49", "trim,lower,nfc"];

fuzz_target!(|input: (u8, Option<u8>, u8, bool, Vec<Change>)| {
    let (form, key, normalize, header, changes) = input;
    let name = ["set.csv", "set.tsv", "set.txt"][usize::from(form % 3)];
    let reading = Reading {
        key: key.filter(|_| form % 3 != 2).map(|key| key % 4),
        normalize: NORMALISERS[usize::from(normalize) % NORMALISERS.len()],
        no_header: !header && form % 3 < 2,
    };
    let content = changed(TEXT.as_bytes(), &changes);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    match read(&path, reading, &content) {
        // A second byte order mark would be the first of what is written.
        Ok(set) if !set.rows.starts_with("\u{feff}".as_bytes()) => {
            let again = read(&path, reading, &set.rows).expect("our own rows");
            assert_eq!(again.items, set.items);
            assert_eq!(again.rows, set.rows);
        }
        Ok(_) => {}
        Err(why) => assert!(!why.contains("changed"), "{why}"),
    }
});

fn read(path: &Path, reading: Reading, content: &[u8]) -> Result<Read, String> {
    fs::write(path, content).unwrap();
    read_set(path, reading)
}
