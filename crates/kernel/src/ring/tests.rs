//! Laws of the rings, stamped onto every backend of this machine.

extern crate std;
use proptest::prelude::*;
use std::{vec, vec::Vec};

use super::*;
use crate::laws::{Stream, on_every_backend};

/// The product mod X^N + 1 by the definition.
fn schoolbook<const N: usize, const Q: u16>(a: &[u16; N], b: &[u16; N]) -> [u16; N] {
    let mut product = [0i64; N];
    for i in 0..N {
        for j in 0..N {
            let term = i64::from(a[i]) * i64::from(b[j]);
            if i + j < N {
                product[i + j] += term;
            } else {
                product[i + j - N] -= term;
            }
        }
    }
    product.map(|x| u16::try_from(x.rem_euclid(i64::from(Q))).unwrap())
}

/// Zero, one, X, −1, all q − 1, and two that look random.
fn special_polynomials<const N: usize, const Q: u16>() -> Vec<Poly<N, Q>> {
    let unit = |k: usize, x: u16| core::array::from_fn(|i| if i == k { x } else { 0 });
    let mut all = vec![[0; N], unit(0, 1), unit(1, 1), unit(0, Q - 1), unit(N - 1, Q - 1)];
    all.push([Q - 1; N]);
    // Painted with a prime period, so that swapped blocks show.
    all.push(core::array::from_fn(|i| u16::try_from(i % 251 * 29).unwrap() % Q));
    all.push(core::array::from_fn(|i| u16::try_from(i * i * 31 % 65521).unwrap() % Q));
    all.into_iter().map(|c| Poly::new(c).unwrap()).collect()
}

fn multiplies_as_the_ring<const N: usize, const Q: u16>(backend: Backend) {
    let polys = special_polynomials::<N, Q>();
    for a in &polys {
        for b in &polys {
            let (x, y) = (a.clone().into_ntt(backend), b.clone().into_ntt(backend));
            let product = NttPoly::inner_product(backend, [&x], [&y]).into_poly(backend);
            assert_eq!(product.0, schoolbook::<N, Q>(&a.0, &b.0));
        }
    }
}

fn products_with_a_factor_are_those_of_the_ring<const N: usize, const Q: u16>(backend: Backend) {
    for pattern in [0x00, 0x33, 0xcc, 0x5a, 0xe1] {
        let bytes: Vec<u8> = (0..N / 2).map(|i| pattern ^ u8::try_from(i % 241).unwrap()).collect();
        let noise = Poly::<N, Q>::centred_binomial(backend, &bytes);
        let mut factor = Factor::<N, Q>::ZERO;
        factor.set_noise(backend, &bytes);
        for a in special_polynomials::<N, Q>() {
            let expected = schoolbook::<N, Q>(&noise.0, &a.0);
            let a = a.into_ntt(backend);
            let mut values = NttPoly::ZERO;
            values.set_product(backend, [&factor], [&a]);
            let (mut added, mut twice) = (values.clone(), values.clone());
            added.add_product(backend, &factor, &a);
            twice.add(backend, &values);
            assert_eq!(added, twice);
            let mut rounded = [vec![0; N / 8 * 11], vec![0; N / 8 * 11]];
            vectors::round_noisy::<N, Q, 11>(backend, &mut values.clone(), &bytes, &mut rounded[0]);
            let mut product = values.into_poly(backend);
            assert_eq!(product.0, expected);
            product.add_noise(backend, &bytes);
            product.round_and_pack::<11>(backend, &mut rounded[1]);
            assert_eq!(rounded[0], rounded[1]);
            for c in special_polynomials::<N, Q>() {
                let (mut plus, mut sum) = (Poly::ZERO, Poly(expected));
                plus.set_product_plus(backend, &factor, &a, &c);
                sum.add(backend, &c);
                assert_eq!(plus, sum);
            }
        }
    }
}

fn noise_is_added_alike_to_coefficients_and_values<const N: usize, const Q: u16>(backend: Backend) {
    let bytes: Vec<u8> = (0..N / 2).map(|i| u8::try_from(i * 7 % 256).unwrap()).collect();
    let noise = Poly::<N, Q>::centred_binomial(backend, &bytes);
    for poly in special_polynomials::<N, Q>() {
        let mut expected = poly.clone();
        expected.add(backend, &noise);
        let mut values = poly.clone().into_ntt(backend);
        values.add_noise(backend, &bytes);
        assert_eq!(values.into_poly(backend), expected);
        let mut coefficients = poly;
        coefficients.add_noise(backend, &bytes);
        assert_eq!(coefficients, expected);
    }
}

/// Every coefficient that there is, N at a time.
fn every_coefficient() -> impl Iterator<Item = Poly<256, 7681>> {
    (0..31)
        .map(|block| Poly(core::array::from_fn(|i| u16::try_from(block * 256 + i).unwrap() % 7681)))
}

