//! Number-theoretic transform: full, negacyclic, in place; plain Rust for every backend but that with packed lanes, whose
//! versions are in `packed`.

use super::field::{
    add, montgomery_multiply, montgomery_reduce, power, root_of_unity, sub, to_montgomery,
};
#[cfg(dsp)]
use super::packed;
use crate::Backend;

/// The polynomial for the packed kernels, if the backend has them and they are for its ring.
#[cfg(dsp)]
#[inline(always)]
fn for_packed<const N: usize, const Q: u16>(
    backend: Backend,
    f: &mut [u16; N],
) -> Option<&mut [u16; 256]> {
    if Q == 7681 && backend.is_dsp() { f.as_mut_slice().try_into().ok() } else { None }
}

/// The constants of the transform of length N mod Q, in Montgomery form.
pub(super) struct Tables<const N: usize, const Q: u16>;

impl<const N: usize, const Q: u16> Tables<N, Q> {
    pub(super) const ZETAS: [u16; N] = Self::powers_in_bit_reversed_order(1);
    const TAIL: [u16; N] = Self::rows_of_last_layers(Self::ZETAS);
    pub(super) const INVERSE_ZETAS: [u16; N] = Self::powers_in_bit_reversed_order(2 * N as u64 - 1);
    const INVERSE_TAIL: [u16; N] = Self::rows_of_last_layers(Self::INVERSE_ZETAS);
    #[expect(clippy::cast_possible_truncation, reason = "N is below Q")]
    pub(super) const INVERSE_OF_N: u16 = to_montgomery::<Q>(power::<Q>(N as u16, Q as u64 - 2));

    /// ψ^(brv(k)·exponent), where ψ is the least primitive 2N-th root of unity.
    const fn powers_in_bit_reversed_order(exponent: u64) -> [u16; N] {
        assert!(N.is_power_of_two() && N >= 256 && (Q as usize - 1).is_multiple_of(2 * N));
        assert!(Q < 1 << 14, "sums of two coefficients must stay below 2¹⁵");
        let psi = root_of_unity::<Q>(2 * N as u64);
        let mut zetas = [0; N];
        let mut k = 0;
        while k < N {
            let reversed = (k as u64).reverse_bits() >> (64 - N.ilog2());
            zetas[k] = to_montgomery::<Q>(power::<Q>(psi, reversed * exponent));
            k += 1;
        }
        zetas
    }

    /// The factors of the last four layers, for [`tail_layer`]: row 2ˡ − 1 + g, of length N/16,
    /// has for each block of 16 the factor of its group g in the layer of 2ˡ groups.
    const fn rows_of_last_layers(zetas: [u16; N]) -> [u16; N] {
        let mut rows = [0; N];
        let mut groups = 1;
        while groups <= 8 {
            let mut i = 0;
            while i < groups * (N / 16) {
                let (group, block) = (i / (N / 16), i % (N / 16));
                rows[(groups - 1) * (N / 16) + i] =
                    zetas[groups * (N / 16) + block * groups + group];
                i += 1;
            }
            groups *= 2;
        }
        rows
    }
}

/// f ↦ f̂ with f̂\[i\] = f(ψ^(2·brv(i) + 1)).
///
/// The last four layers act within blocks of 16. They are done on the transposed array, where
/// they run over whole rows like the others.
#[cfg_attr(not(any(unoptimized, small)), inline(always))]
#[cfg_attr(small, inline(never))]
pub(super) fn forward<const N: usize, const Q: u16>(backend: Backend, f: &mut [u16; N]) {
    #[cfg(dsp)]
    if let Some(f) = for_packed::<N, Q>(backend, f) {
        return packed::forward(f);
    }
    let _ = backend;
    // A block of 2·half values is f mod X^(2·half) − ζ². As this is (X^half − ζ)·(X^half + ζ),
    // x + ζy and x − ζy are f modulo either factor, and so on down to X − ψ^(2·brv(i) + 1). The
    // first ζ is ψ^(N/2), whose square is −1.
    let butterfly = |x: u16, y: u16, zeta: u16| {
        let t = montgomery_multiply::<Q>(y, zeta);
        (add::<Q>(x, t), sub::<Q>(x, t))
    };
    let mut half = N / 2;
    while half >= 16 {
        layer(f, half, &Tables::<N, Q>::ZETAS, butterfly);
        half /= 2;
    }
    let mut rows = blocks_to_columns(f);
    for half in [8, 4, 2, 1] {
        tail_layer(&mut rows, half, &Tables::<N, Q>::TAIL, butterfly);
    }
    *f = columns_to_blocks(&rows);
}

/// f ↦ 2¹⁶·f̂.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn forward_scaled<const N: usize, const Q: u16>(backend: Backend, f: &mut [u16; N]) {
    #[cfg(dsp)]
    if let Some(f) = for_packed::<N, Q>(backend, f) {
        return packed::forward_scaled(f);
    }
    forward::<N, Q>(backend, f);
    scale::<N, Q>(f);
}

