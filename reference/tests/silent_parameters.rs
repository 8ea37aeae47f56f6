//! The numbers of `docs/protocols/silent.md`, recomputed: the block code, the first moment of the code, sizes, bytes, and the cost of
//! plain attacks.

#![allow(clippy::cast_possible_truncation, reason = "numbers of ones are small")]

use foxtrot_reference::silent::{BLOCK_ROW, Protocol};

/// Row i of M, or of its transpose.
fn rows(transposed: bool) -> [u32; 32] {
    let m: [u32; 32] =
        core::array::from_fn(|i| BLOCK_ROW.rotate_left(u32::try_from(i).unwrap_or(0)));
    let column = |l: usize| (0..32).fold(0, |column, i| column | (m[i] >> l & 1) << i);
    if transposed { core::array::from_fn(column) } else { m }
}

/// Counts the words of [I | `rows`] by the weights of their halves: left up to `most`, right up to 16.
fn count(rows: &[u32; 32], most: usize) -> Vec<[u64; 17]> {
    fn go(rows: &[u32], sum: u32, left: usize, counts: &mut Vec<[u64; 17]>) {
        if let Some(count) = counts[left].get_mut(sum.count_ones() as usize) {
            *count += 1;
        }
        if left + 1 < counts.len() {
            for (i, row) in rows.iter().enumerate() {
                go(&rows[i + 1..], sum ^ row, left + 1, counts);
            }
        }
    }
    let mut counts = vec![[0; 17]; most + 1];
    go(rows, 0, 0, &mut counts);
    counts
}

#[test]
fn the_block_code_is_self_dual_and_doubly_even_with_distance_12() {
    let m = rows(false);
    for (i, a) in m.iter().enumerate() {
        // M·Mᵀ = I: rows of [I | M] are orthogonal, and those of [Mᵀ | I] span the same code.
        assert_eq!(a.count_ones(), 11);
        assert!(m[..i].iter().all(|b| (a & b).count_ones() % 2 == 0));
    }
    // A word of weight 8 or less has at most 4 ones in one half; weights are multiples of 4.
    let [left, right] = [false, true].map(|transposed| count(&rows(transposed), 6));
    for counts in [&left, &right] {
        for (ones, by_right) in counts.iter().enumerate().take(5) {
            for (others, &words) in by_right.iter().enumerate() {
                let weight = ones + others;
                assert!(words == 0 || weight == 0 || weight >= 12 && weight % 4 == 0, "{weight}");
            }
        }
    }
    // Words of weight 12, by the ones of their left half, or of their right half.
    let words: u64 = (0..=6).map(|ones| left[ones][12 - ones]).sum::<u64>()
        + (0..=5).map(|ones| right[ones][12 - ones]).sum::<u64>();
    assert_eq!(words, 2976);
    assert_eq!(enumerator()[3], 2976);
}

/// Coefficients of a product, by powers of y⁴.
fn product(a: &[i128], b: &[i128]) -> Vec<i128> {
    let mut product = vec![0; a.len() + b.len() - 1];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate() {
            product[i + j] += x * y;
        }
    }
    product
}

fn power(a: &[i128], exponent: usize) -> Vec<i128> {
    (0..exponent).fold(vec![1], |power, _| product(&power, a))
}

/// Words of weight 4j of the code, by Gleason's theorem: φ⁸ + a·φ⁵·Δ + b·φ²·Δ², without words of weights 4 and 8.
fn enumerator() -> Vec<i128> {
    let (phi, delta) = ([1, 14, 1], product(&[0, 1], &power(&[1, -1], 4)));
    let mut sum = power(&phi, 8);
    for j in 1..=2 {
        let term = product(&power(&phi, 8 - 3 * j), &power(&delta, j));
        let factor = -sum[j];
        sum.iter_mut().zip(term).for_each(|(sum, term)| *sum += factor * term);
    }
    sum
}

#[test]
fn the_enumerator_is_its_own_transform() {
    let a = enumerator();
    let expected = [1, 0, 0, 2976, 454_956, 18_275_616, 233_419_584, 1_041_971_008, 1_706_719_014];
    assert_eq!(a[..9], expected);
    assert!((0..=16).all(|j| a[j] == a[16 - j]));
    assert_eq!(a.iter().sum::<i128>(), 1 << 32);
    // MacWilliams: A(1 + y, 1 − y) = 2³²·A(y), by single powers of y.
    let mut transform = vec![0; 65];
    for (j, &words) in a.iter().enumerate() {
        let term = product(&power(&[1, 1], 64 - 4 * j), &power(&[1, -1], 4 * j));
        transform.iter_mut().zip(term).for_each(|(sum, it)| *sum += words * it);
    }
    for (weight, sum) in transform.into_iter().enumerate() {
        assert_eq!(sum, if weight % 4 == 0 { a[weight / 4] << 32 } else { 0 });
    }
}

