//! Sessions over connections with faults: nothing hangs, nothing panics, a cut is nobody's fault,
//! and no two parties have the same keys from different transcripts.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[path = "faults/cuts.rs"]
mod cuts;
#[path = "faults/honest.rs"]
mod honest;
#[path = "faults/protocols.rs"]
mod protocols;
#[path = "faults/session.rs"]
mod session;
#[path = "faults/stream.rs"]
mod stream;
#[path = "faults/tampering.rs"]
mod tampering;
#[cfg(feature = "tls")]
#[path = "faults/tls.rs"]
mod tls;

use core::time::Duration;
use std::{
    sync::atomic::{AtomicUsize, Ordering},
    thread,
};

use foxtrot_net::{ChannelError, Error, Reason};
use foxtrot_ot::Misbehaved;
use honest::{Frame, Honest};
use session::{BATCH, BATCHES, Ended, Job, LONG, MESSAGE_LEN, Pairs, Received, jobs, message, run};
use stream::{Cut, Fault, Pace, Plan, Way};

/// A timeout for sessions that end by it.
const SHORT: Duration = Duration::from_millis(400);

/// Sealed messages are this much longer.
const OVERHEAD: usize = 20;

/// Does all the cases, some at a time.
fn in_parallel<T: Sync>(cases: &[T], check: impl Fn(&T) + Sync) {
    at_a_time(12, cases, check);
}

/// Does all the cases, of which most wait for the timeout.
fn while_others_wait<T: Sync>(cases: &[T], check: impl Fn(&T) + Sync) {
    at_a_time(48, cases, check);
}

fn at_a_time<T: Sync>(most: usize, cases: &[T], check: impl Fn(&T) + Sync) {
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..most {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(case);
                }
            });
        }
    });
}

fn run_with(job: Job, way: Way, fault: Fault, timeout: Duration) -> Ended {
    run(job, &Plan { fault: Some((way, fault)), pace: Pace::default() }, timeout)
}

/// Returns for each batch whether the receiver has the keys of its choices; else it has no key at
/// all.
fn batches_that_agree(pairs: &Pairs, received: &Received) -> Vec<bool> {
    let keys = received.keys.iter().zip(&received.choices);
    let agree: Vec<_> = pairs
        .iter()
        .zip(keys)
        .map(|(pair, (key, &choice))| {
            assert_ne!(&pair[usize::from(!choice)], key, "the key that was not chosen");
            &pair[usize::from(choice)] == key
        })
        .collect();
    agree
        .chunks(BATCH)
        .map(|batch| {
            assert!(batch.iter().all(|agrees| *agrees == batch[0]), "half a batch");
            batch[0]
        })
        .collect()
}

#[test]
fn sessions_without_faults_give_the_chosen_keys_and_messages() {
    for job in jobs() {
        let honest = Honest::of(job);
        assert_eq!(batches_that_agree(&honest.pairs, &honest.received), [true; BATCHES]);
        let chosen = honest.received.choices.iter().enumerate();
        let messages: Vec<_> = chosen.map(|(i, &choice)| message(i, choice.into())).collect();
        assert_eq!(honest.received.messages, if job.messages { messages } else { Vec::new() });
    }
}

#[test]
fn sessions_do_not_depend_on_the_pieces_in_which_bytes_arrive() {
    let ms = Duration::from_millis;
    let paces = [
        Pace { write: 1, read: 1, ..Pace::default() },
        Pace { write: 1, between: 1, interrupted: true, ..Pace::default() },
        Pace { write: 7, read: 3, interrupted: true, ..Pace::default() },
        Pace { between: 2, ..Pace::default() },
        Pace { delay: ms(2), ..Pace::default() },
        Pace { write: 999, read: 500, delay: ms(1), interrupted: true, ..Pace::default() },
    ];
    let cases: Vec<_> = jobs().flat_map(|job| paces.map(|pace| (job, pace))).collect();
    in_parallel(&cases, |&(job, pace)| {
        let honest = Honest::of(job);
        let ended = run(job, &Plan { pace, fault: None }, LONG);
        assert_eq!(ended.sender.as_ref(), Ok(&honest.pairs), "{job:?}, {pace:?}");
        assert_eq!(ended.receiver.as_ref(), Ok(&honest.received), "{job:?}, {pace:?}");
        assert_eq!(ended.logs, honest.logs, "{job:?}, {pace:?}");
    });
}

fn blames_connection(error: &Error) -> bool {
    use ChannelError::{ClosedReceiving, ClosedSending, GivenUp, NothingReceived};
    matches!(
        error,
        Error::Channel(
            ClosedReceiving | ClosedSending | NothingReceived(_) | GivenUp(Reason::Timeout)
        )
    )
}

