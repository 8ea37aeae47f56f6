//! Arithmetic modulo p = 2²⁵⁵ − 19 in several lanes at once, behind one interface for all
//! instruction sets.
//!
//! An element has five limbs of weight 2^(51·k). A value of a type that implements [`Field`] proves
//! that the instructions are there; what is generic over it runs inside `Backend::run`, inlined.
//! No operation's time, and no address, depends on what is in the lanes.
//!
//! **Bounds.** An element is *tight* after [`Field::load`], [`Field::splat`], [`Field::reduce`] and
//! [`Field::carry`]; [`Field::select`] keeps what its operands are. Tight elements weigh 1; the
//! weight of a sum or a difference is the sum of its operands' weights, at most 3. What an operation
//! takes is stated in weights, and what a weight is in limbs by each implementation, which asserts
//! it in debug builds.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod chains;
mod portable;
#[cfg(test)]
mod tests;

pub(super) use chains::{invert, invert_all, sqrt_ratio, square};

/// The most lanes of a vector.
pub(super) const MAX_LANES: usize = 8;

const BITS: u32 = 51;

/// The low bits of a word that belong to a limb.
const LOW: u64 = (1 << BITS) - 1;

const P: Limbs = [LOW - 18, LOW, LOW, LOW, LOW];

/// One element: Σ limbs\[k\]·2^(51·k). In memory every limb is below 2⁵².
pub(super) type Limbs = [u64; 5];

/// An element in each lane, limb by limb. The lanes beyond [`Field::LANES`] are ignored.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub(super) struct Columns(pub(super) [[u64; MAX_LANES]; 5]);

/// A word in each lane.
pub(super) type Words = [u64; MAX_LANES];

/// Sixteen triples of elements, limb by limb, to choose from: a place in the memory of a
/// [`Table`](super::Table).
///
/// A row has one limb of all sixteen: the low halves of the first eight, their high halves, and the
/// same of the other eight, since AVX2 permutes eight halves at a time.
#[derive(Clone, Copy)]
#[repr(align(64))]
pub struct Sixteen([[Row; 5]; 3]);

type Row = [u32; 32];

redacted! {
    Sixteen;
}

impl Sixteen {
    /// The contents of memory before its first use.
    pub const ZERO: Self = Self([[[0; 32]; 5]; 3]);

    /// Sets the triple of an index below sixteen.
    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn set(&mut self, index: usize, triple: &[Limbs; 3]) {
        let place = index / 8 * 16 + index % 8;
        for (rows, limbs) in self.0.iter_mut().zip(triple) {
            for (row, limb) in rows.iter_mut().zip(limbs) {
                let [low, high] = halves(*limb);
                (row[place], row[place + 8]) = (low, high);
            }
        }
    }

    /// Some element made of each row.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn map<T: Copy>(&self, zero: T, choose: impl Fn(&Row) -> T) -> [[T; 5]; 3] {
        // In loops: the compiler does not always inline `map` of arrays.
        let mut found = [[zero; 5]; 3];
        for (found, rows) in found.iter_mut().zip(&self.0) {
            for (found, row) in found.iter_mut().zip(rows) {
                *found = choose(row);
            }
        }
        found
    }
}

/// The limbs, each changed. As below, without a loop: a method of arrays may stay out of line.
#[cfg(target_arch = "x86_64")]
#[cfg_attr(not(unoptimized), inline(always))]
fn map5<T: Copy, U>(a: [T; 5], operation: impl Fn(T) -> U) -> [U; 5] {
    let [a0, a1, a2, a3, a4] = a;
    [operation(a0), operation(a1), operation(a2), operation(a3), operation(a4)]
}

/// Combines elements limb by limb.
#[cfg(target_arch = "x86_64")]
#[cfg_attr(not(unoptimized), inline(always))]
fn zip5<T: Copy, U>(a: [T; 5], b: [T; 5], operation: impl Fn(T, T) -> U) -> [U; 5] {
    let ([a0, a1, a2, a3, a4], [b0, b1, b2, b3, b4]) = (a, b);
    [operation(a0, b0), operation(a1, b1), operation(a2, b2), operation(a3, b3), operation(a4, b4)]
}

/// The low and the high half.
#[cfg_attr(not(unoptimized), inline(always))]
const fn halves(word: u64) -> [u32; 2] {
    let [a, b, c, d, e, f, g, h] = word.to_le_bytes();
    [u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])]
}

/// The operations of an instruction set.
pub(super) trait Field: Copy {
    /// An element in each lane.
    type Element: Copy;
    /// A sum of products in each lane, not reduced.
    type Wide: Copy;
    /// 64 bits in each lane.
    type Word: Copy;
    /// A condition in each lane.
    type Mask: Copy;
    /// The number of lanes.
    const LANES: usize;

