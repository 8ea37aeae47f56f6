//! The memory that each job takes at most, for limits of a server.

use foxtrot_ot::{
    engine::Limits,
    extension::{one_of_n, protocol as of_two},
    silent,
    transfers::{Extension, Method},
};
use foxtrot_psi::{
    circuit,
    join::Terms,
    method::{Parameters, protocol::limits},
    vole_psi::Vole,
};
use foxtrot_triples::{BASE, Kind};

use crate::channel::{QUEUE_BYTES, held_back};

// Numbers of 64 bits: with addresses of 32 bits a peer could name sizes whose products come out small.
/// Base OTs of transfers, and what does not depend on their number.
const ALWAYS: u64 = 8 << 20;
/// Bytes of a sealed message beside its own: padding, cipher, key and places.
const SEALED: u64 = 128;
/// Bytes that either side of `psi` takes for base OTs, and what does not depend on sizes.
const FIXED: u64 = 6 << 20;
/// Bytes of an item of `psi`, of its tag, of a second place for the tag while tags are sorted, and of its place in a bucket.
const ITEM: u64 = 96;

/// Bytes of an item's key and its place, with those of a second list while tags are sorted.
const KEY: u64 = 112;
/// Bytes of a payload in a result beside its own: its item, its place and what the heap takes.
pub const RESULT: u64 = 64;

/// Bytes of a slot at the sender and the receiver of `psi`: rows, words, the plan of the store, and what a batch of VOLE takes.
/// A packed slot takes 128 OTs.
const fn slot(parameters: &Parameters) -> [u64; 2] {
    match parameters.vole() {
        None => [128, 256],
        Some(it) if matches!(it.vole(), Vole::Packed) => [2400, 2600],
        Some(_) => [192, 320],
    }
}

/// The most bytes of memory that the sender of `psi` takes, with what follows the tags on these terms, whatever its peer does:
/// what it computes, about, and what waits on lanes for either side. Measured with the example `psi-peak`, where the peer
/// follows the protocol. Payloads are counted once on their way: where they come from is the caller's.
#[must_use]
pub fn memory_of_psi_sender(parameters: &Parameters, terms: Terms) -> u64 {
    let [slot, _] = slot(parameters);
    let items = parameters.sender_items() as u64;
    let payloads = payload_bytes(parameters, terms);
    let sent = (parameters.sender_bytes() as u64 + payloads).min(QUEUE_BYTES as u64);
    let computed = FIXED + slot * parameters.slots() as u64 + ITEM * items;
    computed + of_join(items, terms) + sent + most_ahead(&limits(parameters))
}

/// The most bytes of memory that the receiver of `psi` takes, with what follows the tags on these terms, whatever its peer does,
/// counted from the lists that it holds: those of the sender's tags grow. It holds all payloads, still encrypted, and those of
/// its matches.
#[must_use]
pub fn memory_of_psi_receiver(parameters: &Parameters, terms: Terms) -> u64 {
    let [_, slot] = slot(parameters);
    let (ours, tags) = (parameters.receiver_items() as u64, parameters.tags() as u64);
    let computed = FIXED + slot * parameters.slots() as u64 + ITEM * (ours + tags);
    let payloads = payload_bytes(parameters, terms);
    let of_matches = match payloads {
        0 => 0,
        _ => payloads / tags.max(1) * ours.min(tags) + RESULT * ours.min(tags),
    };
    let opened = payloads.saturating_add(of_matches);
    let computed = computed + of_join(ours, terms) + most_ahead(&limits(parameters));
    computed.saturating_add(opened)
}

/// Bytes of all payloads, with their checks.
fn payload_bytes(parameters: &Parameters, terms: Terms) -> u64 {
    let of_one = terms.sender_bytes(1) as u64;
    of_one.saturating_mul(parameters.tags() as u64)
}

