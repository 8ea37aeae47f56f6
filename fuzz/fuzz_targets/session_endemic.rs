//! Endemic OT over a network that changes anything: nobody panics, and no key is left in common.
#![no_main]

use foxtrot_fuzz::{Change, check_batch};
use foxtrot_ot::base::roted::Endemic;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, Vec<(u8, Change)>)| check_batch(&Endemic, input.0, &input.1));
