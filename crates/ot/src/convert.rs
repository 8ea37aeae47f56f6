//! Conversion from keys to messages of the sender's choice (`docs/wire/chosen-messages.md`, section 6).
//!
//! Both messages of a transfer are padded to one agreed length and sealed under keys derived from
//! the two keys of an endemic OT. The result realises chosen-message OT in which a corrupt sender
//! may make a message ⊥, one that does not open. The receiver meets ⊥ among the messages that it
//! chose only, so whether it met one, and how long it took to find out, depends on its choices.
//! Therefore [`Receiver::take`] only selects, [`Receiver::open`] is called when nothing more will
//! be sent to the sender, its error does not say where, and an application must not tell the
//! sender of it.

pub mod one_of_n;

use alloc::{vec, vec::Vec};

use chacha20poly1305::{AeadInOut, ChaCha20Poly1305, KeyInit, Nonce, Tag};
use zeroize::Zeroizing;

use crate::{
    Bits, Error, Misbehaved, Session, Usage,
    base::Block,
    choices::select,
    expect_at_most, expect_count, expect_len,
    oracle::{Oracle, Purpose},
};

/// The longest message in bytes.
pub const MAX_MESSAGE: usize = 1 << 24;

/// Bytes that a sealed message is longer than the agreed length.
const OVERHEAD: usize = 4 + TAG;
const TAG: usize = 16;

const PURPOSE: Purpose = Purpose::new("foxtrot v1 chosen message");

/// Transfers per frame when messages have that length.
#[must_use]
pub fn transfers_per_frame(message_len: usize) -> usize {
    ((1 << 20) / (2 * (message_len + OVERHEAD))).clamp(1, 1024)
}

/// Returns the bytes of a frame of `transfers` transfers.
#[must_use]
pub fn frame_len(transfers: usize, message_len: usize) -> usize {
    transfers * 2 * (message_len + OVERHEAD)
}

/// Seals pairs of messages, in order.
pub struct Sender {
    oracle: Oracle,
    message_len: usize,
    next: u64,
}

/// Takes the chosen message of each pair, in order; opens them all in the end.
pub struct Receiver {
    oracle: Oracle,
    message_len: usize,
    taken: Vec<Taken>,
}

/// A chosen message, still sealed.
pub(crate) struct Taken {
    cipher: ChaCha20Poly1305,
    sealed: Zeroizing<Vec<u8>>,
}

impl Sender {
    /// Prepares for messages of up to `message_len` bytes, the same for both parties.
    ///
    /// # Errors
    /// [`Usage::MessageLength`] if that is more than [`MAX_MESSAGE`].
    pub fn new(session: Session, message_len: usize) -> Result<Self, Usage> {
        let oracle = oracle(&session, PURPOSE, message_len)?;
        Ok(Self { oracle, message_len, next: 0 })
    }

    /// One frame: the next transfers' messages under their keys.
    ///
    /// # Errors
    /// [`Usage`] if a message is longer than agreed, or their number is not that of the keys.
    pub fn seal<M: AsRef<[u8]>>(
        &mut self,
        keys: &[[Block; 2]],
        messages: &[[M; 2]],
    ) -> Result<Vec<u8>, Usage> {
        expect_count("pairs of messages", keys.len(), messages.len())?;
        expect_at_most(transfers_per_frame(self.message_len), keys.len())?;
        let flat = keys.as_flattened();
        let frame = seal_all(self.message_len, messages.as_flattened(), |k| {
            let (transfer, branch) = (self.next + k as u64 / 2, u8::from(k % 2 == 1));
            (transfer, cipher(&self.oracle, (transfer, branch), &[&flat[k]]))
        })?;
        self.next += keys.len() as u64;
        Ok(frame)
    }
}

impl Receiver {
    /// Prepares for messages of up to `message_len` bytes, the same for both parties.
    ///
    /// # Errors
    /// [`Usage::MessageLength`] if that is more than [`MAX_MESSAGE`].
    pub fn new(session: Session, message_len: usize) -> Result<Self, Usage> {
        let oracle = oracle(&session, PURPOSE, message_len)?;
        Ok(Self { oracle, message_len, taken: Vec::new() })
    }

