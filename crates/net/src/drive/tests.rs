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
        let there = scope.spawn(|| run(&b, countdown(false, 3)));
        (run(&a, countdown(true, 3)), there.join().unwrap())
    });
    assert_eq!((here.unwrap(), there.unwrap()), (vec![2, 0], vec![3, 1]));
    assert_eq!(a.counters(), Counters { sent: 4, received: 2, flows: 4 });
    assert_eq!(b.counters(), Counters { sent: 2, received: 4, flows: 4 });
}

/// A sender with many threads waits for many batches before it answers the first.
#[test]
fn a_peer_that_waits_for_many_batches_gets_them() {
    const BATCHES: usize = 16;
    let (a, b) = memory::pair(LONG);
    assert_eq!(a.window(), crate::channel::NARROW);
    thread::scope(|scope| {
        let answers = scope.spawn(|| {
            play::<_, foxtrot_ot::Error, _>(&b, |io| async move {
                for _ in 0..BATCHES / 8 {
                    io.recv_all(vec![1; 8]).await;
                    io.send_all(vec![vec![7]; 8]).await;
                }
                Ok(())
            })
        });
        let asked = play::<_, foxtrot_ot::Error, _>(&a, |io| async move {
            let (mut begun, mut answered) = (0, 0);
            while answered < BATCHES {
                if begun == BATCHES || io.wait_until_due(begun - answered, 2, 1).await {
                    io.recv(1).await;
                    answered += 1;
                } else {
                    io.send(vec![1]).await;
                    begun += 1;
                }
            }
            Ok(())
        });
        asked.unwrap();
        answers.join().unwrap().unwrap();
    });
    assert_eq!(a.window(), 8);
}

#[test]
fn a_wrong_message_length_blames_the_peer() {
    let (a, b) = memory::pair(LONG);
    a.send(Lane::PROTOCOL, vec![0; 4]).unwrap();
    let error = run(&b, countdown(false, 3)).unwrap_err();
    assert_eq!(error, FrameError::Length { expected: 3, got: 4 }.into());
}

#[test]
fn a_check_that_fails_ends_the_run_with_its_error() {
    let (a, b) = memory::pair(LONG);
    a.send(Lane::PROTOCOL, vec![1; 3]).unwrap();
    let error = run(&b, countdown(false, 3)).unwrap_err();
    assert_eq!(error, Error::Protocol(Misbehaved::CommitmentMismatch.into()));
}

#[test]
fn a_peer_that_has_gone_ends_the_run() {
    let (a, b) = memory::pair(LONG);
    drop(a);
    let error = run(&b, countdown(false, 3)).unwrap_err();
    assert_eq!(error, ChannelError::ClosedReceiving.into());
}

/// A side that waits for one that gives up learns why, after a hello.
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

/// An extension's parties, and what a channel adds: what the peer is told, and what is held back.
mod of_an_extension {
    use foxtrot_ot::{
        Direction, Session, Sid,
        base::{Adversary, Block, Choice, roted::Endemic},
        engine::batches::PROOFS,
        extension::{
            self, OtKind, Shape,
            protocol::{ExtensionPlan, Receiver, Sender},
        },
    };

    use super::*;
    use crate::Reason;

    /// The time that a party waits where it waits in vain.
    const SHORT: Duration = Duration::from_secs(2);

    fn session() -> Session {
        Session::new(Sid::from_bytes([8; 32]))
    }

