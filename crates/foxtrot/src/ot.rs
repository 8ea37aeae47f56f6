//! Oblivious transfer of messages: the sender has messages, the receiver gets the ones it chooses. The sender does not
//! learn the choices, and the receiver learns nothing of the other messages.
//!
//! ```
//! # #[cfg(feature = "net")] {
//! use foxtrot::{Peer, ot};
//!
//! let (mut ours, mut theirs) = Peer::pair();
//! let pairs = [["heads", "tails"], ["left", "right"]];
//! let sender = std::thread::spawn(move || ot::send(&mut theirs, &pairs));
//! let messages = ot::receive(&mut ours, &[true, false])?;
//! assert_eq!([&messages[0][..], &messages[1][..]], [&b"tails"[..], b"left"]);
//! sender.join().expect("no panic")?;
//! # }
//! # Ok::<(), foxtrot::Error>(())
//! ```
//!
//! The longest message decides how many bytes go for each, and the receiver learns that length. Up to 128 transfers are base
//! OTs (`roted`); more are an extension of them (SoftSpoken; of one in more than two, OOS). The command `foxtrot ot --hex`
//! is a peer for this module.

use alloc::vec::Vec;

use foxtrot_ot::{
    Bits, Context, Direction, Error as ProtocolError,
    base::{BaseOt, Block, Choice as Choices},
    convert,
    engine::Io,
    extension::{
        Extension, Kind, Shape,
        protocol::{Receiver, Sender},
    },
};
use zeroize::Zeroizing;

use crate::choice::{Choice, plan};

pub mod one_of_n;
#[cfg(feature = "net")]
mod peer;
#[cfg(feature = "net")]
pub use peer::{Messages, receive, send};

/// How messages are transferred. Both sides have the same options.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    choice: Choice,
}

/// The chosen messages of a session that has not ended yet, still sealed.
pub struct Sealed(convert::Receiver);

impl Options {
    /// The default: secure against malicious peers, post-quantum.
    #[must_use]
    pub const fn new() -> Self {
        Self { choice: Choice::DEFAULT }
    }

    /// Accepts protocols that give no protection against a malicious peer, and are somewhat cheaper.
    #[must_use]
    pub fn semi_honest(self) -> Self {
        Self { choice: self.choice.semi_honest() }
    }

    /// Takes another extension, also for few transfers.
    #[must_use]
    pub fn extension(self, extension: Extension) -> Self {
        Self { choice: self.choice.extension(extension) }
    }

    /// Takes another base OT.
    #[must_use]
    pub fn base(self, base: &'static dyn BaseOt) -> Self {
        Self { choice: self.choice.base(base) }
    }

    /// The sender, over any engine; no message is longer than `message_len` bytes, which both sides know.
    ///
    /// # Errors
    /// [`Usage`](foxtrot_ot::Usage) for a message that is too long; errors of the protocol.
    pub async fn send_over<M: AsRef<[u8]>>(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        direction: Direction,
        message_len: usize,
        messages: &[[M; 2]],
    ) -> Result<(), ProtocolError> {
        let n = messages.len();
        let mut keys = Zeroizing::new(Vec::<[Block; 2]>::with_capacity(n));
        let base = self.choice.base_for_given();
        match self.extension_for(n)? {
            None => {
                let session = cx.session().sub(base.info().name, 0, direction);
                let made = io.run(base.sender(session, n, cx.seed())?).await?;
                keys.extend_from_slice(made.pairs());
            }
            Some(extension) => {
                let mut sender = Sender::set_up(io, cx, plan(extension, base, direction)).await?;
                let sink = |some: &[[Block; 2]]| {
                    keys.extend_from_slice(some);
                    Ok(())
                };
                sender.random(io, Shape::given(n), sink).await?;
            }
        }
        let session = cx.session().sub("chosen-messages", 0, direction);
        let mut sender = convert::Sender::new(session, message_len)?;
        let per_frame = convert::transfers_per_frame(message_len);
        for (keys, messages) in keys.chunks(per_frame).zip(messages.chunks(per_frame)) {
            io.send(sender.seal(keys, messages)?).await;
        }
        Ok(())
    }

    /// The receiver, over any engine. Opens nothing: end the session first, then [`Sealed::open`].
    ///
    /// # Errors
    /// Errors of the protocol.
    pub async fn receive_over(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        direction: Direction,
        message_len: usize,
        choices: &Bits,
    ) -> Result<Sealed, ProtocolError> {
        let n = choices.len();
        let given = || Choices::Given(choices.slice(0..n));
        let mut keys = Zeroizing::new(Vec::<Block>::with_capacity(n));
        let base = self.choice.base_for_given();
        match self.extension_for(n)? {
            None => {
                let session = cx.session().sub(base.info().name, 0, direction);
                let made = io.run(base.receiver(session, given(), cx.seed())?).await?;
                keys.extend_from_slice(made.keys());
            }
            Some(extension) => {
                let plan = plan(extension, base, direction);
                let mut receiver = Receiver::set_up(io, cx, plan).await?;
                let sink = |_: &Bits, some: &[Block]| {
                    keys.extend_from_slice(some);
                    Ok(())
                };
                receiver.run(io, &given(), Kind::Random, sink).await?;
            }
        }
        let session = cx.session().sub("chosen-messages", 0, direction);
        let mut receiver = convert::Receiver::new(session, message_len)?;
        let per_frame = convert::transfers_per_frame(message_len);
        for (frame, keys) in keys.chunks(per_frame).enumerate() {
            let start = frame * per_frame;
            let sealed = io.recv(convert::frame_len(keys.len(), message_len)).await;
            receiver.take(&choices.slice(start..start + keys.len()), keys, &sealed)?;
        }
        Ok(Sealed(receiver))
    }

    /// The extension, if so many transfers take one.
    fn extension_for(&self, n: usize) -> Result<Option<Extension>, ProtocolError> {
        match self.choice.is_base_only(n) {
            true => Ok(None),
            false => self.choice.extension_of_two().map(Some),
        }
    }
}

impl Sealed {
    /// Opens the chosen messages. The sender must not learn whether that fails, which may depend on the choices.
    ///
    /// # Errors
    /// [`Misbehaved::MessageAuthentication`](foxtrot_ot::Misbehaved::MessageAuthentication).
    pub fn open(self) -> Result<Vec<Zeroizing<Vec<u8>>>, ProtocolError> {
        Ok(self.0.open()?)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

impl core::fmt::Debug for Sealed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Sealed(<redacted>)")
    }
}
