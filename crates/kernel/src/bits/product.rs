//! Products of a public matrix of bits with rows of secret ones, by tables of the sums of four rows
//! (the method of the four Russians). The public matrix says where to look, the rows say nothing.

use crate::{Backend, blocks::Blocks, erase, holds};

/// Bytes of a row that are taken together: the longest vector.
const LINE: usize = 64;

/// Rows that share a table.
const FOUR: usize = 4;

/// Tables that are used together, as many as the nearest cache holds.
const TABLES: usize = 24;

/// Adds to row j of `out` those rows i of `rows` for which the public `matrix` has a 1, bit i of its
/// row j; on the first `len` bytes of each. Rows are `stride` and `out_stride` bytes apart, those of
/// the matrix ⌈`inputs`/8⌉, and `out` has as many as the matrix.
///
/// The work depends on lengths only: about a quarter of an addition per bit of the matrix, whatever it
/// is. Addresses depend on the matrix, but not on `rows` and `out`.
///
/// # Panics
/// If `len` is not a multiple of 64 or longer than a stride, there are no inputs, the matrix is not
/// of whole rows, or there are fewer rows than it needs.
pub fn add_product(
    backend: Backend,
    matrix: &[u8],
    inputs: usize,
    (rows, stride): (&[u8], usize),
    (out, out_stride): (&mut [u8], usize),
    len: usize,
) {
    assert!(len.is_multiple_of(LINE) && len <= stride && len <= out_stride, "whole lines");
    let width = inputs.div_ceil(8);
    assert!(width > 0 && matrix.len().is_multiple_of(width), "rows of the matrix");
    assert!(holds(rows.len(), inputs, stride, len), "a row for every input");
    assert!(holds(out.len(), matrix.len() / width, out_stride, len), "a row for every output");
    dispatch!(
        backend,
        simd => product(simd.longest(), matrix, inputs, (rows, stride), (out, out_stride), len),
    );
}

/// [`add_product`] on vectors.
#[cfg_attr(not(unoptimized), inline(always))]
fn product<B: Blocks>(
    b: B,
    matrix: &[u8],
    inputs: usize,
    (rows, stride): (&[u8], usize),
    (out, out_stride): (&mut [u8], usize),
    len: usize,
) {
    let width = inputs.div_ceil(8);
    // Table t has all sums of four rows; rows that are not there are zero.
    let mut tables = [[b.zero(); 1 << FOUR]; TABLES];
    for at in (0..len).step_by(B::BYTES) {
        for pass in (0..inputs).step_by(TABLES * FOUR) {
            // Two for every byte of coefficients, whose spare bits must find zeros.
            let used = 2 * (inputs - pass).min(TABLES * FOUR).div_ceil(8);
            for (t, table) in tables[..used].iter_mut().enumerate() {
                for k in 0..FOUR {
                    let i = pass + t * FOUR + k;
                    let row = if i < inputs { b.load_at(rows, i * stride + at) } else { b.zero() };
                    for x in 0..1 << k {
                        // One addition for each sum: of x + 2ᵏ it is that of x plus row k. Sum 0
                        // stays zero.
                        table[x | 1 << k] = b.xor(table[x], row);
                    }
                }
            }
            let bytes = pass / 8..pass / 8 + used / 2;
            let outs = out.chunks_mut(out_stride);
            for (coefficients, out) in matrix.chunks_exact(width).zip(outs) {
                let out = &mut out[at..][..B::BYTES];
                // Two sums, so that an addition need not wait for the one before.
                let (mut sum, mut other) = (b.load(out), b.zero());
                let pairs = tables.as_chunks::<2>().0;
                for ([low, high], byte) in pairs.iter().zip(&coefficients[bytes.clone()]) {
                    sum = b.xor(sum, low[usize::from(byte & 15)]);
                    other = b.xor(other, high[usize::from(byte >> 4)]);
                }
                b.store(b.xor(sum, other), out);
            }
        }
    }
    erase(tables.as_flattened_mut(), b.zero());
}
