//! Triples from ring-LWE, batch after batch: this project's protocol for \[RSS19\]'s idea
//! (Rathee, Schneider, Shukla, eprint 2019/577), with rounding in place of noise flooding.
//!
//! Semi-honest. P₀ learns nothing about P₁'s shares, statistically up to 2^−σ per batch and under ring-LWE; P₁
//! nothing about P₀'s, under ring-LWE; random oracle model. A triple is wrong with probability 2^−43 (σ = 40) or
//! 2^−67 (σ = 64); who learns of one that it was wrong learns a bound on what the peer has. The states carry out `docs/protocols/triples.md`, which has the
//! steps, the argument and its inequalities; bytes are in `docs/wire.md`, section 18.
//!
//! ```text
//! P₀: s                                                 P₁
//!                  ── PublicKey ──►
//!    per batch of n triples, as many as wanted:
//! a₀, b₀           ── Request: Enc(a₀), Enc(b₀) ──►     a₁, b₁, ρ
//! c₀               ◄── Response ──                      c₁
//!                  b₁·Enc(a₀) + a₁·Enc(b₀), rounded, + ρ
//! ```
//!
//! [`P0`] and [`P1`] are one such stream. P₀ keeps nothing between request and response, so any number may be on
//! the way; batches do not depend on each other, and what is called `_all` does several of them on the threads of an
//! executor. A [`Duplex`] is two streams with the roles swapped, which use both directions of a link alike.
//!
//! ```
//! use foxtrot_ot::{Seed, Session, Sid};
//! use foxtrot_triples::{Shares, params, rlwe::{P0, P1}, wrong_in_batch};
//!
//! # let (seed_0, seed_1) = (Seed::from_bytes([1; 32]), Seed::from_bytes([2; 32]));
//! let set = params::of_bits(32).expect("8, 16, 32 or 64");
//! let session = || Session::new(Sid::from_bytes([7; 32])).sub(set.name(), 0, Default::default());
//!
//! let (mut p0, public_key) = P0::new(session(), set, seed_0);
//! let mut p1 = P1::new(session(), set, &public_key, seed_1)?;
//!
//! // One batch of n triples, of any number. All buffers are used again for the next one.
//! let (mut ours, mut theirs) = (Shares::new(set), Shares::new(set));
//! let (mut request, mut response) = (Vec::new(), Vec::new());
//! let requested = p0.request(&mut request);
//! p1.respond(&request, &mut theirs, &mut response)?;
//! p0.receive(requested, &response, &mut ours)?;
//!
//! assert_eq!((ours.len(), wrong_in_batch(&ours, &theirs)), (set.n(), 0));
//! # Ok::<(), foxtrot_ot::Error>(())
//! ```

mod coins;
mod duplex;
mod p0;
mod p1;
mod ring;
mod side_by_side;
#[cfg(test)]
mod tests;

pub use duplex::{Duplex, Joining};
pub use p0::{P0, Requested};
pub use p1::P1;
