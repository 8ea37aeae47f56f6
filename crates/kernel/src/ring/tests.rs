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

/// Noise in plain Rust.
fn noise<const N: usize, const Q: u16>(bytes: &[u8]) -> Poly<N, Q> {
    let mut noise = Poly::ZERO;
    sample::centred_binomial::<N, Q>(bytes, &mut noise.0);
    noise
}

/// Rounds to 11 bits and packs, in plain Rust.
fn rounded<const N: usize, const Q: u16>(poly: &Poly<N, Q>) -> Vec<u8> {
    let mut bytes = vec![0; N / 8 * 11];
    encode::pack::<11>(&poly.0.map(encode::round::<Q, 11>), &mut bytes);
    bytes
}

/// The inverse of [`rounded`], up to the rounding error.
fn unrounded(bytes: &[u8]) -> module768::Poly {
    let mut values = [0; 256];
    encode::unpack::<11>(bytes, &mut values);
    Poly(values.map(encode::unround::<7681, 11>))
}

/// The key bits under given hints, in plain Rust.
fn key_under(poly: &module768::Poly, hints: &[u8; 32]) -> [u8; 32] {
    let (mut key, hint) = ([0; 32], |k: usize| u16::from(hints[k / 8] >> (k % 8) & 1));
    encode::pack_bits(|k| encode::key_bit::<7681>(poly.0[k], hint(k)), &mut key);
    key
}

/// The hints and the key bits under them, in plain Rust.
fn hints_and_key(poly: &module768::Poly) -> ([u8; 32], [u8; 32]) {
    let mut hints = [0; 32];
    encode::pack_bits(|k| encode::hint::<7681>(poly.0[k]), &mut hints);
    (hints, key_under(poly, &hints))
}

/// The factor 1, as noise.
fn one(backend: Backend) -> [module768::Factor; 1] {
    let (mut one, mut bytes) = ([Factor::ZERO], [0; 128]);
    bytes[0] = 1;
    vectors::set_noise(backend, &bytes, &mut one);
    one
}

/// [`rounded`], as protocols do it.
fn round(backend: Backend, poly: &module768::Poly) -> Vec<u8> {
    let (mut values, mut bytes) = (poly.clone().into_ntt(backend), vec![0; 352]);
    vectors::round_noisy::<256, 7681, 11>(backend, &mut values, &[0; 128], &mut bytes);
    bytes
}

/// [`hints_and_key`], as protocols do it.
fn reconcile(backend: Backend, poly: &module768::Poly) -> ([u8; 32], [u8; 32]) {
    let (mut room, values) = (vectors::Room::<256, 1>::empty(), [poly.clone().into_ntt(backend)]);
    let (mut hints, mut key) = ([0; 32], [0; 32]);
    let (one, none) = (one(backend), [0; 128]);
    vectors::reconcile(backend, &mut room, &one, &values, &none, &mut hints, &mut key);
    (hints, key)
}

/// [`key_under`], as protocols do it: of 13 bits each coefficient is what some value is unrounded to.
fn key_bits(backend: Backend, poly: &module768::Poly, hints: &[u8; 32]) -> [u8; 32] {
    let (mut bytes, mut key) = ([0; 416], [0; 32]);
    encode::pack::<13>(&poly.0.map(encode::round::<7681, 13>), &mut bytes);
    let mut room = vectors::Room::empty();
    vectors::key_bits::<_, _, 13, 1>(backend, &mut room, &one(backend), &bytes, hints, &mut key);
    key
}

