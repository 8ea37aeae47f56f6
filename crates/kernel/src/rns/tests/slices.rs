use super::*;

/// Calls `law` with a prime and three slices of words at the edges and others, in different orders.
fn on_words(law: impl Fn(&Modulus, &[u64], &[u64], &[u64])) {
    let mut random = Stream(5);
    for value in PRIMES {
        let p = prime(value);
        for n in [0, 8, 40, 64] {
            let a = words(&p, n, &mut random);
            let b: Vec<u64> = a.iter().rev().copied().collect();
            let c = words(&p, n, &mut random);
            law(&p, &a, &b, &c);
            law(&p, &a, &a, &b);
        }
    }
}

fn expect(actual: &[u64], expected: impl Fn(usize) -> u64) {
    for (i, actual) in actual.iter().enumerate() {
        assert_eq!(*actual, expected(i), "{i}");
    }
}

/// a·b + c.
fn term(p: &Modulus, a: u64, b: u64, c: u64) -> u64 {
    ((u128::from(a) * u128::from(b) + u128::from(c)) % u128::from(p.value())) as u64
}

fn sums_and_differences(backend: Backend) {
    on_words(|p, a, b, _| {
        let mut x = a.to_vec();
        residues::add(backend, p, &mut x, b);
        expect(&x, |i| (a[i] + b[i]) % p.value());
        let mut x = a.to_vec();
        residues::sub(backend, p, &mut x, b);
        expect(&x, |i| (a[i] + p.value() - b[i]) % p.value());
        let mut x = a.to_vec();
        residues::neg(backend, p, &mut x);
        expect(&x, |i| (p.value() - a[i]) % p.value());
    });
}

fn products(backend: Backend) {
    on_words(|p, a, b, c| {
        let mut x = a.to_vec();
        residues::mul(backend, p, &mut x, b);
        expect(&x, |i| term(p, a[i], b[i], 0));
        let mut x = c.to_vec();
        residues::mul_add(backend, p, &mut x, a, b);
        expect(&x, |i| term(p, a[i], b[i], c[i]));
    });
}

fn multiples(backend: Backend) {
    on_words(|p, a, b, c| {
        for w in [0, 1, p.value() - 1, p.value() / 2, 12_345] {
            let mut x = a.to_vec();
            residues::mul_scalar(backend, p, &mut x, w);
            expect(&x, |i| term(p, a[i], w, 0));
            let mut x = a.to_vec();
            residues::mul_scalar_add(backend, p, &mut x, b, w);
            expect(&x, |i| term(p, b[i], w, a[i]));
            // Beyond p as well.
            let far: Vec<u64> = c.iter().map(|c| (1 << 50) - 1 - c).collect();
            let mut x = a.to_vec();
            residues::mul_scalar_add(backend, p, &mut x, &far, w);
            expect(&x, |i| term(p, far[i], w, a[i]));
            let mut x = a.to_vec();
            residues::sub_mul_scalar(backend, p, &mut x, c, w);
            expect(&x, |i| term(p, a[i] + p.value() - c[i], w, 0));
        }
    });
}

fn integers(backend: Backend) {
    on_words(|p, a, _, _| {
        let mut x = vec![1; a.len()];
        let edges = [0, 1, -1, i8::MAX, i8::MIN, 21, -21, 3].into_iter().cycle();
        let small: Vec<i8> = edges.take(a.len()).collect();
        let residue = |i: usize| i64::from(small[i]).rem_euclid(p.value().cast_signed());
        residues::set_small(backend, p, &mut x, &small);
        expect(&x, |i| residue(i).cast_unsigned());
        let mut x = a.to_vec();
        residues::add_small(backend, p, &mut x, &small);
        expect(&x, |i| (a[i] + residue(i).cast_unsigned()) % p.value());
    });
}

on_every_backend! {
    sums_and_differences_are_canonical => sums_and_differences;
    products_are_canonical => products;
    multiples_are_canonical => multiples;
    integers_are_reduced => integers;
}
