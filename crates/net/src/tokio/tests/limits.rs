//! Limits of time, by a clock that jumps to the next timer when all wait; counters and transcripts.

use core::{convert::Infallible, time::Duration};

use tokio::time::{Instant, sleep};

use super::*;
use crate::{
    Connection, Counters, Reason,
    hello::{Hello, Role, exchange_by},
};

const TIMEOUT: Duration = Duration::from_secs(10);

/// Runs the future with a clock that does not go while anything else does.
fn timeless<T>(future: impl Future<Output = T>) -> T {
    let mut builder = Builder::new_current_thread();
    builder.enable_all().start_paused(true).build().unwrap().block_on(future)
}

fn timed(stream: DuplexStream) -> Lanes<DuplexStream> {
    Lanes::new(stream).on(Arc::new(Tokio), TIMEOUT)
}

/// Both ends of a session that a hello began.
async fn session(bytes: usize) -> [Lanes<DuplexStream>; 2] {
    let (here, there) = duplex(bytes);
    let [mut here, mut there] = [here, there].map(timed);
    tokio::join!(greet(&mut here, true), greet(&mut there, false));
    [here, there]
}

async fn greet(lanes: &mut Lanes<DuplexStream>, initiator: bool) {
    let hello = Hello::new(if initiator { Role::Sender } else { Role::Receiver });
    let nothing = |_: &_, _: &_| Ok::<_, Infallible>(((), None));
    exchange_by(lanes, initiator, &hello, nothing, |_| Ok(())).await.unwrap().unwrap();
}

