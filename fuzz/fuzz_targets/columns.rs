//! A payload of columns is read iff it is the one that its fields make.
#![no_main]

use foxtrot_cli::fuzzing::{read_columns, write_columns};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, Vec<u8>)| {
    let (width, payload) = input;
    let width = usize::from(width) + 1;
    if let Some(fields) = read_columns(&payload, width) {
        assert_eq!(write_columns(&fields, width), Some(payload));
    }
});
