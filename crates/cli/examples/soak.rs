//! A server under load: `foxtrot ot send --serve`, or `foxtrot psi send --serve`, answers thousands of sessions
//! one after another and hundreds at once, while its memory is watched.
//!
//! ```sh
//! cargo build --release && cargo run --release -p foxtrot-cli --example soak
//! cargo run --release -p foxtrot-cli --example soak -- --sets 1000 --sequential 1000
//! ```
//!
//! Exit status 1 if a session failed or the memory grew.

#[path = "soak/client.rs"]
mod client;
#[path = "soak/load.rs"]
mod load;
#[path = "soak/server.rs"]
mod server;

use std::{env, path::PathBuf, process::ExitCode};

use clap::Parser;

/// Runs `foxtrot ot send --serve` or `foxtrot psi send --serve`, and loads it with sessions.
#[derive(Parser)]
struct Arguments {
    /// The command to test [default: the one beside this example]
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Sets of so many keys instead of messages
    #[arg(long, value_name = "KEYS")]
    sets: Option<usize>,
    /// Sessions one after another
    #[arg(long, default_value_t = 10_000)]
    sequential: usize,
    /// Sessions at once, three times
    #[arg(long, default_value_t = 200)]
    concurrent: usize,
    /// Over TLS instead of plain TCP
    #[arg(long)]
    tls: bool,
}

fn main() -> ExitCode {
    let Arguments { binary, sets, sequential, concurrent, tls } = Arguments::parse();
    let binary = binary.or_else(|| {
        let mut path = env::current_exe().ok()?;
        path.pop();
        path.pop();
        Some(path.join(format!("foxtrot{}", env::consts::EXE_SUFFIX)))
    });
    let job = sets.map_or(client::Job::Messages, client::Job::Sets);
    match load::run(&binary.unwrap_or_default(), job, sequential, concurrent, tls) {
        Ok(report) => {
            print!("{report}");
            if report.passed() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(e) => {
            eprintln!("soak: {e}");
            ExitCode::FAILURE
        }
    }
}
