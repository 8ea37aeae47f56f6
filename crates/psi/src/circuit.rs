//! Counts and sums over an intersection, of which neither party learns its items: circuit-PSI
//! [[PSTY19](https://eprint.iacr.org/2019/241), [RR22](https://eprint.iacr.org/2022/320)]. Semi-honest.
//!
//! The receiver learns how many items both have, and if that was agreed on the sum of the sender's numbers of these items. It learns
//! neither if there are fewer than an agreed number of common items: then it learns that. If both learn, so does the sender.
//!
//! ```text
//! R: choice, bit   ◄─ OTs ─►                            S: sixteen bits, and a secret t of each bin from them
//! items Y in a cuckoo table, one per bin                items X in all bins that they may be in
//! U, V = W ⊕ U·Δ   ◄─ VOLE ─►                           Δ, W
//! P: words at Y    ── RowSeed, Masked ──►               an OPRF's three values at each of X
//!                  ◄── RowSeed, Slots ──                t of each bin, under these values
//! s of each bin                                         t of each bin
//! [s = t]          ── Nibbles ──►  ◄── Tables ──        bits of which each party has a share
//! [count], [sum]   ◄── Flips, Products ──►              one OT per bin and number
//! [count ≥ K]      ◄─ AND gates ─►
//! count, sum       ◄── Shares ──
//! ```
//!
//! The steps and what is proved are in `docs/protocols/circuit-psi.md`, bytes in `docs/wire/circuit-psi.md`, section 24.
//!
//! Both parties in one program, over a [`Pair`](foxtrot_ot::pair::Pair); between two programs a driver takes its place:
//!
//! ```
//! use foxtrot_ot::{
//!     Context, Direction, Seed, Session, Sid, base::roted::Endemic, engine::Engine, pair::Pair,
//! };
//! use foxtrot_psi::circuit::{
//!     Outcome, Parameters, Terms,
//!     protocol::{Plan, receive, send},
//! };
//!
//! // Items are digests of 32 bytes, and the sender has a number for each. Both sides know the sizes and the terms.
//! let (ours, theirs) = (vec![[1; 32], [2; 32], [3; 32]], vec![[3; 32], [5; 32], [1; 32]]);
//! let numbers = vec![30, 50, 10];
//! let terms = Terms { largest: Some(100), at_least: 2, both: false };
//! let parameters = Parameters::new(terms, ours.len(), theirs.len())?;
//! let plan = Plan { parameters, base: &Endemic, direction: Direction::InitiatorSends, counter: 0 };
//! // The parties have agreed on the session; each has a secret seed, which it uses once.
//! let session = Session::new(Sid::from_bytes([7; 32]));
//! let context = |seed| Context::new(&session, Seed::from_bytes([seed; 32]));
//!
//! let sender = Engine::new(|io| async move {
//!     let mut cx = context(8);
//!     send(&io, &mut cx, plan, theirs, &numbers, &mut |_| ()).await
//! });
//! let receiver = Engine::new(|io| async move {
//!     let mut cx = context(9);
//!     receive(&io, &mut cx, plan, ours, &mut |_| ()).await
//! });
//! let (none, outcome) = Pair::new(sender, receiver).run().map_err(|(_party, e)| e)?;
//! assert_eq!(outcome, Outcome::Released { count: 2, sum: Some(40) });
//! assert_eq!(none, None);
//! # Ok::<(), foxtrot_psi::Error>(())
//! ```

mod cuckoo;
mod gates;
mod look_ups;
mod oprf;
mod ots;
mod parameters;
mod products;
pub mod protocol;
#[cfg(test)]
mod tests;

pub use parameters::{MAX_ITEMS, PROTOCOL, Parameters, Terms};

/// The result, as a party learns it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// There are fewer common items than were agreed on, and nothing else is said.
    Withheld,
    /// There are enough.
    Released {
        /// The number of common items.
        count: u64,
        /// The sum of the sender's numbers of these items, if it was agreed on.
        sum: Option<u64>,
    },
}
