//! Products and prefix sums in place, some cells at a time.

use super::CHUNK;
use crate::{
    Block,
    aes::Aes128,
    blocks::{Blocks, Clmul},
};

/// Cells are added up.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn sum<S: Blocks, const L: usize>(s: S, x: &mut [Block]) {
    add_up(s, x.as_chunks_mut::<L>().0, &mut [s.zero(); L]);
}

/// Cells times factors of GF(2¹²⁸) are added up.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn gf128<C: Clmul, S: Blocks, const L: usize>(c: C, s: S, d: &Aes128, x: &mut [Block]) {
    let mut factors = [[0; 16]; CHUNK];
    let mut spread = [[[0; 16]; L]; CHUNK];
    let mut sums = [s.zero(); L];
    for (k, cells) in x.as_chunks_mut::<L>().0.chunks_mut(CHUNK).enumerate() {
        d.ctr((k * CHUNK) as u128, factors[..cells.len()].as_flattened_mut());
        for (spread, factor) in spread.iter_mut().zip(&factors) {
            let factor = u128::from_le_bytes(*factor);
            *spread = [if factor == 0 { 1 } else { factor }.to_le_bytes(); L];
        }
        multiply(
            c,
            cells.as_flattened_mut(),
            spread.as_flattened(),
            inlined!(|x, d| c.multiply(x, d)),
        );
        add_up(s, cells, &mut sums);
    }
}

/// Cells times factors of GF(2⁶⁴) are added up.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn gf64<C: Clmul, S: Blocks, const L: usize>(c: C, s: S, d: &Aes128, x: &mut [Block]) {
    let mut factors = [[0; 8]; CHUNK];
    let mut spread = [[[0; 16]; L]; CHUNK];
    let mut sums = [s.zero(); L];
    for (k, cells) in x.as_chunks_mut::<L>().0.chunks_mut(CHUNK).enumerate() {
        d.ctr((k * CHUNK / 2) as u128, factors.as_flattened_mut());
        for (spread, factor) in spread.iter_mut().zip(&factors) {
            let factor = u64::from_le_bytes(*factor);
            *spread = [u128::from(if factor == 0 { 1 } else { factor }).to_le_bytes(); L];
        }
        multiply(
            c,
            cells.as_flattened_mut(),
            spread.as_flattened(),
            inlined!(|x, d| c.scale(x, d)),
        );
        add_up(s, cells, &mut sums);
    }
}

#[cfg_attr(not(unoptimized), inline(always))]
fn multiply<C: Clmul>(
    c: C,
    x: &mut [Block],
    d: &[Block],
    product: impl Fn(C::Vector, C::Vector) -> C::Vector,
) {
    let (x, d) = (x.as_flattened_mut(), d.as_flattened());
    let whole = x.len() - x.len() % C::BYTES;
    let (wide, rest) = x.split_at_mut(whole);
    for (x, d) in wide.chunks_exact_mut(C::BYTES).zip(d.chunks_exact(C::BYTES)) {
        c.store(product(c.load(x), c.load(d)), x);
    }
    if !rest.is_empty() {
        let d = &d[whole..][..rest.len()];
        c.store_part(product(c.load_part(rest), c.load_part(d)), rest);
    }
}

#[cfg_attr(not(unoptimized), inline(always))]
fn add_up<S: Blocks, const L: usize>(s: S, cells: &mut [[Block; L]], sums: &mut [S::Vector; L]) {
    for cell in cells {
        for (sum, block) in sums.iter_mut().zip(cell) {
            *sum = s.xor(*sum, s.splat(block));
            s.store(*sum, block);
        }
    }
}
