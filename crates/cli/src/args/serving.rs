//! The options of `--serve`.

use std::{path::PathBuf, str::FromStr};

use clap::Args as ClapArgs;

use super::{
    Name, heading,
    values::{between, memory},
};

/// Limits of `--serve`.
#[derive(ClapArgs)]
#[command(next_help_heading = heading::SERVER)]
pub(crate) struct MostSessions {
    /// Concurrent sessions; another peer is told to try again later
    #[arg(long = "max-sessions", value_name = "N", default_value_t = 64, requires = "serve", value_parser = between::<usize>(1..=1 << 16))]
    pub(crate) all: usize,
    /// Concurrent sessions of one peer: one key or, with --insecure, one IPv4 address or IPv6 /64
    /// network
    #[arg(long = "max-sessions-per-peer", value_name = "N", default_value_t = 8, requires = "serve", value_parser = between::<usize>(1..=1 << 16))]
    pub(crate) of_one_peer: usize,
    /// Memory limit of all sessions, for example 2G [default: half of the free memory]
    #[arg(long = "max-memory", value_name = "BYTES", requires = "serve", value_parser = memory)]
    pub(crate) memory: Option<u64>,
}

/// Files of a server that change.
#[derive(ClapArgs)]
#[command(next_help_heading = heading::SERVER)]
pub(crate) struct Standing {
    /// Read a file again when it changes. Sessions that have begun go on with the old set
    #[arg(long, requires = "serve")]
    pub(crate) reload: bool,
}

/// Limits of what one peer may learn of this side in a day.
#[derive(ClapArgs)]
#[command(next_help_heading = heading::SECURITY)]
pub(crate) struct PerDay {
    /// Runs of one peer in a day (UTC); failed runs also count
    #[arg(long, value_name = "N", requires = "limits", value_parser = between::<u64>(1..=1 << 40))]
    pub(crate) max_runs_per_day: Option<u64>,
    /// Keys that one peer can test in a day (UTC). A run counts the bound that it prints for a cheating
    /// receiver; without a bound, the keys that the peer declares
    #[arg(long, value_name = "N", requires = "limits", value_parser = between::<u64>(1..=1 << 40))]
    pub(crate) max_keys_per_day: Option<u64>,
    /// Keep the counts of the day in this file (mode 0600), so that they survive a restart. They are for each
    /// key or token; all peers of --insecure have one count together
    #[arg(long, value_name = "FILE")]
    pub(crate) limits: Option<PathBuf>,
}

/// A set with a name.
#[derive(Clone, Debug)]
pub(crate) struct NamedSet {
    pub(crate) name: Name,
    pub(crate) path: PathBuf,
}

impl FromStr for NamedSet {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((name, path)) if !path.is_empty() => {
                Ok(Self { name: name.parse()?, path: path.into() })
            }
            _ => Err("must be a name and a file, as in customers=customers.csv".into()),
        }
    }
}
