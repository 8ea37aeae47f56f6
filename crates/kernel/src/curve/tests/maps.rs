//! Elligator 2 and Ristretto.

use super::*;

fn strings() -> Vec<[u8; 32]> {
    let mut all = vec![small(0), small(1), small(2), prime_minus(1), prime_plus(0), prime_plus(18)];
    all.push([0xff; 32]);
    all.extend(random_strings(&mut Stream(61), 90));
    all
}

fn elligator(backend: Backend) {
    let strings = strings();
    let mut images = vec![[0; 32]; strings.len()];
    elligator::map(backend, &strings, &mut images);
    assert!(images.iter().all(|u| MontgomeryPoint(*u).to_edwards(0).is_some()));
    // r and −r, and bit 255, make no difference.
    let mut negative = [[0; 32]];
    let r = field::from_bytes(&strings[20]);
    let minus = field::Field::negate(crate::backend::Scalar, r);
    let mut bytes = field::to_bytes(&minus);
    bytes[31] |= 0x80;
    elligator::map(backend, &[bytes], &mut negative);
    assert_eq!(negative[0], images[20]);
}

fn elligator_inverse(backend: Backend) {
    let strings = strings();
    let n = strings.len();
    let mut images = vec![[0; 32]; n];
    elligator::map(backend, &strings, &mut images);
    let mut seen = vec![false; n];
    for coin in 0..8 {
        let (mut back, mut found) = (vec![[0; 32]; n], vec![0; n.div_ceil(8)]);
        elligator::inverse(backend, &images, &vec![coin; n], &mut back, &mut found);
        let mut again = vec![[0; 32]; n];
        elligator::map(backend, &back, &mut again);
        for i in 0..n {
            assert_eq!(back[i][31] >> 7, coin >> 2 & 1);
            // A point of the image has strings for both of ±v, but for u = 0.
            let zero = images[i] == [0; 32];
            let expected = !zero || coin & 1 == 0;
            assert_eq!(found[i / 8] >> (i % 8) & 1 == 1, expected, "{i} {coin}");
            if expected {
                assert_eq!(again[i], images[i]);
            }
            let mut string = strings[i];
            string[31] = string[31] & 0x7f | back[i][31] & 0x80;
            seen[i] |= expected && back[i] == string;
        }
    }
    // One of the coins gives the string itself, if that was canonical.
    for (i, string) in strings.iter().enumerate() {
        let canonical = field::canonical(&field::from_bytes(string)) == field::from_bytes(string);
        assert_eq!(seen[i], canonical, "{string:x?}");
    }
}

fn elligator_share(backend: Backend) {
    const N: usize = 400;
    let scalars = random_strings(&mut Stream(62), N);
    let mut points = vec![[0; 32]; N];
    ladder::mul(backend, &scalars, &[CURVE_GENERATOR], &mut points);
    let (mut out, mut found) = (vec![[0; 32]; N], vec![0; N / 8]);
    elligator::inverse(backend, &points, &[0; N], &mut out, &mut found);
    let mut back = vec![[0; 32]; N];
    elligator::map(backend, &out, &mut back);
    let mut count = 0;
    for i in 0..N {
        let is = found[i / 8] >> (i % 8) & 1 == 1;
        assert_eq!(back[i] == points[i], is);
        count += usize::from(is);
    }
    assert!((160..240).contains(&count), "{count}");
}

fn ristretto(backend: Backend) {
    // Hashes, multiples of the base point, and their sums with points of order 4.
    let mut random = Stream(63);
    let mut inputs: Vec<[u8; 64]> = (0..30).map(|_| random.bytes(64).try_into().unwrap()).collect();
    inputs.extend([[0; 64], [0xff; 64]]);
    inputs.push(core::array::from_fn(|i| if i % 32 == 0 { 1 } else { 0 }));
    let mut points = vec![Point::IDENTITY; inputs.len()];
    ristretto::from_uniform(backend, &inputs, &mut points);
    let expected: Vec<_> =
        inputs.iter().map(|input| RistrettoPoint::from_uniform_bytes(input).compress().0).collect();
    let mut out = vec![[0; 32]; inputs.len()];
    ristretto::encode(backend, &points, &mut out);
    assert_eq!(out, expected);
    let mut torsion = vec![Point::IDENTITY; 4];
    let four = [0, 2, 4, 6].map(|k| EIGHT_TORSION[k].compress().0);
    decompress(backend, &four, &mut torsion).unwrap();
    for torsion in &torsion {
        let mut moved = vec![Point::IDENTITY; inputs.len()];
        add(backend, &points, core::slice::from_ref(torsion), &mut moved);
        ristretto::encode(backend, &moved, &mut out);
        assert_eq!(out, expected);
    }
    let mut decoded = vec![Point::IDENTITY; inputs.len()];
    ristretto::decode(backend, &expected, &mut decoded).unwrap();
    ristretto::encode(backend, &decoded, &mut out);
    assert_eq!(out, expected);
}

fn ristretto_decoding(backend: Backend) {
    let mut candidates = random_strings(&mut Stream(64), 60);
    // Half of them even and below 2²⁵⁵, which is where encodings are.
    for candidate in &mut candidates[..50] {
        candidate[0] &= 0xfe;
        candidate[31] &= 0x7f;
    }
    candidates.extend(coordinates());
    let mut count = 0;
    for candidate in candidates {
        let mut out = [Point::IDENTITY];
        let decoded = ristretto::decode(backend, &[candidate], &mut out);
        let theirs = CompressedRistretto(candidate).decompress();
        assert_eq!(decoded.is_ok(), theirs.is_some(), "{candidate:x?}");
        count += usize::from(decoded.is_ok());
    }
    assert!(count > 5);
    let mut batch = [small(0); 11];
    batch[9] = small(1);
    let mut out = [const { Point::IDENTITY }; 11];
    assert_eq!(ristretto::decode(backend, &batch, &mut out), Err(Invalid { index: 9 }));
}

on_every_backend! {
    images_are_on_the_curve_and_of_either_sign => elligator;
    strings_of_images_map_back => elligator_inverse;
    half_of_the_points_have_strings => elligator_share;
    classes_are_encoded_as_the_oracle_does => ristretto;
    decoding_is_strict => ristretto_decoding;
}
