//! The block–accumulate code: section 20.5 of `docs/wire/silent.md`. It is public.
//!
//! # The code
//!
//! H is a prefix sum, then a − 1 times a uniform permutation, factors d and a prefix sum, then a permutation and blocks of 64: y = z₀₋₃₁ ⊕ M·z₃₂₋₆₃.
//!
//! **Rank.** Prefix sums, permutations and products with d ≠ 0 are invertible, and \[I | M\] has rank 32. So H has rank N/2, and U is uniform for
//! uniform e. This is why a factor 0 is replaced by 1.
//!
//! **Blocks.** \[I | M\] is the extremal doubly even self-dual \[64, 32, 12\] code, double circulant. The tests compute M·Mᵀ = I and the rows' weight 12,
//! and go through all sums of at most 4 rows of \[I | M\] and of \[Mᵀ | I\]. None has a weight below 12; a word of weight 8 would have at most 4 ones
//! in one half. The enumerator follows by Gleason's theorem: A₁₂ = 2976, which enumeration confirms, A₁₆ = 454 956, A₂₀ = 18 275 616, A₂₄ = 233 419 584,
//! A₂₈ = 1 041 971 008, A₃₂ = 1 706 719 014.
//!
//! **Binary words.** For the code without factors and with two accumulators, the expected number of words of weight δN or less, over uniform permutations, is
//!
//! ```text
//! E = Σ_w A(w) Σ_v p(w→v) Σ_{h ≤ δN} p(v→h),   p(a→b) = C(N−b, ⌊a/2⌋)·C(b−1, ⌈a/2⌉−1) / C(N, a).
//! ```
//!
//! | N | 2¹² | 2¹⁴ | 2¹⁶ | 2¹⁸ | 2²¹ | 2²³ |
//! |---|---|---|---|---|---|---|
//! | log₂ E, δ = 0.05 | −40.1 | −50.0 | −60.0 | −70.0 | −85.0 | −95.0 |
//! | log₂ E, δ = 0.10 | −34.4 | −44.3 | −54.3 | −64.3 | −79.3 | −89.3 |
//!
//! The sum goes over w ≤ 160 and v ≤ 400. Terms fall quickly from w = 12 on; terms beyond are not bounded rigorously. E bounds the chance that the
//! one public draw of permutations is bad. With a third accumulator E is smaller.
//!
//! # A binary code under noise from a large field
//!
//! *Anyone who builds silent VOLE should know this.* Let H be a k × N matrix over GF(2), and e ∈ GF(2^B)^N with t nonzero entries, at places S. Then H·e falls to linear
//! algebra if t ≤ B \[MK90\].
//!
//! *Proof.* Write e as an N × B matrix E of bits, and y = H·e as a k × B matrix Y. As H is binary, Y = H·E = H_S·E_S, where H_S are the columns of H and E_S the rows of E at S: B
//! syndromes of errors with one support. Let the t rows of E_S be independent, which has probability at least 1 − 2^(t−B) for uniform entries, and let any t + 1 columns of H be
//! independent, as for any code with a distance above t + 1. Then p·Y = 0 for a binary p iff p·H_S = 0. Gauss finds all such p. A column of H is orthogonal to all of them iff it is a
//! sum of columns of H_S, so iff it is one of them. These columns are S, and e follows. ∎
//!
//! For t > B, sums of columns of E form a \[t, B\] code on S. It has a word of weight about t·h⁻¹(1 − B/t), with h the binary entropy: 12 for t = 192 and B = 128, 28 for t = 256, 33 for t = 192 and
//! B = 64. Decoding this weight is all that stands before the secret, in place of t.
//!
//! So the entries of H must not lie in a small field. Factors at the inputs or outputs do not help: they rename u_j and y_i. Factors between two accumulators do: p·H is then no multiple of a
//! binary word. `reference/tests/silent_attacks.rs` runs the attack for B = 128, N = 2048, t = 64: with all d = 1 it finds the 64 places and no other; with the factors it finds
//! nothing.

use alloc::{sync::Arc, vec, vec::Vec};
use core::{mem, ops::Range};

