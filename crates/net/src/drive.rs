//! Running a protocol's engine over a channel.

#[cfg(test)]
mod tests;

use std::{future::Future, sync::Mutex, time::Duration};

use foxtrot_ot::{
    Context, Seed, Session, Usage,
    engine::{Abandoned, Engine, Io, Limits, Progress},
};
use zeroize::Zeroizing;

use crate::{Channel, ChannelError, Error, HelloError, Lane, channel::inbox::Want, deadline::lock};

/// The lane of a protocol's stream 0.
pub(crate) const FIRST: Lane = Lane::PROTOCOL;

/// Time without a frame after which more batches are sent ahead. A batch of an extension takes about as long, and a longer way to the peer would leave
/// both parties waiting.
const PATIENCE: Duration = Duration::from_millis(2);

/// Runs the protocol to its end; its streams are the lanes from [`Lane::PROTOCOL`] on.
///
/// # Errors
/// Errors of the protocol, of which the peer is told; [`Error::Frame`] if the peer's message has another length than the
/// protocol expects; [`Error::Channel`].
///
/// # Panics
/// If the protocol takes more streams than there are lanes.
pub fn run<Out, E>(channel: &Channel, mut engine: Engine<'_, Out, E>) -> Result<Out, Error>
where
    E: From<Usage>,
    foxtrot_ot::Error: From<E>,
{
    let mut limits = Limits::default();
    engine.share(channel.spares());
    engine.set_window(channel.window());
    loop {
        let progress =
            engine.advance().map_err(|e| give_up(channel, foxtrot_ot::Error::from(e).into()))?;
        if limits != engine.limits() {
            limits = engine.limits();
            channel.use_lanes(FIRST.index() + limits.streams);
            channel.hold_back(limits.messages, limits.len);
        }
        while let Some((stream, message)) = engine.outgoing() {
            channel.send(FIRST.offset(stream), message)?;
        }
        match progress {
            Progress::Sending => {}
            Progress::Done(out) => return Ok(out),
            Progress::Waiting { .. } => {
                let patience = engine.is_narrow().then_some(PATIENCE);
                match channel.recv_first_within(&awaited(&engine), patience)? {
                    Some((lane, message)) => {
                        engine.deliver(lane.index() - FIRST.index(), message);
                    }
                    None => channel.set_window(engine.widen()),
                }
            }
        }
    }
}

/// The messages that the engine waits for.
pub(crate) fn awaited<Out, E: From<Usage>>(engine: &Engine<'_, Out, E>) -> Vec<(Lane, Want)> {
    let wanted = |(stream, len)| (FIRST.offset(stream), Want::Exactly(len));
    engine.awaited().into_iter().map(wanted).collect()
}

/// Runs a protocol that is an async function; see [`run`].
///
/// # Errors
/// Errors of [`run`].
///
/// # Panics
/// As [`run`].
pub fn play<'a, Out, E, F>(channel: &Channel, protocol: impl FnOnce(Io) -> F) -> Result<Out, Error>
where
    F: Future<Output = Result<Out, E>> + Send + 'a,
    E: From<Usage>,
    foxtrot_ot::Error: From<E>,
{
    run(channel, Engine::new(protocol))
}

/// A run's context, with a seed from the system.
///
/// # Errors
/// [`HelloError::Randomness`].
pub fn context(session: &Session) -> Result<Context<'_>, Error> {
    Ok(Context::new(session, fresh_seed()?))
}

/// A seed from the system.
///
/// # Errors
/// [`HelloError::Randomness`].
pub fn fresh_seed() -> Result<Seed, Error> {
    let mut bytes = Zeroizing::new([0; 32]);
    fill(bytes.as_mut_slice())?;
    Ok(Seed::from_bytes(*bytes))
}

/// Randomness from the system.
///
/// # Errors
/// [`HelloError::Randomness`].
pub fn fill(bytes: &mut [u8]) -> Result<(), Error> {
    getrandom::fill(bytes).map_err(|e| HelloError::Randomness(e.to_string()).into())
}

/// Ends the use of the channel; the peer is told why as far as it may know.
fn give_up(channel: &Channel, error: Error) -> Error {
    channel.give_up(match error {
        Error::Protocol(foxtrot_ot::Error::Usage(Usage::Abandoned)) => {
            ChannelError::Abandoned.into()
        }
        error => error,
    })
}

/// Keeps the error of a caller's sink while the protocol that calls the sink ends.
#[derive(Debug)]
pub struct Sink<E>(Mutex<Option<E>>);

impl<E> Sink<E> {
    /// No error so far.
    #[must_use]
    pub fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Passes on what the sink said, and keeps its error.
    ///
    /// # Errors
    /// [`Abandoned`] for any error of the sink.
    pub fn keep<T>(&self, said: Result<T, E>) -> Result<T, Abandoned> {
        said.map_err(|e| {
            *lock(&self.0) = Some(e);
            Abandoned
        })
    }

    /// Returns the error of the sink, if there was one; else what the run came to.
    ///
    /// # Errors
    /// The sink's error; else the run's.
    pub fn result<T>(&self, run: Result<T, E>) -> Result<T, E> {
        match lock(&self.0).take() {
            Some(e) => Err(e),
            None => run,
        }
    }
}

impl<E> Default for Sink<E> {
    fn default() -> Self {
        Self::new()
    }
}
