//! Tests that `Blinded` does not depend on the choice and that replies have all their noise. Each
//! test fails for an implementation that leaves out what it is about.

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
    let batch = Batch::new(&session(), &ROTED, N);
    let mut room = batch.popf.room(GROUP);
    for (group, phis) in phis.chunks(GROUP * PHI_LEN).enumerate() {
        let digests = batch.popf.open((group * GROUP) as u64, phis);
        for j in [0, 1] {
            let mut points = vec![];
            batch
                .popf
                .evaluate(&mut room, &digests, phis, j, |_, p| points.push(p.element.clone()));
            let coins = batch.popf.unmasked(&digests, phis, T_LEN, j);
            for (k, (p, r)) in points.iter().zip(&*coins).enumerate() {
                view(group * GROUP + k, j, p, r);
            }
        }
    }
}

/// Returns the squared number of standard deviations by which χ² of the counts differs from its
/// mean.
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

/// Recomputes replies without noise from s_S, and compares U and the hints with the noisy ones.
#[test]
fn every_reply_has_its_noise() {
    let phis = blinded(true);
    let (mut replies, seed) = (vec![0; N * REPLY_LEN], Seed::from_bytes([8; 32]));
    let _strings = reply(&session(), &phis, &seed, &mut replies);
    let batch = Batch::new(&session(), &ROTED, N);
    let Matrix::Kept(a) = &batch.a else { unreachable!("for more than one") };
    let backend = batch.backend;
    let coins_of = Coins::new(&session(), "foxtrot v1 roted sender coins", &seed);
    let (mut noisy_u, mut noisy_k) = (0, 0);
    for_both_branches(&phis, |i, j, p, _| {
        let mut coins = [0; NOISE_VECTOR_LEN];
        coins_of.fill((2 * i + usize::from(j)) * SENDER_COINS_LEN / 16, &mut coins);
        let mut s_s = NO_SECRET;
        vectors::set_noise(backend, &coins, &mut s_s);
        let sent = &replies[i * REPLY_LEN + usize::from(j) * BRANCH_LEN..][..BRANCH_LEN];

        let mut bare = [0; U_LEN];
        for (column, bytes) in bare.chunks_exact_mut(U_POLY_LEN).enumerate() {
            let a = [0, 1, 2].map(|row| &a[row][column]);
            let mut u = NttPoly::ZERO;
            u.set_product(backend, s_s.each_ref(), a);
            vectors::round_noisy::<_, _, U_BITS>(backend, &mut u, &[0; NOISE_LEN], bytes);
        }
        let differing = bare.iter().zip(sent).filter(|(bare, sent)| bare != sent).count();
        noisy_u += usize::from(differing > U_LEN / 10);

        let (mut hints, mut key) = ([0; 32], [0; 32]);
        let (mut room, none) = (vectors::Room::<256, 1>::empty(), [0; NOISE_LEN]);
        vectors::reconcile(backend, &mut room, &s_s, p, &none, &mut hints, &mut key);
        noisy_k += usize::from(hints != sent[U_LEN..]);
    });
    assert_eq!(noisy_u, 2 * N);
    // Noise moves a hint only near a border: about one in 2000 per coefficient.
    assert!(noisy_k > N / 20, "{noisy_k} of {} hints differ", 2 * N);
}

#[test]
fn an_instance_is_the_same_whether_a_is_kept_or_made_by_rows() {
    for backend in Backend::all() {
        let session = session().with_backend(backend);
        let [by_rows, kept] = [1, 2].map(|n| Batch::new(&session, &ROTED, n));
        assert!(matches!((&by_rows.a, &kept.a), (Matrix::ByRows(_), Matrix::Kept(_))));
        let choices = Bits::from_bools([true]);
        let coins = Coins::new(&session, ROTED.receiver_coins, &Seed::from_bytes([9; 32]));
        let [blinded, other] = [&by_rows, &kept].map(|batch| {
            let (mut phis, mut digests) = (vec![0; PHI_LEN], vec![0; DIGEST_LEN]);
            batch.blind(&coins, &choices, 0, &mut [NO_SECRET], &mut phis, &mut digests);
            (phis, digests)
        });
        assert_eq!(blinded, other);
        let [reply, other] = [&by_rows, &kept].map(|batch| {
            let (mut replies, mut strings) = (vec![0; REPLY_LEN], [[0; 32]; 2]);
            let mut digests = vec![0; DIGEST_LEN];
            batch.reply(&coins, 0, &blinded.0, &mut replies, &mut strings, &mut digests);
            (replies, strings, digests)
        });
        assert_eq!(reply, other);
    }
}

#[test]
fn single_rows_match_whole_answers() {
    let (oracle, backend) = (session().oracle(ROTED.a), Backend::PORTABLE);
    for i in 0..RANK {
        let (mut row, mut expected) = (ZERO, ZERO);
        by_rows::set_row(backend, &oracle, i, &mut [7; USUAL_BYTES], &mut row);
        let mut answer = [0; UNIFORM_BYTES];
        oracle.answer(i as u64, 0, &[], &mut answer);
        assert!(NttPoly::set_uniform_public::<BITS, RANK>(backend, &answer, &mut expected));
        assert!(row == expected);
    }
}

#[test]
fn coins_of_different_instances_branches_and_parties_share_no_block() {
    let seed = Seed::from_bytes([7; 32]);
    let mut blocks = alloc::collections::BTreeSet::new();
    for (purpose, len, pieces) in [
        (ROTED.receiver_coins, RECEIVER_COINS_LEN, 40),
        (Purpose::new("foxtrot v1 roted sender coins"), SENDER_COINS_LEN, 80),
    ] {
        let coins = Coins::new(&session(), purpose, &seed);
        let mut piece = vec![0; len];
        for number in 0..pieces {
            coins.fill(number * len / 16, &mut piece);
            for block in piece.as_chunks::<16>().0 {
                assert!(blocks.insert(*block), "{purpose:?}, piece {number}");
            }
        }
    }
}
