//! The curve P-256 (NIST SP 800-186), y² = x³ − 3x + b over F_p, and its encodings as in
//! `docs/wire/rot-from-ot.md`, section 9.
//!
//! Numbers are four words, the least significant first.

/// A number below 2²⁵⁶.
pub type Number = [u64; 4];

/// The prime p of the field.
pub const P: Number = [0xffff_ffff_ffff_ffff, 0x0000_0000_ffff_ffff, 0, 0xffff_ffff_0000_0001];

/// The prime order of the group.
pub const ORDER: Number =
    [0xf3b9_cac2_fc63_2551, 0xbce6_faad_a717_9e84, 0xffff_ffff_ffff_ffff, 0xffff_ffff_0000_0000];

const B: Number =
    [0x3bce_3c3e_27d2_604b, 0x651d_06b0_cc53_b0f6, 0xb3eb_bd55_7698_86bc, 0x5ac6_35d8_aa3a_93e7];

const ZERO: Number = [0; 4];
const ONE: Number = [1, 0, 0, 0];

/// A point (X/Z², Y/Z³), the identity if Z = 0.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    x: Number,
    y: Number,
    z: Number,
}

impl Point {
    const IDENTITY: Self = Self { x: ONE, y: ONE, z: ZERO };

    /// Returns the point that 33 bytes encode, if they do: 2 or 3, even or odd y, and x big endian.
    #[must_use]
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (tag, x) = (bytes[0], from_big_endian(&bytes[1..]));
        if !(2..=3).contains(&tag) || !less(&x, &P) {
            return None;
        }
        let x_cubed = multiply(&multiply(&x, &x, &P), &x, &P);
        let three_x = add(&add(&x, &x, &P), &x, &P);
        let square = add(&subtract(&x_cubed, &three_x, &P), &B, &P);
        // p = 3 mod 4, so the root of a square is its ((p + 1)/4)-th power.
        let mut exponent = [0, 1 << 32, 0, P[3]];
        for k in 0..4 {
            exponent[k] = exponent[k] >> 2 | exponent.get(k + 1).unwrap_or(&0) << 62;
        }
        let mut y = power(&square, &exponent);
        if multiply(&y, &y, &P) != square {
            return None;
        }
        if y[0] & 1 != u64::from(tag & 1) {
            y = subtract(&ZERO, &y, &P);
        }
        Some(Self { x, y, z: ONE })
    }

    /// Returns the 33 bytes that encode the point, which is not the identity.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut p_minus_2 = P;
        p_minus_2[0] -= 2;
        let inverse = power(&self.z, &p_minus_2);
        let inverse_squared = multiply(&inverse, &inverse, &P);
        let x = multiply(&self.x, &inverse_squared, &P);
        let y = multiply(&multiply(&self.y, &inverse_squared, &P), &inverse, &P);
        let tag = if y[0] & 1 == 1 { 3 } else { 2 };
        [&[tag][..], &x.iter().rev().flat_map(|word| word.to_be_bytes()).collect::<Vec<_>>()]
            .concat()
    }

    /// Returns the sum of two points.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        if self.z == ZERO {
            return *other;
        }
        if other.z == ZERO {
            return *self;
        }
        let [zz, other_zz] = [self, other].map(|point| multiply(&point.z, &point.z, &P));
        let u = multiply(&self.x, &other_zz, &P);
        let other_u = multiply(&other.x, &zz, &P);
        let s = multiply(&self.y, &multiply(&other.z, &other_zz, &P), &P);
        let other_s = multiply(&other.y, &multiply(&self.z, &zz, &P), &P);
        let (h, r) = (subtract(&other_u, &u, &P), subtract(&other_s, &s, &P));
        if h == ZERO {
            return if r == ZERO { self.doubled() } else { Self::IDENTITY };
        }
        let hh = multiply(&h, &h, &P);
        let hhh = multiply(&hh, &h, &P);
        let v = multiply(&u, &hh, &P);
        let rr = multiply(&r, &r, &P);
        let x = subtract(&subtract(&rr, &hhh, &P), &add(&v, &v, &P), &P);
        let y = subtract(&multiply(&r, &subtract(&v, &x, &P), &P), &multiply(&s, &hhh, &P), &P);
        Self { x, y, z: multiply(&multiply(&self.z, &other.z, &P), &h, &P) }
    }

    fn doubled(&self) -> Self {
        let zz = multiply(&self.z, &self.z, &P);
        let yy = multiply(&self.y, &self.y, &P);
        let times = |k, x: &Number| (1..k).fold(*x, |sum, _| add(&sum, x, &P));
        let s = times(4, &multiply(&self.x, &yy, &P));
        // 3·X² − 3·Z⁴.
        let difference = subtract(&multiply(&self.x, &self.x, &P), &multiply(&zz, &zz, &P), &P);
        let m = times(3, &difference);
        let x = subtract(&multiply(&m, &m, &P), &times(2, &s), &P);
        let y = subtract(
            &multiply(&m, &subtract(&s, &x, &P), &P),
            &times(8, &multiply(&yy, &yy, &P)),
            &P,
        );
        Self { x, y, z: times(2, &multiply(&self.y, &self.z, &P)) }
    }

    /// Returns the point, added to itself `scalar` times.
    #[must_use]
    pub fn times(&self, scalar: &Number) -> Self {
        bits(scalar).fold(Self::IDENTITY, |sum, bit| {
            let twice = sum.doubled();
            if bit { twice.plus(self) } else { twice }
        })
    }
}

