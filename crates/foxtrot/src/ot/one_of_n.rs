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
//! assert_eq!([chosen.get(0), chosen.get(1)], [Some(&b"blue"[..]), Some(b"dog")]);
//! sender.join().expect("no panic")?;
//! # }
//! # Ok::<(), foxtrot::Error>(())
//! ```
//!
//! [`Options`] has these calls with other protocols.

use alloc::vec::Vec;

use foxtrot_ot::{
    Context, Direction, Error as ProtocolError,
    convert::Sealed,
    engine::{Abandoned, Io},
};
use zeroize::Zeroizing;

use super::{Options, shape};

#[cfg(feature = "net")]
pub use super::peer::one_of_n::{receive, send};

impl Options {
    /// The sender of one in `choices` messages each, over any engine; `messages` has those of the first transfer first. No
    /// message is longer than `message_len` bytes, which both sides know. `progress` counts transfers whose keys are made.
    ///
    /// ```
    /// use foxtrot::{Context, Direction, Seed, Session, Sid, engine::Engine, pair::Pair, ot::Options};
    /// use zeroize::Zeroizing;
    ///
    /// let (direction, options) = (Direction::InitiatorSends, Options::new());
    /// // The parties have agreed on the session; each has a secret seed, which it uses once.
    /// let session = Session::new(Sid::from_bytes([7; 32]));
    /// let context = |seed| Context::new(&session, Seed::from_bytes([seed; 32]));
    /// let sender = Engine::new(|io| async move {
    ///     let mut cx = context(8);
    ///     let messages = ["red", "green", "blue"];
    ///     options.send_one_of_over(&io, &mut cx, direction, 3, 5, &messages, |_| ()).await
    /// });
    /// let receiver = Engine::new(|io| async move {
    ///     let mut cx = context(9);
    ///     let picks = Zeroizing::new(vec![2]);
    ///     options.receive_one_of_over(&io, &mut cx, direction, 3, 5, picks, |_| ()).await
    /// });
    /// let ((), sealed) = Pair::new(sender, receiver).run().map_err(|(_party, e)| e)?;
    /// assert_eq!(sealed.open().next().flatten().as_deref().map(Vec::as_slice), Some(&b"blue"[..]));
    /// # Ok::<(), foxtrot::ProtocolError>(())
    /// ```
    ///
    /// # Errors
    /// [`Usage`](crate::Usage) for options that do not go together, and for messages that are too long or no whole number of transfers;
    /// errors of the protocol.
    #[expect(clippy::too_many_arguments, reason = "the session, its terms, and a call back")]
    pub async fn send_one_of_over<M: AsRef<[u8]>>(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        direction: Direction,
        choices: usize,
        message_len: usize,
        messages: &[M],
        mut progress: impl FnMut(usize) + Send,
    ) -> Result<(), ProtocolError> {
        let shape = shape(messages.len(), choices)?;
        let (message, method) =
            (|i| messages.get(i).ok_or(Abandoned), self.method(shape.n, choices)?);
        method.send_messages(io, cx, direction, shape, message_len, message, &mut progress).await
    }

    /// The receiver of [`send_one_of_over`](Self::send_one_of_over); each of `picks` is below `choices`. Opens nothing: end
    /// the session first, then [`Sealed::open`].
    ///
    /// # Errors
    /// As [`send_one_of_over`](Self::send_one_of_over).
    #[expect(clippy::too_many_arguments, reason = "the session, its terms, and a call back")]
    pub async fn receive_one_of_over(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        direction: Direction,
        choices: usize,
        message_len: usize,
        picks: Zeroizing<Vec<u64>>,
        mut progress: impl FnMut(usize) + Send,
    ) -> Result<Sealed, ProtocolError> {
        let method = self.method(picks.len(), choices)?;
        method.receive_messages(io, cx, direction, choices, message_len, picks, &mut progress).await
    }
}