fn rounding_and_hints_are_the_portable_ones_at_every_coefficient(backend: Backend) {
    for poly in every_coefficient() {
        let everything = |backend| {
            let (mut rounded, mut hints) = ([0; 352], [0; 32]);
            let mut keys = [[0; 32]; 4];
            poly.round_and_pack::<11>(backend, &mut rounded);
            poly.reconcile(backend, &mut hints, &mut keys[0]);
            poly.key_bits(backend, &hints, &mut keys[1]);
            poly.key_bits(backend, &[0x00; 32], &mut keys[2]);
            poly.key_bits(backend, &[0xff; 32], &mut keys[3]);
            (rounded, hints, keys)
        };
        assert_eq!(everything(backend), everything(Backend::PORTABLE));
    }
    for block in 0..8 {
        let bytes: Vec<u8> =
            (0..352).map(|i| u8::try_from(i * (block + 1) % 256).unwrap()).collect();
        let unpack = |backend| Poly::<256, 7681>::unpack_rounded::<11>(backend, &bytes);
        assert_eq!(unpack(backend), unpack(Backend::PORTABLE));
    }
}

fn the_transform_evaluates_in_the_order_of_the_wire_document<const N: usize, const Q: u16>(
    backend: Backend,
) {
    let psi = u64::from(field::root_of_unity::<Q>(2 * N as u64));
    let power = |e: usize| (0..e).fold(1, |x, _| x * psi % u64::from(Q));
    for poly in special_polynomials::<N, Q>() {
        let values = poly.clone().into_ntt(backend);
        for i in [0, 1, 2, N / 2, N - 1] {
            let reversed = i.reverse_bits() >> (usize::BITS - N.ilog2());
            let point = power(2 * reversed + 1);
            let value =
                poly.0.iter().rev().fold(0, |sum, &c| (sum * point + u64::from(c)) % u64::from(Q));
            assert_eq!(u64::from(values.0[i]), value);
        }
    }
}

fn transforms_are_inverse_and_linear<const N: usize, const Q: u16>(backend: Backend) {
    let polys = special_polynomials::<N, Q>();
    for a in &polys {
        assert_eq!(&a.clone().into_ntt(backend).into_poly(backend), a);
        for b in &polys {
            let (mut sum, mut transformed) = (a.clone(), a.clone().into_ntt(backend));
            sum.add(backend, b);
            transformed.add(backend, &b.clone().into_ntt(backend));
            assert_eq!(sum.clone().into_ntt(backend), transformed);
            let b = b.clone().into_ntt(backend);
            transformed.sub_if(backend, 0, &b);
            assert_eq!(sum.into_ntt(backend), transformed);
            let mut other = transformed.clone();
            other.sub_if(backend, 1, &b);
            transformed.sub(backend, &b);
            assert_eq!(transformed, other);
            assert_eq!(&transformed.into_poly(backend), a);
        }
    }
}

fn inner_products_of_rank_three_do_not_overflow(backend: Backend) {
    let largest = Poly::<256, 7681>([7680; 256]).into_ntt(backend);
    let worst = NttPoly::<256, 7681>([7680; 256]);
    let sum = NttPoly::inner_product(backend, [&worst; 3], [&worst; 3]);
    assert_eq!(sum.0, [3; 256]);
    let sum = NttPoly::inner_product(backend, [&largest; 3], [&worst, &largest, &worst]);
    assert!(sum.0.iter().all(|&x| x < 7681));
    // 2¹⁶ = 4088.
    let factor = Factor::<256, 7681>([7680; 256]);
    let mut values = NttPoly::ZERO;
    values.set_product(backend, [&factor; 3], [&worst; 3]);
    assert!(values.0.iter().all(|&x| u32::from(x) * 4088 % 7681 == 3));
}

fn encodings_round_trip_and_are_strict(backend: Backend) {
    let poly = NttPoly::<256, 7681>(core::array::from_fn(|i| 7680 - u16::try_from(i).unwrap()));
    let mut bytes = [0; 416];
    poly.pack::<13>(backend, &mut bytes);
    assert_eq!(NttPoly::unpack::<13>(backend, &bytes), Ok(poly.clone()));
    for coefficient in [0, 1, 7, 8, 255] {
        for value in [7681, 8191] {
            let mut bad = poly.clone();
            bad.0[coefficient] = value;
            bad.pack::<13>(backend, &mut bytes);
            assert_eq!(NttPoly::<256, 7681>::unpack::<13>(backend, &bytes), Err(OutOfRange));
        }
    }
    assert_eq!(Poly::<256, 7681>::new([7681; 256]), Err(OutOfRange));
}

