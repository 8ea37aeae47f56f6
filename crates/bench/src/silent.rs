//! `kernel/silent/<operation>`: the steps of silent VOLE and OT on all n leaves of a batch, in one thread, of the backend in
//! use.

use std::hint::black_box;

use foxtrot_cli::shared::Failure;
use foxtrot_kernel::{
    Backend,
    aes::Aes128,
    ggm,
    lpn::{
        Buckets, Factors, Missing, Next, Prefix, accumulate, accumulate_bits, aligned, encode,
        encode_bits, encode_pairs, permutation,
    },
    memory::prefer_huge_pages,
};

use super::{Measured, kernel::measure};

type Block = [u8; 16];

/// Leaves of a batch: for 2¹⁵ and for 1.18 million outputs, and some to spare.
pub(super) const SIZES: [usize; 2] = [98_304, 2_359_296];

/// Levels of a tree, of batches below 2²⁰ leaves and of others.
const HEIGHTS: [usize; 2] = [9, 13];

/// An operation to be measured.
#[derive(Clone, Copy)]
pub(super) enum Operation {
    Permutation,
    Expand,
    ExpandPunctured,
    Prefix,
    PrefixPairs,
    PrefixBits,
    Accumulate,
    AccumulatePairs,
    AccumulateGf64,
    AccumulateOnes,
    AccumulateBits,
    Encode,
    EncodePairs,
    EncodeBits,
}

