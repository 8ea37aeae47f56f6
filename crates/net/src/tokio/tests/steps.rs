//! Threads that compute the steps of a protocol, and dropped futures.

use core::{
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};
use std::{thread, time::Instant};

use super::*;

const LONG: Duration = Duration::from_secs(60);

/// A party that sends and receives in turns.
fn talk(begins: bool, turns: usize) -> Engine<'static, thread::ThreadId> {
    Engine::new(move |io: Io| async move {
        for _ in 0..turns {
            if begins {
                io.send(vec![1; 100]).await;
            }
            let message = io.recv(100).await;
            if !begins {
                io.send(message).await;
            }
        }
        Ok::<_, Protocol>(thread::current().id())
    })
}

/// A stream that takes all at once does not keep other tasks from getting on.
#[test]
fn other_tasks_get_on_between_two_steps() {
    block_on(async {
        let [mut here, _there] = ends(1 << 20);
        let turns = Arc::new(AtomicUsize::new(0));
        let counts = Arc::clone(&turns);
        let other = tokio::spawn(async move {
            loop {
                counts.fetch_add(1, Ordering::SeqCst);
                tokio::task::yield_now().await;
            }
        });
        let sends = Engine::new(|io: Io| async move {
            for _ in 0..50 {
                io.send(vec![1]).await;
            }
            Ok::<_, Protocol>(())
        });
        here.run(sends).await.unwrap();
        assert!(turns.load(Ordering::SeqCst) >= 50, "{turns:?}");
        other.abort();
    });
}

#[test]
fn an_owned_protocol_computes_on_threads_of_the_runtime_and_without_one_in_place() {
    block_on(async {
        let [here, mut there] = ends(1 << 10);
        let mut here = here.on(Arc::new(Tokio), LONG);
        let (ours, theirs) =
            tokio::join!(here.run_owned(talk(true, 3)), there.run_owned(talk(false, 3)));
        assert_ne!(ours.unwrap(), thread::current().id());
        assert_eq!(theirs.unwrap(), thread::current().id());
    });
}

#[test]
fn a_step_that_panics_or_is_not_computed_ends_the_run() {
    struct Idle;
    impl Runtime for Idle {
        fn sleep(&self, _: Duration) -> Later {
            Box::pin(core::future::pending())
        }
        fn offload(&self, _: Box<dyn FnOnce() + Send>) -> Later {
            Box::pin(core::future::ready(()))
        }
    }
    block_on(async {
        let [here, there] = ends(1 << 10);
        let ended = here.on(Arc::new(Idle), LONG).run_owned(talk(true, 3)).await;
        assert_eq!(ended, Err(ChannelError::Abandoned.into()));
        let panics = Engine::new(|_: Io| async move {
            panic!("a faulty protocol");
            #[expect(unreachable_code, reason = "says the type")]
            Ok::<(), Protocol>(())
        });
        let mut there = there.on(Arc::new(Tokio), LONG);
        let ended = tokio::spawn(async move { there.run_owned(panics).await }).await;
        assert!(ended.unwrap_err().is_panic());
    });
}

/// The future owns its lanes. A step that is under way ends, and what the protocol held is dropped.
#[test]
fn a_dropped_future_leaves_the_peer_an_end_and_nothing_that_runs() {
    for offloads in [false, true] {
        block_on(async {
            let [here, mut there] = ends(1 << 10);
            let mut here = here.on(Arc::new(Tokio), LONG);
            let held = Arc::new(());
            let holds = Arc::clone(&held);
            let engine = Engine::new(|io: Io| async move {
                io.send(vec![1; 100]).await;
                if offloads {
                    thread::sleep(Duration::from_millis(50));
                }
                io.recv(7).await;
                drop(holds);
                Ok::<_, Protocol>(())
            });
            let run = tokio::spawn(async move {
                if offloads { here.run_owned(engine).await } else { here.run(engine).await }
            });
            let peer = async {
                let first =
                    Engine::new(|io: Io| async move { Ok::<_, Protocol>(io.recv(100).await) });
                there.run(first).await.unwrap();
                run.abort();
                there.run(talk(false, 1)).await
            };
            assert_eq!(peer.await, Err(ChannelError::ClosedReceiving.into()));
            assert!(run.await.unwrap_err().is_cancelled());
            let start = Instant::now();
            while Arc::strong_count(&held) > 1 && start.elapsed() < LONG {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            assert_eq!(Arc::strong_count(&held), 1);
        });
    }
}

/// A step takes about a tenth of a millisecond or more, so that a thread of its own costs little beside it.
#[test]
fn a_step_on_another_thread_costs_microseconds() {
    const TURNS: usize = 2000;
    block_on(async {
        let mut took = Vec::new();
        for offloads in [false, true] {
            let ends = ends(1 << 16).map(|end| end.on(Arc::new(Tokio), LONG));
            let [mut here, mut there] = ends;
            let start = Instant::now();
            let (ours, theirs) = match offloads {
                false => tokio::join!(here.run(talk(true, TURNS)), there.run(talk(false, TURNS))),
                true => tokio::join!(
                    here.run_owned(talk(true, TURNS)),
                    there.run_owned(talk(false, TURNS)),
                ),
            };
            ours.unwrap();
            theirs.unwrap();
            // Each party has two steps a turn.
            took.push(start.elapsed() / u32::try_from(4 * TURNS).unwrap());
        }
        println!("a step in place takes {:?}, on another thread {:?}", took[0], took[1]);
        assert!(took[1] < Duration::from_millis(5), "{took:?}");
    });
}
