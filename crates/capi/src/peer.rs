//! Identities, configurations and peers.
#![forbid(unsafe_code)]

use std::{
    path::Path,
    sync::{Arc, Mutex, TryLockError},
    time::Duration,
};

use foxtrot::{Canceller, Fingerprint, Side, Stream as Opened, Threads};

use crate::{
    failure::{Failure, Result},
    raw::{Foreign, Half},
    types::{FINGERPRINT_SIZE, INITIATOR, RESPONDER},
};

/// A key by which peers know this side. It is erased when it is freed.
#[derive(Debug)]
pub struct Identity(foxtrot::Identity);

/// The settings of connections.
#[derive(Debug)]
pub struct Config(Mutex<foxtrot::Config>);

/// A port on which a peer is awaited.
#[derive(Debug)]
pub struct Listener {
    port: u16,
    /// The listener, or why there is none any more.
    listener: Mutex<Result<foxtrot::Listener>>,
}

/// A connection to the other party, on which jobs run one after another.
#[derive(Debug)]
pub struct Peer {
    pub(crate) place: Place,
    canceller: Canceller,
    fingerprint: Option<Fingerprint>,
}

/// The peer itself, or why it is not there: a stream has it, or it is closed.
pub(crate) type Place = Arc<Mutex<Result<foxtrot::Peer>>>;

/// Runs a call that nothing else may run beside. After one that panicked there is no other.
pub(crate) fn exclusively<T, R>(
    value: &Mutex<T>,
    call: impl FnOnce(&mut T) -> Result<R>,
) -> Result<R> {
    match value.try_lock() {
        Ok(mut value) => call(&mut value),
        Err(TryLockError::WouldBlock) => Err(Failure::caller("another call uses the handle")),
        Err(TryLockError::Poisoned(_)) => Err(Failure::panicked()),
    }
}

impl Identity {
    pub(crate) fn generate() -> Result<Self> {
        Ok(Self(foxtrot::Identity::generate()?))
    }

    pub(crate) fn from_pem(pem: &[u8]) -> Result<Self> {
        Ok(Self(foxtrot::Identity::from_pem(pem)?))
    }

    pub(crate) fn read(path: &str) -> Result<Self> {
        let failed = |e| Failure::caller(format!("cannot read {path}: {e}"));
        let pem = foxtrot::net::small::read(Path::new(path)).map_err(failed)?;
        is_ours_alone(Path::new(path)).map_err(failed)?;
        Self::from_pem(&pem)
    }

    pub(crate) fn fingerprint(&self) -> Fingerprint {
        self.0.fingerprint()
    }
}

/// Fails if other users can read a key, as the command does.
fn is_ours_alone(path: &Path) -> std::io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if std::fs::metadata(path)?.mode() & 0o077 != 0 {
            return Err(std::io::Error::other("other users can read the key; run chmod 600"));
        }
    }
    let _ = path;
    Ok(())
}

/// A fingerprint as a text of C; no text for no key.
pub(crate) fn text_of(fingerprint: Option<&Fingerprint>) -> [u8; FINGERPRINT_SIZE] {
    let mut text = [0; FINGERPRINT_SIZE];
    let written = fingerprint.map(ToString::to_string).unwrap_or_default();
    let len = written.len().min(FINGERPRINT_SIZE - 1);
    text[..len].copy_from_slice(&written.as_bytes()[..len]);
    text
}

impl Config {
    pub(crate) fn insecure() -> Self {
        Self(Mutex::new(foxtrot::Config::insecure()))
    }

    pub(crate) fn tls(identity: &Identity, peers: &[&str]) -> Result<Self> {
        let peers: Vec<Fingerprint> =
            peers.iter().map(|peer| peer.parse()).collect::<std::result::Result<_, _>>()?;
        Ok(Self(Mutex::new(foxtrot::Config::tls(&identity.0, &peers)?)))
    }

    /// Changes one setting.
    pub(crate) fn set(
        &self,
        change: impl FnOnce(foxtrot::Config) -> Result<foxtrot::Config>,
    ) -> Result {
        exclusively(&self.0, |config| {
            *config = change(config.clone())?;
            Ok(())
        })
    }

    pub(crate) fn set_threads(&self, n: usize) -> Result {
        let threads = Threads::new(n)?;
        self.set(|config| Ok(config.threads(&threads)))
    }

    fn get(&self) -> Result<foxtrot::Config> {
        exclusively(&self.0, |config| Ok(config.clone()))
    }

    pub(crate) fn connect(&self, address: &str) -> Result<Peer> {
        Ok(Peer::new(self.get()?.connect(address)?))
    }

    pub(crate) fn bind(&self, address: &str) -> Result<Listener> {
        let listener = self.get()?.bind(address)?;
        let port = listener.local_addr().port();
        Ok(Listener { port, listener: Mutex::new(Ok(listener)) })
    }

