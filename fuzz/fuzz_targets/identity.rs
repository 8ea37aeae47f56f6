//! Checks that a text that reads as a key or a fingerprint is written as such, the fingerprint in the same
//! characters. A peer that shows another key than its own gets no connection, whichever fingerprint was expected.
#![no_main]

use std::sync::{Arc, LazyLock};

use foxtrot_fuzz::{Change, changed};
use foxtrot_net::{
    identity::{Fingerprint, Identity},
    tls::Tls,
};
use libfuzzer_sys::{
    arbitrary::{self, Arbitrary},
    fuzz_target,
};
use rustls::{
    ClientConfig, ClientConnection, Connection, ServerConfig, ServerConnection,
    client::AlwaysResolvesClientRawPublicKeys,
    crypto::ring::{cipher_suite::TLS13_AES_128_GCM_SHA256, default_provider},
    pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName},
    server::AlwaysResolvesServerRawPublicKeys,
    sign::CertifiedKey,
};

#[derive(Arbitrary, Debug)]
enum Input {
    /// Changes to a file with a key, and to a fingerprint.
    Text(Vec<Change>),
    /// Changes to the key that the peer shows in its handshake with a server or a client, to which that key's
    /// fingerprint was also given.
    Shown { to_server: bool, expected: bool, changes: Vec<Change> },
}

/// PKCS#8 of an Ed25519 key, before its 32 bytes.
const PKCS8: [u8; 16] = [0x30, 46, 2, 1, 0, 0x30, 5, 6, 3, 0x2b, 0x65, 0x70, 4, 34, 4, 32];

/// A private key of zeros.
static PEM: LazyLock<String> = LazyLock::new(|| {
    let label = "PRIVATE KEY";
    let body = format!("MC4CAQAwBQYDK2VwBCIEI{}", "A".repeat(43));
    format!("-----BEGIN {label}-----\n{body}\n-----END {label}-----\n")
});

/// Identities of the peer and of this side.
static IDENTITIES: LazyLock<[Identity; 2]> =
    LazyLock::new(|| [Identity::from_pem(PEM.as_bytes()).unwrap(), Identity::generate().unwrap()]);

/// The encoding of the peer's public key.
static HONEST: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let private = PrivatePkcs8KeyDer::from([PKCS8.as_slice(), &[0; 32]].concat());
    let key = default_provider().key_provider.load_private_key(private.into()).unwrap();
    key.public_key().unwrap().to_vec()
});

static FINGERPRINT: LazyLock<String> = LazyLock::new(|| Fingerprint::from([5; 32]).to_string());

fuzz_target!(|input: Input| match input {
    Input::Text(changes) => read(&changes),
    Input::Shown { to_server, expected, changes } => {
        let shown = changed(&HONEST, &changes);
        let accepted = accepts(&shown, to_server, expected);
        assert_eq!(accepted, shown == *HONEST, "{shown:?}");
    }
});

fn read(changes: &[Change]) {
    let pem = changed(PEM.as_bytes(), changes);
    match Identity::from_pem(&pem) {
        Ok(identity) => {
            let again = Identity::from_pem(identity.to_pem().as_bytes()).unwrap();
            assert_eq!(again.fingerprint(), identity.fingerprint());
            assert_eq!(again.to_pem(), identity.to_pem());
        }
        Err(_) => assert_ne!(pem, PEM.as_bytes()),
    }
    let text = changed(FINGERPRINT.as_bytes(), changes);
    let text = String::from_utf8_lossy(&text);
    match text.parse::<Fingerprint>() {
        Ok(fingerprint) => assert_eq!(fingerprint.to_string(), text),
        Err(_) => assert_ne!(text, *FINGERPRINT),
    }
}

/// Returns true if our side ends its handshake with a peer that shows this key.
fn accepts(shown: &[u8], to_server: bool, expected: bool) -> bool {
    let [peer, ours] = &*IDENTITIES;
    let mut pins = vec![peer.fingerprint()];
    if expected {
        let sha256 = TLS13_AES_128_GCM_SHA256.tls13().unwrap().common.hash_provider;
        pins.push(Fingerprint::from(<[u8; 32]>::try_from(sha256.hash(shown).as_ref()).unwrap()));
    }
    let (client, server) = Tls::new(ours, &pins).unwrap().configurations();
    let (peers_client, peers_server) =
        Tls::new(peer, &[ours.fingerprint()]).unwrap().configurations();
    let private = PrivatePkcs8KeyDer::from([PKCS8.as_slice(), &[0; 32]].concat());
    let private = default_provider().key_provider.load_private_key(private.into()).unwrap();
    let key = Arc::new(CertifiedKey::new(vec![CertificateDer::from(shown.to_vec())], private));
    if to_server {
        let mut peer = ClientConfig::clone(&peers_client);
        peer.client_auth_cert_resolver = Arc::new(AlwaysResolvesClientRawPublicKeys::new(key));
        shake(ServerConnection::new(server).unwrap().into(), connect(peer.into()))
    } else {
        let mut peer = ServerConfig::clone(&peers_server);
        peer.cert_resolver = Arc::new(AlwaysResolvesServerRawPublicKeys::new(key));
        shake(connect(client), ServerConnection::new(peer.into()).unwrap().into())
    }
}

fn connect(config: Arc<ClientConfig>) -> Connection {
    ClientConnection::new(config, ServerName::try_from("foxtrot").unwrap()).unwrap().into()
}

fn shake(mut ours: Connection, mut peer: Connection) -> bool {
    // As long as one of the two has something to say.
    while ours.wants_write() || peer.wants_write() {
        let mut bytes = Vec::new();
        while peer.wants_write() {
            peer.write_tls(&mut bytes).unwrap();
        }
        let mut bytes = bytes.as_slice();
        while !bytes.is_empty() {
            ours.read_tls(&mut bytes).unwrap();
            if ours.process_new_packets().is_err() {
                return false;
            }
        }
        let mut bytes = Vec::new();
        while ours.wants_write() {
            ours.write_tls(&mut bytes).unwrap();
        }
        let mut bytes = bytes.as_slice();
        while !bytes.is_empty() {
            peer.read_tls(&mut bytes).unwrap();
            if peer.process_new_packets().is_err() {
                return false;
            }
        }
    }
    !ours.is_handshaking()
}
