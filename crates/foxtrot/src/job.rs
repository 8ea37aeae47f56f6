//! Jobs with terms of the caller's own, for programs that the calls of this crate do not suit: two parties negotiate by a
//! [`Hello`], run any protocol of an [`engine`](mod@crate::engine) over their connection, and end the job.
//!
//! ```
//! use foxtrot::{Block, Context, Peer, job::{Hello, Role, Sink}, rot};
//!
//! fn party(mut peer: Peer, role: Role) -> Result<usize, foxtrot::Error> {
//!     let hello = Hello::new(role).term("job", "keys of acme").term("count", 100);
//!     let (agreed, ()) = peer.negotiate::<_, foxtrot::Error>(hello, |_details| Ok(((), 0)))?;
//!     let mut job = peer.job(agreed);
//!     let (options, direction, (session, seed)) = (rot::Options::new(), job.direction(), job.start()?);
//!     let (mut made, failed) = (0, &Sink::<foxtrot::Error>::new());
//!     job.play_into(failed, |io| async move {
//!         let mut cx = Context::new(&session, seed);
//!         match role {
//!             Role::Sender => options.send_over(&io, &mut cx, direction, 100, |keys| Ok(made += keys.len())).await,
//!             Role::Receiver => {
//!                 let sink = |_: &_, keys: &[Block]| Ok(made += keys.len());
//!                 options.receive_over(&io, &mut cx, direction, 100, sink).await
//!             }
//!         }?;
//!         Ok::<_, foxtrot::ProtocolError>(made)
//!     })
//!     .and_then(|made| job.finish().map(|()| made))
//! }
//!
//! let (ours, theirs) = Peer::pair();
//! let other = std::thread::spawn(move || party(theirs, Role::Sender));
//! assert_eq!(party(ours, Role::Receiver)?, 100);
//! assert_eq!(other.join().expect("no panic")?, 100);
//! # Ok::<(), foxtrot::Error>(())
//! ```

use std::{error, fmt, future::Future, sync::Arc};

use foxtrot_net::{Channel, ChannelError, Connection, HelloError, drive};
pub use foxtrot_net::{
    Reason,
    drive::Sink,
    gate::Full,
    hello::{Agreement, Hello, Role, Table},
};
use foxtrot_ot::{
    Direction, Seed, Session, Usage,
    base::BaseOt,
    engine::{Abandoned, Engine, Io},
    erase::{Secret, Zero},
};

pub use crate::peer::{Agreed, Answer, Base, Who};
use crate::{Error, Peer, ProtocolError, peer::Local};

/// An error of a caller's sink, as [`Error::Sink`] carries it.
pub trait SinkError: Into<Box<dyn error::Error + Send + Sync>> + Send {}

impl<E: Into<Box<dyn error::Error + Send + Sync>> + Send> SinkError for E {}

/// Passes on what a caller's sink said, and keeps its error.
pub(crate) fn keep<T>(
    failed: &Sink<Error>,
    said: Result<T, impl SinkError>,
) -> Result<T, Abandoned> {
    failed.keep(said.map_err(sink_failed))
}

pub(crate) fn sink_failed(error: impl SinkError) -> Error {
    Error::Sink(Arc::from(error.into()))
}

/// The peer's details cannot be.
pub(crate) fn refused(error: HelloError) -> (Reason, Error) {
    (Reason::Undecodable, Error::Session(error.into()))
}

/// A session with a peer. One that is dropped before its end gives up, so that the peer waits for nothing.
#[must_use = "a job that is dropped gives up"]
pub struct Job<'p, C: Connection = Arc<Channel>> {
    peer: &'p mut Peer<C>,
    agreed: Agreed,
    is_done: bool,
}

impl<C: Connection> Drop for Job<'_, C> {
    fn drop(&mut self) {
        if !self.is_done {
            self.peer.connection.give_up(ChannelError::Abandoned);
        }
        self.peer.local.release();
    }
}

impl<C: Connection> fmt::Debug for Job<'_, C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Job").field("agreed", &self.agreed).finish_non_exhaustive()
    }
}

