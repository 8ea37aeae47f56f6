//! The names, sizes and products of section 20.

use super::{Block, block};
use crate::bytes_from_bits;
use crate::extension::check;

/// A name of section 20.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// log₂ of the size of the field of U: 1, 4, 64 or 128.
    pub bits: usize,
    pub(super) checked: bool,
    /// t₀.
    least: usize,
    /// 7·t from which two accumulators suffice.
    two_from: usize,
    /// No trees and no code.
    packed: bool,
}

/// The numbers of section 20.1 for a batch.
#[derive(Clone, Copy, Debug)]
pub struct Sizes {
    /// Trees.
    pub t: usize,
    /// Levels of a tree.
    pub h: u32,
    /// t·2^h, the inputs of the code.
    pub n: usize,
    /// C, the correlated OTs that the batch takes.
    pub ots: usize,
    /// a, the number of accumulators.
    pub accumulators: u8,
    /// g, the blocks of a tree in `Trees`.
    pub blocks: usize,
}

impl Protocol {
    /// Returns the protocol called `name`.
    ///
    /// # Panics
    ///
    /// If there is none.
    #[must_use]
    pub fn named(name: &str) -> Self {
        let of = |bits, checked, least, two_from| Protocol {
            bits,
            checked,
            least,
            two_from,
            packed: name == "vole-packed",
        };
        match name {
            "silent-vole" | "vole-packed" => of(128, true, 192, 1440),
            "silent-vole-margin" => of(128, true, 256, 1920),
            "silent-vole-semi-honest" => of(64, false, 192, 1440),
            "silent" => of(1, true, 224, 1440),
            "silent-semi-honest" => of(1, false, 224, 1440),
            "silent-16-semi-honest" => of(4, false, 576, 1440),
            _ => panic!("no protocol called {name}"),
        }
    }

    /// Returns the name of the extension below.
    #[must_use]
    pub fn extension(self) -> &'static str {
        if self.checked { "softspoken-8" } else { "softspoken-8-semi-honest" }
    }

    /// Returns the outputs of the largest batch.
    #[must_use]
    pub fn most(self) -> usize {
        match self.bits {
            _ if self.packed => 1 << 16,
            1 => 7 << 17,
            4 => 9 << 17,
            _ => 1 << 22,
        }
    }

    /// Returns the sizes of a batch of `m` outputs.
    ///
    /// # Panics
    ///
    /// If a batch may not have `m`.
    #[must_use]
    pub fn sizes(self, m: usize) -> Sizes {
        assert!((1..=self.most()).contains(&m), "outputs of a batch");
        if self.packed {
            return Sizes { t: 0, h: 0, n: 0, ots: 128 * m, accumulators: 0, blocks: 0 };
        }
        let of_h = |h: u32| {
            let mut t = self.least.max((2 * m).div_ceil(1 << h));
            if h == 5 {
                t = t.next_multiple_of(2);
            }
            let packed = if self.bits == 1 { 0 } else { t } + usize::from(self.checked);
            let ots = self.packed_ots() * packed + t * h as usize;
            let accumulators = if 7 * t >= self.two_from { 2 } else { 3 };
            let blocks = if self.correlated() { h as usize } else { 2 * h as usize + 1 };
            Sizes { t, h, n: t << h, ots, accumulators, blocks }
        };
        let allowed = (5..=18).map(of_h).filter(|it| it.h == 5 || it.n <= (1 << 14).max(5 * m / 2));
        allowed.min_by_key(|it| it.eight_times_bytes()).expect("h = 5 is allowed")
    }

    /// Returns true if trees are correlated, not GGM trees: U in GF(2).
    pub(super) fn correlated(self) -> bool {
        self.bits == 1
    }

    /// Returns p.
    pub(super) fn packed_ots(self) -> usize {
        if self.bits == 1 { 128 } else { self.bits }
    }

    /// Returns the bits of V that are U, all ones: one of them with U in GF(2), a nibble with U in GF(16), otherwise none.
    pub(super) fn choice_bits(self) -> Block {
        if self.bits <= 4 { (1 << self.bits) - 1 } else { 0 }
    }

    /// Returns the product of `u`, of the field of U, and `v`, of the large field.
    #[must_use]
    pub fn times(self, u: Block, v: Block) -> Block {
        match self.bits {
            1 => u * v,
            4 => (0..4).rev().fold(0, |product, k| {
                nibbles_times_x(product) ^ if u >> k & 1 == 1 { v } else { 0 }
            }),
            64 => {
                let half = |k| check::multiply(word(u), word(v >> k));
                Block::from(half(0)) | Block::from(half(64)) << 64
            }
            _ => multiply(u, v),
        }
    }

    /// Packs choices and rows of OTs to u and v, p at a time.
    #[must_use]
    pub fn pack(self, choices: &[bool], rows: &[Block]) -> Vec<(Block, Block)> {
        let p = self.packed_ots();
        let packed = choices.chunks(p).zip(rows.chunks(p));
        packed.map(|(choices, rows)| (block(&bytes_from_bits(choices)), self.sum(rows))).collect()
    }

    /// Packs the rows of p OTs.
    #[must_use]
    pub fn sum(self, rows: &[Block]) -> Block {
        (0..).zip(rows).fold(0, |sum, (i, &row)| {
            let power = 1 << i;
            sum ^ if self.bits == 1 { multiply(power, row) } else { self.times(power, row) }
        })
    }
}

impl Sizes {
    /// Returns 8·B(h).
    #[must_use]
    pub fn eight_times_bytes(&self) -> usize {
        15 * self.ots + 128 * self.t * self.blocks
    }
}

/// Returns the product in GF(2)\[X\]/(X¹²⁸ + X⁷ + X² + X + 1); bit k is the coefficient of X^k.
#[must_use]
pub fn multiply(a: Block, b: Block) -> Block {
    (0..128).rev().fold(0, |product, k| {
        let overflow = if product >> 127 == 1 { 0b1000_0111 } else { 0 };
        product << 1 ^ overflow ^ if b >> k & 1 == 1 { a } else { 0 }
    })
}

/// Returns each nibble times X in GF(2)\[X\]/(X⁴ + X + 1).
fn nibbles_times_x(v: Block) -> Block {
    let ones = Block::MAX / 15;
    let overflow = v >> 3 & ones;
    (v & (7 * ones)) << 1 ^ overflow ^ overflow << 1
}

/// Returns the low half.
fn word(x: Block) -> u64 {
    u64::try_from(x & Block::from(u64::MAX)).expect("64 bits")
}
