//! Laws of the fields, stamped onto every backend of this machine.

extern crate std;
use std::{vec, vec::Vec};

use super::*;
#[cfg(target_arch = "x86_64")]
use crate::backend::Vectors;
use crate::{
    Backend, Block,
    laws::{Stream, on_every_backend},
};

/// The product by the definition, one bit at a time; `tail` is the modulus without its first term.
fn schoolbook(bits: u32, tail: u128, a: u128, b: u128) -> u128 {
    let mut product = 0;
    for k in (0..bits).rev() {
        let carry = product >> (bits - 1) & 1;
        product = product << 1 & u128::MAX >> (128 - bits);
        product ^= carry * tail;
        product ^= (b >> k & 1) * a;
    }
    product
}

/// The laws of one field.
macro_rules! field {
    ($laws:ident, $field:ident, $word:ty, $tail:expr) => {
        mod $laws {
            use super::*;

            fn any(random: &mut Stream) -> $word {
                <$word>::from_le_bytes(random.bytes(size_of::<$word>()).try_into().unwrap())
            }

            fn special(random: &mut Stream) -> Vec<$word> {
                let top = <$word>::BITS - 1;
                let mut all = vec![0, 1, 2, 3, $tail, 1 << top, <$word>::MAX, 1 << (top / 2)];
                all.extend([<$word>::MAX / 3, <$word>::MAX / 15, <$word>::MAX / 15 * 8]);
                all.extend((0..8).map(|_| any(random)));
                all
            }

            fn multiplication(backend: Backend) {
                let all = special(&mut Stream(1));
                for &a in &all {
                    assert_eq!($field::mul(backend, a, 1), a);
                    for &b in &all {
                        let product = $field::mul(backend, a, b);
                        assert_eq!(
                            u128::from(product),
                            schoolbook(<$word>::BITS, $tail, a.into(), b.into())
                        );
                        assert_eq!(product, $field::mul(backend, b, a));
                        for &c in &all {
                            assert_eq!(
                                $field::mul(backend, a ^ c, b),
                                product ^ $field::mul(backend, c, b)
                            );
                        }
                    }
                }
            }

            fn modulus(backend: Backend) {
                assert_eq!($field::mul(backend, 1 << (<$word>::BITS - 1), 2), $tail);
            }

            /// x ↦ x² fixes, after as many steps as the field has bits, every element.
            fn frobenius(backend: Backend) {
                for x in special(&mut Stream(2)) {
                    let fixed =
                        (0..<$word>::BITS).fold(x, |power, _| $field::mul(backend, power, power));
                    assert_eq!(fixed, x);
                }
            }

            fn inner_products_are_sums_of_products(backend: Backend) {
                let mut random = Stream(3);
                const WIDTH: usize = size_of::<$word>();
                for n in (0..20).chain([31, 32, 33, 64, 100]) {
                    for rows in [0, 1, 2, 3, 4, 5, 7, 8, 9] {
                        for stride in [n * WIDTH, n * WIDTH + 5] {
                            let matrix = random.bytes((rows * stride).max(1));
                            let coefficients: Vec<$word> =
                                (0..n).map(|_| any(&mut random)).collect();
                            let mut out = vec![<$word>::MAX; rows];
                            $field::inner_products(
                                backend,
                                &matrix,
                                stride,
                                &coefficients,
                                &mut out,
                            );
                            for (r, &sum) in out.iter().enumerate() {
                                let words = matrix[r * stride..].as_chunks().0;
                                let expected =
                                    words.iter().zip(&coefficients).fold(0, |sum, (x, &c)| {
                                        let x = <$word>::from_le_bytes(*x);
                                        sum ^ schoolbook(<$word>::BITS, $tail, x.into(), c.into())
                                    });
                                assert_eq!(u128::from(sum), expected);
                            }
                        }
                    }
                }
            }

            fn last_row(backend: Backend) {
                let mut out = [0; 2];
                let row = (3 as $word).to_le_bytes();
                let rows = [row.as_slice(), &[0xff; 3], &row].concat();
                $field::inner_products(backend, &rows, row.len() + 3, &[1], &mut out);
                assert_eq!(out, [3, 3]);
            }

            on_every_backend! {
                products_match_the_field => multiplication;
                the_modulus_is_zero => modulus;
                raising_to_2_to_the_bits_is_the_identity => frobenius;
                sums_of_products => inner_products_are_sums_of_products;
                the_last_row_may_end_early => last_row;
            }

            #[test]
            #[should_panic(expected = "a row for every output")]
            fn missing_rows_are_refused() {
                let row = [0; size_of::<$word>()];
                $field::inner_products(Backend::PORTABLE, &row, row.len(), &[1], &mut [0; 2]);
            }

            #[test]
            #[should_panic(expected = "a row holds what the coefficients multiply")]
            fn short_rows_are_refused() {
                $field::inner_products(Backend::PORTABLE, &[0; 64], 7, &[1], &mut [0; 2]);
            }
        }
    };
}

