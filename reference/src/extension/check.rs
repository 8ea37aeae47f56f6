//! The column check of section 7: a universal hash over GF(2⁶⁴).

use super::Row;
use crate::bytes_from_bits;
use crate::oracle::{Id, oracle};

/// Returns the product in GF(2)\[z\]/(z⁶⁴ + z⁴ + z³ + z + 1); bit e is the coefficient of zᵉ.
#[must_use]
pub fn multiply(a: u64, b: u64) -> u64 {
    let mut product = 0;
    for e in (0..64).rev() {
        let overflow = product >> 63 == 1;
        product <<= 1;
        if overflow {
            product ^= 0b11011;
        }
        if b >> e & 1 == 1 {
            product ^= a;
        }
    }
    product
}

/// Returns χ, the coefficients that the sender's coin u gives for rows of `m` bits; `given` says
/// whether choices are.
pub(super) fn coefficients(id: &Id, batch: usize, given: bool, u: &[u8], m: usize) -> Vec<u64> {
    elements(&oracle("foxtrot v1 extension check", id, batch, given.into(), &[u], m / 8 - 8))
}

/// Returns h(V): the last element of `row`, which hides it, plus the others times χ.
pub(super) fn hash(chi: &[u64], row: &Row) -> u64 {
    let row = elements(&bytes_from_bits(row));
    let (mask, rest) = row.split_last().expect("at least 512 bits");
    assert_eq!(chi.len(), rest.len());
    chi.iter().zip(rest).fold(*mask, |sum, (&x, &v)| sum ^ multiply(x, v))
}

/// Returns `bytes` as elements, eight bytes each.
pub(crate) fn elements(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks(8).map(|b| u64::from_le_bytes(b.try_into().expect("8 bytes"))).collect()
}

#[cfg(test)]
mod tests {
    use super::multiply;

    /// Squares `x` `times` times.
    fn frobenius(x: u64, times: u32) -> u64 {
        (0..times).fold(x, |x, _| multiply(x, x))
    }

    #[test]
    fn multiplication_obeys_the_field_laws() {
        // Rabin's test: z^(2^64) = z, and z^(2^32) − z is invertible, its power 2^64 − 1 being 1.
        assert_eq!(frobenius(2, 64), 2);
        let difference = frobenius(2, 32) ^ 2;
        let mut power = 1;
        for _ in 0..64 {
            power = multiply(multiply(power, power), difference);
        }
        assert_eq!(power, 1);
    }

    #[test]
    fn multiplication_is_bilinear_and_commutative() {
        let (mut a, b, c) = (1, 0x9e37_79b9_7f4a_7c15, 0xd1b5_4a32_d192_ed03);
        for _ in 0..64 {
            assert_eq!(multiply(a, b ^ c), multiply(a, b) ^ multiply(a, c));
            assert_eq!(multiply(a, b), multiply(b, a));
            a = multiply(a, 2) ^ c;
        }
        assert_eq!(multiply(1 << 63, 2), 0b11011);
    }
}
