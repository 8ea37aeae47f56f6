use super::*;
use crate::{aes::Aes128, rns::sample::Streams};

fn key(backend: Backend) -> Streams {
    Streams::new(backend, b"a key of samples a nonce")
}

/// The words of a stream.
fn stream(number: u64, n: usize) -> Vec<u64> {
    let mut bytes = vec![0; 8 * n];
    let cipher = Aes128::new(Backend::PORTABLE, b"a key of samples");
    let nonce = u64::from_le_bytes(*b" a nonce");
    cipher.ctr(u128::from(nonce) << 64 | u128::from(number) << 56, &mut bytes);
    bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect()
}

/// Σ (observed − expected)²/expected over 64 equal intervals: 63 on average, deviation 11.2.
fn chi_square(p: u64, residues: &[u64]) -> f64 {
    let mut observed = [0.0; 64];
    for x in residues {
        observed[(u128::from(*x) * 64 / u128::from(p)) as usize] += 1.0;
    }
    let expected = residues.len() as f64 / 64.0;
    observed.iter().map(|o| (o - expected) * (o - expected) / expected).sum()
}

fn public_residues(backend: Backend) {
    for (number, value) in PRIMES.into_iter().enumerate() {
        let (p, n) = (prime(value), 8192);
        let mut out = vec![value; n];
        sample::uniform_public(&key(backend), number as u64, &p, &mut out);
        // As documented, with the rejection written as a comparison of integers.
        let threshold = (1u128 << 64) % u128::from(value);
        let expected: Vec<u64> = stream(number as u64, n + 512)
            .into_iter()
            .map(|word| u128::from(word) * u128::from(value))
            .filter(|product| product % (1 << 64) >= threshold)
            .map(|product| (product >> 64) as u64)
            .take(n)
            .collect();
        assert_eq!(out, expected, "{value}");
        assert!((20.0..130.0).contains(&chi_square(value, &out)), "{value}");
    }
}

/// Primes just below a power of two hardly ever reject. For this one 2⁶⁴ mod p is 0.78·p, so that of the
/// words here five should be rejected.
fn rejected_words_are_replaced(backend: Backend) {
    let p = prime(779_469_166_534_657);
    let threshold = (1u128 << 64) % u128::from(p.value());
    let (mut met, n) = (0, 4096);
    for number in 100..140 {
        let words = stream(number, n + 512);
        let product = |word: u64| u128::from(word) * u128::from(p.value());
        let rejected = |word: &&u64| product(**word) % (1 << 64) < threshold;
        met += words[..n].iter().filter(rejected).count();
        let kept = words.iter().filter(|word| !rejected(word)).take(n);
        let expected: Vec<u64> = kept.map(|word| (product(*word) >> 64) as u64).collect();
        let mut out = vec![0; n];
        sample::uniform_public(&key(backend), number, &p, &mut out);
        assert_eq!(out, expected);
    }
    assert!(met > 0, "the test meets a rejection");
}

fn trits(backend: Backend) {
    for n in [8, 32, 40, 4096, 8192 + 8, 16384] {
        let mut out = vec![9; n];
        sample::ternary(&key(backend), 5, &mut out);
        for (out, word) in out.chunks(32).zip(stream(5, n.div_ceil(32) * 2).chunks(2)) {
            // ⌊w·3³²/2¹²⁸⌋ from limbs of 32 bits.
            let limbs =
                [word[0] & 0xffff_ffff, word[0] >> 32, word[1] & 0xffff_ffff, word[1] >> 32];
            let mut carry = 0;
            for limb in limbs {
                carry = (u128::from(limb) * 3u128.pow(32) + carry) >> 32;
            }
            for (i, trit) in out.iter().enumerate() {
                let digit = carry / 3u128.pow(31 - i as u32) % 3;
                assert_eq!(i128::from(*trit), digit as i128 - 1);
            }
        }
    }
    let mut out = vec![9; 32768];
    sample::ternary(&key(backend), 6, &mut out);
    for value in -1..=1 {
        // 10923 on average, deviation 85.
        let times = out.iter().filter(|x| **x == value).count();
        assert!((10_923 - 430..10_923 + 430).contains(&times), "{value}: {times}");
    }
}

fn noise(backend: Backend) {
    let n = 32768;
    let mut out = vec![99; n];
    sample::binomial(&key(backend), 7, &mut out);
    for (x, word) in out.iter().zip(stream(7, n)) {
        let ones = |word: u64| (word & ((1 << 21) - 1)).count_ones().cast_signed();
        assert_eq!(i32::from(*x), ones(word) - ones(word >> 21));
    }
    // Mean 0, deviation 3.24/√n = 0.018; variance 10.5, deviation about 10.5·√(2/n) = 0.082.
    let mean = out.iter().map(|x| f64::from(*x)).sum::<f64>() / n as f64;
    let variance = out.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>() / n as f64;
    assert!(mean.abs() < 0.09 && (variance - 10.5).abs() < 0.41, "{mean} {variance}");
}

on_every_backend! {
    public_residues_are_the_documented_ones => public_residues;
    the_next_word_replaces_a_rejected_one => rejected_words_are_replaced;
    trits_are_digits_of_a_wide_number => trits;
    noise_is_a_difference_of_counts => noise;
}
