use core::time::Duration;
use std::thread;

use foxtrot_ot::{
    Misbehaved, Sid,
    base::{Adversary, find},
};

use super::*;
use crate::{
    ChannelError, Counters, Reason,
    extend::tests::{SHORT, assert_refused, flood},
    memory,
};

const LONG: Duration = Duration::from_secs(60);

fn session() -> Session {
    Session::new(Sid::from_bytes([8; 32]))
}

fn plan(parameters: Parameters, session: &Session) -> Plan<'_> {
    let base = find("roted", Functionality::Endemic).unwrap();
    Plan { parameters, base, session, direction: Direction::InitiatorSends, counter: 0 }
}

fn digest(k: usize) -> Digest {
    let mut digest = [0x33; 32];
    digest[..8].copy_from_slice(&(k as u64).to_le_bytes());
    digest
}

/// Both parties on a thread each; the receiver's result, and what its channel counted.
fn run(adversary: Adversary, ours: Vec<Digest>, theirs: Vec<Digest>) -> (Vec<usize>, Counters) {
    let parameters = Parameters::new(adversary, ours.len(), theirs.len()).unwrap();
    let (here, there) = memory::pair(LONG);
    let sender = thread::spawn(move || {
        let session = session();
        let mut last = None;
        let sender = Sender::set_up(&there, &plan(parameters, &session))?;
        sender.run(theirs, |progress| last = Some(progress))?;
        there.close()?;
        Ok::<_, Error>(last)
    });
    let session = session();
    let receiver = Receiver::set_up(&here, &plan(parameters, &session)).unwrap();
    let mut done = 0;
    let result = receiver.run(ours, |progress| {
        assert!(progress.done > done && progress.done <= progress.of);
        done = progress.done;
    });
    let last = sender.join().unwrap().unwrap().unwrap();
    assert_eq!((last.done, last.of), (done, done));
    (result.unwrap(), here.counters())
}

#[test]
fn the_receiver_gets_the_indices_of_what_both_have() {
    for adversary in [Adversary::Malicious, Adversary::SemiHonest] {
        let ours: Vec<_> = (0..40_000).map(|k| digest(3 * k)).collect();
        let theirs: Vec<_> = (0..30_000).map(|k| digest(5 * k)).collect();
        let (indices, counters) = run(adversary, ours, theirs);
        let expected = (0..40_000).filter(|k| 3 * k % 5 == 0 && 3 * k / 5 < 30_000);
        assert!(indices.into_iter().eq(expected), "{adversary:?}");

        let parameters = Parameters::new(adversary, 40_000, 30_000).unwrap();
        let session = session();
        let info = plan(parameters, &session).base.info();
        let base = parameters.base_ots();
        let sent = parameters.receiver_bytes() + (info.sender_bytes)(base);
        let received = parameters.sender_bytes() + (info.receiver_bytes)(base);
        assert_eq!((counters.sent, counters.received), (sent as u64, received as u64));
    }
}

#[test]
fn sets_may_be_empty() {
    for (ours, theirs) in [(0, 0), (0, 3), (3, 0), (1, 1)] {
        let set = |n| (0..n).map(digest).collect::<Vec<_>>();
        let (indices, _) = run(Adversary::Malicious, set(ours), set(theirs));
        assert!(indices.into_iter().eq(0..ours.min(theirs)));
    }
}

#[test]
fn a_set_of_another_size_than_agreed_is_refused() {
    let (here, there) = memory::pair(LONG);
    let parameters = Parameters::new(Adversary::Malicious, 2, 2).unwrap();
    let sender = thread::spawn(move || {
        let session = session();
        let sender = Sender::set_up(&there, &plan(parameters, &session)).unwrap();
        sender.run(vec![digest(1); 2], |_| ())
    });
    let session = session();
    let receiver = Receiver::set_up(&here, &plan(parameters, &session)).unwrap();
    let refused = receiver.run(vec![digest(1)], |_| ()).unwrap_err();
    let expected = Usage::CountMismatch { what: "items", expected: 2, got: 1 };
    assert_eq!(refused, expected.into());
    drop(here);
    assert!(sender.join().unwrap().is_err());
}

#[test]
fn a_receiver_that_cheats_is_told_and_gets_no_tags() {
    let (here, there) = memory::pair(LONG);
    there.greeted();
    here.greeted();
    let parameters = Parameters::new(Adversary::Malicious, 100, 100).unwrap();
    let sender = thread::spawn(move || {
        let session = session();
        let sender = Sender::set_up(&there, &plan(parameters, &session))?;
        let failed = sender.run((0..100).map(digest).collect(), |_| ()).unwrap_err();
        Ok::<_, Error>((failed, there))
    });
    let session = session();
    let receiver = Receiver::set_up(&here, &plan(parameters, &session)).unwrap();
    let Receiver { link, base } = receiver;
    let items = (0..100).map(digest).collect();
    let seed = fresh_seed().unwrap();
    let state = paxos::Receiver::new(link.session, parameters, base, items, None, seed).unwrap();
    let (mut bucket, row_seed) = state.encode().unwrap();
    here.send(Lane::PROTOCOL, row_seed.as_bytes().to_vec()).unwrap();
    let n = parameters.slots();
    let mut corrections = Vec::new();
    let batch = bucket.extend(n, &mut corrections).unwrap();
    // Another word in the first slot: in every row that has its codeword's bits.
    let stride = corrections.len() / parameters.base_ots();
    corrections.chunks_mut(stride).for_each(|row| row[0] ^= 1);
    here.send(Lane::PROTOCOL, corrections).unwrap();
    let challenge = here.recv(Lane::PROTOCOL, 32).unwrap();
    here.send(PROOFS, bucket.answer(batch, &challenge).unwrap()).unwrap();
    let (failed, _there) = sender.join().unwrap().unwrap();
    assert_eq!(failed, foxtrot_ot::Error::from(Misbehaved::ConsistencyCheck).into());
    let told = here.recv(Lane::PROTOCOL, 3200).unwrap_err();
    assert_eq!(told, ChannelError::GivenUp(Reason::CheckFailed).into());
}

/// What nobody waits for is not taken: memory follows from the sizes of the sets, and not from what a peer sends.
#[test]
fn a_flood_of_proofs_stays_with_who_sends_it() {
    let (here, there) = memory::pair(SHORT);
    there.greeted();
    here.greeted();
    let parameters = Parameters::new(Adversary::Malicious, 100, 100).unwrap();
    let sender = thread::spawn(move || {
        let session = session();
        let sender = Sender::set_up(&there, &plan(parameters, &session))?;
        sender.run((0..100).map(digest).collect(), |_| ())
    });
    let session = session();
    drop(Receiver::set_up(&here, &plan(parameters, &session)).unwrap());
    flood(&here, parameters.extension().proof_len());
    let failed = sender.join().unwrap().unwrap_err();
    assert_refused(here, failed);
}
