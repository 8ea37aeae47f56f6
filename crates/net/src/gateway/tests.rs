use std::{cell::RefCell, net::TcpListener};

use super::*;
use crate::tcp;

const WAIT: Duration = Duration::from_secs(20);

fn gateway(limits: Limits) -> (Gateway, [String; 2]) {
    let gateway = Gateway::open("127.0.0.1:0", "127.0.0.1:0", limits, |_| ()).unwrap();
    let addresses = [gateway.outside().to_string(), gateway.inside().to_string()];
    (gateway, addresses)
}

fn meet(address: &str, end: End, name: &str, wait: Duration) -> Result<Socket, Error> {
    tcp::connect(address, WAIT)?.route(end, name, wait)
}

#[test]
fn bytes_go_both_ways_and_ends_are_passed_on() {
    let (_gateway, [outside, inside]) = gateway(Limits::default());
    let other = thread::spawn(move || {
        let mut socket = meet(&inside, End::Inside, "a", WAIT).unwrap();
        let mut all = Vec::new();
        socket.stream.read_to_end(&mut all).unwrap();
        all.reverse();
        socket.stream.write_all(&all).unwrap();
    });
    let mut socket = meet(&outside, End::Outside, "a", WAIT).unwrap();
    let sent: Vec<u8> = (0..200_000_u32).map(|i| i.to_le_bytes()[1]).collect();
    socket.stream.write_all(&sent).unwrap();
    socket.stream.shutdown(Shutdown::Write).unwrap();
    let mut all = Vec::new();
    socket.stream.read_to_end(&mut all).unwrap();
    all.reverse();
    assert!(all == sent);
    other.join().unwrap();
}

#[test]
fn only_both_ends_of_one_route_meet() {
    let (_gateway, [outside, inside]) = gateway(Limits::default());
    let short = Duration::from_millis(300);
    // Another name, the same end twice, and an inner end at the outer door.
    let waiting = thread::spawn({
        let inside = inside.clone();
        move || meet(&inside, End::Inside, "a", Duration::from_secs(2)).map(drop)
    });
    assert!(meet(&outside, End::Outside, "b", short).is_err());
    assert!(meet(&inside, End::Inside, "c", short).is_err());
    assert!(meet(&outside, End::Inside, "a", short).is_err());
    waiting.join().unwrap().unwrap_err();
}

#[test]
fn a_machine_that_is_started_again_takes_its_former_place() {
    let (_gateway, [outside, inside]) = gateway(Limits::default());
    drop(meet(&inside, End::Inside, "a", Duration::from_millis(100)).unwrap_err());
    let second = thread::spawn(move || meet(&inside, End::Inside, "a", WAIT).unwrap());
    let mut socket = meet(&outside, End::Outside, "a", WAIT).unwrap();
    socket.stream.write_all(b"x").unwrap();
    let mut byte = [0];
    second.join().unwrap().stream.read_exact(&mut byte).unwrap();
    assert_eq!(byte, *b"x");
}

/// Names a route, as a program that is not ours does.
fn knock(address: &str, end: End, name: &str) -> TcpStream {
    let mut stranger = TcpStream::connect(address).unwrap();
    stranger.set_read_timeout(Some(WAIT)).unwrap();
    stranger.write_all(format!("{HEAD}{} {name}\n", end.word()).as_bytes()).unwrap();
    stranger
}

/// A connection that waits on a route. Of two that name it one hears that the other has taken its place.
fn waits(address: &str, end: End, name: &str) -> TcpStream {
    let [first, second] = [(); 2].map(|()| knock(address, end, name));
    let hears = |it: &TcpStream| {
        it.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
        let heard = it.peek(&mut [0]).is_ok();
        it.set_read_timeout(Some(WAIT)).unwrap();
        heard
    };
    loop {
        for [one, other] in [[&first, &second], [&second, &first]] {
            if hears(one) {
                assert_eq!(hear(one), *b"TAKEN\n");
                return other.try_clone().unwrap();
            }
        }
    }
}

/// Reads the beginning of what a gateway says.
fn hear<const N: usize>(mut stranger: &TcpStream) -> [u8; N] {
    let mut answer = [0; N];
    stranger.read_exact(&mut answer).unwrap();
    answer
}

