//! Audit logs and limits against peers that are no honest programs: they ask for sizes, look, and tell what does not suit.

use std::{
    fs,
    io::{self, BufRead, BufReader, Read, Write},
    net::TcpStream,
};

use foxtrot::{Peer, Side};
use foxtrot_net::{
    ChannelError, Error, HelloError, Reason,
    hello::{self, Hello, ONLY_LOOKS, Role},
    tcp,
};
use serde_json::Value;

use super::{
    audit::{A, B, LONG, Log, greet, receiver, serve},
    support::{Listening, Running, connect, stderr, stdout},
};

/// The terms of [`receiver`] in this role.
fn terms(role: Role) -> Hello {
    Hello::new(role)
        .term("job", "psi")
        .term("base", "roted-endemic")
        .term("assumption", "symmetric")
        .term("adversary", "malicious")
        .term("normalize", "email/2")
}

/// A hello that no set suits: it has more keys than one bound, or fewer than the other.
fn asking_for_sizes(role: Role, most: u64) -> Hello {
    terms(role).detail("keys", 20).offer("most-keys", most).offer("least-keys", most + 1)
}

fn told(address: &str, hello: &Hello) -> Error {
    greet(address, hello).map(drop).unwrap_err()
}

fn given_up(reason: Reason) -> Error {
    ChannelError::GivenUp(reason).into()
}

fn events(lines: &[Value]) -> Vec<&str> {
    lines.iter().filter_map(|line| line["event"].as_str()).collect()
}

#[test]
fn a_peer_that_asks_for_sizes_is_on_record_and_counted_before_it_hears() {
    // docs/wire: R3-7.
    let log = Log::new();
    let limits = log.folder.join("limits").to_str().unwrap().to_owned();
    let server = serve(&log, &["--limits", &limits, "--max-runs-per-day", "2"]);
    let ask = |most| told(&server.address, &asking_for_sizes(Role::Receiver, most));
    assert_eq!(ask(9), given_up(Reason::TooManyKeys));
    assert_eq!(ask(1000), given_up(Reason::TooFewKeys));
    assert_eq!(ask(9), given_up(Reason::UsedUp));
    log.wait_for("ended", 2);
    log.wait_for("refused", 1);
    let lines = log.lines();
    for (run, why) in [
        (&lines[..2], "our set has 20 keys, and the peer accepts 9"),
        (&lines[2..4], "our set has 20 keys, and the peer accepts no fewer than 1001"),
    ] {
        assert_eq!(events(run), ["begun", "ended"]);
        assert_eq!(run[0]["run"], run[1]["run"]);
        assert!(run[0]["peer"]["address"].is_string());
        assert_eq!((&run[1]["outcome"], &run[1]["status"]), (&why.into(), &1.into()));
    }
    assert!(fs::read_to_string(&limits).unwrap().contains("\nwithout%20identity 2 "));
}

#[test]
fn a_peer_that_asks_for_sizes_hears_nothing_from_a_side_that_cannot_write_it_down() {
    let log = Log::new();
    let server = serve(&log, &[]);
    fs::remove_dir_all(&log.folder).unwrap();
    let ask = |most| told(&server.address, &asking_for_sizes(Role::Receiver, most));
    assert_eq!([9, 1000].map(ask), [(); 2].map(|()| given_up(Reason::Other)));
}

#[test]
fn a_side_that_connects_writes_down_whom_it_tells_that_its_set_does_not_suit() {
    let log = Log::new();
    let listener = tcp::Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().to_string();
    let ours = ["--audit", &log.path, "--insecure", "--connect", &address];
    let running = Running::start(&[&A[..], &ours].concat());
    let channel = listener.accept(LONG).unwrap().open().unwrap();
    let heard = hello::exchange(&channel, false, &asking_for_sizes(Role::Sender, 9));
    assert_eq!(heard.unwrap_err(), given_up(Reason::TooManyKeys));
    // It is there by now, and not only when the run has ended.
    let begun = log.wait_for("begun", 1);
    assert_eq!(begun[0]["peer"]["address"], address);
    assert_eq!((running.end().0, events(&log.lines())), (1, vec!["begun", "ended"]));
}

