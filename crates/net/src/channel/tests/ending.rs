use super::*;

#[test]
fn a_peer_that_reads_nothing_ends_sending() {
    let (channel, _peer) = half_open(SHORT);
    let start = Instant::now();
    let error = (0..1000).find_map(|_| channel.send(ONE, vec![0; 4 << 20]).err()).unwrap();
    assert_eq!(error, ChannelError::NothingTaken(SHORT).into());
    assert!(start.elapsed() < AT_ONCE);
}

#[test]
fn a_message_longer_than_a_frame_is_refused() {
    let (a, _b) = memory::pair(SHORT);
    let error = a.send(ONE, vec![0; MAX_FRAME + 1]).unwrap_err();
    assert_eq!(error, ChannelError::TooLong { len: MAX_FRAME + 1, max: MAX_FRAME }.into());
}

#[test]
fn messages_sent_before_the_end_arrive() {
    const LEN: usize = 3 << 20;
    let (a, b) = memory::pair(LONG);
    thread::scope(|scope| {
        scope.spawn(move || {
            a.send(ONE, vec![1; LEN]).unwrap();
            a.send(ONE, vec![2; 5]).unwrap();
            a.close().unwrap();
        });
        assert_eq!(b.recv(ONE, LEN).unwrap(), vec![1; LEN]);
        assert_eq!(b.recv(ONE, 5).unwrap(), [2; 5]);
        assert_eq!(b.recv(ONE, 1), Err(ChannelError::ClosedReceiving.into()));
    });
}

#[test]
fn a_dropped_channel_still_sends_what_is_queued() {
    let (a, b) = memory::pair(LONG);
    a.send(ONE, vec![1; 100_000]).unwrap();
    drop(a);
    assert_eq!(b.recv(ONE, 100_000).unwrap(), vec![1; 100_000]);
}

#[test]
fn closing_and_dropping_do_not_wait_for_ever() {
    for close in [true, false] {
        let (channel, _peer) = half_open(SHORT);
        channel.send(ONE, vec![0; 8 << 20]).unwrap();
        let start = Instant::now();
        if close {
            let error = ChannelError::NothingTaken(SHORT).into();
            assert_eq!(channel.close(), Err(error));
        } else {
            drop(channel);
        }
        assert!(start.elapsed() < AT_ONCE);
    }
}

#[test]
fn sending_to_a_peer_that_has_gone_fails() {
    let (channel, peer) = half_open(LONG);
    drop(peer);
    channel.send(ONE, vec![0]).unwrap();
    assert_eq!(channel.close(), Err(ChannelError::ClosedSending.into()));
}

#[test]
fn a_write_that_tls_refuses_fails_in_its_words() {
    struct Refused;
    impl Write for Refused {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::Error::other(TlsError::NotAccepted))
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let (near, _to_near) = memory::one_way(LONG);
    let hook = Box::new(|_| {});
    let channel = Channel::new(Box::new(near), Box::new(Refused), hook, LONG).unwrap();
    channel.send(ONE, vec![0]).unwrap();
    assert_eq!(channel.close(), Err(TlsError::NotAccepted.into()));
}

#[test]
fn a_side_that_fails_on_its_own_tells_the_peer() {
    let (a, b) = memory::pair(LONG);
    a.agreed(Sid::from_bytes([1; 32]), true);
    b.agreed(Sid::from_bytes([1; 32]), false);
    let error = a.give_up(ChannelError::Abandoned);
    assert_eq!(error, ChannelError::Abandoned.into());
    assert_eq!(a.send(ONE, vec![1]), Err(error));
    assert_eq!(b.recv(ONE, 1), Err(ChannelError::GivenUp(Reason::Other).into()));
}

#[test]
fn a_peer_that_writes_while_this_side_gives_up_learns_why() {
    for _ in 0..50 {
        let (a, b) = memory::pair(LONG);
        a.agreed(Sid::from_bytes([1; 32]), true);
        b.agreed(Sid::from_bytes([1; 32]), false);
        a.give_up(ChannelError::Abandoned);
        let _ = b.send(ONE, vec![0; 1 << 20]);
        assert_eq!(b.recv(ONE, 1), Err(ChannelError::GivenUp(Reason::Other).into()));
        // Also where there is no reason to be told, the peer reads an end.
        let (a, b) = memory::pair(LONG);
        a.give_up(ChannelError::Abandoned);
        assert_eq!(b.recv(ONE, 1), Err(ChannelError::ClosedReceiving.into()));
    }
}

#[test]
fn a_drip_does_not_outlast_the_limit_of_the_connection() {
    let (a, b) = memory::pair(LONG);
    let start = Instant::now();
    a.end_after(SHORT);
    thread::scope(|scope| {
        scope.spawn(|| {
            while b.send(ONE, vec![1]).is_ok() {
                thread::sleep(SHORT / 10);
            }
        });
        let error = loop {
            if let Err(e) = a.recv(ONE, 1) {
                break e;
            }
        };
        assert_eq!(error, ChannelError::TooSlow(SHORT).into());
        assert!(start.elapsed() >= SHORT && start.elapsed() < AT_ONCE);
        drop(a);
    });
}
