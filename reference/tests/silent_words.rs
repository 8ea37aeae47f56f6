//! Structured words of the code of `docs/wire/silent.md`, and what they cost: the number of accumulators follows from them
//! (`docs/protocols/silent.md`, section 5).
//!
//! A test word is c = p·H for a vector p of N/2 coefficients. It says nothing about noise unless c is 0 at all places of noise. Any N/2 − 1
//! places can be made 0. The structure gives more: a block without coefficients has 64 zeros for 32 coefficients, and where an accumulator
//! adds up zeros, one condition makes a run of sums zero.

#![allow(clippy::cast_possible_truncation, reason = "numbers are small, elements are halves")]

use foxtrot_reference::extension::check::multiply;
use foxtrot_reference::silent::{BLOCK_ROW, Code, Protocol, permutation};

/// Bits per noise position that section 5 counts, for two accumulators and for three.
const BITS: [f64; 2] = [0.70, 0.85];

/// Zeros that a choice of blocks and conditions leads to.
struct Word {
    dropped: Vec<bool>,
    /// The places whose sums are conditions, for each accumulator, the last layer first.
    conditions: Vec<Vec<usize>>,
    zeros: Vec<bool>,
}

impl Word {
    fn count(&self) -> usize {
        self.zeros.iter().filter(|it| **it).count()
    }

    /// −log₂ of the share of zeros: the bits that a noise position costs.
    fn bits(&self) -> f64 {
        -(self.count() as f64 / self.zeros.len() as f64).log2()
    }
}

/// Numbers from a fixed seed, by xorshift.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() >> 16) as usize % bound
    }
}

/// Makes runs of at least `shortest` equal sums zero, the longest first, by at most `most` conditions. `zero` are the zeros among
/// coefficients; sums go from each place to the end. Returns the zeros among sums, and a place of each condition.
fn accumulate(zero: &[bool], most: usize, shortest: usize) -> (Vec<bool>, Vec<usize>) {
    let (mut sums, mut runs, mut start) = (vec![false; zero.len()], vec![], 0);
    for place in (0..zero.len()).filter(|&place| !zero[place]) {
        runs.push((place + 1 - start, place));
        start = place + 1;
    }
    // Behind the last coefficient nothing is added.
    sums[start..].fill(true);
    runs.retain(|run| run.0 >= shortest);
    runs.sort_unstable_by(|a, b| b.cmp(a));
    runs.truncate(most);
    for &(length, last) in &runs {
        sums[last + 1 - length..=last].fill(true);
    }
    (sums, runs.into_iter().map(|run| run.1).collect())
}

/// Builds the word without the blocks `dropped`. Every accumulator but the last keeps the zeros that come to it; the last has the
/// conditions that are left, and `extra` more.
fn build(dropped: &[bool], tables: &[Vec<usize>], extra: usize) -> Word {
    let free = 32 * dropped.iter().filter(|it| !**it).count();
    let mut left = free.saturating_sub(1);
    let mut zeros = vec![false; 64 * dropped.len()];
    for (j, &place) in tables[tables.len() - 1].iter().enumerate() {
        zeros[place] = dropped[j / 64];
    }
    let mut conditions = vec![];
    for level in (0..tables.len()).rev() {
        let (most, shortest) = if level == 0 { (left + extra, 1) } else { (left, 2) };
        let (sums, places) = accumulate(&zeros, most, shortest);
        left = left.saturating_sub(places.len());
        conditions.push(places);
        zeros = match level {
            0 => sums,
            _ => tables[level - 1].iter().map(|&place| sums[place]).collect(),
        };
    }
    Word { dropped: dropped.to_vec(), conditions, zeros }
}

/// Searches the blocks to drop: for several numbers of them, exchanges a block for another while this does not lose zeros.
fn search(tables: &[Vec<usize>], steps: usize, extra: usize) -> Word {
    let blocks = tables[0].len() / 64;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut best = build(&vec![false; blocks], tables, extra);
    let percents = if tables.len() == 2 { 16..=26 } else { 6..=13 };
    let mut numbers: Vec<usize> = percents.step_by(2).map(|it| blocks * it / 100).collect();
    numbers.dedup();
    for number in numbers {
        let mut dropped: Vec<bool> = (0..blocks).map(|it| it < number).collect();
        let mut word = build(&dropped, tables, extra);
        for _ in 0..steps {
            let (a, b) = (random.below(blocks), random.below(blocks));
            dropped.swap(a, b);
            let other = build(&dropped, tables, extra);
            if other.count() < word.count() {
                dropped.swap(a, b);
            } else {
                word = other;
            }
        }
        if word.count() > best.count() {
            best = word;
        }
    }
    best
}

