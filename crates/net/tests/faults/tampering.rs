//! Frames that do not arrive as they were written, in extensions, sets in common and triples: the session
//! ends, nobody panics, and nobody learns what it must not.

use core::time::Duration;

use foxtrot_net::{ChannelError, Error};
use foxtrot_ot::Error as Blame;

use crate::{
    SHORT,
    honest::Frame,
    in_parallel,
    protocols::{Both, PROTOCOLS, Protocol, Sound, run},
    session::LONG,
    stream::{Fault, Pace, Plan, Way},
};

fn tampered(protocol: Protocol, way: Way, fault: Fault, timeout: Duration) -> Both {
    run(protocol, &Plan { fault: Some((way, fault)), pace: Pace::default() }, timeout)
}

/// Returns true if the error blames the peer or the connection.
fn is_not_ours(error: &Error) -> bool {
    use ChannelError::{ClosedReceiving, ClosedSending, GivenUp, NothingReceived, NothingTaken};
    matches!(
        error,
        Error::Protocol(Blame::Decode(_) | Blame::Misbehaved(_))
            | Error::Frame(_)
            | Error::Hello(_)
            | Error::Channel(
                ClosedReceiving | ClosedSending | GivenUp(_) | NothingReceived(_) | NothingTaken(_)
            )
    )
}

/// Asserts what holds whatever was done to the frames.
fn assert_no_harm(sound: &Sound, both: &Both, what: &str) {
    let Both { sender, receiver, .. } = both;
    for party in [sender, receiver] {
        if let Err(e) = &party.result {
            assert!(is_not_ours(e), "{what}: {e:?}");
        }
    }
    assert!(sound.protocol.has_nothing_else(&receiver.output), "{what}");
    if matches!(sound.protocol, Protocol::Psi(..)) {
        assert!(receiver.result.is_ok() || receiver.output.is_empty(), "{what}");
    }
}

fn reader_fails(both: &Both, way: Way) -> bool {
    match way {
        Way::ToSender => both.sender.result.is_err(),
        Way::ToReceiver => both.receiver.result.is_err(),
    }
}

fn both_finish(both: &Both) -> bool {
    both.sender.result.is_ok() && both.receiver.result.is_ok()
}

/// Every case of every frame.
fn cases<'a, T: 'a>(
    all: &'a [Sound],
    of_frame: impl Fn(&'a Sound, &'a Frame) -> Vec<T> + Copy + 'a,
) -> Vec<(&'a Sound, &'a Frame, T)> {
    let frames = all.iter().flat_map(|sound| sound.frames.iter().map(move |frame| (sound, frame)));
    frames
        .flat_map(|(sound, frame)| {
            of_frame(sound, frame).into_iter().map(move |case| (sound, frame, case))
        })
        .collect()
}

fn all() -> Vec<Sound> {
    PROTOCOLS.into_iter().map(Sound::of).collect()
}

/// Every protocol, whatever it checks itself: at the end the two sides compare what they have sent and received.
#[test]
fn a_flipped_bit_fails_both_sides_unless_it_is_in_the_last_word() {
    let all = all();
    let flips = cases(&all, |_, frame| {
        let payload = frame.bytes.len() - Frame::HEADER;
        let dense = [0, 1, 2, 3, payload / 3, payload / 2, payload.saturating_sub(1)];
        dense.into_iter().filter(|offset| *offset < payload).collect()
    });
    in_parallel(&flips, |&(sound, frame, offset)| {
        let bits = 1 << (offset % 8);
        let fault = Fault::Flip(frame.bytes.start + Frame::HEADER + offset, bits);
        let both = tampered(sound.protocol, frame.way, fault, LONG);
        let what = format!("{:?}, {frame:?}, bits {bits} at {offset}", sound.protocol);
        assert_no_harm(sound, &both, &what);
        assert!(reader_fails(&both, frame.way), "{what}");
        let finished = [&both.sender, &both.receiver].iter().any(|party| party.result.is_ok());
        assert!(!finished || frame.last, "{what}");
    });
}

#[test]
fn a_header_that_lies_fails_its_reader() {
    let all = all();
    // The length's bytes, and the lane: every other that there may be, and one that cannot be. Every third of all
    // cases is tried; a frame has 14, so the next one has others.
    let flips = cases(&all, |_, _| {
        let lanes = (1..8).chain([0x80]).map(|bits| (4, bits));
        [(0, 1), (0, 0x80), (1, 1), (2, 1), (3, 1), (3, 0x80)].into_iter().chain(lanes).collect()
    });
    let flips: Vec<_> = flips.into_iter().step_by(3).collect();
    in_parallel(&flips, |&(sound, frame, (offset, bits))| {
        let fault = Fault::Flip(frame.bytes.start + offset, bits);
        let both = tampered(sound.protocol, frame.way, fault, SHORT);
        let what = format!("{:?}, {frame:?}, bits {bits} at {offset}", sound.protocol);
        assert_no_harm(sound, &both, &what);
        assert!(reader_fails(&both, frame.way), "{what}");
    });
}

#[test]
fn a_dropped_frame_fails_its_reader() {
    let all = all();
    in_parallel(&cases(&all, |_, _| vec![()]), |&(sound, frame, ())| {
        let fault = Fault::Drop(frame.bytes.clone());
        let both = tampered(sound.protocol, frame.way, fault, SHORT);
        let what = format!("{:?}, {frame:?}", sound.protocol);
        assert_no_harm(sound, &both, &what);
        assert!(reader_fails(&both, frame.way), "{what}");
    });
}

/// Frames of different lanes may overtake each other; those of one may not, but two of one length are
/// taken for each other.
#[test]
fn a_repeated_or_reordered_frame_harms_no_party() {
    let all = all();
    let faults = cases(&all, |sound, frame| {
        let repeat = Fault::Repeat(frame.bytes.clone());
        let next = sound
            .frames
            .iter()
            .find(|next| next.way == frame.way && next.bytes.start == frame.bytes.end);
        let swap = next.map(|next| Fault::Swap(frame.bytes.clone(), next.bytes.clone()));
        [Some(repeat), swap].into_iter().flatten().collect()
    });
    in_parallel(&faults, |(sound, frame, fault)| {
        let both = tampered(sound.protocol, frame.way, fault.clone(), SHORT);
        let what = format!("{:?}, {frame:?}, {fault:?}", sound.protocol);
        assert_no_harm(sound, &both, &what);
        if sound.protocol.is_checked() && both_finish(&both) {
            assert!(sound.protocol.is_right(&both.sender.output, &both.receiver.output), "{what}");
        }
    });
}
