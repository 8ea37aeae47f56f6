//! A payload of columns is read iff it is the one that its fields make.
#![no_main]

use foxtrot::psi::fields::{Duplicates, Fields, Padding, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, Vec<u8>)| {
    let (width, payload) = input;
    let padding = Padding { width: usize::from(width) + 1, duplicates: Duplicates::Refuse };
    if let Some(fields) = read(&payload, padding) {
        let mut all = Fields::new(fields.len(), padding, 1).expect("few fields");
        all.put(0, &fields).expect("fields that fit");
        let mut written = vec![0; fields.len() * padding.slot()];
        all.write(0, &(0..fields.len()).collect::<Vec<_>>(), &mut written);
        assert_eq!(written, payload);
    }
});
