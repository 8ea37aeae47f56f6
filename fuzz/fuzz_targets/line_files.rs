//! Files of messages and of choices, of which the fuzzer changes anything: what is read is written in the same lines, or
//! else its place is named.
#![no_main]

use std::fs;

use foxtrot_cli::fuzzing::{read_choices, read_messages};
use foxtrot_fuzz::{Change, changed};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, bool, Vec<Change>)| {
    let (one_of, hex, changes) = input;
    let one_of = usize::from(one_of) + 2;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("lines");
    let messages = if hex { "00ff\n\nAb\r\n7f\n" } else { "zero\n\n\u{e9}\r\nlast" };
    let content = changed(messages.as_bytes(), &changes);
    fs::write(&path, &content).unwrap();
    match read_messages(&path, one_of, hex) {
        Ok(lines) => {
            let count = lines.iter().filter(|&&byte| byte == b'\n').count();
            assert!(count > 0 && count.is_multiple_of(one_of));
            if !hex {
                let text = String::from_utf8_lossy(&content).into_owned();
                let end = if text.ends_with('\n') { "" } else { "\n" };
                let expected = format!("{text}{end}").replace("\r\n", "\n");
                assert_eq!(String::from_utf8_lossy(&lines), expected);
            }
            fs::write(&path, &lines).unwrap();
            assert_eq!(read_messages(&path, one_of, hex), Ok(lines));
        }
        Err(why) => assert!(why.starts_with(path.to_str().unwrap()), "{why}"),
    }
    let content = changed(b"0\n1\r\n0\n1", &changes);
    fs::write(&path, &content).unwrap();
    match read_choices(&path, one_of) {
        Ok(choices) => {
            assert!(!choices.is_empty() && choices.iter().all(|&choice| choice < one_of as u64));
            let lines: String = choices.iter().map(|choice| format!("{choice}\n")).collect();
            let read = String::from_utf8(content).unwrap().replace("\r\n", "\n");
            assert_eq!(read.trim_end_matches('\n'), lines.trim_end_matches('\n'));
        }
        Err(why) => assert!(why.starts_with(path.to_str().unwrap()), "{why}"),
    }
});
