//! The vector of the RFC, and that the backends agree on longer streams.

extern crate std;
use std::vec;

use super::*;
use crate::laws::{Stream, on_every_backend};

/// RFC 10032, appendix "AEGIS-128L Test Vectors", test vector 1.
fn the_rfc(backend: Backend) {
    let key = 0x0000_0000_0000_0000_0000_0000_0000_0110_u128.to_le_bytes();
    let nonce = 0x0000_0000_0000_0000_0000_0000_0002_0010_u128.to_le_bytes();
    let mut out = [0; 32];
    keystream(backend, &key, &nonce, &mut out);
    assert_eq!(out[..16], 0xc1c0_e58b_d913_006f_eba0_0f4b_3cc3_594e_u128.to_be_bytes());
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
        let mut two = [vec![0; len], vec![0; len]];
        let [one, second] = &mut two;
        keystreams(backend, &[key, other], &nonce, [one, second]);
        assert_eq!(two[0], expected.as_flattened());
        keystream(Backend::PORTABLE, &other, &nonce, expected.as_flattened_mut());
        assert_eq!(two[1], expected.as_flattened());
    }
}

on_every_backend! {
    rfc => the_rfc;
    portable => backends_agree;
}
