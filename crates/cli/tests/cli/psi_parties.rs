//! Sets of two processes: what comes out, what both say, who vanishes.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use foxtrot_net::{
    hello::{self, Hello, Role},
    tcp,
};

use super::support::{
    Key, Listening, Running, connect, connect_with, foxtrot, is_time, stderr, stdout,
};

const A: [&str; 5] = ["examples/customers-a.csv", "--key", "email", "--normalize", "email"];
const B: [&str; 5] = ["examples/customers-b.csv", "--key", "E-Mail", "--normalize", "email"];

fn receive<'a>(set: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [&["psi", "receive"], set, more].concat()
}

fn send<'a>(set: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [&["psi", "send"], set, more].concat()
}

/// The receiver's rows, by the command for both parties.
fn expected() -> String {
    let local =
        foxtrot(&[&["psi", "local"], &[A[0], B[0]], &A[1..], &["--key-b", "E-Mail"]].concat())
            .output()
            .unwrap();
    assert_eq!(local.status.code(), Some(0), "{}", stderr(&local));
    assert_eq!(stdout(&local).lines().count(), 16, "{}", stdout(&local));
    stdout(&local)
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().unwrap().to_owned()
}

#[test]
fn either_side_may_listen() {
    let receiver = Listening::start(&receive(&A, &[]));
    let sender = connect(&send(&B, &["--threads", "2"]), &receiver.address);
    assert_eq!(sender.status.code(), Some(0), "{}", stderr(&sender));
    assert_eq!(stdout(&sender), "");
    assert!(
        stderr(&sender).contains("20 keys here (E-Mail), 20 at the peer (email)\n"),
        "{}",
        stderr(&sender)
    );
    let (status, rows, said) = receiver.end();
    assert_eq!((status, rows), (0, expected()));
    assert!(said.contains("20 keys here (email), 20 at the peer (E-Mail)\n"), "{said}");
    assert!(said.contains("a cheating receiver can test at most"), "{said}");

    let sender = Listening::start(&send(&B, &["--semi-honest"]));
    let receiver = connect(&receive(&A, &["--semi-honest"]), &sender.address);
    assert_eq!(stdout(&receiver), expected());
    assert!(
        stderr(&receiver).contains("holds only if both sides follow the protocol"),
        "{}",
        stderr(&receiver)
    );
    assert_eq!(sender.end().0, 0);
}

#[test]
fn over_tls_rows_come_as_they_are_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, peers] = ["a", "b"].map(|name| Key::generate(folder.path(), name));
    let (a, b) = (path(folder.path(), "a.csv"), path(folder.path(), "b.csv"));
    let out = path(folder.path(), "out.csv");
    let huge = "x".repeat(3 << 20);
    let first = "\"na\u{ef}ve, \"\"quoted\"\"\r\ntwo lines\",\u{1f41d}@example.org,\u{df}\r\n";
    let third = format!("\"{huge}\", M\u{dc}LLER@example.org ,\r\n");
    let last = "no end,last@example.org,x";
    let content =
        format!("\u{feff}name,mail,more\r\n{first}no,alone@example.org,\r\n{third}{last}");
    fs::write(&a, content).unwrap();
    // Another line end, another order, a letter of two characters.
    let theirs = "last@example.org\nmu\u{308}ller@example.org\n\u{1f41d}@example.org\n";
    fs::write(&b, format!("E-Mail\n{theirs}not@example.org\n")).unwrap();

    let set = [&a, "--key", "mail", "--normalize", "email", "-o", &out];
    let receiver = Listening::with(&receive(&set, &[]), &ours.expecting(&peers));
    let set = [&b, "--normalize", "email", "--json"];
    let sender = connect_with(&send(&set, &[]), &peers.expecting(&ours), &receiver.address);
    let (status, printed, said) = receiver.end();
    assert_eq!((status, printed.as_str()), (0, ""), "{said}");
    assert!(said.contains("found 3 keys in common, 3 rows, written to "), "{said}");
    let expected = format!("name,mail,more\r\n{first}{third}{last}\n");
    assert!(fs::read(&out).unwrap() == expected.as_bytes());

    let report: serde_json::Value = serde_json::from_str(&stdout(&sender)).unwrap();
    assert_eq!((&report["transport"], &report["parties"]), (&"tls".into(), &"sender".into()));
    assert_eq!((&report["keys_receiver"], &report["keys_sender"]), (&4.into(), &4.into()));
    assert_eq!(report["normalize"], "email/2");
    // The first of its four flows goes with the last of the base OTs'.
    assert_eq!(report["rounds"], 2 + 4 - 1);
    assert!(report["bytes_sender"].is_u64() && report["bytes_receiver"].is_null());
    assert!(report.get("keys_found").is_none(), "the sender learns nothing");
}

