//! Base OTs that two parties keep for their next session, in place of new ones.
//!
//! A session with [`Kept::fresh`] runs the base OTs and keeps a state of them; the next one, with [`Kept::resume`], sends
//! nothing. Keys and the next state are hashes of the state under the session's id, so no key occurs twice, even if both
//! parties return to an old state. The state does not tell the keys of earlier sessions. The receiver's choices stay the same:
//! `docs/wire/resumed-base.md`, section 26, says how two parties agree on a state, and `docs/protocols/resumed-base.md` what
//! this costs in security.
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

use alloc::{sync::Arc, vec::Vec};
use spin::Mutex;
use zeroize::Zeroizing;

use super::{BaseOt, Block, Choice, Protocol, ReceiverKeys, Run, SenderKeys, expect_count};
use crate::{Bits, Decode, Direction, Seed, Session, Sid, Usage, engine::Engine, erase::Secret};

/// One party's state between two sessions: for each base OT both secrets, or a choice and its secret.
pub struct State(Secrets);

enum Secrets {
    Sender(Secret<[Block; 2]>),
    Receiver { choices: Bits, chosen: Secret<Block> },
}

/// Base OTs of which a state is kept: fresh ones, or those of a state.
pub struct Kept {
    base: &'static dyn BaseOt,
    /// The state that is taken up, until it is.
    from: Option<Mutex<Option<State>>>,
    /// The state for the next session, when the run has ended.
    next: Arc<Mutex<Option<State>>>,
}

/// The hashes of a session: keys, and the next state.
struct Hashes(Session);

impl Hashes {
    fn of(base_session: &Session) -> Self {
        Self(base_session.sub("kept-base", 0, Direction::default()))
    }

    fn hash(&self, context: &'static str, i: usize, bit: u8, secret: &Block) -> Block {
        self.0.oracle(context).query(i as u64, bit).field(secret).finish()
    }

    fn key(&self, i: usize, bit: u8, secret: &Block) -> Block {
        self.hash("foxtrot v1 resumed base key", i, bit, secret)
    }

    fn next(&self, i: usize, bit: u8, secret: &Block) -> Block {
        self.hash("foxtrot v1 kept base secret", i, bit, secret)
    }

    fn pairs(
        &self,
        of: fn(&Self, usize, u8, &Block) -> Block,
        pairs: &[[Block; 2]],
    ) -> Secret<[Block; 2]> {
        let mut hashed = Secret::zeroed(pairs.len());
        for (i, (to, pair)) in hashed.iter_mut().zip(pairs).enumerate() {
            *to = [of(self, i, 0, &pair[0]), of(self, i, 1, &pair[1])];
        }
        hashed
    }

    fn chosen(
        &self,
        of: fn(&Self, usize, u8, &Block) -> Block,
        choices: &Bits,
        chosen: &[Block],
    ) -> Secret<Block> {
        let mut hashed = Secret::zeroed(chosen.len());
        for (i, (to, secret)) in hashed.iter_mut().zip(chosen).enumerate() {
            *to = of(self, i, choices.get(i).unwrap_u8(), secret);
        }
        hashed
    }
}

impl State {
    /// The number of base OTs.
    #[must_use]
    pub fn n(&self) -> usize {
        match &self.0 {
            Secrets::Sender(pairs) => pairs.len(),
            Secrets::Receiver { chosen, .. } => chosen.len(),
        }
    }

    /// Returns true if it is the base OTs' receiver's.
    #[must_use]
    pub fn is_receivers(&self) -> bool {
        matches!(self.0, Secrets::Receiver { .. })
    }

