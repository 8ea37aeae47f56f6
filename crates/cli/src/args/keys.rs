//! `foxtrot keygen` and `foxtrot peers`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};
use foxtrot_net::identity::Fingerprint;

use super::Name;

#[derive(ClapArgs)]
pub(crate) struct KeygenArgs {
    /// Write the key to this file (mode 0600) [default: identity.pem in the user's configuration directory]
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Replace an existing file; peers then need the new fingerprint
    #[arg(long)]
    pub(crate) force: bool,
    /// Only print the fingerprint of the key in this file [default: identity.pem in the user's
    /// configuration directory]
    #[arg(long, value_name = "FILE", num_args = 0..=1, conflicts_with_all = ["output", "force"])]
    pub(crate) show: Option<Option<PathBuf>>,
}

#[derive(Subcommand)]
pub(crate) enum PeersCommand {
    /// Give a peer's key a name
    Add {
        /// Name: ASCII letters, digits, `.`, `_`, `-` and `@`
        name: Name,
        /// Fingerprint of the peer's key; `foxtrot keygen --show` prints it at the peer
        fingerprint: Fingerprint,
        /// Replace the key of an existing name
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
    /// Remove a name
    Remove {
        /// Name
        name: Name,
        #[command(flatten)]
        beside: Beside,
    },
}

/// The file of the names.
#[derive(ClapArgs)]
pub(crate) struct Beside {
    /// Identity key file; names are kept beside it in `known_peers` [default: identity.pem in the
    /// user's configuration directory]
    #[arg(long, value_name = "FILE")]
    pub(crate) identity: Option<PathBuf>,
}
