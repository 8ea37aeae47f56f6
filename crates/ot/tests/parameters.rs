//! The claims about `Module768` and the paper's `Paper512`, recomputed: failure by exact convolution,
//! hardness by core-SVP.
#![allow(clippy::cast_possible_truncation, reason = "supports of distributions are small")]

use foxtrot_kernel::ring;
use foxtrot_ot::base::{
    self, Functionality,
    roted::{Blinded, Endemic, Reply},
};

const Q: i32 = 7681;
const RANK: usize = 3;
const N: usize = 256;
const U_BITS: u32 = 11;

/// A distribution on −offset ..= offset.
#[derive(Clone)]
struct Distribution {
    offset: i32,
    p: Vec<f64>,
}

impl Distribution {
    fn from(support: impl Iterator<Item = (i32, f64)>) -> Self {
        let support: Vec<_> = support.collect();
        let offset = support.iter().map(|(x, _)| x.abs()).max().unwrap();
        let mut p = vec![0.0; 2 * offset as usize + 1];
        for (x, weight) in support {
            p[(x + offset) as usize] += weight;
        }
        Self { offset, p }
    }

    fn support(&self) -> impl Iterator<Item = (i32, f64)> + '_ {
        self.p.iter().enumerate().map(|(i, &p)| (i as i32 - self.offset, p))
    }

    /// Returns the distribution of the sum of two independent values. It adds only products of
    /// non-negative numbers, so that the smallest tails keep their relative precision.
    fn plus(&self, other: &Self) -> Self {
        let mut p = vec![0.0; self.p.len() + other.p.len() - 1];
        for (i, x) in self.p.iter().enumerate().filter(|(_, x)| **x > 0.0) {
            for (sum, y) in p[i..].iter_mut().zip(&other.p) {
                *sum += x * y;
            }
        }
        Self { offset: self.offset + other.offset, p }
    }

    /// Returns the distribution of the product of two independent values.
    fn times(&self, other: &Self) -> Self {
        Self::from(
            self.support().flat_map(|(x, p)| other.support().map(move |(y, r)| (x * y, p * r))),
        )
    }

    /// Returns the distribution of the sum of `count` independent values.
    fn repeated(&self, mut count: usize) -> Self {
        let mut power = self.clone();
        let mut sum = Self { offset: 0, p: vec![1.0] };
        while count > 0 {
            if count % 2 == 1 {
                sum = sum.plus(&power).trimmed();
            }
            count /= 2;
            if count > 0 {
                power = power.plus(&power).trimmed();
            }
        }
        sum
    }

    /// Cuts off ends whose values are less likely than 2⁻⁵⁰⁰ each; symmetric ones only.
    fn trimmed(self) -> Self {
        let cut = self.p.iter().take_while(|&&p| p < 2f64.powi(-500)).count();
        let p = self.p[cut..self.p.len() - cut].to_vec();
        Self { offset: self.offset - cut as i32, p }
    }
}

fn centred_binomial() -> Distribution {
    Distribution::from(
        [(-2, 1.0), (-1, 4.0), (0, 6.0), (1, 4.0), (2, 1.0)]
            .map(|(x, p)| (x, p / 16.0))
            .into_iter(),
    )
}

/// Returns the distribution of the error that rounding to `bits` adds to a uniform coefficient.
fn rounding_error(bits: u32) -> Distribution {
    Distribution::from((0..Q).map(|x| {
        let rounded = (((x << bits) + Q / 2) / Q) % (1 << bits);
        let back = (Q * rounded + (1 << (bits - 1))) >> bits;
        let error = (back - x + Q / 2).rem_euclid(Q) - Q / 2;
        (error, 1.0 / f64::from(Q))
    }))
}

fn hint(x: i32) -> i32 {
    i32::from((961..=2880).contains(&x) || (4801..=6720).contains(&x))
}

fn key_bit(x: i32, hint: i32) -> bool {
    (1921..=5760).contains(&((x + 1920 * hint) % Q))
}

/// A coefficient of k_R − k_S = ⟨s_R, e_S + δ⟩ − ⟨s_S, e_R⟩ − e′, where δ is the rounding error of U.
fn difference(bits: Option<u32>) -> Distribution {
    let chi = centred_binomial();
    let e_s = bits.map_or(chi.clone(), |bits| chi.plus(&rounding_error(bits)));
    chi.times(&e_s).repeated(RANK * N).plus(&chi.times(&chi).repeated(RANK * N)).plus(&chi)
}

/// log₂ of the probability that some coefficient is q/8 or more, by the union.
fn log2_beyond(bits: Option<u32>) -> f64 {
    let difference = difference(bits);
    let beyond = difference.support().filter(|(d, _)| 8 * d.abs() >= Q);
    (N as f64 * beyond.map(|(_, p)| p).sum::<f64>()).log2()
}