use foxtrot_kernel::{
    Backend,
    aes::Aes128,
    lpn::{
        self, Buckets, Check, Element, Factors, Next, Noise, Permutation, accumulate,
        accumulate_noise, aligned, encode, permutation,
    },
    memory::prefer_huge_pages,
};
use spin::Mutex;
use zeroize::Zeroizing;

use crate::{
    base::Block,
    erase::{Secret, Zero},
    tasks::{Executor, for_each},
};

/// The code of one length. It is the same for all sessions.
pub struct Code {
    layers: Vec<Layer>,
}

/// A field's factors of the code, from a layer's cipher.
pub(super) type MakeFactors = fn(&Aes128) -> Factors<'_>;

/// The permutation behind an accumulator.
struct Layer {
    buckets: Buckets,
    table: Vec<u16>,
}

impl Layer {
    fn permutation(&self) -> Permutation<'_> {
        Permutation { buckets: &self.buckets, table: &self.table }
    }
}

/// Codes that this process has made, for later batches of their length.
static CODES: Mutex<Vec<Arc<Code>>> = Mutex::new(Vec::new());

impl Code {
    /// Codes that are kept.
    const MOST: usize = 2;

    /// The code of n elements with so many accumulators.
    pub(super) fn of(backend: Backend, n: usize, accumulators: usize) -> Arc<Self> {
        let is_it = |code: &Arc<Code>| (code.len(), code.layers.len()) == (n, accumulators);
        if let Some(code) = CODES.lock().iter().find(|code| is_it(code)) {
            return Arc::clone(code);
        }
        // Another thread may make it also; nobody waits for either.
        let code = Arc::new(Code::new(backend, n, accumulators));
        let mut all = CODES.lock();
        if !all.iter().any(is_it) {
            if all.len() == Self::MOST {
                all.remove(0);
            }
            all.push(Arc::clone(&code));
        }
        code
    }
}

/// The cipher of a layer, for its buckets (0), its shuffles (1) or its factors (2).
fn cipher(backend: Backend, n: usize, layer: usize, purpose: u8) -> Aes128 {
    let mut hasher = blake3::Hasher::new_derive_key("foxtrot v1 silent code");
    hasher.update(&(n as u64).to_le_bytes()).update(&layer.to_le_bytes()[..1]).update(&[purpose]);
    let mut key: Block = [0; 16];
    hasher.finalize_xof().fill(&mut key);
    Aes128::new(backend, &key)
}

impl Code {
    pub(super) fn new(backend: Backend, n: usize, accumulators: usize) -> Self {
        let layer = |layer| {
            let mut table = vec![0; n];
            prefer_huge_pages(&mut table);
            let [buckets, draws] = [0, 1].map(|purpose| cipher(backend, n, layer, purpose));
            Layer { buckets: permutation(buckets, &draws, &mut table), table }
        };
        Self { layers: (1..=accumulators).map(layer).collect() }
    }

    /// N.
    pub(super) fn len(&self) -> usize {
        self.layers[0].table.len()
    }

