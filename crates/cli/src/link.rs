//! A channel on which both sides have agreed what to do.

use std::time::Duration;

use foxtrot_net::{
    Channel, Counters, Error,
    hello::{self, Agreement, Hello, Role},
};
use foxtrot_ot::{Session, base::Info};

use crate::{clock, failure::Failure, secure::Opened};

/// Connection, agreement and session.
pub(crate) struct Link {
    pub(crate) channel: Channel,
    pub(crate) agreement: Agreement,
    pub(crate) session: Session,
    pub(crate) transport: &'static str,
    /// The peer's address, and its key if it has one.
    pub(crate) peer: String,
}

/// What both sides have to agree on.
#[derive(Clone)]
pub(crate) struct Terms {
    pub(crate) job: &'static str,
    pub(crate) base: &'static Info,
    pub(crate) extension: &'static str,
    pub(crate) n: usize,
    /// For messages: whether lines are hexadecimal.
    pub(crate) hex: Option<bool>,
}

/// Time that a run has taken so far.
pub(crate) struct Timer {
    wall: std::time::Instant,
    cpu: Duration,
}

/// What a run took, for one party.
pub(crate) struct Cost {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
    pub(crate) counters: Counters,
    pub(crate) transport: &'static str,
}

impl Terms {
    pub(crate) fn hello(&self, role: Role) -> Hello {
        let hello = Hello::new(role)
            .term("job", self.job)
            .term("base", self.base.name)
            .term("extension", self.extension)
            .term("adversary", self.base.adversary)
            .term("count", self.n);
        match self.hex {
            Some(hex) => hello.term("format", if hex { "hex" } else { "text" }),
            None => hello,
        }
    }
}

impl Link {
    /// Exchanges hellos.
    pub(crate) fn greet(opened: Opened, initiator: bool, hello: &Hello) -> Result<Self, Error> {
        let Opened { channel, transport, peer, binding } = opened;
        let agreement = match binding {
            Some(binding) => {
                hello::exchange(&channel, initiator, &hello.clone().bound_to(binding))?
            }
            None => hello::exchange(&channel, initiator, hello)?,
        };
        let session = Session::new(agreement.sid);
        Ok(Self { channel, agreement, session, transport, peer })
    }

    /// The namespace of a protocol in which the parties have the roles of the hello.
    pub(crate) fn sub(&self, protocol: &str, counter: usize) -> Session {
        self.session.sub(protocol, counter as u64, self.agreement.direction())
    }

    /// Ends the connection when everything has been sent and received.
    pub(crate) fn close(self, timer: &Timer) -> Result<Cost, Failure> {
        let (counters, transport) = (self.channel.counters(), self.transport);
        self.channel.close()?;
        let (wall, cpu) = (timer.wall.elapsed(), clock::thread_cpu() - timer.cpu);
        Ok(Cost { wall, cpu, counters, transport })
    }
}

impl Timer {
    pub(crate) fn start() -> Self {
        Self { wall: std::time::Instant::now(), cpu: clock::thread_cpu() }
    }
}
