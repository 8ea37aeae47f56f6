//! The block–accumulate code: section 20.5 of `docs/wire/silent.md`.
//!
//! Everything here but the strings that are encoded is public.

use alloc::{sync::Arc, vec, vec::Vec};

use foxtrot_kernel::{Backend, aes::Aes128};
use spin::Mutex;

use super::{field::sealed::Field, parameters::Size};
use crate::{base::Block, erase::Secret};

/// First row of the circulant block of the code: \[I | M\] is an extremal doubly-even self-dual \[64, 32, 12\] code.
const CIRCULANT: u32 = 0x000a_b0ed;

/// Buckets of a permutation.
const BUCKETS: usize = 256;

/// Blocks of keystream that are made at a time.
const STRETCH: usize = 512;

/// The code of one length. It is the same for all sessions.
pub(super) struct Code {
    accumulators: usize,
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
        let is_it = |code: &&Arc<Code>| {
            code.accumulators == size.accumulators && code.tables[0].len() == size.leaves()
        };
        if let Some(code) = self.0.lock().iter().find(is_it) {
            return Arc::clone(code);
        }
        let code = Arc::new(Code::new(backend, size.leaves(), size.accumulators));
        let mut all = self.0.lock();
        if !all.iter().any(|it| is_it(&it)) {
            if all.len() == Self::MOST {
                all.remove(0);
            }
            all.push(Arc::clone(&code));
        }
        code
    }
}

/// The key of a layer: of its buckets (0), its shuffles (1) or its factors (2).
fn key(n: usize, layer: usize, purpose: u8) -> Block {
    let mut hasher = blake3::Hasher::new_derive_key("foxtrot v1 silent code");
    hasher.update(&(n as u64).to_le_bytes());
    hasher.update(&[u8::try_from(layer).expect("a few layers"), purpose]);
    let mut key = [0; 16];
    hasher.finalize_xof().fill(&mut key);
    key
}

/// The keystream of AES-128 under that key, as words.
struct Words {
    pi: Aes128,
    next_block: u128,
    bytes: Vec<u8>,
    at: usize,
}

impl Words {
    fn new(pi: Aes128) -> Self {
        let bytes = vec![0; 16 * STRETCH];
        Self { pi, next_block: 0, at: bytes.len(), bytes }
    }

    fn next(&mut self) -> u32 {
        if self.at == self.bytes.len() {
            self.pi.ctr(self.next_block, &mut self.bytes);
            self.next_block += STRETCH as u128;
            self.at = 0;
        }
        let word = core::array::from_fn(|k| self.bytes[self.at + k]);
        self.at += 4;
        u32::from_le_bytes(word)
    }
}

/// A uniform permutation of N numbers [Rao 1961, Sandelius 1962].
fn permutation(backend: Backend, n: usize, layer: usize) -> Vec<u32> {
    let mut bytes = vec![0; n.next_multiple_of(16)];
    Aes128::new(backend, &key(n, layer, 0)).ctr(0, &mut bytes);
    let mut ends = [0; BUCKETS];
    bytes[..n].iter().for_each(|&bucket| ends[usize::from(bucket)] += 1);
    let sizes = ends;
    let mut sum = 0;
    for end in &mut ends {
        // For now, its beginning.
        (*end, sum) = (sum, sum + *end);
    }
    let mut table = vec![0; n];
    for (i, &bucket) in (0..).zip(&bytes[..n]) {
        let end = &mut ends[usize::from(bucket)];
        table[*end] = i;
        *end += 1;
    }
    let mut words = Words::new(Aes128::new(backend, &key(n, layer, 1)));
    for (size, end) in sizes.into_iter().zip(ends) {
        let bucket = &mut table[end - size..end];
        for i in (1..size).rev() {
            bucket.swap(i, below(i as u32 + 1, &mut words) as usize);
        }
    }
    table
}

