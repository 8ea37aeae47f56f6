//! Identities, connections, listeners and servers.

use std::{
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::Duration,
};

use foxtrot::{
    Canceller, Ended, Error, Fingerprint, Progress, Side, Stopper, Threads,
    net::{
        Reason,
        gateway::{self, MOST_NAME, is_name},
    },
    policy::Policy,
};
use pyo3::{prelude::*, types::PyDict};

use crate::{
    errors::{raised, usage},
    limits::Limits,
    run::{Tell, run},
};

/// Time between two looks at signals while a server waits.
const LOOK: Duration = Duration::from_millis(100);

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A key pair of ours.
#[pyclass(frozen, module = "foxtrot._core")]
pub(crate) struct Identity(foxtrot::Identity);

#[pymethods]
impl Identity {
    #[staticmethod]
    fn fresh() -> PyResult<Self> {
        foxtrot::Identity::generate().map(Self).map_err(usage)
    }

    #[staticmethod]
    fn of_pem(pem: &[u8]) -> PyResult<Self> {
        foxtrot::Identity::from_pem(pem).map(Self).map_err(usage)
    }

    fn pem(&self) -> Vec<u8> {
        self.0.to_pem().as_bytes().to_vec()
    }

    #[getter]
    fn fingerprint(&self) -> String {
        self.0.fingerprint().to_string()
    }

    fn __repr__(&self) -> String {
        format!("<foxtrot.Identity {}>", self.0.fingerprint())
    }
}

/// The settings of connections.
#[pyclass(frozen, module = "foxtrot._core")]
pub(crate) struct Config(foxtrot::Config);

/// A time in seconds; none for one that no clock can tell the end of.
fn seconds(name: &str, value: f64) -> PyResult<Duration> {
    Duration::try_from_secs_f64(value)
        .map_err(|_| usage(format_args!("{name} is a number of seconds, and not {value}")))
}

#[pymethods]
impl Config {
    #[new]
    #[expect(clippy::too_many_arguments, reason = "the settings of a connection")]
    #[pyo3(signature = (identity, peers, *, timeout, wait, session_timeout, application, threads, max_sessions, max_sessions_per_peer, max_memory, policy, limits, route))]
    fn new(
        identity: Option<&Identity>,
        peers: Vec<(String, Option<String>)>,
        timeout: f64,
        wait: Option<f64>,
        session_timeout: Option<f64>,
        application: Option<&str>,
        threads: usize,
        max_sessions: Option<usize>,
        max_sessions_per_peer: Option<usize>,
        max_memory: Option<u64>,
        policy: Option<&str>,
        limits: Option<&Limits>,
        route: Option<&str>,
    ) -> PyResult<Self> {
        let mut config = match identity {
            None => foxtrot::Config::insecure(),
            Some(identity) => {
                let read = |(text, _): &(String, _)| {
                    text.parse::<Fingerprint>().map_err(|e| usage(format_args!("{text:?}: {e}")))
                };
                let keys = peers.iter().map(read).collect::<PyResult<Vec<_>>>()?;
                let mut config =
                    foxtrot::Config::tls(&identity.0, &keys).map_err(|e| raised(&e))?;
                for (key, (_, name)) in keys.into_iter().zip(&peers) {
                    if let Some(name) = name {
                        config = config.name(key, name);
                    }
                }
                config
            }
        };
        config = config.timeout(seconds("timeout", timeout)?);
        if let Some(wait) = wait {
            config = config.wait(seconds("wait", wait)?);
        }
        if let Some(limit) = session_timeout {
            config = config.session_timeout(seconds("session_timeout", limit)?);
        }
        if let Some(application) = application {
            config = config.application(application);
        }
        if threads != 1 {
            config = config.threads(&Threads::new(threads).map_err(|e| raised(&e))?);
        }
        if let Some(sessions) = max_sessions {
            config = config.max_sessions(sessions);
        }
        if let Some(sessions) = max_sessions_per_peer {
            config = config.max_sessions_per_peer(sessions);
        }
        if let Some(bytes) = max_memory {
            config = config.max_memory(bytes);
        }
        if let Some(text) = policy {
            config = config.policy(&Policy::parse(text).map_err(usage)?);
        }
        if let Some(limits) = limits {
            config = config.per_day(limits.daily());
        }
        if let Some(route) = route {
            if !is_name(route) {
                return Err(usage(format_args!(
                    "a route has up to {MOST_NAME} letters, digits and ._:-, unlike {route:?}"
                )));
            }
            config = config.route(route);
        }
        Ok(Self(config))
    }
}

