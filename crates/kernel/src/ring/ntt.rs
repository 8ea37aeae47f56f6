//! Number-theoretic transform: full, negacyclic, in place; plain Rust for every backend.

use super::field::{
    add, montgomery_multiply, montgomery_reduce, power, root_of_unity, sub, to_montgomery,
};

/// The constants of the transform of length N mod Q.
struct Tables<const N: usize, const Q: u16>;

impl<const N: usize, const Q: u16> Tables<N, Q> {
    /// ψ^brv(k), in Montgomery form; ψ is the least primitive 2N-th root of unity.
    #[expect(clippy::cast_possible_truncation, reason = "N is at most 2¹⁵")]
    const ZETAS: [u16; N] = {
        assert!(N.is_power_of_two() && N <= 1 << 15 && (Q as usize - 1).is_multiple_of(2 * N));
        assert!(Q < 1 << 14, "sums of two coefficients must stay below 2¹⁵");
        let psi = root_of_unity::<Q>(2 * N as u32);
        let mut zetas = [0; N];
        let mut k = 0;
        while k < N {
            let reversed = (k as u32).reverse_bits() >> (32 - N.ilog2());
            zetas[k] = to_montgomery::<Q>(power::<Q>(psi, reversed));
            k += 1;
        }
        zetas
    };

    /// N⁻¹ in Montgomery form.
    #[expect(clippy::cast_possible_truncation, reason = "N is below Q")]
    const INVERSE_OF_N: u16 = to_montgomery::<Q>(power::<Q>(N as u16, Q as u32 - 2));
}

/// f ↦ f̂ with f̂\[i\] = f(ψ^(2·brv(i) + 1)).
#[inline(always)]
pub(super) fn forward<const N: usize, const Q: u16>(f: &mut [u16; N]) {
    let mut k = 1;
    let mut half = N / 2;
    while half > 0 {
        for block in f.chunks_exact_mut(2 * half) {
            let zeta = Tables::<N, Q>::ZETAS[k];
            k += 1;
            let (low, high) = block.split_at_mut(half);
            for (x, y) in low.iter_mut().zip(high) {
                let t = montgomery_multiply::<Q>(zeta, *y);
                (*x, *y) = (add::<Q>(*x, t), sub::<Q>(*x, t));
            }
        }
        half /= 2;
    }
}

/// The inverse of [`forward`].
#[inline(always)]
pub(super) fn inverse<const N: usize, const Q: u16>(f: &mut [u16; N]) {
    let mut k = N - 1;
    let mut half = 1;
    while half < N {
        for block in f.chunks_exact_mut(2 * half) {
            // −ψ^brv(k), going down, is the inverse of the factor that this block was given.
            let zeta = Tables::<N, Q>::ZETAS[k];
            k -= 1;
            let (low, high) = block.split_at_mut(half);
            for (x, y) in low.iter_mut().zip(high) {
                let difference = sub::<Q>(*y, *x);
                *x = add::<Q>(*x, *y);
                *y = montgomery_multiply::<Q>(zeta, difference);
            }
        }
        half *= 2;
    }
    for x in f {
        *x = montgomery_multiply::<Q>(*x, Tables::<N, Q>::INVERSE_OF_N);
    }
}

/// Σ aₖ·bₖ, coefficient by coefficient.
#[inline(always)]
pub(super) fn inner_product<const N: usize, const Q: u16, const K: usize>(
    a: [&[u16; N]; K],
    b: [&[u16; N]; K],
) -> [u16; N] {
    const { assert!(K * Q as usize <= 1 << 16, "the sum must be below 2¹⁶·Q") };
    let back = const { to_montgomery::<Q>(to_montgomery::<Q>(1)) };
    core::array::from_fn(|i| {
        let sum = (0..K).fold(0, |sum, k| sum + u32::from(a[k][i]) * u32::from(b[k][i]));
        montgomery_multiply::<Q>(montgomery_reduce::<Q>(sum), back)
    })
}
