mod closing;
mod duplex;
mod ending;

use std::{
    io::{self, Read, Write},
    thread,
    time::Instant,
};

use super::*;
use crate::{FrameError, TlsError, memory};

/// Time-out of waits that are to end by the peer's doing.
const LONG: Duration = Duration::from_secs(20);
/// Time-out of waits that are to end by themselves.
const SHORT: Duration = Duration::from_millis(150);
/// Far more than any wait of `SHORT` takes on a busy machine, far less than `LONG`.
const AT_ONCE: Duration = Duration::from_secs(8);

const ONE: Lane = Lane::PROTOCOL;
const TWO: Lane = Lane::new(2).unwrap();

/// A channel, and the bare byte stream at its other end.
fn half_open(timeout: Duration) -> (Channel, Peer) {
    let [(near, to_near), (far, to_far)] = [(); 2].map(|()| memory::one_way(timeout));
    (memory::open(near, to_far), Peer { reader: far, writer: to_near })
}

struct Peer {
    reader: memory::Reader,
    writer: memory::Writer,
}

fn frame(len: u32, lane: u8, payload: &[u8]) -> Vec<u8> {
    [&len.to_le_bytes(), [lane].as_slice(), payload].concat()
}

/// Returns the error of `recv(ONE, expected)` on these bytes, after which the peer is silent but
/// there.
fn after_bytes(bytes: &[u8], expected: usize, timeout: Duration) -> Error {
    let (channel, mut peer) = half_open(timeout);
    peer.writer.write_all(bytes).unwrap();
    let start = Instant::now();
    let error = channel.recv(ONE, expected).unwrap_err();
    assert!(start.elapsed() < AT_ONCE);
    error
}

#[test]
fn messages_go_both_ways_in_order() {
    let (a, b) = memory::pair(LONG);
    for i in 0..5 {
        a.send(ONE, vec![i; usize::from(i)]).unwrap();
        b.send(ONE, vec![i + 100; 3]).unwrap();
    }
    for i in 0..5 {
        assert_eq!(b.recv(ONE, i.into()).unwrap(), vec![i; usize::from(i)]);
        assert_eq!(a.recv(ONE, 3).unwrap(), vec![i + 100; 3]);
    }
}

#[test]
fn a_frame_is_length_lane_and_payload() {
    let (channel, peer) = half_open(LONG);
    channel.send(TWO, b"abc".to_vec()).unwrap();
    channel.close().unwrap();
    let mut reader = buffer::Reader::new(Box::new(peer.reader));
    reader.deadline = Instant::now() + LONG;
    let mut bytes = Vec::new();
    reader.read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, [3, 0, 0, 0, 2, b'a', b'b', b'c']);
}

#[test]
fn a_huge_length_is_refused_at_once() {
    let expected = FrameError::TooLong { max: MAX_FRAME, got: 0xffff_ffff };
    for lane in [ONE, TWO] {
        let bytes = frame(u32::MAX, lane.index(), b"x");
        assert_eq!(after_bytes(&bytes, 10, LONG), expected.into());
    }
}

#[test]
fn a_wrong_length_is_refused_before_its_payload_comes() {
    let error = after_bytes(&frame(7, 1, b""), 12, LONG);
    assert_eq!(error, FrameError::Length { expected: 12, got: 7 }.into());
    assert_eq!(error.to_string(), "the peer sent a message of 7 bytes instead of 12");
}

#[test]
fn a_wrong_length_is_refused_also_after_it_was_queued() {
    let bytes = [frame(2, 2, b"xx"), frame(1, 1, b"y")].concat();
    let (channel, mut peer) = half_open(LONG);
    peer.writer.write_all(&bytes).unwrap();
    assert_eq!(channel.recv(ONE, 1).unwrap(), b"y");
    let expected = Err(FrameError::Length { expected: 3, got: 2 }.into());
    assert_eq!(channel.recv(TWO, 3), expected);
}

