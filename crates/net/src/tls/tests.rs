#[cfg(feature = "tokio-net")]
mod secure;

use core::time::Duration;
use std::{io::Write, net::TcpStream, thread, time::Instant};

use super::*;
use crate::{
    ChannelError, HelloError, Lane,
    channel::ReadHalf,
    hello::{self, Agreement, Hello, Role},
    tcp::{Listener, connect},
};

const LONG: Duration = Duration::from_secs(20);
const AT_ONCE: Duration = Duration::from_secs(8);
const LANE: Lane = Lane::PROTOCOL;

fn sockets() -> (Socket, Socket) {
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().to_string();
    let client = thread::spawn(move || connect(&address, LONG));
    (listener.accept(LONG).unwrap(), client.join().unwrap().unwrap())
}

/// Server and client, each expecting the key of one of three.
fn meet(expected_by_server: usize, expected_by_client: usize) -> [Result<Secured, Error>; 2] {
    let identities: Vec<_> = (0..3).map(|_| Identity::generate().unwrap()).collect();
    let tls = |own: usize, peer: usize| {
        Tls::new(&identities[own], &[identities[peer].fingerprint()]).unwrap()
    };
    let (server, client) = (tls(0, expected_by_server), tls(1, expected_by_client));
    let (accepted, connected) = sockets();
    thread::scope(|scope| {
        let client = scope.spawn(move || client.connect(connected));
        [server.accept(accepted), client.join().unwrap()]
    })
}

fn secured() -> [Secured; 2] {
    meet(1, 0).map(Result::unwrap)
}

fn channels() -> [Channel; 2] {
    secured().map(|side| side.channel().unwrap())
}

/// Exchanges hellos over the connection.
fn greet(side: Secured, initiator: bool) -> Result<Agreement, Error> {
    let role = if initiator { Role::Sender } else { Role::Receiver };
    let hello = Hello::new(role).bound_to(side.binding);
    hello::exchange(&side.channel()?, initiator, &hello)
}

#[test]
fn both_sides_know_each_other_and_the_session() {
    let [server, client] = secured();
    assert_eq!(server.binding.exporter, client.binding.exporter);
    assert_eq!(
        (server.binding.ours, server.binding.peer),
        (client.binding.peer, client.binding.ours)
    );
    assert_ne!(secured()[0].binding.exporter, server.binding.exporter);
    let [a, b] = thread::scope(|scope| {
        let client = scope.spawn(|| greet(client, true));
        [greet(server, false).unwrap(), client.join().unwrap().unwrap()]
    });
    assert_eq!(a.sid, b.sid);
}

#[test]
fn both_sides_may_send_8_mib_before_they_read() {
    const LEN: usize = 8 << 20;
    let [server, client] = channels();
    server.send(LANE, vec![1; LEN]).unwrap();
    client.send(LANE, vec![2; LEN]).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(server.recv(LANE, LEN).unwrap(), vec![2; LEN]));
        assert_eq!(client.recv(LANE, LEN).unwrap(), vec![1; LEN]);
    });
    // The other side reads the end after the last message.
    server.send(LANE, vec![3]).unwrap();
    server.close().unwrap();
    assert_eq!(client.recv(LANE, 1).unwrap(), [3]);
    assert_eq!(client.recv(LANE, 1), Err(ChannelError::ClosedReceiving.into()));
}

#[test]
fn a_connection_that_ends_where_a_message_is_due_is_an_error() {
    let [server, client] = channels();
    let error = thread::scope(|scope| {
        let waiting = scope.spawn(|| client.recv(LANE, 1));
        drop(server);
        waiting.join().unwrap().unwrap_err()
    });
    assert_eq!(error, ChannelError::ClosedReceiving.into());
}

#[test]
fn a_rejected_client_key_is_reported_to_the_client() {
    let [server, client] = meet(2, 0);
    assert!(matches!(server, Err(Error::Tls(TlsError::NotExpected { .. }))), "{server:?}");
    // The client's handshake is over before the server has seen its key.
    let error = greet(client.unwrap(), true).unwrap_err();
    assert_eq!(error.to_string(), "the peer does not accept this identity");
}

#[test]
fn a_rejected_key_is_reported_when_a_write_fails() {
    let identities = [(); 2].map(|()| Identity::generate().unwrap());
    let [server, client] = &identities.each_ref().map(|own| {
        let expected = identities[0].fingerprint();
        Tls::new(own, &[expected]).unwrap()
    });
    let (accepted, connected) = sockets();
    thread::scope(|scope| {
        // It expects its own key, so not the client's.
        scope.spawn(move || server.accept(accepted).unwrap_err());
        let name = ServerName::try_from("foxtrot").unwrap();
        let connection = ClientConnection::new(Arc::clone(&client.client), name).unwrap();
        let connection = stream::handshake(connection.into(), &connected).unwrap();
        let (mut reader, mut writer) = stream::halves(connection, connected);
        let told = Some(TlsError::NotAccepted);
        assert_eq!(
            TlsError::within(&reader.read_by(Instant::now() + LONG, &mut [0]).unwrap_err()),
            told
        );
        assert_eq!(TlsError::within(&writer.write(&[0]).unwrap_err()), told);
    });
}