/// Returns a little-endian number of any length mod the order of the group.
#[must_use]
pub fn scalar(bytes: &[u8]) -> Number {
    let bits = bytes.iter().rev().flat_map(|byte| (0..8).rev().map(move |k| byte >> k & 1 == 1));
    bits.fold(ZERO, |x, bit| {
        let twice = add(&x, &x, &ORDER);
        if bit { add(&twice, &ONE, &ORDER) } else { twice }
    })
}

fn from_big_endian(bytes: &[u8]) -> Number {
    let mut number = ZERO;
    for (word, bytes) in number.iter_mut().rev().zip(bytes.chunks(8)) {
        *word = bytes.iter().fold(0, |word, &byte| word << 8 | u64::from(byte));
    }
    number
}

/// Returns the bits, the most significant first.
pub(crate) fn bits(number: &Number) -> impl Iterator<Item = bool> {
    (0..256).rev().map(|k| number[k / 64] >> (k % 64) & 1 == 1)
}

pub(crate) fn less(a: &Number, b: &Number) -> bool {
    a.iter().rev().lt(b.iter().rev())
}

/// Returns a + b mod m, for a and b below m.
pub(crate) fn add(a: &Number, b: &Number, m: &Number) -> Number {
    let (mut sum, mut carry) = (ZERO, false);
    for k in 0..4 {
        let (first, over) = a[k].overflowing_add(b[k]);
        let (second, over_again) = first.overflowing_add(u64::from(carry));
        (sum[k], carry) = (second, over || over_again);
    }
    if carry || !less(&sum, m) { without_borrow(&sum, m) } else { sum }
}

/// Returns a − b mod m, for a and b below m.
pub(crate) fn subtract(a: &Number, b: &Number, m: &Number) -> Number {
    if *b == ZERO { *a } else { add(a, &without_borrow(m, b), m) }
}

/// Returns a − b mod 2²⁵⁶.
fn without_borrow(a: &Number, b: &Number) -> Number {
    let (mut difference, mut borrow) = (ZERO, false);
    for k in 0..4 {
        let (first, under) = a[k].overflowing_sub(b[k]);
        let (second, under_again) = first.overflowing_sub(u64::from(borrow));
        (difference[k], borrow) = (second, under || under_again);
    }
    difference
}

/// Returns a·b mod m, for a below m: word after word of b.
pub(crate) fn multiply(a: &Number, b: &Number, m: &Number) -> Number {
    b.iter().rev().fold(ZERO, |product, &word| {
        add(&times_word(&product, 1 << 64, m), &times_word(a, word.into(), m), m)
    })
}

