//! The fields that U comes from, and the strings over them.

use foxtrot_kernel::{
    Backend,
    aes::Aes128,
    gf::{gf128, tower},
    ggm::TreeKind,
    lpn::Factors,
};
use zeroize::Zeroizing;

use super::code::{Cells, Code, Machine};
use crate::{Bits, base::Block, erase::Secret};

/// A field whose elements are the receiver's U, below GF(2^128). It is sealed: the code is one of these. Its `Values` are U of
/// a batch: `Secret<u128>` of GF(2^128), `Secret<u64>`, `Bits` and `Secret<u8>` of the others.
pub trait Field: sealed::Field + Copy + Send + Sync + 'static {}

/// GF(2^128).
#[derive(Clone, Copy, Debug)]
pub struct Gf128;

/// GF(2^64), over which GF(2^128) is a plane.
#[derive(Clone, Copy, Debug)]
pub struct Gf64;

/// GF(2): U are the choices of OTs.
#[derive(Clone, Copy, Debug)]
pub struct Gf2;

/// GF(16), of which every nibble of GF(2^128) is an element: U are the choices of one-of-sixteen OTs.
#[derive(Clone, Copy, Debug)]
pub struct Gf16;

impl Field for Gf128 {}
impl Field for Gf64 {}
impl Field for Gf2 {}
impl Field for Gf16 {}

/// The part of a field that is not for callers.
pub(super) mod sealed {
    use super::*;

    pub trait Field: Sized {
        /// U of a batch.
        type Values: Default + Send;

        /// Bits of an element.
        const BITS: usize;

        /// OTs that are packed to the value of a noise position.
        const NOISE_BITS: usize;

        /// A mask of the bits of V that are U, the first ones; 0 where U has a string of its own. In Δ these bits are the number 1.
        const CHOICE: u128 = 0;

        /// True if U is a part of V. V is then encoded when it is hashed.
        const LATER: bool = Self::CHOICE != 0;

        /// The kind of trees: correlated ones give leaves that add up to Δ, which is right if all noise is 1.
        const TREES: TreeKind = TreeKind::Ggm;

        /// Sums of a level that are sent.
        const SUMS: usize = match Self::TREES {
            TreeKind::Ggm => 2,
            TreeKind::Correlated => 1,
        };

        /// Blocks of the message of a tree with h levels: behind the sums of GGM trees stands that of all leaves.
        fn blocks_of_tree(height: usize) -> usize {
            Self::SUMS * height + usize::from(Self::TREES == TreeKind::Ggm)
        }

        /// Δ of the outputs.
        fn of_outputs(delta: u128) -> u128 {
            delta & !Self::CHOICE | Self::CHOICE & 1
        }

        /// Σ X^i·r_i of each [`NOISE_BITS`](Self::NOISE_BITS) rows.
        fn pack(backend: Backend, rows: &[Block], out: &mut [u128]);

        /// Σ X^i·b_i of the OTs of a noise position.
        fn noise(choices: &Bits, position: usize) -> u128 {
            pack_bits(choices, position * Self::NOISE_BITS, Self::NOISE_BITS)
        }

        /// The factors of the code from that cipher.
        fn factors(d: &Aes128) -> Factors<'_>;

        /// U of a batch without noise.
        fn values(elements: &[u128]) -> Self::Values;

        /// U from what the accumulators have made of noise. Not for a U that is a part of V.
        fn encode(_: &Code, _: Machine<'_>, _cells: &Cells, _m: usize) -> Self::Values {
            unreachable!("U is a part of V")
        }

        /// U beside all rows of V: `u` as it is, or if it is a part of V and nobody has given it, this part, exchanged where a flip is 1.
        fn beside(u: Self::Values, _rows: &[u128], _flips: &Bits) -> Self::Values {
            u
        }
    }
}

use sealed::Field as Arithmetic;

#[expect(clippy::cast_possible_truncation, reason = "the low half is wanted")]
const fn low(a: u128) -> u64 {
    a as u64
}

impl Arithmetic for Gf128 {
    type Values = Secret<u128>;
    const BITS: usize = 128;
    const NOISE_BITS: usize = 128;

    fn pack(backend: Backend, rows: &[Block], out: &mut [u128]) {
        gf128::pack(backend, rows, out);
    }

