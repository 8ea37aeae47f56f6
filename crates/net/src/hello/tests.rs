use core::time::Duration;
use std::thread;

use super::*;
use crate::{ChannelError, memory};

const LONG: Duration = Duration::from_secs(20);

fn sender() -> Hello {
    Hello::new(Role::Sender)
        .term("job", "ot")
        .term("count", 10)
        .offer("message-length", 16)
        .with_nonce([1; 32])
}

fn receiver() -> Hello {
    Hello::new(Role::Receiver).term("count", 10).term("job", "ot").with_nonce([2; 32])
}

/// What both sides say, the first being the initiator.
fn meet(first: &Hello, second: &Hello) -> [Result<Agreement, Error>; 2] {
    let (a, b) = memory::pair(LONG);
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            let outcome = exchange(&b, false, second);
            assert_eq!(b.counters().flows, if outcome.is_ok() { 0 } else { 2 });
            outcome
        });
        [exchange(&a, true, first), other.join().unwrap()]
    })
}

/// What the initiating sender says to these bytes.
fn meet_bytes(bytes: &[u8]) -> Result<Agreement, Error> {
    let (a, b) = memory::pair(LONG);
    b.send(Lane::HELLO, bytes.to_vec()).unwrap();
    exchange(&a, true, &sender())
}

fn words<T: fmt::Debug>(outcomes: [Result<T, Error>; 2]) -> [String; 2] {
    outcomes.map(|outcome| match outcome.unwrap_err() {
        e @ Error::Hello(_) => e.to_string(),
        e => panic!("{e:?}"),
    })
}

fn table<const N: usize>(entries: [(&str, &str); N]) -> Table {
    entries.into_iter().map(|(k, v)| (k.to_owned(), v.to_owned())).collect()
}

fn encoded(hello: &Hello) -> Vec<u8> {
    codec::encode(hello, &hello.nonce.unwrap()).unwrap()
}

/// The receiver's hello with another body behind nonce, role and fingerprint.
fn with_tables(tables: &[u8]) -> Vec<u8> {
    [&encoded(&receiver())[..44], tables].concat()
}

#[test]
fn both_sides_agree_on_one_session() {
    let [ours, theirs] = meet(&sender(), &receiver()).map(Result::unwrap);
    let sid = Sid::derive(&encoded(&sender()), &encoded(&receiver()), &[]);
    assert_eq!((ours.sid, theirs.sid), (sid, sid));
    assert_eq!(ours.terms, table([("count", "10"), ("job", "ot")]));
    assert_eq!(ours.peer_offers, Table::new());
    assert_eq!(theirs.peer_offers, table([("message-length", "16")]));
}

#[test]
fn the_direction_is_the_senders_place() {
    let directions = |first: &Hello, second: &Hello| {
        meet(first, second).map(|agreement| agreement.unwrap().direction())
    };
    assert_eq!(directions(&sender(), &receiver()), [Direction::InitiatorSends; 2]);
    assert_eq!(directions(&receiver(), &sender()), [Direction::ResponderSends; 2]);
}

#[test]
fn two_meetings_are_two_sessions() {
    let sid = || {
        let [ours, theirs] = meet(&Hello::new(Role::Sender), &Hello::new(Role::Receiver));
        assert_eq!(ours.as_ref().unwrap().sid, theirs.unwrap().sid);
        ours.unwrap().sid
    };
    assert_ne!(sid(), sid());
}

#[test]
fn the_layout_is_that_of_the_wire_document() {
    let expected = [
        b"FOXTROT\0\x05\0".as_slice(),
        &[1; 32],
        b"\0\0",
        b"\x02\0\x05count\x02\x0010\x03job\x02\0ot",
        b"\x01\0\x0emessage-length\x02\x0016",
    ];
    assert_eq!(encoded(&sender()), expected.concat());
}

#[test]
fn equal_roles_end_the_session() {
    let [ours, theirs] = words(meet(&sender(), &sender().with_nonce([3; 32])));
    assert_eq!(ours, "both sides want to be the sender");
    assert_eq!(theirs, ours);
}

#[test]
fn a_reflected_hello_ends_the_session() {
    let [ours, theirs] = words(meet(&sender(), &sender()));
    assert_eq!(ours, "the peer sent our own hello back");
    assert_eq!(theirs, ours);
}

#[test]
fn different_terms_are_named_on_both_sides() {
    let first = sender().term("extension", "none");
    let second = receiver().term("count", 12);
    let [ours, theirs] = words(meet(&first, &second));
    let disagree = "the two sides disagree: ";
    assert_eq!(
        ours.strip_prefix(disagree).unwrap(),
        "count is 10 here and 12 at the peer; extension is none here and not given at the peer"
    );
    assert_eq!(
        theirs.strip_prefix(disagree).unwrap(),
        "count is 12 here and 10 at the peer; extension is not given here and none at the peer"
    );
}

