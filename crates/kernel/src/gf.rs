//! Binary fields. Bit k of an integer is the coefficient of x^k.
//!
//! Nothing here depends on the values in time: the portable code multiplies integers that have
//! holes between their bits (which some microcontrollers, like the Cortex-M3, do in variable time),
//! the rest has instructions for it.

use crate::{
    blocks::{Clmul, reduce_64, reduce_128},
    halves, joined,
};

/// The operations of a field, by its elements.
macro_rules! field {
    ($word:ident) => {
        use super::Element;
        use crate::Backend;

        /// a·b.
        #[must_use]
        pub fn mul(backend: Backend, a: $word, b: $word) -> $word {
            // By halves: as a vector, what was stored by halves would be waited for.
            let ([a_low, a_high], [b_low, b_high]) = (a.halves(), b.halves());
            // One product has no use for wide vectors.
            dispatch!(
                backend,
                simd => $word::product(simd.single(), [a_low, a_high], [b_low, b_high]),
            )
        }

        /// Writes for every row r, which starts at `rows[r * stride]`, the sum of `coefficients[b]`
        /// times the little-endian word number b of the row. What follows them in the row is ignored.
        ///
        /// # Panics
        /// If the coefficients do not fit into `stride` bytes, or `rows` has fewer rows than `out`.
        pub fn inner_products(
            backend: Backend,
            rows: &[u8],
            stride: usize,
            coefficients: &[$word],
            out: &mut [$word],
        ) {
            let len = size_of_val(coefficients);
            assert!(len <= stride, "a row holds what the coefficients multiply");
            assert!(crate::holds(rows.len(), out.len(), stride, len), "a row for every output");
            dispatch!(wide backend, simd => super::inner_products(simd, rows, stride, coefficients, out));
        }
    };
}

/// GF(2^64) = GF(2)\[x\] / (x^64 + x^4 + x^3 + x + 1).
pub mod gf64 {
    field!(u64);
}

/// GF(2^128) = GF(2)\[x\] / (x^128 + x^7 + x^2 + x + 1).
pub mod gf128 {
    use crate::Block;

    field!(u128);

    /// The powers x^0, …, x^127.
    const POWERS: [u128; 128] = {
        let mut powers = [1; 128];
        let mut k = 1;
        while k < 128 {
            powers[k] = powers[k - 1] << 1;
            k += 1;
        }
        powers
    };

    /// Writes Σ x^i·r_i, i below 128, for each 128 rows r_0, r_1, …: packed correlated OTs.
    ///
    /// # Panics
    /// If there are not 128 rows for every output.
    pub fn pack(backend: Backend, rows: &[Block], out: &mut [u128]) {
        assert!(rows.len() == 128 * out.len(), "128 rows for every output");
        inner_products(backend, rows.as_flattened(), size_of_val(&POWERS), &POWERS, out);
    }

    /// Adds to each sum the product of `factor` and an element.
    ///
    /// # Panics
    /// If there are not as many sums as elements.
    pub fn add_products(backend: Backend, factor: u128, elements: &[u128], sums: &mut [u128]) {
        assert!(elements.len() == sums.len(), "an element for every sum");
        dispatch!(wide backend, simd => super::add_all(simd.single(), factor, elements, sums));
    }
}

/// GF(2^128) as GF(2^64)\[y\] / (y^2 + y + x^61), GF(2^64) as in [`gf64`]. The low half of an element is the coefficient of
/// y^0, the high half that of y^1.
pub mod tower {
    use crate::{Backend, Block, halves, joined};

    /// Writes Σ x^i·r_i, i below 64, for each 64 rows r_0, r_1, …: packed correlated OTs. x is that of GF(2^64).
    ///
    /// # Panics
    /// If there are not 64 rows for every output.
    pub fn pack(backend: Backend, rows: &[Block], out: &mut [u128]) {
        let (rows, rest) = rows.as_chunks::<64>();
        assert!(rest.is_empty() && rows.len() == out.len(), "64 rows for every output");
        backend.run(inlined!(|| {
            for (rows, out) in rows.iter().zip(out.iter_mut()) {
                let mut sum = [0u64; 2];
                for row in rows.iter().rev() {
                    let row = halves(u128::from_le_bytes(*row));
                    for (sum, row) in sum.iter_mut().zip(row) {
                        // A mask: all ones if x^63 becomes x^64.
                        let carry = (*sum >> 63).wrapping_neg() & 0x1b;
                        *sum = *sum << 1 ^ carry ^ row;
                    }
                }
                *out = joined(sum);
            }
        }));
    }

    /// Adds to each sum the product of `factor` and an element of GF(2^64).
    ///
    /// # Panics
    /// If there are not as many sums as elements.
    pub fn add_products(backend: Backend, factor: u128, elements: &[u64], sums: &mut [u128]) {
        assert!(elements.len() == sums.len(), "an element for every sum");
        dispatch!(wide backend, simd => super::add_products(simd.single(), factor, elements, sums));
    }
}

/// Rows that share their loads of the coefficients.
const ROWS: usize = 4;

/// Elements of a field.
pub(crate) trait Element: Copy {
    /// Returns the element in little-endian bytes.
    fn bytes(self) -> impl AsRef<[u8]>;
    /// Low half first.
    fn halves(self) -> [u64; 2];
    /// The product of two elements by their halves.
    fn product<C: Clmul>(c: C, a: [u64; 2], b: [u64; 2]) -> Self;
    /// Adds products of the elements in a and b to the sums, which [`Element::reduce`] takes.
    fn add_products<C: Clmul>(c: C, sums: &mut [C::Vector; 3], a: C::Vector, b: C::Vector);
    /// The element that the sums are, of halves by their weight: low by low, mixed, high by high.
    fn reduce(sums: [u128; 3]) -> Self;
}

