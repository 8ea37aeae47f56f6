//! The end of a session: both sides say that they have all, and find out if that is what the other sent
//! (`docs/wire/README.md`, section 2).

use super::{Channel, Lane, Outbox, lock, transcript::Transcript};
use crate::{Error, FrameError};

/// A statement of a side at the end, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The side has received all, and keeps it where it does not get lost.
    Received = 0,
    /// Its results are where they stay.
    InPlace = 1,
}

impl Step {
    /// Bytes of its frame: the step and the transcript.
    pub(crate) const LEN: usize = 1 + size_of::<Transcript>();

    /// The largest number of steps.
    pub(super) const COUNT: usize = 2;

    pub(crate) fn frame(self, transcript: Transcript) -> Vec<u8> {
        [&[self as u8], transcript.as_slice()].concat()
    }

    /// Compares the peer's frame with ours.
    pub(crate) fn check(self, frame: &[u8], transcript: Transcript) -> Result<(), FrameError> {
        match frame.split_first() {
            Some((step, rest)) if *step == self as u8 => match rest == transcript {
                true => Ok(()),
                false => Err(FrameError::Transcript),
            },
            step => Err(FrameError::Step { got: step.map_or(u8::MAX, |(step, _)| *step) }),
        }
    }
}

impl Channel {
    /// Tells the peer that this side has all that it expects and keeps it safe, and waits until the peer says so. When
    /// it returns, each side has received what the other sent, to the last byte. No protocol message goes either
    /// way any more.
    ///
    /// # Errors
    /// [`FrameError::Transcript`] if the sides have not received what the other sent, on both sides;
    /// [`FrameError::Surplus`], [`Error::Channel`].
    pub fn finish(&self) -> Result<Transcript, Error> {
        let (shared, deadline) = (&self.shared, self.shared.deadline());
        let transcript = {
            let mut state = shared.await_outbox(deadline, Outbox::is_written)?;
            if let Err(e) = state.inbox.receive_no_more() {
                return Err(shared.fail(&mut state, e));
            }
            let transcript = shared.transcript();
            state.transcript = Some(transcript);
            transcript
        };
        self.send(Lane::HELLO, Step::Received.frame(transcript))?;
        self.await_step(Step::Received)?;
        // They count against no limit, and the next session may come late.
        shared.spares.clear();
        Ok(transcript)
    }

    /// Tells the peer that this side's results are where they stay.
    ///
    /// # Errors
    /// [`Error::Channel`].
    pub fn tell_in_place(&self) -> Result<(), Error> {
        self.send(Lane::HELLO, Step::InPlace.frame(self.transcript().unwrap_or_default()))
    }

    /// Waits until the peer says that its results are where they stay.
    ///
    /// # Errors
    /// [`Error::Frame`], [`Error::Channel`].
    pub fn await_in_place(&self) -> Result<(), Error> {
        self.await_step(Step::InPlace)
    }

    /// A hash of all that went over the channel since the hello, the same on both sides; there is none before
    /// [`Channel::finish`].
    #[must_use]
    pub fn transcript(&self) -> Option<Transcript> {
        self.shared.lock().transcript
    }

    /// Makes the channel ready for another hello, after [`Channel::finish`] and the steps behind it: sessions follow one
    /// another over a connection.
    pub fn begin_again(&self) {
        for tally in [&self.shared.told, &self.shared.heard] {
            *lock(tally) = None;
        }
        let mut state = self.shared.lock();
        state.transcript = None;
        state.inbox.begin_again();
    }

    fn await_step(&self, step: Step) -> Result<(), Error> {
        let frame = self.recv(Lane::HELLO, Step::LEN)?;
        let checked = step.check(&frame, self.transcript().unwrap_or_default());
        checked.map_err(|e| self.give_up(e))
    }
}
