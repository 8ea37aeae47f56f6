//! How fast a link is: a few messages there and back before a protocol, for who has a choice to make
//! (`docs/wire.md`, section 20).

use std::time::{Duration, Instant};

use crate::{Channel, Error, Lane};

/// Messages of one byte, of which the fastest counts.
const PINGS: usize = 3;

/// The bytes of the first longer message; each one has four times those of the one before.
const FIRST: usize = 1 << 16;

/// The most bytes of a message.
const MOST: usize = 1 << 22;

/// The most messages that the answering side sends back.
const MESSAGES: usize = 16;

/// Longer ones are not needed when one has taken so long, or is hardly faster than the one before: TCP's window is open.
const ENOUGH: Duration = Duration::from_secs(1);
const FASTER: f64 = 1.25;

/// A link, as far as a protocol can see it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Speed {
    /// In one direction; infinite where it has not been measured.
    pub bytes_per_second: f64,
    /// A message without bytes there and back.
    pub round_trip: Duration,
}

/// Finds out; sends at most so many bytes, and as many come back. The peer has to [`answer`].
///
/// # Errors
/// [`Error::Frame`], [`Error::Channel`].
pub fn ask(channel: &Channel, most: usize) -> Result<Speed, Error> {
    let mut round_trip = Duration::MAX;
    for _ in 0..PINGS {
        round_trip = round_trip.min(echo(channel, 1)?);
    }
    let (mut len, mut left) = (FIRST, most);
    let mut speed = Speed { bytes_per_second: f64::INFINITY, round_trip };
    while len <= MOST.min(left) {
        let took = echo(channel, len)?;
        let (before, now) = (speed.bytes_per_second, rate(len, took, round_trip));
        speed.bytes_per_second = now;
        left -= len;
        len *= 4;
        if took > ENOUGH || now < FASTER * before && before.is_finite() {
            break;
        }
    }
    channel.send(Lane::PROTOCOL, Vec::new())?;
    Ok(speed)
}

/// Sends back what the peer sends to find out, until it has.
///
/// # Errors
/// [`Error::Frame`], also if the peer does not come to an end; [`Error::Channel`].
pub fn answer(channel: &Channel) -> Result<(), Error> {
    for _ in 0..MESSAGES {
        let message = channel.recv_at_most(Lane::PROTOCOL, MOST)?;
        if message.is_empty() {
            return Ok(());
        }
        channel.send(Lane::PROTOCOL, message)?;
    }
    channel.recv(Lane::PROTOCOL, 0).map(drop)
}

/// How long it takes for so many bytes to come back.
fn echo(channel: &Channel, len: usize) -> Result<Duration, Error> {
    let start = Instant::now();
    channel.send(Lane::PROTOCOL, vec![0; len])?;
    channel.recv(Lane::PROTOCOL, len)?;
    Ok(start.elapsed())
}

/// Bytes per second, of a message that came back after that time.
fn rate(len: usize, took: Duration, round_trip: Duration) -> f64 {
    // What is within the scatter of the round trip says little: at least an eighth was for the bytes.
    let moving = took.saturating_sub(round_trip).max(took / 8);
    2.0 * len as f64 / moving.as_secs_f64().max(1e-9)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;
    use crate::{FrameError, memory};

    fn pair() -> (Channel, Channel) {
        let (here, there) = memory::pair(Duration::from_secs(20));
        here.greeted();
        there.greeted();
        (here, there)
    }

    #[test]
    fn a_link_is_measured_and_then_free_for_others() {
        for most in [0, FIRST - 1, FIRST, usize::MAX] {
            let (here, there) = pair();
            let peer = thread::spawn(move || {
                answer(&there).unwrap();
                there.recv(Lane::PROTOCOL, 5).unwrap()
            });
            let speed = ask(&here, most).unwrap();
            assert!(speed.round_trip < Duration::from_secs(1));
            assert_eq!(speed.bytes_per_second.is_finite(), most >= FIRST);
            assert!(here.counters().sent <= (PINGS + most.min(2 * MOST)) as u64);
            assert_eq!(here.counters().sent, here.counters().received);
            here.send(Lane::PROTOCOL, vec![7; 5]).unwrap();
            assert_eq!(peer.join().unwrap(), [7; 5]);
        }
    }

    #[test]
    fn bytes_are_timed_without_the_round_trip() {
        let ms = Duration::from_millis;
        // 1 MB there and back in 100 ms more than an empty message.
        assert!((rate(1_000_000, ms(200), ms(100)) / 2e7 - 1.0).abs() < 1e-9);
        assert!((rate(1_000_000, ms(80), ms(100)) / 2e8 - 1.0).abs() < 1e-9);
        assert!(rate(1, Duration::ZERO, Duration::ZERO).is_finite());
    }

    #[test]
    fn a_peer_that_never_ends_or_sends_too_much_is_not_answered_for_ever() {
        let (here, there) = pair();
        let peer = thread::spawn(move || answer(&there));
        for _ in 0..MESSAGES {
            here.send(Lane::PROTOCOL, vec![0]).unwrap();
            here.recv(Lane::PROTOCOL, 1).unwrap();
        }
        here.send(Lane::PROTOCOL, vec![0]).unwrap();
        let error = peer.join().unwrap().unwrap_err();
        assert_eq!(error, FrameError::Length { expected: 0, got: 1 }.into());

        let (here, there) = pair();
        let peer = thread::spawn(move || answer(&there));
        here.send(Lane::PROTOCOL, vec![0; MOST + 1]).unwrap();
        let error = peer.join().unwrap().unwrap_err();
        assert_eq!(error, FrameError::TooLong { max: MOST, got: MOST + 1 }.into());
    }

    #[test]
    fn an_echo_of_another_length_is_the_peers_fault() {
        let (here, there) = pair();
        there.send(Lane::PROTOCOL, vec![0; 2]).unwrap();
        let error = ask(&here, 0).unwrap_err();
        assert_eq!(error, FrameError::Length { expected: 1, got: 2 }.into());
    }
}
