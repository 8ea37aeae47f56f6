//! The bytes of every protocol in each direction, as hashes in `traces.baseline`: a change of the
//! wire is a change of that file. Print a new one with
//! `FOXTROT_TRACES=print cargo test -p foxtrot-ot --test all traces:: -- --nocapture`.
//!
//! These are our own bytes, and no evidence that they are right: that is what vectors are for, which the schoolbook
//! implementation made. They show that no byte changes unseen, of sizes and batches that vectors do not have.

use foxtrot_ot::{
    Bits, Direction, Seed, Session, Sid,
    base::{BaseOt, Choice, Functionality},
    extension::{self, Extension, OtKind, Places, Receiver, Sender, Shape, one_of_n, two_round},
    ideal,
    pair::{Pair, PairParty},
    tasks::only,
};
use foxtrot_papers::base_ots;

fn trace(base: &dyn BaseOt, n: usize) -> String {
    let session =
        || Session::new(Sid::from_bytes([1; 32])).sub("trace", 0, Direction::InitiatorSends);
    let choice = match base.info().functionality {
        Functionality::Random => Choice::Random(n),
        _ => Choice::Given(Bits::from_bools((0..n).map(|i| i % 3 == 1))),
    };
    let sender = base.sender(session(), n, Seed::from_bytes([2; 32])).unwrap();
    let receiver = base.receiver(session(), choice, Seed::from_bytes([3; 32])).unwrap();
    let mut hashers = [blake3::Hasher::new(), blake3::Hasher::new()];
    Pair::new(sender, receiver)
        .run_through(|from, message| {
            hashers[usize::from(from == PairParty::Receiver)].update(&message);
            message
        })
        .unwrap();
    let [sender, receiver] = hashers.map(|hasher| hasher.finalize().to_hex());
    format!("{} n={n} sender={sender} receiver={receiver}\n", base.info().name)
}

/// A batch with random choices and one with given ones.
fn extension_trace(extension: Extension) -> String {
    let session =
        || Session::new(Sid::from_bytes([1; 32])).sub("trace", 0, Direction::InitiatorSends);
    let (base, chosen) = ideal::random(128, &Seed::from_bytes([4; 32]));
    let (mut receiver, setup) =
        Receiver::new(session(), extension, base, Seed::from_bytes([3; 32])).unwrap();
    let mut sender =
        Sender::new(session(), extension, chosen, &setup, Seed::from_bytes([2; 32])).unwrap();
    let mut hashers = [blake3::Hasher::new(), blake3::Hasher::new()];
    hashers[1].update(&setup);
    let given = Bits::from_bools((0..600).map(|i| i % 3 == 1));
    for choice in [Choice::Random(600), Choice::Given(given)] {
        let (shape, mut corrections) = (Shape::of(&choice), Vec::new());
        let unanswered = only(receiver.extend(vec![(choice, &mut corrections)]).unwrap());
        let (unverified, challenge) = only(sender.absorb(&[(shape, &corrections)]).unwrap());
        let challenge = challenge.map_or(Vec::new(), Vec::from);
        let mut keys = vec![[0; 16]; 600];
        let batch = (unanswered, challenge.as_slice(), keys.as_mut_slice());
        let (_, proof) = only(receiver.finish(OtKind::Random, vec![batch]).unwrap());
        let mut pairs = vec![[[0; 16]; 2]; 600];
        sender.finish(vec![(unverified, &proof, Places::Random(&mut pairs))]).unwrap();
        hashers[0].update(&challenge);
        hashers[1].update(&corrections).update(&proof);
    }
    let [sender, receiver] = hashers.map(|hasher| hasher.finalize().to_hex());
    format!("{} n=600 sender={sender} receiver={receiver}\n", extension.info().name)
}

/// Two batches of words.
fn one_of_n_trace(extension: one_of_n::Extension) -> String {
    let session =
        || Session::new(Sid::from_bytes([1; 32])).sub("trace", 0, Direction::InitiatorSends);
    let parameters = extension.parameters();
    let (base, chosen) = ideal::random(parameters.length, &Seed::from_bytes([4; 32]));
    let mut receiver =
        one_of_n::Receiver::new(session(), extension, base, Seed::from_bytes([3; 32])).unwrap();
    let mut sender =
        one_of_n::Sender::new(session(), extension, chosen, Seed::from_bytes([2; 32])).unwrap();
    let mut hashers = [blake3::Hasher::new(), blake3::Hasher::new()];
    let mut words = vec![0; 600 * parameters.word_len()];
    session().oracle("foxtrot test words").query(0, 0).fill(&mut words);
    for _ in 0..2 {
        let mut corrections = Vec::new();
        let unanswered = receiver.extend(600, &words, &mut corrections).unwrap();
        let (unverified, challenge) = sender.absorb(600, &corrections).unwrap();
        let challenge = challenge.map_or(Vec::new(), Vec::from);
        let mut keys = [vec![[0; 16]; 600], vec![[0; 16]; 600]];
        let proof = receiver.finish(unanswered, &challenge, &mut keys[0]).unwrap();
        let places = one_of_n::Places::Words(&words, &mut keys[1]);
        sender.finish(unverified, &proof, places).unwrap();
        assert_eq!(keys[0], keys[1]);
        hashers[0].update(&challenge);
        hashers[1].update(&corrections).update(&proof);
    }
    let [sender, receiver] = hashers.map(|hasher| hasher.finalize().to_hex());
    format!("{} n=600 sender={sender} receiver={receiver}\n", extension.info().name)
}

#[test]
fn the_bytes_on_the_wire_match_the_baseline() {
    let bases = base_ots().chain(two_round::registry().iter().copied());
    let bases = bases.flat_map(|base| [1, 16].map(|n| trace(base, n)));
    let traces: String = bases
        .chain(extension::registry().map(extension_trace))
        .chain(one_of_n::registry().map(one_of_n_trace))
        .collect();
    if std::env::var_os("FOXTROT_TRACES").is_some() {
        println!("{traces}");
    }
    assert_eq!(traces, include_str!("traces.baseline"));
}
