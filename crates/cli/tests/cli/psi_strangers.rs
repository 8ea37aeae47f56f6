//! Hostile clients of `psi send --serve`, and of a `triples` that listens: silence, drops, garbage, other terms, sizes
//! that cannot be, ends in every phase. Those who want what is offered get it meanwhile.

use std::{
    fs,
    io::{self, Write},
    net::{Shutdown, TcpStream},
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::{Duration, Instant},
};

use foxtrot_net::{
    Channel, Error, Lane, drive,
    hello::{self, Agreement, Hello, Role},
    tcp,
};
use foxtrot_ot::{
    Session,
    base::{Adversary, roted::Endemic},
};
use foxtrot_psi::method::{
    Assumption, Method,
    protocol::{IntersectionPlan, Receiver},
};

use super::{
    support::{Key, Listening, connect, connect_with, stderr, stdout},
    triples::{generate, name, verified},
};

const LONG: Duration = Duration::from_secs(30);
const GARBAGE: &[u8] = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Keys of the server.
const KEYS: usize = 20_000;

/// Returns the receiver's hello with these sizes.
fn terms(keys: &str, most_keys: &str) -> Hello {
    Hello::new(Role::Receiver)
        .term("job", "psi")
        .term("base", "roted-endemic")
        .term("assumption", "symmetric")
        .term("adversary", "malicious")
        .term("normalize", "none/1")
        .detail("keys", keys)
        .offer("most-keys", most_keys)
}

const METHOD: Method =
    Method { base: &Endemic, assumption: Assumption::Symmetric, adversary: Adversary::Malicious };

fn greet(channel: &Channel, hello: &Hello) -> Result<Agreement, Error> {
    hello::exchange(channel, true, hello)
}

fn open(address: &str) -> Channel {
    tcp::connect(address, LONG).unwrap().open().unwrap()
}

/// Takes so many bytes, and then none.
struct Ends<W> {
    out: W,
    left: usize,
}

impl<W: Write> Write for Ends<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.left == 0 {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let some = bytes.len().min(self.left);
        let written = self.out.write(&bytes[..some])?;
        self.left -= written;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// A receiver of items that the server does not have, which says that there are so many and ends when it has written
/// so many bytes.
fn ends_after(address: &str, left: usize) {
    let through = |out| Box::new(Ends { out, left }) as Box<dyn Write + Send>;
    let channel = tcp::connect(address, LONG).unwrap().open_through(through).unwrap();
    let run = || {
        let agreement = greet(&channel, &terms("9", "100000000"))?;
        let session = Session::new(agreement.sid);
        let parameters = METHOD.parameters(9, KEYS)?;
        let direction = agreement.direction();
        let plan = IntersectionPlan { parameters, base: &Endemic, direction, counter: 0 };
        let (mut cx, items) = (drive::context(&session)?, (0..9).map(|k| [k; 32]).collect());
        drive::play(&channel, |io| async move {
            Receiver::set_up(&io, &mut cx, plan).await?.run(&io, items, &mut |_| ()).await
        })
    };
    assert!(run().is_err(), "{left}");
}

/// Says that it has so many keys, and does nothing more, or nothing after base OTs and row seed.
fn begins(address: &str, keys: usize, with_base_ots: bool) -> Channel {
    let channel = open(address);
    let agreement = greet(&channel, &terms(&keys.to_string(), "100000000")).unwrap();
    if with_base_ots {
        let session = Session::new(agreement.sid);
        let parameters = METHOD.parameters(keys, KEYS).unwrap();
        let direction = agreement.direction();
        let plan = IntersectionPlan { parameters, base: &Endemic, direction, counter: 0 };
        let mut cx = drive::context(&session).unwrap();
        let set_up = |io| async move { Receiver::set_up(&io, &mut cx, plan).await };
        drive::play(&channel, set_up).unwrap();
        channel.send(Lane::PROTOCOL, vec![7; 32]).unwrap();
    }
    channel
}

/// Resident memory of the server, in KiB.
fn memory(server: &Listening) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", server.running.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.split_whitespace().next().unwrap().parse().unwrap()
}

