use alloc::vec;

use super::*;
use crate::Misbehaved;

/// Sends one byte and returns the sum of two answers, which come on two streams.
fn adder<'a>() -> Engine<'a, u8> {
    Engine::new(|io| async move {
        io.send(vec![1]).await;
        let other = io.on(3);
        other.send(vec![2, 3]).await;
        let late = other.recv(1).await;
        Ok(late[0] + io.recv(1).await[0])
    })
}

fn waiting<Out>(stream: Stream, len: usize) -> Result<Progress<Out>, Error> {
    Ok(Progress::Waiting { stream, len })
}

#[test]
fn a_run_says_what_it_sends_and_what_it_waits_for() {
    let mut engine = adder();
    assert_eq!(engine.outgoing(), None);
    assert_eq!(engine.advance(), waiting(3, 1));
    assert_eq!(engine.outgoing(), Some((0, vec![1])));
    assert_eq!(engine.outgoing(), Some((3, vec![2, 3])));
    assert_eq!(engine.outgoing(), None);
}

#[test]
fn streams_do_not_wait_for_each_other() {
    let mut engine = adder();
    engine.deliver(0, vec![5]);
    assert_eq!(engine.advance(), waiting(3, 1));
    engine.deliver(3, vec![6]);
    assert_eq!(engine.advance(), Ok(Progress::Done(11)));
}

#[test]
fn advancing_without_a_message_changes_nothing() {
    let mut engine = adder();
    for _ in 0..3 {
        assert_eq!(engine.advance(), waiting(3, 1));
    }
    engine.deliver(3, vec![1]);
    assert_eq!(engine.advance(), waiting(0, 1));
}

#[test]
fn a_run_that_has_ended_stays_ended() {
    let mut done = Engine::new(|_| async { Ok(7) });
    assert_eq!(done.advance(), Ok(Progress::Done(7)));
    assert_eq!(done.advance(), Err(Usage::SessionEnded.into()));

    let mut failed = Engine::<()>::new(|io| async move {
        io.recv(1).await;
        Err(Misbehaved::CommitmentMismatch.into())
    });
    assert_eq!(failed.advance(), waiting(0, 1));
    failed.deliver(0, vec![0]);
    assert_eq!(failed.advance(), Err(Misbehaved::CommitmentMismatch.into()));
    assert_eq!(failed.advance(), Err(Usage::SessionEnded.into()));
}