fn tables(n: usize, accumulators: u8) -> Vec<Vec<usize>> {
    (1..=accumulators).map(|layer| permutation(n, layer)).collect()
}

/// Searches and prints; asserts that the word beats a random one, and that section 5 counts no more bits than it leaves.
fn measure(n: usize, steps: usize) {
    for (accumulators, counted) in [2, 3].into_iter().zip(BITS) {
        let word = search(&tables(n, accumulators), steps, 0);
        let (bits, share) = (word.bits(), word.count() as f64 / n as f64);
        println!("N {n}, {accumulators} accumulators: {share:.4} zeros, {bits:.3} bits");
        assert!(counted < bits && bits < 0.95, "{bits}");
    }
}

#[test]
fn words_of_many_zeros_leave_the_bits_that_are_counted() {
    measure(1024, 200);
    measure(4096, 100);
}

/// The table of section 5.
#[test]
#[ignore = "minutes"]
fn words_of_many_zeros_leave_the_bits_that_are_counted_in_a_long_search() {
    for (n, steps) in [(1024, 5000), (4096, 2000), (16_384, 600), (65_536, 100)] {
        measure(n, steps);
    }
}

/// Total length of the longest `x` of `density` runs, per place, if the ends of runs are random.
fn longest(density: f64, x: f64) -> f64 {
    let beyond = |length: i32| density * (1.0 - density).powi(length);
    let length = (0..).find(|&length| beyond(length + 1) < x || length > 10_000).unwrap_or(0);
    let above = beyond(length + 1);
    above * (f64::from(length + 1) + 1.0 / density) + (x - above) * f64::from(length + 1)
}

/// The largest share of zeros for large N, without search: over the share of blocks that are left, and all ways to spend conditions.
fn most_zeros(density: f64, left: f64, accumulators: u8) -> f64 {
    if accumulators == 1 {
        return if left < density { longest(density, left) } else { 1.0 };
    }
    let spent = (1..120).map(|step| left * f64::from(step) / 120.0);
    let zeros = spent.map(|x| most_zeros(1.0 - longest(density, x), left - x, accumulators - 1));
    zeros.fold(0.0, f64::max)
}

#[test]
fn large_codes_have_the_share_of_zeros_that_the_page_counts() {
    for (accumulators, exponent, page) in [(2, 3.0, 0.603), (3, 7.0, 0.547)] {
        // All zeros of all accumulators are kept where the share of blocks to this power is 1/2.
        let zeros = 1.0 - 0.5_f64.powf(1.0 / exponent) / 2.0;
        assert!((zeros - page).abs() < 0.0005, "{accumulators}: {zeros}");
        let shares = (140..=194).map(|it| f64::from(it) / 200.0);
        let most = shares.map(|share| most_zeros(share, share / 2.0, accumulators));
        let most = most.fold(0.0, f64::max);
        // On a grid, so it is a little less.
        assert!((zeros - 0.003..zeros + 0.0005).contains(&most), "{accumulators}: {most}");
    }
}

/// Shares of run lengths 1, 2, … of mean 1/`density`: geometric ones, times `weight`, times a power of a number. Also returns how much
/// less likely than geometric they are: bits per place.
fn tilted(density: f64, weight: impl Fn(f64) -> f64) -> (Vec<f64>, f64) {
    let typical: Vec<f64> = (0..60).map(|it| density * (1.0 - density).powi(it)).collect();
    let shares = |slope: f64| {
        let lengths = (1..).map(f64::from).zip(&typical);
        let shares: Vec<f64> =
            lengths.map(|(length, it)| it * weight(length) * (-slope * length).exp()).collect();
        let sum: f64 = shares.iter().sum();
        shares.into_iter().map(|it| it / sum).collect::<Vec<_>>()
    };
    let mean = |shares: &[f64]| (1..).map(f64::from).zip(shares).map(|(l, it)| l * it).sum::<f64>();
    let (mut low, mut high) = (-3.0, 5.0);
    for _ in 0..60 {
        let middle = (low + high) / 2.0;
        if mean(&shares(middle)) > 1.0 / density { low = middle } else { high = middle }
    }
    let shares = shares(low);
    let bits = shares.iter().zip(&typical).map(|(it, typical)| it * (it / typical).log2());
    let bits = density * bits.sum::<f64>();
    (shares, bits)
}

