//! Two processes over TCP: what they print, agree on and refuse; a peer that vanishes or cheats.

use std::{
    fs,
    io::{ErrorKind, Read},
    net::TcpStream,
    time::{Duration, Instant},
};

use super::support::{Listening, connect, expected_messages, foxtrot, stderr, stdout};
use foxtrot_net::{
    Channel, Lane,
    hello::{self, Hello, Role},
    tcp,
};
use foxtrot_ot::{
    Seed, Session,
    base::roted::{Blinded, Endemic, Opening, Reply, Rot, endemic, rot},
    convert::{self, Format},
};

const SEND: [&str; 3] = ["ot", "send", "examples/messages.txt"];
const RECEIVE: [&str; 3] = ["ot", "receive", "examples/choices.txt"];

#[test]
fn either_side_may_listen() {
    let receiver = Listening::start(&RECEIVE);
    let sender = connect(&SEND, &receiver.address);
    assert_eq!(sender.status.code(), Some(0), "{}", stderr(&sender));
    let (status, messages, _) = receiver.end();
    assert_eq!((status, messages), (0, expected_messages()));

    let sender = Listening::start(&SEND);
    let receiver = connect(&RECEIVE, &sender.address);
    assert_eq!(stdout(&receiver), expected_messages());
    assert_eq!(sender.end().0, 0);
}

#[test]
fn both_sides_say_the_same_of_a_disagreement() {
    // docs/wire: R3-10.
    let folder = tempfile::tempdir().unwrap();
    let short = folder.path().join("short.txt");
    fs::write(&short, "0\n1\n").unwrap();
    let short = short.to_str().unwrap();
    let cases: [(&[&str], &[&str], &str); 4] = [
        (&SEND, &["ot", "receive", short], "count is 8 here and 2 at the peer"),
        (&SEND, &["rot", "receive", "-n", "8", "-o", short], "job is ot here and rot at the peer"),
        (
            &SEND,
            &["ot", "receive", "examples/choices.txt", "--hex"],
            "format is text here and hex at the peer",
        ),
        (&SEND, &SEND, "both sides want to be the sender"),
    ];
    for (here, there, words) in cases {
        let listening = Listening::start(here);
        let connected = connect(there, &listening.address);
        let (status, _, said) = listening.end();
        assert_eq!((status, connected.status.code()), (1, Some(1)), "{said}");
        assert!(said.contains(words), "{said}");
        let mirrored = words.split(' ').next().unwrap();
        assert!(stderr(&connected).contains(mirrored), "{}", stderr(&connected));
        assert_eq!(stdout(&connected), "");
    }
}

#[test]
fn both_sides_learn_which_option_differs() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("k").to_str().unwrap().to_owned();
    for (here, there, hint) in [
        ("--semi-honest -n 8", "-n 8", "pass --semi-honest on both sides or on neither"),
        ("--base rot-from-ot:bdgm -n 8", "-n 8", "pass the same --base on both sides"),
        ("--extension kos -n 8", "-n 8", "pass the same --extension on both sides"),
        ("-n 8", "-n 9", "use the same number on both sides: -n, or the lines of the input files"),
    ] {
        let of = |role, options: &'static str| {
            ["rot", role, "-o", &out].into_iter().chain(options.split(' ')).collect::<Vec<_>>()
        };
        let listening = Listening::start(&of("send", here));
        let connected = connect(&of("receive", there), &listening.address);
        let (status, _, said) = listening.end();
        assert_eq!((status, connected.status.code()), (1, Some(1)), "{said}");
        for said in [said, stderr(&connected)] {
            assert!(said.ends_with(&format!("\nhint: {hint}\n")), "{said}");
        }
    }
}

/// All else differs because the jobs do.
#[test]
fn different_jobs_are_reported_without_other_differences() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("t").to_str().unwrap().to_owned();
    let triples = ["triples", "generate", "-n", "8", "--bits", "8", "-o", &out];
    let psi = |role| ["psi", role, "examples/customers-a.csv", "--key", "email"];
    // Whichever party is what in the hello.
    for (psi, party) in [(psi("receive"), "0"), (psi("send"), "1"), (psi("send"), "0")] {
        let listening = Listening::start(&psi);
        let connected = connect(&[&triples[..], &["--party", party]].concat(), &listening.address);
        let (status, _, said) = listening.end();
        assert_eq!((status, connected.status.code()), (1, Some(1)), "{said}");
        let hint =
            "hint: run the same command on both sides: `foxtrot psi`, `ot`, `rot` or `triples`\n";
        let words = |here, peer| {
            format!(
                "foxtrot: the two sides disagree: job is {here} here and {peer} at the peer\n{hint}"
            )
        };
        assert!(said.ends_with(&words("psi", "triples")), "{said}");
        assert!(stderr(&connected).ends_with(&words("triples", "psi")), "{}", stderr(&connected));
    }
}

