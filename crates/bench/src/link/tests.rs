#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::thread;

use super::*;
use foxtrot_net::Lane;

const TIMEOUT: Duration = Duration::from_secs(60);
const DELAY: Duration = Duration::from_millis(20);
const RATE: u64 = 80_000_000;

/// The time that both ends take together.
fn time(link: Link, here: impl FnOnce(&Channel), there: impl FnOnce(&Channel) + Send) -> Duration {
    let [left, right] = pair(link, TIMEOUT).unwrap();
    let started = Instant::now();
    thread::scope(|scope| {
        let peer = scope.spawn(move || {
            there(&right);
            right.close().unwrap();
        });
        here(&left);
        peer.join().unwrap();
    });
    let took = started.elapsed();
    left.close().unwrap();
    took
}

#[test]
fn a_message_takes_its_length_by_the_rate_and_the_delay() {
    let message: Vec<u8> = (0..1_000_000u32).map(|i| i.to_le_bytes()[0]).collect();
    let sent = message.clone();
    let link = Link::new(RATE, DELAY);
    let took = time(
        link,
        |channel| assert_eq!(channel.recv(Lane::PROTOCOL, message.len()).unwrap(), message),
        |channel| channel.send(Lane::PROTOCOL, sent).unwrap(),
    );
    assert!(took >= Duration::from_millis(100) + DELAY, "{took:?}");
}

#[test]
fn every_turn_of_the_talk_takes_the_delay_once() {
    const TURNS: u32 = 5;
    let link = Link::new(u64::MAX, DELAY);
    let took = time(
        link,
        |channel| {
            for _ in 0..TURNS {
                channel.send(Lane::PROTOCOL, vec![1]).unwrap();
                channel.recv(Lane::PROTOCOL, 1).unwrap();
            }
        },
        |channel| {
            for _ in 0..TURNS {
                let message = channel.recv(Lane::PROTOCOL, 1).unwrap();
                channel.send(Lane::PROTOCOL, message).unwrap();
            }
        },
    );
    assert!(took >= 2 * TURNS * DELAY, "{took:?}");
}

#[test]
fn several_messages_are_on_their_way_at_a_time() {
    const MESSAGES: usize = 50;
    let slow = Duration::from_millis(200);
    let took = time(
        Link::new(u64::MAX, slow),
        |channel| {
            for _ in 0..MESSAGES {
                channel.recv(Lane::PROTOCOL, 100).unwrap();
            }
        },
        |channel| {
            for _ in 0..MESSAGES {
                channel.send(Lane::PROTOCOL, vec![0; 100]).unwrap();
                // Every one is written by itself.
                thread::sleep(Duration::from_millis(1));
            }
        },
    );
    assert!(took >= slow, "{took:?}");
    // One after the other they would take ten seconds: a machine would have to be very busy.
    assert!(took < slow * 25, "{took:?}");
}

#[test]
fn bytes_sent_before_the_end_arrive_before_it() {
    let [left, right] = pair(Link::new(RATE, DELAY), TIMEOUT).unwrap();
    left.send(Lane::PROTOCOL, vec![7; 100_000]).unwrap();
    left.close().unwrap();
    assert_eq!(right.recv(Lane::PROTOCOL, 100_000).unwrap(), vec![7; 100_000]);
    assert!(right.recv(Lane::PROTOCOL, 1).is_err());
}

#[test]
fn a_receiver_that_does_not_read_blocks_the_sender_without_loss() {
    // More than all buffers.
    let len = 20 << 20;
    let took = time(
        Link::new(8_000_000_000, DELAY),
        |channel| {
            thread::sleep(5 * DELAY);
            assert_eq!(channel.recv(Lane::PROTOCOL, len).unwrap().len(), len);
        },
        |channel| channel.send(Lane::PROTOCOL, vec![1; len]).unwrap(),
    );
    assert!(took >= 5 * DELAY + Duration::from_millis(1), "{took:?}");
}

#[test]
fn every_byte_of_a_long_stream_arrives_in_its_place() {
    const MESSAGES: u32 = 300;
    let message =
        |i: u32| -> Vec<u8> { (0..50_000 + i).map(|j| (i ^ j).to_le_bytes()[0]).collect() };
    let link = Link::new(8_000_000_000, Duration::from_millis(1));
    let took = time(
        link,
        |channel| {
            for i in 0..MESSAGES {
                let expected = message(i);
                assert!(channel.recv(Lane::PROTOCOL, expected.len()).unwrap() == expected, "{i}");
            }
        },
        |channel| {
            for i in 0..MESSAGES {
                channel.send(Lane::PROTOCOL, message(i)).unwrap();
            }
        },
    );
    assert!(took >= link.busy_for(u64::from(MESSAGES) * 50_000) + link.delay(), "{took:?}");
}

#[test]
fn a_schedule_releases_arrived_bytes_and_saves_up_no_rate() {
    let link = Link::new(8_000_000, Duration::from_secs(1));
    let mut schedule = Schedule::new(link);
    let late = Instant::now() + Duration::from_secs(100);
    assert_eq!(schedule.take(10_000, late), 10_000);
    // A byte takes a microsecond, a piece has 1500 of them.
    let first = late + link.delay() + Duration::from_micros(1500);
    assert_eq!(schedule.next_at(), Some(first));
    assert_eq!(schedule.give(usize::MAX, first - Duration::from_nanos(1)), 0);
    assert_eq!(schedule.give(1000, first), 1000);
    assert_eq!(schedule.give(1000, first), 500);
    assert_eq!(schedule.give(usize::MAX, late + Duration::from_secs(2)), 8_500);
    assert_eq!(schedule.next_at(), None);
    assert_eq!(link.busy_for(1_000_000), Duration::from_secs(1));
}