    /// The permutation behind the first accumulator.
    pub(super) fn first(&self) -> Permutation<'_> {
        self.layers[0].permutation()
    }

    /// The permutation behind the last accumulator.
    pub(super) fn last(&self) -> Permutation<'_> {
        self.layers[self.layers.len() - 1].permutation()
    }

    /// N places in parts of whole buckets, one for each thread.
    pub(super) fn parts(&self, threads: usize) -> impl Iterator<Item = Range<usize>> {
        let place = move |k| self.layers[0].buckets.part(k, threads);
        (0..threads).map(move |k| place(k)..place(k + 1))
    }

    /// Runs `step` for the accumulators from the second one on. `check` is for the cells of the second one.
    fn steps(
        &self,
        (backend, factors): (Backend, MakeFactors),
        check: Option<Check<'_>>,
        mut step: impl FnMut(lpn::Layer<'_>) -> Sums,
    ) -> Sums {
        let mut sums = Sums::default();
        for (k, layers) in self.layers.windows(2).enumerate() {
            let d = cipher(backend, self.len(), k + 2, 2);
            let next = if k + 2 < self.layers.len() {
                Next::Sum(layers[1].permutation())
            } else {
                Next::Encode(&layers[1].buckets)
            };
            let check = check.filter(|_| k == 0);
            let factors = factors(&d);
            add(&mut sums, &step(lpn::Layer { factors, buckets: &layers[0].buckets, next, check }));
        }
        sums
    }

    /// The accumulators from the second one on, of the sums of the first one. Returns the result, the other string, and what the check
    /// wants.
    pub(super) fn accumulate(
        &self,
        (machine, factors): (Machine<'_>, MakeFactors),
        mut cells: Cells,
        mut other: Cells,
        check: Option<Check<'_>>,
    ) -> ([Cells; 2], Sums) {
        let sums = self.steps((machine.backend, factors), check, |layer| {
            let sums = machine.accumulate(layer, Input::Cells(cells.get()), other.get_mut());
            mem::swap(&mut cells, &mut other);
            sums
        });
        ([cells, other], sums)
    }

    /// The accumulators from the second one on, of noise.
    pub(super) fn accumulate_noise(
        &self,
        (machine, factors): (Machine<'_>, MakeFactors),
        noise: Noise<'_>,
        cells: &mut Cells,
        check: Option<Check<'_>>,
    ) -> Sums {
        let (mut noise, mut other) = (Some(noise), None);
        self.steps((machine.backend, factors), check, |layer| {
            if let Some(noise) = noise.take() {
                return machine.accumulate(layer, Input::Noise(noise), cells.get_mut());
            }
            let to = other.get_or_insert_with(|| Cells::zeroed(self.len()));
            let sums = machine.accumulate(layer, Input::Cells(cells.get()), to.get_mut());
            mem::swap(cells, to);
            sums
        })
    }

    /// The first n outputs, from what the accumulators have made.
    pub(super) fn encode<T: Element + Zero + Send>(
        &self,
        Machine { backend, executor }: Machine<'_>,
        cells: &Cells,
        n: usize,
    ) -> Secret<T> {
        /// Outputs that are encoded together.
        const PART: usize = 1 << 14;
        let mut outputs = Secret::zeroed(n);
        for_each(executor, outputs.chunks_mut(PART).enumerate(), |(part, outputs)| {
            encode(backend, self.last(), cells.get(), part * PART, outputs);
        });
        outputs
    }
}

/// The backend and the threads that a batch is computed with.
#[derive(Clone, Copy, Debug)]
pub struct Machine<'a> {
    pub(super) backend: Backend,
    pub(super) executor: &'a dyn Executor,
}

/// The string that comes to an accumulator.
#[derive(Clone, Copy)]
enum Input<'a> {
    Cells(&'a [Block]),
    Noise(Noise<'a>),
}

impl Machine<'_> {
    /// The last accumulator is shared by the threads.
    fn accumulate(self, layer: lpn::Layer<'_>, x: Input<'_>, to: &mut [Block]) -> Sums {
        let Self { backend, executor } = self;
        let threads = executor.threads();
        if threads > 1
            && let Some(parts) = layer.parts(to, threads)
        {
            let parts: Vec<_> = parts.collect();
            let mut done = Secret::<([u128; 2], Block)>::zeroed(parts.len());
            for_each(executor, parts.into_iter().zip(done.iter_mut()), |(part, (sums, last))| {
                *sums = match x {
                    Input::Cells(x) => part.accumulate(backend, x, last),
                    Input::Noise(noise) => part.accumulate_noise(backend, noise, last),
                };
            });
            let mut sums = Sums::default();
            done.iter().for_each(|(of_part, _)| add(&mut sums, of_part));
            // Each part lacks the last sums of those before it.
            for k in 1..done.len() {
                let before = u128::from_le_bytes(done[k - 1].1);
                done[k].1 = (u128::from_le_bytes(done[k].1) ^ before).to_le_bytes();
            }
            let later = layer.parts(to, threads).into_iter().flatten().skip(1).zip(done.iter());
            for_each(executor, later, |(part, (_, before))| part.add(backend, before));
            return sums;
        }
        Sums::new(match x {
            Input::Cells(x) => accumulate(backend, layer, x, to),
            Input::Noise(noise) => accumulate_noise(backend, layer, noise, to),
        })
    }
}

fn add(sums: &mut Sums, more: &[u128; 2]) {
    sums.iter_mut().zip(more).for_each(|(sum, it)| *sum ^= it);
}

/// The sums of a check: of a string, and of bit 0 of its elements if that is wanted.
pub(super) type Sums = Zeroizing<[u128; 2]>;

/// A string of elements, which begins with a line of the cache.
pub struct Cells {
    memory: Secret<Block>,
    range: Range<usize>,
}

impl Cells {
    /// Elements beside those of the string, so that it can begin with a line.
    const MORE: usize = 3;

    /// A string of n elements, all 0.
    pub(super) fn zeroed(n: usize) -> Self {
        let memory = Secret::zeroed(n + Self::MORE);
        let range = aligned(&memory, n);
        Self { memory, range }
    }

    /// The string of n elements in the same memory.
    fn of(mut self, n: usize) -> Self {
        self.range = aligned(&self.memory, n);
        self
    }

    pub(super) fn get(&self) -> &[Block] {
        &self.memory[self.range.clone()]
    }

    pub(super) fn get_mut(&mut self) -> &mut [Block] {
        &mut self.memory[self.range.clone()]
    }

    /// Returns the elements as bytes.
    #[must_use]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.get_mut().as_flattened_mut()
    }
}

