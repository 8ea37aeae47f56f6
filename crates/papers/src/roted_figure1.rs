//! ROTed as printed: Figure 1 of [[BFGMMS21](https://doi.org/10.46586/tches.v2021.i4.215-238)], with
//! the paper's ring. For its tables, and to show its faults. **Not for use:** it is not
//! secure against a malicious peer, and its ring is below 128 bits. [`roted`](foxtrot_ot::base::roted) is the
//! repaired protocol.
//!
//! For instance i the parties compute (numbered steps: below; each fault with the test that
//! demonstrates it: below; bytes: `crates/papers/wire.md`, section 8)
//!
//! ```text
//! R                                                     S
//! p^c = m·s_R + 2e_R,  h = H₁(r)
//! p⁰ = p¹ − h if c = 1
//!                  ── Blinded: p⁰, r, H(t₀), H(t₁) ──►
//!                                                       p_S = m·s_S + 2e_S,  p¹ = p⁰ + H₁(r)
//!                                                       for i = 0, 1, with the same s_S and e′_S:
//!                                                       kⁱ = s_S·pⁱ + 2e′_S
//!                                                       σᵢ = Sig(kⁱ),  skⁱ = Mod₂(kⁱ, σᵢ)
//!                                                       Kᵢ = H₂(skⁱ)
//!                  ◄── Reply: p_S, K_a, K_{1−a}, σ₀, σ₁, u ──
//! sk_R = Mod₂(s_R·p_S + 2e′_R, σ_c)
//! b = 0 if H₂(sk_R) = K_a, 1 if it is K_{1−a}, else c
//!                  ── Opening: t₀, t₁ ──►
//! M_b = H₂(sk_R, t_c, u)                                M₀ = H₂(sk^a, t_a, u), M₁ with 1 − a
//! ```
//!
//! No attack by a party that follows it is known. A proof of even that would need Ring-LWE with hints:
//! an honest receiver sees σ_c, which depends on s_S and e′_S, and knows s_R and e_R. 1008
//! bytes from R and 1072 from S per instance. A batch is n independent instances, as in the paper.
//!
//! ```
//! use foxtrot_ot::{Seed, Session, Sid, base::{BaseOt, Choice}, pair::{Pair, assert_rot}};
//! use foxtrot_papers::roted_figure1::Figure1;
//!
//! // The parties have agreed on the session; each has a secret seed, which it uses once.
//! let session = || Session::new(Sid::from_bytes([7; 32]));
//! let sender = Figure1.sender(session(), 2, Seed::from_bytes([8; 32]))?;
//! let receiver = Figure1.receiver(session(), Choice::Random(2), Seed::from_bytes([9; 32]))?;
//! let (pairs, chosen) = Pair::new(sender, receiver).run().map_err(|(_party, e)| e)?;
//! assert_rot(&pairs, &chosen);
//! # Ok::<(), foxtrot_ot::Error>(())
//! ```
//!
//! # Steps
//!
//! The steps of the figure, for every i.
//!
//! * **Step 1 (R).** s_R, e_R, e′_R ← χ; c ← {0,1}; t₀, t₁ ← {0,1}^κ.
//! * **Step 2 (R).** p_R^c ← m·s_R + 2e_R.
//! * **Step 3 (R).** r ← {0,1}^κ; h ← H₁(r).
//! * **Step 4 (R).** p_R⁰ ← p_R¹ − h if c = 1.
//! * **Step 5 (R→S).** `Blinded` = p_R⁰, r, H(t₀), H(t₁).
//! * **Step 6 (S).** s_S, e_S, e′_S ← χ; p_S ← m·s_S + 2e_S.
//! * **Step 7 (S).** h′ ← H₁(r); p_R¹ ← p_R⁰ + h′.
//! * **Step 8 (S).** For j = 0, 1: kʲ ← s_S·p_Rʲ + 2e′_S; σⱼ ← Sig(kʲ); skʲ ← Mod₂(kʲ, σⱼ); K_j ← H₂(skʲ).
//! * **Step 9 (S).** a ← {0,1}; u ← {0,1}^κ.
//! * **Step 10 (S→R).** `Reply` = p_S, K_a, K_{1−a}, σ₀, σ₁, u.
//! * **Step 11 (R).** k_R ← s_R·p_S + 2e′_R; sk_R ← Mod₂(k_R, σ_c); K_c ← H₂(sk_R).
//! * **Step 12 (R).** b = 0 if K_a = K_c; b = 1 if K_{1−a} = K_c; b = c if neither.
//! * **Step 13 (R→S).** `Opening` = t₀, t₁. Output b, M_b = H₂(sk_R, t_c, u).
//! * **Step 14 (S).** Abort if t₀, t₁ do not match their commitments.
//! * **Step 15 (S).** Output M₀ = H₂(sk^a, t_a, u), M₁ = H₂(sk^{1−a}, t_{1−a}, u).
//!
//! # Helpers
//!
//! * H₁: {0,1}^κ → R_q, H₂ into {0,1}^κ. Every call has a context, the sub-sid and i.
//! * Sig(k) = σ_coin(k) for a random coin, one per polynomial: bit l is 1 iff |k_l| > ⌊q/4⌋ + coin. Mod₂(k, σ):
//!   bit l is the parity of k_l + σ_l·(q − 1)/2 mod q, in −(q − 1)/2 … (q − 1)/2. (Ding, Xie, Lin 2012.) If
//!   k and k′ differ by an even number below q/4 − 2 in each coefficient, Mod₂(k, Sig(k)) = Mod₂(k′, Sig(k)).
//!   The coin makes the parity exactly fair given the signal
//!   (`parities_are_exactly_fair_given_the_signal`).
//!
//! # Letters
//!
//! * R_q = Z_q\[X\]/(X⁵¹² + 1), q = 13313; R₂ = {0,1}⁵¹². κ = 128.
//! * χ: the discrete Gaussian with σ = 2 on every coefficient.
//! * i is the instance, j a branch (the figure's i). A batch is n independent instances, as in the paper;
//!   only m, from the sub-sid, is shared.
//!
//! The letters of the paper's Figure 1; where they clash with the table above, this one holds in
//! `foxtrot_papers::roted_figure1` only. The figure's i is a branch; here i is the instance and j the branch.
//!
//! | symbol | meaning | in code |
//! |---|---|---|
//! | χ | discrete Gaussian, σ = 2 | `ring::gaussian` |
//! | m | the public ring element, from the sub-sid | `Common::m` |
//! | s_R, e_R, e′_R; s_S, e_S, e′_S | secrets and noises, of the instance, not of a branch | `s_r`, `s_s`, …; 2e′ is `twice_e_prime` |
//! | p_R⁰, p_R¹; p_S | the receiver's points, the sender's | `p_0`, `p_1`; `p_s` |
//! | r, h = H₁(r) | the difference p_R¹ − p_R⁰, and what it is hashed from | `r`, `Common::h1` |
//! | σ₀, σ₁; Sig, Mod₂ | signals; how they are made and used | `signals`; `ring::signal`, `ring::parities` |
//! | kʲ, skʲ; k_R, sk_R | common values and strings | `k`, `sk`; `k_r`, `sk` |
//! | K_a, K_{1−a}; K_c | hashes of the strings; the receiver's | `confirmations`, `k_a`, `k_not_a`; `k_c` |
//! | t₀, t₁; u | the parties' nonces, 128 bits, of the instance | `t`; `u` |
//!
//! Bits are packed least significant first; integers are little endian (`docs/wire/README.md`).
#![doc = ""]
#![doc = include_str!("roted_figure1.md")]