#[test]
fn a_lying_length_allocates_nothing() {
    let mut payload = Vec::new();
    let outcome = receive::read_payload(&mut [1; 10].as_slice(), MAX_FRAME, &mut payload);
    assert_eq!(outcome.unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    assert!(payload.capacity() < 1024);
}

#[test]
fn a_lane_that_does_not_exist_is_refused() {
    let expected = FrameError::Lane { got: Lane::COUNT };
    assert_eq!(after_bytes(&frame(1, Lane::COUNT, b"x"), 1, LONG), expected.into());
    assert_eq!(Lane::new(Lane::COUNT), None);
}

#[test]
fn a_lone_lane_takes_up_to_its_maximum_and_no_other_lane() {
    let outcome = |bytes: &[u8]| {
        let (channel, mut peer) = half_open(LONG);
        peer.writer.write_all(bytes).unwrap();
        channel.recv_at_most(Lane::HELLO, 3)
    };
    assert_eq!(outcome(&frame(3, 0, b"abc")).unwrap(), b"abc");
    assert_eq!(outcome(&frame(0, 0, b"")).unwrap(), b"");
    assert_eq!(outcome(&frame(4, 0, b"")), Err(FrameError::TooLong { max: 3, got: 4 }.into()));
    assert_eq!(outcome(&frame(3, 1, b"")), Err(FrameError::Lane { got: 1 }.into()));
}

#[test]
fn after_a_failure_every_call_returns_its_error() {
    let (channel, mut peer) = half_open(LONG);
    peer.writer.write_all(&frame(7, 1, b"")).unwrap();
    let error = channel.recv(ONE, 12).unwrap_err();
    assert_eq!(channel.recv(TWO, 1).unwrap_err(), error);
    assert_eq!(channel.recv_at_most(TWO, 1).unwrap_err(), error);
    assert_eq!(channel.send(ONE, vec![0]).unwrap_err(), error);
    assert_eq!(channel.close().unwrap_err(), error);
}

#[test]
fn a_failure_is_everybodys_failure() {
    let (channel, mut peer) = half_open(LONG);
    let error = thread::scope(|scope| {
        let waiting = scope.spawn(|| channel.recv(TWO, 1));
        peer.writer.write_all(&frame(7, 1, b"")).unwrap();
        let error = channel.recv(ONE, 12).unwrap_err();
        assert_eq!(waiting.join().unwrap().unwrap_err(), error);
        error
    });
    assert!(matches!(error, Error::Frame(FrameError::Length { .. })));
}

#[test]
fn a_peer_that_vanishes_within_a_frame_ends_the_wait() {
    for cut in [0, 3, 5, 8] {
        let (channel, mut peer) = half_open(LONG);
        peer.writer.write_all(&frame(9, 1, b"123456789")[..cut]).unwrap();
        drop(peer);
        let start = Instant::now();
        assert_eq!(channel.recv(ONE, 9), Err(ChannelError::ClosedReceiving.into()));
        assert!(start.elapsed() < AT_ONCE);
    }
}

#[test]
fn silence_ends_at_the_timeout() {
    for bytes in [vec![], frame(9, 1, b"1234")] {
        let start = Instant::now();
        let error = after_bytes(&bytes, 9, SHORT);
        assert!(start.elapsed() >= SHORT);
        assert_eq!(error.to_string(), "no message from the peer within 150 ms");
    }
}

#[test]
fn a_slow_drip_does_not_extend_the_timeout() {
    let (channel, mut peer) = half_open(SHORT);
    thread::scope(|scope| {
        scope.spawn(move || {
            for byte in frame(100_000, 1, &[0; 2000]) {
                if peer.writer.write_all(&[byte]).is_err() {
                    return;
                }
                thread::sleep(SHORT / 10);
            }
        });
        let start = Instant::now();
        let outcome = channel.recv(ONE, 100_000);
        assert_eq!(outcome, Err(ChannelError::NothingReceived(SHORT).into()));
        assert!(start.elapsed() < AT_ONCE);
        drop(channel);
    });
}