/// The connection to the other party, or why there is none.
enum Slot {
    Idle(Box<foxtrot::Peer>),
    Busy,
    Closed,
}

/// A connection to the other party.
#[pyclass(frozen, module = "foxtrot._core")]
pub(crate) struct Peer {
    slot: Mutex<Slot>,
    canceller: Canceller,
    progress: Arc<Mutex<Option<Progress>>>,
    /// True if the last call failed before its job, by a mistake of this program. The peer may wait for that job.
    is_mistaken: AtomicBool,
    address: Option<String>,
    name: Option<String>,
    fingerprint: Option<String>,
    has_connected: bool,
}

impl Peer {
    fn new(mut peer: foxtrot::Peer) -> Self {
        let progress = Arc::new(Mutex::new(None));
        let place = Arc::clone(&progress);
        peer.on_progress(move |it| *lock(&place) = Some(it));
        Self {
            canceller: peer.canceller(),
            progress,
            is_mistaken: AtomicBool::new(false),
            address: peer.address().map(str::to_owned),
            name: peer.name().map(str::to_owned),
            fingerprint: peer.fingerprint().map(ToString::to_string),
            has_connected: peer.side() == Side::Initiator,
            slot: Mutex::new(Slot::Idle(Box::new(peer))),
        }
    }

    fn take(&self) -> PyResult<Box<foxtrot::Peer>> {
        let mut slot = lock(&self.slot);
        match std::mem::replace(&mut *slot, Slot::Busy) {
            Slot::Idle(peer) => Ok(peer),
            Slot::Busy => Err(usage("another call uses this peer; a peer runs one job at a time")),
            Slot::Closed => {
                *slot = Slot::Closed;
                Err(usage("this peer is closed; connect again"))
            }
        }
    }

    /// Runs a job on this connection. An exception in between ends the connection.
    pub(crate) fn job<T: Send + 'static>(
        &self,
        py: Python<'_>,
        function: Option<&Bound<'_, PyAny>>,
        job: impl FnOnce(&mut foxtrot::Peer) -> Result<T, Error> + Send + 'static,
    ) -> PyResult<T> {
        let mut peer = self.take()?;
        self.is_mistaken.store(false, Ordering::SeqCst);
        *lock(&self.progress) = None;
        let tell = Tell { function, progress: &|| *lock(&self.progress) };
        let ran = run(
            py,
            &tell,
            || self.canceller.cancel(),
            move || {
                let result = job(&mut peer);
                (peer, result)
            },
        );
        match ran {
            Ok((peer, result)) => {
                *lock(&self.slot) = Slot::Idle(peer);
                result.map_err(|e| raised(&e))
            }
            Err(exception) => {
                *lock(&self.slot) = Slot::Closed;
                Err(exception)
            }
        }
    }
}

#[pymethods]
impl Peer {
    #[getter]
    fn address(&self) -> Option<&str> {
        self.address.as_deref()
    }

    #[getter]
    fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    #[getter]
    fn fingerprint(&self) -> Option<&str> {
        self.fingerprint.as_deref()
    }

    /// Returns true if this side connected, and the peer listened.
    #[getter]
    fn has_connected(&self) -> bool {
        self.has_connected
    }

    /// Ends the job that another thread runs, and the connection.
    fn cancel(&self, py: Python<'_>) {
        py.detach(|| self.canceller.cancel());
    }

    /// A call of this program failed before its job. Unless another job follows, the peer is told so in the end.
    fn mistaken(&self) {
        self.is_mistaken.store(true, Ordering::SeqCst);
    }

