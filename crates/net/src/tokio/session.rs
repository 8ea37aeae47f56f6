//! The hello and the end of a session over [`Lanes`], as [`hello::exchange`](crate::hello::exchange) and
//! [`Channel::finish`](crate::Channel::finish) are over a channel.

use core::{
    future::poll_fn,
    task::{Context as Waking, Poll, Waker, ready},
};

use tokio::io::{AsyncRead, AsyncWrite};

use super::{FIRST, Inbox, Lanes};
use crate::{
    ChannelError, Error, FrameError, HelloError, Lane, Reason,
    channel::{Scope, Step, Tally, Transcript},
    hello::{Agreement, Compared, Heard, Hello, MAX_BYTES, Opening, Table},
};

/// The account of all that this side has sent in a session.
#[derive(Debug)]
pub(super) struct Told {
    scope: Scope,
    pub(super) tally: Tally,
    /// The transcript, when this side has received all.
    transcript: Option<Transcript>,
}

/// The length of a frame of the hello's lane.
#[derive(Clone, Copy)]
enum Want {
    /// The first message: a length of one byte is a length like another.
    Hello,
    /// Details, or the peer's last word.
    Details,
    /// A step of the closing, or the peer's last word.
    Step,
}

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
        (self.session, self.inbox.heard) = (None, None);
        let opening = Opening::new(initiator, hello)?;
        self.push(Lane::HELLO.index(), opening.message())?;
        let theirs = self.receive(if self.is_renewed { Want::Details } else { Want::Hello }).await;
        let theirs = theirs.map_err(|e| match e {
            Error::Frame(_) => HelloError::NotAHello.into(),
            e => e,
        })?;
        let compared = opening.hear(&theirs)?;
        let agreed = self.confirm(compared, hello, agree).await;
        agreed.map_err(|e| self.give_up(e))
    }

    /// Reads the peer's first message and says nothing: for a program that shows a person what the peer wants. The stream
    /// is of no further use.
    ///
    /// # Errors
    /// [`Error::Hello`], [`Error::Frame`], [`Error::Channel`].
    pub async fn listen(mut self) -> Result<Heard, Error> {
        Ok(Heard::read(&self.receive(Want::Hello).await?)?)
    }

    async fn confirm<T>(
        &mut self,
        compared: Compared,
        hello: &Hello,
        agree: impl FnOnce(&Table) -> Result<T, HelloError>,
    ) -> Result<(Agreement, T), Error> {
        let lane = Lane::HELLO.index();
        let (ours, theirs, details, said);
        if compared.is_initiator() {
            ours = compared.tell(hello, compared.puzzle(hello)?)?;
            self.push(lane, &ours)?;
            theirs = self.receive(Want::Details).await?;
            details = compared.hear(hello, &theirs)?;
            said = agree(&details)?;
        } else {
            theirs = self.receive(Want::Details).await?;
            details = compared.hear(hello, &theirs)?;
            compared.puzzle(hello)?;
            said = agree(&details)?;
            ours = compared.tell(hello, 0)?;
            self.push(lane, &ours)?;
        }
        let agreement = compared.agree(hello.role(), [&ours, &theirs], details);
        let scope = Scope::new(agreement.sid, agreement.we_are_initiator);
        let [told, heard] = scope.begin();
        self.inbox.heard = Some(heard);
        self.session = Some(Told { scope, tally: told, transcript: None });
        self.is_renewed = true;
        Ok((agreement, said))
    }

    /// Tells the peer that this side has all that it expects, and waits until the peer says so: each side then has
    /// received what the other sent, to the last byte. Another [`greet`](Self::greet) may follow.
    ///
    /// # Errors
    /// [`FrameError::Transcript`] if the sides have not received what the other sent; [`Error::Frame`], [`Error::Channel`].
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
            self.push(Lane::HELLO.index(), &Step::InPlace.frame(transcript))?;
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
            && self.push(Lane::HELLO.index(), &[reason.byte()]).is_ok()
        {
            let waking = &mut Waking::from_waker(Waker::noop());
            if self.write_some(waking).is_ok() {
                let _ = self.poll_flush(waking);
            }
        }
        error
    }

    async fn compare_transcripts(&mut self) -> Result<Transcript, Error> {
        if let Some(lane) = self.inbox.surplus() {
            return Err(FrameError::Surplus { lane }.into());
        }
        let (Some(told), Some(heard)) = (&mut self.session, &self.inbox.heard) else {
            return Err(ChannelError::Abandoned.into());
        };
        let transcript = told.scope.transcript(&told.tally, heard);
        told.transcript = Some(transcript);
        self.push(Lane::HELLO.index(), &Step::Received.frame(transcript))?;
        self.await_step(Step::Received, transcript).await?;
        Ok(transcript)
    }

    async fn await_step(&mut self, step: Step, transcript: Transcript) -> Result<(), Error> {
        let frame = self.receive(Want::Step).await?;
        let expected = step.frame(transcript);
        match frame {
            frame if frame == expected => Ok(()),
            frame if frame[0] == expected[0] => Err(FrameError::Transcript.into()),
            frame => Err(FrameError::Step { got: frame[0] }.into()),
        }
    }

    /// Writes all that waits.
    pub(super) async fn flush_all(&mut self) -> Result<(), Error> {
        poll_fn(|waking| self.poll_write_below(waking, 1)).await?;
        poll_fn(|waking| self.poll_flush(waking)).await
    }

    /// The next frame of the hello's lane, while nothing else may come.
    async fn receive(&mut self, want: Want) -> Result<Vec<u8>, Error> {
        poll_fn(|waking| self.poll_hello(waking, want)).await
    }

    fn poll_hello(&mut self, waking: &mut Waking<'_>, want: Want) -> Poll<Result<Vec<u8>, Error>> {
        self.write_some(waking)?;
        if let Poll::Ready(flushed) = self.poll_flush(waking) {
            flushed?;
        }
        loop {
            if let Some(frame) = self.inbox.take_hello(want)? {
                return Poll::Ready(Ok(frame));
            }
            ready!(self.poll_read(waking)?);
        }
    }
}

impl Inbox {
    fn take_hello(&mut self, want: Want) -> Result<Option<Vec<u8>>, Error> {
        let Some((lane, len)) = self.header() else { return Ok(None) };
        match want {
            _ if lane != Lane::HELLO.index() => return Err(FrameError::Lane { got: lane }.into()),
            Want::Hello | Want::Details if len > MAX_BYTES => {
                return Err(FrameError::TooLong { max: MAX_BYTES, got: len }.into());
            }
            Want::Step if len != Step::LEN && len != Reason::LEN => {
                return Err(FrameError::Length { expected: Step::LEN, got: len }.into());
            }
            _ => {}
        }
        let Some(frame) = self.payload(len).map(<[u8]>::to_vec) else { return Ok(None) };
        self.pass(len);
        match (want, &frame[..]) {
            (Want::Details | Want::Step, &[reason]) => {
                Err(ChannelError::GivenUp(Reason::from_byte(reason)).into())
            }
            _ => Ok(Some(frame)),
        }
    }

    /// A lane of protocols with a frame that nobody has asked for.
    fn surplus(&self) -> Option<u8> {
        let next = self.header().map(|(lane, _)| lane).filter(|lane| *lane != Lane::HELLO.index());
        let held = |lane: &u8| !self.lanes[usize::from(*lane)].is_empty();
        next.or_else(|| (FIRST..Lane::COUNT).find(held))
    }
}
