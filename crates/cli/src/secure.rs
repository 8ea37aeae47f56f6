//! The protection of the connection to the peer.

use std::time::Duration;

use foxtrot::{Config, Error, Fingerprint, net};

use crate::{
    args::{Peer, Transport},
    browsers::{self, Invitation},
    failure::Failure,
    identity,
    output::say,
    peers::Known,
    policy::Under,
};

/// The protection of a connection, from its first byte on.
pub(crate) struct Security {
    pub(crate) config: Config,
    /// Our own key; `None` without protection.
    pub(crate) ours: Option<Fingerprint>,
    pub(crate) invitation: Option<Invitation>,
}

impl Security {
    /// Makes the protection that the user wants, and that the policy allows.
    pub(crate) fn new(transport: &Transport, under: Option<Under<'_>>) -> Result<Self, Failure> {
        let security = Self::with_keys(transport, under)?;
        let Some(Under { policy, role }) = under else { return Ok(security) };
        policy.check_key(role, security.ours.as_ref())?;
        Ok(Self { config: security.config.policy(policy), ..security })
    }

    fn with_keys(transport: &Transport, under: Option<Under<'_>>) -> Result<Self, Failure> {
        let allowed = |key: Option<&Fingerprint>| {
            under.map_or(Ok(()), |it| it.policy.check_key(it.role.other(), key))
        };
        // A serial line has a key of its own.
        if transport.insecure || transport.serial.is_some() {
            allowed(None)?;
            return Ok(Self { config: Config::insecure(), ours: None, invitation: None });
        }
        if transport.websocket.is_some() {
            allowed(None)?;
            let (config, invitation) = browsers::config(transport)?;
            return Ok(Self { config, ours: None, invitation: Some(invitation) });
        }
        let key = transport.identity.as_deref();
        let identity = identity::load(&identity::path(key)?)?;
        let ours = identity.fingerprint();
        let of_policy = under.map_or(&[][..], |it| it.policy.peers(it.role.other()));
        if transport.peer.is_empty() && of_policy.is_empty() {
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
        let mut peers = peers.collect::<Result<Vec<_>, _>>()?;
        peers.iter().try_for_each(|key| allowed(Some(key)))?;
        if peers.is_empty() {
            peers = of_policy.to_vec();
        }
        let config = Config::tls(&identity, &peers)?;
        let named = peers.iter().filter_map(|key| Some((*key, known.name(key)?.to_string())));
        let config = named.fold(config, |config, (key, name)| config.name(key, &name));
        Ok(Self { config, ours: Some(ours), invitation: None })
    }

    /// The protection of connections on which no wait for the peer is longer.
    pub(crate) fn within(self, timeout: Duration) -> Self {
        Self { config: self.config.timeout(timeout), ..self }
    }

    pub(crate) fn explain(&self, error: Error) -> Failure {
        match (self.ours, &error) {
            (Some(ours), Error::Session(net::Error::Tls(net::TlsError::NotAccepted))) => {
                Failure::from(error).hint(format!("on the peer, add --peer {ours}"))
            }
            _ => error.into(),
        }
    }

    pub(crate) fn words(&self) -> String {
        match self.ours {
            Some(ours) => format!("TLS; our key is {ours}"),
            None if self.invitation.is_some() => {
                "WebSocket, authenticated by a token; a proxy's TLS keeps it secret".into()
            }
            None => "plain TCP, neither secret nor authenticated".into(),
        }
    }
}
