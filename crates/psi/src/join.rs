//! Payloads and claims after the tags of an intersection: the receiver reads the payloads of its matches (a private join), and the
//! sender learns its own matches.
//!
//! The oracle that gives an item's tag also gives its *key*: 32 bytes that only a party with the item can compute. A payload is
//! encrypted under the key of its item. The receiver claims a match by a hash of the key.
//!
//! ```text
//! R: matches, their keys                                S: keys of all its items, in the order of tags
//!                  ◄── Payloads ──                      if payloads are agreed on
//!                  ── Claims ──►                        if both learn
//! payloads of matches                                   its own matches
//! ```
//!
//! Both follow [`paxos`](crate::paxos) or [`vole_psi`](crate::vole_psi), and are secure against the same adversary. The receiver
//! reads a payload only if it has the item. The sender can send any payload, as it can send any item. The receiver can claim fewer
//! matches than it has, and no others. There is no fairness: a receiver that ends early has learnt its matches, and the sender has not.
//!
//! The proof is in `docs/protocols/join.md`, bytes in `docs/wire/join.md`, section 23.
//!
//! ```
//! use foxtrot_ot::{
//!     Context, Direction, Seed, Session, Sid,
//!     base::{Adversary, roted::Endemic},
//!     engine::Engine,
//!     pair::Pair,
//! };
//! use foxtrot_psi::{
//!     join::JoinTerms,
//!     method::{
//!         Assumption, Method,
//!         protocol::{IntersectionPlan, Receiver, Sender},
//!     },
//! };
//!
//! let (ours, theirs) = (vec![[1; 32], [2; 32], [3; 32]], vec![[3; 32], [5; 32]]);
//! let method =
//!     Method { base: &Endemic, assumption: Assumption::Lpn, adversary: Adversary::Malicious };
//! let parameters = method.parameters(ours.len(), theirs.len())?;
//! let plan = IntersectionPlan { parameters, base: &Endemic, direction: Direction::InitiatorSends, counter: 0 };
//! // Payloads have 5 bytes, and both sides learn.
//! let terms = JoinTerms::NONE.payload(5)?.both();
//! // The parties have agreed on the session; each has a secret seed, which it uses once.
//! let session = Session::new(Sid::from_bytes([7; 32]));
//! let context = |seed| Context::new(&session, Seed::from_bytes([seed; 32]));
//! let sender = Engine::new(|io| async move {
//!     let mut cx = context(8);
//!     let payloads = [*b"three", *b"five "];
//!     let mut payload = |k: usize, to: &mut [u8]| Ok(to.copy_from_slice(&payloads[k]));
//!     let sender = Sender::set_up(&io, &mut cx, plan).await?;
//!     sender.join(&io, theirs, terms, &mut payload, &mut |_| ()).await
//! });
//! let receiver = Engine::new(|io| async move {
//!     let mut cx = context(9);
//!     let mut store = Vec::new();
//!     let receiver = Receiver::set_up(&io, &mut cx, plan).await?;
//!     let joined = receiver.join(&io, ours, terms, &mut store, &mut |_| ()).await?;
//!     // Here the session ends.
//!     let mut payloads = Vec::new();
//!     joined.open(&mut store, |k, payload| payloads.push((k, payload.to_vec())))?;
//!     Ok(payloads)
//! });
//! let (common, payloads) = Pair::new(sender, receiver).run().map_err(|(_party, e)| e)?;
//! assert_eq!(common, [0]);
//! assert_eq!(payloads, [(2, b"three".to_vec())]);
//! # Ok::<(), foxtrot_psi::Error>(())
//! ```
//!
//! # Steps
//!
//! 1. The intersection, up to its tags. Both parties keep κ(x) for their own items beside the tags, S in the order of tags.
//! 2. *S → R:* the records of all items in the order of tags, if there are payloads. R keeps them as they come, in memory or in a file.
//! 3. *If S does not learn:* the session ends. R compares tags, decrypts the records of its matches, checks them, and has its output.
//! 4. *If S also learns:* R does so at once. Unless a check is wrong it sends k and the values of its matches, sorted. S looks them up among the
//!    values of its own items.
//!
//! # Letters
//!
//! | symbol | meaning | in code |
//! |---|---|---|
//! | κ(x) | the key of an item: bytes 32, …, 63 of the answer whose first bytes are the tag | `ItemKey` |
//! | L | bytes of a payload | `Terms::payload_len` |
//! | record | check of 8 bytes ‖ payload ⊕ stream | `payloads` |
//! | k | R's number of matches | `Matches::indices` |
//!
//! # What the proof asks of the program
//!
//! | obligation | held by |
//! |---|---|
//! | a record is read only for a match | `Join::open` takes `Matches`, which only `Received::matches` makes |
//! | nothing before the end tells of a wrong check | `Joined` compares in `open`; a test compares all messages |
//! | no claims after a damaged payload | `protocol::receive`; a test counts the messages |
//! | claims ascend, are of own items and no more than possible | `Claimed`; one test per cheat |
//! | other keys for other sessions and buckets | K_t has the bucket and ρ, the hashes here the session |

