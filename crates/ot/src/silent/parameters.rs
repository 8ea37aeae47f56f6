//! Sizes of a batch: section 20.1 of `docs/wire/silent.md`.

use alloc::sync::Arc;
use core::marker::PhantomData;

use foxtrot_kernel::Backend;

use super::{
    code::Code,
    field::{Field, Gf2, Gf16, Gf64, Gf128},
};
use crate::{
    Usage,
    base::Adversary,
    engine::batches::sizes,
    expect_at_most,
    extension::{self, softspoken},
};

/// Heights of trees.
const HEIGHTS: core::ops::RangeInclusive<usize> = 5..=18;

/// Bits of the field of the check, and OTs of its mask.
pub(super) const MASK: usize = 128;

/// A silent protocol, whose U are elements of the field F.
#[derive(Clone, Copy)]
pub struct Silent<F> {
    name: &'static str,
    adversary: Adversary,
    /// The least number of noise positions; 0 if nothing rests on LPN.
    noise: usize,
    /// From 7·t of this on, two accumulators suffice.
    weight: usize,
    field: PhantomData<F>,
}

/// VOLE over GF(2^128), secure against malicious peers: `silent-vole`.
#[must_use]
pub const fn vole() -> Silent<Gf128> {
    Silent::new("silent-vole", Adversary::Malicious, 192, 1440)
}

/// VOLE over GF(2^128) with a greater margin in the noise: `silent-vole-margin`.
#[must_use]
pub const fn vole_margin() -> Silent<Gf128> {
    Silent::new("silent-vole-margin", Adversary::Malicious, 256, 1920)
}

/// VOLE of U in GF(2^64), secure if both follow the protocol: `silent-vole-semi-honest`.
#[must_use]
pub const fn vole_semi_honest() -> Silent<Gf64> {
    Silent::new("silent-vole-semi-honest", Adversary::SemiHonest, 192, 1440)
}

/// VOLE over GF(2^128) from OTs alone, without LPN: `vole-packed`.
#[must_use]
pub const fn vole_packed() -> Silent<Gf128> {
    Silent::new("vole-packed", Adversary::Malicious, 0, 0)
}

/// OTs, secure against malicious peers: `silent`.
#[must_use]
pub const fn ot() -> Silent<Gf2> {
    Silent::new("silent", Adversary::Malicious, 224, 1440)
}

/// OTs, secure if both follow the protocol: `silent-semi-honest`.
#[must_use]
pub const fn ot_semi_honest() -> Silent<Gf2> {
    Silent::new("silent-semi-honest", Adversary::SemiHonest, 224, 1440)
}

/// OTs of one of sixteen bits, secure if both follow the protocol: `silent-16-semi-honest`.
#[must_use]
pub const fn ot_16_semi_honest() -> Silent<Gf16> {
    Silent::new("silent-16-semi-honest", Adversary::SemiHonest, 576, 1440)
}

/// The sizes of a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Outputs m.
    pub outputs: usize,
    /// Trees t, each with a noise position; 0 if nothing rests on LPN.
    pub trees: usize,
    /// Levels h of a tree.
    pub height: usize,
    /// Accumulators of the code.
    pub accumulators: usize,
    /// OTs of the extension.
    pub ots: usize,
    /// Bytes of `Trees`.
    pub trees_len: usize,
}

impl Size {
    /// Elements that are encoded, N: the leaves of all trees.
    #[must_use]
    pub const fn leaves(&self) -> usize {
        self.trees << self.height
    }

    /// The code of the leaves.
    pub(super) fn code(&self, backend: Backend) -> Arc<Code> {
        Code::of(backend, self.leaves(), self.accumulators)
    }
}

impl<F> Silent<F> {
    const fn new(name: &'static str, adversary: Adversary, noise: usize, weight: usize) -> Self {
        Self { name, adversary, noise, weight, field: PhantomData }
    }

