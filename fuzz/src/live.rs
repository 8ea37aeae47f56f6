//! Two parties on a thread each, and between them a network that changes frames: for sessions whose randomness is
//! the system's, so that nobody could recite one side of them.

use std::{
    collections::VecDeque,
    io::{self, ErrorKind, Read, Write},
    net::Shutdown,
    sync::{
        Arc, Condvar, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use foxtrot_net::{
    Channel, Error,
    channel::{Hook, ReadHalf},
    hello::{self, Agreement, Hello, Role},
};

use crate::{Change, changed};

/// Time-out of a session of which nothing was changed.
const LONG: Duration = Duration::from_secs(60);
/// Time-out after a change, when both parties may wait for each other.
const STALLED: Duration = Duration::from_millis(150);

/// Changes to a party's frames: each change is for the frame of that number (modulo 16), from the
/// hello on. A change may also reach the frame's header.
pub type Changes = Vec<(u8, Change)>;

/// The result of a session.
pub struct Ended<A, B> {
    /// Result of the hello's sender.
    pub sender: Result<A, Error>,
    /// Result of the hello's receiver.
    pub receiver: Result<B, Error>,
    /// True if the network has changed anything.
    pub tampered: bool,
}

impl<A, B> Ended<A, B> {
    /// Returns the outputs of both parties, if both have one.
    ///
    /// # Panics
    /// If a session without changes failed, or one ended with an error of our own making.
    pub fn both(self) -> Option<(A, B)> {
        let errors = [self.sender.as_ref().err(), self.receiver.as_ref().err()];
        for error in errors.into_iter().flatten() {
            assert!(self.tampered, "nobody changed anything: {error}");
            let ours = matches!(error, Error::Protocol(foxtrot_ot::Error::Usage(_)));
            assert!(!ours && *error != Error::Unlucky, "{error}");
        }
        Some((self.sender.ok()?, self.receiver.ok()?))
    }
}

/// Lets both parties say hello and go on with what they do, the sender being who connected.
pub fn session<A: Send, B: Send>(
    [from_sender, from_receiver]: [Changes; 2],
    sender: impl FnOnce(&Channel, &Agreement) -> Result<A, Error> + Send,
    receiver: impl FnOnce(&Channel, &Agreement) -> Result<B, Error> + Send,
) -> Ended<A, B> {
    let tampered = Arc::new(AtomicBool::new(false));
    let [there, back] = [(); 2].map(|()| Arc::new(Pipe::default()));
    let open = |incoming: &Arc<Pipe>, outgoing: &Arc<Pipe>, changes| {
        let reader = Reader { pipe: Arc::clone(incoming), tampered: Arc::clone(&tampered) };
        let tap = Tap {
            pipe: Arc::clone(outgoing),
            frame: Vec::new(),
            number: 0,
            changes,
            tampered: Arc::clone(&tampered),
        };
        let (incoming, outgoing) = (Arc::clone(incoming), Arc::clone(outgoing));
        let hook: Hook = Box::new(move |how| {
            if how != Shutdown::Read {
                outgoing.end();
            }
            if how != Shutdown::Write {
                incoming.end();
            }
        });
        Channel::new(Box::new(reader), Box::new(tap), hook, LONG).expect("a thread")
    };
    let here = open(&back, &there, from_sender);
    let peer = open(&there, &back, from_receiver);
    let (sender, receiver) = thread::scope(|scope| {
        let receiver = scope.spawn(move || play(peer, Role::Receiver, receiver));
        let sender = play(here, Role::Sender, sender);
        (sender, receiver.join().expect("no panic"))
    });
    Ended { sender, receiver, tampered: tampered.load(Ordering::Relaxed) }
}

fn play<T>(
    channel: Channel,
    role: Role,
    party: impl FnOnce(&Channel, &Agreement) -> Result<T, Error>,
) -> Result<T, Error> {
    let agreement = hello::exchange(&channel, role == Role::Sender, &Hello::new(role))?;
    let output = party(&channel, &agreement)?;
    channel.close()?;
    Ok(output)
}

/// Bytes on their way.
#[derive(Default)]
struct Pipe {
    state: Mutex<(VecDeque<u8>, bool)>,
    changed: Condvar,
}

impl Pipe {
    fn lock(&self) -> MutexGuard<'_, (VecDeque<u8>, bool)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// No more will come, and nobody will read more.
    fn end(&self) {
        self.lock().1 = true;
        self.changed.notify_all();
    }
}

struct Reader {
    pipe: Arc<Pipe>,
    tampered: Arc<AtomicBool>,
}

impl ReadHalf for Reader {
    fn read_by(&mut self, deadline: Instant, buffer: &mut [u8]) -> io::Result<usize> {
        let mut state = self.pipe.lock();
        let began = Instant::now();
        loop {
            let (bytes, ended) = &mut *state;
            if *ended || !bytes.is_empty() {
                return bytes.read(buffer);
            }
            let changed = self.tampered.load(Ordering::Relaxed);
            let until = if changed { deadline.min(began + STALLED) } else { deadline };
            let Some(left) = until.checked_duration_since(Instant::now()) else {
                return Err(ErrorKind::TimedOut.into());
            };
            // It may be changed while we wait.
            let waited = self.pipe.changed.wait_timeout(state, left.min(STALLED));
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        self.pipe.end();
    }
}

/// Collects frames, and changes them.
struct Tap {
    pipe: Arc<Pipe>,
    frame: Vec<u8>,
    number: usize,
    changes: Changes,
    tampered: Arc<AtomicBool>,
}

impl Write for Tap {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.frame.extend_from_slice(bytes);
        while let Some(len) = self.frame.first_chunk().map(|len| u32::from_le_bytes(*len)) {
            let len = 5 + len as usize;
            if self.frame.len() < len {
                break;
            }
            let honest: Vec<u8> = self.frame.drain(..len).collect();
            let mine = self.changes.iter().filter(|(at, _)| usize::from(at % 16) == self.number);
            let frame = changed(&honest, mine.map(|(_, change)| change));
            self.tampered.fetch_or(frame != honest, Ordering::Relaxed);
            self.number += 1;
            let mut state = self.pipe.lock();
            if state.1 {
                return Err(ErrorKind::BrokenPipe.into());
            }
            state.0.extend(frame);
            self.pipe.changed.notify_all();
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.pipe.end();
    }
}
