use std::{
    io::{ErrorKind, Write},
    thread,
    time::Duration,
};

use proptest::prelude::*;
use tungstenite::{
    Message, WebSocket,
    client::IntoClientRequest,
    protocol::{Role, frame::coding::CloseCode},
};

use super::{frames::read_all, *};
use crate::{Lane, tcp::Listener};

const LONG: Duration = Duration::from_secs(20);

type Client = WebSocket<TcpStream>;

fn site() -> Site {
    let bytes = b"<!doctype html>".into();
    let media = "text/html; charset=utf-8";
    let index = File { path: "/index.html", media, bytes, is_gzipped: false };
    Site::new().token(None, "secret").token(Some("acme"), "other").files(vec![index])
}

/// The site's answer to a connection, and the client's view of the site.
fn meet<T: Send + 'static>(
    site: Site,
    client: impl FnOnce(TcpStream, SocketAddr) -> T + Send + 'static,
) -> (Result<Option<Visitor>, Error>, thread::JoinHandle<T>) {
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr();
    let other = thread::spawn(move || client(TcpStream::connect(address).unwrap(), address));
    (site.answer(listener.accept(LONG).unwrap()), other)
}

/// Another implementation's handshake.
fn upgrade(stream: TcpStream, path: &str, origin: &str) -> Result<Client, String> {
    let address = stream.peer_addr().unwrap();
    let mut request = format!("ws://{address}{path}").into_client_request().unwrap();
    if !origin.is_empty() {
        request.headers_mut().insert("origin", origin.parse().unwrap());
    }
    tungstenite::client(request, stream).map(|it| it.0).map_err(|e| e.to_string())
}

fn get(mut stream: TcpStream, request: &str) -> String {
    let mut answer = String::new();
    stream.write_all(request.as_bytes()).unwrap();
    // A server that has refused the rest of a request may reset the connection.
    let _ = stream.read_to_string(&mut answer);
    answer
}

/// Receives a message of that length, sends it back on the second lane, and ends: over a channel or a stream.
type Kind = fn(Visitor, usize) -> Result<Vec<u8>, Error>;

const KINDS: &[Kind] = &[
    over_channel,
    #[cfg(feature = "tokio-net")]
    over_stream,
];

fn over_channel(visitor: Visitor, len: usize) -> Result<Vec<u8>, Error> {
    let channel = visitor.channel()?;
    let message = channel.recv(Lane::PROTOCOL, len)?;
    channel.send(Lane::new(2).unwrap(), message.clone())?;
    channel.close()?;
    Ok(message)
}

#[cfg(feature = "tokio-net")]
fn over_stream(visitor: Visitor, len: usize) -> Result<Vec<u8>, Error> {
    use foxtrot_ot::engine::{Engine, Io, Limits};
    let echo = Engine::new(|io: Io| async move {
        io.limit(Limits { streams: 2, messages: 1, len });
        let message = io.recv(len).await;
        io.on(1).send(message.clone()).await;
        Ok::<_, foxtrot_ot::Error>(message)
    });
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let on = Arc::new(crate::tokio::Tokio);
        let mut lanes = crate::tokio::Lanes::new(visitor.stream()?).on(on, LONG);
        let message = lanes.run(echo).await?;
        lanes.close().await?;
        Ok(message)
    })
}

#[test]
fn frames_of_another_implementation_carry_channel_messages_both_ways() {
    KINDS.iter().for_each(carry_messages);
}

fn carry_messages(kind: &Kind) {
    let (visitor, client) = meet(site(), |stream, address| {
        let mut client = upgrade(stream, "/foxtrot/acme", &format!("http://{address}")).unwrap();
        // A channel's frame in several messages, with a ping between.
        let payload: Vec<u8> = (0..=255).cycle().take(100_000).collect();
        let frame = [&100_000_u32.to_le_bytes()[..], &[1], &payload].concat();
        let (first, rest) = frame.split_at(7);
        client.send(Message::binary(first.to_vec())).unwrap();
        client.send(Message::Ping(vec![1, 2, 3].into())).unwrap();
        client.send(Message::binary(Vec::new())).unwrap();
        client.send(Message::binary(rest.to_vec())).unwrap();
        let (mut bytes, mut pong) = (Vec::new(), None);
        loop {
            match client.read().unwrap() {
                Message::Binary(some) => bytes.extend_from_slice(&some),
                Message::Pong(payload) => pong = Some(payload),
                Message::Close(frame) => break (bytes, pong, frame.map(|it| it.code)),
                other => panic!("{other:?}"),
            }
        }
    });
    let visitor = visitor.unwrap().unwrap();
    assert_eq!((visitor.name.as_deref(), visitor.binding), (Some("acme"), token_binding("other")));
    let message = kind(visitor, 100_000).unwrap();
    let (bytes, pong, code) = client.join().unwrap();
    assert_eq!(bytes[5..], message);
    assert_eq!((pong.as_deref(), code), (Some(&[1, 2, 3][..]), Some(CloseCode::Normal)));
}

