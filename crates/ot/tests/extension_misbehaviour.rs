//! Attacks on an extension: every message is changed, and the effect is what the functionality
//! allows, a guess of bits of Δ.

use crate::support::extension::{
    absorb, answer, base, bit, bits, extend, seed, session, states, verify,
};
use foxtrot_ot::{
    Bits, Decode, Error, Misbehaved, Usage,
    base::Choice,
    extension::{
        Extension, OtKind, Places, Receiver, Sender, Shape, Unanswered, find, kos, registry,
        softspoken,
    },
};

const CHECK: Error = Error::Misbehaved(Misbehaved::ConsistencyCheck);

/// Bit r of Δ of [`base`].
fn delta(r: usize) -> bool {
    bit(base().1.choices(), r)
}

fn four() -> Extension {
    softspoken::malicious(4).unwrap()
}

fn set_up(extension: Extension, setup: &[u8]) -> Result<Sender, Error> {
    Sender::new(session(), extension, base().1, setup, seed(6))
}

/// A batch of n OTs, its corrections spoilt, then its proof.
fn spoilt_batch(
    extension: Extension,
    choice: Choice,
    corrections: impl FnOnce(&mut Vec<u8>),
    proof: impl FnOnce(&mut Vec<u8>),
) -> Result<(), Error> {
    let (mut receiver, mut sender) = states(extension, session);
    let shape = Shape::of(&choice);
    let mut message = Vec::new();
    let unanswered = extend(&mut receiver, choice, &mut message).unwrap();
    corrections(&mut message);
    let (unverified, challenge) = absorb(&mut sender, shape, &message)?;
    let challenge = challenge.as_slice().as_flattened();
    let mut answer = answer(&mut receiver, shape.n(), unanswered, challenge).unwrap();
    proof(&mut answer);
    verify(&mut sender, shape.n(), unverified, &answer)
}

#[test]
fn every_message_of_the_wrong_length_is_refused() {
    // docs/wire: R0-2.
    for extension in registry() {
        let name = extension.info().name;
        let (pairs, _) = base();
        let (mut receiver, setup) = Receiver::new(session(), extension, pairs, seed(5)).unwrap();
        let length =
            |message, expected, got| Error::from(Decode::Length { message, expected, got });
        for wrong in [setup.len().wrapping_sub(1), setup.len() + 1, 0] {
            if wrong > 1 << 20 || wrong == setup.len() {
                continue;
            }
            let refused = Sender::new(session(), extension, base().1, &vec![0; wrong], seed(6));
            let expected = length("Setup", setup.len(), wrong);
            assert_eq!(refused.map(drop).unwrap_err(), expected, "{name}");
        }
        let mut sender = Sender::new(session(), extension, base().1, &setup, seed(6)).unwrap();
        let mut message = Vec::new();
        let batch = extend(&mut receiver, Choice::Random(9), &mut message).unwrap();
        for wrong in [0, 1, message.len() - 1, message.len() + 1] {
            let refused = absorb(&mut sender, Shape::random(9), &vec![0; wrong]);
            let expected = length("Corrections", message.len(), wrong);
            assert_eq!(refused.map(drop).unwrap_err(), expected, "{name}");
        }
        let expected = length("Challenge", extension.challenge_len(), 31);
        assert_eq!(answer(&mut receiver, 9, batch, &[0; 31]).map(drop), Err(expected), "{name}");
        let (unverified, _) = absorb(&mut sender, Shape::random(9), &message).unwrap();
        let expected = length("Proof", extension.proof_len(), 1);
        assert_eq!(verify(&mut sender, 9, unverified, &[0]), Err(expected), "{name}");
        assert_eq!(sender.delta().map(drop), Err(Usage::SessionEnded), "{name}");
    }
    for wrong in [0, 31, 32, 1063, 1065] {
        let refused =
            spoilt_batch(four(), Choice::Random(9), |_| (), |proof| proof.resize(wrong, 0));
        let expected = Decode::Length { message: "Proof", expected: 1064, got: wrong };
        assert_eq!(refused.unwrap_err(), expected.into());
    }
}

