//! Reaching the peer: connecting to it, or listening for it.

use std::{fmt::Display, net::ToSocketAddrs, path::Path, sync::Arc, time::Duration};

use foxtrot::{
    Daily,
    job::{Hello, Role},
    policy::Policy,
};

use crate::{
    args::{Common, Transport},
    failure::Failure,
    host::Host,
    link::Link,
    output::Output,
    policy::Under,
    secure::Security,
    serial,
};

/// A way to the peer: an address that exists, and the protection of the connection.
pub(crate) struct Way<'a> {
    address: Address<'a>,
    security: Security,
    /// The time to wait for the peer, if it is given.
    wait: Option<Duration>,
}

/// The time for which a connecting side tries, if no other is given.
const TRY: Duration = Duration::from_secs(30);

/// The time to wait behind a gateway, if no other is given.
const LONG: Duration = Duration::from_secs(600);

enum Address<'a> {
    Listen(&'a str),
    Connect(&'a str),
    Behind(&'a str),
    Serial(serial::Way<'a>),
}

impl<'a> Way<'a> {
    /// Finds out before anything is read, and anybody met, what is wrong with address or key.
    pub(crate) fn prepare(transport: &'a Transport) -> Result<Self, Failure> {
        Self::find(transport, None)
    }

    /// [`prepare`](Self::prepare) for a side with this role, perhaps under a policy.
    pub(crate) fn under(
        transport: &'a Transport,
        policy: Option<&Policy>,
        role: Role,
    ) -> Result<Self, Failure> {
        Self::find(transport, policy.map(|policy| Under { policy, role }))
    }

    fn find(transport: &'a Transport, under: Option<Under<'_>>) -> Result<Self, Failure> {
        let mut security = Security::new(transport, under)?;
        if let Some(route) = &transport.route {
            security.config = security.config.route(route);
        }
        let listen = transport.listen.as_ref().or(transport.websocket.as_ref());
        let address = match (listen, &transport.connect) {
            _ if transport.serial.is_some() => Address::Serial(serial::Way::prepare(transport)?),
            _ if transport.behind.is_some() => {
                let address = transport.behind.as_deref().unwrap_or_default();
                look_up(address)?;
                Address::Behind(address)
            }
            (Some(address), _) => {
                // Peers that come now would wait until the file is read: the port is given back.
                drop(security.config.bind(address)?);
                Address::Listen(address)
            }
            (None, Some(address)) => {
                look_up(address)?;
                Address::Connect(address)
            }
            (None, None) => return Err(Failure::usage("neither --listen nor --connect is given")),
        };
        Ok(Self { address, security, wait: transport.wait })
    }

    /// Meets the peer on a route of a shard, where there is a gateway.
    pub(crate) fn of_shard(mut self, route: Option<&str>, shard: &str) -> Self {
        if let Some(route) = route {
            self.security.config = self.security.config.route(&format!("{route}{shard}"));
        }
        self
    }

    /// Keeps base OTs for later sessions with the peer in this directory, if there is one.
    pub(crate) fn resuming(mut self, folder: Option<&Path>) -> Self {
        if let Some(folder) = folder {
            self.security.config = self.security.config.resume_base(folder);
        }
        self
    }

    /// Limits how many runs a peer may have in a day, and with how many keys.
    pub(crate) fn per_day(self, daily: Arc<Daily>) -> Self {
        let config = self.security.config.per_day(daily);
        Self { security: Security { config, ..self.security }, ..self }
    }

    /// A link to the one peer of this run.
    pub(crate) fn reach(
        self,
        common: &Common,
        hello: Hello,
        output: Output,
    ) -> Result<Link, Failure> {
        let security = self.security.within(common.timeout);
        let has_keys = !security.is_none();
        let link = match self.address {
            Address::Listen(address) => {
                Host { address, security, hello, output }.first_peer(self.wait)?
            }
            Address::Behind(address) => {
                output.detail(&format!("meeting the peer behind {address}; {}", security.words()));
                let config = security.config.clone().wait(self.wait.unwrap_or(LONG));
                let peer = config.connect_behind(address);
                peer.and_then(|peer| Link::greet(peer, hello)).map_err(|e| security.explain(e))?
            }
            Address::Connect(address) => {
                output.detail(&format!("connecting to {address}; {}", security.words()));
                let wait = self.wait.unwrap_or(TRY);
                let seconds = wait.as_secs();
                let not_yet = format!("no peer listens at {address} yet; trying for {seconds} s");
                let config = security.config.clone().wait(wait);
                let config = config.on_nobody(move || output.note(&not_yet));
                let peer = config.connect(address);
                peer.and_then(|peer| Link::greet(peer, hello)).map_err(|e| security.explain(e))?
            }
            Address::Serial(way) => {
                let wait = self.wait.unwrap_or(TRY);
                let peer = way.open(&security.config, wait, common.timeout, output)?;
                Link::greet(peer, hello)?
            }
        };
        let peer = format!("the peer is {}", link.peer);
        if has_keys {
            output.note(&peer);
        } else {
            output.detail(&peer);
        }
        output.detail(&format!("the session is {:?}", link.agreed.sid));
        Ok(link)
    }

    /// The settings of a server that listens.
    pub(crate) fn host(self, common: &Common, hello: Hello) -> Result<Host<'a>, Failure> {
        let Address::Listen(address) = self.address else {
            return Err(Failure::usage("--serve needs --listen or --websocket"));
        };
        let (security, output) = (self.security.within(common.timeout), Output::new(common));
        Ok(Host { address, security, hello, output })
    }
}

/// Checks that the host's name has an address.
fn look_up(address: &str) -> Result<(), Failure> {
    let failed = |why: &dyn Display| {
        Failure::run(format!("host of {address} not found: {why}"))
            .hint("--connect needs a host name or an IP address, and a port")
    };
    match address.to_socket_addrs() {
        Ok(mut found) => found.next().map(drop).ok_or_else(|| failed(&"it has no address")),
        Err(e) => Err(failed(&crate::failure::words(&e))),
    }
}
