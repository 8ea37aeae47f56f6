//! 1-of-N extension.

use foxtrot_kernel::memcheck::public;
use foxtrot_ot::{
    Backend, Direction,
    base::{self, Functionality},
    extension::one_of_n::{Extension, Places, Receiver, Sender, registry},
};

use super::{Check, secrets, seed, session};

/// A number of OTs that is no multiple of a byte.
const N: usize = 77;

/// One of so many at most, where the sender takes the keys of all.
const CHOICES: usize = 4;

pub(crate) fn checks() -> impl Iterator<Item = Check> {
    let all = registry().flat_map(|extension| [(extension, false), (extension, true)]);
    all.map(|(extension, all)| Check {
        name: format!(
            "{}{}",
            extension.info().name,
            if all { ", the keys of all words" } else { "" }
        ),
        run: Box::new(move |backend| run(extension, all, backend)),
    })
}

fn run(extension: Extension, all: bool, backend: Backend) {
    let base = base::find("roted", Functionality::Endemic).expect("it is there");
    let parameters = extension.parameters();
    let (base_sent, base_received) = super::base::run(base, backend, parameters.length);
    let session = || session(backend, extension.info().name, Direction::InitiatorSends);
    let mut receiver =
        Receiver::new(session(), extension, base_sent, seed(3)).expect("enough base OTs");
    let mut sender =
        Sender::new(session(), extension, base_received, seed(4)).expect("enough base OTs");

    let of = CHOICES.min(1 << parameters.word_bits.min(8));
    let mut choices: Vec<u64> = (0..N).map(|i| secret_choice((i % of) as u64)).collect();
    let words: Vec<u8> = if all {
        choices.iter().flat_map(|&choice| parameters.word(choice).expect("few")).collect()
    } else {
        secrets([0xa6; 77 * 32])[..N * parameters.word_len()].to_vec()
    };
    let mut corrections = Vec::new();
    let batch = receiver.extend(N, &words, &mut corrections).expect("a word for each");
    public(&mut corrections);
    let (sent, challenge) = sender.absorb(N, &corrections).expect("corrections");
    let mut challenge = challenge.map_or(Vec::new(), |challenge| challenge.to_vec());
    public(&mut challenge);
    let [mut ours, mut theirs] = [vec![[0; 16]; if all { of * N } else { N }], vec![[0; 16]; N]];
    let mut proof = receiver.finish(batch, &challenge, &mut theirs).expect("a challenge");
    public(&mut proof);
    let places = if all { Places::All(of, &mut ours) } else { Places::Words(&words, &mut ours) };
    sender.finish(sent, &proof, places).expect("a proof");
    public(&mut ours);
    public(&mut theirs);
    public(&mut choices);
    for (i, (key, &choice)) in theirs.iter().zip(&choices).enumerate() {
        let place = if all { of * i + usize::try_from(choice).expect("few") } else { i };
        assert!(ours[place] == *key, "the keys of the words are the same");
    }
}

fn secret_choice(choice: u64) -> u64 {
    u64::from_le_bytes(secrets(choice.to_le_bytes()))
}
