//! Checks that every lane gets its frames from any byte stream, whole and in order, and that a
//! failure is for good.
#![no_main]

use std::{array, collections::VecDeque};

use foxtrot_fuzz::{frame, scripted};
use foxtrot_net::Lane;
use libfuzzer_sys::{
    arbitrary::{self, Arbitrary},
    fuzz_target,
};

#[derive(Arbitrary, Debug)]
enum Said {
    Frame(u8, Vec<u8>),
    Bytes(Vec<u8>),
}

#[derive(Arbitrary, Debug)]
enum Asked {
    /// The length of the frame that comes next on the lane.
    Next,
    Exactly(u8),
    AtMost(u8),
}

fuzz_target!(|input: (Vec<Said>, Vec<(u8, Asked)>)| {
    let (said, asked) = input;
    let script = said.into_iter().flat_map(|said| match said {
        Said::Frame(lane, payload) => frame(lane % (Lane::COUNT + 1), &payload),
        Said::Bytes(bytes) => bytes,
    });
    let script: Vec<u8> = script.collect();
    let mut lanes = by_lane(&script);
    let channel = scripted(script);
    let mut failure = None;
    for (lane, asked) in asked {
        let index = lane % Lane::COUNT;
        let (lane, queue) = (Lane::new(index).unwrap(), &mut lanes[usize::from(index)]);
        let next = queue.front().map(Vec::len);
        let result = match asked {
            Asked::Next => channel.recv(lane, next.unwrap_or(0)),
            Asked::Exactly(len) => channel.recv(lane, len.into()),
            Asked::AtMost(max) => channel.recv_at_most(lane, max.into()),
        };
        match result {
            Ok(frame) => assert_eq!((Some(frame), &failure), (queue.pop_front(), &None)),
            Err(error) => {
                let at_once = failure.is_none() && matches!(asked, Asked::Next);
                assert!(!at_once || next.is_none(), "a frame is there: {error}");
                assert_eq!(*failure.get_or_insert_with(|| error.clone()), error);
            }
        }
    }
});

/// The frames of every lane, as far as the stream is well formed.
fn by_lane(mut stream: &[u8]) -> [VecDeque<Vec<u8>>; Lane::COUNT as usize] {
    let mut lanes = array::from_fn(|_| VecDeque::new());
    while let Some((&[a, b, c, d, lane], rest)) = stream.split_first_chunk() {
        let len = u32::from_le_bytes([a, b, c, d]);
        let payload = rest.split_at_checked(len.try_into().unwrap());
        let (Some((payload, rest)), true) = (payload, lane < Lane::COUNT) else { break };
        lanes[usize::from(lane)].push_back(payload.to_vec());
        stream = rest;
    }
    lanes
}
