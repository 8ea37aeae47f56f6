//! The options of one intersection on many machines.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use foxtrot::psi::shards::MOST;

use super::{
    heading,
    values::{address, between},
};

/// The part of this machine in an intersection of many; see docs/clusters.md.
#[derive(ClapArgs)]
#[command(next_help_heading = heading::MACHINES)]
pub(crate) struct Sharding {
    /// Divide both sets into N shards. Without --shard, only agree with the peer, and write what was agreed
    /// to --ticket
    #[arg(long, value_name = "N", requires = "ticket", conflicts_with_all = ["or_key", "resume_base"], value_parser = between(1..=MOST))]
    pub(crate) shards: Option<u32>,
    /// Intersect shard I, from 0, by the ticket. Rows of other shards are not compared
    #[arg(long, value_name = "I", requires = "shards", value_parser = between(0..=MOST - 1))]
    pub(crate) shard: Option<u32>,
    /// File with the agreement on all shards: written without --shard, read with it
    #[arg(long, value_name = "FILE", requires = "shards")]
    pub(crate) ticket: Option<PathBuf>,
    /// Number of earlier attempts at this shard (must be the same on both sides)
    #[arg(long, value_name = "N", requires = "shard", default_value_t = 0, value_parser = between::<u32>(0..=1000))]
    pub(crate) attempt: u32,
    /// Answer the shard although this side has finished it. A cheating peer can then test as many keys again
    #[arg(long, requires = "shard")]
    pub(crate) again: bool,
}

/// Ports and bounds of a gateway.
#[derive(ClapArgs)]
pub(crate) struct GatewayArgs {
    /// Address to which the other company connects, HOST:PORT
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) listen: String,
    /// Address to which our machines connect with --behind, HOST:PORT; nobody else may reach it
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) inside: String,
    /// Connections that are joined at once. As many wait at each port, a quarter of them from one address outside; more are told
    /// to try again
    #[arg(long, value_name = "N", default_value_t = 1024, value_parser = between::<usize>(1..=1 << 16))]
    pub(crate) max_routes: usize,
    /// Seconds for which a connection waits for its other end
    #[arg(long, value_name = "SECS", default_value_t = 600, value_parser = between::<u64>(1..=1 << 20))]
    pub(crate) wait: u64,
    /// Print only errors and the listening addresses
    #[arg(short, long)]
    pub(crate) quiet: bool,
}
