//! Limits of time in [`Lanes`], by the clock of the program around them, and the threads that compute for them.

use core::{
    fmt,
    future::poll_fn,
    pin::{Pin, pin},
    task::{Context as Waking, Poll, ready},
    time::Duration,
};
use std::sync::Arc;

use tokio::io::{AsyncRead, AsyncWrite};

use super::{Lanes, let_others_in};
use crate::{ChannelError, Error, channel::LINGER};

/// A future that a program's clock or threads end.
pub type Later = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The clock and the threads of the program that [`Lanes`] run in. `Tokio` has those of tokio, with its feature `tokio-net`.
pub trait Runtime: Send + Sync {
    /// Ends after this time.
    fn sleep(&self, time: Duration) -> Later;

    /// Computes a step of a protocol, and ends when the step has. Without threads, it computes in place.
    fn offload(&self, step: Box<dyn FnOnce() + Send>) -> Later {
        Box::pin(async {
            step();
            let_others_in().await;
        })
    }
}

/// The limits of time of a connection.
pub(super) struct Clock {
    pub(super) runtime: Arc<dyn Runtime>,
    timeout: Duration,
    /// The longest time of the connection, and the end of that time until it has come.
    end: Option<(Duration, Option<Later>)>,
}

/// A doing of the peer that this side waits for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Awaited {
    /// A peer that sends a message.
    Message,
    /// A peer that takes what this side sends.
    Room,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Lanes<S> {
    /// Ends every wait for the peer after the timeout: a wait for a message however its bytes drip in, and a wait for the
    /// peer to take what this side sends if not a byte of that goes. Without this call, waits do not end by themselves.
    #[must_use]
    pub fn on(self, runtime: Arc<dyn Runtime>, timeout: Duration) -> Self {
        Self { clock: Some(Clock { runtime, timeout, end: None }), ..self }
    }

    /// Ends the connection after this time: then the wait that is under way, or the next one, fails.
    ///
    /// # Panics
    /// Without a clock: call [`on`](Self::on) before.
    pub fn end_after(&mut self, limit: Duration) {
        let clock = self.clock.as_mut().expect("the lanes have a clock");
        clock.end = Some((limit, Some(clock.runtime.sleep(limit))));
    }

    /// Waits for the peer within the limits of time.
    pub(super) async fn within<T>(
        &mut self,
        awaited: Awaited,
        mut poll: impl FnMut(&mut Self, &mut Waking<'_>) -> Poll<Result<T, Error>>,
    ) -> Result<T, Error> {
        let (mut sleep, mut taken) = (None, self.taken);
        poll_fn(|waking| {
            if let Some(clock) = &mut self.clock {
                clock.check_end(waking)?;
            }
            if let Poll::Ready(done) = poll(self, waking) {
                return Poll::Ready(done);
            }
            let Some(clock) = &self.clock else { return Poll::Pending };
            if awaited == Awaited::Room && taken != self.taken {
                (sleep, taken) = (None, self.taken);
            }
            // Most waits end at once and take no timer.
            let sleep = sleep.get_or_insert_with(|| clock.runtime.sleep(clock.timeout));
            ready!(sleep.as_mut().poll(waking));
            Poll::Ready(Err(awaited.in_vain(clock.timeout).into()))
        })
        .await
    }

    /// Says farewell to a peer that may still send: unread bytes would reset the connection, and could take our last word
    /// back. What comes is dropped, for a second at most.
    pub(super) async fn linger(&mut self) {
        let Some(clock) = &self.clock else {
            // The peer may have gone.
            let _ = self.flush_all().await;
            return;
        };
        let mut sleep = clock.runtime.sleep(clock.timeout.min(LINGER));
        let mut farewell = pin!(async {
            self.flush_all().await?;
            self.shut_down().await?;
            loop {
                self.bytes.clear();
                self.parsed = 0;
                poll_fn(|waking| self.poll_read(waking)).await?;
            }
        });
        poll_fn(|waking| {
            let ended: Poll<Result<(), Error>> = farewell.as_mut().poll(waking);
            if ended.is_ready() { Poll::Ready(()) } else { sleep.as_mut().poll(waking) }
        })
        .await;
    }
}

impl Clock {
    fn check_end(&mut self, waking: &mut Waking<'_>) -> Result<(), Error> {
        let Some((limit, end)) = &mut self.end else { return Ok(()) };
        if let Some(sleep) = end
            && sleep.as_mut().poll(waking).is_pending()
        {
            return Ok(());
        }
        *end = None;
        Err(ChannelError::TooSlow(*limit).into())
    }
}

impl Awaited {
    fn in_vain(self, timeout: Duration) -> ChannelError {
        match self {
            Self::Message => ChannelError::NothingReceived(timeout),
            Self::Room => ChannelError::NothingTaken(timeout),
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let limit = self.end.as_ref().map(|(limit, _)| limit);
        f.debug_struct("Clock")
            .field("timeout", &self.timeout)
            .field("limit", &limit)
            .finish_non_exhaustive()
    }
}
