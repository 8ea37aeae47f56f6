use core::time::Duration;
use std::{io::ErrorKind, thread};

use foxtrot_ot::{
    Bits, Error as Protocol, Sid,
    base::{BaseOt, Choice, roted::Endemic},
    extension::{ROWS, Shape},
    tasks::Task,
};
use foxtrot_triples::{
    formats::{record_len, write_records, wrong_records},
    params,
    rlwe::P0,
};

use super::*;
use crate::{FrameError, Reason, memory};

const LONG: Duration = Duration::from_secs(60);

fn set(bits: u32) -> &'static Set {
    params::of_bits(bits).unwrap()
}

fn lift() -> &'static Set {
    params::find("rlwe-lift-8").unwrap()
}

pub(super) fn session() -> Session {
    Session::new(Sid::from_bytes([9; 32]))
}

/// Two ends whose hellos are behind them.
pub(super) fn pair() -> (Channel, Channel) {
    let (here, there) = memory::pair(LONG);
    here.greeted();
    there.greeted();
    (here, there)
}

/// So many threads, started for each task.
#[derive(Debug)]
pub(super) struct Threads(pub(super) usize);

impl Executor for Threads {
    fn threads(&self) -> usize {
        self.0
    }

    fn run<'a>(&self, tasks: Vec<Task<'a>>) {
        thread::scope(|scope| tasks.into_iter().for_each(|task| drop(scope.spawn(task))));
    }
}

/// A party's records.
fn play(
    channel: Channel,
    set: &'static Set,
    we_are_initiator: bool,
    batches: Range<u64>,
    threads: usize,
) -> Result<Vec<u8>, Error> {
    let records = make(&channel, set, we_are_initiator, batches, threads)?;
    channel.finish()?;
    channel.close()?;
    Ok(records)
}

fn make(
    channel: &Channel,
    set: &'static Set,
    we_are_initiator: bool,
    batches: Range<u64>,
    threads: usize,
) -> Result<Vec<u8>, Error> {
    let session = session();
    let plan = Plan { set, session: &session, we_are_initiator, batches };
    let party = Party::set_up(channel, &plan)?;
    let party = party.with_executors([(); 4].map(|()| Box::new(Threads(threads)) as _));
    let mut records = Vec::new();
    party.run(|shares| {
        let start = records.len();
        records.resize(start + shares.len() * record_len(set.bits()), 0);
        write_records(shares, &mut records[start..]);
        Ok::<_, Error>(())
    })?;
    Ok(records)
}

/// Both parties on a thread each, against each other's records.
fn run(
    set: &'static Set,
    batches: Range<u64>,
    threads: [usize; 2],
    (here, there): (Channel, Channel),
) {
    let range = batches.clone();
    let other = thread::spawn(move || play(there, set, true, range, threads[1]));
    let ours = play(here, set, false, batches.clone(), threads[0]).unwrap();
    let theirs = other.join().unwrap().unwrap();
    let all = usize::try_from(batches.end - batches.start).unwrap() * set.usable();
    assert_eq!(ours.len(), all * record_len(set.bits()));
    assert_eq!(wrong_records(set.bits(), &ours, &theirs).next(), None, "{set:?}, {batches:?}");
}

#[test]
fn both_get_shares_of_the_same_triples_for_every_length() {
    for bits in [8, 16, 32, 64] {
        run(set(bits), 0..3, [1, 1], pair());
    }
    run(lift(), 0..3, [1, 1], pair());
}

#[test]
fn any_number_of_batches_from_any_one_on() {
    for batches in [0..0, 0..1, 1..2, 5..7, 8..26, 3..44, 1..132] {
        run(set(8), batches, [1, 1], pair());
    }
    run(lift(), 3..44, [1, 1], pair());
}

#[test]
fn the_parties_may_have_different_numbers_of_threads() {
    for threads in [[1, 8], [3, 1], [5, 2], [100, 4]] {
        run(set(8), 0..137, threads, pair());
        run(lift(), 0..37, threads, pair());
    }
}

/// At 100 Mbit/s a depth takes longer than there and back on a line of 100 ms; and it is as short as that allows.
#[test]
fn a_depth_fills_a_link_of_100_ms_and_has_room_in_a_lane() {
    for set in params::registry() {
        let bytes = set.batch_bytes();
        let bits = depth(set) * 8 * bytes.iter().sum::<usize>() as u64;
        assert!(bits as f64 / 1e8 >= 0.3, "{set:?}");
        assert!(depth(set) == 8 || (bits as f64) / 1e8 < 0.6, "{set:?}");
        let waiting = |len: usize| 2 * usize::try_from(depth(set)).unwrap() * (len + 64);
        assert!(waiting(set.request_len()) <= crate::channel::QUEUE_BYTES, "{set:?}");
        assert!(bytes[1].max(set.correction_len()) < set.request_len(), "{set:?}");
    }
    let depths = [8, 16, 32, 64].map(|bits| depth(set(bits)));
    assert_eq!(depths, [32, 16, 8, 8]);
}

