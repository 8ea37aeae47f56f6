//! The bytes of every set in each direction, as hashes in `traces.baseline`: a change of the wire is a
//! change of that file. Print a new one with
//! `FOXTROT_TRACES=print cargo test -p foxtrot-triples --test all traces:: -- --nocapture`.
//!
//! These are our own bytes, and no evidence that they are right: that is what vectors are for, which the schoolbook
//! implementation made. They show that no byte changes unseen, of sets that vectors do not have.

use crate::support::{
    ots::{chosen, ots},
    single,
};
use foxtrot_ot::{Backend, Direction, Seed, Session, Sid};
use foxtrot_triples::{
    Shares,
    params::{self, Set},
    rlwe::{P0, P1},
    wrong_in_batch,
};

/// The key and two batches as a line, and both parties' last shares.
fn trace(set: &'static Set, backend: Backend) -> (String, [Shares; 2]) {
    let session = || {
        let whole = Session::new(Sid::from_bytes([1; 32])).with_backend(backend);
        whole.sub("trace", 0, Direction::InitiatorSends)
    };
    let (mut p0, public_key) = P0::new(session(), set, Seed::from_bytes([2; 32]));
    let mut p1 = P1::new(session(), set, &public_key, Seed::from_bytes([3; 32])).unwrap();
    let mut hashers = [blake3::Hasher::new(), blake3::Hasher::new()];
    hashers[0].update(&public_key);
    let (mut ours, mut theirs) = (Shares::new(set), Shares::new(set));
    let (mut request, mut response, mut correction) = (Vec::new(), Vec::new(), Vec::new());
    for batch in 0..2 {
        let (pairs, keys) = ots(set, batch);
        let requested = single::request(&mut p0, &mut request);
        assert_eq!(request.len(), set.request_len());
        let responded =
            single::respond(&mut p1, &request, chosen(set, &keys), &mut theirs, &mut response)
                .unwrap();
        assert_eq!(response.len(), set.response_len());
        single::receive(&mut p0, requested, &response, pairs.pairs(), &mut ours, &mut correction)
            .unwrap();
        assert_eq!(correction.len(), set.correction_len());
        // A part of all sums wraps around, and not before the correction is all well.
        assert!(set.fix().is_none() || wrong_in_batch(&ours, &theirs) * 10 > set.n());
        single::finish(&mut p1, responded, &correction, &mut theirs).unwrap();
        assert_eq!(wrong_in_batch(&ours, &theirs), 0);
        hashers[0].update(&request);
        hashers[0].update(&correction);
        hashers[1].update(&response);
    }
    let [p0, p1] = hashers.map(|hasher| hasher.finalize().to_hex());
    (format!("{} p0={p0} p1={p1}\n", set.name()), [ours, theirs])
}

#[test]
fn triples_are_right_and_their_bytes_on_the_wire_those_of_the_baseline_on_every_backend() {
    let mut shares = Vec::new();
    for backend in Backend::all() {
        let (traces, made): (String, Vec<_>) =
            params::registry().map(|set| trace(set, backend)).unzip();
        if std::env::var_os("FOXTROT_TRACES").is_some() {
            println!("{traces}");
        }
        assert_eq!(traces, include_str!("traces.baseline"), "{}", backend.name());
        let flat = |shares: &Shares| [shares.a(), shares.b(), shares.c()].concat();
        shares.push(made.iter().flatten().map(flat).collect::<Vec<_>>());
    }
    assert!(shares.iter().all(|it| *it == shares[0]));
}
