use std::sync::Barrier;

use super::*;

#[test]
fn both_sides_may_send_8_mib_before_they_read() {
    const LEN: usize = 8 << 20;
    let (a, b) = memory::pair(LONG);
    a.send(ONE, vec![1; LEN]).unwrap();
    b.send(ONE, vec![2; LEN]).unwrap();
    assert!(a.recv(ONE, LEN).unwrap().iter().all(|&byte| byte == 2));
    assert!(b.recv(ONE, LEN).unwrap().iter().all(|&byte| byte == 1));
}

#[test]
fn threads_on_separate_lanes_are_independent() {
    let (a, b) = memory::pair(LONG);
    let talk = |channel: &Channel, lane: Lane| {
        let size = |i: usize| (i * 7919 + usize::from(lane.index())) % 3000;
        for i in 0..300 {
            channel.send(lane, vec![lane.index(); size(i)]).unwrap();
            if i % 3 == 2 {
                for j in i - 2..=i {
                    let message = channel.recv(lane, size(j)).unwrap();
                    assert!(message.iter().all(|&byte| byte == lane.index()));
                }
            }
        }
    };
    let start = Barrier::new(6);
    thread::scope(|scope| {
        for channel in [&a, &b] {
            for lane in [1, 2, 7].map(|i| Lane::new(i).unwrap()) {
                let (start, talk) = (&start, &talk);
                scope.spawn(move || {
                    start.wait();
                    talk(channel, lane);
                });
            }
        }
    });
    assert_eq!(a.counters().sent, b.counters().received);
    a.close().unwrap();
    b.close().unwrap();
}

#[test]
fn a_lane_that_is_full_waits_for_its_receiver() {
    const CHUNK: usize = 4 << 20;
    // One more than is held back on the receiver's side.
    const CHUNKS: usize = QUEUE_BYTES / CHUNK + 1;
    let (a, b) = memory::pair(LONG);
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..CHUNKS {
                a.send(TWO, vec![2; CHUNK]).unwrap();
            }
            a.send(ONE, vec![1]).unwrap();
        });
        scope.spawn(|| assert_eq!(b.recv(ONE, 1).unwrap(), [1]));
        // Late, so that the other reader usually meets the full lane.
        thread::sleep(SHORT);
        for _ in 0..CHUNKS {
            b.recv(TWO, CHUNK).unwrap();
        }
    });
}

#[test]
fn counters_count_payload_bytes_and_turns() {
    let (a, b) = memory::pair(LONG);
    a.send(ONE, vec![0; 10]).unwrap();
    b.recv(ONE, 10).unwrap();
    b.send(ONE, vec![0; 3]).unwrap();
    b.send(TWO, vec![0; 4]).unwrap();
    a.recv(ONE, 3).unwrap();
    a.recv(TWO, 4).unwrap();
    a.send(ONE, vec![]).unwrap();
    b.recv(ONE, 0).unwrap();
    assert_eq!(a.counters(), Counters { sent: 10, received: 7, flows: 3 });
    assert_eq!(b.counters(), Counters { sent: 7, received: 10, flows: 3 });
}
