//! Any base OT over a network that changes anything: nobody panics, and who gives up blames the peer.
//! Little else holds of every protocol; `session_rot` and `session_endemic` check more.
#![no_main]

use foxtrot_fuzz::{Change, check_any};
use foxtrot_papers::base_ots;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, Vec<(u8, Change)>)| {
    let bases: Vec<_> = base_ots().collect();
    check_any(bases[usize::from(input.0) % bases.len()], input.1, &input.2);
});
