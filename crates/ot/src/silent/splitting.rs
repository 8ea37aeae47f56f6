//! The attack of `docs/protocols/silent.md`, section 6, against the encoder: noise from GF(2^128) under a binary code falls to linear
//! algebra; under the code with factors it does not.

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{
    Backend,
    lpn::{Prefix, encode},
};

use super::{
    Gf2, Gf128,
    code::{Cells, Code, Machine},
    field::Field,
};

const N: usize = 2048;
const TREES: usize = 64;

/// H·e, with the factors of the field.
fn product<F: Field>(code: &Code, e: &[u128]) -> Vec<u128> {
    let backend = Backend::best();
    let [mut cells, other] = [(); 2].map(|()| Cells::zeroed(N));
    let leaves: Vec<_> = e.iter().map(|value| value.to_le_bytes()).collect();
    Prefix::new(backend).add(&leaves, code.first(), cells.get_mut());
    let ([cells, _], _) = code.accumulate(
        (Machine { backend, executor: &crate::tasks::InPlace }, F::factors),
        cells,
        other,
        None,
    );
    let mut u = vec![0; N / 2];
    encode::<u128>(backend, code.last(), cells.get(), 0, &mut u);
    u
}

/// One bit of every element.
fn bits(u: &[u128], bit: usize) -> Vec<u128> {
    let word = |u: &[u128]| (0..).zip(u).fold(0, |word, (k, u)| word | (u >> bit & 1) << k);
    u.chunks(128).map(word).collect()
}

/// Rows in echelon form, each behind its first one.
struct Span(Vec<(usize, Vec<u128>)>);

impl Span {
    fn of(rows: impl Iterator<Item = Vec<u128>>) -> Self {
        let mut span = Self(Vec::new());
        for row in rows {
            let row = span.reduced(row);
            let first = (0..128 * row.len()).find(|it| row[it / 128] >> (it % 128) & 1 == 1);
            span.0.extend(first.map(|first| (first, row)));
        }
        span
    }

    fn reduced(&self, mut row: Vec<u128>) -> Vec<u128> {
        for (first, other) in &self.0 {
            if row[first / 128] >> (first % 128) & 1 == 1 {
                row.iter_mut().zip(other).for_each(|(it, other)| *it ^= other);
            }
        }
        row
    }
}

/// Places where all test words p·H vanish that have p·U = 0, p being bits: their columns are sums of those of U.
fn split<F: Field>(code: &Code, e: &[u128]) -> Vec<usize> {
    let u = product::<F>(code, e);
    let span = Span::of((0..128).map(|bit| bits(&u, bit)));
    let found = |place: &usize| {
        let mut unit = vec![0; N];
        unit[*place] = 1;
        let column = product::<F>(code, &unit);
        (0..128).all(|bit| span.reduced(bits(&column, bit)).iter().all(|&word| word == 0))
    };
    (0..N).filter(found).collect()
}

#[test]
fn splitting_finds_all_noise_of_a_binary_code_and_none_with_factors() {
    let code = Code::new(Backend::best(), N, 2);
    let mut e = vec![0; N];
    let mut state = 1_u128;
    for tree in e.chunks_mut(N / TREES) {
        state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(1);
        tree[(state >> 120) as usize % tree.len()] = state;
    }
    let noise: Vec<usize> = (0..N).filter(|&place| e[place] != 0).collect();
    assert_eq!(noise.len(), TREES);
    assert_eq!(split::<Gf2>(&code, &e), noise);
    assert_eq!(split::<Gf128>(&code, &e), Vec::<usize>::new());
}
