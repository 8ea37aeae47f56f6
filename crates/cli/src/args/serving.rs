//! The options of `--serve`.

use clap::Args as ClapArgs;

/// How many peers `--serve` answers at once.
#[derive(ClapArgs)]
pub(crate) struct MostSessions {
    /// With --serve: the most sessions at once. A peer beyond them is told to try again later
    #[arg(long = "max-sessions", value_name = "N", default_value_t = 64, requires = "serve", value_parser = sessions)]
    pub(crate) all: usize,
    /// With --serve: the most sessions at once of one peer, which is a key or, with --insecure, an IP
    /// address (of IPv6 the network, /64)
    #[arg(long = "max-sessions-per-peer", value_name = "N", default_value_t = 8, requires = "serve", value_parser = sessions)]
    pub(crate) of_one_peer: usize,
    /// With --serve: the most memory that all sessions may take, in bytes or with K, M or G behind;
    /// a session that could take more than is left is refused [default: half of what the system,
    /// the control group and the limit of the address space leave]
    #[arg(long = "max-memory", value_name = "BYTES", requires = "serve", value_parser = memory)]
    pub(crate) memory: Option<u64>,
}

/// Parses a number of sessions at once.
fn sessions(text: &str) -> Result<usize, String> {
    const MOST: usize = 1 << 16;
    let number = text.parse().ok().filter(|sessions| (1..=MOST).contains(sessions));
    number.ok_or_else(|| format!("not between 1 and {MOST}"))
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
    number.ok_or_else(|| "not a number of bytes, as in 500M or 2G".into())
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
