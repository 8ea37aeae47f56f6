//! Products of a public matrix of bits with rows of secret ones, by tables of the sums of four rows
//! (the method of the four Russians). The public matrix says where to look, the rows say nothing.

use crate::{Backend, erase};

/// Bytes of a row that are worked on together: a cache line.
const LINE: usize = 64;

/// Rows that share a table.
const FOUR: usize = 4;

/// Tables that are used together, as many as the nearest cache holds.
const TABLES: usize = 24;

type Line = [u64; LINE / 8];

/// Adds to row j of `out` those rows i of `rows` for which the public `matrix` has a 1, bit i of its
/// row j; on the first `len` bytes of each. Rows are `stride` and `out_stride` bytes apart, those of
/// the matrix ⌈`inputs`/8⌉, and `out` has as many as the matrix.
///
/// Takes the same time whatever is in `rows` and `out`, but not so for the matrix: at most about a
/// quarter of an addition per bit of it.
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
    backend.run(
        #[inline(always)]
        || product(matrix, inputs, (rows, stride), (out, out_stride), len),
    );
}

/// Whether there are `n` rows, the last of which may end where its `len` bytes end.
fn holds(available: usize, n: usize, stride: usize, len: usize) -> bool {
    let end = n.checked_sub(1).map_or(Some(0), |last| last.checked_mul(stride)?.checked_add(len));
    end.is_some_and(|end| end <= available)
}

#[inline(always)]
fn product(
    matrix: &[u8],
    inputs: usize,
    (rows, stride): (&[u8], usize),
    (out, out_stride): (&mut [u8], usize),
    len: usize,
) {
    let width = inputs.div_ceil(8);
    let mut tables = [[[0; LINE / 8]; 1 << FOUR]; TABLES];
    for at in (0..len).step_by(LINE) {
        for pass in (0..inputs).step_by(TABLES * FOUR) {
            // Two for every byte of coefficients, whose spare bits must find zeros.
            let used = 2 * (inputs - pass).min(TABLES * FOUR).div_ceil(8);
            for (t, table) in tables[..used].iter_mut().enumerate() {
                let first = pass + t * FOUR;
                fill(table, rows, stride, first..inputs.min(first + FOUR), at);
            }
            let bytes = pass / 8..pass / 8 + used / 2;
            for (coefficients, out) in matrix.chunks_exact(width).zip(out.chunks_mut(out_stride)) {
                let Some(out) = out[at..].first_chunk_mut::<LINE>() else { continue };
                let mut sum = load(out);
                for (two, byte) in tables.chunks_exact(2).zip(&coefficients[bytes.clone()]) {
                    add(&mut sum, &two[0][usize::from(byte & 15)]);
                    add(&mut sum, &two[1][usize::from(byte >> 4)]);
                }
                for (bytes, word) in out.as_chunks_mut().0.iter_mut().zip(sum) {
                    *bytes = word.to_le_bytes();
                }
            }
        }
    }
    erase(tables.as_flattened_mut(), [0; LINE / 8]);
}

/// All sums of up to four rows; rows that are not there are zero.
#[inline(always)]
fn fill(
    table: &mut [Line; 1 << FOUR],
    rows: &[u8],
    stride: usize,
    which: core::ops::Range<usize>,
    at: usize,
) {
    for k in 0..FOUR {
        let mut row = [0; LINE / 8];
        if which.start + k < which.end
            && let Some(line) = rows[(which.start + k) * stride + at..].first_chunk::<LINE>()
        {
            row = load(line);
        }
        for x in 0..1 << k {
            let mut sum = table[x];
            add(&mut sum, &row);
            table[x | 1 << k] = sum;
        }
    }
}

#[inline(always)]
fn load(bytes: &[u8; LINE]) -> Line {
    let mut line = [0; LINE / 8];
    for (word, bytes) in line.iter_mut().zip(bytes.as_chunks().0) {
        *word = u64::from_le_bytes(*bytes);
    }
    line
}

#[inline(always)]
fn add(sum: &mut Line, line: &Line) {
    for (sum, word) in sum.iter_mut().zip(line) {
        *sum ^= word;
    }
}
