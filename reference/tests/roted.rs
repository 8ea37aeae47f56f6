//! Tests of the promises of `roted` on whole runs.

use foxtrot_reference::oracle::Id;
use foxtrot_reference::roted::{
    Key, Mode, Received, receiver_blind, receiver_finish, sender_finish, sender_reply,
};

const ID: Id = [7; 32];

fn run(mode: Mode, choices: &[bool]) -> (Vec<[Key; 2]>, Received) {
    let n = choices.len();
    let (receiver, blinded) = receiver_blind(mode, &ID, n, choices, &[1; 32]);
    let (sender, reply) = sender_reply(mode, &ID, n, &blinded, &[2; 32]);
    let received = receiver_finish(receiver, &reply);
    (sender_finish(sender, &received.opening), received)
}

#[test]
fn the_receiver_has_only_the_key_at_its_choice() {
    for mode in [Mode::Rot, Mode::Endemic] {
        let (pairs, received) =
            run(mode, &[false, true, true, false, true, false, false, true, true]);
        for (i, pair) in pairs.iter().enumerate() {
            let choice = usize::from(received.choices[i]);
            assert_eq!(received.keys[i], pair[choice], "{mode:?}, instance {i}");
            assert_ne!(received.keys[i], pair[1 - choice], "{mode:?}, instance {i}");
        }
    }
}

#[test]
fn endemic_choices_match_the_input() {
    let choices = [true, false, true];
    assert_eq!(run(Mode::Endemic, &choices).1.choices, choices);
}

#[test]
fn random_choices_are_not_constant() {
    let choices = run(Mode::Rot, &[false; 16]).1.choices;
    assert!(choices.contains(&true) && choices.contains(&false));
}

#[test]
fn messages_have_the_lengths_of_the_wire_document() {
    for n in [1_usize, 8, 9] {
        let seed = [0; 32];
        for (mode, first, second) in [(Mode::Rot, 32, 32 + n.div_ceil(8)), (Mode::Endemic, 0, 0)] {
            let (_, blinded) = receiver_blind(mode, &ID, n, &vec![false; n], &seed);
            assert_eq!(blinded.len(), first + 1296 * n);
            let (_, reply) = sender_reply(mode, &ID, n, &blinded, &seed);
            assert_eq!(reply.len(), second + 2176 * n);
        }
    }
}

#[test]
fn a_first_message_replayed_elsewhere_gives_other_keys() {
    let n = 2;
    let (_, blinded) = receiver_blind(Mode::Endemic, &ID, n, &[false; 2], &[1; 32]);
    let twice = [&blinded[..1296], &blinded[..1296]].concat();
    let mut keys = vec![];
    for id in [ID, [8; 32]] {
        let (sender, _) = sender_reply(Mode::Endemic, &id, n, &twice, &[2; 32]);
        keys.extend(sender_finish(sender, &[]).concat());
    }
    for (k, key) in keys.iter().enumerate() {
        assert!(!keys[..k].contains(key), "key {k}");
    }
}

#[test]
#[should_panic(expected = "another commitment")]
fn the_sender_checks_the_opening() {
    let (_, blinded) = receiver_blind(Mode::Rot, &ID, 1, &[], &[1; 32]);
    let (sender, _) = sender_reply(Mode::Rot, &ID, 1, &blinded, &[2; 32]);
    let _ = sender_finish(sender, &[0; 32]);
}