fn products_with_a_factor_are_those_of_the_ring<const N: usize, const Q: u16>(backend: Backend) {
    for pattern in [0x00, 0x33, 0xcc, 0x5a, 0xe1] {
        let bytes: Vec<u8> = (0..N / 2).map(|i| pattern ^ u8::try_from(i % 241).unwrap()).collect();
        let noise = noise::<N, Q>(&bytes);
        let mut factor = Factor::<N, Q>::ZERO;
        vectors::set_noise(backend, &bytes, core::array::from_mut(&mut factor));
        for a in special_polynomials::<N, Q>() {
            let expected = schoolbook::<N, Q>(&noise.0, &a.0);
            let a = a.into_ntt(backend);
            let mut values = NttPoly::ZERO;
            values.set_product(backend, [&factor], [&a]);
            let (mut added, mut twice) = (values.clone(), values.clone());
            added.add_product(backend, &factor, &a);
            twice.add(backend, &values);
            assert_eq!(added, twice);
            let mut noisy = vec![0; N / 8 * 11];
            vectors::round_noisy::<N, Q, 11>(backend, &mut values.clone(), &bytes, &mut noisy);
            let mut product = values.into_poly(backend);
            assert_eq!(product.0, expected);
            product.add(backend, &noise);
            assert_eq!(noisy, rounded(&product));
            for c in special_polynomials::<N, Q>() {
                let (mut plus, mut sum) = (Poly::ZERO, Poly(expected));
                plus.set_product_plus(backend, &factor, &a, &c);
                sum.add(backend, &c);
                assert_eq!(plus, sum);
            }
        }
    }
}

fn noise_is_added_to_coefficients_and_to_values<const N: usize, const Q: u16>(backend: Backend) {
    let bytes: Vec<u8> = (0..N / 2).map(|i| u8::try_from(i * 7 % 256).unwrap()).collect();
    let noise = noise::<N, Q>(&bytes);
    for poly in special_polynomials::<N, Q>() {
        let mut expected = poly.clone();
        expected.add(backend, &noise);
        let mut values = poly.into_ntt(backend);
        values.add_noise(backend, &bytes);
        assert_eq!(values.into_poly(backend), expected);
    }
}

/// Every coefficient that there is, N at a time.
fn every_coefficient() -> impl Iterator<Item = Poly<256, 7681>> {
    (0..31)
        .map(|block| Poly(core::array::from_fn(|i| u16::try_from(block * 256 + i).unwrap() % 7681)))
}

