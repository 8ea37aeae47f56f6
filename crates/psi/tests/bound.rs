//! The bounds of `docs/protocols/okvs.md`, recomputed, and compared with what happens.

#[path = "support/moment.rs"]
mod moment;

use foxtrot_ot::{Session, Sid};
use foxtrot_psi::okvs::{Digest, MAX_KEYS, Okvs, Okvs2, Okvs3, RowSeed};

/// Every size up to 1500, then in steps of 5 %, then those with several starts.
fn sizes(largest: usize) -> impl Iterator<Item = usize> {
    let steps = std::iter::successors(Some(1501), |n| Some(n + n / 20));
    (2..=1500).chain(steps.take_while(move |&n| n < largest)).chain([largest])
}

#[test]
fn encoding_fails_with_probability_at_most_2_to_the_minus_40() {
    for n in sizes(1 << 19) {
        let bound = moment::log2_failure(&Okvs3::new(n).unwrap());
        assert!(bound <= -43.0, "{n} keys: 2^{bound}");
    }
    for n in [(1 << 19) + 1, 600_000, 1 << 20, 3 << 20, MAX_KEYS] {
        let bound = moment::log2_failure(&Okvs3::new(n).unwrap());
        assert!(bound <= -43.0, "{n} keys: 2^{bound}");
    }
    for n in sizes(MAX_KEYS).filter(|n| n % 16 == 0 || *n < 200) {
        let bound = moment::log2_failure(&Okvs2::new(n).unwrap());
        assert!(bound <= -59.0, "{n} keys: 2^{bound}");
    }
}