field!(of_gf64, gf64, u64, 0x1b);
field!(of_gf128, gf128, u128, 0x87);

fn packed_rows_are_sums_of_powers(backend: Backend) {
    let mut random = Stream(5);
    for n in 0..4 {
        let rows = random.blocks(128 * n);
        let mut out = vec![u128::MAX; n];
        gf128::pack(backend, &rows, &mut out);
        for (rows, &out) in rows.chunks(128).zip(&out) {
            let power = |(k, row): (usize, &Block)| {
                schoolbook(128, 0x87, 1 << k, u128::from_le_bytes(*row))
            };
            assert_eq!(out, rows.iter().enumerate().map(power).fold(0, |sum, x| sum ^ x));
        }
        let (rows, mut out) = (&rows[..64 * n], vec![u128::MAX; n]);
        tower::pack(backend, rows, &mut out);
        for (rows, &out) in rows.chunks(64).zip(&out) {
            let power = |(k, row): (usize, &Block)| scaled(1 << k, u128::from_le_bytes(*row));
            assert_eq!(out, rows.iter().enumerate().map(power).fold(0, |sum, x| sum ^ x));
        }
    }
}

/// An element of GF(2^64) times both halves.
fn scaled(element: u64, large: u128) -> u128 {
    let half = |half: u64| schoolbook(64, 0x1b, element.into(), half.into());
    let [low, high] = halves(large).map(half);
    low | high << 64
}

fn products_with_a_factor(backend: Backend) {
    let mut random = Stream(6);
    for n in [0, 1, 2, 3, 4, 5, 7, 8, 9, 33] {
        let elements: Vec<u64> = (0..n).map(|_| random.word()).collect();
        let (factor, before): (_, Vec<u128>) =
            (random.wide(), (0..n).map(|_| random.wide()).collect());
        let mut sums = before.clone();
        tower::add_products(backend, factor, &elements, &mut sums);
        for ((sum, before), element) in sums.iter().zip(&before).zip(elements) {
            assert_eq!(*sum, before ^ scaled(element, factor));
        }
        let elements: Vec<u128> = (0..n).map(|_| random.wide()).collect();
        let mut sums = before.clone();
        gf128::add_products(backend, factor, &elements, &mut sums);
        for ((sum, before), element) in sums.iter().zip(before).zip(elements) {
            assert_eq!(*sum, before ^ schoolbook(128, 0x87, element, factor));
        }
    }
}

/// Packed OTs are correlated as the OTs are: v = w ⊕ u·Δ.
fn packing_keeps_the_correlation(backend: Backend) {
    let mut random = Stream(7);
    let (delta, choices) = (random.wide(), random.wide());
    let q = random.blocks(128);
    let with_delta = |(k, q): (usize, &Block)| {
        (u128::from_le_bytes(*q) ^ ((choices >> k & 1) * delta)).to_le_bytes()
    };
    let r: Vec<Block> = q.iter().enumerate().map(with_delta).collect();
    let ([mut w], [mut v]) = ([0], [0]);
    gf128::pack(backend, &q, core::slice::from_mut(&mut w));
    gf128::pack(backend, &r, core::slice::from_mut(&mut v));
    assert_eq!(v, w ^ gf128::mul(backend, choices, delta));
    tower::pack(backend, &q[..64], core::slice::from_mut(&mut w));
    tower::pack(backend, &r[..64], core::slice::from_mut(&mut v));
    assert_eq!(v, w ^ scaled(halves(choices)[0], delta));
}

/// y² + y + c is irreducible over GF(2^64) if and only if the trace of c is 1.
#[test]
fn the_polynomial_of_the_tower_is_irreducible() {
    let conjugates =
        (0..64).scan(1u128 << 61, |x, _| Some(core::mem::replace(x, schoolbook(64, 0x1b, *x, *x))));
    assert_eq!(conjugates.fold(0, |sum, x| sum ^ x), 1);
}

on_every_backend! {
    packed_rows_are_sums_of_multiples_by_powers => packed_rows_are_sums_of_powers;
    products_of_both_halves => products_with_a_factor;
    packed_ots_are_correlated => packing_keeps_the_correlation;
}

/// The processor decides which of the two vectors the backend avx2 takes: the test compares them.
#[cfg(target_arch = "x86_64")]
#[test]
fn vectors_of_one_block_and_of_two_give_the_same() {
    let Ok(backend) = Backend::named("avx2") else { return };
    let Vectors::Avx2(one) = backend.vectors() else { unreachable!("the backend's own") };
    let mut random = Stream(4);
    for n in 1..20 {
        let rows = random.bytes(5 * 8 * n);
        let coefficients: Vec<u64> = (0..n).map(|_| random.word()).collect();
        let (mut out, mut expected) = ([0; 5], [0; 5]);
        one.run(|| inner_products(one, &rows, 8 * n, &coefficients, &mut expected));
        gf64::inner_products(backend, &rows, 8 * n, &coefficients, &mut out);
        assert_eq!(out, expected, "{n}");
    }
}
