//! The attacks of the paper, and those that it leaves open, against this implementation.

use curve25519_dalek::{
    EdwardsPoint, Scalar, constants::EIGHT_TORSION, edwards::CompressedEdwardsY,
};

use super::*;
use crate::{Decode, Direction, Error, Sid};

fn session(counter: u64) -> Session {
    Session::new(Sid::from_bytes([1; 32])).sub("test", counter, Direction::default())
}

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

fn point(bytes: &[u8]) -> EdwardsPoint {
    CompressedEdwardsY::from_slice(bytes).unwrap().decompress().unwrap()
}

fn share_of(point: &EdwardsPoint, n: usize) -> Result<Share, Error> {
    Share::decode(&point.compress().0, n)
}

/// Both parties' keys, honest.
fn run(n: usize, m: usize, choices: &[u8]) -> (Keys, Chosen) {
    let (sender, share) = Sender::start(session(0), n, m, seed(1)).unwrap();
    let share = Share::decode(share.as_bytes(), n).unwrap();
    let (chosen, points) = choose(session(0), m, choices, &share, seed(2)).unwrap();
    let points = Points::decode(points.as_bytes(), n).unwrap();
    (sender.finish(&points).unwrap(), chosen)
}

#[test]
fn the_receiver_gets_exactly_the_chosen_key_of_any_number() {
    for (n, m) in [(0, 2), (1, 2), (9, 2), (100, 2), (20, 3), (300, 5), (60, 256)] {
        let choices: Vec<u8> = (0..n).map(|i| branch(i * 37 % m)).collect();
        let (keys, chosen) = run(n, m, &choices);
        assert_eq!(keys.instances(), n);
        let mut all: Vec<[u8; 32]> = (0..n).flat_map(|i| keys.of(i).to_vec()).collect();
        for (i, &c) in choices.iter().enumerate() {
            assert_eq!(chosen.keys()[i], keys.of(i)[usize::from(c)], "{i} of {n}, 1 of {m}");
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), n * m);
    }
}

/// Section 3: S + t, t of small order. A receiver that does not multiply by 8 sends c·t + R, which is
/// of prime order if and only if c·t = 0.
#[test]
fn a_senders_point_with_torsion_does_not_show_choices() {
    let choices: Vec<u8> = (0..64).map(|i| i % 2).collect();
    let s = point(Sender::start(session(0), 64, 2, seed(1)).unwrap().1.as_bytes());
    let mut honest = None;
    for t in EIGHT_TORSION {
        let share = share_of(&(s + t), 64).unwrap();
        let (chosen, points) = choose(session(0), 2, &choices, &share, seed(2)).unwrap();
        let sent: Vec<_> = points.as_bytes().chunks(32).map(point).collect();
        assert!(sent.iter().all(EdwardsPoint::is_torsion_free));
        // Nothing depends on t, the keys included.
        let seen = (points.as_bytes().to_vec(), chosen.keys().to_vec());
        assert_eq!(honest.get_or_insert_with(|| seen.clone()), &seen);

        let naive =
            |c: u8| (s + t) * Scalar::from(c) + EdwardsPoint::mul_base(&Scalar::from(77_u8));
        let (zero, one) = (naive(0).is_torsion_free(), naive(1).is_torsion_free());
        assert!(zero && one == (t == EIGHT_TORSION[0]), "the naive receiver is seen through");
    }
}

/// Runs the same attack against the sender: 8R + t has the keys of 8R.
#[test]
fn a_receivers_point_with_torsion_changes_no_key() {
    let (chosen, points) = {
        let share = Sender::start(session(0), 4, 2, seed(1)).unwrap().1;
        choose(session(0), 2, &[0, 1, 1, 0], &share, seed(2)).unwrap()
    };
    for t in EIGHT_TORSION {
        let bytes: Vec<u8> =
            points.as_bytes().chunks(32).flat_map(|r| (point(r) + t).compress().0).collect();
        let sender = Sender::start(session(0), 4, 2, seed(1)).unwrap().0;
        let keys = sender.finish(&Points::decode(&bytes, 4).unwrap()).unwrap();
        for (i, c) in [0, 1, 1, 0].into_iter().enumerate() {
            assert_eq!(keys.of(i)[c], chosen.keys()[i]);
        }
    }
}

