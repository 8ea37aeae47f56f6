//! The types and constants of `foxtrot.h`.

use std::ffi::{c_char, c_void};

/// Bytes of an error's message, with the zero at its end.
pub const MESSAGE_SIZE: usize = 512;
/// Bytes of a fingerprint, with the zero at its end.
pub const FINGERPRINT_SIZE: usize = 64;
/// The side that opened the connection.
pub const INITIATOR: i32 = 0;
/// The side that waited for the connection.
pub const RESPONDER: i32 = 1;
/// The sender of a job.
pub const SENDER: i32 = 0;
/// The receiver of a job.
pub const RECEIVER: i32 = 1;
/// The length of a message that does not open.
pub const NOT_OPENED: usize = usize::MAX;

/// End reads, as `SHUT_RD`.
pub const CLOSE_READ: i32 = 0;
/// End writes, as `SHUT_WR`.
pub const CLOSE_WRITE: i32 = 1;
/// End both, as `SHUT_RDWR`.
pub const CLOSE_BOTH: i32 = 2;

/// A flag: protocols that give no protection against a malicious peer.
pub const SEMI_HONEST: u32 = 1;
/// A flag of PSI: also rests on dual LPN, and sends a fraction of the bytes of a large set.
pub const LPN: u32 = 2;
/// A flag of random OTs: silent OTs, which rest on LPN and send some 0.1 bytes per OT.
pub const SILENT: u32 = 4;
/// A flag of triples: from ring-LWE, for many.
pub const RLWE: u32 = 8;
/// A flag of triples: from oblivious transfer, for few.
pub const GILBOA: u32 = 16;

/// The result of a call, by the party that can do something about an error.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Done.
    Ok,
    /// The calling program asked for something that cannot be, or has no memory or no file.
    Caller,
    /// The two programs want different things: compare their calls and options.
    Agreement,
    /// The connection or its keys: try again, or look at network and fingerprints.
    Connection,
    /// The peer departed from the protocol, or says that this side did. Do not retry: an attempt may reveal something.
    Peer,
    /// Chance: try again.
    Nobody,
    /// `foxtrot_peer_cancel` was called.
    Cancelled,
    /// The library is at fault. The handle is of no use any more: free it.
    Panicked,
}

/// An error: the party to blame, and what happened, as a text in UTF-8 with a zero at its end. It has nothing to free.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Error {
    /// The status that the call also returned.
    pub status: Status,
    /// The fault, in words.
    pub message: [c_char; MESSAGE_SIZE],
}

/// Bytes of the caller: an item, or a message.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Bytes {
    /// The first byte; may be NULL if there is none.
    pub data: *const u8,
    /// The number of bytes.
    pub len: usize,
}

/// A key or a row of 16 bytes.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// The bytes.
    pub bytes: [u8; 16],
}

/// Options of a job; all zero, or NULL, are the defaults. Both sides have the same, but for the limits of items. An option
/// that a job does not have is an error.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Flags, as `FOXTROT_SEMI_HONEST`.
    pub flags: u32,
    /// The parameter k of the extension (2, 4 or 8): a larger one sends fewer bytes and computes more. 0 is the default.
    pub k: u32,
    /// The most items that the peer of PSI may have. 0 is the default: 10^8, and 2^20 for counts and sums.
    pub max_peer_keys: usize,
    /// The fewest items that the peer of PSI may have.
    pub min_peer_keys: usize,
}

/// The result of a count or sum.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    /// True unless there are fewer common items than the two sides agreed to tell.
    pub released: bool,
    /// The number of common items, if it is released.
    pub count: u64,
    /// The sum of their numbers, if it is released.
    pub sum: u64,
}

/// A reliable, ordered byte stream of the caller, which is already secret and authenticated, or on one machine. The library
/// reads in one of its threads and writes in another, at the same time. No callback may throw or call the library
/// with the peer's handle.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct Callbacks {
    /// Waits for bytes and writes up to `size` of them to `to`. Returns how many; 0 at the stream's end, -1 for an error.
    pub read: Option<unsafe extern "C" fn(context: *mut c_void, to: *mut u8, size: usize) -> isize>,
    /// Sends up to `size` bytes. Returns how many, which is not 0; -1 for an error.
    pub write:
        Option<unsafe extern "C" fn(context: *mut c_void, from: *const u8, size: usize) -> isize>,
    /// Ends the stream as `shutdown` does with the same `how`, a `FOXTROT_CLOSE_`: reads, also one that is waiting; writes, so that
    /// the peer reads an end behind all that was written; or both. It may be called several times, from any thread,
    /// and must not block. May be NULL: then a thread of the library may wait in `read` until the peer ends the stream.
    pub close: Option<unsafe extern "C" fn(context: *mut c_void, how: i32)>,
    /// Called once, when the library calls none of the others any more; may be NULL.
    pub release: Option<unsafe extern "C" fn(context: *mut c_void)>,
    /// The first argument of all callbacks.
    pub context: *mut c_void,
}
