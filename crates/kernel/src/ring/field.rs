//! Arithmetic mod a 14-bit prime in 16-bit lanes.
//!
//! Every value is canonical: in `0..Q` on entry and on return.

/// Hides a value from the optimiser, which on RISC-V makes a branch of a mask with a sign.
#[inline(always)]
#[cfg(any(all(small, not(dsp)), target_arch = "riscv64"))]
#[allow(unsafe_code, reason = "there is no other way that costs nothing")]
pub(super) fn opaque(mut x: u32) -> u32 {
    // SAFETY: no instruction.
    unsafe { core::arch::asm!("/* {} */", inlateout(reg) x, options(pure, nomem, nostack)) };
    x
}

/// Returns the value: on other machines no such branch was seen.
#[inline(always)]
#[cfg(not(any(all(small, not(dsp)), target_arch = "riscv64")))]
pub(super) fn opaque(x: u32) -> u32 {
    x
}

/// Brings a value in `-Q..Q`, given mod 2¹⁶, into `0..Q`.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "the lower half")]
fn canonical<const Q: u16>(x: u16) -> u16 {
    // All ones if x is negative.
    let negative = opaque(i32::from(x.cast_signed() >> 15).cast_unsigned());
    x.wrapping_add(Q & negative as u16)
}

/// a + b mod Q.
#[inline(always)]
pub(super) fn add<const Q: u16>(a: u16, b: u16) -> u16 {
    // From −Q to Q − 2.
    canonical::<Q>(a.wrapping_add(b).wrapping_sub(Q))
}

/// a − b mod Q.
#[inline(always)]
pub(super) fn sub<const Q: u16>(a: u16, b: u16) -> u16 {
    canonical::<Q>(a.wrapping_sub(b))
}

/// x·2⁻¹⁶ mod Q for x < 2¹⁶·Q.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "takes the low and the high half")]
pub(super) fn montgomery_reduce<const Q: u16>(x: u32) -> u16 {
    // m·Q has the low half of x, so x − m·Q is 2¹⁶ times the difference of the high halves. Both
    // are below Q, as x < 2¹⁶·Q and m < 2¹⁶.
    let m = (x as u16).wrapping_mul(const { inverse_mod_2_16(Q) });
    let t = ((m as u32 * Q as u32) >> 16) as u16;
    canonical::<Q>(((x >> 16) as u16).wrapping_sub(t))
}

/// a·b·2⁻¹⁶ mod Q, where only one factor need be below Q.
#[inline(always)]
pub(super) fn montgomery_multiply<const Q: u16>(a: u16, b: u16) -> u16 {
    montgomery_reduce::<Q>(a as u32 * b as u32)
}

/// [`montgomery_multiply`] for constants.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[expect(clippy::cast_possible_truncation, reason = "a remainder mod a 16-bit number")]
pub(super) const fn montgomery_constant<const Q: u16>(a: u16, b: u16) -> u16 {
    let inverse = power::<Q>(to_montgomery::<Q>(1), Q as u64 - 2) as u64;
    (a as u64 * b as u64 % Q as u64 * inverse % Q as u64) as u16
}

/// x·2¹⁶ mod Q: the factor by which [`montgomery_multiply`] multiplies exactly by x.
#[expect(clippy::cast_possible_truncation, reason = "a remainder mod a 16-bit number")]
pub(super) const fn to_montgomery<const Q: u16>(x: u16) -> u16 {
    (((x as u32) << 16) % Q as u32) as u16
}

/// base^exponent mod Q. Only for constants: its time depends on the exponent.
#[expect(clippy::cast_possible_truncation, reason = "a remainder mod a 16-bit number")]
pub(super) const fn power<const Q: u16>(base: u16, exponent: u64) -> u16 {
    let (mut result, mut square, mut rest) = (1u32, base as u32, exponent);
    while rest > 0 {
        if rest & 1 == 1 {
            result = result * square % Q as u32;
        }
        square = square * square % Q as u32;
        rest >>= 1;
    }
    result as u16
}

/// The least primitive root of unity of that order, a power of two.
pub(super) const fn root_of_unity<const Q: u16>(order: u64) -> u16 {
    let mut candidate = 2;
    while power::<Q>(candidate, order / 2) != Q - 1 {
        candidate += 1;
    }
    candidate
}

/// q⁻¹ mod 2¹⁶ for odd q, by Newton's iteration.
pub(super) const fn inverse_mod_2_16(q: u16) -> u16 {
    let mut inverse = q; // right mod 2³
    let mut i = 0;
    while i < 3 {
        // With q·y = 1 + e, q·y·(2 − q·y) = 1 − e²: right modulo 2³, 2⁶, 2¹², 2²⁴.
        inverse = inverse.wrapping_mul(2u16.wrapping_sub(q.wrapping_mul(inverse)));
        i += 1;
    }
    assert!(q.wrapping_mul(inverse) == 1);
    inverse
}

#[cfg(test)]
mod tests {
    use super::*;

    fn special_values(q: u16) -> [u16; 9] {
        [0, 1, 2, q / 2 - 1, q / 2, q / 2 + 1, q - 2, q - 1, 3 * (q / 4)]
    }

    fn arithmetic_is_exact<const Q: u16>() {
        let q = u32::from(Q);
        for a in 0..Q {
            for b in special_values(Q) {
                let (x, y) = (u32::from(a), u32::from(b));
                assert_eq!(u32::from(add::<Q>(a, b)), (x + y) % q);
                assert_eq!(u32::from(sub::<Q>(a, b)), (x + q - y) % q);
                let product = montgomery_multiply::<Q>(a, to_montgomery::<Q>(b));
                assert_eq!(u32::from(product), x * y % q);
            }
        }
    }

    #[test]
    fn arithmetic_is_exact_on_special_values() {
        arithmetic_is_exact::<7681>();
        arithmetic_is_exact::<13313>();
    }

    #[test]
    fn reduction_is_right_up_to_its_bound() {
        for x in [0, 1, 7680, 7681, 65535, 65536, 65536 * 7681 - 1, 3 * 7680 * 7680] {
            let r = u32::from(montgomery_reduce::<7681>(x));
            assert!(r < 7681);
            assert_eq!((u64::from(r) << 16) % 7681, u64::from(x) % 7681);
        }
    }

    #[test]
    fn roots_match_the_wire_document() {
        assert_eq!(root_of_unity::<7681>(512), 62);
        assert_eq!(root_of_unity::<13313>(1024), 7);
    }
}