#[test]
fn invalid_points_and_shares_of_small_order_are_refused() {
    let wrong = |message, instance| Error::Decode(Decode::Point { message, instance });
    for t in EIGHT_TORSION {
        assert_eq!(share_of(&t, 1).unwrap_err(), wrong("Share", 0));
        // From the receiver they are points like any others: what it gets is its own.
        assert!(Points::decode(&t.compress().0, 1).is_ok());
    }
    // y = 2 is not on the curve; p + 1 is not canonical; x = 0 has no sign.
    let mut two = [0; 32];
    two[0] = 2;
    let mut beyond = [0xff; 32];
    (beyond[0], beyond[31]) = (0xee, 0x7f);
    let mut signed = [0; 32];
    (signed[0], signed[31]) = (1, 0x80);
    for bytes in [two, beyond, signed, [0xff; 32]] {
        assert_eq!(Share::decode(&bytes, 1).unwrap_err(), wrong("Share", 0));
        let three = [point_bytes(), point_bytes(), bytes].concat();
        assert_eq!(Points::decode(&three, 3).unwrap_err(), wrong("Points", 2));
    }
}

fn point_bytes() -> [u8; 32] {
    EdwardsPoint::mul_base(&Scalar::from(5_u8)).compress().0
}

/// H(point) and no more, as of a protocol that does not hash what it has sent.
fn naive_key(point: &EdwardsPoint) -> [u8; 32] {
    hash_encodings(&session(0), OUTPUT, &[point.compress().0], |_| (0, 0), |_| [&[], &[]])[0]
}

/// Section 2.2: in the middle, S is forwarded to the receiver, and R + S, for its R, to the sender, whose
/// point of branch c + 1 is then that of the receiver, which chose c. The branch is hashed beside it, and
/// the sub-sid if these are two sessions.
#[test]
fn a_transcript_in_the_middle_exchanges_no_keys() {
    let (n, m) = (16, 3);
    let choices: Vec<u8> = (0..16).map(|i| i % 2).collect();
    let (_, share) = Sender::start(session(0), n, m, seed(1)).unwrap();
    let (chosen, points) = choose(session(0), m, &choices, &share, seed(2)).unwrap();
    let s_8 = point(share.as_bytes()).mul_by_cofactor();
    let moved: Vec<u8> =
        points.as_bytes().chunks(32).flat_map(|r| (point(r) + s_8).compress().0).collect();
    for counter in [0, 1] {
        // A sender of the same secret, in this session or another.
        let (mut sender, _) = Sender::start(session(0), n, m, seed(1)).unwrap();
        sender.session = session(counter);
        let y = Scalar::from_bytes_mod_order(*sender.y);
        let keys = sender.finish(&Points::decode(&moved, n).unwrap()).unwrap();
        let t_8 = s_8 * y;
        // 64(y·R − j·T).
        let shared = |r: &[u8], j: u8| (point(r) * y - t_8 * Scalar::from(j)).mul_by_cofactor();
        for (i, (moved, r)) in moved.chunks(32).zip(points.as_bytes().chunks(32)).enumerate() {
            let c = choices[i];
            let (ours, theirs) = (shared(moved, c + 1), shared(r, c));
            assert_eq!(ours, theirs, "the points agree");
            assert_eq!(naive_key(&ours), naive_key(&theirs), "and the naive keys with them");
            assert!(keys.of(i).iter().all(|key| !chosen.keys().contains(key)));
        }
    }
}

/// A key is that of its i, j and point, and of S and R as they were sent.
#[test]
fn a_key_belongs_to_what_was_sent() {
    let share = Sender::start(session(0), 4, 2, seed(1)).unwrap().1;
    let points = choose(session(0), 2, &[0, 1, 1, 0], &share, seed(2)).unwrap().1;
    let sender = Sender::start(session(0), 4, 2, seed(1)).unwrap().0;
    let y = Scalar::from_bytes_mod_order(*sender.y);
    let keys = sender.finish(&points).unwrap();
    let s_8 = point(share.as_bytes()).mul_by_cofactor();
    let r_64: Vec<_> = points.as_bytes().chunks(32).map(|r| point(r).mul_by_cofactor()).collect();
    for (i, r) in r_64.iter().enumerate() {
        for j in 0..2 {
            let t_64 = (s_8 * y).mul_by_cofactor();
            let shared = (r * y - t_64 * Scalar::from(j)).compress().0;
            let key = |s: &EdwardsPoint, r: &EdwardsPoint| {
                let (s, r) = (s.compress().0, r.compress().0);
                let position = |_| (i as u64, j);
                hash_encodings(&session(0), OUTPUT, &[shared], position, |_| [&s[..], &r])[0]
            };
            let own = keys.of(i)[usize::from(j)];
            assert_eq!(key(&s_8, r), own);
            assert_ne!(key(&s_8, &r_64[(i + 1) % 4]), own, "another R");
            assert_ne!(key(&(s_8 + s_8), r), own, "another S");
        }
    }
}