#[test]
fn what_the_peer_says_is_shown_harmlessly() {
    let nasty = format!("\x1b[31m\n\u{202e}{}", "x".repeat(200));
    let [ours, _] = words(meet(&sender(), &receiver().term("job", &nasty).term("\x1b[31m", "")));
    assert!(ours.contains(r"job is ot here and \u{1b}[31m\n\u{202e}xxx"), "{ours}");
    assert!(ours.len() < 300 && !ours.contains(char::is_control), "{ours}");

    let many = (0..200).fold(receiver(), |hello, i| hello.term(&format!("k{i}"), i));
    let [ours, _] = words(meet(&sender(), &many));
    assert!(ours.ends_with("; and 192 more"), "{ours}");
}

#[test]
fn another_version_is_named() {
    let mut bytes = encoded(&receiver());
    bytes.splice(8.., [1, 0, 99]);
    let error = meet_bytes(&bytes).unwrap_err();
    assert_eq!(error, HelloError::Version { peer: 1, ours: VERSION }.into());
    assert_eq!(error.to_string(), "the peer speaks wire version 1, this program speaks 5");
}

#[test]
fn garbage_is_not_a_hello() {
    for garbage in [b"".as_slice(), b"FOXTROT\0", b"FOXTROT\0\x01", &[0; MAX_BYTES]] {
        let error = meet_bytes(garbage).unwrap_err();
        assert_eq!(error, HelloError::NotAHello.into());
        assert_eq!(error.to_string(), "the peer did not answer with a Foxtrot hello");
    }
    assert_eq!(meet_bytes(&[0; MAX_BYTES + 1]), Err(HelloError::NotAHello.into()));
}

#[test]
fn a_peer_on_another_lane_or_gone_gives_no_session() {
    let (a, b) = memory::pair(LONG);
    b.send(Lane::PROTOCOL, encoded(&receiver())).unwrap();
    assert_eq!(exchange(&a, true, &sender()), Err(HelloError::NotAHello.into()));

    let (a, b) = memory::pair(LONG);
    drop(b);
    let error = exchange(&a, true, &sender()).unwrap_err();
    let closed = [ChannelError::ClosedReceiving, ChannelError::ClosedSending];
    assert!(closed.map(Error::from).contains(&error));
}

#[test]
fn a_changed_byte_changes_the_session_or_ends_it() {
    let honest = encoded(&receiver());
    let sid = meet_bytes(&honest).unwrap().sid;
    for i in 0..honest.len() {
        for flip in [1, 0x20, 0x80, 0xff] {
            let mut bytes = honest.clone();
            bytes[i] ^= flip;
            match meet_bytes(&bytes) {
                Ok(agreement) => {
                    assert!((10..42).contains(&i), "byte {i} changed and accepted");
                    assert_ne!(agreement.sid, sid);
                }
                Err(e) => assert!(matches!(e, Error::Hello(_)), "{e:?}"),
            }
        }
    }
}

#[test]
fn a_hello_cut_short_or_extended_is_refused() {
    let honest = encoded(&receiver());
    for cut in 0..honest.len() {
        assert!(matches!(meet_bytes(&honest[..cut]), Err(Error::Hello(_))), "cut to {cut}");
    }
    let extended = [honest, vec![0]].concat();
    assert_eq!(meet_bytes(&extended), Err(HelloError::Malformed.into()));
}

#[test]
fn only_the_one_encoding_of_a_table_is_accepted() {
    let decoded = |tables: &[u8]| codec::decode(&with_tables(tables));
    assert!(decoded(b"\x02\0\x01a\0\0\x01b\0\0\0\0").is_ok());
    for refused in [
        b"\x02\0\x01b\0\0\x01a\0\0\0\0".as_slice(),
        b"\x02\0\x01a\0\0\x01a\0\0\0\0",
        b"\x01\0\x01\xff\0\0\0\0",
        b"\x01\0\x01a\x01\0\xff\0\0",
        b"\xff\xff\0\0",
    ] {
        assert_eq!(decoded(refused), Err(HelloError::Malformed));
    }
}

#[test]
fn a_fingerprint_without_tls_is_refused() {
    let honest = encoded(&receiver());
    let bytes = [&honest[..43], &[32], &[7; 32], &honest[44..]].concat();
    assert_eq!(meet_bytes(&bytes), Err(HelloError::Fingerprint.into()));
}

#[test]
fn a_hello_that_does_not_fit_is_not_sent() {
    let (a, _b) = memory::pair(LONG);
    for hello in [
        sender().offer("long", "x".repeat(MAX_BYTES)),
        sender().offer("long", "x".repeat(70_000)),
        sender().offer(&"x".repeat(256), ""),
    ] {
        let error = exchange(&a, true, &hello).unwrap_err();
        assert!(matches!(error, Error::Hello(HelloError::TooLong { .. })), "{error:?}");
    }
    assert_eq!(a.counters().sent, 0);
}
