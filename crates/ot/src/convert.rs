//! Conversion from keys to messages of the sender's choice (`docs/wire/chosen-messages.md`, section 6).
//!
//! All messages of a transfer are padded to one agreed length and sealed under keys derived from
//! the keys of an endemic OT. The result realises chosen-message OT in which a corrupt sender
//! may make a message ⊥, one that does not open. The receiver meets ⊥ among the messages that it
//! chose only, so whether it met one, and how long it took to find out, depends on its choices.
//! Therefore [`Receiver::take`] only selects, and [`Sealed::open`] is called when nothing more will
//! be sent to the sender. An application must not tell the sender which messages did not open.

use alloc::{vec, vec::Vec};

use chacha20poly1305::{AeadInOut, ChaCha20Poly1305, KeyInit, Nonce, Tag};
use foxtrot_kernel::{Backend, bits::xor_masked};
use subtle::{ConstantTimeEq, ConstantTimeLess};
use zeroize::Zeroizing;

use crate::{
    Error, Session, Usage,
    base::Block,
    choices::verdict,
    expect_at_most, expect_count, expect_len,
    oracle::{Oracle, Purpose},
};

/// The longest message in bytes.
pub const MAX_MESSAGE: usize = 1 << 24;

/// Bytes that a sealed message is longer than the agreed length.
const OVERHEAD: usize = 4 + TAG;
const TAG: usize = 16;

const PAIRS: Purpose = Purpose::new("foxtrot v1 chosen message");
const OF_N: Purpose = Purpose::new("foxtrot v1 chosen message of n");

/// Bytes of sealed messages in a frame, about.
const FRAME: usize = 1 << 20;

/// The number of messages of a transfer, and how they are sealed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Two, after 1-of-2 OTs (section 6 of the wire format). Frames hold whole transfers.
    Pairs,
    /// Any number, after 1-of-N OTs (section 10). Frames begin anywhere in a transfer.
    OneOf(usize),
}

/// A message, erased on drop.
pub type Message = Zeroizing<Vec<u8>>;

/// Seals the messages of all transfers, in order.
pub struct Sender {
    terms: MessageTerms,
    next: u64,
}

/// Takes the chosen message of each transfer, in order, under its key.
pub struct Receiver {
    backend: Backend,
    terms: MessageTerms,
    chosen: Zeroizing<Vec<u64>>,
    keys: Zeroizing<Vec<Block>>,
    taken: Vec<Taken>,
    next: u64,
}

/// The chosen messages of a session that has not ended yet, still sealed.
pub struct Sealed(Vec<Taken>);

/// A chosen message, still sealed.
struct Taken {
    cipher: ChaCha20Poly1305,
    sealed: Message,
}

/// The session, format and length that both parties have agreed on.
pub(crate) struct MessageTerms {
    oracle: Oracle,
    format: Format,
    message_len: usize,
}

impl Format {
    /// The most messages of a frame when they have that length; only the last frame has fewer.
    #[must_use]
    pub fn messages_per_frame(self, message_len: usize) -> usize {
        let messages = FRAME / message_len.saturating_add(OVERHEAD);
        match self {
            Self::Pairs => 2 * (messages / 2).clamp(1, 1024),
            Self::OneOf(_) => messages.max(1),
        }
    }

    fn choices(self) -> usize {
        match self {
            Self::Pairs => 2,
            Self::OneOf(choices) => choices,
        }
    }
}

/// Bytes of a frame of so many messages.
#[must_use]
pub fn frame_len(messages: usize, message_len: usize) -> usize {
    messages * (message_len + OVERHEAD)
}

impl MessageTerms {
    pub(crate) fn new(
        session: &Session,
        format: Format,
        message_len: usize,
    ) -> Result<Self, Usage> {
        let purpose = match format {
            Format::Pairs => PAIRS,
            Format::OneOf(0) => return Err(Usage::Choices { choices: 0 }),
            Format::OneOf(_) => OF_N,
        };
        if message_len > MAX_MESSAGE {
            return Err(Usage::MessageLength { len: message_len, max: MAX_MESSAGE });
        }
        Ok(Self { oracle: session.oracle(purpose), format, message_len })
    }

