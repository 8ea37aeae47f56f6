//! Vectors of blocks of 128 bits, behind one interface for all their widths: what AES, AEGIS, binary fields and sums of
//! rows are written over.
//!
//! A value of a type that implements [`Blocks`] proves that the instructions are there. Its vectors are as wide as
//! these instructions: one block for AVX2, whose instructions for AES and products take no more, and for NEON and plain
//! Rust; two where AVX2 comes with VAES and VPCLMULQDQ; four for AVX-512. What is generic over it runs inside
//! `Backend::run`, inlined. No operation's time depends on what is in the vectors.

#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
#[cfg(any(target_feature = "simd128", test))]
mod nibbles;
mod portable;
#[cfg(target_feature = "simd128")]
mod simd128;
#[cfg(target_arch = "x86_64")]
mod w128;
#[cfg(target_arch = "x86_64")]
pub(crate) mod w256;
#[cfg(target_arch = "x86_64")]
pub(crate) mod w512;

use crate::{Block, halves};

/// a ⊕ b.
pub(crate) fn xor(a: &Block, b: &Block) -> Block {
    (u128::from_ne_bytes(*a) ^ u128::from_ne_bytes(*b)).to_ne_bytes()
}

/// a ∧ b.
pub(crate) fn and(a: &Block, b: &Block) -> Block {
    (u128::from_ne_bytes(*a) & u128::from_ne_bytes(*b)).to_ne_bytes()
}

/// The element of GF(2⁶⁴) that a product is, modulo x^64 = x^4 + x^3 + x + 1.
#[inline(always)]
pub(crate) fn reduce_64(product: u128) -> u64 {
    let [low, high] = halves(product);
    // high·x^64 = high·(1 + x + x^3 + x^4). What these shifts push beyond x^63 is `carry`, of
    // four bits, which comes back the same way: so it is added to high first.
    let carry = high >> 63 ^ high >> 61 ^ high >> 60;
    let folded = high ^ carry;
    low ^ folded ^ folded << 1 ^ folded << 3 ^ folded << 4
}

/// The element of GF(2¹²⁸) that products of halves are, by their weight: low by low, mixed, high by high; modulo
/// x^128 = x^7 + x^2 + x + 1.
#[inline(always)]
pub(crate) fn reduce_128([low, middle, high]: [u128; 3]) -> u128 {
    let [low, high] = [low ^ middle << 64, high ^ middle >> 64];
    // As above with shifts by 1, 2 and 7; `middle` weighs x^64.
    let carry = high >> 127 ^ high >> 126 ^ high >> 121;
    let folded = high ^ carry;
    low ^ folded ^ folded << 1 ^ folded << 2 ^ folded << 7
}

/// The operations of a width.
#[cfg_attr(
    not(any(target_arch = "x86_64", target_arch = "aarch64")),
    expect(dead_code, reason = "fewer of them are used")
)]
pub(crate) trait Blocks: Copy {
    /// [`Blocks::BLOCKS`] blocks.
    type Vector: Copy;
    /// The number of blocks of a vector: 1, 2 or 4.
    const BLOCKS: usize;
    /// The number of its bytes.
    const BYTES: usize = 16 * Self::BLOCKS;

    /// Zeros.
    fn zero(self) -> Self::Vector;
    /// Copies a block to all places.
    fn splat(self, block: &Block) -> Self::Vector;
    /// The first bytes of `bytes`, which has at least [`Blocks::BYTES`].
    #[inline(always)]
    fn load(self, bytes: &[u8]) -> Self::Vector {
        const { assert!(Self::BLOCKS == 1, "a vector is a block") };
        self.splat(&bytes.as_chunks().0[0])
    }
    /// Writes the first bytes of `bytes`, which has at least [`Blocks::BYTES`].
    fn store(self, x: Self::Vector, bytes: &mut [u8]);
    /// All bytes, whole words of 64 bits, at most [`Blocks::BYTES`]; and zeros behind them.
    fn load_part(self, bytes: &[u8]) -> Self::Vector;
    /// Writes all bytes, whole blocks, at most [`Blocks::BYTES`].
    #[inline(always)]
    fn store_part(self, x: Self::Vector, bytes: &mut [u8]) {
        const { assert!(Self::BLOCKS == 1, "a vector is a block") };
        if !bytes.is_empty() {
            self.store(x, bytes);
        }
    }
    /// a ⊕ b.
    fn xor(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// a ∧ b.
    fn and(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// a + b of words of 64 bits, mod 2⁶⁴.
    #[cfg_attr(
        target_arch = "aarch64",
        expect(dead_code, reason = "NEON counts the blocks of a keystream otherwise")
    )]
    fn add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// Ones in the words of 64 bits that are equal in a and b, zeros in the others.
    fn equal(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// a ⊕ b ⊕ c.
    #[inline(always)]
    fn xor3(self, a: Self::Vector, b: Self::Vector, c: Self::Vector) -> Self::Vector {
        self.xor(self.xor(a, b), c)
    }

    /// aₖ ⊕ bₖ.
    #[inline(always)]
    fn xor_all<const N: usize>(
        self,
        mut a: [Self::Vector; N],
        b: [Self::Vector; N],
    ) -> [Self::Vector; N] {
        for (a, b) in a.iter_mut().zip(b) {
            *a = self.xor(*a, b);
        }
        a
    }

    /// The bytes from `at` on.
    #[inline(always)]
    fn load_at(self, bytes: &[u8], at: usize) -> Self::Vector {
        self.load(&bytes[at..at + Self::BYTES])
    }

    /// The first bytes, as many as N vectors have.
    #[inline(always)]
    fn load_all<const N: usize>(self, bytes: &[u8]) -> [Self::Vector; N] {
        let bytes = &bytes[..N * Self::BYTES];
        let mut vectors = [self.zero(); N];
        for (k, x) in vectors.iter_mut().enumerate() {
            *x = self.load(&bytes[k * Self::BYTES..]);
        }
        vectors
    }

    /// Writes the first bytes, as many as N vectors have.
    #[inline(always)]
    fn store_all<const N: usize>(self, vectors: [Self::Vector; N], bytes: &mut [u8]) {
        let bytes = &mut bytes[..N * Self::BYTES];
        for (k, x) in vectors.into_iter().enumerate() {
            self.store(x, &mut bytes[k * Self::BYTES..]);
        }
    }

    /// All bytes, whole words of 64 bits, at most those of N vectors; and zeros behind them.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn load_parts<const N: usize>(self, bytes: &[u8]) -> [Self::Vector; N] {
        let mut vectors = [self.zero(); N];
        for (x, bytes) in vectors.iter_mut().zip(bytes.chunks(Self::BYTES)) {
            *x = self.load_part(bytes);
        }
        vectors
    }