#[test]
fn a_malformed_tree_is_caught_if_the_senders_choice_uses_its_wrong_side() {
    let (_, setup) = Receiver::new(session(), four(), base().0, seed(5)).unwrap();
    let corrections = setup.len() - 33 * 32;
    for (index, level) in [(0, 2), (0, 4), (17, 3), (31, 4)] {
        // Level ℓ of tree τ decides bit d − ℓ, which belongs to row τd + d − ℓ.
        let row = index * 4 + 4 - level;
        for side in [0, 1] {
            let mut spoilt = setup.clone();
            let at = (index * 3 + level - 2) * 32 + side * 16;
            assert!(at < corrections);
            spoilt[at] ^= 1;
            let caught = set_up(four(), &spoilt).map(drop);
            // S computes with the side that Δ does not take.
            let expected = if delta(row) == (side == 1) { Ok(()) } else { Err(CHECK) };
            assert_eq!(caught, expected, "tree {index}, level {level}, side {side}");
        }
    }
}

#[test]
fn a_spoilt_witness_or_digest_is_always_caught() {
    // docs/wire: R7-1.
    for k in [2, 3, 8] {
        let extension = softspoken::malicious(k).unwrap();
        let (_, setup) = Receiver::new(session(), extension, base().0, seed(5)).unwrap();
        let witnesses = (128usize.div_ceil(k) + 1) * 32;
        for at in [setup.len() - witnesses, setup.len() - 33, setup.len() - 32, setup.len() - 1] {
            let mut spoilt = setup.clone();
            spoilt[at] ^= 0x80;
            assert_eq!(set_up(extension, &spoilt).map(drop), Err(CHECK), "k = {k}, byte {at}");
        }
    }
}

#[test]
fn other_choices_for_one_row_are_caught_exactly_if_delta_has_it() {
    let columns = 512 / 8;
    for r in 0..128 {
        let spoil = |message: &mut Vec<u8>| message[32 + r * columns + 3] ^= 4;
        let caught = spoilt_batch(kos::malicious(), Choice::Given(bits(100, 3)), spoil, |_| ());
        assert_eq!(caught, if delta(r) { Err(CHECK) } else { Ok(()) }, "row {r}");
    }
    // k rows at a time: caught unless Δ has none of them.
    for tree in 0..32 {
        let spoil = |message: &mut Vec<u8>| message[32 + tree * columns + 3] ^= 4;
        let caught = spoilt_batch(four(), Choice::Given(bits(100, 3)), spoil, |_| ());
        let any = (4 * tree..4 * tree + 4).any(delta);
        assert_eq!(caught, if any { Err(CHECK) } else { Ok(()) }, "tree {tree}");
    }
}

/// The attack on IKNP: other choices for each row, so that key i tells Δ's bit. Without a check it
/// reads Δ; with one it is caught.
#[test]
fn the_check_stops_a_receiver_that_could_read_delta_without_it() {
    let n = 128;
    let columns = 512 / 8;
    // Row r of the corrections is for the choices with only bit r.
    let spoil = |message: &mut [u8]| {
        for (r, row) in message.chunks_mut(columns).enumerate() {
            row[r / 8] ^= 1 << (r % 8);
        }
    };
    let choice = || Choice::Given(Bits::from_bools((0..n).map(|_| false)));

    let iknp = foxtrot_ot::extension::iknp::semi_honest();
    let (mut receiver, mut sender) = states(iknp, session);
    let mut message = Vec::new();
    let unanswered = extend(&mut receiver, choice(), &mut message).unwrap();
    spoil(&mut message);
    let (unverified, _) = absorb(&mut sender, Shape::given(n), &message).unwrap();
    let (mut pairs, mut rows) = (vec![[[0; 16]; 2]; n], vec![[0; 16]; n]);
    sender.finish(vec![(unverified, &[], Places::Random(&mut pairs))]).unwrap();
    receiver.finish(OtKind::Random, vec![(unanswered, &[], &mut rows)]).unwrap();
    // q_i = t_i ⊕ (bit i of Δ in row i): the key for choice 0 is the receiver's iff Δ_i = 0.
    let read: Vec<bool> = pairs.iter().zip(&rows).map(|(pair, key)| pair[0] != *key).collect();
    assert_eq!(read, (0..n).map(delta).collect::<Vec<_>>(), "Δ, bit by bit");

    let spoil = |message: &mut Vec<u8>| spoil(&mut message[32..]);
    assert_eq!(spoilt_batch(kos::malicious(), choice(), spoil, |_| ()), Err(CHECK));
}