/// Asserts what holds after a cut in `way`: the side that reads there blames the connection, and so does
/// the side that writes there, unless it may finish. Then it has what it would have without the cut, and
/// so nothing that the other could contradict.
fn assert_cut(honest: &Honest, ended: &Ended, way: Way, writer_may_finish: bool, what: &str) {
    let sender_may_finish = writer_may_finish && way == Way::ToReceiver;
    match &ended.sender {
        Ok(pairs) => assert!(sender_may_finish && *pairs == honest.pairs, "sender, {what}"),
        Err(e) => assert!(blames_connection(e), "sender, {what}: {e:?}"),
    }
    let receiver_may_finish = writer_may_finish && way == Way::ToSender;
    match &ended.receiver {
        Ok(received) => {
            assert!(receiver_may_finish && *received == honest.received, "receiver, {what}");
        }
        Err(e) => assert!(blames_connection(e), "receiver, {what}: {e:?}"),
    }
}

/// Around the frame's beginning, the end of its header, its middle and its end.
fn cut_positions(frame: &Frame) -> [usize; 7] {
    let (start, end) = (frame.bytes.start, frame.bytes.end);
    let payload = start + Frame::HEADER;
    [start, start + 1, payload - 1, payload, payload + 1, (payload + end) / 2, end - 1]
        .map(|k| k.min(end - 1))
}

#[test]
fn a_connection_that_ends_before_the_last_byte_fails_both_sides() {
    // docs/wire: R2-4.
    for honest in jobs().map(Honest::of) {
        let cuts = honest.all_frames().flat_map(|frame| {
            let cuts = cut_positions(&frame).into_iter();
            cuts.flat_map(move |k| [Cut::End, Cut::Reset].map(|cut| (frame.way, k, cut)))
        });
        in_parallel(&cuts.collect::<Vec<_>>(), |&(way, k, cut)| {
            let ended = run_with(honest.job, way, Fault::Cut(k, cut), LONG);
            let what = format!("{:?}, {way:?}, {cut:?} at {k}", honest.job);
            assert_cut(&honest, &ended, way, false, &what);
        });
    }
}

/// Jobs whose parties speak by turns. Where messages cross, either side may have read the other's last
/// one before its own is lost, and which it was is a matter of time.
fn in_turns() -> impl Iterator<Item = Job> {
    jobs().filter(|job| job.base.info().flows > 1)
}

#[test]
fn a_connection_that_ends_after_the_last_byte_of_one_way_fails_both_unless_it_was_the_last_word() {
    for honest in in_turns().map(Honest::of) {
        for way in Way::BOTH {
            let k = honest.total(way);
            let ended = run_with(honest.job, way, Fault::Cut(k, Cut::End), LONG);
            let what = format!("{:?}, {way:?}", honest.job);
            if honest.is_last_word(way, k - 1) {
                assert_eq!(ended.sender.as_ref(), Ok(&honest.pairs), "{what}");
                assert_eq!(ended.receiver.as_ref(), Ok(&honest.received), "{what}");
            } else {
                assert_cut(&honest, &ended, way, false, &what);
            }
        }
    }
}

/// A writer that is not told of a loss finishes if it awaits nothing more: the receiver of random OT
/// without its last opening, the sender of the others without its last answer or sealed messages.
#[test]
fn only_a_party_that_awaits_nothing_more_finishes_when_bytes_are_lost() {
    for honest in in_turns().map(Honest::of) {
        let cuts =
            honest.all_frames().flat_map(|frame| cut_positions(&frame).map(|k| (frame.way, k)));
        in_parallel(&cuts.collect::<Vec<_>>(), |&(way, k)| {
            let ended = run_with(honest.job, way, Fault::Cut(k, Cut::Lost), LONG);
            let what = format!("{:?}, {way:?}, lost from {k}", honest.job);
            assert_cut(&honest, &ended, way, honest.is_last_word(way, k), &what);
        });
    }
}

/// The others.
fn crossing() -> impl Iterator<Item = Job> {
    jobs().filter(|job| job.base.info().flows == 1)
}

/// Weaker than for the others: the side that lacks bytes fails in time, and the side that wrote them also fails, or has
/// what it would have had.
#[test]
fn lost_bytes_abort_every_party_that_still_expects_a_message() {
    let all: Vec<_> = crossing().map(Honest::of).collect();
    assert!(!all.is_empty());
    let cuts = all.iter().flat_map(|honest| {
        honest.all_frames().flat_map(move |frame| {
            let cuts = cut_positions(&frame).into_iter();
            cuts.flat_map(move |k| [Cut::Lost, Cut::Silence].map(|cut| (honest, frame.way, k, cut)))
        })
    });
    while_others_wait(&cuts.collect::<Vec<_>>(), |&(honest, way, k, cut)| {
        let ended = run_with(honest.job, way, Fault::Cut(k, cut), SHORT);
        let what = format!("{:?}, {way:?}, {cut:?} at {k}", honest.job);
        assert_cut(honest, &ended, way, true, &what);
    });
}