#[test]
fn both_sides_say_the_same_of_a_disagreement() {
    // docs/wire: R3-7, R3-10.
    let phone = ["--key", "Telephone", "--normalize", "phone:+49"];
    let few = ["--max-peer-keys", "10"];
    let cases: [(Vec<&str>, Vec<&str>, &str, &str); 8] = [
        (
            send(&[&[B[0]], &phone[..]].concat(), &[]),
            receive(&A, &[]),
            "normalize is phone/2 here and email/2 at the peer",
            "normalize is email/2 here and phone/2 at the peer",
        ),
        (
            send(&B, &["--semi-honest"]),
            receive(&A, &[]),
            "adversary is semi-honest here and malicious at the peer",
            "adversary is malicious here and semi-honest at the peer",
        ),
        (
            send(&B, &[]),
            receive(&A, &few),
            "our set has 20 keys, and the peer accepts 10\nhint: ask the peer to raise --max-peer-keys",
            "the peer gave up: its set has more keys than we accept\nhint: raise --max-peer-keys to accept the set",
        ),
        (
            send(&B, &["--max-peer-keys", "19"]),
            receive(&A, &[]),
            "the peer gave up: its set has more keys than we accept\nhint: raise --max-peer-keys to accept the set",
            "our set has 20 keys, and the peer accepts 19",
        ),
        (send(&B, &[]), send(&B, &[]), "both sides want to be the sender", "both sides want"),
        (
            receive(&A, &[]),
            receive(&A, &[]),
            "both sides want to be the receiver\nhint: one side runs `send`, the other `receive`",
            "hint: one side runs `send`, the other `receive`",
        ),
        (
            send(&[B[0], "--key", "E-Mail", "--key", "Telephone", "--normalize", "email"], &[]),
            receive(&A, &[]),
            "hint: use the same number of key columns: this side has ",
            "hint: use the same number of key columns: this side has ",
        ),
        (
            send(&B[..3], &[]),
            receive(&A, &[]),
            "hint: pass the same --normalize on both sides",
            "hint: pass the same --normalize on both sides",
        ),
    ];
    for (here, there, words, mirrored) in cases {
        let listening = Listening::start(&here);
        let connected = connect(&there, &listening.address);
        let (status, rows, said) = listening.end();
        assert_eq!((status, connected.status.code()), (1, Some(1)), "{said}");
        assert!(said.contains(words), "{said}");
        assert!(stderr(&connected).contains(mirrored), "{}", stderr(&connected));
        assert_eq!((rows.as_str(), stdout(&connected).as_str()), ("", ""));
    }
}

#[test]
fn empty_sets_have_an_empty_intersection() {
    let folder = tempfile::tempdir().unwrap();
    let (header, keyless) = (path(folder.path(), "none.csv"), path(folder.path(), "keyless.csv"));
    fs::write(&header, "mail\n").unwrap();
    fs::write(&keyless, "mail,x\n,1\n,2\n").unwrap();
    for (a, b) in [(&header, &keyless), (&keyless, &keyless)] {
        let local = ["psi", "local", a, b, "--key", "mail"];
        let output = foxtrot(&local).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
        assert_eq!(stdout(&output).lines().count(), 1, "the header");
        assert!(stderr(&output).contains("found 0 keys in common, 0 rows"));
    }
}

#[test]
#[cfg(unix)]
fn a_server_answers_peers_in_turn_and_survives_a_vanished_peer() {
    let mut server = Listening::start(&send(&B, &["--serve"]));
    let run = connect(&receive(&A, &[]), &server.address);
    assert_eq!((run.status.code(), stdout(&run)), (Some(0), expected()));
    let mut said = Vec::new();
    while !said.last().is_some_and(|line: &String| line.contains("session 1 with ")) {
        said.push(server.running.line());
    }
    assert_eq!(said.len(), 2, "more lines of a session take -v: {said:?}");
    assert!(said[1].contains(", 20 keys: "), "{said:?}");
    // What was agreed with whom, and when.
    let stamp = |line: &str| line.split(' ').nth(1).unwrap().to_owned();
    assert!(said.iter().all(|line| is_time(&stamp(line))), "{said:?}");
    let agreed = said[0].replacen(&format!("{} ", stamp(&said[0])), "", 1);
    let agreed = agreed.strip_prefix("foxtrot: with 127.0.0.1:").unwrap();
    assert!(agreed.contains(": agreed: malicious security, "), "{said:?}");
    assert!(
        agreed
            .ends_with(", keys normalised by email; 20 keys here (E-Mail), 20 at the peer (email)"),
        "{said:?}"
    );
    let wrong = connect(&receive(&A, &["--max-peer-keys", "1"]), &server.address);
    assert_eq!(wrong.status.code(), Some(1));
    let run = connect(&receive(&A, &["--count"]), &server.address);
    assert_eq!((run.status.code(), stdout(&run).as_str()), (Some(0), "12\n"));
    assert!(stderr(&run).contains("the receiver's program still learns the rows"));
    server.running.interrupt();
    assert_eq!(server.end().0, 130);
}

