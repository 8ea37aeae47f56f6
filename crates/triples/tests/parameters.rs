//! The claims about the parameter sets, recomputed from their constants: the numbers of
//! `docs/protocols/triples.md`.
#![allow(clippy::cast_possible_truncation, reason = "residues fit")]

use foxtrot_ot::{
    base::{BaseOt, roted::Endemic},
    extension::ROWS,
};
use foxtrot_triples::{
    gilboa,
    params::{LIFT_40, LIFT_64, MSB_40, MSB_64, PROTOCOLS, Set, find, registry, width_of},
};

/// Deviation of the errors: binomial, η = 21.
const SIGMA_E: f64 = 3.240_370_349_203_93;

fn log2(primes: &[u64]) -> f64 {
    primes.iter().map(|&p| (p as f64).log2()).sum()
}

fn log_p(set: &Set) -> f64 {
    log2(set.plain)
}

fn log_q(set: &Set) -> f64 {
    log_p(set) + log2(set.rest)
}

/// −log₂ of (4), without the 2·3⁻ⁿ, with E|N_j| = `mean`·p.
fn hiding(set: &Set, mean: f64) -> f64 {
    log_q(set) - 2.0 * log_p(set) - f64::from(set.log_n + set.t[0]) - mean.log2()
}

/// (5).
fn worst_mean(n: f64) -> f64 {
    (2.0 * n * SIGMA_E.powi(2) / 4.0 + 2.0 * n / 3.0 / 4.0 + 1.0).sqrt()
}

/// (6).
fn usual_mean(n: f64) -> f64 {
    (2.0 / core::f64::consts::PI * (2.0 * n * SIGMA_E.powi(2) + 2.0 * n / 3.0) / 12.0).sqrt()
}

/// −log₂ of the probability that a coefficient of a batch does not decrypt: the moment bound for (3),
/// with a weight of s six deviations above its mean.
fn decryption(set: &Set) -> f64 {
    let n = set.n() as f64;
    let weight = 2.0 * n / 3.0 + 6.0 * (2.0 * n / 9.0).sqrt();
    let [t0, t1] = set.t;
    let first = f64::from(1 << (t1 - t0));
    let threshold = f64::from(1 << (t1 - 1));
    // ln of E[e^(λX)], X uniform on ±w/2.
    let log_moment = |lambda: f64, width: f64| {
        let x: f64 = lambda * width / 2.0;
        x + (-(-2.0 * x).exp()).ln_1p() - (2.0 * x).ln()
    };
    let bound = |lambda: f64| {
        weight * log_moment(lambda, 1.0) + log_moment(lambda, first) - lambda * threshold
    };
    let best = (1..20000).map(|k| bound(f64::from(k) * 1e-3)).fold(0.0, f64::min);
    -(best / core::f64::consts::LN_2 + 1.0 + n.log2())
}

/// Returns true if p is prime, by Miller's test with the bases that suffice below 2⁶⁴.
fn is_prime(p: u64) -> bool {
    let times = |a: u64, b: u64| (u128::from(a) * u128::from(b) % u128::from(p)) as u64;
    let pow = |mut a: u64, mut e: u64| {
        let mut r = 1;
        while e > 0 {
            if e % 2 == 1 {
                r = times(r, a);
            }
            a = times(a, a);
            e /= 2;
        }
        r
    };
    let two = (p - 1).trailing_zeros();
    [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37].iter().all(|&a| {
        let mut x = pow(a, (p - 1) >> two);
        x == 1
            || (0..two).any(|_| {
                let found = x == p - 1;
                x = times(x, x);
                found
            })
    })
}

#[test]
fn moduli_are_different_primes_with_roots_of_unity_and_fit_the_kernel() {
    for set in registry() {
        let primes: Vec<u64> = set.primes().collect();
        assert_eq!(primes, [set.plain, set.rest].concat());
        for (i, &p) in primes.iter().enumerate() {
            assert!(is_prime(p) && width_of(p) <= 50, "{set:?}: {p}");
            assert_eq!(p % (2 * set.n() as u64), 1, "{set:?}: {p}");
            assert!(!primes[..i].contains(&p), "{set:?}: {p} twice");
        }
        // The decryption computes y₁·s mod 2^t₁ modulo the first of the others, over the integers.
        assert!(set.rest[0] > (2 * set.n() as u64) << set.t[1], "{set:?}");
    }
}