/// All bytes of one way have come, then the connection ends: the other way may lack some.
#[test]
fn where_messages_cross_an_end_after_the_last_byte_of_one_way_changes_no_output() {
    for honest in crossing().map(Honest::of) {
        for way in Way::BOTH {
            let ended = run_with(honest.job, way, Fault::Cut(honest.total(way), Cut::End), LONG);
            let what = format!("{:?}, {way:?}", honest.job);
            match &ended.sender {
                Ok(pairs) => assert_eq!(*pairs, honest.pairs, "{what}"),
                Err(e) => assert!(blames_connection(e), "sender, {what}: {e:?}"),
            }
            match &ended.receiver {
                Ok(received) => assert_eq!(*received, honest.received, "{what}"),
                Err(e) => assert!(blames_connection(e), "receiver, {what}: {e:?}"),
            }
        }
    }
}

#[test]
fn the_last_words_are_the_last_opening_or_what_follows_the_last_question() {
    for honest in in_turns().map(Honest::of) {
        let last_words: Vec<_> = honest
            .all_frames()
            .filter(|frame| honest.is_last_word(frame.way, frame.bytes.start))
            .map(|frame| (frame.way, frame.index))
            .collect();
        let expected = match (honest.job.base.info().name, honest.job.messages) {
            ("roted", _) => vec![(Way::ToSender, 2 * BATCHES + 1)],
            ("csw", _) => vec![(Way::ToSender, 2 * BATCHES + 1)],
            ("roted-endemic" | "masny-rindal", false) => vec![(Way::ToReceiver, BATCHES + 1)],
            ("roted-endemic" | "masny-rindal", true) => {
                (BATCHES + 1..=2 * BATCHES + 1).map(|index| (Way::ToReceiver, index)).collect()
            }
            // The receiver has the last word of the OTs, and messages follow it.
            ("chou-orlandi" | "naor-pinkas", false) => vec![(Way::ToSender, BATCHES + 1)],
            ("chou-orlandi" | "naor-pinkas", true) => {
                (BATCHES + 2..=2 * BATCHES + 1).map(|index| (Way::ToReceiver, index)).collect()
            }
            ("bdgm" | "chou-orlandi:chosen", _) => vec![(Way::ToReceiver, 2 * BATCHES + 1)],
            ("pvw", _) => vec![(Way::ToReceiver, BATCHES + 1)],
            ("rot-from-ot:bdgm", _) => vec![(Way::ToSender, 4 * BATCHES + 1)],
            ("rot-from-ot:pvw", _) => vec![(Way::ToSender, 3 * BATCHES + 1)],
            // A new protocol has its own line.
            other => panic!("{other:?}: {last_words:?}"),
        };
        assert_eq!(last_words, expected, "{:?}", honest.job);
    }
}

#[test]
fn silence_ends_both_sides_at_the_timeout() {
    let all: Vec<_> = in_turns().map(Honest::of).collect();
    let cuts = all.iter().flat_map(|honest| {
        honest.all_frames().flat_map(move |Frame { way, bytes, .. }| {
            [bytes.start, bytes.start + 3, bytes.end - 1].map(|k| (honest, way, k))
        })
    });
    while_others_wait(&cuts.collect::<Vec<_>>(), |&(honest, way, k)| {
        let ended = run_with(honest.job, way, Fault::Cut(k, Cut::Silence), SHORT);
        let what = format!("{:?}, {way:?}, silence from {k}", honest.job);
        assert_cut(honest, &ended, way, honest.is_last_word(way, k), &what);
    });
}

/// Asserts that a session in which frames did not arrive as written has an error on one side, or
/// keys without use in some batch.
fn assert_noticed(ended: &Ended, what: &str) {
    if let (Ok(pairs), Ok(received)) = (&ended.sender, &ended.receiver) {
        assert!(batches_that_agree(pairs, received).contains(&false), "not noticed: {what}");
    }
}

/// The batch that a frame belongs to; `None` for hello and details, which belong to all.
fn batch_of(honest: &Honest, frame: &Frame) -> Option<usize> {
    let frames = honest.frames(frame.way).len() - Frame::HELLOS;
    frame.index.checked_sub(Frame::HELLOS).map(|index| index * BATCHES / frames)
}