/// Bytes that so many items of a party take more if something follows the tags, with two frames of it at work.
fn of_join(items: u64, terms: Terms) -> u64 {
    match terms == Terms::NONE {
        true => 0,
        false => KEY * items + (8 << 20),
    }
}

/// The most bytes of memory that either side of a count or a sum takes, whatever its peer does: a batch of the silent protocols, whose two
/// strings stay from the first protocol to the last, and are values and slots between them; bins with what is kept of their OTs; the stores. For 2^20
/// items on each side it is 0.78 GB; the command's whole process took 0.37 GB for a sum, where the peer followed the protocol.
#[must_use]
pub fn memory_of_count(parameters: &circuit::Parameters) -> u64 {
    /// Bytes of a bin: strings, tables, nibbles and shares of look-ups, and keys of OTs.
    const BIN: u64 = 160;
    /// Bytes of the sender's item: its bins, its row, its value and a slot.
    const ITEM: u64 = 320;
    let look_ups = silent::ot_16_semi_honest().memory_of_sender(parameters.look_ups());
    let ots = silent::ot_semi_honest().memory_of_sender(parameters.forward_ots()).max(look_ups);
    let sent = parameters.sender_bytes().max(parameters.receiver_bytes()).min(QUEUE_BYTES);
    let [bins, items] = [parameters.bins(), parameters.sender_items()].map(|n| n as u64);
    ots + BIN * bins + ITEM * items + sent as u64 + most_ahead(&circuit::protocol::limits())
}

/// The most bytes of memory that either side of `n` random or correlated transfers takes, with so many threads, whatever its peer
/// does: base OTs, and batches of an extension with what the peer sends ahead. Keys that the caller keeps are not counted.
/// For 8·10^6 silent OTs it is 100 MB; the command's whole process took 87 MB, of them 12 before it began.
#[must_use]
pub fn memory_of_transfers(method: &Method, n: usize, threads: usize) -> u64 {
    /// Batches at work at once, beside one for each thread.
    const BATCHES: u64 = 8;
    /// Bytes of a transfer in a batch, and the most that a batch has.
    const TRANSFER: u64 = 64;
    const MOST: usize = 1 << 16;
    let batch = TRANSFER * n.min(MOST).next_multiple_of(512) as u64;
    let batches = batch * (BATCHES + threads as u64);
    ALWAYS
        + match method.extension {
            Extension::None => 0,
            Extension::OneOfTwo(extension) => batches + most_ahead(&of_two::limits(&extension)),
            Extension::Silent(silent) => silent.memory_of_sender(n),
            Extension::OneOfN(extension) => {
                batches + most_ahead(&one_of_n::protocol::limits(&extension))
            }
        }
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

/// The most bytes of memory that either side of so many triples takes, with so many threads, whatever its peer does: base OTs, batches at
/// work, and what the peer sends ahead. Shares that the caller keeps are not counted. For 10^6 triples of `rlwe-64` it is 113 MB; the
/// command's whole process took 55 MB.
#[must_use]
pub fn memory_of_triples(kind: Kind, count: u64, threads: usize) -> u64 {
    /// Batches at work at once, beside one for each thread, and how much more one takes there than its longest message.
    const BATCHES: u64 = 4;
    const WORK: u64 = 8;
    match kind {
        Kind::Bits(set) => {
            let ots = usize::try_from(count).map_or(usize::MAX, |n| n.saturating_mul(2));
            memory_of_transfers(&set.method(BASE), ots, threads) + set.usable() as u64
        }
        Kind::Rlwe(_) | Kind::Gilboa(_) => {
            let limits = kind.limits();
            let work = WORK * limits.len as u64 * (BATCHES + threads as u64);
            ALWAYS + work + most_ahead(&limits)
        }
    }
}

/// The most bytes that wait for a party of a protocol with these limits, sent by a peer that does not wait for it, on the
/// two busiest of its lanes.
fn most_ahead(limits: &Limits) -> u64 {
    2 * held_back(limits.messages, limits.len) as u64
}