mod common;
mod messages;
mod receiver;
pub mod ring;
mod sender;

pub use messages::{Blinded, Opening, Reply};
pub use receiver::Receiver;
pub use sender::Sender;

use foxtrot_ot::{
    Seed, Session,
    base::{
        Adversary, BaseOt, Choice, Functionality, Protocol, ReceiverKeys, Run, SenderKeys,
        check_batch,
    },
    engine::Engine,
};

/// The protocol as a [`BaseOt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Figure1;

impl BaseOt for Figure1 {
    fn info(&self) -> &'static Protocol {
        &Protocol {
            name: "roted-figure1",
            family: "roted-figure1",
            paper: "BFGMMS21, Figure 1",
            functionality: Functionality::Random,
            adversary: Adversary::SemiHonest,
            assumption: "Ring-LWE with hints, random oracle; no proof",
            params: "Paper512: N = 512, q = 13313, σ = 2",
            security: "core-SVP 111 classical, 101 quantum",
            caveat: "a malicious sender fixes every choice bit, and a malicious receiver reads a \
                     bit of each coefficient of the sender's secret",
            reproduction: true,
            flows: 3,
            receiver_bytes: |n| Blinded::encoded_len(n) + Opening::encoded_len(n),
            sender_bytes: Reply::encoded_len,
            ..Protocol::BASE_OT
        }
    }

    fn sender(&self, session: Session, n: usize, seed: Seed) -> Run<SenderKeys> {
        check_batch(n)?;
        Ok(Engine::new(move |io| async move {
            let blinded = Blinded::receive(&io, n).await?;
            let (sender, reply) = Sender::respond(session, &blinded, seed);
            io.send(reply.into_bytes()).await;
            sender.finish(&Opening::receive(&io, n).await?)
        }))
    }

    fn receiver(&self, session: Session, choice: Choice, seed: Seed) -> Run<ReceiverKeys> {
        let n = choice.random("roted-figure1")?;
        check_batch(n)?;
        Ok(Engine::new(move |io| async move {
            let (receiver, blinded) = Receiver::start(session, n, seed)?;
            io.send(blinded.into_bytes()).await;
            let (keys, opening) = receiver.finish(&Reply::receive(&io, n).await?)?;
            io.send(opening.into_bytes()).await;
            Ok(keys)
        }))
    }
}