/// Without the fix its peer withholds answers, with it corrections: then one depth more is on its way.
#[test]
fn a_party_runs_ahead_by_two_or_three_depths_and_a_group_and_no_more() {
    for set in [lift(), set(8)] {
        for group in [1, 8] {
            stands_still(set, group);
        }
    }
}

fn stands_still(set: &'static Set, group: usize) {
    let depth = usize::try_from(depth(set)).unwrap();
    let with_fix = set.fix().is_some();
    // Answers that the party gets; its own requests, answers and corrections then.
    let answered = if with_fix { depth + group } else { 0 };
    let requests = if with_fix { 3 * depth + group } else { 2 * depth + group };
    let (responses, corrections) = (requests - depth, answered);
    // The first batch is the peer's, and of a set without fix it is done; the next one is not.
    let opened = if with_fix { 0 } else { record_len(set.bits()) };

    let (here, there) = pair();
    thread::scope(|scope| {
        let party = scope.spawn(|| make(&here, set, false, 0..400, group));
        let session = session();
        let plan = Plan { set, session: &session, we_are_initiator: true, batches: 0..400 };
        let mut peer = Party::set_up(&there, &plan).unwrap();
        let _ = peer.request(responses).unwrap();
        for _ in 0..answered {
            let _ = peer.respond(vec![Shares::new(set)]).unwrap();
        }
        let ots_len = peer.ots.as_ref().map_or(0, Ots::corrections_len);
        let ots = if with_fix { responses } else { 0 };
        let ([ours, theirs], [our_fix, their_fix]) = (peer.lanes, peer.fix_lanes);
        drop(peer);
        for (lane, len, n) in [
            (theirs, set.request_len(), requests - answered),
            (ours, set.response_len(), responses),
            (our_fix, ots_len, ots),
            (their_fix, set.correction_len(), corrections),
        ] {
            for _ in 0..n {
                there.recv(lane, len).unwrap();
            }
        }
        // All of that has come. What is more than that would be given to the channel by now.
        thread::sleep(Duration::from_millis(300));
        let base = Endemic.info();
        let set_up = set.fix().map_or(0, |it| {
            (base.receiver_bytes)(ROWS) + (base.sender_bytes)(ROWS) + it.setup_len()
        });
        let all = set.public_key_len()
            + set_up
            + requests * set.request_len()
            + responses * set.response_len()
            + ots * ots_len
            + corrections * set.correction_len()
            + opened;
        assert_eq!(here.counters().sent, all as u64, "{set:?}, {group}");
        there.close().unwrap();
        let gone = Error::Channel(ChannelError::ClosedReceiving);
        assert_eq!(party.join().unwrap().unwrap_err(), gone);
    });
}

/// What becomes of a party, the responder, whose peer sends these messages.
fn against(set: &'static Set, messages: Vec<(Lane, Vec<u8>)>) -> (Error, Option<Error>) {
    let (here, there) = pair();
    let party = thread::spawn(move || play(here, set, false, 0..4, 1));
    there.use_lanes(Lane::FIFTH.index() + 1);
    let told = messages.into_iter().try_for_each(|(lane, bytes)| there.send(lane, bytes));
    let mut answers = (0..).map(|_| there.recv(Lane::PROTOCOL, set.response_len()));
    let told = told.err().or_else(|| answers.find_map(Result::err));
    (party.join().unwrap().unwrap_err(), told)
}

#[test]
fn a_peer_whose_messages_are_malformed_is_told_so() {
    let set = lift();
    let session = session().sub(set.name(), 0, Direction::InitiatorSends);
    let (mut p0, key) = P0::new(session, set, fresh_seed().unwrap());
    let (mut request, too_large) = (Vec::new(), |len| vec![0xff; len]);
    let _ = p0.request(&mut request);
    let (ours, theirs) = (Lane::PROTOCOL, Lane::SECOND);
    for messages in [
        vec![(ours, too_large(set.public_key_len()))],
        vec![(ours, key.clone()), (ours, too_large(set.request_len()))],
        vec![
            (ours, key.clone()),
            (ours, request.clone()),
            (ours, request.clone()),
            (theirs, too_large(set.response_len())),
        ],
    ] {
        let (error, told) = against(set, messages);
        assert!(matches!(error, Error::Protocol(Protocol::Decode(_))), "{error}");
        assert_eq!(told, Some(ChannelError::GivenUp(Reason::Undecodable).into()));
    }
    for (lane, messages) in [
        (set.public_key_len(), vec![(ours, Vec::new())]),
        (set.request_len(), vec![(ours, key.clone()), (ours, Vec::new())]),
        (
            set.response_len(),
            vec![
                (ours, key.clone()),
                (ours, request.clone()),
                (ours, request.clone()),
                (theirs, Vec::new()),
            ],
        ),
    ] {
        let (error, _) = against(set, messages);
        assert_eq!(error, FrameError::Length { expected: lane, got: 0 }.into());
    }
    let (error, _) = against(set, vec![(Lane::FOURTH, Vec::new())]);
    assert_eq!(error, FrameError::Lane { got: 4 }.into());
}