    /// Writes all bytes, whole blocks, at most those of the vectors.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn store_parts<const N: usize>(self, vectors: [Self::Vector; N], bytes: &mut [u8]) {
        for (x, bytes) in vectors.into_iter().zip(bytes.chunks_mut(Self::BYTES)) {
            self.store_part(x, bytes);
        }
    }
}

/// Rounds of AES.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64", target_feature = "simd128"))]
pub(crate) trait Aes: Blocks {
    /// A round of each block, under the block of `keys`.
    fn round(self, x: Self::Vector, keys: Self::Vector) -> Self::Vector;
}

/// Operations of AES beside its rounds, as a cipher and in its hash.
#[cfg(target_arch = "x86_64")]
pub(crate) trait Cipher: Aes {
    /// The number of groups of vectors that a hash takes through its first half before the second, which waits for it.
    const GROUPS: usize;

    /// The last round of each block, under the block of `keys`.
    fn last_round(self, x: Self::Vector, keys: Self::Vector) -> Self::Vector;
    /// a₀, b₀, a₁, b₁, … of blocks, in two vectors.
    fn interleave(self, a: Self::Vector, b: Self::Vector) -> [Self::Vector; 2];
    /// Bit 127 of a₀, b₀, a₁, b₁, … of blocks, the first one lowest.
    fn signs(self, a: Self::Vector, b: Self::Vector) -> u32;
}

/// Carry-less products.
pub(crate) trait Clmul: Blocks {
    /// Multiplies, in each block, a half of a and a half of b. In `HALVES` bit 0 chooses the half of a, bit 4 the half of b: the
    /// low half for 0, the high one for 1.
    fn product<const HALVES: i32>(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// The sum of all blocks.
    #[inline(always)]
    fn sum(self, x: Self::Vector) -> u128 {
        const { assert!(Self::BLOCKS == 1, "a vector is a block") };
        let mut block = [0; 16];
        self.store(x, &mut block);
        u128::from_le_bytes(block)
    }
    /// Exchanges the halves of each block.
    fn swap(self, x: Self::Vector) -> Self::Vector;

    /// Adds the products of the halves to sums by their weight: low by low, the two mixed ones, high by high.
    #[inline(always)]
    fn add_products(
        self,
        [low, middle, high]: &mut [Self::Vector; 3],
        a: Self::Vector,
        b: Self::Vector,
    ) {
        *low = self.xor(*low, self.product::<0x00>(a, b));
        *middle = self.xor3(*middle, self.product::<0x01>(a, b), self.product::<0x10>(a, b));
        *high = self.xor(*high, self.product::<0x11>(a, b));
    }

    /// a·b in GF(2¹²⁸) of [`gf128`](crate::gf::gf128), block by block.
    #[inline(always)]
    fn multiply(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        let (low, high) = (self.product::<0x00>(a, b), self.product::<0x11>(a, b));
        // Karatsuba.
        let [a, b] = [self.xor(a, self.swap(a)), self.xor(b, self.swap(b))];
        let middle = self.xor3(self.product::<0x00>(a, b), low, high);
        let tail = self.splat(&0x87u128.to_le_bytes());
        // What weighs x^192 is folded to x^64 and x^128, and then what weighs x^128.
        let middle = self.swap(self.xor(middle, self.product::<0x01>(high, tail)));
        let upper = self.and(middle, self.splat(&(u128::MAX << 64).to_le_bytes()));
        self.xor3(low, upper, self.product::<0x00>(self.xor(high, middle), tail))
    }

    /// a₀·b and a₁·b in GF(2⁶⁴) of [`gf64`](crate::gf::gf64), block by block, of the halves of a and the low half of b.
    #[inline(always)]
    fn scale(self, a: Self::Vector, b: Self::Vector) -> Self::Vector {
        let tail = self.splat(&0x1bu128.to_le_bytes());
        let mut products = [self.product::<0x00>(a, b), self.product::<0x01>(a, b)];
        for product in &mut products {
            let once = self.product::<0x01>(*product, tail);
            *product = self.xor3(*product, once, self.product::<0x01>(once, tail));
        }
        let [low, high] = products;
        let mask = self.splat(&u128::from(u64::MAX).to_le_bytes());
        self.xor(self.and(low, mask), self.swap(self.and(high, mask)))
    }
}