#[test]
fn a_rejected_server_key_is_reported_to_the_server() {
    let [server, client] = meet(1, 2);
    assert!(matches!(client, Err(Error::Tls(TlsError::NotExpected { .. }))), "{client:?}");
    assert_eq!(server.unwrap_err().to_string(), "the peer does not accept this identity");
}

#[test]
fn the_key_exchange_is_hybrid() {
    let identity = Identity::generate().unwrap();
    let tls = Tls::new(&identity, &[identity.fingerprint()]).unwrap();
    let groups: Vec<_> =
        tls.client.crypto_provider().kx_groups.iter().map(|group| group.name()).collect();
    assert_eq!(groups, [rustls::NamedGroup::X25519MLKEM768]);
    assert_eq!(tls.server.crypto_provider().kx_groups.len(), 1);
}

#[test]
fn a_hello_of_another_connection_is_refused() {
    let [server, mut client] = secured();
    client.binding.ours = [7; 32];
    let error = thread::scope(|scope| {
        // Only the server can see it.
        scope.spawn(move || greet(client, true).unwrap_err());
        greet(server, false).unwrap_err()
    });
    assert_eq!(error, HelloError::Fingerprint.into());
}

#[test]
fn a_peer_without_tls_is_named() {
    let identity = Identity::generate().unwrap();
    let tls = Tls::new(&identity, &[identity.fingerprint()]).unwrap();
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let mut plain = TcpStream::connect(listener.local_addr()).unwrap();
    plain.write_all(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    drop(plain.shutdown(std::net::Shutdown::Write));
    let error = tls.accept(listener.accept(LONG).unwrap()).unwrap_err();
    assert_eq!(error, TlsError::NotTls.into());
}

#[test]
fn a_handshake_that_drips_ends_at_the_timeout() {
    let identity = Identity::generate().unwrap();
    let tls = Tls::new(&identity, &[identity.fingerprint()]).unwrap();
    let listener = Listener::bind("127.0.0.1:0").unwrap();
    let mut drip = TcpStream::connect(listener.local_addr()).unwrap();
    let start = Instant::now();
    let timeout = Duration::from_millis(300);
    let error = thread::scope(|scope| {
        // The beginning of a record of 256 bytes, then a byte at a time.
        scope.spawn(move || {
            let record = [&[22, 3, 1, 1, 0, 1, 0, 0, 252][..], &[0; 60]].concat();
            for byte in record {
                if drip.write_all(&[byte]).is_err() {
                    break;
                }
                thread::sleep(Duration::from_millis(30));
            }
        });
        let error = tls.accept(listener.accept(timeout).unwrap()).unwrap_err();
        assert!(start.elapsed() < AT_ONCE);
        error
    });
    assert_eq!(error, ChannelError::NothingReceived(timeout).into());
}

/// A client that is made otherwise than ours, against our server; the server's word on it.
fn foreign_client(
    group: &'static dyn rustls::crypto::SupportedKxGroup,
    shows_key: bool,
) -> Result<Secured, Error> {
    let [identity, other] = [(); 2].map(|()| Identity::generate().unwrap());
    let server = Tls::new(&identity, &[other.fingerprint()]).unwrap();
    let provider = Arc::new(CryptoProvider { kx_groups: vec![group], ..ring::default_provider() });
    let pins = Arc::new(Pins::new(&[identity.fingerprint()], &provider));
    let private = PrivatePkcs8KeyDer::from(other.private.to_vec()).into();
    let private = provider.key_provider.load_private_key(private).unwrap();
    let key = CertifiedKey::new(vec![CertificateDer::from(other.public.to_vec())], private);
    let builder = ClientConfig::builder_with_provider(provider)
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .dangerous()
        .with_custom_certificate_verifier(pins);
    let config = if shows_key {
        let resolver = AlwaysResolvesClientRawPublicKeys::new(Arc::new(key));
        builder.with_client_cert_resolver(Arc::new(resolver))
    } else {
        builder.with_no_client_auth()
    };
    let name = ServerName::try_from("foxtrot").unwrap();
    let mut client = ClientConnection::new(Arc::new(config), name).unwrap();
    let (accepted, connected) = sockets();
    thread::scope(|scope| {
        let server = scope.spawn(|| server.accept(accepted));
        let mut stream = &connected.stream;
        // Its own handshake may be over before the server refuses it.
        while client.is_handshaking() && client.complete_io(&mut stream).is_ok() {}
        let server = server.join().unwrap();
        drop(connected);
        server
    })
}

#[test]
fn a_client_without_a_key_or_without_the_hybrid_group_is_refused() {
    use rustls::crypto::ring::kx_group::X25519;
    let hybrid = &hybrid::X25519MlKem768;
    foreign_client(hybrid, true).unwrap();
    for (group, shows_key) in [(hybrid as _, false), (X25519, true)] {
        let error = foreign_client(group, shows_key).unwrap_err();
        assert!(matches!(error, Error::Tls(TlsError::Failed(_))), "{error:?}");
    }
}
