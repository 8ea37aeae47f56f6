#[cfg(feature = "tokio-net")]
mod limits;
#[cfg(feature = "tokio-net")]
mod steps;

use foxtrot_ot::{
    Context, Direction, Error as Protocol, Misbehaved, Seed, Session, Sid,
    base::{Adversary, roted::Endemic},
    engine::join,
};
use foxtrot_psi::{
    Digest,
    method::protocol::{IntersectionPlan, Receiver, Sender},
    paxos::Parameters,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, BufStream, DuplexStream, duplex},
    runtime::Builder,
};

use super::*;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// Both ends, with a buffer of so many bytes between them in either direction.
fn ends(bytes: usize) -> [Lanes<DuplexStream>; 2] {
    let (here, there) = duplex(bytes);
    [Lanes::new(here), Lanes::new(there)]
}

/// The set intersection of multiples of 3 and of 5, by that adversary's protocol.
async fn sets_in_common(adversary: Adversary, bytes: usize) {
    let [mut here, mut there] = ends(bytes);
    let digest = |k: usize| -> Digest { core::array::from_fn(|i| k.to_le_bytes()[i % 8]) };
    let parameters = Parameters::new(adversary, 2000, 1000).unwrap().into();
    let plan = IntersectionPlan {
        parameters,
        base: &Endemic,
        direction: Direction::InitiatorSends,
        counter: 0,
    };
    let session = || Session::new(Sid::from_bytes([3; 32]));
    let sender = async {
        let session = session();
        let mut cx = Context::new(&session, Seed::from_bytes([1; 32]));
        let items = (0..1000).map(|k| digest(5 * k)).collect();
        let run = |io| async move {
            Sender::set_up(&io, &mut cx, plan).await?.run(&io, items, &mut |_| ()).await
        };
        here.play(run).await
    };
    let receiver = async {
        let session = session();
        let mut cx = Context::new(&session, Seed::from_bytes([2; 32]));
        let items = (0..2000).map(|k| digest(3 * k)).collect();
        let run = |io| async move {
            let receiver = Receiver::set_up(&io, &mut cx, plan).await?;
            receiver.run(&io, items, &mut |_| ()).await?.intersect()
        };
        there.play(run).await
    };
    let (sent, found) = tokio::join!(sender, receiver);
    sent.unwrap();
    assert!(found.unwrap().into_iter().eq((0..2000).filter(|k| 3 * k % 5 == 0 && 3 * k < 5000)));
}

#[test]
fn sets_are_intersected_whatever_is_between_the_parties() {
    for bytes in [300, 1 << 22] {
        for adversary in [Adversary::Malicious, Adversary::SemiHonest] {
            block_on(sets_in_common(adversary, bytes));
        }
    }
}

/// Each sends more than lies between them before it listens.
#[test]
fn parties_that_both_speak_first_do_not_wait_for_each_other() {
    const N: usize = 300_000;
    let swap = || {
        Engine::new(|io: Io| async move {
            io.limit(Limits { streams: 3, messages: 4, len: N });
            let swap = |io: Io, byte| async move {
                for _ in 0..3 {
                    io.send(vec![byte; N]).await;
                }
                let mut sum = 0;
                for _ in 0..3 {
                    sum += io.recv(N).await.iter().map(|byte| usize::from(*byte)).sum::<usize>();
                }
                Ok::<_, Protocol>(sum)
            };
            join(swap(io.on(1), 1), swap(io.on(2), 2)).await
        })
    };
    let [mut here, mut there] = ends(64);
    let (ours, theirs) = block_on(async { tokio::join!(here.run(swap()), there.run(swap())) });
    assert_eq!((ours.unwrap(), theirs.unwrap()), ((3 * N, 6 * N), (3 * N, 6 * N)));
}

/// A stream that gathers bytes, as one with TLS does, passes them on before both sides wait.
#[test]
fn buffered_bytes_are_flushed_before_a_party_waits() {
    let echo = |begins: bool| {
        Engine::new(move |io: Io| async move {
            for _ in 0..3 {
                if begins {
                    io.send(vec![1; 100]).await;
                }
                let message = io.recv(100).await;
                if !begins {
                    io.send(message).await;
                }
            }
            Ok::<_, Protocol>(())
        })
    };
    let (here, there) = duplex(1 << 16);
    let [mut here, mut there] =
        [here, there].map(|end| Lanes::new(BufStream::with_capacity(1 << 14, 1 << 14, end)));
    let (ours, theirs) = block_on(async {
        let both = async { tokio::join!(here.run(echo(true)), there.run(echo(false))) };
        tokio::time::timeout(core::time::Duration::from_secs(60), both).await.unwrap()
    });
    ours.unwrap();
    theirs.unwrap();
}

/// A peer that reads slowly, and never all: what is written already is not kept.
#[test]
fn written_bytes_leave_memory() {
    const MESSAGES: usize = 400;
    const N: usize = 10_000;
    let (here, mut there) = duplex(1 << 10);
    let mut lanes = Lanes::new(here);
    let party = Engine::new(|io: Io| async move {
        for _ in 0..MESSAGES {
            io.send(vec![0; N]).await;
        }
        io.recv(1).await;
        Ok::<_, Protocol>(())
    });
    let slow = async {
        let mut bytes = vec![0; (MESSAGES - 10) * N];
        there.read_exact(&mut bytes).await.unwrap();
    };
    block_on(async {
        tokio::select! {
            _ = lanes.run(party) => panic!("it waits for a byte"),
            () = slow => {}
        }
    });
    let kept = lanes.outbox.capacity();
    assert!(kept <= 4 * (OUTBOUND + N), "{kept}");
}

