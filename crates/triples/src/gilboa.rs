//! Triples from oblivious transfer, bit by bit \[Gil99\], from random OTs whose choices are a share's bits.
//!
//! \[Gil99\] N. Gilboa, *Two party RSA key generation*, CRYPTO 1999, section 4.1; for triples modulo 2^ℓ with payloads that shrink:
//! \[DSZ15\] Demmler, Schneider, Zohner, *ABY*, NDSS 2015, section III-A.
//! Semi-honest: what the peer learns is nothing, under the assumptions of the extension,
//! [SoftSpokenOT](foxtrot_ot::extension::softspoken) without checks, and of its base OTs. No triple is wrong. The
//! states carry out `docs/protocols/gilboa.md`; bytes are in `docs/wire/gilboa.md`, section 19.
//!
//! A product a·b of one party's a and the other's b takes ℓ OTs, the bits of b as choices. For a triple there are two
//! of these, a₀·b₁ and a₁·b₀, one in each direction, so that both parties do and send the same. Only the first 128 OTs
//! come from a base OT: the other direction begins with 128 of the first one.
//!
//! ```text
//! initiator: base OTs as the receiver                   responder
//!                  ◄── Opening ──
//!                  ── Setup ──►
//!    per batch of n triples, as many as wanted:
//! b₀       ── Corrections ──►   ◄── Corrections ──      b₁
//! a₀       ── Products ──►   ◄── Products ──            a₁
//! c₀                                                    c₁
//! ```
//!
//! [`GilboaParty`] is one of them. Batches do not depend on each other, any number may be on the way, and a call does several
//! of them on the threads of an executor.
//!
//! Step by step:
//!
//! ```
//! use foxtrot_ot::{Seed, Session, Sid, ideal, tasks::only};
//! use foxtrot_triples::{gilboa::{self, GilboaParty}, wrong_in_batch};
//!
//! # let (seed_0, seed_1) = (Seed::from_bytes([1; 32]), Seed::from_bytes([2; 32]));
//! let set = gilboa::of_bits(32, gilboa::DEFAULT_K).expect("there is one");
//! let session = || Session::new(Sid::from_bytes([7; 32]));
//! // 128 base OTs, in which the initiator was the receiver; here doubles.
//! let (pairs, chosen) = ideal::random(128, &Seed::from_bytes([3; 32]));
//!
//! let (one, opening) = GilboaParty::responder(&session(), set, pairs, seed_1)?;
//! let (mut zero, setup) = GilboaParty::initiator(&session(), set, chosen, seed_0, &opening)?;
//! let mut one = one(&setup)?;
//!
//! // One batch of 1000 triples, of any number.
//! let (mut corrections_0, mut corrections_1) = (Vec::new(), Vec::new());
//! let ours = zero.extend(vec![(set.shares(1000), &mut corrections_0)])?;
//! let theirs = one.extend(vec![(set.shares(1000), &mut corrections_1)])?;
//! let (mut products_0, mut products_1) = (Vec::new(), Vec::new());
//! let ours = zero.multiply(vec![(only(ours), &corrections_1, &mut products_0)])?;
//! let theirs = one.multiply(vec![(only(theirs), &corrections_0, &mut products_1)])?;
//! let ours = only(zero.add(vec![(only(ours), &products_1)])?);
//! let theirs = only(one.add(vec![(only(theirs), &products_0)])?);
//!
//! assert_eq!((ours.len(), wrong_in_batch(&ours, &theirs)), (1000, 0));
//! # Ok::<(), foxtrot_ot::Error>(())
//! ```
//!
//! Both parties in one program, over a [`Pair`](foxtrot_ot::pair::Pair); between two programs a driver takes its place:
//!
//! ```
//! use foxtrot_ot::{Context, Seed, Session, Sid, base::roted::Endemic, engine::Engine, pair::Pair};
//! use foxtrot_triples::{
//!     Shares, gilboa,
//!     formats::{record_len, write_records, wrong_records},
//!     gilboa::protocol::{GilboaRun, GilboaPlan},
//! };
//!
//! let set = gilboa::of_bits(64, gilboa::DEFAULT_K).expect("there is one");
//! // The parties have agreed on the session; each has a secret seed, which it uses once.
//! let session = Session::new(Sid::from_bytes([7; 32]));
//! let context = |seed| Context::new(&session, Seed::from_bytes([seed; 32]));
//! let party = |we_are_initiator, seed| {
//!     Engine::new(move |io| async move {
//!         let mut cx = context(seed);
//!         let plan = GilboaPlan { set, base: &Endemic, we_are_initiator, count: 100 };
//!         let mut records = vec![0; 100 * record_len(64)];
//!         let party = GilboaRun::set_up(&io, &mut cx, plan).await?;
//!         // All are in one batch.
//!         party.run(&io, |shares: &Shares| Ok(write_records(shares, &mut records))).await?;
//!         Ok::<_, foxtrot_triples::Error>(records)
//!     })
//! };
//! let (ours, theirs) = Pair::new(party(true, 1), party(false, 2)).run().map_err(|(_party, e)| e)?;
//! assert_eq!(wrong_records(64, &ours, &theirs).next(), None);
//! # Ok::<(), foxtrot_triples::Error>(())
//! ```
//!
//! # Steps
//!
//! Party 0 opened the connection. All numbers are modulo 2^ℓ; a stream is one direction of the OTs.
//!
//! Once per session:
//!
//! 1. 128 base OTs whose receiver is party 0; with them party 1 is the receiver of an extension in which party 0 sends. *1 → 0:*
//!    `Opening`, its set-up and the corrections of 128 random OTs.
//! 2. With these party 0 is the receiver of an extension in which party 1 sends, who has 128 choices and keys of them. *0 → 1:* `Setup`.
//!
//! Per batch, for both streams alike, whose sender is S and receiver R:
//!
//! 3. R: ℓ random OTs for every triple. Their choices are the bits of b: no choice is given and none corrected. R has keys kᵢ = m_{bᵢ}.
//!    *R → S:* `Corrections`.
//! 4. S: draws a, and has both keys m₀, m₁ of every OT. tᵢ = m₀ − m₁ + a, its lowest ℓ − i bits. *S → R:* `Products`.
//!    Its part of a·b is −Σ 2^i·m₀.
//! 5. R: kᵢ + bᵢ·tᵢ = m₀ + bᵢ·a modulo 2^(ℓ−i), whatever bᵢ is. Its part is Σ 2^i·(kᵢ + bᵢ·tᵢ).
//! 6. Either: c = a·b + the part of a·b′ that it has as S + the part of a′·b that it has as R.
//!
//! # Rules, each with its reason
//!
//! * a, b and keys are used in one batch only. Two messages with the same keys and different a would reveal the difference of the two.
//! * A batch takes one `Corrections` and one `Products`; the states are consumed.
//! * The last triple of a batch is opened when both parties have their shares of it, and not used otherwise. This detects an accident in
//!   most of a batch, not a cheating peer. Its keys, a and b are its own, so it reveals nothing of other triples.
//! * A resumed run has a new session, new base OTs and new coins.
//! * No branch and no index depends on b or a: step 5 adds tᵢ under a mask, which the compiler cannot see to be a bit.
//! * Cheating is not detected: a receiver that sends other corrections finally learns Δ, and with it a; either party can spoil triples.
//!   Only lengths and spare bits are checked, before anything is computed from the message.

mod params;
mod party;
mod products;
pub mod protocol;
#[cfg(test)]
mod tests;

pub use params::{DEFAULT_K, PROTOCOLS, Set, find, of_bits, registry};
pub use party::{Extended, GilboaParty, Multiplied, base_session};
