//! Large buffers in memory.

/// Asks the processor for the memory of a value that is soon read or written. It is a hint: nothing else depends on it.
#[inline(always)]
#[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "nothing to ask"))]
pub fn prefetch<T>(value: &T) {
    #[cfg(target_arch = "x86_64")]
    #[allow(unsafe_code, reason = "an instruction of the baseline")]
    // SAFETY: the instruction is part of SSE, which every x86-64 processor has. It reads nothing; any address will do.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(core::ptr::from_ref(value).cast());
    }
}

/// Views elements as strings of 16 bytes, the least first, in place. Where numbers begin with the greatest byte this exchanges the
/// elements' bytes: they are read back by [`u128::from_le`], and it must not be called twice.
#[must_use]
#[allow(unsafe_code, reason = "the same memory by another type")]
pub fn strings(elements: &mut [u128]) -> &mut [[u8; 16]] {
    elements.iter_mut().for_each(|element| *element = element.to_le());
    // SAFETY: the length in bytes is the same, any bytes are a value of either type, and `[u8; 16]` has alignment 1.
    unsafe { core::slice::from_raw_parts_mut(elements.as_mut_ptr().cast(), elements.len()) }
}

/// Asks the system for huge pages under a buffer of 4 MiB or more, best before its first use. It is a hint for Linux: the
/// contents stay, and nothing else depends on it.
#[cfg_attr(
    not(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64"))),
    expect(unused_variables, reason = "no request is known")
)]
pub fn prefer_huge_pages<T>(buffer: &mut [T]) {
    #[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
    {
        // The largest page without the advice.
        const PAGE: usize = 1 << 16;
        const FROM: usize = 4 << 20;
        if size_of_val(buffer) < FROM {
            return;
        }
        let start = buffer.as_ptr().addr();
        let end = (start + size_of_val(buffer)) / PAGE * PAGE;
        let start = start.next_multiple_of(PAGE);
        if let Some(len @ 1..) = end.checked_sub(start) {
            advise(start, len);
        }
    }
}

#[cfg(all(target_os = "linux", any(target_arch = "x86_64", target_arch = "aarch64")))]
#[allow(unsafe_code, reason = "a request to the system is an instruction")]
fn advise(start: usize, len: usize) {
    /// The advice, from `mman-common.h`.
    const MADV_HUGEPAGE: usize = 14;
    // SAFETY: the advice changes which pages hold the bytes, never the bytes; the pages are the buffer's alone. A system
    // that does not know it returns an error, and does nothing. The call changes no other registers.
    #[cfg(target_arch = "x86_64")]
    unsafe {
        core::arch::asm!(
            "syscall",
            inlateout("rax") 28 => _,
            in("rdi") start,
            in("rsi") len,
            in("rdx") MADV_HUGEPAGE,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack),
        );
    }
    // SAFETY: as above.
    #[cfg(target_arch = "aarch64")]
    unsafe {
        core::arch::asm!(
            "svc #0",
            inlateout("x0") start => _,
            in("x1") len,
            in("x2") MADV_HUGEPAGE,
            in("x8") 233,
            options(nostack),
        );
    }
}

#[cfg(test)]
mod tests {
    extern crate std;
    use std::vec;

    use super::*;

    #[test]
    fn strings_are_the_elements_bytes() {
        let all = [0, 1, u128::MAX - 7, 0x0102_0304_0506_0708_090a_0b0c_0d0e_0f10];
        let expected = all.map(u128::to_le_bytes);
        assert_eq!(strings(&mut all.clone()), expected);
        assert!(strings(&mut []).is_empty());
    }

    #[test]
    fn the_contents_of_a_buffer_stay() {
        for len in [0, 4096, (4 << 20) - 1, 4 << 20, 5 << 20] {
            let mut buffer = vec![0x5a; len];
            prefer_huge_pages(&mut buffer);
            assert!(buffer.iter().all(|&byte| byte == 0x5a));
        }
    }
}
