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
//! assert_eq!(messages.get(0), Some(&b"tails"[..]));
//! assert_eq!(messages.get(1), Some(&b"left"[..]));
//! sender.join().expect("no panic")?;
//! # }
//! # Ok::<(), foxtrot::Error>(())
//! ```
//!
//! The longest message decides how many bytes go for each, and the receiver learns that length. Up to 128 transfers are base
//! OTs (`roted`); more are an extension of them (SoftSpoken; of one in more than two, OOS). The command `foxtrot ot --hex`
//! is a peer for this module.
//!
//! # A message that does not open
//!
//! A sender that cheats can make any message one that does not open. Which of them the receiver meets depends on its choices,
//! so the receiver must not let the sender know: a program that then ends the connection, or behaves otherwise in
//! any way the sender sees, tells a choice. Therefore such a message is no error here but `None` in its place, when the
//! session has ended in order. Go on with the sender as if all had opened.

use alloc::vec::Vec;

pub use foxtrot_ot::convert::{MAX_MESSAGE, Message, Sealed};
use foxtrot_ot::{
    Context, Direction, Error as ProtocolError,
    base::BaseOt,
    engine::{Abandoned, Io},
    extension::{Extension, one_of_n::protocol::Shape},
    protocol::Purpose,
    transfers::{Extension as Above, Method},
};
use zeroize::Zeroizing;

use crate::choice::Choice;

pub mod one_of_n;
#[cfg(feature = "net")]
mod peer;
#[cfg(feature = "net")]
pub mod terms;
#[cfg(feature = "net")]
pub use peer::{Messages, receive, send};

/// The protocol and parameters of a transfer of chosen messages. Both sides have the same options.
///
/// ```
/// # #[cfg(feature = "net")] {
/// use foxtrot::{Peer, base::NaorPinkas, extension::kos, ot};
///
/// // Base OTs of 2001 against peers that follow the protocol, and an extension of them for any number of transfers.
/// let old = ot::Options::new().base(&NaorPinkas).semi_honest();
/// // Another extension, also for few transfers.
/// let kos = ot::Options::new().extension(kos::malicious());
/// for options in [old, kos] {
///     let (mut ours, mut theirs) = Peer::pair();
///     let sender = std::thread::spawn(move || options.send(&mut theirs, &[["no", "yes"]]));
///     assert_eq!(options.receive(&mut ours, &[true])?.get(0), Some(&b"yes"[..]));
///     sender.join().expect("no panic")?;
/// }
/// // What gives less than it should is refused before anything is sent.
/// let (mut ours, _theirs) = Peer::pair();
/// assert!(ot::Options::new().base(&NaorPinkas).receive(&mut ours, &[true]).is_err());
/// # }
/// # Ok::<(), foxtrot::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Options {
    choice: Choice,
    #[cfg_attr(not(feature = "net"), expect(dead_code, reason = "negotiations use it"))]
    longest: usize,
}

impl Options {
    /// The default: secure against malicious peers, post-quantum, messages of up to 64 KiB.
    #[must_use]
    pub const fn new() -> Self {
        Self { choice: Choice::DEFAULT, longest: 1 << 16 }
    }

    /// Accepts protocols that give no protection against a malicious peer, and are somewhat cheaper.
    #[must_use]
    pub fn semi_honest(self) -> Self {
        Self { choice: self.choice.semi_honest(), ..self }
    }

    /// Takes another extension, also for few transfers.
    #[must_use]
    pub fn extension(self, extension: Extension) -> Self {
        Self { choice: self.choice.extension(Above::OneOfTwo(extension)), ..self }
    }

    /// Takes [silent](crate::extension::silent) OTs: for slow links.
    #[must_use]
    pub fn silent(self, silent: crate::extension::Silent) -> Self {
        Self { choice: self.choice.extension(Above::Silent(silent)), ..self }
    }

    /// Takes another extension for [`one_of_n`], also for one of two.
    #[must_use]
    pub fn extension_of_n(self, extension: crate::extension::ExtensionOfN) -> Self {
        Self { choice: self.choice.extension(Above::OneOfN(extension)), ..self }
    }

    /// Takes base OTs alone, also for many transfers.
    #[must_use]
    pub fn without_extension(self) -> Self {
        Self { choice: self.choice.extension(Above::None), ..self }
    }

    /// Takes another base OT.
    #[must_use]
    pub fn base(self, base: &'static dyn BaseOt) -> Self {
        Self { choice: self.choice.base(base), ..self }
    }

