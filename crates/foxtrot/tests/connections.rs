//! Connections that are refused, cancelled, bound, limited and ended.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::{
    io::{Read, Write, pipe},
    net::{TcpListener, TcpStream},
    sync::mpsc,
    thread,
    time::{Duration, Instant},
};

use foxtrot::{
    Blame, ChannelBinding, Config, Error, Identity, Peer, Server, Side, Stream,
    net::gateway::{Gateway, Limits},
    ot, psi, rot, triples,
};

const AT_ONCE: Duration = Duration::from_secs(8);

/// A peer on either end of two pipes.
fn over_pipes(ours: Stream, theirs: Stream) -> (Peer, Peer) {
    let ((from_there, to_here), (from_here, to_there)) = (pipe().unwrap(), pipe().unwrap());
    let ours = Peer::over(from_there, to_there, ours).unwrap();
    (ours, Peer::over(from_here, to_here, theirs).unwrap())
}

/// Both sides' errors of a job.
fn errors(mut ours: Peer, mut theirs: Peer) -> [Error; 2] {
    let other = thread::spawn(move || rot::receive(&mut theirs, 10).unwrap_err());
    [rot::send(&mut ours, 10).unwrap_err(), other.join().unwrap()]
}

fn serve(config: Config, session: fn(&mut Peer) -> Result<(), Error>) -> (Server, String) {
    let server = config.bind("localhost:0").unwrap().serve(session).unwrap();
    let address = server.local_addr().to_string();
    (server, address)
}

#[test]
fn keys_are_never_dropped_silently() {
    let identity = Identity::generate().unwrap();
    let config = Config::tls(&identity, &[identity.fingerprint()]).unwrap();
    let (reader, writer) = pipe().unwrap();
    let error = config.over(reader, writer, Side::Initiator).unwrap_err();
    assert!(matches!(error, Error::Config(_)) && error.blame() == Blame::Caller, "{error}");
}

#[test]
fn a_foreign_stream_is_bound_to_what_secures_it() {
    let bound = |side, exporter: u8| {
        Stream::new(side).bound(ChannelBinding::from_exporter([exporter; 32])).name("acme")
    };
    let (mut ours, mut theirs) = over_pipes(bound(Side::Initiator, 1), bound(Side::Responder, 1));
    assert_eq!(ours.name(), Some("acme"));
    let other = thread::spawn(move || rot::receive(&mut theirs, 10));
    rot::send(&mut ours, 10).unwrap();
    other.join().unwrap().unwrap();
    // Somebody in the middle has two connections.
    for theirs in [bound(Side::Responder, 2), Side::Responder.into()] {
        let (ours, theirs) = over_pipes(bound(Side::Initiator, 1), theirs);
        for error in errors(ours, theirs) {
            assert_eq!(error.blame(), Blame::Peer, "{error}");
        }
    }
}

#[test]
fn two_equal_sides_disagree_at_once() {
    for side in [Side::Initiator, Side::Responder] {
        let start = Instant::now();
        let (ours, theirs) = over_pipes(side.into(), side.into());
        for error in errors(ours, theirs) {
            assert_eq!(error.blame(), Blame::Agreement, "{error}");
        }
        assert!(start.elapsed() < AT_ONCE);
    }
}

#[test]
fn two_applications_disagree() {
    let ((from_there, to_here), (from_here, to_there)) = (pipe().unwrap(), pipe().unwrap());
    let of = |name: &str| Config::insecure().application(name);
    let ours = of("shop/1").over(from_there, to_there, Side::Initiator).unwrap();
    let theirs = of("bank/2").over(from_here, to_here, Side::Responder).unwrap();
    for error in errors(ours, theirs) {
        assert_eq!(error.blame(), Blame::Agreement, "{error}");
        let said = error.to_string();
        assert!(said.contains("shop/1") && said.contains("bank/2"), "{said}");
    }
}

