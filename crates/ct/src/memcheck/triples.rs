//! Multiplication triples.

use foxtrot_kernel::memcheck::{public, secret};
use foxtrot_ot::{Backend, Bits, Direction, Seed, ideal, tasks::only};
use foxtrot_triples::{
    Shares,
    params::{self, Set},
    rlwe::{Answering, Chosen, P0, P1, Receiving},
    wrong_in_batch,
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
    let requested = only(p0.request(vec![&mut request]));
    public(&mut request);
    let (shares, answer) = (&mut theirs, &mut response);
    let batch = Answering { request: &request, ots, shares, response: answer };
    let responded = only(p1.respond(vec![batch]).expect("a request"));
    public(&mut response);
    let (ots, shares, corrects) = (Some(&*pairs), &mut ours, &mut correction);
    let batch = Receiving { requested, response: &response, ots, shares, correction: corrects };
    p0.receive(vec![batch]).expect("a response");
    public(&mut correction);
    p1.finish(vec![(responded, &correction, &mut theirs)]).expect("a correction");
    compare(&ours, &theirs);
}

/// Checks that no triple is wrong.
pub(super) fn compare(ours: &Shares, theirs: &Shares) {
    let [ours, theirs] = [ours, theirs].map(|shares| {
        let mut revealed = Shares::with(shares.width(), shares.len());
        let parts = [shares.a(), shares.b(), shares.c()];
        for (to, from) in revealed.parts_mut().into_iter().zip(parts) {
            to.copy_from_slice(from);
            public(to);
        }
        revealed
    });
    assert_eq!(wrong_in_batch(&ours, &theirs), 0);
}