    /// The length of the longest message, in bytes, up to [`MAX_MESSAGE`]. A receiver takes memory for as many bytes as the
    /// sender's longest message has, for every transfer, and refuses a sender that has a longer one.
    ///
    /// ```
    /// # #[cfg(feature = "net")] {
    /// use foxtrot::{Blame, Peer, ot};
    ///
    /// let (mut ours, mut theirs) = Peer::pair();
    /// let sender = std::thread::spawn(move || ot::send(&mut theirs, &[["no", "certainly"]]));
    /// let error = ot::Options::new().longest_message(8).receive(&mut ours, &[true]).expect_err("9 bytes");
    /// assert_eq!(error.blame(), Blame::Agreement);
    /// assert!(error.to_string().contains("at most 8 here and 9 at the peer"), "{error}");
    /// assert!(sender.join().expect("no panic").is_err());
    /// # }
    /// ```
    #[must_use]
    pub const fn longest_message(self, longest: usize) -> Self {
        Self { longest, ..self }
    }

    /// The sender, over any engine; no message is longer than `message_len` bytes, which both sides know. `progress` counts
    /// transfers whose keys are made.
    ///
    /// ```
    /// use foxtrot::{Context, Direction, Seed, Session, Sid, engine::Engine, pair::Pair, ot::Options};
    /// use zeroize::Zeroizing;
    ///
    /// let (direction, options) = (Direction::InitiatorSends, Options::new());
    /// // Both sides have agreed on the session; each has a secret seed, which it uses once.
    /// let session = Session::new(Sid::from_bytes([7; 32]));
    /// let context = |seed| Context::new(&session, Seed::from_bytes([seed; 32]));
    /// let sender = Engine::new(|io| async move {
    ///     let mut cx = context(8);
    ///     options.send_over(&io, &mut cx, direction, 5, &[["left", "right"]], |_| ()).await
    /// });
    /// let receiver = Engine::new(|io| async move {
    ///     let mut cx = context(9);
    ///     options.receive_over(&io, &mut cx, direction, 5, Zeroizing::new(vec![1]), |_| ()).await
    /// });
    /// let ((), sealed) = Pair::new(sender, receiver).run().map_err(|(_party, e)| e)?;
    /// let messages: Vec<_> = sealed.open().flatten().collect();
    /// assert_eq!(messages[0].as_slice(), b"right");
    /// # Ok::<(), foxtrot::ProtocolError>(())
    /// ```
    ///
    /// # Errors
    /// [`Usage`](foxtrot_ot::Usage) for options that do not go together, and for a message that is too long; errors of the
    /// protocol.
    pub async fn send_over<M: AsRef<[u8]>>(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        direction: Direction,
        message_len: usize,
        messages: &[[M; 2]],
        mut progress: impl FnMut(usize) + Send,
    ) -> Result<(), ProtocolError> {
        let (n, all) = (messages.len(), messages.as_flattened());
        let (shape, message) = (Shape { n, choices: 2 }, |i: usize| all.get(i).ok_or(Abandoned));
        let method = self.method(n, 2)?;
        method.send_messages(io, cx, direction, shape, message_len, message, &mut progress).await
    }

    /// The receiver of [`send_over`](Self::send_over): `picks` are 0 for the first message of a pair and 1 for the second.
    /// Opens nothing: end the session first, then [`Sealed::open`].
    ///
    /// # Errors
    /// As [`send_over`](Self::send_over).
    pub async fn receive_over(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        direction: Direction,
        message_len: usize,
        picks: Zeroizing<Vec<u64>>,
        mut progress: impl FnMut(usize) + Send,
    ) -> Result<Sealed, ProtocolError> {
        let method = self.method(picks.len(), 2)?;
        method.receive_messages(io, cx, direction, 2, message_len, picks, &mut progress).await
    }

    /// The protocols of `n` transfers of one in `choices`, for programs that negotiate by themselves.
    ///
    /// # Errors
    /// [`Usage`](foxtrot_ot::Usage) for options that do not go together.
    pub fn method(&self, n: usize, choices: usize) -> Result<Method, foxtrot_ot::Usage> {
        self.choice.method(Purpose::Messages, n, choices)
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

/// The transfers of so many messages.
///
/// # Errors
/// `Usage::CountMismatch` if they are no whole number.
fn shape(messages: usize, choices: usize) -> Result<Shape, foxtrot_ot::Usage> {
    let n = messages / choices.max(1);
    match n.saturating_mul(choices) {
        expected if expected == messages => Ok(Shape { n, choices }),
        expected => {
            Err(foxtrot_ot::Usage::CountMismatch { what: "messages", expected, got: messages })
        }
    }
}
