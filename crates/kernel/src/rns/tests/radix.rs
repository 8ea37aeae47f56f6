use super::{big::Big, *};

/// Sets of primes to lift from, as in the parameter sets and at the bounds.
const SETS: [&[u64]; 6] = [
    &[147_457],
    &[8_589_852_673, 4_295_049_217],
    &[4_398_046_150_657, 4_398_044_938_241, 4_398_044_577_793, 4_398_043_594_753],
    // Very different ones, both ways.
    &[147_457, 1_125_899_906_826_241],
    &[1_125_899_906_826_241, 147_457, 1_125_899_905_744_897],
    &[
        549_755_731_969,
        1_125_899_906_826_241,
        1_125_899_906_629_633,
        1_125_899_905_744_897,
        17_179_672_577,
        147_457,
        281_474_976_546_817,
        281_474_976_317_441,
    ],
];

/// The digits of n integers from 0 to P − 1, by integers: those at the edges, then random ones.
fn digits(primes: &[Modulus], n: usize, random: &mut Stream) -> Vec<Vec<u64>> {
    let edge = |digit: fn(u64) -> u64| primes.iter().map(|p| digit(p.value())).collect::<Vec<_>>();
    let mut all = vec![edge(|_| 0), edge(|p| p - 1), edge(|p| p / 2)];
    // (P + 1)/2, (P − 3)/2, 1 and P − 2.
    for (from, up) in [(2, true), (2, false), (0, true), (1, false)] {
        let mut near: Vec<u64> = all[from].clone();
        near[0] = if up { near[0] + 1 } else { near[0] - 1 };
        all.push(near);
    }
    all.resize_with(n, || primes.iter().map(|p| random.word() % p.value()).collect());
    all
}

fn integer(primes: &[Modulus], digits: &[u64]) -> Big {
    let pairs = primes.iter().zip(digits).rev();
    pairs.fold(Big::zero(), |x, (p, digit)| x.mul_add(p.value(), *digit))
}

/// An RNS polynomial of integers.
pub(super) fn residues_of(primes: &[Modulus], integers: &[Big]) -> Vec<u64> {
    primes.iter().flat_map(|p| integers.iter().map(|x| x.modulo(p.value()))).collect()
}

pub(super) fn random_integers(primes: &[Modulus], n: usize, random: &mut Stream) -> Vec<Big> {
    digits(primes, n, random).iter().map(|digits| integer(primes, digits)).collect()
}

/// Moduli to reduce to.
fn targets() -> Vec<Modulus> {
    primes(&[147_457, 1_125_899_906_826_241, 140_737_488_125_953, 8_589_852_673])
}

fn integers_are_found(backend: Backend) {
    let (mut random, n) = (Stream(7), 40);
    for set in SETS {
        let primes = primes(set);
        let radix = MixedRadix::new(&primes);
        let expected = digits(&primes, n, &mut random);
        let integers: Vec<Big> = expected.iter().map(|digits| integer(&primes, digits)).collect();
        let mut x = residues_of(&primes, &integers);
        radix.digits(backend, &mut x);
        for (j, digits) in expected.iter().enumerate() {
            let actual: Vec<u64> = (0..primes.len()).map(|i| x[i * n + j]).collect();
            assert_eq!(actual, *digits);
        }
        let mut out = vec![0; n];
        for target in targets() {
            radix.residues(backend, &x, &target, &mut out);
            let expected = integers.iter().map(|x| x.modulo(target.value()));
            assert_eq!(out, expected.collect::<Vec<_>>());
        }
        radix.words(backend, &x, &mut out);
        assert_eq!(out, integers.iter().map(Big::low).collect::<Vec<_>>());
        let half = integer(&primes, &set.iter().map(|p| p / 2).collect::<Vec<_>>());
        radix.exceeds_half(backend, &x, &mut out);
        let expected = integers.iter().map(|x| u64::from(x.exceeds(&half)));
        assert_eq!(out, expected.collect::<Vec<_>>());
    }
}

/// X = x + (P − 1)/2 is drawn, and its residues less those of (P − 1)/2 are those of x.
fn centred_integers_are_found(backend: Backend) {
    let (mut random, n) = (Stream(8), 40);
    for set in SETS {
        let primes = primes(set);
        let radix = MixedRadix::centred(&primes);
        let half = integer(&primes, &set.iter().map(|p| p / 2).collect::<Vec<_>>());
        let shifted = random_integers(&primes, n, &mut random);
        let residue = |x: &Big, p: &Modulus| p.sub(x.modulo(p.value()), half.modulo(p.value()));
        let mut x: Vec<u64> =
            primes.iter().flat_map(|p| shifted.iter().map(|x| residue(x, p))).collect();
        radix.digits(backend, &mut x);
        let mut out = vec![0; n];
        for target in targets() {
            radix.residues(backend, &x, &target, &mut out);
            let expected = shifted.iter().map(|x| residue(x, &target));
            assert_eq!(out, expected.collect::<Vec<_>>());
        }
        radix.words(backend, &x, &mut out);
        let expected = shifted.iter().map(|x| x.low().wrapping_sub(half.low()));
        assert_eq!(out, expected.collect::<Vec<_>>());
        radix.exceeds_half(backend, &x, &mut out);
        let expected = shifted.iter().map(|x| u64::from(x.exceeds(&half)));
        assert_eq!(out, expected.collect::<Vec<_>>());
    }
}

on_every_backend! {
    residues_give_the_integer => integers_are_found;
    residues_give_the_centred_integer => centred_integers_are_found;
}

#[test]
#[should_panic(expected = "different primes")]
fn a_prime_that_occurs_twice_is_refused() {
    let _ = MixedRadix::new(&primes(&[147_457, 8_589_852_673, 147_457]));
}
