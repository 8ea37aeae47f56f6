//! The sender of the cases of `doors.json`, over a blocking connection, for the tests of every door.

use std::{
    io::{self, Write},
    net::{SocketAddr, TcpListener},
    sync::Arc,
    thread::{self, JoinHandle},
};

use foxtrot::{
    Blame, Config, Daily, Error, MostPerDay, Peer, Side, Stream,
    psi::{
        Assumption, Options,
        fields::{Duplicates, Fields, Padding},
        keys::{Builder, Keys},
    },
};
use serde_json::Value;

/// The result of a sender; nothing for one that plays no session.
pub(crate) type Sent = Option<Result<(), Error>>;

/// A stream of which one byte is changed on the way.
struct Changed<W> {
    writer: W,
    /// Bytes before it.
    before: Option<usize>,
}

impl<W: Write> Write for Changed<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(before) = self.before else { return self.writer.write(bytes) };
        if before >= bytes.len() {
            let written = self.writer.write(bytes)?;
            self.before = Some(before - written);
            return Ok(written);
        }
        let mut changed = bytes.to_vec();
        changed[before] ^= 1;
        self.before = None;
        self.writer.write_all(&changed)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.writer.flush()
    }
}

/// The cases.
pub(crate) fn cases() -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("doors.json")).unwrap();
    all["cases"].as_array().unwrap().clone()
}

/// Keys of `names`, normalised as the case says.
#[allow(dead_code, reason = "not every door takes them")]
pub(crate) fn keys(of: &Value, names: [&str; 2]) -> Keys {
    keys_of(of, names, "email")
}

fn keys_of(of: &Value, names: [&str; 2], usual: &str) -> Keys {
    let normalize = of["normalize"].as_str().unwrap_or(usual);
    let mut set = Builder::new(vec![normalize.parse().unwrap()], 2).unwrap();
    names.iter().for_each(|name| set.push([format!("{name}@example.org").into()].into_iter()));
    set.finish().unwrap()
}

pub(crate) fn options(of: &Value) -> Options {
    let mut options = Options::new();
    if let Some(most) = of["max_peer_keys"].as_u64() {
        options = options.max_peer_keys(usize::try_from(most).unwrap());
    }
    if let Some(least) = of["min_peer_keys"].as_u64() {
        options = options.min_peer_keys(usize::try_from(least).unwrap());
    }
    if of["assumption"] == "lpn" {
        options = options.assumption(Assumption::Lpn);
    }
    if of["semi_honest"] == true { options.semi_honest() } else { options }
}

pub(crate) fn padding(of: &Value) -> Padding {
    let width = usize::try_from(of["width"].as_u64().unwrap_or(64)).unwrap();
    Padding { width, duplicates: Duplicates::Refuse }
}

pub(crate) fn columns(of: &Value) -> Option<Vec<String>> {
    let all = of.as_array()?.iter();
    Some(all.map(|it| it.as_str().unwrap().to_owned()).collect())
}

/// The sender of a case, over a blocking connection.
fn send(peer: &mut Peer, of: &Value, usual: &str) -> Result<(), Error> {
    let (keys, options) = (keys_of(of, ["bob", "cid"], usual), options(of));
    let Some(share) = columns(&of["share"]) else {
        return options.send_keys(peer, &keys).map(drop);
    };
    let mut fields = Fields::new(share.len(), padding(of), keys.len())?;
    for key in 0..keys.len() {
        fields.put(key, &vec!["x"; share.len()]).unwrap();
    }
    options.send_keys_with(peer, &keys, &fields.named(share)).map(drop)
}

pub(crate) fn blame(words: &str) -> Blame {
    match words {
        "agreement" => Blame::Agreement,
        "connection" => Blame::Connection,
        "peer" => Blame::Peer,
        "caller" => Blame::Caller,
        other => panic!("no blame is {other}"),
    }
}

/// Plays the sender of a case, which waits for a connection.
pub(crate) fn serve(case: &Value) -> (SocketAddr, JoinHandle<Sent>) {
    serve_by(case, "email")
}

/// [`serve`] with this normaliser, unless the case has one.
pub(crate) fn serve_by(case: &Value, usual: &str) -> (SocketAddr, JoinHandle<Sent>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let (of, usual) = (case["sender"].clone(), usual.to_owned());
    let sender = thread::spawn(move || {
        let (mut socket, _) = listener.accept().unwrap();
        if of["closes"] == true {
            return None;
        }
        if of["garbage"] == true {
            socket.write_all(&[7; 4000]).unwrap();
            return None;
        }
        let (reader, closer) = (socket.try_clone().unwrap(), socket.try_clone().unwrap());
        let stream = Stream::new(Side::Responder).closer(move |how| drop(closer.shutdown(how)));
        let mut config = Config::insecure();
        if let Some(most) = of["max_memory"].as_u64() {
            config = config.max_memory(most);
        }
        if let Some(most) = of["keys_per_day"].as_u64() {
            let most = MostPerDay { runs: None, keys: Some(most) };
            config = config.per_day(Arc::new(Daily::in_memory(most)));
        }
        let before = of["changes"].as_u64().map(|at| usize::try_from(at).unwrap());
        let is_changed = before.is_some();
        let writer = Changed { writer: socket, before };
        let mut peer = config.over(reader, writer, stream).unwrap();
        if of["gives_up"] == true {
            let canceller = peer.canceller();
            peer.on_progress(move |_| canceller.cancel());
        }
        let sent = send(&mut peer, &of, &usual);
        if is_changed { None } else { Some(sent) }
    });
    (address, sender)
}

/// Compares what the sender was told with the case.
pub(crate) fn check_sender(case: &Value, sent: Sent) {
    let name = case["name"].as_str().unwrap();
    match (sent, case["peer_says"].as_str()) {
        (Some(sent), Some(says)) => {
            let told = sent.unwrap_err();
            assert!(told.to_string().contains(says), "{name}: {told}");
            assert_eq!(told.blame(), blame(case["peer_blame"].as_str().unwrap()), "{name}: {told}");
        }
        (Some(sent), None) => sent.unwrap(),
        (None, _) => {}
    }
}
