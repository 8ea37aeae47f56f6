//! A corrupt sender, a corrupt receiver, and more than one group.

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
    for n in [0, 1, 9, 256, 300] {
        let (receiver, blinded) = Receiver::start(session(0), choices(n), seed(1)).unwrap();
        let blinded = Blinded::decode(blinded.as_bytes(), n).unwrap();
        let (sent, shares) = respond(session(0), &blinded, seed(2));
        let shares = Shares::decode(shares.as_bytes(), n).unwrap();
        let received = receiver.finish(&shares).unwrap();
        assert_rot(&sent, &received);
        assert_eq!(received.choices(), &choices(n));
    }
}

/// Checks every place, whatever stands in the others.
#[test]
fn a_share_that_is_no_element_or_neutral_is_refused_with_its_instance() {
    let honest = [malformed::valid(); 6];
    assert!(Shares::decode(honest.as_flattened(), 3).is_ok());
    for (what, wrong) in malformed::encodings() {
        for place in 0..6 {
            let mut shares = honest;
            shares[place] = wrong;
            let expected = Decode::Point { message: "Shares", instance: place / 2 };
            let refused = Shares::decode(shares.as_flattened(), 3).unwrap_err();
            assert_eq!(refused, Error::Decode(expected), "{what} at {place}");
        }
    }
}

/// A neutral s is an element like any other: what is added to it comes out of the oracle.
#[test]
fn a_blinded_value_that_is_no_element_is_refused_and_a_neutral_one_is_not() {
    let honest = [malformed::valid(); 6];
    for (what, wrong) in malformed::encodings() {
        for place in 0..6 {
            let mut blinded = honest;
            blinded[place] = wrong;
            let decoded = Blinded::decode(blinded.as_flattened(), 3);
            if wrong == [0; 32] {
                let (keys, _) = respond(session(0), &decoded.unwrap(), seed(2));
                let mut keys = keys.pairs().as_flattened().to_vec();
                keys.sort_unstable();
                keys.dedup();
                assert_eq!(keys.len(), 6);
                continue;
            }
            let expected = Decode::Point { message: "Blinded", instance: place / 2 };
            assert_eq!(decoded.unwrap_err(), Error::Decode(expected), "{what} at {place}");
        }
    }
}
