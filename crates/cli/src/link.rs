//! A peer with which both sides have agreed what to do, and what the run with it costs.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use foxtrot::{
    Counters, Error, Peer,
    job::{Agreed, Hello, Job, Role},
    net::{ChannelError, HelloError},
};
use foxtrot_net::jobs;

use crate::{clock, failure::Failure, method::Method, workers::Workers};

/// A peer with which both sides have agreed on a job.
pub(crate) struct Link {
    pub(crate) peer: Peer,
    pub(crate) agreed: Agreed,
}

/// The part of a side between the hellos and the protocol, for fuzzing.
#[cfg(feature = "fuzzing")]
pub(crate) type Agree = Box<dyn Fn(&Link) -> Result<(), Failure> + Send + Sync>;

/// Terms on which both sides have to agree.
#[derive(Clone)]
pub(crate) struct Terms {
    pub(crate) job: &'static str,
    pub(crate) method: Method,
    pub(crate) n: usize,
    /// The number of keys or messages of which one is chosen.
    pub(crate) choices: usize,
    /// True if lines are hexadecimal, for messages.
    pub(crate) hex: Option<bool>,
}

/// Time that a run has taken so far.
struct Timer {
    wall: Instant,
    cpu: Duration,
    workers: Workers,
}

/// The cost of a run, for one party.
pub(crate) struct Cost {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
    pub(crate) counters: Counters,
    pub(crate) transport: &'static str,
    /// The hash of all that went over the channel, if both sides have compared it.
    pub(crate) transcript: Option<[u8; 32]>,
    timer: Timer,
}

impl Terms {
    pub(crate) fn hello(&self, role: Role) -> Hello {
        match self.hex {
            None => jobs::transfers(self.job, role, &self.method, self.n),
            Some(hex) => jobs::messages(role, &self.method, self.n, self.choices, hex),
        }
    }
}

impl Link {
    /// Exchanges hellos.
    pub(crate) fn greet(mut peer: Peer, hello: Hello) -> Result<Self, Error> {
        let (agreed, ()) = peer.negotiate::<_, Error>(hello, |_| Ok(((), 0)))?;
        Ok(Self { peer, agreed })
    }

    /// Runs the job to its end, on these threads, which have done nothing yet; then ends the connection.
    pub(crate) fn run<T>(
        self,
        workers: &Workers,
        job: impl FnOnce(Job<'_>) -> Result<T, Failure>,
    ) -> Result<(T, Cost), Failure> {
        let Self { mut peer, agreed } = self;
        if workers.threads() > 1 {
            peer.use_executor(Arc::new(workers.clone()));
        }
        let timer =
            Timer { wall: Instant::now(), cpu: clock::thread_cpu(), workers: workers.clone() };
        let done = job(peer.job(agreed))?;
        let (counters, transport) = (peer.counters(), transport(&peer));
        let transcript = peer.transcript();
        peer.close()?;
        let (wall, cpu) = (timer.wall.elapsed(), timer.cpu());
        Ok((done, Cost { wall, cpu, counters, transport, transcript, timer }))
    }

    /// Something failed on our side, which the peer gets to know.
    pub(crate) fn abandon(&self, failure: Failure) -> Failure {
        self.peer.give_up(ChannelError::Abandoned);
        failure
    }

    /// Ends the session because of what the peer said of itself, and tells the peer whether that cannot be.
    pub(crate) fn refuse(&self, failure: Failure) -> Failure {
        self.peer.give_up(HelloError::Refused(failure.reason()));
        failure
    }
}

/// The medium between the parties.
pub(crate) fn transport(peer: &Peer) -> &'static str {
    match (peer.fingerprint(), peer.address()) {
        (Some(_), _) => "tls",
        (None, Some(_)) => "tcp",
        // A device.
        (None, None) if peer.name().is_some() => "serial",
        (None, None) => "memory",
    }
}

impl Cost {
    /// The costs of sender and receiver, of which this is the one with that role.
    pub(crate) fn of(&self, role: Role) -> [Option<&Self>; 2] {
        match role {
            Role::Sender => [Some(self), None],
            Role::Receiver => [None, Some(self)],
        }
    }

    /// Adds the time up to now, for what was done after the end of the connection.
    pub(crate) fn until_now(self) -> Self {
        Self { wall: self.timer.wall.elapsed(), cpu: self.timer.cpu(), ..self }
    }
}

impl Timer {
    fn cpu(&self) -> Duration {
        clock::thread_cpu() - self.cpu + self.workers.busy()
    }
}
