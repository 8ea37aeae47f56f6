//! Random OTs: the sender has two random keys of each, the receiver one of the two and a random choice bit that says
//! which. The material of most MPC protocols.
//!
//! ```
//! # #[cfg(feature = "net")] {
//! use foxtrot::{Peer, rot};
//!
//! let (mut ours, mut theirs) = Peer::pair();
//! let sender = std::thread::spawn(move || rot::send(&mut theirs, 1000));
//! let (choices, keys) = rot::receive(&mut ours, 1000)?;
//! let pairs = sender.join().expect("no panic")?;
//! for (i, key) in keys.iter().enumerate() {
//!     assert_eq!(*key, pairs[i][usize::from(choices.get(i).unwrap_u8())]);
//! }
//! # }
//! # Ok::<(), foxtrot::Error>(())
//! ```
//!
//! By default SoftSpoken (k = 4) over 128 `roted` base OTs: secure against malicious peers, from module-LWE and
//! symmetric primitives only. [`Options`] has the rest.
//!
//! # Correlated OTs
//!
//! In a correlated OT the sender has a row, and the receiver the same row plus Δ where its choice bit is 1; Δ is one for all
//! OTs of a call. This promises less than random OTs do. A receiver that cheats may guess groups of bits of Δ: a right guess
//! stays unnoticed, a wrong one ends the session. Either party may fix its own rows
//! (`docs/protocols/softspoken.md`, section 1). So a row is no key: hash each row with its number before you use it as
//! one, and let Δ be secret for one call only, which is how the calls here make it.

use foxtrot_ot::{
    Bits, Context, Direction, Error as ProtocolError, Usage,
    base::{BaseOt, Block, Choice as Choices},
    engine::{Abandoned, Io},
    extension::{
        Extension, Incompatible, OtKind, Shape,
        protocol::{ExtensionPlan, Receiver, Sender},
    },
    protocol::Purpose,
    transfers::{Extension as Above, Method},
};

use crate::choice::Choice;

#[cfg(feature = "net")]
mod peer;
#[cfg(feature = "net")]
pub mod terms;
#[cfg(feature = "net")]
pub use peer::{Delta, receive, receive_correlated, send, send_correlated};