/// A reader that has gone away is an error for a server, unlike for a command that has written
/// everything.
#[test]
fn a_server_fails_when_its_output_has_no_reader() {
    let mut server = Listening::start(&send(&B, &["--serve", "--json", "--timeout", "5"]));
    server.running.stop_reading();
    let run = connect(&receive(&A, &[]), &server.address);
    assert_eq!((run.status.code(), stdout(&run)), (Some(0), expected()));
    let (status, _, said) = server.end();
    assert_eq!(status, 1);
    let words = "Z cannot write to standard output: nobody reads it any more\n";
    assert!(said.ends_with(words), "{said}");
}

#[test]
fn an_empty_intersection_warns_and_names_both_columns() {
    // As in the other's file: names with names, and not with addresses.
    let swapped = ["examples/customers-a.csv", "--key", "name", "--normalize", "name"];
    let theirs = ["examples/customers-b.csv", "--key", "E-Mail", "--normalize", "name"];
    let sender = Listening::start(&send(&theirs, &[]));
    let receiver = connect(&receive(&swapped, &["--json", "--count"]), &sender.address);
    let (status, _, said) = sender.end();
    assert_eq!((status, receiver.status.code()), (0, Some(0)), "{said}");
    let told = stderr(&receiver);
    let words = "foxtrot: warning: no key in common (key columns: name here, E-Mail at the peer); compare \
                 the output of `foxtrot psi inspect --show 5` on both sides";
    assert!(told.contains(words), "{told}");
    // The sender learns nothing of it.
    assert!(!said.contains("warning"), "{said}");
    let report: serde_json::Value = serde_json::from_str(&stdout(&receiver)).unwrap();
    assert_eq!(report["key_columns"], serde_json::json!(["name"]));
    assert_eq!((&report["peer_key_columns"], &report["keys_found"]), (&"E-Mail".into(), &0.into()));
}

#[test]
fn names_of_the_peers_columns_are_escaped_and_shortened() {
    let receiver = Listening::start(&receive(&A, &["--timeout", "5"]));
    let hello = Hello::new(Role::Sender)
        .term("job", "psi")
        .term("base", "roted-endemic")
        .term("assumption", "symmetric")
        .term("adversary", "malicious")
        .term("normalize", "email/2")
        .detail("keys", 5)
        .offer("most-keys", 50)
        .detail("key-columns", format!("\u{1b}[2J{}", "x".repeat(1000)));
    let channel = tcp::connect(&receiver.address, Duration::from_secs(5)).unwrap();
    let channel = channel.open().unwrap();
    hello::exchange(&channel, true, &hello).unwrap();
    drop(channel);
    let (status, _, said) = receiver.end();
    let line = said.lines().find(|line| line.starts_with("foxtrot: agreed: ")).unwrap();
    assert!(line.ends_with(&format!("at the peer (\\u{{1b}}[2J{}…)", "x".repeat(60))), "{said}");
    assert_eq!((status, said.contains('\u{1b}')), (1, false), "{said}");
}

