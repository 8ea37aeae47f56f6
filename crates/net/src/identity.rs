//! Keys by which the two sides know each other: raw Ed25519 keys, without certificates.

use core::{fmt, str::FromStr};

use base64ct::{Base64UrlUnpadded, Encoding};
use pem_rfc7468::LineEnding;
use ring::{
    digest,
    signature::{Ed25519KeyPair, KeyPair},
};
use zeroize::Zeroizing;

use crate::words::texts;

const PEM_LABEL: &str = "PRIVATE KEY";

/// DER of an Ed25519 key in PKCS#8, version 1, before the 32 bytes of the key (RFC 8410, section 7).
const PKCS8_PREFIX: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// DER of an Ed25519 SubjectPublicKeyInfo before the 32 bytes of the key (RFC 8410, section 4).
const SPKI_PREFIX: [u8; 12] =
    [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// SHA-256 of the SubjectPublicKeyInfo of a key, written `SHA256:` and 43 characters of base64url.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Fingerprint([u8; 32]);

/// A key pair of ours.
pub struct Identity {
    /// PKCS#8, DER.
    pub(crate) private: Zeroizing<Vec<u8>>,
    /// SubjectPublicKeyInfo, DER.
    pub(crate) public: Vec<u8>,
}

/// The reason why a string or a file is no key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyError {
    /// The text is not `SHA256:` and 43 characters of base64url.
    Fingerprint,
    /// The file is not one PEM block labelled `PRIVATE KEY`.
    Pem,
    /// PEM of something else than an Ed25519 key in PKCS#8.
    NotEd25519,
    /// The operating system gave no randomness.
    Randomness,
}

impl Identity {
    /// A fresh key pair.
    ///
    /// # Errors
    /// [`KeyError::Randomness`].
    pub fn generate() -> Result<Self, KeyError> {
        let mut private = Zeroizing::new([&PKCS8_PREFIX[..], &[0; 32]].concat());
        getrandom::fill(&mut private[PKCS8_PREFIX.len()..]).map_err(|_| KeyError::Randomness)?;
        Self::from_pkcs8(private)
    }

    /// Reads a file's content: PKCS#8 in PEM.
    ///
    /// # Errors
    /// [`KeyError::Pem`], [`KeyError::NotEd25519`].
    pub fn from_pem(pem: &[u8]) -> Result<Self, KeyError> {
        let (label, private) = pem_rfc7468::decode_vec(pem).map_err(|_| KeyError::Pem)?;
        let private = Zeroizing::new(private);
        if label != PEM_LABEL {
            return Err(KeyError::Pem);
        }
        Self::from_pkcs8(private)
    }

    /// A file's content: PKCS#8 in PEM.
    #[must_use]
    pub fn to_pem(&self) -> Zeroizing<String> {
        let pem = pem_rfc7468::encode_string(PEM_LABEL, LineEnding::LF, &self.private);
        Zeroizing::new(pem.unwrap_or_default())
    }

    /// The fingerprint by which the peer knows us.
    #[must_use]
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint::of(&self.public)
    }

    /// Reads PKCS#8 with or without the public key; one that is there has to be the right one.
    fn from_pkcs8(private: Zeroizing<Vec<u8>>) -> Result<Self, KeyError> {
        let pair = Ed25519KeyPair::from_pkcs8_maybe_unchecked(&private)
            .map_err(|_| KeyError::NotEd25519)?;
        let public = [&SPKI_PREFIX, pair.public_key().as_ref()].concat();
        Ok(Self { private, public })
    }
}

impl Fingerprint {
    /// The fingerprint of a SubjectPublicKeyInfo.
    pub(crate) fn of(public: &[u8]) -> Self {
        let mut hash = [0; 32];
        hash.copy_from_slice(digest::digest(&digest::SHA256, public).as_ref());
        Self(hash)
    }

    /// The hash itself.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl From<[u8; 32]> for Fingerprint {
    fn from(hash: [u8; 32]) -> Self {
        Self(hash)
    }
}

impl FromStr for Fingerprint {
    type Err = KeyError;