/// A search without limits is not bounded by its typical gain: by their number alone, there may be choices of blocks and of first runs
/// with two accumulators that lead to 0.655·N zeros. The numbers are the best that we found.
#[test]
fn better_choices_than_those_of_the_search_may_exist() {
    let entropy = |x: f64| {
        if x > 0.0 && x < 1.0 { -x * x.log2() - (1.0 - x) * (1.0 - x).log2() } else { 0.0 }
    };
    let lengths = || (1..).map(f64::from);
    // A share of 0.68 of the blocks is left: so many bits of choice per place.
    let left = 0.68;
    let budget = entropy(left) / 64.0;
    // Runs behind the first accumulator are taken the more often the longer they are.
    let (steep, middle) = (6.25, 1.412);
    let (shares, bits) =
        tilted(left, |length| (1.0 + (steep * (length - middle)).exp()).powf(0.238));
    assert!(bits <= budget);
    let taken = |length: f64| 1.0 / (1.0 + (-steep * (length - middle)).exp());
    let sum = |of: &dyn Fn(f64) -> f64| {
        left * lengths().zip(&shares).map(|(length, it)| it * of(length)).sum::<f64>()
    };
    let (conditions, zeros) = (sum(&taken), sum(&|length| length * taken(length)));
    let budget = budget - bits + sum(&|length| entropy(taken(length)));
    // Behind the second accumulator the longest runs are taken.
    let rest = left / 2.0 - conditions;
    let (shares, bits) = tilted(1.0 - zeros, |length| (2.47 * (length - 1.913).max(0.0)).exp());
    assert!(bits <= budget);
    let (mut open, mut share) = (rest / (1.0 - zeros), 0.0);
    for (length, it) in lengths().zip(&shares).collect::<Vec<_>>().into_iter().rev() {
        let these = it.min(open);
        open -= these;
        share += (1.0 - zeros) * these * length;
    }
    assert!((0.655..0.657).contains(&share), "{share}");
}

#[test]
fn every_size_has_the_bits_of_its_name_by_the_count() {
    for (name, least) in [
        ("silent-vole", 144.0),
        ("silent-vole-margin", 192.0),
        ("silent-vole-semi-honest", 144.0),
        ("silent", 144.0),
        ("silent-semi-honest", 144.0),
    ] {
        for m in (0..21).flat_map(|log| [1 << log, 3 << log >> 1, 5 << log >> 2]) {
            let sizes = Protocol::named(name).sizes(m.clamp(1, Protocol::named(name).most()));
            let bits = BITS[usize::from(sizes.accumulators) - 2] * sizes.t as f64;
            assert!(bits >= least, "{name}, {m}: {bits}");
        }
    }
}

/// Binary noise has one more equation per block of it, the parity; and a test needs about 144 words for 144 bits. The smallest code
/// gains most.
#[test]
fn binary_noise_keeps_its_bits_in_spite_of_parities() {
    let sizes = Protocol::named("silent").sizes(1);
    assert_eq!((sizes.t, sizes.n, sizes.accumulators), (224, 7168, 2));
    let word = search(&tables(sizes.n, 2), 60, sizes.t - 144);
    let bits = word.bits() * sizes.t as f64;
    assert!((144.0..170.0).contains(&bits), "{bits}");
}

