//! Oblivious transfer as sans-I/O protocol states: messages come and go as values. Sockets, threads
//! and clocks are the caller's.
//!
//! ```
//! use foxtrot_ot::{Bits, Seed, Session, Sid, base::roted::endemic};
//!
//! fn fresh_seed() -> Seed {
//!     let mut seed = [0; 32];
//!     getrandom::fill(&mut seed).expect("the system has randomness");
//!     Seed::from_bytes(seed)
//! }
//!
//! // Both parties know the session id, say from a handshake, and name the batch alike.
//! let batch = || Session::new(Sid::from_bytes([7; 32])).sub("example", 0, Default::default());
//!
//! let choices = Bits::from_bools([true, false, true]);
//! let (receiver, blinded) = endemic::Receiver::start(batch(), choices, fresh_seed())?;
//! let (sent, reply) = endemic::respond(batch(), &blinded, fresh_seed());
//! let received = receiver.finish(&reply)?;
//!
//! assert_eq!(received.keys()[0], sent.pairs()[0][1]);
//! assert_eq!(received.keys()[1], sent.pairs()[1][0]);
//! # Ok::<(), foxtrot_ot::Error>(())
//! ```
//!
//! Which protocol?
//!
//! * Up to some hundred OTs: [`base::roted`]. Its endemic mode is for chosen bits, and for everything
//!   built on top; its F_ROT mode makes keys and choices uniform even if a party cheats.
//! * More OTs: [`extension`], by default [`extension::softspoken`], makes any number from 128 base OTs.
//! * Two messages: [`extension::two_round`], where endemic keys suffice.
//! * Keys of one of N words: [`extension::one_of_n`].
//! * Messages of the sender's choice: [`convert`] makes them from keys.
//!
//! # Letters
//!
//! Paper symbols, as figures and comments have them; each protocol's module has its own.
//!
//! | symbol | meaning | in code |
//! |---|---|---|
//! | κ | computational security, 128 bits | the length of a `Block` |
//! | σ | statistical security, 40 bits; also the paper's noise width | no name yet |
//! | S, R | sender, receiver | `Sender`, `Receiver` (module-qualified) |
//! | sid | id of a session | `Sid` |
//! | sub-sid | id of one batch of one protocol in a session | `Session::sub`, `id` |
//! | n | instances of a batch, or transfers of a run | `n` |
//! | i, j | instance, branch | `i`, `j` |
//! | b | the receiver's choice, as in its output | `choices` |
//! | M_0, M_1; r_0, r_1 | outputs (F_ROT; endemic OT) | `SenderKeys`, `ReceiverKeys`, `keys` |
//! | L | agreed length of chosen messages in bytes | `message_len` |
//! | Δ | the global correlation of an OT extension | `delta` |
#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

// Modules below use its macros.
#[macro_use]
mod examples;

pub mod agreement;
pub mod base;
pub mod convert;
pub mod engine;
pub mod erase;
pub mod extension;
pub mod ideal;
pub mod line;
pub mod oracle;
pub mod pair;
pub mod popf;
pub mod protocol;
pub mod silent;
pub mod tasks;
pub mod transfers;

mod choices;
mod coins;
mod context;
mod error;
mod seed;
mod session;

pub use choices::{Bits, select};
pub use coins::Coins;
pub use context::Context;
pub(crate) use error::expect_at_most;
pub use error::{Decode, Error, Misbehaved, Usage, expect_count, expect_len};
pub use foxtrot_kernel::{Backend, BackendError};
pub use seed::Seed;
pub use session::{Direction, Session, Sid};

/// The records of every base OT, extension, 1-of-N extension and silent protocol.
pub fn protocols() -> impl Iterator<Item = &'static protocol::Protocol> {
    use extension::{one_of_n, two_round};
    let bases = base::registry().iter().map(|base| base.info());
    let of_two = bases.chain(&extension::PROTOCOLS).chain([&two_round::PROTOCOL]);
    of_two.chain(&one_of_n::PROTOCOLS).chain(&silent::PROTOCOLS)
}

/// The README's Rust, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
pub struct Readme;
