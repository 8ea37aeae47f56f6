//! The receiving side of a channel.

use core::time::Duration;
use std::{
    io::{self, ErrorKind, Read},
    time::Instant,
};

use foxtrot_ot::engine::Spares;

use super::{
    Channel, HEADER_BYTES, Lane, Shared,
    buffer::Reader,
    inbox::{Next, Want},
    lock,
};
use crate::{ChannelError, Error, TlsError, deadline};

impl Channel {
    /// The next message on the lane, which has `expected` bytes. A message for another lane that is
    /// too long to be held back for it has to be received there first.
    ///
    /// # Errors
    /// [`FrameError::Length`](crate::FrameError::Length) if the peer's message has another length,
    /// before any of it is read; [`ChannelError`].
    pub fn recv(&self, lane: Lane, expected: usize) -> Result<Vec<u8>, Error> {
        self.recv_one(lane, Want::Exactly(expected))
    }

    /// The next message, which has at most `max` bytes and is on that lane: for a time when no
    /// other lane is in use.
    ///
    /// # Errors
    /// [`FrameError`](crate::FrameError), [`ChannelError`].
    pub fn recv_at_most(&self, lane: Lane, max: usize) -> Result<Vec<u8>, Error> {
        self.recv_one(lane, Want::AtMost(max))
    }

    fn recv_one(&self, lane: Lane, want: Want) -> Result<Vec<u8>, Error> {
        let first = self.recv_first_within(&[(lane, want)], None)?;
        let (_, frame) = first.ok_or(ChannelError::NothingReceived(self.shared.timeout))?;
        Ok(frame)
    }

    /// The first of these messages that comes, with its lane. `None` if after so long there is none of them, and no frame is
    /// coming.
    pub(crate) fn recv_first_within(
        &self,
        wanted: &[(Lane, Want)],
        patience: Option<Duration>,
    ) -> Result<Option<(Lane, Vec<u8>)>, Error> {
        let shared = &*self.shared;
        let (deadline, patience) = (shared.deadline(), patience.map(deadline::after));
        let mut state = shared.lock();
        loop {
            state.check()?;
            let next = match state.inbox.next(wanted) {
                Ok(next) => next,
                Err(e) => return Err(shared.fail(&mut state, e)),
            };
            let reader = match next {
                Next::Header | Next::Payload(_) => state.reader.take(),
                _ => None,
            };
            let done = match (next, reader) {
                (Next::Here(lane, frame), _) => {
                    if lane != Lane::HELLO || !state.inbox.phase.is_session() {
                        state.meter.received(frame.len());
                    }
                    // There may be room now for the frame that the others wait behind.
                    shared.inbound.notify_all();
                    return Ok(Some((lane, frame)));
                }
                (Next::Wait, _) | (_, None) => {
                    if patience.is_some_and(|until| deadline::remaining(until).is_none()) {
                        return Ok(None);
                    }
                    let until = patience.unwrap_or(deadline);
                    let (guard, done) = deadline::wait(until, &shared.inbound, state);
                    state = guard;
                    // That patience is over is seen above.
                    if patience.is_some() {
                        Ok(())
                    } else {
                        done.map_err(|e| shared.read_error(&e))
                    }
                }
                (Next::Header, Some(mut reader)) => {
                    drop(state);
                    let header = read_header(&mut reader, deadline, patience);
                    state = shared.lock();
                    state.reader = Some(reader);
                    match header {
                        Ok(Some(header)) => state.inbox.begin(header).map_err(Error::from),
                        Ok(None) => {
                            shared.inbound.notify_all();
                            return Ok(None);
                        }
                        Err(e) => Err(shared.read_error(&e)),
                    }
                }
                (Next::Payload(header), Some(mut reader)) => {
                    drop(state);
                    reader.deadline = deadline;
                    let awaited = wanted.iter().any(|(lane, want)| {
                        *lane == header.lane && matches!(want, Want::Exactly(_))
                    });
                    let frame = match awaited && header.len <= Spares::LONGEST {
                        true => shared.read_awaited(&mut reader, header.len),
                        false => {
                            let mut frame = Vec::new();
                            read_payload(&mut reader, header.len, &mut frame).map(|()| frame)
                        }
                    };
                    if let (Ok(frame), Some(heard)) = (&frame, &mut *lock(&shared.heard)) {
                        heard.frame(header.lane, frame);
                    }
                    state = shared.lock();
                    state.reader = Some(reader);
                    match frame {
                        Ok(frame) => state.inbox.put(header, frame),
                        Err(e) => Err(shared.read_error(&e)),
                    }
                }
            };
            if let Err(e) = done {
                return Err(shared.fail(&mut state, e));
            }
            shared.inbound.notify_all();
        }
    }
}

impl Shared {
    /// Reads until the peer ends, or the deadline. Nobody reads after that.
    pub(super) fn drop_what_comes(&self, deadline: Instant) {
        let reader = self.lock().reader.take();
        let Some(mut reader) = reader else { return };
        reader.deadline = deadline;
        let mut bytes = [0; 4096];
        while reader.read(&mut bytes).is_ok_and(|read| read > 0) {}
    }

    /// A payload of a length that a receiver has named: it goes into a buffer at once.
    fn read_awaited(&self, reader: &mut Reader, len: usize) -> io::Result<Vec<u8>> {
        let mut frame = if len < 1 << 12 { Vec::new() } else { self.spares.take() };
        frame.resize(len, 0);
        reader.read_exact(&mut frame)?;
        Ok(frame)
    }

    fn read_error(&self, error: &io::Error) -> Error {
        if let Some(tls) = TlsError::within(error) {
            return tls.into();
        }
        // The reader below has said it in our words.
        let ours = error.get_ref().and_then(|it| it.downcast_ref::<ChannelError>());
        if let Some(ours) = ours {
            return ours.clone().into();
        }
        let late = ChannelError::NothingReceived(self.timeout);
        ChannelError::of(error, late, ChannelError::ClosedReceiving, "receive from the peer").into()
    }
}

/// Reads a header; `None` if not a byte comes until patience ends.
fn read_header(
    reader: &mut Reader,
    deadline: Instant,
    patience: Option<Instant>,
) -> io::Result<Option<[u8; HEADER_BYTES]>> {
    if let Some(until) = patience
        && !reader.is_ready(until)?
    {
        return Ok(None);
    }
    let mut bytes = [0; HEADER_BYTES];
    reader.deadline = deadline;
    reader.read_exact(&mut bytes)?;
    Ok(Some(bytes))
}

/// Memory grows with what has arrived, not with what was announced.
pub(super) fn read_payload(
    reader: &mut impl Read,
    len: usize,
    payload: &mut Vec<u8>,
) -> io::Result<()> {
    match reader.take(len as u64).read_to_end(payload)? {
        read if read == len => Ok(()),
        _ => Err(ErrorKind::UnexpectedEof.into()),
    }
}
