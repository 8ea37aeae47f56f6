//! Random OT from Module-LWE: ROTed [[BFGMMS21](https://doi.org/10.46586/tches.v2021.i4.215-238),
//! Figure 1], repaired. The default post-quantum base OT.
//!
//! | mode | realises | messages | states |
//! |---|---|---|---|
//! | `roted` | F_ROT with abort | 3 | [`rot`] |
//! | `roted-endemic` | endemic OT | 2 | [`endemic`] |
//!
//! Malicious security under Module-LWE in the random oracle model, over an authenticated channel.
//! For instance i the parties compute (numbered steps: below; the faults of the figure, and the proofs:
//! `docs/protocols/roted.md`; bytes: `docs/wire/roted.md`, section 5)
//!
//! ```text
//! R                                                     S
//! P = A·s_R + e_R
//! T = P − H₁(i, c, r),  s = r ⊕ H′(i, c, T)
//!                  ── Blinded: [com], T, s ──►
//!                                                       for j = 0, 1, all fresh:
//!                                                       P = T + H₁(i, j, s ⊕ H′(i, j, T))
//!                                                       U = Aᵀ·s_S + e_S, rounded
//!                                                       k = ⟨s_S, P⟩ + e′;  hints, sk
//!                  ◄── Reply: [u, a], U, hints ──
//! k = ⟨s_R, U_c⟩;  sk
//!                  ── [Opening: t] ──►
//! key = H(i, c, sk, …)                                  keys = H(i, j, sk_j, …)
//! ```
//!
//! 1296 bytes from R and 2176 from S per instance. Not given: a proof against quantum
//! access to the oracles; fairness (in F_ROT mode a corrupt receiver sees its keys before it
//! decides to open, so a failed batch must not be retried in the same context).
//!
//! # Steps
//!
//! R is the receiver, S the sender. Steps without "once per batch" are done for every i.
//!
//! * **Step 1 (R).** Draw coins from the seed: s_R, e_R ← χ³ and r ← {0,1}³⁸⁴; \[once per batch
//!   t ← {0,1}²⁵⁶ and the bits c\].
//! * **Step 2 (R).** P^c = A·s_R + e_R.
//! * **Step 3 (R).** Program the POPF: T = P^c − H₁(i, c, r), s = r ⊕ H′(i, c, T).
//! * **Step 4 (R→S).** Send `Blinded` = \[com = H(t)\], (T, s) for all i.
//! * **Step 5 (S).** Evaluate P^j = T + H₁(i, j, s ⊕ H′(i, j, T)) for j = 0, 1.
//! * **Step 6 (S).** For each branch fresh s_S, e_S ← χ³ and e′ ← χ; U^j = Round₁₁(Aᵀ·s_S + e_S).
//! * **Step 7 (S).** For each branch k = ⟨s_S, P^j⟩ + e′, hints^j = hint(k), sk^j = bit(k, hints^j).
//! * **Step 8 (S→R).** Send `Reply` = \[u ← {0,1}²⁵⁶ and the bits a, once per batch\], (U^j, hints^j) for
//!   all i and j.
//! * **Step 9 (R).** Select (U^c, hints^c) without a branch; k = ⟨s_R, Ũ^c⟩; sk = bit(k, hints^c).
//! * **Step 10 (R→S).** \[Send `Opening` = t.\]
//! * **Step 11 (S).** \[Abort unless H(t) = com.\]
//! * **Step 12 (both).** Let τ be a hash of both whole messages, `Blinded` and `Reply`; \[under t, see
//!   [`rot`]\].
//!   - `roted`: the key of branch j is H_rot(i, j, sk^j, t, u, τ). S outputs it at position j ⊕ a_i. R
//!     outputs b_i = c_i ⊕ a_i and the key of branch c_i.
//!   - `roted-endemic`: the key of branch j is H_end(i, j, sk^j, τ), at position j. R outputs the key
//!     of branch c_i.
//!
//! R aborts only on an undecodable `Reply`, S only on an undecodable message or at Step 11. None of
//! these depends on a secret.
//!
//! # Helpers
//!
//! Every oracle call has a context of its own and covers `id`, i and j. A is also an oracle output.
//!
//! * H₁(i, j, r) ∈ R_q³, in NTT order, r ∈ {0,1}³⁸⁴.
//! * H′(i, j, T) = H″(i, j, D(i, T)) ∈ {0,1}³⁸⁴, where D is a 32-byte digest that both branches share.
//! * The **POPF** (programmable-once public function) is the two-round Feistel of McQuoid, Rosulek and
//!   Roy (CCS 2020), over the group R_q³. Its description is φ = (T, s); its value at j is
//!   T + H₁(i, j, s ⊕ H′(i, j, T)).
//! * Reconciliation: hint(x) and the key bit at x under a hint, bit(x, hint), of `docs/wire/README.md`, section 4. If
//!   |x − x′| < q/8 mod q then bit(x, hint(x)) = bit(x′, hint(x)). sk is the string of 256 such bits.
//! * Round₁₁ rounds coefficients to 11 bits; Ũ is U after rounding and back.
//!
//! # Letters
//!
//! * R_q = Z_q\[X\]/(X²⁵⁶ + 1), q = 7681. Vectors have three entries in R_q, A is a 3 × 3 matrix.
//! * χ: the centred binomial distribution with η = 2 on every coefficient.
//! * `id` is the sub-sid of the batch. i is the instance, 0 ≤ i < n. j is a branch, 0 or 1.
//! * c is the receiver's branch. b is its output choice: b = c ⊕ a in mode `roted`, b = c in endemic mode.
//! * q_H is the number of oracle queries of everybody in a run, honest parties included.
//!
//! | symbol | meaning | in code |
//! |---|---|---|
//! | N, q, η | ring dimension, modulus, noise parameter | const parameters `N`, `Q`; `centred_binomial` |
//! | R_q; its NTT form | polynomials by coefficients; by values | `Poly`; `NttPoly` |
//! | A | 3 × 3 matrix from the sub-sid, by rows | `Batch::a`; the oracle for its rows if there is one instance |
//! | c | the receiver's branch; equals b in endemic mode | `choices` of a `Blinding` |
//! | s_R, e_R | the receiver's secret and noise | `s_r`, `e_r` |
//! | r | the POPF's coins, 384 bits | `r` |
//! | P^c, P^j | programmed point, evaluated points, NTT form | `p` |
//! | φ = (T, s) | description of the POPF | `phi`; fast code `t`, reference `t_vector`, packed `t_bytes`; `s` |
//! | D(i, T), H′ | digest of T, mask from it | `digest`, `mask` (reference: `h_prime`) |
//! | H₁ | oracle into R_q³ | `h1` |
//! | s_S, e_S, e′ | the sender's secret and noises, per branch | `s_s`, `e_s`, `e_prime` |
//! | U^j, Ũ^j | the sender's point; after rounding to 11 bits and back | `u`, reference `u_vector`; `U_BITS` |
//! | k | common value up to noise | `k` |
//! | hints^j | one bit per coefficient of k (the paper's σ or signal) | `hints` |
//! | sk^j | 256 bits from k and hints | `sk`; for all instances `strings` |
//! | a | the sender's swap bits, mode F_ROT | `Reply::a()` |
//! | t, com | the receiver's nonce and its commitment, mode F_ROT | `t`, `commitment` |
//! | u | the sender's nonce, mode F_ROT | `Reply::u()` |
//! | κ | key of the universal hash of `Reply`, mode F_ROT | `key` |
//! | τ | hash of `Blinded` and `Reply` | `transcript` |
//!
//! T (a vector) and t (a nonce), U (a vector) and u (a nonce), s (of φ) and s_R, s_S (secrets) are
//! different things. The fast code keeps them in different modules: `popf`, `base::roted::instances`
//! and `base::roted::rot`.
//!
//! # Time and addresses
//!
//! * S computes H₁ of both branches and can count the rejections in each. R computes one of them. So
//!   sampling R_q³ takes a fixed 1560 bytes of oracle output, 960 candidates, and a compaction network
//!   whose addresses and number of operations do not depend on the candidates. It falls short with
//!   probability 2⁻¹⁵³ and is then all zero.
//! * Step 9 reads both branches of the reply and selects with masks.
//! * Noise comes from a fixed number of bits per coefficient, without tables in memory (vectors look it up within a
//!   register).
//! * What S computes from a *public* message may take variable time: decoding, A, and its two
//!   evaluations of H₁. Everyone who sees `Blinded` can compute both, so S reveals nothing by the time that
//!   they take, and samples with a table (`NttPoly::set_uniform_public`), from 1404 bytes of an answer, and from all 1560
//!   only where these do not have enough. R's one evaluation goes through the compaction network.
//!
//! # One reply per receiver state
//!
//! `finish` consumes the receiver, which can be neither copied nor stored. The reasons:
//!
//! * Both functionalities give one set of keys per choice. A second `Reply` to the same `Blinded` would
//!   give keys under the *same* c: in mode `roted` the two outputs satisfy b ⊕ b′ = a ⊕ a′, and after the
//!   first `Opening` t is no secret, so hybrid 3 of Section 9 fails. In endemic mode whatever the use of
//!   a wrong key reveals about c can be asked again.
//! * Each `Reply` applies a function of S's choice to s_R^c, and the use of the key reveals predicates of
//!   it. A key-mismatch attack recovers s_R from sufficiently many, and then P⁰ and P¹ show which of them
//!   is A·s_R + e_R: c.
//! * The failure bound is for one try. A sender that can try again can search for failures.
//!
//! A batch that is run again has a new sub-sid and new seeds on both sides.
#![doc = base_ot_example!("base::roted::Endemic", "Choice::Given(Bits::from_bools([false, true]))")]

