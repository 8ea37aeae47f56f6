//! Laws of AES and of the hash, stamped onto every backend of this machine.

extern crate std;
use std::{format, vec};

use super::*;
#[cfg(target_arch = "x86_64")]
use crate::backend::Vectors;
use crate::laws::{Stream, on_every_backend};

/// Lengths around those at which vector code changes its stride.
const LENGTHS: [usize; 18] = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 150];

fn block(hex: u128) -> Block {
    hex.to_be_bytes()
}

/// One block: the counter is the plaintext.
fn encrypt(backend: Backend, key: &Block, plaintext: u64) -> Block {
    let mut out = [0; 16];
    Aes128::new(backend, key).ctr(plaintext.into(), &mut out);
    out
}

/// The permutation itself, which the public interface does not give, by the portable cipher.
fn pi(key: &Block, x: u128) -> u128 {
    let mut out = [x.to_le_bytes()];
    portable::encrypt(&portable::cipher(key), &mut out);
    u128::from_le_bytes(out[0])
}

fn keystreams_match_the_aes_crate(backend: Backend) {
    // NIST's AESAVS, KeySbox and VarKey: a zero plaintext under given keys.
    for (key, ciphertext) in [
        (0x10a5_8869_d74b_e5a3_74cf_867c_fb47_3859, 0x6d25_1e69_44b0_51e0_4eaa_6fb4_dbf7_8465),
        (0xcaea_65cd_bb75_e916_9ecd_22eb_e6e5_4675, 0x6e29_2011_9015_2df4_ee05_8139_def6_10bb),
        (0x8000_0000_0000_0000_0000_0000_0000_0000, 0x0edd_33d3_c621_e546_455b_d8ba_1418_bec8),
        (0xffff_ffff_ffff_ffff_ffff_ffff_ffff_ffff, 0xa1f6_258c_877d_5fcd_8964_4845_38bf_c92c),
    ] {
        assert_eq!(encrypt(backend, &block(key), 0), block(ciphertext));
    }
}

#[test]
fn the_portable_cipher_matches_the_standards() {
    // FIPS 197, appendices B and C.1; SP 800-38A, F.1.1.
    for (key, x, y) in [
        (
            0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c,
            0x3243_f6a8_885a_308d_3131_98a2_e037_0734,
            0x3925_841d_02dc_09fb_dc11_8597_196a_0b32,
        ),
        (
            0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f,
            0x0011_2233_4455_6677_8899_aabb_ccdd_eeff,
            0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a,
        ),
        (
            0x2b7e_1516_28ae_d2a6_abf7_1588_09cf_4f3c,
            0x6bc1_bee2_2e40_9f96_e93d_7e11_7393_172a,
            0x3ad7_7bb4_0d7a_3660_a89e_caf3_2466_ef97,
        ),
    ] {
        assert_eq!(pi(&block(key), u128::from_le_bytes(block(x))).to_le_bytes(), block(y));
    }
}

fn keystreams_count_and_fit_any_length(backend: Backend) {
    let mut random = Stream(1);
    for first in [0, 1, u32::MAX.into(), u128::from(u64::MAX) - 200, (5 << 124) + 7] {
        let key = random.blocks(1)[0];
        let cipher = Aes128::new(backend, &key);
        for n in LENGTHS {
            let mut out = vec![0xa5; 16 * n + 16];
            cipher.ctr(first, &mut out[..16 * n]);
            for (j, block) in out[..16 * n].as_chunks().0.iter().enumerate() {
                let counter = first + j as u128;
                assert_eq!(u128::from_le_bytes(*block), pi(&key, counter));
            }
            assert_eq!(out[16 * n..], [0xa5; 16]);
        }
    }
}