/// Returns a·w mod m, for a below m and w up to 2⁶⁴, by long division: parts of the quotient are guessed from below.
fn times_word(a: &Number, w: u128, m: &Number) -> Number {
    let mut product = [0; 5];
    for k in 0..4 {
        let word = u128::from(a[k]) * w + u128::from(product[k]);
        (product[k], product[k + 1]) = low_and_high(word);
    }
    let top = (0..4).rposition(|k| m[k] != 0).expect("a modulus");
    loop {
        let two_words = u128::from(product[top + 1]) << 64 | u128::from(product[top]);
        let q = two_words / (u128::from(m[top]) + 1);
        if q == 0 {
            break;
        }
        let mut carry = 0;
        for (word, of_m) in product.iter_mut().zip(m.iter().chain(&[0])) {
            let (low, high) = low_and_high(q * u128::from(*of_m) + u128::from(carry));
            let (difference, borrow) = word.overflowing_sub(low);
            (*word, carry) = (difference, high + u64::from(borrow));
        }
    }
    // The top word is not above that of m.
    let [mut rest @ .., _] = product;
    while !less(&rest, m) {
        rest = without_borrow(&rest, m);
    }
    rest
}

fn low_and_high(x: u128) -> (u64, u64) {
    let [low, high] = [x & u128::from(u64::MAX), x >> 64].map(|half| half.try_into());
    (low.expect("a word"), high.expect("a word"))
}

/// Returns a^e mod p.
fn power(a: &Number, e: &Number) -> Number {
    bits(e).fold(ONE, |power, bit| {
        let square = multiply(&power, &power, &P);
        if bit { multiply(&square, a, &P) } else { square }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hex;

    /// The base point of the standard.
    fn generator() -> Point {
        let mut bytes = vec![3];
        let x = "6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296";
        bytes.extend((0..32).map(|k| u8::from_str_radix(&x[2 * k..2 * k + 2], 16).expect("hex")));
        Point::decode(&bytes).expect("on the curve")
    }

    #[test]
    fn multiples_of_the_base_point_match_published_values() {
        let g = generator();
        // From the point multiplication vectors for NIST curves, k = 2 and k = 10.
        let known = [
            (2, "037cf27b188d034f7e8a52380304b51ac3c08969e277f21b35a60b48fc47669978"),
            (10, "03cef66d6b2a3a993e591214d1ea223fb545ca6c471c48306e4c36069404c5723f"),
        ];
        for (k, expected) in known {
            assert_eq!(hex(&g.times(&[k, 0, 0, 0]).encode()), expected, "{k}");
        }
        assert_eq!(g.times(&ORDER).z, ZERO);
        let mut minus_one = ORDER;
        minus_one[0] -= 1;
        let negative = g.times(&minus_one).encode();
        assert_eq!(negative[1..], g.encode()[1..]);
        assert_ne!(negative[0], g.encode()[0]);
    }

    #[test]
    fn products_are_sums_of_doublings() {
        for m in [P, ORDER, crate::ristretto::P, [u64::MAX, 0, 9, 0]] {
            let minus_one = without_borrow(&m, &ONE);
            let below = [ZERO, ONE, minus_one, [u64::MAX, 0, 8, 0]];
            let any = [ZERO, ONE, minus_one, [u64::MAX, 7, 0, 1 << 63], [u64::MAX; 4]];
            for (a, b) in below.iter().flat_map(|a| any.map(|b| (a, b))) {
                let sum = bits(&b).fold(ZERO, |product, bit| {
                    let twice = add(&product, &product, &m);
                    if bit { add(&twice, a, &m) } else { twice }
                });
                assert_eq!(multiply(a, &b, &m), sum, "{a:x?} {b:x?} {m:x?}");
            }
        }
    }

    #[test]
    fn multiplication_distributes() {
        let g = generator();
        let (a, b) = (scalar(&[7; 48]), scalar(&[0xfe; 48]));
        let sum = g.times(&a).plus(&g.times(&b));
        assert_eq!(sum.encode(), g.times(&add(&a, &b, &ORDER)).encode());
        let product = g.times(&a).times(&b);
        assert_eq!(product.encode(), g.times(&multiply(&a, &b, &ORDER)).encode());
    }

    #[test]
    fn encodings_are_strict() {
        let bytes = generator().encode();
        for tag in [0, 1, 4, 5] {
            assert!(Point::decode(&[&[tag], &bytes[1..]].concat()).is_none());
        }
        assert!(Point::decode(&[&[2][..], &[0xff; 32]].concat()).is_none());
    }
}
