//! The first accumulator, tree after tree, and the sums by which two parties compare their leaves.

use super::{BUCKETS, prefetch};
use crate::{
    Backend, Block,
    aes::Aes128,
    blocks::{Blocks, Clmul},
    erase,
    gf::Element,
    joined,
};

/// Leaves that are loaded together.
const CHUNK: usize = 128;

/// The sums of all leaves so far, of a batch whose trees come one after another.
///
/// Leaf i of the batch adds to a sum, and this sum goes to place `table[i]`, whatever tree the leaf is of. With a cipher for
/// challenges, χ_i is the encryption of i, and leaves times challenges in GF(2¹²⁸) are added up also.
pub struct Prefix<'a> {
    backend: Backend,
    challenges: Option<&'a Aes128>,
    /// The number of leaves so far.
    leaves: usize,
    /// The sums of the noise and of the leaves.
    sums: [Block; 2],
    /// Leaves times challenges, by the weight of their halves.
    products: [u128; 3],
    /// Noise times challenges.
    noise: u128,
}

/// The one leaf of a tree that its receiver did not derive. Erased on drop.
pub struct Missing {
    /// Its index in the tree. Secret.
    pub alpha: u32,
    /// Its value.
    pub leaf: Block,
    /// The noise at its place; there is none at other places of the tree.
    pub noise: Block,
}

redacted! {
    Prefix<'_>;
    Missing;
}

impl<'a> Prefix<'a> {
    /// No leaves so far.
    #[must_use]
    pub fn new(backend: Backend, challenges: Option<&'a Aes128>) -> Self {
        let (sums, products) = ([[0; 16]; 2], [0; 3]);
        Self { backend, challenges, leaves: 0, sums, products, noise: 0 }
    }

    /// Adds a tree's leaves. Cells of `x` have one block.
    ///
    /// # Panics
    /// If the table has fewer entries than there are leaves, or an entry is not a cell of `x`.
    pub fn add(&mut self, leaves: &[Block], table: &[u32], x: &mut [Block]) {
        let backend = self.backend;
        dispatch!(
            wide backend,
            simd => self.whole(simd, simd.single(), leaves, table, &mut Singles(x)),
        );
    }

    /// Adds a tree's leaves, of which the missing one is zero in `leaves`. Cells of `x` have two blocks, a sum of the noise
    /// and a sum of the leaves.
    ///
    /// # Panics
    /// As [`Prefix::add`].
    pub fn add_punctured(
        &mut self,
        missing: &Missing,
        leaves: &[Block],
        table: &[u32],
        x: &mut [Block],
    ) {
        let backend = self.backend;
        let mut places = Pairs(x.as_chunks_mut().0);
        dispatch!(
            wide backend,
            simd => self.punctured(simd, simd.single(), missing, leaves, table, &mut places),
        );
    }

    /// Adds a tree's leaves as [`Prefix::add_punctured`] does, but cells of `x` have one block, a sum of the leaves. Bit 0
    /// of the sum of the noise goes to the byte of the same place.
    ///
    /// # Panics
    /// As [`Prefix::add`], or if an entry is not the place of a byte.
    pub fn add_punctured_bits(
        &mut self,
        missing: &Missing,
        leaves: &[Block],
        table: &[u32],
        x: &mut [Block],
        bits: &mut [u8],
    ) {
        let backend = self.backend;
        let mut places = WithBits(x, bits);
        dispatch!(
            wide backend,
            simd => self.punctured(simd, simd.single(), missing, leaves, table, &mut places),
        );
    }

    /// The number of leaves so far.
    #[must_use]
    pub fn leaves(&self) -> usize {
        self.leaves
    }

    /// Returns Σ χ_i·leaf_i.
    #[must_use]
    pub fn check(&self) -> u128 {
        u128::reduce(self.products)
    }

