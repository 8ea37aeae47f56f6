//! The code is what its definition says, step by step and element by element, on every backend of this machine.

extern crate std;
use std::{vec, vec::Vec};

use super::*;
use crate::{
    gf::{gf64, gf128},
    ggm,
    laws::{Stream, on_every_backend},
};

fn wide(block: &Block) -> u128 {
    u128::from_le_bytes(*block)
}

/// Blocks 0 to n of a keystream.
fn keystream(pi: &Aes128, n: usize) -> Vec<Block> {
    let mut stream = vec![[0; 16]; n];
    pi.ctr(0, stream.as_flattened_mut());
    stream
}

fn table(seed: u8, n: usize) -> Vec<u32> {
    let [buckets, draws] = [1, 2].map(|k| Aes128::new(Backend::PORTABLE, &[seed ^ k; 16]));
    let mut table = vec![0; n];
    permutation(&buckets, &draws, &mut table);
    table
}

/// Sizes around chunks and buffers, multiples of 64.
const SIZES: [usize; 6] = [64, 128, 192, 320, 1024, 4160];

/// The permutation as the documentation writes it, without a buffer.
fn permutation_by_definition(
    bytes: &[u8],
    mut words: impl Iterator<Item = u32>,
    n: usize,
) -> Vec<u32> {
    let mut numbers: Vec<u32> = (0..u32::try_from(n).unwrap()).collect();
    numbers.sort_by_key(|&i| bytes[i as usize]);
    let mut from = 0;
    for bucket in 0..=255 {
        let s = numbers.iter().filter(|&&i| bytes[i as usize] == bucket).count();
        for i in (1..s).rev() {
            let d = i as u64 + 1;
            let x = words.by_ref().map(u64::from).find(|x| x * d % (1 << 32) >= (1 << 32) % d);
            let other = ((x.unwrap() * d) >> 32) as usize;
            numbers.swap(from + i, from + other);
        }
        from += s;
    }
    numbers
}

fn permutations(backend: Backend) {
    for n in [0, 1, 2, 63, 64, 255, 256, 4095, 4096, 4097, 20_000] {
        let [buckets, draws] = [3, 4].map(|k| Aes128::new(backend, &[k; 16]));
        let (bytes, words) = (keystream(&buckets, n / 16 + 1), keystream(&draws, n / 2 + 1));
        let words = words.as_flattened().as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
        let mut table = vec![u32::MAX; n];
        permutation(&buckets, &draws, &mut table);
        assert_eq!(table, permutation_by_definition(bytes.as_flattened(), words, n));
        let mut seen = vec![false; n];
        table.iter().for_each(|&place| seen[place as usize] = true);
        assert!(seen.iter().all(|&seen| seen));
    }
}

/// All 24 permutations of four numbers come about equally often; χ² of 23 degrees is above 70 once in a million times.
#[test]
fn all_permutations_of_four_are_as_likely() {
    let mut counts = std::collections::BTreeMap::new();
    let draws = 24 * 200;
    for k in 0..draws {
        let key = |purpose: u64| {
            let mut key = [0; 16];
            key[..8].copy_from_slice(&u64::to_le_bytes(2 * k + purpose));
            Aes128::new(Backend::best(), &key)
        };
        let mut table = [0; 4];
        permutation(&key(0), &key(1), &mut table);
        *counts.entry(table).or_insert(0u32) += 1;
    }
    assert_eq!(counts.len(), 24);
    let expected = draws as f64 / 24.0;
    let chi = counts.values().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum::<f64>();
    assert!(chi < 70.0, "{chi}");
}