/// log₂ of the probability that some of the 256 key bits differ; coefficients are bounded by the union.
fn log2_failure(bits: Option<u32>) -> f64 {
    let difference = difference(bits);
    // How many of the q values of k_S give another bit at distance d; it depends on |d| mod q.
    let mismatches = |d: i32| {
        let differs = |k: i32| key_bit((k + d).rem_euclid(Q), hint(k)) != key_bit(k, hint(k));
        (0..Q).filter(|&k| differs(k)).count() as f64
    };
    let failure: f64 = difference
        .support()
        .filter(|(d, p)| *p > 0.0 && d.abs() > 900)
        .map(|(d, p)| p * mismatches(d) / f64::from(Q))
        .sum();
    (N as f64 * failure).log2()
}

/// Block size of the primal attack on LWE of dimension n with errors of that deviation, with the
/// best number of samples up to `most`, as in [ADPS16]; the attack costs 2^(0.292·β) classically.
fn primal_block_size(n: f64, q: f64, deviation: f64, most: usize) -> f64 {
    let delta = |b: f64| {
        let pi = std::f64::consts::PI;
        ((pi * b).powf(1.0 / b) * b / (2.0 * pi * std::f64::consts::E))
            .powf(1.0 / (2.0 * (b - 1.0)))
    };
    let succeeds = |b: f64| {
        (1..=most).step_by(4).any(|m| {
            let d = n + m as f64 + 1.0;
            let found = deviation.ln() + 0.5 * b.ln();
            found <= (2.0 * b - d - 1.0) * delta(b).ln() + m as f64 / d * q.ln()
        })
    };
    (50..2000).map(f64::from).find(|&b| succeeds(b)).unwrap()
}

#[test]
fn keys_disagree_with_probability_below_2_to_the_minus_128() {
    let failure = log2_failure(Some(U_BITS));
    println!("Module768, U in {U_BITS} bits: 2^{failure:.1} per OT");
    assert!((-250.0..-248.0).contains(&failure), "{failure}");
    // Beyond q/8 only those bits differ whose k is near a border.
    let beyond = log2_beyond(Some(U_BITS));
    println!("some coefficient of q/8 or more: 2^{beyond:.1}");
    assert!((-241.0..-239.0).contains(&beyond), "{beyond}");
}

#[test]
fn the_failure_bound_can_tell_good_roundings_from_bad_ones() {
    let exact = log2_failure(None);
    assert!((-407.0..-404.0).contains(&exact), "{exact}");
    let ten_bits = log2_failure(Some(10));
    assert!((-128.0..-127.0).contains(&ten_bits), "10 bits just miss the bound: {ten_bits}");
}

#[test]
fn core_svp_is_calibrated_on_kyber() {
    for (n, eta, published) in [(512.0, 3.0f64, 118.0), (768.0, 2.0, 182.0)] {
        let bits = 0.292 * primal_block_size(n, 3329.0, (eta / 2.0).sqrt(), 2048);
        assert!((bits - published).abs() < 1.5, "{bits} is not {published}");
    }
}

#[test]
fn uniform_expansion_falls_short_with_probability_below_2_to_the_minus_150() {
    for (q, bits, candidates, wanted) in [(7681.0, 13, 960, 768), (13313.0, 14, 880, 512)] {
        let short = log2_too_few(q / f64::from(1 << bits), candidates, wanted);
        assert!(short < -150.0, "2^{short}");
    }
    // What is tried first of public strings, as the kernel's documentation says.
    for (q, bits, bytes, wanted, said) in [
        (7681.0, 13, ring::module768::USUAL_BYTES, 768, -25.0),
        (13313.0, 14, foxtrot_papers::roted_figure1::ring::USUAL_BYTES, 512, -17.0),
    ] {
        let candidates = u32::try_from(bytes / bits * 8).unwrap();
        let short = log2_too_few(q / f64::from(1 << bits), candidates, wanted);
        assert!(bytes.is_multiple_of(bits) && (said - 1.0..said).contains(&short), "2^{short}");
    }
}

/// Returns log₂ of the probability that fewer than `wanted` candidates are accepted: the binomial tail, each
/// term from the one before, in logarithms.
fn log2_too_few(accept: f64, candidates: u32, wanted: u32) -> f64 {
    let (mut log_term, mut tail) = (f64::from(candidates) * (1.0 - accept).log2(), 0.0f64);
    for k in 0..wanted {
        tail += log_term.exp2();
        let ratio = f64::from(candidates - k) / f64::from(k + 1) * accept / (1.0 - accept);
        log_term += ratio.log2();
    }
    tail.log2()
}

