//! The arithmetic of a batch: what becomes of keys, shares and messages, each a list of bytes. Nothing here
//! depends on what they say: OT i of triple t is number t·ℓ + i, and every bit is a mask.

use core::{array, hint::black_box};

use foxtrot_ot::base::Block;

/// Numbers of ℓ bits, in WIDTH bytes, modulo 2^ℓ.
trait Word<const WIDTH: usize>: Copy + Default {
    const BITS: u32;
    fn load(bytes: [u8; WIDTH]) -> Self;
    fn store(self) -> [u8; WIDTH];
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    fn or(self, other: Self) -> Self;
    fn and(self, other: Self) -> Self;
    fn left(self, i: u32) -> Self;
    fn right(self, i: u32) -> Self;
    /// All ones if bit i is set, else 0.
    fn mask(self, i: u32) -> Self;
}

macro_rules! words {
    ($($word:ident $width:literal)*) => {$(
        impl Word<$width> for $word {
            const BITS: u32 = Self::BITS;
            #[inline(always)]
            fn load(bytes: [u8; $width]) -> Self {
                Self::from_le_bytes(bytes)
            }
            #[inline(always)]
            fn store(self) -> [u8; $width] {
                self.to_le_bytes()
            }
            #[inline(always)]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }
            #[inline(always)]
            fn times(self, other: Self) -> Self {
                self.wrapping_mul(other)
            }
            #[inline(always)]
            fn or(self, other: Self) -> Self {
                self | other
            }
            #[inline(always)]
            fn and(self, other: Self) -> Self {
                self & other
            }
            #[inline(always)]
            fn left(self, i: u32) -> Self {
                self << i
            }
            #[inline(always)]
            fn right(self, i: u32) -> Self {
                self >> i
            }
            #[inline(always)]
            fn mask(self, i: u32) -> Self {
                (self >> i & 1).wrapping_neg()
            }
        }
    )*};
}

words!(u8 1 u16 2 u32 4 u64 8);

/// The arguments, with the width in place.
macro_rules! of_width {
    ($width:expr, $function:ident($($argument:expr),*)) => {
        match $width {
            1 => $function::<u8, 1, 8>($($argument),*),
            2 => $function::<u16, 2, 16>($($argument),*),
            4 => $function::<u32, 4, 32>($($argument),*),
            _ => $function::<u64, 8, 64>($($argument),*),
        }
    };
}

/// c = Σ 2^i·kᵢ of every triple: the receiver's part that its keys make.
pub(super) fn gather(width: usize, keys: &[Block], c: &mut [u8]) {
    of_width!(width, gather_words(keys, c));
}

/// The sender's side of a product: writes its message to `products`, and adds a·b − Σ 2^i·m₀ to c.
///
/// The lengths are those of the set.
pub(super) fn multiply(
    width: usize,
    keys: &[[Block; 2]],
    [a, b, c]: [&mut [u8]; 3],
    products: &mut [u8],
) {
    of_width!(width, multiply_words(keys, a, b, c, products));
}

/// Adds the receiver's part that the peer's message makes: Σ 2^i·bᵢ·tᵢ.
pub(super) fn add(width: usize, b: &[u8], products: &[u8], c: &mut [u8]) {
    of_width!(width, add_words(b, products, c));
}

/// The low ℓ bits of a key.
#[inline(always)]
fn low<W: Word<WIDTH>, const WIDTH: usize>(key: &Block) -> W {
    W::load(array::from_fn(|k| key[k]))
}

fn gather_words<W: Word<WIDTH>, const WIDTH: usize, const BITS: usize>(
    keys: &[Block],
    c: &mut [u8],
) {
    let (c, _) = c.as_chunks_mut::<WIDTH>();
    let (keys, _) = keys.as_chunks::<BITS>();
    for (keys, c) in keys.iter().zip(c) {
        let mut sum = W::default();
        for (i, key) in (0..).zip(keys) {
            sum = sum.plus(low::<W, WIDTH>(key).left(i));
        }
        *c = sum.store();
    }
}

