use core::time::Duration;
use std::thread;

use super::*;
use crate::{ChannelError, FrameError, Lane, Reason, memory};

const LONG: Duration = Duration::from_secs(20);

fn sender() -> Hello {
    Hello::new(Role::Sender)
        .term("job", "ot")
        .term("count", 10)
        .offer("whole-batches", 16)
        .detail("message-length", 16)
        .with_nonce([1; 32])
}

fn receiver() -> Hello {
    Hello::new(Role::Receiver).term("count", 10).term("job", "ot").with_nonce([2; 32])
}

/// [`exchange_by`] over a channel.
fn exchange_with<T, E>(
    channel: &Channel,
    initiator: bool,
    hello: &Hello,
    agree: impl FnOnce(&Table, &Table) -> Result<(T, Option<Hello>), E>,
    record: impl FnOnce(Option<(&Agreement, &T)>) -> Result<(), E>,
) -> Result<Result<(Agreement, T), E>, Error> {
    let mut channel = channel;
    <&Channel as Connection>::outcome(exchange_by(&mut channel, initiator, hello, agree, record))
}

/// Lets two sides greet, the first being the initiator.
fn meet(first: &Hello, second: &Hello) -> [Result<Agreement, Error>; 2] {
    let (a, b) = memory::pair(LONG);
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            let outcome = exchange(&b, false, second);
            assert_eq!(b.counters().flows == 0, outcome.is_ok());
            outcome
        });
        [exchange(&a, true, first), other.join().unwrap()]
    })
}

/// The error of an initiating sender that receives these bytes, if details of the receiver follow that fit them.
fn meet_bytes(bytes: &[u8]) -> Result<Agreement, Error> {
    let (a, b) = memory::pair(LONG);
    b.send(Lane::HELLO, bytes.to_vec()).unwrap();
    let greeting = greeting(&encoded(&sender()), bytes);
    b.send(Lane::HELLO, details::make(&greeting, false, 0, &Table::new()).unwrap()).unwrap();
    exchange(&a, true, &sender())
}

fn greeting(first: &[u8], second: &[u8]) -> Session {
    Session::new(Sid::derive(first, second, &[]))
}

/// A responder meets an initiator that sends its hello and then these bytes. What it says, and all that it has sent.
fn meet_details(
    responder: &Hello,
    details: impl Fn(&Session) -> Vec<u8>,
) -> (Result<Agreement, Error>, Vec<Vec<u8>>) {
    respond(responder, &receiver(), details)
}

