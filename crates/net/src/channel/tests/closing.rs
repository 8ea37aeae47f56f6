//! The end of a session, and what comes where nothing is due.

use foxtrot_ot::Sid;

use super::*;

const HELLO: Lane = Lane::HELLO;

/// Two sides behind their hellos, with lanes 1 and 2.
fn agreed(timeout: Duration) -> [Channel; 2] {
    let (a, b) = memory::pair(timeout);
    for (channel, initiator) in [(&a, true), (&b, false)] {
        channel.greeted();
        channel.agreed(Sid::from_bytes([7; 32]), initiator);
        channel.use_lanes(3);
    }
    [a, b]
}

fn finish([a, b]: &[Channel; 2]) -> [Result<Transcript, Error>; 2] {
    thread::scope(|scope| {
        let other = scope.spawn(|| b.finish());
        [a.finish(), other.join().unwrap()]
    })
}

#[test]
fn both_sides_have_one_transcript_of_all_that_went_over() {
    let transcript = |frames: &[(bool, Lane, &[u8])]| {
        let both = agreed(LONG);
        let [a, b] = &both;
        for (from_a, lane, bytes) in frames {
            let (from, to) = if *from_a { (a, b) } else { (b, a) };
            from.send(*lane, bytes.to_vec()).unwrap();
            assert_eq!(to.recv(*lane, bytes.len()).unwrap(), *bytes);
        }
        let counters = a.counters();
        let [ours, theirs] = finish(&both).map(Result::unwrap);
        assert_eq!((ours, a.transcript(), b.transcript()), (theirs, Some(ours), Some(ours)));
        assert_eq!(a.counters(), counters, "the end is not counted");
        ours
    };
    let frames: [(bool, Lane, &[u8]); 3] =
        [(true, ONE, b"ab"), (false, ONE, b""), (true, TWO, b"c")];
    let all = transcript(&frames);
    assert_eq!(transcript(&frames), all);
    // Lanes have no order among themselves.
    assert_eq!(transcript(&[frames[2], frames[1], frames[0]]), all);
    for other in [
        &frames[..2],
        &[(false, ONE, b"ab"), frames[1], frames[2]],
        &[(true, TWO, b"ab"), frames[1], (true, ONE, b"c")],
        &[(true, ONE, b"a"), (true, ONE, b"b"), frames[1], frames[2]],
        &[(true, ONE, b"aB"), frames[1], frames[2]],
    ] {
        assert_ne!(transcript(other), all, "{other:?}");
    }
}

#[test]
fn the_transcript_matches_the_wire_document() {
    let both = agreed(LONG);
    both[0].send(ONE, b"ab".to_vec()).unwrap();
    both[1].recv(ONE, 2).unwrap();
    both[1].send(TWO, b"c".to_vec()).unwrap();
    both[0].recv(TWO, 1).unwrap();
    let session = foxtrot_ot::Session::new(Sid::from_bytes([7; 32]));
    let hashes = (1..8).flat_map(|lane| {
        [0, 1].map(|side| {
            let query = session.oracle("foxtrot v1 frames").query(lane, side);
            let query = match (lane, side) {
                (1, 0) => query.field(b"ab"),
                (2, 1) => query.field(b"c"),
                _ => query,
            };
            query.finish::<32>()
        })
    });
    let hashes: Vec<_> = hashes.flatten().collect();
    let query = session.oracle("foxtrot v1 transcript").query(0, 0).field(&hashes);
    assert_eq!(finish(&both)[0], Ok(query.finish()));
}

#[test]
fn a_lost_message_fails_both_sides_at_closing() {
    let [a, b] = agreed(LONG);
    a.send(ONE, b"ab".to_vec()).unwrap();
    b.recv(ONE, 2).unwrap();
    // As if the connection had changed it.
    lock(&b.shared.heard).as_mut().unwrap().frame(ONE, b"");
    for outcome in finish(&[a, b]) {
        assert_eq!(outcome, Err(FrameError::Transcript.into()));
    }
}

#[test]
fn a_step_of_another_kind_is_refused() {
    let [a, b] = agreed(LONG);
    a.send(HELLO, vec![2; 33]).unwrap();
    assert_eq!(b.finish(), Err(FrameError::Step { got: 2 }.into()));

    let [a, b] = agreed(LONG);
    a.send(HELLO, vec![0; 33]).unwrap();
    assert_eq!(b.finish(), Err(FrameError::Transcript.into()));
    assert_eq!(a.recv(HELLO, 33).unwrap()[0], 0);
    assert_eq!(a.recv(HELLO, 33), Err(ChannelError::GivenUp(Reason::CheckFailed).into()));

    let both = agreed(LONG);
    let _ = finish(&both).map(Result::unwrap);
    let [a, b] = both;
    a.tell_in_place().unwrap();
    assert_eq!(b.await_in_place(), Ok(()));
    // There are two steps.
    a.tell_in_place().unwrap();
    assert_eq!(b.await_in_place(), Err(FrameError::Surplus { lane: 0 }.into()));
}

