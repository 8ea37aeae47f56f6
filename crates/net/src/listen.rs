//! Many connections side by side, none of which holds up the others.
//!
//! Every connection is handled on a thread of its own. Connections that have not been admitted yet
//! are few: when one more comes, the one that has waited longest is closed, but not before it
//! had its time to speak. So a crowd of connections that say nothing, or drip, keeps nobody out.

use core::time::Duration;
use std::{
    collections::VecDeque,
    net::{Shutdown, TcpStream},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
        mpsc,
    },
    thread::{self, JoinHandle},
    time::Instant,
};

use crate::{
    ChannelError, Error,
    deadline::lock,
    tcp::{Listener, Socket},
};

/// The time for which a connection may be silent before one that comes later can push it out.
pub const GRACE: Duration = Duration::from_secs(2);

/// The largest number of connections, and the memory that each takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Connections that have not been admitted; more push out the oldest. As many peers may come at once, and not
    /// have been heard where the processors have much to do.
    pub silent: usize,
    /// Connections that have been admitted. The handlers see to that; where they do not, more wait with the operating
    /// system.
    pub admitted: usize,
    /// Bytes of a handler's stack. The default is four times what base OTs, sets and messages pass their tests with where
    /// the compiler optimises.
    pub stack: usize,
    /// Results that are kept until somebody asks for them; further ones are only counted.
    pub kept: usize,
}

/// The time to wait, at the end, for handlers of connections that had been admitted.
const LEAVE: Duration = Duration::from_secs(5);

/// Pause between two looks whether to stop, or whether there is room again.
const PAUSE: Duration = Duration::from_millis(20);

/// Time of a look for a connection, after which a listener sees that it is to stop.
const LOOK: Duration = Duration::from_millis(4);

/// The results of the handlers of connections, as they end.
///
/// Dropping it ends the listening, closes the connections that have not been admitted, and waits for
/// their handlers: a caller that goes on with one connection has no other open. A peer that kept
/// one could tell by its end when, and so how, the run ended.
#[derive(Debug)]
pub struct Connections<T> {
    ended: mpsc::Receiver<Result<T, Error>>,
    listening: Option<JoinHandle<()>>,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    limits: Limits,
    stop: AtomicBool,
    /// Each connection that is open has a clone.
    open: Arc<()>,
    /// Results that nobody has asked for yet, and those that were not kept.
    kept: AtomicUsize,
    missed: AtomicUsize,
    silent: Mutex<Waiting>,
}

/// Ends the listening of [`Connections`] from another thread.
#[derive(Clone, Debug)]
pub struct Stopper(Arc<Shared>);

/// Marks a connection that has not been admitted yet; its handler drops it when it has.
#[derive(Debug)]
pub struct Silent {
    shared: Arc<Shared>,
    id: u64,
}

#[derive(Debug, Default)]
struct Waiting {
    next_id: u64,
    sockets: VecDeque<SilentSocket>,
}

#[derive(Debug)]
struct SilentSocket {
    id: u64,
    since: Instant,
    socket: TcpStream,
}