#[test]
fn jobs_of_nothing_end_well() {
    let (mut ours, mut theirs) = Peer::pair();
    let other = thread::spawn(move || {
        assert_eq!(rot::send(&mut theirs, 0)?.len(), 0);
        assert_eq!(rot::send_correlated(&mut theirs, 0)?.1.len(), 0);
        psi::send::<&str, _>(&mut theirs, &[])?;
        ot::send::<&str, _>(&mut theirs, &[])?;
        ot::one_of_n::send::<&str, _>(&mut theirs, 5, &[])?;
        triples::generate::<u16, _>(&mut theirs, 0).map(drop)
    });
    assert_eq!(rot::receive(&mut ours, 0).unwrap().1.len(), 0);
    assert_eq!(rot::receive_correlated(&mut ours, &[]).unwrap().len(), 0);
    assert!(psi::receive::<&str, _>(&mut ours, &[]).unwrap().is_empty());
    assert!(ot::receive(&mut ours, &[]).unwrap().is_empty());
    assert!(ot::one_of_n::receive(&mut ours, 5, &[]).unwrap().is_empty());
    assert_eq!(triples::generate::<u16, _>(&mut ours, 0).unwrap().len(), 0);
    other.join().unwrap().unwrap();
}

#[test]
fn strangers_that_say_nothing_take_no_session() {
    let config = Config::insecure().max_sessions(1);
    let (mut server, address) = serve(config, |peer| psi::send(peer, &["b"]));
    let silent: Vec<_> = (0..3).map(|_| TcpStream::connect(&address).unwrap()).collect();
    thread::sleep(Duration::from_millis(100));
    let mut peer = Config::insecure().connect(&address).unwrap();
    assert_eq!(psi::receive(&mut peer, &["a", "b"]).unwrap(), [1]);
    assert!(server.next_within(AT_ONCE).unwrap().result.is_ok());
    drop(silent);
}

#[test]
fn a_peer_beyond_the_sessions_is_told_that_the_server_is_busy() {
    for config in [Config::insecure().max_sessions(1), Config::insecure().max_sessions_per_peer(1)]
    {
        let (mut server, address) = serve(config, |peer| {
            psi::send(peer, &["b"])?;
            psi::send(peer, &["b"])
        });
        let mut first = Config::insecure().connect(&address).unwrap();
        assert_eq!(psi::receive(&mut first, &["b"]).unwrap(), [0]);
        let mut second = Config::insecure().connect(&address).unwrap();
        let error = psi::receive(&mut second, &["b"]).unwrap_err();
        assert!(error.to_string().contains("busy"), "{error}");
        assert_eq!(error.blame(), Blame::Connection);
        let refused = server.next().unwrap().result.unwrap_err();
        assert!(refused.to_string().contains("no room for the session"), "{refused}");
        psi::receive(&mut first, &["b"]).unwrap();
        assert!(server.next().unwrap().result.is_ok());
        // There is room again.
        let mut third = Config::insecure().connect(&address).unwrap();
        psi::receive(&mut third, &["b"]).unwrap();
    }
}

#[test]
fn a_handler_that_panics_ends_its_session_only() {
    let (mut server, address) = serve(Config::insecure(), |peer| {
        rot::send(peer, 1)?;
        panic!("out of cheese")
    });
    for _ in 0..2 {
        let mut peer = Config::insecure().connect(&address).unwrap();
        rot::receive(&mut peer, 1).unwrap();
        let ended = server.next().unwrap();
        let error = ended.result.unwrap_err();
        assert!(matches!(&error, Error::Panicked(it) if it == "out of cheese"), "{error}");
        assert!(ended.peer.contains("127.0.0.1") || ended.peer.contains("::1"), "{}", ended.peer);
    }
}

#[test]
fn a_server_that_is_stopped_ends_when_its_sessions_have() {
    let (server, address) = serve(Config::insecure(), |peer| rot::send(peer, 1).map(drop));
    let stopper = server.stopper();
    let _silent = TcpStream::connect(&address).unwrap();
    let ended = thread::spawn(move || server.count());
    let mut peer = Config::insecure().connect(&address).unwrap();
    rot::receive(&mut peer, 1).unwrap();
    stopper.stop();
    assert!(ended.join().unwrap() >= 1);
    assert!(TcpStream::connect(&address).is_err());
}

