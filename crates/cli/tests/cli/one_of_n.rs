//! `ot --one-of N` between two processes over TCP.

use super::support::{Listening, connect, stderr, stdout};

const SEND: [&str; 5] = ["ot", "send", "examples/messages-of-4.txt", "--one-of", "4"];
const RECEIVE: [&str; 5] = ["ot", "receive", "examples/choices-of-4.txt", "--one-of", "4"];

/// Returns the messages that the example's choices select.
fn expected() -> String {
    let messages = include_str!("../../../../examples/messages-of-4.txt");
    let choices = include_str!("../../../../examples/choices-of-4.txt");
    let messages: Vec<_> = messages.lines().collect();
    let chosen = messages.chunks(4).zip(choices.lines());
    chosen.map(|(four, choice)| format!("{}\n", four[choice.parse::<usize>().unwrap()])).collect()
}

#[test]
fn either_side_may_listen_in_both_modes() {
    for mode in [&[][..], &["--semi-honest"], &["--extension", "oos-802", "--threads", "2"]] {
        let (send, receive) = ([&SEND, mode].concat(), [&RECEIVE, mode].concat());
        let receiver = Listening::start(&receive);
        let sender = connect(&send, &receiver.address);
        assert_eq!(sender.status.code(), Some(0), "{}", stderr(&sender));
        let (status, messages, said) = receiver.end();
        assert_eq!((status, messages), (0, expected()), "{said}");

        let sender = Listening::start(&send);
        let receiver = connect(&receive, &sender.address);
        assert_eq!(stdout(&receiver), expected());
        assert!(stderr(&receiver).contains("received 3 of 12 messages"), "{}", stderr(&receiver));
        assert_eq!(sender.end().0, 0);
    }
}

#[test]
fn both_sides_say_the_same_of_a_disagreement() {
    let folder = tempfile::tempdir().unwrap();
    let small = folder.path().join("small.txt");
    std::fs::write(&small, "0\n1\n0\n").unwrap();
    let small = small.to_str().unwrap();
    for (there, words) in [
        (vec!["ot", "receive", small, "--one-of", "5"], "one-of is 4 here and 5 at the peer"),
        (
            [&RECEIVE[..], &["--extension", "oos-802"]].concat(),
            "extension is oos here and oos-802 at the peer",
        ),
    ] {
        let listening = Listening::start(&SEND);
        let connected = connect(&there, &listening.address);
        let (status, _, said) = listening.end();
        assert_eq!((status, connected.status.code()), (1, Some(1)), "{said}");
        assert!(said.contains(words), "{said}");
    }
    // Without --one-of it is one of two.
    let listening = Listening::start(&SEND);
    let connected = connect(&["ot", "receive", small], &listening.address);
    assert_eq!((listening.end().0, connected.status.code()), (1, Some(1)));
}
