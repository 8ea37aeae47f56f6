//! The first accumulator, tree after tree, and the sums by which two parties compare their leaves.

use super::{Permutation, permutation::BUCKETS, prefetch};
use crate::{
    Backend, Block,
    aes::Aes128,
    blocks::{Blocks, Clmul},
    erase,
    gf::Element,
};

/// Leaves that are loaded together.
const CHUNK: usize = 64;

/// The sums of all leaves so far, of a batch whose trees come one after another.
///
/// Leaf i of the batch adds to a sum, and this sum goes to the place of entry i of a permutation, whatever tree the leaf is of. With a cipher for
/// challenges, χ_i is the encryption of i, and leaves times challenges in GF(2¹²⁸) are added up also.
pub struct Prefix<'a> {
    backend: Backend,
    challenges: Option<&'a Aes128>,
    /// The first leaf, and the number of the next one.
    first: usize,
    next: usize,
    /// The sum of the leaves.
    sum: Block,
    /// Leaves times challenges, by the weight of their halves.
    products: [u128; 3],
}

redacted! {
    Prefix<'_>;
}

impl<'a> Prefix<'a> {
    /// No leaves so far.
    #[must_use]
    pub fn new(backend: Backend, challenges: Option<&'a Aes128>) -> Self {
        Self::from(backend, challenges, 0, [0; 16])
    }

    /// Begins with leaf `first`, the first of a [part](super::Buckets::part) of the permutation; `sum` is that of all leaves before.
    #[must_use]
    pub fn from(
        backend: Backend,
        challenges: Option<&'a Aes128>,
        first: usize,
        sum: Block,
    ) -> Self {
        Self { backend, challenges, first, next: first, sum, products: [0; 3] }
    }

    /// Adds a tree's leaves, or some of them. The cells of `x` begin with that of the first leaf.
    ///
    /// # Panics
    /// If the permutation has fewer entries than there are leaves, or an entry is not a cell of `x`.
    pub fn add(&mut self, leaves: &[Block], permutation: Permutation<'_>, x: &mut [Block]) {
        assert!(
            leaves.len() <= permutation.n().saturating_sub(self.next),
            "an entry for every leaf"
        );
        let backend = self.backend;
        dispatch!(wide backend, simd => self.all(simd, simd.single(), leaves, permutation, x));
    }

    /// Returns Σ χ_i·leaf_i.
    #[must_use]
    pub fn check(&self) -> u128 {
        u128::reduce(self.products)
    }

    #[cfg_attr(not(unoptimized), inline(always))]
    fn all<C: Clmul, S: Blocks>(
        &mut self,
        c: C,
        s: S,
        leaves: &[Block],
        permutation: Permutation<'_>,
        x: &mut [Block],
    ) {
        let (first, mut entries) = (self.first, permutation.entries(self.next));
        let mut ahead = self.next - first + permutation.n() / BUCKETS;
        let mut sum = s.splat(&self.sum);
        let mut products = [c.zero(); 3];
        let mut chi = [[0; 16]; CHUNK];
        for leaves in leaves.chunks(CHUNK) {
            let chi = &mut chi[..leaves.len()];
            if let Some(pi) = self.challenges {
                pi.ctr(self.next as u128, chi.as_flattened_mut());
                add_products(c, leaves.as_flattened(), chi.as_flattened(), &mut products);
            }
            entries.for_each(
                leaves.len(),
                inlined!(|i, place| {
                    prefetch::<false, _>(x, ahead + i);
                    sum = s.xor(sum, s.splat(&leaves[i]));
                    s.store(sum, &mut x[place - first]);
                }),
            );
            self.next += leaves.len();
            ahead += leaves.len();
        }
        s.store(sum, &mut self.sum);
        let [low, middle, high] = products;
        let products = [low, c.xor3(low, middle, high), high];
        for (sum, products) in self.products.iter_mut().zip(products) {
            *sum ^= c.sum(products);
        }
    }
}

/// Adds the products of blocks to sums by their weight; the middle one lacks the two others (Karatsuba).
#[cfg_attr(not(unoptimized), inline(always))]
fn add_products<C: Clmul>(c: C, a: &[u8], b: &[u8], sums: &mut [C::Vector; 3]) {
    let (wide_a, wide_b) = (a.chunks_exact(C::BYTES), b.chunks_exact(C::BYTES));
    let (rest_a, rest_b) = (wide_a.remainder(), wide_b.remainder());
    for (a, b) in wide_a.zip(wide_b) {
        add_product(c, c.load(a), c.load(b), sums);
    }
    if !rest_a.is_empty() {
        add_product(c, c.load_part(rest_a), c.load_part(rest_b), sums);
    }
}

#[inline(always)]
fn add_product<C: Clmul>(
    c: C,
    a: C::Vector,
    b: C::Vector,
    [low, middle, high]: &mut [C::Vector; 3],
) {
    *low = c.xor(*low, c.product::<0x00>(a, b));
    *high = c.xor(*high, c.product::<0x11>(a, b));
    let [a, b] = [c.xor(a, c.swap(a)), c.xor(b, c.swap(b))];
    *middle = c.xor(*middle, c.product::<0x00>(a, b));
}

impl Drop for Prefix<'_> {
    fn drop(&mut self) {
        erase(&mut self.sum, 0);
        erase(&mut self.products, 0);
    }
}