/// Sizes in a peer's hello are numbers, or the peer is at fault.
#[test]
fn a_peer_that_offers_no_number_misbehaves() {
    // docs/wire: R3-9.
    for (keys, most_keys) in [
        ("x", "20"),
        ("-1", "20"),
        ("+5", "20"),
        ("05", "20"),
        ("", "20"),
        ("1073741825", "20"),
        ("99999999999999999999999", "20"),
        ("5", "20 "),
        ("5", "\u{1b}[2J"),
    ] {
        let receiver = Listening::start(&receive(&A, &["--timeout", "5"]));
        let hello = Hello::new(Role::Sender)
            .term("job", "psi")
            .term("base", "roted-endemic")
            .term("assumption", "symmetric")
            .term("adversary", "malicious")
            .term("normalize", "email/2")
            .detail("keys", keys)
            .offer("most-keys", most_keys);
        let channel = tcp::connect(&receiver.address, Duration::from_secs(5)).unwrap();
        let channel = channel.open().unwrap();
        // The one number is read before there is a session, the other one behind.
        let _ = hello::exchange(&channel, true, &hello);
        let (status, rows, said) = receiver.end();
        assert_eq!((status, rows.as_str()), (3, ""), "{said}");
        assert!(said.contains("foxtrot: the peer offers "), "{said}");
        assert!(!said.contains('\u{1b}'), "{said}");
    }
}

/// A list of so many lines from this one on.
fn lines(path: &str, numbers: std::ops::Range<usize>) {
    let text: String = numbers.map(|i| format!("user{i:09}@example.com\n")).collect();
    fs::write(path, text).unwrap();
}

#[test]
fn an_intersection_of_a_hundred_thousand_rows_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b, out] = ["a", "b", "out"].map(|name| path(folder.path(), name));
    lines(&a, 0..100_000);
    lines(&b, 40_000..130_000);
    let sender = Listening::start(&send(&[&b], &[]));
    let receiver = connect(&receive(&[&a], &["-o", &out, "--json"]), &sender.address);
    assert_eq!((sender.end().0, receiver.status.code()), (0, Some(0)), "{}", stderr(&receiver));
    let report: serde_json::Value = serde_json::from_str(&stdout(&receiver)).unwrap();
    assert_eq!((&report["keys_found"], &report["n"]), (&60_000.into(), &100_000.into()));
    let found = fs::read_to_string(&out).unwrap();
    assert!(found.lines().eq((40_000..100_000).map(|i| format!("user{i:09}@example.com"))));
}

/// A killed process leaves nothing behind, and the other side ends soon, whichever was killed and
/// when.
#[test]
#[cfg(unix)]
fn killing_one_party_ends_the_other_and_writes_no_file() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, peers] = ["k", "l"].map(|name| Key::generate(folder.path(), name));
    let [a, out] = ["a", "out"].map(|name| path(folder.path(), name));
    lines(&a, 0..1_000_000);
    for sender_dies in [false, true] {
        let patience = ["--timeout", "20", "-v"];
        let mut sender = Listening::with(&send(&[&a], &patience), &ours.expecting(&peers));
        let transport = [&peers.expecting(&ours)[..], &["--connect", &sender.address]].concat();
        let more = [&["-o", &out], &patience[..], &transport].concat();
        let mut receiver = Running::start(&receive(&[&a], &more));
        for running in [&mut sender.running, &mut receiver] {
            while !running.line().contains("base OTs done") {}
        }
        // Of 10⁶ rows that would take seconds.
        thread::sleep(Duration::from_millis(400));
        let start = Instant::now();
        let (dies, lives) = match sender_dies {
            true => (sender.running, receiver),
            false => (receiver, sender.running),
        };
        dies.signal("-KILL");
        assert_eq!(dies.end().0, -1);
        let (status, rows, said) = lives.end();
        assert_eq!((status, rows.as_str()), (1, ""), "{said}");
        assert!(said.contains("the peer closed the connection"), "{said}");
        assert!(start.elapsed() < Duration::from_secs(10));
        assert!(!Path::new(&out).exists());
    }
    // Only what was there before.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
}

#[test]
#[ignore = "a minute, and gigabytes"]
fn an_intersection_of_a_million_rows_over_tls_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, peers] = ["k", "l"].map(|name| Key::generate(folder.path(), name));
    let [a, b, out] = ["a", "b", "out"].map(|name| path(folder.path(), name));
    lines(&a, 0..1_000_000);
    lines(&b, 500_000..1_500_000);
    let sender = Listening::with(&send(&[&b], &[]), &ours.expecting(&peers));
    let receiver = receive(&[&a], &["-o", &out]);
    let receiver = connect_with(&receiver, &peers.expecting(&ours), &sender.address);
    let (status, _, said) = sender.end();
    assert_eq!((status, receiver.status.code()), (0, Some(0)), "{said}{}", stderr(&receiver));
    println!("{said}{}", stderr(&receiver));
    let found = fs::read_to_string(&out).unwrap();
    assert!(found.lines().eq((500_000..1_000_000).map(|i| format!("user{i:09}@example.com"))));
}
