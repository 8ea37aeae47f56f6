//! The options of `--serve`.

use clap::Args as ClapArgs;

use super::{heading, values::between};

/// Limits of `--serve`.
#[derive(ClapArgs)]
#[command(next_help_heading = heading::SERVER)]
pub(crate) struct MostSessions {
    /// Concurrent sessions; another peer is told to try again later
    #[arg(long = "max-sessions", value_name = "N", default_value_t = 64, requires = "serve", value_parser = sessions)]
    pub(crate) all: usize,
    /// Concurrent sessions of one peer: one key or, with --insecure, one IPv4 address or IPv6 /64
    /// network
    #[arg(long = "max-sessions-per-peer", value_name = "N", default_value_t = 8, requires = "serve", value_parser = sessions)]
    pub(crate) of_one_peer: usize,
    /// Memory limit of all sessions, for example 2G [default: half of the free memory]
    #[arg(long = "max-memory", value_name = "BYTES", requires = "serve", value_parser = memory)]
    pub(crate) memory: Option<u64>,
}

/// Parses a number of sessions at once.
fn sessions(text: &str) -> Result<usize, String> {
    between(text, 1..=1 << 16)
}

/// Bytes.
fn memory(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'K') => (&text[..text.len() - 1], 10),
        Some(b'M') => (&text[..text.len() - 1], 20),
        Some(b'G') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(1 << shift));
    number.ok_or_else(|| "not a number of bytes such as 500M or 2G".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_a_number_of_bytes() {
        let good = [("0", 0), ("17", 17), ("3K", 3 << 10), ("500M", 500 << 20), ("2G", 2 << 30)];
        for (text, bytes) in good {
            assert_eq!(memory(text), Ok(bytes));
        }
        for wrong in ["", "M", "-1", "1T", "1 G", "1.5G", "0x1", "17179869184G"] {
            assert!(memory(wrong).is_err(), "{wrong}");
        }
    }
}
