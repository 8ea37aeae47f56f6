//! Base OTs that two parties keep for their next session, in place of new ones.
//!
//! A session with [`Kept::fresh`] runs the base OTs and keeps a state of them; the next one, with [`Kept::resume`], sends
//! nothing. Keys and the next state are hashes of the state under the session's id, so no key occurs twice, even if both
//! parties return to an old state. The state does not tell the keys of earlier sessions. The receiver's choices stay the same:
//! `docs/wire/resumed-base.md`, section 26, says how two parties agree on a state, and `docs/protocols/resumed-base.md` what
//! this costs in security.
//!
//! ```text
//! R: choice c, secret s_c                               S: secrets s₀, s₁
//!    in a session, for every base OT i, with the hashes H and H′ of the session's id:
//! key = H(i, c, s_c)                                    keys = H(i, 0, s₀), H(i, 1, s₁)
//! next secret = H′(i, c, s_c)                           next secrets = H′(i, 0, s₀), H′(i, 1, s₁)
//! ```
//!
//! The first secrets are H′ of the keys of fresh base OTs.
//!
//! ```
//! use foxtrot_ot::{
//!     Bits, Error, Seed, Session, Sid,
//!     base::{BaseOt, Choice, resumed::Kept, roted::Endemic},
//!     pair::Pair,
//! };
//!
//! let session = |byte| Session::new(Sid::from_bytes([byte; 32]));
//! let run = |byte, ours: &Kept, theirs: &Kept| -> Result<(), Error> {
//!     let choice = Choice::Given(Bits::from_bools([true; 128]));
//!     let sender = ours.sender(session(byte), 128, Seed::from_bytes([8; 32]))?;
//!     let receiver = theirs.receiver(session(byte), choice, Seed::from_bytes([9; 32]))?;
//!     let (pairs, chosen) = Pair::new(sender, receiver).run().map_err(|(_party, e)| e)?;
//!     assert!((0..128).all(|i| pairs.pairs()[i][1] == chosen.keys()[i]));
//!     Ok(())
//! };
//! let (ours, theirs) = (Kept::fresh(&Endemic), Kept::fresh(&Endemic));
//! run(1, &ours, &theirs)?;
//! // Each party stores its state, and erases it when it is taken up.
//! let [ours, theirs] = [ours, theirs].map(|it| it.into_state().expect("the run has ended"));
//! let resume = |state| Kept::resume(&Endemic, state);
//! run(2, &resume(ours), &resume(theirs))?;
//! # Ok::<(), Error>(())
//! ```

use alloc::{string::String, sync::Arc, vec::Vec};
use spin::Mutex;
use zeroize::Zeroizing;

use super::{BaseOt, Block, Choice, Protocol, ReceiverKeys, Run, SenderKeys, expect_count};
use crate::{Bits, Decode, Direction, Seed, Session, Sid, Usage, engine::Engine, erase::Secret};

/// One party's state between two sessions: for each base OT both secrets, or a choice and its secret.
pub struct State {
    /// The choices of the base OTs' receiver.
    choices: Option<Bits>,
    secrets: Secret<Block>,
}

/// Base OTs of which a state is kept: fresh ones, or those of a state.
pub struct Kept {
    base: &'static dyn BaseOt,
    /// The state that is taken up, until it is.
    from: Option<Mutex<Option<State>>>,
    /// The state for the next session, when the run has ended.
    next: Arc<Mutex<Option<State>>>,
}

/// The namespace of a session's hashes.
fn hashes_of(base_session: &Session) -> Session {
    base_session.sub("kept-base", 0, Direction::default())
}

impl State {
    fn hashed(&self, hashes: &Session, context: &'static str) -> Secret<Block> {
        let oracle = hashes.oracle(context);
        let mut hashed = Secret::zeroed(self.secrets.len());
        for (k, (to, secret)) in hashed.iter_mut().zip(self.secrets.iter()).enumerate() {
            let (i, bit) = match &self.choices {
                Some(choices) => (k, choices.get(k).unwrap_u8()),
                None => (k / 2, u8::from(k % 2 == 1)),
            };
            *to = oracle.query(i as u64, bit).field(secret).finish();
        }
        hashed
    }

    fn keys(&self, hashes: &Session) -> Secret<Block> {
        self.hashed(hashes, "foxtrot v1 resumed base key")
    }

    /// The state for the session after it.
    fn next(&self, hashes: &Session) -> Self {
        let choices = self.choices.as_ref().map(|choices| choices.slice(0..choices.len()));
        Self { choices, secrets: self.hashed(hashes, "foxtrot v1 kept base secret") }
    }

    /// The number of base OTs.
    #[must_use]
    pub fn n(&self) -> usize {
        if self.is_receivers() { self.secrets.len() } else { self.secrets.len() / 2 }
    }

    /// Returns true if it is the base OTs' receiver's.
    #[must_use]
    pub fn is_receivers(&self) -> bool {
        self.choices.is_some()
    }