/// Strings that batches have left. Later batches, also of other protocols, overwrite what they use of them. They are erased on drop.
#[derive(Default)]
pub struct Scratch {
    strings: Vec<Cells>,
    /// The least elements of a new string.
    least: usize,
    /// True if there will be later batches.
    pub(super) keeps: bool,
    /// True if there will be later protocols.
    lent: bool,
}

impl Scratch {
    /// Empty memory for protocols one after another, whose strings will have so many elements at least: for batches of as many
    /// [leaves](super::Size::leaves), or for [other uses](Self::lend).
    #[must_use]
    pub fn of(elements: usize) -> Self {
        Self { least: elements, lent: true, ..Self::default() }
    }

    /// A string of so many bytes, and up to 15 more, for another use between two protocols. Its values are arbitrary, and may be secret.
    #[must_use]
    pub fn lend(&mut self, bytes: usize) -> Cells {
        self.take(bytes.div_ceil(size_of::<Block>()))
    }

    /// Takes a string that it has lent, for the next protocol.
    pub fn give_back(&mut self, cells: Cells) {
        self.strings.push(cells);
    }

    /// A string of n elements, whose values are arbitrary.
    pub(super) fn take(&mut self, n: usize) -> Cells {
        let place = self.strings.iter().position(|it| it.memory.len() >= n + Cells::MORE);
        let Some(place) = place else {
            self.strings.clear();
            return Cells::zeroed(n.max(self.least)).of(n);
        };
        self.strings.swap_remove(place).of(n)
    }

    /// Takes the string of a batch that is over.
    pub(super) fn put(&mut self, cells: Cells) {
        if self.keeps || self.lent {
            self.strings.push(cells);
        } else {
            self.strings.clear();
        }
    }

    /// Takes a string of which a batch has no more use, before it needs other memory.
    pub(super) fn put_early(&mut self, cells: Cells) {
        if self.lent {
            self.strings.push(cells);
        }
    }
}

foxtrot_kernel::redacted! {
    Scratch;
    Cells;
    Code, code => "{} accumulators of {}", code.layers.len(), code.len();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layer_has_its_permutation() {
        let code = Code::new(Backend::best(), 6144, 3);
        for layer in &code.layers {
            for bucket in 0..256 {
                let [start, end] = [0, 1].map(|k| layer.buckets.part(bucket + k, 256));
                let mut sorted = layer.table[start..end].to_vec();
                sorted.sort_unstable();
                assert!(sorted.into_iter().map(usize::from).eq(0..end - start));
            }
        }
        let [first, second, third] = [0, 1, 2].map(|layer| &code.layers[layer].table);
        assert!(first != second && second != third);
    }
}