    /// Sets so few noise positions that nothing is hidden.
    #[cfg(test)]
    pub(super) const fn with_noise(self, noise: usize) -> Self {
        Self { noise, ..self }
    }

    /// Sets two accumulators, however few noise positions there are.
    #[cfg(test)]
    pub(super) const fn with_two_accumulators(self) -> Self {
        Self { weight: 0, ..self }
    }

    /// Its name in `docs/wire/silent.md`, which is also the protocol of its sub-session.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// The adversary against whom it is secure.
    #[must_use]
    pub const fn adversary(&self) -> Adversary {
        self.adversary
    }

    /// Returns true if the sender has to prove that its trees are right.
    pub(super) const fn checked(&self) -> bool {
        matches!(self.adversary, Adversary::Malicious)
    }

    pub(super) const fn noise(&self) -> usize {
        self.noise
    }

    /// Returns true if a batch has trees and a code.
    pub(super) const fn has_noise(&self) -> bool {
        self.noise > 0
    }

    /// The extension that its OTs come from.
    ///
    /// # Panics
    /// Never: SoftSpoken has a k of 8.
    #[must_use]
    pub fn extension(&self) -> extension::Extension {
        let extension = match self.adversary {
            Adversary::Malicious => softspoken::malicious(8),
            Adversary::SemiHonest => softspoken::semi_honest(8),
        };
        extension.expect("SoftSpoken has a k of 8")
    }
}

impl<F: Field> Silent<F> {
    /// The most outputs of a batch.
    #[must_use]
    pub const fn max_batch(&self) -> usize {
        match () {
            () if !self.has_noise() => 1 << 16,
            // As many as 224 trees of 2^13 leaves give.
            () if F::BITS == 1 => 7 << 17,
            // As many as 576 trees of 2^12 leaves give.
            () if F::BITS == 4 => 9 << 17,
            () => 1 << 22,
        }
    }

    /// Returns true if a batch opens a coin of the sender.
    pub(super) const fn has_coin(&self) -> bool {
        F::BITS == 1 && self.checked()
    }

    /// Bytes before the trees: the commitment to the coin, and a bit of Δ.
    pub(super) const fn head_len(&self) -> usize {
        if self.has_coin() { 32 + 1 } else { 0 }
    }

    /// Bytes of the receiver's `Challenge` of a batch, and of its `Check`; with none, they are not sent.
    #[must_use]
    pub const fn check_len(&self) -> usize {
        if self.checked() && self.has_noise() { 16 } else { 0 }
    }

    /// Bytes of the sender's `Answer` to them; with none, it is not sent.
    #[must_use]
    pub const fn answer_len(&self) -> usize {
        match self.check_len() {
            0 => 0,
            _ if self.has_coin() => 32 + 32,
            _ => 32,
        }
    }

    /// The sizes of a batch of m outputs.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`]; [`Usage::CountMismatch`] if there are none.
    pub fn size(&self, m: usize) -> Result<Size, Usage> {
        let max = self.max_batch();
        expect_at_most(max, m)?;
        if m == 0 {
            return Err(Usage::CountMismatch { what: "outputs", expected: 1, got: 0 });
        }
        if !self.has_noise() {
            return Ok(Size { outputs: m, ots: MASK * m, ..Size::default() });
        }
        let sizes = HEIGHTS.map(|height| self.of_height(m, height));
        let most = (5 * m / 2).max(1 << 14);
        let allowed = sizes.filter(|size| size.height == 5 || size.leaves() <= most);
        let best = allowed
            .min_by_key(|size| 15 * size.ots + 128 * size.trees * F::blocks_of_tree(size.height));
        best.ok_or(Usage::BatchTooLarge { n: m, max })
    }

