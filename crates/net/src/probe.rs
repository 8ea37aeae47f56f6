//! How fast a link is: a few messages there and back before a protocol, for who has a choice to make
//! (`docs/wire.md`, section 20).

use std::time::{Duration, Instant};

use crate::{Channel, Error, FrameError, Lane, deadline::Deadline};

/// The bytes of the first longer message; each one has four times those of the one before.
const FIRST: usize = 1 << 16;

/// The most bytes of a message.
const MOST: usize = 1 << 22;

/// The most messages that the answering side sends back.
const MESSAGES: usize = 16;

/// While TCP's window opens, a message has up to four times the rate of the one before; once it is open, the same.
const FASTER: f64 = 1.5;

/// No further message when those so far have taken that time and so many round trips: a window opens by round trips,
/// which are not held against a link.
const TIME: Duration = Duration::from_secs(1);
const TRIPS: u32 = 16;

/// A link, as far as a protocol can see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// In one direction.
    pub bytes_per_second: f64,
    /// A message without bytes there and back.
    pub round_trip: Duration,
}

/// What has been found out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Measured {
    /// In one direction; `None` if too few bytes were allowed.
    pub bytes_per_second: Option<f64>,
    /// A message without bytes there and back.
    pub round_trip: Duration,
}

/// Finds out; sends at most so many bytes beside one, and as many come back. The peer has to [`answer`], for which it
/// waits until it is sent a byte.
///
/// # Errors
/// [`Error::Frame`]; [`Error::Channel`], also if all of it takes longer than one wait may.
pub fn ask(channel: &Channel, most: usize) -> Result<Measured, Error> {
    let deadline = channel.deadline();
    let measured = measure(most, |len| echo(channel, len, deadline))?;
    skip(channel)?;
    Ok(measured)
}

/// There is nothing to find out, or no more: so the peer is told, which [`answer`]s.
///
/// # Errors
/// [`Error::Channel`].
pub fn skip(channel: &Channel) -> Result<(), Error> {
    channel.send(Lane::PROTOCOL, Vec::new())
}

/// Sends back what the peer sends to find out, until it has; returns the byte that it sends then.
///
/// # Errors
/// [`Error::Frame`], also if the peer does not come to an end; [`Error::Channel`], also if all of it takes longer than one
/// wait may.
pub fn answer(channel: &Channel) -> Result<u8, Error> {
    let deadline = channel.deadline();
    let mut sent_back = 0;
    loop {
        let most = if sent_back < MESSAGES { MOST } else { 0 };
        let message = channel.recv_by(Lane::PROTOCOL, most, deadline)?;
        if message.is_empty() {
            break;
        }
        channel.send(Lane::PROTOCOL, message)?;
        sent_back += 1;
    }
    let byte = channel.recv_by(Lane::PROTOCOL, 1, deadline)?;
    let none = || channel.give_up(FrameError::Length { expected: 1, got: 0 });
    byte.first().copied().ok_or_else(none)
}

/// How long it takes for so many bytes to come back.
fn echo(channel: &Channel, len: usize, deadline: Deadline) -> Result<Duration, Error> {
    let start = Instant::now();
    channel.send(Lane::PROTOCOL, vec![0; len])?;
    let got = channel.recv_by(Lane::PROTOCOL, len, deadline)?.len();
    if got != len {
        return Err(channel.give_up(FrameError::Length { expected: len, got }));
    }
    Ok(start.elapsed())
}

/// One byte, and then longer messages while they tell more and are allowed.
fn measure<E>(
    most: usize,
    mut echo: impl FnMut(usize) -> Result<Duration, E>,
) -> Result<Measured, E> {
    let round_trip = echo(1)?;
    let (mut len, mut left) = (FIRST, most);
    let mut messages = Vec::new();
    while len <= MOST.min(left) && !enough(&messages, round_trip) {
        messages.push((len, echo(len)?));
        left -= len;
        len *= 4;
    }
    let bytes_per_second = messages.last().map(|&(len, took)| rate(len, took, round_trip));
    Ok(Measured { bytes_per_second, round_trip })
}

/// Whether a longer message would not tell more than these, of so many bytes each and the time that each took; or not in
/// time.
fn enough(messages: &[(usize, Duration)], round_trip: Duration) -> bool {
    let time: Duration = messages.iter().map(|(_, took)| *took).sum();
    let rate = |&(len, took): &(usize, Duration)| rate(len, took, round_trip);
    let open = match messages {
        [.., before, last] => rate(last) < FASTER * rate(before),
        _ => false,
    };
    open || time > TIME + TRIPS * round_trip
}

/// Bytes per second, of a message that came back after that time.
fn rate(len: usize, took: Duration, round_trip: Duration) -> f64 {
    // What is within the scatter of the round trip says little: at least an eighth was for the bytes.
    let moving = took.saturating_sub(round_trip).max(took / 8);
    2.0 * len as f64 / moving.as_secs_f64().max(1e-9)
}

#[cfg(test)]
mod tests;
