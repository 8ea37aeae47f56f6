//! Keeping memory that was freed.

use std::hint::black_box;

/// The most for which glibc raises its thresholds, a little less for what it adds.
const LARGEST: usize = (32 << 20) - (64 << 10);

/// Lets batches after the first find their buffers in the process instead of asking the kernel for
/// pages again: a page fault costs more than what is computed on a page.
///
/// glibc gives blocks of 128 KiB back at once and the end of its heap soon after, unless a larger
/// block was freed before; so one is freed here, of which no page was ever touched. Elsewhere this
/// does nothing.
pub(crate) fn keep_what_is_freed() {
    drop(black_box(Vec::<u8>::with_capacity(LARGEST)));
}
