//! The options of one intersection on many machines.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use foxtrot::psi::shards::MOST;

use super::{heading, values::between};

/// The part of this machine in an intersection of many; see docs/clusters.md.
#[derive(ClapArgs)]
#[command(next_help_heading = heading::MACHINES)]
pub(crate) struct Sharding {
    /// Divide both sets into N shards. Without --shard, only agree with the peer, and write what was agreed
    /// to --ticket
    #[arg(long, value_name = "N", requires = "ticket", conflicts_with_all = ["or_key", "resume_base"], value_parser = shards)]
    pub(crate) shards: Option<u32>,
    /// Intersect shard I, from 0, by the ticket. Rows of other shards are not compared
    #[arg(long, value_name = "I", requires = "shards", value_parser = shard)]
    pub(crate) shard: Option<u32>,
    /// File with the agreement on all shards: written without --shard, read with it
    #[arg(long, value_name = "FILE", requires = "shards")]
    pub(crate) ticket: Option<PathBuf>,
    /// Number of earlier attempts at this shard (must be the same on both sides)
    #[arg(long, value_name = "N", requires = "shard", default_value_t = 0, value_parser = attempt)]
    pub(crate) attempt: u32,
}

/// Ports and bounds of a gateway.
#[derive(ClapArgs)]
pub(crate) struct GatewayArgs {
    /// Address to which the other company connects, HOST:PORT
    #[arg(long, value_name = "ADDR", value_parser = super::values::address)]
    pub(crate) listen: String,
    /// Address to which our machines connect with --behind, HOST:PORT; nobody else may reach it
    #[arg(long, value_name = "ADDR", value_parser = super::values::address)]
    pub(crate) inside: String,
    /// Connections that are joined at once
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = joined)]
    pub(crate) max_routes: usize,
    /// Seconds for which a connection waits for its other end
    #[arg(long, value_name = "SECS", default_value_t = 600, value_parser = seconds)]
    pub(crate) wait: u64,
    /// Print only errors and the listening addresses
    #[arg(short, long)]
    pub(crate) quiet: bool,
}

fn shards(text: &str) -> Result<u32, String> {
    between(text, 1..=MOST)
}

fn shard(text: &str) -> Result<u32, String> {
    between(text, 0..=MOST - 1)
}

fn attempt(text: &str) -> Result<u32, String> {
    between(text, 0..=1000)
}

fn joined(text: &str) -> Result<usize, String> {
    between(text, 1..=1 << 16)
}

fn seconds(text: &str) -> Result<u64, String> {
    between(text, 1..=1 << 20)
}
