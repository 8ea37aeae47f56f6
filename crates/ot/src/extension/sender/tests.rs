//! Tests of a sender that need its private fields.

use alloc::vec;

use super::*;
use crate::{
    Sid,
    extension::{MAX_BATCHES, MAX_UNCHECKED, PROOF_LEN, Receiver, softspoken},
    ideal,
    tasks::only,
};

fn sender() -> Sender {
    let session = || Session::new(Sid::from_bytes([7; 32]));
    let (pairs, chosen) = ideal::random(ROWS, &Seed::from_bytes([3; 32]));
    let four = softspoken::malicious(4).unwrap();
    let (_, setup) = Receiver::new(session(), four, pairs, Seed::from_bytes([1; 32])).unwrap();
    Sender::new(session(), four, chosen, &setup, Seed::from_bytes([2; 32])).unwrap()
}

#[test]
fn a_failed_check_erases_the_senders_state() {
    for proof_len in [0, PROOF_LEN] {
        let mut sender = sender();
        let any = |bytes: &[u8]| bytes.iter().any(|&byte| byte != 0);
        assert!(any(sender.state.delta.as_bytes()) && any(sender.state.seed.as_bytes()));
        assert!(!sender.state.leaves.is_empty());
        let corrections = vec![0; sender.extension.corrections_len(Shape::given(2))];
        let (unverified, _) = only(sender.absorb(&[(Shape::given(2), &corrections)]).unwrap());
        let (proof, mut keys) = (vec![0; proof_len], [[[0; 16]; 2]; 2]);
        assert!(sender.finish(vec![(unverified, &proof, Places::Random(&mut keys))]).is_err());
        assert!(!any(sender.state.delta.as_bytes()) && !any(sender.state.seed.as_bytes()));
        assert!(sender.state.leaves.is_empty());
    }
}

#[test]
fn there_are_no_more_batches_than_the_bound_counts() {
    let mut sender = sender();
    let corrections = vec![0; sender.extension.corrections_len(Shape::given(1))];
    sender.state.batch = MAX_BATCHES - 1;
    assert!(sender.absorb(&[(Shape::given(1), &corrections)]).is_ok());
    let refused = Usage::TooManyBatches { max: MAX_BATCHES };
    let absorbed = sender.absorb(&[(Shape::given(1), &corrections)]).map(drop);
    assert_eq!(absorbed, Err(refused.into()));
}

#[test]
fn semi_honest_extensions_allow_more_batches() {
    let session = || Session::new(Sid::from_bytes([7; 32]));
    let (pairs, chosen) = ideal::random(ROWS, &Seed::from_bytes([3; 32]));
    let six = softspoken::semi_honest(6).unwrap();
    let (_, setup) = Receiver::new(session(), six, pairs, Seed::from_bytes([1; 32])).unwrap();
    let mut sender =
        Sender::new(session(), six, chosen, &setup, Seed::from_bytes([2; 32])).unwrap();
    let corrections = vec![0; six.corrections_len(Shape::random(1))];
    sender.state.batch = MAX_UNCHECKED - 1;
    assert!(sender.absorb(&[(Shape::random(1), &corrections)]).is_ok());
    let refused = Usage::TooManyBatches { max: MAX_UNCHECKED };
    let absorbed = sender.absorb(&[(Shape::random(1), &corrections)]).map(drop);
    assert_eq!(absorbed, Err(refused.into()));
}