#[test]
fn a_peer_that_only_looks_hears_nothing_of_the_size_of_a_set() {
    // docs/wire: R28-6.
    let log = Log::new();
    let listening = Listening::start(&[&B[..], &["--audit", &log.path]].concat());
    for most in [0, 19, 20, 1000] {
        let looks = asking_for_sizes(Role::Receiver, most).detail(ONLY_LOOKS, "yes");
        let channel = tcp::connect(&listening.address, LONG).unwrap().open().unwrap();
        let agreed = hello::exchange(&channel, true, &looks).unwrap();
        assert!(agreed.peer_details.is_empty(), "{most}: {:?}", agreed.peer_details);
    }
    // The side goes on waiting for its peer.
    let asked = connect(&A, &listening.address);
    assert_eq!(stdout(&asked).lines().count(), 16, "{}", stderr(&asked));
    assert_eq!((listening.end().0, events(&log.lines())), (0, vec!["begun", "ended"]));
}

#[test]
fn details_that_do_not_suit_end_a_run_before_ours_are_told_and_nothing_counts() {
    let sized = |keys: &str| terms(Role::Receiver).detail("keys", keys).offer("most-keys", 1000);
    let cases = [
        (sized("020"), Reason::Undecodable, "the peer offers 020 as the number of its keys"),
        (terms(Role::Receiver).offer("most-keys", 1000), Reason::Undecodable, "offers nothing as"),
        (sized("51"), Reason::Undecodable, "51"),
        (sized("20").detail("set", "b"), Reason::NoSuchSet, "asks for a set that is not here"),
    ];
    for (hello, reason, why) in cases {
        let log = Log::new();
        let limits = log.folder.join("limits").to_str().unwrap().to_owned();
        let limit = ["--limits", &limits, "--max-runs-per-day", "1", "--max-peer-keys", "50"];
        let listening = Listening::start(&[&B[..], &limit, &["--audit", &log.path]].concat());
        assert_eq!(told(&listening.address, &hello), given_up(reason), "{why}");
        let (status, _, said) = listening.end();
        assert!(status != 0 && said.contains(why), "{said}");
        let lines = log.lines();
        assert_eq!(events(&lines), ["refused", "ended"], "{why}");
        // The peer that ended the run is on record.
        assert!(lines[0]["peer"]["address"].as_str().unwrap().starts_with("127.0.0.1:"));
        lines.iter().for_each(|it| assert!(it["outcome"].as_str().unwrap().contains(why), "{it}"));
        assert_eq!(fs::read_to_string(&limits).unwrap().lines().count(), 2, "{why}: it counted");
    }
}

#[test]
fn a_peer_whose_set_is_too_large_or_whose_terms_differ_has_a_line() {
    let other = receiver(20).term("normalize", "none/1\n{\"audit\":2}\u{202e}");
    let hides_it = terms(Role::Receiver).detail("keys", 20).offer("most-keys", 1000);
    let cases = [
        (receiver(20), "the peer gave up: its set has more keys than we accept"),
        (hides_it, "the peer has 20 keys; this side accepts at most 10"),
        (other, "none/1\\n{\"audit\":2}\\u{202e} at the peer"),
    ];
    for is_server in [true, false] {
        for (hello, why) in &cases {
            let log = Log::new();
            let serve = if is_server { &["--serve"][..] } else { &[] };
            let more = ["--max-peer-keys", "10", "--audit", &log.path];
            let listening = Listening::start(&[&B[..], &more, serve].concat());
            told(&listening.address, hello);
            let refused = log.wait_for("refused", 1);
            assert!(refused[0]["outcome"].as_str().unwrap().contains(why), "{why}: {refused:?}");
            assert!(refused[0]["peer"]["address"].is_string());
            assert_eq!(refused[0]["count"], 1);
            if is_server {
                listening.running.interrupt();
            }
            assert_ne!(listening.end().0, 0);
            let events = log.lines().len() - usize::from(!is_server);
            assert_eq!(events, 1, "a line without a peer that learnt something");
        }
    }
}

