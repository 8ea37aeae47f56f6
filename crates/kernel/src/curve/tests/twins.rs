//! Multiples of one point of the curve or one of the twist.

use super::*;

fn multiples(backend: Backend) {
    let scalars = scalars();
    let mut random = Stream(41);
    // Whole groups, small orders, and others: A, on the curve if the bit is 0.
    let mut pairs = vec![[CURVE_GENERATOR, TWIST_GENERATOR], [small(0), small(0)]];
    // u = 1 is of order 4 on the curve, u = −1 on the twist.
    pairs.extend([[small(1), prime_minus(1)], [prime_plus(6), prime_plus(3)]]);
    let mut some = random_strings(&mut random, 12);
    some.push([0xff; 32]);
    let on_curve = |u: &[u8; 32]| MontgomeryPoint(*u).to_edwards(0).is_some();
    let (curve, twist): (Vec<_>, Vec<_>) = some.into_iter().partition(on_curve);
    pairs.extend(curve.into_iter().zip(twist).map(|(curve, twist)| [curve, twist]));
    assert!(pairs.len() > 5);
    for pair in pairs {
        let mut memory = vec![Sixteen::ZERO; TwinTable::LEN];
        let table = TwinTable::new(backend, &pair, &mut memory).unwrap();
        for choices in [[0; 4], [0xff; 4], [0x5a; 4]] {
            let mut out = vec![[0; 32]; scalars.len()];
            table.mul(backend, &scalars, &choices, &mut out);
            for (i, (scalar, out)) in scalars.iter().zip(out).enumerate() {
                let point = &pair[usize::from(choices[i / 8] >> (i % 8) & 1)];
                assert_eq!(out, laddered(scalar, point, 256), "{scalar:x?} {point:x?}");
            }
        }
    }
}

fn generators(backend: Backend) {
    let mut scalars = scalars();
    scalars.iter_mut().for_each(|scalar| scalar[31] &= 0x7f);
    for choices in [[0; 4], [0xff; 4], [0x5a; 4]] {
        let mut out = vec![[0; 32]; scalars.len()];
        mul_generators(backend, &scalars, &choices, &mut out);
        for (i, (scalar, out)) in scalars.iter().zip(out).enumerate() {
            let on_twist = choices[i / 8] >> (i % 8) & 1 == 1;
            let generator = if on_twist { TWIST_GENERATOR } else { CURVE_GENERATOR };
            assert_eq!(out, laddered(scalar, &generator, 255), "{scalar:x?}");
        }
    }
    let mut points = vec![Point::IDENTITY; scalars.len()];
    let mut expected = points.clone();
    mul_base(backend, &scalars, &mut points);
    mul(backend, &scalars, &[Point::BASE], &mut expected);
    let [points, expected] = [points, expected].map(|points| {
        let mut bytes = vec![[0; 32]; scalars.len()];
        compress(backend, &points, &mut bytes);
        bytes
    });
    assert_eq!(points, expected);
}

fn known_sides(backend: Backend) {
    let all = coordinates();
    let mut bits = vec![0xa5; all.len().div_ceil(8)];
    on_curve(backend, &all, &mut bits);
    for (i, u) in all.iter().enumerate() {
        let expected = MontgomeryPoint(*u).to_edwards(0).is_some();
        assert_eq!(bits[i / 8] >> (i % 8) & 1 == 1, expected, "{u:x?}");
    }
}

fn sides(backend: Backend) {
    let mut memory = vec![Sixteen::ZERO; TwinTable::LEN];
    let mut is_taken = |pair: &_| TwinTable::new(backend, pair, &mut memory).is_some();
    assert!(is_taken(&[CURVE_GENERATOR, TWIST_GENERATOR]));
    for u in coordinates() {
        let on_curve = MontgomeryPoint(u).to_edwards(0).is_some();
        let zero = field::canonical(&field::from_bytes(&u)) == [0; 5];
        assert_eq!(is_taken(&[u, TWIST_GENERATOR]), on_curve);
        let on_twist = !on_curve || zero;
        assert_eq!(is_taken(&[CURVE_GENERATOR, u]), on_twist, "{u:x?}");
    }
}

fn lengths(backend: Backend) {
    let mut memory = vec![Sixteen::ZERO; TwinTable::LEN];
    let generators = [CURVE_GENERATOR, TWIST_GENERATOR];
    let table = TwinTable::new(backend, &generators, &mut memory).unwrap();
    let mut random = Stream(42);
    for n in LENGTHS.into_iter().chain([130, 257]) {
        let scalars = random_strings(&mut random, n);
        let choices = random.bytes(n.div_ceil(8));
        let (mut out, mut expected) = (vec![[0; 32]; n], vec![[0; 32]; n]);
        table.mul(backend, &scalars, &choices, &mut out);
        let masked: Vec<_> = scalars
            .iter()
            .map(|scalar| {
                let mut scalar = *scalar;
                scalar[31] &= 0x7f;
                scalar
            })
            .collect();
        table.mul(backend, &masked, &choices, &mut out);
        let points = [CURVE_GENERATOR, TWIST_GENERATOR];
        ladder::mul_either(backend, &scalars, &points, &choices, &mut expected);
        assert_eq!(out, expected);
    }
}

on_every_backend! {
    multiples_of_generators_match_the_ladder => generators;
    sides_match_dalek => known_sides;
    multiples_match_the_ladder => multiples;
    x_coordinates_on_the_wrong_curve_are_refused => sides;
    batches_of_every_length_end_where_they_end => lengths;
}