    fn choices(&self) -> u64 {
        self.format.choices() as u64
    }

    /// The transfer of a message, by its number among all, and its index there.
    fn place(&self, number: u64) -> (u64, u64) {
        (number / self.choices(), number % self.choices())
    }

    /// The cipher of a transfer and choice; each key seals one message, so the nonce is constant.
    fn cipher(&self, (transfer, choice): (u64, u64), key: &Block) -> ChaCha20Poly1305 {
        let mut derived = Zeroizing::new([0; 32]);
        let (index, answer) = (choice.to_le_bytes(), derived.as_mut_slice());
        match self.format {
            Format::Pairs => self.oracle.answer(transfer, index[0], &[key], answer),
            Format::OneOf(_) => self.oracle.answer(transfer, 0, &[&index, key], answer),
        }
        ChaCha20Poly1305::new((&*derived).into())
    }
}

impl Sender {
    /// Prepares for messages of up to `message_len` bytes, the same for both parties.
    ///
    /// # Errors
    /// [`Usage::MessageLength`] if that is more than [`MAX_MESSAGE`]; [`Usage::Choices`] if there
    /// is nothing to choose from.
    pub fn new(session: Session, format: Format, message_len: usize) -> Result<Self, Usage> {
        Ok(Self { terms: MessageTerms::new(&session, format, message_len)?, next: 0 })
    }

    /// One frame: the next messages under their keys, each padded to the agreed length. There are
    /// [`Format::messages_per_frame`], but in the last frame: the receiver takes no other.
    ///
    /// # Errors
    /// [`Usage`] if a message is longer than agreed, their number is not that of the keys, more
    /// than a frame holds, or not of whole pairs.
    pub fn seal<M: AsRef<[u8]>>(
        &mut self,
        keys: &[Block],
        messages: &[M],
    ) -> Result<Vec<u8>, Usage> {
        let max = self.terms.message_len;
        expect_count("messages", keys.len(), messages.len())?;
        expect_at_most(self.terms.format.messages_per_frame(max), keys.len())?;
        if self.terms.format == Format::Pairs {
            expect_count("messages of pairs", keys.len().next_multiple_of(2), keys.len())?;
        }
        let mut frame = vec![0; frame_len(messages.len(), max)];
        let sealed = frame.chunks_exact_mut(max + OVERHEAD);
        for (((sealed, message), key), number) in sealed.zip(messages).zip(keys).zip(self.next..) {
            let (place, message) = (self.terms.place(number), message.as_ref());
            let too_long = || Usage::MessageTooLong { transfer: place.0, len: message.len(), max };
            let len = u32::try_from(message.len()).map_err(|_| too_long())?;
            let (text, tag) = sealed.split_at_mut(max + 4);
            text[..4].copy_from_slice(&len.to_le_bytes());
            text[4..].get_mut(..message.len()).ok_or_else(too_long)?.copy_from_slice(message);
            let cipher = self.terms.cipher(place, key);
            let computed = cipher
                .encrypt_inout_detached(&Nonce::default(), &[], text.into())
                .map_err(|_| too_long())?;
            tag.copy_from_slice(&computed);
        }
        // A frame that was refused has not been.
        self.next += keys.len() as u64;
        Ok(frame)
    }
}

impl Receiver {
    /// Prepares for messages of up to `message_len` bytes, the same for both parties; with the
    /// index of the chosen message in each transfer, and its key.
    ///
    /// # Errors
    /// As of [`Sender::new`]; [`Usage::NoSuchChoice`] as [`check_picks`] says, and
    /// [`Usage::CountMismatch`].
    pub fn new(
        session: Session,
        format: Format,
        message_len: usize,
        chosen: Zeroizing<Vec<u64>>,
        keys: Zeroizing<Vec<Block>>,
    ) -> Result<Self, Usage> {
        let terms = MessageTerms::new(&session, format, message_len)?;
        check_picks(&chosen, format.choices())?;
        expect_count("keys", chosen.len(), keys.len())?;
        let (backend, taken) = (session.backend(), Vec::with_capacity(chosen.len()));
        Ok(Self { backend, terms, chosen, keys, taken, next: 0 })
    }