impl<C: Connection> Peer<C> {
    /// Negotiates a job about which the peer's details say nothing, and that takes so many bytes of memory, and begins it.
    pub(crate) async fn begin(&mut self, hello: Hello, memory: u64) -> Result<Job<'_, C>, Error> {
        let agree = |_: &Table| Ok(((), Answer { memory, ..Answer::default() }));
        let (agreed, ()) = self.agree::<_, Error>(hello, agree, |_, _| Ok(())).await?;
        Ok(self.job(agreed))
    }

    /// Ends the connection of a peer that waits for a job, and tells it the reason.
    ///
    /// ```
    /// use foxtrot::{Peer, net::Reason, psi};
    ///
    /// let (mut ours, mut theirs) = Peer::pair();
    /// let other = std::thread::spawn(move || psi::receive(&mut theirs, &["bob"]));
    /// match std::fs::read_to_string("missing.txt") {
    ///     Ok(text) => psi::send(&mut ours, &text.lines().collect::<Vec<_>>())?,
    ///     Err(_) => ours.refuse(Reason::OwnInput),
    /// }
    /// let told = other.join().expect("no panic").expect_err("nobody sends");
    /// assert!(told.to_string().contains("it cannot use its own input or settings"), "{told}");
    /// # Ok::<(), foxtrot::Error>(())
    /// ```
    pub fn refuse(&mut self, reason: Reason) -> C::Outcome<impl Future<Output = ()>> {
        // What the peer sends meanwhile is read: else the end of the connection could come before the reason.
        C::outcome(self.connection.refuse(reason))
    }

    /// Begins the job on which both sides have agreed.
    pub fn job(&mut self, agreed: Agreed) -> Job<'_, C> {
        Job { peer: self, agreed, is_done: false }
    }
}