impl Operation {
    pub(super) const ALL: [Self; 14] = [
        Self::Permutation,
        Self::Expand,
        Self::ExpandPunctured,
        Self::Prefix,
        Self::PrefixPairs,
        Self::PrefixBits,
        Self::Accumulate,
        Self::AccumulatePairs,
        Self::AccumulateGf64,
        Self::AccumulateOnes,
        Self::AccumulateBits,
        Self::Encode,
        Self::EncodePairs,
        Self::EncodeBits,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Permutation => "silent/permutation",
            Self::Expand => "silent/expand",
            Self::ExpandPunctured => "silent/expand-punctured",
            Self::Prefix => "silent/prefix",
            Self::PrefixPairs => "silent/prefix-pairs",
            Self::PrefixBits => "silent/prefix-bits",
            Self::Accumulate => "silent/accumulate",
            Self::AccumulatePairs => "silent/accumulate-pairs",
            Self::AccumulateGf64 => "silent/accumulate-gf64",
            Self::AccumulateOnes => "silent/accumulate-ones",
            Self::AccumulateBits => "silent/accumulate-bits",
            Self::Encode => "silent/encode",
            Self::EncodePairs => "silent/encode-pairs",
            Self::EncodeBits => "silent/encode-bits",
        }
    }

    /// One of them on n leaves, on inputs that are made before.
    fn prepare(self, n: usize, h: usize) -> Box<dyn FnMut()> {
        let backend = Backend::best();
        let cipher = move |key| Aes128::new(backend, &[key; 16]);
        let (pi, d, chi) = (cipher(1), cipher(2), cipher(3));
        let layer = move |key| -> (Vec<u32>, Buckets) {
            let mut table = vec![0; n];
            let buckets = permutation(cipher(key), &cipher(key + 1), &mut table);
            (table, buckets)
        };
        let [(first, of_first), (last, of_last)] = [layer(4), layer(6)];
        let cells = |len| {
            [(); 2].map(|()| {
                let mut cells = vec![[0; 16]; len + 3];
                prefer_huge_pages(&mut cells);
                cells
            })
        };
        let [mut x, mut y] = cells(n);
        let [mut xs, mut ys] = cells(2 * n);
        let [mut bits, mut to_bits] = [vec![1; n], vec![0; n]];
        let mut leaves = vec![[5; 16]; 1 << h];
        let (mut sums, given) = (vec![[[0; 16]; 2]; h], vec![[7; 16]; h]);
        let trees = move || (0..n >> h).map(|tree| -> Block { (tree as u128).to_le_bytes() });
        let mut u = vec![0u128; n / 2];
        let mut v = u.clone();
        match self {
            Self::Permutation => Box::new(move || drop(black_box(layer(4)))),
            Self::Expand => Box::new(move || {
                for root in trees() {
                    ggm::expand(&pi, &root, black_box(&mut leaves), &mut sums);
                }
            }),
            Self::ExpandPunctured => Box::new(move || {
                for _ in trees() {
                    let _ = ggm::expand_punctured(&pi, 5, &given, black_box(&mut leaves));
                }
            }),
            Self::Prefix => Box::new(move || {
                let mut prefix = Prefix::new(backend, Some(&chi));
                trees().for_each(|_| prefix.add(&leaves, &first, aligned(&mut x, n)));
                black_box(prefix.check());
            }),
            Self::PrefixPairs => Box::new(move || {
                let mut prefix = Prefix::new(backend, Some(&chi));
                for noise in trees() {
                    let missing = Missing { alpha: 5, leaf: noise, noise };
                    prefix.add_punctured(&missing, &leaves, &first, aligned(&mut xs, 2 * n));
                }
                black_box(prefix.check());
            }),
            Self::PrefixBits => Box::new(move || {
                let mut prefix = Prefix::new(backend, Some(&chi));
                for noise in trees() {
                    let missing = Missing { alpha: 5, leaf: noise, noise };
                    let x = aligned(&mut x, n);
                    prefix.add_punctured_bits(&missing, &leaves, &first, x, &mut bits);
                }
                black_box(prefix.check());
            }),
            Self::Accumulate | Self::AccumulateOnes => {
                let ones = matches!(self, Self::AccumulateOnes);
                Box::new(move || {
                    let factors = if ones { Factors::Ones } else { Factors::Gf128(&d) };
                    let (x, next) = (aligned(&mut x, n), Next::Encode(&of_last));
                    accumulate::<1>(backend, factors, &of_first, x, next, aligned(&mut y, n));
                })
            }
            Self::AccumulatePairs | Self::AccumulateGf64 => {
                let gf64 = matches!(self, Self::AccumulateGf64);
                Box::new(move || {
                    let factors = if gf64 { Factors::Gf64(&d) } else { Factors::Gf128(&d) };
                    let (xs, next) = (aligned(&mut xs, 2 * n), Next::Encode(&of_last));
                    let ys = aligned(&mut ys, 2 * n);
                    accumulate::<2>(backend, factors, &of_first, xs, next, ys);
                })
            }
            Self::AccumulateBits => Box::new(move || {
                let next = Next::Encode(&of_last);
                accumulate_bits(backend, &of_first, &bits, next, black_box(&mut to_bits));
            }),
            Self::Encode => Box::new(move || {
                encode(backend, &last, aligned(&mut y, n), black_box(&mut v));
            }),
            Self::EncodePairs => Box::new(move || {
                encode_pairs(backend, &last, aligned(&mut ys, 2 * n), black_box(&mut u), &mut v);
            }),
            Self::EncodeBits => {
                let mut out = vec![0; n / 16];
                Box::new(move || encode_bits(backend, &last, &bits, black_box(&mut out)))
            }
        }
    }
}

/// # Errors
/// If there are no trees for so many leaves.
pub(super) fn run(operation: Operation, n: usize) -> Result<Measured, Failure> {
    let h = HEIGHTS[usize::from(n >= 1 << 20)];
    if n == 0 || !n.is_multiple_of(1 << h) || n > 1 << 26 {
        return Err(Failure::usage(format!("there are no trees of {n} leaves"))
            .hint("a multiple of 512, from 2^20 on of 8192, up to 2^26"));
    }
    let (name, params) = (format!("kernel/{}", operation.name()), format!("trees of height {h}"));
    Ok(measure(name, params, (n, 1), operation.prepare(n, h)))
}
