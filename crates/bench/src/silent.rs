//! `kernel/silent/<operation>`: the steps of silent VOLE and OT on all n leaves of a batch, in one thread, of the backend in
//! use.

use std::hint::black_box;

use foxtrot_cli::shared::Failure;
use foxtrot_kernel::{
    Backend,
    aes::Aes128,
    ggm::{self, TreeKind},
    lpn::{
        Buckets, Challenges, Check, Factors, Layer, Next, Noise, Permutation, Prefix, accumulate,
        accumulate_noise, aligned, encode, mark, permutation,
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
    Expand(TreeKind),
    ExpandPunctured(TreeKind),
    Prefix,
    Mark,
    Accumulate,
    AccumulateGf64,
    AccumulateOnes,
    AccumulateNoise,
    Encode,
}

impl Operation {
    pub(super) const ALL: [Self; 12] = [
        Self::Permutation,
        Self::Expand(TreeKind::Ggm),
        Self::ExpandPunctured(TreeKind::Ggm),
        Self::Expand(TreeKind::Correlated),
        Self::ExpandPunctured(TreeKind::Correlated),
        Self::Prefix,
        Self::Mark,
        Self::Accumulate,
        Self::AccumulateGf64,
        Self::AccumulateOnes,
        Self::AccumulateNoise,
        Self::Encode,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Permutation => "silent/permutation",
            Self::Expand(TreeKind::Ggm) => "silent/expand",
            Self::ExpandPunctured(TreeKind::Ggm) => "silent/expand-punctured",
            Self::Expand(TreeKind::Correlated) => "silent/expand-correlated",
            Self::ExpandPunctured(TreeKind::Correlated) => "silent/expand-correlated-punctured",
            Self::Prefix => "silent/prefix",
            Self::Mark => "silent/mark",
            Self::Accumulate => "silent/accumulate",
            Self::AccumulateGf64 => "silent/accumulate-gf64",
            Self::AccumulateOnes => "silent/accumulate-ones",
            Self::AccumulateNoise => "silent/accumulate-noise",
            Self::Encode => "silent/encode",
        }
    }

    /// One of them on n leaves, on inputs that are made before.
    fn prepare(self, n: usize, h: usize) -> Box<dyn FnMut()> {
        let backend = Backend::best();
        let cipher = move |key| Aes128::new(backend, &[key; 16]);
        let (pi, d, chi) = (cipher(1), cipher(2), Challenges::new(backend, &[3; 16]));
        let layer = move |key| -> (Vec<u16>, Buckets) {
            let mut table = vec![0; n];
            prefer_huge_pages(&mut table);
            let buckets = permutation(cipher(key), &cipher(key + 1), &mut table);
            (table, buckets)
        };
        let [(first, of_first), (last, of_last)] = [layer(4), layer(6)];
        let [mut x, mut y] = [(); 2].map(|()| {
            let mut cells = vec![[0; 16]; n + 3];
            prefer_huge_pages(&mut cells);
            cells
        });
        let range = aligned(&x, n);
        let to = aligned(&y, n);
        let kept = [0xff; 16];
        let mut marks = vec![0; n];
        let mut leaves = vec![[5; 16]; 1 << h];
        let (mut sums, given) = (vec![[[0; 16]; 2]; h], vec![[7; 16]; h]);
        let trees = move || (0..n >> h).map(|tree| -> Block { (tree as u128).to_le_bytes() });
        let noise: Vec<_> = trees().map(|tree| [tree; 2]).collect();
        let mut v = vec![0u128; n / 2];
        match self {
            Self::Permutation => Box::new(move || drop(black_box(layer(4)))),
            Self::Expand(kind) => Box::new(move || {
                for node in trees() {
                    let (top, leaves) = (&[node; 2][..kind.top()], black_box(&mut leaves));
                    ggm::expand(&pi, kind, top, &kept, leaves, &mut sums);
                }
            }),
            Self::ExpandPunctured(kind) => Box::new(move || {
                for _ in trees() {
                    let leaves = black_box(&mut leaves);
                    ggm::expand_punctured(&pi, kind, 5, &given, &[9; 16], &kept, leaves);
                }
            }),
            Self::Prefix => Box::new(move || {
                let first = Permutation { buckets: &of_first, table: &first };
                let mut prefix = Prefix::new(backend);
                trees().for_each(|_| prefix.add(&leaves, first, &mut x[range.clone()]));
                black_box(prefix.sum());
            }),
            Self::Mark => Box::new(move || {
                let first = Permutation { buckets: &of_first, table: &first };
                for tree in (0..n).step_by(1 << h) {
                    let places = (0, black_box(&mut marks[..]));
                    mark(backend, first, tree..tree + (1 << h), 5, 2, places);
                }
            }),
            Self::Accumulate | Self::AccumulateGf64 | Self::AccumulateOnes => Box::new(move || {
                let factors = match self {
                    Self::Accumulate => Factors::Gf128(&d),
                    Self::AccumulateGf64 => Factors::Gf64(&d),
                    _ => Factors::Ones,
                };
                // Batches over GF(2^64) have no check.
                let bits = matches!(self, Self::AccumulateOnes);
                let check = (!matches!(self, Self::AccumulateGf64))
                    .then_some(Check { challenges: &chi, bits });
                let next = Next::Encode(&of_last);
                let (x, to) = (&x[range.clone()], &mut y[to.clone()]);
                let layer = Layer { factors, buckets: &of_first, next, check };
                black_box(accumulate(backend, layer, x, to));
            }),
            Self::AccumulateNoise => Box::new(move || {
                let noise = Noise { marks: &marks, sums: &noise };
                let (factors, next) = (Factors::Gf128(&d), Next::Encode(&of_last));
                let check = Some(Check { challenges: &chi, bits: false });
                let layer = Layer { factors, buckets: &of_first, next, check };
                black_box(accumulate_noise(backend, layer, noise, &mut y[to.clone()]));
            }),
            Self::Encode => Box::new(move || {
                let last = Permutation { buckets: &of_last, table: &last };
                encode(backend, last, &y[to.clone()], 0, black_box(&mut v));
            }),
        }
    }
}

/// # Errors
/// If there are no trees for so many leaves.
pub(super) fn run(operation: Operation, n: usize) -> Result<Measured, Failure> {
    let h = HEIGHTS[usize::from(n >= 1 << 20)];
    if n == 0 || !n.is_multiple_of(1 << h) || n > 1 << 23 {
        return Err(Failure::usage(format!("there are no trees of {n} leaves"))
            .hint("a multiple of 512, from 2^20 on of 8192, up to 2^23"));
    }
    let (name, params) = (format!("kernel/{}", operation.name()), format!("trees of height {h}"));
    Ok(measure(name, params, (n, 1), operation.prepare(n, h)))
}
