//! The codes are what they are said to be.

extern crate std;
use std::{vec, vec::Vec};

use super::{
    bch::{BCH_512, BCH_802, Bch},
    *,
};
use crate::{Sid, oracle::Oracle};

const LINEAR: [Linear; 3] = [Linear::Repetition128, Linear::Bch512, Linear::Bch802];

/// The minimum distance of each is at least this; of the last two by the BCH bound.
const DISTANCE: usize = 128;

/// GF(2^m) by powers of α.
struct Field {
    powers: Vec<usize>,
}

impl Field {
    fn new(m: usize, polynomial: usize) -> Self {
        let next = |x: &usize| Some(if x << 1 >> m == 1 { x << 1 ^ polynomial } else { x << 1 });
        let powers: Vec<_> = core::iter::successors(Some(1), next).take((1 << m) - 1).collect();
        // α has the order 2^m − 1: the powers are all different.
        let distinct: std::collections::BTreeSet<_> = powers.iter().collect();
        assert_eq!(distinct.len(), powers.len());
        Self { powers }
    }

    /// The value of a polynomial over GF(2) at α^s.
    fn value(&self, polynomial: &[u64], s: usize) -> usize {
        let ones = (0..64 * polynomial.len()).filter(|&i| get(polynomial, i));
        ones.fold(0, |sum, i| sum ^ self.powers[s * i % self.powers.len()])
    }
}

fn get(words: &[u64], i: usize) -> bool {
    words[i / 64] >> (i % 64) & 1 == 1
}

/// The remainder of a polynomial modulo the generator.
fn remainder(code: &Bch, mut polynomial: Vec<u64>) -> Vec<u64> {
    for i in (code.redundancy..64 * polynomial.len()).rev() {
        if get(&polynomial, i) {
            for k in (0..=code.redundancy).filter(|&k| get(&code.generator, k)) {
                let at = i - code.redundancy + k;
                polynomial[at / 64] ^= 1 << (at % 64);
            }
        }
    }
    polynomial
}

/// 126 consecutive roots prove distance 127 (the BCH bound), and a bit of parity 128.
#[test]
fn generators_have_the_roots_that_prove_the_distance() {
    for (code, m, polynomial, full_dimension) in
        [(BCH_512, 9, 0x211, 85), (BCH_802, 10, 0x409, 453)]
    {
        let field = Field::new(m, polynomial);
        let n = field.powers.len();
        let consecutive = (1..n).take_while(|&s| field.value(&code.generator, s) == 0).count();
        assert_eq!(consecutive, 126);
        // One more than roots, one for the parity.
        assert_eq!(consecutive + 2, DISTANCE);
        assert_ne!(field.value(&code.generator, 127), 0);
        // The degree gives the dimension.
        let degree = (0..64 * code.generator.len()).rev().find(|&i| get(&code.generator, i));
        assert_eq!(degree, Some(code.redundancy));
        assert_eq!(n - code.redundancy, full_dimension);
        // The code is cyclic: the generator divides xⁿ − 1, and all its roots are powers of α.
        let mut x_n_1 = vec![0; 17];
        x_n_1[0] = 1;
        x_n_1[n / 64] ^= 1 << (n % 64);
        assert!(remainder(&code, x_n_1).iter().all(|&word| word == 0));
        let roots = (0..n).filter(|&s| field.value(&code.generator, s) == 0).count();
        assert_eq!(roots, code.redundancy);
        assert!(code.word_bits <= full_dimension);
    }
}

fn bits(bytes: &[u8], n: usize) -> Vec<bool> {
    (0..n).map(|i| bytes[i / 8] >> (i % 8) & 1 == 1).collect()
}

fn encoded(code: &impl Code, backend: Backend, words: &[u8]) -> Vec<u8> {
    let n = words.len() / code.parameters().word_len();
    let mut codewords = vec![0xa5; n * code.parameters().row_len()];
    code.encode(backend, words, &mut codewords);
    codewords
}

fn random(label: u64, n: usize) -> Vec<u8> {
    let mut bytes = vec![0; n];
    Oracle::new("foxtrot test of codes", &[1; 32]).query(label, 0).fill(&mut bytes);
    bytes
}

fn weight(bytes: &[u8]) -> u32 {
    bytes.iter().map(|byte| byte.count_ones()).sum()
}

#[test]
fn codewords_are_multiples_of_the_generator_and_even() {
    for (linear, bch) in [(Linear::Bch512, BCH_512), (Linear::Bch802, BCH_802)] {
        let code = linear.build();
        let Parameters { length, word_bits } = code.parameters();
        let words = random(1, 40 * code.parameters().word_len());
        let codewords = encoded(&code, Backend::PORTABLE, &words);
        let pairs = words.chunks(code.parameters().word_len());
        for (word, codeword) in pairs.zip(codewords.chunks(code.parameters().row_len())) {
            let codeword = bits(codeword, length);
            assert_eq!(codeword[..word_bits], bits(word, word_bits));
            // x^redundancy · word + remainder.
            let mut polynomial = vec![0_u64; 17];
            let coefficients = codeword[word_bits..length - 1].iter().chain(&codeword[..word_bits]);
            for (i, _) in coefficients.enumerate().filter(|(_, bit)| **bit) {
                polynomial[i / 64] |= 1 << (i % 64);
            }
            assert!(remainder(&bch, polynomial).iter().all(|&word| word == 0));
            assert!(codeword.iter().filter(|bit| **bit).count().is_multiple_of(2));
        }
    }
}

