//! The limit of memory bounds every job, and is read before anything is allocated; later jobs tell the first error.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{io::pipe, thread};

use foxtrot::{
    Blame, Config, Error, Peer, Side,
    job::Full,
    ot,
    psi::{
        self, Count,
        fields::{Duplicates, Fields, Padding},
        keys::{Builder, Keys},
    },
    rot,
    triples::{self, Method},
};

const N: usize = 1000;
/// Bytes of a payload.
const LEN: usize = 60_000;
const MEBIBYTE: u64 = 1 << 20;

/// A job of one side, whose result nobody needs.
type Job = fn(&mut Peer) -> Result<(), Error>;

fn items() -> Vec<String> {
    (0..N).map(|i| i.to_string()).collect()
}

fn keys() -> Keys {
    let mut keys = Builder::new(vec!["none".parse().unwrap()], N).unwrap();
    items().into_iter().for_each(|item| keys.push([item.into()].into_iter()));
    keys.finish().unwrap()
}

const PADDING: Padding = Padding { width: 4000, duplicates: Duplicates::Refuse };

fn columns() -> Vec<String> {
    vec!["a".into(), "b".into()]
}

/// Runs the job of a side that has so much memory with a peer that has all it wants. Returns both results.
fn within(bytes: u64, ours: Job, theirs: Job) -> [Result<(), Error>; 2] {
    let [(from_near, to_far), (from_far, to_near)] = [(); 2].map(|()| pipe().unwrap());
    let near = Config::insecure().max_memory(bytes).over(from_far, to_far, Side::Initiator);
    let far = Config::insecure().over(from_near, to_near, Side::Responder);
    let (mut near, mut far) = (near.unwrap(), far.unwrap());
    let other = thread::spawn(move || theirs(&mut far));
    let ours = ours(&mut near);
    drop(near);
    [ours, other.join().unwrap()]
}

/// The bytes that a job takes, of which it says so and ends.
fn takes(ours: Job, theirs: Job) -> u64 {
    let [ours, theirs] = within(MEBIBYTE, ours, theirs);
    let Err(Error::Full(Full::Memory { takes, of: MEBIBYTE, .. })) = ours else {
        panic!("{ours:?}");
    };
    let told = theirs.unwrap_err();
    assert_eq!(told.blame(), Blame::Agreement, "{told}");
    takes
}

fn send(peer: &mut Peer) -> Result<(), Error> {
    psi::send(peer, &items())
}

fn receive(peer: &mut Peer) -> Result<(), Error> {
    psi::receive(peer, &items()).map(drop)
}

fn send_with(peer: &mut Peer) -> Result<(), Error> {
    let rows: Vec<_> = items().into_iter().map(|item| (item, vec![7; LEN])).collect();
    psi::Options::new().send_with(peer, &rows, LEN)
}

fn receive_with(peer: &mut Peer) -> Result<(), Error> {
    psi::Options::new().receive_with(peer, &items(), LEN).map(drop)
}

fn send_keys_with(peer: &mut Peer) -> Result<(), Error> {
    let fields = Fields::new(2, PADDING, N)?.named(columns());
    psi::Options::new().send_keys_with(peer, &keys(), &fields).map(drop)
}

fn receive_keys_with(peer: &mut Peer) -> Result<(), Error> {
    psi::Options::new().receive_keys_with(peer, &keys(), &columns(), PADDING).map(drop)
}

fn send_both(peer: &mut Peer) -> Result<(), Error> {
    psi::Options::new().send_both(peer, &items()).map(drop)
}

fn receive_both(peer: &mut Peer) -> Result<(), Error> {
    psi::Options::new().receive_both(peer, &items()).map(drop)
}

fn send_sum(peer: &mut Peer) -> Result<(), Error> {
    let rows: Vec<_> = items().into_iter().map(|item| (item, 1)).collect();
    Count::new().send_sum(peer, &rows, 1).map(drop)
}

fn receive_sum(peer: &mut Peer) -> Result<(), Error> {
    Count::new().receive_sum(peer, &items(), 1).map(drop)
}

fn send_count(peer: &mut Peer) -> Result<(), Error> {
    Count::new().send(peer, &items()).map(drop)
}

fn receive_count(peer: &mut Peer) -> Result<(), Error> {
    Count::new().receive(peer, &items()).map(drop)
}

fn send_messages(peer: &mut Peer) -> Result<(), Error> {
    ot::send(peer, &vec![[vec![1; LEN], vec![2; LEN]]; N])
}

fn receive_messages(peer: &mut Peer) -> Result<(), Error> {
    ot::receive(peer, &[true; N]).map(drop)
}

fn rot_send(peer: &mut Peer) -> Result<(), Error> {
    rot::send(peer, 1 << 20).map(drop)
}

fn rot_receive(peer: &mut Peer) -> Result<(), Error> {
    rot::receive(peer, 1 << 20).map(drop)
}

