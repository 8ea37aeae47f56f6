//! Peers that only recite.

use std::{
    collections::BTreeMap,
    io::{self, Cursor, Read, Write},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use foxtrot_net::{
    Channel,
    channel::ReadHalf,
    hello::{self, Hello},
};
use foxtrot_ot::{Session, Sid};

/// Time-out of a channel to a scripted peer: short, because only a frame too long to be put aside
/// for its lane is waited for.
const TIMEOUT: Duration = Duration::from_millis(200);
/// Time for our own thread to write.
const LONG: Duration = Duration::from_secs(60);

struct Script(Cursor<Vec<u8>>);

#[derive(Clone)]
struct Heard(Arc<Mutex<Vec<u8>>>);

impl ReadHalf for Script {
    fn read_by(&mut self, _: Instant, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Write for Heard {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A channel to a peer that says these bytes and hangs up, whatever it hears.
pub fn scripted(script: Vec<u8>) -> Channel {
    open(script, io::sink(), TIMEOUT)
}

/// The frame of a hello as our side sends it.
pub fn said(hello: &Hello) -> Vec<u8> {
    says(hello, true, Vec::new())
}

/// The frames of hello and details of both sides, the initiator's first. Both have fixed nonces.
pub fn greetings(initiator: &Hello, responder: &Hello) -> [Vec<u8>; 2] {
    let initiators = says(initiator, true, said(responder));
    let responders = says(responder, false, initiators.clone());
    [initiators, responders]
}

/// The session's id of sides that have said this, over TLS with that exporter.
pub fn sid([initiators, responders]: [[&[u8]; 2]; 2], exporter: &[u8]) -> Sid {
    let query = greeting([initiators[0], responders[0]], exporter).oracle("foxtrot v1 session id");
    Sid::from_bytes(query.query(0, 0).field(initiators[1]).field(responders[1]).finish())
}

/// Details for these hellos, of the initiator or of the responder, without a puzzle.
pub fn details(
    hellos: [&[u8]; 2],
    exporter: &[u8],
    by_initiator: bool,
    table: &BTreeMap<String, String>,
) -> Vec<u8> {
    let query = greeting(hellos, exporter).oracle("foxtrot v1 confirmation");
    let confirmation: [u8; 32] = query.query(0, u8::from(!by_initiator)).finish();
    let count = u16::try_from(table.len()).expect("few");
    let mut bytes = [&confirmation[..], &[0; 8], &count.to_le_bytes()].concat();
    for (key, value) in table {
        bytes.push(u8::try_from(key.len()).expect("short"));
        bytes.extend(key.as_bytes());
        bytes.extend(u16::try_from(value.len()).expect("short").to_le_bytes());
        bytes.extend(value.as_bytes());
    }
    bytes
}

fn greeting([initiators, responders]: [&[u8]; 2], exporter: &[u8]) -> Session {
    Session::new(Sid::derive(initiators, responders, exporter))
}

/// The payloads of frames.
pub fn payloads(mut frames: &[u8]) -> Vec<&[u8]> {
    let mut all = Vec::new();
    while let Some((head, rest)) = frames.split_first_chunk::<5>() {
        let len = u32::from_le_bytes([head[0], head[1], head[2], head[3]]);
        let (payload, behind) = rest.split_at(len.try_into().expect("short"));
        all.push(payload);
        frames = behind;
    }
    all
}

/// All that a side sends to a peer that says this and hangs up.
fn says(hello: &Hello, initiator: bool, script: Vec<u8>) -> Vec<u8> {
    let heard = Heard(Arc::default());
    let channel = open(script, heard.clone(), LONG);
    let _ = hello::exchange(&channel, initiator, hello);
    let _ = channel.close();
    let bytes = heard.0.lock().unwrap();
    bytes.clone()
}

/// A frame.
pub fn frame(lane: u8, payload: &[u8]) -> Vec<u8> {
    let len = u32::try_from(payload.len()).expect("short");
    [&len.to_le_bytes(), [lane].as_slice(), payload].concat()
}

fn open(script: Vec<u8>, ear: impl Write + Send + 'static, timeout: Duration) -> Channel {
    let reader = Box::new(Script(Cursor::new(script)));
    Channel::new(reader, Box::new(ear), Box::new(|_| ()), timeout).expect("a thread")
}