fn hash(backend: Backend) {
    let mut random = Stream(3);
    let key = random.blocks(1)[0];
    let cipher = Aes128::new(backend, &key);
    let hash = |x: u128, i: u128| (pi(&key, pi(&key, x) ^ i) ^ pi(&key, x)).to_le_bytes();
    for first in [0, 5, u64::from(u32::MAX) - 3, u64::MAX - 200] {
        for n in LENGTHS {
            let mut rows = random.blocks(n);
            rows.iter_mut().take(1).for_each(|row| *row = [0; 16]);
            let delta = random.wide();
            let mut keys = vec![[0; 16]; n];
            let mut pairs = vec![[[0; 16]; 2]; n];
            tmmo(&cipher, first, &rows, &mut keys);
            tmmo_pairs(&cipher, first, &delta.to_le_bytes(), &rows, &mut pairs);
            let multiples: [Block; 16] = core::array::from_fn(|_| random.blocks(1)[0]);
            let mut tables = vec![[0xa5; 2]; n];
            mmo_tables(&cipher, &multiples, &rows, &mut tables);
            let once = |x: u128| (pi(&key, x) ^ x).to_le_bytes();
            let mut hashes = rows.clone();
            mmo(&cipher, &mut hashes);
            let mut both = vec![[[0; 16]; 2]; n];
            mmo_pairs(&cipher, &delta.to_le_bytes(), &rows, &mut both);
            for (j, row) in rows.iter().enumerate() {
                let (x, i) = (u128::from_le_bytes(*row), u128::from(first) + j as u128);
                for (c, multiple) in multiples.iter().enumerate() {
                    let bit = u16::from_le_bytes(tables[j]) >> c & 1;
                    let expected = once(x ^ u128::from_le_bytes(*multiple))[15] >> 7;
                    assert_eq!(bit, u16::from(expected));
                }
                assert_eq!(hashes[j], once(x));
                assert_eq!(both[j], [once(x), once(x ^ delta)]);
                assert_eq!(keys[j], hash(x, i));
                assert_eq!(pairs[j], [hash(x, i), hash(x ^ delta, i)]);
            }
        }
    }
}

fn redaction(backend: Backend) {
    assert_eq!(format!("{:?}", Aes128::new(backend, &[0x42; 16])), "Aes128(<redacted>)");
}

fn encryption(backend: Backend) {
    let cipher = Aes128::new(backend, &[7; 16]);
    for n in LENGTHS {
        let mut blocks: vec::Vec<Block> = (1000..).take(n).map(u128::to_le_bytes).collect();
        cipher.encrypt(&mut blocks);
        let mut stream = vec![[0; 16]; n];
        cipher.ctr(1000, stream.as_flattened_mut());
        assert_eq!(blocks, stream);
    }
}

on_every_backend! {
    keystreams_of_the_standard_vectors => keystreams_match_the_aes_crate;
    keystreams_of_any_length => keystreams_count_and_fit_any_length;
    hashes_are_tmmo_and_mmo => hash;
    encryption_of_counters_is_the_keystream => encryption;
    debug_shows_no_key => redaction;
}

#[test]
#[should_panic(expected = "counters stay below 2^64")]
fn a_counter_does_not_wrap() {
    Aes128::new(Backend::PORTABLE, &[0; 16]).ctr(u64::MAX.into(), &mut [0; 32]);
}

#[test]
#[should_panic(expected = "a keystream consists of blocks")]
fn a_keystream_has_no_half_blocks() {
    Aes128::new(Backend::PORTABLE, &[0; 16]).ctr(0, &mut [0; 24]);
}

/// The processor decides which of the two vectors the backend avx2 takes: the test compares them.
#[cfg(target_arch = "x86_64")]
#[test]
fn vectors_of_one_block_and_of_two_give_the_same() {
    let Ok(backend) = Backend::named("avx2") else { return };
    let pi = Aes128::new(backend, &[0x5a; 16]);
    let (Schedule::RoundKeys(keys), Vectors::Avx2(one)) = (&pi.schedule, backend.vectors()) else {
        unreachable!("the backend's own")
    };
    let rows = Stream(4).blocks(150);
    for n in LENGTHS {
        let (first, delta) = (u64::MAX - 200, [3; 16]);
        let (mut stream, mut hashes, mut pairs) =
            (vec![[0; 16]; n], vec![[0; 16]; n], vec![[[0; 16]; 2]; n]);
        let (mut expected, rows) = (stream.clone(), &rows[..n]);
        one.run(|| vectors::ctr(one, keys, first.into(), &mut expected));
        pi.ctr(first.into(), stream.as_flattened_mut());
        assert_eq!(stream, expected, "{n}");
        one.run(|| vectors::tmmo(one, keys, first, None, rows, &mut expected));
        tmmo(&pi, first, rows, &mut hashes);
        assert_eq!(hashes, expected, "{n}");
        let mut expected = pairs.clone();
        let out = expected.as_flattened_mut();
        one.run(|| vectors::tmmo(one, keys, first, Some(&delta), rows, out));
        tmmo_pairs(&pi, first, &delta, rows, &mut pairs);
        assert_eq!(pairs, expected, "{n}");
        let (mut tables, mut expected) = (vec![[0; 2]; n], vec![[1; 2]; n]);
        let multiples = Stream(5).blocks(16).try_into().unwrap();
        one.run(|| vectors::mmo_tables(one, keys, &multiples, rows, &mut expected));
        mmo_tables(&pi, &multiples, rows, &mut tables);
        assert_eq!(tables, expected, "{n}");
    }
}