/// One R in all instances and in two batches.
#[test]
fn replayed_points_give_unrelated_keys() {
    let n = 32;
    let one = {
        let (_, share) = Sender::start(session(0), 1, 2, seed(1)).unwrap();
        choose(session(0), 2, &[1], &share, seed(2)).unwrap().1
    };
    let replayed = one.as_bytes().repeat(n);
    let mut all = Vec::new();
    for counter in [0, 1] {
        // The same y in both.
        let (mut sender, _) = Sender::start(session(0), n, 2, seed(1)).unwrap();
        sender.session = session(counter);
        let keys = sender.finish(&Points::decode(&replayed, n).unwrap()).unwrap();
        all.extend((0..n).flat_map(|i| keys.of(i).to_vec()));
    }
    let count = all.len();
    all.sort_unstable();
    all.dedup();
    assert_eq!(all.len(), count, "a key occurs twice");
}

fn messages(n: usize) -> Vec<Block> {
    (0..n).map(|k| [u8::try_from(k % 251).unwrap(); 16]).collect()
}

#[test]
fn chosen_messages_arrive_and_only_a_changed_one_of_the_choice_is_noticed() {
    for m in [2, 5] {
        let choices: Vec<u8> = (0..9).map(|i| branch(i * 3 % m)).collect();
        let ciphertexts = || {
            let (keys, chosen) = run(9, m, &choices);
            (keys.encrypt(&messages(9 * m)).unwrap(), chosen)
        };
        let (honest, chosen) = ciphertexts();
        let received = chosen.decrypt(&honest).unwrap();
        for (i, message) in received.iter().enumerate() {
            assert_eq!(*message, messages(9 * m)[i * m + usize::from(choices[i])]);
        }
        for place in (0..32 * m).step_by(5) {
            let mut bytes = honest.clone();
            bytes[32 * m * 4 + place] ^= 1;
            let (_, chosen) = ciphertexts();
            let decrypted = chosen.decrypt(&bytes);
            if place / 32 == usize::from(choices[4]) {
                let expected = Error::Misbehaved(Misbehaved::MessageAuthentication);
                assert_eq!(decrypted.unwrap_err(), expected);
            } else {
                // Selective failure, which the header names.
                assert_eq!(decrypted.unwrap(), received);
            }
        }
    }
}

/// c₂ = β·c₁ of another message: a party that does not know β finds none.
#[test]
fn a_ciphertext_under_another_key_does_not_decrypt() {
    let (_, chosen) = run(3, 2, &[0, 1, 0]);
    let (others, _) = {
        let (sender, share) = Sender::start(session(5), 3, 2, seed(1)).unwrap();
        let (chosen, points) = choose(session(5), 2, &[0, 1, 0], &share, seed(2)).unwrap();
        (sender.finish(&points).unwrap(), chosen)
    };
    let ciphertexts = others.encrypt(&messages(6)).unwrap();
    let expected = Error::Misbehaved(Misbehaved::MessageAuthentication);
    assert_eq!(chosen.decrypt(&ciphertexts).unwrap_err(), expected);
}

#[test]
fn sizes_and_choices_that_do_not_fit_are_usage_errors() {
    let start = |n, m| Sender::start(session(0), n, m, seed(1)).map(drop);
    for m in [0, 1, 257] {
        assert_eq!(start(1, m), Err(Usage::Choices { choices: m }));
    }
    assert_eq!(start(65537, 2), Err(Usage::BatchTooLarge { n: 65537, max: 65536 }));
    assert_eq!(start(4097, 256), Err(Usage::BatchTooLarge { n: 4097, max: 4096 }));
    assert_eq!(ciphertexts_len(usize::MAX, 2), usize::MAX);
    let (sender, share) = Sender::start(session(0), 2, 3, seed(1)).unwrap();
    let choose_of = |m, choices: &[u8]| choose(session(0), m, choices, &share, seed(2)).map(drop);
    assert_eq!(choose_of(3, &[0, 3]), Err(Usage::NoSuchChoice { choices: 3 }));
    assert!(matches!(choose_of(3, &[0, 1, 2]), Err(Usage::CountMismatch { .. })));
    let points = Points::decode(&[point_bytes(); 3].concat(), 3).unwrap();
    assert!(matches!(sender.finish(&points), Err(Usage::CountMismatch { .. })));
    let (keys, chosen) = run(2, 2, &[0, 1]);
    assert!(matches!(keys.encrypt(&messages(3)), Err(Usage::CountMismatch { .. })));
    let expected = Decode::Length { message: "Ciphertexts", expected: 128, got: 192 };
    assert_eq!(chosen.decrypt(&[0; 32 * 6]).unwrap_err(), expected.into());
}

#[test]
fn secrets_are_not_printed() {
    let (sender, _) = Sender::start(session(0), 2, 2, seed(1)).unwrap();
    assert_eq!(alloc::format!("{sender:?}"), "Sender(<2 instances>)");
    let (keys, chosen) = run(2, 2, &[0, 1]);
    assert_eq!(alloc::format!("{keys:?} {chosen:?}"), "Keys(<4 redacted>) Chosen(<2 redacted>)");
}
