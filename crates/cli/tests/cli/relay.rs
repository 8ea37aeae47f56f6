//! A relay between two commands over plain TCP, that acts when a chosen frame comes by.

use std::{
    io::{self, Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    sync::mpsc::{Receiver, Sender, channel},
    thread,
    time::Duration,
};

/// The place at which the relay acts: within a frame, counted from the hello, of the listening or of
/// the connecting side.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub(crate) of_listener: bool,
    pub(crate) frame: usize,
    pub(crate) within: Within,
}

/// The part of the frame that is forwarded.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Within {
    Nothing,
    Header,
    HalfThePayload,
}

/// The relay's action.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Ends the connection both ways.
    Cut,
    /// Forwards nothing more that way but the end of the connection.
    Hold,
    /// Forwards the frame with another bit in the middle of its payload, and all that follows.
    Flip,
}

pub(crate) struct Relay {
    /// The relay's address, for the connecting side.
    pub(crate) address: String,
    acted: Receiver<()>,
}

impl Relay {
    /// Starts a relay for one connection to this address.
    pub(crate) fn start(to: &str, place: Place, act: Act) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let (to, (sender, acted)) = (to.to_owned(), channel());
        thread::spawn(move || {
            let (connects, _) = listener.accept().unwrap();
            let listens = TcpStream::connect(to).unwrap();
            let (chosen, other) =
                if place.of_listener { (&listens, &connects) } else { (&connects, &listens) };
            thread::scope(|scope| {
                scope.spawn(|| {
                    // Whichever of the two has gone, the other gets to know.
                    let _ = io::copy(&mut { other }, &mut { chosen });
                    let _ = chosen.shutdown(Shutdown::Write);
                });
                let _ = forward(chosen, other, place, act, &sender);
                if act == Act::Cut {
                    let _ = chosen.shutdown(Shutdown::Both);
                    let _ = other.shutdown(Shutdown::Both);
                }
                let _ = other.shutdown(Shutdown::Write);
            });
        });
        Self { address, acted }
    }

    /// Waits until it has acted; false if the connection ended before there was such a frame.
    pub(crate) fn acts(&self) -> bool {
        self.acted.recv_timeout(Duration::from_secs(60)).is_ok()
    }
}

fn forward(
    mut from: &TcpStream,
    mut to: &TcpStream,
    place: Place,
    act: Act,
    acted: &Sender<()>,
) -> io::Result<()> {
    for frame in 0.. {
        let mut header = [0; 5];
        from.read_exact(&mut header)?;
        let [a, b, c, d, _] = header;
        let mut payload = vec![0; usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap()];
        from.read_exact(&mut payload)?;
        let mut all = [&header[..], &payload].concat();
        if frame == place.frame && act == Act::Flip && !payload.is_empty() {
            all[5 + payload.len() / 2] ^= 1;
            let _ = acted.send(());
        }
        if frame < place.frame || act == Act::Flip {
            to.write_all(&all)?;
            continue;
        }
        let part = match place.within {
            Within::Nothing => 0,
            Within::Header => 3,
            Within::HalfThePayload => (5 + payload.len() / 2).min(all.len() - 1),
        };
        to.write_all(&all[..part])?;
        let _ = acted.send(());
        if act == Act::Hold {
            io::copy(&mut from, &mut io::sink())?;
        }
        break;
    }
    Ok(())
}