#[test]
fn both_logs_have_the_transcript_of_an_agreement_on_shards() {
    let [ours, theirs] = [Log::new(), Log::new()];
    let ticket = |log: &Log| log.folder.join("ticket").to_str().unwrap().to_owned();
    let [of_ours, of_theirs] = [&ours, &theirs].map(ticket);
    let agree = ["--shards", "4", "--ticket"];
    let listening =
        Listening::start(&[&B[..], &agree, &[&of_ours, "--audit", &ours.path]].concat());
    let ask = [&A[..], &agree, &[&of_theirs, "--audit", &theirs.path]].concat();
    let asked = connect(&ask, &listening.address);
    assert_eq!((asked.status.code(), listening.end().0), (Some(0), 0), "{}", stderr(&asked));
    let [sent, received] = [&ours, &theirs].map(|log| log.wait_for("ended", 1)[0].clone());
    assert_eq!(sent["transcript"].as_str().map(str::len), Some(64));
    assert_eq!(
        (&sent["transcript"], &sent["session"]),
        (&received["transcript"], &received["session"])
    );
}

/// The bytes in a server's WebSocket messages.
struct Messages(BufReader<TcpStream>, usize);

/// A WebSocket message for each write, with a mask of zeros.
struct Masked(TcpStream);

impl Read for Messages {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        while self.1 == 0 {
            let mut head = [0; 2];
            self.0.read_exact(&mut head)?;
            if head[0] & 15 == 8 {
                return Ok(0);
            }
            self.1 = match head[1] {
                126 => {
                    let mut len = [0; 2];
                    self.0.read_exact(&mut len)?;
                    u16::from_be_bytes(len).into()
                }
                len => len.into(),
            };
        }
        let most = to.len().min(self.1);
        let read = self.0.read(&mut to[..most])?;
        self.1 -= read;
        Ok(read)
    }
}

impl Write for Masked {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let len = u16::try_from(bytes.len()).unwrap();
        self.0.write_all(&[0x82, 0x80 | 126])?;
        self.0.write_all(&[&len.to_be_bytes()[..], &[0; 4], bytes].concat())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[test]
fn a_browser_with_a_wrong_token_has_a_line() {
    let log = Log::new();
    let tokens = log.folder.join("tokens");
    fs::write(&tokens, "acme 0123456789abcdef0123\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(&tokens, mode).unwrap();
    let browsers = ["--websocket", "127.0.0.1:0", "--allow-origin", "https://a.example"];
    let serve = ["--serve", "--audit", &log.path, "--tokens", tokens.to_str().unwrap()];
    let mut server = Running::start(&[&B[..], &serve, &browsers].concat());
    let address = loop {
        let line = server.line();
        assert!(!line.is_empty(), "it has ended");
        if let Some(address) = line.strip_prefix("foxtrot: listening on ") {
            break address.to_owned();
        }
    };
    let mut stream = TcpStream::connect(&address).unwrap();
    let words = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13";
    let key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==";
    let head = format!(
        "GET /foxtrot/acme HTTP/1.1\r\nHost: {address}\r\nOrigin: https://a.example\r\n{words}\r\n{key}\r\n\r\n"
    );
    stream.write_all(head.as_bytes()).unwrap();
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        assert_ne!(reader.read_line(&mut line).unwrap(), 0, "there is no handshake");
    }
    // Without a binding it confirms another hello than the server's, as with another token.
    let mut peer = Peer::over(Messages(reader, 0), Masked(stream), Side::Initiator).unwrap();
    let agreed = peer.negotiate::<(), foxtrot::Error>(receiver(20), |_| Ok(((), 0)));
    let told = agreed.map(drop).unwrap_err();
    assert!(told.to_string().contains(&Reason::CheckFailed.to_string()), "{told}");
    let refused = log.wait_for("refused", 1);
    let why = refused[0]["outcome"].as_str().unwrap();
    assert!(why.starts_with(&HelloError::Confirmation.to_string()), "{why}");
    // The name is what it says; nothing has been checked.
    assert_eq!((&refused[0]["peer"]["name"], &refused[0]["count"]), (&"acme".into(), &1.into()));
    assert_eq!(log.lines().len(), 1);
}