    /// Returns Σ χ_i·noise_i.
    #[must_use]
    pub fn noise(&self) -> u128 {
        self.noise
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn whole<C: Clmul, S: Clmul>(
        &mut self,
        c: C,
        s: S,
        leaves: &[Block],
        table: &[u32],
        places: &mut impl Places,
    ) {
        let window = table.len() / BUCKETS;
        let table = self.places(leaves, table);
        let mut sum = s.splat(&self.sums[1]);
        let mut products = [c.zero(); 3];
        let mut chi = [[0; 16]; CHUNK];
        for (k, leaves) in leaves.chunks(CHUNK).enumerate() {
            let (first, chi) = (k * CHUNK, &mut chi[..leaves.len()]);
            if let Some(pi) = self.challenges {
                pi.ctr((self.leaves + first) as u128, chi.as_flattened_mut());
                add_products(c, leaves.as_flattened(), chi.as_flattened(), &mut products);
            }
            let (table, window) = (&table[first..], self.leaves + first + window);
            for (i, leaf) in leaves.iter().enumerate() {
                places.ask(window + i);
                sum = s.xor(sum, s.splat(leaf));
                places.put(s, table[i] as usize, sum, sum);
            }
        }
        s.store(sum, &mut self.sums[1]);
        self.finish(c, leaves.len(), products);
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn punctured<C: Clmul, S: Clmul>(
        &mut self,
        c: C,
        s: S,
        missing: &Missing,
        leaves: &[Block],
        table: &[u32],
        places: &mut impl Places,
    ) {
        let window = table.len() / BUCKETS;
        let table = self.places(leaves, table);
        let [mut of_noise, mut of_leaves] = [s.splat(&self.sums[0]), s.splat(&self.sums[1])];
        let mut products = [c.zero(); 3];
        let (mut chi, mut full) = ([[0; 16]; CHUNK], [[0; 16]; CHUNK]);
        let mut index = s.zero();
        let [one, alpha] = [in_both(s, 1), in_both(s, missing.alpha.into())];
        let (noise, value) = (s.splat(&missing.noise), s.splat(&missing.leaf));
        let mut challenge = s.zero();
        for (k, leaves) in leaves.chunks(CHUNK).enumerate() {
            let (first, chi) = (k * CHUNK, &mut chi[..leaves.len()]);
            if let Some(pi) = self.challenges {
                pi.ctr((self.leaves + first) as u128, chi.as_flattened_mut());
            }
            let (table, window) = (&table[first..], self.leaves + first + window);
            for (i, leaf) in leaves.iter().enumerate() {
                places.ask(window + i);
                let mask = s.equal(index, alpha);
                index = s.add(index, one);
                let leaf = s.xor(s.splat(leaf), s.and(mask, value));
                s.store(leaf, &mut full[i]);
                challenge = s.xor(challenge, s.and(mask, s.splat(&chi[i])));
                of_noise = s.xor(of_noise, s.and(mask, noise));
                of_leaves = s.xor(of_leaves, leaf);
                places.put(s, table[i] as usize, of_noise, of_leaves);
            }
            if self.challenges.is_some() {
                let full = full[..leaves.len()].as_flattened();
                add_products(c, full, chi.as_flattened(), &mut products);
            }
        }
        erase(&mut full, [0; 16]);
        s.store(of_noise, &mut self.sums[0]);
        s.store(of_leaves, &mut self.sums[1]);
        self.noise ^= s.sum(s.multiply(challenge, noise));
        self.finish(c, leaves.len(), products);
    }

    /// The entries of these leaves and of later ones.
    fn places<'t>(&self, leaves: &[Block], table: &'t [u32]) -> &'t [u32] {
        let table = table.get(self.leaves..).unwrap_or_default();
        assert!(leaves.len() <= table.len(), "an entry for every leaf");
        table
    }

    #[inline(always)]
    fn finish<C: Clmul>(&mut self, c: C, leaves: usize, products: [C::Vector; 3]) {
        for (sum, products) in self.products.iter_mut().zip(products) {
            *sum ^= c.sum(products);
        }
        self.leaves += leaves;
    }
}

/// The word in both halves.
#[inline(always)]
fn in_both<S: Blocks>(s: S, word: u64) -> S::Vector {
    s.splat(&joined([word; 2]).to_le_bytes())
}

/// Adds the products of blocks to sums by their weight.
#[cfg_attr(not(unoptimized), inline(always))]
fn add_products<C: Clmul>(c: C, a: &[u8], b: &[u8], sums: &mut [C::Vector; 3]) {
    let (wide_a, wide_b) = (a.chunks_exact(C::BYTES), b.chunks_exact(C::BYTES));
    let (rest_a, rest_b) = (wide_a.remainder(), wide_b.remainder());
    for (a, b) in wide_a.zip(wide_b) {
        c.add_products(sums, c.load(a), c.load(b));
    }
    if !rest_a.is_empty() {
        c.add_products(sums, c.load_part(rest_a), c.load_part(rest_b));
    }
}

/// Memory for sums, by their places.
trait Places {
    /// Asks for the memory of a place.
    fn ask(&self, place: usize);
    /// Writes the sum of the noise and that of the leaves.
    fn put<S: Blocks>(&mut self, s: S, place: usize, noise: S::Vector, sum: S::Vector);
}

struct Singles<'a>(&'a mut [Block]);
struct Pairs<'a>(&'a mut [[Block; 2]]);
struct WithBits<'a>(&'a mut [Block], &'a mut [u8]);

impl Places for Singles<'_> {
    #[inline(always)]
    fn ask(&self, place: usize) {
        prefetch::<false, _>(self.0, place);
    }

    #[inline(always)]
    fn put<S: Blocks>(&mut self, s: S, place: usize, _: S::Vector, sum: S::Vector) {
        s.store(sum, &mut self.0[place]);
    }
}

impl Places for Pairs<'_> {
    #[inline(always)]
    fn ask(&self, place: usize) {
        prefetch::<false, _>(self.0, place);
    }

    #[inline(always)]
    fn put<S: Blocks>(&mut self, s: S, place: usize, noise: S::Vector, sum: S::Vector) {
        let [of_noise, of_leaves] = &mut self.0[place];
        s.store(noise, of_noise);
        s.store(sum, of_leaves);
    }
}

impl Places for WithBits<'_> {
    #[inline(always)]
    fn ask(&self, place: usize) {
        prefetch::<false, _>(self.0, place);
    }

    #[inline(always)]
    fn put<S: Blocks>(&mut self, s: S, place: usize, noise: S::Vector, sum: S::Vector) {
        let mut block = [0; 16];
        s.store(noise, &mut block);
        self.1[place] = block[0] & 1;
        s.store(sum, &mut self.0[place]);
    }
}

impl Drop for Prefix<'_> {
    fn drop(&mut self) {
        erase(&mut self.sums, [0; 16]);
        erase(&mut self.products, 0);
        erase(core::slice::from_mut(&mut self.noise), 0);
    }
}

impl Drop for Missing {
    fn drop(&mut self) {
        erase(core::slice::from_mut(&mut self.alpha), 0);
        erase(&mut self.leaf, 0);
        erase(&mut self.noise, 0);
    }
}
