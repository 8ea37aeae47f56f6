//! Tests of a sender that need its private fields.

use super::*;
use crate::{
    Sid,
    extension::{
        code::Linear,
        one_of_n::{MAX_BATCHES, Receiver},
        oos,
    },
    ideal,
};

fn states() -> (Receiver, Sender) {
    let session = || Session::new(Sid::from_bytes([7; 32]));
    let (pairs, chosen) = ideal::random(512, &Seed::from_bytes([3; 32]));
    let oos = oos::malicious(Linear::Bch512);
    let receiver = Receiver::new(session(), oos, pairs, Seed::from_bytes([1; 32])).unwrap();
    (receiver, Sender::new(session(), oos, chosen, Seed::from_bytes([2; 32])).unwrap())
}

#[test]
fn a_failed_check_erases_the_senders_state() {
    for proof_len in [0, 8 * (512 + 85)] {
        let (mut receiver, mut sender) = states();
        let mut corrections = Vec::new();
        let unanswered = receiver.extend(2, &[5; 22], &mut corrections).unwrap();
        let (unverified, challenge) = sender.absorb(2, &corrections).unwrap();
        let challenge = challenge.as_slice().as_flattened();
        let proof = receiver.finish(unanswered, challenge, &mut [[0; 16]; 2]).unwrap();
        sender.finish(unverified, &proof, Places::All(3, &mut [[0; 16]; 6])).unwrap();
        let any = |bytes: &[u8]| bytes.iter().any(|&byte| byte != 0);
        assert!(any(sender.state.delta.as_bytes()) && any(sender.state.seed.as_bytes()));
        assert!(any(&sender.differences) && sender.state.leaves.len() == 512);

        let (unverified, _) = sender.absorb(2, &corrections).unwrap();
        let places = Places::All(3, &mut [[0; 16]; 6]);
        assert!(sender.finish(unverified, &vec![0; proof_len], places).is_err());
        assert!(!any(sender.state.delta.as_bytes()) && !any(sender.state.seed.as_bytes()));
        assert!(sender.differences.is_empty() && sender.state.leaves.is_empty());
    }
}

#[test]
fn there_are_no_more_batches_than_the_bound_counts() {
    let (_, mut sender) = states();
    let corrections = vec![0; sender.extension.corrections_len(1)];
    sender.state.batch = MAX_BATCHES - 1;
    assert!(sender.absorb(1, &corrections).is_ok());
    let refused = Usage::TooManyBatches { max: MAX_BATCHES };
    assert_eq!(sender.absorb(1, &corrections).map(drop), Err(refused.into()));
}
