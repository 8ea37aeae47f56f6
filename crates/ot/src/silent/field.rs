//! The fields that U comes from, and the strings over them.

use alloc::vec::Vec;

use foxtrot_kernel::{
    Backend,
    aes::Aes128,
    gf::{gf128, tower},
    lpn::{Element, Factors, Mark, Noise, encode, encode_bits},
};

use super::{
    code::{Cells, Code},
    trees::Trees,
};
use crate::{
    Bits,
    base::Block,
    erase::{Secret, SecretBytes, Zero},
};

/// A field whose elements are the receiver's U, below GF(2^128). It is sealed: the code is one of these.
pub trait Field: sealed::Field + Copy + Send + Sync + 'static {
    /// U of a batch.
    type Values: Send;
}

/// GF(2^128).
#[derive(Clone, Copy, Debug)]
pub struct Gf128;

/// GF(2^64), over which GF(2^128) is a plane.
#[derive(Clone, Copy, Debug)]
pub struct Gf64;

/// GF(2): U are the choices of OTs.
#[derive(Clone, Copy, Debug)]
pub struct Gf2;

impl Field for Gf128 {
    type Values = Secret<u128>;
}

impl Field for Gf64 {
    type Values = Secret<u64>;
}

impl Field for Gf2 {
    type Values = Bits;
}

/// The part of a field that is not for callers.
pub(super) mod sealed {
    use super::*;

    pub trait Field: Sized {
        /// Bits of an element.
        const BITS: usize;

        /// OTs that are packed to the value of a noise position.
        const NOISE_BITS: usize;

        /// True if rows are encoded when they are hashed.
        const LATER: bool = false;

        /// The mark of a leaf, from which the sum of the noise up to it follows.
        type Mark: Mark + Zero + Send + Sync;

        /// Σ X^i·r_i of each [`NOISE_BITS`](Self::NOISE_BITS) rows.
        fn pack(backend: Backend, rows: &[Block], out: &mut [u128]);

        /// The factors of the code from that cipher.
        fn factors(d: &Aes128) -> Factors<'_>;

        /// U of a batch without noise.
        fn values(elements: Secret<u128>) -> <Self as super::Field>::Values
        where
            Self: super::Field;

        /// Writes the marks of all leaves to their places, in a list or beside the cells.
        fn mark(
            trees: &Trees<'_>,
            code: &Code,
            alphas: &[u32],
            cells: &mut Cells,
        ) -> Secret<Self::Mark>;

        /// U from the marks of all leaves, and for every tree the sum of the noise before it and its own; or from bits of the cells. These
        /// are then free to be overwritten.
        fn encode(
            code: (&Code, Backend),
            marks: &[Self::Mark],
            sums: &[[Block; 2]],
            cells: &mut Cells,
            m: usize,
        ) -> <Self as super::Field>::Values
        where
            Self: super::Field;

        /// Exchanges choices, if these are OTs.
        fn flip(
            values: <Self as super::Field>::Values,
            flips: &Bits,
        ) -> <Self as super::Field>::Values
        where
            Self: super::Field;
    }
}

use sealed::Field as Arithmetic;

/// Marks of 16 bits.
fn wide_marks(trees: &Trees<'_>, code: &Code, alphas: &[u32]) -> Secret<u16> {
    let mut marks = Secret::zeroed(code.len());
    let first = |tree| u16::try_from(2 * tree).expect("fewer than 2^15 trees");
    trees.mark(code, alphas, first, &mut marks);
    marks
}

/// U of a large field.
fn encode_noise<F: Arithmetic, T: Element + Zero>(
    (code, backend): (&Code, Backend),
    marks: &[u16],
    sums: &[[Block; 2]],
    cells: &mut Cells,
    m: usize,
) -> Secret<T> {
    code.accumulate_noise::<F>(backend, Noise { marks, sums }, cells);
    let mut u = Secret::zeroed(m);
    encode(backend, code.last(), cells.get(), 0, &mut u);
    u
}

#[expect(clippy::cast_possible_truncation, reason = "the low half is wanted")]
const fn low(a: u128) -> u64 {
    a as u64
}

impl Arithmetic for Gf128 {
    const BITS: usize = 128;
    const NOISE_BITS: usize = 128;
    type Mark = u16;

    fn pack(backend: Backend, rows: &[Block], out: &mut [u128]) {
        gf128::pack(backend, rows, out);
    }