fn cot_send(peer: &mut Peer) -> Result<(), Error> {
    rot::send_correlated(peer, 1 << 20).map(drop)
}

fn cot_receive(peer: &mut Peer) -> Result<(), Error> {
    rot::receive_correlated(peer, &vec![true; 1 << 20]).map(drop)
}

fn gilboa(peer: &mut Peer) -> Result<(), Error> {
    triples::Options::new().method(Method::Gilboa).generate::<u64, _>(peer, N).map(drop)
}

fn rlwe(peer: &mut Peer) -> Result<(), Error> {
    triples::Options::new().method(Method::Rlwe).generate::<u64, _>(peer, N).map(drop)
}

#[test]
fn every_job_counts_its_memory_before_it_takes_any() {
    let payloads = (N * LEN) as u64;
    let fields = (N * 2 * PADDING.slot()) as u64;
    for (ours, theirs, least) in [
        (send as Job, receive as Job, MEBIBYTE),
        (receive, send, MEBIBYTE),
        (send_with, receive_with, payloads.min(60 * MEBIBYTE)),
        // The encrypted ones, and those of matches.
        (receive_with, send_with, 2 * payloads),
        (send_keys_with, receive_keys_with, fields),
        (receive_keys_with, send_keys_with, 2 * fields),
        (send_both, receive_both, MEBIBYTE),
        (receive_both, send_both, MEBIBYTE),
        (send_sum, receive_sum, MEBIBYTE),
        (receive_sum, send_sum, MEBIBYTE),
        (send_count, receive_count, MEBIBYTE),
        (receive_count, send_count, MEBIBYTE),
        (send_messages, receive_messages, 64 * MEBIBYTE),
        (receive_messages, send_messages, payloads),
        (rot_send, rot_receive, 32 << 20),
        (rot_receive, rot_send, 16 << 20),
        (cot_send, cot_receive, 16 << 20),
        (cot_receive, cot_send, 16 << 20),
        (gilboa, gilboa, MEBIBYTE),
        (rlwe, rlwe, MEBIBYTE),
    ] {
        let takes = takes(ours, theirs);
        assert!(takes >= least, "{takes} of {least}");
    }
}

#[test]
fn payloads_are_refused_where_the_intersection_alone_has_room() {
    let room = takes(receive, send);
    let [ours, theirs] = within(room, receive, send);
    ours.and(theirs).unwrap();
    let [ours, _] = within(room, receive_with, send_with);
    assert!(matches!(ours, Err(Error::Full(Full::Memory { .. }))), "{ours:?}");
    let room = takes(receive_with, send_with);
    let [ours, theirs] = within(room, receive_with, send_with);
    ours.and(theirs).unwrap();
}

#[test]
fn a_ticket_for_many_machines_takes_no_memory_of_the_intersection() {
    let agree: Job = |peer| {
        let options = psi::Options::new();
        options.agree_on_shards(peer, role_of(peer), 1 << 20, "none/1", 4).map(drop)
    };
    let [ours, theirs] = within(MEBIBYTE, agree, agree);
    ours.and(theirs).unwrap();
}

fn role_of(peer: &Peer) -> foxtrot::job::Role {
    match peer.side() {
        Side::Initiator => foxtrot::job::Role::Sender,
        Side::Responder => foxtrot::job::Role::Receiver,
    }
}

#[test]
fn repeated_items_get_their_payloads_each() {
    let (mut ours, mut theirs) = Peer::pair();
    let rows = [("a", b"1"), ("b", b"2")];
    let sender = thread::spawn(move || psi::Options::new().send_with(&mut theirs, &rows, 1));
    let common = psi::Options::new().receive_with(&mut ours, &["b", "a", "b", "c", "b"], 1);
    let expected = [(0, b"2"), (1, b"1"), (2, b"2"), (4, b"2")];
    assert_eq!(common.unwrap(), expected.map(|(row, payload)| (row, payload.to_vec())));
    sender.join().unwrap().unwrap();
}

#[test]
fn jobs_after_one_that_failed_tell_its_error() {
    let twice: Job = |peer| {
        let first = receive_with(peer).unwrap_err();
        let second = receive(peer).unwrap_err();
        assert_eq!((first.to_string(), first.blame()), (second.to_string(), second.blame()));
        assert!(matches!(second, Error::Full(_)));
        Err(second)
    };
    let [_, theirs] = within(MEBIBYTE, twice, send_with);
    theirs.unwrap_err();
    let asks: Job = |peer| {
        let columns = ["c".to_owned()];
        let ask = psi::Options::new().receive_keys_with(peer, &keys(), &columns, PADDING);
        let first = ask.map(drop).unwrap_err();
        let second = receive(peer).unwrap_err();
        assert_eq!(
            (first.to_string(), second.to_string()),
            (second.to_string(), first.to_string())
        );
        assert_eq!(second.blame(), Blame::Agreement, "{second}");
        Err(second)
    };
    let [_, theirs] = within(u64::MAX, asks, send_keys_with);
    theirs.unwrap_err();
}
