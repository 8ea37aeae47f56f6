use super::*;

/// The product modulo Xⁿ + 1, schoolbook.
fn product(p: &Modulus, a: &[u64], b: &[u64]) -> Vec<u64> {
    let n = a.len();
    let mut c = vec![0; n];
    for (i, a) in a.iter().enumerate() {
        for (j, b) in b.iter().enumerate() {
            let term = (u128::from(*a) * u128::from(*b) % u128::from(p.value())) as u64;
            let at = (i + j) % n;
            c[at] = if i + j < n { p.add(c[at], term) } else { p.sub(c[at], term) };
        }
    }
    c
}

/// The value at ψ^(2·rev(j) + 1), by Horner's rule.
fn value(p: &Modulus, f: &[u64], j: usize) -> u64 {
    let n = f.len() as u64;
    let wide = |a: u64, b: u64| (u128::from(a) * u128::from(b) % u128::from(p.value())) as u64;
    let no_square = (2..).find(|x| p.pow(*x, p.value() / 2) != 1).unwrap();
    let psi = p.pow(no_square, (p.value() - 1) / (2 * n));
    let reversed = (j as u64).reverse_bits() >> (64 - n.trailing_zeros());
    let point = p.pow(psi, 2 * reversed + 1);
    f.iter().rev().fold(0, |value, x| p.add(wide(value, point), *x))
}

fn transform(backend: Backend, p: &Modulus, n: usize) -> Ntt<Vec<u64>> {
    Ntt::new(backend, p, n, vec![0; 2 * n]).unwrap()
}

fn products_are_negacyclic_convolutions(backend: Backend) {
    let mut random = Stream(1);
    for value in PRIMES {
        let p = prime(value);
        for n in [128, 256, 512] {
            let ntt = transform(backend, &p, n);
            let (a, mut b) = (words(&p, n, &mut random), words(&p, n, &mut random));
            b.reverse();
            let expected = product(&p, &a, &b);
            let (mut x, mut y) = (a, b);
            ntt.forward(&mut x);
            ntt.forward(&mut y);
            residues::mul(backend, &p, &mut x, &y);
            ntt.inverse(&mut x);
            assert_eq!(x, expected, "{value} {n}");
        }
    }
}

fn values_belong_to_the_documented_points(backend: Backend) {
    let mut random = Stream(2);
    for (value_of_p, n) in [(147_457, 4096), (8_589_852_673, 8192), (1_125_899_905_744_897, 8192)] {
        let p = prime(value_of_p);
        let f = words(&p, n, &mut random);
        let mut values = f.clone();
        transform(backend, &p, n).forward(&mut values);
        for j in [0, 1, 2, 3, 7, 8, 15, 16, 31, 32, n / 2, n / 2 + 1, n - 2, n - 1] {
            assert_eq!(values[j], value(&p, &f, j), "{value_of_p} {n} {j}");
        }
    }
}

/// Inputs at the edges of every length, both ways.
fn transforms_agree(backend: Backend) {
    let mut random = Stream(3);
    for value in PRIMES {
        let p = prime(value);
        for log_n in 7..=15 {
            let n = 1 << log_n;
            let Some(ntt) = Ntt::new(backend, &p, n, vec![0; 2 * n]) else {
                assert!(n > 4096, "all primes serve n = 4096");
                continue;
            };
            let portable = transform(Backend::PORTABLE, &p, n);
            let mut inputs = vec![words(&p, n, &mut random), vec![p.value() - 1; n], vec![0; n]];
            inputs.push((0..n as u64).map(|i| (i % 2) * (p.value() - 1)).collect());
            inputs.push((0..n as u64).map(|i| p.value() / 2 + i % 2).collect());
            for input in inputs {
                let (mut x, mut y) = (input.clone(), input.clone());
                ntt.forward(&mut x);
                portable.forward(&mut y);
                assert_eq!(x, y, "{value} {n}");
                ntt.inverse(&mut x);
                assert_eq!(x, input, "{value} {n}");
                portable.inverse(&mut x);
                ntt.inverse(&mut y);
                ntt.inverse(&mut y);
                x.copy_from_slice(&input);
                portable.inverse(&mut x);
                assert_eq!(x, y, "{value} {n}");
            }
        }
    }
}

fn the_transform_of_one_is_one_everywhere(backend: Backend) {
    for log_n in 7..=13 {
        let (p, n) = (prime(8_589_852_673), 1 << log_n);
        let mut f = vec![0; n];
        f[0] = 1;
        let ntt = transform(backend, &p, n);
        ntt.forward(&mut f);
        assert!(f.iter().all(|x| *x == 1));
        ntt.inverse(&mut f);
        assert_eq!(f.iter().sum::<u64>(), 1);
        assert_eq!(f[0], 1);
    }
}

on_every_backend! {
    products_of_values_are_negacyclic_convolutions => products_are_negacyclic_convolutions;
    values_are_in_the_documented_order => values_belong_to_the_documented_points;
    transforms_agree_with_the_portable_ones => transforms_agree;
    one_has_the_value_one => the_transform_of_one_is_one_everywhere;
}

#[test]
fn a_prime_without_the_roots_is_refused() {
    // 147457 = 1 + 2¹⁴·9.
    let p = prime(147_457);
    assert!(Ntt::new(Backend::PORTABLE, &p, 8192, vec![0; 2 * 8192]).is_some());
    assert!(Ntt::new(Backend::PORTABLE, &p, 16384, vec![0; 2 * 16384]).is_none());
}

#[test]
fn only_primes_in_range_are_moduli() {
    for p in PRIMES {
        assert_eq!(Modulus::new(p).map(|p| p.value()), Some(p));
        assert_eq!(Modulus::new(p).map(|p| p.bits()), Some(64 - p.leading_zeros()));
    }
    // Composite, among them a Carmichael number, a square of a prime, strong pseudoprimes to many
    // bases; even; out of range: the next prime below 2¹³, 2⁵⁰ + 55.
    let composite = [825_265, 90_469_u64.pow(2), 3_215_031_751, 3_474_749_660_383];
    let more = [341_550_071_728_321, 147_458, 147_459, 0, 1, 2, 3, 8191, 1_125_899_906_842_679];
    for n in composite.into_iter().chain(more) {
        assert_eq!(Modulus::new(n), None, "{n}");
    }
    // Small ones by trial division.
    for n in 8193..12_000 {
        let is_prime = (2..110).all(|d| n % d != 0);
        assert_eq!(Modulus::new(n).is_some(), is_prime, "{n}");
    }
}

#[test]
fn the_arithmetic_of_single_words_is_right() {
    let mut random = Stream(4);
    for p in PRIMES {
        let m = prime(p);
        let values = words(&m, 40, &mut random);
        for &a in &values {
            for &b in &values {
                let wide = |x: u128| (x % u128::from(p)) as u64;
                assert_eq!(m.mul(a, b), wide(u128::from(a) * u128::from(b)));
                assert_eq!(m.add(a, b), wide(u128::from(a) + u128::from(b)));
                assert_eq!(m.sub(a, b), wide(u128::from(a) + u128::from(p - b)));
            }
            assert_eq!(m.mul(a, m.inv(a)), u64::from(a != 0));
            assert_eq!(m.add(a, m.neg(a)), 0);
            let factor = m.factor(a);
            assert_eq!(u128::from(factor.quotient), (u128::from(a) << 52) / u128::from(p));
        }
        for x in [0, 1, p, p + 1, 4 * p, u64::MAX, u64::MAX - 1, 1 << 63, random.word()] {
            assert_eq!(m.reduce(x), x % p);
        }
    }
}