fn multiply_words<W: Word<WIDTH>, const WIDTH: usize, const BITS: usize>(
    keys: &[[Block; 2]],
    a: &[u8],
    b: &[u8],
    c: &mut [u8],
    products: &mut [u8],
) {
    let ([a, b], (c, _)) = ([a, b].map(|it| it.as_chunks::<WIDTH>().0), c.as_chunks_mut::<WIDTH>());
    let (keys, _) = keys.as_chunks::<BITS>();
    let (words, middles) = products.split_at_mut(a.len() * WIDTH * BITS / 2);
    let (words, _) = words.as_chunks_mut::<WIDTH>();
    let triples = keys.iter().zip(words.chunks_exact_mut(BITS / 2));
    let mut triples = triples.zip(a).zip(b).zip(c).map(|((((keys, words), a), b), c)| {
        let (a, b) = (W::load(*a), W::load(*b));
        let (kept, middle) = of_triple::<W, WIDTH, BITS>(keys, a, words);
        *c = W::load(*c).plus(a.times(b)).minus(kept).store();
        middle
    });
    let half = W::BITS / 2;
    for middles in middles.chunks_mut(WIDTH) {
        // Of two triples; behind the last one there are zeros.
        let [first, second] = [(); 2].map(|()| triples.next().unwrap_or_default());
        let pair = first.left(half).right(half).or(second.left(half)).store();
        middles.copy_from_slice(&pair[..middles.len()]);
    }
}

/// Σ 2^i·m₀ of a triple, and its t_{ℓ/2}, the upper half of which is to be cut off; the other tᵢ to `words`.
#[inline(always)]
fn of_triple<W: Word<WIDTH>, const WIDTH: usize, const BITS: usize>(
    keys: &[[Block; 2]; BITS],
    a: W,
    words: &mut [[u8; WIDTH]],
) -> (W, W) {
    let mut kept = W::default();
    let mut t = |i: u32| {
        let [zero, one] = keys[i as usize].each_ref().map(|key| low::<W, WIDTH>(key));
        kept = kept.plus(zero.left(i));
        zero.minus(one).plus(a)
    };
    let (words, middle) = (words, W::BITS / 2);
    words[0] = t(0).store();
    for (i, word) in (1..).zip(&mut words[1..]) {
        // ℓ − i bits of the one, and i of the other.
        let other = W::BITS - i;
        *word = t(i).left(i).right(i).or(t(other).left(other)).store();
    }
    let middle = t(middle);
    (kept, middle)
}

fn add_words<W: Word<WIDTH>, const WIDTH: usize, const BITS: usize>(
    b: &[u8],
    products: &[u8],
    c: &mut [u8],
) {
    let ((b, _), (c, _)) = (b.as_chunks::<WIDTH>(), c.as_chunks_mut::<WIDTH>());
    let (words, middles) = products.split_at(b.len() * WIDTH * BITS / 2);
    let (words, _) = words.as_chunks::<WIDTH>();
    let half = W::BITS / 2;
    let middles = middles.chunks(WIDTH).flat_map(|pair| {
        let mut bytes = [0; WIDTH];
        bytes[..pair.len()].copy_from_slice(pair);
        let pair = W::load(bytes);
        [pair.left(half), pair.right(half).left(half)]
    });
    for (((b, c), words), middle) in b.iter().zip(c).zip(words.chunks_exact(BITS / 2)).zip(middles)
    {
        let b = W::load(*b);
        let mut masks = [W::default(); BITS];
        for (i, mask) in (0..).zip(&mut masks) {
            *mask = b.mask(i);
        }
        // So that no branch can be made of them.
        let masks = black_box(masks);
        let mut sum = W::load(words[0]).and(masks[0]).plus(middle.and(masks[BITS / 2]));
        for (i, word) in (1..).zip(&words[1..]) {
            let (word, other) = (W::load(*word), W::BITS - i);
            let (low, high) = (word.left(i), word.right(other).left(other));
            sum = sum.plus(low.and(masks[i as usize])).plus(high.and(masks[other as usize]));
        }
        *c = W::load(*c).plus(sum).store();
    }
}
