//! The tables of a record and the file that gets their summary, of which the fuzzer changes anything: only what is between
//! the markers is written, or nothing.
#![no_main]

use std::fs;

use foxtrot_bench::splice_summary;
use foxtrot_fuzz::{Change, changed};
use libfuzzer_sys::fuzz_target;

const TABLES: &str = include_str!("../../bench/record/2026-11-22-epyc/tables.csv");
const BEGIN: &str = "<!-- bench summary -->";
const END: &str = "<!-- end of bench summary -->";

fuzz_target!(|input: (u16, [Vec<Change>; 2])| {
    let (first, changes) = input;
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("records").join("2026");
    fs::create_dir_all(&record).unwrap();
    // The heads of the columns, and some lines from anywhere.
    let lines: Vec<&str> = TABLES.lines().collect();
    let from = usize::from(first) % lines.len();
    let some: Vec<&str> = lines[..1].iter().chain(&lines[from..]).take(8).copied().collect();
    fs::write(record.join("tables.csv"), changed(some.join("\n").as_bytes(), &changes[0])).unwrap();
    let file = folder.path().join("readme");
    let before = changed(format!("# A\n{BEGIN}\nold\n{END}\nB\n").as_bytes(), &changes[1]);
    fs::write(&file, &before).unwrap();

    let done = splice_summary(&folder.path().join("records"), &file);
    let after = fs::read(&file).unwrap();
    match done {
        Ok(()) => {
            let [before, after] = [before, after].map(|text| String::from_utf8(text).unwrap());
            let around = |text: &str| {
                let (head, rest) = text.split_once(BEGIN)?;
                Some((head.to_owned(), rest.split_once(END)?.1.to_owned()))
            };
            let (head, tail) = around(&before).unwrap();
            assert!(after.starts_with(&format!("{head}{BEGIN}\n| ")));
            assert!(after.ends_with(&format!("|\n{END}{tail}")));
        }
        Err(why) => {
            assert_eq!(before, after);
            assert!(why.contains(folder.path().to_str().unwrap()), "{why}");
        }
    }
});