/// The reason why a connection was not joined.
fn why(refused: Result<Socket, Error>) -> NotJoined {
    match refused.map(drop) {
        Err(Error::Channel(ChannelError::NotJoined { why, .. })) => why,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_flood_of_other_routes_pushes_out_nobody_who_waits() {
    let limits = Limits { waiting: 64, of_one_source: 8, ..Limits::default() };
    let (_gateway, [outside, inside]) = gateway(limits);
    let guest = waits(&outside, End::Outside, "guest");
    let _crowd = [0, 1, 2, 3, 4, 5, 6].map(|i| waits(&outside, End::Outside, &format!("guess{i}")));
    for i in 7..1100 {
        let stranger = knock(&outside, End::Outside, &format!("guess{i}"));
        assert_eq!(hear(&stranger), *b"BUSY\n");
    }
    meet(&inside, End::Inside, "guest", WAIT).unwrap();
    assert_eq!(hear(&guest), *b"OK\n");
}

#[test]
fn strangers_from_many_sources_push_out_nobody_who_waits() {
    let limits = Limits { waiting: 4, of_one_source: 2, ..Limits::default() };
    let (listener, mut routes) = (TcpListener::bind("127.0.0.1:0").unwrap(), Routes::default());
    let address = listener.local_addr().unwrap();
    let clients = RefCell::new(Vec::new());
    let came = |source: &str| {
        clients.borrow_mut().push(TcpStream::connect(address).unwrap());
        let (socket, source) = (listener.accept().unwrap().0, source.to_owned());
        Waiting { socket, source, since: Instant::now() }
    };
    let guest = came("192.0.2.1");
    assert!(matches!(routes.meet(End::Outside, "guest", guest, limits), Met::Waits));
    for i in 0..1100 {
        let stranger = came(&format!("198.51.{}.{}", i / 256, i % 256));
        let met = routes.meet(End::Outside, &format!("guess{i}"), stranger, limits);
        match i < 3 {
            true => assert!(matches!(met, Met::Waits)),
            false => assert!(matches!(met, Met::Full(_, "too many connections wait"))),
        }
    }
    // A machine of ours has its own count of places, and strangers who have gone leave theirs.
    let met = routes.meet(End::Inside, "guest", came("10.0.0.1"), limits);
    assert!(matches!(met, Met::Joined(guest, _) if guest.source == "192.0.2.1"));
    let met = [0, 1]
        .map(|i| routes.meet(End::Outside, &format!("more{i}"), came("198.51.100.1"), limits));
    assert!(matches!(met, [Met::Waits, Met::Full(..)]));
    clients.take();
    thread::sleep(Duration::from_millis(20));
    let met = routes.meet(End::Outside, "more1", came("198.51.100.1"), limits);
    assert!(matches!(met, Met::Waits));
}

#[test]
fn places_of_one_source_outside_do_not_bound_machines_inside() {
    let (_gateway, [outside, inside]) = gateway(Limits { of_one_source: 1, ..Limits::default() });
    let names = ["x", "y", "z"];
    let workers = names.map(|name| {
        let inside = inside.clone();
        thread::spawn(move || meet(&inside, End::Inside, name, WAIT).map(drop))
    });
    let _crowd = ["guess0", "guess1"].map(|name| knock(&outside, End::Outside, name));
    // Whose other end waits needs no place.
    for (name, worker) in names.into_iter().zip(workers) {
        while why_not(&outside, name) == Some(NotJoined::Busy) {
            thread::sleep(Duration::from_millis(5));
        }
        worker.join().unwrap().unwrap();
    }
}

fn why_not(outside: &str, name: &str) -> Option<NotJoined> {
    let met = meet(outside, End::Outside, name, WAIT);
    met.is_err().then(|| why(met))
}

#[test]
fn strangers_without_a_route_are_closed() {
    let (_gateway, [outside, _]) = gateway(Limits::default());
    for wrong in
        ["GET / HTTP/1.1\r\n\r\n", "FOXTROT ROUTE 1 outside \n", "FOXTROT ROUTE 1 outside a b\n"]
    {
        let mut stranger = TcpStream::connect(&outside).unwrap();
        stranger.write_all(wrong.as_bytes()).unwrap();
        assert!(matches!(stranger.read(&mut [0]), Ok(0) | Err(_)));
    }
    let mut endless = TcpStream::connect(&outside).unwrap();
    // It is cut off.
    while endless.write_all(&[b'x'; 512]).is_ok() {}
}

#[test]
fn a_connection_that_is_not_joined_says_why() {
    let wait = Duration::from_millis(300);
    let (_gateway, [outside, inside]) = gateway(Limits { wait, ..Limits::default() });
    let nobody = Duration::from_millis(1);
    assert_eq!(why(meet(&outside, End::Outside, "a", nobody)), NotJoined::Nobody(nobody));
    assert_eq!(why(meet(&outside, End::Inside, "a", WAIT)), NotJoined::Closed);
    let former = thread::spawn({
        let outside = outside.clone();
        move || meet(&outside, End::Outside, "a", WAIT)
    });
    while !former.is_finished() {
        drop(knock(&outside, End::Outside, "a"));
    }
    assert_eq!(why(former.join().unwrap()), NotJoined::Taken);
    let late = waits(&outside, End::Outside, "b");
    thread::sleep(wait);
    let _ = why(meet(&inside, End::Inside, "c", nobody));
    assert_eq!(hear(&late), *b"LATE\n");
    // An end of the gateway that is early, and another program.
    for (said, expected) in [
        ("", NotJoined::Closed),
        ("BU", NotJoined::Closed),
        ("HTTP/1.1 400\r\n", NotJoined::NoGateway),
    ] {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let other = thread::spawn(move || {
            let (mut socket, _) = listener.accept().unwrap();
            let heard = hear::<26>(&socket);
            socket.write_all(said.as_bytes()).unwrap();
            heard
        });
        let refused = why(meet(&address, End::Outside, "a", WAIT));
        assert_eq!(refused, expected, "{said:?}");
        assert!(!refused.to_string().contains("buffer"));
        assert_eq!(other.join().unwrap(), *b"FOXTROT ROUTE 1 outside a\n");
    }
}

#[test]
fn a_route_too_many_leaves_the_other_end_waiting() {
    let (_gateway, [outside, inside]) = gateway(Limits { joined: 1, ..Limits::default() });
    let [first, second] = ["a", "b"].map(|name| waits(&inside, End::Inside, name));
    let joined = meet(&outside, End::Outside, "a", WAIT).unwrap();
    assert_eq!(why_not(&outside, "b"), Some(NotJoined::Busy));
    drop((joined, first));
    while why_not(&outside, "b") == Some(NotJoined::Busy) {
        thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(hear(&second), *b"OK\n");
}

#[test]
fn names_of_routes_are_plain() {
    assert!(is_name("march-list:3:0:00ff") && is_name(&"a".repeat(MOST_NAME)));
    for wrong in ["", "a b", "a\n", "ä", &"a".repeat(MOST_NAME + 1)] {
        assert!(!is_name(wrong), "{wrong:?}");
    }
}