#[test]
fn a_batch_hides_the_products_up_to_2_to_the_minus_sigma() {
    for set in registry() {
        let n = set.n() as f64;
        let (usual, worst) = (hiding(set, usual_mean(n)), hiding(set, worst_mean(n)));
        println!("{set:?}: 2^-{usual:.1}, whatever the shares 2^-{worst:.1}");
        assert!(usual > f64::from(set.sigma()), "{set:?}: {usual}");
        assert!(worst > f64::from(set.sigma()) - 1.0, "{set:?}: {worst}");
        // With the batches that do not decrypt, where outputs are not those of the functionality.
        let with_failures =
            |hidden: f64| -((-hidden).exp2() + (-f64::from(set.failure)).exp2()).log2();
        assert!(with_failures(usual) > f64::from(set.sigma()), "{set:?}");
        assert!(with_failures(worst) > f64::from(set.sigma()) - 1.0, "{set:?}");
    }
    let figures = |sets: [&[Set; 4]; 2], expected: [f64; 8]| {
        for (set, expected) in sets.into_iter().flatten().zip(expected) {
            let figure = hiding(set, usual_mean(set.n() as f64));
            assert!((figure - expected).abs() < 0.06, "{set:?}: {figure}");
        }
    };
    figures([&MSB_40, &MSB_64], [40.7, 40.4, 40.4, 40.9, 64.2, 64.4, 64.9, 64.9]);
    figures([&LIFT_40, &LIFT_64], [40.4, 40.4, 40.9, 40.9, 64.9, 64.9, 64.9, 64.4]);
}

#[test]
fn a_batch_fails_to_decrypt_with_probability_2_to_the_minus_42_at_most() {
    let msb = [42.9, 93.6, 93.6, 42.4, 93.6, 93.6, 195.7, 195.7];
    let lift = [93.6, 93.6, 42.4, 42.4, 195.7, 195.7, 195.7, 93.7];
    for (set, expected) in registry().zip(msb.into_iter().chain(lift)) {
        let failure = decryption(set);
        println!("{set:?}: 2^-{failure:.1}");
        assert!((failure - expected).abs() < 0.06, "{set:?}: {failure}");
        assert_eq!(set.failure, failure.floor() as u32, "{set:?}");
    }
}

#[test]
fn sums_wrap_around_the_plaintext_modulus_with_probability_2_to_the_minus_43() {
    // E|v| of v = a₀b₁ + a₁b₀, shares uniform on ±2^(ℓ−1): 2^(2ℓ − 3.43), by numerical integration.
    let steps = 400;
    let (mut sum, mut count) = (0.0, 0.0);
    let product = |i: i32, j: i32| f64::from(2 * i + 1 - steps) * f64::from(2 * j + 1 - steps);
    let mut products: Vec<f64> =
        (0..steps).flat_map(|i| (0..steps).map(move |j| product(i, j))).collect();
    products.sort_unstable_by(f64::total_cmp);
    let thinned: Vec<f64> = products.iter().skip(20).step_by(40).copied().collect();
    for x in &thinned {
        for y in &thinned {
            sum += (x + y).abs();
            count += 1.0;
        }
    }
    let mean = (sum / count / f64::from(2 * steps).powi(2)).log2();
    assert!((mean + 3.43).abs() < 0.02, "{mean}");
    for set in LIFT_40.iter().chain(&LIFT_64) {
        let wrap = log_p(set) - f64::from(2 * set.bits()) - mean;
        println!("{set:?}: a triple 2^-{wrap:.1}, a batch 2^-{:.1}", wrap - f64::from(set.log_n));
        assert!((wrap - f64::from(set.sigma()) - 3.43).abs() < 0.05, "{set:?}");
    }
}

