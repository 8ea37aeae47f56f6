use std::{io::ErrorKind, thread, time::Duration};

use foxtrot_ot::{
    Error as Protocol,
    base::{
        Choice, Info, ReceiverKeys, Role, SenderKeys, registry as registry_of_base_ots,
        roted::Endemic,
    },
    ideal,
};
use foxtrot_triples::{
    formats::{record_len, write_records, wrong_records},
    gilboa::{DEFAULT_K, of_bits, registry},
};

use super::*;
use crate::{
    ChannelError, FrameError, Reason,
    deadline::Deadline,
    triples::tests::{Threads, pair, session},
};

fn set(bits: u32) -> &'static Set {
    of_bits(bits, DEFAULT_K).unwrap()
}

/// A party's records, and how many bytes it has sent.
fn play(
    channel: Channel,
    (set, base): (&'static Set, &dyn BaseOt),
    we_are_initiator: bool,
    count: u64,
    threads: usize,
) -> Result<(Vec<u8>, u64), Error> {
    let session = session();
    let plan = Plan { set, base, session: &session, we_are_initiator, count };
    let party = Party::set_up(&channel, &plan)?;
    let executor = || Box::new(Threads(threads)) as Box<dyn Executor>;
    let party = party.with_executors([executor(), executor(), executor()]);
    let mut records = Vec::new();
    party.run(|shares| {
        let start = records.len();
        records.resize(start + shares.len() * record_len(set.bits()), 0);
        write_records(shares, &mut records[start..]);
        Ok::<_, Error>(())
    })?;
    let sent = channel.counters().sent;
    channel.close()?;
    Ok((records, sent))
}

/// Both parties on a thread each, against each other's records; and what each has sent.
fn run(set: &'static Set, base: &'static dyn BaseOt, count: u64, threads: [usize; 2]) {
    let (here, there) = pair();
    let other = thread::spawn(move || play(there, (set, base), true, count, threads[1]));
    let (ours, of_ours) = play(here, (set, base), false, count, threads[0]).unwrap();
    let (theirs, of_theirs) = other.join().unwrap().unwrap();
    assert_eq!(ours.len() as u64, count * record_len(set.bits()) as u64);
    assert_eq!(wrong_records(set.bits(), &ours, &theirs).next(), None, "{set:?}, {count}");
    let announced = bytes_of_run(set, base, count);
    assert_eq!([of_theirs, of_ours], announced, "{set:?}, {count}");
}

#[test]
fn both_get_shares_of_the_same_triples_for_every_set() {
    for set in registry() {
        run(set, &Endemic, set.n() as u64 + 77, [1, 1]);
    }
}

#[test]
fn any_number_of_triples() {
    let n = set(64).n() as u64;
    for count in [0, 1, 2, 9, n - 1, n, n + 1, 37 * n + 5] {
        run(set(64), &Endemic, count, [1, 1]);
    }
    run(set(8), &Endemic, 1, [1, 1]);
}

#[test]
fn the_parties_may_have_different_numbers_of_threads() {
    for threads in [[1, 8], [3, 1], [5, 2], [100, 4]] {
        run(set(64), &Endemic, 37 * 1024 + 5, threads);
    }
}

/// Those in which the receiver speaks first, those in which the sender does, and in any number of messages.
#[test]
fn base_ots_may_be_of_any_form() {
    let extension = Any::SemiHonest(set(16).extension()).info();
    let bases = registry_of_base_ots().iter().copied();
    let mut flows: Vec<_> = bases
        .filter(|base| compatible(base.info(), &extension).is_ok())
        .map(|base| {
            run(set(16), base, 3, [1, 1]);
            base.info().flows
        })
        .collect();
    flows.sort_unstable();
    flows.dedup();
    assert!(flows.len() > 2, "{flows:?}");
}

#[test]
fn two_depths_find_room_in_a_lane() {
    for set in registry() {
        let [corrections, products] = [set.corrections_len(set.n()), set.products_len(set.n())];
        let depth = usize::try_from(depth(set)).unwrap();
        assert!(depth * (corrections + products) >= 3_750_000, "{set:?}");
        let most = corrections.max(products) + 64;
        assert!(2 * depth * most <= crate::channel::QUEUE_BYTES, "{set:?}");
    }
}

/// The peer of a responder: it says what it is told to, in the stream whose sender it is and in the other.
fn against(set: &'static Set, messages: Vec<(Lane, Vec<u8>)>) -> (Error, Option<Error>) {
    let (here, there) = pair();
    // A batch of three, of which one is opened.
    let party = thread::spawn(move || play(here, (set, &Double), false, 2, 1));
    there.use_lanes(CHECK.index() + 1);
    let told = messages.into_iter().try_for_each(|(lane, bytes)| there.send(lane, bytes));
    // Nothing comes behind the corrections.
    let lens = [set.opening_len(), set.corrections_len(3), 0];
    let mut answers = lens.iter().map(|len| there.recv(Lane::PROTOCOL, *len));
    let told = told.err().or_else(|| answers.find_map(Result::err));
    (party.join().unwrap().unwrap_err(), told)
}

/// Base OTs without messages, so that a test need not play them.
#[derive(Debug)]
struct Double;

impl BaseOt for Double {
    fn info(&self) -> &'static Info {
        Endemic.info()
    }

    fn sender(
        &self,
        _: Session,
        n: usize,
        _: foxtrot_ot::Seed,
    ) -> Result<Box<dyn Role<Out = SenderKeys>>, Usage> {
        let (keys, _) = ideal::random(n, &foxtrot_ot::Seed::from_bytes([1; 32]));
        Ok(Box::new(Quiet(keys)))
    }

    fn receiver(
        &self,
        _: Session,
        choice: Choice,
        _: foxtrot_ot::Seed,
    ) -> Result<Box<dyn Role<Out = ReceiverKeys>>, Usage> {
        let Choice::Given(bits) = choice else { unreachable!("endemic") };
        let (_, keys) = ideal::given(bits, &foxtrot_ot::Seed::from_bytes([1; 32]));
        Ok(Box::new(Quiet(keys)))
    }
}

