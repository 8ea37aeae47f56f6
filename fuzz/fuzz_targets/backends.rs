//! Checks that each operation of the kernel gives on every backend of this machine what it gives on
//! `portable`.
#![no_main]

use foxtrot_fuzz::backends::{Input, PARTS};
use foxtrot_kernel::Backend;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let (which, bytes) = bytes.split_first().unwrap_or((&0, &[]));
    let (name, part) = PARTS[usize::from(*which) % PARTS.len()];
    let results = |backend| part(backend, &mut Input::new(bytes));
    let portable = results(Backend::PORTABLE);
    for backend in Backend::all() {
        let results = results(backend);
        let same = results.iter().zip(&portable).take_while(|(a, b)| a == b).count();
        let all = [results.len(), portable.len()];
        assert_eq!([same; 2], all, "{name} on {backend:?}: equal bytes, and both lengths");
    }
});