    /// Runs a kernel out of line, compiled for the instruction set: for what is long, and used in
    /// many places.
    fn outlined<R>(self, kernel: impl FnOnce() -> R) -> R;

    /// Tight elements of limbs below 2⁵².
    fn load(self, limbs: &Columns) -> Self::Element;
    /// Stores an element of weight 3 at most, in limbs below 2⁵².
    fn store(self, x: Self::Element) -> Columns;
    /// Copies an element to all lanes.
    fn splat(self, limbs: &Limbs) -> Self::Element;

    /// a + b.
    fn add(self, a: Self::Element, b: Self::Element) -> Self::Element;
    /// a − b.
    fn sub(self, a: Self::Element, b: Self::Element) -> Self::Element;
    /// Carries the element: its limbs are then tight.
    fn carry(self, a: Self::Element) -> Self::Element;

    /// a·b, for weights whose product is 3 at most.
    fn product(self, a: Self::Element, b: Self::Element) -> Self::Wide;
    /// a², for tight a.
    fn square_product(self, a: Self::Element) -> Self::Wide;
    /// a·k, for a of weight 3 at most.
    fn small_product(self, a: Self::Element, k: u32) -> Self::Wide;
    /// a + b. A [`Field::Wide`] is the sum or difference of four products at most.
    fn add_wide(self, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// a − b, where b is one product. At most one product is subtracted from a sum.
    fn sub_wide(self, a: Self::Wide, b: Self::Wide) -> Self::Wide;
    /// Tight.
    fn reduce(self, a: Self::Wide) -> Self::Element;

    /// a·b, for weights whose product is 3 at most.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn mul(self, a: Self::Element, b: Self::Element) -> Self::Element {
        self.reduce(self.product(a, b))
    }

    /// a², for tight a.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn square(self, a: Self::Element) -> Self::Element {
        self.reduce(self.square_product(a))
    }

    /// [`Field::mul`] out of line, for where it does not count.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn times(self, a: Self::Element, b: Self::Element) -> Self::Element {
        self.outlined(inlined!(|| self.mul(a, b)))
    }

    /// −a, tight, for a of weight 2 at most.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn negate(self, a: Self::Element) -> Self::Element {
        self.carry(self.sub(self.splat(&[0; 5]), a))
    }

    /// a where the mask is set, b elsewhere.
    fn select(self, mask: Self::Mask, a: Self::Element, b: Self::Element) -> Self::Element;

    /// (b, a) where the mask is set, (a, b) elsewhere.
    #[cfg_attr(not(unoptimized), inline(always))]
    fn swap(
        self,
        mask: Self::Mask,
        a: Self::Element,
        b: Self::Element,
    ) -> (Self::Element, Self::Element) {
        (self.select(mask, b, a), self.select(mask, a, b))
    }

    /// Words from memory.
    fn words(self, words: &Words) -> Self::Word;
    /// Returns the lanes in which bit k is set.
    fn bit(self, word: Self::Word, k: u32) -> Self::Mask;
    /// Splits digit k, of N bits: returns the low bits, complemented unless the top one is set; and
    /// where that is not set.
    fn digit<const N: u32>(self, word: Self::Word, k: u32) -> (Self::Word, Self::Mask);
    /// Looks up in each lane the triple of that index, 0 to 15; of weight 2.
    fn lookup(self, from: &Sixteen, index: Self::Word) -> [Self::Element; 3];
    /// Looks the triple up in the first sixteen, or in the second where the mask is set.
    fn lookup_either(
        self,
        from: [&Sixteen; 2],
        second: Self::Mask,
        index: Self::Word,
    ) -> [Self::Element; 3];
}

/// The even square root of −1: 2^((p − 1)/4).
pub(super) const SQRT_MINUS_ONE: Limbs =
    element(0x2b83_2480_4fc1_df0b_2b4d_0099_3dfb_d7a7, 0x2f43_1806_ad2f_e478_c4ee_1b27_4a0e_a0b0);

/// The element of these 256 bits, the upper half first.
pub(super) const fn element(high: u128, low: u128) -> Limbs {
    let ([a, b], [c, d]) = (crate::halves(low), crate::halves(high));
    from_words([a, b, c, d])
}

/// The element that 32 bytes encode, little endian; bit 255 is ignored, and the value may be p or
/// above.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn from_bytes(bytes: &[u8; 32]) -> Limbs {
    from_words(words_of(bytes))
}

/// The element of words, the least first, as in [`from_bytes`].
#[cfg_attr(not(unoptimized), inline(always))]
const fn from_words([a, b, c, d]: [u64; 4]) -> Limbs {
    // Limb k begins at bit 51·k: 51 of word 0, 102 − 64 of word 1, 153 − 128 of word 2, 204 − 192
    // of word 3.
    [
        a & LOW,
        (a >> 51 | b << 13) & LOW,
        (b >> 38 | c << 26) & LOW,
        (c >> 25 | d << 39) & LOW,
        d >> 12 & LOW,
    ]
}

