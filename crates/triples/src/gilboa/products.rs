//! The arithmetic of a batch: what becomes of keys, shares and messages, each a list of bytes. Nothing here
//! depends on what they say: OT i of triple t is number t·ℓ + i, and every bit is a mask.

use core::{
    array,
    hint::black_box,
    num::Wrapping,
    ops::{Add, BitAnd, BitOr, Mul, Shl, Shr, Sub},
};

use foxtrot_ot::base::Block;

/// Numbers of ℓ bits, in WIDTH bytes, modulo 2^ℓ.
trait Word<const WIDTH: usize>:
    Copy
    + Default
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + Shl<usize, Output = Self>
    + Shr<usize, Output = Self>
{
    fn load(bytes: [u8; WIDTH]) -> Self;
    fn store(self) -> [u8; WIDTH];
    /// All ones if bit i is set, else 0.
    fn mask(self, i: usize) -> Self;
}

macro_rules! words {
    ($($word:ident $width:literal)*) => {$(
        impl Word<$width> for Wrapping<$word> {
            #[inline(always)]
            fn load(bytes: [u8; $width]) -> Self {
                Self($word::from_le_bytes(bytes))
            }
            #[inline(always)]
            fn store(self) -> [u8; $width] {
                self.0.to_le_bytes()
            }
            #[inline(always)]
            fn mask(self, i: usize) -> Self {
                -(self >> i & Self(1))
            }
        }
    )*};
}

words!(u8 1 u16 2 u32 4 u64 8);

/// The arguments, with the width in place.
macro_rules! of_width {
    ($width:expr, $function:ident($($argument:expr),*)) => {
        match $width {
            1 => $function::<Wrapping<u8>, 1, 8>($($argument),*),
            2 => $function::<Wrapping<u16>, 2, 16>($($argument),*),
            4 => $function::<Wrapping<u32>, 4, 32>($($argument),*),
            _ => $function::<Wrapping<u64>, 8, 64>($($argument),*),
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
            sum = sum + (low::<W, WIDTH>(key) << i);
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
        *c = (W::load(*c) + a * b - kept).store();
        middle
    });
    let half = BITS / 2;
    for middles in middles.chunks_mut(WIDTH) {
        // Of two triples; behind the last one there are zeros.
        let [first, second] = [(); 2].map(|()| triples.next().unwrap_or_default());
        let pair = (first << half >> half | second << half).store();
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
    let mut t = |i: usize| {
        let [zero, one] = keys[i].each_ref().map(|key| low::<W, WIDTH>(key));
        kept = kept + (zero << i);
        zero - one + a
    };
    words[0] = t(0).store();
    for (i, word) in (1..).zip(&mut words[1..]) {
        // ℓ − i bits of the one, and i of the other.
        let other = BITS - i;
        *word = (t(i) << i >> i | t(other) << other).store();
    }
    let middle = t(BITS / 2);
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
    let half = BITS / 2;
    let middles = middles.chunks(WIDTH).flat_map(|pair| {
        let mut bytes = [0; WIDTH];
        bytes[..pair.len()].copy_from_slice(pair);
        let pair = W::load(bytes);
        [pair << half, pair >> half << half]
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
        let mut sum = (W::load(words[0]) & masks[0]) + (middle & masks[half]);
        for (i, word) in (1..).zip(&words[1..]) {
            let (word, other) = (W::load(*word), BITS - i);
            sum = sum + (word << i & masks[i]) + (word >> other << other & masks[other]);
        }
        *c = (W::load(*c) + sum).store();
    }
}