struct Quiet<Out>(Out);

impl<Out: Send> Role for Quiet<Out> {
    type Out = Out;

    fn expects(&self) -> Option<usize> {
        None
    }

    fn step(self: Box<Self>, _: &[u8]) -> Result<foxtrot_ot::base::Step<Out>, Protocol> {
        Ok(foxtrot_ot::base::Step { message: None, next: foxtrot_ot::base::Next::Done(self.0) })
    }
}

#[test]
fn a_peer_whose_messages_are_malformed_is_told_so() {
    let set = set(8);
    // The peer is the initiator: of the first stream it is the sender.
    let (ours, theirs) = (Lane::PROTOCOL, Lane::SECOND);
    let setup = || (theirs, vec![0; set.setup_len()]);
    let corrections = || (theirs, vec![0; set.corrections_len(3)]);
    let spare_bits = (ours, vec![0xff; set.products_len(3)]);
    let (error, told) = against(set, vec![setup(), corrections(), spare_bits]);
    assert!(matches!(error, Error::Protocol(Protocol::Decode(_))), "{error}");
    assert_eq!(told, Some(ChannelError::GivenUp(Reason::Undecodable).into()));
    for (expected, messages) in [
        (set.setup_len(), vec![(theirs, Vec::new())]),
        (set.corrections_len(3), vec![setup(), (theirs, Vec::new())]),
        (set.products_len(3), vec![setup(), corrections(), (ours, vec![0; 4])]),
    ] {
        let got = messages.last().unwrap().1.len();
        let (error, _) = against(set, messages);
        assert_eq!(error, FrameError::Length { expected, got }.into());
    }
    let (here, there) = pair();
    let party = thread::spawn(move || play(here, (set, &Double), true, 3, 1));
    there.send(Lane::PROTOCOL, vec![0; 5]).unwrap();
    let error = party.join().unwrap().unwrap_err();
    assert_eq!(error, FrameError::Length { expected: set.opening_len(), got: 5 }.into());
    let (error, _) = against(set, vec![(Lane::FOURTH, Vec::new())]);
    assert_eq!(error, FrameError::Lane { got: 4 }.into());
}

#[test]
fn corrections_of_a_depth_and_a_group_wait_for_an_answer_and_no_more() {
    let set = set(64);
    let (here, there) = pair();
    let count = 100 * set.n() as u64;
    let party = thread::spawn(move || play(here, (set, &Double), false, count, 1));
    there.use_lanes(Lane::SECOND.index() + 1);
    // Its opening, and corrections until it waits for ours.
    there.recv(Lane::PROTOCOL, set.opening_len()).unwrap();
    there.send(Lane::SECOND, vec![0; set.setup_len()]).unwrap();
    let len = set.corrections_len(set.n());
    let depth = usize::try_from(depth(set)).unwrap();
    for _ in 0..=depth {
        there.recv(Lane::PROTOCOL, len).unwrap();
    }
    let nothing = there.recv_by(Lane::PROTOCOL, len, Deadline::after(Duration::from_secs(1)));
    assert!(
        matches!(nothing, Err(Error::Channel(ChannelError::NothingReceived(_)))),
        "{nothing:?}"
    );
    let told = Error::from(ChannelError::GivenUp(Reason::Timeout));
    assert_eq!(party.join().unwrap().unwrap_err(), told);
}

#[test]
fn a_full_disk_ends_the_run_on_both_sides() {
    let (here, there) = pair();
    let count = 40 * 1024;
    let peer = thread::spawn(move || play(there, (set(64), &Double), true, count, 1));
    let session = session();
    let plan =
        Plan { set: set(64), base: &Double, session: &session, we_are_initiator: false, count };
    let party = Party::set_up(&here, &plan).unwrap();
    let (mut room, full) =
        (3, Error::from(ChannelError::io("write", &ErrorKind::StorageFull.into())));
    let result = party.run(|_| {
        room -= 1;
        if room == 0 { Err(full.clone()) } else { Ok(()) }
    });
    assert_eq!(result.unwrap_err(), full);
    let expected = [ChannelError::GivenUp(Reason::Other), ChannelError::ClosedSending];
    let told = peer.join().unwrap().unwrap_err();
    assert!(expected.map(Error::from).contains(&told), "{told}");
}

#[test]
fn more_batches_than_the_extension_has_are_refused_before_anything_is_sent() {
    let set = set(64);
    let max = set.most_batches();
    let (here, there) = pair();
    let count = max * set.usable() as u64 + 1;
    let error = play(here, (set, &Double), false, count, 1).unwrap_err();
    assert_eq!(error, Error::Protocol(Usage::TooManyBatches { max }.into()));
    let told = there.recv(Lane::PROTOCOL, set.opening_len()).unwrap_err();
    assert_eq!(told, ChannelError::GivenUp(Reason::Other).into());
}