#[test]
fn only_pages_of_allowed_origins_begin_a_session() {
    let own = |address: SocketAddr| format!("http://localhost:{}", address.port());
    let (visitor, client) =
        meet(site(), move |stream, address| upgrade(stream, PATH, &own(address)).map(drop));
    assert_eq!(visitor.unwrap().unwrap().name, None);
    client.join().unwrap().unwrap();
    for origin in ["", "null", "http://evil.example", "http://localhost"] {
        let (visitor, client) =
            meet(site(), move |stream, _| upgrade(stream, PATH, origin).map(drop));
        let error = visitor.unwrap_err().to_string();
        assert!(error.contains("another origin"), "{error}");
        assert!(client.join().unwrap().unwrap_err().contains("403"));
    }
    let site = site().allow_origin("https://psi.example.org").files(Vec::new());
    for (origin, admitted) in [("https://psi.example.org", true), ("http://127.0.0.1", false)] {
        let (visitor, client) =
            meet(site.clone(), move |stream, _| upgrade(stream, PATH, origin).map(drop));
        assert_eq!((visitor.is_ok(), client.join().unwrap().is_ok()), (admitted, admitted));
    }
}

#[test]
fn a_name_without_a_token_is_bound_to_a_value_that_nobody_knows() {
    let visit = || {
        let path = "/foxtrot/nobody";
        let (visitor, client) = meet(site(), move |stream, address| {
            upgrade(stream, path, &format!("http://{address}")).map(drop)
        });
        client.join().unwrap().unwrap();
        visitor.unwrap().unwrap().binding
    };
    assert_ne!(visit(), visit());
}

#[test]
fn a_token_is_found_by_a_name_of_any_form() {
    // The second is the path that a browser makes of the name by `encodeURIComponent`.
    for (name, paths) in [
        ("a@b.example", &["a%40b.example", "a@b.example"][..]),
        ("two words", &["two%20words"]),
        ("Müller", &["M%C3%BCller", "M%c3%bcller"]),
        ("100%", &["100%25"]),
        ("a+b", &["a%2Bb", "a+b"]),
        ("a/b", &["a%2Fb", "a/b"]),
        ("%40", &["%2540"]),
    ] {
        for path in paths {
            let site = site().token(Some(name), "a token with a name");
            let path = format!("{PATH}/{path}");
            let (visitor, client) = meet(site, move |stream, address| {
                upgrade(stream, &path, &format!("http://{address}")).map(drop)
            });
            client.join().unwrap().unwrap();
            let Visitor { name: found, binding, .. } = visitor.unwrap().unwrap();
            assert_eq!(found.as_deref(), Some(name));
            assert_eq!(binding, token_binding("a token with a name"));
        }
    }
    for path in ["%", "%4", "%zz", "%ff"] {
        let request =
            format!("GET {PATH}/{path} HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n");
        let (visitor, client) = meet(site(), move |stream, _| get(stream, &request));
        assert!(visitor.is_err());
        assert!(client.join().unwrap().starts_with("HTTP/1.1 400 "), "{path}");
    }
}

#[test]
fn files_come_with_strict_headers_and_nothing_else_comes() {
    for (request, status) in [
        ("GET / HTTP/1.1\r\nHost: x\r\n\r\n", "200 OK"),
        ("GET /index.html HTTP/1.1\r\nHost: x\r\n\r\n", "200 OK"),
        ("GET /../etc/passwd HTTP/1.1\r\nHost: x\r\n\r\n", "404 Not Found"),
        ("GET /foxtrot HTTP/1.1\r\nHost: x\r\n\r\n", "404 Not Found"),
        ("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx", "400 Bad Request"),
        ("\x16\x03\x01 a TLS client\r\n\r\n", "400 Bad Request"),
        ("GET /foxtrot HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n", "403 Forbidden"),
        ("GET /other HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n\r\n", "404 Not Found"),
    ] {
        let (visitor, client) = meet(site(), move |stream, _| get(stream, request));
        assert!(!matches!(visitor, Ok(Some(_))));
        // The connection ends with the visit.
        drop(visitor);
        let answer = client.join().unwrap();
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{request}: {answer}");
        for header in ["script-src 'self'", "default-src 'none'", "nosniff", "no-referrer"] {
            assert!(answer.contains(header), "{answer}");
        }
        assert_eq!(answer.ends_with("<!doctype html>"), status == "200 OK");
    }
}