impl<C: Connection> Job<'_, C> {
    /// The terms on which both sides have agreed.
    #[must_use]
    pub fn agreement(&self) -> &Agreement {
        &self.agreed
    }

    /// This side's part of the connection.
    pub(crate) fn local(&self) -> &Local {
        &self.peer.local
    }

    /// The direction of a protocol in which the parties play the roles of their hellos.
    #[must_use]
    pub fn direction(&self) -> Direction {
        self.agreed.direction()
    }

    /// The session, and randomness of the system, from which one [`Context`](foxtrot_ot::Context) is made.
    ///
    /// # Errors
    /// [`Error::Session`] if the system has no randomness.
    pub fn start(&self) -> Result<(Session, Seed), Error> {
        let session = Session::new(self.agreed.sid);
        let session = match &self.peer.local.settings.executor {
            Some(executor) => session.with_executor(Arc::clone(executor)),
            None => session,
        };
        let seed = match &self.agreed.seed {
            None => drive::fresh_seed()?,
            Some(seed) => Seed::from_bytes(**seed),
        };
        Ok((session, seed))
    }

    /// The base OTs of a protocol that takes n of them, by its name and that of its extension: those of the last session under the
    /// same terms, if both sides have kept them ([`Config::resume_base`](crate::Config::resume_base)). What is kept is gone from here
    /// on, until [`finish_keeping`](Self::finish_keeping).
    ///
    /// # Errors
    /// [`Error::Ticket`].
    pub fn base(
        &mut self,
        base: &'static dyn BaseOt,
        carries: [&str; 2],
        n: usize,
    ) -> Result<Base, Error> {
        match &mut self.agreed.kept {
            Some(kept) => kept.begin(base, carries, n),
            None => Ok(Base::plain(base)),
        }
    }

    /// Runs a protocol with the peer.
    ///
    /// # Errors
    /// [`Error::Session`]: errors of the protocol, of which the peer is told as far as it may know; [`Error::Cancelled`].
    pub fn play<Out, E, F>(
        &mut self,
        protocol: impl FnOnce(Io) -> F,
    ) -> C::Outcome<impl Future<Output = Result<Out, Error>>>
    where
        F: Future<Output = Result<Out, E>> + Send,
        E: From<Usage>,
        ProtocolError: From<E>,
    {
        C::outcome(self.run(protocol))
    }

    /// The future of [`play`](Self::play).
    pub(crate) async fn run<Out, E, F>(
        &mut self,
        protocol: impl FnOnce(Io) -> F,
    ) -> Result<Out, Error>
    where
        F: Future<Output = Result<Out, E>> + Send,
        E: From<Usage>,
        ProtocolError: From<E>,
    {
        let Peer { connection, local } = &mut *self.peer;
        connection.run(Engine::new(protocol)).await.map_err(|e| local.explain(e))
    }

    /// [`run`](Self::run) for a protocol that owns all it works on.
    #[cfg(feature = "psi")]
    pub(crate) async fn run_owned<Out, E, F>(
        &mut self,
        protocol: impl FnOnce(Io) -> F,
    ) -> Result<Out, Error>
    where
        Out: Send + 'static,
        F: Future<Output = Result<Out, E>> + Send + 'static,
        E: From<Usage> + Send + 'static,
        ProtocolError: From<E>,
    {
        let Peer { connection, local } = &mut *self.peer;
        connection.run_owned(Engine::new(protocol)).await.map_err(|e| local.explain(e))
    }

    /// [`play`](Self::play) for a protocol that hands its outputs to a sink, whose errors `failed` keeps.
    ///
    /// # Errors
    /// The sink's error; else errors of [`play`](Self::play).
    pub fn play_into<Out, E, P, F>(
        &mut self,
        failed: &Sink<E>,
        protocol: impl FnOnce(Io) -> F,
    ) -> C::Outcome<impl Future<Output = Result<Out, E>>>
    where
        F: Future<Output = Result<Out, P>> + Send,
        P: From<Usage>,
        ProtocolError: From<P>,
        E: From<Error>,
    {
        C::outcome(self.run_into(failed, protocol))
    }

    /// The future of [`play_into`](Self::play_into).
    pub(crate) async fn run_into<Out, E, P, F>(
        &mut self,
        failed: &Sink<E>,
        protocol: impl FnOnce(Io) -> F,
    ) -> Result<Out, E>
    where
        F: Future<Output = Result<Out, P>> + Send,
        P: From<Usage>,
        ProtocolError: From<P>,
        E: From<Error>,
    {
        failed.result(self.run(protocol).await.map_err(E::from))
    }

    /// Ends the job: both sides have received what the other sent.
    ///
    /// # Errors
    /// [`Error::Session`]: say that the two sides do not see the same transcript.
    #[must_use = "it is the result, or its future"]
    pub fn finish(self) -> C::Outcome<impl Future<Output = Result<(), Error>>> {
        C::outcome(self.end())
    }

    /// The future of [`finish`](Self::finish).
    pub(crate) async fn end(mut self) -> Result<(), Error> {
        let Peer { connection, local } = &mut *self.peer;
        connection.finish().await.map_err(|e| local.explain(e))?;
        self.is_done = true;
        Ok(())
    }

    /// [`finish`](Self::finish), and keeps the base OTs for the next session.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub fn finish_keeping(self, base: Base) -> C::Outcome<impl Future<Output = Result<(), Error>>> {
        C::outcome(self.end_keeping(base))
    }

    /// The future of [`finish_keeping`](Self::finish_keeping).
    pub(crate) async fn end_keeping(mut self, base: Base) -> Result<(), Error> {
        let (kept, sid) = (self.agreed.kept.take(), self.agreed.sid);
        self.end().await?;
        if let Some(kept) = kept {
            kept.keep(base, sid);
        }
        Ok(())
    }

    /// [`finish`](Self::finish), and each side learns that the other's results are where they stay. `keep` puts ours there:
    /// the receiver's first, so that the sender keeps its results only if the receiver does.
    ///
    /// # Errors
    /// As [`finish`](Self::finish); errors of `keep`, of which the peer learns that there is one.
    pub fn finish_in_place<T, E: From<Error>>(
        self,
        keep: impl FnOnce() -> Result<T, E>,
    ) -> C::Outcome<impl Future<Output = Result<T, E>>> {
        C::outcome(self.end_in_place(keep))
    }

    /// The future of [`finish_in_place`](Self::finish_in_place).
    pub(crate) async fn end_in_place<T, E: From<Error>>(
        mut self,
        keep: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        let (Peer { connection, local }, role) = (&mut *self.peer, self.agreed.role);
        let explained = |e| E::from(local.explain(e));
        connection.finish().await.map_err(explained)?;
        if role == Role::Sender {
            connection.await_in_place().await.map_err(explained)?;
        }
        let kept = keep()?;
        connection.tell_in_place().await.map_err(explained)?;
        if role == Role::Receiver {
            connection.await_in_place().await.map_err(explained)?;
        }
        self.is_done = true;
        Ok(kept)
    }
}

