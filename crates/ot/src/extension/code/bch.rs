//! Generator polynomials of the binary BCH codes of designed distance 127.
//!
//! A cyclic code of length 2^m − 1 whose generator has the roots α, α², …, α^126, for α of that
//! order, has distance at least 127 (the BCH bound); a bit for the parity of all makes it 128,
//! since 127 is odd. `tests.rs` finds the roots again.

/// A code \[2^m, 2^m − `redundancy` − 1\], of which words of `word_bits` bits are used, the others
/// being 0 and left out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bch {
    pub(super) word_bits: usize,
    /// Degree of the generator.
    pub(super) redundancy: usize,
    /// The generator; bit i is the coefficient of xⁱ.
    pub(super) generator: [u64; WORDS],
}

/// \[512, 85\], α a root of x⁹ + x⁴ + 1.
pub(super) const BCH_512: Bch = Bch::new(9, 0x211, 85);

/// \[1024, 453\], α a root of x¹⁰ + x³ + 1; shortened by 222 bits to \[802, 231\].
pub(super) const BCH_802: Bch = Bch::new(10, 0x409, 231);

/// Words that hold any generator.
const WORDS: usize = 9;

/// The last of the consecutive powers of α that are roots.
const LAST_ROOT: usize = 126;

/// a·b in GF(2^m), x being a root of the polynomial.
const fn multiply(mut a: usize, b: usize, m: usize, polynomial: usize) -> usize {
    let (mut product, mut i) = (0, 0);
    while i < m {
        if b >> i & 1 == 1 {
            product ^= a;
        }
        a <<= 1;
        if a >> m == 1 {
            a ^= polynomial;
        }
        i += 1;
    }
    product
}

/// The minimal polynomial of α^s over GF(2), bit i the coefficient of xⁱ: the product of x − β for the
/// conjugates β = α^s, α^2s, α^4s, …; 0 if a smaller power of α is among them.
const fn minimal_polynomial(s: usize, m: usize, polynomial: usize) -> usize {
    let (mut beta, mut i) = (1, 0);
    while i < s {
        beta = multiply(beta, 2, m, polynomial);
        i += 1;
    }
    let (mut coefficients, mut degree, mut of_beta) = ([0; 11], 0, s);
    coefficients[0] = 1;
    loop {
        // Times x − β.
        let mut k = degree + 1;
        while k > 0 {
            coefficients[k] = coefficients[k - 1] ^ multiply(coefficients[k], beta, m, polynomial);
            k -= 1;
        }
        coefficients[0] = multiply(coefficients[0], beta, m, polynomial);
        degree += 1;
        beta = multiply(beta, beta, m, polynomial);
        of_beta = of_beta * 2 % ((1 << m) - 1);
        if of_beta < s {
            return 0;
        }
        if of_beta == s {
            break;
        }
    }
    let (mut bits, mut k) = (0, 0);
    while k <= degree {
        assert!(coefficients[k] <= 1, "a polynomial over GF(2)");
        bits |= coefficients[k] << k;
        k += 1;
    }
    bits
}

impl Bch {
    /// Makes the code of length 2^m with the bit of parity; α is a root of the polynomial.
    const fn new(m: usize, polynomial: usize, word_bits: usize) -> Self {
        let (mut generator, mut redundancy, mut s) = ([0; WORDS], 0, 1);
        generator[0] = 1;
        while s <= LAST_ROOT {
            let factor = minimal_polynomial(s, m, polynomial);
            let (mut product, mut shift) = ([0_u64; WORDS], 0);
            while factor >> shift > 0 {
                let mut k = 0;
                while factor >> shift & 1 == 1 && k < WORDS {
                    product[k] ^= generator[k] << shift;
                    if k > 0 && shift > 0 {
                        product[k] ^= generator[k - 1] >> (64 - shift);
                    }
                    k += 1;
                }
                shift += 1;
            }
            if factor != 0 {
                generator = product;
                redundancy += shift - 1;
            }
            s += 1;
        }
        Self { word_bits, redundancy, generator }
    }

    /// Length with the bit of parity.
    pub(super) const fn length(&self) -> usize {
        self.word_bits + self.redundancy + 1
    }

    /// Calls `set(i, j)` for every codeword bit j of every word with the one bit i: the word, the
    /// remainder of x^redundancy times the word, the parity of all.
    pub(super) fn for_each_one(&self, mut set: impl FnMut(usize, usize)) {
        // x^redundancy modulo the generator is the generator without its leading term.
        let mut words = self.generator;
        let bit = |words: &[u64], i: usize| words[i / 64] >> (i % 64) & 1 == 1;
        words[self.redundancy / 64] ^= 1 << (self.redundancy % 64);
        for i in 0..self.word_bits {
            set(i, i);
            let mut parity = true;
            for j in (0..self.redundancy).filter(|&j| bit(&words, j)) {
                set(i, self.word_bits + j);
                parity ^= true;
            }
            if parity {
                set(i, self.length() - 1);
            }
            // Times x.
            for k in (0..words.len()).rev() {
                words[k] = words[k] << 1 | if k > 0 { words[k - 1] >> 63 } else { 0 };
            }
            if bit(&words, self.redundancy) {
                words.iter_mut().zip(self.generator).for_each(|(a, g)| *a ^= g);
            }
        }
    }
}
