//! A channel on which both sides have agreed what to do.

use std::time::Duration;

use foxtrot_net::{
    Channel, ChannelError, Counters, Error, HelloError,
    hello::{self, Agreement, Hello, Role},
    jobs,
};
use foxtrot_ot::Session;

use crate::{
    clock,
    failure::Failure,
    method::Method,
    secure::{Opened, Who},
    workers::Workers,
};

/// Connection, agreement and session.
pub(crate) struct Link {
    pub(crate) channel: Channel,
    pub(crate) agreement: Agreement,
    pub(crate) session: Session,
    pub(crate) transport: &'static str,
    /// The peer's address, and its key if it has one.
    pub(crate) peer: String,
    /// The peer's identity in its parts.
    pub(crate) who: Who,
}

/// Terms on which both sides have to agree.
#[derive(Clone)]
pub(crate) struct Terms {
    pub(crate) job: &'static str,
    pub(crate) method: Method,
    pub(crate) n: usize,
    /// Number of messages of which one is chosen, for messages.
    pub(crate) one_of: Option<usize>,
    /// True if lines are hexadecimal, for messages.
    pub(crate) hex: Option<bool>,
}

/// Time that a run has taken so far.
pub(crate) struct Timer<'a> {
    wall: std::time::Instant,
    cpu: Duration,
    workers: &'a Workers,
}

/// The cost of a run, for one party.
pub(crate) struct Cost {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
    pub(crate) counters: Counters,
    pub(crate) transport: &'static str,
    /// The hash of all that went over the channel, if both sides have compared it.
    pub(crate) transcript: Option<[u8; 32]>,
}

impl Terms {
    pub(crate) fn hello(&self, role: Role) -> Hello {
        match self.hex {
            None => jobs::transfers(self.job, role, &self.method, self.n),
            Some(hex) => jobs::messages(role, &self.method, self.n, self.choices(), hex),
        }
    }

    /// The number of messages of which one is chosen.
    pub(crate) fn choices(&self) -> usize {
        self.one_of.unwrap_or(2)
    }
}

impl Link {
    /// Exchanges hellos.
    pub(crate) fn greet(opened: Opened, initiator: bool, hello: &Hello) -> Result<Self, Error> {
        let agreement = hello::exchange(&opened.channel, initiator, &opened.bind(hello))?;
        Ok(Self::new(opened, agreement))
    }

    /// The link over that connection, whose sides have agreed.
    pub(crate) fn new(opened: Opened, agreement: Agreement) -> Self {
        let Opened { channel, transport, who, .. } = opened;
        let (session, peer) = (Session::new(agreement.sid), who.to_string());
        Self { channel, agreement, session, transport, peer, who }
    }

    /// Begins the run, on these threads, which have done nothing yet.
    pub(crate) fn start(self, workers: &Workers) -> (Self, Timer<'_>) {
        let session = workers.in_session(self.session);
        (Self { session, ..self }, Timer::start(workers))
    }

    /// Something failed on our side, which the peer gets to know.
    pub(crate) fn abandon(&self, failure: Failure) -> Failure {
        self.channel.give_up(ChannelError::Abandoned);
        failure
    }

    /// Ends the session because of what the peer said of itself, and tells the peer whether that cannot be.
    pub(crate) fn refuse(&self, failure: Failure) -> Failure {
        self.channel.give_up(HelloError::Refused(failure.reason()));
        failure
    }

    /// Both sides have received all and keep it, and it is what the other sent. The transcript of the session is known
    /// from then on.
    pub(crate) fn finish(&self) -> Result<(), Failure> {
        self.channel.finish().map(drop).map_err(Failure::from)
    }

    /// Ends the connection when everything has been sent and received.
    pub(crate) fn close(self, timer: &Timer<'_>) -> Result<Cost, Failure> {
        let (counters, transport) = (self.channel.counters(), self.transport);
        let transcript = self.channel.transcript();
        self.channel.close()?;
        let (wall, cpu) = (timer.wall.elapsed(), timer.cpu());
        Ok(Cost { wall, cpu, counters, transport, transcript })
    }
}

impl Cost {
    /// Adds the time up to now, for what was done after the end of the connection.
    pub(crate) fn until_now(self, timer: &Timer<'_>) -> Self {
        Self { wall: timer.wall.elapsed(), cpu: timer.cpu(), ..self }
    }
}

impl<'a> Timer<'a> {
    fn start(workers: &'a Workers) -> Self {
        Self { wall: std::time::Instant::now(), cpu: clock::thread_cpu(), workers }
    }

    fn cpu(&self) -> Duration {
        clock::thread_cpu() - self.cpu + self.workers.busy()
    }
}
