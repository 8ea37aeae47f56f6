//! The protection of the connection to the peer.

use std::time::Duration;

use foxtrot::{Config, Error, Fingerprint, net};

use crate::{
    args::{Peer, Transport},
    failure::Failure,
    identity,
    output::say,
    peers::Known,
};

/// The protection of a connection, from its first byte on.
pub(crate) struct Security {
    pub(crate) config: Config,
    /// Our own key; `None` without protection.
    ours: Option<Fingerprint>,
}

impl Security {
    /// Makes the protection that the user wants.
    pub(crate) fn new(transport: &Transport) -> Result<Self, Failure> {
        // A serial line has a key of its own.
        if transport.insecure || transport.serial.is_some() {
            return Ok(Self { config: Config::insecure(), ours: None });
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
        let config = Config::tls(&identity, &peers)?;
        let named = peers.iter().filter_map(|key| Some((*key, known.name(key)?.to_string())));
        let config = named.fold(config, |config, (key, name)| config.name(key, &name));
        Ok(Self { config, ours: Some(ours) })
    }

    /// The protection of connections on which no wait for the peer is longer.
    pub(crate) fn within(self, timeout: Duration) -> Self {
        Self { config: self.config.timeout(timeout), ..self }
    }

    /// Returns true if peers have no keys.
    pub(crate) fn is_none(&self) -> bool {
        self.ours.is_none()
    }

    /// The error with what might help.
    pub(crate) fn explain(&self, error: Error) -> Failure {
        match (self.ours, &error) {
            (Some(ours), Error::Session(net::Error::Tls(net::TlsError::NotAccepted))) => {
                Failure::from(error).hint(format!("on the peer, add --peer {ours}"))
            }
            _ => error.into(),
        }
    }

    /// Describes our identity.
    pub(crate) fn words(&self) -> String {
        match self.ours {
            Some(ours) => format!("TLS; our key is {ours}"),
            None => "plain TCP, neither secret nor authenticated".into(),
        }
    }
}