fn respond(
    responder: &Hello,
    initiator: &Hello,
    details: impl Fn(&Session) -> Vec<u8>,
) -> (Result<Agreement, Error>, Vec<Vec<u8>>) {
    let (a, b) = memory::pair(LONG);
    let initiators = encoded(initiator);
    a.send(Lane::HELLO, initiators.clone()).unwrap();
    a.send(Lane::HELLO, details(&greeting(&initiators, &encoded(responder)))).unwrap();
    let outcome = exchange(&b, false, responder);
    b.close().unwrap_or_default();
    let mut heard = Vec::new();
    while let Ok(frame) = a.recv_at_most(Lane::HELLO, MAX_BYTES) {
        heard.push(frame);
    }
    (outcome, heard)
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
    let greeting = greeting(&encoded(&sender()), &encoded(&receiver()));
    let both = [(true, sender()), (false, receiver())];
    let both = both.map(|(side, hello)| details::make(&greeting, side, 0, &hello.details).unwrap());
    let sid = details::sid(&greeting, [&both[0], &both[1]]);
    assert_eq!((ours.sid, theirs.sid), (sid, sid));
    assert_eq!(ours.terms, table([("count", "10"), ("job", "ot")]));
    assert_eq!(ours.peer_offers, Table::new());
    assert_eq!(theirs.peer_offers, table([("whole-batches", "16")]));
    assert_eq!(theirs.peer_details, table([("message-length", "16")]));
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
fn the_layout_of_the_hello_matches_the_wire_document() {
    let expected = [
        b"FOXTROT\0\x01\0".as_slice(),
        &[1; 32],
        b"\0\0",
        b"\x02\0\x05count\x02\x0010\x03job\x02\0ot",
        b"\x01\0\x0dwhole-batches\x02\x0016",
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
fn two_equal_ends_are_named_before_either_waits() {
    for initiator in [true, false] {
        let (a, b) = memory::pair(LONG);
        let (one, other) = (sender().side(initiator), receiver().side(initiator));
        let errors = thread::scope(|scope| {
            let other = scope.spawn(|| exchange(&b, initiator, &other));
            [exchange(&a, initiator, &one).unwrap_err(), other.join().unwrap().unwrap_err()]
        });
        let expected = HelloError::SameSide { side: side(initiator) };
        assert_eq!(errors, [expected.clone().into(), expected.into()]);
    }
    let [one, other] = meet(&sender().side(true), &receiver().side(false));
    assert_eq!(one.unwrap().sid, other.unwrap().sid);
}

#[test]
fn both_ends_of_one_secured_connection_agree_and_of_two_do_not() {
    let [bare, _] = meet(&sender(), &receiver()).map(|it| it.unwrap().sid);
    let same = meet(&sender().bound_by([1; 32]), &receiver().bound_by([1; 32]));
    let [one, other] = same.map(|it| it.unwrap().sid);
    assert!(one == other && one != bare);
    for other in [receiver().bound_by([2; 32]), receiver()] {
        let [_, heard] = meet(&sender().bound_by([1; 32]), &other);
        assert_eq!(heard.unwrap_err(), HelloError::Confirmation.into());
    }
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
fn two_policies_differ_by_their_rules_on_both_sides_if_both_tell_them() {
    let with = |hello: Hello, id: &str, rules: &[(&str, &str)]| {
        let rule = |&(name, value): &(&str, &str)| Rule {
            name: name.into(),
            words: value.into(),
            hash: format!("{:0>16}", value.len()),
        };
        hello.term("policy", id).rules(rules.iter().map(rule).collect())
    };
    let first = with(sender(), "aa", &[("title", "Trial"), ("receiver.max-size", "1000")]);
    let second = with(
        receiver(),
        "bb",
        &[("title", "Trial"), ("receiver.max-size", "10"), ("expires", "2027-01-31")],
    );
    let [ours, theirs] = words(meet(&first, &second));
    assert_eq!(
        ours,
        "the two sides disagree: policy rule expires is not given here and another value at the peer; policy rule \
         receiver.max-size is 1000 here and another value at the peer"
    );
    assert_eq!(
        theirs,
        "the two sides disagree: policy rule expires is 2027-01-31 here and not given at the peer; policy rule \
         receiver.max-size is 10 here and another value at the peer"
    );
    // A peer that tells no rules, equal ones or nonsense: the hashes of all rules stand.
    let [equal, nonsense] = ["title 0000000000000005\nreceiver.max-size 0000000000000004", "\n"]
        .map(|told| receiver().term("policy", "bb").offer("policy-rules", told));
    for peer in [receiver().term("policy", "bb"), equal, nonsense] {
        let [ours, _] = words(meet(&first, &peer));
        assert_eq!(ours, "the two sides disagree: policy is aa here and bb at the peer");
    }
    // What the peer writes is escaped.
    let nasty = receiver().term("policy", "bb").offer("policy-rules", "\x1b[31m x");
    let [ours, _] = words(meet(&first, &nasty));
    assert!(!ours.contains(char::is_control) && ours.contains("u{1b}"), "{ours}");
}

#[test]
fn strings_of_the_peer_are_escaped() {
    let nasty = format!("\x1b[31m\n\u{202e}{}", "x".repeat(200));
    let [ours, _] = words(meet(&sender(), &receiver().term("job", &nasty).term("\x1b[31m", "")));
    assert!(ours.contains(r"job is ot here and \u{1b}[31m\n\u{202e}xxx"), "{ours}");
    assert!(ours.len() < 300 && !ours.contains(char::is_control), "{ours}");

    let many = (0..200).fold(receiver(), |hello, i| hello.term(&format!("k{i}"), i));
    let [ours, _] = words(meet(&sender(), &many));
    assert!(ours.ends_with("; and 192 more"), "{ours}");
}

#[test]
fn another_version_is_reported_by_number() {
    let mut bytes = encoded(&receiver());
    bytes.splice(8.., [6, 0, 99]);
    let error = meet_bytes(&bytes).unwrap_err();
    assert_eq!(error, HelloError::Version { peer: 6, ours: VERSION }.into());
    assert_eq!(error.to_string(), "the peer speaks wire version 6, this program speaks 1");
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
    let decoded = |tables: &[u8]| Heard::read(&with_tables(tables));
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
        sender().detail("long", "x".repeat(MAX_BYTES)),
        sender().offer(&"x".repeat(256), ""),
    ] {
        let error = exchange(&a, true, &hello).unwrap_err();
        assert!(matches!(error, Error::Hello(HelloError::TooLong { .. })), "{error:?}");
    }
    assert_eq!(a.counters().sent, 0);
}

#[test]
fn the_layout_of_details_matches_the_wire_document() {
    let greeting = greeting(b"one", b"another");
    let bytes = details::make(&greeting, true, 5, &sender().details).unwrap();
    let confirmation: [u8; 32] = greeting.oracle("foxtrot v1 confirmation").query(0, 0).finish();
    let solves = |x: u64| {
        let answer: [u8; 32] = greeting.oracle("foxtrot v1 puzzle").query(x, 0).finish();
        answer[0] & 31 == 0
    };
    let x = (0..).find(|&x| solves(x)).unwrap();
    let table = b"\x01\0\x0emessage-length\x02\x0016";
    assert_eq!(bytes, [&confirmation[..], &x.to_le_bytes(), table].concat());
}

#[test]
fn a_refused_peer_learns_no_details() {
    let ours = sender().keys(1_234_567, 9);
    let secret = b"1234567";
    let tells = |frames: &[Vec<u8>]| {
        frames.iter().any(|frame| frame.windows(secret.len()).any(|it| it == secret))
    };
    // The peer accepts fewer, or says nothing of it, or does not speak of this connection.
    let accepts = |most: &str| receiver().offer(MOST_KEYS, most);
    let honest = |greeting: &Session| details::make(greeting, true, 0, &Table::new()).unwrap();
    for (peers, reason) in [
        (accepts("1234566"), Some(6)),
        (accepts("x"), Some(1)),
        (receiver(), Some(1)),
        (receiver().term("job", "rot"), None),
    ] {
        let (outcome, heard) = respond(&ours, &peers, honest);
        assert!(matches!(outcome, Err(Error::Hello(_))), "{outcome:?}");
        assert_eq!(heard.get(1).cloned(), reason.map(|byte| vec![byte]));
        assert!(!tells(&heard));
    }
    let (outcome, heard) = meet_details(&sender().detail(KEYS, 1_234_567), |_| vec![0; 42]);
    assert_eq!(outcome, Err(HelloError::Confirmation.into()));
    assert!(!tells(&heard));
    // The initiator hears of it first.
    let (a, b) = memory::pair(LONG);
    b.send(Lane::HELLO, encoded(&accepts("5"))).unwrap();
    let error = exchange(&a, true, &ours).unwrap_err();
    assert_eq!(error, HelloError::TooManyKeys { ours: 1_234_567, most: 5 }.into());
    drop(a);
    let frames: Vec<_> =
        std::iter::from_fn(|| b.recv_at_most(Lane::HELLO, MAX_BYTES).ok()).collect();
    assert!(frames.len() == 2 && frames[1] == [6] && !tells(&frames), "{frames:?}");
    // And one that is accepted does get to know.
    let [first, second] = meet(&ours, &accepts("1234567").detail(KEYS, 3));
    assert_eq!(second.unwrap().peer_details[KEYS], "1234567");
    assert_eq!(first.unwrap().peer_details, table([(KEYS, "3")]));
}

#[test]
fn a_set_too_large_for_the_peer_is_reported_on_both_sides() {
    let first = sender().keys(11, 100);
    let second = receiver().keys(20, 10);
    let [ours, theirs] = meet(&first, &second).map(|outcome| outcome.unwrap_err().to_string());
    assert_eq!(ours, "our set has 11 keys, and the peer accepts 10");
    assert_eq!(theirs, "the peer gave up: its set has more keys than we accept");
}

#[test]
fn a_recording_of_another_session_is_refused() {
    let (a, b) = memory::pair(LONG);
    let recorded = thread::scope(|scope| {
        let other = scope.spawn(|| exchange(&b, false, &Hello::new(Role::Sender)).unwrap().sid);
        let hello = Hello::new(Role::Receiver).with_nonce([9; 32]);
        let hear = || a.recv_at_most(Lane::HELLO, MAX_BYTES).unwrap();
        a.send(Lane::HELLO, encoded(&hello)).unwrap();
        let compared = Opening::new(true, &hello).unwrap().hear(&hear()).unwrap();
        let bytes = [encoded(&hello), compared.tell(&hello).unwrap()];
        a.send(Lane::HELLO, bytes[1].clone()).unwrap();
        compared.hear(&hello, &hear()).unwrap();
        other.join().unwrap();
        bytes
    });
    let (a, b) = memory::pair(LONG);
    recorded.into_iter().for_each(|frame| a.send(Lane::HELLO, frame).unwrap());
    let error = exchange(&b, false, &Hello::new(Role::Sender)).unwrap_err();
    assert_eq!(error, HelloError::Confirmation.into());
    a.recv_at_most(Lane::HELLO, MAX_BYTES).unwrap();
    assert_eq!(a.recv_at_most(Lane::HELLO, MAX_BYTES).unwrap(), [2]);
}

#[test]
fn a_changed_byte_of_details_changes_the_session_or_ends_it() {
    let responder = sender().puzzle(6);
    let honest = |greeting: &Session| {
        details::make(greeting, true, 6, &table([("format", "text")])).unwrap()
    };
    let (agreement, heard) = meet_details(&responder, honest);
    let sid = agreement.unwrap().sid;
    assert_eq!(heard.len(), 2);
    let len = 40 + 2 + 1 + 6 + 2 + 4;
    for i in 0..len {
        for flip in [1, 0x20, 0x80, 0xff] {
            let changed = |greeting: &Session| {
                let mut bytes = honest(greeting);
                bytes[i] ^= flip;
                bytes
            };
            match meet_details(&responder, changed) {
                (Ok(agreement), _) => {
                    assert!(i >= 32, "byte {i} changed and accepted");
                    assert_ne!(agreement.sid, sid);
                }
                (Err(e), heard) => {
                    assert!(matches!(e, Error::Hello(_)), "{e:?}");
                    assert!(heard.len() == 2 && heard[1].len() == 1, "{heard:?}");
                }
            }
        }
    }
}

#[test]
fn details_cut_short_or_extended_are_refused() {
    let honest =
        |greeting: &Session| details::make(greeting, true, 0, &table([("a", "b")])).unwrap();
    for cut in (0..46).filter(|cut| *cut != 1) {
        let (outcome, _) = meet_details(&sender(), |greeting| honest(greeting)[..cut].to_vec());
        assert_eq!(outcome, Err(HelloError::MalformedDetails.into()), "cut to {cut}");
    }
    let (outcome, _) = meet_details(&sender(), |greeting| [honest(greeting), vec![0]].concat());
    assert_eq!(outcome, Err(HelloError::MalformedDetails.into()));
    let (outcome, heard) = meet_details(&sender(), |_| vec![0; MAX_BYTES + 1]);
    let got = MAX_BYTES + 1;
    assert_eq!(outcome, Err(FrameError::TooLong { max: MAX_BYTES, got }.into()));
    assert_eq!(heard.len(), 2);
    // One byte is the peer's last word.
    let (outcome, _) = meet_details(&sender(), |_| vec![5]);
    assert_eq!(outcome, Err(ChannelError::GivenUp(Reason::Busy).into()));
}

#[test]
fn a_puzzle_is_solved_by_the_initiator_if_the_responder_asks_and_only_then() {
    let [first, second] = meet(&sender(), &receiver().puzzle(9));
    assert_eq!(first.unwrap().sid, second.unwrap().sid);

    // A stranger does not choose how long a server computes.
    for bits in ["24", "1", "0"] {
        let [_, second] = meet(&sender().offer(PUZZLE, bits), &receiver());
        let refused = HelloError::Offer { key: PUZZLE, value: Some(bits.into()) };
        assert_eq!(second, Err(refused.into()));
    }

    let with = |solution: u64| {
        move |greeting: &Session| {
            let bytes = details::make(greeting, true, 0, &Table::new()).unwrap();
            [&bytes[..32], &solution.to_le_bytes(), &bytes[40..]].concat()
        }
    };
    // One in 2²⁰ solves it by chance.
    let (outcome, _) = meet_details(&sender().puzzle(20), with(7));
    assert_eq!(outcome, Err(HelloError::Unsolved.into()));
    // None was asked for.
    assert!(meet_details(&sender(), with(0)).0.is_ok());
    assert_eq!(meet_details(&sender(), with(1)).0, Err(HelloError::Unsolved.into()));

    for bits in ["25", "255", "256", "x", "05", ""] {
        let error = meet_bytes(&encoded(&receiver().offer(PUZZLE, bits))).unwrap_err();
        assert_eq!(error, HelloError::Offer { key: PUZZLE, value: Some(bits.into()) }.into());
    }
    assert_eq!(sender().puzzle(200).offers[PUZZLE], "24");
}

#[test]
fn a_set_smaller_than_the_peer_accepts_is_not_told() {
    // docs/wire: R3-7.
    let ours = sender().keys(4, 9).at_least(1);
    let [first, second] = meet(&ours, &receiver().keys(5, 9).at_least(5));
    assert_eq!(first, Err(HelloError::TooFewKeys { ours: 4, least: 5 }.into()));
    assert_eq!(second, Err(ChannelError::GivenUp(Reason::TooFewKeys).into()));
    let [first, second] = meet(&ours, &receiver().keys(5, 9).at_least(4));
    assert_eq!(first.unwrap().sid, second.unwrap().sid);
    // Each of several ways to compare counts.
    let [first, _] = meet(&ours.clone().also_keys(3), &receiver().keys(5, 9).at_least(4));
    assert_eq!(first, Err(HelloError::TooFewKeys { ours: 3, least: 4 }.into()));
    for least in ["-1", "01", "x", ""] {
        let [first, _] = meet(&ours, &receiver().keys(5, 9).offer(LEAST_KEYS, least));
        let offer = HelloError::Offer { key: LEAST_KEYS, value: Some(least.into()) };
        assert_eq!(first, Err(offer.into()));
    }
}

#[test]
fn a_responder_answers_by_details_that_follow_from_the_initiators() {
    for (most, fits) in [(9, true), (6, false)] {
        let (a, b) = memory::pair(LONG);
        let [first, second] = thread::scope(|scope| {
            let first =
                scope.spawn(|| exchange(&a, true, &receiver().keys(5, most).detail("set", "b")));
            let (b, hello) = (b, sender().keys(99, 9).without_keys());
            let answer = |details: &Table| sender().keys(7, 9).detail("set", &details["set"]);
            let agree = |details: &Table, offers: &Table| {
                assert_eq!(answer(details).check_offers(offers).is_ok(), fits);
                Ok::<_, Infallible>(((), Some(answer(details))))
            };
            let second = exchange_with(&b, false, &hello, agree, |_| Ok(()));
            let second = second.map(|agreed| agreed.unwrap().0);
            drop(b);
            [first.join().unwrap(), second]
        });
        if fits {
            let (first, second) = (first.unwrap(), second.unwrap());
            assert_eq!(first.sid, second.sid);
            assert_eq!(
                first.peer_details,
                table([(KEYS, "7"), ("message-length", "16"), ("set", "b")])
            );
        } else {
            assert_eq!(second, Err(HelloError::TooManyKeys { ours: 7, most: 6 }.into()));
            assert_eq!(first, Err(ChannelError::GivenUp(Reason::TooManyKeys).into()));
        }
    }
}

#[test]
fn a_side_that_cannot_write_a_session_down_tells_no_detail_nor_whether_its_set_suits() {
    for (initiator, most) in [(true, 9), (false, 9), (true, 4), (false, 4)] {
        let (a, b) = memory::pair(LONG);
        let [ours, theirs] = if initiator { [a, b] } else { [b, a] };
        let (told, written) = thread::scope(|scope| {
            let mut has_details = false;
            let peer = scope.spawn(move || {
                let hello = receiver().keys(5, most);
                let agree = |_: &Table, _: &Table| {
                    has_details = true;
                    Ok::<_, Infallible>(((), None))
                };
                let agreed = exchange_with(&theirs, !initiator, &hello, agree, |_| Ok(()));
                assert!(!has_details);
                agreed.map(drop)
            });
            let mut written = None;
            let record = |met: Option<(&Agreement, &u8)>| {
                written = Some(met.map(|(agreed, said)| (agreed.sid, *said)));
                Err(ours.give_up(HelloError::Refused(Reason::Other)))
            };
            let agree = |_: &Table, _: &Table| Ok((7, None));
            let hello = sender().keys(5, 9);
            let refused = exchange_with(&ours, initiator, &hello, agree, record);
            assert_eq!(refused.unwrap().unwrap_err(), HelloError::Refused(Reason::Other).into());
            drop(ours);
            (peer.join().unwrap(), written)
        });
        assert_eq!(told, Err(ChannelError::GivenUp(Reason::Other).into()));
        // The responder knows the session by then, and what the call before said.
        let said = written.unwrap().map(|(_, said)| said);
        assert_eq!(said, (!initiator).then_some(7));
    }
}

#[test]
fn the_session_that_a_responder_writes_down_is_the_one_that_begins() {
    let (a, b) = memory::pair(LONG);
    thread::scope(|scope| {
        let peer = scope.spawn(|| exchange(&a, true, &receiver().keys(5, 9)).unwrap());
        let mut written = None;
        let agree = |_: &Table, _: &Table| Ok::<_, Infallible>(((), None));
        let record = |met: Option<(&Agreement, &())>| {
            written = met.map(|(agreed, ())| agreed.clone());
            Ok(())
        };
        let agreed = exchange_with(&b, false, &sender().keys(5, 9), agree, record);
        let (agreed, ()) = agreed.unwrap().unwrap();
        assert_eq!(written.as_ref(), Some(&agreed));
        assert_eq!(peer.join().unwrap().sid, agreed.sid);
    });
}

#[test]
fn a_server_can_refuse_before_and_behind_the_peers_details() {
    for behind in [false, true] {
        let (a, b) = memory::pair(LONG);
        let outcome = thread::scope(|scope| {
            let client = scope.spawn(|| exchange(&a, true, &receiver()));
            let hello = sender();
            let b = b;
            let refuse = || b.give_up(HelloError::Refused(Reason::Busy));
            let refused = match behind {
                false => {
                    let opening = Opening::new(false, &hello).unwrap();
                    b.send(Lane::HELLO, opening.message.clone()).unwrap();
                    let theirs = b.recv_at_most(Lane::HELLO, MAX_BYTES).unwrap();
                    assert_eq!(opening.hear(&theirs).unwrap().offers, Table::new());
                    b.greeted();
                    refuse()
                }
                true => {
                    let agree = |details: &Table, _: &Table| {
                        assert_eq!(details, &Table::new());
                        Err::<((), _), _>(refuse())
                    };
                    let agreed = exchange_with(&b, false, &hello, agree, |_| Ok(()));
                    agreed.unwrap().unwrap_err()
                }
            };
            assert_eq!(refused, HelloError::Refused(Reason::Busy).into());
            drop(b);
            client.join().unwrap()
        });
        // What it writes meanwhile may find the end first.
        let told = outcome == Err(ChannelError::GivenUp(Reason::Busy).into());
        assert!(told || !behind && matches!(outcome, Err(Error::Channel(_))), "{outcome:?}");
    }
}
