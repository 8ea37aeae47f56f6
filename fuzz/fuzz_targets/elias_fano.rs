//! Bytes as a list of sorted tags, in frames of any lengths: what is accepted ascends, and is the encoding of what it is read as.
#![no_main]

use foxtrot_ot::tasks::InPlace;
use foxtrot_psi::elias_fano::{Coding, Tags};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, u8, bool, Vec<u8>, Vec<u8>)| {
    let (tags, bits, repeats, lens, bytes) = input;
    let Some(coding) = Coding::new(tags.into(), bits.into(), repeats) else { return };
    let (mut list, mut rest) = (Tags::new(coding), bytes.as_slice());
    for len in lens {
        let (frame, others) = rest.split_at(rest.len().min(len.into()));
        rest = others;
        if list.take(&InPlace, frame).is_err() {
            return;
        }
    }
    if list.take(&InPlace, rest).is_err() {
        return;
    }
    if let Some(tags) = list.all() {
        assert!(tags.windows(2).all(|pair| pair[0] < pair[1] || repeats && pair[0] == pair[1]));
        assert_eq!(coding.frames(tags, 100).collect::<Vec<_>>().concat(), bytes);
    } else {
        assert!(bytes.len() < coding.len());
    }
});
