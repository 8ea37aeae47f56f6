//! The hello and the end of a session over [`Lanes`], as [`hello::exchange`](crate::hello::exchange) and
//! [`Channel::finish`](crate::Channel::finish) are over a channel.

use core::{
    future::poll_fn,
    task::{Context as Waking, Waker},
};

use tokio::io::{AsyncRead, AsyncWrite};

use super::Lanes;
use crate::{
    ChannelError, Error, HelloError, Lane, Reason,
    channel::{
        Step, Tally, Transcript,
        inbox::{Phase, Want},
    },
    hello::{
        Agreement, Heard, Hello, MAX_BYTES, MOST_KEYS, ONLY_LOOKS, Table,
        meeting::{Compared, Opening},
        not_a_hello,
    },
};

impl<S: AsyncRead + AsyncWrite + Unpin> Lanes<S> {
    /// Agrees with the peer on a session. `agree` sees the peer's details, and says what follows from them or why they
    /// do not suit; a responder tells its own only behind that.
    ///
    /// # Errors
    /// [`Error::Hello`] if the two sides do not agree, on both of them; [`Error::Frame`], [`Error::Channel`].
    pub async fn greet<T>(
        &mut self,
        initiator: bool,
        hello: &Hello,
        agree: impl FnOnce(&Table) -> Result<T, HelloError>,
    ) -> Result<(Agreement, T), Error> {
        if self.tallies.take().is_some() {
            self.inbox.begin_again();
        }
        let opening = Opening::new(initiator, hello)?;
        self.push(Lane::HELLO, &opening.message)?;
        let theirs = self.receive(Want::AtMost(MAX_BYTES)).await.map_err(not_a_hello)?;
        let compared = opening.hear(&theirs)?;
        self.inbox.phase = Phase::Details;
        let agreed = self.confirm(compared, hello, agree).await;
        agreed.map_err(|e| self.give_up(e))
    }

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
        let confirmed = self.confirm(compared, &hello, |_| Ok(())).await;
        confirmed.map_err(|e| self.give_up(e))?;
        Ok(heard)
    }

    async fn confirm<T>(
        &mut self,
        compared: Compared,
        hello: &Hello,
        agree: impl FnOnce(&Table) -> Result<T, HelloError>,
    ) -> Result<(Agreement, T), Error> {
        let first = if compared.initiator { Some(self.tell(&compared, hello)?) } else { None };
        let theirs = self.receive(Want::AtMost(MAX_BYTES)).await?;
        let details = compared.hear(hello, &theirs)?;
        let said = agree(&details)?;
        let ours = match first {
            Some(ours) => ours,
            None => self.tell(&compared, hello)?,
        };
        let agreement = compared.agree(hello.role(), [&ours, &theirs], details);
        self.tallies = Some(Tally::of_both(agreement.sid, agreement.we_are_initiator));
        self.inbox.phase = Phase::Session;
        Ok((agreement, said))
    }

    fn tell(&mut self, compared: &Compared, hello: &Hello) -> Result<Vec<u8>, Error> {
        let ours = compared.tell(hello)?;
        self.push(Lane::HELLO, &ours)?;
        Ok(ours)
    }

    /// Tells the peer that this side has all that it expects, and waits until the peer says so: each side then has
    /// received what the other sent, to the last byte. Another [`greet`](Self::greet) may follow.
    ///
    /// # Errors
    /// [`FrameError::Transcript`](crate::FrameError::Transcript) if the sides have not received what the other sent; [`Error::Frame`], [`Error::Channel`].
    pub async fn finish(&mut self) -> Result<Transcript, Error> {
        let ended = self.compare_transcripts().await;
        ended.map_err(|e| self.give_up(e))
    }

    /// [`finish`](Self::finish), and tells the peer that this side's results are where they stay; the receiver's come first.
    /// For jobs whose sender keeps results only if the receiver does.
    ///
    /// # Errors
    /// As [`finish`](Self::finish).
    pub async fn finish_in_place(&mut self, is_sender: bool) -> Result<Transcript, Error> {
        let transcript = self.finish().await?;
        let steps = async {
            if is_sender {
                self.await_step(Step::InPlace, transcript).await?;
            }
            self.push(Lane::HELLO, &Step::InPlace.frame(transcript))?;
            self.flush_all().await?;
            if !is_sender {
                self.await_step(Step::InPlace, transcript).await?;
            }
            Ok(transcript)
        };
        let ended: Result<_, Error> = steps.await;
        ended.map_err(|e| self.give_up(e))
    }

    /// Tells the peer why this side ends the session, as far as it may know and the stream takes it now. Returns the
    /// error.
    pub fn give_up(&mut self, error: impl Into<Error>) -> Error {
        let error = error.into();
        if let Some(reason) = Reason::of(&error)
            && self.push(Lane::HELLO, &[reason as u8]).is_ok()
        {
            let waking = &mut Waking::from_waker(Waker::noop());
            if self.write_some(waking).is_ok() {
                let _ = self.poll_flush(waking);
            }
        }
        error
    }

    async fn compare_transcripts(&mut self) -> Result<Transcript, Error> {
        self.inbox.receive_no_more()?;
        let [told, heard] = self.tallies.as_ref().ok_or(ChannelError::Abandoned)?;
        let transcript = told.transcript(heard);
        self.push(Lane::HELLO, &Step::Received.frame(transcript))?;
        self.await_step(Step::Received, transcript).await?;
        Ok(transcript)
    }

    async fn await_step(&mut self, step: Step, transcript: Transcript) -> Result<(), Error> {
        let frame = self.receive(Want::Exactly(Step::LEN)).await?;
        Ok(step.check(&frame, transcript)?)
    }

    /// Writes all that waits.
    pub(super) async fn flush_all(&mut self) -> Result<(), Error> {
        poll_fn(|waking| self.poll_write_below(waking, 1)).await?;
        poll_fn(|waking| self.poll_flush(waking)).await
    }

    /// The next frame of the hello's lane, while nothing else may come.
    async fn receive(&mut self, want: Want) -> Result<Vec<u8>, Error> {
        let wanted = [(Lane::HELLO, want)];
        let (_, frame) = poll_fn(|waking| self.poll_message(waking, &wanted)).await?;
        Ok(frame)
    }
}
