//! OT extension: a batch of random and one of correlated OTs.

use foxtrot_kernel::memcheck::public;
use foxtrot_ot::{
    Backend, Direction,
    base::{self, Choice},
    extension::{Extension, OtKind, Places, ROWS, Receiver, Sender, Shape, registry},
    tasks::only,
};

use super::{Check, base::compare, seed, session};

/// A number of OTs that is no multiple of a word, and less than a batch.
const N: usize = 1003;

pub(crate) fn checks() -> impl Iterator<Item = Check> {
    registry().flat_map(|extension| {
        [false, true].map(|given| Check {
            name: format!(
                "{}, {}",
                name(extension),
                if given { "given choices" } else { "random" }
            ),
            run: Box::new(move |backend| run(extension, given, backend)),
        })
    })
}

fn name(extension: Extension) -> &'static str {
    extension.info().name
}

fn run(extension: Extension, given: bool, backend: Backend) {
    let base = base::find("roted", base::Functionality::Endemic).expect("it is there");
    let (base_sent, base_received) = super::base::run(base, backend, ROWS);
    let delta = base_received.choices().as_bytes().first_chunk().expect("128 choices");
    let delta = u128::from_ne_bytes(*delta);
    let session = || session(backend, name(extension), Direction::InitiatorSends);
    let (mut receiver, mut setup) =
        Receiver::new(session(), extension, base_sent, seed(3)).expect("128 base OTs");
    public(&mut setup);
    let mut sender = Sender::new(session(), extension, base_received, &setup, seed(4))
        .expect("a setup as it should be");

    for kind in [OtKind::Random, OtKind::Correlated] {
        let mut corrections = Vec::new();
        let choice = if given { Choice::Given(super::base::choices(N)) } else { Choice::Random(N) };
        let shape = Shape::of(&choice);
        let n = shape.n();
        let batch = only(receiver.extend(vec![(choice, &mut corrections)]).expect("a batch"));
        public(&mut corrections);
        let (sent, challenge) = only(sender.absorb(&[(shape, &corrections)]).expect("corrections"));
        let mut challenge = challenge.map_or(Vec::new(), |challenge| challenge.to_vec());
        public(&mut challenge);
        let (mut keys, mut pairs) = (vec![[0; 16]; n], vec![[[0; 16]; 2]; n]);
        let batch = (batch, challenge.as_slice(), keys.as_mut_slice());
        let (choices, mut proof) = only(receiver.finish(kind, vec![batch]).expect("a challenge"));
        public(&mut proof);
        if kind == OtKind::Random {
            sender.finish(vec![(sent, &proof, Places::Random(&mut pairs))]).expect("a proof");
        } else {
            let mut rows = vec![[0; 16]; n];
            sender.finish(vec![(sent, &proof, Places::Correlated(&mut rows))]).expect("a proof");
            for (pair, row) in pairs.iter_mut().zip(rows) {
                let row = u128::from_ne_bytes(row);
                *pair = [row, row ^ delta].map(u128::to_ne_bytes);
            }
        }
        compare(&pairs, &choices, &keys);
    }
}
