//! Curve25519 and its twist by x-coordinates, v² = u³ + 486662u² + u or twice that, and the same curve in
//! Edwards form with the encoding of RFC 8032.

use crate::p256::{Number, add, bits, less};
use crate::ristretto::{Element, Field, P};

/// A string of 32 bytes.
pub type Bytes = [u8; 32];

const A: Field = Field([486_662, 0, 0, 0]);

/// The x-coordinates of generators of the whole curve and of the whole twist.
pub const GENERATORS: [Bytes; 2] = [small(6), small(3)];

const fn small(x: u8) -> Bytes {
    let mut bytes = [0; 32];
    bytes[0] = x;
    bytes
}

/// Returns the element of the field, without bit 255.
fn element(bytes: &Bytes) -> Field {
    let mut number = Field::from_bytes(bytes);
    number[3] &= u64::MAX >> 1;
    Field(add(&number, &[0; 4], &P))
}

fn encode(x: Field) -> Bytes {
    let bytes: Vec<u8> = x.0.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.try_into().expect("32 bytes")
}

fn inverse(x: Field) -> Field {
    let mut exponent = P;
    exponent[0] -= 2;
    x.power(&exponent)
}

/// RFC 7748: returns the x-coordinate of k·P, on the side of P, or 0 for the point at infinity.
#[must_use]
pub fn ladder(k: &Bytes, u: &Bytes) -> Bytes {
    let u = element(u);
    let (mut x_2, mut z_2, mut x_3, mut z_3) = (Field::ONE, Field::ZERO, u, Field::ONE);
    for bit in bits(&Field::from_bytes(k)).skip(1) {
        if bit {
            ((x_2, z_2), (x_3, z_3)) = ((x_3, z_3), (x_2, z_2));
        }
        let (a, b, c, d) = (x_2.plus(z_2), x_2.minus(z_2), x_3.plus(z_3), x_3.minus(z_3));
        let (aa, bb, da, cb) = (a.squared(), b.squared(), d.times(a), c.times(b));
        let e = aa.minus(bb);
        x_3 = da.plus(cb).squared();
        z_3 = u.times(da.minus(cb).squared());
        x_2 = aa.times(bb);
        z_2 = e.times(aa.plus(Field([121_665, 0, 0, 0]).times(e)));
        if bit {
            ((x_2, z_2), (x_3, z_3)) = ((x_3, z_3), (x_2, z_2));
        }
    }
    encode(x_2.times(inverse(z_2)))
}

/// Elligator 2: returns the x-coordinate to which a string maps.
#[must_use]
pub fn elligator(string: &Bytes) -> Bytes {
    let r = element(string);
    let two_r_2 = r.squared().plus(r.squared());
    let u = A.negated().times(inverse(Field::ONE.plus(two_r_2)));
    let cubic = u.times(u.squared().plus(A.times(u)).plus(Field::ONE));
    let (on_curve, _) = Field::sqrt_ratio(cubic, Field::ONE);
    encode(if on_curve { u } else { A.negated().minus(u) })
}

/// Returns a string that maps to `u`, chosen by three bits of a coin, if there is one.
#[must_use]
pub fn elligator_inverse(u: &Bytes, coin: u8) -> Option<Bytes> {
    let u = element(u);
    let (above, below) = if coin & 1 == 0 { (u, u.plus(A)) } else { (u.plus(A), u) };
    let (found, r) = Field::sqrt_ratio(above.negated(), below.plus(below));
    let mut string = encode(if coin >> 1 & 1 == 0 { r } else { r.negated() });
    string[31] |= (coin >> 2 & 1) << 7;
    found.then_some(string)
}

/// Returns the base point of Ed25519, of prime order: y = 4/5, x even.
///
/// # Panics
///
/// Never.
#[must_use]
pub fn base() -> Element {
    let y = Field([4, 0, 0, 0]).times(inverse(Field([5, 0, 0, 0])));
    decompress(&encode(y)).expect("a point")
}

/// RFC 8032, 5.1.2: returns y, with the parity of x in bit 255.
#[must_use]
pub fn compress(point: &Element) -> Bytes {
    let z = inverse(point.z);
    let mut bytes = encode(point.y.times(z));
    bytes[31] |= u8::from(point.x.times(z).is_negative()) << 7;
    bytes
}

/// RFC 8032, 5.1.3: returns the point that 32 bytes encode, if they do.
#[must_use]
pub fn decompress(bytes: &Bytes) -> Option<Element> {
    let mut number = Field::from_bytes(bytes);
    let sign = number[3] >> 63 == 1;
    number[3] &= u64::MAX >> 1;
    if !less(&number, &P) {
        return None;
    }
    let y = Field(number);
    let denominator = Field::d().times(y.squared()).plus(Field::ONE);
    let (found, x) = Field::sqrt_ratio(y.squared().minus(Field::ONE), denominator);
    if !found || x == Field::ZERO && sign {
        return None;
    }
    let x = if sign { x.negated() } else { x };
    Some(Element { x, y, z: Field::ONE, t: x.times(y) })
}

/// Returns the point times a number that is not reduced.
#[must_use]
pub fn times(point: &Element, k: &Bytes) -> Element {
    let k: Number = Field::from_bytes(k);
    point.times(&k)
}

/// Returns the point times 8.
#[must_use]
pub fn times_8(point: &Element) -> Element {
    point.times(&[8, 0, 0, 0])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;

    /// RFC 7748, 5.2, whose scalars are clamped.
    #[test]
    fn the_ladder_gives_the_vectors_of_the_rfc() {
        let bytes = |digits: &str| -> Bytes {
            core::array::from_fn(|k| {
                u8::from_str_radix(&digits[2 * k..2 * k + 2], 16).expect("hex")
            })
        };
        let mut k = bytes("a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4");
        k[0] &= 248;
        k[31] = k[31] & 127 | 64;
        let u = bytes("e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c");
        let expected = "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552";
        assert_eq!(hex(&ladder(&k, &u)), expected);
    }

    #[test]
    fn elligator_strings_of_a_point_map_to_the_point() {
        let mut found = 0;
        for k in 1..40 {
            let u = ladder(&small(k), &GENERATORS[0]);
            for coin in 0..8 {
                if let Some(string) = elligator_inverse(&u, coin) {
                    assert_eq!(elligator(&string), u);
                    assert_eq!(string[31] >> 7, coin >> 2);
                    found += 1;
                }
            }
        }
        assert!((100..220).contains(&found), "{found}");
    }

    #[test]
    fn points_are_encoded_as_in_the_rfc() {
        let base = base();
        let expected = "58".to_string() + &"66".repeat(31);
        assert_eq!(hex(&compress(&base)), expected);
        let point = times_8(&times(&base, &[9; 32]));
        assert_eq!(compress(&decompress(&compress(&point)).expect("a point")), compress(&point));
        assert!(decompress(&[0xff; 32]).is_none());
        // x = 0 has no sign.
        let mut bytes = small(1);
        assert!(decompress(&bytes).is_some());
        bytes[31] = 0x80;
        assert!(decompress(&bytes).is_none());
    }
}