pub mod endemic;
pub mod rot;

pub(super) mod instances;
mod messages;

pub use messages::{Blinded, Mode, Opening, Reply};

use super::{BaseOt, Choice, Functionality, Protocol, ReceiverKeys, Run, SenderKeys, check_batch};
use crate::{Seed, Session, engine::Engine};

/// The F_ROT mode, as a [`Mode`] of messages and as a [`BaseOt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rot;

/// The endemic mode, as a [`Mode`] of messages and as a [`BaseOt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endemic;

const ENDEMIC: Protocol = Protocol {
    name: "roted-endemic",
    family: "roted",
    paper: "BFGMMS21, repaired",
    assumption: "Module-LWE, random oracle",
    params: "Module768: N = 256, rank 3, q = 7681, η = 2, U in 11 bits",
    security: "core-SVP 164 classical, 148 quantum",
    caveat: "a corrupt party may fix its own keys; the proof against a corrupt receiver loses \
        a factor q_H²/4, q_H hash queries",
    flows: 2,
    receiver_bytes: Blinded::<Endemic>::encoded_len,
    sender_bytes: Reply::<Endemic>::encoded_len,
    ..Protocol::BASE_OT
};

const ROT: Protocol = Protocol {
    name: "roted",
    functionality: Functionality::Random,
    caveat: "a receiver sees its keys before it opens, so never retry a failed batch; the proof \
        against a corrupt receiver loses a factor q_H²/4, q_H hash queries",
    flows: 3,
    receiver_bytes: |n| Blinded::<Rot>::encoded_len(n) + Opening::encoded_len(n),
    sender_bytes: Reply::<Rot>::encoded_len,
    ..ENDEMIC
};