#[test]
fn an_unexpected_message_is_refused_at_the_end() {
    // Before the peer's closing, held back or not, and behind it.
    for held in [false, true] {
        let [a, b] = agreed(LONG);
        a.send(TWO, vec![1]).unwrap();
        a.send(ONE, vec![2]).unwrap();
        if held {
            assert_eq!(b.recv(ONE, 1).unwrap(), [2]);
        }
        assert!(matches!(b.finish(), Err(Error::Frame(FrameError::Surplus { .. }))));
        // What was found only then comes behind its own word.
        if !held {
            assert_eq!(a.recv(HELLO, 33).unwrap()[0], 0);
        }
        assert_eq!(a.recv(HELLO, 33), Err(ChannelError::GivenUp(Reason::Undecodable).into()));
    }
    let both = agreed(LONG);
    let _ = finish(&both).map(Result::unwrap);
    let [a, b] = both;
    a.send(ONE, vec![]).unwrap();
    assert_eq!(b.await_in_place(), Err(FrameError::Surplus { lane: 1 }.into()));
}

#[test]
fn a_peer_that_is_done_and_owes_a_message_is_found_out_at_once() {
    let [a, b] = agreed(LONG);
    a.send(HELLO, vec![0; 33]).unwrap();
    let start = Instant::now();
    assert_eq!(b.recv(ONE, 5), Err(FrameError::Missing { lane: 1 }.into()));
    assert!(start.elapsed() < AT_ONCE);
}

#[test]
fn a_lane_0_frame_that_is_neither_reason_nor_step_is_refused() {
    for (len, expected) in [
        (0, FrameError::Length { expected: 1, got: 0 }.into()),
        (1, ChannelError::GivenUp(Reason::Busy).into()),
        (2, FrameError::Length { expected: 1, got: 2 }.into()),
        (32, FrameError::Length { expected: 1, got: 32 }.into()),
        (34, FrameError::Length { expected: 1, got: 34 }.into()),
    ] {
        let [a, b] = agreed(LONG);
        a.send(HELLO, vec![5; len]).unwrap();
        let error: Error = expected;
        assert_eq!(b.recv(ONE, 5), Err(error));
    }
}

/// Two sides behind the end of their first session, in which a frame went.
fn renewed() -> [Channel; 2] {
    let both = agreed(LONG);
    both[0].send(ONE, b"first".to_vec()).unwrap();
    assert_eq!(both[1].recv(ONE, 5).unwrap(), b"first");
    assert!(finish(&both).iter().all(Result::is_ok));
    both.iter().for_each(Channel::begin_again);
    both
}

#[test]
fn a_second_session_has_a_new_sid_and_no_old_state() {
    let both = renewed();
    assert_eq!([both[0].transcript(), both[1].transcript()], [None; 2]);
    let hello = |role| crate::hello::Hello::new(role).term("job", "again");
    let sids = [crate::hello::Role::Sender, crate::hello::Role::Receiver].map(hello);
    let sids = thread::scope(|scope| {
        let other = scope.spawn(|| crate::hello::exchange(&both[1], false, &sids[1]).unwrap().sid);
        [crate::hello::exchange(&both[0], true, &sids[0]).unwrap().sid, other.join().unwrap()]
    });
    assert_eq!(sids[0], sids[1]);
    assert_ne!(sids[0], Sid::from_bytes([7; 32]));
    both[1].send(ONE, b"second".to_vec()).unwrap();
    assert_eq!(both[0].recv(ONE, 6).unwrap(), b"second");
    let [ours, theirs] = finish(&both).map(Result::unwrap);
    assert_eq!(ours, theirs);
}

#[test]
fn between_two_sessions_a_peer_may_send_a_hello_or_a_reason_and_nothing_else() {
    use crate::{
        HelloError,
        hello::{Hello, Role, exchange},
    };
    // A frame of a protocol, a step of the session before, a reason.
    let not_a_hello = Error::from(HelloError::NotAHello);
    for (lane, bytes, expected) in [
        (ONE, vec![1], not_a_hello.clone()),
        (HELLO, vec![0; Step::LEN], not_a_hello),
        (HELLO, vec![4], ChannelError::GivenUp(Reason::Other).into()),
    ] {
        let [ours, peer] = renewed();
        peer.send(lane, bytes).unwrap();
        let error = exchange(&ours, true, &Hello::new(Role::Sender)).unwrap_err();
        assert_eq!(error, expected);
    }
    let [ours, peer] = renewed();
    drop(peer);
    let error = exchange(&ours, true, &Hello::new(Role::Sender)).unwrap_err();
    // Our hello, or the peer's, is the first that does not go.
    assert!(matches!(
        error,
        Error::Channel(ChannelError::ClosedReceiving | ChannelError::ClosedSending)
    ));
}
