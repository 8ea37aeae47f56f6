//! Attacks that `docs/protocols/silent.md` tells of, against the schoolbook encoder and trees, and against what they would be without
//! the cure.

use foxtrot_reference::oracle::oracle;
use foxtrot_reference::silent::{Code, Protocol, correlated_tree, multiply, tree};

const N: usize = 2048;
const T: usize = 64;

fn drawn(context: &str, count: usize) -> Vec<u128> {
    let bytes = oracle(context, &[3; 32], 0, 0, &[], 16 * count);
    let blocks = bytes.chunks(16);
    blocks.map(|it| u128::from_le_bytes(it.try_into().expect("16 bytes"))).collect()
}

/// Row `bit` of 128: that bit of every value.
fn bit_row(values: &[u128], bit: usize) -> Vec<u128> {
    let word = |values: &[u128]| {
        (0..).zip(values).fold(0, |word, (k, &value)| word | (value >> bit & 1) << k)
    };
    values.chunks(128).map(word).collect()
}

/// Vectors over GF(2) in echelon form.
#[derive(Default)]
struct Span(Vec<(usize, Vec<u128>)>);

impl Span {
    fn reduce(&self, mut row: Vec<u128>) -> Vec<u128> {
        for (pivot, other) in &self.0 {
            if row[pivot / 128] >> (pivot % 128) & 1 == 1 {
                row.iter_mut().zip(other).for_each(|(it, other)| *it ^= other);
            }
        }
        row
    }

    fn add(&mut self, row: Vec<u128>) {
        let row = self.reduce(row);
        let pivot = (0..128 * row.len()).find(|it| row[it / 128] >> (it % 128) & 1 == 1);
        self.0.extend(pivot.map(|pivot| (pivot, row)));
    }

    fn has(&self, row: Vec<u128>) -> bool {
        self.reduce(row).iter().all(|&word| word == 0)
    }
}

/// Splits U into 128 binary words of one support: finds the places where all words c = p·H vanish that have p·U = 0, with binary p.
/// These are the places whose column of H is, bit by bit, a sum of columns of U.
fn split(code: &Code, u: &[u128]) -> Vec<usize> {
    let mut span = Span::default();
    (0..128).for_each(|bit| span.add(bit_row(u, bit)));
    let found = |place: &usize| {
        let mut unit = vec![0; N];
        unit[*place] = 1;
        let column = code.encode(&unit);
        (0..128).all(|bit| span.has(bit_row(&column, bit)))
    };
    (0..N).filter(found).collect()
}

#[test]
fn the_splitting_attack_finds_all_noise_without_factors_and_nothing_with_them() {
    let mut code = Code::new(Protocol::named("silent-vole"), N, 2);
    let (places, values) = (drawn("test places", T), drawn("test values", T));
    let mut error = vec![0; N];
    let blocks = error.chunks_mut(N / T).zip(places).zip(values);
    blocks.for_each(|((block, place), value)| block[place as usize % (N / T)] = value);

    assert_eq!(split(&code, &code.encode(&error)), []);
    code.factors = vec![vec![1; N]];
    let noise: Vec<usize> = (0..N).filter(|&place| error[place] != 0).collect();
    assert_eq!(noise.len(), T);
    assert_eq!(split(&code, &code.encode(&error)), noise);
}

/// x^(2¹²⁸ − 2).
fn inverse(x: u128) -> u128 {
    let (mut power, mut inverse) = (x, 1);
    for _ in 1..128 {
        power = multiply(power, power);
        inverse = multiply(inverse, power);
    }
    inverse
}

/// With U in GF(2) there is no D.
#[test]
fn leaves_of_a_correlated_tree_would_give_delta_away_by_d_and_those_of_a_ggm_tree_do_not() {
    let [key, root, delta, u, w] = drawn("test tree", 5)[..] else { unreachable!() };
    let v = w ^ multiply(u, delta);
    // What R computes from D: w ⊕ (XOR of all leaves).
    let guess = |leaves: &[u128]| {
        let d = leaves.iter().fold(w, |sum, leaf| sum ^ leaf);
        multiply(d ^ v, inverse(1 ^ u))
    };
    assert_eq!(guess(&correlated_tree(key, root, delta, 6)[6]), delta);
    assert_ne!(guess(&tree(key, root, 6)[6]), delta);
}