#[test]
fn a_peer_that_drips_does_not_hold_a_session_for_ever() {
    let limit = Duration::from_millis(300);
    let config = Config::insecure().session_timeout(limit);
    // Every job is in time, and there is no end of them.
    let (mut server, address) = serve(config, |peer| {
        loop {
            rot::send(peer, 1)?;
        }
    });
    let mut peer = Config::insecure().connect(&address).unwrap();
    while rot::receive(&mut peer, 1).is_ok() {
        thread::sleep(limit / 10);
    }
    let error = server.next().unwrap().result.unwrap_err();
    assert!(error.to_string().contains("not done within"), "{error}");
    assert_eq!(error.blame(), Blame::Connection);
}

#[test]
fn a_wrong_key_is_told_while_the_listener_waits() {
    let [ours, friend, stranger] = [(); 3].map(|()| Identity::generate().unwrap());
    let config = Config::tls(&ours, &[friend.fingerprint()]).unwrap();
    let (tell, refused) = mpsc::channel();
    let tell = move |ended: foxtrot::Ended| tell.send(ended.result.unwrap_err()).unwrap();
    let listener = config.bind("localhost:0").unwrap().on_refused(tell);
    let (address, key) = (listener.local_addr().to_string(), ours.fingerprint());
    let other = thread::spawn(move || {
        let connect = |identity| {
            Peer::connect(&address, identity, &[key])
                .and_then(|mut peer| rot::receive(&mut peer, 1))
        };
        connect(&stranger).unwrap_err();
        let told = refused.recv_timeout(AT_ONCE).unwrap();
        connect(&friend).unwrap();
        told
    });
    rot::send(&mut listener.accept().unwrap(), 1).unwrap();
    assert_eq!(other.join().unwrap().blame(), Blame::Connection);
}

#[test]
fn no_time_is_too_long() {
    let config = Config::insecure().timeout(Duration::MAX).wait(Duration::MAX);
    let config = config.session_timeout(Duration::MAX);
    let listener = config.bind("localhost:0").unwrap();
    let address = listener.local_addr().to_string();
    let other = thread::spawn(move || rot::send(&mut listener.accept()?, 1).map(drop));
    let mut peer = config.connect(&address).unwrap();
    rot::receive(&mut peer, 1).unwrap();
    other.join().unwrap().unwrap();
    let (mut server, address) = serve(config, |peer| rot::send(peer, 1).map(drop));
    let mut peer = Config::insecure().connect(&address).unwrap();
    rot::receive(&mut peer, 1).unwrap();
    assert!(server.next_within(Duration::MAX).is_some());
}

#[test]
fn a_cancel_between_jobs_is_told_to_both() {
    let (mut ours, mut theirs) = Peer::pair();
    let canceller = ours.canceller();
    let other = thread::spawn(move || {
        rot::receive(&mut theirs, 1).unwrap();
        let start = Instant::now();
        (rot::receive(&mut theirs, 1).unwrap_err(), start.elapsed())
    });
    rot::send(&mut ours, 1).unwrap();
    canceller.cancel();
    let (error, took) = other.join().unwrap();
    assert!(error.to_string().contains("something failed on its side"), "{error}");
    assert!(took < AT_ONCE);
    assert!(matches!(rot::send(&mut ours, 1), Err(Error::Cancelled)));
    assert!(matches!(ours.close(), Err(Error::Cancelled)));
}

#[test]
fn a_cancel_before_the_hello_of_the_peer_ends_its_wait() {
    let (ours, mut theirs) = over_pipes(Side::Initiator.into(), Side::Responder.into());
    let canceller = ours.canceller();
    let other = thread::spawn(move || {
        let start = Instant::now();
        (rot::receive(&mut theirs, 1).is_err(), start.elapsed())
    });
    canceller.cancel();
    let (failed, took) = other.join().unwrap();
    assert!(failed && took < AT_ONCE);
    drop(ours);
}

