//! Running a protocol's states over a channel.

#[cfg(test)]
mod tests;

use foxtrot_ot::base::{Next, Role, Step};

use crate::{Channel, Error, Lane};

/// Plays the role to its end on that lane of the channel.
///
/// # Errors
/// [`Error::Protocol`] from the role, of which the peer is told; [`Error::Frame`] if the peer's message has another length
/// than the role expects, [`Error::Channel`].
pub fn run<Out>(
    channel: &Channel,
    lane: Lane,
    role: Box<dyn Role<Out = Out>>,
) -> Result<Out, Error> {
    go_on(channel, lane, Next::Role(role))
}

/// The same from where it stands.
pub(crate) fn go_on<Out>(channel: &Channel, lane: Lane, mut next: Next<Out>) -> Result<Out, Error> {
    loop {
        match next {
            Next::Role(role) => next = step(channel, lane, role)?,
            Next::Done(out) => return Ok(out),
        }
    }
}

/// One step of it: a role that speaks first waits for nothing.
pub(crate) fn step<Out>(
    channel: &Channel,
    lane: Lane,
    role: Box<dyn Role<Out = Out>>,
) -> Result<Next<Out>, Error> {
    let incoming = match role.expects() {
        Some(len) => channel.recv(lane, len)?,
        None => Vec::new(),
    };
    let Step { message, next } = role.step(&incoming).map_err(|e| channel.give_up(e))?;
    if let Some(message) = message {
        channel.send(lane, message)?;
    }
    Ok(next)
}
