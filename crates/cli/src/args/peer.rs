//! Names of a peer on the command line.

use std::{fmt, str::FromStr};

use foxtrot_net::identity::{Fingerprint, KeyError};

/// The name of a peer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name(String);

/// A peer as the user gives it.
#[derive(Clone, Debug)]
pub(crate) enum Peer {
    Key(Fingerprint),
    Named(Name),
}

impl FromStr for Name {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const MOST: usize = 64;
        let plain = |c: char| c.is_ascii_alphanumeric() || "._-@".contains(c);
        let begins = text.starts_with(|c: char| c.is_ascii_alphanumeric());
        if begins && text.len() <= MOST && text.chars().all(plain) {
            return Ok(Self(text.into()));
        }
        Err(format!(
            "a name has 1 to {MOST} characters: ASCII letters, digits, `.`, `_`, `-`, `@`, the first a letter or a digit"
        ))
    }
}

impl FromStr for Peer {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if text.contains(':') {
            return text.parse().map(Self::Key).map_err(|e: KeyError| e.to_string());
        }
        text.parse().map(Self::Named)
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
