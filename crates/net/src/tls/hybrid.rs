//! X25519MLKEM768, the only key exchange of the TLS connections (draft-ietf-tls-ecdhe-mlkem).
//!
//! | bytes | ML-KEM-768 | then X25519 |
//! |---|---|---|
//! | share of the client, 1216 | encapsulation key, 1184 | public key, 32 |
//! | share of the server, 1120 | ciphertext, 1088 | public key, 32 |
//! | shared secret, 64 | 32 | 32 |

use curve25519_dalek::{MontgomeryPoint, traits::IsIdentity};
use ml_kem::{DecapsulationKey768, EncapsulationKey768, kem::Decapsulate, kem::KeyExport};
use rustls::{
    Error, NamedGroup, PeerMisbehaved, ProtocolVersion,
    crypto::{ActiveKeyExchange, CompletedKeyExchange, SharedSecret, SupportedKxGroup},
};
use zeroize::{Zeroize, Zeroizing};

const X25519: usize = 32;
const KEY: usize = 1184;
const CIPHERTEXT: usize = 1088;

/// The share is not one of this group.
const INVALID: Error = Error::PeerMisbehaved(PeerMisbehaved::InvalidKeyShare);

/// The group.
#[derive(Debug)]
pub(super) struct X25519MlKem768;

/// The client's side, from its share to the server's.
struct Started {
    decapsulation_key: DecapsulationKey768,
    scalar: Zeroizing<[u8; X25519]>,
    share: Vec<u8>,
}

impl Started {
    /// Derives both key pairs.
    fn new(mut seed: Zeroizing<[u8; 64]>, scalar: Zeroizing<[u8; X25519]>) -> Self {
        let mut array = (*seed).into();
        seed.zeroize();
        let decapsulation_key = DecapsulationKey768::from_seed(array);
        array.zeroize();
        let mut share = decapsulation_key.encapsulation_key().to_bytes().to_vec();
        share.extend(public_key(&scalar));
        Self { decapsulation_key, scalar, share }
    }
}

impl SupportedKxGroup for X25519MlKem768 {
    fn start(&self) -> Result<Box<dyn ActiveKeyExchange>, Error> {
        Ok(Box::new(Started::new(random()?, random()?)))
    }

    fn start_and_complete(&self, client: &[u8]) -> Result<CompletedKeyExchange, Error> {
        let (key, point) = client.split_at_checked(KEY).ok_or(INVALID)?;
        let key = key.try_into().map_err(|_| INVALID)?;
        // Refuses coefficients that are not reduced (FIPS 203, section 7.2).
        let key = EncapsulationKey768::new(key).map_err(|_| INVALID)?;
        let scalar = random()?;
        let agreed = agree(&scalar, point)?;
        let message = random::<32>()?;
        let (ciphertext, mut encapsulated) = key.encapsulate_deterministic((&*message).into());
        let mut share = ciphertext.to_vec();
        share.extend(public_key(&scalar));
        let secret = join(&encapsulated, &agreed);
        encapsulated.zeroize();
        Ok(CompletedKeyExchange { group: self.name(), pub_key: share, secret })
    }

    fn name(&self) -> NamedGroup {
        NamedGroup::X25519MLKEM768
    }

    fn usable_for_version(&self, version: ProtocolVersion) -> bool {
        version == ProtocolVersion::TLSv1_3
    }
}

impl ActiveKeyExchange for Started {
    fn complete(self: Box<Self>, server: &[u8]) -> Result<SharedSecret, Error> {
        let (ciphertext, point) = server.split_at_checked(CIPHERTEXT).ok_or(INVALID)?;
        let ciphertext = ciphertext.try_into().map_err(|_| INVALID)?;
        let agreed = agree(&self.scalar, point)?;
        let mut encapsulated = self.decapsulation_key.decapsulate(ciphertext);
        let secret = join(&encapsulated, &agreed);
        encapsulated.zeroize();
        Ok(secret)
    }

    fn pub_key(&self) -> &[u8] {
        &self.share
    }

    fn group(&self) -> NamedGroup {
        X25519MlKem768.name()
    }
}

/// Bytes from the operating system.
fn random<const N: usize>() -> Result<Zeroizing<[u8; N]>, Error> {
    let mut bytes = Zeroizing::new([0; N]);
    getrandom::fill(&mut *bytes).map_err(|_| Error::FailedToGetRandomBytes)?;
    Ok(bytes)
}

/// X25519 of the scalar and the base point (RFC 7748).
fn public_key(scalar: &[u8; X25519]) -> [u8; X25519] {
    MontgomeryPoint::mul_base_clamped(*scalar).to_bytes()
}

/// X25519 of the scalar and the peer's point; refuses a point of small order, by its result (RFC 8446, section 7.4.2).
fn agree(scalar: &[u8; X25519], peer: &[u8]) -> Result<Zeroizing<[u8; X25519]>, Error> {
    let peer = MontgomeryPoint(peer.try_into().map_err(|_| INVALID)?);
    let agreed = Zeroizing::new(peer.mul_clamped(*scalar));
    if agreed.is_identity() { Err(INVALID) } else { Ok(Zeroizing::new(agreed.to_bytes())) }
}

/// The shared secret: that of ML-KEM, then that of X25519.
fn join(encapsulated: &[u8], agreed: &[u8; X25519]) -> SharedSecret {
    let mut secret = Zeroizing::new([0; 64]);
    secret[..32].copy_from_slice(encapsulated);
    secret[32..].copy_from_slice(agreed);
    SharedSecret::from(&secret[..])
}

#[cfg(test)]
mod tests;