#[test]
fn a_compressed_file_says_so() {
    let file = site().files[0].clone();
    let site = site().files(vec![File { is_gzipped: true, ..file }]);
    let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    let (visitor, client) = meet(site, move |stream, _| get(stream, request));
    drop(visitor);
    assert!(client.join().unwrap().contains("\r\nContent-Encoding: gzip\r\n"));
}

#[test]
fn scripts_may_connect_to_our_origins_alone() {
    let evil = "https://evil.example; script-src *";
    let site = site().allow_origin("https://psi.example.org").allow_origin(evil);
    let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    let (visitor, client) = meet(site, move |stream, address| (get(stream, request), address));
    drop(visitor);
    let (answer, address) = client.join().unwrap();
    let policy = answer.lines().find(|line| line.starts_with("Content-Security-Policy")).unwrap();
    let (_, connect) = policy.split_once("connect-src ").unwrap();
    let localhost = format!("ws://localhost:{}", address.port());
    assert_eq!(connect, format!("'self' wss://psi.example.org ws://{address} {localhost}"));
}

#[test]
fn a_head_that_is_long_or_drips_is_not_waited_for() {
    let long = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(9000));
    let (visitor, client) = meet(site(), move |stream, _| get(stream, &long));
    assert!(visitor.unwrap_err().to_string().contains("long head"));
    assert!(client.join().unwrap().contains("431"));
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let mut drips = TcpStream::connect(listener.local_addr()).unwrap();
    drips.write_all(b"GET /").unwrap();
    let socket = listener.accept(LONG).unwrap().shake_hands_within(Duration::from_millis(50));
    assert!(site().answer(socket).is_err());
}

/// Browsers open connections ahead, and read what a side wants before a person agrees.
#[test]
fn a_browser_that_says_nothing_is_told_from_a_peer_that_gives_up() {
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let silent = TcpStream::connect(listener.local_addr()).unwrap();
    let socket = listener.accept(LONG).unwrap().shake_hands_within(Duration::from_millis(50));
    assert!(site().answer(socket).unwrap().is_none());
    drop(silent);
    for (kind, spoken) in KINDS.iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        let (visitor, client) = meet(site(), move |stream, address| {
            let mut client = upgrade(stream, PATH, &format!("http://{address}")).unwrap();
            if spoken {
                client.send(Message::binary(vec![0])).unwrap();
            }
            client.close(None).unwrap();
            while client.read().is_ok() {}
        });
        let error = kind(visitor.unwrap().unwrap(), 1).unwrap_err();
        let expected = if spoken { ChannelError::ClosedReceiving } else { ChannelError::Served };
        assert_eq!(error, expected.into());
        client.join().unwrap();
    }
}

#[test]
fn frames_that_no_browser_sends_end_the_channel() {
    let masked = |first: u8, len: u8| vec![first, 0x80 | len, 0, 0, 0, 0];
    let all = [
        vec![0x82, 1, 7],                            // without a mask
        masked(0x81, 1),                             // text
        masked(0xc2, 1),                             // an extension's
        masked(0x80, 1),                             // the rest of nothing
        masked(0x83, 1),                             // an unknown kind
        masked(0x09, 0),                             // a ping in pieces
        vec![0x89, 0xfe, 0, 200, 0, 0, 0, 0],        // a long ping
        [masked(0x02, 0), masked(0x82, 0)].concat(), // a message within another
    ];
    for (kind, bytes) in
        KINDS.iter().flat_map(|kind| all.iter().map(move |bytes| (kind, bytes.clone())))
    {
        let (visitor, client) = meet(site(), move |stream, address| {
            let client = upgrade(stream, PATH, &format!("http://{address}")).unwrap();
            client.get_ref().write_all(&bytes).unwrap();
            client.get_ref().set_read_timeout(Some(LONG)).unwrap();
            // Its end, or a reset.
            let read = client.get_ref().read_to_end(&mut Vec::new());
            assert!(read.map_or_else(|e| e.kind() == ErrorKind::ConnectionReset, |_| true));
        });
        let error = kind(visitor.unwrap().unwrap(), 1).unwrap_err();
        assert!(matches!(error, Error::Channel(ChannelError::Io { .. })), "{error}");
        client.join().unwrap();
    }
}

