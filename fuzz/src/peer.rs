//! Peers that only recite.

use std::{
    io::{self, Cursor, Read, Write},
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

use foxtrot_net::{
    Channel,
    channel::ReadHalf,
    hello::{self, Hello},
};

/// Nothing waits for a peer that has said everything beforehand, but behind the announcement of a
/// frame that is too long to be put aside for its lane a channel does.
const TIMEOUT: Duration = Duration::from_millis(200);
/// For our own thread to write.
const LONG: Duration = Duration::from_secs(60);

struct Script(Cursor<Vec<u8>>);

#[derive(Clone)]
struct Heard(Arc<Mutex<Vec<u8>>>);

impl Read for Script {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl ReadHalf for Script {
    fn set_deadline(&mut self, _: Instant) {}
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
    let heard = Heard(Arc::default());
    let channel = open(Vec::new(), heard.clone(), LONG);
    hello::exchange(&channel, true, hello).expect_err("the peer says nothing");
    channel.close().expect_err("the peer has hung up");
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