/// A byte of a hello now and then, until there is an end.
fn drip(address: &str, done: &AtomicBool) {
    let mut socket = TcpStream::connect(address).unwrap();
    let mut bytes = [0x40, 0, 0, 0, 0].into_iter().chain(std::iter::repeat(b'F'));
    while !done.load(Ordering::SeqCst)
        && bytes.next().is_some_and(|b| socket.write_all(&[b]).is_ok())
    {
        thread::sleep(Duration::from_millis(200));
    }
}

#[test]
fn a_server_of_sets_answers_among_all_kinds_of_hostile_clients() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, theirs] = ["ours", "theirs"].map(|it| name(folder.path(), it));
    let lines =
        |range: std::ops::Range<usize>| range.map(|k| format!("key {k}\n")).collect::<String>();
    fs::write(&ours, lines(0..KEYS)).unwrap();
    fs::write(&theirs, lines(KEYS - 10..KEYS + 10)).unwrap();
    // Hostile and honest clients are one peer here.
    let serve = ["psi", "send", &ours, "--serve", "--timeout", "10", "-v"];
    let server = Listening::start(&[&serve[..], &["--max-sessions-per-peer", "64"]].concat());
    // It has read it once and for all.
    fs::remove_file(&ours).unwrap();
    let (address, receive) = (server.address.clone(), ["psi", "receive", &theirs]);
    let honest = || {
        let start = Instant::now();
        let run = connect(&receive, &address);
        assert_eq!(stdout(&run), lines(KEYS - 10..KEYS), "{}", stderr(&run));
        start.elapsed()
    };
    honest();
    let before = memory(&server);

    let done = AtomicBool::new(false);
    let silent: Vec<_> = (0..60).map(|_| TcpStream::connect(&address).unwrap()).collect();
    // As many as it may have, and as many as a bucket has, for which the rows would take 140 MB.
    let sizes = [(100_000_000, false), (1 << 20, true)].into_iter().cycle();
    let begun: Vec<_> =
        sizes.take(12).map(|(keys, base_ots)| begins(&address, keys, base_ots)).collect();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| drip(&address, &done));
        }
        let garbage =
            [GARBAGE, &[0xff; 4096], &[0; 64], b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03"];
        for bytes in garbage {
            let mut socket = TcpStream::connect(&address).unwrap();
            socket.write_all(bytes).unwrap();
            let _ = socket.shutdown(Shutdown::Write);
        }
        // 2⁶³ items, and what is no number of them; none is legitimate, but for who takes none of ours.
        for (keys, most) in [
            ("9223372036854775808", "100000000"),
            ("18446744073709551615", "100000000"),
            ("1073741825", "100000000"),
            ("1073741824", "100000000"),
            ("100000001", "100000000"),
            ("9", "0"),
            ("9", "18446744073709551616"),
            ("-1", "9"),
            ("", ""),
        ] {
            let channel = open(&address);
            let greeted = greet(&channel, &terms(keys, most));
            let end = greeted.and_then(|_| channel.recv(Lane::PROTOCOL, 1)).unwrap_err();
            assert!(matches!(end, Error::Channel(_)), "{keys}, {most}: {end:?}");
        }
        // Other terms.
        for (key, value) in [("normalize", "email/2"), ("assumption", "lpn"), ("job", "ot")] {
            let refused = greet(&open(&address), &terms("9", "100000000").term(key, value));
            assert!(matches!(refused, Err(Error::Hello(_))), "{refused:?}");
        }
        // Ends in every phase: the receiver writes about 300 kB in all, most of it base OTs.
        let ends: Vec<_> = [0, 3, 100, 300, 1000, 100_000, 285_000]
            .into_iter()
            .map(|left| {
                let address = &address;
                scope.spawn(move || ends_after(address, left))
            })
            .collect();
        let times: Vec<_> = (0..8).map(|_| scope.spawn(honest)).collect();
        for time in times {
            let time = time.join().unwrap();
            assert!(time < Duration::from_secs(20), "{time:?}");
        }
        ends.into_iter().for_each(|it| it.join().unwrap());
        done.store(true, Ordering::SeqCst);
    });
    let during = memory(&server);
    drop((silent, begun));
    honest();
    let after = memory(&server);
    println!("resident KiB: {before} before, {during} with hostile clients, {after} after");
    // A copy of the set and what base OTs take is 4 MB for each that comes so far, and nothing for who declares much.
    assert!(during < before + (128 << 10), "{before}, {during}");
    assert!(after < before + (128 << 10), "{before}, {after}");
    server.running.interrupt();
    let (status, _, said) = server.end();
    assert_eq!(status, 130, "{said}");
    assert!(!said.contains("panicked"), "{said}");
    for words in [
        "the peer offers 9223372036854775808 as the number of its keys",
        "the peer has 1073741824 keys; this side accepts at most 100000000",
        "our set has 20000 keys, and the peer accepts 0",
        "normalize is none/1 here and email/2 at the peer",
        "the peer did not answer with a Foxtrot hello",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
}

