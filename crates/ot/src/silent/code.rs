//! The block–accumulate code: section 20.5 of `docs/wire/silent.md`. It is public.

use alloc::{sync::Arc, vec, vec::Vec};
use core::mem;

use foxtrot_kernel::{
    Backend,
    aes::Aes128,
    lpn::{Buckets, Next, permutation},
};
use spin::Mutex;

use super::{
    field::sealed::{Field, Strings},
    parameters::Size,
};
use crate::base::Block;

/// The code of one length. It is the same for all sessions.
pub(super) struct Code {
    layers: Vec<Layer>,
}

/// The permutation behind an accumulator.
struct Layer {
    buckets: Buckets,
    table: Vec<u32>,
}

/// Codes that have been made, for later batches of their length.
#[derive(Default)]
pub(super) struct Codes(Mutex<Vec<Arc<Code>>>);

/// The codes of this process.
pub(super) static CODES: Codes = Codes(Mutex::new(Vec::new()));

impl Codes {
    /// Codes that are kept.
    const MOST: usize = 2;

    /// The code for batches of that size.
    pub(super) fn get(&self, backend: Backend, size: &Size) -> Arc<Code> {
        let is_it = |code: &Arc<Code>| {
            (code.layers.len(), code.len()) == (size.accumulators, size.leaves())
        };
        if let Some(code) = self.0.lock().iter().find(|code| is_it(code)) {
            return Arc::clone(code);
        }
        // Another thread may make it also; nobody waits for either.
        let code = Arc::new(Code::new(backend, size.leaves(), size.accumulators));
        let mut all = self.0.lock();
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
            let [buckets, draws] = [0, 1].map(|purpose| cipher(backend, n, layer, purpose));
            Layer { buckets: permutation(buckets, &draws, &mut table), table }
        };
        Self { layers: (1..=accumulators).map(layer).collect() }
    }

    /// N.
    fn len(&self) -> usize {
        self.first_table().len()
    }

    /// The permutation behind the first accumulator.
    pub(super) fn first_table(&self) -> &[u32] {
        &self.layers[0].table
    }

    /// The permutation behind the last accumulator.
    pub(super) fn last_table(&self) -> &[u32] {
        &self.layers[self.layers.len() - 1].table
    }

    /// The accumulators from the second one on, with the permutations between them.
    pub(super) fn accumulate<F: Field, S: Strings>(
        &self,
        backend: Backend,
        strings: &mut S,
        scratch: &mut Scratch<S>,
    ) {
        let mut to = scratch.take(self.len());
        for (k, layers) in self.layers.windows(2).enumerate() {
            let d = cipher(backend, self.len(), k + 2, 2);
            let next = if k + 2 < self.layers.len() {
                Next::Sum(&layers[1].table)
            } else {
                Next::Encode(&layers[1].buckets)
            };
            strings.accumulate(backend, F::factors(&d), &layers[0].buckets, next, &mut to);
            mem::swap(strings, &mut to);
        }
        scratch.put(to);
    }
}

/// Strings of batches that are over, for later batches, which overwrite all of them. They are erased on drop.
pub(super) struct Scratch<S> {
    strings: Vec<S>,
    /// True if there will be later batches.
    pub(super) keeps: bool,
}

impl<S> Default for Scratch<S> {
    fn default() -> Self {
        Self { strings: Vec::new(), keeps: false }
    }
}

impl<S: Strings> Scratch<S> {
    /// Strings of n elements, whose values are arbitrary.
    pub(super) fn take(&mut self, n: usize) -> S {
        match self.strings.pop() {
            Some(strings) if strings.len() == n => strings,
            _ => {
                self.strings.clear();
                S::zeroed(n)
            }
        }
    }

    pub(super) fn put(&mut self, strings: S) {
        if self.keeps {
            self.strings.push(strings);
        } else {
            self.strings.clear();
        }
    }
}

foxtrot_kernel::redacted! {
    Codes;
    [S] Scratch<S>;
    Code, code => "{} accumulators of {}", code.layers.len(), code.len();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layer_has_its_permutation() {
        let code = Code::new(Backend::best(), 6144, 3);
        for layer in &code.layers {
            let mut sorted = layer.table.clone();
            sorted.sort_unstable();
            assert!(sorted.iter().copied().eq(0..6144));
        }
        let [first, second, third] = [0, 1, 2].map(|layer| &code.layers[layer].table);
        assert!(first != second && second != third);
    }
}