/// Little-endian words.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn words_of(bytes: &[u8; 32]) -> [u64; 4] {
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    words
}

/// The one encoding of an element.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn to_bytes(x: &Limbs) -> [u8; 32] {
    let [a, b, c, d, e] = canonical(x);
    let words = [a | b << 51, b >> 13 | c << 38, c >> 26 | d << 25, d >> 39 | e << 12]
        .map(u64::to_le_bytes);
    let mut bytes = [0; 32];
    for (to, from) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *to = from;
    }
    bytes
}

/// The limbs of the same residue below p; those of `x` are below 2⁵².
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) const fn canonical(x: &Limbs) -> Limbs {
    // Twice, since the top limb's carry comes back at the bottom; below 2²⁵⁵ + 19 after that.
    let x = carried(&carried(x));
    // x ≥ p if and only if x + 19 ≥ 2²⁵⁵.
    let mut carry = 19;
    let mut k = 0;
    while k < 5 {
        carry = (x[k] + carry) >> BITS;
        k += 1;
    }
    let mut y = [0; 5];
    let mut carry = 19 * carry;
    k = 0;
    while k < 5 {
        carry += x[k];
        y[k] = carry & LOW;
        carry >>= BITS;
        k += 1;
    }
    y
}

/// Carries limbs below 2⁶³, for the same residue: all limbs but the lowest are then below 2⁵¹.
#[cfg_attr(not(unoptimized), inline(always))]
const fn carried(x: &Limbs) -> Limbs {
    let mut y = [0; 5];
    let mut carry = 0;
    let mut k = 0;
    while k < 5 {
        carry += x[k];
        y[k] = carry & LOW;
        carry >>= BITS;
        k += 1;
    }
    // 2²⁵⁵ = 19 modulo p: what leaves at the top comes back at the bottom, times 19.
    y[0] += 19 * carry;
    y
}

impl Columns {
    pub(super) const ZERO: Self = Self([[0; MAX_LANES]; 5]);

    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn lane(&self, lane: usize) -> Limbs {
        let Self([a, b, c, d, e]) = self;
        [a[lane], b[lane], c[lane], d[lane], e[lane]]
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    pub(super) fn set(&mut self, lane: usize, limbs: &Limbs) {
        for (column, limb) in self.0.iter_mut().zip(limbs) {
            column[lane] = *limb;
        }
    }
}

/// Applies `what` to the limbs of every lane's element.
#[cfg_attr(not(unoptimized), inline(always))]
fn of_lanes<F: Field>(f: F, x: F::Element, what: impl Fn(&Limbs) -> u64) -> Words {
    let limbs = f.store(x);
    let mut words = [0; MAX_LANES];
    for (lane, word) in words.iter_mut().enumerate().take(F::LANES) {
        *word = what(&limbs.lane(lane));
    }
    words
}

/// 1 where x = 0, else 0.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn is_zero<F: Field>(f: F, x: F::Element) -> Words {
    of_lanes(
        f,
        x,
        inlined!(|limbs| {
            let any = canonical(limbs).into_iter().fold(0, |any, limb| any | limb);
            // A limb has 51 bits: the top bit is set by the subtraction from 0 only.
            core::hint::black_box(any.wrapping_sub(1) >> 63)
        }),
    )
}

/// 1 where a = b, else 0.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn is_equal<F: Field>(f: F, a: F::Element, b: F::Element) -> Words {
    is_zero(f, f.sub(a, b))
}

/// 1 where x is odd, as an integer below p, else 0: sgn0 of RFC 9380, `IS_NEGATIVE` of RFC 9496.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn is_odd<F: Field>(f: F, x: F::Element) -> Words {
    of_lanes(f, x, inlined!(|limbs| core::hint::black_box(canonical(limbs)[0] & 1)))
}

/// Conditions from words that are 0 or 1.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn mask<F: Field>(f: F, words: &Words) -> F::Mask {
    f.bit(f.words(words), 0)
}

/// Combines words lane by lane.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn zip(a: &Words, b: &Words, operation: impl Fn(u64, u64) -> u64) -> Words {
    let mut words = [0; MAX_LANES];
    for (lane, word) in words.iter_mut().enumerate() {
        *word = operation(a[lane], b[lane]);
    }
    words
}

/// The one of x and −x that is even; x tight.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn absolute<F: Field>(f: F, x: F::Element) -> F::Element {
    negate_where(f, &is_odd(f, x), x)
}

/// −x where the word is 1, x where it is 0; x tight.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn negate_where<F: Field>(f: F, condition: &Words, x: F::Element) -> F::Element {
    f.select(mask(f, condition), f.negate(x), x)
}