    /// Bytes of the frame that comes next; `None` after the last.
    #[must_use]
    pub fn next_frame_len(&self) -> Option<usize> {
        let all = self.terms.choices().saturating_mul(self.chosen.len() as u64);
        let left = usize::try_from(all.saturating_sub(self.next)).unwrap_or(usize::MAX);
        let len = self.terms.message_len;
        let messages = left.min(self.terms.format.messages_per_frame(len));
        (messages > 0).then(|| frame_len(messages, len))
    }

    /// Selects from the next frame what was chosen, reading all of it.
    ///
    /// # Errors
    /// [`Decode::Length`](crate::Decode::Length).
    pub fn take(&mut self, frame: &[u8]) -> Result<(), Error> {
        expect_len("Sealed", frame, self.next_frame_len().unwrap_or(0))?;
        let len = self.terms.message_len + OVERHEAD;
        for sealed in frame.chunks_exact(len) {
            let (transfer, choice) = self.terms.place(self.next);
            if choice == 0 {
                let i = self.taken.len();
                let cipher = self.terms.cipher((transfer, self.chosen[i]), &self.keys[i]);
                self.taken.push(Taken { cipher, sealed: Zeroizing::new(vec![0; len]) });
            }
            let i = self.taken.len() - 1;
            let mask = choice.ct_eq(&self.chosen[i]).unwrap_u8().wrapping_neg();
            xor_masked(self.backend, &mut self.taken[i].sealed, sealed, mask);
            self.next += 1;
        }
        Ok(())
    }

    /// The chosen messages, still sealed, when all frames have come.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`] if frames are missing.
    pub fn finish(self) -> Result<Sealed, Usage> {
        if self.next_frame_len().is_some() {
            // Transfers of which all messages have come.
            let got = usize::try_from(self.terms.place(self.next).0).unwrap_or(usize::MAX);
            expect_count("transfers", self.chosen.len(), got)?;
        }
        Ok(Sealed(self.taken))
    }
}

impl Sealed {
    /// Opens the chosen messages, in order; `None` is one that does not open, because the sender cheats or a memory is
    /// faulty. The sender must not learn of it, since that may depend on the choices: end the session first, and open all
    /// before you act on any.
    pub fn open(self) -> impl Iterator<Item = Option<Message>> {
        self.0.into_iter().map(Taken::open)
    }
}

impl Taken {
    fn open(self) -> Option<Message> {
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
fn unpad(text: &[u8]) -> Option<Message> {
    let (len, padded) = text.split_first_chunk::<4>()?;
    let (message, padding) = padded.split_at_checked(u32::from_le_bytes(*len) as usize)?;
    padding.iter().all(|&byte| byte == 0).then(|| Zeroizing::new(message.to_vec()))
}

/// Checks that each pick is below `choices`; looks at all of them, since an early end would tell where.
///
/// # Errors
/// [`Usage::NoSuchChoice`].
pub fn check_picks(picks: &[u64], choices: usize) -> Result<(), Usage> {
    let choices = choices as u64;
    let all = picks.iter().fold(subtle::Choice::from(1), |all, pick| all & pick.ct_lt(&choices));
    if verdict(all) { Ok(()) } else { Err(Usage::NoSuchChoice { choices }) }
}

foxtrot_kernel::redacted! {
    Sender, sender => "{} messages, 1 of {}", sender.next, sender.terms.choices();
    Receiver, receiver => "{} messages, 1 of {}", receiver.next, receiver.terms.choices();
    Sealed, sealed => "{} messages", sealed.0.len();
}
