//! Checks that compiled code is constant-time, by valgrind's memcheck: it reports every jump and every address
//! that depends on undefined memory, so secrets are declared undefined [Langley, ctgrind, 2010].
//!
//! Protocols say here where something that comes of secrets becomes public; that is nothing but a mark in
//! the code without the feature `memcheck`, with which `foxtrot-ct` is built.

#[cfg(feature = "memcheck")]
pub use requests::{errors, is_watching, secret};

/// These values are public from here on, whatever they come from: they have been sent, or are about to be.
#[inline(always)]
#[cfg_attr(not(feature = "memcheck"), expect(unused_variables, reason = "nothing is declared"))]
pub fn public<T>(values: &mut [T]) {
    #[cfg(feature = "memcheck")]
    requests::public(values);
}

/// A decision that is public: the peer learns it, by what comes next.
#[inline(always)]
#[must_use]
pub fn decided(mut decision: bool) -> bool {
    public(core::slice::from_mut(&mut decision));
    decision
}

#[cfg(feature = "memcheck")]
mod requests {
    #![allow(unsafe_code, reason = "a request to valgrind is an instruction sequence")]

    use core::{arch::asm, hint::black_box};

    /// Request codes from `valgrind.h` and `memcheck.h`.
    const RUNNING_ON_VALGRIND: usize = 0x1001;
    const COUNT_ERRORS: usize = 0x1201;
    const MEMCHECK: usize = (b'M' as usize) << 24 | (b'C' as usize) << 16;
    const MAKE_MEM_UNDEFINED: usize = MEMCHECK + 1;
    const MAKE_MEM_DEFINED: usize = MEMCHECK + 2;

    /// The answer to a request, 0 where no valgrind runs.
    #[cfg(target_arch = "x86_64")]
    fn request(kind: usize, address: usize, len: usize) -> usize {
        let arguments = [kind, address, len, 0, 0, 0];
        let mut answer = 0usize;
        // SAFETY: rotations of rdi by 128 bits in all and an exchange of a register with itself do
        // nothing on a processor. Valgrind takes them for a request, reads the arguments, and writes rdx. The bytes that it
        // declares are those of the caller's reference; it does not change them.
        unsafe {
            asm!(
                "rol rdi, 3",
                "rol rdi, 13",
                "rol rdi, 61",
                "rol rdi, 51",
                "xchg rbx, rbx",
                inout("rdx") answer,
                in("rax") arguments.as_ptr(),
                out("rdi") _,
            );
        }
        answer
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn request(_: usize, _: usize, _: usize) -> usize {
        0
    }

    fn declare<T>(kind: usize, values: &mut [T]) {
        let values = black_box(values);
        request(kind, values.as_mut_ptr().addr(), size_of_val(values));
        black_box(values);
    }

    /// Declares values secret: memcheck reports every branch on them, or on values computed from them.
    pub fn secret<T>(values: &mut [T]) {
        declare(MAKE_MEM_UNDEFINED, values);
    }

    pub(super) fn public<T>(values: &mut [T]) {
        declare(MAKE_MEM_DEFINED, values);
    }

    /// Returns the number of different errors so far.
    #[must_use]
    pub fn errors() -> usize {
        request(COUNT_ERRORS, 0, 0)
    }

    /// Returns true if this program runs on valgrind.
    #[must_use]
    pub fn is_watching() -> bool {
        request(RUNNING_ON_VALGRIND, 0, 0) != 0
    }
}