/// Receivers without keys learn nothing, and senders without keys tell nothing.
#[test]
fn a_server_of_sets_answers_peers_without_keys() {
    let folder = tempfile::tempdir().unwrap();
    let [none, some] = ["none.csv", "some.csv"].map(|it| name(folder.path(), it));
    fs::write(&none, "mail\n").unwrap();
    fs::write(&some, "mail\na\nb\n").unwrap();
    for (ours, theirs) in [(&some, &none), (&none, &some), (&none, &none)] {
        let server = Listening::start(&["psi", "send", ours, "--key", "mail", "--serve"]);
        let run = connect(&["psi", "receive", theirs, "--key", "mail", "--count"], &server.address);
        assert_eq!(
            (run.status.code(), stdout(&run).as_str()),
            (Some(0), "0\n"),
            "{}",
            stderr(&run)
        );
        server.running.interrupt();
        assert_eq!(server.end().0, 130);
    }
}

#[test]
fn strangers_do_not_keep_the_peer_from_triples() {
    let folder = tempfile::tempdir().unwrap();
    let [ours, peers, other] = ["a", "b", "c"].map(|name| Key::generate(folder.path(), name));
    for (k, kind) in [&["--method", "gilboa"][..], &["--lift"]].into_iter().enumerate() {
        let [zero, one] = ["z", "o"].map(|it| name(folder.path(), &format!("{it}{k}")));
        let kind = [&["-n", "100", "--bits", "64"], kind].concat();
        let [zero_does, one_does] =
            [("0", &zero), ("1", &one)].map(|(party, dir)| generate(party, dir, &kind));
        let secure = k == 0;
        let plain = ["--insecure"];
        let (here, there) = (ours.expecting(&peers), peers.expecting(&ours));
        let transport = |secure_one| if secure { secure_one } else { &plain[..] };
        let listening = Listening::with(&zero_does, transport(&here));
        let (address, done) = (listening.address.clone(), AtomicBool::new(false));
        let _silent: Vec<_> = (0..80).map(|_| TcpStream::connect(&address).unwrap()).collect();
        let giant = [&u32::MAX.to_le_bytes()[..], &[0; 64]].concat();
        let _garbage = [GARBAGE, &giant, b"\x16\x03\x01"].map(|bytes| {
            let mut socket = TcpStream::connect(&address).unwrap();
            socket.write_all(bytes).unwrap();
            socket
        });
        if secure {
            let refused = connect_with(&one_does, &other.expecting(&ours), &address);
            assert_eq!(refused.status.code(), Some(1));
        }
        thread::scope(|scope| {
            scope.spawn(|| drip(&address, &done));
            let start = Instant::now();
            let run = connect_with(&one_does, transport(&there), &address);
            assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
            assert_eq!(run.status.code(), Some(0), "{}", stderr(&run));
            done.store(true, Ordering::SeqCst);
        });
        let (status, _, said) = listening.end();
        assert_eq!(status, 0, "{said}");
        verified([&zero, &one], 100, "64");
    }
}