    fn plan() -> ExtensionPlan<'static> {
        let extension = extension::find("softspoken", Adversary::Malicious).unwrap();
        ExtensionPlan {
            extension,
            base: &Endemic,
            direction: Direction::InitiatorSends,
            counter: 0,
        }
    }

    /// Two ends whose hellos are behind them.
    fn pair(timeout: Duration) -> (Channel, Channel) {
        let (here, there) = memory::pair(timeout);
        here.agreed(Sid::from_bytes([1; 32]), true);
        there.agreed(Sid::from_bytes([1; 32]), false);
        (here, there)
    }

    fn sender(channel: &Channel) -> Result<Sender, Error> {
        let session = session();
        let mut cx = context(&session)?;
        play(channel, |io| async move { Sender::set_up(&io, &mut cx, plan()).await })
    }

    fn receiver(channel: &Channel) -> Result<Receiver, Error> {
        let session = session();
        let mut cx = context(&session)?;
        play(channel, |io| async move { Receiver::set_up(&io, &mut cx, plan()).await })
    }

    #[test]
    fn after_a_sink_has_failed_the_peer_is_told_and_there_are_no_further_runs() {
        let (here, there) = pair(LONG);
        let sender =
            thread::spawn(move || {
                let mut sender = sender(&there)?;
                let full = Error::from(ChannelError::ClosedSending);
                let (kept, of_run) = (&Sink::new(), &mut sender);
                let run = play(&there, |io| async move {
                    let sink = |_: &[[Block; 2]]| kept.keep(Err(full.clone()));
                    of_run.random(&io, Shape::random(100_000), sink).await
                });
                assert_eq!(kept.result(run).unwrap_err(), ChannelError::ClosedSending.into());
                let again = play(&there, |io| async move {
                    sender.random(&io, Shape::random(1), |_| Ok(())).await
                });
                // The channel says what happened first.
                assert_eq!(again.unwrap_err(), ChannelError::Abandoned.into());
                // The connection stays, so that the last word is what the peer hears of it.
                Ok::<_, Error>(there)
            });
        let mut receiver = receiver(&here).unwrap();
        let mut run = || {
            let receiver = &mut receiver;
            play(&here, |io| async move {
                let choice = Choice::Random(100_000);
                receiver.run(&io, &choice, OtKind::Random, |_, _| Ok(())).await
            })
        };
        // Our own part of the first run may well succeed; the peer's failure is then seen in the next.
        let told = run().and_then(|()| run()).unwrap_err();
        // Whichever of the two we notice first: that the peer says why, or that it takes no more.
        let expected = [ChannelError::GivenUp(Reason::Other), ChannelError::ClosedSending];
        assert!(expected.map(Error::from).contains(&told), "{told}");
        drop(sender.join().unwrap().unwrap());
    }

    /// Messages that nobody waits for are not taken: memory follows from the protocol's limits, not from the peer.
    #[test]
    fn a_flood_of_proofs_fills_only_its_senders_memory() {
        let (here, there) = pair(SHORT);
        let sender = thread::spawn(move || {
            let mut sender = sender(&there)?;
            play(
                &there,
                |io| async move { sender.random(&io, Shape::random(100), |_| Ok(())).await },
            )
        });
        drop(receiver(&here).unwrap());
        // Far less than a lane holds back otherwise, and more than lies between writer and reader.
        let len = plan().extension.proof_len();
        for _ in 0..(24 << 20) / len {
            here.send(FIRST.offset(PROOFS), vec![0; len]).unwrap();
        }
        let failed = sender.join().unwrap().unwrap_err();
        let refused = here.close().unwrap_err();
        let expected = [ChannelError::NothingTaken(SHORT), ChannelError::ClosedSending];
        assert!(expected.map(Error::from).contains(&refused), "{refused}");
        assert_eq!(failed, ChannelError::NothingReceived(SHORT).into());
    }

    #[test]
    fn a_failed_check_is_reported_to_the_peer() {
        let (here, there) = pair(LONG);
        let sender = thread::spawn(move || {
            let mut sender = sender(&there)?;
            let run = play(&there, |io| async move {
                sender.random(&io, Shape::random(100), |_| Ok(())).await
            });
            Ok::<_, Error>((run.unwrap_err(), there))
        });
        drop(receiver(&here).unwrap());
        let extension = plan().extension;
        here.send(FIRST, vec![0; extension.corrections_len(Shape::random(100))]).unwrap();
        here.recv(FIRST, extension.challenge_len()).unwrap();
        here.send(FIRST.offset(PROOFS), vec![0; extension.proof_len()]).unwrap();
        let (failed, _there) = sender.join().unwrap().unwrap();
        let check = foxtrot_ot::Error::from(Misbehaved::ConsistencyCheck);
        assert_eq!(failed, check.into());
        let told = here.recv(FIRST, 1).unwrap_err();
        assert_eq!(told, ChannelError::GivenUp(Reason::CheckFailed).into());
    }
}

/// Two protocols at once: each waits for its peer's, which comes on either lane first.
#[test]
fn protocols_side_by_side_receive_on_any_of_their_lanes() {
    let both = || {
        Engine::new(|io: Io| async move {
            let ping = |io: Io, n: u8| async move {
                io.send(vec![n; usize::from(n)]).await;
                let first = io.recv(n.into()).await;
                io.send(first).await;
                Ok::<_, foxtrot_ot::Error>(io.recv(n.into()).await)
            };
            io.limit(Limits { streams: 3, messages: 2, len: 9 });
            foxtrot_ot::engine::join(ping(io.on(1), 3), ping(io.on(2), 9)).await
        })
    };
    let (a, b) = memory::pair(LONG);
    let there = thread::spawn(move || run(&b, both()));
    let here = run(&a, both());
    assert_eq!(here.unwrap(), (vec![3; 3], vec![9; 9]));
    assert_eq!(there.join().unwrap().unwrap(), (vec![3; 3], vec![9; 9]));
}
