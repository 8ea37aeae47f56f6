//! The peer's key is one of the expected, and it has signed the handshake.

use std::sync::Arc;

use rustls::{
    CertificateError, DigitallySignedStruct, DistinguishedName, Error, OtherError,
    PeerIncompatible, SignatureScheme,
    client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier},
    crypto::{CryptoProvider, WebPkiSupportedAlgorithms, verify_tls13_signature_with_raw_key},
    pki_types::{CertificateDer, ServerName, SubjectPublicKeyInfoDer, UnixTime},
    server::danger::{ClientCertVerified, ClientCertVerifier},
};

use crate::{identity::Fingerprint, words::texts};

/// The keys that we expect.
#[derive(Debug)]
pub(super) struct Pins {
    peers: Vec<Fingerprint>,
    algorithms: WebPkiSupportedAlgorithms,
}

/// The peer has another key than the expected.
#[derive(Debug)]
pub(super) struct NotExpected(pub(super) Fingerprint);

impl Pins {
    pub(super) fn new(peers: &[Fingerprint], provider: &CryptoProvider) -> Self {
        Self { peers: peers.to_vec(), algorithms: provider.signature_verification_algorithms }
    }

    fn check(&self, key: &CertificateDer<'_>) -> Result<(), Error> {
        let fingerprint = Fingerprint::of(key);
        if self.peers.contains(&fingerprint) {
            return Ok(());
        }
        let error = OtherError(Arc::new(NotExpected(fingerprint)));
        Err(Error::InvalidCertificate(CertificateError::Other(error)))
    }

    fn check_signature(
        &self,
        message: &[u8],
        key: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        if signature.scheme != SignatureScheme::ED25519 {
            return Err(Error::PeerIncompatible(PeerIncompatible::NoSignatureSchemesInCommon));
        }
        let key = SubjectPublicKeyInfoDer::from(key.as_ref());
        verify_tls13_signature_with_raw_key(message, &key, signature, &self.algorithms)
    }
}

/// Methods that verifiers of servers and of clients share. We speak TLS 1.3 only.
macro_rules! signatures {
    () => {
        fn verify_tls12_signature(
            &self,
            _: &[u8],
            _: &CertificateDer<'_>,
            _: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            Err(Error::PeerIncompatible(PeerIncompatible::Tls12NotOffered))
        }

        fn verify_tls13_signature(
            &self,
            message: &[u8],
            key: &CertificateDer<'_>,
            signature: &DigitallySignedStruct,
        ) -> Result<HandshakeSignatureValid, Error> {
            self.check_signature(message, key, signature)
        }

        fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
            vec![SignatureScheme::ED25519]
        }

        fn requires_raw_public_keys(&self) -> bool {
            true
        }
    };
}

impl ServerCertVerifier for Pins {
    fn verify_server_cert(
        &self,
        key: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        self.check(key).map(|()| ServerCertVerified::assertion())
    }

    signatures!();
}

impl ClientCertVerifier for Pins {
    fn client_auth_mandatory(&self) -> bool {
        true
    }

    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        key: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: UnixTime,
    ) -> Result<ClientCertVerified, Error> {
        self.check(key).map(|()| ClientCertVerified::assertion())
    }

    signatures!();
}

texts! { NotExpected:
    Self(key) => "{key} is not one of the expected keys";
}

impl core::error::Error for NotExpected {}
