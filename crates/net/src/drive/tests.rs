use core::time::Duration;
use std::thread;

use foxtrot_ot::{Error as OtError, Misbehaved};

use super::*;
use crate::{ChannelError, Counters, FrameError, memory};

/// Counts down in turns with the peer: a message of n bytes is answered by one of n − 1, until
/// one is empty. Yields the lengths that it took.
struct Countdown {
    first: Option<usize>,
    expects: Option<usize>,
    taken: Vec<usize>,
}

impl Countdown {
    /// The party that begins with a message of `n` bytes.
    fn begin(n: usize) -> Box<Self> {
        Box::new(Self { first: Some(n), expects: None, taken: Vec::new() })
    }

    /// The other.
    fn answer(n: usize) -> Box<Self> {
        Box::new(Self { first: None, expects: Some(n), taken: Vec::new() })
    }
}

impl Role for Countdown {
    type Out = Vec<usize>;

    fn expects(&self) -> Option<usize> {
        self.expects
    }

    fn step(mut self: Box<Self>, message: &[u8]) -> Result<Step<Vec<usize>>, OtError> {
        if message.contains(&1) {
            return Err(Misbehaved::CommitmentMismatch.into());
        }
        let reply = match self.first.take() {
            Some(n) => Some(n),
            None => {
                self.taken.push(message.len());
                message.len().checked_sub(1)
            }
        };
        let next = match reply.and_then(|n| n.checked_sub(1)) {
            Some(n) => {
                self.expects = Some(n);
                Next::Role(self as Box<dyn Role<Out = Vec<usize>>>)
            }
            None => Next::Done(self.taken),
        };
        Ok(Step { message: reply.map(|n| vec![0; n]), next })
    }
}

const LONG: Duration = Duration::from_secs(20);

#[test]
fn two_roles_play_to_the_end() {
    let (a, b) = memory::pair(LONG);
    let (here, there) = thread::scope(|scope| {
        let there = scope.spawn(|| run(&b, Lane::PROTOCOL, Countdown::answer(3)));
        (run(&a, Lane::PROTOCOL, Countdown::begin(3)), there.join().unwrap())
    });
    assert_eq!((here.unwrap(), there.unwrap()), (vec![2, 0], vec![3, 1]));
    assert_eq!(a.counters(), Counters { sent: 4, received: 2, flows: 4 });
    assert_eq!(b.counters(), Counters { sent: 2, received: 4, flows: 4 });
}

#[test]
fn another_length_than_expected_is_the_peers_fault() {
    let (a, b) = memory::pair(LONG);
    a.send(Lane::PROTOCOL, vec![0; 4]).unwrap();
    let error = run(&b, Lane::PROTOCOL, Countdown::answer(3)).unwrap_err();
    assert_eq!(error, FrameError::Length { expected: 3, got: 4 }.into());
}

#[test]
fn a_check_that_fails_ends_the_run_with_its_error() {
    let (a, b) = memory::pair(LONG);
    a.send(Lane::PROTOCOL, vec![1; 3]).unwrap();
    let error = run(&b, Lane::PROTOCOL, Countdown::answer(3)).unwrap_err();
    assert_eq!(error, Error::Protocol(Misbehaved::CommitmentMismatch.into()));
}

#[test]
fn a_peer_that_has_gone_ends_the_run() {
    let (a, b) = memory::pair(LONG);
    drop(a);
    let error = run(&b, Lane::PROTOCOL, Countdown::answer(3)).unwrap_err();
    assert_eq!(error, ChannelError::ClosedReceiving.into());
}

/// After a hello, whoever waits for a side that gives up learns why.
#[test]
fn the_other_side_learns_why_a_run_failed() {
    use crate::{
        Reason,
        hello::{self, Hello},
    };
    use foxtrot_ot::{Decode, Misbehaved};

    let decode = Decode::Length { message: "X", expected: 1, got: 2 };
    let cases: [(Error, Option<Reason>); 4] = [
        (foxtrot_ot::Error::from(decode).into(), Some(Reason::Undecodable)),
        (foxtrot_ot::Error::from(Misbehaved::CommitmentMismatch).into(), Some(Reason::CheckFailed)),
        (ChannelError::NothingReceived(LONG).into(), Some(Reason::Timeout)),
        // Not this: whether it happens depends on the choices.
        (foxtrot_ot::Error::from(Misbehaved::MessageAuthentication).into(), None),
    ];
    for (error, reason) in cases {
        let (a, b) = memory::pair(LONG);
        thread::scope(|scope| {
            scope.spawn(|| hello::exchange(&a, true, &Hello::new(hello::Role::Sender)).unwrap());
            hello::exchange(&b, false, &Hello::new(hello::Role::Receiver)).unwrap();
        });
        assert_eq!(a.give_up(error.clone()), error);
        drop(a);
        let learnt = b.recv(Lane::PROTOCOL, 5).unwrap_err();
        let expected = reason.map_or(ChannelError::ClosedReceiving, ChannelError::GivenUp);
        assert_eq!(learnt, expected.into());
    }
}
