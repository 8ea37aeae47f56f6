//! Waiting for the peer, which is no stall: the two sides start in any order, as far apart as they like.

use std::{io::Write, net::TcpListener, thread, time::Duration};

use super::support::{
    Listening, Running, connect, expected_messages, foxtrot, names, stderr, stdout,
};

const SEND: [&str; 3] = ["ot", "send", "examples/messages.txt"];
const RECEIVE: [&str; 3] = ["ot", "receive", "examples/choices.txt"];

/// An address at which nobody listens yet.
fn free_address() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

#[test]
fn a_listener_waits_longer_than_its_timeout_for_every_job() {
    let folder = tempfile::tempdir().unwrap();
    let place = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let (keys, shares) = (place("keys"), place("shares"));
    let jobs: [&[&str]; 5] = [
        &RECEIVE,
        &["rot", "send", "-n", "8", "-o", &keys],
        &["psi", "send", "examples/messages.txt"],
        &["psi", "receive", "examples/messages.txt"],
        &["triples", "generate", "--party", "0", "-n", "8", "--bits", "32", "-o", &shares],
    ];
    let listeners: Vec<_> = jobs
        .map(|job| Listening::start(&[job, &["--timeout", "1"]].concat()).running)
        .into_iter()
        .collect();
    thread::sleep(Duration::from_millis(1500));
    for (job, mut listener) in jobs.into_iter().zip(listeners) {
        assert_eq!(listener.line(), "foxtrot: waiting for the peer to connect; Ctrl-C stops");
        #[cfg(unix)]
        {
            listener.interrupt();
            let (status, _, said) = listener.end();
            assert_eq!(status, 130, "{job:?}: {said}");
        }
    }
}

#[test]
fn a_peer_that_comes_after_the_timeout_is_answered() {
    let listener = Listening::start(&[&SEND[..], &["--timeout", "1"]].concat());
    thread::sleep(Duration::from_millis(1500));
    let receiver = connect(&RECEIVE, &listener.address);
    assert_eq!(stdout(&receiver), expected_messages(), "{}", stderr(&receiver));
    assert_eq!(listener.end().0, 0);
}

#[test]
fn the_connecting_side_may_start_first_whatever_its_timeout() {
    let address = free_address();
    let arguments = ["--insecure", "--timeout", "1", "--connect", &address];
    let mut receiver = Running::start(&[&RECEIVE[..], &arguments].concat());
    assert_eq!(
        receiver.line(),
        format!("foxtrot: no peer listens at {address} yet; trying for 30 s")
    );
    thread::sleep(Duration::from_millis(1500));
    let sender = [&SEND[..], &["--insecure", "--listen", &address]].concat();
    let sender = foxtrot(&sender).output().unwrap();
    assert_eq!(sender.status.code(), Some(0), "{}", stderr(&sender));
    let (status, messages, said) = receiver.end();
    assert_eq!((status, messages), (0, expected_messages()), "{said}");
}

#[test]
fn two_sides_that_both_connect_or_both_listen_get_a_hint() {
    let folder = tempfile::tempdir().unwrap();
    let shares = folder.path().join("shares").to_str().unwrap().to_owned();
    let triples = ["triples", "generate", "--party", "1", "-n", "8", "--bits", "32", "-o", &shares];
    let jobs: [&[&str]; 3] = [&SEND, &["psi", "receive", "examples/messages.txt"], &triples];
    for job in jobs {
        let (listen, connect) = (["--listen", "127.0.0.1:0"], ["--connect", &free_address()]);
        for way in [listen, connect] {
            let run = foxtrot(&[job, &["--insecure", "--wait", "1"], &way].concat()).output();
            let run = run.unwrap();
            assert_eq!(run.status.code(), Some(1));
            let hint = "\nhint: one side passes --listen, the other --connect";
            assert!(stderr(&run).contains(hint), "{job:?}, {way:?}: {}", stderr(&run));
        }
    }
    assert_eq!(names(folder.path()), [""; 0]);
}

/// A hello that begins well and goes on otherwise is the peer's fault.
#[test]
fn a_malformed_hello_has_the_exit_status_of_a_peer_that_misbehaves() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let peer = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        let hello = [b"FOXTROT\0".as_slice(), &foxtrot_net::hello::VERSION.to_le_bytes(), &[7; 40]];
        let hello = hello.concat();
        let length = u32::try_from(hello.len()).unwrap().to_le_bytes();
        socket.write_all(&[&length[..], &[0], &hello].concat()).unwrap();
        // Until the other side has read it.
        let _ = std::io::copy(&mut socket, &mut std::io::sink());
    });
    let receiver = connect(&RECEIVE, &address);
    assert_eq!(receiver.status.code(), Some(3), "{}", stderr(&receiver));
    let said = stderr(&receiver);
    assert!(said.contains("the peer's hello is not well formed\n"), "{said}");
    peer.join().unwrap();
}
