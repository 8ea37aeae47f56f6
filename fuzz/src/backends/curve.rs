//! Curve25519.

use foxtrot_kernel::{
    Backend,
    curve::{
        Point, Sixteen, Table, TwinTable, add, compress, decompress, elligator as maps,
        is_identity, ladder as x_only, mul, mul_base, mul_by_cofactor, mul_generators, on_curve,
        ristretto as classes, select, sub,
    },
};

use super::{Input, Results};

/// More than the longest vector.
const MOST: usize = 9;

pub(super) fn ladder(backend: Backend, input: &mut Input<'_>) -> Vec<u8> {
    let (n, mut results) = (input.up_to(MOST), Results::default());
    let (scalars, points, bits) = (input.arrays(n), input.arrays(n), input.array::<2>());
    let mut out = vec![[0; 32]; n];
    match input.byte() % 3 {
        0 => x_only::mul(backend, &scalars, &points, &mut out),
        1 => x_only::mul(backend, &[input.array()], &points, &mut out),
        _ => {
            let both = [input.array(), input.array()];
            x_only::mul_either(backend, &scalars, &both, &bits, &mut out);
        }
    }
    results.0.extend(out.as_flattened());
    results.keep(2, |to| on_curve(backend, &points, to));
    results.0
}

pub(super) fn tables(backend: Backend, input: &mut Input<'_>) -> Vec<u8> {
    let (n, mut results) = (input.up_to(MOST), Results::default());
    let (mut scalars, bits) = (input.arrays::<32>(n), input.array::<2>());
    let (mut out, mut xs) = (vec![Point::IDENTITY; n], vec![[0; 32]; n]);
    // To make a table takes long.
    match input.byte() % 4 {
        0 => {
            let (point, mut memory) =
                (points_of(backend, input, 1), vec![Sixteen::ZERO; Table::LEN]);
            Table::new(backend, &point[0], &mut memory).mul(backend, &scalars, &mut out);
        }
        1 => {
            let (pair, mut memory) =
                ([input.array(), input.array()], vec![Sixteen::ZERO; TwinTable::LEN]);
            if let Some(table) = TwinTable::new(backend, &pair, &mut memory) {
                table.mul(backend, &scalars, &bits, &mut xs);
            }
        }
        2 => mul_base(backend, &scalars, &mut out),
        _ => {
            scalars.iter_mut().for_each(|scalar| scalar[31] &= 0x7f);
            mul_generators(backend, &scalars, &bits, &mut xs);
        }
    }
    results.points(backend, &out);
    results.0.extend(xs.as_flattened());
    results.0
}

pub(super) fn points(backend: Backend, input: &mut Input<'_>) -> Vec<u8> {
    let (n, mut results) = (input.up_to(MOST), Results::default());
    let (mut a, b) = (points_of(backend, input, n), points_of(backend, input, n));
    let (scalars, bits) = (input.arrays(n), input.array::<2>());
    // Also such as are the identity.
    if n > 0 {
        a[0] = b[0].clone();
    }
    let mut out = vec![Point::IDENTITY; n];
    add(backend, &a, &b, &mut out);
    results.points(backend, &out);
    sub(backend, &a, &b, &mut out);
    results.points(backend, &out);
    results.keep(2, |to| is_identity(backend, &out, to));
    select(backend, &bits, &a, &b, &mut out);
    results.points(backend, &out);
    mul_by_cofactor(backend, &mut out);
    results.points(backend, &out);
    mul(backend, &scalars, &a, &mut out);
    results.points(backend, &out);

    let encodings = input.arrays(n);
    match decompress(backend, &encodings, &mut out) {
        Ok(()) => results.points(backend, &out),
        Err(invalid) => results.words(&[invalid.index as u64]),
    }
    results.0
}

pub(super) fn elligator(backend: Backend, input: &mut Input<'_>) -> Vec<u8> {
    let (n, mut results) = (input.up_to(MOST), Results::default());
    let (strings, coins) = (input.arrays(n), input.string(n));
    let mut xs = vec![[0; 32]; n];
    maps::map(backend, &strings, &mut xs);
    results.0.extend(xs.as_flattened());
    let (mut again, mut found) = (vec![[0; 32]; n], [0; 2]);
    maps::inverse(backend, &xs, &coins, &mut again, &mut found);
    for (i, again) in again.iter().enumerate().filter(|(i, _)| found[i / 8] >> (i % 8) & 1 == 1) {
        results.0.extend([&[i as u8], again.as_slice()].concat());
    }
    results.0
}

pub(super) fn ristretto(backend: Backend, input: &mut Input<'_>) -> Vec<u8> {
    let (n, mut results) = (input.up_to(MOST), Results::default());
    let mut out = vec![Point::IDENTITY; n];
    classes::from_uniform(backend, &input.arrays(n), &mut out);
    let mut encodings = vec![[0; 32]; n];
    classes::encode(backend, &out, &mut encodings);
    results.0.extend(encodings.as_flattened());
    // A change of one of them, or of none.
    if let Some(encoding) = encodings.first_mut() {
        encoding[input.up_to(31)] ^= input.byte();
    }
    match classes::decode(backend, &encodings, &mut out) {
        Ok(()) => classes::encode(backend, &out, &mut encodings),
        Err(invalid) => encodings[0][0] = u8::try_from(invalid.index).expect("few"),
    }
    results.0.extend(encodings.as_flattened());
    results.0
}

/// Any points of the curve.
fn points_of(backend: Backend, input: &mut Input<'_>, n: usize) -> Vec<Point> {
    let mut points = vec![Point::IDENTITY; n];
    classes::from_uniform(backend, &input.arrays(n), &mut points);
    points
}

impl Results {
    /// Coordinates are a backend's own, encodings are not.
    fn points(&mut self, backend: Backend, points: &[Point]) {
        let mut encodings = vec![[0; 32]; points.len()];
        compress(backend, points, &mut encodings);
        self.0.extend(encodings.as_flattened());
    }
}
