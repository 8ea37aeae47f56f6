use core::time::Duration;
use std::thread;

use foxtrot_ot::{
    Misbehaved, Sid,
    base::{Adversary, find},
    extension::{Incompatible, one_of_n},
};

use super::*;
use crate::{
    Counters,
    extend::tests::{SHORT, assert_refused, flood},
    memory,
};

const LONG: Duration = Duration::from_secs(20);

fn session() -> Session {
    Session::new(Sid::from_bytes([8; 32]))
}

fn plan<'a>(name: &str, adversary: Adversary, base: &str, session: &'a Session) -> Plan<'a> {
    let kinds = [Functionality::Endemic, Functionality::Random, Functionality::ChosenMessage];
    let bases = kinds.into_iter().filter_map(|functionality| find(base, functionality));
    Plan {
        extension: one_of_n::find(name, adversary).unwrap(),
        base: bases.into_iter().find(|it| it.info().name == base).unwrap(),
        session,
        direction: Direction::InitiatorSends,
        counter: 0,
    }
}

/// The choices of a run.
fn choices(shape: Shape) -> Vec<u64> {
    (0..shape.n as u64).map(|i| 31 * i % shape.choices as u64).collect()
}

/// Both parties on a thread each, run after run with the same base OTs; asserts the law of the
/// outputs.
fn run(name: &'static str, adversary: Adversary, runs: &'static [Shape]) -> Counters {
    let (here, there) = memory::pair(LONG);
    let sender = thread::spawn(move || {
        let session = session();
        let plan = plan(name, adversary, "roted-endemic", &session);
        let mut sender = Sender::set_up(&there, &plan)?;
        let mut all = Vec::new();
        for shape in runs {
            let mut keys = Vec::new();
            sender.run(*shape, |some| {
                keys.extend_from_slice(some);
                Ok::<_, Error>(())
            })?;
            all.push(keys);
        }
        there.close()?;
        Ok::<_, Error>(all)
    });
    let session = session();
    let plan = plan(name, adversary, "roted-endemic", &session);
    let mut receiver = Receiver::set_up(&here, &plan).unwrap();
    let mut all = Vec::new();
    for shape in runs {
        let word = |choice: &u64| plan.extension.parameters().word(*choice).unwrap();
        let words: Vec<u8> = choices(*shape).iter().flat_map(word).collect();
        let mut keys = Vec::new();
        let done = receiver.run(*shape, &words, |some| {
            keys.extend_from_slice(some);
            Ok::<_, Error>(())
        });
        done.unwrap();
        all.push(keys);
    }
    let counters = here.counters();
    here.close().unwrap();
    let sent = sender.join().unwrap().unwrap();
    for ((shape, sent), received) in runs.iter().zip(&sent).zip(&all) {
        assert_eq!((sent.len(), received.len()), (shape.n * shape.choices, shape.n));
        let of_each = sent.chunks(shape.choices).zip(choices(*shape));
        for ((keys, choice), key) in of_each.zip(received) {
            assert_eq!(keys[usize::try_from(choice).unwrap()], *key);
        }
    }
    counters
}

#[test]
fn one_set_of_base_ots_serves_runs_of_many_batches() {
    // 1024 to a batch, then 16320: more than may be on their way.
    const RUNS: [Shape; 3] = [
        Shape { n: 11_000, choices: 1000 },
        Shape { n: 1, choices: 65_536 },
        Shape { n: 200_000, choices: 3 },
    ];
    for (name, adversary) in [("oos", Adversary::Malicious), ("kkrt", Adversary::SemiHonest)] {
        run(name, adversary, &RUNS);
    }
    run("oos-802", Adversary::Malicious, &RUNS[1..2]);
}

#[test]
fn a_run_sends_what_is_announced() {
    let counters = run("oos", Adversary::Malicious, &[Shape { n: 20_000, choices: 2 }]);
    let extension = one_of_n::find("oos", Adversary::Malicious).unwrap();
    let base = find("roted", Functionality::Endemic).unwrap().info();
    let announced = extension.receiver_bytes(20_000) + (base.sender_bytes)(512);
    assert_eq!(counters.sent, announced as u64);
}

#[test]
fn a_base_ot_that_is_not_enough_is_refused_before_anything_is_sent() {
    let (here, _there) = memory::pair(LONG);
    let session = session();
    let plan = plan("oos", Adversary::Malicious, "pvw", &session);
    let refused = Receiver::set_up(&here, &plan).map(drop).unwrap_err();
    let why = Incompatible::Functionality(Functionality::ChosenMessage);
    assert!(matches!(
        refused,
        Error::Protocol(foxtrot_ot::Error::Usage(Usage::Incompatible(it))) if it == why
    ));
}

/// A receiver that sends noise for corrections, and a proof that fits nothing.
#[test]
fn a_sender_ends_at_a_wrong_proof_and_has_no_further_runs() {
    let (here, there) = memory::pair(LONG);
    let sender = thread::spawn(move || {
        let session = session();
        let plan = plan("oos", Adversary::Malicious, "roted-endemic", &session);
        let mut sender = Sender::set_up(&there, &plan).unwrap();
        let shape = Shape { n: 10, choices: 4 };
        let first = sender.run(shape, |_| Ok::<_, Error>(())).unwrap_err();
        (first, sender.run(shape, |_| Ok::<_, Error>(())).unwrap_err())
    });
    let session = session();
    let plan = plan("oos", Adversary::Malicious, "roted-endemic", &session);
    let _receiver = Receiver::set_up(&here, &plan).unwrap();
    here.send(Lane::PROTOCOL, vec![0x5a; plan.extension.corrections_len(10)]).unwrap();
    here.recv(Lane::PROTOCOL, 32).unwrap();
    here.send(PROOFS, vec![0xa5; plan.extension.proof_len()]).unwrap();
    let (first, second) = sender.join().unwrap();
    let check = foxtrot_ot::Error::Misbehaved(Misbehaved::ConsistencyCheck);
    assert!(matches!(first, Error::Protocol(it) if it == check), "{first:?}");
    let ended = foxtrot_ot::Error::Usage(Usage::SessionEnded);
    assert!(matches!(second, Error::Protocol(it) if it == ended), "{second:?}");
}

#[test]
fn a_flood_of_proofs_stays_with_who_sends_it() {
    let (here, there) = memory::pair(SHORT);
    let shape = Shape { n: 100, choices: 2 };
    let sender = thread::spawn(move || {
        let session = session();
        let plan = plan("oos", Adversary::Malicious, "roted-endemic", &session);
        let mut sender = Sender::set_up(&there, &plan)?;
        sender.run(shape, |_| Ok::<_, Error>(()))
    });
    let session = session();
    let plan = plan("oos", Adversary::Malicious, "roted-endemic", &session);
    drop(Receiver::set_up(&here, &plan).unwrap());
    flood(&here, plan.extension.proof_len());
    let failed = sender.join().unwrap().unwrap_err();
    assert_refused(here, failed);
}
