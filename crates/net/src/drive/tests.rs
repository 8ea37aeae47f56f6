use core::time::Duration;
use std::thread;

use foxtrot_ot::Misbehaved;

use super::*;
use crate::{ChannelError, Counters, FrameError, memory};

/// Counts down in turns with the peer: a message of n bytes is answered by one of n − 1, until one is empty. The party
/// begins with a message, or waits for one, of n bytes. Yields the lengths that it took.
fn countdown(begins: bool, mut n: usize) -> Engine<'static, Vec<usize>> {
    Engine::new(move |io| async move {
        let mut taken = Vec::new();
        if begins {
            io.send(vec![0; n]).await;
            n -= 1;
        }
        loop {
            let message = io.recv(n).await;
            if message.contains(&1) {
                return Err(Misbehaved::CommitmentMismatch.into());
            }
            taken.push(n);
            let Some(answer) = n.checked_sub(1) else { return Ok(taken) };
            io.send(vec![0; answer]).await;
            let Some(next) = answer.checked_sub(1) else { return Ok(taken) };
            n = next;
        }
    })
}

const LONG: Duration = Duration::from_secs(20);

#[test]
fn two_parties_run_to_the_end() {
    let (a, b) = memory::pair(LONG);
    let (here, there) = thread::scope(|scope| {
        let there = scope.spawn(|| run(&b, Lane::PROTOCOL, countdown(false, 3)));
        (run(&a, Lane::PROTOCOL, countdown(true, 3)), there.join().unwrap())
    });
    assert_eq!((here.unwrap(), there.unwrap()), (vec![2, 0], vec![3, 1]));
    assert_eq!(a.counters(), Counters { sent: 4, received: 2, flows: 4 });
    assert_eq!(b.counters(), Counters { sent: 2, received: 4, flows: 4 });
}

#[test]
fn another_length_than_expected_is_the_peers_fault() {
    let (a, b) = memory::pair(LONG);
    a.send(Lane::PROTOCOL, vec![0; 4]).unwrap();
    let error = run(&b, Lane::PROTOCOL, countdown(false, 3)).unwrap_err();
    assert_eq!(error, FrameError::Length { expected: 3, got: 4 }.into());
}

#[test]
fn a_check_that_fails_ends_the_run_with_its_error() {
    let (a, b) = memory::pair(LONG);
    a.send(Lane::PROTOCOL, vec![1; 3]).unwrap();
    let error = run(&b, Lane::PROTOCOL, countdown(false, 3)).unwrap_err();
    assert_eq!(error, Error::Protocol(Misbehaved::CommitmentMismatch.into()));
}

#[test]
fn a_peer_that_has_gone_ends_the_run() {
    let (a, b) = memory::pair(LONG);
    drop(a);
    let error = run(&b, Lane::PROTOCOL, countdown(false, 3)).unwrap_err();
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
