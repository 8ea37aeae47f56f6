//! A serial line under a pre-shared key: who is there, and records that nobody else can read, change, repeat, reorder or cut
//! short (`docs/wire/line.md`, section 22).
//!
//! No TLS fits a small device, and a session needs an authenticated channel. Here both ends have the same 32 secret bytes.
//! This module has no line: it makes and takes bytes.
//!
//! ```
//! use foxtrot_ot::line::{Initiator, Key, Responder};
//!
//! // One key for this line and no other; nonces are fresh and uniform.
//! let key = || Key::from_bytes([1; 32]);
//! let (initiator, opening) = Initiator::open(key(), [2; 32]);
//! let (responder, answer) = Responder::answer(key(), &opening, [3; 32])?;
//! let (mut here, confirmation) = initiator.confirm(&answer)?;
//! let mut there = responder.finish(&confirmation)?;
//!
//! let mut record = [0; 64];
//! let len = here.sealer.seal(b"hello", &mut record);
//! assert_eq!(there.opener.open(&mut record[..len])?, b"hello");
//! assert_eq!(here.exporter, there.exporter);
//! # Ok::<(), foxtrot_ot::line::Broken>(())
//! ```

#[cfg(test)]
mod tests;

use core::fmt;

use chacha20poly1305::{AeadInOut, ChaCha20Poly1305, KeyInit, Nonce, Tag};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::{choices::verdict, oracle::Oracle};

/// The first bytes of an opening and of an answer. The last one is the version.
pub const MAGIC: [u8; 8] = *b"FOXLINE\x01";
/// Bytes of the initiator's opening: the magic and a nonce.
pub const OPENING_LEN: usize = 40;
/// Bytes of the responder's answer: the magic, a nonce and its confirmation.
pub const ANSWER_LEN: usize = 72;
/// Bytes of the initiator's confirmation.
pub const CONFIRMATION_LEN: usize = 32;
/// Bytes before a record's text: its length.
pub const HEAD_LEN: usize = 2;
/// Bytes that a record is longer than its text.
pub const OVERHEAD: usize = HEAD_LEN + TAG_LEN;
/// The longest text of a record.
pub const MOST: usize = 256;

const TAG_LEN: usize = 16;

/// The pre-shared key of one line; erased when dropped.
pub struct Key(Zeroizing<[u8; 32]>);

/// The end that speaks first, waiting for the answer. It keeps the key: several openings may be needed until somebody
/// answers.
pub struct Initiator {
    key: Key,
    nonce: [u8; 32],
}

/// The end that has answered, waiting for the initiator's confirmation.
pub struct Responder {
    expected: [u8; 32],
    line: Line,
}

/// One end of a line on which both ends have shown that they have the key.
pub struct Line {
    /// Seals what this end sends.
    pub sealer: Sealer,
    /// Opens what the peer sends.
    pub opener: Opener,
    /// 32 bytes that only both ends of this line have, in this run: the hello is bound to them.
    pub exporter: [u8; 32],
}

/// Seals records, each under a number of its own.
pub struct Sealer {
    cipher: ChaCha20Poly1305,
    number: u64,
}

/// Opens records in their order.
pub struct Opener {
    cipher: ChaCha20Poly1305,
    number: u64,
}

/// The fault of a line. It is the line's, or of somebody on it: an end with the key makes none of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// Bytes that begin no line of this version.
    Magic,
    /// The other end does not have our key, or its bytes were changed.
    Key,
    /// A record was changed, lost, repeated or reordered.
    Record,
    /// A record is longer than allowed.
    TooLong,
}

impl Key {
    /// Takes a key: 32 uniform, secret bytes that are used for this line only.
    #[must_use]
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(Zeroizing::new(bytes))
    }

    /// The keys that both nonces give: the confirmations and sealing keys of initiator and responder, and the exporter.
    fn derive(&self, initiator: &[u8; 32], responder: &[u8; 32]) -> Zeroizing<[[u8; 32]; 5]> {
        let mut keys = Zeroizing::new([[0; 32]; 5]);
        let oracle = Zeroizing::new(Oracle::new("foxtrot v1 line", &self.0));
        oracle.answer(0, 0, &[initiator, responder], keys.as_flattened_mut());
        keys
    }
}

impl Initiator {
    /// Begins, with a fresh and uniform nonce: the opening is to be sent.
    #[must_use]
    pub fn open(key: Key, nonce: [u8; 32]) -> (Self, [u8; OPENING_LEN]) {
        let mut opening = [0; OPENING_LEN];
        opening[..8].copy_from_slice(&MAGIC);
        opening[8..].copy_from_slice(&nonce);
        (Self { key, nonce }, opening)
    }

    /// Checks the answer: the confirmation is to be sent.
    ///
    /// # Errors
    /// [`Broken::Magic`], [`Broken::Key`].
    pub fn confirm(
        self,
        answer: &[u8; ANSWER_LEN],
    ) -> Result<(Line, [u8; CONFIRMATION_LEN]), Broken> {
        let (responder, theirs) = answer[8..].split_at(32);
        let responder = nonce_behind(&answer[..8], responder)?;
        let keys = self.key.derive(&self.nonce, &responder);
        if !verdict(theirs.ct_eq(&keys[1])) {
            return Err(Broken::Key);
        }
        Ok((Line::new(&keys[2], &keys[3], keys[4]), keys[0]))
    }
}

