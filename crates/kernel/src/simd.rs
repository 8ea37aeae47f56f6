//! Vectors of 16-bit and of 32-bit lanes, behind one interface for all instruction sets that have
//! hand-written kernels.
//!
//! A value of a type that implements [`Simd`] proves that the instructions are there; kernels are
//! generic over it, and run inside `Backend::run`, which compiles them for these instructions.
//! No operation's time depends on what is in the lanes.

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) mod avx512;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
mod packing;

/// The most 32-bit lanes of a vector.
pub(crate) const MAX_WORDS: usize = 16;

/// b₀ + b₁ − b₂ − b₃ for four bits, and two more, so that no entry is negative.
const TWO_MORE: [u8; 16] = [2, 3, 3, 4, 1, 2, 2, 3, 1, 2, 2, 3, 0, 1, 1, 2];

/// The operations of an instruction set. Indices of lanes count from the low end.
pub(crate) trait Simd: Copy {
    /// A vector of [`Simd::LANES`] 16-bit lanes.
    type Lanes: Copy;
    /// A vector of [`Simd::WORDS`] 32-bit lanes.
    type Words: Copy;
    /// 16-bit lanes of a vector; a power of two.
    const LANES: usize;
    /// 32-bit lanes of a vector.
    const WORDS: usize;
    /// The number of vectors that the registers hold.
    const REGISTERS: usize;

