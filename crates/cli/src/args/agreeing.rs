//! Options about what the two sides of an intersection agree on, and who answers for it.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::heading;

/// The policy, its witness, and the question before a run.
#[derive(ClapArgs)]
pub(crate) struct Agreeing {
    /// Refuse every run that this file (TOML, see docs/policy.md) does not allow; the peer needs a policy
    /// with the same rules. Without --peer, the peers are those that the policy names
    #[arg(long, help_heading = heading::SECURITY, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Append one JSON line for each run to this file (mode 0600): time, peer, policy, function, sizes,
    /// result count, transcript, outcome; never keys. See docs/audit.md
    #[arg(long, help_heading = heading::OUTPUT, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
    /// Do not ask on the terminal before the run
    #[arg(short, long, help_heading = heading::SECURITY)]
    pub(crate) yes: bool,
}
