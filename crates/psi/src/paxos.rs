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
//! Only the malicious protocol sends the messages in brackets. The steps are below; `docs/protocols/paxos.md`
//! has what is proved and what is not; bytes are in `docs/wire/paxos.md`, section 13.
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
//!
//! # Steps
//!
//! 1. *Base OTs*, N of them, endemic; S chooses Δ. With B > 1, the joint coin: R commits to r, S sends s, R opens.
//! 2. *Encode (R).* With coins that are secret until Y is fixed: (ρ, D) with dec(D, y) = w(y) for all y of the bucket. If there
//!    are no slots, or a bucket is too full, the session ends; there is no second seed.
//! 3. *R → S:* `RowSeed` ρ, before anything that depends on D.
//! 4. *Correlation* on W = D and the check's own random words, batch after batch. All ways to fail the check are one
//!    error, and after it S has nothing to give.
//! 5. *Tags.* For each x ∈ X of the bucket S computes t(x, dec(Q, x) ⊕ Δ ∧ C(w(x))); R for each y ∈ Y t(y, dec(T, y)).
//!    Steps 2 to 5 are repeated for every bucket; one set of base OTs serves them all.
//! 6. *S → R:* `Tags`, when every batch of every bucket has passed: n_x numbers in ascending order, Elias–Fano coded, none if n_y = 0.
//!    R refuses another number and another order, before it compares them with its own. The decoder takes exactly one string for each set of tags. Two items of S with one tag
//!    are one item given twice: S ends the run, and finds the fault with its own caller.
//! 7. *Output (R).* All y ∈ Y whose tag is among them. Nothing is sent after that.
//!
//! # Helpers
//!
//! * *Items* are 32-byte digests, from a collision-resistant hash of what they stand for; they differ. The program that reads a
//!   set removes what is there twice, and says so. The digest does not depend on the session: it is a local encoding of an item
//!   into 32 bytes, which never travels. The first hashes of the protocol that take it, those of rows, H₁, H₂ and buckets, are bound to
//!   the session.
//! * *Words.* w(x) = first k bits of H₁(bucket, ρ, x). The simulator reads R's items off the queries to H₁.
//! * *Correlation.* R has T, S has Q, and Q_j = T_j ⊕ Δ ∧ C(W_j). It is linear, so
//!   dec(Q, y) = dec(T, y) ⊕ Δ ∧ C(dec(W, y)).
//! * *Tag.* t(x, r) = first ℓ bits of H₂(bucket, ρ, x, r), r a whole row of N bits. The item is in it, or S's
//!   could not be extracted; the whole row is, or Δ were as short as the part.
//! * *Buckets.* With n_y ≤ 2²⁰ there is one. Else x belongs to one of B = ⌈n_y/2²⁰⌉ by a hash under a joint coin. R fills
//!   each up to L(n_y) items with random ones; so does S up to L(n_x), but for its work only.
//!
//! # Letters
//!
//! | symbol | meaning | in code |
//! |---|---|---|
//! | C: GF(2)^k → GF(2)^N | a linear code of distance d ≥ 128 | `Parameters::code` |
//! | n_y, n_x | sizes of the receiver's and the sender's set | `receiver_items`, `sender_items` |
//! | B, L(n) | buckets; to how many items each is filled up | `buckets`; `load::most` |
//! | ρ, D, m | row seed, slots, their number for L(n_y) keys (`docs/protocols/okvs.md`) | `row_seed`; `words`; `slots` |
//! | Δ ∈ GF(2)^N | the sender's choices in N base OTs | |
//! | W | the words that R encodes: a row of k bits for each slot, and those of the check | `words` |
//! | T, Q | the receiver's and the sender's rows of N bits, Q = T ⊕ Δ ∧ C(W) | `rows` |
//! | dec(M, y) | the XOR of the rows of M at the slots of row(y) | `OkvsPlan::decode_range` |
//! | ℓ | length of a tag in bits | `tag_bits` |
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
