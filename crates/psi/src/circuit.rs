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
//! The proofs are in `docs/protocols/circuit-psi.md`, the bytes in `docs/wire/circuit-psi.md`, section 24.
//!
//! Both parties in one program, over a [`Pair`](foxtrot_ot::pair::Pair); between two programs a driver takes its place:
//!
//! ```
//! use foxtrot_ot::{
//!     Context, Direction, Seed, Session, Sid, base::roted::Endemic, engine::Engine, pair::Pair,
//! };
//! use foxtrot_psi::circuit::{
//!     Outcome, Parameters, CircuitTerms,
//!     protocol::{CircuitPlan, receive, send},
//! };
//!
//! // Items are digests of 32 bytes, and the sender has a number for each. Both sides know the sizes and the terms.
//! let (ours, theirs) = (vec![[1; 32], [2; 32], [3; 32]], vec![[3; 32], [5; 32], [1; 32]]);
//! let numbers = vec![30, 50, 10];
//! let terms = CircuitTerms { largest: Some(100), at_least: 2, both: false };
//! let parameters = Parameters::new(terms, ours.len(), theirs.len())?;
//! let plan = CircuitPlan { parameters, base: &Endemic, direction: Direction::InitiatorSends, counter: 0 };
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
//!
//! # Steps
//!
//! 1. *Look-ups' OTs.* Both make the random OTs of one of sixteen bits (`silent-16-semi-honest`) that the look-ups of step 5 use. They draw S's secrets: `docs/protocols/circuit-psi.md`, section 4, says how.
//! 2. *Bins.* There are B = 3L bins in three segments; hash i maps an item to a bin of segment i. R puts each of its items y into one of the item's bins, by hash i(y), where no other item is. S puts each item into all three of its bins.
//! 3. *OPRF.* An item has three values F(x, i), one for each hash. R obtains F(y, i(y)), S can compute all three. This is the semi-honest OPRF of `docs/protocols/vole-psi.md`, in its letters, with one change: R encodes w(y) ⊕ i(y) in place of w(y), as P, and sends A = U ⊕ P.
//!    S's element f_i = dec(K, x) ⊕ (w(x) ⊕ i)·Δ is R's dec(V, x) for i = i(x) only. F(x, i) is a hash of x and f_i. S computes w(x) and dec(K, x) once for all three.
//! 4. *OPPRF.* S has a secret t_b for every bin, and encodes a store with its items for keys. The value of x has a column for each hash i: for x in bin b by hash i, t_b ⊕ F(x, i). R decodes at y, takes the column of
//!    i(y), adds F(y, i(y)), and has s_b. If y ∈ X, s_b = t_b; otherwise s_b is as good as random. For a sum a column also has v(x) − r_b under more bits of F; r_b is a number that S draws. R has z_b from it, which is v(y) − r_b if y ∈ X.
//! 5. *Equality.* A look-up gives shares of \[x = y\] for a nibble x of S and a nibble y of R, by one random OT of one of sixteen bits. R sends the sum of y and its choice. S moves its sixteen bits by that, and adds 1 to the one at place x. The bit at
//!    place 0 is S's share. S sends the coefficients of its sixteen bits as a polynomial of four variables (section 4 there), but for the constant one. R computes the polynomial without its constant at y, and adds the bit of its OT: this is its share. Fifteen look-ups compare the nibbles of s_b and t_b, which at n = 2²⁰ have 61 bits; one bit is left over.
//!    The fifteen results are all 1 iff R's shares are S's flipped shares. So these fifteen bits and the bit that was left over are again two strings to be compared: four look-ups, and one for their four results. In three rounds this gives shares of e_b = \[s_b = t_b\].
//! 6. *Products.* Shares of Σ e_b and, for a sum, of Σ e_b·(z_b + r_b), in as few bits as the largest possible result takes. Each bin takes one random OT from S, and for a sum one from R, as z_b is R's.
//! 7. *Release.* An adder gives shares of the bits of k − K and of the sum. If k − K is negative, a mask makes both 0. The masked shares are opened to R, and to S if it learns.

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

pub use parameters::{CircuitTerms, MAX_ITEMS, PROTOCOL, Parameters};

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
