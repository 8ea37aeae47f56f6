//! The sender of the cases of `doors.json`, over a blocking connection, for the tests of every door.

use std::{
    io::Write,
    net::{SocketAddr, TcpListener},
    thread::{self, JoinHandle},
};

use foxtrot::{
    Blame, Config, Error, Peer, Side, Stream,
    psi::{
        Assumption, Options,
        fields::{Duplicates, Fields, Padding},
        keys::{Builder, Keys},
    },
};
use serde_json::Value;

/// The result of a sender; nothing for one that plays no session.
pub(crate) type Sent = Option<Result<(), Error>>;

/// The cases.
pub(crate) fn cases() -> Vec<Value> {
    let all: Value = serde_json::from_str(include_str!("doors.json")).unwrap();
    all["cases"].as_array().unwrap().clone()
}

/// Keys of `names`, normalised as the case says.
pub(crate) fn keys(of: &Value, names: [&str; 2]) -> Keys {
    let normalize = of["normalize"].as_str().unwrap_or("email");
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
fn send(peer: &mut Peer, of: &Value) -> Result<(), Error> {
    let (keys, options) = (keys(of, ["bob", "cid"]), options(of));
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
        other => panic!("no blame is {other}"),
    }
}

/// Plays the sender of a case, which waits for a connection.
pub(crate) fn serve(case: &Value) -> (SocketAddr, JoinHandle<Sent>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let of = case["sender"].clone();
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
        let config = Config::insecure();
        let config = of["max_memory"].as_u64().iter().fold(config, |it, n| it.max_memory(*n));
        Some(send(&mut config.over(reader, socket, stream).unwrap(), &of))
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
