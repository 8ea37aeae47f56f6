//! The vector of the RFC, and that the backends agree on longer streams.

extern crate std;
use std::vec;

use super::*;
use crate::laws::{Stream, on_every_backend};

/// RFC 10032, appendix "AEGIS-128L Test Vectors", test vector 1.
fn the_rfc(backend: Backend) {
    let key = 0x0000_0000_0000_0000_0000_0000_0000_0110_u128.to_le_bytes();
    let nonce = 0x0000_0000_0000_0000_0000_0000_0002_0010_u128.to_le_bytes();
    let mut out = [[0; 16]; 4];
    keystream(backend, &key, &nonce, out.as_flattened_mut());
    // The first is the RFC's; the others are of an implementation of their own, in Python, that has all of the RFC's right.
    let expected: [u128; 4] = [
        0xc1c0_e58b_d913_006f_eba0_0f4b_3cc3_594e,
        0xc034_44c2_d2d6_4af5_c4c1_7ad9_902d_2206,
        0x79d8_4790_dcc7_179a_7686_d3b3_f07a_8a53,
        0x4c16_6816_a647_9d7d_dd52_4c21_f193_e09b,
    ];
    assert_eq!(out, expected.map(u128::to_be_bytes));
}

fn backends_agree(backend: Backend) {
    let mut random = Stream(1);
    for len in [0, 32, 64, 4096 + 96] {
        let [key, nonce] = [random.blocks(1)[0], random.blocks(1)[0]];
        let mut out = vec![[0; 32]; len / 32];
        let mut expected = out.clone();
        keystream(backend, &key, &nonce, out.as_flattened_mut());
        keystream(Backend::PORTABLE, &key, &nonce, expected.as_flattened_mut());
        assert_eq!(out, expected);

        let other = random.blocks(1)[0];
        let keys = [key, other, key];
        for n in 0..=3 {
            let stride = len + 8;
            let mut rows = vec![0xa5; n * stride];
            keystreams(backend, &keys[..n], &nonce, &mut rows, stride.max(1), len);
            for (key, row) in keys.iter().zip(rows.chunks(stride)) {
                keystream(Backend::PORTABLE, key, &nonce, expected.as_flattened_mut());
                assert_eq!(row[..len], *expected.as_flattened());
                assert_eq!(row[len..], [0xa5; 8]);
            }
        }
    }
}

on_every_backend! {
    rfc => the_rfc;
    portable => backends_agree;
}

#[test]
#[should_panic(expected = "a stream consists of steps")]
fn a_partial_keystream_step_panics() {
    keystream(Backend::PORTABLE, &[0; 16], &[0; 16], &mut [0; 48]);
}

#[test]
#[should_panic(expected = "a row for each key")]
fn a_missing_row_is_refused() {
    keystreams(Backend::PORTABLE, &[[0; 16]; 2], &[0; 16], &mut [0; 64], 64, 64);
}

#[test]
#[should_panic(expected = "rows do not overlap")]
fn a_stride_below_the_length_is_refused() {
    keystreams(Backend::PORTABLE, &[[0; 16]; 2], &[0; 16], &mut [0; 128], 32, 64);
}