#[test]
fn a_lost_connection_is_no_end() {
    for kind in KINDS {
        let (visitor, client) = meet(site(), |stream, address| {
            let client = upgrade(stream, PATH, &format!("http://{address}")).unwrap();
            drop(client);
        });
        client.join().unwrap();
        let error = kind(visitor.unwrap().unwrap(), 1).unwrap_err();
        assert_eq!(error, ChannelError::ClosedReceiving.into());
    }
}

/// A frame of a browser: its first byte, its mask, and its payload.
#[derive(Clone, Debug)]
struct Said(u8, [u8; 4], Vec<u8>);

impl Said {
    fn bytes(&self) -> Vec<u8> {
        let Self(first, mask, payload) = self;
        let mut bytes = vec![*first];
        match u16::try_from(payload.len()).unwrap() {
            len @ 0..126 => bytes.push(0x80 | u8::try_from(len).unwrap()),
            len => bytes.extend([[0xfe; 1].as_slice(), &len.to_be_bytes()].concat()),
        }
        bytes.extend(mask);
        bytes.extend(payload.iter().zip(mask.iter().cycle()).map(|(byte, m)| byte ^ m));
        bytes
    }
}

/// Whole messages in one to three frames, with a ping before each.
fn messages() -> impl Strategy<Value = Vec<Said>> {
    let piece = (any::<[u8; 4]>(), prop::collection::vec(any::<u8>(), 0..300));
    let ping = (any::<[u8; 4]>(), prop::collection::vec(any::<u8>(), 0..126));
    let message = (ping, prop::collection::vec(piece, 1..4)).prop_map(|((mask, ping), pieces)| {
        let last = pieces.len() - 1;
        let pieces = pieces.into_iter().enumerate().map(move |(i, (mask, payload))| {
            let (kind, end) = (if i == 0 { 2 } else { 0 }, if i == last { 0x80 } else { 0 });
            Said(kind | end, mask, payload)
        });
        std::iter::once(Said(0x89, mask, ping)).chain(pieces).collect::<Vec<_>>()
    });
    prop::collection::vec(message, 0..6).prop_map(|all| all.concat())
}

/// A stream of bytes that somebody else has made.
struct Script(io::Cursor<Vec<u8>>);

impl Read for Script {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.0.read(to)
    }
}

impl Write for Script {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Payloads of whole binary messages, as another implementation reads them.
fn others_view(bytes: Vec<u8>) -> Vec<u8> {
    let mut socket = WebSocket::from_raw_socket(Script(io::Cursor::new(bytes)), Role::Server, None);
    let mut all = Vec::new();
    loop {
        match socket.read() {
            Ok(Message::Binary(some)) => all.extend_from_slice(&some),
            Ok(Message::Ping(_) | Message::Pong(_)) => {}
            _ => return all,
        }
    }
}

proptest! {
    #[test]
    fn frames_are_read_alike_in_pieces_of_any_size(all in messages(), at_once in 1_usize..400) {
        let mut bytes: Vec<u8> = all.iter().flat_map(Said::bytes).collect();
        bytes.extend(Said(0x88, [1, 2, 3, 4], vec![3, 232]).bytes());
        let (payload, pings, end) = read_all(bytes.chunks(at_once));
        let of = |is_ping: bool| all.iter().filter(move |it| (it.0 == 0x89) == is_ping);
        prop_assert_eq!(payload, of(false).flat_map(|it| it.2.clone()).collect::<Vec<_>>());
        prop_assert_eq!(pings, of(true).map(|it| it.2.clone()).collect::<Vec<_>>());
        prop_assert!(matches!(end, Ok(true)));
    }

    /// Another implementation reads no more than we do of bytes that no browser sends, and nothing else.
    #[test]
    fn changed_frames_end_with_a_fault_or_are_read_as_another_implementation_reads_them(
        all in messages(),
        at_once in 1_usize..400,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
        cut in any::<prop::sample::Index>(),
        noise in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        let mut bytes: Vec<u8> = all.iter().flat_map(Said::bytes).collect();
        bytes.truncate(cut.index(bytes.len() + 1));
        bytes.extend(noise);
        for (at, byte) in &changes {
            let at = at.index(bytes.len().max(1));
            bytes.iter_mut().skip(at).take(1).for_each(|it| *it ^= byte);
        }
        let (payload, pings, end) = read_all(bytes.chunks(at_once));
        let (whole, same_pings, same_end) = read_all([&bytes[..]]);
        prop_assert_eq!((&payload, pings), (&whole, same_pings));
        prop_assert_eq!(end.map_err(|e| e.to_string()), same_end.map_err(|e| e.to_string()));
        let other = others_view(bytes);
        prop_assert!(payload.starts_with(&other), "{} and {} bytes", payload.len(), other.len());
    }
}
