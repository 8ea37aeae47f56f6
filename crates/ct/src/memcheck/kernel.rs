//! Operations of the kernel that no protocol uses, or only on what is public.

use std::hint::black_box;

use foxtrot_kernel::{
    aes::Aes128,
    curve::{Point, Sixteen, Table, ristretto},
    gf::{gf64, gf128, tower},
    ggm::{self, TreeKind},
    lpn::{
        self, Buckets, Challenges, Factors, Layer, Next, Noise, Permutation, Prefix, accumulate,
        accumulate_noise, encode, mark, permutation,
    },
    ring::{
        Factor, NttPoly, Poly,
        vectors::{self, Room},
    },
};
use foxtrot_ot::Backend;

use super::{Check, secrets};

/// More than vectors have lanes, and no multiple of it.
const N: usize = 9;

pub(crate) fn checks() -> impl Iterator<Item = Check> {
    let named = |name: &str, run: fn(Backend)| Check {
        name: format!("kernel: {name}"),
        run: Box::new(run),
    };
    [
        named("polynomials of Module768", polynomials::<256, 7681, 13, 128>),
        named("polynomials of the paper's ring", polynomials::<512, 13313, 14, 256>),
        named("curve, secret points", curve),
        named("GF(2^64)", products),
        named("GGM trees and the code of silent OT", silent),
    ]
    .into_iter()
}

/// NOISE is N/2, and BITS the length of Q.
fn polynomials<const N: usize, const Q: u16, const BITS: usize, const NOISE: usize>(
    backend: Backend,
) {
    let bytes: [u8; NOISE] = secrets([0x5b; NOISE]);
    let mut noise = Poly::<N, Q>::ZERO;
    noise.set_signed(backend, |i| bytes[i % NOISE].cast_signed().into());
    let values = noise.clone().into_ntt(backend);
    let mut p = NttPoly::inner_product(backend, [&values, &values], [&values, &values]);
    p.add(backend, &values);
    p.sub(backend, &values);
    p.sub_if(backend, bytes[0], &values);
    p.add_noise(backend, &bytes);
    p.pack::<BITS>(backend, &mut [0; 896][..N / 8 * BITS]);
    let mut k = p.clone().into_poly(backend);
    k.add(backend, &noise);
    let mut factor = [Factor::<N, Q>::ZERO];
    factor[0].set_signed(backend, |i| (bytes[i / 2 % NOISE] & 1).cast_signed().into());
    k.set_product_plus(backend, &factor[0], &values, &noise);
    vectors::set_noise(backend, &bytes, &mut factor);
    p.set_product(backend, factor.each_ref(), [&values]);
    let (mut room, mut values) = (Room::<N, 1>::empty(), [values]);
    let (mut rounded, mut hints, mut key) = ([0; 704], [0; 64], [0; 64]);
    let (rounded, hints, key) =
        (&mut rounded[..N / 8 * 11], &mut hints[..N / 8], &mut key[..N / 8]);
    vectors::reconcile(backend, &mut room, &factor, &values, &bytes, hints, key);
    vectors::round_noisy::<_, _, 11>(backend, &mut values[0], &bytes, rounded);
    vectors::key_bits::<_, _, 11, 1>(backend, &mut room, &factor, rounded, hints, key);
    k.bits(backend, hints, key, |x, mask| x ^ mask);
    black_box((&k, &p.into_poly(backend), key));
}

fn curve(backend: Backend) {
    let strings = [secrets([0x37; 32]); N];
    let mut points = vec![Point::IDENTITY; N];
    ristretto::from_uniform(backend, &[secrets([0x73; 64]); N], &mut points);
    let mut products = vec![Point::IDENTITY; N];
    let mut memory = vec![Sixteen::ZERO; Table::LEN];
    Table::new(backend, &points[0], &mut memory).mul(backend, &strings, &mut products);
}

fn products(backend: Backend) {
    let [a, b] = [secrets([0x91; 8]), secrets([0x3c; 8])].map(u64::from_le_bytes);
    black_box(gf64::mul(backend, a, b));
}

/// The index of the missing leaf, the noise there, all leaves and rows are secret.
fn silent(backend: Backend) {
    const H: usize = 6;
    let n = 3 << H;
    let cipher = |key| Aes128::new(backend, &[key; 16]);
    let (pi, chi, d) = (cipher(1), Challenges::new(backend, &[2; 16]), cipher(3));
    let layer = |key| -> (Vec<u16>, Buckets) {
        let mut table = vec![0; n];
        let buckets = permutation(cipher(key), &cipher(key + 1), &mut table);
        (table, buckets)
    };
    let layers = [layer(4), layer(6), layer(8)];
    let [first, second, last] =
        layers.each_ref().map(|(table, buckets)| Permutation { buckets, table });
    let (mut leaves, mut sums) = (vec![[0; 16]; 1 << H], vec![[[0; 16]; 2]; H]);
    let (mut x, mut y) = (vec![[0; 16]; n], vec![[0; 16]; n]);
    let (mut marks, kept) = (vec![0; n], [0xfe; 16]);
    let mut sender = Prefix::new(backend);
    let mut receiver = Prefix::new(backend);
    for (tree, kind) in [(0, TreeKind::Ggm), (1, TreeKind::Correlated), (2, TreeKind::Ggm)] {
        let top = [tree, tree + 8].map(|k| secrets([k; 16]));
        ggm::expand(&pi, kind, &top[..kind.top()], &kept, &mut leaves, &mut sums);
        sender.add(&leaves, first, &mut y);
        let alpha = u32::from(u8::from_le_bytes(secrets([21 * tree])));
        let given: Vec<_> = sums.iter().map(|[even, _]| *even).collect();
        let of_all = secrets([tree ^ 9; 16]);
        ggm::expand_punctured(&pi, kind, alpha, &given, &of_all, &kept, &mut leaves);
        receiver.add(&leaves, first, &mut x);
        let (from, place) = (usize::from(tree) << H, alpha + (u32::from(tree) << H));
        mark(backend, first, from..from + (1 << H), place, 2 * u16::from(tree), (0, &mut marks));
    }
    black_box([sender.sum(), receiver.sum()]);
    let (mut u, mut v, mut w) = (vec![0u64; n / 2], vec![0u128; n / 2], vec![[0; 16]; n / 2]);
    let noise = [1, 2, 3].map(|k| [secrets([k; 16]), secrets([k ^ 7; 16])]);
    let noise = Noise { marks: &marks, sums: &noise };
    let check = Some(lpn::Check { challenges: &chi, bits: true });
    let (factors, next) = (Factors::Gf128(&d), Next::Encode(last.buckets));
    let of_first = Layer { factors, buckets: first.buckets, next: Next::Sum(second), check };
    black_box(accumulate(backend, of_first, &x, &mut y));
    let of_second =
        Layer { factors: Factors::Gf64(&d), buckets: second.buckets, next, check: None };
    black_box(accumulate(backend, of_second, &y, &mut x));
    encode(backend, last, &x, 0, &mut v);
    black_box(accumulate_noise(backend, Layer { next, ..of_first }, noise, &mut y));
    encode(backend, last, &y, 0, &mut u);
    encode(backend, last, &y, 0, &mut w);
    let rows: Vec<_> = (0..128).map(|k| secrets([k; 16])).collect();
    let mut packed = [0; 2];
    gf128::pack(backend, &rows, &mut packed[..1]);
    tower::pack(backend, &rows, &mut packed);
    tower::add_products(backend, packed[1], &u[..2], &mut packed.clone());
    black_box((u, v, w, packed));
}
