//! The command line of `foxtrot-bench`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use foxtrot_cli::shared::{VERSION, threads};

use crate::link::Net;

/// Measure protocols on this machine.
///
/// Figures go to standard output, everything else to standard error. Exit status: 0 done, 1 a
/// measurement failed, 2 usage or bad local input, 130 interrupted.
#[derive(Parser)]
#[command(name = "foxtrot-bench", version = VERSION.as_str(), max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: BenchCommand,
}

#[derive(Subcommand)]
pub(crate) enum BenchCommand {
    /// Names of the benchmarks
    List,
    /// Run benchmarks, with the yardsticks of this machine beside them
    Run {
        /// Names from `foxtrot-bench list`; a table such as `base`, or a beginning such as `base/`, means all of it
        #[arg(required = true)]
        names: Vec<String>,
        #[command(flatten)]
        options: BenchOptions,
        /// Print one JSON object per benchmark and n
        #[arg(long)]
        json: bool,
        /// With every run in it
        #[arg(long, requires = "json")]
        samples: bool,
    },
    /// The tables and figures of the papers beside ours
    Paper(PaperOptions),
    /// Other programs' command lines and ours in turns, by the CPU time of their processes
    ///
    /// Each FILE is TOML, as `bench/beside` in the repository has them and docs/methodology.md explains. Command lines
    /// run by `sh`; `$FOXTROT_BENCH` is this program.
    Beside(BesideOptions),
    /// The headlines of the newest records of `foxtrot-bench paper`, in Markdown
    Summary {
        /// The folder with the records
        records: PathBuf,
        /// Put it between the markers of this file, and print nothing
        #[arg(long, value_name = "FILE")]
        splice: Option<PathBuf>,
    },
}

/// The tables to make, and where they go.
#[derive(ClapArgs)]
pub(crate) struct PaperOptions {
    /// Tables by name, say `roted-3`, or by paper: `roted`, `batching`, `simplest`, `triples`, `peers`; else all
    pub(crate) tables: Vec<String>,
    /// Fewer runs, and of triples fewer than the tables say
    #[arg(long)]
    pub(crate) quick: bool,
    /// Write the report to this file, a page for a browser
    #[arg(long, value_name = "FILE")]
    pub(crate) html: Option<PathBuf>,
    /// Write all samples, the machine and the tables to this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) record: Option<PathBuf>,
    /// Say nothing while it goes on
    #[arg(long)]
    pub(crate) quiet: bool,
}

/// The comparisons to make, and where they go.
#[derive(ClapArgs)]
pub(crate) struct BesideOptions {
    /// Files of comparisons
    #[arg(required = true, value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
    /// The number of rounds, instead of what the files say
    #[arg(long, value_name = "N", value_parser = rounds)]
    pub(crate) rounds: Option<usize>,
    /// Print one JSON object per program
    #[arg(long)]
    pub(crate) json: bool,
    /// Print the lines of a record's `side-by-side.csv`
    #[arg(long, conflicts_with = "json")]
    pub(crate) csv: bool,
    /// Write figures, runs, the machine and the command lines to this folder
    #[arg(long, value_name = "FOLDER")]
    pub(crate) record: Option<PathBuf>,
    /// Say nothing of runs that are too short to be measured well
    #[arg(long)]
    pub(crate) quiet: bool,
}

fn rounds(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(rounds @ 1..=1000) => Ok(rounds),
        _ => Err("not a number from 1 to 1000".into()),
    }
}

/// The settings of a benchmark.
#[derive(ClapArgs)]
pub(crate) struct BenchOptions {
    /// Measure so many transfers only
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    pub(crate) n: Option<u64>,
    /// Threads of each party, for protocols that use them
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = threads)]
    pub(crate) threads: usize,
    /// Connection between the parties; `tcp` is not for `kernel/` and some of `ext/`
    #[arg(long, value_enum, default_value_t = BenchTransport::Memory)]
    pub(crate) transport: BenchTransport,
    /// Imitate this link between the parties, each in a thread of its own; for the same as `tcp`
    #[arg(long, value_enum, value_name = "LINK", conflicts_with = "transport")]
    pub(crate) net: Option<Net>,
    /// The base OT under `ext/` and `psi/` [default: roted-endemic]
    #[arg(long, value_name = "NAME")]
    pub(crate) base: Option<String>,
    /// Fewer runs
    #[arg(long)]
    pub(crate) quick: bool,
    /// Exactly so many runs and none to warm up, and print nothing: for `beside` and for profilers
    #[arg(long, value_name = "N", value_parser = rounds, conflicts_with = "quick")]
    pub(crate) runs: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum BenchTransport {
    /// Both parties in one thread, one after the other
    Memory,
    /// A thread for each party, and TCP over the loopback interface
    Tcp,
}
