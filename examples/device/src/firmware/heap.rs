//! The heap: one static array, first fit.

use core::{
    alloc::{GlobalAlloc, Layout},
    cell::UnsafeCell,
    ptr,
    sync::atomic::{AtomicUsize, Ordering},
};

use spin::Mutex;

/// Bytes of a block's head, and the least alignment of a block.
const HEAD: usize = 8;
/// The bit of a head that says that the block is in use. Sizes are multiples of 8.
const USED: usize = 1;

/// A heap of so many bytes, a multiple of 8.
#[repr(C, align(8))]
pub struct Heap<const SIZE: usize> {
    room: UnsafeCell<[u8; SIZE]>,
    /// Bytes from the beginning that have a head so far: none before the first call.
    lock: Mutex<bool>,
    /// The end of the farthest block since the last [`Heap::forget_peak`].
    peak: AtomicUsize,
}

// SAFETY: the room is accessed under the lock only, and each block by its owner.
unsafe impl<const SIZE: usize> Sync for Heap<SIZE> {}

impl<const SIZE: usize> Heap<SIZE> {
    /// An empty heap.
    pub const fn new() -> Self {
        const { assert!(SIZE.is_multiple_of(HEAD) && SIZE > HEAD) };
        Self {
            room: UnsafeCell::new([0; SIZE]),
            lock: Mutex::new(false),
            peak: AtomicUsize::new(0),
        }
    }

    /// The end of the farthest block since [`Heap::forget_peak`], in bytes from the heap's beginning.
    pub fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    /// Measures the peak from now on.
    pub fn forget_peak(&self) {
        self.peak.store(0, Ordering::Relaxed);
    }

    /// # Safety
    /// The lock is held, and `at` is the beginning of a block.
    unsafe fn head(&self, at: usize) -> usize {
        // SAFETY: a block's head lies in the room and is aligned, as all sizes are multiples of 8.
        unsafe { self.room.get().cast::<u8>().add(at).cast::<usize>().read() }
    }

    /// # Safety
    /// The lock is held, and the head lies in the room, in no block in use.
    unsafe fn set_head(&self, at: usize, head: usize) {
        // SAFETY: as of `head`.
        unsafe { self.room.get().cast::<u8>().add(at).cast::<usize>().write(head) }
    }
}

// SAFETY: blocks are disjoint, aligned and long enough: `alloc` cuts them from free blocks that follow one another from
// the beginning of the room to its end, under the lock.
unsafe impl<const SIZE: usize> GlobalAlloc for Heap<SIZE> {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let mut ready = self.lock.lock();
        let base = self.room.get().cast::<u8>();
        let (size, align) = (layout.size().next_multiple_of(HEAD), layout.align().max(HEAD));
        // SAFETY: the lock is held, and `at` goes from block to block.
        unsafe {
            if !*ready {
                self.set_head(0, SIZE);
                *ready = true;
            }
            let mut at = 0;
            while at < SIZE {
                let mut len = self.head(at);
                if len & USED != 0 {
                    at += len & !USED;
                    continue;
                }
                // Free blocks that follow are one with it.
                while at + len < SIZE && self.head(at + len) & USED == 0 {
                    len += self.head(at + len);
                }
                self.set_head(at, len);
                // The block's head stands before it, and what is left before that is a free block or nothing.
                let mut start = (base as usize + at + HEAD).next_multiple_of(align) - base as usize;
                while start - HEAD != at && start - HEAD - at < HEAD {
                    start += align;
                }
                let end = start + size;
                if end <= at + len {
                    if start - HEAD > at {
                        self.set_head(at, start - HEAD - at);
                    }
                    let mut mine = end - (start - HEAD);
                    match at + len - end {
                        rest @ 1.. => self.set_head(end, rest),
                        rest => mine += rest,
                    }
                    self.set_head(start - HEAD, mine | USED);
                    self.peak.fetch_max(end, Ordering::Relaxed);
                    return base.add(start);
                }
                at += len;
            }
        }
        ptr::null_mut()
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        let _ready = self.lock.lock();
        let at = block as usize - self.room.get() as usize - HEAD;
        // SAFETY: the lock is held, and the caller gives back a block that `alloc` made.
        unsafe { self.set_head(at, self.head(at) & !USED) };
    }
}
