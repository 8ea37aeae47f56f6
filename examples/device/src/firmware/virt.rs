//! QEMU's virt: a 32-bit RISC-V processor with an NS16550 serial port.

use core::arch::{asm, global_asm};

/// The name in reports.
pub const NAME: &str = "RISC-V rv32imac (virt)";

global_asm!(
    ".section .vectors, \"ax\"",
    ".global reset",
    "reset:",
    ".option push",
    ".option norelax",
    "la sp, __stack_start",
    ".option pop",
    "la t0, fault",
    "csrw mtvec, t0",
    "call start",
    ".align 2",
    // Faults end the emulator, by the test device.
    "fault:",
    "li t0, 0x100000",
    "li t1, 0x13333",
    "sw t1, 0(t0)",
    "j fault",
);

const UART: *mut u8 = 0x1000_0000 as *mut u8;

/// The serial port needs no preparation under QEMU.
pub fn prepare() {}

/// A byte from the serial port, if there is one.
pub fn read() -> Option<u8> {
    // SAFETY: LSR and RBR of the serial port.
    unsafe { (UART.add(5).read_volatile() & 1 != 0).then(|| UART.read_volatile()) }
}

/// Puts a byte to the serial port; false if it is busy.
pub fn write(byte: u8) -> bool {
    // SAFETY: LSR and THR of the serial port.
    unsafe {
        let free = UART.add(5).read_volatile() & 0x20 != 0;
        if free {
            UART.write_volatile(byte);
        }
        free
    }
}

/// Instructions so far, modulo 2³².
pub fn instructions() -> u32 {
    let count;
    // SAFETY: reads a counter.
    unsafe { asm!("rdinstret {}", out(reg) count, options(nomem, nostack)) };
    count
}

/// Instructions since an earlier count.
pub fn since(earlier: u32) -> u32 {
    instructions().wrapping_sub(earlier)
}

/// The clock's ticks, and how many make a millisecond.
pub const TICKS_PER_MILLISECOND: u32 = 10_000;

/// The ticks between an earlier count and now, which is less than 2³² ticks later.
pub fn ticks_since(earlier: &mut u32) -> u32 {
    // SAFETY: the low half of the machine's timer.
    let now = unsafe { (0x0200_bff8 as *const u32).read_volatile() };
    let passed = now.wrapping_sub(*earlier);
    *earlier = now;
    passed
}

/// The stack pointer.
#[inline(always)]
pub fn stack_pointer() -> usize {
    let sp;
    // SAFETY: reads a register.
    unsafe { asm!("mv {}, sp", out(reg) sp, options(nomem, nostack)) };
    sp
}

/// Calls the host (semihosting).
#[inline(never)]
pub fn semihost(operation: usize, argument: usize) -> usize {
    let mut result = operation;
    // SAFETY: QEMU takes this sequence, which lies in one page, as a call that reads what the argument points to.
    unsafe {
        asm!(
            ".balign 16",
            ".option push",
            ".option norvc",
            "slli x0, x0, 0x1f",
            "ebreak",
            "srai x0, x0, 7",
            ".option pop",
            inout("a0") result,
            in("a1") argument,
            options(nostack),
        );
    }
    result
}