/// Both come in one read: the answer that ends a protocol, and what begins the next one, on a lane of its own.
#[test]
fn the_next_protocols_first_message_may_come_with_this_ones_last() {
    let (here, mut there) = duplex(1 << 10);
    let first = Engine::new(|io: Io| async move { Ok::<_, Protocol>(io.recv(2).await) });
    let next = Engine::new(|io: Io| async move {
        io.limit(Limits { streams: 2, messages: 1, len: 3 });
        Ok::<_, Protocol>(io.on(1).recv(3).await)
    });
    let received = block_on(async {
        let frames = [&[2, 0, 0, 0, 1, 8, 9][..], &[3, 0, 0, 0, 2, 5, 6, 7]].concat();
        there.write_all(&frames).await.unwrap();
        let mut lanes = Lanes::new(here);
        [lanes.run(first).await.unwrap(), lanes.run(next).await.unwrap()]
    });
    assert_eq!(received, [vec![8, 9], vec![5, 6, 7]]);
}

/// Returns the error of a party that waits for five bytes on stream 0 of two and gets these bytes.
fn after(bytes: &[u8]) -> Error {
    let (here, mut there) = duplex(1 << 20);
    let party = Engine::new(|io: Io| async move {
        io.limit(Limits { streams: 2, messages: 1, len: 5 });
        let message = io.recv(5).await;
        if message == [9; 5] { Err(Misbehaved::Response.into()) } else { Ok::<_, Protocol>(()) }
    });
    block_on(async {
        there.write_all(bytes).await.unwrap();
        drop(there);
        Lanes::new(here).run(party).await.unwrap_err()
    })
}

#[test]
fn unexpected_frames_blame_the_peer() {
    let frame = |len: u32, lane: u8, payload: &[u8]| {
        [&len.to_le_bytes(), [lane].as_slice(), payload].concat()
    };
    assert_eq!(after(&frame(4, 1, &[0; 4])), FrameError::Length { expected: 5, got: 4 }.into());
    assert_eq!(after(&frame(5, 0, &[0; 5])), FrameError::Lane { got: 0 }.into());
    assert_eq!(after(&frame(5, 3, &[0; 5])), FrameError::Lane { got: 3 }.into());
    let len = u32::try_from(MAX_FRAME).unwrap() + 1;
    let long = FrameError::TooLong { max: MAX_FRAME, got: MAX_FRAME + 1 };
    assert_eq!(after(&frame(len, 2, &[])), long.into());
    assert_eq!(after(&frame(5, 1, &[9; 5])), Protocol::from(Misbehaved::Response).into());
    let gone = Error::from(ChannelError::ClosedReceiving);
    for bytes in [&[][..], &frame(5, 1, &[0; 4]), &frame(5, 2, &[0; 5])] {
        assert_eq!(after(bytes), gone);
    }
}

/// A peer that floods a lane which nobody reads is not read on, and costs no more than the protocol allows.
#[test]
fn a_flood_waits_at_the_peer() {
    let (here, mut there) = duplex(1 << 10);
    let mut lanes = Lanes::new(here);
    let party = Engine::new(|io: Io| async move {
        io.limit(Limits { streams: 2, messages: 2, len: 100 });
        io.send(vec![0; 1 << 16]).await;
        io.recv(5).await;
        Ok::<_, Protocol>(())
    });
    let flood = async {
        let frame = [&100_u32.to_le_bytes()[..], &[2], &[7; 100]].concat();
        for _ in 0..10_000 {
            there.write_all(&frame).await.unwrap();
        }
    };
    block_on(async {
        tokio::select! {
            _ = lanes.run(party) => panic!("it waits for five bytes"),
            _ = flood => panic!("all was taken"),
            () = tokio::time::sleep(core::time::Duration::from_millis(500)) => {}
        }
    });
    let held = lanes.inbox.held();
    assert!(held <= lanes.inbox.most && lanes.bytes.len() <= 2 * READ, "{held}");
}

/// Bytes of a run are those of a channel's: length, lane, payload.
#[test]
fn a_frame_is_length_lane_and_payload() {
    let (here, mut there) = duplex(64);
    let party = Engine::new(|io: Io| async move {
        io.on(1).send(b"abc".to_vec()).await;
        Ok::<_, Protocol>(())
    });
    let read = block_on(async {
        let mut lanes = Lanes::new(here);
        lanes.run(party).await.unwrap();
        drop(lanes.into_inner());
        let mut read = Vec::new();
        there.read_to_end(&mut read).await.unwrap();
        read
    });
    assert_eq!(read, [3, 0, 0, 0, 2, b'a', b'b', b'c']);
}

#[test]
fn a_protocol_whose_future_is_dropped_leaves_the_connection_to_no_other() {
    let [mut here, _there] = ends(1 << 10);
    block_on(async {
        {
            let mut run = Box::pin(here.play(async |io: Io| Ok::<_, Protocol>(io.recv(2).await)));
            let waits = poll_fn(|waking| Poll::Ready(run.as_mut().poll(waking).is_pending())).await;
            assert!(waits);
        }
        let next = here.play(async |_: Io| Ok::<_, Protocol>(())).await;
        assert_eq!(next.unwrap_err(), ChannelError::Abandoned.into());
    });
}
