//! The block–accumulate code: section 20.5 of `docs/wire/silent.md`. It is public.

use alloc::{sync::Arc, vec, vec::Vec};

use foxtrot_kernel::{Backend, aes::Aes128, lpn::permutation};
use spin::Mutex;

use super::{
    field::sealed::{Field, Strings},
    parameters::Size,
};
use crate::base::Block;

/// The code of one length. It is the same for all sessions.
pub(super) struct Code {
    /// The permutation behind each accumulator.
    tables: Vec<Vec<u32>>,
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
            (code.tables.len(), code.len()) == (size.accumulators, size.leaves())
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
    fn new(backend: Backend, n: usize, accumulators: usize) -> Self {
        let table = |layer| {
            let mut table = vec![0; n];
            let [buckets, draws] = [0, 1].map(|purpose| cipher(backend, n, layer, purpose));
            permutation(&buckets, &draws, &mut table);
            table
        };
        Self { tables: (1..=accumulators).map(table).collect() }
    }

    /// N.
    fn len(&self) -> usize {
        self.tables[0].len()
    }

    /// The permutation behind the first accumulator.
    pub(super) fn first_table(&self) -> &[u32] {
        &self.tables[0]
    }

    /// The permutation behind the last accumulator.
    pub(super) fn last_table(&self) -> &[u32] {
        &self.tables[self.tables.len() - 1]
    }

    /// The accumulators from the second one on, with the permutations between them.
    pub(super) fn accumulate<F: Field, S: Strings>(&self, backend: Backend, strings: &mut S) {
        for layer in 2..=self.tables.len() {
            if layer > 2 {
                let mut to = S::zeroed(self.len());
                strings.permute(&self.tables[layer - 2], &mut to);
                *strings = to;
            }
            let d = cipher(backend, self.len(), layer, 2);
            strings.accumulate(backend, F::factors(&d));
        }
    }
}

foxtrot_kernel::redacted! {
    Codes;
    Code, code => "{} accumulators of {}", code.tables.len(), code.len();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_layer_has_its_permutation() {
        let code = Code::new(Backend::best(), 6144, 3);
        for table in &code.tables {
            let mut sorted = table.clone();
            sorted.sort_unstable();
            assert!(sorted.iter().copied().eq(0..6144));
        }
        assert!(code.tables[0] != code.tables[1] && code.tables[1] != code.tables[2]);
    }
}
