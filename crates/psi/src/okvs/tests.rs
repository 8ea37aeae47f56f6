extern crate std;
use std::{vec, vec::Vec};

use foxtrot_ot::{Session, Sid};

use super::*;
use crate::{Digest, RowSeed};

fn plan(okvs: &Okvs, seed: u16) -> OkvsPlan {
    let session = Session::new(Sid::from_bytes([3; 32])).sub("test", 0, Default::default());
    let keys: Vec<Digest> = (0..okvs.keys()).map(|k| [u8::try_from(k).unwrap(); 32]).collect();
    okvs.plan(&session, &RowSeed(core::array::from_fn(|k| seed.to_le_bytes()[k % 2])), &keys)
        .unwrap()
}

/// The slots for given values and free slots, a bit each.
fn solve(plan: &OkvsPlan, bits: u128) -> Option<u128> {
    let (n, m) = (plan.okvs.keys(), plan.okvs.slots());
    let bit = |k: usize| [u8::from(bits >> k & 1 == 1)];
    let values: Vec<[u8; 1]> = (0..n).map(bit).collect();
    let mut slots: Vec<[u8; 1]> = (n..n + m).map(bit).collect();
    plan.solve(|place| &values[plan.order()[place] as usize], &mut slots).ok()?;
    Some((0..m).map(|k| u128::from(slots[k][0]) << k).sum())
}

fn rank(mut vectors: Vec<u128>) -> usize {
    let mut rank = 0;
    while let Some(pivot) = vectors.pop() {
        if pivot != 0 {
            let mask = pivot & pivot.wrapping_neg();
            vectors.iter_mut().filter(|v| **v & mask != 0).for_each(|v| *v ^= pivot);
            rank += 1;
        }
    }
    rank
}

/// Solving is linear in values and free slots, and reaches all slots there are: so uniform ones give
/// uniform slots, exactly. With each key's value fixed instead, it reaches all solutions.
fn uniform_values_give_uniform_slots(okvs: &Okvs) {
    let (n, m) = (okvs.keys(), okvs.slots());
    assert!(n + m < 128, "fits into a word");
    let (mut cores, mut tried) = (0, 0);
    for seed in 0..100 {
        let plan = plan(okvs, seed);
        cores += usize::from(plan.structure().core > 0);
        let Some(zero) = solve(&plan, 0) else { continue };
        tried += 1;
        assert_eq!(zero, 0);
        let images: Vec<u128> = (0..n + m).map(|k| solve(&plan, 1 << k).unwrap()).collect();
        for mix in [0x0123_4567_89ab_cdef_u128 * 0x1_0000_0001_0001, !0, 0x5555 << 60] {
            let mix = mix & ((1 << (n + m)) - 1);
            let sum = (0..n + m).filter(|k| mix >> k & 1 == 1).fold(0, |sum, k| sum ^ images[k]);
            assert_eq!(solve(&plan, mix), Some(sum), "linear");
        }
        assert_eq!(rank(images.clone()), m, "onto");
        assert_eq!(rank(images[n..].to_vec()), m - n, "the free slots reach every solution");
    }
    assert!(tried == 100 && (n < 3 || cores > 0), "cores are among them");
}

#[test]
fn uniform_values_give_uniform_slots_with_three_hashes() {
    for n in [0, 1, 2, 3, 5, 8, 13, 20] {
        uniform_values_give_uniform_slots(&Okvs::three(n).unwrap());
    }
}

#[test]
fn uniform_values_give_uniform_slots_with_four_hashes() {
    for (keys, starts, segment) in [(8, 1, 4), (13, 2, 3), (20, 5, 3)] {
        uniform_values_give_uniform_slots(&Okvs { keys, sparse: 4, dense: 44, starts, segment });
    }
}

#[test]
fn uniform_values_give_uniform_slots_with_two_hashes() {
    for n in [0, 1, 2, 3, 5, 8, 13, 16] {
        uniform_values_give_uniform_slots(&Okvs::two(n).unwrap());
    }
}

/// Every case listed, at a size where that can be done: one dense slot and two segments of one.
#[test]
fn every_slot_vector_solves_equally_many_inputs() {
    let okvs = Okvs { keys: 2, sparse: 2, dense: 1, starts: 1, segment: 1 };
    let mut solved = 0;
    for seed in 0..16 {
        let plan = plan(&okvs, seed);
        let mut counts = [0; 8];
        for bits in 0..1 << 5 {
            if let Some(slots) = solve(&plan, bits) {
                counts[usize::try_from(slots).unwrap()] += 1;
            }
        }
        assert!(counts == [4; 8] || counts == [0; 8], "{counts:?}");
        solved += usize::from(counts[0] > 0);
    }
    assert!((1..16).contains(&solved), "rows of equal slots differ by their dense bit or not");
}