/// The protocol and parameters of random and correlated OTs. Both sides have the same options.
///
/// ```
/// # #[cfg(feature = "net")] {
/// use foxtrot::{Peer, extension::softspoken, rot};
///
/// // Half of the bytes of the default, and more computing.
/// let options = rot::Options::new().extension(softspoken::malicious(8)?);
/// let (mut ours, mut theirs) = Peer::pair();
/// let sender = std::thread::spawn(move || options.send(&mut theirs, 1000));
/// // Batch after batch, for more than fit into memory.
/// let mut received = 0;
/// options.receive_into(&mut ours, 1000, |_choices, keys| {
///     received += keys.len();
///     Ok::<_, std::io::Error>(())
/// })?;
/// assert_eq!(received, sender.join().expect("no panic")?.len());
/// # }
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy)]
pub struct Options {
    choice: Choice,
}

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

    /// Takes another extension: of [`softspoken`](crate::extension::softspoken) with k = 2 the computing is less and the bytes
    /// are more, with k = 8 the other way round.
    #[must_use]
    pub fn extension(self, extension: Extension) -> Self {
        Self { choice: self.choice.extension(Above::OneOfTwo(extension)) }
    }

    /// Takes [silent](crate::extension::silent) OTs: some 0.1 bytes per OT, for slow links. There are no correlated OTs of them.
    #[must_use]
    pub fn silent(self, silent: crate::extension::Silent) -> Self {
        Self { choice: self.choice.extension(Above::Silent(silent)) }
    }

    /// Takes base OTs alone: for few random OTs. There are no correlated OTs without an extension.
    #[must_use]
    pub fn without_extension(self) -> Self {
        Self { choice: self.choice.extension(Above::None) }
    }

    /// Takes another base OT.
    #[must_use]
    pub fn base(self, base: &'static dyn BaseOt) -> Self {
        Self { choice: self.choice.base(base) }
    }

    /// The sender of `n` random OTs, over any engine; [`engine`](mod@crate::engine) has an example. `sink` takes the key pairs batch
    /// after batch, in order, after the check of the batch.
    ///
    /// # Errors
    /// [`Usage::Incompatible`] for options that do not go together; errors of the protocol.
    pub async fn send_over(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        direction: Direction,
        n: usize,
        mut sink: impl FnMut(&[[Block; 2]]) -> Result<(), Abandoned> + Send,
    ) -> Result<(), ProtocolError> {
        self.method(n)?.send(io, cx, direction, Shape::random(n), &mut || (), &mut sink).await
    }

    /// The receiver of [`send_over`](Self::send_over). `sink` takes choice bits and keys; every batch but the last has a
    /// whole number of bytes of choice bits.
    ///
    /// # Errors
    /// As [`send_over`](Self::send_over).
    pub async fn receive_over(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        direction: Direction,
        n: usize,
        mut sink: impl FnMut(&Bits, &[Block]) -> Result<(), Abandoned> + Send,
    ) -> Result<(), ProtocolError> {
        let choice = Choices::Random(n);
        self.method(n)?.receive(io, cx, direction, &choice, &mut || (), &mut sink).await
    }

    /// The sender of `n` correlated OTs, over any engine: `sink` takes the rows batch after batch, then `correlation` takes Δ
    /// once. The receiver's row is the sender's, plus Δ where its choice bit is 1. What a party may do that cheats is in
    /// [the module](self#correlated-ots).
    ///
    /// ```
    /// use foxtrot::{Bits, Context, Direction, Seed, Session, Sid, engine::Engine, pair::Pair, rot::Options};
    ///
    /// let (direction, options) = (Direction::InitiatorSends, Options::new());
    /// let session = || Session::new(Sid::from_bytes([7; 32]));
    /// let sender = Engine::new(|io| async move {
    ///     let (session, mut delta, mut all) = (session(), [0; 16], Vec::new());
    ///     let mut cx = Context::new(&session, Seed::from_bytes([8; 32]));
    ///     let (delta_of, sink) = (|it: &_| delta = *it, |rows: &[_]| Ok(all.extend_from_slice(rows)));
    ///     options.send_correlated_over(&io, &mut cx, direction, 2, delta_of, sink).await?;
    ///     Ok((delta, all))
    /// });
    /// let receiver = Engine::new(|io| async move {
    ///     let (session, mut all) = (session(), Vec::new());
    ///     let mut cx = Context::new(&session, Seed::from_bytes([9; 32]));
    ///     let (choices, sink) = (Bits::from_bools([false, true]), |rows: &[[u8; 16]]| Ok(all.extend_from_slice(rows)));
    ///     options.receive_correlated_over(&io, &mut cx, direction, choices, sink).await.map(|()| all)
    /// });
    /// let ((delta, sent), received) = Pair::new(sender, receiver).run().map_err(|(_party, e)| e)?;
    /// assert_eq!(received[0], sent[0]);
    /// assert_eq!(received[1].map(u32::from).iter().sum::<u32>() > 0, delta != sent[1]);
    /// # Ok::<(), foxtrot::ProtocolError>(())
    /// ```
    ///
    /// # Errors
    /// As [`send_over`](Self::send_over); [`Usage::Incompatible`] also without an extension.
    pub async fn send_correlated_over(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        direction: Direction,
        n: usize,
        correlation: impl FnOnce(&Block),
        sink: impl FnMut(&[Block]) -> Result<(), Abandoned>,
    ) -> Result<(), ProtocolError> {
        let mut sender = Sender::set_up(io, cx, self.plan(n, direction)?).await?;
        sender.correlated(io, Shape::given(n), sink).await?;
        correlation(&*sender.delta()?);
        Ok(())
    }

    /// The receiver of [`send_correlated_over`](Self::send_correlated_over), with choice bits of its own.
    ///
    /// # Errors
    /// As [`send_correlated_over`](Self::send_correlated_over).
    pub async fn receive_correlated_over(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        direction: Direction,
        choices: Bits,
        mut sink: impl FnMut(&[Block]) -> Result<(), Abandoned>,
    ) -> Result<(), ProtocolError> {
        let plan = self.plan(choices.len(), direction)?;
        let mut receiver = Receiver::set_up(io, cx, plan).await?;
        let choices = Choices::Given(choices);
        receiver.run(io, &choices, OtKind::Correlated, |_, rows| sink(rows)).await
    }

    /// The protocols of `n` random OTs, for programs that negotiate by themselves.
    ///
    /// # Errors
    /// [`Usage`] for options that do not go together.
    pub fn method(&self, n: usize) -> Result<Method, Usage> {
        self.choice.method(Purpose::Random, n, 2)
    }

    /// The extension of correlated OTs, which base OTs alone are not.
    fn plan(&self, n: usize, direction: Direction) -> Result<ExtensionPlan<'static>, Usage> {
        match self.method(n)? {
            Method { base, extension: Above::OneOfTwo(extension) } => {
                Ok(ExtensionPlan { extension, base, direction, counter: 0 })
            }
            _ => Err(Usage::Incompatible(Incompatible::NoVariant)),
        }
    }
}

impl Default for Options {
    fn default() -> Self {
        Self::new()
    }
}

impl core::fmt::Debug for Options {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        self.choice.fmt(f)
    }
}