fn rounding_and_hints_are_the_portable_ones_at_every_coefficient(backend: Backend) {
    for poly in every_coefficient() {
        assert_eq!(round(backend, &poly), rounded(&poly));
        let (hints, key) = reconcile(backend, &poly);
        assert_eq!((hints, key), hints_and_key(&poly));
        for hints in [hints, [0x00; 32], [0xff; 32]] {
            assert_eq!(key_bits(backend, &poly, &hints), key_under(&poly, &hints));
        }
    }
    for block in 0..8 {
        let bytes: Vec<u8> =
            (0..352).map(|i| u8::try_from(i * (block + 1) % 256).unwrap()).collect();
        let (mut room, mut key, hints) = (vectors::Room::empty(), [0; 32], [0x5a; 32]);
        let one = one(backend);
        vectors::key_bits::<_, _, 11, 1>(backend, &mut room, &one, &bytes, &hints, &mut key);
        assert_eq!(key, key_under(&unrounded(&bytes), &hints));
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
    let mut unpacked = NttPoly::<256, 7681>::ZERO;
    assert_eq!(unpacked.set_unpacked::<13>(backend, &bytes), Ok(()));
    assert_eq!(unpacked, poly);
    for coefficient in [0, 1, 7, 8, 255] {
        for value in [7681, 8191] {
            let mut bad = poly.clone();
            bad.0[coefficient] = value;
            bad.pack::<13>(backend, &mut bytes);
            assert_eq!(unpacked.set_unpacked::<13>(backend, &bytes), Err(OutOfRange));
        }
    }
    assert_eq!(Poly::<256, 7681>::new([7681; 256]), Err(OutOfRange));
}

fn rounding_errs_by_at_most_half_a_step(backend: Backend) {
    for poly in special_polynomials::<256, 7681>() {
        let back = unrounded(&round(backend, &poly));
        for (&x, &y) in poly.0.iter().zip(&back.0) {
            let error = (i32::from(x) - i32::from(y)).rem_euclid(7681);
            assert!(error.min(7681 - error) <= 2);
        }
    }
}

fn keys_agree_under_small_noise(backend: Backend) {
    for poly in special_polynomials::<256, 7681>() {
        let (hints, key) = reconcile(backend, &poly);
        let mut close = poly.clone();
        close.add(
            backend,
            &Poly(core::array::from_fn(|i| if i % 2 == 0 { 900 } else { 7681 - 900 })),
        );
        assert_eq!(key, key_bits(backend, &close, &hints));
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
        let mut h = [const { [module768::NttPoly::ZERO; 3] }];
        NttPoly::uniform_all::<13, 3>(backend, &bytes[1500..3060], &mut h);
        let [h] = h;
        let (s_bytes, e_bytes) = bytes[..768].split_at(384);

        let [mut s, mut alone] = [const { [const { Factor::ZERO }; 3] }; 2];
        vectors::set_noise(backend, s_bytes, &mut s);
        for ((alone, s), bytes) in alone.iter_mut().zip(&s).zip(s_bytes.chunks(128)) {
            vectors::set_noise(backend, bytes, core::array::from_mut(alone));
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

        let [mut u, mut expected] = [[0; 3 * 352]; 2];
        vectors::round_transposed::<_, _, 11, 3>(backend, &mut room, &a, &s, e_bytes, &mut u);
        let columns = expected.chunks_mut(352).zip(e_bytes.chunks(128)).enumerate();
        for (column, (expected, e)) in columns {
            let a = a.each_ref().map(|row| &row[column]);
            let mut u = product(backend, s.each_ref(), a);
            u.add(backend, &noise(e));
            expected.copy_from_slice(&rounded(&u));
        }
        assert_eq!(u, expected);

        let [mut hints, mut key] = [[0; 32]; 2];
        let e_prime = &e_bytes[128..256];
        vectors::reconcile(backend, &mut room, &s, &h, e_prime, &mut hints, &mut key);
        let mut k = product(backend, s.each_ref(), h.each_ref());
        k.add(backend, &noise(e_prime));
        assert_eq!((hints, key), hints_and_key(&k));

        vectors::key_bits::<_, _, 11, 3>(backend, &mut room, &s, &u, &hints, &mut key);
        let u = [0, 1, 2].map(|p| unrounded(&u[352 * p..][..352]).into_ntt(backend));
        let k = product(backend, s.each_ref(), u.each_ref());
        assert_eq!(key, key_under(&k, &hints));
    }
}

/// Everything at once on both backends, from the same bytes.
fn agrees_with_portable(backend: Backend, bytes: &[u8]) {
    fn everything(backend: Backend, bytes: &[u8]) -> Vec<u8> {
        let mut abc = [const { [module768::NttPoly::ZERO; 3] }];
        NttPoly::uniform_all::<13, 3>(backend, &bytes[..1560], &mut abc);
        let [[a, b, c]] = abc;
        let mut s = NttPoly::ZERO;
        s.add_noise(backend, &bytes[..128]);
        let mut p = NttPoly::inner_product(backend, [&a, &b, &c], [&s, &a, &b]);
        p.add(backend, &s);
        p.sub(backend, &c);
        let mut packed = [0; 416];
        p.pack::<13>(backend, &mut packed);
        let mut k = p.into_poly(backend);
        let rounded = round(backend, &k);
        let (hints, key) = reconcile(backend, &k);
        k.add(backend, &s.into_poly(backend));
        let other = key_bits(backend, &k, &hints);

        let mut factors = [const { module768::Factor::ZERO }; 3];
        for (factor, bytes) in factors.iter_mut().zip(bytes.chunks(128)) {
            vectors::set_noise(backend, bytes, core::array::from_mut(factor));
        }
        let mut values = NttPoly::ZERO;
        values.set_product(backend, factors.each_ref(), [&a, &b, &c]);
        values.add_noise(backend, &bytes[512..640]);
        let mut coefficients = product(backend, factors.each_ref(), [&a, &values, &c]);
        coefficients.add(backend, &noise(&bytes[640..768]));
        let mut multiplied = [0; 416];
        coefficients.into_ntt(backend).pack::<13>(backend, &mut multiplied);

        let mut m = [[NttPoly::<512, 13313>::ZERO]];
        NttPoly::uniform_all::<14, 1>(backend, &bytes[..1540], &mut m);
        let [[m]] = m;
        let (mut s, mut p, mut k) = (Factor::ZERO, NttPoly::ZERO, Poly::ZERO);
        s.set_signed(backend, |i| (bytes[i] % 5).cast_signed().into());
        p.set_signed(backend, |i| bytes[i + 600].cast_signed().into());
        p.add_product(backend, &s, &m);
        p.sub_if(backend, bytes[0], &m);
        k.set_signed(backend, |i| bytes[i + 300].cast_signed().into());
        let c = k.clone();
        k.set_product_plus(backend, &s, &p, &c);
        let mut product = NttPoly::inner_product(backend, [&m], [&k.into_ntt(backend)]);
        product.add_noise(backend, &bytes[..256]);
        let mut wide = [0; 896];
        product.into_poly(backend).into_ntt(backend).pack::<14>(backend, &mut wide);
        let rest = [&hints, &key, &other].map(|it| it.as_slice()).concat();
        [packed.as_slice(), &rounded, &rest, &multiplied, &wide].concat()
    }
    assert_eq!(everything(backend, bytes), everything(Backend::PORTABLE, bytes));
}

fn coefficients_of_either_sign_are_canonical<const N: usize, const Q: u16>(backend: Backend) {
    let signed =
        |i: usize| i16::try_from(i * 61 % usize::from(2 * Q - 1)).unwrap() - Q.cast_signed() + 1;
    let (mut poly, mut values, mut factor) = (Poly::<N, Q>::ZERO, NttPoly::ZERO, Factor::ZERO);
    poly.set_signed(backend, signed);
    for (i, x) in poly.0.into_iter().enumerate() {
        assert_eq!(i32::from(x), i32::from(signed(i)).rem_euclid(Q.into()));
    }
    values.set_signed(backend, signed);
    assert_eq!(values, poly.clone().into_ntt(backend));
    // The largest that a factor takes: 2¹⁶ is −3593 mod 7681, and −1029 mod 13313.
    let most = if Q == 7681 { 2 } else { 12 };
    let small = |i: usize| i16::try_from(i).unwrap() % (2 * most + 1) - most;
    factor.set_signed(backend, small);
    values.set_signed(backend, small);
    let one = NttPoly([1; N]);
    let mut product = NttPoly::ZERO;
    product.set_product(backend, [&factor], [&one]);
    assert_eq!(product, values);
}

fn bits_are_made_of_coefficients_and_masks(backend: Backend) {
    for poly in special_polynomials::<256, 7681>() {
        let (beside, mut bits) = ([0x6c; 32], [0; 32]);
        poly.bits(backend, &beside, &mut bits, |x, mask| x << 15 ^ mask);
        for (k, x) in poly.0.into_iter().enumerate() {
            let bit = u16::from(bits[k / 8] >> (k % 8) & 1);
            assert_eq!(bit, x & 1 ^ u16::from(0x6cu8 >> (k % 8) & 1), "{k}");
        }
    }
}

on_every_backend! {
    polynomials_of_module768_take_either_sign
        => coefficients_of_either_sign_are_canonical::<256, 7681>;
    polynomials_of_paper512_take_either_sign
        => coefficients_of_either_sign_are_canonical::<512, 13313>;
    bits_follow_coefficients_and_masks => bits_are_made_of_coefficients_and_masks;
    module768_multiplies_as_its_ring => multiplies_as_the_ring::<256, 7681>;
    paper512_multiplies_as_its_ring => multiplies_as_the_ring::<512, 13313>;
    products_with_a_factor_are_those_of_module768
        => products_with_a_factor_are_those_of_the_ring::<256, 7681>;
    products_with_a_factor_are_those_of_paper512
        => products_with_a_factor_are_those_of_the_ring::<512, 13313>;
    noise_is_added_in_module768
        => noise_is_added_to_coefficients_and_to_values::<256, 7681>;
    noise_is_added_in_paper512
        => noise_is_added_to_coefficients_and_to_values::<512, 13313>;
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
