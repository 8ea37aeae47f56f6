//! The look-ups of `circuit-psi`, `docs/wire/circuit-psi.md`, section 24.4.

use foxtrot_reference::circuit::{LookUps, equal, look_up, nibbles, tables};
use foxtrot_reference::oracle::oracle;

fn random(branch: u8, len: usize) -> Vec<u8> {
    oracle("foxtrot v1 test look-ups", &[5; 32], len, branch, &[], len)
}

fn ots(n: usize) -> LookUps {
    let masks: Vec<u16> =
        random(0, 2 * n).as_chunks().0.iter().map(|it| u16::from_le_bytes(*it)).collect();
    let choices: Vec<u8> = random(1, n).iter().map(|byte| byte % 16).collect();
    let bits = masks.iter().zip(&choices).map(|(mask, c)| mask >> c & 1 == 1).collect();
    LookUps { masks, choices, bits }
}

#[test]
fn a_look_up_tells_which_nibbles_are_equal() {
    let ots = ots(256);
    let x: Vec<u8> = (0..=255).map(|i| i % 16).collect();
    let y: Vec<u8> = (0..=255).map(|i| i / 16).collect();
    let changes = nibbles(&ots.choices, &y);
    let (tables, ours) = tables(&ots.masks, &x, &changes);
    assert_eq!((changes.len(), tables.len()), (256 / 2, 256 / 16 * 30));
    let theirs = look_up(&ots.bits, &y, &tables);
    for i in 0..256 {
        assert_eq!(ours[i] ^ theirs[i], x[i] == y[i], "{i}");
    }
}

/// Runs the circuit on strings of the sender and the receiver, and returns the lanes that have the bit.
fn equal_lanes(strings: [&[u64]; 2]) -> (Vec<usize>, Vec<[usize; 2]>) {
    let lanes = strings[0].len();
    let (messages, shares) = equal(&ots(21 * lanes), strings);
    let bit = |lane: &usize| (shares[0][lane / 64] ^ shares[1][lane / 64]) >> (lane % 64) & 1 == 1;
    let lengths = messages.iter().map(|both| both.each_ref().map(Vec::len)).collect();
    ((0..lanes).filter(bit).collect(), lengths)
}

#[test]
fn the_circuit_tells_which_strings_are_equal() {
    let ours: Vec<u64> =
        random(2, 8 * 192).as_chunks().0.iter().map(|it| u64::from_le_bytes(*it)).collect();
    let mut theirs: Vec<u64> =
        random(3, 8 * 192).as_chunks().0.iter().map(|it| u64::from_le_bytes(*it)).collect();
    assert_eq!(equal_lanes([&ours, &theirs]).0, []);
    assert_eq!(equal_lanes([&ours, &ours]).0, (0..192).collect::<Vec<_>>());
    // Every lane but two differs in one bit.
    for (lane, (theirs, ours)) in theirs.iter_mut().zip(&ours).enumerate() {
        *theirs = ours ^ if lane == 3 || lane == 191 { 0 } else { 1 << (lane % 64) };
    }
    let (equal, lengths) = equal_lanes([&ours, &theirs]);
    assert_eq!(equal, [3, 191]);
    assert_eq!(lengths, [16, 4, 1].map(|it| [it * 192 / 2, it * 192 / 16 * 30]));
}

#[test]
fn a_frame_has_at_most_131072_look_ups() {
    let lanes = 8192 + 64;
    let (equal, lengths) = equal_lanes([&vec![u64::MAX; lanes], &vec![0; lanes]]);
    assert_eq!(equal, []);
    let look_ups: Vec<usize> = lengths.iter().map(|[nibbles, _]| 2 * nibbles).collect();
    assert_eq!(look_ups, [1 << 17, 1024, 4 * lanes, lanes]);
    assert!(lengths.iter().all(|[nibbles, tables]| 15 * nibbles == 4 * tables));
}
