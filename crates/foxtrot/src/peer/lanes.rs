//! Peers over asynchronous streams, whose jobs are futures.

use std::sync::Arc;

use foxtrot_net::{hello::Heard, tokio::Lanes};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Bound, ChannelBinding, Config, Peer, Stream, Who};
use crate::Error;

impl Config {
    /// Talks to the peer over an asynchronous stream that the caller opened: jobs are futures. Time-outs hold by the clock of
    /// [`runtime`](Self::runtime); without one they are the caller's.
    ///
    /// ```
    /// use foxtrot::{Config, Side, psi};
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), foxtrot::Error> {
    /// let (here, there) = tokio::io::duplex(1 << 16);
    /// let mut ours = Config::insecure().over_async(here, Side::Initiator)?;
    /// let mut theirs = Config::insecure().over_async(there, Side::Responder)?;
    /// let (sent, common) =
    ///     tokio::join!(psi::send(&mut theirs, &["ann", "bob"]), psi::receive(&mut ours, &["bob", "eve"]));
    /// sent?;
    /// assert_eq!(common?, [0]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Config`] for a configuration with keys: a stream that the caller opened is not secured here, so
    /// [`Config::insecure`] is for it.
    pub fn over_async<S: AsyncRead + AsyncWrite + Unpin>(
        &self,
        stream: S,
        facts: impl Into<Stream>,
    ) -> Result<Peer<Lanes<S>>, Error> {
        if !self.is_insecure() {
            return Err(Error::Config("keys secure sockets only, and no stream of the caller"));
        }
        let Stream { side, binding, name, .. } = facts.into();
        let who = Who { name, ..Who::default() };
        let mut lanes = Lanes::new(stream);
        if let Some(runtime) = &self.runtime {
            lanes = lanes.on(Arc::clone(runtime), self.timeout);
            self.session_timeout.iter().for_each(|limit| lanes.end_after(*limit));
        }
        Ok(self.over_connection(lanes, side, who, Bound::Stream(binding)))
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Peer<Lanes<S>> {
    /// Ends the connection in order: the stream has taken everything, and was shut down, when it returns. Dropping a peer also
    /// ends the connection, without waiting.
    ///
    /// # Errors
    /// [`Error::Session`] if the last messages could not be sent.
    pub async fn close(self) -> Result<(), Error> {
        Ok(self.connection.close().await?)
    }

    /// Reads the peer's first message, for a program that shows a person what the peer wants. With a
    /// [`ChannelBinding`] this side also finds out whether the peer has the same one; the peer begins no session.
    ///
    /// # Errors
    /// [`Error::Session`].
    pub async fn look(self) -> Result<Heard, Error> {
        let binding = match self.local.bound {
            Bound::Stream(Some(ChannelBinding(binding))) => Some(binding),
            _ => None,
        };
        Ok(self.connection.look(binding).await?)
    }
}