/// A mark of a connection that is open: until it is dropped, the connection counts among those that a listener may have.
#[derive(Debug)]
pub struct Open(#[expect(dead_code, reason = "its count is what counts")] Arc<()>);

/// Handles a connection.
type Handle = Arc<dyn Fn(Socket, Silent, Open) + Send + Sync>;

/// Accepts connections and has each handled on a thread of its own; the timeout is for every wait
/// on a connection.
///
/// # Errors
/// [`ChannelError::Io`] if the system does not give a thread.
pub fn serve<T, F>(
    listener: Listener,
    timeout: Duration,
    limits: Limits,
    handle: F,
) -> Result<Connections<T>, Error>
where
    T: Send + 'static,
    F: Fn(Socket, Silent) -> T + Send + Sync + 'static,
{
    let (sender, ended) = mpsc::channel();
    let shared = Arc::new(Shared { limits, ..Shared::default() });
    let for_results = Arc::clone(&shared);
    let tell = move |result| for_results.tell(&sender, result);
    let handle = move |socket, silent, _open: Open| handle(socket, silent);
    let listening = start_listening(listener, timeout, &shared, handle, tell)?;
    Ok(Connections { ended, listening: Some(listening), shared })
}

/// [`serve`] for handlers that pass their connections on, say to tasks of a runtime, each with the mark that it is [`Open`]. `failed`
/// hears why a connection could not be taken. The listening ends by the stopper, and soon after it the port is closed.
///
/// # Errors
/// [`ChannelError::Io`] if the system does not give a thread.
pub fn serve_by(
    listener: Listener,
    timeout: Duration,
    limits: Limits,
    handle: impl Fn(Socket, Silent, Open) + Send + Sync + 'static,
    failed: impl Fn(Error) + Send + Sync + 'static,
) -> Result<Stopper, Error> {
    let shared = Arc::new(Shared { limits, ..Shared::default() });
    let tell = move |handled: Result<(), Error>| handled.err().into_iter().for_each(&failed);
    start_listening(listener, timeout, &shared, handle, tell)?;
    Ok(Stopper(shared))
}

fn start_listening<T: Send + 'static>(
    listener: Listener,
    timeout: Duration,
    shared: &Arc<Shared>,
    handle: impl Fn(Socket, Silent, Open) -> T + Send + Sync + 'static,
    tell: impl Fn(Result<T, Error>) + Send + Sync + 'static,
) -> Result<JoinHandle<()>, Error> {
    let shared = Arc::clone(shared);
    let listening = thread::Builder::new().name("foxtrot-listener".into()).spawn(move || {
        let tell = Arc::new(tell);
        let for_handlers = Arc::clone(&tell);
        let handle: Handle =
            Arc::new(move |socket, silent, open| for_handlers(Ok(handle(socket, silent, open))));
        accept_all(&listener, timeout, &handle, &|error| tell(Err(error)), &shared);
    });
    listening.map_err(|e| ChannelError::io("start a thread", &e).into())
}

fn accept_all(
    listener: &Listener,
    timeout: Duration,
    handle: &Handle,
    failed: &dyn Fn(Error),
    shared: &Arc<Shared>,
) {
    while !shared.stop.load(Ordering::SeqCst) {
        if shared.is_full() {
            thread::sleep(PAUSE);
            continue;
        }
        let started = match listener.poll(LOOK, timeout) {
            Ok(None) => continue,
            Ok(Some(socket)) => start(socket, handle, shared),
            Err(e) => Err(e),
        };
        if let Err(e) = started {
            // Too many open files, say: what ends in the meantime makes room.
            thread::sleep(PAUSE);
            failed(e);
        }
    }
}

fn start(socket: Socket, handle: &Handle, shared: &Arc<Shared>) -> Result<(), Error> {
    let failed = |e: std::io::Error| ChannelError::io("take a connection", &e);
    let silence = Silent::begin(shared, socket.stream.try_clone().map_err(failed)?);
    let open = Open(Arc::clone(&shared.open));
    let handle = Arc::clone(handle);
    thread::Builder::new()
        .name("foxtrot-session".into())
        .stack_size(shared.limits.stack)
        .spawn(move || handle(socket, silence, open))
        .map_err(failed)?;
    Ok(())
}

impl<T> Connections<T> {
    /// The result of the next handler that ends, or why a connection could not be taken; `None`
    /// when none has ended by the deadline, or all have after [`Stopper::stop`].
    #[must_use]
    pub fn next_by(&self, deadline: Option<Instant>) -> Option<Result<T, Error>> {
        let ended = match deadline {
            None => self.ended.recv().ok(),
            Some(deadline) => {
                let left = deadline.saturating_duration_since(Instant::now());
                self.ended.recv_timeout(left).ok()
            }
        };
        self.shared.kept.fetch_sub(usize::from(ended.is_some()), Ordering::SeqCst);
        ended
    }

    /// Returns the number of connections so far.
    #[must_use]
    pub fn came(&self) -> usize {
        usize::try_from(lock(&self.shared.silent).next_id).unwrap_or(usize::MAX)
    }

    /// Returns the number of results that were not kept.
    #[must_use]
    pub fn missed(&self) -> usize {
        self.shared.missed.load(Ordering::SeqCst)
    }

    /// A handle that ends the listening.
    #[must_use]
    pub fn stopper(&self) -> Stopper {
        Stopper(Arc::clone(&self.shared))
    }
}

impl Stopper {
    /// Ends the listening, and closes the connections that have not been admitted: of a server, those that have not begun a job.
    /// Handlers of admitted ones run on to their end.
    pub fn stop(&self) {
        self.0.stop.store(true, Ordering::SeqCst);
        for silent in &lock(&self.0.silent).sockets {
            let _ = silent.socket.shutdown(Shutdown::Both);
        }
    }
}

