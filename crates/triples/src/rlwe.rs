//! Triples from ring-LWE, batch after batch: this project's protocol for \[RSS19\]'s idea
//! (Rathee, Schneider, Shukla, eprint 2019/577), with rounding in place of noise flooding, answers of which half is not
//! sent, and a random OT per triple by which sums that wrap around are put right.
//!
//! Semi-honest. P₀ learns nothing about P₁'s shares, statistically up to 2^−(σ−1) per batch and under ring-LWE (2^−σ if
//! noise is distributed as experiments find it); P₁ nothing about P₀'s, under ring-LWE; random oracle model, with AES as
//! an ideal cipher. Triples are wrong only if their batch does not decrypt, with
//! probability 2^−42 per batch or less, and then all of it (for ℓ = 64 one may be by itself: 2^−115). The sets without
//! OTs have a larger modulus instead, and a triple of them is wrong with probability 2^−43 (σ = 40) or
//! 2^−67 (σ = 64) besides; a party that learns of a triple that it was wrong learns a bound on the peer's shares. The states carry out
//! `docs/protocols/triples.md`, which has the steps, the argument and its inequalities; bytes are in `docs/wire/rlwe.md`, section 18.
//!
//! ```text
//! P₀: s                                                 P₁
//!                  ── PublicKey ──►
//!    per batch of n triples, as many as wanted:
//! a₀, b₀           ── Request: Enc(a₀), Enc(b₀) ──►     a₁, b₁
//!                  ◄── Response ──
//!                  b₁·Enc(a₀) + a₁·Enc(b₀), rounded, + ρ; bits that choose keys
//! c₀               ── [Correction] ──►                  c₁
//! ```
//!
//! Only sets with the fix have the bits and the messages in brackets.
//!
//! [`P0`] and [`P1`] are one such stream. P₀ keeps nothing between request and response, so any number may be on
//! the way; batches do not depend on each other, and a call does several of them on the threads of an
//! executor. A [`Duplex`] is two streams with the roles swapped, which use both directions of a link alike. Random OTs
//! are brought by the caller, for example from [`Set::fix`](crate::params::Set::fix), each for one triple.
//!
//! Step by step:
//!
//! ```
//! use foxtrot_ot::{Seed, Session, Sid, ideal, tasks::only};
//! use foxtrot_triples::{Shares, params, rlwe::{Answering, P0, P1, Receiving}, wrong_in_batch};
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
//! let (mut request, mut response, mut correction) = (Vec::new(), Vec::new(), Vec::new());
//! // Its random OTs; here a double.
//! let (pairs, chosen) = ideal::random(set.ots(), &Seed::from_bytes([3; 32]));
//!
//! let requested = only(p0.request(vec![&mut request]));
//! let ots = Some((&chosen).into());
//! let (shares, answer) = (&mut theirs, &mut response);
//! let responded = only(p1.respond(vec![Answering { request: &request, ots, shares, response: answer }])?);
//! let (ots, shares) = (Some(pairs.pairs()), &mut ours);
//! p0.receive(vec![Receiving { requested, response: &response, ots, shares, correction: &mut correction }])?;
//! p1.finish(vec![(responded, &correction, &mut theirs)])?;
//!
//! assert_eq!((ours.len(), wrong_in_batch(&ours, &theirs)), (set.n(), 0));
//! # Ok::<(), foxtrot_ot::Error>(())
//! ```
//!
//! Both parties in one program, over a [`Pair`](foxtrot_ot::pair::Pair); between two programs a driver takes its place:
//!
//! ```
//! use foxtrot_ot::{Context, Seed, Session, Sid, engine::Engine, pair::Pair};
//! use foxtrot_triples::{
//!     Shares, params,
//!     rlwe::protocol::{Party, Plan},
//! };
//!
//! let set = params::find("rlwe-lift-8").expect("there is one");
//! // The parties have agreed on the session; each has a secret seed, which it uses once.
//! let session = Session::new(Sid::from_bytes([7; 32]));
//! let context = |seed| Context::new(&session, Seed::from_bytes([seed; 32]));
//! let party = |we_are_initiator, seed| {
//!     Engine::new(move |io| async move {
//!         let mut cx = context(seed);
//!         let plan = Plan { set, we_are_initiator, batches: 0..1 };
//!         let party = Party::set_up(&io, &mut cx, plan).await?;
//!         // A program writes the shares of each batch to where it wants them.
//!         let mut made = 0;
//!         let count = |shares: &Shares| {
//!             made += shares.len();
//!             Ok(())
//!         };
//!         party.run(&io, count).await?;
//!         Ok::<_, foxtrot_triples::Error>(made)
//!     })
//! };
//! let made = Pair::new(party(true, 1), party(false, 2)).run().map_err(|(_party, e)| e)?;
//! assert_eq!(made, (set.usable(), set.usable()));
//! # Ok::<(), foxtrot_triples::Error>(())
//! ```

mod coins;
mod duplex;
mod fix;
mod ots;
mod p0;
mod p1;
pub mod protocol;
mod ring;
mod side_by_side;
#[cfg(test)]
mod tests;

pub use duplex::Duplex;
pub use fix::Chosen;
pub use p0::{P0, Receiving, Requested};
pub use p1::{Answering, P1, Responded};