    /// The sizes with trees of that height.
    fn of_height(&self, m: usize, height: usize) -> Size {
        let trees = (2 * m).div_ceil(1 << height).max(self.noise);
        let trees = if height == 5 { trees.next_multiple_of(2) } else { trees };
        let accumulators = if 7 * trees >= self.weight { 2 } else { 3 };
        let packed = F::NOISE_BITS * trees + if self.checked() { MASK } else { 0 };
        let (ots, trees_len) =
            (packed + trees * height, self.head_len() + 16 * trees * F::blocks_of_tree(height));
        Size { outputs: m, trees, height, accumulators, ots, trees_len }
    }

    /// Payload bytes of the receiver for a batch of m outputs with random choices, without set-up and base OTs.
    pub(super) fn receiver_batch(&self, m: usize) -> usize {
        let ots = self.size(m).map_or(0, |size| size.ots);
        self.extension().receiver_bytes(ots) - self.extension().setup_len() + 2 * self.check_len()
    }

    /// Payload bytes of the sender for a batch of m outputs, without set-up and base OTs.
    pub(super) fn sender_batch(&self, m: usize) -> usize {
        let size = self.size(m);
        let of = |f: fn(&Size) -> usize| size.as_ref().map_or(0, f);
        self.extension().sender_bytes(of(|it| it.ots)) + of(|it| it.trees_len) + self.answer_len()
    }

    /// The outputs of the batches of a run of n.
    pub(super) fn batches(&self, n: usize) -> impl Iterator<Item = usize> + use<F> {
        sizes(n, self.max_batch())
    }
}

foxtrot_kernel::redacted! {
    [F] Silent<F>, silent => "{}", silent.name;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_bytes_are_the_formulas_of_the_design() {
        for (m, shape, thousands) in [(2780, (192, 5, 3), 87), (1_179_648, (288, 13, 2), 206)] {
            let size = vole().size(m).unwrap();
            let (t, h) = (size.trees, size.height);
            assert_eq!((t, h, size.accumulators), shape);
            assert_eq!(size.ots, 128 * (t + 1) + t * h);
            // Set-up and check of SoftSpoken, its corrections, trees, and the check.
            let ots = 112 * 32 + 17 * 32 + 1128 + 15 * size.ots / 8;
            let bytes = ots + 16 * t * (2 * h + 1) + 16 + 16 + 32;
            assert_eq!(bytes / 1000, thousands);
            let setup = vole().extension().setup_len();
            let sent = setup + vole().receiver_batch(m) + vole().sender_batch(m);
            // Corrections are of whole columns.
            assert!((bytes..bytes + 15 * 1024 / 8).contains(&sent), "{sent} {bytes}");
        }
    }

    #[test]
    fn leaves_are_twice_the_outputs_and_whole_blocks_of_the_code() {
        fn check<F: Field>(silent: Silent<F>) {
            let sizes = (0..23).flat_map(|k| [1 << k, (1 << k) + 1, 3 << k >> 1]);
            for m in sizes.filter(|m| (1..=silent.max_batch()).contains(m)) {
                let size = silent.size(m).unwrap();
                assert!(size.leaves() >= 2 * m && size.leaves().is_multiple_of(64), "{size:?}");
                let most = (1 << 14).max(5 * m / 2).max(silent.noise() << 5);
                assert!(size.leaves() <= most, "{size:?}");
                // A batch of the silent protocol is one of the extension.
                assert!(size.ots <= silent.extension().max_batch(), "{size:?}");
            }
        }
        check(vole());
        check(vole_margin());
        check(vole_semi_honest());
        check(ot());
        check(ot_semi_honest());
        check(ot_16_semi_honest());
    }

    #[test]
    fn there_is_no_batch_without_outputs_and_none_beyond_the_bound() {
        let none = Usage::CountMismatch { what: "outputs", expected: 1, got: 0 };
        assert_eq!(vole().size(0), Err(none));
        let max = 1 << 22;
        assert_eq!(vole().size(max + 1), Err(Usage::BatchTooLarge { n: max + 1, max }));
    }
}