    /// The state as bytes, for storage: secrets.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(1 + 33 * self.n()));
        bytes.push(u8::from(self.is_receivers()));
        bytes.extend_from_slice(self.choices.as_ref().map_or(&[], Bits::as_bytes));
        bytes.extend_from_slice(self.secrets.as_flattened());
        bytes
    }

    /// The state of n base OTs from its bytes.
    ///
    /// # Errors
    /// [`Decode`] for any others.
    pub fn from_bytes(n: usize, bytes: &[u8]) -> Result<Self, Decode> {
        let (role, rest) = bytes.split_first().unwrap_or((&0, &[]));
        let is_receivers = *role == 1;
        let (of_choices, secrets) =
            if is_receivers { (n.div_ceil(8), n) } else { (0, n.saturating_mul(2)) };
        let expected = secrets.saturating_mul(16).saturating_add(of_choices);
        if *role > 1 || n == 0 || rest.len() != expected {
            let got = rest.len();
            return Err(Decode::Length { message: "State", expected, got });
        }
        let (choices, secrets) = rest.split_at(of_choices);
        let choices = if is_receivers { Some(Bits::decode("State", choices, n)?) } else { None };
        Ok(Self { choices, secrets: Secret(secrets.as_chunks().0.to_vec()) })
    }
}

impl Kept {
    /// Fresh base OTs, of which a state is kept.
    #[must_use]
    pub fn fresh(base: &'static dyn BaseOt) -> Self {
        Self { base, from: None, next: Arc::default() }
    }

    /// Takes up a state of these base OTs, which serves once.
    #[must_use]
    pub fn resume(base: &'static dyn BaseOt, state: State) -> Self {
        Self { from: Some(Mutex::new(Some(state))), ..Self::fresh(base) }
    }

    /// Returns true if no message is sent.
    #[must_use]
    pub fn is_resumed(&self) -> bool {
        self.from.is_some()
    }

    /// The state for the next session, if the run has come to its end.
    #[must_use]
    pub fn into_state(self) -> Option<State> {
        self.next.lock().take()
    }

    /// The state that is taken up, a receiver's or not; it serves once.
    fn state(&self, n: usize, is_receivers: bool) -> Result<Option<State>, Usage> {
        let Some(from) = &self.from else { return Ok(None) };
        let state = from.lock().take().ok_or(Usage::SessionEnded)?;
        expect_count("kept base OTs", n, state.n())?;
        let own = usize::from(state.is_receivers() == is_receivers);
        expect_count("secrets of this party", 1, own)?;
        Ok(Some(state))
    }
}

/// The conditions under which base OTs were run. They serve no session under other ones.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MadeUnder {
    /// The digest of the session's terms, roles and keys.
    pub terms: [u8; 32],
    /// The name of the protocol that the base OTs carry.
    pub protocol: String,
    /// The name of the extension that carries the protocol.
    pub extension: String,
    /// The name of the base OT.
    pub base: String,
    /// The number of base OTs.
    pub n: usize,
}

impl MadeUnder {
    /// The id of the ticket after a session with this sid: `docs/wire/resumed-base.md`, section 26.2. `uses` counts the sessions
    /// that the base OTs have served.
    #[must_use]
    pub fn ticket_id(&self, sid: Sid, uses: u64) -> [u8; 32] {
        let query = Session::new(sid).oracle("foxtrot v1 bound base ticket").query(uses, 0);
        let query = query.field(&self.terms).field(self.protocol.as_bytes());
        let query = query.field(self.extension.as_bytes()).field(self.base.as_bytes());
        query.field(&(self.n as u64).to_le_bytes()).finish()
    }
}

impl BaseOt for Kept {
    fn info(&self) -> &'static Protocol {
        self.base.info()
    }

    fn sender(&self, session: Session, n: usize, seed: Seed) -> Run<SenderKeys> {
        let (hashes, next) = (hashes_of(&session), Arc::clone(&self.next));
        if let Some(state) = self.state(n, false)? {
            return Ok(Engine::new(move |_io| async move {
                *next.lock() = Some(state.next(&hashes));
                Ok(SenderKeys::new(state.keys(&hashes).as_chunks().0.to_vec()))
            }));
        }
        let run = self.base.sender(session, n, seed)?;
        Ok(Engine::new(move |io| async move {
            let keys = io.run(run).await?;
            let secrets = Secret(keys.pairs().as_flattened().to_vec());
            *next.lock() = Some(State { choices: None, secrets }.next(&hashes));
            Ok(keys)
        }))
    }

    fn receiver(&self, session: Session, choice: Choice, seed: Seed) -> Run<ReceiverKeys> {
        let (hashes, next) = (hashes_of(&session), Arc::clone(&self.next));
        if let Some(state) = self.state(choice.n(), true)? {
            return Ok(Engine::new(move |_io| async move {
                *next.lock() = Some(state.next(&hashes));
                let keys = state.keys(&hashes).to_vec();
                Ok(ReceiverKeys::new(state.choices.unwrap_or_default(), keys))
            }));
        }
        let run = self.base.receiver(session, choice, seed)?;
        Ok(Engine::new(move |io| async move {
            let keys = io.run(run).await?;
            let choices = Some(keys.choices().slice(0..keys.choices().len()));
            let secrets = Secret(keys.keys().to_vec());
            *next.lock() = Some(State { choices, secrets }.next(&hashes));
            Ok(keys)
        }))
    }
}

foxtrot_kernel::redacted! {
    Kept, kept => "{} {}, <redacted>", if kept.is_resumed() { "resumed" } else { "fresh" }, kept.info().name;
    State, state => "{} base OTs, <redacted>", state.n();
}

#[cfg(test)]
mod tests;
