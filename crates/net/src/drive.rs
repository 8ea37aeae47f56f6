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
    let mut next = Next::Role(role);
    loop {
        next = match next {
            Next::Role(role) => step(channel, lane, role)?,
            Next::Done(out) => return Ok(out),
        }
    }
}

/// Plays both roles of a protocol, each on a lane of its own, against a peer that plays both, too: for what runs once in
/// each direction. Both take as long as one.
///
/// # Errors
/// As for [`run`].
pub fn run_two<A, B>(
    channel: &Channel,
    first: (Lane, Box<dyn Role<Out = A>>),
    second: (Lane, Box<dyn Role<Out = B>>),
) -> Result<(A, B), Error> {
    // Who speaks first does so on either side, and then the other role has something to answer.
    let mut turn_of_first = first.1.expects().is_none();
    let ((lane, other_lane), mut next, mut other) =
        ((first.0, second.0), Next::Role(first.1), Next::Role(second.1));
    loop {
        match (turn_of_first, next, other) {
            (_, Next::Done(a), Next::Done(b)) => return Ok((a, b)),
            (true, Next::Role(role), there) => {
                (next, other) = (step(channel, lane, role)?, there);
            }
            (false, here, Next::Role(role)) => {
                (next, other) = (here, step(channel, other_lane, role)?);
            }
            (_, here, there) => (next, other) = (here, there),
        }
        turn_of_first = !turn_of_first;
    }
}

/// A message in, if one is expected, and one out, if there is one.
fn step<Out>(
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
