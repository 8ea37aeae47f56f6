use std::net::TcpListener;

use super::*;
use crate::{
    Lane, Reason,
    hello::{self, Hello, Role},
};

const LONG: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(150);
const AT_ONCE: Duration = Duration::from_secs(8);
const LANE: Lane = Lane::PROTOCOL;

fn connected(address: &str) -> Result<(Channel, Channel), Error> {
    let listener = Listener::bind(address)?;
    let address = listener.local_addr().to_string();
    let client = thread::spawn(move || connect(&address, LONG)?.open());
    Ok((listener.accept(LONG)?.open()?, client.join().expect("no panic")?))
}

/// A channel, and the bare socket at its other end.
fn half_open(timeout: Duration) -> (Channel, TcpStream) {
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let socket = TcpStream::connect(listener.local_addr()).unwrap();
    (listener.accept(timeout).unwrap().open().unwrap(), socket)
}

/// A port where nobody listens.
fn unused_port() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

#[test]
fn both_sides_may_send_8_mib_before_they_read() {
    const LEN: usize = 8 << 20;
    let (a, b) = connected("127.0.0.1:0").unwrap();
    a.send(LANE, vec![1; LEN]).unwrap();
    b.send(LANE, vec![2; LEN]).unwrap();
    assert_eq!(a.recv(LANE, LEN).unwrap(), vec![2; LEN]);
    assert_eq!(b.recv(LANE, LEN).unwrap(), vec![1; LEN]);
    a.close().unwrap();
    b.close().unwrap();
}

#[test]
fn messages_sent_before_the_end_arrive() {
    const LEN: usize = 6 << 20;
    let (a, b) = connected("127.0.0.1:0").unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            a.send(LANE, vec![1; LEN]).unwrap();
            a.close().unwrap();
        });
        thread::sleep(SHORT);
        assert_eq!(b.recv(LANE, LEN).unwrap(), vec![1; LEN]);
        assert_eq!(b.recv(LANE, 1), Err(ChannelError::ClosedReceiving.into()));
    });
}

#[test]
fn two_programs_that_disagree_both_learn_why() {
    for _ in 0..20 {
        let (a, b) = connected("127.0.0.1:0").unwrap();
        let meet = |channel: Channel, initiator, role, count: u32| {
            let hello = Hello::new(role).term("count", count);
            hello::exchange(&channel, initiator, &hello).unwrap_err().to_string()
        };
        let other = thread::spawn(move || meet(b, true, Role::Sender, 12));
        assert_eq!(
            meet(a, false, Role::Receiver, 10),
            "the two sides disagree: count is 10 here and 12 at the peer"
        );
        assert_eq!(
            other.join().unwrap(),
            "the two sides disagree: count is 12 here and 10 at the peer"
        );
    }
}

#[test]
fn a_program_of_another_kind_is_recognised() {
    let (channel, mut socket) = half_open(LONG);
    socket.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").unwrap();
    let error = hello::exchange(&channel, false, &Hello::new(Role::Sender)).unwrap_err();
    assert_eq!(error.to_string(), "the peer did not answer with a Foxtrot hello");
}

#[test]
fn a_slow_drip_does_not_extend_the_timeout() {
    let (channel, mut socket) = half_open(SHORT);
    thread::scope(|scope| {
        scope.spawn(move || {
            socket.write_all(&[200, 0, 0, 0, LANE.index()]).unwrap();
            for _ in 0..200 {
                if socket.write_all(&[0]).is_err() {
                    return;
                }
                thread::sleep(SHORT / 10);
            }
        });
        let start = Instant::now();
        assert_eq!(channel.recv(LANE, 200), Err(ChannelError::NothingReceived(SHORT).into()));
        assert!((SHORT..AT_ONCE).contains(&start.elapsed()));
        drop(channel);
    });
}

