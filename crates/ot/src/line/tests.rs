use alloc::{vec, vec::Vec};

use super::*;

fn key(byte: u8) -> Key {
    Key::from_bytes([byte; 32])
}

fn ends() -> (Line, Line) {
    let (initiator, opening) = Initiator::open(key(1), [2; 32]);
    let (responder, answer) = Responder::answer(key(1), &opening, [3; 32]).unwrap();
    let (here, confirmation) = initiator.confirm(&answer).unwrap();
    (here, responder.finish(&confirmation).unwrap())
}

fn sealed(sealer: &mut Sealer, text: &[u8]) -> Vec<u8> {
    let mut record = vec![0; text.len() + OVERHEAD];
    let len = sealer.seal(text, &mut record);
    assert_eq!(len, record.len());
    record
}

#[test]
fn texts_of_every_length_cross_both_ways_and_records_differ() {
    let (mut here, mut there) = ends();
    let mut before = Vec::new();
    for len in [0, 1, 15, 16, 17, MOST - 1, MOST] {
        let text = vec![7; len];
        let mut record = sealed(&mut here.sealer, &text);
        assert_ne!(record, before);
        before = record.clone();
        assert_eq!(Opener::record_len([record[0], record[1]]), Ok(record.len()));
        assert_eq!(there.opener.open(&mut record).unwrap(), text);
        let mut record = sealed(&mut there.sealer, &text);
        assert_ne!(record, before);
        assert_eq!(here.opener.open(&mut record).unwrap(), text);
    }
    assert_eq!(here.exporter, there.exporter);
}

#[test]
fn another_key_or_nonce_gives_other_keys_everywhere() {
    let all = [(1, 2, 3), (9, 2, 3), (1, 9, 3), (1, 2, 9), (1, 3, 2)];
    let derived = all.map(|(psk, i, r)| *key(psk).derive(&[i; 32], &[r; 32]));
    let mut flat = derived.as_flattened().to_vec();
    flat.sort_unstable();
    flat.dedup();
    assert_eq!(flat.len(), 25);
}

#[test]
fn the_keys_are_the_oracles_answer_in_the_documents_order() {
    let mut expected = [[0; 32]; 5];
    let oracle = Oracle::new("foxtrot v1 line", &[1; 32]);
    oracle.query(0, 0).field(&[2; 32]).field(&[3; 32]).fill(expected.as_flattened_mut());
    assert_eq!(*key(1).derive(&[2; 32], &[3; 32]), expected);
}

#[test]
fn an_end_without_the_key_is_refused_by_either_side() {
    let (initiator, opening) = Initiator::open(key(1), [2; 32]);
    let (_, answer) = Responder::answer(key(8), &opening, [3; 32]).unwrap();
    assert_eq!(initiator.confirm(&answer).unwrap_err(), Broken::Key);

    let (initiator, opening) = Initiator::open(key(8), [2; 32]);
    let (responder, mut answer) = Responder::answer(key(1), &opening, [3; 32]).unwrap();
    // It answers as if it had read the right one, with a confirmation under its own key.
    answer[40..].copy_from_slice(&key(8).derive(&[2; 32], &[3; 32])[1]);
    let (_, confirmation) = initiator.confirm(&answer).unwrap();
    assert_eq!(responder.finish(&confirmation).unwrap_err(), Broken::Key);
}

#[test]
fn a_recorded_handshake_convinces_nobody() {
    let (initiator, opening) = Initiator::open(key(1), [2; 32]);
    let (_, answer) = Responder::answer(key(1), &opening, [3; 32]).unwrap();
    let (_, confirmation) = initiator.confirm(&answer).unwrap();
    // The same opening and confirmation again: the responder's nonce is another.
    let (responder, _) = Responder::answer(key(1), &opening, [4; 32]).unwrap();
    assert_eq!(responder.finish(&confirmation).unwrap_err(), Broken::Key);
    // The same answer to another opening.
    let (initiator, _) = Initiator::open(key(1), [5; 32]);
    assert_eq!(initiator.confirm(&answer).unwrap_err(), Broken::Key);
}

