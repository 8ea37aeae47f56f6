//! QEMU's mps2-an386: an ARM Cortex-M4 with the CMSDK's serial port.

use core::arch::{asm, global_asm};

/// The name in reports.
pub const NAME: &str = "Cortex-M4 (mps2-an386)";

global_asm!(
    ".section .vectors, \"a\"",
    ".word __stack_start",
    ".word reset",
    // Faults end in a loop: the watchdog of a board resets it.
    ".rept 14",
    ".word fault",
    ".endr",
    ".section .text.reset, \"ax\"",
    ".global reset",
    ".thumb_func",
    "reset:",
    // Enables the floating-point unit, whose registers the compiler uses.
    "ldr r0, =0xe000ed88",
    "ldr r1, [r0]",
    "orr r1, r1, #0xf00000",
    "str r1, [r0]",
    "dsb",
    "isb",
    "bl start",
    ".thumb_func",
    "fault:",
    "movs r0, #0x18",
    "ldr r1, =0x20024",
    "bkpt 0xab",
    "b fault",
);

const UART: *mut u32 = 0x4000_4000 as *mut u32;
const SYSTICK: *mut u32 = 0xe000_e010 as *mut u32;

/// Starts the serial port and the counter.
pub fn prepare() {
    // SAFETY: the registers of the machine's serial port: baud divider, transmitter and receiver on; and of SysTick:
    // the longest period, the processor's clock.
    unsafe {
        UART.add(4).write_volatile(16);
        UART.add(2).write_volatile(3);
        SYSTICK.add(1).write_volatile(0x00ff_ffff);
        SYSTICK.add(2).write_volatile(0);
        SYSTICK.write_volatile(5);
    }
}

/// A byte from the serial port, if there is one.
pub fn read() -> Option<u8> {
    // SAFETY: STATE and DATA of the serial port.
    unsafe { (UART.add(1).read_volatile() & 2 != 0).then(|| UART.read_volatile() as u8) }
}

/// Puts a byte to the serial port; false if it is busy.
pub fn write(byte: u8) -> bool {
    // SAFETY: STATE and DATA of the serial port.
    unsafe {
        let free = UART.add(1).read_volatile() & 1 == 0;
        if free {
            UART.write_volatile(byte.into());
        }
        free
    }
}

/// Instructions so far, modulo 2²⁴·40. QEMU counts one nanosecond for each (`-icount shift=0`), and SysTick runs at 25 MHz.
pub fn instructions() -> u32 {
    // SAFETY: the counter of SysTick, which counts down.
    (0x00ff_ffff - unsafe { SYSTICK.add(2).read_volatile() }) * 40
}

/// Instructions since an earlier count.
pub fn since(earlier: u32) -> u32 {
    (instructions() + (40 << 24) - earlier) % (40 << 24)
}

/// The clock's ticks, and how many make a millisecond. Without `-icount` they follow the host's clock.
pub const TICKS_PER_MILLISECOND: u32 = 25_000;

/// The ticks between an earlier count and now, which is less than 2²⁴ ticks later.
pub fn ticks_since(earlier: &mut u32) -> u32 {
    // SAFETY: the counter of SysTick, which counts down.
    let now = 0x00ff_ffff - unsafe { SYSTICK.add(2).read_volatile() };
    let passed = now.wrapping_sub(*earlier) & 0x00ff_ffff;
    *earlier = now;
    passed
}

/// The stack pointer.
#[inline(always)]
pub fn stack_pointer() -> usize {
    let sp;
    // SAFETY: reads a register.
    unsafe { asm!("mov {}, sp", out(reg) sp, options(nomem, nostack)) };
    sp
}

/// Calls the host (semihosting).
pub fn semihost(operation: usize, argument: usize) -> usize {
    let mut result = operation;
    // SAFETY: QEMU takes the breakpoint as a call, which reads what the argument points to.
    unsafe { asm!("bkpt 0xab", inout("r0") result, in("r1") argument, options(nostack)) };
    result
}