/// Both parties' trees of three heights: the sums at their places, challenges, and the correlation c = b ⊕ e·Δ.
fn prefix_sums_and_checks(backend: Backend) {
    let mut random = Stream(1);
    for (h, trees) in [(5, 6), (7, 3), (9, 2)] {
        let (n, delta) = (trees << h, random.wide());
        let [pi, challenges] = [(); 2].map(|()| Aes128::new(backend, &random.blocks(1)[0]));
        let chi = keystream(&challenges, n);
        let t = table(5, n);
        let [mut x, mut bits_x] = [vec![[0; 16]; n], vec![[0; 16]; n]];
        let (mut pairs, mut bits) = (vec![[0; 16]; 2 * n], vec![0xff; n]);
        let mut sender = Prefix::new(backend, Some(&challenges));
        let mut receiver = Prefix::new(backend, Some(&challenges));
        let mut of_bits = Prefix::new(backend, None);
        let ([mut b, mut c], mut e) = ([vec![], vec![]], vec![]);
        for tree in 0..trees {
            let (mut leaves, mut sums) = (vec![[0; 16]; 1 << h], vec![[[0; 16]; 2]; h]);
            ggm::expand(&pi, &random.blocks(1)[0], &mut leaves, &mut sums);
            sender.add(&leaves, &t, &mut x);
            b.extend_from_slice(&leaves);
            // The first and the last leaf also.
            let alpha = [0, (1 << h) - 1, (1 << h) / 3][tree % 3];
            let u = if tree == 1 { 1 } else { random.wide() };
            let product = gf128::mul(backend, u, delta);
            let missing = Missing {
                alpha: u32::try_from(alpha).unwrap(),
                leaf: (wide(&leaves[alpha]) ^ product).to_le_bytes(),
                noise: u.to_le_bytes(),
            };
            let mut punctured = leaves.clone();
            punctured[alpha] = [0; 16];
            receiver.add_punctured(&missing, &punctured, &t, &mut pairs);
            of_bits.add_punctured_bits(&missing, &punctured, &t, &mut bits_x, &mut bits);
            punctured[alpha] = missing.leaf;
            c.extend(punctured);
            e.extend((0..1 << h).map(|i| if i == alpha { u } else { 0 }));
        }
        let inner = |leaves: &[Block]| {
            leaves
                .iter()
                .zip(&chi)
                .fold(0, |sum, (x, chi)| sum ^ gf128::mul(backend, wide(x), wide(chi)))
        };
        assert_eq!(sender.check(), inner(&b));
        assert_eq!(receiver.check(), inner(&c));
        let noise: Vec<Block> = e.iter().map(|e: &u128| e.to_le_bytes()).collect();
        assert_eq!(receiver.noise(), inner(&noise));
        let share = gf128::mul(backend, receiver.noise(), delta);
        assert_eq!(receiver.check(), sender.check() ^ share);
        assert_eq!((of_bits.check(), of_bits.noise()), (0, 0));
        assert_eq!([sender.leaves(), receiver.leaves()], [n; 2]);
        let [mut of_b, mut of_c, mut of_e] = [0; 3];
        for (i, &place) in t.iter().enumerate() {
            (of_b, of_c, of_e) = (of_b ^ wide(&b[i]), of_c ^ wide(&c[i]), of_e ^ e[i]);
            let place = place as usize;
            assert_eq!(wide(&x[place]), of_b);
            assert_eq!([&pairs[2 * place], &pairs[2 * place + 1]].map(wide), [of_e, of_c]);
            assert_eq!((wide(&bits_x[place]), u128::from(bits[place])), (of_c, of_e & 1));
        }
    }
}

/// Products and sums by the fields' own multiplication.
fn accumulated<const L: usize>(backend: Backend, factors: Factors<'_>, x: &[Block]) -> Vec<Block> {
    let cells = x.len() / L;
    let d = |l: usize, x: u128| match factors {
        Factors::Ones => x,
        Factors::Gf128(pi) => {
            let mut d = [0; 16];
            pi.ctr(l as u128, &mut d);
            gf128::mul(backend, x, u128::from_le_bytes(d))
        }
        Factors::Gf64(pi) => {
            let mut d = [0; 16];
            pi.ctr(l as u128 / 2, &mut d);
            let d = halves(u128::from_le_bytes(d))[l % 2];
            crate::joined(halves(x).map(|half| gf64::mul(backend, half, d)))
        }
    };
    let mut out = vec![[0; 16]; x.len()];
    for part in 0..L {
        let mut sum = 0;
        for l in 0..cells {
            sum ^= d(l, wide(&x[L * l + part]));
            out[L * l + part] = sum.to_le_bytes();
        }
    }
    out
}

fn accumulation(backend: Backend) {
    let mut random = Stream(2);
    let pi = Aes128::new(backend, &random.blocks(1)[0]);
    for n in (0..10).chain([63, 64, 65, 127, 130, 1025]) {
        for factors in [Factors::Ones, Factors::Gf128(&pi), Factors::Gf64(&pi)] {
            let x = random.blocks(2 * n);
            let (mut single, mut pairs) = (x[..n].to_vec(), x.clone());
            accumulate::<1>(backend, factors, &mut single);
            assert_eq!(single, accumulated::<1>(backend, factors, &x[..n]), "{n} {factors:?}");
            accumulate::<2>(backend, factors, &mut pairs);
            assert_eq!(pairs, accumulated::<2>(backend, factors, &x), "{n} {factors:?}");
        }
    }
}

/// The code on blocks, from the matrix's rows.
fn encoded(table: &[u32], x: &[u128]) -> Vec<u128> {
    let z: Vec<u128> = table.iter().map(|&place| x[place as usize]).collect();
    let mut out = vec![];
    for z in z.chunks(64) {
        for i in 0..32 {
            let row = 0x000a_b0edu32.rotate_left(i);
            let sum = (0..32).filter(|l| row >> l & 1 == 1).fold(0, |sum, l| sum ^ z[32 + l]);
            out.push(z[i as usize] ^ sum);
        }
    }
    out
}

