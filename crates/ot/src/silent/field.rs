//! The fields that U comes from, and the strings over them.

use alloc::vec::Vec;

use foxtrot_kernel::{
    Backend,
    aes::Aes128,
    gf::{gf128, tower},
    lpn::{
        Buckets, Factors, Missing, Next, Prefix, accumulate, accumulate_bits, aligned, encode,
        encode_bits, encode_pairs,
    },
};

use crate::{
    Bits,
    base::Block,
    erase::{Secret, SecretBytes},
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

        /// The receiver's strings of a batch.
        type Strings: Strings + Send;

        /// Σ X^i·r_i of each [`NOISE_BITS`](Self::NOISE_BITS) rows.
        fn pack(backend: Backend, rows: &[Block], out: &mut [u128]);

        /// The factors of the code from that cipher.
        fn factors(d: &Aes128) -> Factors<'_>;

        /// U of a batch without noise.
        fn values(elements: Secret<u128>) -> <Self as super::Field>::Values
        where
            Self: super::Field;

        /// Adds a tree.
        fn add(
            strings: &mut Self::Strings,
            prefix: &mut Prefix<'_>,
            missing: &Missing,
            leaves: &[Block],
            table: &[u32],
        );

        /// Exchanges choices, if these are OTs.
        fn flip(
            values: <Self as super::Field>::Values,
            flips: &Bits,
        ) -> <Self as super::Field>::Values
        where
            Self: super::Field;

        /// U and V.
        fn encode(
            backend: Backend,
            strings: &mut Self::Strings,
            table: &[u32],
            m: usize,
        ) -> (<Self as super::Field>::Values, Secret<u128>)
        where
            Self: super::Field;
    }

    /// Strings that are encoded together.
    pub trait Strings {
        /// Strings of n elements, all 0.
        fn zeroed(n: usize) -> Self;

        /// The number of elements.
        fn len(&self) -> usize;

        /// Takes elements from their buckets, and puts the sum of the elements up to each, times their factors, to
        /// its next place.
        fn accumulate(
            &mut self,
            backend: Backend,
            factors: Factors<'_>,
            buckets: &Buckets,
            next: Next<'_>,
            to: &mut Self,
        );
    }

    /// Strings of elements with L blocks.
    pub struct Cells<const L: usize> {
        memory: Secret<Block>,
        blocks: usize,
    }

    impl<const L: usize> Cells<L> {
        pub(in super::super) fn get(&mut self) -> &mut [Block] {
            aligned(&mut self.memory, self.blocks)
        }
    }

    impl<const L: usize> Strings for Cells<L> {
        fn zeroed(n: usize) -> Self {
            Self { memory: Secret::zeroed(n * L + 3), blocks: n * L }
        }

        fn len(&self) -> usize {
            self.blocks / L
        }

        fn accumulate(
            &mut self,
            backend: Backend,
            factors: Factors<'_>,
            buckets: &Buckets,
            next: Next<'_>,
            to: &mut Self,
        ) {
            accumulate::<L>(backend, factors, buckets, self.get(), next, to.get());
        }
    }

    /// A string of blocks, and one of bits.
    pub struct WithBits {
        pub(super) blocks: Cells<1>,
        pub(super) bits: SecretBytes,
    }

    impl Strings for WithBits {
        fn zeroed(n: usize) -> Self {
            Self { blocks: Cells::zeroed(n), bits: Secret::zeroed(n) }
        }

        fn len(&self) -> usize {
            self.bits.len()
        }

        fn accumulate(
            &mut self,
            backend: Backend,
            factors: Factors<'_>,
            buckets: &Buckets,
            next: Next<'_>,
            to: &mut Self,
        ) {
            self.blocks.accumulate(backend, factors, buckets, next, &mut to.blocks);
            accumulate_bits(backend, buckets, &self.bits, next, &mut to.bits);
        }
    }

    foxtrot_kernel::redacted! {
        [const L: usize] Cells<L>;
        WithBits;
    }
}

use sealed::{Cells, Field as Arithmetic, WithBits};

#[expect(clippy::cast_possible_truncation, reason = "the low half is wanted")]
const fn low(a: u128) -> u64 {
    a as u64
}

impl Arithmetic for Gf128 {
    const BITS: usize = 128;
    const NOISE_BITS: usize = 128;
    type Strings = Cells<2>;

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

    fn add(
        strings: &mut Cells<2>,
        prefix: &mut Prefix<'_>,
        missing: &Missing,
        leaves: &[Block],
        table: &[u32],
    ) {
        prefix.add_punctured(missing, leaves, table, strings.get());
    }

    fn encode(
        backend: Backend,
        strings: &mut Cells<2>,
        table: &[u32],
        m: usize,
    ) -> (Secret<u128>, Secret<u128>) {
        let (mut u, mut v) = (Secret::zeroed(m), Secret::zeroed(m));
        encode_pairs::<u128, u128>(backend, table, strings.get(), &mut u, &mut v);
        (u, v)
    }
}

impl Arithmetic for Gf64 {
    const BITS: usize = 64;
    const NOISE_BITS: usize = 64;
    type Strings = Cells<2>;

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

    fn add(
        strings: &mut Cells<2>,
        prefix: &mut Prefix<'_>,
        missing: &Missing,
        leaves: &[Block],
        table: &[u32],
    ) {
        prefix.add_punctured(missing, leaves, table, strings.get());
    }

    fn encode(
        backend: Backend,
        strings: &mut Cells<2>,
        table: &[u32],
        m: usize,
    ) -> (Secret<u64>, Secret<u128>) {
        let (mut u, mut v) = (Secret::zeroed(m), Secret::zeroed(m));
        encode_pairs::<u64, u128>(backend, table, strings.get(), &mut u, &mut v);
        (u, v)
    }
}

impl Arithmetic for Gf2 {
    const BITS: usize = 1;
    const NOISE_BITS: usize = 0;
    type Strings = WithBits;

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

    fn add(
        strings: &mut WithBits,
        prefix: &mut Prefix<'_>,
        missing: &Missing,
        leaves: &[Block],
        table: &[u32],
    ) {
        let WithBits { blocks, bits } = strings;
        prefix.add_punctured_bits(missing, leaves, table, blocks.get(), bits);
    }

    fn encode(
        backend: Backend,
        strings: &mut WithBits,
        table: &[u32],
        m: usize,
    ) -> (Bits, Secret<u128>) {
        let (mut bytes, mut v) = (SecretBytes::zeroed(m.div_ceil(8)), Secret::zeroed(m));
        encode::<u128>(backend, table, strings.blocks.get(), &mut v);
        encode_bits(backend, table, &strings.bits, &mut bytes);
        (Bits::from_bytes(&bytes, m), v)
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
