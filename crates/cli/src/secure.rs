//! The identity of the peer, and the protection of the connection to it.

use std::fmt;

use foxtrot_net::{
    Channel, Error, TlsError,
    hello::{Binding, Hello},
    identity::Fingerprint,
    line,
    tcp::Socket,
    tls::{self, Tls},
};

use crate::{
    args::{Name, Peer, Transport},
    failure::Failure,
    identity,
    output::say,
    peers::Known,
};

/// The protection of a connection, from its first byte on.
pub(crate) enum Security {
    /// TLS, with peers whose keys we know.
    Pinned {
        tls: Box<Tls>,
        /// Our own key.
        ours: Fingerprint,
        known: Known,
    },
    /// No protection.
    None,
}

/// A channel on which nothing has been said.
pub(crate) struct Opened {
    pub(crate) channel: Channel,
    pub(crate) transport: &'static str,
    pub(crate) who: Who,
    /// The key by which sessions of the peer are counted: its public key or, without one, its
    /// [`source`].
    pub(crate) counted_as: String,
    pub(crate) binding: Option<Binding>,
    /// The exporter of a serial line.
    pub(crate) exporter: Option<[u8; 32]>,
}

/// The identity of the peer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Who {
    /// Fingerprint of the peer's key, if it has one.
    pub(crate) fingerprint: Option<Fingerprint>,
    /// Our name for the key.
    pub(crate) name: Option<Name>,
    /// Address of the peer; `None` within a process.
    pub(crate) address: Option<String>,
}

impl Security {
    /// Makes the protection that the user wants.
    pub(crate) fn new(transport: &Transport) -> Result<Self, Failure> {
        // A serial line has a key of its own.
        if transport.insecure || transport.serial.is_some() {
            return Ok(Self::None);
        }
        let key = transport.identity.as_deref();
        let identity = identity::load(&identity::path(key)?)?;
        let ours = identity.fingerprint();
        if transport.peer.is_empty() {
            return Err(Failure::usage("--peer is missing").hint(format!(
                "pass the peer's fingerprint or name, or --insecure; the peer passes --peer {ours}"
            )));
        }
        let known = match Known::read(key) {
            // Names are only shown. A run with fingerprints alone does not need the file.
            Err(e) if transport.peer.iter().all(|peer| matches!(peer, Peer::Key(_))) => {
                say(&format!("warning: {}; names of peers are not shown", e.message()));
                Known::none(key)?
            }
            read => read?,
        };
        let peers = transport.peer.iter().map(|peer| known.resolve(peer));
        let peers = peers.collect::<Result<Vec<_>, _>>()?;
        Ok(Self::Pinned { tls: Box::new(Tls::new(&identity, &peers)?), ours, known })
    }

    pub(crate) fn connect(&self, socket: Socket) -> Result<Opened, Error> {
        self.open(socket, Tls::connect)
    }

    pub(crate) fn accept(&self, socket: Socket) -> Result<Opened, Error> {
        self.open(socket, Tls::accept)
    }

    fn open(
        &self,
        socket: Socket,
        secure: fn(&Tls, Socket) -> Result<tls::Secured, Error>,
    ) -> Result<Opened, Error> {
        let (address, source) = (Some(socket.peer_address()), socket.source());
        match self {
            Self::Pinned { tls, known, .. } => {
                let tls::Secured { channel, peer, binding } = secure(tls, socket)?;
                let (name, counted_as) = (known.name(&peer).cloned(), peer.to_string());
                let who = Who { fingerprint: Some(peer), name, address };
                let (transport, binding) = ("tls", Some(binding));
                Ok(Opened { channel, transport, who, counted_as, binding, exporter: None })
            }
            Self::None => Ok(Opened {
                channel: socket.open()?,
                transport: "tcp",
                who: Who { address, ..Who::default() },
                counted_as: source,
                binding: None,
                exporter: None,
            }),
        }
    }

    /// The error with what might help.
    pub(crate) fn explain(&self, error: Error) -> Failure {
        match (self, &error) {
            (Self::Pinned { ours, .. }, Error::Tls(TlsError::NotAccepted)) => {
                Failure::from(error).hint(format!("on the peer, add --peer {ours}"))
            }
            _ => error.into(),
        }
    }

    /// Describes our identity.
    pub(crate) fn words(&self) -> String {
        match self {
            Self::Pinned { ours, .. } => format!("TLS; our key is {ours}"),
            Self::None => "plain TCP, neither secret nor authenticated".into(),
        }
    }
}

impl Opened {
    /// The hello, bound to this connection.
    pub(crate) fn bind(&self, hello: &Hello) -> Hello {
        match (self.binding, self.exporter) {
            (Some(binding), _) => hello.clone().bound_to(binding),
            (None, Some(exporter)) => hello.clone().bound_by(exporter),
            (None, None) => hello.clone(),
        }
    }

    /// A channel within this process.
    pub(crate) fn in_memory(channel: Channel) -> Self {
        let who = Who::default();
        let counted_as = who.to_string();
        Self { channel, transport: "memory", who, counted_as, binding: None, exporter: None }
    }

    /// A channel over a serial line, whose other end has the same key.
    pub(crate) fn over_a_line(line: line::Secured, device: String) -> Self {
        let line::Secured { channel, exporter } = line;
        let who = Who { address: Some(device), ..Who::default() };
        let counted_as = who.to_string();
        Self {
            channel,
            transport: "serial",
            who,
            counted_as,
            binding: None,
            exporter: Some(exporter),
        }
    }
}

/// `acme (SHA256:…) at 192.0.2.1:7000`, as far as it is known.
impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.fingerprint, &self.name) {
            (Some(key), Some(name)) => write!(f, "{name} ({key}) at ")?,
            (Some(key), None) => write!(f, "{key} at ")?,
            _ => {}
        }
        f.write_str(self.address.as_deref().unwrap_or("this process"))
    }
}
