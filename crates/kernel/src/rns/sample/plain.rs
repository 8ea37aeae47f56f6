//! Uniform residues in plain Rust.

use super::super::Modulus;
use crate::halves;

/// [`Lanes::accept`](super::super::lanes::Lanes::accept).
#[cfg_attr(not(unoptimized), inline(always))]
pub(in crate::rns) fn accept(
    p: &Modulus,
    threshold: u64,
    words: &[[u8; 8]],
    out: &mut [u64],
) -> usize {
    let mut filled = 0;
    let (eights, rest) = words.as_chunks::<8>();
    for words in eights {
        let products = words.map(inlined!(|word| halves(
            u128::from(u64::from_le_bytes(word)) * u128::from(p.value())
        )));
        // A word is rejected with probability p/2⁶⁴ < 2⁻¹⁴ at most: one branch for eight words,
        // which goes one way nearly always.
        let all = products.iter().fold(true, |all, [low, _]| all & (*low >= threshold));
        if all && let Some(out) = out[filled..].first_chunk_mut::<8>() {
            *out = products.map(|[_, high]| high);
            filled += 8;
        } else {
            filled += accept_some(p, threshold, words, &mut out[filled..]);
        }
    }
    filled + accept_some(p, threshold, rest, &mut out[filled..])
}

fn accept_some(p: &Modulus, threshold: u64, words: &[[u8; 8]], out: &mut [u64]) -> usize {
    let mut filled = 0;
    for word in words {
        let product = u128::from(u64::from_le_bytes(*word)) * u128::from(p.value());
        let [low, high] = halves(product);
        if low >= threshold && filled < out.len() {
            out[filled] = high;
            filled += 1;
        }
    }
    filled
}
