//! Strangers that connect: garbage, silence, other keys. None of them ends a run or delays a peer.

use std::{
    io::Write,
    net::TcpStream,
    thread,
    time::{Duration, Instant},
};

use super::support::{Key, Listening, connect, connect_with, expected_messages, stderr, stdout};

const SEND: [&str; 3] = ["ot", "send", "examples/messages.txt"];
const RECEIVE: [&str; 3] = ["ot", "receive", "examples/choices.txt"];
const GARBAGE: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Connects, says that and goes on holding the connection.
fn stranger(address: &str, says: &[u8]) -> TcpStream {
    let mut socket = TcpStream::connect(address).unwrap();
    socket.write_all(says).unwrap();
    socket
}

/// The frame of a hello that would have 4 GiB.
fn giant() -> Vec<u8> {
    [&u32::MAX.to_le_bytes()[..], &[0; 64]].concat()
}

#[test]
fn a_crowd_of_strangers_does_not_keep_the_peer_from_a_secure_listener() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, peers, other] = ["a", "b", "c"].map(|name| Key::generate(folder.path(), name));
    // Without -v three refusals are told, whichever come first.
    let sender = Listening::with(&[&SEND[..], &["-v"]].concat(), &ours.expecting(&peers));
    let refused = connect_with(&RECEIVE, &other.expecting(&ours), &sender.address);
    assert_eq!(refused.status.code(), Some(1));
    let _garbage = [GARBAGE, &giant(), b"\x16\x03\x01", b""].map(|says| {
        let socket = stranger(&sender.address, says);
        drop(socket.shutdown(std::net::Shutdown::Write));
        socket
    });
    let _silent: Vec<_> = (0..100).map(|_| stranger(&sender.address, b"")).collect();

    let start = Instant::now();
    let receiver = connect_with(&RECEIVE, &peers.expecting(&ours), &sender.address);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(stdout(&receiver), expected_messages(), "{}", stderr(&receiver));
    let (status, _, said) = sender.end();
    assert_eq!(status, 0, "{said}");
    let why = format!("the peer's key {} is not one of the expected\n", other.fingerprint);
    assert!(said.contains(&why), "{said}");
    assert!(said.contains("the peer does not speak TLS\n"), "{said}");
    assert!(said.contains("refused a connection from 127.0.0.1:"), "{said}");
}

#[test]
fn strangers_do_not_keep_the_peer_from_a_plain_listener() {
    // docs/wire: R2-23.
    let receiver = Listening::start(&RECEIVE);
    let _garbage = [GARBAGE, &giant()].map(|says| stranger(&receiver.address, says));
    let _silent: Vec<_> = (0..100).map(|_| stranger(&receiver.address, b"")).collect();
    let mut drip = stranger(&receiver.address, b"\x40");
    let dripping = thread::spawn(move || {
        while drip.write_all(b"\0").is_ok() {
            thread::sleep(Duration::from_millis(100));
        }
    });

    let start = Instant::now();
    let sender = connect(&SEND, &receiver.address);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(sender.status.code(), Some(0), "{}", stderr(&sender));
    let (status, messages, said) = receiver.end();
    assert_eq!((status, messages), (0, expected_messages()), "{said}");
    assert!(said.contains(": the peer did not answer with a Foxtrot hello\n"), "{said}");
    dripping.join().unwrap();
}

#[test]
fn a_listener_without_a_peer_gives_up_after_its_wait() {
    let short = [&RECEIVE[..], &["--wait", "1"]].concat();
    let waits = "foxtrot: waiting 1 s for the peer to connect\n";
    let receiver = Listening::start(&short);
    let address = receiver.address.clone();
    let said = format!(
        "{waits}foxtrot: no peer connected to {address} within 1 s\n\
         hint: one side passes --listen, the other --connect with its address; --wait waits longer\n"
    );
    assert_eq!(receiver.end(), (1, String::new(), said));

    let receiver = Listening::start(&short);
    let address = receiver.address.clone();
    let _silent = stranger(&address, b"");
    let said = format!(
        "{waits}foxtrot: no peer connected to {address} within 1 s; 1 other connection was refused\n"
    );
    assert_eq!(receiver.end(), (1, String::new(), said));

    let receiver = Listening::start(&short);
    let address = receiver.address.clone();
    let _strangers = [b"", GARBAGE].map(|says| stranger(&address, says));
    let (status, _, said) = receiver.end();
    assert_eq!(status, 1);
    assert!(
        said.contains(&format!(
            "no peer connected to {address} within 1 s; 2 other connections were refused"
        )),
        "{said}"
    );
    assert!(!said.contains("hint: "), "strangers have a say in what we are advised: {said}");
}

#[cfg(unix)]
#[test]
fn a_server_answers_one_peer_after_another_and_all_at_once() {
    // All of them are one peer, and strangers come from its address.
    let many = ["--serve", "--max-sessions-per-peer", "20", "-v"];
    let server = Listening::start(&[&SEND[..], &many].concat());
    let (address, expected) = (&server.address, &expected_messages());
    let receive = || {
        let receiver = connect(&RECEIVE, address);
        assert_eq!(&stdout(&receiver), expected, "{}", stderr(&receiver));
    };
    for i in 0..20 {
        receive();
        if i % 5 == 0 {
            stranger(address, GARBAGE);
        }
    }
    let disagreeing = connect(&[&RECEIVE[..], &["--hex"]].concat(), address);
    assert_eq!(disagreeing.status.code(), Some(1));
    thread::scope(|scope| {
        for _ in 0..20 {
            scope.spawn(receive);
            scope.spawn(|| stranger(address, &giant()));
        }
    });
    // It says so of a session when its peer may be gone already.
    thread::sleep(Duration::from_millis(500));
    server.running.interrupt();
    let (status, _, said) = server.end();
    assert_eq!(status, 130, "{said}");
    assert!(said.contains("Z session 40 with 127.0.0.1:"), "{said}");
    assert!(!said.contains("session 41"), "{said}");
    assert!(said.contains("format is text here and hex at the peer\n"), "{said}");
    assert!(said.ends_with("Z interrupted\n"), "{said}");
}

#[cfg(unix)]
#[test]
fn a_server_reports_every_session_of_a_known_peer() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, peers, other] = ["a", "b", "c"].map(|name| Key::generate(folder.path(), name));
    let serve = [&SEND[..], &["--serve", "--json"]].concat();
    let server = Listening::with(&serve, &ours.expecting(&peers));
    for key in [&peers, &other, &peers] {
        connect_with(&RECEIVE, &key.expecting(&ours), &server.address);
    }
    // The last session's line may come after its peer has gone.
    thread::sleep(Duration::from_millis(500));
    server.running.interrupt();
    let (status, reports, said) = server.end();
    assert_eq!(status, 130, "{said}");
    let reports: Vec<serde_json::Value> =
        reports.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(reports.len(), 2, "{said}");
    assert!(reports.iter().all(|report| report["transport"] == "tls"));
    assert!(said.contains(&format!("session 2 with {} at ", peers.fingerprint)), "{said}");
}