    /// The state as bytes, for storage: secrets.
    #[must_use]
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        let mut bytes = Zeroizing::new(Vec::with_capacity(1 + 33 * self.n()));
        match &self.0 {
            Secrets::Sender(pairs) => {
                bytes.push(0);
                bytes.extend_from_slice(pairs.as_flattened().as_flattened());
            }
            Secrets::Receiver { choices, chosen } => {
                bytes.push(1);
                bytes.extend_from_slice(choices.as_bytes());
                bytes.extend_from_slice(chosen.as_flattened());
            }
        }
        bytes
    }

    /// The state of n base OTs from its bytes.
    ///
    /// # Errors
    /// [`Decode`] for any others.
    pub fn from_bytes(n: usize, bytes: &[u8]) -> Result<Self, Decode> {
        let (role, rest) = bytes.split_first().unwrap_or((&0, &[]));
        let is_receivers = *role == 1;
        let of_choices = if is_receivers { n.div_ceil(8) } else { 0 };
        let expected = of_choices + if is_receivers { 16 * n } else { 32 * n };
        if *role > 1 || n == 0 || rest.len() != expected {
            let got = rest.len();
            return Err(Decode::Length { message: "State", expected, got });
        }
        let (choices, secrets) = rest.split_at(of_choices);
        if !is_receivers {
            let mut pairs = Secret::<[Block; 2]>::zeroed(n);
            pairs.as_flattened_mut().as_flattened_mut().copy_from_slice(secrets);
            return Ok(Self(Secrets::Sender(pairs)));
        }
        let choices = Bits::decode("State", choices, n)?;
        let mut chosen = Secret::<Block>::zeroed(n);
        chosen.as_flattened_mut().copy_from_slice(secrets);
        Ok(Self(Secrets::Receiver { choices, chosen }))
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

    /// The state that is taken up; it serves once.
    fn state(&self, n: usize) -> Result<Option<State>, Usage> {
        let Some(from) = &self.from else { return Ok(None) };
        let state = from.lock().take().ok_or(Usage::SessionEnded)?;
        expect_count("kept base OTs", n, state.n())?;
        Ok(Some(state))
    }
}

/// The id of the ticket for n base OTs after a session with this sid, between the sender and the receiver with these
/// fingerprints: `docs/wire/resumed-base.md`, section 26.2. `uses` counts the sessions that the base OTs have served.
#[must_use]
pub fn ticket_id(
    sid: Sid,
    uses: u64,
    [sender, receiver]: &[[u8; 32]; 2],
    base: &str,
    n: usize,
) -> [u8; 32] {
    let query = Session::new(sid).oracle("foxtrot v1 base ticket").query(uses, 0);
    let query = query.field(sender).field(receiver).field(base.as_bytes());
    query.field(&(n as u64).to_le_bytes()).finish()
}

/// The error where a state is the other party's.
const OTHERS: Usage = Usage::CountMismatch { what: "secrets of this party", expected: 1, got: 0 };

impl BaseOt for Kept {
    fn info(&self) -> &'static Protocol {
        self.base.info()
    }

    fn sender(&self, session: Session, n: usize, seed: Seed) -> Run<SenderKeys> {
        let (hashes, next) = (Hashes::of(&session), Arc::clone(&self.next));
        if let Some(state) = self.state(n)? {
            let Secrets::Sender(pairs) = state.0 else { return Err(OTHERS) };
            return Ok(Engine::new(move |_io| async move {
                *next.lock() = Some(State(Secrets::Sender(hashes.pairs(Hashes::next, &pairs))));
                let mut keys = hashes.pairs(Hashes::key, &pairs);
                Ok(SenderKeys::new(core::mem::take(&mut keys.0)))
            }));
        }
        let run = self.base.sender(session, n, seed)?;
        Ok(Engine::new(move |io| async move {
            let keys = io.run(run).await?;
            let pairs = hashes.pairs(Hashes::next, keys.pairs());
            *next.lock() = Some(State(Secrets::Sender(pairs)));
            Ok(keys)
        }))
    }

    fn receiver(&self, session: Session, choice: Choice, seed: Seed) -> Run<ReceiverKeys> {
        let (hashes, next) = (Hashes::of(&session), Arc::clone(&self.next));
        let n = match &choice {
            Choice::Given(bits) => bits.len(),
            Choice::Random(n) => *n,
        };
        if let Some(state) = self.state(n)? {
            let Secrets::Receiver { choices, chosen } = state.0 else { return Err(OTHERS) };
            return Ok(Engine::new(move |_io| async move {
                let following = hashes.chosen(Hashes::next, &choices, &chosen);
                let copy = choices.slice(0..n);
                *next.lock() = Some(State(Secrets::Receiver { choices: copy, chosen: following }));
                let mut keys = hashes.chosen(Hashes::key, &choices, &chosen);
                Ok(ReceiverKeys::new(choices, core::mem::take(&mut keys.0)))
            }));
        }
        let run = self.base.receiver(session, choice, seed)?;
        Ok(Engine::new(move |io| async move {
            let keys = io.run(run).await?;
            let chosen = hashes.chosen(Hashes::next, keys.choices(), keys.keys());
            let choices = keys.choices().slice(0..n);
            *next.lock() = Some(State(Secrets::Receiver { choices, chosen }));
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
