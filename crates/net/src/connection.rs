//! Connections as jobs use them, written once for both kinds: the blocking [`Channel`], and the asynchronous
//! [`Lanes`](crate::tokio::Lanes).

use core::{
    future::Future,
    ops::Deref,
    pin::pin,
    task::{Context, Poll, Waker},
};

use foxtrot_ot::{Sid, Usage, engine::Engine};

use crate::{Channel, Counters, Error, Lane, Reason, channel::Transcript, drive};

/// A connection to the peer, over which sessions follow one another.
///
/// Jobs are async functions over it. Over a blocking connection no call waits by a future, so that a job is done when it is
/// called, and its [`Outcome`](Self::Outcome) is its result. Over an asynchronous one the outcome is the job's future.
#[expect(async_fn_in_trait, reason = "whether futures are Send depends on the stream below")]
pub trait Connection {
    /// The value of a call that a future stands for: its output, or the future itself.
    type Outcome<F: Future>;

    /// The outcome of a job.
    fn outcome<F: Future>(job: F) -> Self::Outcome<F>;

    /// Sends a message of the hello's lane.
    ///
    /// # Errors
    /// [`Error::Channel`].
    async fn say(&mut self, message: Vec<u8>) -> Result<(), Error>;

    /// The peer's next message of the hello's lane, of so many bytes at most.
    ///
    /// # Errors
    /// [`Error::Frame`], [`Error::Channel`].
    async fn hear(&mut self, most: usize) -> Result<Vec<u8>, Error>;

    /// Gets ready for another hello, if there was a session.
    fn begin_again(&mut self);

    /// The hellos have been compared; details follow.
    fn greeted(&mut self);

    /// Details have been exchanged; counts from zero again, and keeps a transcript.
    fn agreed(&mut self, sid: Sid, initiator: bool);

    /// Runs a protocol to its end.
    ///
    /// # Errors
    /// Errors of the protocol, of which the peer is told; [`Error::Frame`] if the peer's message has another length than the
    /// protocol expects; [`Error::Channel`].
    async fn run<Out, E>(&mut self, engine: Engine<'_, Out, E>) -> Result<Out, Error>
    where
        E: From<Usage>,
        foxtrot_ot::Error: From<E>;

    /// [`run`](Self::run) for a protocol that owns all it works on: an asynchronous connection may compute it on other threads.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    async fn run_owned<Out, E>(&mut self, engine: Engine<'static, Out, E>) -> Result<Out, Error>
    where
        Out: Send + 'static,
        E: From<Usage> + Send + 'static,
        foxtrot_ot::Error: From<E>,
    {
        self.run(engine).await
    }

    /// Tells the peer that this side has all that it expects, and waits until the peer says so: each side has received then
    /// what the other sent, to the last byte.
    ///
    /// # Errors
    /// [`FrameError::Transcript`](crate::FrameError::Transcript) if the sides have not received what the other sent, on both
    /// sides; [`Error::Frame`], [`Error::Channel`].
    async fn finish(&mut self) -> Result<Transcript, Error>;

    /// Tells the peer that this side's results are where they stay.
    ///
    /// # Errors
    /// [`Error::Channel`].
    async fn tell_in_place(&mut self) -> Result<(), Error>;

    /// Waits until the peer says that its results are where they stay.
    ///
    /// # Errors
    /// [`Error::Frame`], [`Error::Channel`].
    async fn await_in_place(&mut self) -> Result<(), Error>;

    /// Ends the use of the connection, and tells the peer why, as far as it may know. Returns the error, or the one that came
    /// first.
    fn give_up(&mut self, error: impl Into<Error>) -> Error;

    /// Refuses the session that the peer wants, though it has done nothing wrong, and tells it why.
    async fn refuse(&mut self, why: Reason);

    /// Counts of what has been sent and received since the agreement.
    fn counters(&self) -> Counters;

    /// A hash of all that went over the connection since the agreement, the same on both sides; there is none before
    /// [`finish`](Self::finish).
    fn transcript(&self) -> Option<Transcript>;
}

/// Runs a future that waits by calls that block, and by nothing else.
fn at_once<F: Future>(job: F) -> F::Output {
    match pin!(job).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(done) => done,
        Poll::Pending => unreachable!("over a blocking connection nothing waits by a future"),
    }
}

impl<C: Deref<Target = Channel>> Connection for C {
    type Outcome<F: Future> = F::Output;

    fn outcome<F: Future>(job: F) -> F::Output {
        at_once(job)
    }

    async fn say(&mut self, message: Vec<u8>) -> Result<(), Error> {
        self.send(Lane::HELLO, message)
    }

    async fn hear(&mut self, most: usize) -> Result<Vec<u8>, Error> {
        self.recv_at_most(Lane::HELLO, most)
    }

    fn begin_again(&mut self) {
        Channel::begin_again(self);
    }

    fn greeted(&mut self) {
        Channel::greeted(self);
    }

    fn agreed(&mut self, sid: Sid, initiator: bool) {
        Channel::agreed(self, sid, initiator);
    }

    async fn run<Out, E>(&mut self, engine: Engine<'_, Out, E>) -> Result<Out, Error>
    where
        E: From<Usage>,
        foxtrot_ot::Error: From<E>,
    {
        drive::run(self, engine)
    }

    async fn finish(&mut self) -> Result<Transcript, Error> {
        Channel::finish(self)
    }

    async fn tell_in_place(&mut self) -> Result<(), Error> {
        Channel::tell_in_place(self)
    }

    async fn await_in_place(&mut self) -> Result<(), Error> {
        Channel::await_in_place(self)
    }

    fn give_up(&mut self, error: impl Into<Error>) -> Error {
        Channel::give_up(self, error)
    }

    async fn refuse(&mut self, why: Reason) {
        Channel::refuse(self, why);
    }

    fn counters(&self) -> Counters {
        Channel::counters(self)
    }

    fn transcript(&self) -> Option<Transcript> {
        Channel::transcript(self)
    }
}
