//! A corrupt sender, a corrupt receiver, an r that repeats, and more than one group.

use alloc::vec::Vec;

use super::*;
use crate::{Direction, Error, Sid, base::malformed, pair::assert_rot};

fn session(counter: u64) -> Session {
    Session::new(Sid::from_bytes([1; 32])).sub("test", counter, Direction::default())
}

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

fn choices(n: usize) -> Bits {
    Bits::from_bools((0..n).map(|i| i % 3 == 1))
}

#[test]
fn the_receiver_gets_exactly_the_chosen_keys() {
    // With and without a table, a rest, and more than a group.
    for n in [0, 1, 9, 47, 48, 256, 300] {
        let (sender, setup) = Sender::start(session(0), n, seed(1)).unwrap();
        let setup = Setup::decode(setup.as_bytes(), n).unwrap();
        let (received, answer) = choose(session(0), choices(n), &setup, seed(2)).unwrap();
        let answer = PublicKeys::decode(answer.as_bytes(), n).unwrap();
        assert_rot(&sender.finish(&answer).unwrap(), &received);
        assert_eq!(received.choices(), &choices(n));
    }
}

/// A neutral C would give both keys to R, a neutral A to everybody.
#[test]
fn a_setup_with_an_invalid_or_neutral_element_is_refused() {
    let honest = [malformed::valid(); 2];
    assert!(Setup::decode(honest.as_flattened(), 3).is_ok());
    for (what, wrong) in malformed::encodings() {
        for place in 0..2 {
            let mut setup = honest;
            setup[place] = wrong;
            let expected = Decode::Point { message: "Setup", instance: 0 };
            let refused = Setup::decode(setup.as_flattened(), 3).unwrap_err();
            assert_eq!(refused, Error::Decode(expected), "{what} at {place}");
        }
    }
}

#[test]
fn a_public_key_that_is_no_element_is_refused_with_its_instance() {
    for (what, wrong) in malformed::encodings().into_iter().filter(|(_, it)| *it != [0; 32]) {
        for instance in 0..3 {
            let mut keys = [malformed::valid(); 3];
            keys[instance] = wrong;
            let expected = Decode::Point { message: "PublicKeys", instance };
            let refused = PublicKeys::decode(keys.as_flattened(), 3).unwrap_err();
            assert_eq!(refused, Error::Decode(expected), "{what}");
        }
    }
}

/// P₀ = 0 is what R sends with k = 0 and c = 0, and P₀ = C with c = 1. Refusing the one that shows would
/// protect nobody: R may choose any k, its own key is then known to all, and the other is that of
/// r·C, a CDH value, as for no other k.
#[test]
fn a_receiver_with_a_neutral_public_key_knows_exactly_one_key() {
    let (sender, setup) = Sender::start(session(0), 2, seed(1)).unwrap();
    let backend = session(0).backend();
    let points = decoded::<Ristretto>(backend, setup.as_bytes().as_chunks().0);
    let mut of_c = [Point::IDENTITY];
    curve::mul(backend, &[*sender.r], &points[..1], &mut of_c);
    let sent = [[0; 32], setup.as_bytes().as_chunks().0[0]];
    let answer = PublicKeys::decode(sent.as_flattened(), 2).unwrap();
    let keys = sender.finish(&answer).unwrap();
    for (i, own) in [0, 1].into_iter().enumerate() {
        let key = |j: u8, point: &[Point; 1]| {
            let position = |_| (i as u64, j);
            derive(&session(0), &setup, point, position, |_| &sent[i])[0].to_vec()
        };
        let [known, other] = [own, 1 - own].map(|j| keys.pairs()[i][usize::from(j)].to_vec());
        assert_eq!(known, key(own, &[Point::IDENTITY]));
        assert_eq!(other, key(1 - own, &of_c));
    }
}

/// One P₀ in all instances and in two batches of the same C and r, so that all points of a branch are
/// the same.
#[test]
fn a_replayed_public_key_gives_unrelated_keys() {
    let n = 40;
    let (_, setup) = Sender::start(session(0), 1, seed(1)).unwrap();
    let (_, one) = choose(session(0), choices(1), &setup, seed(2)).unwrap();
    let replayed = PublicKeys::decode(&one.as_bytes().repeat(n), n).unwrap();
    let mut all = Vec::new();
    for counter in [0, 1] {
        let (mut sender, again) = Sender::start(session(0), n, seed(1)).unwrap();
        assert_eq!(again.as_bytes(), setup.as_bytes());
        sender.session = session(counter);
        all.extend_from_slice(sender.finish(&replayed).unwrap().pairs().as_flattened());
    }
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), 4 * n, "a key occurs twice");
}
