//! Corrupt parties.

use alloc::vec::Vec;

use super::*;
use crate::{Decode, Direction, Sid, pair::assert_rot};

const N: usize = 100;

fn session() -> Session {
    batch(0)
}

fn batch(counter: u64) -> Session {
    Session::new(Sid::from_bytes([1; 32])).sub("test", counter, Direction::default())
}

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

fn choice(i: usize) -> bool {
    i % 3 == 1
}

fn start() -> (Receiver, Points) {
    Receiver::start(session(), Bits::from_bools((0..N).map(choice)), seed(1)).unwrap()
}

fn challenge() -> (Sender, Challenge) {
    Sender::challenge(session(), &start().1, seed(2))
}

fn changed(challenge: &Challenge, position: usize) -> Challenge {
    let mut bytes = challenge.as_bytes().to_vec();
    bytes[position] ^= 1;
    Challenge::decode(&bytes, N).unwrap()
}

#[test]
fn the_receiver_gets_exactly_the_chosen_keys() {
    for n in [0, 1, 9, 47, 48, 300] {
        let choices = Bits::from_bools((0..n).map(choice));
        let (receiver, points) = Receiver::start(session(), choices, seed(1)).unwrap();
        let points = Points::decode(points.as_bytes(), n).unwrap();
        let (sender, challenge) = Sender::challenge(session(), &points, seed(2));
        let challenge = Challenge::decode(challenge.as_bytes(), n).unwrap();
        let (received, response) = receiver.respond(&challenge).unwrap();
        let response = Response::decode(response.as_bytes(), n).unwrap();
        assert_rot(&sender.finish(&response).unwrap(), &received);
    }
}

/// Shows the selective failure that the functionality allows: with another χ the sender guesses
/// that the choice is 0.
#[test]
fn a_sender_may_guess_choices_and_a_wrong_guess_ends_the_run() {
    for i in 0..6 {
        let (receiver, _) = start();
        let outcome = receiver.respond(&changed(&challenge().1, 64 + 16 * i));
        match choice(i) {
            false => assert!(outcome.is_ok()),
            true => assert_eq!(outcome.map(drop), Err(Misbehaved::Challenge.into())),
        }
    }
}

/// A sender that guesses that the choice is 1: h₁ in the place of h₀ in its answer.
#[test]
fn a_csw_sender_can_also_guess_choice_one() {
    for i in 0..6 {
        let (receiver, points) = start();
        let (sender, honest) = Sender::challenge(session(), &points, seed(2));
        let hash = |i: usize, j: u8| -> [u8; 16] {
            let keys = sender.keys.pairs()[i][usize::from(j)];
            hashes(&session(), &[keys], |_| (i as u64, j))[0]
        };
        // χᵢ = h₁ ⊕ x and h₀′ = x for some x, where the choice is 1.
        let x = [7; 16];
        let mut of_zero: Vec<[u8; 16]> = (0..N).map(|i| hash(i, 0)).collect();
        of_zero[i] = x;
        let answer = answer(&session(), &of_zero);
        let mut bytes = honest.as_bytes().to_vec();
        bytes[32..64].copy_from_slice(&proof(&session(), &answer));
        for (to, (h, x)) in bytes[64 + 16 * i..].iter_mut().zip(hash(i, 1).iter().zip(x)) {
            *to = h ^ x;
        }
        let outcome = receiver.respond(&Challenge::decode(&bytes, N).unwrap());
        assert_eq!(outcome.is_ok(), choice(i));
    }
}

#[test]
fn a_wrong_proof_or_z_gives_the_receiver_no_keys() {
    let (_, honest) = challenge();
    for position in 32..64 {
        let outcome = start().0.respond(&changed(&honest, position));
        assert_eq!(outcome.map(drop), Err(Misbehaved::Challenge.into()));
    }
    let mut bytes = honest.as_bytes().to_vec();
    // Another element of the group.
    let other = start().1.encodings()[0];
    bytes[..32].copy_from_slice(&other);
    let outcome = start().0.respond(&Challenge::decode(&bytes, N).unwrap());
    assert_eq!(outcome.map(drop), Err(Misbehaved::Challenge.into()));
    bytes[..32].fill(0);
    let neutral = Decode::Point { message: "Challenge", instance: 0 };
    assert_eq!(Challenge::decode(&bytes, N).unwrap_err(), neutral.into());
}

/// A receiver that has not asked for its keys gives the sender none, and gets no second try.
#[test]
fn a_wrong_response_gives_the_sender_no_keys() {
    for position in 0..32 {
        let (receiver, points) = start();
        let (sender, challenge) = Sender::challenge(session(), &points, seed(2));
        let mut bytes = receiver.respond(&challenge).unwrap().1.into_bytes();
        bytes[position] ^= 0x80;
        let response = Response::decode(&bytes, N).unwrap();
        assert_eq!(sender.finish(&response), Err(Misbehaved::Response));
    }
}

/// Equal B, which the paper does not tell apart, in all instances and in two batches of the same r.
#[test]
fn one_point_in_all_instances_and_batches_gives_unrelated_keys() {
    let (_, points) = start();
    let bytes = points.as_bytes();
    let replayed = [&bytes[..32], &bytes[32..64].repeat(N)].concat();
    let replayed = Points::decode(&replayed, N).unwrap();
    let r = scalars(&[9; 64]);
    let (mut keys, mut differences, mut z) = (Vec::new(), Vec::new(), Vec::new());
    for counter in [0, 1] {
        let (sender, challenge) = Sender::challenge_with(&batch(counter), &replayed, &r);
        keys.extend_from_slice(sender.keys.pairs().as_flattened());
        differences.extend_from_slice(challenge.bytes[HEAD + PROOF..].as_chunks::<16>().0);
        z.push(challenge.z().to_vec());
    }
    // So r·B, the point of branch 0, is the same everywhere; that of branch 1 is in a batch.
    assert_eq!(z[0], z[1]);
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 4 * N);
    differences.sort_unstable();
    differences.dedup();
    assert_eq!(differences.len(), 2 * N);
}