/// Shows the leakage that the functionality allows: a receiver that knows Δ in the rows where it
/// deviates passes.
#[test]
fn a_receiver_that_has_guessed_the_bits_passes_and_learns_no_more() {
    let columns = 512 / 8;
    let guess_and_deviate = |guess: bool, r: usize| {
        let (mut receiver, mut sender) = states(kos::malicious(), session);
        let mut message = Vec::new();
        let unanswered = extend(&mut receiver, Choice::Given(bits(50, 2)), &mut message).unwrap();
        // The deviation is in the last element, which h takes as it is.
        message[32 + r * columns + columns - 1] ^= 0x80;
        let (unverified, challenge) = absorb(&mut sender, Shape::given(50), &message).unwrap();
        let mut proof =
            answer(&mut receiver, 50, unanswered, challenge.as_slice().as_flattened()).unwrap();
        proof[40 + 8 * r + 7] ^= if guess { 0x80 } else { 0 };
        verify(&mut sender, 50, unverified, &proof)
    };
    for r in [0, 1, 2, 77, 127] {
        assert_eq!(guess_and_deviate(delta(r), r), Ok(()), "row {r}, the right guess");
        assert_eq!(guess_and_deviate(!delta(r), r), Err(CHECK), "row {r}, the wrong guess");
    }
}

#[test]
fn every_part_of_a_proof_is_checked() {
    // docs/wire: R7-2.
    assert!((0..128).any(delta), "with Δ = 0 the hash of the choices does not matter");
    // The coin, the hash of the choices, and the hash of every row.
    let places = [0, 31, 32, 39].into_iter().chain((0..128).map(|r| 40 + 8 * r + r % 8));
    for at in places {
        for (extension, choice) in
            [(kos::malicious(), Choice::Given(bits(64, 2))), (four(), Choice::Random(64))]
        {
            let caught = spoilt_batch(extension, choice, |_| (), |proof| proof[at] ^= 1);
            assert_eq!(caught, Err(CHECK), "byte {at}");
        }
    }
    let other_commitment = |message: &mut Vec<u8>| message[5] ^= 1;
    let caught = spoilt_batch(four(), Choice::Random(64), other_commitment, |_| ());
    assert_eq!(caught, Err(CHECK));
}

#[test]
fn a_proof_from_another_batch_is_rejected() {
    let (mut receiver, mut sender) = states(four(), session);
    let mut batch = || {
        let mut message = Vec::new();
        let unanswered: Unanswered =
            extend(&mut receiver, Choice::Random(40), &mut message).unwrap();
        let (unverified, challenge) = absorb(&mut sender, Shape::random(40), &message).unwrap();
        let challenge = challenge.as_slice().as_flattened();
        (answer(&mut receiver, 40, unanswered, challenge).unwrap(), unverified)
    };
    let ((first, _), (_, second)) = (batch(), batch());
    assert_eq!(verify(&mut sender, 40, second, &first), Err(CHECK));
}

#[test]
fn equal_choices_have_other_corrections_in_every_batch() {
    let (mut receiver, _) = states(kos::malicious(), session);
    let mut messages = [Vec::new(), Vec::new()];
    for message in &mut messages {
        let _ = extend(&mut receiver, Choice::Given(bits(400, 2)), message).unwrap();
    }
    let rows = messages.each_ref().map(|message| message[32..].chunks(64).collect::<Vec<_>>());
    assert!(rows[0].iter().zip(&rows[1]).all(|(one, two)| one != two));
}

#[test]
fn corrections_of_another_batch_give_other_keys() {
    let (mut receiver, mut sender) = states(softspoken::semi_honest(4).unwrap(), session);
    let mut message = Vec::new();
    let _ = extend(&mut receiver, Choice::Random(40), &mut message).unwrap();
    let mut keys = Vec::new();
    for _ in 0..2 {
        let (unverified, _) = absorb(&mut sender, Shape::random(40), &message).unwrap();
        let mut pairs = vec![[[0; 16]; 2]; 40];
        sender.finish(vec![(unverified, &[], Places::Random(&mut pairs))]).unwrap();
        keys.extend(pairs.into_iter().flatten());
    }
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 160);
}