fn rounding_errs_by_at_most_half_a_step(backend: Backend) {
    for poly in special_polynomials::<256, 7681>() {
        let mut bytes = [0; 352];
        poly.round_and_pack::<11>(backend, &mut bytes);
        let back = Poly::<256, 7681>::unpack_rounded::<11>(backend, &bytes);
        for (&x, &y) in poly.0.iter().zip(&back.0) {
            let error = (i32::from(x) - i32::from(y)).rem_euclid(7681);
            assert!(error.min(7681 - error) <= 2);
        }
    }
}

fn keys_agree_under_small_noise(backend: Backend) {
    for poly in special_polynomials::<256, 7681>() {
        let (mut hints, mut key, mut other) = ([0; 32], [0; 32], [0; 32]);
        poly.reconcile(backend, &mut hints, &mut key);
        let mut close = poly.clone();
        close.add(
            backend,
            &Poly(core::array::from_fn(|i| if i % 2 == 0 { 900 } else { 7681 - 900 })),
        );
        close.key_bits(backend, &hints, &mut other);
        assert_eq!(key, other);
    }
}

/// Σ aₖ·bₖ as a polynomial.
fn product<const N: usize, const Q: u16, const K: usize>(
    backend: Backend,
    a: [&Factor<N, Q>; K],
    b: [&NttPoly<N, Q>; K],
) -> Poly<N, Q> {
    let mut values = NttPoly::ZERO;
    values.set_product(backend, a, b);
    values.into_poly(backend)
}

/// Polynomials go through their layers side by side; the room is used again and again.
fn vectors_are_their_polynomials(backend: Backend) {
    let mut stream = Stream(7);
    let mut room = vectors::Room::empty();
    for _ in 0..3 {
        let bytes = stream.bytes(3 * 1560);
        let mut a = [const { [module768::NttPoly::ZERO; 3] }; 3];
        NttPoly::uniform_all::<13, 3>(backend, &bytes, &mut a);
        let h = NttPoly::uniform::<13, 3>(backend, &bytes[1500..3060]);
        let (s_bytes, e_bytes) = bytes[..768].split_at(384);

        let [mut s, mut alone] = [const { [const { Factor::ZERO }; 3] }; 2];
        vectors::set_noise(backend, s_bytes, &mut s);
        for ((alone, s), bytes) in alone.iter_mut().zip(&s).zip(s_bytes.chunks(128)) {
            alone.set_noise(backend, bytes);
            assert_eq!(alone.0, s.0);
        }

        let [mut packed, mut expected] = [[0; 3 * 416]; 2];
        vectors::pack_blinded::<_, _, 13, 3>(backend, &mut room, &a, &s, e_bytes, &h, &mut packed);
        let rows = expected.chunks_mut(416).zip(&a).zip(&h);
        for (((expected, a), h), e) in rows.zip(e_bytes.chunks(128)) {
            let mut row = NttPoly::ZERO;
            row.set_product(backend, s.each_ref(), a.each_ref());
            row.add_noise(backend, e);
            row.sub(backend, h);
            row.pack::<13>(backend, expected);
        }
        assert_eq!(packed, expected);

        let [mut rounded, mut expected] = [[0; 3 * 352]; 2];
        vectors::round_transposed::<_, _, 11, 3>(backend, &mut room, &a, &s, e_bytes, &mut rounded);
        let columns = expected.chunks_mut(352).zip(e_bytes.chunks(128)).enumerate();
        for (column, (expected, e)) in columns {
            let a = a.each_ref().map(|row| &row[column]);
            let mut u = product(backend, s.each_ref(), a);
            u.add_noise(backend, e);
            u.round_and_pack::<11>(backend, expected);
        }
        assert_eq!(rounded, expected);

        let [mut hints, mut key, mut expected_hints, mut expected] = [[0; 32]; 4];
        let noise = &e_bytes[128..256];
        vectors::reconcile(backend, &mut room, &s, &h, noise, &mut hints, &mut key);
        let mut k = product(backend, s.each_ref(), h.each_ref());
        k.add_noise(backend, noise);
        k.reconcile(backend, &mut expected_hints, &mut expected);
        assert_eq!((hints, key), (expected_hints, expected));

        vectors::key_bits::<_, _, 11, 3>(backend, &mut room, &s, &rounded, &hints, &mut key);
        let u = [0, 1, 2].map(|p| {
            Poly::unpack_rounded::<11>(backend, &rounded[352 * p..][..352]).into_ntt(backend)
        });
        let k = product(backend, s.each_ref(), u.each_ref());
        k.key_bits(backend, &hints, &mut expected);
        assert_eq!(key, expected);
    }
}

