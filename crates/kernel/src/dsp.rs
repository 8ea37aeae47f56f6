//! The packed 16-bit instructions of 32-bit ARM: ARMv6 and later, and Cortex-M4 and later. A word holds two signed lanes, the
//! one of the lower index in its lower half.
//!
//! Each function is one instruction, or two that belong together: `core::arch` has none of them in stable Rust. The build
//! script sets the `dsp` configuration for targets that have them all.

use core::arch::asm;

/// Writes a function of registers.
macro_rules! instruction {
    ($(#[$doc:meta])* $name:ident($($argument:ident),+) = $($line:literal),+) => {
        $(#[$doc])*
        #[allow(unsafe_code, reason = "an instruction without an intrinsic")]
        #[inline(always)]
        pub(crate) fn $name($($argument: u32),+) -> u32 {
            let result: u32;
            // SAFETY: the target has the instruction, as the build script knows; it reads and writes registers and flags
            // only, and `asm!` takes flags as changed.
            unsafe {
                asm!(
                    $($line),+,
                    result = lateout(reg) result,
                    $($argument = in(reg) $argument),+,
                    options(pure, nomem, nostack),
                );
            }
            result
        }
    };
}

instruction! {
    /// The upper 32 of 48 bits of a·(lower lane of b), mod 2³².
    smulwb(a, b) = "smulwb {result}, {a}, {b}"
}
instruction! {
    /// The upper 32 of 48 bits of a·(upper lane of b), mod 2³².
    smulwt(a, b) = "smulwt {result}, {a}, {b}"
}
instruction! {
    /// (lower lane of a)·(lower lane of b) + c.
    smlabb(a, b, c) = "smlabb {result}, {a}, {b}, {c}"
}
instruction! {
    /// (upper lane of a)·(upper lane of b) + c.
    smlatt(a, b, c) = "smlatt {result}, {a}, {b}, {c}"
}
instruction! {
    /// Sums lane by lane.
    add(a, b) = "uadd16 {result}, {a}, {b}"
}
instruction! {
    /// Differences lane by lane.
    sub(a, b) = "usub16 {result}, {a}, {b}"
}
instruction! {
    /// The upper lanes: of b below, of a above.
    uppers(a, b) = "pkhtb {result}, {a}, {b}, asr #16"
}
instruction! {
    /// The lower lanes: of a below, of b above.
    lowers(a, b) = "pkhbt {result}, {a}, {b}, lsl #16"
}

/// Bit K of the upper lane, in all bits.
#[allow(unsafe_code, reason = "an instruction that the compiler would take back for a condition")]
#[inline(always)]
pub(crate) fn spread<const K: usize>(a: u32) -> u32 {
    let result: u32;
    // SAFETY: as of the other instructions. K is less than 16.
    unsafe {
        asm!(
            "sbfx {result}, {a}, #16 + {bit}, #1",
            result = lateout(reg) result,
            a = in(reg) a,
            bit = const K,
            options(pure, nomem, nostack),
        );
    }
    result
}

/// Adds q to negative lanes.
#[allow(unsafe_code, reason = "instructions without intrinsics")]
#[inline(always)]
pub(crate) fn canonical(a: u32, q: u32) -> u32 {
    let result: u32;
    // SAFETY: as of the other instructions. The sum is written before `a` is read last, so that it has a register of its
    // own; `sel` takes the lanes of `a` where the subtraction of zero found them not negative.
    unsafe {
        asm!(
            "uadd16 {sum}, {a}, {q}",
            "ssub16 {result}, {a}, {zero}",
            "sel {result}, {a}, {sum}",
            sum = out(reg) _,
            result = out(reg) result,
            a = in(reg) a,
            q = in(reg) q,
            zero = in(reg) 0,
            options(pure, nomem, nostack),
        );
    }
    result
}

/// A word of two lanes.
#[allow(unsafe_code, reason = "one load instead of two")]
#[inline(always)]
pub(crate) fn word(lanes: [u16; 2]) -> u32 {
    // SAFETY: both types have four bytes, and every value is valid.
    unsafe { core::mem::transmute(lanes) }
}

/// The inverse of [`word`].
#[allow(unsafe_code, reason = "one store instead of two")]
#[inline(always)]
pub(crate) fn lanes(word: u32) -> [u16; 2] {
    // SAFETY: both types have four bytes, and every value is valid.
    unsafe { core::mem::transmute(word) }
}