#[test]
fn random_base_ots_fit_together() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let n = 1500_usize; // two batches
    let common = ["-n", "1500", "--extension", "none"];
    let sender = Listening::start(&[&["rot", "send", "-o", &file("s")][..], &common].concat());
    let receiver = connect(
        &[&["rot", "receive", "-o", &file("r"), "--json"][..], &common].concat(),
        &sender.address,
    );
    assert_eq!((sender.end().0, receiver.status.code()), (0, Some(0)), "{}", stderr(&receiver));

    let pairs = fs::read(file("s.keys")).unwrap();
    let keys = fs::read(file("r.keys")).unwrap();
    let choices = fs::read(file("r.choices")).unwrap();
    assert_eq!((pairs.len(), keys.len(), choices.len()), (32 * n, 16 * n, n.div_ceil(8)));
    let mut ones = 0;
    for i in 0..n {
        let c = usize::from(choices[i / 8] >> (i % 8) & 1);
        ones += c;
        assert_eq!(keys[16 * i..][..16], pairs[32 * i + 16 * c..][..16]);
        assert_ne!(keys[16 * i..][..16], pairs[32 * i + 16 * (1 - c)..][..16]);
    }
    assert!((500..1000).contains(&ones), "{ones} of {n} choices are 1");

    let json: serde_json::Value = serde_json::from_str(&stdout(&receiver)).unwrap();
    assert_eq!(json["schema"], 1);
    assert_eq!(json["bytes_receiver"], 1296 * n + 2 * 64);
    assert_eq!(json["bytes_sender"], serde_json::Value::Null);
    assert_eq!((&json["parties"], &json["transport"]), (&"receiver".into(), &"tcp".into()));
}

#[test]
fn a_vanished_peer_ends_the_run_soon_and_no_file_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let receiver =
        Listening::start(&["ot", "receive", "examples/choices.txt", "-o", out.to_str().unwrap()]);
    let channel = tcp::connect(&receiver.address, Duration::from_secs(5)).unwrap().open().unwrap();
    hello::exchange(&channel, true, &ot_hello(Role::Sender)).unwrap();
    drop(channel);
    let start = Instant::now();
    let (status, _, said) = receiver.end();
    assert_eq!(status, 1);
    assert!(said.contains("the peer closed the connection"), "{said}");
    assert!(start.elapsed() < Duration::from_secs(10));
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn a_missing_peer_is_an_error_with_a_hint() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let sender = connect(&[&SEND[..], &["--wait", "1"]].concat(), &port.to_string());
    assert_eq!(sender.status.code(), Some(1));
    let told = stderr(&sender);
    assert_eq!(
        told.matches(&format!("no peer listens at {port} yet; trying for 1 s\n")).count(),
        1
    );
    let failed = format!(
        "cannot connect to {port} within 1 s: connection refused\nhint: one side passes --listen, "
    );
    assert!(told.contains(&failed), "{told}");
}

fn terms(role: Role, job: &str, base: &str, n: usize) -> Hello {
    Hello::new(role)
        .term("job", job)
        .term("base", base)
        .term("extension", "none")
        .term("adversary", "malicious")
        .term("count", n)
}

fn ot_hello(role: Role) -> Hello {
    terms(role, "ot", "roted-endemic", 8).term("format", "text").detail("message-length", 10)
}

/// Connects to a listening command as its peer; gives the namespace of any protocol.
fn peer(address: &str, hello: &Hello) -> (Channel, impl Fn(&str) -> Session + use<>) {
    let channel = tcp::connect(address, Duration::from_secs(5)).unwrap().open().unwrap();
    let agreement = hello::exchange(&channel, true, hello).unwrap();
    let sub =
        move |protocol: &str| Session::new(agreement.sid).sub(protocol, 0, agreement.direction());
    (channel, sub)
}

fn seed() -> Seed {
    Seed::from_bytes([3; 32])
}

