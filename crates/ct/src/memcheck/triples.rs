//! Multiplication triples.

use foxtrot_kernel::memcheck::{public, secret};
use foxtrot_ot::{Backend, Bits, Direction, Seed, ideal};
use foxtrot_triples::{
    Shares,
    params::{self, Set},
    rlwe::{Chosen, P0, P1},
    wrong,
};

use super::{Check, seed, session};

pub(crate) fn checks() -> impl Iterator<Item = Check> {
    params::registry().map(|set| Check {
        name: set.name().into(),
        run: Box::new(move |backend| run(set, backend)),
    })
}

fn run(set: &'static Set, backend: Backend) {
    let session = || session(backend, set.name(), Direction::InitiatorSends);
    let (mut p0, mut key) = P0::new(session(), set, seed(1));
    public(&mut key);
    let mut p1 = P1::new(session(), set, &key, seed(2)).expect("a key");

    // The double that makes the OTs looks at choices: they become secret afterwards.
    let (pairs, chosen) = ideal::random(set.ots(), &Seed::from_bytes([3; 32]));
    let (mut pairs, mut keys) = (pairs.pairs().to_vec(), chosen.keys().to_vec());
    let mut choices = chosen.choices().as_bytes().to_vec();
    secret(&mut pairs);
    secret(&mut keys);
    secret(&mut choices);
    let choices = Bits::from_bytes(&choices, set.ots());
    let ots = set.fix().map(|_| Chosen { choices: &choices, keys: &keys });

    let (mut ours, mut theirs) = (Shares::new(set), Shares::new(set));
    let (mut request, mut response, mut correction) = (Vec::new(), Vec::new(), Vec::new());
    let requested = p0.request(&mut request);
    public(&mut request);
    let responded = p1.respond(&request, ots, &mut theirs, &mut response).expect("a request");
    public(&mut response);
    p0.receive(requested, &response, Some(&pairs), &mut ours, &mut correction).expect("a response");
    public(&mut correction);
    p1.finish(responded, &correction, &mut theirs).expect("a correction");
    compare(&ours, &theirs, set.width());
}

/// Checks that no triple is wrong.
pub(super) fn compare(ours: &Shares, theirs: &Shares, width: usize) {
    let parts = |shares: &Shares| {
        [shares.a(), shares.b(), shares.c()].map(|part| {
            let mut part = part.to_vec();
            public(&mut part);
            part
        })
    };
    let ([a0, b0, c0], [a1, b1, c1]) = (parts(ours), parts(theirs));
    assert_eq!(wrong(width, [&a0, &b0, &c0], [&a1, &b1, &c1]), 0);
}
