//! The code is what its definition says, step by step and element by element, on every backend of this machine.

extern crate std;
use std::{vec, vec::Vec};

use super::*;
#[cfg(target_arch = "x86_64")]
use crate::backend::Vectors;
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

/// A permutation, as the kernel has it and as it is defined.
struct Layer {
    buckets: Buckets,
    table: Vec<u32>,
    /// The numbers by their buckets.
    sorted: Vec<usize>,
    /// T.
    numbers: Vec<usize>,
}

impl Layer {
    fn new(backend: Backend, seed: u8, n: usize) -> Self {
        let [buckets, draws] = [1, 2].map(|k| Aes128::new(backend, &[seed ^ k; 16]));
        Self::of(buckets, &draws, n)
    }

    fn of(of_buckets: Aes128, draws: &Aes128, n: usize) -> Self {
        let (bytes, words) = (keystream(&of_buckets, n / 16 + 1), keystream(draws, n / 2 + 1));
        let words = words.as_flattened().as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
        let (sorted, numbers) = permutation_by_definition(bytes.as_flattened(), words, n);
        let mut table = vec![u32::MAX; n];
        let buckets = permutation(of_buckets, draws, &mut table);
        Self { buckets, table, sorted, numbers }
    }

    /// T from the kernel's table.
    fn by_kernel(&self) -> Vec<usize> {
        self.table.iter().map(|&place| self.sorted[place as usize]).collect()
    }

    /// Cells in the order of the buckets.
    fn in_buckets<T: Clone>(&self, cells: &[T]) -> Vec<T> {
        self.sorted.iter().map(|&l| cells[l].clone()).collect()
    }

    /// Cell i of the result at the place where the table wants it.
    fn by_table<T: Clone>(&self, cells: &[T]) -> Vec<T> {
        let mut out = cells.to_vec();
        cells.iter().zip(&self.table).for_each(|(cell, &place)| out[place as usize] = cell.clone());
        out
    }
}

/// Sizes around chunks and buffers, multiples of 64.
const SIZES: [usize; 6] = [64, 128, 192, 320, 1024, 4160];

/// The numbers by their buckets, and then shuffled, as the documentation writes it.
fn permutation_by_definition(
    bytes: &[u8],
    mut words: impl Iterator<Item = u32>,
    n: usize,
) -> (Vec<usize>, Vec<usize>) {
    let mut sorted: Vec<usize> = (0..n).collect();
    sorted.sort_by_key(|&i| bytes[i]);
    let mut numbers = sorted.clone();
    let mut from = 0;
    for bucket in 0..=255 {
        let s = sorted.iter().filter(|&&i| bytes[i] == bucket).count();
        for i in (1..s).rev() {
            let d = i as u64 + 1;
            let x = words.by_ref().map(u64::from).find(|x| x * d % (1 << 32) >= (1 << 32) % d);
            numbers.swap(from + i, from + ((x.unwrap() * d) >> 32) as usize);
        }
        from += s;
    }
    (sorted, numbers)
}

fn permutations(backend: Backend) {
    for n in [0, 1, 2, 63, 64, 255, 256, 4095, 4096, 4097, 20_000] {
        let layer = Layer::new(backend, 3, n);
        assert_eq!(layer.by_kernel(), layer.numbers);
        let mut seen = vec![false; n];
        layer.numbers.iter().for_each(|&number| seen[number] = true);
        assert!(seen.iter().all(|&seen| seen));
    }
}

