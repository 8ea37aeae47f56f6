//! Attacks of a receiver: possible if the challenge came before its corrections, refused as it is.

use alloc::format;

use super::*;
use crate::{Direction, Sid, protocol};

/// The variant over `mcquoid-rosulek-roy:feistel2:ristretto`.
const OVER_CURVE: &TwoRound = &VARIANTS[2];

const N: usize = 600;

fn session() -> Session {
    Session::new(Sid::from_bytes([1; 32])).sub("test", 0, Direction::default())
}

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

fn choices() -> Bits {
    Bits::from_bools((0..N).map(|i| i % 3 == 1))
}

fn start() -> (Sender, Vec<u8>) {
    OVER_CURVE.start(session(), N, seed(1)).unwrap()
}

/// The proof of the receiver's rows for that challenge.
fn prove(protocol: &TwoRound, invitation: &[u8], chi: &Coefficients, response: &mut Vec<u8>) {
    let backend = session().backend();
    let x = choices_of_columns(&session(), &seed(2), &choices());
    let base = protocol.base.sender(protocol.base_session(&session()), ROWS, seed(2)).unwrap();
    let (base, _) = played(base, invitation).unwrap();
    let matrix = matrix_of_receiver(&session(), &base, &x, &mut vec![0; ROWS * x.len()]);
    Proof::new(chi.hash(backend, &x), chi.hash_rows(backend, &matrix)).encode(response);
}

/// A `Response` whose receiver changes its corrections and then proves them, with the challenge of
/// before the change or of after it.
fn cheat(
    invitation: &[u8],
    change: impl FnOnce(&Coefficients, &mut [u8]),
    challenge_first: bool,
) -> (Vec<u8>, Coefficients) {
    let (_, mut response) = OVER_CURVE.respond(session(), invitation, choices(), seed(2)).unwrap();
    response.truncate(response.len() - Proof::ENCODED_LEN);
    let (answer, corrections) = response.split_at_mut(OVER_CURVE.answer_len());
    let first = OVER_CURVE.coefficients(&session(), N, invitation, answer, corrections);
    change(&first, corrections);
    let chi = match challenge_first {
        true => first,
        false => OVER_CURVE.coefficients(&session(), N, invitation, answer, corrections),
    };
    prove(OVER_CURVE, invitation, &chi, &mut response);
    (response, chi)
}

/// Runs [`Sender::finish`] with coefficients that the receiver knew before.
fn passes_under(sender: Sender, response: &[u8], chi: &Coefficients) -> bool {
    let (bound, proof) = response.split_at(response.len() - Proof::ENCODED_LEN);
    let (answer, corrections) = bound.split_at(OVER_CURVE.answer_len());
    let (base, _) = played(sender.base, answer).unwrap();
    let matrix = matrix_of_sender(&session(), &base, corrections, columns(N)).unwrap();
    let hashes = chi.hash_rows(session().backend(), &matrix);
    Proof::decode(proof).fits(&hashes, base.choices()).into()
}

fn delta() -> Bits {
    let (sender, invitation) = start();
    let (_, response) = OVER_CURVE.respond(session(), &invitation, choices(), seed(2)).unwrap();
    let (base, _) = played(sender.base, &response[..OVER_CURVE.answer_len()]).unwrap();
    Bits::from_bytes(base.choices().as_bytes(), ROWS)
}

/// Adds to one row what both hashes map to 0.
fn into_the_kernel(row: usize) -> impl FnOnce(&Coefficients, &mut [u8]) {
    move |chi, corrections| {
        let row = &mut corrections[row * columns(N) / 8..][..columns(N) / 8];
        let last = row.len() - 32;
        // 1 in the first element; what that makes of the hashes goes into the elements that mask.
        for (at, add) in [(0, 1_u128), (last, chi.0[0][0]), (last + 16, chi.0[1][0])] {
            row[at..at + 16].iter_mut().zip(add.to_le_bytes()).for_each(|(x, add)| *x ^= add);
        }
    }
}

