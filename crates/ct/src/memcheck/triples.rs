//! Multiplication triples.

use foxtrot_kernel::memcheck::public;
use foxtrot_ot::{Backend, Direction};
use foxtrot_triples::{
    Shares,
    params::{self, Set},
    rlwe::{P0, P1},
    wrong,
};

use super::{Check, seed, session};

pub(crate) fn checks() -> impl Iterator<Item = Check> {
    params::registry().filter(|set| set.sigma() == 40).map(|set| Check {
        name: set.name().into(),
        run: Box::new(move |backend| run(set, backend)),
    })
}

fn run(set: &'static Set, backend: Backend) {
    let session = || session(backend, set.name(), Direction::InitiatorSends);
    let (mut p0, mut key) = P0::new(session(), set, seed(1));
    public(&mut key);
    let mut p1 = P1::new(session(), set, &key, seed(2)).expect("a key");
    let (mut ours, mut theirs) = (Shares::new(set), Shares::new(set));
    let (mut request, mut response) = (Vec::new(), Vec::new());
    let requested = p0.request(&mut request);
    public(&mut request);
    p1.respond(&request, &mut theirs, &mut response).expect("a request");
    public(&mut response);
    p0.receive(requested, &response, &mut ours).expect("a response");
    let parts = |shares: &Shares| {
        [shares.a(), shares.b(), shares.c()].map(|part| {
            let mut part = part.to_vec();
            public(&mut part);
            part
        })
    };
    let ([a0, b0, c0], [a1, b1, c1]) = (parts(&ours), parts(&theirs));
    assert_eq!(wrong(set.width(), [&a0, &b0, &c0], [&a1, &b1, &c1]), 0);
}