    fn factors(d: &Aes128) -> Factors<'_> {
        Factors::Gf128(d)
    }

    fn values(elements: &[u128]) -> Secret<u128> {
        Secret(elements.to_vec())
    }

    fn encode(code: &Code, machine: Machine<'_>, cells: &Cells, m: usize) -> Secret<u128> {
        code.encode(machine, cells, m)
    }
}

impl Arithmetic for Gf64 {
    type Values = Secret<u64>;
    const BITS: usize = 64;
    const NOISE_BITS: usize = 64;

    fn pack(backend: Backend, rows: &[Block], out: &mut [u128]) {
        tower::pack(backend, rows, out);
    }

    fn factors(d: &Aes128) -> Factors<'_> {
        Factors::Gf64(d)
    }

    fn values(elements: &[u128]) -> Secret<u64> {
        Secret(elements.iter().map(|&it| low(it)).collect())
    }

    fn encode(code: &Code, machine: Machine<'_>, cells: &Cells, m: usize) -> Secret<u64> {
        code.encode(machine, cells, m)
    }
}

impl Arithmetic for Gf2 {
    type Values = Bits;
    const BITS: usize = 1;
    const NOISE_BITS: usize = 0;
    const CHOICE: u128 = 1;
    const TREES: TreeKind = TreeKind::Correlated;

    fn pack(_: Backend, _: &[Block], _: &mut [u128]) {}

    /// Returns 1: all positions have the same noise.
    fn noise(_: &Bits, _: usize) -> u128 {
        1
    }

    fn factors(_: &Aes128) -> Factors<'_> {
        Factors::Ones
    }

    fn values(elements: &[u128]) -> Bits {
        Bits::from_bools(elements.iter().map(|&it| it & 1 == 1))
    }

    fn beside(u: Bits, rows: &[u128], flips: &Bits) -> Bits {
        match () {
            () if !u.is_empty() => u,
            () if flips.is_empty() => Self::values(rows),
            () => Self::values(rows).xor(flips),
        }
    }
}

impl Arithmetic for Gf16 {
    type Values = Secret<u8>;
    const BITS: usize = 4;
    const NOISE_BITS: usize = 4;
    const CHOICE: u128 = 0xf;

    fn pack(_: Backend, rows: &[Block], out: &mut [u128]) {
        for (rows, out) in rows.chunks(Self::NOISE_BITS).zip(out) {
            *out = rows.iter().rev().fold(0, |sum, row| times_x(sum) ^ u128::from_le_bytes(*row));
        }
    }

    fn noise(choices: &Bits, position: usize) -> u128 {
        let byte = choices.as_bytes()[position / 2];
        u128::from(byte >> (position % 2 * 4) & 0xf)
    }

    fn factors(_: &Aes128) -> Factors<'_> {
        Factors::Ones
    }

    fn values(elements: &[u128]) -> Secret<u8> {
        Secret(elements.iter().map(|&it| it.to_le_bytes()[0] & 0xf).collect())
    }

    fn beside(u: Secret<u8>, rows: &[u128], _: &Bits) -> Secret<u8> {
        if u.is_empty() { Self::values(rows) } else { u }
    }
}

/// X·a: of every nibble in GF(2)\[X\]/(X^4 + X + 1).
const fn times_x(a: u128) -> u128 {
    const ONES: u128 = u128::MAX / 0xf;
    let over = a >> 3 & ONES;
    (a & !(ONES << 3)) << 1 ^ over ^ over << 1
}

/// Writes the products of Δ with all elements of GF(16); that with 0 is there.
pub(super) fn multiples(delta: &u128, all: &mut [Block; 16]) {
    let mut power = Zeroizing::new(*delta);
    for k in [1, 2, 4, 8] {
        for c in 0..k {
            all[k + c] = (u128::from_le_bytes(all[c]) ^ *power).to_le_bytes();
        }
        *power = times_x(*power);
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

/// The values of noise positions from their OTs; none if they have no OTs.
pub(super) fn pack_noise<F: Arithmetic>(
    backend: Backend,
    rows: &[Block],
    trees: usize,
) -> Secret<u128> {
    // Leaves of correlated trees would give Δ away together with values that differ.
    const { assert!(matches!(F::TREES, TreeKind::Ggm) == (F::NOISE_BITS > 0)) };
    let mut packed = Secret::zeroed(if F::NOISE_BITS > 0 { trees } else { 0 });
    F::pack(backend, rows, &mut packed);
    packed
}
