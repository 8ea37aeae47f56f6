//! The code is what its definition says, step by step and element by element, on every backend of this machine.

extern crate std;
use std::{vec, vec::Vec};

use super::*;
#[cfg(target_arch = "x86_64")]
use crate::backend::Vectors;
use crate::{
    gf::{gf64, gf128},
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
struct Permuted {
    buckets: Buckets,
    table: Vec<u16>,
    /// The numbers by their buckets.
    sorted: Vec<usize>,
    /// T.
    numbers: Vec<usize>,
}

impl Permuted {
    fn new(backend: Backend, seed: u8, n: usize) -> Self {
        let [buckets, draws] = [1, 2].map(|k| Aes128::new(backend, &[seed ^ k; 16]));
        Self::of(buckets, &draws, n)
    }

    fn of(of_buckets: Aes128, draws: &Aes128, n: usize) -> Self {
        let (bytes, words) = (keystream(&of_buckets, n / 16 + 1), keystream(draws, n / 2 + 1));
        let words = words.as_flattened().as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
        let (sorted, numbers) = permutation_by_definition(bytes.as_flattened(), words, n);
        let mut table = vec![u16::MAX; n];
        let buckets = permutation(of_buckets, draws, &mut table);
        Self { buckets, table, sorted, numbers }
    }

    fn permutation(&self) -> Permutation<'_> {
        Permutation { buckets: &self.buckets, table: &self.table }
    }

    /// The places of all entries, in pieces of a few.
    fn places(&self) -> Vec<usize> {
        let mut places = vec![];
        for first in (0..self.table.len()).step_by(7) {
            let mut entries = self.permutation().entries(first);
            entries.for_each(7.min(self.table.len() - first), |_, place| places.push(place));
        }
        places
    }

    /// T from the kernel's table.
    fn by_kernel(&self) -> Vec<usize> {
        self.places().into_iter().map(|place| self.sorted[place]).collect()
    }

    /// Cells in the order of the buckets.
    fn in_buckets<T: Clone>(&self, cells: &[T]) -> Vec<T> {
        self.sorted.iter().map(|&l| cells[l].clone()).collect()
    }

    /// Cell i of the result at the place where the table wants it.
    fn by_table<T: Clone>(&self, cells: &[T]) -> Vec<T> {
        let mut out = cells.to_vec();
        cells.iter().zip(self.places()).for_each(|(cell, place)| out[place] = cell.clone());
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
        let layer = Permuted::new(backend, 3, n);
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
        let numbers = Permuted::of(key(0), &key(1), 4).by_kernel();
        *counts.entry(numbers).or_insert(0u32) += 1;
    }
    assert_eq!(counts.len(), 24);
    let expected = draws as f64 / 24.0;
    let chi = counts.values().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum::<f64>();
    assert!(chi < 70.0, "{chi}");
}

/// Trees of three heights: the sums at their places, and marks, in one go and in parts.
fn prefix_sums(backend: Backend) {
    let mut random = Stream(1);
    for (h, trees) in [(5, 6), (7, 3), (9, 2)] {
        let n = trees << h;
        let b = random.blocks(n);
        let layer = Permuted::new(backend, 5, n);
        let (places, permutation) = (layer.places(), layer.permutation());
        let mut x = vec![[0; 16]; n];
        let mut whole = Prefix::new(backend);
        b.chunks(1 << h).for_each(|tree| whole.add(tree, permutation, &mut x));
        let mut sum = 0;
        let sums: Vec<_> = b
            .iter()
            .map(|leaf| {
                sum ^= wide(leaf);
                sum
            })
            .collect();
        assert!(places.iter().zip(&sums).all(|(&place, sum)| wide(&x[place]) == *sum));
        assert_eq!(whole.sum(), sum);

        let mut parts = vec![[0; 16]; n];
        for k in 0..3 {
            let [first, end] = [k, k + 1].map(|k| layer.buckets.part(k, 3));
            let before = if first == 0 { 0 } else { sums[first - 1] };
            let mut part = Prefix::from(backend, first, before.to_le_bytes());
            let (some, rest) = b[first..end].split_at((end - first) / 3);
            part.add(some, permutation, &mut parts[first..end]);
            part.add(rest, permutation, &mut parts[first..end]);
            assert_eq!(part.sum(), sums[end - 1]);
        }
        assert_eq!(parts, x);

        let mut marks = vec![0; n];
        for tree in 0..trees {
            // The first and the last leaf also.
            let alpha = (tree << h) + [0, (1 << h) - 1, (1 << h) / 3][tree % 3];
            let (leaves, at) = (tree << h..(tree + 1) << h, u32::try_from(alpha).unwrap());
            let base = u16::try_from(2 * tree).unwrap();
            for k in 0..3 {
                let part = [k, k + 1].map(|k| layer.buckets.part(k, 3));
                let leaves = leaves.start.max(part[0])..leaves.end.min(part[1]);
                let places = (part[0], &mut marks[part[0]..part[1]]);
                mark(backend, permutation, leaves, at, base, places);
            }
            assert!(leaves.into_iter().all(|i| marks[places[i]] == base + u16::from(i >= alpha)));
        }
    }
}