use alloc::vec::Vec;

use foxtrot_ot::{Session, Usage, engine::Abandoned};

mod claims;
mod payloads;
pub(crate) mod protocol;
#[cfg(test)]
mod tests;

pub use crate::matches::{ItemKey, Keys, Matches};
pub use claims::Claimed;
pub use protocol::Joined;

/// The most bytes of a payload.
pub const MAX_PAYLOAD: usize = 1 << 16;

/// Frames of payloads and of claims have so many bytes at most.
const FRAME: usize = crate::tags::FRAME;

/// Items whose keys are used together.
const TOGETHER: usize = crate::hashes::TOGETHER;

/// Terms of what follows the tags. Both parties have the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JoinTerms {
    /// The bytes of a payload, if there are payloads.
    payload: Option<usize>,
    /// True if the sender also learns its matches.
    both: bool,
}

impl JoinTerms {
    /// Nothing follows the tags.
    pub const NONE: Self = Self { payload: None, both: false };

    /// The sender attaches a payload of this many bytes to each of its items.
    ///
    /// # Errors
    /// [`Usage::MessageLength`] if there are more than [`MAX_PAYLOAD`].
    pub const fn payload(self, len: usize) -> Result<Self, Usage> {
        if len > MAX_PAYLOAD {
            return Err(Usage::MessageLength { len, max: MAX_PAYLOAD });
        }
        Ok(Self { payload: Some(len), ..self })
    }

    /// The sender also learns which of its items match.
    #[must_use]
    pub const fn both(self) -> Self {
        Self { both: true, ..self }
    }

    /// Bytes of all payloads for so many tags.
    #[must_use]
    pub const fn sender_bytes(&self, tags: usize) -> usize {
        match self.payload {
            Some(len) => tags.saturating_mul(payloads::record_len(len)),
            None => 0,
        }
    }

    /// Bytes of all claims for so many tags and matches.
    #[must_use]
    pub const fn receiver_bytes(&self, tags: usize, matches: usize) -> usize {
        if self.both && tags > 0 { claims::COUNT + claims::VALUE * matches } else { 0 }
    }

    /// The longest message for so many tags and matches.
    pub(crate) fn longest(&self, tags: usize, most: usize) -> usize {
        let of_payloads = self.sender_bytes(tags).min(FRAME);
        of_payloads.max(claims::VALUE * most.min(FRAME / claims::VALUE)).max(claims::COUNT)
    }

    /// Payloads for so many tags.
    pub(crate) const fn payloads(&self, tags: usize) -> usize {
        if self.payload.is_some() { tags } else { 0 }
    }
}

/// The hashes of what follows the tags of one intersection.
#[derive(Debug)]
pub struct Join {
    session: Session,
    terms: JoinTerms,
}

impl Join {
    /// Begins, in the namespace of the intersection.
    #[must_use]
    pub fn new(session: &Session, terms: JoinTerms) -> Self {
        Self { session: session.sub("psi join", 0, Default::default()), terms }
    }
}

/// A place for payloads, still encrypted, until the session has ended: memory, or a file.
pub trait Store {
    /// Appends bytes.
    ///
    /// # Errors
    /// [`Abandoned`] if there is no room: the run ends.
    fn keep(&mut self, bytes: Vec<u8>) -> Result<(), Abandoned>;

    /// Reads bytes from a place on.
    ///
    /// # Errors
    /// [`Abandoned`] if they cannot be read.
    fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), Abandoned>;
}

impl Store for Vec<u8> {
    fn keep(&mut self, bytes: Vec<u8>) -> Result<(), Abandoned> {
        self.extend_from_slice(&bytes);
        Ok(())
    }

    fn read(&mut self, at: u64, bytes: &mut [u8]) -> Result<(), Abandoned> {
        let from = usize::try_from(at).ok().and_then(|at| self.get(at..)?.get(..bytes.len()));
        bytes.copy_from_slice(from.ok_or(Abandoned)?);
        Ok(())
    }
}
