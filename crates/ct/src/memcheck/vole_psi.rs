//! Set intersection over VOLE, but for items, which are public as in `psi.rs`. Secret are the VOLE's outputs and Δ, the words of
//! the store and its padding, decoded values, tags before they are sorted. The VOLE itself is run in `silent.rs` also.

use foxtrot_kernel::memcheck::public;
use foxtrot_ot::{
    Backend, Direction,
    erase::Secret,
    silent::{self, Field, Silent},
};
use foxtrot_psi::{
    FRAME, Next,
    vole_psi::{Mask, Parameters, Receiver, Sender, Vole},
};

use super::{Check, seed, session};

/// Items of receiver and sender.
const FEW: [usize; 2] = [61, 53];

pub(crate) fn checks() -> impl Iterator<Item = Check> {
    let check = |vole: Vole, run: fn(Backend)| Check {
        name: format!("{}, items public", vole.info().name),
        run: Box::new(run),
    };
    [
        check(Vole::Silent, |backend| run(Vole::Silent, silent::vole(), Mask::Large, backend)),
        check(Vole::Small, |backend| {
            run(Vole::Small, silent::vole_semi_honest(), Mask::Small, backend);
        }),
        check(Vole::Packed, |backend| {
            run(Vole::Packed, silent::vole_packed(), Mask::Large, backend);
        }),
    ]
    .into_iter()
}

fn run<F: Field>(vole: Vole, silent: Silent<F>, mask: fn(F::Values) -> Mask, backend: Backend) {
    let parameters = Parameters::of(vole, FEW[0], FEW[1]).expect("small sets");
    let (delta, w, (u, v)) = super::silent::vole(silent, backend, parameters.slots());
    let digests = |first: usize, n: usize| {
        (first..first + n).map(|k| [u8::try_from(k).expect("few"); 32]).collect::<Vec<_>>()
    };
    let session = || session(backend, "vole-psi", Direction::InitiatorSends);
    let receiver = Receiver::new(session(), parameters, digests(0, FEW[0]), None, seed(3));
    let sender = Sender::new(session(), parameters, digests(30, FEW[1]), None, seed(4));
    let planned = receiver.expect("distinct items").plan().expect("a bucket");
    let encoded = planned.encode().expect("slots for all");
    let (masked, row_seed, sums) = encoded.mask(mask(u), Secret(v)).expect("outputs for all");
    let mut message = row_seed.as_bytes().to_vec();
    public(&mut message);
    let mut opened = sender.expect("distinct items").open(&message).expect("a seed of rows");
    for frame in sums.chunks(FRAME) {
        opened.take(frame).expect("sums");
    }
    let (received, sent) = match (masked.finish(), opened.finish(&delta, Secret(w))) {
        (Ok(Next::Done(received)), Ok(Next::Done(sent))) => (received, sent),
        _ => unreachable!("one bucket"),
    };
    let mut received = received;
    for mut tags in sent.frames() {
        public(&mut tags);
        received.take(&tags).expect("tags");
    }
}