/// All 24 permutations of four numbers come about equally often; χ² of 23 degrees is above 70 once in a million times.
#[test]
fn all_permutations_of_four_are_as_likely() {
    let mut counts = std::collections::BTreeMap::new();
    let draws = 24 * 200u64;
    for k in 0..draws {
        let key = |purpose: u64| {
            let mut key = [0; 16];
            key[..8].copy_from_slice(&(2 * k + purpose).to_le_bytes());
            Aes128::new(Backend::best(), &key)
        };
        let numbers = Layer::of(key(0), &key(1), 4).by_kernel();
        *counts.entry(numbers).or_insert(0u32) += 1;
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
        let t = Layer::new(backend, 5, n).table;
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

/// Factors times a string, added up, by the fields' own multiplication.
fn accumulated(backend: Backend, factors: Factors<'_>, string: &[u128]) -> Vec<u128> {
    let term = |(l, &x): (usize, &u128)| {
        let mut d = [0; 16];
        match factors {
            Factors::Ones => x,
            Factors::Gf128(pi) => {
                pi.ctr(l as u128, &mut d);
                gf128::mul(backend, x, u128::from_le_bytes(d))
            }
            Factors::Gf64(pi) => {
                pi.ctr(l as u128 / 2, &mut d);
                let d = halves(u128::from_le_bytes(d))[l % 2];
                crate::joined(halves(x).map(|half| gf64::mul(backend, half, d)))
            }
        }
    };
    let mut sum = 0;
    let mut add = |x| {
        sum ^= x;
        sum
    };
    string.iter().enumerate().map(|it| add(term(it))).collect()
}

/// Two strings as cells.
fn pairs(strings: [&[u128]; 2]) -> Vec<Block> {
    let cells = strings[0].iter().zip(strings[1]);
    cells.flat_map(|(a, b)| [a.to_le_bytes(), b.to_le_bytes()]).collect()
}

fn singles(string: &[u128]) -> Vec<Block> {
    string.iter().map(|x| x.to_le_bytes()).collect()
}

fn accumulation(backend: Backend) {
    let mut random = Stream(2);
    let pi = Aes128::new(backend, &random.blocks(1)[0]);
    for n in (0..4).chain([63, 64, 65, 130, 1025]) {
        let [layer, then] = [6, 7].map(|seed| Layer::new(backend, seed, n));
        for factors in [Factors::Ones, Factors::Gf128(&pi), Factors::Gf64(&pi)] {
            let [y, z] = [(); 2].map(|()| (0..n).map(|_| random.wide()).collect::<Vec<_>>());
            let [of_y, of_z] = [&y, &z].map(|y| accumulated(backend, factors, y));
            for (next, place) in [
                (Next::Sum(&then.table), Layer::by_table as fn(&Layer, &[u128]) -> Vec<u128>),
                (Next::Encode(&then.buckets), Layer::in_buckets),
            ] {
                let [mut x, mut xs] = [vec![[0; 16]; n], vec![[0; 16]; 2 * n]];
                let [y, z] = [&y, &z].map(|y| layer.in_buckets(y));
                let [of_y, of_z] = [&of_y, &of_z].map(|y| place(&then, y));
                accumulate::<1>(backend, factors, &layer.buckets, &singles(&y), next, &mut x);
                assert_eq!(x, singles(&of_y), "{n} {factors:?}");
                let both = pairs([&y, &z]);
                accumulate::<2>(backend, factors, &layer.buckets, &both, next, &mut xs);
                assert_eq!(xs, pairs([&of_y, &of_z]), "{n} {factors:?}");
                if let Factors::Ones = factors {
                    let bit = |x: &u128| x.to_le_bytes()[0] & 1;
                    let (bits, mut to) = (y.iter().map(bit).collect::<Vec<_>>(), vec![0; n]);
                    accumulate_bits(backend, &layer.buckets, &bits, next, &mut to);
                    assert!(of_y.iter().map(bit).eq(to));
                }
            }
        }
    }
}

/// All steps of the code with two and with three accumulators.
fn whole_code(backend: Backend) {
    let mut random = Stream(8);
    let d = [(); 2].map(|()| Aes128::new(backend, &random.blocks(1)[0]));
    for n in [64, 320, 4160] {
        let [t1, t2, t3] = [1, 2, 3].map(|seed| Layer::new(backend, 16 * seed, n));
        let input: Vec<u128> = (0..n).map(|_| random.wide()).collect();
        let sent = |layer: &Layer, x: &[u128]| {
            let mut y = vec![0; n];
            layer.numbers.iter().zip(x).for_each(|(&l, &x)| y[l] = x);
            y
        };
        let first = sent(&t1, &accumulated(backend, Factors::Ones, &input));
        let second = accumulated(backend, Factors::Gf128(&d[0]), &first);
        let third = accumulated(backend, Factors::Gf128(&d[1]), &sent(&t2, &second));

        let [mut x, mut y] = [vec![[0; 16]; n], vec![[0; 16]; n]];
        let mut out = vec![0u128; n / 2];
        Prefix::new(backend, None).add(&singles(&input), &t1.table, &mut x);
        let [d0, d1] = d.each_ref().map(Factors::Gf128);
        accumulate::<1>(backend, d0, &t1.buckets, &x, Next::Encode(&t2.buckets), &mut y);
        encode(backend, &t2.table, &y, &mut out);
        assert_eq!(out, encoded(&t2.numbers, &second));
        accumulate::<1>(backend, d0, &t1.buckets, &x, Next::Sum(&t2.table), &mut y);
        accumulate::<1>(backend, d1, &t2.buckets, &y, Next::Encode(&t3.buckets), &mut x);
        encode(backend, &t3.table, &x, &mut out);
        assert_eq!(out, encoded(&t3.numbers, &third));
    }
}

/// The code on blocks, from the matrix's rows.
fn encoded(numbers: &[usize], x: &[u128]) -> Vec<u128> {
    let z: Vec<u128> = numbers.iter().map(|&l| x[l]).collect();
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
        let layer = Layer::new(backend, 9, n);
        let [x, y] = [(); 2].map(|()| (0..n).map(|_| random.wide()).collect::<Vec<_>>());
        let [of_x, of_y] = [&x, &y].map(|x| encoded(&layer.numbers, x));
        let [x, y] = [&x, &y].map(|x| layer.in_buckets(x));
        let bits: Vec<u8> = x.iter().map(|x| x.to_le_bytes()[0]).collect();
        for m in [0, 1, 8, n / 2 - 1, n / 2, n / 4 + 8] {
            let mut out = vec![0u128; m];
            encode(backend, &layer.table, &singles(&x), &mut out);
            assert_eq!(out, of_x[..m]);
            let (mut u, mut v) = (vec![0u64; m], vec![[0; 16]; m]);
            encode_pairs(backend, &layer.table, &pairs([&x, &y]), &mut u, &mut v);
            assert!(u.iter().zip(&of_x).all(|(u, x)| *u == halves(*x)[0]));
            assert_eq!(v, singles(&of_y[..m]));
            let mut packed = vec![0; m / 8];
            encode_bits(backend, &layer.table, &bits, &mut packed);
            let unpacked = |j: usize| u128::from(packed[j / 8] >> (j % 8) & 1);
            assert!((0..m / 8 * 8).all(|j| unpacked(j) == of_x[j] & 1), "{n} {m}");
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
    all_steps_make_the_code_of_the_definition => whole_code;
}

#[test]
#[should_panic(expected = "an entry for every leaf")]
fn a_short_table_is_refused() {
    Prefix::new(Backend::PORTABLE, None).add(&[[0; 16]; 2], &[0], &mut [[0; 16]; 2]);
}

#[test]
#[should_panic(expected = "an output for two cells")]
fn more_outputs_than_the_code_has_are_refused() {
    encode(Backend::PORTABLE, &[0; 64], &[[0; 16]; 64], &mut [0u128; 33]);
}

#[test]
#[should_panic(expected = "whole blocks of the code")]
fn a_part_of_a_block_is_refused() {
    encode(Backend::PORTABLE, &[0; 63], &[[0; 16]; 63], &mut [0u128; 8]);
}

/// The processor decides which of the two vectors the backend avx2 takes: the test compares them.
#[cfg(target_arch = "x86_64")]
#[test]
fn vectors_of_one_block_and_of_two_give_the_same() {
    let Ok(backend) = Backend::named("avx2") else { return };
    let Vectors::Avx2(one) = backend.vectors() else { unreachable!("the backend's own") };
    let (n, pi) = (320, Aes128::new(backend, &[7; 16]));
    let [layer, then] = [6, 7].map(|seed| Layer::new(backend, seed, n));
    let (x, next) = (Stream(9).blocks(2 * n), Next::Encode(&then.buckets));
    let [mut y, mut expected] = [(); 2].map(|()| vec![[0; 16]; 2 * n]);
    for factors in [Factors::Gf128(&pi), Factors::Gf64(&pi)] {
        accumulate::<2>(backend, factors, &layer.buckets, &x, next, &mut y);
        one.run(|| {
            let to = &mut expected;
            accumulate::accumulate::<_, _, 2>(one, one, factors, &layer.buckets, &x, next, to);
        });
        assert_eq!(y, expected);
    }
    let mut out = vec![[0; 16]; n / 2];
    encode(backend, &then.table, &y[..n], &mut out);
    one.run(|| {
        blocks::encode::<_, 1, HALF>(one, &then.table, &y[..n], n / 2, |half, first| {
            assert_eq!(half, &out[first..][..HALF]);
        });
    });
}