/// A party that sends messages of these lengths and then receives one of five bytes.
fn party(sends: &'static [usize]) -> Engine<'static, Vec<u8>> {
    Engine::new(move |io: Io| async move {
        for len in sends {
            io.send(vec![7; *len]).await;
        }
        Ok::<_, Protocol>(io.recv(5).await)
    })
}

#[test]
fn a_wait_for_a_message_ends_at_the_timeout_however_its_bytes_drip() {
    timeless(async {
        let (here, mut there) = duplex(1 << 10);
        let drip = async {
            for byte in [5, 0, 0, 0, 1, 9, 9, 9, 9, 9] {
                sleep(Duration::from_secs(3)).await;
                there.write_all(&[byte]).await.unwrap();
            }
        };
        let start = Instant::now();
        let mut here = timed(here);
        tokio::select! {
            ended = here.run(party(&[])) => {
                assert_eq!(ended, Err(ChannelError::NothingReceived(TIMEOUT).into()));
            }
            () = drip => panic!("all was waited for"),
        }
        assert_eq!(start.elapsed(), TIMEOUT);
    });
}

#[test]
fn a_wait_ends_if_the_peer_takes_nothing_but_not_if_it_takes_little() {
    const LEN: usize = 1 << 20;
    timeless(async {
        let (here, _there) = duplex(64);
        let ended = timed(here).run(party(&[LEN])).await;
        assert_eq!(ended, Err(ChannelError::NothingTaken(TIMEOUT).into()));

        let (here, mut there) = duplex(1 << 16);
        let slow = async {
            for left in (0..LEN >> 16).rev() {
                // Behind the last of it, the party waits for an answer.
                let is_last = left << 16 <= OUTBOUND;
                sleep(if is_last { Duration::from_secs(1) } else { TIMEOUT * 9 / 10 }).await;
                there.read_exact(&mut vec![0; 1 << 16]).await.unwrap();
            }
            there.read_exact(&mut [0; 5]).await.unwrap();
            there.write_all(&[5, 0, 0, 0, 1, 9, 9, 9, 9, 9]).await.unwrap();
        };
        let mut here = timed(here);
        let ours = async { here.run(party(&[LEN])).await.unwrap() };
        assert_eq!(tokio::join!(ours, slow).0, [9; 5]);
    });
}

#[test]
fn a_connection_ends_at_its_limit_within_a_wait_or_between_waits() {
    let limit = Duration::from_secs(25);
    let late = || Err(ChannelError::TooSlow(limit).into());
    timeless(async {
        let [mut here, mut there] = session(1 << 10).await;
        here.end_after(limit);
        let talk = |begins: bool| {
            Engine::new(move |io: Io| async move {
                loop {
                    if begins {
                        io.send(vec![1; 5]).await;
                    }
                    io.recv(5).await;
                    if !begins {
                        io.send(vec![1; 5]).await;
                    }
                }
                #[expect(unreachable_code, reason = "says the type")]
                Ok::<(), Protocol>(())
            })
        };
        let start = Instant::now();
        // Both always have something to do, so that the clock goes only when it is pushed.
        let push = async {
            loop {
                tokio::task::yield_now().await;
                tokio::time::advance(Duration::from_millis(10)).await;
            }
        };
        let both = async { tokio::join!(here.run(talk(true)), there.run(talk(false))) };
        let (ours, theirs) = tokio::select! { both = both => both, () = push => unreachable!() };
        assert_eq!(ours, late());
        assert_eq!(theirs, Err(ChannelError::GivenUp(Reason::Timeout).into()));
        assert!((limit..2 * limit).contains(&start.elapsed()), "{:?}", start.elapsed());
        assert_eq!(here.finish().await.map(drop), late());

        let (here, _there) = duplex(64);
        let mut here = timed(here);
        here.end_after(TIMEOUT / 2);
        let ended = here.run(party(&[])).await;
        assert_eq!(ended, Err(ChannelError::TooSlow(TIMEOUT / 2).into()));
    });
}

#[test]
fn a_peer_that_was_waited_for_in_vain_is_told() {
    timeless(async {
        let [mut here, mut there] = session(1 << 10).await;
        // It computes too long.
        let busy = async {
            sleep(2 * TIMEOUT).await;
            there.run(party(&[])).await
        };
        let (ours, theirs) = tokio::join!(here.run(party(&[])), busy);
        assert_eq!(ours, Err(ChannelError::NothingReceived(TIMEOUT).into()));
        assert_eq!(theirs, Err(ChannelError::GivenUp(Reason::Timeout).into()));
    });
}

#[test]
fn counters_and_transcripts_begin_anew_with_every_session() {
    timeless(async {
        let [mut here, mut there] = session(1 << 10).await;
        for _ in 0..2 {
            assert_eq!((here.counters(), here.transcript()), (Counters::default(), None));
            let answer = Engine::new(|io: Io| async move {
                io.recv(100).await;
                io.recv(20).await;
                io.send(vec![3; 5]).await;
                Ok::<_, Protocol>(())
            });
            let (ours, theirs) = tokio::join!(here.run(party(&[100, 20])), there.run(answer));
            assert_eq!((ours.unwrap(), theirs), (vec![3; 5], Ok(())));
            let (ours, theirs) = tokio::join!(here.finish(), there.finish());
            assert_eq!(ours, theirs);
            assert_eq!((here.transcript(), there.transcript()), (ours.ok(), theirs.ok()));
            assert_eq!(here.counters(), Counters { sent: 120, received: 5, flows: 2 });
            assert_eq!(there.counters(), Counters { sent: 5, received: 120, flows: 2 });
            here.begin_again();
            there.begin_again();
            assert_eq!(here.transcript(), None);
            tokio::join!(greet(&mut here, true), greet(&mut there, false));
        }
    });
}

/// Bytes that the peer has sent meanwhile do not take the word back, and a peer that goes on sending is not heard forever.
#[test]
fn a_refused_peer_learns_the_reason_though_it_goes_on_sending() {
    timeless(async {
        let [mut here, mut there] = session(1 << 10).await;
        let start = Instant::now();
        let flood = Engine::new(|io: Io| async move {
            loop {
                io.send(vec![1; 4000]).await;
            }
            #[expect(unreachable_code, reason = "says the type")]
            Ok::<(), Protocol>(())
        });
        let refusing = async {
            here.refuse(Reason::Busy).await;
            drop(here);
        };
        let (told, ()) = tokio::join!(there.run(flood), refusing);
        assert_eq!(told, Err(ChannelError::GivenUp(Reason::Busy).into()));
        assert!(start.elapsed() <= Duration::from_secs(1));
    });
}

#[test]
fn closing_passes_on_all_that_was_sent_before_the_end() {
    timeless(async {
        let (here, mut there) = duplex(1 << 10);
        let mut lanes = timed(here);
        lanes.push(Lane::PROTOCOL, &[7; 5000]).unwrap();
        let mut read = Vec::new();
        let (closed, count) = tokio::join!(lanes.close(), there.read_to_end(&mut read));
        assert_eq!((closed, count.unwrap()), (Ok(()), 5005));
    });
}