/// Products of more than 128 bits are taken in two halves.
fn wide_product(primes: &[u64]) -> [u128; 2] {
    primes.iter().fold([0, 1], |[high, low], &prime| {
        let prime = u128::from(prime);
        let (top, bottom) = (low >> 64, low & u128::from(u64::MAX));
        let middle = top * prime + ((bottom * prime) >> 64);
        let low = middle << 64 | ((bottom * prime) & u128::from(u64::MAX));
        [high * prime + (middle >> 64), low]
    })
}

#[test]
fn half_of_the_plaintext_modulus_has_room_for_all_products() {
    for set in MSB_40.iter().chain(&MSB_64) {
        let [high, low] = wide_product(set.plain);
        let bits = set.bits();
        if bits < 64 {
            // 2·(2^(2ℓ) − 2^ℓ) + 1.
            let bound = (1u128 << (2 * bits + 1)) - (1 << (bits + 1)) + 1;
            assert!(high == 0 && low >= bound, "{set:?}");
            continue;
        }
        // 2^129 − p, as a part of 2^129.
        let missing = (1 << 64) - ((high << 63) + (low >> 65));
        let theta = missing as f64 / 2f64.powi(64);
        assert!((theta.log2() + 23.476).abs() < 0.01, "{set:?}: {}", theta.log2());
        // A sum is (p + 1)/2 or more if the four factors, as parts of the greatest, miss 1 by 4θ together, and two of
        // their signs agree with the others: 4/16·(4θ)⁴/4!. Of the masks fewer than a part of θ is then wrong.
        let sums = 4.0 / 16.0 * (4.0 * theta).powi(4) / 24.0;
        let wrong = (sums * theta).log2();
        assert!((wrong + 115.97).abs() < 0.01 && (sums.log2() + 92.5).abs() < 0.05, "{wrong}");
    }
}

/// The most bits of q for 128 bits of security with a ternary secret, of the standard of 2018 and eprint
/// 2024/463: against classical attacks, then against quantum ones.
fn limits(n: usize) -> [[f64; 2]; 2] {
    match n {
        4096 => [[109.0, 106.0], [101.0, 80.0]],
        8192 => [[218.0, 214.0], [202.0, 161.0]],
        16384 => [[438.0, 430.0], [411.0, 322.0]],
        32768 => [[881.0, 868.0], [827.0, 644.0]],
        _ => unreachable!("no such dimension"),
    }
}

#[test]
fn moduli_are_within_the_limits_of_both_guidelines() {
    for set in registry() {
        for limit in limits(set.n())[0] {
            assert!(log_q(set) <= limit, "{set:?}: {} of {limit}", log_q(set));
        }
    }
}

#[test]
fn some_moduli_exceed_the_limits_for_quantum_attacks() {
    let exceeding = |guideline: usize| {
        let exceeds = move |set: &&Set| log_q(set) > limits(set.n())[1][guideline];
        registry().filter(exceeds).map(Set::name).collect::<Vec<_>>()
    };
    assert_eq!(exceeding(0), ["rlwe-lift-16"]);
    let with_the_fix = ["rlwe-8", "rlwe-32", "rlwe-64-s64"];
    let lift = ["rlwe-lift-8", "rlwe-lift-16", "rlwe-lift-64", "rlwe-lift-32-s64"];
    assert_eq!(exceeding(1), [&with_the_fix[..], &lift].concat());
}

/// Block size of the primal attack on ring-LWE with a ternary secret, rescaled as in the estimates of
/// [ADPS16], with any number of samples up to 2n; reduction takes 2^(0.292·β) classically.
fn primal_block_size(n: f64, log_q: f64) -> f64 {
    use core::f64::consts::{E, LN_2, PI};
    let log_delta = |b: f64| ((PI * b).ln() / b + (b / (2.0 * PI * E)).ln()) / (2.0 * (b - 1.0));
    // The secret's deviation is smaller than the error's: it is scaled up.
    let scale = SIGMA_E / (2.0f64 / 3.0).sqrt();
    let succeeds = |b: f64| {
        (1..=40).any(|k| {
            let m = n * f64::from(k) / 20.0;
            let d = n + m + 1.0;
            let volume = m * log_q * LN_2 + n * scale.ln();
            SIGMA_E.ln() + 0.5 * b.ln() <= (2.0 * b - d - 1.0) * log_delta(b) + volume / d
        })
    };
    (60..2000).map(f64::from).find(|&b| succeeds(b)).unwrap()
}

