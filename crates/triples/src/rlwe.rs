//! Triples from ring-LWE, batch after batch: this project's protocol for \[RSS19\]'s idea
//! (Rathee, Schneider, Shukla, eprint 2019/577), with rounding in place of noise flooding, answers of which half is not
//! sent, and a random OT per triple by which sums that wrap around are put right.
//!
//! Semi-honest. P₀ learns nothing about P₁'s shares, statistically up to 2^−(σ−1) per batch and under ring-LWE (2^−σ if
//! noise is distributed as experiments find it); P₁ nothing about P₀'s, under ring-LWE; random oracle model, with AES as
//! an ideal cipher. Triples are wrong only if their batch does not decrypt, with
//! probability 2^−42 per batch or less, and then all of it (for ℓ = 64 one may be by itself: 2^−115). The sets without
//! OTs have a larger modulus instead, and a triple of them is wrong with probability 2^−43 (σ = 40) or
//! 2^−67 (σ = 64) besides; a party that learns of a triple that it was wrong learns a bound on the peer's shares. The steps are below;
//! `docs/protocols/triples.md` has the argument and its inequalities; bytes are in `docs/wire/rlwe.md`, section 18.
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
//!     rlwe::protocol::{RlweRun, RlwePlan},
//! };
//!
//! let set = params::find("rlwe-lift-8").expect("there is one");
//! // The parties have agreed on the session; each has a secret seed, which it uses once.
//! let session = Session::new(Sid::from_bytes([7; 32]));
//! let context = |seed| Context::new(&session, Seed::from_bytes([seed; 32]));
//! let party = |we_are_initiator, seed| {
//!     Engine::new(move |io| async move {
//!         let mut cx = context(seed);
//!         let plan = RlwePlan { set, we_are_initiator, batches: 0..1 };
//!         let party = RlweRun::set_up(&io, &mut cx, plan).await?;
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
//!
//! # Steps
//!
//! Once per session and direction:
//!
//! 1. P₀: s ← T, e ← χ, B* = −A·s + e ∈ R_q; B = p·⌊B*/p⌉. *P₀ → P₁:* `PublicKey`, B modulo r₁, …, r_m in NTT form; modulo pᵢ it is 0.
//!
//! Per batch:
//!
//! 2. P₀: a₀, b₀ uniform; e_a, e_b ← χ; ct_a = Δ·m(a₀) − A_a·s + e_a, ct_b likewise. *P₀ → P₁:* `Request`, both in NTT form.
//! 3. P₁: a₁, b₁ uniform; α, β; u ← T; e₀, e₁ ← χ; in R_q
//!    ```text
//!    C₀ = β·ct_a + α·ct_b + u·B + e₀        C₁ = β·A_a + α·A_b + u·A + e₁
//!    ```
//! 4. P₁: y₀ ∈ Z_{p·2^t₀} is, by coefficients, ≡ Y mod p and ≡ F_{t₀}(C₀) mod 2^t₀; ρ = (Y − F_{t₀}(C₀))/2^t₀ ∈ R_p; y₁ =
//!    F_{t₁}(C₁) mod p·2^t₁; r = slots(ρ) − o mod p in \[0, p). *P₁ → P₀:* `Response`, y₀ mod 2^t₀, y₁ as residues mod pᵢ
//!    and its low t₁ bits, and with the fix x. c₁ = a₁·b₁ − r mod 2^ℓ. With the fix m₁ = \[r ≥ (p + 1)/2\], x = m₁ ⊕ γ and c₁
//!    = a₁·b₁ − r + k_γ.
//! 5. P₀: D = ⌊(2^(t₁−t₀)·y₀ + y₁·s)/2^t₁⌉ mod p; d = slots(D) in \[0, p). c₀ = a₀·b₀ + d mod 2^ℓ. With the fix m₀ = \[d < (p + 1)/2\],
//!    c₀ = a₀·b₀ + d − k_x and z = k_x + m₀·p − k_{1⊕x} mod 2^ℓ. *P₀ → P₁:* `Correction`, z.
//! 6. P₁, with the fix: adds z to c₁ where m₁ = 1.
//!
//! The OTs of a batch are a batch of the extension, and its message goes along with the response: they take no time of their own.
//!
//! A run is two such streams, one with the roles swapped, so that both directions of the link are used alike: it has its own
//! sub-sid, key, coins. Batch g of the run is batch ⌊g/2⌋ of the stream whose P₀ is the initiator if g is even, else of the other.
//!
//! # Helpers
//!
//! * *Uniform halves* A, A_a, A_b ∈ R_q, in NTT order, and Y ∈ R_p are from the oracle, with the sub-sid, the batch's
//!   number and which of them it is. Each is used once. The sub-sid has the direction in it.
//! * *Signed shares.* ℓ bits b are the integer in \[−2^(ℓ−1), 2^(ℓ−1)) that is ≡ b mod 2^ℓ; its residue mod pᵢ is a slot.
//! * *Encoding.* m ∈ R_p is Δ·m ∈ R_q. Nothing is rounded, as Δ = q/p is an integer, and in NTT form it costs one product
//!   per slot: the residues mod rⱼ are 0, those mod pᵢ are (Δ mod pᵢ)·slot.
//! * *Centred lift.* The element of Z in (−p/2, p/2) with given residues mod p₁, …, p_k, exact, by mixed radix with centred digits.
//! * *Rounding.* f_j(z) = ⌊(z + (r_j − 1)/2)/r_j⌋ is the integer nearest to z/r_j, and F_t(x) = f_1(f_2(…f_m(2^t·x))). Each
//!   f_j is non-decreasing and f_j(z + r_j) = f_j(z) + 1; so F_t is non-decreasing and
//!   ```text
//!   (1)   F_t(x + Δ) = F_t(x) + 2^t,
//!   ```
//!   and F_t is a map from Z_q to Z_{p·2^t}. It is computed on residues, exactly: modulo every prime that is left and modulo
//!   2^t one subtracts the centred residue mod r_j and multiplies by 1/r_j. What is off a little, floating point say, has
//!   places of its own where it jumps, and the sum of `docs/protocols/triples.md`, section 6, does not hold for it.
//!
//! # Letters
//!
//! | symbol | meaning | in code |
//! |---|---|---|
//! | ℓ, σ, n | bits of a share, statistical security, triples of a batch | `Set::bits`, `sigma`, `n` |
//! | R | Z\[X\]/(Xⁿ + 1); R_m modulo m | |
//! | p = p₁⋯p_k; Δ = r₁⋯r_m; q = p·Δ | modulus of plaintexts, step, modulus of ciphertexts; primes ≡ 1 mod 2n | `Set::plain`, `rest`, `primes` |
//! | t₀, t₁ | bits of precision below the plaintext | `Set::t` |
//! | slots(f) | the n values of f ∈ R_p, in NTT order, residues by primes | |
//! | χ | centred binomial, η = 21: difference of two sums of 21 bits; σ_e² = 10.5 | |
//! | T | uniform on {−1, 0, 1}, by coefficients | |
//! | s; A, B | P₀'s secret; its public key | `Secret`; `PublicKey` |
//! | (A_a, ct_a), (A_b, ct_b) | P₀'s ciphertexts: uniform half, the half that is sent | `Request` |
//! | α, β | centred lifts to R of the polynomials whose slots are a₁, b₁ | |
//! | u, e₀, e₁ | P₁'s randomiser | |
//! | C₀, C₁; y₀, y₁ | P₁'s ciphertext; what it becomes | `Response` |
//! | Y | y₀ mod p, uniform, which both know: \[0, p) by coefficients | `coins::ANSWER` |
//! | ρ, r | mask in R_p; its slots, less o, integers in \[0, p) | |
//! | o | 2^(2ℓ−1) − 2^ℓ with the fix, else 0 | `Ring::offset` |
//! | k₀, k₁; γ, k_γ | random OT of a triple: P₀'s keys; P₁'s choice and key | `ots`; `Chosen` |
//! | m₀, m₁; w | which half d and r are in; whether the sum wraps | `upper` |
//! | x, z | what is sent for that | `flips`, in `Response`; `Correction` |
//! | F_t | rounding from q to p·2^t | `divide` |
//!
//! # Rules, each with its reason
//!
//! * P₀'s key lives for one session and is not stored: (4) is per key and batch, and a second session has another sub-sid.
//! * u, e₀, e₁ and P₁'s shares are derived from P₁'s seed and the batch's number, Y from the number, and a batch is
//!   answered once: two answers with one u would give P₀ a difference of products.
//! * A random OT serves one triple: x with the same γ twice tells whether two masks are in the same half, z with the same
//!   keys twice the difference of what they mask.
//! * Both halves are compared, and numbers reduced modulo 2^ℓ, exactly, by mixed radix, without a branch on them.
//! * Shares are never secrets of the encryption, however short they are. (d = a₀·u + … with u the share is smaller on the
//!   wire; but what is later opened with that share lets the peer test guesses for it.)
//! * P₁'s lift is exact and centred: residues in \[0, pᵢ) summed up make N 6.4 times as large.
//! * The last triple of a batch is opened when both have their shares of it, and used for nothing. It finds accidents: changed bits of a ciphertext or a
//!   key spoil most slots, and so this one; single wrong slots it hardly ever sees. It is no security against a peer that cheats, which can leave this triple right.
//!   Slots are independent given the messages, so the opened one tells of no other; a simulator has both parties' outputs for it. That it is right tells
//!   the peer that the batch decrypted: section 5.
//! * A peer that does not follow the protocol is not defended against, but for memory and panics: every residue is checked
//!   to be below its prime, every length to be exact, and nothing else is looked at.

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
