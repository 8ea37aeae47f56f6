//! Products of a public matrix of bits with rows of secret ones, by tables of the sums of four rows
//! (the method of the four Russians). The public matrix says where to look, the rows say nothing.

use super::portable;
#[cfg(target_arch = "x86_64")]
use super::{avx2, avx512};
use crate::Backend;

/// Rows come by so many bytes: the longest vector.
const LINE: usize = 64;

/// Rows that share a table.
pub(super) const FOUR: usize = 4;

/// Tables that are used together, as many as the nearest cache holds.
pub(super) const TABLES: usize = 24;

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
    per_isa!(backend, product(matrix, inputs, (rows, stride), (out, out_stride), len));
}

/// Whether there are `n` rows, the last of which may end where its `len` bytes end.
fn holds(available: usize, n: usize, stride: usize, len: usize) -> bool {
    let end = n.checked_sub(1).map_or(Some(0), |last| last.checked_mul(stride)?.checked_add(len));
    end.is_some_and(|end| end <= available)
}

/// Writes `product` for vectors of one type.
macro_rules! product {
    (
        $(#[$attribute:meta])* $vector:ty: $bytes:literal,
        $zero:expr, $load:expr, $xor:expr, $store:expr $(,)?
    ) => {
        $(#[$attribute])*
        pub(super) fn product(
            matrix: &[u8],
            inputs: usize,
            (rows, stride): (&[u8], usize),
            (out, out_stride): (&mut [u8], usize),
            len: usize,
        ) {
            use $crate::bits::product::{FOUR, TABLES};
            let width = inputs.div_ceil(8);
            // Table t has all sums of four rows; rows that are not there are zero.
            let mut tables: [[$vector; 1 << FOUR]; TABLES] = [[$zero; 1 << FOUR]; TABLES];
            for at in (0..len).step_by($bytes) {
                for pass in (0..inputs).step_by(TABLES * FOUR) {
                    // Two for every byte of coefficients, whose spare bits must find zeros.
                    let used = 2 * (inputs - pass).min(TABLES * FOUR).div_ceil(8);
                    for (t, table) in tables[..used].iter_mut().enumerate() {
                        for k in 0..FOUR {
                            let i = pass + t * FOUR + k;
                            let line = match i < inputs {
                                true => rows[i * stride + at..].first_chunk::<$bytes>(),
                                false => None,
                            };
                            let row = line.map_or($zero, $load);
                            for x in 0..1 << k {
                                table[x | 1 << k] = $xor(table[x], row);
                            }
                        }
                    }
                    let bytes = pass / 8..pass / 8 + used / 2;
                    let outs = out.chunks_mut(out_stride);
                    for (coefficients, out) in matrix.chunks_exact(width).zip(outs) {
                        let Some(out) = out[at..].first_chunk_mut::<$bytes>() else { continue };
                        let (mut sum, mut other) = ($load(out), $zero);
                        let pairs = tables.as_chunks::<2>().0;
                        for ([low, high], byte) in pairs.iter().zip(&coefficients[bytes.clone()]) {
                            sum = $xor(sum, low[usize::from(byte & 15)]);
                            other = $xor(other, high[usize::from(byte >> 4)]);
                        }
                        $store(out, $xor(sum, other));
                    }
                }
            }
            $crate::erase(tables.as_flattened_mut(), $zero);
        }
    };
}
pub(super) use product;