#[test]
fn parties_that_disagree_whether_choices_are_given_are_caught() {
    // In `kos` both kinds have messages of one length.
    let (mut receiver, mut sender) = states(kos::malicious(), session);
    let mut message = Vec::new();
    let unanswered = extend(&mut receiver, Choice::Random(20), &mut message).unwrap();
    let (unverified, challenge) = absorb(&mut sender, Shape::given(20), &message).unwrap();
    let proof = answer(&mut receiver, 20, unanswered, challenge.as_slice().as_flattened()).unwrap();
    assert_eq!(verify(&mut sender, 20, unverified, &proof), Err(CHECK));
}

#[test]
fn a_failed_check_ends_the_session_for_every_batch() {
    // docs/wire: R7-1.
    let (mut receiver, mut sender) = states(four(), session);
    let mut begin = || {
        let mut message = Vec::new();
        let unanswered = extend(&mut receiver, Choice::Random(30), &mut message).unwrap();
        let (unverified, challenge) = absorb(&mut sender, Shape::random(30), &message).unwrap();
        let challenge = challenge.as_slice().as_flattened();
        (answer(&mut receiver, 30, unanswered, challenge).unwrap(), unverified)
    };
    let ((good, verified), (_, spoilt), (later, pending)) = (begin(), begin(), begin());
    verify(&mut sender, 30, verified, &good).unwrap();
    assert_eq!(verify(&mut sender, 30, spoilt, &[0; 1064]), Err(CHECK));
    let ended = Error::Usage(Usage::SessionEnded);
    assert_eq!(verify(&mut sender, 30, pending, &later), Err(ended));
    let (mut receiver, _) = states(four(), session);
    let mut message = Vec::new();
    let _ = extend(&mut receiver, Choice::Random(30), &mut message).unwrap();
    assert_eq!(absorb(&mut sender, Shape::random(30), &message).map(drop), Err(ended));
    assert_eq!(sender.delta().map(drop), Err(Usage::SessionEnded));
}

#[test]
fn states_of_one_kind_refuse_batches_of_the_other() {
    let adversaries =
        [foxtrot_ot::base::Adversary::Malicious, foxtrot_ot::base::Adversary::SemiHonest];
    let [checked, unchecked] = adversaries.map(|adversary| find("softspoken", adversary).unwrap());
    // Even in one session.
    let (mut receiver, mut sender) = states(checked, session);
    let (mut other_receiver, mut other_sender) = states(unchecked, session);
    let mut message = Vec::new();
    let of_receiver = extend(&mut other_receiver, Choice::Random(3), &mut message).unwrap();
    let foreign = Error::Usage(Usage::ForeignBatch);
    let (of_sender, none) = absorb(&mut other_sender, Shape::random(3), &message).unwrap();
    assert_eq!(none, None);
    assert_eq!(answer(&mut receiver, 3, of_receiver, &[0; 32]).map(drop), Err(foreign));
    assert_eq!(verify(&mut sender, 3, of_sender, &[0; 1064]), Err(foreign));
}

#[test]
fn corrections_of_a_smaller_last_tree_are_also_checked() {
    for (k, depth) in [(3, 2), (5, 3), (6, 2), (7, 2)] {
        let extension = softspoken::malicious(k).unwrap();
        let (_, setup) = Receiver::new(session(), extension, base().0, seed(5)).unwrap();
        let witnesses = (128usize.div_ceil(k) + 1) * 32;
        // The tree's last level decides bit 0, which belongs to its first row.
        for side in [0, 1] {
            let mut spoilt = setup.clone();
            spoilt[setup.len() - witnesses - 32 + side * 16] ^= 1;
            let caught = set_up(extension, &spoilt).map(drop);
            let passes = delta(128 - depth) == (side == 1);
            assert_eq!(caught, if passes { Ok(()) } else { Err(CHECK) }, "k = {k}, side {side}");
        }
    }
}