/// Room for so many, so that no growing leaves copies of secrets behind.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn room<T: Zero>(n: usize) -> Result<Secret<T>, Error> {
    let bytes = n.saturating_mul(size_of::<T>());
    Secret::try_with_capacity(n).map_err(|_| Error::OutOfMemory { bytes })
}

#[cfg(test)]
mod tests {
    use std::thread;

    use foxtrot_net::{Error as NetError, hello::JOB};

    use super::*;
    use crate::{Blame, Config, Side};

    fn hello(role: Role) -> Hello {
        Hello::new(role).term(JOB, "test")
    }

    /// A job that takes so many bytes.
    fn begin(peer: &mut Peer, role: Role, bytes: u64) -> Result<Job<'_>, Error> {
        let (agreed, ()) = peer.negotiate::<_, Error>(hello(role), |_| Ok(((), bytes)))?;
        Ok(peer.job(agreed))
    }

    fn job(peer: &mut Peer, role: Role, bytes: u64) -> Result<(), Error> {
        begin(peer, role, bytes)?.finish()
    }

    #[test]
    fn a_responder_that_refuses_a_peer_tells_it_why_and_nothing_of_its_own() {
        let (mut ours, mut theirs) = Peer::pair();
        let other = thread::spawn(move || {
            let refuse = |_: &Table| Err::<((), u64), _>((Reason::Busy, Error::Config("full")));
            theirs.negotiate(hello(Role::Receiver), refuse).map(drop).unwrap_err()
        });
        let mut has_details = false;
        let told = ours.negotiate::<_, Error>(hello(Role::Sender), |_| {
            has_details = true;
            Ok(((), 0))
        });
        let (told, busy) = (told.map(drop).unwrap_err(), ChannelError::GivenUp(Reason::Busy));
        assert!(matches!(&told, Error::Session(NetError::Channel(e)) if *e == busy), "{told}");
        assert!(!has_details);
        assert!(matches!(other.join().unwrap(), Error::Config("full")));
    }

    #[test]
    fn a_sender_keeps_nothing_that_the_receiver_could_not_keep() {
        let (mut ours, mut theirs) = Peer::pair();
        let other = thread::spawn(move || {
            let job = begin(&mut theirs, Role::Receiver, 0).unwrap();
            job.finish_in_place(|| Err::<(), _>(Error::Config("full"))).unwrap_err()
        });
        let (job, mut is_kept) = (begin(&mut ours, Role::Sender, 0).unwrap(), false);
        let told = job.finish_in_place(|| {
            is_kept = true;
            Ok::<_, Error>(())
        });
        assert_eq!(told.unwrap_err().blame(), Blame::Connection);
        assert!(!is_kept);
        assert!(matches!(other.join().unwrap(), Error::Config("full")));
    }

    #[test]
    fn a_job_that_takes_too_much_memory_is_refused_and_the_peer_is_told() {
        let (near, far) = foxtrot_net::memory::pair(crate::TIMEOUT);
        let mut ours = Config::insecure().max_memory(100).peer(near, Side::Initiator);
        let mut theirs = Config::insecure().peer(far, Side::Responder);
        let other = thread::spawn(move || {
            job(&mut theirs, Role::Receiver, u64::MAX).unwrap();
            job(&mut theirs, Role::Receiver, 0).unwrap();
            job(&mut theirs, Role::Receiver, 0).unwrap_err()
        });
        job(&mut ours, Role::Sender, 60).unwrap();
        job(&mut ours, Role::Sender, 100).unwrap();
        let error = job(&mut ours, Role::Sender, 101).unwrap_err();
        let full = Full::Memory { takes: 101, left: 100, of: 100 };
        assert!(matches!(error, Error::Full(it) if it == full), "{error}");
        let told = other.join().unwrap();
        let too_large = NetError::from(ChannelError::GivenUp(Reason::TooLarge));
        assert!(matches!(&told, Error::Session(e) if *e == too_large), "{told}");
        assert_eq!(told.blame(), Blame::Agreement);
    }
}
