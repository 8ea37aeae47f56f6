use core::time::Duration;
use std::{io::ErrorKind, thread};

use foxtrot_ot::{Error as Protocol, Sid, tasks::Task};
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
    let session = session();
    let plan = Plan { set, session: &session, we_are_initiator, batches };
    let party = Party::set_up(&channel, &plan)?;
    let party = party.with_executors([Box::new(Threads(threads)), Box::new(Threads(threads))]);
    let mut records = Vec::new();
    let made = party.run(|shares| {
        let start = records.len();
        records.resize(start + set.n() * record_len(set.bits()), 0);
        write_records(shares, &mut records[start..]);
        Ok::<_, Error>(())
    })?;
    made.settle()?;
    channel.close()?;
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
    let all = usize::try_from(batches.end - batches.start).unwrap() * set.n();
    assert_eq!(ours.len(), all * record_len(set.bits()));
    assert_eq!(wrong_records(set.bits(), &ours, &theirs).next(), None, "{set:?}, {batches:?}");
}

#[test]
fn both_get_shares_of_the_same_triples_for_every_length() {
    for bits in [8, 16, 32, 64] {
        run(set(bits), 0..3, [1, 1], pair());
    }
}

#[test]
fn any_number_of_batches_from_any_one_on() {
    for batches in [0..0, 0..1, 1..2, 5..7, 8..26, 3..44] {
        run(set(8), batches, [1, 1], pair());
    }
}

#[test]
fn the_parties_may_have_different_numbers_of_threads() {
    for threads in [[1, 8], [3, 1], [5, 2], [100, 4]] {
        run(set(8), 0..37, threads, pair());
    }
}

/// At 100 Mbit/s a depth takes longer than there and back on a line of 100 ms.
#[test]
fn a_depth_fills_a_link_of_100_ms() {
    for set in params::registry() {
        let bits = DEPTH * (set.request_len() + set.response_len()) * 8;
        assert!(bits as f64 / 1e8 >= 0.3, "{set:?}");
    }
}

#[test]
fn requests_of_two_depths_and_a_group_are_on_their_way_and_no_more() {
    for group in [1, 8] {
        let (here, there) = pair();
        let set = set(8);
        let party = thread::spawn(move || play(here, set, false, 0..100, group));
        there.use_lanes(Lane::SECOND.index() + 1);
        let session = session().sub(set.name(), 0, Direction::InitiatorSends);
        let (mut p0, key) = P0::new(session, set, fresh_seed().unwrap());
        there.send(Lane::PROTOCOL, key).unwrap();
        there.recv(Lane::SECOND, set.public_key_len()).unwrap();
        // It answers while it waits for answers.
        let mut request = Vec::new();
        for _ in 0..DEPTH + group {
            let _ = p0.request(&mut request);
            there.send(Lane::PROTOCOL, request.clone()).unwrap();
        }
        for _ in 0..2 * DEPTH + group {
            there.recv(Lane::SECOND, set.request_len()).unwrap();
        }
        for _ in 0..DEPTH + group {
            there.recv(Lane::PROTOCOL, set.response_len()).unwrap();
        }
        let sent = there.counters().received;
        let all = (2 * DEPTH + group) * set.request_len() + (DEPTH + group) * set.response_len();
        assert_eq!(sent, (all + set.public_key_len()) as u64);
        there.close().unwrap();
        let gone = Error::Channel(ChannelError::ClosedReceiving);
        assert_eq!(party.join().unwrap().unwrap_err(), gone);
    }
}

/// What becomes of a party whose peer sends these messages.
fn against(messages: Vec<(Lane, Vec<u8>)>) -> (Error, Option<Error>) {
    let (here, there) = pair();
    let party = thread::spawn(move || play(here, set(8), false, 0..4, 1));
    there.use_lanes(Lane::SECOND.index() + 1);
    let told = messages.into_iter().try_for_each(|(lane, bytes)| there.send(lane, bytes));
    let mut answers = (0..).map(|_| there.recv(Lane::PROTOCOL, set(8).response_len()));
    let told = told.err().or_else(|| answers.find_map(Result::err));
    (party.join().unwrap().unwrap_err(), told)
}

#[test]
fn a_peer_whose_messages_are_malformed_is_told_so() {
    let set = set(8);
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
        let (error, told) = against(messages);
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
        let (error, _) = against(messages);
        assert_eq!(error, FrameError::Length { expected: lane, got: 0 }.into());
    }
    let (error, _) = against(vec![(Lane::new(3).unwrap(), Vec::new())]);
    assert_eq!(error, FrameError::Lane { got: 3 }.into());
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