#[test]
fn a_setup_for_another_session_is_refused() {
    let other = foxtrot_ot::Session::new(foxtrot_ot::Sid::from_bytes([9; 32]));
    let (_, setup) = Receiver::new(other, four(), base().0, seed(5)).unwrap();
    assert_eq!(set_up(four(), &setup).map(drop), Err(CHECK));
}

#[test]
fn an_answer_to_another_challenge_is_refused() {
    let (mut receiver, mut sender) = states(four(), session);
    let mut message = Vec::new();
    let unanswered = extend(&mut receiver, Choice::Random(10), &mut message).unwrap();
    let (unverified, challenge) = absorb(&mut sender, Shape::random(10), &message).unwrap();
    let mut challenge = challenge.unwrap();
    challenge[0] ^= 1;
    let proof = answer(&mut receiver, 10, unanswered, &challenge).unwrap();
    assert_eq!(verify(&mut sender, 10, unverified, &proof), Err(CHECK));
}

#[test]
fn batches_of_another_session_are_refused_without_blaming_the_peer() {
    let extension = four();
    let (mut receiver, mut sender) = states(extension, session);
    let elsewhere = || foxtrot_ot::Session::new(foxtrot_ot::Sid::from_bytes([9; 32]));
    let (mut other_receiver, setup) =
        Receiver::new(elsewhere(), extension, base().0, seed(5)).unwrap();
    let mut other_sender = Sender::new(elsewhere(), extension, base().1, &setup, seed(6)).unwrap();
    let mut message = Vec::new();
    let unanswered = extend(&mut other_receiver, Choice::Random(10), &mut message).unwrap();
    let (unverified, challenge) = absorb(&mut other_sender, Shape::random(10), &message).unwrap();
    assert_eq!(
        answer(&mut receiver, 10, unanswered, challenge.as_slice().as_flattened()),
        Err(Usage::ForeignBatch.into())
    );
    let refused = verify(&mut sender, 10, unverified, &[0; 1064]);
    assert_eq!(refused, Err(Error::Usage(Usage::ForeignBatch)));
    // And nothing has ended by that.
    let unanswered = extend(&mut receiver, Choice::Random(10), &mut message).unwrap();
    let (unverified, challenge) = absorb(&mut sender, Shape::random(10), &message).unwrap();
    let proof = answer(&mut receiver, 10, unanswered, challenge.as_slice().as_flattened()).unwrap();
    verify(&mut sender, 10, unverified, &proof).unwrap();
}

#[test]
fn sizes_that_no_batch_has_are_a_usage_error_whatever_the_message() {
    let (mut receiver, mut sender) = states(four(), session);
    for n in [65473, usize::MAX] {
        let too_large = Usage::BatchTooLarge { n, max: 65472 };
        let refused = absorb(&mut sender, Shape::random(n), &[]).map(drop);
        assert_eq!(refused, Err(Error::Usage(too_large)));
        let refused = extend(&mut receiver, Choice::Random(n), &mut Vec::new()).map(drop);
        assert_eq!(refused, Err(too_large));
    }
}

/// Shows what endemic base OTs leave to a corrupt sender: it can choose Δ = 0, and has one key
/// twice. It learns no choice by that, but the keys of such a run are not random to the receiver.
#[test]
fn a_sender_that_chooses_delta_can_make_both_keys_the_same() {
    let zero = foxtrot_ot::ideal::given(Bits::from_bools([false; 128]), &seed(4));
    let (mut receiver, setup) = Receiver::new(session(), four(), zero.0, seed(5)).unwrap();
    let mut sender = Sender::new(session(), four(), zero.1, &setup, seed(6)).unwrap();
    let mut message = Vec::new();
    let unanswered = extend(&mut receiver, Choice::Random(50), &mut message).unwrap();
    let (unverified, challenge) = absorb(&mut sender, Shape::random(50), &message).unwrap();
    let proof = answer(&mut receiver, 50, unanswered, challenge.as_slice().as_flattened()).unwrap();
    let mut pairs = [[[0; 16]; 2]; 50];
    sender.finish(vec![(unverified, &proof, Places::Random(&mut pairs))]).unwrap();
    assert!(pairs.iter().all(|[zero, one]| zero == one));
}