/// log₂ n! by Stirling's series.
fn factorial(n: f64) -> f64 {
    if n < 16.0 {
        return (1..=16).map(f64::from).filter(|&k| k <= n).map(f64::log2).sum();
    }
    let series = 1.0 / (12.0 * n) - 1.0 / (360.0 * n.powi(3)) + 1.0 / (1260.0 * n.powi(5));
    (n * n.ln() - n + 0.5 * (2.0 * core::f64::consts::PI * n).ln() + series)
        / core::f64::consts::LN_2
}

/// log₂ of a binomial coefficient.
fn choose(n: f64, k: f64) -> f64 {
    if k < 0.0 || k > n {
        f64::NEG_INFINITY
    } else {
        factorial(n) - factorial(k) - factorial(n - k)
    }
}

/// log₂ of the expected number of binary words of weight δN or less, over both permutations: words of the block code of weight up to
/// 160, and up to 400 ones between the accumulators.
fn first_moment(n: f64, delta: f64) -> f64 {
    // Weights 12, 16, … of one block, and so of all: coefficients of a power, by powers of y⁴.
    let block: Vec<f64> = enumerator().into_iter().map(|words| words as f64).collect();
    let mut words = vec![0.0; 41];
    words[0] = 1.0;
    // (Σ aᵢyⁱ)^k from its derivative.
    for j in 1..=40_usize {
        let term = |i: usize| ((n / 64.0 + 1.0) * i as f64 - j as f64) * block[i] * words[j - i];
        words[j] = (1..=j.min(16)).map(term).sum::<f64>() / j as f64;
    }
    // Of a ones, with c = ⌈a/2⌉: the ones after accumulation are distributed like the place of the c-th of a random places.
    let turns = |a: f64, b: f64| {
        let c = (a / 2.0).ceil();
        choose(n - b, a - c) + choose(b - 1.0, c - 1.0) - choose(n, a)
    };
    let most = (delta * n).floor();
    let light = |a: f64| {
        let at_least = (a / 2.0).ceil() as usize..=a as usize;
        let terms = at_least
            .map(|i| choose(most, i as f64) + choose(n - most, a - i as f64) - choose(n, a));
        terms.map(f64::exp2).sum::<f64>()
    };
    let between: Vec<f64> = (0..=400).map(|ones| light(f64::from(ones))).collect();
    let expected = (3..=40).map(|j| {
        let of = |ones: usize| turns(4.0 * j as f64, ones as f64).exp2() * between[ones];
        words[j] * (1..=400).map(of).sum::<f64>()
    });
    expected.sum::<f64>().log2()
}

/// The table of section 4 of the page.
#[test]
fn the_first_moment_of_the_code_matches_the_page() {
    for (log, five, ten) in [
        (12, -40.1, -34.4),
        (14, -50.0, -44.3),
        (16, -60.0, -54.3),
        (18, -70.0, -64.3),
        (21, -85.0, -79.3),
        (23, -95.0, -89.3),
    ] {
        let n = f64::from(1 << log);
        for (delta, expected) in [(0.05, five), (0.10, ten)] {
            let found = first_moment(n, delta);
            assert!((found - expected).abs() < 0.1, "2^{log}, {delta}: {found}");
        }
    }
}

/// Bytes of a session with one batch: `Setup` and proofs of the extension, its corrections, trees, check; no base OTs.
fn bytes(name: &str, m: usize) -> (usize, u32, usize) {
    let sizes = Protocol::named(name).sizes(m);
    let fixed = 112 * 32 + 17 * 32 + 1128 + 16 + 16 + 32;
    (sizes.t, sizes.h, (sizes.eight_times_bytes() / 8 + fixed) / 1000)
}

/// The table of section 4 of the page.
#[test]
fn trees_levels_and_bytes_match_the_page() {
    for (m, vole, margin) in [
        (440, (192, 5, 87), (256, 5, 114)),
        (2780, (192, 5, 87), (256, 5, 114)),
        (10_532, (192, 7, 100), (330, 6, 157)),
        (81_608, (192, 10, 120), (319, 9, 184)),
        (1_179_648, (288, 13, 206), (288, 13, 206)),
        (4_194_304, (256, 15, 201), (256, 15, 201)),
    ] {
        let close = |name, (t, h, kilobytes): (usize, u32, usize)| {
            let found = bytes(name, m);
            assert!((found.0, found.1) == (t, h), "{name}, {m}: {found:?}");
            assert!(found.2.abs_diff(kilobytes) <= 1, "{name}, {m}: {found:?}");
        };
        close("silent-vole", vole);
        close("silent-vole-margin", margin);
    }
}