/// The constants of this file are those of the code, as far as its messages show them.
#[test]
fn the_parameters_match_the_messages() {
    let (t, u) = (RANK * N * 13 / 8, RANK * N * U_BITS as usize / 8);
    assert_eq!(Blinded::<Endemic>::encoded_len(1), t + 48);
    assert_eq!(Reply::<Endemic>::encoded_len(1), 2 * (u + N / 8));
    let info = base::find("roted", Functionality::Random).unwrap().info();
    let params = format!("Module768: N = {N}, rank {RANK}, q = {Q}, η = 2, U in {U_BITS} bits");
    assert_eq!(info.params, params);
}

/// The paper's ring, for reproduction.
mod paper512 {
    use foxtrot_papers::roted_figure1::ring::gaussian as gaussian_of_table;

    use super::*;

    const Q: i32 = 13313;
    const N: usize = 512;

    /// P(X = x), proportional to exp(−x²/2σ²) with σ = 2.
    fn gaussian() -> Distribution {
        let weight = |x: i32| (-f64::from(x * x) / 8.0).exp();
        let total: f64 = (-40..=40).map(weight).sum();
        Distribution::from((-40..=40).map(|x| (x, weight(x) / total)))
    }

    /// Returns the distribution of the table, from all inputs to the table.
    fn table() -> Distribution {
        let words: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_le_bytes).collect();
        let coefficients =
            words.chunks(1024).flat_map(|bytes| (0..N).map(gaussian_of_table::<1>(bytes)));
        Distribution::from(coefficients.map(|x| (x.into(), 1.0 / 65536.0)))
    }

    fn centred(x: i32) -> i32 {
        (x + Q / 2).rem_euclid(Q) - Q / 2
    }

    /// log₂ of the probability that some of the 512 parities differ. k_R − k_S is twice
    /// s_R·e_S − s_S·e_R + e′_R − e′_S.
    pub(super) fn log2_failure(chi: &Distribution) -> f64 {
        let half = chi.times(chi).repeated(2 * N).plus(chi).plus(chi);
        // For how many of the q values of k_S, and both coins of Sig, the parity at distance d differs.
        let mismatches = |d: i32| {
            let differs = |k: i32, coin: i32| {
                let shift = if centred(k).abs() > Q / 4 + coin { (Q - 1) / 2 } else { 0 };
                (centred(k + d + shift) - centred(k + shift)) & 1 == 1
            };
            (0..Q).map(|k| [0, 1].iter().filter(|&&coin| differs(k, coin)).count()).sum::<usize>()
        };
        let failure: f64 = half
            .support()
            .filter(|(d, p)| *p > 0.0 && d.abs() > Q / 8 - 10)
            .map(|(d, p)| p * mismatches(2 * d) as f64 / f64::from(2 * Q))
            .sum();
        (N as f64 * failure).log2()
    }

    #[test]
    fn strings_disagree_with_probability_2_to_the_minus_117() {
        let [ideal, table] = [gaussian(), table()].map(|chi| log2_failure(&chi));
        println!("Paper512: 2^{ideal:.1} per OT with the Gaussian, 2^{table:.1} with the table");
        assert!((-117.5..-116.0).contains(&ideal), "{ideal}");
        assert!((-118.0..-116.0).contains(&table), "{table}");
    }

    #[test]
    fn even_differences_below_a_quarter_of_q_keep_the_parity() {
        // The filter of `log2_failure` leaves out nothing.
        for d in [2, 100, 2 * (Q / 8 - 10)] {
            for (k, coin) in (0..Q).flat_map(|k| [(k, 0), (k, 1)]) {
                let shift = if centred(k).abs() > Q / 4 + coin { (Q - 1) / 2 } else { 0 };
                assert_eq!((centred(k + d + shift) - centred(k + shift)) & 1, 0, "{k} {d}");
            }
        }
    }
}

/// Classical and quantum core-SVP bits of the parameter set of that name; `None` if it is no lattice.
fn core_svp(params: &str) -> Option<(f64, f64)> {
    let beta = match params.split_once(':')?.0 {
        "Module768" => primal_block_size(768.0, 7681.0, 1.0, 3 * 768),
        "Paper512" => primal_block_size(512.0, 13313.0, 2.0, 3 * 512),
        _ => return None,
    };
    Some((0.292 * beta, 0.265 * beta))
}

