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

use foxtrot_ot::{
    Bits, Context, Direction, Error as ProtocolError,
    base::{BaseOt, Block, Choice as Choices},
    engine::{Abandoned, Io},
    extension::{
        Extension, Kind, Shape,
        protocol::{Receiver, Sender},
    },
};

use crate::choice::{Choice, plan};

#[cfg(feature = "net")]
mod peer;
#[cfg(feature = "net")]
pub use peer::{Delta, receive, receive_correlated, send, send_correlated};

/// How random and correlated OTs are made. Both sides have the same options.
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
        Self { choice: self.choice.extension(extension) }
    }

    /// Takes another base OT.
    #[must_use]
    pub fn base(self, base: &'static dyn BaseOt) -> Self {
        Self { choice: self.choice.base(base) }
    }

    /// The sender of `n` random OTs, over any engine. `sink` takes the key pairs batch after batch, in order, after the
    /// check of the batch.
    ///
    /// # Errors
    /// [`Usage::Incompatible`](foxtrot_ot::Usage::Incompatible) for options that do not go together; errors of the
    /// protocol.
    pub async fn send_over(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        direction: Direction,
        n: usize,
        sink: impl FnMut(&[[Block; 2]]) -> Result<(), Abandoned>,
    ) -> Result<(), ProtocolError> {
        let (extension, base) = self.protocols()?;
        let mut sender = Sender::set_up(io, cx, plan(extension, base, direction)).await?;
        sender.random(io, Shape::random(n), sink).await
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
        sink: impl FnMut(&Bits, &[Block]) -> Result<(), Abandoned>,
    ) -> Result<(), ProtocolError> {
        let (extension, base) = self.protocols()?;
        let mut receiver = Receiver::set_up(io, cx, plan(extension, base, direction)).await?;
        receiver.run(io, &Choices::Random(n), Kind::Random, sink).await
    }

    /// The sender of `n` correlated OTs, over any engine: `correlation` takes Δ once, then `sink` the rows. The receiver's
    /// row is the sender's, plus Δ where its choice bit is 1.
    ///
    /// # Errors
    /// As [`send_over`](Self::send_over).
    pub async fn send_correlated_over(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        direction: Direction,
        n: usize,
        correlation: impl FnOnce(&Block),
        sink: impl FnMut(&[Block]) -> Result<(), Abandoned>,
    ) -> Result<(), ProtocolError> {
        let (extension, base) = self.protocols()?;
        let mut sender = Sender::set_up(io, cx, plan(extension, base, direction)).await?;
        sender.correlated(io, Shape::given(n), sink).await?;
        correlation(&*sender.delta()?);
        Ok(())
    }

    /// The receiver of [`send_correlated_over`](Self::send_correlated_over), with choice bits of its own.
    ///
    /// # Errors
    /// As [`send_over`](Self::send_over).
    pub async fn receive_correlated_over(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        direction: Direction,
        choices: Bits,
        mut sink: impl FnMut(&[Block]) -> Result<(), Abandoned>,
    ) -> Result<(), ProtocolError> {
        let (extension, base) = self.protocols()?;
        let mut receiver = Receiver::set_up(io, cx, plan(extension, base, direction)).await?;
        let choices = Choices::Given(choices);
        receiver.run(io, &choices, Kind::Correlated, |_, rows| sink(rows)).await
    }

    /// Extension and base OT, which fit each other and the job.
    fn protocols(&self) -> Result<(Extension, &'static dyn BaseOt), ProtocolError> {
        let extension = self.choice.extension_of_two()?;
        Ok((extension, self.choice.base_for_random(&extension)?))
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