    /// The first lanes of `from`, which has at least [`Simd::LANES`].
    fn load(self, from: &[u16]) -> Self::Lanes;
    /// Writes the first lanes of `to`, which has at least [`Simd::LANES`].
    fn store(self, x: Self::Lanes, to: &mut [u16]);
    /// Copies a value to all lanes.
    fn splat(self, x: u16) -> Self::Lanes;
    /// a + b mod 2¹⁶.
    fn add(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// a − b mod 2¹⁶.
    fn sub(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// One more than x where the unsigned sum `sum`, of which `part` is a summand, has overflowed.
    fn add_carry(self, x: Self::Lanes, sum: Self::Lanes, part: Self::Lanes) -> Self::Lanes;
    /// a·b mod 2¹⁶.
    fn mul_low(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// ⌊a·b/2¹⁶⌋ of signed lanes.
    fn mul_high(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// ⌊(a·b + 2¹⁴)/2¹⁵⌋ of signed lanes, which must not both be −2¹⁵.
    fn mul_round(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// The lesser of unsigned lanes.
    fn min(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// a & b.
    fn and(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// a | b.
    fn or(self, a: Self::Lanes, b: Self::Lanes) -> Self::Lanes;
    /// All ones where the signed lane is negative, else 0.
    fn sign_mask(self, a: Self::Lanes) -> Self::Lanes;
    /// The sign bits of all lanes; writes LANES/8 bytes.
    fn sign_bits(self, a: Self::Lanes, to: &mut [u8]);
    /// LANES/8 bytes as masks: all ones in the lanes whose bit is set, else 0.
    fn spread_bits(self, from: &[u8]) -> Self::Lanes;
    /// b₀ + b₁ − b₂ − b₃, signed, for the four bits of each half of LANES/2 bytes, the low half first:
    /// looked up within a register.
    fn centred_binomial(self, from: &[u8]) -> Self::Lanes;
    /// Lanes of BITS bits, 9 to 14, from the first LANES·BITS/8 bytes, which may be all.
    fn unpack<const BITS: usize>(self, from: &[u8]) -> Self::Lanes;
    /// The inverse of [`Simd::unpack`], for lanes below 2^BITS.
    fn pack<const BITS: usize>(self, x: Self::Lanes, to: &mut [u8]);
    /// Exchanges the bit `BIT` of a lane's index with the choice between a and b: the lanes of a
    /// whose index has that bit change places with the lanes of b whose index does not.
    fn exchange<const BIT: u32>(self, a: Self::Lanes, b: Self::Lanes)
    -> (Self::Lanes, Self::Lanes);
    /// a₀ b₀ a₁ b₁ … of each eight lanes, the first eight of these in one vector, the others in the other.
    fn interleave_eights(self, a: Self::Lanes, b: Self::Lanes) -> (Self::Lanes, Self::Lanes);
    /// a₀ b₀ a₁ b₁ …, in two vectors.
    fn interleave(self, a: Self::Lanes, b: Self::Lanes) -> (Self::Lanes, Self::Lanes);
    /// The inverse of [`Simd::interleave`].
    fn deinterleave(self, a: Self::Lanes, b: Self::Lanes) -> (Self::Lanes, Self::Lanes);

    /// Writes, from one or two strings of random bytes of one length, as many of the first
    /// candidates of BITS bits that are below Q as there is room for; all zero if there are too few.
    /// Neither time nor addresses depend on which these are.
    fn uniform<const Q: u16, const BITS: usize>(
        self,
        one: (&[u8], &mut [u16]),
        other: Option<(&[u8], &mut [u16])>,
    );

    /// Samples from one string, in a time and at addresses that depend on the rejections: only for
    /// public strings. Returns whether there were enough candidates; if not, `out` has no meaning.
    fn uniform_public<const Q: u16, const BITS: usize>(
        self,
        string: &[u8],
        out: &mut [u16],
    ) -> bool;

    /// Words of four bytes, the low one first, from the first 4·WORDS bytes.
    fn load_words(self, from: &[u8]) -> Self::Words;
    /// Copies a value to all lanes.
    fn splat_words(self, x: u32) -> Self::Words;
    /// a + b mod 2³².
    fn add_words(self, a: Self::Words, b: Self::Words) -> Self::Words;
    /// Adds, mod 2⁶⁴, to each two lanes of `sums`, the low one first, the product of these lanes of x.
    fn add_products_of_words(self, sums: Self::Words, x: Self::Words) -> Self::Words;
    /// The sum mod 2⁶⁴ of all two lanes.
    fn sum_words(self, x: Self::Words) -> u64;
    /// a ⊕ b.
    fn xor_words(self, a: Self::Words, b: Self::Words) -> Self::Words;
    /// Rotated right by BITS: 16, 12, 8 or 7.
    fn rotate_words<const BITS: i32>(self, a: Self::Words) -> Self::Words;
    /// Sixteen words of each of WORDS blocks: word k of the block l to lane l of vector k.
    fn load_blocks(self, blocks: &[&[u8; 64]; MAX_WORDS]) -> [Self::Words; 16];
    /// The inverse of [`Simd::load_blocks`]; block l goes to `to[l·stride..]`.
    fn store_blocks(self, words: &[Self::Words; 16], to: &mut [u8], stride: usize);
}

/// Methods of [`Simd`] that are the same for vectors of every width on x86.
#[cfg(target_arch = "x86_64")]
macro_rules! moves {
    ($vector:ty, $proved:ident!($load:ident, $store:ident)) => {
        #[inline(always)]
        fn load(self, from: &[u16]) -> $vector {
            let from: &[u16; Self::LANES] = &from.as_chunks().0[0];
            $proved!($load(from.as_ptr().cast()))
        }

        #[inline(always)]
        fn load_words(self, from: &[u8]) -> $vector {
            let from: &[u8; 4 * Self::WORDS] = &from.as_chunks().0[0];
            $proved!($load(from.as_ptr().cast()))
        }

        #[inline(always)]
        fn store(self, x: $vector, to: &mut [u16]) {
            let to: &mut [u16; Self::LANES] = &mut to.as_chunks_mut().0[0];
            $proved!($store(to.as_mut_ptr().cast(), x));
        }

        #[inline(always)]
        fn uniform_public<const Q: u16, const BITS: usize>(
            self,
            string: &[u8],
            out: &mut [u16],
        ) -> bool {
            self.uniform_variable_time::<Q, BITS>(string, out)
        }
    };
}
#[cfg(target_arch = "x86_64")]
use moves;

/// Methods that are one instruction on vectors.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
macro_rules! instructions {
    ($proved:ident, $vector:ty: $($method:ident($($x:ident),*) = $instruction:expr;)*) => {$(
        #[inline(always)]
        fn $method(self, $($x: $vector),*) -> $vector {
            $proved!($instruction($($x),*))
        }
    )*};
}
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
pub(crate) use instructions;
