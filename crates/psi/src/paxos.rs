//! PaXoS [[PRTY20](https://eprint.iacr.org/2020/193)]: private set intersection from base OTs, hashes
//! and a code, and nothing else; malicious or semi-honest.
//!
//! The receiver learns which of its items the sender has too, the sender learns nothing; both learn
//! the sizes of the sets. A cheating receiver can fit more items than it declared: two less than the store has slots
//! for certain, and [`Parameters::largest_set`](crate::Sets::largest_set) at most as long as it asks the hash of items no more than
//! 2⁸⁰ times, but with probability 2⁻⁴⁰. Either can make the other end without output.
//!
//! ```text
//! R: items Y, both keys of every base OT                S: items X, Δ, one key each
//!                  ── Commitment ──►
//!                  ◄── Coin ──
//!                  ── Opening ──►                       only if there are several buckets
//!    per bucket:
//! D: words at Y    ── RowSeed ──►
//!    per batch:    ── Corrections ──►
//!                  ◄── [Challenge] ──
//!                  ── [Proof] ──►
//! rows at Y                                             rows at X
//!    once all batches of all buckets have passed:
//! X ∩ Y            ◄── Tags ──
//! ```
//!
//! Only the malicious protocol sends the messages in brackets. The states carry out `docs/protocols/paxos.md`,
//! which has the steps, what is proved and what is not; bytes are in `docs/wire/paxos.md`, section 13.
//! Items are 32-byte digests, distinct, from a collision-resistant hash of the items themselves.
//!
//! Step by step:
//!
//! ```
//! use foxtrot_ot::{
//!     Seed, Session, Sid, base::Adversary, erase::Secret, extension::one_of_n::Places, ideal,
//! };
//! use foxtrot_psi::{Next, paxos::{Parameters, Receiver, Sender}};
//!
//! # let (receivers_seed, senders_seed) = (Seed::from_bytes([1; 32]), Seed::from_bytes([2; 32]));
//! let parameters = Parameters::new(Adversary::Malicious, 3, 2)?;
//! // 802 base OTs, in which the PSI's receiver was the sender; here a double.
//! let (pairs, chosen) = ideal::random(parameters.base_ots(), &Seed::from_bytes([3; 32]));
//! let session = || Session::new(Sid::from_bytes([7; 32])).sub("paxos", 0, Default::default());
//!
//! let mut ots = parameters.ots_receiver(&session(), pairs, &receivers_seed)?;
//! let mut of_sender = parameters.ots_sender(&session(), chosen, &senders_seed)?;
//!
//! let (ours, theirs) = (vec![[1; 32], [2; 32], [3; 32]], vec![[9; 32], [2; 32]]);
//! let receiver = Receiver::new(session(), parameters, ours, None, receivers_seed)?;
//! let sender = Sender::new(session(), parameters, theirs, None, senders_seed)?;
//!
//! let (encoded, row_seed) = receiver.encode()?;
//! let opened = sender.open(row_seed.as_bytes())?;
//! // So few slots are one batch; several follow one another with parts of words and rows.
//! let (n, mut corrections) = (parameters.slots(), Vec::new());
//! let [mut receivers, mut senders] = [(); 2].map(|()| Secret::zeroed(parameters.rows_len()));
//! let unanswered = ots.extend(n, encoded.words(), &mut corrections)?;
//! let (unverified, challenge) = of_sender.absorb(n, &corrections)?;
//! let challenge = challenge.as_ref().map_or(&[][..], |it| it);
//! let proof = ots.finish_rows(unanswered, challenge, &mut receivers)?;
//! of_sender.finish(unverified, &proof, Places::Rows(&mut senders))?;
//! // All buckets are through: here there is one.
//! let Next::Done(mut received) = encoded.finish(receivers)? else { unreachable!() };
//! let Next::Done(sent) = opened.finish(&of_sender, senders)? else { unreachable!() };
//! sent.frames().try_for_each(|tags| received.take(&tags))?;
//! assert_eq!(received.intersect()?, [1]);
//! # Ok::<(), foxtrot_psi::Error>(())
//! ```
#![doc = intersection_example!("foxtrot_psi::paxos::Parameters::new(foxtrot_ot::base::Adversary::Malicious, ours.len(), theirs.len())")]

mod parameters;
pub(crate) mod protocol;
mod receiver;
mod sender;
mod tags;

pub use parameters::{PROTOCOLS, Parameters};
pub use receiver::{Encoded, Receiver};
pub use sender::{Opened, Sender};

#[cfg(test)]
pub(crate) mod tests;