    /// Ends the connection in order.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        let slot = {
            let mut slot = lock(&self.slot);
            match &*slot {
                Slot::Busy => return Err(usage("another call uses this peer; cancel it first")),
                _ => std::mem::replace(&mut *slot, Slot::Closed),
            }
        };
        match slot {
            Slot::Idle(peer) if self.is_mistaken.load(Ordering::SeqCst) => {
                py.detach(|| refuse(peer));
                Ok(())
            }
            Slot::Idle(peer) => {
                let closed = run(py, &Tell::NOTHING, || self.canceller.cancel(), || peer.close());
                closed?.map_err(|e| raised(&e))
            }
            _ => Ok(()),
        }
    }

    /// Ends the connection at once: of a peer that waits for a job which a mistake prevents, within a second.
    fn abandon(&self, py: Python<'_>) {
        let slot = {
            let mut slot = lock(&self.slot);
            match &*slot {
                Slot::Busy => return,
                _ => std::mem::replace(&mut *slot, Slot::Closed),
            }
        };
        py.detach(|| match slot {
            Slot::Idle(peer) if self.is_mistaken.load(Ordering::SeqCst) => refuse(peer),
            slot => {
                self.canceller.cancel();
                drop(slot);
            }
        });
    }

    #[getter]
    fn is_closed(&self) -> bool {
        matches!(&*lock(&self.slot), Slot::Closed)
    }

    fn __repr__(&self) -> String {
        let known = [&self.name, &self.fingerprint, &self.address];
        let known: Vec<_> = known.into_iter().flatten().map(String::as_str).collect();
        let known = if known.is_empty() { "in this process".into() } else { known.join(" at ") };
        format!("<foxtrot.Peer {known}>")
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // The end of a connection may take a second, and the GIL is held here.
        if let Slot::Idle(peer) = std::mem::replace(&mut *lock(&self.slot), Slot::Closed) {
            let is_mistaken = self.is_mistaken.load(Ordering::SeqCst);
            let end = move || if is_mistaken { refuse(peer) } else { drop(peer) };
            let _ = thread::Builder::new().spawn(end);
        }
    }
}

/// Tells a peer that this side cannot use its own input.
fn refuse(mut peer: Box<foxtrot::Peer>) {
    peer.refuse(Reason::OwnInput);
}

/// An attempt to reach a peer, which another thread can end.
#[pyclass(frozen, module = "foxtrot._core")]
pub(crate) struct Attempt(foxtrot::Attempt);

#[pymethods]
impl Attempt {
    #[new]
    fn new() -> Self {
        Self(foxtrot::Attempt::default())
    }

    fn cancel(&self, py: Python<'_>) {
        py.detach(|| self.0.cancel());
    }
}

/// Connects to a peer that listens, or to the inner port of a gateway.
#[pyfunction]
#[pyo3(signature = (address, config, attempt, *, behind))]
pub(crate) fn connect(
    py: Python<'_>,
    address: String,
    config: &Config,
    attempt: &Attempt,
    behind: bool,
) -> PyResult<Peer> {
    let (ours, config) = (attempt.0.clone(), config.0.clone());
    let connected = run(
        py,
        &Tell::NOTHING,
        || attempt.0.cancel(),
        move || match behind {
            true => config.connect_behind_while(&address, &ours),
            false => config.connect_while(&address, &ours),
        },
    );
    connected?.map(Peer::new).map_err(|e| raised(&e))
}

/// Both parties in one process.
#[pyfunction]
pub(crate) fn pair(py: Python<'_>) -> (Peer, Peer) {
    let (ours, theirs) = py.detach(foxtrot::Peer::pair);
    (Peer::new(ours), Peer::new(theirs))
}

/// One port for many machines.
#[pyclass(frozen, module = "foxtrot._core")]
pub(crate) struct Gateway {
    gateway: Mutex<Option<gateway::Gateway>>,
    addresses: [String; 2],
}

#[pymethods]
impl Gateway {
    #[new]
    #[pyo3(signature = (outside, inside, *, wait, routes))]
    fn new(
        py: Python<'_>,
        outside: &str,
        inside: &str,
        wait: f64,
        routes: usize,
    ) -> PyResult<Self> {
        let limits = gateway::Limits::of(routes, seconds("wait", wait)?);
        let open = || gateway::Gateway::open(outside, inside, limits, |_| ());
        let gateway = py.detach(open).map_err(|e| raised(&e.into()))?;
        let addresses = [gateway.outside(), gateway.inside()].map(|it| it.to_string());
        Ok(Self { gateway: Mutex::new(Some(gateway)), addresses })
    }

    #[getter]
    fn outside(&self) -> &str {
        &self.addresses[0]
    }

    #[getter]
    fn inside(&self) -> &str {
        &self.addresses[1]
    }

    /// Closes both ports.
    fn close(&self, py: Python<'_>) {
        py.detach(|| drop(lock(&self.gateway).take()));
    }
}

/// A port on which peers are awaited.
#[pyclass(frozen, module = "foxtrot._core")]
pub(crate) struct Listener {
    listener: Mutex<Option<foxtrot::Listener>>,
    address: String,
}

impl Listener {
    fn take(&self) -> PyResult<foxtrot::Listener> {
        let taken = lock(&self.listener).take();
        taken.ok_or_else(|| usage("this listener has met its peer, or is closed; listen again"))
    }
}