/// The length that a message of the peer has instead of this one.
fn is_not(error: &Error, expected: usize) -> bool {
    *error == FrameError::Length { expected, got: 5 }.into()
}

#[test]
fn base_ots_that_are_malformed_are_the_peers_fault() {
    let set = set(8);
    let fix = set.fix().unwrap();
    let [blinded, reply] =
        [Endemic.info().receiver_bytes, Endemic.info().sender_bytes].map(|len| len(ROWS));
    let (ours, theirs) = (Lane::THIRD, Lane::FOURTH);
    let session = |direction| session().sub(Endemic.info().name, 0, direction);
    // Blinded elements that can be decoded, and others.
    let choice = Choice::Given(Bits::from_bools([false; ROWS]));
    let sid = session(Direction::ResponderSends);
    let role = Endemic.receiver(sid, choice, fresh_seed().unwrap()).unwrap();
    let whole = role.step(&[]).unwrap().message.unwrap();
    assert_eq!(whole.len(), blinded);
    for (messages, expected) in [
        (vec![(ours, vec![0xff; blinded])], None),
        (vec![(ours, vec![0; 5])], Some(blinded)),
        (vec![(ours, whole.clone()), (theirs, vec![0; 5])], Some(reply)),
        (
            vec![(ours, whole.clone()), (theirs, vec![0; reply]), (theirs, vec![0; 5])],
            Some(fix.setup_len()),
        ),
    ] {
        let (error, _) = against(set, messages);
        match expected {
            Some(expected) => assert!(is_not(&error, expected), "{error}"),
            None => assert!(matches!(error, Error::Protocol(Protocol::Decode(_))), "{error}"),
        }
    }
    let (error, _) = against(set, vec![(Lane::new(6).unwrap(), Vec::new())]);
    assert_eq!(error, FrameError::Lane { got: 6 }.into());
}

/// A peer that follows the protocol in its set-up and then sends what it likes on a lane of the fix.
fn behind_the_set_up(lane: Lane, message: Vec<u8>) -> Error {
    let (here, there) = pair();
    let set = set(8);
    let party = thread::spawn(move || play(here, set, false, 0..4, 1));
    let session = session();
    let plan = Plan { set, session: &session, we_are_initiator: true, batches: 0..4 };
    let mut peer = Party::set_up(&there, &plan).unwrap();
    let _ = peer.request(2).unwrap();
    there.send(lane, message).unwrap();
    // It answers, so that the party comes to corrections; what it is told of this does not matter, nor when.
    drop(peer.respond((0..2).map(|_| Shares::new(set)).collect()));
    party.join().unwrap().unwrap_err()
}

#[test]
fn what_comes_in_place_of_corrections_is_the_peers_fault() {
    let set = set(8);
    let ots = set.fix().unwrap().corrections_len(Shape::random(set.n()));
    // The party is the responder: its own stream has the second lane of the fix.
    assert!(is_not(&behind_the_set_up(Lane::FOURTH, vec![0; 5]), ots));
    assert!(is_not(&behind_the_set_up(Lane::THIRD, vec![0; 5]), set.correction_len()));
}

#[test]
fn a_full_disk_ends_the_run_on_both_sides() {
    let (here, there) = pair();
    let peer = thread::spawn(move || play(there, set(8), true, 0..40, 1));
    let session = session();
    let plan = Plan { set: set(8), session: &session, we_are_initiator: false, batches: 0..40 };
    let party = Party::set_up(&here, &plan).unwrap();
    let (mut room, full) =
        (3, Error::from(ChannelError::io("write", &ErrorKind::StorageFull.into())));
    let result = party.run(|_| {
        room -= 1;
        if room == 0 { Err(full.clone()) } else { Ok(()) }
    });
    assert_eq!(result.unwrap_err(), full);
    // Whichever of the two it notices first: that we say why, or that we take no more.
    let expected = [ChannelError::GivenUp(Reason::Other), ChannelError::ClosedSending];
    let told = peer.join().unwrap().unwrap_err();
    assert!(expected.map(Error::from).contains(&told), "{told}");
}
