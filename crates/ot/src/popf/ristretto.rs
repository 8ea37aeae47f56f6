//! The group Ristretto255 (RFC 9496), of prime order, for POPFs.

use curve25519_dalek::{
    RistrettoPoint,
    ristretto::CompressedRistretto,
    traits::{Identity, IsIdentity},
};

use super::Group;

/// Bytes of an encoded element.
pub const RISTRETTO_LEN: usize = 32;

/// Ristretto255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ristretto;

impl Ristretto {
    /// The element that is encoded so; every element has one encoding. Takes variable time: for the
    /// peer's bytes.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<RistrettoPoint> {
        CompressedRistretto::from_slice(bytes).ok()?.decompress()
    }

    /// The same, of an element that is not the neutral one.
    pub(crate) fn decode_generator(bytes: &[u8]) -> Option<RistrettoPoint> {
        Self::decode(bytes).filter(|element| !element.is_identity())
    }
}

impl Group for Ristretto {
    type Element = RistrettoPoint;
    const ENCODED_LEN: usize = RISTRETTO_LEN;
    const ANSWER_LEN: usize = 64;

    fn zero(&self) -> RistrettoPoint {
        RistrettoPoint::identity()
    }

    fn hash(&self, answers: &[u8], elements: &mut [RistrettoPoint]) {
        for (answer, element) in answers.as_chunks::<64>().0.iter().zip(elements) {
            *element = RistrettoPoint::from_uniform_bytes(answer);
        }
    }

    fn hash_public(&self, answer: &[u8], element: &mut RistrettoPoint) {
        self.hash(answer, core::slice::from_mut(element));
    }

    fn add_encoded(&self, a: &mut RistrettoPoint, bytes: &[u8]) {
        *a += Self::decode(bytes).unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 9496, appendix A.1 and A.3.
    const GENERATOR: &str = "e2f2ae0a6abc4e71a884a961c500515f58e30b6aa582dd8db6a65945e08d2d76";
    const UNIFORM: &str = "5d1be09e3d0c82fc538112490e35701979d99e06ca3e2b5b54bffe8b4dc772c1\
         4d98b696a1bbfb5ca32c436cc61c16563790306c79eaca7705668b47dffe5bb6";
    const HASHED: &str = "3066f82a1a747d45120d1740f14358531a8f04bbffe6a819f86dfe50f44a0a46";

    fn hex(hex: &str) -> alloc::vec::Vec<u8> {
        (0..hex.len()).step_by(2).map(|k| u8::from_str_radix(&hex[k..k + 2], 16).unwrap()).collect()
    }

    #[test]
    fn encodings_and_hashes_are_those_of_the_rfc() {
        let generator = curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT;
        assert_eq!(generator.compress().as_bytes().as_slice(), hex(GENERATOR));
        let mut hashed = [Ristretto.zero()];
        Ristretto.hash(&hex(UNIFORM), &mut hashed);
        assert_eq!(hashed[0].compress().as_bytes().as_slice(), hex(HASHED));
        Ristretto.add_encoded(&mut hashed[0], &hex(GENERATOR));
        assert_eq!(hashed[0] - generator, Ristretto::decode(&hex(HASHED)).unwrap());
    }

    #[test]
    fn other_encodings_of_an_element_are_refused() {
        assert!(Ristretto::decode(&[0; 32]).is_some());
        assert!(Ristretto::decode_generator(&[0; 32]).is_none());
        assert!(Ristretto::decode_generator(&hex(GENERATOR)).is_some());
        for len in [0, 31, 33] {
            assert!(Ristretto::decode(&alloc::vec![0; len]).is_none());
        }
        // RFC 9496, appendix A.2: a field element that is not reduced (p and p + 1), a negative one
        // (1), a non-square, a negative product, and s = −1.
        for bad in [
            "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
            "0100000000000000000000000000000000000000000000000000000000000000",
            "26948d35ca62e643e26a83177332e6b6afeb9d08e4268b650f1f5bbd8d81d371",
            "3eb858e78f5a7254d8c9731174a94f76755fd3941c0ac93735c07ba14579630e",
            "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        ] {
            assert!(Ristretto::decode(&hex(bad)).is_none(), "{bad}");
        }
        // The generator with the bit that no field element has.
        let mut high = hex(GENERATOR);
        high[31] |= 0x80;
        assert!(Ristretto::decode(&high).is_none());
    }
}
