//! [`Lanes`] as a [`Connection`].

use core::{
    future::Future,
    pin::Pin,
    task::{Context as Waking, Waker},
};

use foxtrot_ot::{Sid, Usage, engine::Engine};
use tokio::io::{AsyncRead, AsyncWrite};

use super::{Awaited, Lanes};
use crate::{
    ChannelError, Connection, Counters, Error, HelloError, Lane, Reason,
    channel::{
        Meter, Step, Tally, Transcript,
        inbox::{Phase, Want},
    },
    hello::{Heard, Hello, MAX_BYTES, MOST_KEYS, ONLY_LOOKS, meeting::Opening},
};

impl<S: AsyncRead + AsyncWrite + Unpin> Lanes<S> {
    /// Reads the peer's first message, for a program that shows a person what the peer wants. With a binding this side, the
    /// initiator, also finds out whether the peer has the same one; the peer begins no session. The stream is of no further
    /// use.
    ///
    /// # Errors
    /// [`Error::Hello`], [`Error::Frame`], [`Error::Channel`]. A peer with another binding gives up by
    /// [`Reason::CheckFailed`].
    pub async fn look(mut self, binding: Option<[u8; 32]>) -> Result<Heard, Error> {
        let theirs = self.receive(Want::AtMost(MAX_BYTES)).await?;
        let heard = Heard::read(&theirs)?;
        let Some(binding) = binding else { return Ok(heard) };
        // It learns nothing of the peer's set, also not whether that is small.
        let hello = Hello::answering(&heard).side(true).offer(MOST_KEYS, u64::MAX);
        let hello = hello.bound_by(binding).detail(ONLY_LOOKS, "yes");
        let opening = Opening::new(true, &hello)?;
        self.push(Lane::HELLO, &opening.message)?;
        let compared = opening.hear(&theirs)?;
        self.inbox.phase = Phase::Details;
        self.push(Lane::HELLO, &compared.tell(&hello)?)?;
        let confirmed = match self.receive(Want::AtMost(MAX_BYTES)).await {
            Ok(theirs) => compared.hear(&hello, &theirs).map_err(Error::from),
            Err(e) => Err(e),
        };
        confirmed.map_err(|e| self.tell_why(e))?;
        Ok(heard)
    }

    /// Keeps the error that ends the connection, and tells the peer why, as far as it may know and the stream takes it now.
    /// Returns the error, or the one that came first.
    pub(super) fn tell_why(&mut self, error: Error) -> Error {
        if let Some(first) = &self.failed {
            return first.clone();
        }
        self.failed = Some(error.clone());
        if let Some(reason) = self.inbox.phase.last_word(&error)
            && self.push(Lane::HELLO, &[reason as u8]).is_ok()
        {
            let waking = &mut Waking::from_waker(Waker::noop());
            if self.write_some(waking).is_ok() {
                let _ = self.poll_flush(waking);
            }
        }
        error
    }

    /// Fails as the connection has before, if it has. The future of a protocol that was dropped before its end has ended it:
    /// what comes now is for that protocol.
    pub(super) fn still_open(&mut self) -> Result<(), Error> {
        match &self.failed {
            Some(failed) => Err(failed.clone()),
            None if self.is_running => Err(self.give_up(ChannelError::Abandoned)),
            None => Ok(()),
        }
    }

    async fn compare_transcripts(&mut self) -> Result<Transcript, Error> {
        self.inbox.receive_no_more()?;
        let [told, heard] = self.tallies.as_ref().ok_or(ChannelError::Abandoned)?;
        let transcript = told.transcript(heard);
        self.push(Lane::HELLO, &Step::Received.frame(transcript))?;
        self.await_step(Step::Received, transcript).await?;
        self.ended = Some(transcript);
        Ok(transcript)
    }

    async fn await_step(&mut self, step: Step, transcript: Transcript) -> Result<(), Error> {
        let frame = self.receive(Want::Exactly(Step::LEN)).await?;
        Ok(step.check(&frame, transcript)?)
    }

    /// Writes all that waits.
    pub(super) async fn flush_all(&mut self) -> Result<(), Error> {
        self.within(Awaited::Room, |it, waking| it.poll_write_below(waking, 1)).await?;
        self.within(Awaited::Room, Self::poll_flush).await
    }

    /// The next frame of the hello's lane, while nothing else may come.
    async fn receive(&mut self, want: Want) -> Result<Vec<u8>, Error> {
        let (_, frame) = self.message(&[(Lane::HELLO, want)]).await?;
        Ok(frame)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Connection for Lanes<S> {
    type Outcome<F: Future> = F;

    fn outcome<F: Future>(job: F) -> F {
        job
    }

    async fn say(&mut self, message: Vec<u8>) -> Result<(), Error> {
        self.still_open()?;
        self.push(Lane::HELLO, &message)?;
        self.flush_all().await.map_err(|e| self.tell_why(e))
    }

    async fn hear(&mut self, most: usize) -> Result<Vec<u8>, Error> {
        self.still_open()?;
        self.receive(Want::AtMost(most)).await.map_err(|e| self.tell_why(e))
    }

    fn begin_again(&mut self) {
        if self.tallies.take().is_some() {
            self.ended = None;
            self.inbox.begin_again();
            self.inbox.in_use = Lane::HELLO.index() + 1;
        }
    }

    fn greeted(&mut self) {
        self.inbox.phase = Phase::Details;
    }

    fn agreed(&mut self, sid: Sid, initiator: bool) {
        self.tallies = Some(Tally::of_both(sid, initiator));
        self.inbox.phase = Phase::Session;
        self.inbox.in_use = Lane::PROTOCOL.index() + 1;
        self.meter = Meter::default();
    }

    async fn run<Out, E>(&mut self, engine: Engine<'_, Out, E>) -> Result<Out, Error>
    where
        E: From<Usage>,
        foxtrot_ot::Error: From<E>,
    {
        Self::run(self, engine).await
    }

    async fn run_owned<Out, E>(&mut self, engine: Engine<'static, Out, E>) -> Result<Out, Error>
    where
        Out: Send + 'static,
        E: From<Usage> + Send + 'static,
        foxtrot_ot::Error: From<E>,
    {
        Self::run_owned(self, engine).await
    }

    async fn finish(&mut self) -> Result<Transcript, Error> {
        self.still_open()?;
        let ended = self.compare_transcripts().await;
        ended.map_err(|e| self.tell_why(e))
    }

    async fn tell_in_place(&mut self) -> Result<(), Error> {
        let transcript = self.transcript().unwrap_or_default();
        self.push(Lane::HELLO, &Step::InPlace.frame(transcript))?;
        self.flush_all().await
    }

    async fn await_in_place(&mut self) -> Result<(), Error> {
        let transcript = self.transcript().unwrap_or_default();
        let ended = self.await_step(Step::InPlace, transcript).await;
        ended.map_err(|e| self.tell_why(e))
    }

    fn give_up(&mut self, error: impl Into<Error>) -> Error {
        let error = self.tell_why(error.into());
        let waking = &mut Waking::from_waker(Waker::noop());
        if self.write_some(waking).is_ok() && self.outbox.is_empty() {
            // The peer reads the end, and not only when the stream is dropped.
            let _ = Pin::new(&mut self.stream).poll_shutdown(waking);
        }
        error
    }

    async fn refuse(&mut self, why: Reason) {
        self.tell_why(HelloError::Refused(why).into());
        self.linger().await;
    }

    fn counters(&self) -> Counters {
        self.meter.counters
    }

    fn transcript(&self) -> Option<Transcript> {
        self.ended
    }
}