#[test]
fn knowing_the_challenge_in_advance_allows_cheating_and_the_protocol_prevents_it() {
    let delta = delta();
    let row = (0..ROWS).find(|&r| delta.get(r).into()).unwrap();
    let (sender, invitation) = start();
    let (response, chi) = cheat(&invitation, into_the_kernel(row), true);
    // Another choice in one row than in the others, and no guess of Δ.
    assert!(passes_under(sender, &response, &chi));

    for challenge_first in [true, false] {
        let (sender, invitation) = start();
        let (response, _) = cheat(&invitation, into_the_kernel(row), challenge_first);
        let caught = sender.finish(&response).map(drop);
        assert_eq!(caught, Err(Misbehaved::ConsistencyCheck.into()));
    }
}

/// Returns the sender's verdict on a `Response` that is honest but for the input of its challenge.
fn proved_with(
    protocol: &TwoRound,
    challenge: impl FnOnce([&[u8]; 3]) -> Coefficients,
) -> Result<(), Error> {
    let (sender, invitation) = protocol.start(session(), N, seed(1)).unwrap();
    let (_, mut response) = protocol.respond(session(), &invitation, choices(), seed(2)).unwrap();
    response.truncate(response.len() - Proof::ENCODED_LEN);
    let (answer, corrections) = response.split_at(protocol.answer_len());
    let chi = challenge([&invitation, answer, corrections]);
    prove(protocol, &invitation, &chi, &mut response);
    sender.finish(&response).map(drop)
}

fn the_sender_asks_with_all_of_it(protocol: &TwoRound, other: &TwoRound) {
    const REFUSED: Result<(), Error> = Err(Error::Misbehaved(Misbehaved::ConsistencyCheck));
    let chi = |session: Session, n, [invitation, answer, corrections]: [&[u8]; 3]| {
        protocol.coefficients(&session, n, invitation, answer, corrections)
    };
    assert_eq!(proved_with(protocol, |parts| chi(session(), N, parts)), Ok(()));

    let sid = |byte| Session::new(Sid::from_bytes([byte; 32]));
    let elsewhere = [
        sid(2).sub("test", 0, Direction::default()),
        sid(1).sub("tess", 0, Direction::default()),
        sid(1).sub("test", 1, Direction::default()),
        sid(1).sub("test", 0, Direction::ResponderSends),
        protocol.base_session(&session()),
    ];
    for (k, session) in elsewhere.into_iter().enumerate() {
        assert_eq!(proved_with(protocol, |parts| chi(session, N, parts)), REFUSED, "session {k}");
    }
    // Of the same number of columns.
    assert_eq!(columns(N), columns(N + 1));
    assert_eq!(proved_with(protocol, |parts| chi(session(), N + 1, parts)), REFUSED, "n");
    let under_the_other_name = proved_with(protocol, |[invitation, answer, corrections]| {
        other.coefficients(&session(), N, invitation, answer, corrections)
    });
    assert_eq!(under_the_other_name, REFUSED, "name");
    for part in 0..3 {
        for place in 0..3 {
            let refused = proved_with(protocol, |parts| {
                let mut changed = parts.map(<[u8]>::to_vec);
                let at = place * (changed[part].len() - 1) / 2;
                changed[part][at] ^= 1;
                chi(session(), N, changed.each_ref().map(Vec::as_slice))
            });
            assert_eq!(refused, REFUSED, "part {part}, place {place}");
        }
    }
    // The same bytes, cut elsewhere.
    let refused = proved_with(protocol, |[invitation, answer, corrections]| {
        let (answer, last) = answer.split_at(answer.len() - 1);
        chi(session(), N, [invitation, answer, &[last, corrections].concat()])
    });
    assert_eq!(refused, REFUSED, "cut");
}

#[test]
fn a_proof_for_anything_but_this_run_is_refused() {
    the_sender_asks_with_all_of_it(&VARIANTS[0], OVER_CURVE);
    the_sender_asks_with_all_of_it(OVER_CURVE, &VARIANTS[0]);
}

