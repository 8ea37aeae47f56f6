//! One of N messages each: the same as for one of two (see the module above), with N keys to every
//! transfer.

use alloc::{vec, vec::Vec};

use foxtrot_kernel::{Backend, bits::xor_masked};
use subtle::{Choice, ConstantTimeEq, ConstantTimeLess};
use zeroize::Zeroizing;

use super::{OVERHEAD, Taken, open_all, oracle, seal_all};
use crate::{
    Error, Session, Usage, base::Block, choices::verdict, expect_at_most, expect_count, expect_len,
    oracle::Oracle,
};

/// Bytes of sealed messages in a frame, about.
const FRAME: usize = 1 << 20;

const PURPOSE: &str = "foxtrot v1 chosen message of n";

/// Messages per frame when they have that length; frames begin anywhere in a transfer.
#[must_use]
pub fn messages_per_frame(message_len: usize) -> usize {
    (FRAME / message_len.saturating_add(OVERHEAD)).max(1)
}

/// Bytes of a frame of so many messages.
#[must_use]
pub fn frame_len(messages: usize, message_len: usize) -> usize {
    messages * (message_len + OVERHEAD)
}

/// Seals messages, N to a transfer, in order.
pub struct Sender {
    oracle: Oracle,
    message_len: usize,
    choices: u64,
    next: u64,
}

/// Takes the chosen message of each N, in order; opens them all in the end.
pub struct Receiver {
    backend: Backend,
    oracle: Oracle,
    message_len: usize,
    choices: u64,
    chosen: Zeroizing<Vec<u64>>,
    sealed: Vec<Zeroizing<Vec<u8>>>,
    next: u64,
}

impl Sender {
    /// Prepares for messages of up to `message_len` bytes, `choices` to a transfer: both the same
    /// for both parties.
    ///
    /// # Errors
    /// [`Usage::MessageLength`]; [`Usage::Choices`] if there is nothing to choose from.
    pub fn new(session: Session, message_len: usize, choices: usize) -> Result<Self, Usage> {
        let (oracle, choices) = (oracle(&session, PURPOSE.into(), message_len)?, number(choices)?);
        Ok(Self { oracle, message_len, choices, next: 0 })
    }

    /// One frame: the next messages, at most [`messages_per_frame`], under their keys.
    ///
    /// # Errors
    /// [`Usage`] if a message is longer than agreed, their number is not that of the keys, or more
    /// than a frame holds.
    pub fn seal<M: AsRef<[u8]>>(
        &mut self,
        keys: &[Block],
        messages: &[M],
    ) -> Result<Vec<u8>, Usage> {
        expect_count("messages", keys.len(), messages.len())?;
        expect_at_most(messages_per_frame(self.message_len), keys.len())?;
        let frame = seal_all(self.message_len, messages, |k| {
            let number = self.next + k as u64;
            let (transfer, choice) = (number / self.choices, number % self.choices);
            (transfer, cipher(&self.oracle, transfer, choice, &keys[k]))
        })?;
        // A frame that was refused has not been.
        self.next += keys.len() as u64;
        Ok(frame)
    }
}

impl Receiver {
    /// Prepares for messages of up to `message_len` bytes, `choices` to a transfer: both the same
    /// for both parties; with what is chosen of each transfer.
    ///
    /// # Errors
    /// [`Usage::MessageLength`]; [`Usage::Choices`] if there is nothing to choose from, and
    /// [`Usage::NoSuchChoice`] if something else is chosen, without saying where.
    pub fn new(
        session: Session,
        message_len: usize,
        choices: usize,
        chosen: Zeroizing<Vec<u64>>,
    ) -> Result<Self, Usage> {
        let (oracle, choices) = (oracle(&session, PURPOSE.into(), message_len)?, number(choices)?);
        let all = chosen.iter().fold(Choice::from(1), |all, chosen| all & chosen.ct_lt(&choices));
        if !verdict(all) {
            return Err(Usage::NoSuchChoice { choices });
        }
        let backend = session.backend();
        let (sealed, next) = (Vec::with_capacity(chosen.len()), 0);
        Ok(Self { backend, oracle, message_len, choices, chosen, sealed, next })
    }

    /// Bytes of the frame that comes next; `None` after the last.
    #[must_use]
    pub fn next_frame_len(&self) -> Option<usize> {
        let all = self.choices.saturating_mul(self.chosen.len() as u64);
        let left = usize::try_from(all.saturating_sub(self.next)).unwrap_or(usize::MAX);
        let messages = left.min(messages_per_frame(self.message_len));
        (messages > 0).then(|| frame_len(messages, self.message_len))
    }

    /// Selects from the next frame what was chosen, reading all of it.
    ///
    /// # Errors
    /// [`Decode::Length`](crate::Decode::Length).
    pub fn take(&mut self, frame: &[u8]) -> Result<(), Error> {
        expect_len("Sealed", frame, self.next_frame_len().unwrap_or(0))?;
        let len = self.message_len + OVERHEAD;
        for sealed in frame.chunks_exact(len) {
            let (transfer, choice) = (self.next / self.choices, self.next % self.choices);
            if choice == 0 {
                self.sealed.push(Zeroizing::new(vec![0; len]));
            }
            let chosen = usize::try_from(transfer).ok().and_then(|i| self.chosen.get(i));
            if let (Some(taken), Some(chosen)) = (self.sealed.last_mut(), chosen) {
                let mask = choice.ct_eq(chosen).unwrap_u8().wrapping_neg();
                xor_masked(self.backend, taken, sealed, mask);
            }
            self.next += 1;
        }
        Ok(())
    }

    /// Every chosen message under its key, if every one is authentic. Call it when nothing more will
    /// be sent to the sender; see the module above.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if frames are missing, or keys; [`Misbehaved::MessageAuthentication`](crate::Misbehaved::MessageAuthentication).
    pub fn open(self, keys: &[Block]) -> Result<Vec<Zeroizing<Vec<u8>>>, Error> {
        Ok(open_all(self.into_taken(keys)?)?)
    }

    /// The chosen messages, still sealed, and what opens them.
    pub(crate) fn into_taken(self, keys: &[Block]) -> Result<Vec<Taken>, Usage> {
        let expected = self.chosen.len();
        if self.next_frame_len().is_some() {
            // Transfers of which all messages have come.
            let got = usize::try_from(self.next / self.choices).unwrap_or(usize::MAX);
            return Err(Usage::CountMismatch { what: "transfers", expected, got });
        }
        expect_count("keys", expected, keys.len())?;
        let parts = (0_u64..).zip(self.sealed).zip(self.chosen.iter().zip(keys));
        let taken = parts.map(|((transfer, sealed), (choice, key))| Taken {
            cipher: cipher(&self.oracle, transfer, *choice, key),
            sealed,
        });
        Ok(taken.collect())
    }
}

fn number(choices: usize) -> Result<u64, Usage> {
    if choices == 0 { Err(Usage::Choices { choices }) } else { Ok(choices as u64) }
}

/// The cipher of transfer i and choice j.
fn cipher(oracle: &Oracle, i: u64, j: u64, key: &Block) -> chacha20poly1305::ChaCha20Poly1305 {
    super::cipher(oracle, (i, 0), &[&j.to_le_bytes(), key])
}

foxtrot_kernel::redacted! {
    Sender, sender => "{} messages, 1 of {}", sender.next, sender.choices;
    Receiver, receiver => "{} messages, 1 of {}", receiver.next, receiver.choices;
}
