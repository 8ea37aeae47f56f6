//! Oblivious transfer of one in N messages.
//!
//! ```
//! # #[cfg(feature = "net")] {
//! use foxtrot::{Peer, ot::one_of_n};
//!
//! let (mut ours, mut theirs) = Peer::pair();
//! // Two transfers of one in three messages.
//! let messages = ["red", "green", "blue", "dog", "cat", "bird"];
//! let sender = std::thread::spawn(move || one_of_n::send(&mut theirs, 3, &messages));
//! let chosen = one_of_n::receive(&mut ours, 3, &[2, 0])?;
//! assert_eq!([&chosen[0][..], &chosen[1][..]], [&b"blue"[..], b"dog"]);
//! sender.join().expect("no panic")?;
//! # }
//! # Ok::<(), foxtrot::Error>(())
//! ```

use alloc::vec::Vec;

use foxtrot_ot::{
    Context, Direction, Error as ProtocolError, Usage,
    base::{Adversary, Block},
    convert::one_of_n as convert,
    engine::Io,
    extension::{
        Incompatible,
        code::Linear,
        kkrt,
        one_of_n::{
            Extension,
            protocol::{Plan, Receiver, Sender, Shape},
        },
        oos,
    },
};
use zeroize::Zeroizing;

use super::Options;

#[cfg(feature = "net")]
pub use super::peer::one_of_n::{receive, send};

/// The chosen messages of a session that has not ended yet, still sealed.
pub struct Sealed {
    keys: Zeroizing<Vec<Block>>,
    sealed: convert::Receiver,
}

impl Options {
    /// The sender of one in `choices` messages each, over any engine; `messages` has those of the first transfer first. No
    /// message is longer than `message_len` bytes, which both sides know.
    ///
    /// # Errors
    /// [`Usage`] for messages that are too long or no whole number of transfers; errors of the protocol.
    pub async fn send_one_of_over<M: AsRef<[u8]>>(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        direction: Direction,
        choices: usize,
        message_len: usize,
        messages: &[M],
    ) -> Result<(), ProtocolError> {
        let shape = Shape { n: messages.len() / choices.max(1), choices };
        let mut keys = Zeroizing::new(Vec::<Block>::with_capacity(messages.len()));
        let mut sender = Sender::set_up(io, cx, self.plan_of_n(choices, direction)?).await?;
        let sink = |some: &[Block]| {
            keys.extend_from_slice(some);
            Ok(())
        };
        sender.run(io, shape, sink).await?;
        let session = cx.session().sub("chosen-messages", 0, direction);
        let mut sender = convert::Sender::new(session, message_len, choices)?;
        let per_frame = convert::messages_per_frame(message_len);
        for (keys, messages) in keys.chunks(per_frame).zip(messages.chunks(per_frame)) {
            io.send(sender.seal(keys, messages)?).await;
        }
        Ok(())
    }

    /// The receiver, over any engine; each of `picks` is below `choices`. Opens nothing: end the session first, then
    /// [`Sealed::open`].
    ///
    /// # Errors
    /// Errors of the protocol.
    pub async fn receive_one_of_over(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        direction: Direction,
        choices: usize,
        message_len: usize,
        picks: Zeroizing<Vec<u64>>,
    ) -> Result<Sealed, ProtocolError> {
        let shape = Shape { n: picks.len(), choices };
        let plan = self.plan_of_n(choices, direction)?;
        let parameters = plan.extension.parameters();
        let mut words = Zeroizing::new(Vec::with_capacity(shape.n * parameters.word_len()));
        for &pick in picks.iter() {
            let word = parameters.word(pick).map(Zeroizing::new).ok_or_else(no_word)?;
            words.extend_from_slice(&word);
        }
        let session = cx.session().sub("chosen-messages", 0, direction);
        let mut sealed = convert::Receiver::new(session, message_len, choices, picks)?;
        let mut keys = Zeroizing::new(Vec::<Block>::with_capacity(shape.n));
        let mut receiver = Receiver::set_up(io, cx, plan).await?;
        let sink = |some: &[Block]| {
            keys.extend_from_slice(some);
            Ok(())
        };
        receiver.run(io, shape, &words, sink).await?;
        while let Some(len) = sealed.next_frame_len() {
            sealed.take(&io.recv(len).await)?;
        }
        Ok(Sealed { keys, sealed })
    }

    /// The extension of one in N.
    pub(super) fn extension_of_n(&self) -> Extension {
        match self.choice.adversary() {
            Adversary::SemiHonest => kkrt::semi_honest(),
            _ => oos::malicious(Linear::Bch512),
        }
    }

    fn plan_of_n(
        &self,
        choices: usize,
        direction: Direction,
    ) -> Result<Plan<'static>, ProtocolError> {
        let (extension, base) = (self.extension_of_n(), self.choice.base_for_given());
        // The last index has a word if every one has.
        extension.parameters().word((choices as u64).saturating_sub(1)).ok_or_else(no_word)?;
        Ok(Plan { extension, base, direction, counter: 0 })
    }
}

fn no_word() -> Usage {
    Usage::Incompatible(Incompatible::NoVariant)
}

impl Sealed {
    /// Opens the chosen messages. The sender must not learn whether that fails, which may depend on the choices.
    ///
    /// # Errors
    /// [`Misbehaved::MessageAuthentication`](foxtrot_ot::Misbehaved::MessageAuthentication).
    pub fn open(self) -> Result<Vec<Zeroizing<Vec<u8>>>, ProtocolError> {
        self.sealed.open(&self.keys)
    }
}

impl core::fmt::Debug for Sealed {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("Sealed(<redacted>)")
    }
}