    /// Selects from one frame what the next transfers' choices say, with the keys to it.
    ///
    /// # Errors
    /// [`Decode::Length`](crate::Decode::Length); [`Usage::CountMismatch`].
    pub fn take(&mut self, choices: &Bits, keys: &[Block], frame: &[u8]) -> Result<(), Error> {
        expect_count("choices", keys.len(), choices.len())?;
        expect_at_most(transfers_per_frame(self.message_len), keys.len())?;
        expect_len("Sealed", frame, frame_len(keys.len(), self.message_len))?;
        let pairs = frame.chunks_exact(2 * (self.message_len + OVERHEAD));
        for ((i, key), pair) in keys.iter().enumerate().zip(pairs) {
            let choice = choices.get(i);
            let transfer = self.taken.len() as u64;
            let cipher = cipher(&self.oracle, (transfer, choice.unwrap_u8()), &[key]);
            let (zero, one) = pair.split_at(self.message_len + OVERHEAD);
            let mut sealed = Zeroizing::new(vec![0; zero.len()]);
            select(choice, zero, one, &mut sealed);
            self.taken.push(Taken { cipher, sealed });
        }
        Ok(())
    }

    /// Every chosen message, if every one is authentic. Call it when nothing more will be sent to
    /// the sender; see the module.
    ///
    /// # Errors
    /// [`Misbehaved::MessageAuthentication`].
    pub fn open(self) -> Result<Vec<Zeroizing<Vec<u8>>>, Misbehaved> {
        open_all(self.taken)
    }

    /// The chosen messages, still sealed.
    pub(crate) fn into_taken(self) -> Vec<Taken> {
        self.taken
    }
}

/// A frame of these messages, each of a transfer and under a cipher of its own, padded to the agreed length.
fn seal_all<M: AsRef<[u8]>>(
    message_len: usize,
    messages: &[M],
    transfer: impl Fn(usize) -> (u64, ChaCha20Poly1305),
) -> Result<Vec<u8>, Usage> {
    let mut frame = vec![0; messages.len() * (message_len + OVERHEAD)];
    let sealed = frame.chunks_exact_mut(message_len + OVERHEAD);
    for (k, (sealed, message)) in sealed.zip(messages).enumerate() {
        let ((transfer, cipher), message) = (transfer(k), message.as_ref());
        let too_long = || Usage::MessageTooLong { transfer, len: message.len(), max: message_len };
        let len = u32::try_from(message.len()).map_err(|_| too_long())?;
        let (text, tag) = sealed.split_at_mut(message_len + 4);
        text[..4].copy_from_slice(&len.to_le_bytes());
        text[4..].get_mut(..message.len()).ok_or_else(too_long)?.copy_from_slice(message);
        let computed = cipher
            .encrypt_inout_detached(&Nonce::default(), &[], text.into())
            .map_err(|_| too_long())?;
        tag.copy_from_slice(&computed);
    }
    Ok(frame)
}

/// Opens every message before it says whether all are authentic.
fn open_all(taken: Vec<Taken>) -> Result<Vec<Zeroizing<Vec<u8>>>, Misbehaved> {
    let opened: Vec<_> = taken.into_iter().map(Taken::open).collect();
    opened.into_iter().collect::<Option<_>>().ok_or(Misbehaved::MessageAuthentication)
}

impl Taken {
    pub(crate) fn open(self) -> Option<Zeroizing<Vec<u8>>> {
        let mut text = self.sealed;
        let end = text.len().checked_sub(TAG)?;
        let tag = text.split_off(end);
        let tag = Tag::try_from(tag.as_slice()).ok()?;
        let buffer = text.as_mut_slice().into();
        self.cipher.decrypt_inout_detached(&Nonce::default(), &[], buffer, &tag).ok()?;
        unpad(&text)
    }
}

/// The message from length ‖ message ‖ zeros.
fn unpad(text: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let (len, padded) = text.split_first_chunk::<4>()?;
    let (message, padding) = padded.split_at_checked(u32::from_le_bytes(*len) as usize)?;
    padding.iter().all(|&byte| byte == 0).then(|| Zeroizing::new(message.to_vec()))
}

/// The oracle of that purpose, if messages may have that length.
fn oracle(session: &Session, purpose: Purpose, len: usize) -> Result<Oracle, Usage> {
    let max = MAX_MESSAGE;
    if len > max { Err(Usage::MessageLength { len, max }) } else { Ok(session.oracle(purpose)) }
}

/// The cipher of a transfer and branch; each key seals one message, so the nonce is constant.
fn cipher(oracle: &Oracle, (i, branch): (u64, u8), fields: &[&[u8]]) -> ChaCha20Poly1305 {
    let mut key = Zeroizing::new([0; 32]);
    oracle.answer(i, branch, fields, key.as_mut_slice());
    ChaCha20Poly1305::new((&*key).into())
}

foxtrot_kernel::redacted! {
    Sender, sender => "{} transfers", sender.next;
    Receiver, receiver => "{} transfers", receiver.taken.len();
}