impl<T> Drop for Connections<T> {
    fn drop(&mut self) {
        self.stopper().stop();
        if let Some(listening) = self.listening.take() {
            // At most a pause; that it panicked is not news.
            let _ = listening.join();
        }
        let deadline = Instant::now() + LEAVE;
        while self.shared.running() > 0 && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self { silent: 256, admitted: 256, stack: 1 << 20, kept: usize::MAX }
    }
}

impl Shared {
    /// The number of connections that are open.
    fn running(&self) -> usize {
        Arc::strong_count(&self.open) - 1
    }

    /// Hands over a result, if there is room.
    fn tell<T>(&self, ended: &mpsc::Sender<Result<T, Error>>, result: Result<T, Error>) {
        if self.kept.fetch_add(1, Ordering::SeqCst) < self.limits.kept {
            // The listener may be gone: it has the connection that it wanted.
            let _ = ended.send(result);
        } else {
            self.kept.fetch_sub(1, Ordering::SeqCst);
            self.missed.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Returns true if there is no room for one more, and nobody to be pushed out yet.
    fn is_full(&self) -> bool {
        let Limits { silent, admitted, .. } = self.limits;
        if self.running() >= silent + admitted {
            return true;
        }
        let waiting = lock(&self.silent);
        let oldest = waiting.sockets.front();
        waiting.sockets.len() >= silent && oldest.is_some_and(|o| o.since.elapsed() < GRACE)
    }
}

impl Silent {
    fn begin(shared: &Arc<Shared>, socket: TcpStream) -> Self {
        let mut waiting = lock(&shared.silent);
        if waiting.sockets.len() >= shared.limits.silent
            && let Some(oldest) = waiting.sockets.pop_front()
        {
            // Its handler reads the end of the connection.
            let _ = oldest.socket.shutdown(Shutdown::Both);
        }
        if shared.stop.load(Ordering::SeqCst) {
            // It came while the listening ended.
            let _ = socket.shutdown(Shutdown::Both);
        }
        let id = waiting.next_id;
        waiting.next_id += 1;
        waiting.sockets.push_back(SilentSocket { id, since: Instant::now(), socket });
        Self { shared: Arc::clone(shared), id }
    }
}

impl Drop for Silent {
    fn drop(&mut self) {
        lock(&self.shared.silent).sockets.retain(|socket| socket.id != self.id);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Write};

    use super::*;

    const LONG: Duration = Duration::from_secs(20);
    const LIMITS: Limits =
        Limits { silent: 256, admitted: 256, stack: 128 << 10, kept: usize::MAX };

    /// Tests with hundreds of connections have the files that a process may open for themselves.
    static MANY: Mutex<()> = Mutex::new(());

    fn with_many() -> std::sync::MutexGuard<'static, ()> {
        lock(&MANY)
    }

    /// A handler that greets by one byte and echoes it.
    fn echo(socket: Socket, silent: Silent) -> std::io::Result<u8> {
        let mut byte = [0];
        (&socket.stream).read_exact(&mut byte)?;
        drop(silent);
        (&socket.stream).write_all(&byte)?;
        Ok(byte[0])
    }

    fn greet(address: &str) -> std::io::Result<u8> {
        let mut socket = TcpStream::connect(address)?;
        socket.set_read_timeout(Some(LONG))?;
        socket.write_all(&[7])?;
        let mut byte = [0];
        socket.read_exact(&mut byte)?;
        Ok(byte[0])
    }

    #[test]
    fn a_crowd_of_silent_connections_keeps_nobody_out() {
        let _many = with_many();
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().to_string();
        let connections = serve(listener, LONG, LIMITS, echo).unwrap();
        let crowd: Vec<_> =
            (0..LIMITS.silent + 32).map(|_| TcpStream::connect(&address).unwrap()).collect();
        assert_eq!(greet(&address).unwrap(), 7);
        // Those that were pushed out end with an error, the honest one with its byte.
        let mut endings = Vec::new();
        while !endings.contains(&Some(7)) {
            let ended = connections.next_by(Some(Instant::now() + LONG)).unwrap().unwrap();
            endings.push(ended.ok());
        }
        drop(crowd);
    }

    /// Asserts that all peers are heard when that many connect at once and greet later.
    fn are_heard(peers: usize, later: Duration) {
        let _many = with_many();
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr();
        let _connections = serve(listener, LONG, LIMITS, echo).unwrap();
        thread::scope(|scope| {
            let greet_late = || {
                let mut socket = TcpStream::connect(address)?;
                socket.set_read_timeout(Some(LONG))?;
                thread::sleep(later);
                socket.write_all(&[7])?;
                socket.read_exact(&mut [0])
            };
            let all: Vec<_> = (0..peers).map(|_| scope.spawn(greet_late)).collect();
            assert!(all.into_iter().all(|one| one.join().unwrap().is_ok()));
        });
    }

    #[test]
    fn a_connection_that_is_passed_on_counts_once() {
        let _many = with_many();
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().to_string();
        // As many strangers say nothing as there may be, and one more peer may be admitted.
        let limits = Limits { silent: 8, admitted: 1, ..LIMITS };
        let handle = |socket, silent, open: Open| {
            thread::spawn(move || {
                let _open = open;
                echo(socket, silent)
            });
        };
        let stopper = serve_by(listener, LONG, limits, handle, |_| ()).unwrap();
        let crowd: Vec<_> =
            (0..limits.silent).map(|_| TcpStream::connect(&address).unwrap()).collect();
        assert_eq!(greet(&address).unwrap(), 7);
        stopper.stop();
        drop(crowd);
    }

    #[test]
    fn connections_that_come_together_have_time_to_speak() {
        are_heard(LIMITS.silent + 32, GRACE / 4);
    }

    /// The slow part may be the processor of either side.
    #[test]
    fn two_hundred_that_come_at_once_and_are_slow_are_heard() {
        are_heard(200, Duration::from_secs(1));
    }

    #[test]
    fn connections_are_handled_side_by_side() {
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().to_string();
        let connections = serve(listener, LONG, LIMITS, echo).unwrap();
        let slow = TcpStream::connect(&address).unwrap();
        for _ in 0..5 {
            assert_eq!(greet(&address).unwrap(), 7);
        }
        for _ in 0..5 {
            assert!(matches!(connections.next_by(None), Some(Ok(Ok(7)))));
        }
        (&slow).write_all(&[9]).unwrap();
        assert!(matches!(connections.next_by(None), Some(Ok(Ok(9)))));
    }

    #[test]
    fn a_listener_without_peers_waits_until_its_deadline() {
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let connections = serve(listener, LONG, LIMITS, echo).unwrap();
        let deadline = Instant::now() + Duration::from_millis(100);
        assert!(connections.next_by(Some(deadline)).is_none());
    }

    #[test]
    fn no_connection_is_left_when_the_listening_has_ended() {
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().to_string();
        let connections = serve(listener, LONG, LIMITS, echo).unwrap();
        let mut silent = TcpStream::connect(&address).unwrap();
        assert_eq!(greet(&address).unwrap(), 7);
        assert!(matches!(connections.next_by(None), Some(Ok(Ok(7)))));
        let shared = Arc::clone(&connections.shared);
        drop(connections);
        assert_eq!(shared.running(), 0);
        // Its end has come already; it does not wait for anything that is still to happen.
        silent.set_nonblocking(true).unwrap();
        assert!(
            !matches!(silent.read(&mut [0]), Err(e) if e.kind() == std::io::ErrorKind::WouldBlock)
        );
        assert!(TcpStream::connect(&address).is_err());
    }

    #[test]
    fn results_that_nobody_asks_for_are_counted_and_a_stop_ends_the_results() {
        let listener = Listener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().to_string();
        let limits = Limits { kept: 8, ..LIMITS };
        let connections = serve(listener, LONG, limits, echo).unwrap();
        for _ in 0..8 + 3 {
            assert_eq!(greet(&address).unwrap(), 7);
        }
        while connections.missed() < 3 {
            thread::sleep(PAUSE);
        }
        let _silent = TcpStream::connect(&address).unwrap();
        let stopper = connections.stopper();
        let stopping = thread::spawn(move || {
            thread::sleep(PAUSE);
            stopper.stop();
        });
        let mut kept = 0;
        while let Some(ended) = connections.next_by(None) {
            kept += usize::from(matches!(ended, Ok(Ok(7))));
        }
        assert!(kept == 8 && connections.missed() >= 3);
        stopping.join().unwrap();
    }
}
