//! Two processes over TLS, and the keys by which they know each other.

use std::fs;

use super::support::{
    Key, Listening, connect, connect_with, expected_messages, foxtrot, stderr, stdout,
};

const SEND: [&str; 3] = ["ot", "send", "examples/messages.txt"];
const RECEIVE: [&str; 3] = ["ot", "receive", "examples/choices.txt"];

#[test]
fn either_side_may_listen() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, peers] = ["a", "b"].map(|name| Key::generate(folder.path(), name));

    let receiver = Listening::with(&[&RECEIVE[..], &["-v"]].concat(), &ours.expecting(&peers));
    let sender = connect_with(&SEND, &peers.expecting(&ours), &receiver.address);
    assert_eq!(sender.status.code(), Some(0), "{}", stderr(&sender));
    let (status, messages, said) = receiver.end();
    assert_eq!((status, messages), (0, expected_messages()));
    assert!(said.contains(&format!("our key is {}\n", ours.fingerprint)), "{said}");
    assert!(said.contains(&format!("the peer is {} at ", peers.fingerprint)), "{said}");

    let sender = Listening::with(&SEND, &ours.expecting(&peers));
    let json = [&RECEIVE[..], &["--json"]].concat();
    let receiver = connect_with(&json, &peers.expecting(&ours), &sender.address);
    let report: serde_json::Value = serde_json::from_str(&stdout(&receiver)).unwrap();
    assert_eq!(report["transport"], "tls");
    assert_eq!(report["messages"].as_array().unwrap().len(), 8);
    assert_eq!(sender.end().0, 0);
}

#[test]
fn random_transfers_fit_together_either_way() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, peers] = ["a", "b"].map(|name| Key::generate(folder.path(), name));
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (s, r) = (file("s"), file("r"));
    let send = ["rot", "send", "-n", "40", "-o", &s, "--force"];
    let receive = ["rot", "receive", "-n", "40", "-o", &r, "--force"];
    let silent = &["--extension", "silent"][..];
    for (listens, connects, more) in [(&send, &receive, &[][..]), (&receive, &send, silent)] {
        let listens = [&listens[..], more].concat();
        let connects = [&connects[..], more].concat();
        let listening = Listening::with(&listens, &ours.expecting(&peers));
        let connected = connect_with(&connects, &peers.expecting(&ours), &listening.address);
        assert_eq!((listening.end().0, connected.status.code()), (0, Some(0)));
        let [pairs, keys, choices] =
            ["s.keys", "r.keys", "r.choices"].map(|name| fs::read(file(name)).unwrap());
        for i in 0..40 {
            let c = usize::from(choices[i / 8] >> (i % 8) & 1);
            assert_eq!(keys[16 * i..][..16], pairs[32 * i + 16 * c..][..16]);
        }
    }
}

#[test]
fn a_wrong_key_is_named_on_both_sides() {
    // docs/wire: R2-2.
    let folder = tempfile::tempdir().unwrap();
    let [ours, peers, other] = ["a", "b", "c"].map(|name| Key::generate(folder.path(), name));
    let short = [&SEND[..], &["--wait", "2"]].concat();
    let not_expected =
        |key: &Key| format!("the peer's key {} is not one of the expected\n", key.fingerprint);
    let say = |key: &Key| format!("on the peer, add --peer {}\n", key.fingerprint);

    // The listener expects another key than that of who connects.
    let sender = Listening::with(&short, &ours.expecting(&other));
    let receiver = connect_with(&RECEIVE, &peers.expecting(&ours), &sender.address);
    let (status, _, said) = sender.end();
    assert_eq!((status, receiver.status.code()), (1, Some(1)));
    let compare = "hint: compare it with `foxtrot keygen --show` at the peer; if it is right, pass it with --peer\n";
    assert!(said.contains(&not_expected(&peers)) && said.ends_with(compare), "{said}");
    let told = stderr(&receiver);
    assert!(told.contains("foxtrot: the peer does not accept this identity\n"), "{told}");
    assert!(told.ends_with(&say(&peers)), "{told}");

    // Who connects expects another key than the listener's.
    let sender = Listening::with(&short, &ours.expecting(&peers));
    let receiver = connect_with(&RECEIVE, &peers.expecting(&other), &sender.address);
    let (status, _, said) = sender.end();
    assert_eq!((status, receiver.status.code()), (1, Some(1)));
    assert!(said.contains(": the peer does not accept this identity\n"), "{said}");
    assert!(said.ends_with(&say(&ours)), "{said}");
    let told = stderr(&receiver);
    assert!(told.contains(&not_expected(&ours)) && told.ends_with(compare), "{told}");
}

#[test]
fn one_of_several_keys_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, peers, other] = ["a", "b", "c"].map(|name| Key::generate(folder.path(), name));
    let both = [&ours.expecting(&other)[..], &["--peer", &peers.fingerprint]].concat();
    let sender = Listening::with(&SEND, &both);
    let receiver = connect_with(&RECEIVE, &peers.expecting(&ours), &sender.address);
    assert_eq!((sender.end().0, stdout(&receiver)), (0, expected_messages()));
}

#[test]
fn a_peer_that_disagrees_ends_the_run_on_both_sides() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, peers] = ["a", "b"].map(|name| Key::generate(folder.path(), name));
    let sender = Listening::with(&SEND, &ours.expecting(&peers));
    let hex = [&RECEIVE[..], &["--hex"]].concat();
    let receiver = connect_with(&hex, &peers.expecting(&ours), &sender.address);
    let (status, _, said) = sender.end();
    assert_eq!((status, receiver.status.code()), (1, Some(1)));
    assert!(said.contains("format is text here and hex at the peer"), "{said}");
    assert!(stderr(&receiver).contains("format is hex here and text at the peer"));
}

#[test]
fn tls_on_one_side_only_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, peers] = ["a", "b"].map(|name| Key::generate(folder.path(), name));
    let short = [&SEND[..], &["--wait", "1"]].concat();
    let hint = "hint: pass --insecure on both sides or on neither\n";

    let sender = Listening::with(&short, &ours.expecting(&peers));
    let receiver = connect(&RECEIVE, &sender.address);
    assert!(stderr(&receiver).ends_with(hint), "{}", stderr(&receiver));
    assert!(sender.end().2.ends_with(hint));

    let sender = Listening::start(&short);
    let receiver = connect_with(&RECEIVE, &peers.expecting(&ours), &sender.address);
    assert!(stderr(&receiver).ends_with(hint), "{}", stderr(&receiver));
    assert!(sender.end().2.ends_with(hint));
}

#[test]
fn without_a_peer_there_is_no_run_but_our_fingerprint() {
    let folder = tempfile::tempdir().unwrap();
    let ours = Key::generate(folder.path(), "a");
    let address = ["--connect", "127.0.0.1:1", "--identity", &ours.file];
    let output = foxtrot(&[&SEND[..], &address].concat()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = stderr(&output);
    assert!(said.starts_with("foxtrot: --peer is missing"), "{said}");
    assert!(said.ends_with(&format!("the peer passes --peer {}\n", ours.fingerprint)), "{said}");
}
