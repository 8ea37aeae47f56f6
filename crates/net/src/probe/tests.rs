use std::{convert::Infallible, thread};

use foxtrot_ot::Sid;

use super::*;
use crate::{ChannelError, memory, shape::Link};

fn greeted((here, there): (Channel, Channel)) -> (Channel, Channel) {
    here.agreed(Sid::from_bytes([1; 32]), true);
    there.agreed(Sid::from_bytes([1; 32]), false);
    (here, there)
}

fn pair() -> (Channel, Channel) {
    greeted(memory::pair(Duration::from_secs(20)))
}

#[test]
fn a_link_is_measured_and_then_free_for_others() {
    for most in [0, FIRST - 1, FIRST, usize::MAX] {
        let (here, there) = pair();
        let peer = thread::spawn(move || {
            let byte = answer(&there).unwrap();
            (byte, there.recv(Lane::PROTOCOL, 5).unwrap())
        });
        let measured = ask(&here, most).unwrap();
        assert!(measured.round_trip < Duration::from_secs(1));
        assert_eq!(measured.bytes_per_second.is_some(), most >= FIRST);
        assert!(here.counters().sent <= 1 + most.min(2 * MOST) as u64);
        assert_eq!(here.counters().sent, here.counters().received);
        here.send(Lane::PROTOCOL, vec![3]).unwrap();
        here.send(Lane::PROTOCOL, vec![7; 5]).unwrap();
        assert_eq!(peer.join().unwrap(), (3, vec![7; 5]));
    }
}

/// `docs/wire.md`, section 20.
#[test]
fn what_is_sent_to_find_out_are_the_bytes_of_the_wire_document() {
    for most in [0, FIRST, 2 * MOST] {
        let (here, there) = pair();
        let peer = thread::spawn(move || {
            let mut messages = Vec::new();
            loop {
                let message = there.recv_at_most(Lane::PROTOCOL, 1 << 22).unwrap();
                messages.push(message.clone());
                if message.is_empty() {
                    return messages;
                }
                there.send(Lane::PROTOCOL, message).unwrap();
            }
        });
        ask(&here, most).unwrap();
        let messages = peer.join().unwrap();
        assert!(messages.iter().flatten().all(|&byte| byte == 0));
        let lens: Vec<usize> = messages.iter().map(Vec::len).collect();
        let [1, longer @ .., 0] = &lens[..] else { panic!("{lens:?}") };
        assert!([1 << 16, 1 << 18, 1 << 20, 1 << 22].starts_with(longer), "{lens:?}");
        assert_eq!(longer.is_empty(), most == 0, "{lens:?}");
    }
}

#[test]
fn a_peer_that_has_nothing_to_find_out_is_answered_with_nothing() {
    let (here, there) = pair();
    skip(&here).unwrap();
    here.send(Lane::PROTOCOL, vec![9]).unwrap();
    assert_eq!(answer(&there).unwrap(), 9);
    assert_eq!(there.counters().sent, 0);
}

#[test]
fn bytes_are_timed_without_the_round_trip() {
    let ms = Duration::from_millis;
    // 1 MB there and back in 100 ms more than an empty message.
    assert!((rate(1_000_000, ms(200), ms(100)) / 2e7 - 1.0).abs() < 1e-9);
    assert!((rate(1_000_000, ms(80), ms(100)) / 2e8 - 1.0).abs() < 1e-9);
    assert!(rate(1, Duration::ZERO, Duration::ZERO).is_finite());
}

/// TCP in slow start: a window of ten segments, which doubles with every round trip until it holds all that the link
/// does, in either direction; it stays open.
struct SlowStart {
    rate: f64,
    trip: f64,
    window: f64,
}

impl SlowStart {
    fn echo(&mut self, len: usize) -> Duration {
        let (mut one_way, mut left, full) = (0.0, len as f64, self.rate * self.trip);
        while left > self.window && self.window < full {
            left -= self.window;
            one_way += self.trip;
            self.window *= 2.0;
        }
        Duration::from_secs_f64(self.trip + 2.0 * (one_way + left / self.rate))
    }
}

#[test]
fn a_long_link_is_not_taken_for_a_slow_one_while_its_window_opens() {
    for (mbits, ms, least) in [
        (100.0, 100.0, 0.75),
        (100.0, 20.0, 0.75),
        (1000.0, 20.0, 0.4),
        (1000.0, 0.5, 0.75),
        (10_000.0, 0.5, 0.75),
        (10.0, 600.0, 0.75),
        (100.0, 300.0, 0.4),
        (0.25, 50.0, 0.75),
        (0.05, 1000.0, 0.75),
    ] {
        let (rate, trip) = (mbits * 125e3, ms * 1e-3);
        let mut link = SlowStart { rate, trip, window: 14_600.0 };
        let measured = measure(usize::MAX, |len| Ok::<_, Infallible>(link.echo(len))).unwrap();
        let ratio = measured.bytes_per_second.unwrap() / rate;
        assert!((least..=1.05).contains(&ratio), "{mbits} Mbit/s, {ms} ms: {ratio}");
    }
}

