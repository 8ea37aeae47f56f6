//! Arithmetic modulo a prime in several lanes at once, behind one interface for all instruction sets.
//!
//! The implementation chooses what a vector holds: words, or doubles that are integers; what methods do
//! unless it says otherwise is for words. *Narrow* and *lazy* are its bounds, in `rns.md`; narrow vectors
//! are lazy. A value of a type that implements [`Lanes`] proves that the instructions are there; generic code
//! over it runs inside `Backend::run`, inlined. No operation's time depends on what is in the lanes.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod plain;
mod portable;

use super::modulus::{Factor, Modulus};

/// The operations of an instruction set.
pub(super) trait Lanes: Copy {
    /// A residue in each lane.
    type Vector: Copy;
    /// A multiplier in each lane.
    type Factor: Copy;
    /// The prime, for all lanes.
    type Prime: Copy;
    /// The number of lanes: a power of two, at most [`super::GRANULE`].
    const LANES: usize;
    /// The most layers of a transform in a pass over memory: 1 to 3.
    const MOST_LAYERS: u32;
    /// The number of vectors that its last pass takes at a time: 4 or 8.
    const GROUP: usize;

    /// Makes a prime ready.
    fn prime(self, modulus: &Modulus) -> Self::Prime;
    /// The two words that stand for a multiplier in tables.
    #[inline(always)]
    fn entry(self, _: &Modulus, factor: Factor) -> [u64; 2] {
        [factor.w, factor.quotient]
    }

    /// The first words of `from`, integers below 2⁵²: narrow if they are canonical.
    fn load(self, from: &[u64]) -> Self::Vector;
    /// Writes canonical words to the front of `to`, from a narrow vector.
    #[inline(always)]
    fn store(self, p: Self::Prime, x: Self::Vector, to: &mut [u64]) {
        self.suspend(self.canonical(p, x), to);
    }
    /// A vector that [`Lanes::suspend`] has written.
    #[inline(always)]
    fn resume(self, from: &[u64]) -> Self::Vector {
        self.load(from)
    }
    /// Writes a lazy vector as it is.
    fn suspend(self, x: Self::Vector, to: &mut [u64]);
    /// Copies a word below 2⁵² to all lanes, as [`Lanes::load`] does.
    fn splat(self, word: u64) -> Self::Vector;

    /// Copies a multiplier from an entry to all lanes.
    fn factor(self, entry: [u64; 2]) -> Self::Factor;
    /// LANES/REPEAT multipliers from the front of a table's two halves, each in REPEAT lanes.
    fn factors<const REPEAT: usize>(self, roots: [&[u64]; 2]) -> Self::Factor;
    /// LANES/REPEAT multipliers from the front, the last one in the first lanes.
    fn factors_reversed<const REPEAT: usize>(self, roots: [&[u64]; 2]) -> Self::Factor;

    /// The canonical integers, from a narrow vector.
    fn canonical(self, p: Self::Prime, x: Self::Vector) -> Self::Vector;
    /// x·w, narrow, for x lazy, or any integer of absolute value below 2⁵².
    fn mul_by(self, p: Self::Prime, x: Self::Vector, w: Self::Factor) -> Self::Vector;
    /// a·b, narrow, for canonical operands.
    fn mul(self, p: Self::Prime, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// a + b, narrow, for narrow operands.
    fn add(self, p: Self::Prime, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// a − b, narrow, for narrow operands.
    fn sub(self, p: Self::Prime, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// a + b of integers, as long as the sum is below 2⁵².
    fn plain_add(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;
    /// a − b of integers that is not negative.
    fn plain_sub(self, a: Self::Vector, b: Self::Vector) -> Self::Vector;

    /// Does what layers may leave undone, once per pass of a transform, for the operand that no
    /// layer of the pass multiplies.
    #[inline(always)]
    fn settle(self, _: Self::Prime, x: Self::Vector) -> Self::Vector {
        x
    }
    /// A narrow vector from a lazy one.
    fn narrow(self, p: Self::Prime, x: Self::Vector) -> Self::Vector;
    /// x + y·w and x − y·w: lazy, from lazy.
    fn forward(
        self,
        p: Self::Prime,
        x: Self::Vector,
        y: Self::Vector,
        w: Self::Factor,
    ) -> [Self::Vector; 2];
    /// x + y and (y − x)·w: the sum narrow after [`Lanes::settle`] at the end of the pass.
    fn inverse(
        self,
        p: Self::Prime,
        x: Self::Vector,
        y: Self::Vector,
        w: Self::Factor,
    ) -> [Self::Vector; 2];

    /// Exchanges the bit of that weight in a lane's index with the choice between a and b: the lanes
    /// of a whose index has it change places with the lanes of b whose index does not.
    fn exchange<const WEIGHT: usize>(self, a: Self::Vector, b: Self::Vector) -> [Self::Vector; 2];
    /// a₀ b₀ a₁ b₁ …, in two vectors.
    fn interleave(self, a: Self::Vector, b: Self::Vector) -> [Self::Vector; 2];
    /// The inverse of [`Lanes::interleave`].
    fn deinterleave(self, a: Self::Vector, b: Self::Vector) -> [Self::Vector; 2];

    /// [`pack::pack`](super::pack::pack), lengths checked.
    #[inline(always)]
    fn pack(self, bits: u32, words: &[u64], bytes: &mut [u8]) {
        plain::pack(bits, words, bytes);
    }

    /// [`pack::unpack`](super::pack::unpack), lengths checked.
    #[inline(always)]
    fn unpack(self, bits: u32, bytes: &[u8], words: &mut [u64]) {
        plain::unpack(bits, bytes, words);
    }

    /// Writes ⌊w·p/2⁶⁴⌋ for the words w for which w·p mod 2⁶⁴ is not below the threshold, as long as
    /// there is room; returns how many it wrote.
    #[inline(always)]
    fn accept(self, p: &Modulus, threshold: u64, words: &[[u8; 8]], out: &mut [u64]) -> usize {
        plain::accept(p, threshold, words, out)
    }
}
