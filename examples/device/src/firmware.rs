//! Start-up, heap, semihosting, the panic handler and the measuring of the stack, for both images.

#![allow(dead_code, reason = "no image uses all of it")]

#[cfg_attr(target_arch = "arm", path = "firmware/mps2_an386.rs")]
#[cfg_attr(target_arch = "riscv32", path = "firmware/virt.rs")]
pub mod machine;

#[path = "firmware/heap.rs"]
pub mod heap;

use core::{
    panic::PanicInfo,
    ptr,
    sync::atomic::{AtomicUsize, Ordering},
};

/// The pattern that fills the stack before it is used.
const UNUSED: u32 = 0x5afe_5afe;

unsafe extern "C" {
    static mut __bss_start: u32;
    static mut __bss_end: u32;
    static mut __data_start: u32;
    static mut __data_end: u32;
    static __data_load: u32;
    static mut __stack_end: u32;
    static mut __stack_start: u32;
    fn image() -> !;
}

/// Prepares memory and calls the image.
#[unsafe(no_mangle)]
unsafe extern "C" fn start() -> ! {
    // SAFETY: the linker script gives these addresses, aligned, and nothing has run before.
    unsafe {
        let (mut to, mut from) = (&raw mut __data_start, &raw const __data_load);
        while to < &raw mut __data_end {
            to.write_volatile(from.read_volatile());
            (to, from) = (to.add(1), from.add(1));
        }
        let mut to = &raw mut __bss_start;
        while to < &raw mut __bss_end {
            to.write_volatile(0);
            to = to.add(1);
        }
        machine::prepare();
        image()
    }
}

/// The lowest address that was painted.
static BOTTOM: AtomicUsize = AtomicUsize::new(0);

/// Fills the unused part of the stack, at most the nearest 128 KiB.
#[inline(never)]
pub fn paint_stack() {
    let here = machine::stack_pointer() - 64;
    let bottom = (here - (128 << 10)).max(&raw const __stack_end as usize);
    BOTTOM.store(bottom, Ordering::Relaxed);
    // SAFETY: below the stack pointer there is nothing, down to the end of the static variables.
    unsafe {
        let mut at = bottom as *mut u32;
        while (at as usize) < here {
            at.write_volatile(UNUSED);
            at = at.add(1);
        }
    }
}

/// Bytes of stack below the caller's frame that have been used since [`paint_stack`].
#[inline(never)]
pub fn used_stack() -> usize {
    let here = machine::stack_pointer();
    // SAFETY: the stack's memory is readable.
    unsafe {
        let mut at = BOTTOM.load(Ordering::Relaxed) as *const u32;
        while (at as usize) < here && at.read_volatile() == UNUSED {
            at = at.add(1);
        }
        here - at as usize
    }
}

/// Bytes of static variables, the heap's among them.
pub fn static_bytes() -> usize {
    (&raw const __bss_end as usize) - (&raw const __data_start as usize)
}

/// The arguments that the emulator was started with, separated by spaces.
pub fn arguments(buffer: &mut [u8]) -> &[u8] {
    let mut block = [buffer.as_mut_ptr() as usize, buffer.len()];
    // SYS_GET_CMDLINE takes the address and length of a buffer, and sets the length.
    let failed = machine::semihost(0x15, (&raw mut block) as usize);
    let len = if failed == 0 { block[1].min(buffer.len()) } else { 0 };
    buffer[..len].split(|&it| it == 0).next().unwrap_or_default()
}

/// Prints text for the host, by semihosting.
pub fn print(text: &[u8]) {
    for byte in text {
        // SYS_WRITEC takes the address of a character.
        machine::semihost(3, ptr::from_ref(byte) as usize);
    }
}

/// Prints numbers with commas in between, and ends the line.
pub fn print_numbers(numbers: &[u32]) {
    for (k, &number) in numbers.iter().enumerate() {
        if k > 0 {
            print(b",");
        }
        let mut digits = [0; 10];
        print(decimal(number, &mut digits));
    }
    print(b"\n");
}

/// The digits of a number.
pub fn decimal(mut number: u32, digits: &mut [u8; 10]) -> &[u8] {
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break &digits[at..];
        }
    }
}

/// Ends the emulator.
pub fn exit(success: bool) -> ! {
    // SYS_EXIT with ADP_Stopped_ApplicationExit or ADP_Stopped_InternalError.
    machine::semihost(0x18, if success { 0x20026 } else { 0x20024 });
    loop {
        core::hint::spin_loop();
    }
}

#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    // Without the message: formatting it takes as much flash as the protocol.
    exit(false)
}