fn encoding(backend: Backend) {
    let mut random = Stream(3);
    for n in SIZES {
        let t = table(9, n);
        let pairs = random.blocks(2 * n);
        let [x, y] = [0, 1].map(|part| -> Vec<Block> {
            pairs.as_chunks::<2>().0.iter().map(|cell| cell[part]).collect()
        });
        let numbers = |blocks: &[Block]| blocks.iter().map(wide).collect::<Vec<_>>();
        let (of_x, of_y) = (encoded(&t, &numbers(&x)), encoded(&t, &numbers(&y)));
        for m in [0, 1, n / 2 - 1, n / 2, n / 4 + 1] {
            let mut out = vec![0u128; m];
            encode(backend, &t, &x, &mut out);
            assert_eq!(out, of_x[..m]);
            let (mut u, mut v) = (vec![0u64; m], vec![[0; 16]; m]);
            encode_pairs(backend, &t, &pairs, &mut u, &mut v);
            assert!(u.iter().zip(&of_x).all(|(u, x)| *u == halves(*x)[0]));
            assert_eq!(numbers(&v), of_y[..m]);
        }
    }
}

/// The strings of bits are bit 0 of the strings of blocks, through every step.
fn bits_are_encoded_like_blocks(backend: Backend) {
    let mut random = Stream(4);
    for n in SIZES {
        let (t, last) = (table(7, n), table(8, n));
        let mut bits: Vec<u8> = random.bytes(n).iter().map(|byte| byte & 1).collect();
        let mut blocks: Vec<Block> =
            bits.iter().map(|&bit| u128::from(bit).to_le_bytes()).collect();
        accumulate_bits(backend, &mut bits);
        accumulate::<1>(backend, Factors::Ones, &mut blocks);
        let (mut to_bits, mut to_blocks) = (bits.clone(), blocks.clone());
        permute_bits(&t, &bits, &mut to_bits);
        permute::<1>(&t, &blocks, &mut to_blocks);
        for (i, &place) in t.iter().enumerate() {
            assert_eq!(to_blocks[place as usize], blocks[i]);
        }
        for m in [0, 8, 24, n / 2] {
            let (mut packed, mut out) = (vec![0; m / 8], vec![0u128; m]);
            encode_bits(backend, &last, &to_bits, &mut packed);
            encode(backend, &last, &to_blocks, &mut out);
            let unpacked = (0..m).map(|j| u128::from(packed[j / 8] >> (j % 8) & 1));
            assert!(unpacked.eq(out), "{n} {m}");
        }
    }
}

/// The rows of [I | M] are orthogonal to each other and themselves, so the code is its own dual.
#[test]
fn the_code_on_blocks_is_self_dual() {
    let row = |i: u32| 1u64 << i | u64::from(CIRCULANT.rotate_left(i)) << 32;
    for i in 0..32 {
        for k in 0..32 {
            assert_eq!((row(i) & row(k)).count_ones() % 2, 0);
        }
        assert_eq!(row(i).count_ones() % 4, 0);
    }
}

fn pairs_are_permuted_like_singles(_: Backend) {
    let (t, pairs) = (table(7, 192), Stream(5).blocks(384));
    let mut to = vec![[0; 16]; 384];
    permute::<2>(&t, &pairs, &mut to);
    for (cell, &place) in pairs.as_chunks::<2>().0.iter().zip(&t) {
        assert_eq!(to[2 * place as usize..][..2], *cell);
    }
}

#[test]
fn aligned_buffers_begin_with_a_line_of_the_cache() {
    let mut buffer = vec![[0u8; 16]; 67];
    for skip in 0..4 {
        let part = aligned(&mut buffer[skip..], 60);
        assert_eq!(part.len(), 60);
        // The allocator of the test aligns to 16 bytes.
        assert!(part.as_ptr().align_offset(64) == 0);
    }
}

on_every_backend! {
    permutations_follow_the_definition => permutations;
    sums_of_leaves_go_to_their_places => prefix_sums_and_checks;
    cells_are_multiplied_and_added_up => accumulation;
    blocks_are_encoded_by_the_rows_of_the_matrix => encoding;
    bits_take_the_same_way_as_blocks => bits_are_encoded_like_blocks;
    pairs_take_the_same_places_as_singles => pairs_are_permuted_like_singles;
}

#[test]
#[should_panic(expected = "an entry for every leaf")]
fn a_short_table_is_refused() {
    Prefix::new(Backend::PORTABLE, None).add(&[[0; 16]; 2], &[0], &mut [[0; 16]; 2]);
}

#[test]
#[should_panic(expected = "an output for two cells")]
fn more_outputs_than_the_code_has_are_refused() {
    encode(Backend::PORTABLE, &table(1, 64), &[[0; 16]; 64], &mut [0u128; 33]);
}

#[test]
#[should_panic(expected = "whole blocks of the code")]
fn a_part_of_a_block_is_refused() {
    encode(Backend::PORTABLE, &table(1, 63), &[[0; 16]; 63], &mut [0u128; 8]);
}