    fn factors(d: &Aes128) -> Factors<'_> {
        Factors::Gf128(d)
    }

    fn flip(values: Secret<u128>, _: &Bits) -> Secret<u128> {
        values
    }

    fn values(elements: Secret<u128>) -> Secret<u128> {
        elements
    }

    fn mark(trees: &Trees<'_>, code: &Code, alphas: &[u32], _: &mut Cells) -> Secret<u16> {
        wide_marks(trees, code, alphas)
    }

    fn encode(
        code: (&Code, Backend),
        marks: &[u16],
        sums: &[[Block; 2]],
        cells: &mut Cells,
        m: usize,
    ) -> Secret<u128> {
        encode_noise::<Self, _>(code, marks, sums, cells, m)
    }
}

impl Arithmetic for Gf64 {
    const BITS: usize = 64;
    const NOISE_BITS: usize = 64;
    type Mark = u16;

    fn pack(backend: Backend, rows: &[Block], out: &mut [u128]) {
        tower::pack(backend, rows, out);
    }

    fn factors(d: &Aes128) -> Factors<'_> {
        Factors::Gf64(d)
    }

    fn flip(values: Secret<u64>, _: &Bits) -> Secret<u64> {
        values
    }

    fn values(elements: Secret<u128>) -> Secret<u64> {
        Secret(elements.iter().map(|&it| low(it)).collect())
    }

    fn mark(trees: &Trees<'_>, code: &Code, alphas: &[u32], _: &mut Cells) -> Secret<u16> {
        wide_marks(trees, code, alphas)
    }

    fn encode(
        code: (&Code, Backend),
        marks: &[u16],
        sums: &[[Block; 2]],
        cells: &mut Cells,
        m: usize,
    ) -> Secret<u64> {
        encode_noise::<Self, _>(code, marks, sums, cells, m)
    }
}

impl Arithmetic for Gf2 {
    const BITS: usize = 1;
    const NOISE_BITS: usize = 0;
    const LATER: bool = true;
    type Mark = u8;

    fn pack(_: Backend, _: &[Block], _: &mut [u128]) {}

    fn factors(_: &Aes128) -> Factors<'_> {
        Factors::Ones
    }

    fn flip(values: Bits, flips: &Bits) -> Bits {
        if flips.is_empty() { values } else { values.xor(flips) }
    }

    fn values(elements: Secret<u128>) -> Bits {
        Bits::from_bools(elements.iter().map(|&it| it & 1 == 1))
    }

    fn mark(trees: &Trees<'_>, code: &Code, alphas: &[u32], cells: &mut Cells) -> SecretBytes {
        trees.mark(code, alphas, |tree| u8::from(tree % 2 == 1), cells.get_all_mut().1);
        SecretBytes::default()
    }

    fn encode(
        (code, backend): (&Code, Backend),
        _: &[u8],
        _: &[[Block; 2]],
        cells: &mut Cells,
        m: usize,
    ) -> Bits {
        let mut bytes = SecretBytes::zeroed(m.div_ceil(8));
        encode_bits(backend, code.last(), cells.bits(), &mut bytes);
        Bits::from_bytes(&bytes, m)
    }
}

/// Σ b_i·X^i of n bits, whole bytes, from `first` on.
pub(super) fn pack_bits(bits: &Bits, first: usize, n: usize) -> u128 {
    let mut bytes = [0; 16];
    bytes[..n / 8].copy_from_slice(&bits.as_bytes()[first / 8..][..n / 8]);
    let packed = u128::from_le_bytes(bytes);
    crate::erase::erase(&mut bytes);
    packed
}

/// Σ X^i·r_i in GF(2^128) of each 128 rows.
pub(super) fn pack_rows(backend: Backend, rows: &[Block]) -> Secret<u128> {
    let mut packed = Secret::zeroed(rows.len() / 128);
    gf128::pack(backend, rows, &mut packed);
    packed
}

/// The values of noise positions from their OTs: of none, the same for all.
pub(super) fn pack_noise<F: Arithmetic>(
    backend: Backend,
    rows: &[Block],
    trees: usize,
    of_none: u128,
) -> Secret<u128> {
    let mut packed = Secret(Vec::with_capacity(trees));
    packed.0.resize(trees, of_none);
    if F::NOISE_BITS > 0 {
        F::pack(backend, rows, &mut packed);
    }
    packed
}
