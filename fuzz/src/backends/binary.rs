//! Bits, binary fields, and sums of keystreams.

use foxtrot_kernel::{
    Backend,
    bits::{add_product, transpose, xor, xor_masked},
    gf::{gf64, gf128},
    vole::{MAX_K, expand, expand_punctured},
};

use super::{Input, Results};

pub(super) fn bits(backend: Backend, input: &mut Input<'_>) -> Vec<u8> {
    let mut results = Results::default();
    let (first, columns) = (128 * input.up_to(5), 128 * input.up_to(9));
    let stride = (first + columns) / 8 + input.up_to(70);
    let rows = input.string(128 * stride);
    let mut transposed = vec![[0xa5; 16]; columns];
    transpose(backend, &rows, stride, first, &mut transposed);
    results.0.extend(transposed.as_flattened());

    let len = input.up_to(300);
    let (a, b, mask) = (input.string(len), input.string(len), input.byte());
    results.keep(len, |to| {
        xor(backend, to, &a);
        xor(backend, to, &b);
    });
    results.keep(len, |to| xor_masked(backend, to, &a, mask));
    results.0
}

pub(super) fn product(backend: Backend, input: &mut Input<'_>) -> Vec<u8> {
    let mut results = Results::default();
    // More than one pass over the tables, of which each has 96 inputs.
    let (inputs, outputs) = (input.up_to(220) + 1, input.up_to(20));
    let len = 64 * input.up_to(3);
    let (stride, out_stride) = (len + input.up_to(70), len + input.up_to(70));
    let matrix = input.string(inputs.div_ceil(8) * outputs);
    let rows = input.string(inputs * stride);
    results.keep(outputs * out_stride, |to| {
        add_product(backend, &matrix, inputs, (&rows, stride), (to, out_stride), len);
    });
    results.0
}

pub(super) fn fields(backend: Backend, input: &mut Input<'_>) -> Vec<u8> {
    let mut results = Results::default();
    let (n, coefficients) = (input.up_to(10), input.up_to(20));
    let (narrow, wide) = (input.words(coefficients + 1), input.blocks(coefficients + 1));
    let wide: Vec<u128> = wide.into_iter().map(u128::from_le_bytes).collect();
    results.words(&[gf64::mul(backend, narrow[0], narrow[coefficients])]);
    results.0.extend(gf128::mul(backend, wide[0], wide[coefficients]).to_le_bytes());

    let stride = 16 * coefficients + input.up_to(20);
    let rows = input.string(n * stride);
    let mut sums = vec![0; n];
    gf64::inner_products(backend, &rows, stride, &narrow[1..], &mut sums);
    results.words(&sums);
    let mut sums = vec![0; n];
    gf128::inner_products(backend, &rows, stride, &wide[1..], &mut sums);
    results.0.extend(sums.into_iter().flat_map(u128::to_le_bytes));
    results.0
}

pub(super) fn vole(backend: Backend, input: &mut Input<'_>) -> Vec<u8> {
    let mut results = Results::default();
    let k = input.up_to(MAX_K - 1) + 1;
    // All of it is to take about the same time, whatever k is.
    let len = 64 * input.up_to(if k > 5 { 4 } else { 20 });
    let stride = len + input.up_to(100);
    let (leaves, nonce) = (input.blocks(1 << k), input.array());
    let room = (k - 1) * stride + len;
    results.keep(len + room, |to| {
        let (sum, rows) = to.split_at_mut(len);
        expand(backend, &leaves, &nonce, sum, rows, stride);
    });
    results.keep(room, |to| expand_punctured(backend, &leaves[1..], &nonce, to, stride, len));
    results.0
}