/// Σ χ_l·x_l and Σ χ_l·(bit 0 of x_l) by the definition.
fn checked(backend: Backend, key: &Block, x: &[u128]) -> [u128; 2] {
    let encrypted = |l: u128| {
        let mut block = [l.to_le_bytes()];
        Aes128::new(Backend::PORTABLE, key).encrypt(&mut block);
        wide(&block[0])
    };
    let challenge = |l: u128| gf128::mul(backend, encrypted(l >> 8), encrypted(1 << 64 | l & 0xff));
    (0..).map(challenge).zip(x).fold([0; 2], |[sum, bits], (chi, x)| {
        [sum ^ gf128::mul(backend, chi, *x), bits ^ (chi * (x & 1))]
    })
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

fn singles(string: &[u128]) -> Vec<Block> {
    string.iter().map(|x| x.to_le_bytes()).collect()
}

fn accumulation(backend: Backend) {
    let mut random = Stream(2);
    let pi = Aes128::new(backend, &random.blocks(1)[0]);
    let sums: Vec<_> = (0..9).map(|_| [random.wide(), random.wide()]).collect();
    let noise_at = |mark: u16| {
        let [before, own] = sums[usize::from(mark / 2)];
        before ^ if mark % 2 == 1 { own } else { 0 }
    };
    let blocks: Vec<_> = sums.iter().map(|sums| sums.map(u128::to_le_bytes)).collect();
    let key = random.blocks(1)[0];
    let challenges = Challenges::new(backend, &key);
    for n in (0..4).chain([63, 64, 65, 130, 256, 1025]) {
        let [layer, then] = [6, 7].map(|seed| Permuted::new(backend, seed, n));
        for factors in [Factors::Ones, Factors::Gf128(&pi), Factors::Gf64(&pi)] {
            let y: Vec<_> = (0..n).map(|_| random.wide()).collect();
            let marks: Vec<_> = y.iter().map(|y| u16::from(y.to_le_bytes()[0]) % 18).collect();
            let noise: Vec<_> = marks.iter().copied().map(noise_at).collect();
            let [of_y, of_noise] = [&y, &noise].map(|y| accumulated(backend, factors, y));
            let [checked_y, checked_noise] = [&y, &noise].map(|it| checked(backend, &key, it));
            for (next, place, bits) in [
                (
                    Next::Sum(then.permutation()),
                    Permuted::by_table as fn(&Permuted, &[u128]) -> Vec<u128>,
                    true,
                ),
                (Next::Encode(&then.buckets), Permuted::in_buckets, false),
            ] {
                let check = Some(Check { challenges: &challenges, bits });
                let step = Layer { factors, buckets: &layer.buckets, next, check };
                let wanted = |[sum, of_bits]: [u128; 2]| [sum, if bits { of_bits } else { 0 }];
                let mut x = vec![[0; 16]; n];
                let (y, of_y) = (layer.in_buckets(&y), place(&then, &of_y));
                let sums = accumulate(backend, step, &singles(&y), &mut x);
                assert_eq!((&x, sums), (&singles(&of_y), wanted(checked_y)), "{n} {factors:?}");
                let unchecked = Layer { check: None, ..step };
                assert_eq!(accumulate(backend, unchecked, &singles(&y), &mut x), [0; 2]);
                assert_eq!(x, singles(&of_y));
                let marks = &layer.in_buckets(&marks);
                let noise = Noise { marks, sums: &blocks };
                let sums = accumulate_noise(backend, step, noise, &mut x);
                let of_noise = singles(&place(&then, &of_noise));
                assert_eq!((x, sums), (of_noise, wanted(checked_noise)), "{n} {factors:?}");
            }
        }
    }
}

/// The last accumulator in parts does what it does as a whole.
fn in_parts(backend: Backend) {
    let mut random = Stream(4);
    let pi = Aes128::new(backend, &random.blocks(1)[0]);
    let challenges = Challenges::new(backend, &random.blocks(1)[0]);
    let check = Some(Check { challenges: &challenges, bits: true });
    let own = random.blocks(9);
    let noise_sums: Vec<_> = own.iter().map(|own| [own.map(|byte| !byte), *own]).collect();
    for n in [0, 64, 4096, 40_000] {
        let [layer, then] = [6, 7].map(|seed| Permuted::new(backend, seed, n));
        let (x, next) = (random.blocks(n), Next::Encode(&then.buckets));
        let marks: Vec<_> = x.iter().map(|x| u16::from(x[0]) % 18).collect();
        let noise = Noise { marks: &marks, sums: &noise_sums };
        for factors in [Factors::Ones, Factors::Gf128(&pi), Factors::Gf64(&pi)] {
            let step = Layer { factors, buckets: &layer.buckets, next, check };
            let whole = |of_noise| {
                let mut to = vec![[0; 16]; n];
                let sums = if of_noise {
                    accumulate_noise(backend, step, noise, &mut to)
                } else {
                    accumulate(backend, step, &x, &mut to)
                };
                (to, sums)
            };
            for of in [1, 2, 3, 5, 8] {
                for of_noise in [false, true] {
                    let (mut to, mut sums, mut before) = (vec![[0; 16]; n], [0; 2], vec![[0; 16]]);
                    for part in step.parts(&mut to, of).unwrap() {
                        let mut last = [0; 16];
                        let of_part = if of_noise {
                            part.accumulate_noise(backend, noise, &mut last)
                        } else {
                            part.accumulate(backend, &x, &mut last)
                        };
                        sums.iter_mut().zip(of_part).for_each(|(sum, it)| *sum ^= it);
                        let sum = wide(&before[before.len() - 1]) ^ wide(&last);
                        before.push(sum.to_le_bytes());
                    }
                    assert_eq!(before.len(), of + 1);
                    step.parts(&mut to, of)
                        .unwrap()
                        .zip(before)
                        .for_each(|(part, before)| part.add(backend, &before));
                    assert!((to, sums) == whole(of_noise), "{n}, {of} parts, {factors:?}");
                }
            }
        }
        let step = Layer {
            factors: Factors::Ones,
            buckets: &layer.buckets,
            next: Next::Sum(then.permutation()),
            check,
        };
        assert!(step.parts(&mut vec![[0; 16]; n], 2).is_none());
    }
}

/// All steps of the code with two and with three accumulators.
fn whole_code(backend: Backend) {
    let mut random = Stream(8);
    let d = [(); 2].map(|()| Aes128::new(backend, &random.blocks(1)[0]));
    for n in [64, 320, 4160] {
        let [t1, t2, t3] = [1, 2, 3].map(|seed| Permuted::new(backend, 16 * seed, n));
        let input: Vec<u128> = (0..n).map(|_| random.wide()).collect();
        let sent = |layer: &Permuted, x: &[u128]| {
            let mut y = vec![0; n];
            layer.numbers.iter().zip(x).for_each(|(&l, &x)| y[l] = x);
            y
        };
        let first = sent(&t1, &accumulated(backend, Factors::Ones, &input));
        let second = accumulated(backend, Factors::Gf128(&d[0]), &first);
        let third = accumulated(backend, Factors::Gf128(&d[1]), &sent(&t2, &second));

        let [mut x, mut y] = [vec![[0; 16]; n], vec![[0; 16]; n]];
        let mut out = vec![0u128; n / 2];
        Prefix::new(backend).add(&singles(&input), t1.permutation(), &mut x);
        let step = |d, t: &Permuted, next, x: &[Block], y: &mut [Block]| {
            let (factors, buckets) = (Factors::Gf128(d), &t.buckets);
            accumulate(backend, Layer { factors, buckets, next, check: None }, x, y);
        };
        step(&d[0], &t1, Next::Encode(&t2.buckets), &x, &mut y);
        encode(backend, t2.permutation(), &y, 0, &mut out);
        assert_eq!(out, encoded(&t2.numbers, &second));
        step(&d[0], &t1, Next::Sum(t2.permutation()), &x, &mut y);
        step(&d[1], &t2, Next::Encode(&t3.buckets), &y, &mut x);
        encode(backend, t3.permutation(), &x, 0, &mut out);
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
        let layer = Permuted::new(backend, 9, n);
        let (x, permutation) =
            ((0..n).map(|_| random.wide()).collect::<Vec<_>>(), layer.permutation());
        let of_x = encoded(&layer.numbers, &x);
        let x = layer.in_buckets(&x);
        for m in [0, 1, 8, n / 2 - 1, n / 2, n / 4 + 8] {
            let first = m / 64 * 32;
            let (mut out, mut later) = (vec![0u128; m], vec![[0; 16]; m - first]);
            encode(backend, permutation, &singles(&x), 0, &mut out);
            encode(backend, permutation, &singles(&x), first, &mut later);
            assert_eq!((&out[..], later), (&of_x[..m], singles(&of_x[first..m])));
            let mut u = vec![0u64; m];
            encode(backend, permutation, &singles(&x), 0, &mut u);
            assert!(u.iter().zip(&of_x).all(|(u, x)| *u == halves(*x)[0]));
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
    #[repr(align(16))]
    struct Buffer([[u8; 16]; 67]);
    let Buffer(buffer) = &Buffer([[0; 16]; 67]);
    for skip in 0..4 {
        let part = &buffer[skip..][aligned(&buffer[skip..], 60)];
        assert_eq!(part.len(), 60);
        assert!(part.as_ptr().align_offset(64) == 0);
    }
}

on_every_backend! {
    permutations_follow_the_definition => permutations;
    sums_of_leaves_go_to_their_places => prefix_sums;
    cells_are_multiplied_and_added_up => accumulation;
    parts_add_up_to_the_whole => in_parts;
    blocks_are_encoded_by_the_rows_of_the_matrix => encoding;
    all_steps_make_the_code_of_the_definition => whole_code;
}

/// A permutation of n numbers on the portable backend.
fn portable(n: usize) -> Permuted {
    Permuted::new(Backend::PORTABLE, 1, n)
}

#[test]
#[should_panic(expected = "an entry for every leaf")]
fn a_short_table_is_refused() {
    let layer = portable(1);
    Prefix::new(Backend::PORTABLE).add(&[[0; 16]; 2], layer.permutation(), &mut [[0; 16]; 2]);
}

#[test]
#[should_panic(expected = "an output for two cells")]
fn more_outputs_than_the_code_has_are_refused() {
    encode(Backend::PORTABLE, portable(64).permutation(), &[[0; 16]; 64], 0, &mut [0u128; 33]);
}

#[test]
#[should_panic(expected = "whole blocks before")]
fn outputs_from_the_middle_of_a_block_are_refused() {
    encode(Backend::PORTABLE, portable(128).permutation(), &[[0; 16]; 128], 8, &mut [0u128; 8]);
}

#[test]
#[should_panic(expected = "whole blocks of the code")]
fn a_part_of_a_block_is_refused() {
    encode(Backend::PORTABLE, portable(63).permutation(), &[[0; 16]; 63], 0, &mut [0u128; 8]);
}

/// The processor decides which of the two vectors the backend avx2 takes: the test compares them.
#[cfg(target_arch = "x86_64")]
#[test]
fn vectors_of_one_block_and_of_two_give_the_same() {
    let Ok(backend) = Backend::named("avx2") else { return };
    let Vectors::Avx2(one) = backend.vectors() else { unreachable!("the backend's own") };
    let (n, pi) = (320, Aes128::new(backend, &[7; 16]));
    let [layer, then] = [6, 7].map(|seed| Permuted::new(backend, seed, n));
    let (x, next) = (Stream(9).blocks(n), Next::Encode(&then.buckets));
    let challenges = Challenges::new(backend, &[8; 16]);
    let check = Some(Check { challenges: &challenges, bits: true });
    let [mut y, mut expected] = [(); 2].map(|()| vec![[0; 16]; n]);
    for factors in [Factors::Gf128(&pi), Factors::Gf64(&pi), Factors::Ones] {
        let step = Layer { factors, buckets: &layer.buckets, next, check };
        let sums = accumulate(backend, step, &x, &mut y);
        let of_one = one.run(|| accumulate::all(one, one, step, &x[..], &mut expected));
        assert_eq!((&y, sums), (&expected, of_one));
    }
    let mut out = vec![[0; 16]; n / 2];
    encode(backend, then.permutation(), &y, 0, &mut out);
    one.run(|| {
        blocks::encode(one, then.permutation(), &y, (0, n / 2), |half, first| {
            assert_eq!(half, &out[first..][..HALF]);
        });
    });
}