impl Responder {
    /// Answers an opening, with a fresh and uniform nonce.
    ///
    /// # Errors
    /// [`Broken::Magic`].
    pub fn answer(
        key: Key,
        opening: &[u8; OPENING_LEN],
        nonce: [u8; 32],
    ) -> Result<(Self, [u8; ANSWER_LEN]), Broken> {
        let initiator = nonce_behind(&opening[..8], &opening[8..])?;
        let keys = key.derive(&initiator, &nonce);
        let mut answer = [0; ANSWER_LEN];
        answer[..8].copy_from_slice(&MAGIC);
        answer[8..40].copy_from_slice(&nonce);
        answer[40..].copy_from_slice(&keys[1]);
        Ok((Self { expected: keys[0], line: Line::new(&keys[3], &keys[2], keys[4]) }, answer))
    }

    /// Checks the initiator's confirmation.
    ///
    /// # Errors
    /// [`Broken::Key`].
    pub fn finish(self, confirmation: &[u8; CONFIRMATION_LEN]) -> Result<Line, Broken> {
        match verdict(confirmation.ct_eq(&self.expected)) {
            true => Ok(self.line),
            false => Err(Broken::Key),
        }
    }
}

fn nonce_behind(magic: &[u8], nonce: &[u8]) -> Result<[u8; 32], Broken> {
    let nonce = nonce.try_into().map_err(|_| Broken::Magic)?;
    if magic == MAGIC { Ok(nonce) } else { Err(Broken::Magic) }
}

impl Line {
    fn new(ours: &[u8; 32], theirs: &[u8; 32], exporter: [u8; 32]) -> Self {
        let [ours, theirs] = [ours, theirs].map(|key| ChaCha20Poly1305::new(key.into()));
        Self {
            sealer: Sealer { cipher: ours, number: 0 },
            opener: Opener { cipher: theirs, number: 0 },
            exporter,
        }
    }

    /// Both directions, for two threads.
    #[must_use]
    pub fn into_halves(self) -> (Sealer, Opener) {
        (self.sealer, self.opener)
    }
}

impl Sealer {
    /// Writes a record with this text; returns its length. A record without text is the last one of its direction.
    ///
    /// # Panics
    /// If the text is longer than [`MOST`], or there is no room for it and [`OVERHEAD`] bytes.
    pub fn seal(&mut self, text: &[u8], record: &mut [u8]) -> usize {
        record[HEAD_LEN..HEAD_LEN + text.len()].copy_from_slice(text);
        self.seal_in_place(text.len(), record)
    }

    /// [`Sealer::seal`] where the text stands behind the place for the head.
    ///
    /// # Panics
    /// As [`Sealer::seal`].
    pub fn seal_in_place(&mut self, text_len: usize, record: &mut [u8]) -> usize {
        assert!(text_len <= MOST, "a record's text");
        let len = u16::try_from(text_len).unwrap_or_default().to_le_bytes();
        let (head, rest) = record[..text_len + OVERHEAD].split_at_mut(HEAD_LEN);
        head.copy_from_slice(&len);
        let (text, tag) = rest.split_at_mut(text_len);
        let nonce = next(&mut self.number);
        let computed = self.cipher.encrypt_inout_detached(&nonce, &len, text.into());
        tag.copy_from_slice(&computed.expect("a record is shorter than the cipher's limit"));
        text_len + OVERHEAD
    }
}

impl Opener {
    /// The length of a record, of its first bytes.
    ///
    /// # Errors
    /// [`Broken::TooLong`].
    pub fn record_len(head: [u8; HEAD_LEN]) -> Result<usize, Broken> {
        match usize::from(u16::from_le_bytes(head)) {
            len if len > MOST => Err(Broken::TooLong),
            len => Ok(len + OVERHEAD),
        }
    }

    /// Opens the next record, in place. An empty text is the last one.
    ///
    /// # Errors
    /// [`Broken`]. The line is then of no use.
    pub fn open<'a>(&mut self, record: &'a mut [u8]) -> Result<&'a [u8], Broken> {
        let (head, rest) = record.split_first_chunk_mut().ok_or(Broken::Record)?;
        if Self::record_len(*head)? != HEAD_LEN + rest.len() {
            return Err(Broken::Record);
        }
        let (text, tag) = rest.split_at_mut(rest.len() - TAG_LEN);
        let tag = Tag::try_from(&*tag).map_err(|_| Broken::Record)?;
        let nonce = next(&mut self.number);
        let opened = self.cipher.decrypt_inout_detached(&nonce, head, (&mut *text).into(), &tag);
        opened.map_err(|_| Broken::Record)?;
        Ok(text)
    }
}

/// The next record's nonce. A line does not live long enough to number 2⁶⁴ records.
fn next(number: &mut u64) -> Nonce {
    let mut nonce = Nonce::default();
    nonce[..8].copy_from_slice(&number.to_le_bytes());
    *number += 1;
    nonce
}

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Magic => "the other end of the line does not speak Foxtrot",
            Self::Key => "the other end of the line does not have this key",
            Self::Record => "bytes on the line were lost, added or changed",
            Self::TooLong => "bytes on the line were lost, added or changed: a record is too long",
        })
    }
}

impl core::error::Error for Broken {}

foxtrot_kernel::redacted! {
    Key;
    Initiator;
    Responder;
    Line;
    Sealer, sealer => "{} records", sealer.number;
    Opener, opener => "{} records", opener.number;
}
