//! ROTed as printed: Figure 1 of [[BFGMMS21](https://doi.org/10.46586/tches.v2021.i4.215-238)], with
//! the paper's ring. For its tables, and to show its faults. **Not for use:** it is not
//! secure against a malicious peer, and its ring is below 128 bits. [`roted`](foxtrot_ot::base::roted) is the
//! repaired protocol.
//!
//! For instance i the parties compute (all numbered steps, and each fault with the test that
//! demonstrates it: `docs/protocols/roted-figure1.md`; bytes: `docs/wire/roted-figure1.md`, section 8)
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
