//! Every job over every way to a peer, one after another on one connection.
#![allow(
    clippy::panic_in_result_fn,
    clippy::unwrap_used,
    reason = "a failed unwrap is a failed test"
)]

use std::{
    io::pipe,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use foxtrot::{
    Blame, Config, Error, Identity, Peer, Progress, Side, Threads, base, extension, ot,
    psi::{self, Assumption},
    rot, triples,
};

const N: usize = 3000;

/// Runs all jobs; the two sides change roles from job to job.
fn all_jobs(peer: &mut Peer, first: bool) -> Result<(), Error> {
    if first {
        let pairs = rot::send(peer, N)?;
        let (choices, keys) = rot::receive(peer, N)?;
        assert_eq!((pairs.len(), choices.len(), keys.len()), (N, N, N));
        let common = psi::receive(peer, &["a", "b", "", "c", "b"])?;
        assert_eq!(common, [1, 3, 4]);
        ot::send(peer, &[["no", "yes"], ["", "longer than the others"]])?;
        let many: Vec<_> = (0..N).map(|i| i % 3 == 0).collect();
        let received = ot::receive(peer, &many)?;
        for (i, message) in received.iter().enumerate() {
            assert_eq!(message.unwrap(), format!("{i}/{}", usize::from(many[i])).as_bytes());
        }
        let chosen = ot::one_of_n::receive(peer, 5, &[4, 0])?;
        assert_eq!([chosen.get(0), chosen.get(1)], [Some(&b"4"[..]), Some(b"5")]);
    } else {
        let (choices, keys) = rot::receive(peer, N)?;
        let pairs = rot::send(peer, N)?;
        assert_eq!((pairs.len(), choices.len(), keys.len()), (N, N, N));
        psi::send(peer, &["c", "d", "b", ""])?;
        let received = ot::receive(peer, &[true, false])?;
        assert_eq!([received.get(0), received.get(1)], [Some(&b"yes"[..]), Some(b"")]);
        let pairs: Vec<_> = (0..N).map(|i| [format!("{i}/0"), format!("{i}/1")]).collect();
        ot::send(peer, &pairs)?;
        let messages: Vec<_> = (0..10).map(|i| i.to_string()).collect();
        ot::one_of_n::send(peer, 5, &messages)?;
    }
    let made = triples::generate::<u32, _>(peer, 100)?;
    assert_eq!(made.len(), 100);
    Ok(())
}

fn both(ours: Peer, theirs: Peer) {
    let side = |mut peer: Peer, first| all_jobs(&mut peer, first).and_then(|()| peer.close());
    let other = thread::spawn(move || side(theirs, false));
    side(ours, true).unwrap();
    other.join().unwrap().unwrap();
}

#[test]
fn all_jobs_run_one_after_another_in_memory() {
    let (ours, theirs) = Peer::pair();
    both(ours, theirs);
    let (ours, theirs) = Peer::pair();
    both(theirs, ours);
}

#[test]
fn all_jobs_run_one_after_another_over_two_pipes() {
    let ((from_there, to_here), (from_here, to_there)) = (pipe().unwrap(), pipe().unwrap());
    let ours = Peer::over(from_there, to_there, Side::Initiator).unwrap();
    let theirs = Peer::over(from_here, to_here, Side::Responder).unwrap();
    both(ours, theirs);
}

#[test]
fn all_jobs_run_one_after_another_over_tls() {
    let (ours, theirs) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    let config = Config::tls(&ours, &[theirs.fingerprint()]).unwrap();
    let config = config.name(theirs.fingerprint(), "acme").threads(&Threads::new(2).unwrap());
    let listener = config.application("test/1").bind("localhost:0").unwrap();
    let address = listener.local_addr().to_string();
    let peers = [ours.fingerprint()];
    let other = thread::spawn(move || {
        let config = Config::tls(&theirs, &peers)?.application("test/1");
        let mut peer = config.connect(&address)?;
        all_jobs(&mut peer, false)?;
        peer.close()
    });
    let mut peer = listener.accept().unwrap();
    assert_eq!(peer.name(), Some("acme"));
    assert!(peer.fingerprint().is_some());
    all_jobs(&mut peer, true).unwrap();
    peer.close().unwrap();
    other.join().unwrap().unwrap();
}

#[test]
fn silent_ots_run_over_tls() {
    let (ours, theirs) = (Identity::generate().unwrap(), Identity::generate().unwrap());
    let config = Config::tls(&ours, &[theirs.fingerprint()]).unwrap();
    let listener = config.threads(&Threads::new(2).unwrap()).bind("localhost:0").unwrap();
    let (address, peers) = (listener.local_addr().to_string(), [ours.fingerprint()]);
    let silent = extension::silent::malicious();
    let (random, messages) =
        (rot::Options::new().silent(silent), ot::Options::new().silent(silent));
    let picks: Vec<_> = (0..N).map(|i| i % 3 == 0).collect();
    let chosen = picks.clone();
    let other = thread::spawn(move || {
        let mut peer = Peer::connect(&address, &theirs, &peers)?;
        let received = random.receive(&mut peer, N)?;
        let opened = messages.receive(&mut peer, &chosen)?;
        peer.close().map(|()| (received, opened))
    });
    let mut peer = listener.accept().unwrap();
    let pairs = random.send(&mut peer, N).unwrap();
    let all: Vec<_> = (0..N).map(|i| [format!("{i}/0"), format!("{i}/1")]).collect();
    messages.send(&mut peer, &all).unwrap();
    peer.close().unwrap();
    let ((choices, keys), opened) = other.join().unwrap().unwrap();
    for i in 0..N {
        assert_eq!(keys[i], pairs[i][usize::from(choices.get(i).unwrap_u8())]);
        assert_eq!(opened.get(i), Some(all[i][usize::from(picks[i])].as_bytes()));
    }
    let ones = (0..N).filter(|&i| choices.get(i).unwrap_u8() == 1).count();
    assert!((N / 3..2 * N / 3).contains(&ones), "{ones} of {N}");
}

#[test]
fn a_server_answers_many_peers_and_refuses_strangers() {
    let (ours, theirs, stranger) = (
        Identity::generate().unwrap(),
        Identity::generate().unwrap(),
        Identity::generate().unwrap(),
    );
    let of_ours = ours.fingerprint();
    let config = Config::tls(&ours, &[theirs.fingerprint()]).unwrap().max_sessions(5);
    let mut server =
        config.bind("localhost:0").unwrap().serve(|peer| psi::send(peer, &["b", "c"])).unwrap();
    let address = server.local_addr().to_string();
    thread::scope(|scope| {
        for _ in 0..5 {
            scope.spawn(|| {
                let mut peer = Peer::connect(&address, &theirs, &[of_ours]).unwrap();
                assert_eq!(psi::receive(&mut peer, &["a", "b"]).unwrap(), [1]);
            });
        }
        scope.spawn(|| {
            // The key is refused when the server has read it: in the handshake, or at the first job.
            let refused = Peer::connect(&address, &stranger, &[of_ours])
                .and_then(|mut peer| psi::receive(&mut peer, &["a"]));
            assert_eq!(refused.unwrap_err().blame(), Blame::Connection);
        });
    });
    let ended: Vec<_> = server.by_ref().take(6).collect();
    let good: Vec<_> = ended.iter().filter(|ended| ended.result.is_ok()).collect();
    assert_eq!(good.len(), 5);
    let key = theirs.fingerprint();
    assert!(
        good.iter().all(|it| it.fingerprint == Some(key) && it.peer.contains(&key.to_string()))
    );
    assert!(server.next_within(Duration::from_millis(1)).is_none());
}

#[test]
fn a_mismatch_names_both_values_on_both_sides_and_blames_no_side() {
    type Call = fn(&mut Peer) -> Result<(), Error>;
    let cases: [(Call, Call, [&str; 2]); 3] = [
        (|it| rot::send(it, 10).map(drop), |it| rot::receive(it, 11).map(drop), ["10", "11"]),
        (|it| psi::send(it, &["a"]), |it| rot::receive(it, 11).map(drop), ["psi", "rot"]),
        (|it| rot::send(it, 10).map(drop), |it| rot::send(it, 10).map(drop), ["sender", "sender"]),
    ];
    for (one, other, values) in cases {
        let (mut ours, mut theirs) = Peer::pair();
        let peer = thread::spawn(move || other(&mut theirs).unwrap_err());
        for error in [one(&mut ours).unwrap_err(), peer.join().unwrap()] {
            assert_eq!(error.blame(), Blame::Agreement, "{error}");
            let said = error.to_string();
            assert!(values.iter().all(|value| said.contains(value)), "{said}");
        }
        // What ended the connection ends every later job.
        let again = psi::send(&mut ours, &["a"]).unwrap_err();
        assert_eq!(again.blame(), Blame::Agreement, "{again}");
    }
}

#[test]
fn triples_of_bits_come_by_words_of_64() {
    fn party(mut peer: Peer) -> Result<Vec<[u64; 3]>, Error> {
        let (options, mut words) = (triples::Options::new(), Vec::new());
        let refused = options.generate_into(&mut peer, 1, 10, |_| Ok::<_, std::io::Error>(()));
        assert!(matches!(refused, Err(Error::Usage(_))));
        options.generate_into(&mut peer, 1, 64 * 100, |shares| {
            words.extend((0..shares.len()).map(|i| shares.triple(i)));
            Ok::<_, std::io::Error>(())
        })?;
        Ok(words)
    }
    let (ours, theirs) = Peer::pair();
    let other = thread::spawn(move || party(theirs).unwrap());
    let (ours, theirs) = (party(ours).unwrap(), other.join().unwrap());
    assert_eq!((ours.len(), theirs.len()), (100, 100));
    for (one, other) in ours.iter().zip(theirs) {
        let [a, b, c] = [0, 1, 2].map(|part| one[part] ^ other[part]);
        assert_eq!(a & b, c);
    }
}

#[test]
fn a_failed_job_ends_the_connection_and_a_refused_call_does_not() {
    let (mut ours, mut theirs) = Peer::pair();
    let endemic = rot::Options::new().base(&base::roted::Endemic);
    let weak = rot::Options::new().extension(extension::iknp::semi_honest());
    // Nothing is sent of what this library refuses by itself.
    for options in [endemic, weak] {
        assert!(matches!(options.send(&mut ours, 5), Err(Error::Usage(_))));
    }
    assert!(matches!(ot::one_of_n::receive(&mut ours, 3, &[3]), Err(Error::Usage(_))));
    let peer = thread::spawn(move || {
        rot::receive(&mut theirs, 5).unwrap();
        let first = rot::receive(&mut theirs, 6).unwrap_err();
        (first.to_string(), rot::receive(&mut theirs, 7).unwrap_err().to_string())
    });
    rot::send(&mut ours, 5).unwrap();
    let full = |_: &[[foxtrot::Block; 2]]| Err("the disk is full");
    let error = rot::Options::new().send_into(&mut ours, 6, full).unwrap_err();
    assert!(matches!(&error, Error::Sink(e) if e.to_string() == "the disk is full"), "{error}");
    assert_eq!(error.blame(), Blame::Caller);
    assert!(rot::send(&mut ours, 7).is_err());
    let (first, second) = peer.join().unwrap();
    assert_eq!(first, second);
}

#[test]
fn a_job_that_waits_is_cancelled_and_the_peer_is_told() {
    let (mut ours, mut theirs) = Peer::pair();
    let canceller = ours.canceller();
    let waiting = thread::spawn(move || psi::receive(&mut ours, &["a"]).unwrap_err());
    thread::sleep(Duration::from_millis(50));
    canceller.cancel();
    assert!(matches!(waiting.join().unwrap(), Error::Cancelled));
    assert!(psi::send(&mut theirs, &["a"]).is_err());
}

#[test]
fn progress_counts_to_the_end() {
    let (mut ours, mut theirs) = Peer::pair();
    let (calls, last) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (count, done) = (Arc::clone(&calls), Arc::clone(&last));
    ours.on_progress(move |Progress { done: now, of, unit }| {
        assert!(unit == "transfers" && of == 100_000 && now <= of);
        count.fetch_add(1, Ordering::Relaxed);
        done.store(now, Ordering::Relaxed);
    });
    let peer = thread::spawn(move || rot::receive(&mut theirs, 100_000));
    rot::send(&mut ours, 100_000).unwrap();
    peer.join().unwrap().unwrap();
    assert!(calls.load(Ordering::Relaxed) > 1);
    assert_eq!(last.load(Ordering::Relaxed), 100_000);
}

#[test]
fn correlated_rows_differ_by_delta_where_the_choice_is_one() {
    let (mut ours, mut theirs) = Peer::pair();
    let choices: Vec<_> = (0..N).map(|i| i % 5 < 2).collect();
    let given = choices.clone();
    let peer = thread::spawn(move || rot::receive_correlated(&mut theirs, &given));
    let (delta, rows) = rot::send_correlated(&mut ours, N).unwrap();
    let received = peer.join().unwrap().unwrap();
    for i in 0..N {
        let expected: Vec<_> =
            (0..16).map(|byte| rows[i][byte] ^ if choices[i] { delta[byte] } else { 0 }).collect();
        assert_eq!(received[i][..], expected);
    }
    assert_ne!(*delta, [0; 16]);
}

#[test]
fn every_width_and_method_makes_right_triples() {
    fn check<T: triples::Word + Into<u64>>(options: triples::Options, n: usize, mask: u64) {
        let (mut ours, mut theirs) = Peer::pair();
        let peer = thread::spawn(move || options.generate::<T, _>(&mut theirs, n));
        let ours = options.generate::<T, _>(&mut ours, n).unwrap();
        let theirs = peer.join().unwrap().unwrap();
        assert_eq!((ours.len(), theirs.len()), (n, n));
        let sum = |i: usize, part: usize| -> u64 {
            let [one, other]: [u64; 2] = [ours.get(i)[part].into(), theirs.get(i)[part].into()];
            one.wrapping_add(other) & mask
        };
        for i in 0..n {
            assert_eq!(sum(i, 0).wrapping_mul(sum(i, 1)) & mask, sum(i, 2), "triple {i}");
        }
    }
    let options = triples::Options::new();
    check::<u8>(options, 2000, 0xff);
    check::<u16>(options, 10, 0xffff);
    check::<u32>(options.method(triples::Method::Rlwe), 5, 0xffff_ffff);
    check::<u64>(options, 2049, u64::MAX);
    check::<u64>(options, 0, u64::MAX);
}

#[test]
fn all_options_agree_with_themselves() {
    use extension::{iknp, kos, softspoken};
    let options = rot::Options::new();
    for options in [
        options.semi_honest(),
        options.semi_honest().extension(iknp::semi_honest()),
        options.extension(kos::malicious()),
        options.extension(softspoken::malicious(8).unwrap()).semi_honest(),
    ] {
        let (mut ours, mut theirs) = Peer::pair();
        let peer = thread::spawn(move || options.receive(&mut theirs, 200));
        let pairs = options.send(&mut ours, 200).unwrap();
        let (choices, keys) = peer.join().unwrap().unwrap();
        for i in 0..200 {
            assert_eq!(keys[i], pairs[i][usize::from(choices.get(i).unwrap_u8())]);
        }
    }
    let (mut ours, mut theirs) = Peer::pair();
    let options = psi::Options::new().semi_honest().max_peer_keys(2);
    let peer = thread::spawn(move || {
        options.send(&mut theirs, &["a", "b"]).unwrap();
        options.send(&mut theirs, &["a", "b"]).unwrap_err()
    });
    assert_eq!(options.receive(&mut ours, &["b"]).unwrap(), [0]);
    let error = options.receive(&mut ours, &["a", "b", "c"]).unwrap_err();
    assert_eq!(error.blame(), Blame::Agreement, "{error}");
    let error = peer.join().unwrap();
    assert!(error.blame() == Blame::Agreement && error.to_string().contains("keys"), "{error}");
}

#[test]
fn sets_are_intersected_under_either_assumption_and_adversary() {
    let theirs: Vec<_> = (0..2 * N).map(|i| (3 * i).to_string()).collect();
    let ours: Vec<_> = (0..N).map(|i| (2 * i).to_string()).collect();
    let common: Vec<_> = (0..N).step_by(3).collect();
    let [symmetric, lpn] = [Assumption::Symmetric, Assumption::Lpn]
        .map(|assumption| psi::Options::new().assumption(assumption));
    let mut sent = Vec::new();
    for options in [symmetric, lpn, symmetric.semi_honest(), lpn.semi_honest()] {
        let (mut one, mut other) = Peer::pair();
        thread::scope(|scope| {
            let sender = scope.spawn(|| options.send(&mut other, &theirs).unwrap());
            assert_eq!(options.receive(&mut one, &ours).unwrap(), common);
            sender.join().unwrap();
        });
        let counters = one.counters();
        let bytes = counters.sent + counters.received;
        assert_eq!(bytes, options.bytes(N, 2 * N).unwrap() as u64);
        sent.push(bytes);
    }
    assert!(sent[1] < sent[0] / 2 && sent[3] < sent[2] / 2, "{sent:?}");
}

#[test]
fn different_assumptions_are_named_on_both_sides() {
    let lpn = psi::Options::new().assumption(Assumption::Lpn);
    let (mut ours, mut theirs) = Peer::pair();
    let peer = thread::spawn(move || psi::send(&mut theirs, &["a"]).unwrap_err());
    for error in [lpn.receive(&mut ours, &["a"]).unwrap_err(), peer.join().unwrap()] {
        assert_eq!(error.blame(), Blame::Agreement, "{error}");
        let said = error.to_string();
        assert!(["assumption", "symmetric", "lpn"].iter().all(|it| said.contains(it)), "{said}");
    }
}

#[test]
fn an_intersection_with_lpn_is_cancelled_while_it_runs() {
    let lpn = psi::Options::new().assumption(Assumption::Lpn);
    let items: Vec<_> = (0..50_000).map(|i| i.to_string()).collect();
    let (mut ours, mut theirs) = Peer::pair();
    let canceller = Arc::new(ours.canceller());
    ours.on_progress(move |Progress { done, of, .. }| {
        if done < of {
            canceller.cancel();
        }
    });
    thread::scope(|scope| {
        let sender = scope.spawn(|| lpn.send(&mut theirs, &items).unwrap_err());
        assert!(matches!(lpn.receive(&mut ours, &items), Err(Error::Cancelled)));
        assert_eq!(sender.join().unwrap().blame(), Blame::Connection);
    });
}

#[cfg(feature = "vectors")]
#[test]
fn runs_of_one_seed_are_the_same_and_of_another_are_not() {
    let run = |seed: u8| {
        let (mut ours, mut theirs) = Peer::pair();
        ours.seed_for_vectors([seed; 32]);
        theirs.seed_for_vectors([seed + 1; 32]);
        let peer = thread::spawn(move || {
            let received = rot::receive(&mut theirs, 5).unwrap();
            rot::receive(&mut theirs, 5).unwrap();
            received
        });
        let pairs = rot::send(&mut ours, 5).unwrap();
        let again = rot::send(&mut ours, 5).unwrap();
        let (choices, keys) = peer.join().unwrap();
        assert!(!pairs.contains(&again[0]), "the next job repeats the first");
        (pairs.to_vec(), choices.as_bytes().to_vec(), keys.to_vec())
    };
    assert!(run(1) == run(1));
    assert!(run(1) != run(3));
}