/// A uniform number below d [Lemire 2019].
#[expect(clippy::cast_possible_truncation, reason = "the low half of a product, and its high half")]
fn below(d: u32, words: &mut Words) -> u32 {
    // 2³² mod d.
    let least = d.wrapping_neg() % d;
    loop {
        let product = u64::from(words.next()) * u64::from(d);
        if product as u32 >= least {
            return (product >> 32) as u32;
        }
    }
}

impl Code {
    fn new(backend: Backend, n: usize, accumulators: usize) -> Self {
        let tables = (1..=accumulators).map(|layer| permutation(backend, n, layer)).collect();
        Self { accumulators, tables }
    }

    /// The factors of an accumulator, the second or a later one; none if they are all 1.
    fn factors<F: Field>(&self, backend: Backend, layer: usize) -> Vec<F::Element> {
        if F::BITS == 1 {
            return Vec::new();
        }
        let n = self.tables[0].len();
        let mut bytes = vec![0; n * F::BITS / 8];
        Aes128::new(backend, &key(n, layer, 2)).ctr(0, &mut bytes);
        F::factors(&bytes)
    }

    /// Encodes elements of the field F to m outputs.
    pub(super) fn encode_elements<F: Field>(
        &self,
        backend: Backend,
        elements: Secret<F::Element>,
        m: usize,
    ) -> Secret<F::Element> {
        let mul = |d, a| F::mul(backend, d, a);
        self.encode::<F, F::Element>(backend, elements, m, F::add, mul)
    }

    /// Encodes vectors over the field F to m outputs.
    pub(super) fn encode_vectors<F: Field>(
        &self,
        backend: Backend,
        vectors: Secret<u128>,
        m: usize,
    ) -> Secret<u128> {
        let scale = |d, a| F::scale(backend, d, a);
        self.encode::<F, u128>(backend, vectors, m, |a, b| a ^ b, scale)
    }

    fn encode<F: Field, T: crate::erase::Zero>(
        &self,
        backend: Backend,
        mut from: Secret<T>,
        m: usize,
        add: impl Fn(T, T) -> T,
        mul: impl Fn(F::Element, T) -> T,
    ) -> Secret<T> {
        let mut to = Secret::zeroed(from.len());
        for layer in 1..=self.accumulators {
            let factors = if layer == 1 { Vec::new() } else { self.factors::<F>(backend, layer) };
            let mut sum = T::ZERO;
            for (i, element) in from.iter_mut().enumerate() {
                let term = factors.get(i).map_or(*element, |&d| mul(d, *element));
                sum = add(sum, term);
                *element = sum;
            }
            let table = &self.tables[layer - 1];
            if layer < self.accumulators {
                table.iter().zip(from.iter()).for_each(|(&at, &element)| to[at as usize] = element);
            } else {
                table.iter().zip(to.iter_mut()).for_each(|(&at, to)| *to = from[at as usize]);
            }
            core::mem::swap(&mut from, &mut to);
        }
        let mut out = Secret::zeroed(m);
        for (out, block) in out.chunks_mut(32).zip(from.as_chunks::<64>().0) {
            let (first, second) = block.split_at(32);
            for (i, out) in out.iter_mut().enumerate() {
                let of_row = (0..32).filter(|bit| CIRCULANT >> bit & 1 == 1);
                let row = of_row.map(|bit| second[(i + bit) % 32]);
                *out = row.fold(first[i], &add);
            }
        }
        out
    }
}

foxtrot_kernel::redacted! {
    Codes;
    Code, code => "{} accumulators of {}", code.accumulators, code.tables[0].len();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_permutations_and_no_two_the_same() {
        let code = Code::new(Backend::best(), 6144, 3);
        for table in &code.tables {
            let mut sorted = table.clone();
            sorted.sort_unstable();
            assert!(sorted.iter().copied().eq(0..6144));
        }
        assert!(code.tables[0] != code.tables[1] && code.tables[1] != code.tables[2]);
    }

    #[test]
    fn every_backend_has_the_same_tables() {
        let of = |backend| Code::new(backend, 448, 3).tables;
        assert!(Backend::all().all(|backend| of(backend) == of(Backend::portable())));
    }
}