#[test]
fn parameter_sets_below_128_bits_are_marked_reproduction_only() {
    let mut sets = Vec::new();
    for base in foxtrot_papers::base_ots() {
        let info = base.info();
        let Some((classical, quantum)) = core_svp(info.params) else {
            assert!(!info.security.contains("core-SVP"), "{} is not recomputed", info.params);
            continue;
        };
        println!("{}: {classical:.1} classical, {quantum:.1} quantum", info.params);
        assert_eq!(
            info.security,
            format!("core-SVP {classical:.0} classical, {quantum:.0} quantum")
        );
        assert!(classical >= 128.0 && quantum >= 128.0 || info.reproduction, "{}", info.name);
        sets.push((info.name, classical < 128.0));
    }
    assert!(sets.contains(&("roted", false)) && sets.contains(&("roted-figure1", true)));
}

/// `docs/protocols/softspoken.md`, "When h is not injective": both maxima over the number c of
/// classes, in units of 2⁻⁶⁴.
#[test]
fn the_column_check_errs_with_less_than_2_to_the_minus_61() {
    let pairs = |c: f64| c * (c - 1.0) / 2.0;
    let classes = || (2..=128u32).map(f64::from);
    let few = classes().map(|c| pairs(c) * 2f64.powf(-c / 2.0)).fold(0.0, f64::max);
    let many = classes().map(|c| pairs(c) / pairs((c / 2.0).floor() + 1.0)).fold(0.0, f64::max);
    assert!(few < 1.9 && many < 4.0, "{few} {many}");
    assert!((few + many).log2() - 64.0 < -61.0);
    // All the batches of one set of base OTs.
    assert!(21.0 + (few + many).log2() - 64.0 < -40.0);
}

/// `docs/protocols/softspoken.md`, the generator.
#[test]
fn a_key_without_checks_has_at_most_2_to_the_41_bytes() {
    let unchecked = foxtrot_ot::extension::iknp::semi_honest();
    assert_eq!(unchecked.max_batches() * unchecked.max_batch() as u64 / 8, 1 << 41);
}

/// `docs/protocols/oos.md`, the lemma, in all the batches of one set of base OTs, and the guesses.
#[test]
fn the_check_of_oos_errs_with_less_than_2_to_the_minus_40() {
    use foxtrot_ot::extension::one_of_n::MAX_BATCHES;
    let (e, distance) = (42.0_f64, 128.0);
    // Three points of a line, and two codewords near one word.
    assert!(3.0 * e < distance);
    let per_batch = (e + 1.0) * 2f64.powi(-64);
    let guesses = 2f64.powi(-43);
    assert!((MAX_BATCHES as f64 * per_batch + guesses).log2() < -40.0);
}

/// The lemma for repetition [7, 1], e = 2 < 7/3, over GF(16), every χ tried. One Y reaches
/// the bound, (e + 1)/16: e + 1 places of h(Y) differ from the others, each but for a χ of its own. No Y
/// among many does better.
#[test]
fn the_oos_bound_is_attained_by_a_small_example() {
    const E: usize = 2;
    let times = |a: u8, b: u8| {
        let product = (0..4).fold(0, |sum, i| sum ^ (u8::from(b >> i & 1 == 1) * (a << i)));
        (4..7).rev().fold(product, |x, i| if x >> i & 1 == 1 { x ^ 0x13 << (i - 4) } else { x })
    };
    // Places that differ from the constant vector w.
    let errors = |y: &[u8; 7], w: u8| (0..7).filter(|&j| y[j] != w).collect::<Vec<_>>();
    // M = 2: h(Y) = χ·Y₀ + Y₁. A batch is good for E if outside of E both rows are constant.
    let bad = |rows: &[[u8; 7]; 2]| {
        let is_bad = |chi: &u8| {
            let h: [u8; 7] = core::array::from_fn(|j| times(*chi, rows[0][j]) ^ rows[1][j]);
            (0..16).any(|w| {
                let at = errors(&h, w);
                let constant = |row: &[u8; 7]| {
                    let mut rest = (0..7).filter(|j| !at.contains(j)).map(|j| row[j]);
                    let first = rest.next();
                    rest.all(|x| Some(x) == first)
                };
                at.len() <= E && !rows.iter().all(constant)
            })
        };
        (0..16).filter(is_bad).count()
    };
    // Place j < 3 differs from the others by χ − j: at χ = j two such places are left, and batches are
    // not good.
    let worst = [[1, 1, 1, 0, 0, 0, 0], [0, 1, 2, 0, 0, 0, 0]];
    assert_eq!(bad(&worst), E + 1);
    let mut random = 1_u64;
    for _ in 0..20_000 {
        let mut next = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let heavy = random >> 62 == 0;
            if heavy { (random >> 58 & 15) as u8 } else { 0 }
        };
        let rows = [core::array::from_fn(|_| next()), core::array::from_fn(|_| next())];
        assert!(bad(&rows) <= E + 1, "{rows:?}");
    }
}