#[pymethods]
impl Listener {
    #[new]
    fn new(py: Python<'_>, address: String, config: &Config) -> PyResult<Self> {
        let config = config.0.clone();
        let bound = run(py, &Tell::NOTHING, || (), move || config.bind(&address))?;
        let listener = bound.map_err(|e| raised(&e))?;
        let address = listener.local_addr().to_string();
        Ok(Self { listener: Mutex::new(Some(listener)), address })
    }

    #[getter]
    fn address(&self) -> &str {
        &self.address
    }

    fn accept(&self, py: Python<'_>, attempt: &Attempt) -> PyResult<Peer> {
        let (ours, listener) = (attempt.0.clone(), self.take()?);
        let accepted =
            run(py, &Tell::NOTHING, || attempt.0.cancel(), move || listener.accept_while(&ours));
        accepted?.map(Peer::new).map_err(|e| raised(&e))
    }

    fn serve(&self, handler: Py<PyAny>) -> PyResult<Server> {
        let session = move |peer| {
            Python::attach(|py| {
                let peer = Py::new(py, Peer::new(peer))?;
                let answered = handler.call1(py, (&peer,)).map(drop);
                let closed = match &answered {
                    Ok(()) => peer.get().close(py),
                    Err(_) => {
                        peer.get().abandon(py);
                        Ok(())
                    }
                };
                answered.and(closed)
            })
            .map_err(|raised: PyErr| Error::Sink(Arc::new(raised)))
        };
        let server = self.take()?.serve_each(session).map_err(|e| raised(&e))?;
        let stopper = server.stopper();
        Ok(Server {
            server: Mutex::new(Some(server)),
            stopper,
            is_stopped: AtomicBool::new(false),
            address: self.address.clone(),
        })
    }

    fn close(&self) {
        *lock(&self.listener) = None;
    }
}

/// Sessions with all peers that come, on threads of their own.
#[pyclass(frozen, module = "foxtrot._core")]
pub(crate) struct Server {
    server: Mutex<Option<foxtrot::Server>>,
    stopper: Stopper,
    is_stopped: AtomicBool,
    address: String,
}

#[pymethods]
impl Server {
    #[getter]
    fn address(&self) -> &str {
        &self.address
    }

    /// Ends the listening; sessions run on to their end.
    fn stop(&self, py: Python<'_>) {
        self.is_stopped.store(true, Ordering::SeqCst);
        py.detach(|| self.stopper.stop());
    }

    /// The next session that has ended; `None` after so many seconds, or when the server was stopped and all sessions
    /// have ended.
    fn next<'py>(
        &self,
        py: Python<'py>,
        within: Option<f64>,
    ) -> PyResult<Option<Bound<'py, PyDict>>> {
        let within = within.map(|it| seconds("within", it)).transpose()?;
        let began = std::time::Instant::now();
        let Some(mut server) = lock(&self.server).take() else {
            return Err(usage("this server is closed, or another thread waits for it"));
        };
        let ended = loop {
            let left = within.map_or(LOOK, |it| it.saturating_sub(began.elapsed()).min(LOOK));
            let ended;
            (server, ended) = py.detach(move || {
                let ended = server.next_within(left);
                (server, ended)
            });
            if let Some(ended) = ended {
                break Ok(Some(ended));
            }
            if let Err(raised) = py.check_signals() {
                break Err(raised);
            }
            if within.is_some_and(|it| began.elapsed() >= it) {
                break Ok(None);
            }
            if within.is_none() && self.is_stopped.load(Ordering::SeqCst) {
                let last;
                (server, last) = run(
                    py,
                    &Tell::NOTHING,
                    || (),
                    move || {
                        let last = server.next();
                        (server, last)
                    },
                )?;
                break Ok(last);
            }
        };
        *lock(&self.server) = Some(server);
        ended?.map(|ended| told(py, &ended)).transpose()
    }

    /// Ends the listening, and waits up to five seconds for sessions.
    fn close(&self, py: Python<'_>) {
        let server = lock(&self.server).take();
        py.detach(move || drop(server));
    }

    fn __repr__(&self) -> String {
        format!("<foxtrot.Server on {}>", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Sessions need the GIL, which is held here.
        if let Some(server) = lock(&self.server).take() {
            let _ = thread::Builder::new().spawn(move || drop(server));
        }
    }
}

fn told<'py>(py: Python<'py>, ended: &Ended) -> PyResult<Bound<'py, PyDict>> {
    let dict = PyDict::new(py);
    dict.set_item("peer", &ended.peer)?;
    dict.set_item("fingerprint", ended.fingerprint.map(|it| it.to_string()))?;
    let error = ended.result.as_ref().err().map(|e| raised(e).into_value(py));
    dict.set_item("error", error)?;
    Ok(dict)
}