/// The inverse of [`forward`].
#[cfg_attr(not(any(unoptimized, small)), inline(always))]
#[cfg_attr(small, inline(never))]
pub(super) fn inverse<const N: usize, const Q: u16>(backend: Backend, f: &mut [u16; N]) {
    #[cfg(dsp)]
    if let Some(f) = for_packed::<N, Q>(backend, f) {
        return packed::inverse(f);
    }
    let _ = backend;
    // From u = x + ζy and v = x − ζy come u + v = 2x and (u − v)/ζ = 2y. The factors 2 of all
    // layers are N, which is divided out at the end.
    let butterfly = |x: u16, y: u16, zeta: u16| {
        (add::<Q>(x, y), montgomery_multiply::<Q>(sub::<Q>(x, y), zeta))
    };
    let mut rows = blocks_to_columns(f);
    for half in [1, 2, 4, 8] {
        tail_layer(&mut rows, half, &Tables::<N, Q>::INVERSE_TAIL, butterfly);
    }
    *f = columns_to_blocks(&rows);
    let mut half = 16;
    while half < N {
        layer(f, half, &Tables::<N, Q>::INVERSE_ZETAS, butterfly);
        half *= 2;
    }
    for x in f {
        *x = montgomery_multiply::<Q>(*x, Tables::<N, Q>::INVERSE_OF_N);
    }
}

/// One layer: butterflies at distance `half` within blocks of twice that.
#[cfg_attr(not(unoptimized), inline(always))]
fn layer<const N: usize>(
    f: &mut [u16; N],
    half: usize,
    zetas: &[u16; N],
    butterfly: impl Fn(u16, u16, u16) -> (u16, u16),
) {
    for (block, &zeta) in f.chunks_exact_mut(2 * half).zip(&zetas[N / 2 / half..]) {
        let (low, high) = block.split_at_mut(half);
        for (x, y) in low.iter_mut().zip(high) {
            (*x, *y) = butterfly(*x, *y, zeta);
        }
    }
}

/// One layer for `half` < 16, on the array whose row e has element e of every block of 16.
#[cfg_attr(not(unoptimized), inline(always))]
fn tail_layer<const N: usize>(
    rows: &mut [u16; N],
    half: usize,
    zetas: &[u16; N],
    butterfly: impl Fn(u16, u16, u16) -> (u16, u16),
) {
    let groups = 8 / half;
    let zetas = zetas[(groups - 1) * (N / 16)..].chunks_exact(N / 16);
    for (group, zetas) in rows.chunks_exact_mut(2 * half * (N / 16)).zip(zetas) {
        let (low, high) = group.split_at_mut(half * (N / 16));
        let low = low.chunks_exact_mut(N / 16);
        for (low, high) in low.zip(high.chunks_exact_mut(N / 16)) {
            for ((x, y), &zeta) in low.iter_mut().zip(high).zip(zetas) {
                (*x, *y) = butterfly(*x, *y, zeta);
            }
        }
    }
}

#[cfg_attr(not(unoptimized), inline(always))]
fn blocks_to_columns<const N: usize>(f: &[u16; N]) -> [u16; N] {
    core::array::from_fn(|i| f[i % (N / 16) * 16 + i / (N / 16)])
}

#[cfg_attr(not(unoptimized), inline(always))]
fn columns_to_blocks<const N: usize>(rows: &[u16; N]) -> [u16; N] {
    core::array::from_fn(|i| rows[i % 16 * (N / 16) + i / 16])
}

/// Σ aₖ·bₖ·2⁻¹⁶, coefficient by coefficient.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn products<const N: usize, const Q: u16, const K: usize>(
    backend: Backend,
    a: [&[u16; N]; K],
    b: [&[u16; N]; K],
    sum: &mut [u16; N],
) {
    #[cfg(dsp)]
    if Q == 7681 && K <= 3 && backend.is_dsp() {
        return packed::products(a, b, sum);
    }
    let _ = backend;
    for (i, x) in sum.iter_mut().enumerate() {
        *x = product::<N, Q, K>(a, b, i);
    }
}

/// Returns the inner product of the values at index i.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn product<const N: usize, const Q: u16, const K: usize>(
    a: [&[u16; N]; K],
    b: [&[u16; N]; K],
    i: usize,
) -> u16 {
    const { assert!(K * Q as usize <= 1 << 16, "the sum must be below 2¹⁶·Q") };
    montgomery_reduce::<Q>((0..K).fold(0, |sum, k| sum + u32::from(a[k][i]) * u32::from(b[k][i])))
}

/// [`products`] where the first b was.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn products_in_first<const N: usize, const Q: u16, const K: usize>(
    backend: Backend,
    a: [&[u16; N]; K],
    b: &mut [[u16; N]; K],
) {
    #[cfg(dsp)]
    if Q == 7681 && K <= 3 && backend.is_dsp() {
        return packed::products_in_first(a, b);
    }
    let _ = backend;
    for i in 0..N {
        b[0][i] = product::<N, Q, K>(a, b.each_ref(), i);
    }
}

/// Adds a·b·2⁻¹⁶, coefficient by coefficient.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn add_product<const N: usize, const Q: u16>(
    backend: Backend,
    a: &[u16; N],
    b: &[u16; N],
    sum: &mut [u16; N],
) {
    #[cfg(dsp)]
    if Q == 7681 && backend.is_dsp() {
        return packed::add_product(a, b, sum);
    }
    let _ = backend;
    for (x, (&a, &b)) in sum.iter_mut().zip(a.iter().zip(b)) {
        *x = add::<Q>(*x, montgomery_multiply::<Q>(a, b));
    }
}

/// Multiplies by 2¹⁶.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn scale<const N: usize, const Q: u16>(f: &mut [u16; N]) {
    // 2³²: the product takes a factor 2¹⁶ away.
    let factor = const { to_montgomery::<Q>(to_montgomery::<Q>(1)) };
    for x in f {
        *x = montgomery_multiply::<Q>(*x, factor);
    }
}
