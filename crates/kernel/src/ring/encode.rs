//! Packed bits, rounding, hints: plain Rust for every backend.

/// Writes the low BITS bits of each value one after another, least significant first.
///
/// The number of values is a multiple of 8, and `bytes` has BITS bytes for each eight.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn pack<const BITS: usize>(values: &[u16], bytes: &mut [u8]) {
    const { assert!(BITS <= 16) };
    assert_eq!(values.len() / 8 * BITS, bytes.len());
    for (values, bytes) in values.as_chunks::<8>().0.iter().zip(bytes.as_chunks_mut().0) {
        if cfg!(small) {
            pack_eight::<BITS>(values, bytes);
            continue;
        }
        let mut word = 0u128;
        for (k, &value) in values.iter().enumerate() {
            word |= u128::from(value) << (BITS * k);
        }
        bytes.copy_from_slice(&word.to_le_bytes()[..BITS]);
    }
}

/// The inverse of [`pack`]: every value is below 2^BITS.
#[cfg_attr(not(unoptimized), inline(always))]
#[expect(clippy::cast_possible_truncation, reason = "masked to BITS bits")]
pub(super) fn unpack<const BITS: usize>(bytes: &[u8], values: &mut [u16]) {
    const { assert!(BITS <= 16) };
    assert_eq!(values.len() / 8 * BITS, bytes.len());
    let mask = u16::MAX >> (16 - BITS);
    for (values, bytes) in values.as_chunks_mut::<8>().0.iter_mut().zip(bytes.as_chunks().0) {
        if cfg!(small) {
            unpack_eight::<BITS>(bytes, values);
            continue;
        }
        let mut buffer = [0; 16];
        buffer[..BITS].copy_from_slice(bytes);
        let word = u128::from_le_bytes(buffer);
        for (k, value) in values.iter_mut().enumerate() {
            *value = (word >> (BITS * k)) as u16 & mask;
        }
    }
}

/// [`pack`] of eight values, in words: a machine with few registers has no 128 bits. Written out, as such a machine's code is
/// compiled for size, without unrolling.
#[inline(always)]
fn pack_eight<const BITS: usize>(values: &[u16; 8], bytes: &mut [u8; BITS]) {
    let [a, b, c, d, e, f, g, h] = *values;
    let mut words = [0; 4];
    put::<BITS, 0>(a, &mut words);
    put::<BITS, 1>(b, &mut words);
    put::<BITS, 2>(c, &mut words);
    put::<BITS, 3>(d, &mut words);
    put::<BITS, 4>(e, &mut words);
    put::<BITS, 5>(f, &mut words);
    put::<BITS, 6>(g, &mut words);
    put::<BITS, 7>(h, &mut words);
    store::<BITS, 0>(&words, bytes);
    store::<BITS, 1>(&words, bytes);
    store::<BITS, 2>(&words, bytes);
    store::<BITS, 3>(&words, bytes);
}

#[inline(always)]
fn unpack_eight<const BITS: usize>(bytes: &[u8; BITS], values: &mut [u16; 8]) {
    let words = [
        load::<BITS, 0>(bytes),
        load::<BITS, 1>(bytes),
        load::<BITS, 2>(bytes),
        load::<BITS, 3>(bytes),
    ];
    *values = [
        get::<BITS, 0>(&words),
        get::<BITS, 1>(&words),
        get::<BITS, 2>(&words),
        get::<BITS, 3>(&words),
        get::<BITS, 4>(&words),
        get::<BITS, 5>(&words),
        get::<BITS, 6>(&words),
        get::<BITS, 7>(&words),
    ];
}

/// Adds the value of place K.
#[inline(always)]
const fn put<const BITS: usize, const K: usize>(value: u16, words: &mut [u32; 4]) {
    let (at, shift) = (BITS * K / 32, BITS * K % 32);
    words[at] |= (value as u32) << shift;
    if shift + BITS > 32 {
        words[at + 1] |= value as u32 >> (32 - shift);
    }
}