#[test]
fn an_opening_of_something_else_is_misbehaviour() {
    let folder = tempfile::tempdir().unwrap();
    let prefix = folder.path().join("keys");
    let send = ["rot", "send", "-n", "4", "--extension", "none", "-o", prefix.to_str().unwrap()];
    let sender = Listening::start(&send);
    let hello = terms(Role::Receiver, "rot", "roted", 4);
    let (channel, sub) = peer(&sender.address, &hello);
    let (_receiver, blinded) = rot::Receiver::start(sub("roted"), 4, seed()).unwrap();
    channel.send(Lane::PROTOCOL, blinded.into_bytes()).unwrap();
    channel.recv(Lane::PROTOCOL, Reply::<Rot>::encoded_len(4)).unwrap();
    channel.send(Lane::PROTOCOL, vec![0; Opening::encoded_len(4)]).unwrap();
    let (status, _, said) = sender.end();
    assert_eq!(status, 3);
    assert!(said.contains("the peer's opening does not match its commitment"), "{said}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn undecodable_bytes_are_misbehaviour() {
    let sender = Listening::start(&SEND);
    let hello = terms(Role::Receiver, "ot", "roted-endemic", 8).term("format", "text");
    let (channel, _) = peer(&sender.address, &hello);
    channel.send(Lane::PROTOCOL, vec![0xff; 8 * 1296]).unwrap();
    let told = channel.recv(Lane::PROTOCOL, 8 * 2176).unwrap_err().to_string();
    assert_eq!(told, "the peer gave up: it could not decode our message");
    let (status, _, said) = sender.end();
    assert_eq!(status, 3);
    assert!(said.contains("a coefficient of the peer's Blinded is out of range"), "{said}");

    let sender = Listening::start(&SEND);
    let (channel, _) = peer(&sender.address, &hello);
    channel.send(Lane::PROTOCOL, vec![0; 8 * 1296 + 1]).unwrap();
    assert_eq!(sender.end().0, 3);
}

/// The sender spoils the first message of every pair. Whatever the choices, it sees the connection
/// end in the same way; only the receiver's user learns whether one of these was chosen.
#[test]
fn a_spoiled_message_is_reported_to_the_receivers_user_only() {
    // docs/wire: R2-14, R2-18.
    for (choices, expected) in [("0\n1\n", (3, "")), ("1\n1\n", (0, "right\nright\n"))] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("choices.txt");
        fs::write(&file, choices).unwrap();
        let receiver = Listening::start(&["ot", "receive", file.to_str().unwrap()]);
        let hello = terms(Role::Sender, "ot", "roted-endemic", 2).term("format", "text");
        let (channel, sub) = peer(&receiver.address, &hello.detail("message-length", 5));

        let blinded = channel.recv(Lane::PROTOCOL, 2 * 1296).unwrap();
        let blinded = Blinded::<Endemic>::decode(&blinded, 2).unwrap();
        let (keys, reply) = endemic::respond(sub("roted-endemic"), &blinded, seed());
        channel.send(Lane::PROTOCOL, reply.into_bytes()).unwrap();
        let mut sender = convert::Sender::new(sub("chosen-messages"), Format::Pairs, 5).unwrap();
        let messages = ["left", "right", "left", "right"];
        let mut frame = sender.seal(keys.pairs().as_flattened(), &messages).unwrap();
        frame.chunks_mut(2 * 25).for_each(|pair| pair[7] ^= 1);
        channel.send(Lane::PROTOCOL, frame).unwrap();
        // The receiver says that all has come, whatever it makes of it.
        channel.finish().unwrap();

        let seen = channel.await_in_place().unwrap_err().to_string();
        assert!(seen.starts_with("the peer closed the connection"), "{seen}");
        let (status, messages, _) = receiver.end();
        assert_eq!((status, messages.as_str()), expected);
    }
}

/// Two lines in one message would pass for two messages.
#[test]
fn a_message_with_a_line_break_is_misbehaviour() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("choices.txt");
    fs::write(&file, "0\n1\n").unwrap();
    let receiver = Listening::start(&["ot", "receive", file.to_str().unwrap()]);
    let hello = terms(Role::Sender, "ot", "roted-endemic", 2).term("format", "text");
    let (channel, sub) = peer(&receiver.address, &hello.detail("message-length", 9));
    let blinded = channel.recv(Lane::PROTOCOL, 2 * 1296).unwrap();
    let blinded = Blinded::<Endemic>::decode(&blinded, 2).unwrap();
    let (keys, reply) = endemic::respond(sub("roted-endemic"), &blinded, seed());
    channel.send(Lane::PROTOCOL, reply.into_bytes()).unwrap();
    let mut sender = convert::Sender::new(sub("chosen-messages"), Format::Pairs, 9).unwrap();
    let messages = ["one\ntwo", "three", "one\ntwo", "three"];
    let frame = sender.seal(keys.pairs().as_flattened(), &messages).unwrap();
    channel.send(Lane::PROTOCOL, frame).unwrap();
    channel.finish().unwrap();
    let (status, messages, said) = receiver.end();
    assert_eq!((status, messages.as_str()), (3, ""));
    assert!(said.contains("a message from the peer has a line break in it"), "{said}");
}

#[test]
fn places_that_cannot_be_written_are_found_before_anybody_is_met() {
    let receive = ["ot", "receive", "examples/choices.txt", "-o", "missing/out"];
    let mut command =
        foxtrot(&[&receive[..], &["--insecure", "--connect", "127.0.0.1:1"]].concat());
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output);
    assert_eq!(
        said,
        "foxtrot: cannot write missing/out: no such file or directory\nhint: create the directory first\n"
    );
}

/// A sender that had a second connection could tell by its end when the receiver's process ends,
/// and so whether a spoiled message was chosen. There is none when the session begins.
#[test]
fn a_second_connection_ends_before_the_session_begins() {
    let receiver = Listening::start(&RECEIVE);
    let mut silent = TcpStream::connect(&receiver.address).unwrap();
    let (channel, _) = peer(&receiver.address, &ot_hello(Role::Sender));
    channel.recv(Lane::PROTOCOL, 8 * 1296).unwrap();
    // The session goes on; nothing of what follows can be seen here.
    silent.set_nonblocking(true).unwrap();
    let ended = silent.read(&mut [0]);
    assert!(!matches!(&ended, Err(e) if e.kind() == ErrorKind::WouldBlock), "{ended:?}");
    drop(channel);
    assert_eq!(receiver.end().0, 1);
}