#[test]
fn no_codeword_that_is_seen_is_lighter_than_128() {
    for linear in LINEAR {
        let code = linear.build();
        let Parameters { word_bits, .. } = code.parameters();
        let (word_len, row_len) = (code.parameters().word_len(), code.parameters().row_len());
        // All of one bit, all of two neighbours, and random ones.
        let mut words = Vec::new();
        for i in 0..word_bits {
            for width in 1..=2.min(word_bits - i) {
                let mut word = vec![0; word_len];
                (i..i + width).for_each(|i| word[i / 8] |= 1 << (i % 8));
                words.extend(word);
            }
        }
        words.extend(random(2, 5000 * word_len));
        let codewords = encoded(&code, Backend::best(), &words);
        for (word, codeword) in words.chunks(word_len).zip(codewords.chunks(row_len)) {
            let zero = bits(word, word_bits).iter().all(|bit| !bit);
            assert!(zero || weight(codeword) >= u32::try_from(DISTANCE).unwrap());
            assert!(!zero || weight(codeword) == 0);
        }
    }
}

/// Elimination on the codewords of single bits.
#[test]
fn generator_matrices_have_full_rank() {
    for linear in LINEAR {
        let code = linear.build();
        let Parameters { length, word_bits } = code.parameters();
        let mut rows: Vec<Vec<bool>> = (0..word_bits)
            .map(|i| {
                let mut word = vec![0; code.parameters().word_len()];
                word[i / 8] = 1 << (i % 8);
                bits(&encoded(&code, Backend::PORTABLE, &word), length)
            })
            .collect();
        let mut rank = 0;
        for column in 0..length {
            let Some(pivot) = (rank..rows.len()).find(|&k| rows[k][column]) else { continue };
            rows.swap(rank, pivot);
            let row = rows[rank].clone();
            for other in rows.iter_mut().skip(rank + 1).filter(|other| other[column]) {
                other.iter_mut().zip(&row).for_each(|(a, b)| *a ^= b);
            }
            rank += 1;
        }
        assert_eq!(rank, word_bits);
    }
}

/// One by one, many at once and by columns, on every backend.
fn all_ways_to_encode_agree(code: &impl Code, backend: Backend) {
    let parameters = code.parameters();
    let (word_len, row_len) = (parameters.word_len(), parameters.row_len());
    for n in [0, 1, 8, 9, 127, 128, 129, 512, 513, 1300] {
        let words = random(n as u64, n * word_len);
        let one_by_one: Vec<u8> = words
            .chunks(word_len)
            .flat_map(|word| encoded(code, Backend::PORTABLE, word))
            .collect();
        assert_eq!(encoded(code, backend, &words), one_by_one, "{n}");
        if let Some(last) = one_by_one.chunks(row_len).last()
            && !parameters.length.is_multiple_of(8)
        {
            assert_eq!(last[row_len - 1] >> (parameters.length % 8), 0);
        }
        // By columns, in two parts.
        let len = n.max(1).next_multiple_of(512) / 8;
        let mut turned = vec![0; code.turned() * len];
        code.turn(backend, &words, &mut turned, len);
        let stride = len + 24;
        let mut columns = vec![0; parameters.length * stride];
        let (first, second) = columns.split_at_mut(100 * stride);
        code.add(backend, 0..100, (&turned, len), (first, stride), len);
        code.add(backend, 100..parameters.length, (&turned, len), (second, stride), len);
        for (i, codeword) in one_by_one.chunks(row_len).enumerate() {
            for (j, bit) in bits(codeword, parameters.length).into_iter().enumerate() {
                let column = &columns[j * stride..];
                assert_eq!(column[i / 8] >> (i % 8) & 1 == 1, bit, "{n} {i} {j}");
            }
        }
    }
}

#[test]
fn encoding_is_the_same_in_every_way_on_every_backend() {
    for backend in Backend::all() {
        for linear in LINEAR {
            all_ways_to_encode_agree(&linear.build(), backend);
        }
        let session = Session::new(Sid::from_bytes([5; 32])).with_backend(backend);
        let code = PseudorandomCode::of_session(&session);
        all_ways_to_encode_agree(&code, backend);
        let portable = session.with_backend(Backend::PORTABLE);
        let words = random(3, 16 * 20);
        let expected = encoded(&PseudorandomCode::of_session(&portable), Backend::PORTABLE, &words);
        assert_eq!(encoded(&code, backend, &words), expected);
    }
}

