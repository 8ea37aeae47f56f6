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

/// Sends a byte for each of 20 batches, two ahead or as many as the window admits, and gathers the answers.
fn batches<'a>() -> Engine<'a, Vec<u8>> {
    Engine::new(|io| async move {
        let mut window = batches::Window::new(io.clone(), 1, 1, 0..20);
        let mut answers = vec![];
        while let Some(step) = window.step().await {
            match step {
                batches::Step::Begin(batch) => {
                    io.send(vec![batch]).await;
                    window.push(batch);
                }
                batches::Step::End(batch) => {
                    assert_eq!(usize::from(batch), answers.len());
                    answers.extend(io.recv(1).await);
                }
            }
        }
        Ok(answers)
    })
}

/// The bytes that a run sends before it waits.
fn sent<Out>(engine: &mut Engine<'_, Out>) -> Vec<u8> {
    let mut all = vec![];
    while let Ok(Progress::Sending) = engine.advance() {
        all.extend(core::iter::from_fn(|| engine.outgoing()).flat_map(|(_, message)| message));
    }
    all
}

#[test]
fn a_run_sends_a_window_ahead_and_more_when_it_is_widened() {
    let mut engine = batches();
    assert_eq!(sent(&mut engine), (0..8).collect::<Vec<_>>());
    assert!(!engine.is_narrow(), "as wide as it may be");

    let mut engine = batches();
    engine.set_window(1);
    assert!(!engine.is_narrow(), "it does not wait yet");
    assert_eq!(sent(&mut engine), [0, 1]);
    assert!(engine.is_narrow());
    assert_eq!(engine.widen(), 2);
    assert!(sent(&mut engine).is_empty());
    assert_eq!(engine.widen(), 4);
    assert_eq!(sent(&mut engine), [2, 3]);
    assert_eq!(engine.awaited(), [(0, 1)]);
    engine.deliver(0, vec![70]);
    assert_eq!(sent(&mut engine), [4]);
    assert_eq!([engine.widen(), engine.widen()], [8, 8]);
    assert_eq!(sent(&mut engine), [5, 6, 7, 8]);
    assert!(!engine.is_narrow());
    for answer in 71..90 {
        assert_eq!(engine.awaited(), [(0, 1)]);
        engine.deliver(0, vec![answer]);
        if answer < 89 {
            sent(&mut engine);
        }
    }
    assert_eq!(engine.advance(), Ok(Progress::Done((70..90).collect())));
}