#[test]
fn every_changed_bit_of_the_handshake_is_found() {
    let (_, opening) = Initiator::open(key(1), [2; 32]);
    let (_, answer) = Responder::answer(key(1), &opening, [3; 32]).unwrap();
    for bit in 0..8 * ANSWER_LEN {
        let mut changed = answer;
        changed[bit / 8] ^= 1 << (bit % 8);
        let (initiator, _) = Initiator::open(key(1), [2; 32]);
        assert!(initiator.confirm(&changed).is_err(), "{bit}");
    }
    for bit in 0..8 * OPENING_LEN {
        let mut changed = opening;
        changed[bit / 8] ^= 1 << (bit % 8);
        let Ok((_, answer)) = Responder::answer(key(1), &changed, [3; 32]) else { continue };
        let (initiator, _) = Initiator::open(key(1), [2; 32]);
        assert_eq!(initiator.confirm(&answer).unwrap_err(), Broken::Key, "{bit}");
    }
    let (initiator, opening) = Initiator::open(key(1), [2; 32]);
    let (_, answer) = Responder::answer(key(1), &opening, [3; 32]).unwrap();
    let (_, confirmation) = initiator.confirm(&answer).unwrap();
    for bit in 0..8 * CONFIRMATION_LEN {
        let mut changed = confirmation;
        changed[bit / 8] ^= 1 << (bit % 8);
        let (responder, _) = Responder::answer(key(1), &opening, [3; 32]).unwrap();
        assert_eq!(responder.finish(&changed).unwrap_err(), Broken::Key, "{bit}");
    }
}

#[test]
fn every_changed_bit_of_a_record_is_found() {
    let len = sealed(&mut ends().0.sealer, b"text").len();
    for bit in 0..8 * len {
        let (mut here, mut there) = ends();
        let mut record = sealed(&mut here.sealer, b"text");
        record[bit / 8] ^= 1 << (bit % 8);
        assert!(there.opener.open(&mut record).is_err(), "{bit}");
    }
}

#[test]
fn records_that_are_lost_repeated_reordered_cut_or_reflected_are_refused() {
    let three = || {
        let (mut here, there) = ends();
        let records = [b"a", b"b", b"c"].map(|text| sealed(&mut here.sealer, text));
        (here, there, records)
    };
    let (_, mut there, [_, mut second, _]) = three();
    assert_eq!(there.opener.open(&mut second), Err(Broken::Record), "the first is lost");
    let (_, mut there, [mut first, _, _]) = three();
    let mut again = first.clone();
    assert_eq!(there.opener.open(&mut first).unwrap(), b"a");
    assert_eq!(there.opener.open(&mut again), Err(Broken::Record), "repeated");
    let (_, mut there, [mut first, _, mut third]) = three();
    assert!(there.opener.open(&mut first).is_ok());
    assert_eq!(there.opener.open(&mut third), Err(Broken::Record), "reordered");
    let (_, mut there, [first, _, _]) = three();
    for len in 0..first.len() {
        let mut cut = first[..len].to_vec();
        assert!(there.opener.open(&mut cut).is_err(), "{len}");
    }
    let (mut here, _, [mut first, _, _]) = three();
    assert_eq!(here.opener.open(&mut first), Err(Broken::Record), "reflected");
}

#[test]
fn a_record_of_another_session_is_refused() {
    let (mut here, _) = ends();
    let mut record = sealed(&mut here.sealer, b"text");
    let (initiator, opening) = Initiator::open(key(1), [2; 32]);
    let (responder, answer) = Responder::answer(key(1), &opening, [4; 32]).unwrap();
    let (_, confirmation) = initiator.confirm(&answer).unwrap();
    let mut other = responder.finish(&confirmation).unwrap();
    assert_eq!(other.opener.open(&mut record), Err(Broken::Record));
}

#[test]
fn a_length_above_the_longest_is_refused_before_anything_is_read() {
    for len in [257u16, 300, u16::MAX] {
        assert_eq!(Opener::record_len(len.to_le_bytes()), Err(Broken::TooLong));
    }
}
