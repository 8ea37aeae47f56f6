//! Values of options that need more than their type to be right.

use std::net::SocketAddr;

use foxtrot_psi::paxos::MAX_ITEMS;

/// A host and a port. Whether there is such a host the network knows.
pub(super) fn address(text: &str) -> Result<String, String> {
    let host_and_port = text.rsplit_once(':').filter(|(_, port)| port.parse::<u16>().is_ok());
    let is_one = text.parse::<SocketAddr>().is_ok()
        || host_and_port.is_some_and(|(host, _)| {
            // What looks like an IP address would have been one.
            let dotted = |c: char| c == '.' || c.is_ascii_digit();
            !host.is_empty() && !host.contains([':', '[', ']', ' ']) && !host.chars().all(dotted)
        });
    is_one.then(|| text.to_owned()).ok_or_else(|| {
        "not a host and a port up to 65535, as in localhost:7000 or [::1]:7000".into()
    })
}

/// Parses a number of messages to choose from.
pub(super) fn choices(text: &str) -> Result<usize, String> {
    const MOST: usize = 1 << 16;
    let number = text.parse().ok().filter(|choices| (2..=MOST).contains(choices));
    number.ok_or_else(|| format!("not between 2 and {MOST}"))
}

/// Parses a number of keys in a set.
pub(super) fn keys(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|keys| (1..=MAX_ITEMS).contains(keys));
    number.ok_or_else(|| format!("not between 1 and {MAX_ITEMS}"))
}

/// Parses a number of threads.
///
/// # Errors
/// If it is not one, or of too many threads.
pub fn threads(text: &str) -> Result<usize, String> {
    const MOST: usize = 1024;
    let number = text.parse().ok().filter(|threads| (1..=MOST).contains(threads));
    number.ok_or_else(|| format!("not between 1 and {MOST}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_a_host_and_a_port() {
        for good in ["localhost:7000", "127.0.0.1:0", "[::1]:7000", "a-b.example:65535", "4th:1"] {
            assert_eq!(address(good).as_deref(), Ok(good));
        }
        for wrong in [
            "",
            "localhost",
            "localhost:",
            ":7000",
            "7000",
            "localhost:65536",
            "localhost:-1",
            "localhost:http",
            "300.1.1.1:80",
            "::1:7000",
            "[::1]",
            "[x]:1",
            "a b:1",
            "127.0.0.1",
        ] {
            assert!(address(wrong).is_err(), "{wrong}");
        }
    }
}
