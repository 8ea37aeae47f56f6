//! Private set intersection as sans-I/O states, from base OTs, hashes and codes only.
//!
//! [`paxos`] and [`vole_psi`] are the protocols, and [`method`] chooses one of them; [`okvs`] is their data structure, and [`largest_fitted_set`] what a cheating
//! receiver gains by the store's size.
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

// Modules below use its macro.
#[macro_use]
mod examples;

pub mod circuit;
pub mod elias_fano;
pub mod join;
pub mod method;
pub mod okvs;
pub mod paxos;
pub mod plan;
pub mod shards;
pub mod vole_psi;

mod coin;
mod error;
mod hashes;
mod items;
mod load;
mod matches;
mod packed;
pub mod party;
mod ranges;
mod sets;
mod sizes;
mod tags;

pub use coin::{Joint, receivers_coin, senders_coin};
pub use error::Error;
use foxtrot_ot::{erase, protocol::Protocol};
pub use hashes::{Digest, RowSeed};
pub use items::MAX_ITEMS;
pub use party::Next;
pub use sets::Sets;
pub use sizes::largest_fitted_set;
pub use tags::{FRAME, Received, Sent};

/// The records of every private set intersection, and of counts and sums.
pub fn protocols() -> impl Iterator<Item = &'static Protocol> {
    paxos::PROTOCOLS.iter().chain(&vole_psi::PROTOCOLS).chain([&circuit::PROTOCOL])
}