#[test]
fn lattice_reduction_costs_more_than_2_to_the_128() {
    for (set, protocol) in registry().zip(&PROTOCOLS) {
        let n = set.n() as f64;
        let b = primal_block_size(n, log_q(set));
        let core = 0.292 * b;
        let usual = core + 16.4 + (8.0 * 2.0 * n).log2();
        println!("{set:?}: block size {b}, core-SVP {core:.0}, with polynomial factors {usual:.0}");
        assert!(usual > 128.0, "{set:?}: {usual}");
        let stated = format!("core-SVP {core:.0} classical, {:.0} quantum", 0.265 * b);
        assert_eq!(protocol.security, stated, "{set:?}");
    }
}

#[test]
fn bytes_per_triple_match_the_known_values() {
    let msb = [31.0, 42.0, 64.375, 108.5, 37.375, 48.0, 71.0, 114.625];
    let lift = [51.625, 61.625, 82.125, 122.125, 73.25, 83.25, 103.25, 143.5];
    for (set, expected) in registry().zip(msb.into_iter().chain(lift)) {
        let bytes: usize = set.batch_bytes().iter().sum();
        assert_eq!(bytes as f64 / set.n() as f64, expected, "{set:?}");
    }
    let keys = registry().map(|set| set.public_key_len() as f64 / 1024.0);
    let msb = [38.5, 94.0, 126.0, 384.0, 102.0, 118.0, 304.0, 432.0];
    let lift = [117.0, 133.0, 334.0, 462.0, 334.0, 366.0, 430.0, 1120.0];
    assert!(keys.eq(msb.into_iter().chain(lift)));
}

/// The most triples of a run of the command are those of as many batches of each stream as an extension makes.
#[test]
fn the_extensions_have_enough_batches() {
    for (set, extension) in registry().filter_map(|set| Some((set, set.fix()?))) {
        let of_a_stream = set.batches(1 << 40).div_ceil(2);
        assert!(of_a_stream <= extension.max_batches(), "{set:?}: {of_a_stream}");
        assert!(set.ots() <= extension.max_batch(), "{set:?}");
    }
}

/// Keys, base OTs and the extensions' set-up, both ways, are a part of a million triples.
#[test]
fn bytes_per_triple_of_a_million_stay_bounded_with_the_set_up() {
    let base = Endemic.info();
    let base = (base.receiver_bytes)(ROWS) + (base.sender_bytes)(ROWS);
    for (set, (most, expected)) in
        MSB_40.iter().zip([(33.0, 32.05), (46.0, 43.37), (73.0, 65.98), (125.0, 111.80)])
    {
        let before = 2 * (set.public_key_len() + base + set.fix().unwrap().setup_len());
        let batches = usize::try_from(set.batches(1 << 20)).unwrap();
        let all = batches * set.batch_bytes().iter().sum::<usize>() + before;
        let each = all as f64 / f64::from(1 << 20);
        println!("{set:?}: {each:.3}");
        assert!(each <= most && (each - expected).abs() < 0.01, "{set:?}: {each}");
    }
}

/// A name finds what has it, and sets are told apart by their names.
#[test]
fn parameter_names_resolve_to_their_sets() {
    for set in registry() {
        assert_eq!(find(set.name()), Some(set));
        assert_eq!(registry().filter(|other| *other == set).count(), 1);
    }
    for set in gilboa::registry() {
        assert_eq!(gilboa::find(set.name()).map(gilboa::Set::name), Some(set.name()));
    }
    assert!(find("rlwe").is_none() && gilboa::find("gilboa").is_none());
}