/// Everything at once on both backends, from the same bytes.
fn agrees_with_portable(backend: Backend, bytes: &[u8]) {
    fn everything(backend: Backend, bytes: &[u8]) -> Vec<u8> {
        let [a, b, c] = module768::NttPoly::uniform::<13, 3>(backend, &bytes[..1560]);
        let noise = module768::Poly::centred_binomial(backend, &bytes[..128]);
        let s = noise.clone().into_ntt(backend);
        let mut p = NttPoly::inner_product(backend, [&a, &b, &c], [&s, &a, &b]);
        p.add(backend, &s);
        p.sub(backend, &c);
        let mut packed = [0; 416 + 352 + 32 + 32 + 32];
        let (full, rest) = packed.split_at_mut(416);
        let (rounded, rest) = rest.split_at_mut(352);
        let (hints, rest) = rest.split_at_mut(32);
        let (key, other) = rest.split_at_mut(32);
        p.pack::<13>(backend, full);
        let mut k = p.into_poly(backend);
        k.round_and_pack::<11>(backend, rounded);
        k.reconcile(backend, hints, key);
        k.add(backend, &noise);
        k.key_bits(backend, hints, other);

        let mut factors = [const { module768::Factor::ZERO }; 3];
        for (factor, bytes) in factors.iter_mut().zip(bytes.chunks(128)) {
            factor.set_noise(backend, bytes);
        }
        let mut values = NttPoly::ZERO;
        values.set_product(backend, factors.each_ref(), [&a, &b, &c]);
        values.add_noise(backend, &bytes[512..640]);
        let mut coefficients = product(backend, factors.each_ref(), [&a, &values, &c]);
        coefficients.add_noise(backend, &bytes[640..768]);
        let mut multiplied = [0; 416];
        coefficients.into_ntt(backend).pack::<13>(backend, &mut multiplied);

        let [m] = paper512::NttPoly::uniform::<14, 1>(backend, &bytes[..1540]);
        let noise = paper512::Poly::centred_binomial(backend, &bytes[..256]).into_ntt(backend);
        let product = NttPoly::inner_product(backend, [&m], [&noise]);
        let mut wide = [0; 896];
        product.into_poly(backend).into_ntt(backend).pack::<14>(backend, &mut wide);

        let mut s = paper512::Factor::ZERO;
        let (mut p, mut k) = (NttPoly::ZERO, Poly::ZERO);
        s.set_gaussian(backend, &bytes[..1024]);
        p.set_noisy_product(backend, &m, &s, &bytes[500..1524]);
        p.sub_if(backend, bytes[0], &m);
        k.set_product_plus(backend, &s, &p, &Poly::gaussian(backend, &bytes[3..1027]));
        let mut noisy = [0; 896];
        k.into_ntt(backend).pack::<14>(backend, &mut noisy);
        [packed.as_slice(), multiplied.as_slice(), &wide, &noisy].concat()
    }
    assert_eq!(everything(backend, bytes), everything(Backend::PORTABLE, bytes));
}

on_every_backend! {
    module768_multiplies_as_its_ring => multiplies_as_the_ring::<256, 7681>;
    paper512_multiplies_as_its_ring => multiplies_as_the_ring::<512, 13313>;
    products_with_a_factor_are_those_of_module768
        => products_with_a_factor_are_those_of_the_ring::<256, 7681>;
    products_with_a_factor_are_those_of_paper512
        => products_with_a_factor_are_those_of_the_ring::<512, 13313>;
    noise_is_added_alike_in_module768
        => noise_is_added_alike_to_coefficients_and_values::<256, 7681>;
    noise_is_added_alike_in_paper512
        => noise_is_added_alike_to_coefficients_and_values::<512, 13313>;
    rounding_and_hints_are_the_portable_ones
        => rounding_and_hints_are_the_portable_ones_at_every_coefficient;
    module768_has_the_order_of_the_wire_document
        => the_transform_evaluates_in_the_order_of_the_wire_document::<256, 7681>;
    paper512_has_the_order_of_the_wire_document
        => the_transform_evaluates_in_the_order_of_the_wire_document::<512, 13313>;
    transforms_of_module768_are_inverse_and_linear => transforms_are_inverse_and_linear::<256, 7681>;
    transforms_of_paper512_are_inverse_and_linear => transforms_are_inverse_and_linear::<512, 13313>;
    sums_of_largest_products_are_exact => inner_products_of_rank_three_do_not_overflow;
    packing_is_strict => encodings_round_trip_and_are_strict;
    rounding_is_close => rounding_errs_by_at_most_half_a_step;
    reconciliation_tolerates_noise => keys_agree_under_small_noise;
    operations_on_vectors_match_their_polynomials => vectors_are_their_polynomials;
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_backend_agrees_with_the_portable_one(bytes in proptest::collection::vec(any::<u8>(), 1560)) {
        for backend in Backend::all() {
            agrees_with_portable(backend, &bytes);
        }
    }
}