impl Element for u64 {
    #[inline(always)]
    fn bytes(self) -> impl AsRef<[u8]> {
        self.to_le_bytes()
    }

    #[inline(always)]
    fn halves(self) -> [u64; 2] {
        [self, 0]
    }

    #[inline(always)]
    fn product<C: Clmul>(c: C, a: [u64; 2], b: [u64; 2]) -> Self {
        Self::reduce([c.sum(c.product::<0x00>(block(c, a), block(c, b))), 0, 0])
    }

    /// All in the first sum: the products of even and of odd words have the same weight.
    #[inline(always)]
    fn add_products<C: Clmul>(c: C, [sum, ..]: &mut [C::Vector; 3], a: C::Vector, b: C::Vector) {
        *sum = c.xor3(*sum, c.product::<0x00>(a, b), c.product::<0x11>(a, b));
    }

    #[inline(always)]
    fn reduce([sum, ..]: [u128; 3]) -> Self {
        reduce_64(sum)
    }
}

impl Element for u128 {
    #[inline(always)]
    fn bytes(self) -> impl AsRef<[u8]> {
        self.to_le_bytes()
    }

    #[inline(always)]
    fn halves(self) -> [u64; 2] {
        halves(self)
    }

    #[inline(always)]
    fn product<C: Clmul>(c: C, a: [u64; 2], b: [u64; 2]) -> Self {
        let mut sums = [c.zero(); 3];
        c.add_products(&mut sums, block(c, a), block(c, b));
        reduced(c, sums)
    }

    #[inline(always)]
    fn add_products<C: Clmul>(c: C, sums: &mut [C::Vector; 3], a: C::Vector, b: C::Vector) {
        c.add_products(sums, a, b);
    }

    #[inline(always)]
    fn reduce(sums: [u128; 3]) -> Self {
        reduce_128(sums)
    }
}

#[inline(always)]
fn block<C: Clmul>(c: C, words: [u64; 2]) -> C::Vector {
    c.splat(&joined(words).to_le_bytes())
}

#[cfg_attr(not(unoptimized), inline(always))]
fn inner_products<C: Clmul, E: Element>(
    c: C,
    rows: &[u8],
    stride: usize,
    coefficients: &[E],
    out: &mut [E],
) {
    let (fours, rest) = out.as_chunks_mut::<ROWS>();
    let after = fours.len() * ROWS;
    for (k, out) in fours.iter_mut().enumerate() {
        *out = sums(c, &rows[k * ROWS * stride..], stride, coefficients);
    }
    for (k, out) in rest.iter_mut().enumerate() {
        [*out] = sums(c, &rows[(after + k) * stride..], stride, coefficients);
    }
}

#[cfg_attr(not(unoptimized), inline(always))]
fn sums<C: Clmul, E: Element, const R: usize>(
    c: C,
    rows: &[u8],
    stride: usize,
    coefficients: &[E],
) -> [E; R] {
    let mut sums = [[c.zero(); 3]; R];
    let mut lines = [&rows[..size_of_val(coefficients)]; R];
    for (r, line) in lines.iter_mut().enumerate() {
        *line = &rows[r * stride..][..size_of_val(coefficients)];
    }
    let wide = coefficients.chunks_exact(C::BYTES / size_of::<E>());
    let (rest, behind) = (wide.remainder(), wide.len() * C::BYTES);
    for (k, coefficients) in wide.enumerate() {
        let b = load(c, coefficients);
        for (sums, line) in sums.iter_mut().zip(lines) {
            E::add_products(c, sums, c.load_at(line, k * C::BYTES), b);
        }
    }
    if !rest.is_empty() {
        let b = load(c, rest);
        for (sums, line) in sums.iter_mut().zip(lines) {
            E::add_products(c, sums, c.load_part(&line[behind..]), b);
        }
    }
    let mut out = [reduced(c, sums[0]); R];
    for (out, sums) in out.iter_mut().zip(sums).skip(1) {
        *out = reduced(c, sums);
    }
    out
}

/// Adds factor·e for elements e of GF(2^64).
#[cfg_attr(not(unoptimized), inline(always))]
fn add_products<C: Clmul>(c: C, factor: u128, elements: &[u64], sums: &mut [u128]) {
    let factor = c.splat(&factor.to_le_bytes());
    for (element, sum) in elements.iter().zip(sums) {
        *sum ^= c.sum(c.scale(factor, block(c, [*element, 0])));
    }
}

/// Adds factor·e for elements e of the field.
#[cfg_attr(not(unoptimized), inline(always))]
fn add_all<C: Clmul>(c: C, factor: u128, elements: &[u128], sums: &mut [u128]) {
    for (element, sum) in elements.iter().zip(sums) {
        *sum ^= u128::product(c, element.halves(), factor.halves());
    }
}

/// Elements, at most as many as a vector has room for, and zeros behind them.
#[inline(always)]
fn load<C: Clmul, E: Element>(c: C, elements: &[E]) -> C::Vector {
    let mut bytes = [0; 64];
    for (bytes, element) in bytes.chunks_exact_mut(size_of::<E>()).zip(elements) {
        bytes.copy_from_slice(element.bytes().as_ref());
    }
    c.load(&bytes)
}

#[inline(always)]
fn reduced<C: Clmul, E: Element>(c: C, [low, middle, high]: [C::Vector; 3]) -> E {
    E::reduce([c.sum(low), c.sum(middle), c.sum(high)])
}

#[cfg(test)]
mod tests;
