//! Random OT from Module-LWE: ROTed [[BFGMMS21](https://doi.org/10.46586/tches.v2021.i4.215-238),
//! Figure 1], repaired. The default post-quantum base OT.
//!
//! | mode | realises | messages | states |
//! |---|---|---|---|
//! | `roted` | F_ROT with abort | 3 | [`rot`] |
//! | `roted-endemic` | endemic OT | 2 | [`endemic`] |
//!
//! Malicious security under Module-LWE in the random oracle model, over an authenticated channel.
//! For instance i the parties compute (all steps, the faults of the figure, and the proofs:
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