#[test]
fn close_that_races_with_a_cancel_is_done_or_cancelled() {
    for _ in 0..200 {
        let (ours, _theirs) = Peer::pair();
        let canceller = ours.canceller();
        let cancelling = thread::spawn(move || canceller.cancel());
        thread::yield_now();
        let was_cancelled = cancelling.is_finished();
        let closed = ours.close();
        let is_cancelled = matches!(closed, Err(Error::Cancelled));
        assert!(is_cancelled || closed.is_ok() && !was_cancelled, "{closed:?}");
        cancelling.join().unwrap();
    }
}

#[test]
fn a_sink_that_panics_lets_the_peer_know() {
    let (mut ours, mut theirs) = Peer::pair();
    let other = thread::spawn(move || {
        let start = Instant::now();
        (rot::receive(&mut theirs, 1000).unwrap_err(), start.elapsed())
    });
    let sinking = thread::spawn(move || {
        let options = rot::Options::new();
        let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            options.send_into(&mut ours, 1000, |_| -> Result<(), Error> { panic!("sink") })
        }));
        (caught.is_err(), ours)
    });
    let (panicked, ours) = sinking.join().unwrap();
    let (error, took) = other.join().unwrap();
    assert!(panicked && took < AT_ONCE, "{error}");
    assert_eq!(error.blame(), Blame::Connection, "{error}");
    drop(ours);
}

#[test]
fn a_closed_socket_with_a_closer_is_an_end_for_the_peer() {
    let listener = TcpListener::bind("localhost:0").unwrap();
    let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (mut there, _) = listener.accept().unwrap();
    let (reader, ends) = (socket.try_clone().unwrap(), socket.try_clone().unwrap());
    let stream = Stream::new(Side::Initiator).closer(move |how| drop(ends.shutdown(how)));
    Peer::over(reader, socket, stream).unwrap().close().unwrap();
    there.set_read_timeout(Some(AT_ONCE)).unwrap();
    assert_eq!(there.read(&mut [0; 1]).unwrap(), 0);
}

/// A gateway whose places for one source outside are taken, with what takes them.
fn full_gateway() -> (Gateway, [String; 2], Vec<TcpStream>) {
    let limits = Limits { waiting: 8, of_one_source: 1, ..Limits::default() };
    let gateway = Gateway::open("127.0.0.1:0", "127.0.0.1:0", limits, |_| ()).unwrap();
    let [outside, inside] = [gateway.outside(), gateway.inside()].map(|it| it.to_string());
    let knock = |i: usize| {
        let mut stranger = TcpStream::connect(&outside).unwrap();
        writeln!(stranger, "FOXTROT ROUTE 1 outside guess{i}").unwrap();
        stranger
    };
    let mut strangers = vec![knock(0)];
    // One that is refused says that another is not.
    while strangers.iter().all(|it| {
        it.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        it.peek(&mut [0]).is_err()
    }) {
        strangers.push(knock(strangers.len()));
    }
    (gateway, [outside, inside], strangers)
}

#[test]
fn a_guest_of_a_full_gateway_meets_a_machine_that_waits_inside() {
    let (_gateway, [outside, inside], _strangers) = full_gateway();
    let config = Config::insecure().route("ours").wait(AT_ONCE);
    let (guest, machine) = (config.clone(), config);
    let other = thread::spawn(move || rot::send(&mut guest.connect(&outside)?, 10));
    let mut peer = machine.connect_behind(&inside).unwrap();
    assert_eq!(rot::receive(&mut peer, 10).unwrap().1.len(), 10);
    other.join().unwrap().unwrap();
}

#[test]
fn a_guest_that_no_place_is_left_for_reads_why_and_what_to_do() {
    let (_gateway, [outside, _], _strangers) = full_gateway();
    let config = Config::insecure().route("ours").wait(Duration::from_millis(100));
    let error = config.connect(&outside).unwrap_err();
    let words = "cannot meet the peer on route ours: too many connections wait at the gateway; try again later";
    assert_eq!((error.to_string().as_str(), error.blame()), (words, Blame::Connection));
}
