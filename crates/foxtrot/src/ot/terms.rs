//! Terms of transfers of messages, and the memory that they take (`docs/wire/README.md`, section 3).

use foxtrot_net::{
    HelloError,
    channel::QUEUE_BYTES,
    hello::{self, Hello, Role, Table},
};
use foxtrot_ot::{convert::MAX_MESSAGE, transfers::Method};

pub use crate::transfers::{memory_of_transfers, transfers};

/// The detail that tells to which length the sender of `ot` pads.
const MESSAGE_LENGTH: &str = "message-length";
/// Bytes of a sealed message beside its own: padding, cipher, key and places.
const SEALED: u64 = 128;

/// The hello of `ot`: `n` transfers of one in `choices` messages, in hexadecimal or as text. A sender adds its
/// [`message_length`].
#[must_use]
pub fn messages(role: Role, method: &Method, n: usize, choices: usize, hex: bool) -> Hello {
    let hello = transfers("ot", role, method, n).term("format", if hex { "hex" } else { "text" });
    if choices == 2 { hello } else { hello.term("one-of", choices) }
}

/// Adds to which length the sender pads.
#[must_use]
pub fn message_length(hello: Hello, len: usize) -> Hello {
    hello.detail(MESSAGE_LENGTH, len)
}

/// The length to which the sender says it pads.
///
/// # Errors
/// [`HelloError::Offer`].
pub fn peers_length(details: &Table) -> Result<usize, HelloError> {
    hello::number(details, MESSAGE_LENGTH, "the length of messages", MAX_MESSAGE)
}

/// The most bytes of memory that the sender of `n` transfers of one in `choices` messages takes, with so many threads: those of
/// [`memory_of_transfers`], keys, and sealed messages that the peer does not take.
#[must_use]
pub fn memory_of_ot_sender(
    method: &Method,
    [n, choices]: [usize; 2],
    message_len: usize,
    threads: usize,
) -> u64 {
    let messages = (n as u64).saturating_mul(choices as u64);
    let sealed = messages.saturating_mul(message_len as u64 + 64).min(QUEUE_BYTES as u64);
    let keys = messages.saturating_mul(32);
    memory_of_transfers(method, n, threads).saturating_add(keys).saturating_add(sealed)
}

/// The most bytes of memory that the receiver of `n` transfers takes, with so many threads: those of [`memory_of_transfers`], and a sealed
/// message of this length for each, with its key and place.
#[must_use]
pub fn memory_of_ot_receiver(method: &Method, n: usize, message_len: usize, threads: usize) -> u64 {
    let sealed = (n as u64).saturating_mul(message_len as u64 + SEALED);
    memory_of_transfers(method, n, threads).saturating_add(sealed)
}