    /// A peer over descriptors that the caller has opened, of which these are copies.
    #[cfg(unix)]
    pub(crate) fn over_fds(
        &self,
        reader: std::os::fd::OwnedFd,
        writer: std::os::fd::OwnedFd,
        side: i32,
    ) -> Result<Peer> {
        use std::{
            fs::File,
            io::{Read, Write},
            net::TcpStream,
            os::{fd::OwnedFd, unix::fs::FileTypeExt},
        };
        let failed = |e| Failure::caller(format!("a file descriptor cannot be used: {e}"));
        let mut ends = Vec::new();
        // Writes to a socket by this type raise no SIGPIPE.
        let mut socket = |fd: &OwnedFd| -> std::io::Result<Option<TcpStream>> {
            let is_socket = File::from(fd.try_clone()?).metadata()?.file_type().is_socket();
            let Some(socket) = is_socket.then(|| fd.try_clone()).transpose()? else {
                return Ok(None);
            };
            let socket = TcpStream::from(socket);
            ends.push(socket.try_clone()?);
            Ok(Some(socket))
        };
        let (reads, writes) = (socket(&reader).map_err(failed)?, socket(&writer).map_err(failed)?);
        let reader: Box<dyn Read + Send> = match reads {
            Some(socket) => Box::new(socket),
            None => Box::new(File::from(reader)),
        };
        let writer: Box<dyn Write + Send> = match writes {
            Some(socket) => Box::new(socket),
            None => Box::new(File::from(writer)),
        };
        // A half that is shut down already, or has no such half, is as it should be.
        let closer = move |how| ends.iter().for_each(|socket| drop(socket.shutdown(how)));
        let stream = Opened::new(side_of(side)?).closer(closer);
        Ok(Peer::new(self.get()?.over(reader, writer, stream)?))
    }

    pub(crate) fn over_callbacks(&self, foreign: &Arc<Foreign>, side: i32) -> Result<Peer> {
        let closes = Arc::clone(foreign);
        let stream = Opened::new(side_of(side)?).closer(move |how| closes.close(how));
        let half = || Half(Arc::clone(foreign));
        Ok(Peer::new(self.get()?.over(half(), half(), stream)?))
    }
}

fn side_of(side: i32) -> Result<Side> {
    match side {
        INITIATOR => Ok(Side::Initiator),
        RESPONDER => Ok(Side::Responder),
        _ => Err(Failure::caller("side is neither FOXTROT_INITIATOR nor FOXTROT_RESPONDER")),
    }
}

impl Listener {
    pub(crate) fn port(&self) -> u16 {
        self.port
    }

    pub(crate) fn accept(&self) -> Result<Peer> {
        exclusively(&self.listener, |listener| {
            let accepted = take(listener, "the listener has accepted its peer")?;
            accepted.accept().map(Peer::new).map_err(|e| keep(listener, e))
        })
    }
}

impl Peer {
    pub(crate) fn new(peer: foxtrot::Peer) -> Self {
        let (canceller, fingerprint) = (peer.canceller(), peer.fingerprint().copied());
        Self { place: Arc::new(Mutex::new(Ok(peer))), canceller, fingerprint }
    }

    /// Runs a job, beside which there is no other.
    pub(crate) fn with<T>(
        &self,
        job: impl FnOnce(&mut foxtrot::Peer) -> std::result::Result<T, foxtrot::Error>,
    ) -> Result<T> {
        exclusively(&self.place, |peer| Ok(job(peer.as_mut().map_err(|why| why.clone())?)?))
    }

    /// Takes the peer away for a stream.
    pub(crate) fn take(&self) -> Result<foxtrot::Peer> {
        exclusively(&self.place, |peer| take(peer, "a stream of the peer is open"))
    }

    /// Ends the connection.
    pub(crate) fn close(&self) -> Result {
        exclusively(&self.place, |peer| {
            let closed = take(peer, "the peer is closed")?;
            closed.close().map_err(|e| keep(peer, e))
        })
    }

    pub(crate) fn canceller(&self) -> Canceller {
        self.canceller.clone()
    }

    pub(crate) fn cancel(&self) {
        self.canceller.cancel();
    }

    pub(crate) fn fingerprint(&self) -> Option<&Fingerprint> {
        self.fingerprint.as_ref()
    }
}

/// Takes a value away, and leaves what a later call is told; fails with what an earlier call has left.
fn take<T>(value: &mut Result<T>, why: &str) -> Result<T> {
    match std::mem::replace(value, Err(Failure::caller(why))) {
        Err(first) => {
            *value = Err(first.clone());
            Err(first)
        }
        taken => taken,
    }
}

/// Leaves a failure for later calls.
fn keep<T>(value: &mut Result<T>, error: foxtrot::Error) -> Failure {
    let failure = Failure::from(error);
    *value = Err(failure.clone());
    failure
}

/// A time of C.
pub(crate) fn milliseconds(n: u64) -> Duration {
    Duration::from_millis(n)
}
