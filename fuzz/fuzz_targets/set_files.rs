//! A set's file, as CSV or lines, of which the fuzzer changes anything: it is read or refused, and what is written of its
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

const NORMALISERS: [&str; 8] =
    ["none", "trim", "lower", "nfc", "digits", "email", "phone:+49", "trim,lower,nfc"];

fuzz_target!(|input: (u8, Option<u8>, u8, bool, Vec<Change>)| {
    let (form, key, normalize, header, changes) = input;
    let name = ["set.csv", "set.tsv", "set.txt"][usize::from(form % 3)];
    let key = key.filter(|_| form % 3 != 2).map(|key| key % 4);
    let normalize = NORMALISERS[usize::from(normalize) % NORMALISERS.len()];
    let no_header = !header && form % 3 < 2;
    let content = changed(TEXT.as_bytes(), &changes);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let read = |content: &[u8]| {
        fs::write(&path, content).unwrap();
        read_set(&path, key, normalize, no_header)
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