/// The value of place K.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "masked to BITS bits")]
const fn get<const BITS: usize, const K: usize>(words: &[u32; 4]) -> u16 {
    let (at, shift) = (BITS * K / 32, BITS * K % 32);
    let mut word = words[at] >> shift;
    if shift + BITS > 32 {
        word |= words[at + 1] << (32 - shift);
    }
    word as u16 & (u16::MAX >> (16 - BITS))
}

/// Stores word I, as far as it has bytes.
#[inline(always)]
fn store<const BITS: usize, const I: usize>(words: &[u32; 4], bytes: &mut [u8; BITS]) {
    let word = words[I].to_le_bytes();
    if 4 * I + 4 <= BITS {
        bytes[4 * I..][..4].copy_from_slice(&word);
        return;
    }
    if 4 * I < BITS {
        bytes[4 * I] = word[0];
    }
    if 4 * I + 1 < BITS {
        bytes[4 * I + 1] = word[1];
    }
    if 4 * I + 2 < BITS {
        bytes[4 * I + 2] = word[2];
    }
}

/// Word I, as far as there are bytes.
#[inline(always)]
fn load<const BITS: usize, const I: usize>(bytes: &[u8; BITS]) -> u32 {
    if let Some(word) = bytes.as_chunks().0.get(I) {
        return u32::from_le_bytes(*word);
    }
    let byte = |k: usize| if 4 * I + k < BITS { bytes[4 * I + k] } else { 0 };
    u32::from_le_bytes([byte(0), byte(1), byte(2), 0])
}

/// ⌊(2^BITS·x + ⌊Q/2⌋)/Q⌋ mod 2^BITS for x < Q, without a division: x may be secret.
#[cfg_attr(not(unoptimized), inline(always))]
#[expect(clippy::cast_possible_truncation, reason = "masked to BITS bits")]
pub(super) fn round<const Q: u16, const BITS: usize>(x: u16) -> u16 {
    // Exact, as a test checks for every x: the error of the reciprocal is below 2⁻⁴⁰, that of the
    // quotient below 2⁻¹⁴ for numerators below 2²⁶, and a quotient that is not whole is at least
    // 1/Q > 2⁻¹⁴ from the next whole number.
    const { assert!(BITS <= 13 && Q < 1 << 13 || BITS <= 12 && Q < 1 << 14) };
    // Both factors have 32 bits, for machines of as many.
    let reciprocal = const { ((1u64 << 40) / Q as u64 + 1) as u32 };
    let numerator = (u32::from(x) << BITS) + u32::from(Q / 2);
    ((u64::from(numerator) * u64::from(reciprocal)) >> 40) as u16 & (u16::MAX >> (16 - BITS))
}

/// ⌊(Q·y + 2^(BITS−1))/2^BITS⌋ for y < 2^BITS.
#[cfg_attr(not(unoptimized), inline(always))]
#[expect(clippy::cast_possible_truncation, reason = "below Q")]
pub(super) const fn unround<const Q: u16, const BITS: usize>(y: u16) -> u16 {
    ((Q as u32 * y as u32 + (1 << (BITS - 1))) >> BITS) as u16
}

/// 1 iff low < x ≤ high, for arguments below 2¹⁵.
#[cfg_attr(not(unoptimized), inline(always))]
const fn within(x: u16, low: u16, high: u16) -> u16 {
    // Bit 15 of a difference of numbers below 2¹⁵ is its sign.
    (low.wrapping_sub(x) & x.wrapping_sub(high + 1)) >> 15
}

/// The key bit at x without a hint: whether x lies in the half of Z_Q around Q/2.
#[cfg_attr(not(unoptimized), inline(always))]
const fn half<const Q: u16>(x: u16) -> u16 {
    let e = (Q - 1) / 8;
    within(x, 2 * e, 6 * e)
}

/// Returns the index of the partition of Z_Q, of two, that has its borders far from x.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) const fn hint<const Q: u16>(x: u16) -> u16 {
    const { assert!(Q % 8 == 1) };
    let e = (Q - 1) / 8;
    // The key bit changes at 2e and 6e without the hint, and at 0 and 4e with it. The hint is set
    // within e of 2e or 6e, so the nearest change is about e = Q/8 away or further.
    within(x, e, 3 * e) | within(x, 5 * e, 7 * e)
}