/// Failures are as many as the deficits say, and each dense slot more halves them.
fn every_dense_slot_halves_the_failures(of: impl Fn(u32) -> Okvs) {
    let trials = 30_000;
    let mut counts = Vec::new();
    for dense in 2..7 {
        let okvs = of(dense);
        let (mut expected, mut failed) = (0.0, 0.0);
        for seed in 0..trials {
            let plan = plan(&okvs, seed);
            let deficit = i32::try_from(plan.structure().deficit.unwrap()).unwrap();
            let step = |k| 1.0 - 2_f64.powi(k - i32::try_from(dense).unwrap());
            expected += 1.0 - (0..deficit).map(step).product::<f64>().max(0.0);
            let solved = plan.solve(|_| &[0], &mut vec![[0]; okvs.slots()]);
            failed += f64::from(u8::from(solved.is_err()));
        }
        assert!((failed - expected).abs() < 4.0 * expected.sqrt(), "{failed}, not {expected}");
        counts.push(failed);
    }
    assert!(counts[4] > 20.0, "the test can see them");
    assert!(counts.windows(2).all(|pair| (1.6..2.4).contains(&(pair[0] / pair[1]))), "{counts:?}");
}

#[test]
fn every_dense_slot_halves_the_failures_of_one_start() {
    every_dense_slot_halves_the_failures(|dense| Okvs {
        keys: 12,
        sparse: 3,
        dense,
        starts: 1,
        segment: 5,
    });
}

#[test]
fn every_dense_slot_halves_the_failures_of_four_slots_and_many_starts() {
    every_dense_slot_halves_the_failures(|dense| Okvs {
        keys: 12,
        sparse: 4,
        dense,
        starts: 3,
        segment: 3,
    });
}

/// Rows that peel are those that peel one by one in any order.
#[test]
fn peeling_in_one_pass_leaves_the_largest_core() {
    for seed in 0..300 {
        let starts = 1 + u32::from(seed % 7);
        let okvs = Okvs { keys: 60, sparse: 4, dense: 44, starts, segment: 76 / (starts + 3) };
        let plan = plan(&okvs, seed);
        let mut rows: Vec<_> = plan.rows.0.iter().map(|row| okvs.slots_of::<4>(row)).collect();
        loop {
            let number = rows.len();
            let of = |slot: u32| rows.iter().flatten().filter(|&&other| other == slot).count();
            let lone = rows.iter().position(|row| row.iter().any(|&slot| of(slot) == 1));
            lone.map(|lone| rows.swap_remove(lone));
            if rows.len() == number {
                break;
            }
        }
        assert_eq!(plan.core_len(), rows.len(), "{seed}");
    }
}

#[test]
fn encoding_fails_when_the_core_lacks_rank() {
    let okvs = Okvs { keys: 4, sparse: 2, dense: 1, starts: 1, segment: 1 };
    assert!((0..20).all(|seed| plan(&okvs, seed).solve(|_| &[0], &mut [[0]; 3]).is_err()));
    let okvs = Okvs { keys: 9000, sparse: 3, dense: 44, starts: 1, segment: 1 };
    let session = Session::new(Sid::from_bytes([3; 32]));
    let keys: Vec<Digest> =
        (0..9000_u32).map(|k| core::array::from_fn(|i| k.to_le_bytes()[i % 4])).collect();
    let plan = okvs.plan(&session, &RowSeed([0; 32]), &keys).unwrap();
    assert_eq!(plan.structure(), Structure { core: 9000, deficit: None });
    assert!(plan.solve(|_| &[0], &mut [[0]; 47]).is_err());
}

#[test]
fn rows_start_everywhere_and_stay_within_their_segments() {
    let okvs = Okvs { keys: 255, sparse: 3, dense: 44, starts: 5, segment: 7 };
    let plan = plan(&okvs, 1);
    let mut seen = [false; 7 * 7];
    let starts: Vec<u32> =
        plan.rows.0.iter().map(|row| u32::try_from(okvs.start(row)).unwrap()).collect();
    assert!(starts.is_sorted() && starts[0] == 0 && starts[254] == 4);
    for (row, start) in plan.rows.0.iter().zip(starts) {
        for (k, slot) in (0..).zip(okvs.all_slots_of(row)) {
            assert_eq!((slot - 44) / 7, start + k);
            seen[slot as usize - 44] = true;
        }
    }
    assert!(seen.iter().all(|&seen| seen));
    assert!(plan.rows.0.iter().all(|row| row[1] >> 44 < 5));
    assert!((0..44).all(|k| plan.rows.0.iter().any(|row| row[1] >> k & 1 == 1)));
}

/// The number of keys that a cheating receiver fits for certain: `docs/protocols/paxos.md`, section 5.
#[test]
fn a_store_for_20_keys_has_solutions_for_87() {
    let okvs = Okvs::three(20).unwrap();
    assert_eq!(okvs.slots(), 89);
    let session = Session::new(Sid::from_bytes([3; 32])).sub("test", 0, Default::default());
    let keys: Vec<Digest> = (0..=255).map(|k| [k; 32]).collect();
    let plan = okvs.plan(&session, &RowSeed([7; 32]), &keys).unwrap();
    // With a bit of its own in every slot a row decodes to the set of its ones.
    let slots: Vec<[u8; 16]> = (0..89).map(|k| (1_u128 << k).to_le_bytes()).collect();
    let mut rows = vec![[0; 16]; keys.len()];
    plan.decode(&okvs.decoder(&slots).unwrap(), &mut rows).unwrap();
    let rows: Vec<u128> = rows.into_iter().map(u128::from_le_bytes).collect();
    // A row has one sparse slot in each of three segments, so that is the most there is.
    assert_eq!(rank(rows[..40].to_vec()), 40);
    assert_eq!(rank(rows), 87);
}