#[test]
fn a_row_for_other_choices_is_a_guess_of_its_bit_of_delta() {
    let delta = delta();
    for row in (0..ROWS).step_by(5) {
        let (sender, invitation) = start();
        let flip = |_: &Coefficients, corrections: &mut [u8]| {
            corrections[row * columns(N) / 8] ^= 1;
        };
        let (response, _) = cheat(&invitation, flip, false);
        let caught = sender.finish(&response).map(drop);
        let expected = match delta.get(row).into() {
            true => Err(Misbehaved::ConsistencyCheck.into()),
            false => Ok(()),
        };
        assert_eq!(caught, expected, "row {row}");
    }
}

#[test]
fn one_choice_that_differs_in_half_of_the_rows_is_caught() {
    let (sender, invitation) = start();
    let flip = |_: &Coefficients, corrections: &mut [u8]| {
        corrections.chunks_mut(columns(N) / 8).step_by(2).for_each(|row| row[3] ^= 0x10);
    };
    let (response, _) = cheat(&invitation, flip, false);
    assert_eq!(sender.finish(&response).map(drop), Err(Misbehaved::ConsistencyCheck.into()));
}

#[test]
fn the_challenge_depends_on_everything_before_it() {
    let chi = |session: Session, n, parts: [&[u8]; 3]| {
        let [invitation, answer, corrections] = parts;
        OVER_CURVE.coefficients(&session, n, invitation, answer, corrections).0
    };
    let parts: [&[u8]; 3] = [b"phi", b"answer", b"corrections"];
    let here = chi(session(), N, parts);
    let elsewhere =
        |counter, direction| Session::new(Sid::from_bytes([1; 32])).sub("test", counter, direction);
    let mut all = vec![
        here,
        chi(Session::new(Sid::from_bytes([2; 32])), N, parts),
        chi(elsewhere(1, Direction::default()), N, parts),
        chi(elsewhere(0, Direction::ResponderSends), N, parts),
        // Of the same number of columns.
        chi(session(), N + 1, parts),
        VARIANTS[0].coefficients(&session(), N, parts[0], parts[1], parts[2]).0,
        // The same bytes, cut elsewhere.
        chi(session(), N, [b"phia".as_slice(), b"nswer", b"corrections"]),
        chi(session(), N, [b"phi".as_slice(), b"answercorrections", b""]),
    ];
    for part in 0..3 {
        for at in 0..parts[part].len() {
            let mut changed = parts[part].to_vec();
            changed[at] ^= 0x40;
            let mut parts = parts;
            parts[part] = &changed;
            all.push(chi(session(), N, parts));
        }
    }
    for (k, one) in all.iter().enumerate() {
        assert!(all[..k].iter().all(|other| other[0][0] != one[0][0]), "{k}");
        // The two hashes are independent.
        assert_ne!(one[0][..one[0].len() - 2], one[1][..one[1].len() - 2]);
    }
}

#[test]
fn every_variant_is_named_after_its_base_ot() {
    for TwoRound { base, info } in &VARIANTS {
        let name = base.info().name;
        assert_eq!(info.name, format!("{FAMILY}:{name}"));
        assert_eq!(find(name).unwrap().info().name, info.name);
        assert_eq!(protocol::compatible(base.info(), &PROTOCOL), Ok(()));
    }
    assert_eq!(registry().len(), VARIANTS.len());
}

#[test]
fn the_last_two_elements_mask_the_hashes() {
    let (_, response) = OVER_CURVE.respond(session(), &start().1, choices(), seed(2)).unwrap();
    let (answer, rest) = response.split_at(OVER_CURVE.answer_len());
    let corrections = &rest[..rest.len() - Proof::ENCODED_LEN];
    let chi = OVER_CURVE.coefficients(&session(), N, &start().1, answer, corrections);
    let elements = columns(N) / 128;
    assert_eq!(chi.0[0][elements - 2..], [1, 0]);
    assert_eq!(chi.0[1][elements - 2..], [0, 1]);
    // They are no OT's.
    assert!(N <= columns(N) - MASK_COLUMNS);
    assert_eq!(columns(256), 512);
    assert_eq!(columns(257), 1024);
}
