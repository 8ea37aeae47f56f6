//! Strings that a peer may send in the place of an element of Ristretto255.

use curve25519_dalek::{RistrettoPoint, Scalar};

/// p, least significant byte first.
const P: [u8; 32] = {
    let mut p = [0xff; 32];
    (p[0], p[31]) = (0xed, 0x7f);
    p
};

/// Strings that encode no element, and the neutral one; each with what is wrong with it.
pub(super) fn encodings() -> [(&'static str, [u8; 32]); 8] {
    let element = valid();
    let mut high = element;
    high[31] |= 0x80;
    let mut minus_one = P;
    minus_one[0] -= 1;
    let mut six_beyond = P;
    six_beyond[0] += 6;
    [
        ("neutral", [0; 32]),
        ("neutral, and p", P),
        ("not below p", six_beyond),
        ("bit 255", high),
        ("negative", negated(&element)),
        ("y = 0", minus_one),
        // RFC 9496, appendix A.2.
        (
            "no square",
            [
                0x26, 0x94, 0x8d, 0x35, 0xca, 0x62, 0xe6, 0x43, 0xe2, 0x6a, 0x83, 0x17, 0x73, 0x32,
                0xe6, 0xb6, 0xaf, 0xeb, 0x9d, 0x08, 0xe4, 0x26, 0x8b, 0x65, 0x0f, 0x1f, 0x5b, 0xbd,
                0x8d, 0x81, 0xd3, 0x71,
            ],
        ),
        (
            "negative product",
            [
                0x3e, 0xb8, 0x58, 0xe7, 0x8f, 0x5a, 0x72, 0x54, 0xd8, 0xc9, 0x73, 0x11, 0x74, 0xa9,
                0x4f, 0x76, 0x75, 0x5f, 0xd3, 0x94, 0x1c, 0x0a, 0xc9, 0x37, 0x35, 0xc0, 0x7b, 0xa1,
                0x45, 0x79, 0x63, 0x0e,
            ],
        ),
    ]
}

/// An element that is not neutral.
pub(super) fn valid() -> [u8; 32] {
    RistrettoPoint::mul_base(&Scalar::from(77_u8)).compress().0
}

/// p − s.
fn negated(s: &[u8; 32]) -> [u8; 32] {
    let mut borrow = false;
    core::array::from_fn(|k| {
        let (difference, one) = P[k].overflowing_sub(s[k]);
        let (difference, two) = difference.overflowing_sub(u8::from(borrow));
        borrow = one || two;
        difference
    })
}
