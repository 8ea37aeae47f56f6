//! A channel on which both sides have agreed what to do.

use std::time::Duration;

use foxtrot_net::{
    Channel, Counters,
    hello::{self, Agreement, Hello, Role},
    tcp,
};
use foxtrot_ot::{Session, base::Info};

use crate::{
    args::{Common, Transport},
    clock,
    failure::Failure,
    output::Output,
};

/// Connection, agreement and session.
pub(crate) struct Link {
    pub(crate) channel: Channel,
    pub(crate) agreement: Agreement,
    pub(crate) session: Session,
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
    /// Reaches the peer over the network.
    pub(crate) fn open(
        transport: &Transport,
        common: &Common,
        hello: &Hello,
        out: Output,
    ) -> Result<Self, Failure> {
        if !transport.insecure {
            return Err(Failure::usage("there is no encrypted transport yet")
                .hint("--insecure uses plain TCP: for loopback and tests only"));
        }
        let (channel, initiator) = match (&transport.listen, &transport.connect) {
            (Some(address), _) => {
                let listener = tcp::Listener::bind(address)?;
                out.listening_on(listener.local_addr());
                (listener.accept(common.timeout())?.open()?, false)
            }
            (None, Some(address)) => {
                out.detail(&format!("connecting to {address}"));
                (tcp::connect(address, common.timeout())?.open()?, true)
            }
            (None, None) => return Err(Failure::usage("neither --listen nor --connect is given")),
        };
        Self::greet(channel, initiator, hello)
    }

    /// Exchanges hellos.
    pub(crate) fn greet(channel: Channel, initiator: bool, hello: &Hello) -> Result<Self, Failure> {
        let agreement = hello::exchange(&channel, initiator, hello)?;
        let session = Session::new(agreement.sid);
        Ok(Self { channel, agreement, session })
    }

    /// The namespace of a protocol in which the parties have the roles of the hello.
    pub(crate) fn sub(&self, protocol: &str, counter: usize) -> Session {
        self.session.sub(protocol, counter as u64, self.agreement.direction())
    }

    /// Ends the connection when everything has been sent and received.
    pub(crate) fn close(self, timer: &Timer) -> Result<Cost, Failure> {
        let counters = self.channel.counters();
        self.channel.close()?;
        Ok(Cost { wall: timer.wall.elapsed(), cpu: clock::thread_cpu() - timer.cpu, counters })
    }
}

impl Timer {
    pub(crate) fn start() -> Self {
        Self { wall: std::time::Instant::now(), cpu: clock::thread_cpu() }
    }
}
