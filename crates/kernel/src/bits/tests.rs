//! Laws of transposition and XOR, stamped onto every backend of this machine.

extern crate std;
use std::{vec, vec::Vec};

use super::*;
use crate::laws::{Stream, on_every_backend};

fn bit(bytes: &[u8], k: usize) -> u8 {
    bytes[k / 8] >> (k % 8) & 1
}

fn transposition(backend: Backend) {
    let mut random = Stream(1);
    for (stride, first, n) in [
        (16, 0, 128),
        (16, 0, 0),
        (16, 128, 0),
        (17, 0, 128),
        (48, 128, 256),
        (64, 0, 512),
        (96, 0, 640),
        (96, 128, 640),
        (101, 0, 768),
        (131, 0, 1024),
        (224, 128, 1664),
        (256, 1920, 128),
    ] {
        let rows = random.bytes(128 * stride);
        let mut out = vec![[0xa5; 16]; n + 1];
        transpose(backend, &rows, stride, first, &mut out[..n]);
        for (j, block) in out[..n].iter().enumerate() {
            for r in 0..128 {
                assert_eq!(bit(block, r), bit(&rows[r * stride..], first + j), "{j} {r}");
            }
        }
        assert_eq!(out[n], [0xa5; 16]);
    }
}

fn transposition_twice(backend: Backend) {
    let mut random = Stream(2);
    let square = random.bytes(128 * 16);
    let mut once = [[0; 16]; 128];
    let mut twice = once;
    transpose(backend, &square, 16, 0, &mut once);
    transpose(backend, once.as_flattened(), 16, 0, &mut twice);
    assert_eq!(twice.as_flattened(), square);
}

fn xor_adds(backend: Backend) {
    let mut random = Stream(3);
    for n in (0..70).chain([127, 128, 129, 1000]) {
        let (a, b) = (random.bytes(n), random.bytes(n));
        let sum: Vec<u8> = a.iter().zip(&b).map(|(a, b)| a ^ b).collect();
        let mut out = a.clone();
        xor(backend, &mut out, &b);
        assert_eq!(out, sum);
        for (mask, expected) in [(0, &a), (0xff, &sum)] {
            let mut out = a.clone();
            xor_masked(backend, &mut out, &b, mask);
            assert_eq!(&out, expected);
        }
        let mut low = vec![0; n];
        xor_masked(backend, &mut low, &b, 0x0f);
        assert!(low.iter().zip(&b).all(|(low, b)| *low == b & 0x0f));
    }
}

fn products(backend: Backend) {
    let mut random = Stream(4);
    for (inputs, outputs, len) in [
        (1, 1, 64),
        (1, 3, 0),
        (4, 0, 64),
        (9, 5, 128),
        (85, 7, 64),
        (96, 3, 192),
        (97, 9, 64),
        (231, 20, 128),
    ] {
        let (stride, out_stride) = (len + 16, len + 8);
        let matrix = random.bytes(outputs * usize::div_ceil(inputs, 8));
        let rows = random.bytes(inputs * stride);
        let before = random.bytes(outputs * out_stride);
        let mut expected = before.clone();
        for (j, coefficients) in matrix.chunks(usize::div_ceil(inputs, 8)).enumerate() {
            for i in (0..inputs).filter(|&i| bit(coefficients, i) == 1) {
                let row = &rows[i * stride..][..len];
                expected[j * out_stride..][..len].iter_mut().zip(row).for_each(|(a, b)| *a ^= b);
            }
        }
        let mut out = before;
        add_product(backend, &matrix, inputs, (&rows, stride), (&mut out, out_stride), len);
        assert_eq!(out, expected, "{inputs} {outputs} {len}");
    }
}

on_every_backend! {
    transposition_moves_every_bit => transposition;
    transposition_of_a_square_is_an_involution => transposition_twice;
    xor_is_addition => xor_adds;
    products_with_a_public_matrix_add_the_rows_that_it_names => products;
}

#[test]
#[should_panic(expected = "columns come by 128")]
fn transposition_requires_multiples_of_128_columns() {
    transpose(Backend::PORTABLE, &[0; 128 * 32], 32, 64, &mut [[0; 16]; 128]);
}

#[test]
#[should_panic(expected = "the columns are those of the matrix")]
fn columns_beyond_the_matrix_are_refused() {
    transpose(Backend::PORTABLE, &[0; 128 * 16], 16, 128, &mut [[0; 16]; 128]);
}