impl BaseOt for Rot {
    fn info(&self) -> &'static Protocol {
        &ROT
    }

    fn sender(&self, session: Session, n: usize, seed: Seed) -> Run<SenderKeys> {
        check_batch(n)?;
        Ok(Engine::new(move |io| async move {
            let blinded = Blinded::receive(&io, n).await?;
            let (sender, reply) = rot::Sender::respond(session, &blinded, seed);
            io.send(reply.into_bytes()).await;
            Ok(sender.finish(&Opening::receive(&io, n).await?)?)
        }))
    }

    fn receiver(&self, session: Session, choice: Choice, seed: Seed) -> Run<ReceiverKeys> {
        let n = choice.random(ROT.name)?;
        check_batch(n)?;
        Ok(Engine::new(move |io| async move {
            let (receiver, blinded) = rot::Receiver::start(session, n, seed)?;
            io.send(blinded.into_bytes()).await;
            let (keys, opening) = receiver.finish(&Reply::receive(&io, n).await?)?;
            io.send(opening.into_bytes()).await;
            Ok(keys)
        }))
    }
}

impl BaseOt for Endemic {
    fn info(&self) -> &'static Protocol {
        &ENDEMIC
    }

    fn sender(&self, session: Session, n: usize, seed: Seed) -> Run<SenderKeys> {
        check_batch(n)?;
        Ok(Engine::new(move |io| async move {
            let blinded = Blinded::receive(&io, n).await?;
            let (keys, reply) = endemic::respond(session, &blinded, seed);
            io.send(reply.into_bytes()).await;
            Ok(keys)
        }))
    }

    fn receiver(&self, session: Session, choice: Choice, seed: Seed) -> Run<ReceiverKeys> {
        let choices = choice.given(ENDEMIC.name)?;
        let n = choices.len();
        check_batch(n)?;
        Ok(Engine::new(move |io| async move {
            let (receiver, blinded) = endemic::Receiver::start(session, choices, seed)?;
            io.send(blinded.into_bytes()).await;
            Ok(receiver.finish(&Reply::receive(&io, n).await?)?)
        }))
    }
}