/// Returns p, not zero, with p·row = 0 for all `rows`, one fewer than coefficients, over GF(2⁶⁴).
fn kernel(mut rows: Vec<Vec<u64>>) -> Vec<u64> {
    let free = rows[0].len();
    let mut pivots = vec![];
    for column in 0..free {
        let Some(found) = (pivots.len()..rows.len()).find(|&it| rows[it][column] != 0) else {
            continue;
        };
        let rank = pivots.len();
        rows.swap(rank, found);
        let inverse = inverse(rows[rank][column]);
        rows[rank].iter_mut().for_each(|it| *it = multiply(*it, inverse));
        let (above, below) = rows.split_at_mut(rank + 1);
        for row in below.iter_mut().filter(|row| row[column] != 0) {
            let factor = row[column];
            for (entry, pivot) in row[column..].iter_mut().zip(&above[rank][column..]) {
                *entry ^= multiply(factor, *pivot);
            }
        }
        pivots.push(column);
    }
    // The first free column is 1; columns behind it are 0 if they are free.
    let one = (0..free).find(|it| !pivots.contains(it)).unwrap_or(0);
    let mut p = vec![0; free];
    p[one] = 1;
    for (row, &column) in rows.iter().zip(&pivots).rev() {
        let later = row[column + 1..].iter().zip(&p[column + 1..]);
        p[column] = later.fold(0, |sum, (&a, &b)| sum ^ multiply(a, b));
    }
    p
}

/// x^(2⁶⁴ − 2).
fn inverse(x: u64) -> u64 {
    let (mut power, mut inverse) = (x, 1);
    for _ in 1..64 {
        power = multiply(power, power);
        inverse = multiply(inverse, power);
    }
    inverse
}

/// Sums of `rows` from each to the end.
fn suffix_sums(rows: &mut [Vec<u64>]) {
    for place in (1..rows.len()).rev() {
        let (before, after) = rows.split_at_mut(place);
        before[place - 1].iter_mut().zip(&after[0]).for_each(|(sum, it)| *sum ^= it);
    }
}

/// The conditions are independent enough: a word exists, and has the zeros that were counted, by the encoder.
#[test]
fn a_word_of_many_zeros_is_one_of_the_code() {
    let n = 512;
    let protocol = Protocol::named("silent-vole-semi-honest");
    let code = Code::new(protocol, n, 2);
    let word = search(&code.permutations, 400, 0);
    assert!(word.count() > n / 2 + n / 32, "{}", word.count());

    // Row j: what value j before the last permutation is, as a sum of the coefficients p.
    let used: Vec<usize> = (0..n / 64).filter(|&it| !word.dropped[it]).collect();
    let mut rows = vec![vec![0; 32 * used.len()]; n];
    for (number, &block) in used.iter().enumerate() {
        for i in 0..32 {
            let column = 32 * number + i;
            rows[64 * block + i][column] = 1;
            for l in (0..32).filter(|l| BLOCK_ROW.rotate_left(i as u32) >> l & 1 == 1) {
                rows[64 * block + 32 + l][column] = 1;
            }
        }
    }
    let mut at = vec![vec![]; n];
    for (&place, row) in code.permutations[1].iter().zip(rows) {
        at[place] = row;
    }
    suffix_sums(&mut at);
    let mut conditions: Vec<_> = word.conditions[0].iter().map(|&it| at[it].clone()).collect();
    for (row, &d) in at.iter_mut().zip(&code.factors[0]) {
        row.iter_mut().for_each(|it| *it = multiply(*it, d as u64));
    }
    let mut before: Vec<_> = code.permutations[0].iter().map(|&it| at[it].clone()).collect();
    suffix_sums(&mut before);
    conditions.extend(word.conditions[1].iter().map(|&it| before[it].clone()));
    assert!(conditions.len() < 32 * used.len());

    let p = kernel(conditions);
    let test = |input: &[u128]| {
        let output = code.encode(input);
        let values = used.iter().flat_map(|block| &output[32 * block..32 * block + 32]);
        values.zip(&p).fold(0, |sum, (&y, &p)| sum ^ multiply(y as u64, p))
    };
    let mut random = Random(1);
    let noise: Vec<u128> = (0..n).map(|_| u128::from(random.next())).collect();
    let at = |zero: bool| -> Vec<u128> {
        noise.iter().zip(&word.zeros).map(|(&e, &it)| if it == zero { e } else { 0 }).collect()
    };
    assert_eq!(test(&at(true)), 0);
    assert_ne!(test(&at(false)), 0);
}