#[test]
fn messages_end_when_the_next_would_tell_nothing_or_come_too_late() {
    let (ms, trip) = (Duration::from_millis, Duration::from_millis(100));
    // At 100 Mbit/s: the window opens, and then is open.
    let opening = [(1 << 16, ms(510)), (1 << 18, ms(540)), (1 << 20, ms(670))];
    for n in 0..=opening.len() {
        assert!(!enough(&opening[..n], trip), "{n}");
    }
    assert!(enough(&[(1 << 18, ms(540)), (1 << 20, ms(1700))], trip));
    // A rate of 1.5 times the one before is the least that counts.
    assert!(enough(&[(100, ms(200)), (400, ms(381))], trip));
    assert!(!enough(&[(100, ms(200)), (400, ms(361))], trip));
    // One message in the time of many round trips: the link is slow.
    assert!(!enough(&[(1 << 16, ms(2600))], trip));
    assert!(enough(&[(1 << 16, ms(2601))], trip));
    assert!(!enough(&[(1 << 16, ms(2601))], 2 * trip));
}

/// A machine that does much else makes bytes slower, or the round trip and so bytes faster: it has several attempts.
#[test]
fn a_link_with_a_rate_and_a_delay_is_measured_as_it_is() {
    let link = Link::new(200_000_000, Duration::from_millis(10));
    let mut ratios = Vec::new();
    let right = (0..10).any(|_| {
        let (here, there) = greeted(memory::pair_over(link, Duration::from_secs(20)));
        let peer = thread::spawn(move || answer(&there));
        let measured = ask(&here, usize::MAX).unwrap();
        here.send(Lane::PROTOCOL, vec![0]).unwrap();
        assert_eq!(peer.join().unwrap(), Ok(0));
        assert!(measured.round_trip >= Duration::from_millis(20));
        ratios.push(measured.bytes_per_second.unwrap() / 25e6);
        ratios.last().is_some_and(|ratio| (0.6..1.2).contains(ratio))
    });
    assert!(right, "{ratios:?}");
}

#[test]
fn a_peer_that_never_ends_or_sends_too_much_is_not_answered_for_ever() {
    let (here, there) = pair();
    let peer = thread::spawn(move || answer(&there));
    for _ in 0..MESSAGES {
        here.send(Lane::PROTOCOL, vec![0]).unwrap();
        here.recv(Lane::PROTOCOL, 1).unwrap();
    }
    here.send(Lane::PROTOCOL, vec![0]).unwrap();
    let error = peer.join().unwrap().unwrap_err();
    assert_eq!(error, FrameError::TooLong { max: 0, got: 1 }.into());

    let (here, there) = pair();
    let peer = thread::spawn(move || answer(&there));
    here.send(Lane::PROTOCOL, vec![0; MOST + 1]).unwrap();
    let error = peer.join().unwrap().unwrap_err();
    assert_eq!(error, FrameError::TooLong { max: MOST, got: MOST + 1 }.into());

    for (byte, expected) in [
        (vec![], FrameError::Length { expected: 1, got: 0 }),
        (vec![0; 2], FrameError::TooLong { max: 1, got: 2 }),
    ] {
        let (here, there) = pair();
        skip(&here).unwrap();
        here.send(Lane::PROTOCOL, byte).unwrap();
        assert_eq!(answer(&there).unwrap_err(), expected.into());
    }
}

/// A message now and then, each within the time for one.
#[test]
fn all_messages_together_have_the_time_of_one() {
    const WAIT: Duration = Duration::from_millis(1500);
    let (here, there) = greeted(memory::pair(WAIT));
    let peer = thread::spawn(move || answer(&there));
    let start = Instant::now();
    while start.elapsed() < 4 * WAIT && !peer.is_finished() {
        // It may have given up.
        drop(here.send(Lane::PROTOCOL, vec![0]));
        thread::sleep(WAIT / 3);
    }
    assert!(start.elapsed() < 4 * WAIT);
    let error = peer.join().unwrap().unwrap_err();
    assert_eq!(error, ChannelError::NothingReceived(WAIT).into());

    let (here, there) = greeted(memory::pair(WAIT));
    let peer = thread::spawn(move || {
        loop {
            thread::sleep(WAIT / 2);
            let Ok(message) = there.recv_at_most(Lane::PROTOCOL, MOST) else { break };
            drop(there.send(Lane::PROTOCOL, message));
        }
    });
    let error = ask(&here, usize::MAX).unwrap_err();
    assert_eq!(error, ChannelError::NothingReceived(WAIT).into());
    drop(here);
    peer.join().unwrap();
}

#[test]
fn an_echo_of_another_length_is_the_peers_fault() {
    for (got, expected) in [
        (0, FrameError::Length { expected: 1, got: 0 }),
        (2, FrameError::TooLong { max: 1, got: 2 }),
    ] {
        let (here, there) = pair();
        there.send(Lane::PROTOCOL, vec![0; got]).unwrap();
        assert_eq!(ask(&here, 0).unwrap_err(), expected.into());
    }
}
