//! The memory that each side of `psi` takes at most, for limits.

use foxtrot_net::channel::QUEUE_BYTES;
use foxtrot_ot::silent;
use foxtrot_psi::{
    circuit,
    join::JoinTerms,
    method::{Parameters, protocol::limits},
    vole_psi::Vole,
};

use crate::transfers::most_ahead;

// Numbers of 64 bits: with addresses of 32 bits a peer could name sizes whose products come out small.
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
pub fn memory_of_psi_sender(parameters: &Parameters, terms: JoinTerms) -> u64 {
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
pub fn memory_of_psi_receiver(parameters: &Parameters, terms: JoinTerms) -> u64 {
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
fn payload_bytes(parameters: &Parameters, terms: JoinTerms) -> u64 {
    let of_one = terms.sender_bytes(1) as u64;
    of_one.saturating_mul(parameters.tags() as u64)
}

/// Bytes that so many items of a party take more if something follows the tags, with two frames of it at work.
fn of_join(items: u64, terms: JoinTerms) -> u64 {
    match terms == JoinTerms::NONE {
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
