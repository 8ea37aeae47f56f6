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
    pub(super) generator: &'static [u64],
}

/// \[512, 85\], α a root of x⁹ + x⁴ + 1.
pub(super) const BCH_512: Bch = Bch {
    word_bits: 85,
    redundancy: 426,
    generator: &[
        0x7929_4a4d_acc1_c8cd,
        0x821c_0071_a100_c252,
        0x0cdf_9123_1913_581a,
        0x69fe_aa27_3f0d_17cc,
        0x3176_bdbf_424b_0607,
        0xb1e1_132a_00c5_76bc,
        0x0000_0593_1362_e2b8,
    ],
};

/// \[1024, 453\], α a root of x¹⁰ + x³ + 1; shortened by 222 bits to \[802, 231\].
pub(super) const BCH_802: Bch = Bch {
    word_bits: 231,
    redundancy: 570,
    generator: &[
        0x5e29_c66f_8678_d6b1,
        0x1361_3fa2_c15e_1ec1,
        0xa19a_4531_4d82_5c43,
        0x8b87_1479_8789_cf7c,
        0xd51d_7b90_0173_62be,
        0x7231_6bd8_8df8_0454,
        0x994b_c23c_42ae_153c,
        0x5897_48cb_f4a7_f8c2,
        0x06b2_9fb8_1755_f361,
    ],
};

impl Bch {
    /// Length with the bit of parity.
    pub(super) const fn length(&self) -> usize {
        self.word_bits + self.redundancy + 1
    }

    /// Calls `set(i, j)` for every codeword bit j of every word with the one bit i: the word, the
    /// remainder of x^redundancy times the word, the parity of all.
    pub(super) fn for_each_one(&self, mut set: impl FnMut(usize, usize)) {
        // x^redundancy modulo the generator is the generator without its leading term.
        let mut remainder = [0; 16];
        let words = &mut remainder[..self.generator.len()];
        words.copy_from_slice(self.generator);
        let bit = |words: &[u64], i: usize| words[i / 64] >> (i % 64) & 1 == 1;
        words[self.redundancy / 64] ^= 1 << (self.redundancy % 64);
        for i in 0..self.word_bits {
            set(i, i);
            let mut parity = true;
            for j in (0..self.redundancy).filter(|&j| bit(words, j)) {
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
            if bit(words, self.redundancy) {
                words.iter_mut().zip(self.generator).for_each(|(a, g)| *a ^= g);
            }
        }
    }
}