/// Protocols that hash their messages into all keys of the batch.
#[test]
fn a_flipped_bit_ends_in_an_error_or_in_keys_without_use() {
    let bound = jobs().filter(|job| !job.messages && job.base.info().family == "roted");
    let all: Vec<_> = bound.map(Honest::of).collect();
    let flips = all.iter().flat_map(|honest| {
        honest.all_frames().flat_map(move |frame| {
            let dense = if frame.is_hello() { frame.bytes.len() } else { Frame::HEADER };
            let (head, payload) = (0..dense, (dense..frame.bytes.len()).step_by(37));
            head.chain(payload).map(move |offset| (honest, frame.clone(), offset))
        })
    });
    in_parallel(&flips.collect::<Vec<_>>(), |(honest, frame, offset)| {
        let (at, bits) = (frame.bytes.start + offset, 1 << ((offset * 5) % 8));
        // A length or a lane that lies may make both sides wait.
        let timeout = if *offset < Frame::HEADER { SHORT } else { LONG };
        let ended = run_with(honest.job, frame.way, Fault::Flip(at, bits), timeout);
        let what = format!("{:?}, {frame:?}, bits {bits} at {offset}", honest.job);
        if let (Ok(pairs), Ok(received)) = (&ended.sender, &ended.receiver) {
            let batch = batch_of(honest, frame);
            let expected: Vec<_> =
                (0..BATCHES).map(|b| batch.is_some_and(|batch| b != batch)).collect();
            assert_eq!(batches_that_agree(pairs, received), expected, "{what}");
        }
    });
}

/// Sealed messages are not part of what keys are bound to. A bit in one that was not chosen changes
/// nothing for anybody.
#[test]
fn a_flipped_bit_in_a_sealed_message_fails_a_receiver_that_chose_it() {
    for honest in jobs().filter(|job| job.messages).map(Honest::of) {
        let frames = honest.frames(Way::ToReceiver);
        let flips = frames.iter().filter(|frame| honest.is_sealed(frame)).flat_map(|frame| {
            let header = 0..Frame::HEADER;
            header.chain((Frame::HEADER..frame.bytes.len()).step_by(3)).map(move |k| (frame, k))
        });
        in_parallel(&flips.collect::<Vec<_>>(), |&(frame, offset)| {
            let at = frame.bytes.start + offset;
            let timeout = if offset < Frame::HEADER { SHORT } else { LONG };
            let fault = Fault::Flip(at, 1 << (offset % 8));
            let ended = run_with(honest.job, Way::ToReceiver, fault, timeout);
            let Some(offset) = offset.checked_sub(Frame::HEADER) else {
                assert!(ended.receiver.is_err(), "{frame:?}, header");
                return;
            };
            let first_sealed = frames.len() - BATCHES;
            let part = offset / (MESSAGE_LEN + OVERHEAD);
            let transfer = (frame.index - first_sealed) * BATCH + part / 2;
            let chosen = honest.received.choices[transfer] == (part % 2 == 1);
            let expected = if chosen {
                Err(Error::Protocol(Misbehaved::MessageAuthentication.into()))
            } else {
                Ok(honest.received.clone())
            };
            assert_eq!(ended.receiver, expected, "{frame:?}, offset {offset}");
            assert_eq!(ended.sender.as_ref(), Ok(&honest.pairs), "{frame:?}, offset {offset}");
        });
    }
}

#[test]
fn a_dropped_frame_fails_its_reader() {
    let all: Vec<_> = jobs().map(Honest::of).collect();
    let frames = all.iter().flat_map(|honest| honest.all_frames().map(move |f| (honest, f)));
    while_others_wait(&frames.collect::<Vec<_>>(), |(honest, frame)| {
        let ended = run_with(honest.job, frame.way, Fault::Drop(frame.bytes.clone()), SHORT);
        let what = format!("{:?}, {frame:?}", honest.job);
        match frame.way {
            Way::ToSender => assert!(ended.sender.is_err(), "{what}"),
            Way::ToReceiver => assert!(ended.receiver.is_err(), "{what}"),
        }
        assert_noticed(&ended, &what);
    });
}

/// A last frame that comes twice is read once, and the session is as if the second had not
/// come. A second hello is taken for a last word, and is not one.
#[test]
fn a_repeated_frame_is_noticed_or_never_read() {
    let all: Vec<_> = jobs().map(Honest::of).collect();
    let frames = all.iter().flat_map(|honest| honest.all_frames().map(move |f| (honest, f)));
    in_parallel(&frames.collect::<Vec<_>>(), |(honest, frame)| {
        let ended = run_with(honest.job, frame.way, Fault::Repeat(frame.bytes.clone()), LONG);
        let what = format!("{:?}, {frame:?}", honest.job);
        if frame.is_hello() {
            let reader_fails = match frame.way {
                Way::ToSender => ended.sender.is_err(),
                Way::ToReceiver => ended.receiver.is_err(),
            };
            assert!(reader_fails, "{what}");
        } else if frame.last {
            assert_eq!(ended.sender.as_ref(), Ok(&honest.pairs), "{what}");
            assert_eq!(ended.receiver.as_ref(), Ok(&honest.received), "{what}");
        } else {
            assert_noticed(&ended, &what);
        }
    });
}
