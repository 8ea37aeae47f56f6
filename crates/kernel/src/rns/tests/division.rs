use super::{
    big::Big,
    radix::{random_integers, residues_of},
    *,
};

/// Kept primes, removed primes and low bits, as in the parameter sets and at the bounds.
const CASES: [(&[u64], &[u64], u32); 7] = [
    (&[147_457], &[549_755_731_969, 274_877_816_833], 1),
    (&[147_457], &[549_755_731_969, 274_877_816_833], 9),
    (
        &[4_398_046_150_657, 4_398_044_938_241, 4_398_044_577_793, 4_398_043_594_753],
        &[
            140_737_488_125_953,
            70_368_743_587_841,
            70_368_743_489_537,
            70_368_743_292_929,
            70_368_742_408_193,
        ],
        10,
    ),
    (
        &[8_589_852_673, 4_295_049_217],
        &[1_125_899_906_826_241, 1_125_899_906_629_633, 1_125_899_905_744_897],
        11,
    ),
    // As for a public key.
    (&[549_755_731_969, 274_877_816_833], &[147_457], 0),
    // Small and large ones mixed.
    (&[1_125_899_906_826_241, 147_457], &[8_589_852_673, 1_125_899_905_744_897, 40_961], 20),
    (&[147_457], &[1_125_899_906_826_241], 63),
];

fn set((kept, removed, low_bits): (&[u64], &[u64], u32)) -> (Vec<Modulus>, Vec<Modulus>, Divider) {
    let (kept, removed) = (primes(kept), primes(removed));
    let divider = Divider::new(&kept, &removed, low_bits);
    (kept, removed, divider)
}

fn quotients_are_exact(backend: Backend) {
    let (mut random, n) = (Stream(9), 40);
    for case in CASES {
        let (kept, removed, divider) = set(case);
        let all: Vec<Modulus> = kept.iter().chain(&removed).copied().collect();
        let integers = random_integers(&all, n, &mut random);
        let (mut x, mut y) = (residues_of(&kept, &integers), residues_of(&removed, &integers));
        let mut low = vec![1; n];
        divider.divide(backend, &mut x, &mut y, &mut low);
        let quotients: Vec<Big> = integers
            .iter()
            .map(|c| {
                removed.iter().rev().fold(c.mul_add(1 << case.2, 0), |x, r| {
                    x.mul_add(1, r.value() / 2).divide(r.value()).0
                })
            })
            .collect();
        assert_eq!(x, residues_of(&kept, &quotients));
        let mask = (1 << case.2) - 1;
        assert_eq!(low, quotients.iter().map(|x| x.low() & mask).collect::<Vec<_>>());
    }
}

/// Checks that adding a multiple of R adds a multiple of 2ᵗ, everywhere: hiding rests on that.
fn quotients_shift(backend: Backend) {
    let (mut random, n) = (Stream(10), 64);
    for case in CASES {
        let (kept, removed, divider) = set(case);
        let all: Vec<Modulus> = kept.iter().chain(&removed).copied().collect();
        let integers = random_integers(&all, n, &mut random);
        let v: Vec<u64> = (0..n).map(|_| random.word() >> 14).collect();
        let (mut x, mut y) = (residues_of(&kept, &integers), residues_of(&removed, &integers));
        // C + R·v, modulo the kept primes; modulo the removed ones it is C.
        let mut shifted = x.clone();
        for (p, x) in kept.iter().zip(shifted.chunks_mut(n)) {
            let r = removed.iter().fold(1, |product, r| p.mul(product, p.reduce(r.value())));
            for (x, v) in x.iter_mut().zip(&v) {
                *x = p.add(*x, p.mul(r, p.reduce(*v)));
            }
        }
        let (mut shifted_y, mut low, mut shifted_low) = (y.clone(), vec![0; n], vec![0; n]);
        divider.divide(backend, &mut x, &mut y, &mut low);
        divider.divide(backend, &mut shifted, &mut shifted_y, &mut shifted_low);
        assert_eq!(low, shifted_low);
        for (p, (x, shifted)) in kept.iter().zip(x.chunks(n).zip(shifted.chunks(n))) {
            let step = p.pow(2, case.2.into());
            for i in 0..n {
                assert_eq!(shifted[i], p.add(x[i], p.mul(step, p.reduce(v[i]))));
            }
        }
    }
}

fn low_bits_are_rounded_away(backend: Backend) {
    let (mut random, n) = (Stream(11), 64);
    for value in PRIMES {
        let p = prime(value);
        for bits in [0, 1, 2, 9, 10, 11, 30, 50] {
            let edges = [0, 1, (1 << bits) / 2, ((1u64 << bits) / 2).saturating_sub(1)];
            let x: Vec<u128> = edges
                .into_iter()
                .chain([u64::MAX, value << 2, (value << 2) - 1])
                .chain(std::iter::from_fn(|| Some(random.word())))
                .map(u128::from)
                .take(n)
                .collect();
            let mut residues: Vec<u64> = x.iter().map(|x| (x % u128::from(value)) as u64).collect();
            let low: Vec<u64> = x.iter().map(|x| (x % (1 << bits)) as u64).collect();
            round_low(backend, &p, &mut residues, &low, bits);
            let rounded = x.iter().map(|x| (x + (1 << bits) / 2) >> bits);
            let expected = rounded.map(|x| (x % u128::from(value)) as u64);
            assert_eq!(residues, expected.collect::<Vec<_>>(), "{value} {bits}");
        }
    }
}

on_every_backend! {
    nested_division_is_exact => quotients_are_exact;
    division_commutes_with_adding_multiples => quotients_shift;
    the_low_bits_round => low_bits_are_rounded_away;
}
