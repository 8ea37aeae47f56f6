//! TLS 1.3 under a channel: key exchange X25519MLKEM768 only, both sides known by their raw
//! Ed25519 keys (RFC 7250), no certificates, no resumption, no early data.

mod hybrid;
#[cfg(feature = "tokio-net")]
mod secure;
mod stream;
mod verify;

use core::fmt;
use std::sync::Arc;

use rustls::{
    ClientConfig, ClientConnection, Connection, ServerConfig, ServerConnection,
    client::{AlwaysResolvesClientRawPublicKeys, Resumption},
    crypto::{CryptoProvider, ring},
    pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName},
    server::AlwaysResolvesServerRawPublicKeys,
    sign::CertifiedKey,
    version::TLS13,
};

use crate::{
    Channel, Error, TlsError,
    hello::Binding,
    identity::{Fingerprint, Identity},
    tcp::Socket,
};
#[cfg(feature = "tokio-net")]
pub use secure::Secure;
use verify::Pins;

/// Label of the exporter that is bound into the session id (RFC 8446, section 7.5).
const EXPORTER_LABEL: &[u8] = b"EXPORTER-foxtrot v1";

/// Our identity, and the peers whose keys we accept.
#[derive(Debug)]
pub struct Tls {
    client: Arc<ClientConfig>,
    server: Arc<ServerConfig>,
    ours: Fingerprint,
}

/// A connection to a peer whose key is one of the expected.
pub struct Secured {
    /// The peer's key.
    pub peer: Fingerprint,
    /// Binding for the hello.
    pub binding: Binding,
    connection: Connection,
    socket: Socket,
}

impl Secured {
    /// The connection as a channel.
    ///
    /// # Errors
    /// [`Error::Channel`] if the system does not give a thread.
    pub fn channel(self) -> Result<Channel, Error> {
        stream::channel(self.connection, self.socket)
    }

    /// The connection as a stream of tokio's runtime.
    ///
    /// # Errors
    /// [`Error::Channel`].
    ///
    /// # Panics
    /// Outside of a runtime of tokio that has its I/O enabled.
    #[cfg(feature = "tokio-net")]
    pub fn stream(self) -> Result<Secure<tokio::net::TcpStream>, Error> {
        Ok(Secure::new(self.connection, self.socket.stream()?))
    }
}

impl fmt::Debug for Secured {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Secured").field("peer", &self.peer).finish_non_exhaustive()
    }
}

impl Tls {
    /// Makes the configuration with our identity, for peers with one of these keys.
    ///
    /// # Errors
    /// [`TlsError::Setup`].
    pub fn new(identity: &Identity, peers: &[Fingerprint]) -> Result<Self, Error> {
        let provider = Arc::new(CryptoProvider {
            kx_groups: vec![&hybrid::X25519MlKem768],
            ..ring::default_provider()
        });
        let pins = Arc::new(Pins::new(peers, &provider));
        let private = PrivatePkcs8KeyDer::from(identity.private.to_vec()).into();
        let private = provider.key_provider.load_private_key(private).map_err(setup)?;
        let public = CertificateDer::from(identity.public.to_vec());
        let key = Arc::new(CertifiedKey::new(vec![public], private));

        let mut client = ClientConfig::builder_with_provider(Arc::clone(&provider))
            .with_protocol_versions(&[&TLS13])
            .map_err(setup)?
            .dangerous()
            .with_custom_certificate_verifier(Arc::clone(&pins) as _)
            .with_client_cert_resolver(Arc::new(AlwaysResolvesClientRawPublicKeys::new(
                Arc::clone(&key),
            )));
        client.enable_sni = false;
        client.resumption = Resumption::disabled();
        let mut server = ServerConfig::builder_with_provider(provider)
            .with_protocol_versions(&[&TLS13])
            .map_err(setup)?
            .with_client_cert_verifier(Arc::clone(&pins) as _)
            .with_cert_resolver(Arc::new(AlwaysResolvesServerRawPublicKeys::new(key)));
        server.send_tls13_tickets = 0;
        Ok(Self {
            client: Arc::new(client),
            server: Arc::new(server),
            ours: identity.fingerprint(),
        })
    }

    /// Returns the configurations for a fuzz target, which has no socket. No part of the API.
    #[cfg(feature = "fuzzing")]
    #[doc(hidden)]
    #[must_use]
    pub fn configurations(&self) -> (Arc<ClientConfig>, Arc<ServerConfig>) {
        (Arc::clone(&self.client), Arc::clone(&self.server))
    }

    /// Secures a connection that we opened.
    ///
    /// # Errors
    /// [`TlsError`]; [`Error::Channel`].
    pub fn connect(&self, socket: Socket) -> Result<Secured, Error> {
        // Without certificates there is no name to check; it is not sent either.
        let name = ServerName::try_from("foxtrot").map_err(|_| TlsError::Setup("name".into()))?;
        let connection = ClientConnection::new(Arc::clone(&self.client), name).map_err(setup)?;
        self.secure(connection.into(), socket)
    }

    /// Secures a connection that the peer opened.
    ///
    /// # Errors
    /// [`TlsError`]; [`Error::Channel`].
    pub fn accept(&self, socket: Socket) -> Result<Secured, Error> {
        let connection = ServerConnection::new(Arc::clone(&self.server)).map_err(setup)?;
        self.secure(connection.into(), socket)
    }

    fn secure(&self, connection: Connection, socket: Socket) -> Result<Secured, Error> {
        let connection = stream::handshake(connection, &socket)?;
        let peer = connection
            .peer_certificates()
            .and_then(|keys| keys.first())
            .map(|key| Fingerprint::of(key))
            .ok_or(TlsError::NoKey)?;
        let exporter =
            connection.export_keying_material([0; 32], EXPORTER_LABEL, None).map_err(setup)?;
        let binding = Binding { ours: *self.ours.as_bytes(), peer: *peer.as_bytes(), exporter };
        Ok(Secured { peer, binding, connection, socket })
    }
}

fn setup(error: rustls::Error) -> TlsError {
    TlsError::Setup(error.to_string())
}

#[cfg(test)]
mod tests;
