//! The other party, as far as it is known.

use std::fmt;

use foxtrot_net::tcp::Socket;

#[cfg(feature = "tls")]
use crate::Fingerprint;

/// Known facts about the other party.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Who {
    /// Its address, if the connection has one.
    pub address: Option<String>,
    /// The address or the network by which open sessions of peers without keys are counted.
    pub(super) source: String,
    /// The name that the configuration gives its key or token.
    pub name: Option<String>,
    /// True if the peer knows the one token that has no name.
    pub(super) has_token: bool,
    #[cfg(feature = "tls")]
    /// Its key, if it has proved to have one.
    pub fingerprint: Option<Fingerprint>,
}

impl Who {
    pub(super) fn of(socket: &Socket) -> Self {
        let address = Some(socket.peer_address());
        Self { address, source: socket.source(), ..Self::default() }
    }

    /// The name under which open sessions of the peer are counted: each takes memory.
    pub(super) fn counted_as(&self) -> String {
        // A proxy has one address for all.
        self.identity().unwrap_or_else(|| self.source.clone())
    }

    /// The name under which the limits per day count what the peer learns. A peer can have any number of
    /// addresses, so all peers without an identity have one count together.
    pub(super) fn learns_as(&self) -> String {
        let unnamed = if self.has_token { "token" } else { "without identity" };
        self.identity().unwrap_or_else(|| unnamed.to_owned())
    }

    /// The key or the name that the peer has proved to have.
    fn identity(&self) -> Option<String> {
        #[cfg(feature = "tls")]
        if let Some(key) = &self.fingerprint {
            return Some(key.to_string());
        }
        self.name.as_ref().map(|name| format!("token {name}"))
    }
}

/// `acme (SHA256:…) at 192.0.2.1:7000`, as far as it is known.
impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        #[cfg(feature = "tls")]
        let key = self.fingerprint.as_ref().map(ToString::to_string);
        #[cfg(not(feature = "tls"))]
        let key = None::<String>;
        let name = match (&self.name, key) {
            (Some(name), Some(key)) => Some(format!("{name} ({key})")),
            (name, key) => name.clone().or(key),
        };
        match (name, &self.address) {
            (Some(name), Some(address)) => write!(f, "{name} at {address}"),
            (Some(name), None) => f.write_str(&name),
            (None, Some(address)) => f.write_str(address),
            (None, None) => f.write_str("an unknown peer"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn learning_is_counted_by_the_identity_of_a_peer_and_not_by_its_address() {
        let at = |source: &str| Who { source: source.into(), ..Who::default() };
        let learns = |who: Who| who.learns_as();
        // Who has one more address has not one more day.
        assert_eq!(learns(at("192.0.2.1")), learns(at("2001:db8::/64")));
        let named = |name: &str, source| Who { name: Some(name.into()), ..at(source) };
        assert_eq!(learns(named("acme", "192.0.2.1")), "token acme");
        assert_eq!(learns(named("acme", "192.0.2.1")), learns(named("acme", "192.0.2.2")));
        // The token that has no name is one more identity, also if names are empty.
        let unnamed = |source| Who { has_token: true, ..at(source) };
        assert_eq!(learns(unnamed("192.0.2.1")), learns(unnamed("192.0.2.2")));
        let all = [learns(at("x")), learns(unnamed("x")), learns(named("", "x"))];
        assert!(all[0] != all[1] && all[1] != all[2] && all[0] != all[2], "{all:?}");
        // Open sessions of strangers are told apart, for they take memory.
        assert_ne!(at("192.0.2.1").counted_as(), at("192.0.2.2").counted_as());
    }

    #[cfg(feature = "tls")]
    #[test]
    fn a_key_is_the_same_peer_whatever_name_it_is_given() {
        let key = "SHA256:uU0nuZNNPgilLlLX2n2r-sSE7-N6U4DukIj3rOLvzek";
        let with = |name: Option<&str>| Who {
            name: name.map(str::to_owned),
            fingerprint: key.parse().ok(),
            ..Who::default()
        };
        assert_eq!(
            (with(None).learns_as(), with(Some("acme")).learns_as()),
            (key.into(), key.into())
        );
    }
}
