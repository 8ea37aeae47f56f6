//! Tests of Figure 1's promises between honest parties, and of one property that it lacks.

use foxtrot_reference::oracle::Id;
use foxtrot_reference::roted::Key;
use foxtrot_reference::roted_figure1::{
    Received, receiver_blind, receiver_finish, sender_finish, sender_reply,
};

const ID: Id = [7; 32];

fn run(n: usize) -> (Vec<[Key; 2]>, Received) {
    let (receiver, blinded) = receiver_blind(&ID, n, &[1; 32]);
    let (sender, reply) = sender_reply(&ID, n, &blinded, &[2; 32]);
    assert_eq!((blinded.len(), reply.len()), (976 * n, 1072 * n));
    let received = receiver_finish(receiver, &reply);
    (sender_finish(sender, &received.opening), received)
}

#[test]
fn the_receiver_has_only_the_key_at_its_choice() {
    let (pairs, received) = run(12);
    for (i, pair) in pairs.iter().enumerate() {
        let choice = usize::from(received.choices[i]);
        assert_eq!(received.keys[i], pair[choice], "instance {i}");
        assert_ne!(received.keys[i], pair[1 - choice], "instance {i}");
    }
    assert!(received.choices.contains(&true) && received.choices.contains(&false));
}

#[test]
fn without_a_match_the_choice_is_the_branch() {
    let branches = [(); 2].map(|()| {
        let (receiver, blinded) = receiver_blind(&ID, 12, &[1; 32]);
        let (_, mut reply) = sender_reply(&ID, 12, &blinded, &[2; 32]);
        for instance in reply.chunks_mut(1072) {
            instance[896..928].fill(0xaa);
        }
        receiver_finish(receiver, &reply).choices
    });
    assert_eq!(branches[0], branches[1]);
    assert!(branches[0].contains(&true) && branches[0].contains(&false));
}

#[test]
#[should_panic(expected = "another commitment")]
fn the_sender_checks_the_opening() {
    let (_, blinded) = receiver_blind(&ID, 1, &[1; 32]);
    let (sender, _) = sender_reply(&ID, 1, &blinded, &[2; 32]);
    let _ = sender_finish(sender, &[0; 32]);
}
