//! The options of `--serve`.

use std::{path::PathBuf, str::FromStr};

use clap::Args as ClapArgs;
use foxtrot::options::{MAX_SESSIONS, MAX_SESSIONS_PER_PEER};

use super::{
    Name, heading,
    values::{between, between_of, memory},
};

/// Limits of `--serve`.
#[derive(ClapArgs)]
#[command(next_help_heading = heading::SERVER)]
pub(crate) struct MostSessions {
    #[arg(long, value_name = "N", help = MAX_SESSIONS.help, default_value_t = MAX_SESSIONS.size(), requires = "serve", value_parser = between_of(&MAX_SESSIONS))]
    pub(crate) max_sessions: usize,
    #[arg(long, value_name = "N", help = MAX_SESSIONS_PER_PEER.help, default_value_t = MAX_SESSIONS_PER_PEER.size(), requires = "serve", value_parser = between_of(&MAX_SESSIONS_PER_PEER))]
    pub(crate) max_sessions_per_peer: usize,
    /// Memory limit of all sessions, for example 2G [default: half of the free memory]
    #[arg(long, value_name = "BYTES", requires = "serve", value_parser = memory)]
    pub(crate) max_memory: Option<u64>,
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