#[test]
fn a_peer_that_vanishes_within_a_frame_ends_the_wait() {
    let (channel, mut socket) = half_open(LONG);
    socket.write_all(&[9, 0, 0, 0, LANE.index(), 1, 2]).unwrap();
    drop(socket);
    let start = Instant::now();
    let error = channel.recv(LANE, 9).unwrap_err();
    assert!(start.elapsed() < AT_ONCE);
    assert_eq!(error.to_string(), "the peer closed the connection while we waited for its message");
}

#[test]
fn a_peer_that_reads_nothing_ends_closing_and_dropping() {
    for close in [true, false] {
        let (channel, _socket) = half_open(SHORT);
        channel.send(LANE, vec![0; 32 << 20]).unwrap();
        let start = Instant::now();
        if close {
            assert_eq!(channel.close(), Err(ChannelError::NothingTaken(SHORT).into()));
        } else {
            drop(channel);
        }
        assert!(start.elapsed() < AT_ONCE);
    }
}

#[test]
fn connecting_waits_for_the_listener() {
    let address = unused_port();
    let client = {
        let address = address.clone();
        thread::spawn(move || connect(&address, LONG))
    };
    thread::sleep(SHORT);
    let listener = Listener::bind(&address).unwrap();
    let server = listener.accept(LONG).unwrap().open().unwrap();
    client.join().unwrap().unwrap().open().unwrap().send(LANE, vec![7]).unwrap();
    assert_eq!(server.recv(LANE, 1).unwrap(), [7]);
}

#[test]
fn host_names_and_ipv6_work() {
    connected("localhost:0").unwrap();
    // Not every machine has it.
    if TcpListener::bind("[::1]:0").is_ok() {
        connected("[::1]:0").unwrap();
    }
}

#[test]
fn errors_name_the_failed_operation() {
    let address = unused_port();
    assert_eq!(
        connect(&address, SHORT).unwrap_err().to_string(),
        format!("cannot connect to {address} within 150 ms: connection refused")
    );

    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().to_string();
    let taken = Listener::bind(&address).unwrap_err().to_string();
    // The system's words: with or without `already`.
    assert!(taken.starts_with(&format!("cannot listen on {address}: address ")), "{taken}");
    assert!(taken.ends_with(" in use"), "{taken}");
    assert_eq!(
        listener.accept(SHORT).unwrap_err().to_string(),
        format!("nobody connected to {address} within 150 ms")
    );

    let nonsense = connect("no port", SHORT).unwrap_err().to_string();
    assert!(nonsense.starts_with("cannot connect to no port: "), "{nonsense}");
}

#[test]
fn connecting_reports_once_that_no_peer_listens_yet() {
    let mut told = 0;
    let error = connect_while(&unused_port(), SHORT, LONG, || told += 1, || true).unwrap_err();
    let error = error.to_string();
    assert!(error.ends_with(" within 150 ms: connection refused"), "{error}");
    assert_eq!(told, 1);
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().to_string();
    connect_while(&address, SHORT, LONG, || told += 1, || true).unwrap();
    assert_eq!(told, 1);
}

/// Unread bytes at its end would reset the connection, and a write would find that before a read finds the reason.
#[test]
fn a_peer_that_has_sent_much_learns_why_it_is_refused() {
    for why in [Reason::Busy, Reason::TooLarge] {
        let (a, b) = connected("127.0.0.1:0").unwrap();
        let other = thread::spawn(move || {
            hello::exchange(&a, false, &Hello::new(Role::Sender)).unwrap();
            a.refuse(why);
        });
        hello::exchange(&b, true, &Hello::new(Role::Receiver)).unwrap();
        for _ in 0..20 {
            // An error would be the same that is told below.
            let _ = b.send(LANE, vec![0; 1 << 20]);
        }
        assert_eq!(b.recv(LANE, 1), Err(ChannelError::GivenUp(why).into()));
        drop(b);
        other.join().unwrap();
    }
}
