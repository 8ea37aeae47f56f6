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

/// Lets the run send all it has to send.
fn settle<Out, E: From<Usage>>(engine: &mut Engine<'_, Out, E>) -> Result<Progress<Out>, E> {
    loop {
        match engine.advance()? {
            Progress::Sending => while engine.outgoing().is_some() {},
            progress => return Ok(progress),
        }
    }
}

#[test]
fn a_run_reports_its_outgoing_message_and_the_awaited_one() {
    let mut engine = adder();
    assert_eq!(engine.outgoing(), None);
    // It holds one message back, however often it is asked to go on.
    for _ in 0..2 {
        assert_eq!(engine.advance(), Ok(Progress::Sending));
    }
    assert_eq!(engine.outgoing(), Some((0, vec![1])));
    assert_eq!(engine.outgoing(), None);
    assert_eq!(engine.advance(), Ok(Progress::Sending));
    assert_eq!(engine.outgoing(), Some((3, vec![2, 3])));
    assert_eq!(engine.advance(), waiting(3, 1));
    assert_eq!(engine.outgoing(), None);
}

#[test]
fn streams_do_not_wait_for_each_other() {
    let mut engine = adder();
    engine.deliver(0, vec![5]);
    assert_eq!(settle(&mut engine), waiting(3, 1));
    engine.deliver(3, vec![6]);
    assert_eq!(engine.advance(), Ok(Progress::Done(11)));
}

#[test]
fn advancing_without_a_message_changes_nothing() {
    let mut engine = adder();
    for _ in 0..3 {
        assert_eq!(settle(&mut engine), waiting(3, 1));
    }
    engine.deliver(3, vec![1]);
    assert_eq!(engine.advance(), waiting(0, 1));
}

/// Asks on its stream, and adds the answer, which it waits for, to the number.
async fn ask(io: Io, number: u8) -> Result<u8, Error> {
    io.send(vec![number]).await;
    match io.recv(1).await[..] {
        [0] => Err(Misbehaved::Response.into()),
        [answer, ..] => Ok(number + answer),
        [] => Ok(number),
    }
}

#[test]
fn two_protocols_side_by_side_wait_for_messages_of_both() {
    for order in [[1, 4], [4, 1]] {
        let mut both =
            Engine::new(|io| async move { join(ask(io.on(1), 10), ask(io.on(4), 20)).await });
        assert_eq!(settle(&mut both), waiting(1, 1));
        assert_eq!(both.awaited(), [(1, 1), (4, 1)]);
        both.deliver(order[0], vec![1]);
        assert_eq!(settle(&mut both), waiting(order[1], 1));
        both.deliver(order[1], vec![2]);
        let answers = if order[0] == 1 { (11, 22) } else { (12, 21) };
        assert_eq!(both.advance(), Ok(Progress::Done(answers)));
    }
    let mut both =
        Engine::new(|io| async move { join(ask(io.on(1), 10), ask(io.on(4), 20)).await });
    assert_eq!(settle(&mut both), waiting(1, 1));
    both.deliver(4, vec![0]);
    assert_eq!(both.advance(), Err(Misbehaved::Response.into()));
}

#[test]
fn streams_of_an_inner_protocol_start_at_its_own_stream() {
    let inner = || Engine::new(|io| async move { join(ask(io.on(0), 1), ask(io.on(2), 2)).await });
    let mut outer = Engine::new(|io| async move {
        io.send(vec![9]).await;
        let (a, b) = io.on(3).run(inner()).await?;
        Ok::<_, Error>(a + b)
    });
    assert_eq!(settle(&mut outer), waiting(3, 1));
    assert_eq!(outer.awaited(), [(3, 1), (5, 1)]);
    outer.deliver(5, vec![10]);
    assert_eq!(settle(&mut outer), waiting(3, 1));
    outer.deliver(3, vec![20]);
    assert_eq!(outer.advance(), Ok(Progress::Done(33)));
}

#[test]
fn limits_are_the_last_that_the_protocol_said() {
    let limits = Limits { streams: 3, messages: 16, len: 100 };
    let mut engine = Engine::new(|io| async move {
        io.limit(limits);
        io.recv(1).await;
        Ok::<_, Error>(())
    });
    assert_eq!(engine.limits(), Limits::default());
    assert_eq!(engine.advance(), waiting(0, 1));
    assert_eq!(engine.limits(), limits);
}

#[test]
fn a_run_that_has_ended_stays_ended() {
    let mut done = Engine::new(|_| async { Ok::<_, Error>(7) });
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