/// The key bit at x under a hint of 0 or 1.
#[cfg_attr(not(unoptimized), inline(always))]
pub(super) fn key_bit<const Q: u16>(x: u16, hint: u16) -> u16 {
    half::<Q>(super::field::add::<Q>(x, hint * ((Q - 1) / 4)))
}

/// One bit per coefficient, least significant first.
#[cfg_attr(not(unoptimized), inline(always))]
#[expect(clippy::cast_possible_truncation, reason = "eight bits")]
pub(super) fn pack_bits(bits: impl Fn(usize) -> u16, bytes: &mut [u8]) {
    for (i, byte) in bytes.iter_mut().enumerate() {
        *byte = (0..8).fold(0, |byte, k| byte | bits(8 * i + k) << k) as u8;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_is_exact_for_every_coefficient() {
        fn check<const Q: u16, const BITS: usize>() {
            for x in 0..Q {
                let exact = ((u32::from(x) << BITS) + u32::from(Q / 2)) / u32::from(Q);
                assert_eq!(u32::from(round::<Q, BITS>(x)), exact % (1 << BITS), "{x}");
            }
            for y in 0..1 << BITS {
                assert!(unround::<Q, BITS>(y) < Q);
                assert_eq!(round::<Q, BITS>(unround::<Q, BITS>(y)), y);
            }
        }
        check::<7681, 11>();
        check::<7681, 10>();
        check::<13313, 11>();
        check::<13313, 12>();
    }

    /// The samples of `crates/ot/tests/vectors/roted.json`, which `reference/` generated.
    #[test]
    fn samples_are_rounded_and_unrounded_as_in_the_test_vectors() {
        let samples = [[0, 0, 0], [1, 0, 0], [2, 1, 4], [5, 1, 4], [6, 2, 8], [3839, 1024, 3841]];
        let others = [[3840, 1024, 3841], [3841, 1024, 3841], [7677, 2047, 7677]];
        let last = [[7678, 2047, 7677], [7679, 2047, 7677], [7680, 0, 0]];
        for [x, rounded, back] in samples.into_iter().chain(others).chain(last) {
            assert_eq!(round::<7681, 11>(x), rounded);
            assert_eq!(unround::<7681, 11>(rounded), back);
        }
    }

    #[test]
    fn both_sides_agree_on_the_bit_when_they_are_close() {
        fn check<const Q: u16>() {
            let tolerance = Q / 8;
            for x in 0..Q {
                let h = hint::<Q>(x);
                for d in [0, 1, tolerance / 2, tolerance] {
                    for y in [(x + d) % Q, (x + Q - d) % Q] {
                        assert_eq!(key_bit::<Q>(y, h), key_bit::<Q>(x, h), "{x} {y}");
                    }
                }
            }
        }
        check::<7681>();
        check::<13313>();
        // And no further.
        assert_ne!(
            key_bit::<7681>(960 + 961, hint::<7681>(960)),
            key_bit::<7681>(960, hint::<7681>(960))
        );
    }

    #[test]
    fn the_hint_hides_the_bit() {
        for h in [0, 1] {
            let ones = (0..7681).filter(|&x| hint::<7681>(x) == h && key_bit::<7681>(x, h) == 1);
            let all = (0..7681).filter(|&x| hint::<7681>(x) == h);
            // 3841 values have hint 0, the odd one of them bit 0; 3840 have hint 1.
            assert_eq!((ones.count(), all.count()), (1920, 3841 - usize::from(h)));
        }
    }

    /// The paper's Sig and Mod₂ (with its coin at 0), which act on 2x.
    #[test]
    fn hint_and_bit_are_the_papers_signal_and_parity() {
        fn centred(x: i32, q: i32) -> i32 {
            let x = x.rem_euclid(q);
            if x > q / 2 { x - q } else { x }
        }
        for x in 0..7681u16 {
            let k = centred(2 * i32::from(x), 7681);
            let signal = i32::from(k.abs() > 7681 / 4);
            let parity = centred(k + signal * 3840, 7681).rem_euclid(2);
            assert_eq!(i32::from(hint::<7681>(x)), signal);
            assert_eq!(i32::from(key_bit::<7681>(x, hint::<7681>(x))), parity);
        }
    }
}