/// Every batch leaves at least t₀ bits to guessing N − m places without noise, has whole blocks, and enough inputs.
#[test]
fn every_size_is_large_enough() {
    for (name, least) in [
        ("silent-vole", 192.0),
        ("silent-vole-margin", 256.0),
        ("silent-vole-semi-honest", 192.0),
        ("silent", 224.0),
        ("silent-semi-honest", 224.0),
        ("silent-16-semi-honest", 576.0),
    ] {
        let all = (12..21).flat_map(|log| [1 << log, (1 << log) + 1, 5 << log >> 2]);
        for m in (1..4096).chain(all).filter(|m| *m <= Protocol::named(name).most()) {
            let sizes = Protocol::named(name).sizes(m);
            assert!(
                sizes.n.is_multiple_of(64) && sizes.n >= 2 * m && sizes.n == sizes.t << sizes.h
            );
            // With h = 5 and many trees there are more inputs for few outputs.
            assert!(sizes.h == 5 || sizes.n <= (1 << 14).max(5 * m / 2), "{name}, {m}");
            assert!(sizes.n <= (18 << 10).max(5 * m / 2), "{name}, {m}");
            assert!(sizes.t as f64 * (sizes.n as f64 / m as f64).log2() >= least, "{name}, {m}");
        }
    }
}

/// Noise in GF(16): a sum of its four bits is noise of a tree with probability 1/2. An attack on one of the 15 sums that needs all of it on a
/// share z of the places is less likely than one on the noise of `silent`.
#[test]
fn sums_of_the_bits_of_noise_in_gf16_are_no_easier_than_binary_noise() {
    let protocol = Protocol::named("silent-16-semi-honest");
    let bits = |t: f64, z: f64| t * (2.0 / (1.0 + z)).log2() - 15_f64.log2();
    for z in (42..=95).map(|percent| f64::from(percent) / 100.0) {
        assert!(bits(576.0, z) > -224.0 * z.log2(), "{z}: {}", bits(576.0, z));
    }
    assert!((173.0..174.0).contains(&bits(576.0, 0.616)));
    assert!((131.0..132.0).contains(&bits(576.0, 0.7)));
    let last = [protocol.most() - 1, protocol.most()];
    for m in (1..8192).chain((13..21).flat_map(|log| [1 << log, 9 << log >> 3])).chain(last) {
        let sizes = protocol.sizes(m);
        assert!(sizes.t >= 576 && sizes.accumulators == 2, "{m}: {sizes:?}");
        // Each tree has a noise position of p OTs, none has a mask.
        assert_eq!(sizes.ots, 4 * sizes.t + sizes.t * sizes.h as usize);
    }
}

/// Guessing places and solving, for half the places: t bits, and the elimination. The page quotes an estimator.
#[test]
fn estimates_of_plain_elimination_are_near_those_quoted() {
    for (log, t, quoted) in
        [(21, 128, 184.0), (17, 128, 172.9), (13, 128, 163.1), (12, 128, 161.8), (21, 192, 248.0)]
    {
        let elimination = 2.8 * f64::from(log - 1);
        let bits = f64::from(t) + elimination;
        assert!((bits - quoted).abs() < 3.5, "2^{log}, {t}: {bits}");
    }
}

/// Distance alone: a binary word of weight 0.1·N has bias 0.8^t.
#[test]
fn distance_alone_asks_for_398_noise_positions() {
    let bits = |t: f64| -t * (1.0 - 2.0 * 0.10_f64).log2();
    assert!(bits(398.0) >= 128.0 && bits(397.0) < 128.0);
    assert!((bits(224.0) - 72.1).abs() < 0.1);
}

/// Section 6: among sums of B words on t places, one has about as many ones as a random [t, B] code's lightest.
#[test]
fn splitting_leaves_light_words_if_noise_is_larger_than_the_field() {
    let entropy = |x: f64| -x * x.log2() - (1.0 - x) * (1.0 - x).log2();
    for (t, bits, weight) in [(192, 128, 12), (256, 128, 28), (192, 64, 33)] {
        let share = |ones: &i32| entropy(f64::from(*ones) / f64::from(t));
        let redundancy = 1.0 - f64::from(bits) / f64::from(t);
        let found = (1..t).find(|ones| share(ones) >= redundancy);
        assert!(found.is_some_and(|ones| (ones - weight).abs() <= 1), "{t}, {bits}: {found:?}");
    }
}
