//! `foxtrot keygen` and `foxtrot peers`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use foxtrot_net::identity::Fingerprint;

use super::Name;

#[derive(ClapArgs)]
pub(crate) struct KeygenArgs {
    /// Write the key to this file [default: identity.pem in the user's configuration directory]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace the file if there is one
    #[arg(long)]
    pub(crate) force: bool,
    /// Print the fingerprint of the key in this file, and make none [default: identity.pem in the
    /// user's configuration directory]
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["output", "force"])]
    pub(crate) show: Option<Option<PathBuf>>,
}

#[derive(Subcommand)]
pub(crate) enum PeersCommand {
    /// Give a peer's key a name
    Add {
        /// The name: ASCII letters, digits, `.`, `_`, `-` and `@`
        name: Name,
        /// Fingerprint of the peer's key, as the peer's `foxtrot keygen --show` prints it
        fingerprint: Fingerprint,
        /// Replace the key that the name has
        #[arg(long)]
        force: bool,
        #[command(flatten)]
        beside: Beside,
    },
    /// Print names and fingerprints
    List {
        #[command(flatten)]
        beside: Beside,
    },
    /// Forget a name
    Remove {
        /// The name
        name: Name,
        #[command(flatten)]
        beside: Beside,
    },
}

/// Where the names are.
#[derive(ClapArgs)]
pub(crate) struct Beside {
    /// Our key; `known_peers` is the file beside it [default: identity.pem in the user's configuration
    /// directory]
    #[arg(long, value_name = "FILE")]
    pub(crate) identity: Option<PathBuf>,
}