    fn from_str(text: &str) -> Result<Self, KeyError> {
        let encoded = text.strip_prefix("SHA256:").ok_or(KeyError::Fingerprint)?;
        let mut hash = [0; 32];
        match Base64UrlUnpadded::decode(encoded, &mut hash) {
            Ok(decoded) if decoded.len() == 32 => Ok(Self(hash)),
            _ => Err(KeyError::Fingerprint),
        }
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SHA256:{}", Base64UrlUnpadded::encode_string(&self.0))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

foxtrot_ot::erase::redacted! {
    Identity, identity => "{}", identity.fingerprint();
}

texts! { KeyError:
    Self::Fingerprint => "a fingerprint is `SHA256:` and 43 characters of base64url";
    Self::Pem => "not a PEM file with one PRIVATE KEY";
    Self::NotEd25519 => "not an Ed25519 key in PKCS#8";
    Self::Randomness => "no randomness from the system";
}

impl core::error::Error for KeyError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_survives_its_file() {
        let identity = Identity::generate().unwrap();
        let pem = identity.to_pem();
        assert!(pem.starts_with("-----BEGIN PRIVATE KEY-----\n"));
        let again = Identity::from_pem(pem.as_bytes()).unwrap();
        assert_eq!(again.fingerprint(), identity.fingerprint());
        assert_ne!(Identity::generate().unwrap().fingerprint(), identity.fingerprint());
    }

    /// The private key of RFC 8410, section 10.3, without its public key as OpenSSL writes it and as
    /// earlier versions of Foxtrot did, and with it.
    #[test]
    fn files_of_other_programs_are_read_with_and_without_the_public_key() {
        let bare = "MC4CAQAwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC";
        let both = "MFECAQEwBQYDK2VwBCIEINTuctv5E1hK1bbY8fdp+K06/nwoy/HU++CXqI9EdVhC\n\
            gSEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=";
        let read = |base64| {
            let pem = format!("-----BEGIN PRIVATE KEY-----\n{base64}\n-----END PRIVATE KEY-----\n");
            Identity::from_pem(pem.as_bytes())
        };
        let public = [
            0x19, 0xbf, 0x44, 0x09, 0x69, 0x84, 0xcd, 0xfe, 0x85, 0x41, 0xba, 0xc1, 0x67, 0xdc,
            0x3b, 0x96, 0xc8, 0x50, 0x86, 0xaa, 0x30, 0xb6, 0xb6, 0xcb, 0x0c, 0x5c, 0x38, 0xad,
            0x70, 0x31, 0x66, 0xe1,
        ];
        for file in [bare, both] {
            assert_eq!(read(file).unwrap().public[12..], public);
        }
        let wrong = both.replace("gSEAGb9E", "gSEAGb9F");
        assert_eq!(read(&wrong).unwrap_err(), KeyError::NotEd25519);
    }

    #[test]
    fn fingerprints_are_written_and_read_strictly() {
        let fingerprint = Fingerprint::of(b"key");
        let text = fingerprint.to_string();
        assert_eq!(text.len(), "SHA256:".len() + 43);
        assert_eq!(text.parse(), Ok(fingerprint));
        for wrong in ["", "SHA256:", &text[7..], &text[..49], &format!("{text}A"), "sha256:x"] {
            assert_eq!(wrong.parse::<Fingerprint>(), Err(KeyError::Fingerprint), "{wrong}");
        }
        // The last character has two bits to spare; only zeros are canonical.
        let last = text.chars().last().unwrap();
        let next = char::from_u32(u32::from(last) + 1).unwrap();
        let other = format!("{}{next}", &text[..49]);
        assert_eq!(other.parse::<Fingerprint>(), Err(KeyError::Fingerprint));
    }

    #[test]
    fn other_files_are_no_identities() {
        let pem = Identity::generate().unwrap().to_pem();
        let public = pem.replace("PRIVATE", "PUBLIC");
        assert_eq!(Identity::from_pem(public.as_bytes()).unwrap_err(), KeyError::Pem);
        assert_eq!(Identity::from_pem(b"").unwrap_err(), KeyError::Pem);
        let twice = format!("{}{}", *pem, *pem);
        assert_eq!(Identity::from_pem(twice.as_bytes()).unwrap_err(), KeyError::Pem);
        let other = pem_rfc7468::encode_string(PEM_LABEL, LineEnding::LF, &[1, 2, 3]).unwrap();
        assert_eq!(Identity::from_pem(other.as_bytes()).unwrap_err(), KeyError::NotEd25519);
    }
}
