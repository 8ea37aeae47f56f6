//! 1-of-N extension.

use foxtrot_kernel::memcheck::public;
use foxtrot_ot::{
    Backend, Direction,
    base::{self, Functionality},
    extension::one_of_n::{Any, Places, registry},
};

use super::{Check, secrets, seed, session};

/// Not whole bytes.
const N: usize = 77;

pub(crate) fn checks() -> impl Iterator<Item = Check> {
    registry().map(|extension| Check {
        name: extension.info().name.into(),
        run: Box::new(move |backend| run(extension, backend)),
    })
}

fn run(extension: Any, backend: Backend) {
    let base = base::find("roted", Functionality::Endemic).expect("it is there");
    let parameters = extension.parameters();
    let (base_sent, base_received) = super::base::run(base, backend, parameters.length);
    let session = || session(backend, extension.info().name, Direction::InitiatorSends);
    let mut receiver = extension.receiver(session(), base_sent, seed(3)).expect("enough base OTs");
    let mut sender = extension.sender(session(), base_received, seed(4)).expect("enough base OTs");

    let words = &secrets([0xa6; 77 * 32])[..N * parameters.word_len()];
    let mut corrections = Vec::new();
    let batch = receiver.extend(N, words, &mut corrections).expect("a word for each");
    public(&mut corrections);
    let (sent, challenge) = sender.absorb(N, &corrections).expect("corrections");
    let mut challenge = challenge.map_or(Vec::new(), |challenge| challenge.to_vec());
    public(&mut challenge);
    let [mut ours, mut theirs] = [vec![[0; 16]; N], vec![[0; 16]; N]];
    let mut proof = receiver.finish(batch, &challenge, &mut theirs).expect("a challenge");
    public(&mut proof);
    sender.finish(sent, &proof, Places::Words(words, &mut ours)).expect("a proof");
    public(&mut ours);
    public(&mut theirs);
    assert!(ours == theirs, "the keys of the words are the same");
}
