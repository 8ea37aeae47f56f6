//! Reaching the peer: connecting to it, or listening for it.

use std::{fmt::Display, net::ToSocketAddrs, time::Duration};

use foxtrot::{
    Config,
    job::{Agreement, Hello},
};
use serde_json::{Map, Value};

use crate::{
    args::{Common, Transport},
    failure::Failure,
    host::Host,
    link::{Counted, Link, Unmet, uncounted},
    output::Output,
    policy::Under,
    record::{Entry, Recorder},
    secure::Security,
    serial,
};

/// A way to the peer: an address that exists, and the protection of the connection.
pub(crate) struct Way<'a> {
    address: Address<'a>,
    security: Security,
    wait: Option<Duration>,
    counted: Counted,
}

/// The time for which a connecting side tries, if no other is given.
const TRY: Duration = Duration::from_secs(30);

/// The time to wait behind a gateway, if no other is given.
const LONG: Duration = Duration::from_secs(600);

enum Address<'a> {
    Listen(&'a str),
    /// The peer, or a gateway behind which it is met.
    Connect {
        address: &'a str,
        is_gateway: bool,
    },
    Serial(serial::Way<'a>),
}

impl<'a> Way<'a> {
    /// Finds out before anything is read, and anybody met, what is wrong with address or key.
    pub(crate) fn prepare(
        transport: &'a Transport,
        under: Option<Under<'_>>,
    ) -> Result<Self, Failure> {
        let mut security = Security::new(transport, under)?;
        if let Some(route) = &transport.route {
            security.config = security.config.route(route);
        }
        let is_gateway = transport.behind.is_some();
        let address = if transport.serial.is_some() {
            Address::Serial(serial::Way::prepare(transport)?)
        } else if let Some(address) = transport.listen.as_ref().or(transport.websocket.as_ref()) {
            // Peers that come now would wait until the file is read: the port is given back.
            drop(security.config.bind(address)?);
            Address::Listen(address)
        } else if let Some(address) = transport.connect.as_ref().or(transport.behind.as_ref()) {
            look_up(address)?;
            Address::Connect { address, is_gateway }
        } else {
            return Err(Failure::usage("neither --listen nor --connect is given"));
        };
        Ok(Self { address, security, wait: transport.wait, counted: uncounted() })
    }

    /// Changes the configuration of connections.
    pub(crate) fn with(mut self, change: impl FnOnce(Config) -> Config) -> Self {
        self.security.config = change(self.security.config);
        self
    }

    /// Counts the keys that a peer can test against its limits per day.
    pub(crate) fn counting(self, counted: Counted) -> Self {
        Self { counted, ..self }
    }

    /// Negotiates with the peer. That the run begins is on record, with these fields more, before the peer learns anything of
    /// our set.
    pub(crate) fn reach(
        self,
        common: &Common,
        hello: Hello,
        output: Output,
        entry: &mut Entry,
        more: impl Fn(Option<&Agreement>) -> Map<String, Value> + Send + Sync + 'static,
    ) -> Result<Link, Failure> {
        let (security, counted) = (self.security.within(common.timeout), self.counted);
        let begins = &entry.begins(more);
        let write = |peer: &_, met: Option<&_>| begins.with(peer, met);
        let unmet = |e, security: &Security| match e {
            Unmet::Apart(e) => security.explain(e),
            Unmet::Here(e) => e,
        };
        let has_keys = security.ours.is_some();
        let link = match self.address {
            Address::Listen(address) => {
                let audit = begins.audit().cloned();
                let host = Host { address, security, hello, counted, output, audit };
                host.first_peer(self.wait, begins)?
            }
            Address::Connect { address, is_gateway } => {
                let (doing, usual) = if is_gateway {
                    ("meeting the peer behind", LONG)
                } else {
                    ("connecting to", TRY)
                };
                output.detail(&format!("{doing} {address}; {}", security.words()));
                let wait = self.wait.unwrap_or(usual);
                let seconds = wait.as_secs();
                let not_yet = format!("no peer listens at {address} yet; trying for {seconds} s");
                let config = security.config.clone().wait(wait);
                let peer = match is_gateway {
                    true => config.connect_behind(address),
                    false => config.on_nobody(move || output.note(&not_yet)).connect(address),
                };
                let peer = peer.map_err(Unmet::from);
                let link = peer.and_then(|peer| Link::begin(peer, hello, &counted, write));
                link.map_err(|e| unmet(e, &security))?
            }
            Address::Serial(way) => {
                let wait = self.wait.unwrap_or(TRY);
                let peer = way.open(&security.config, wait, common.timeout, output)?;
                let link = Link::begin(peer, hello, &counted, write);
                link.map_err(|e| unmet(e, &security))?
            }
        };
        let peer = format!("the peer is {}", link.peer);
        if has_keys {
            output.note(&peer);
        } else {
            output.detail(&peer);
        }
        output.detail(&format!("the session is {:?}", link.agreed.sid));
        entry.met(link.peer.who(), &link.agreed);
        Ok(link)
    }

    /// Prepares a server, whose sessions and refused peers this recorder writes down.
    pub(crate) fn host(
        self,
        common: &Common,
        hello: Hello,
        recorder: &Recorder,
    ) -> Result<Host<'a>, Failure> {
        let Address::Listen(address) = self.address else {
            return Err(Failure::usage("--serve needs --listen or --websocket"));
        };
        let (security, output) = (self.security.within(common.timeout), Output::new(common));
        let audit = recorder.audit().cloned();
        Ok(Host { address, security, hello, counted: self.counted, output, audit })
    }
}

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
