//! Multiplication triples from OT.

use foxtrot_kernel::memcheck::public;
use foxtrot_ot::{
    Backend, Session, Sid,
    base::{self, Functionality},
    extension::ROWS,
    tasks::only,
};
use foxtrot_triples::gilboa::{GilboaParty, Set, registry};

use super::{Check, seed, triples::compare};

/// A number of triples that is no multiple of a word.
const N: usize = 301;

pub(crate) fn checks() -> impl Iterator<Item = Check> {
    registry().map(|set| Check {
        name: set.name().into(),
        run: Box::new(move |backend| run(set, backend)),
    })
}

fn run(set: &'static Set, backend: Backend) {
    let base = base::find("roted", Functionality::Endemic).expect("it is there");
    let (pairs, chosen) = super::base::run(base, backend, ROWS);
    let session = || Session::new(Sid::from_bytes([0; 32])).with_backend(backend);
    let (one, mut opening) =
        GilboaParty::responder(&session(), set, pairs, seed(3)).expect("128 base OTs");
    public(&mut opening);
    let (mut zero, mut setup) =
        GilboaParty::initiator(&session(), set, chosen, seed(4), &opening).expect("an opening");
    public(&mut setup);
    let mut one = one(&setup).expect("a set-up");

    let (mut corrections_0, mut corrections_1) = (Vec::new(), Vec::new());
    let ours = only(zero.extend(vec![(set.shares(N), &mut corrections_0)]).expect("a batch"));
    let theirs = only(one.extend(vec![(set.shares(N), &mut corrections_1)]).expect("a batch"));
    public(&mut corrections_0);
    public(&mut corrections_1);
    let (mut products_0, mut products_1) = (Vec::new(), Vec::new());
    let ours =
        only(zero.multiply(vec![(ours, &corrections_1, &mut products_0)]).expect("corrections"));
    let theirs =
        only(one.multiply(vec![(theirs, &corrections_0, &mut products_1)]).expect("corrections"));
    public(&mut products_0);
    public(&mut products_1);
    let ours = only(zero.add(vec![(ours, &products_1)]).expect("products"));
    let theirs = only(one.add(vec![(theirs, &products_0)]).expect("products"));
    compare(&ours, &theirs);
}
