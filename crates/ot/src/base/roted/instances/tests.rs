//! What a sender can compute from `Blinded` does not depend on the choice, and what a receiver gets
//! has all its noise. Each test fails for an implementation that leaves out what it is about.

use super::*;
use crate::Sid;

const N: usize = 600;

fn session() -> Session {
    Session::new(Sid::from_bytes([4; 32]))
}

fn blinded(c: bool) -> Vec<u8> {
    let mut phis = vec![0; N * PHI_LEN];
    let choices = Bits::from_bools([c; N]);
    let _blinding = blind(&session(), &ROTED, choices, &Seed::from_bytes([9; 32]), &mut phis);
    phis
}

/// Calls `view` with the instance and what the sender sees of it at each branch: P and r.
fn for_both_branches(phis: &[u8], mut view: impl FnMut(usize, u8, &Vector, &[u8; S_LEN])) {
    let mut batch = Batch::new(&session(), &ROTED);
    for (group, phis) in phis.chunks(GROUP * PHI_LEN).enumerate() {
        let digests = batch.popf.open((group * GROUP) as u64, phis);
        for j in [0, 1] {
            let mut points = vec![ZERO; phis.len() / PHI_LEN];
            for (point, phi) in points.iter_mut().zip(phis.chunks_exact(PHI_LEN)) {
                decode(batch.backend, &phi[..T_LEN], point);
            }
            batch.popf.evaluate(&digests, phis, j, &mut points);
            let coins = batch.popf.coins(&digests, phis, j);
            for (k, (p, r)) in points.iter().zip(&coins).enumerate() {
                view(group * GROUP + k, j, p, r);
            }
        }
    }
}

/// By how many standard deviations χ² of the counts differs from its mean, squared.
fn score(counts: &[u32]) -> f64 {
    let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
    let chi: f64 = counts.iter().map(|&c| (f64::from(c) - expected).powi(2) / expected).sum();
    let freedom = counts.len() as f64 - 1.0;
    // Squared, for want of a square root without std.
    let deviation = chi - freedom;
    deviation * deviation / (2.0 * freedom)
}

#[test]
fn both_points_look_uniform_in_both_domains_whatever_the_choice() {
    for c in [false, true] {
        let mut values = [vec![0; 7681], vec![0; 7681]];
        let mut coefficients = values.clone();
        for_both_branches(&blinded(c), |_, j, p, _| {
            for poly in p {
                let mut bytes = [0; POLY_LEN];
                poly.pack::<BITS>(Backend::PORTABLE, &mut bytes);
                for k in 0..256 {
                    let bit = |b: usize| usize::from(bytes[b / 8] >> (b % 8) & 1);
                    let value: usize = (0..BITS).map(|b| bit(BITS * k + b) << b).sum();
                    values[usize::from(j)][value] += 1;
                }
                for &x in poly.clone().into_poly(Backend::PORTABLE).coefficients() {
                    coefficients[usize::from(j)][usize::from(x)] += 1;
                }
            }
        });
        for counts in values.iter().chain(&coefficients) {
            assert!(score(counts) < 25.0, "c = {c}: {} squared deviations", score(counts));
        }
    }
}

#[test]
fn every_bit_of_both_r_is_fair_whatever_the_choice() {
    for c in [false, true] {
        let mut ones = [[0u32; 8 * S_LEN]; 2];
        for_both_branches(&blinded(c), |_, j, _, r| {
            for (bit, count) in ones[usize::from(j)].iter_mut().enumerate() {
                *count += u32::from(r[bit / 8] >> (bit % 8) & 1);
            }
        });
        for count in ones.as_flattened() {
            // Within five standard deviations, squared.
            let deviation = f64::from(*count) - N as f64 / 2.0;
            assert!(deviation.powi(2) < 25.0 * N as f64 / 4.0, "c = {c}: {count} of {N}");
        }
    }
}

/// Whoever knows s_S sees how U and the hints differ from what it gives without noise.
#[test]
fn every_reply_has_its_noise() {
    let phis = blinded(true);
    let (mut replies, seed) = (vec![0; N * REPLY_LEN], Seed::from_bytes([8; 32]));
    let _strings = reply(&session(), &phis, &seed, &mut replies);
    let batch = Batch::new(&session(), &ROTED);
    let backend = batch.backend;
    let coins_of = session().oracle("foxtrot v1 roted sender coins");
    let (mut noisy_u, mut noisy_k) = (0, 0);
    for_both_branches(&phis, |i, j, p, _| {
        let mut coins = [0; NOISE_VECTOR_LEN];
        coins_of.query(i as u64, j).field(seed.as_bytes()).fill(&mut coins);
        let mut s_s = NO_SECRET;
        set_noise(backend, &coins, &mut s_s);
        let sent = &replies[i * REPLY_LEN + usize::from(j) * BRANCH_LEN..][..BRANCH_LEN];

        let mut bare = [0; U_LEN];
        for (column, bytes) in bare.chunks_exact_mut(U_POLY_LEN).enumerate() {
            let mut u = Poly::ZERO;
            batch.transpose_times(&s_s, column, &mut u);
            u.round_and_pack::<U_BITS>(backend, bytes);
        }
        let differing = bare.iter().zip(sent).filter(|(bare, sent)| bare != sent).count();
        noisy_u += usize::from(differing > U_LEN / 10);

        let (mut hints, mut key) = ([0; 32], [0; 32]);
        let mut k = Poly::ZERO;
        k.set_product(backend, s_s.each_ref(), p.each_ref());
        k.reconcile(backend, &mut hints, &mut key);
        noisy_k += usize::from(hints != sent[U_LEN..]);
    });
    assert_eq!(noisy_u, 2 * N);
    // Noise moves a hint only near a border: about one in 2000 per coefficient.
    assert!(noisy_k > N / 20, "{noisy_k} of {} hints differ", 2 * N);
}

#[test]
fn the_key_hash_covers_instance_branch_string_and_all_that_the_mode_adds() {
    let oracle = session().oracle("key");
    let key = |i, j, sk: Sk, added: [u8; 2]| {
        let (added, mut keys) = (added.map(|byte| [byte; 32]), [[0; 16]; 3]);
        let common = added.each_ref().map(<[u8; 32]>::as_slice);
        let question = |_| key_question(i, j, &sk, &common);
        Wide::new(Backend::best()).ask(&oracle, 3, question, keys.as_flattened_mut());
        keys[0]
    };
    let here = key(3, 0, [1; 32], [7, 8]);
    let there = [
        key(4, 0, [1; 32], [7, 8]),
        key(3, 1, [1; 32], [7, 8]),
        key(3, 0, [2; 32], [7, 8]),
        key(3, 0, [1; 32], [6, 8]),
        key(3, 0, [1; 32], [7, 9]),
    ];
    for there in there {
        assert_ne!(here, there);
    }
}