#[test]
fn spare_bits_of_words_are_ignored_and_elements_are_encoded_bit_by_bit() {
    let code = Linear::Bch512.build();
    let mut word = [0xff; 11];
    let codeword = encoded(&code, Backend::PORTABLE, &word);
    word[10] = 0x1f;
    assert_eq!(encoded(&code, Backend::PORTABLE, &word), codeword);

    let elements = random(4, 85 * 8);
    let elements: Vec<u64> =
        elements.as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
    let encoded_elements = code.encode_elements(&elements);
    for e in [0, 31, 63] {
        let mut word = [0; 11];
        for (i, element) in elements.iter().enumerate() {
            word[i / 8] |= u8::from(element >> e & 1 == 1) << (i % 8);
        }
        let codeword = bits(&encoded(&code, Backend::PORTABLE, &word), 512);
        let of_elements: Vec<bool> =
            encoded_elements.iter().map(|element| element >> e & 1 == 1).collect();
        assert_eq!(of_elements, codeword);
    }
}

/// The indicator of the points of GF(2)^m whose coordinates in `ones` are all 1: the coefficients of a polynomial for
/// the points other than 0, which are powers of α, and the bit of parity for 0.
fn monomial(field: &Field, ones: usize) -> (Vec<u64>, bool) {
    let mut polynomial = vec![0; 17];
    for (i, _) in field.powers.iter().enumerate().filter(|(_, point)| *point & ones == ones) {
        polynomial[i / 64] |= 1 << (i % 64);
    }
    (polynomial, ones == 0)
}

/// Products of at most r coordinates span the Reed–Muller code RM(r, m), whose lightest words are the flats of m − r
/// dimensions. So the distance is 128, and the first code has 173 740 words at least of that weight.
#[test]
fn reed_and_mullers_codes_of_distance_128_are_in_ours() {
    for (code, m, polynomial, r) in [(BCH_512, 9, 0x211, 2), (BCH_802, 10, 0x409, 3)] {
        let field = Field::new(m, polynomial);
        for ones in (0..1_usize << m).filter(|ones| ones.count_ones() <= r + 1) {
            let (word, parity) = monomial(&field, ones);
            let weight: u32 = word.iter().map(|word| word.count_ones()).sum();
            assert_eq!(weight + u32::from(parity), 1 << (m - ones.count_ones() as usize));
            let multiple = remainder(&code, word).iter().all(|&word| word == 0);
            assert_eq!(multiple, ones.count_ones() <= r, "{ones:b}");
        }
    }
    // Flats of 7 dimensions in GF(2)⁹: 4 parallel ones to each subspace, which two linear equations make.
    let subspaces = ((1 << 9) - 1) * ((1 << 8) - 1) / ((1 << 2) - 1);
    assert_eq!(4 * subspaces, 173_740);
}

/// The sum of 2^−weight for all words but 0 below 2¹⁶: what a query of H is worth against the keys of as many words,
/// of which the receiver has one.
#[test]
fn words_of_one_of_n_are_so_far_apart_that_a_query_may_serve_all_of_them() {
    for (linear, expected) in [(Linear::Bch512, -177.7), (Linear::Bch802, -243.3)] {
        let code = linear.build();
        let (word_len, row_len) = (code.parameters().word_len(), code.parameters().row_len());
        let mut words = vec![0; word_len << 16];
        for (number, word) in words.chunks_mut(word_len).enumerate() {
            let of_number = linear.parameters().word(number as u64).unwrap();
            word.copy_from_slice(&of_number);
        }
        let codewords = encoded(&code, Backend::best(), &words);
        let weights = codewords.chunks(row_len).skip(1).map(weight);
        let sum: f64 = weights.map(|weight| (-f64::from(weight)).exp2()).sum();
        assert!((sum.log2() - expected).abs() < 0.05, "{linear:?}: 2^{:.2}", sum.log2());
    }
}

/// P[Bin(512, ½) < 128]: what two codewords of independent random bits do.
#[test]
fn pseudorandom_codewords_are_almost_never_near() {
    let mut logarithm = -512.0_f64; // log₂ of C(512, 0)/2⁵¹²
    let mut sum = 0.0;
    for k in 0..128 {
        sum += (logarithm + 200.0).exp2();
        logarithm += (f64::from(512 - k) / f64::from(k + 1)).log2();
    }
    assert!(sum.log2() - 200.0 < -98.0, "{}", sum.log2() - 200.0);
}

#[test]
fn numbers_below_the_size_of_the_code_are_words() {
    let of = |linear: Linear| linear.parameters();
    assert_eq!(of(Linear::Repetition128).word(1), Some(vec![1]));
    assert_eq!(of(Linear::Repetition128).word(2), None);
    assert_eq!(of(Linear::Bch512).word(0x0102), Some([vec![2, 1], vec![0; 9]].concat()));
    assert_eq!(of(Linear::Bch802).word(u64::MAX), Some([vec![0xff; 8], vec![0; 21]].concat()));
}
