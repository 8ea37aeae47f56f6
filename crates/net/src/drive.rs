//! Running a protocol's engine over a channel.

#[cfg(test)]
mod tests;

use foxtrot_ot::engine::{Engine, Progress};

use crate::{Channel, Error, Lane};

/// Runs the protocol to its end; its streams are the lanes from `first` on.
///
/// # Errors
/// [`Error::Protocol`], of which the peer is told; [`Error::Frame`] if the peer's message has another length than the
/// protocol expects; [`Error::Channel`].
///
/// # Panics
/// If the protocol takes more streams than there are lanes.
pub fn run<Out>(channel: &Channel, first: Lane, mut engine: Engine<'_, Out>) -> Result<Out, Error> {
    loop {
        match advance(channel, first, &mut engine)? {
            Progress::Done(out) => return Ok(out),
            Progress::Waiting { stream, len } => {
                engine.deliver(stream, channel.recv(first.offset(stream), len)?);
            }
        }
    }
}

/// Runs the protocol until it waits for the peer or is done, and sends what it has to say.
pub(crate) fn advance<Out>(
    channel: &Channel,
    first: Lane,
    engine: &mut Engine<'_, Out>,
) -> Result<Progress<Out>, Error> {
    let progress = engine.advance().map_err(|e| channel.give_up(e))?;
    while let Some((stream, message)) = engine.outgoing() {
        channel.send(first.offset(stream), message)?;
    }
    Ok(progress)
}
