//! The command line, as `clap` reads it.

mod keys;
mod peer;
mod serving;
mod set;
mod triples;
mod values;

use std::{
    path::{Path, PathBuf},
    sync::LazyLock,
    time::Duration,
};

use clap::{ArgGroup, Args as ClapArgs, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use foxtrot_ot::Backend;

pub(crate) use keys::{KeygenArgs, PeersCommand};
pub(crate) use peer::{Name, Peer};
pub(crate) use serving::MostSessions;
pub(crate) use set::{Column, Delimiter, OtherOptions, SetFormat, SetOptions};
pub(crate) use triples::{TriplesCommand, TriplesMethod, TriplesOut};
pub use values::threads;
use values::{address, choices, keys as max_keys};

/// The version, and the backends of this processor.
pub static VERSION: LazyLock<String> = LazyLock::new(|| {
    let backends: Vec<_> = Backend::all().map(Backend::name).collect();
    let (version, backend) = (env!("CARGO_PKG_VERSION"), Backend::best().name());
    format!("{version}\nbackend: {backend} (this processor has {})", backends.join(", "))
});

/// Private set intersection, oblivious transfer and multiplication triples between two parties,
/// post-quantum by default.
///
/// Results go to standard output, everything else to standard error. Exit status: 0 done, 1 the
/// run failed, 2 usage or bad local input, 3 the peer misbehaved, 130 interrupted.
#[derive(Parser)]
#[command(name = "foxtrot", version = VERSION.as_str(), max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Private set intersection: which rows of the receiver's file have keys that the sender has, too
    #[command(subcommand)]
    Psi(PsiCommand),
    /// Transfer one of two messages each, chosen by the receiver and unknown to the sender
    #[command(subcommand)]
    Ot(OtCommand),
    /// Random oblivious transfers: key pairs for one side, choices and chosen keys for the other
    #[command(subcommand)]
    Rot(RotCommand),
    /// Multiplication triples: shares of random a, b and of c = a·b modulo 2^8, 2^16, 2^32 or 2^64.
    /// Against semi-honest peers only
    #[command(subcommand)]
    Triples(TriplesCommand),
    /// What there is: every protocol with its security, rounds and bytes
    Protocols(ProtocolsArgs),
    /// Make the key by which peers know this side, and print its fingerprint
    Keygen(KeygenArgs),
    /// Names for peers' keys, which --peer takes in place of fingerprints
    #[command(subcommand)]
    Peers(PeersCommand),
    /// Print manual pages and completions for a shell
    #[command(subcommand)]
    Generate(GenerateCommand),
}

#[derive(Subcommand)]
pub(crate) enum OtCommand {
    /// Both parties in this process
    Local {
        /// 2n lines: the two messages of each transfer; with --one-of N, N lines for each
        messages: PathBuf,
        /// n lines of 0 or 1; with --one-of N, of numbers below N
        choices: PathBuf,
        #[command(flatten)]
        one_of: OneOf,
        #[command(flatten)]
        out: MessagesOut,
        #[command(flatten)]
        common: Common,
    },
    /// Send messages to a peer that runs `ot receive`
    Send {
        /// 2n lines: the two messages of each transfer; with --one-of N, N lines for each
        messages: PathBuf,
        #[command(flatten)]
        one_of: OneOf,
        /// Lines are hexadecimal (must be the same on both sides)
        #[arg(long)]
        hex: bool,
        /// Answer every peer that comes, side by side, until interrupted. Each session gives one
        /// message of each pair, or of each N: who may come twice may learn another
        #[arg(long, conflicts_with_all = ["connect", "wait"])]
        serve: bool,
        #[command(flatten)]
        most: MostSessions,
        #[command(flatten)]
        transport: Transport,
        #[command(flatten)]
        common: Common,
    },
    /// Receive the chosen messages from a peer that runs `ot send`
    Receive {
        /// n lines of 0 or 1; with --one-of N, of numbers below N
        choices: PathBuf,
        #[command(flatten)]
        one_of: OneOf,
        #[command(flatten)]
        out: MessagesOut,
        #[command(flatten)]
        transport: Transport,
        #[command(flatten)]
        common: Common,
    },
}

/// Of how many messages one is chosen.
#[derive(ClapArgs)]
pub(crate) struct OneOf {
    /// Transfer one of N messages each, 2 to 65536 (must be the same on both sides)
    #[arg(id = "one_of", long = "one-of", value_name = "N", default_value_t = 2, value_parser = choices)]
    pub(crate) choices: usize,
}

/// Where received messages go.
#[derive(ClapArgs)]
pub(crate) struct MessagesOut {
    /// Write the received messages to this file instead of standard output, which is `-`
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Lines are hexadecimal (must be the same on both sides)
    #[arg(long)]
    pub(crate) hex: bool,
}

#[derive(Subcommand)]
pub(crate) enum RotCommand {
    /// Both parties in this process; writes PREFIX.sender.* and PREFIX.receiver.*
    Local {
        #[command(flatten)]
        out: KeysOut,
        #[command(flatten)]
        common: Common,
    },
    /// The side with both keys; writes PREFIX.keys
    Send {
        #[command(flatten)]
        out: KeysOut,
        #[command(flatten)]
        transport: Transport,
        #[command(flatten)]
        common: Common,
    },
    /// The side with the choices; writes PREFIX.keys and PREFIX.choices
    Receive {
        #[command(flatten)]
        out: KeysOut,
        #[command(flatten)]
        transport: Transport,
        #[command(flatten)]
        common: Common,
    },
}

/// How many keys, and where they go.
#[derive(ClapArgs)]
pub(crate) struct KeysOut {
    /// Number of transfers
    #[arg(short, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 32))]
    pub(crate) n: u64,
    /// Beginning of the names of the files to write, with mode 0600
    #[arg(short, long, value_name = "PREFIX")]
    pub(crate) output: PathBuf,
    /// File format
    #[arg(long, value_enum, default_value_t = Format::Raw)]
    pub(crate) format: Format,
    /// Replace files that are there
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Subcommand)]
pub(crate) enum PsiCommand {
    /// Both parties in this process: the rows of A whose keys B has, too
    #[command(
        mut_arg("extension", |it| it.hide(true)),
        mut_arg("base", |it| it.default_value("roted-endemic"))
    )]
    Local {
        /// The receiver's set: a table or lines, UTF-8; `-` is standard input
        a: PathBuf,
        /// The sender's set
        b: PathBuf,
        #[command(flatten)]
        options: SetOptions,
        #[command(flatten)]
        others: OtherOptions,
        #[command(flatten)]
        out: RowsOut,
        #[command(flatten)]
        common: Common,
    },
    /// Learn which rows of a set have keys that the peer, which runs `psi send`, has, too
    #[command(
        mut_arg("extension", |it| it.hide(true)),
        mut_arg("base", |it| it.default_value("roted-endemic"))
    )]
    Receive {
        /// The set: a table or lines, UTF-8; `-` is standard input
        set: PathBuf,
        #[command(flatten)]
        options: SetOptions,
        #[command(flatten)]
        out: RowsOut,
        #[command(flatten)]
        most: MostKeys,
        #[command(flatten)]
        transport: Transport,
        #[command(flatten)]
        common: Common,
    },
    /// Let a peer that runs `psi receive` learn which of its keys this set has, too; learn nothing but
    /// how many it has
    #[command(
        mut_arg("extension", |it| it.hide(true)),
        mut_arg("base", |it| it.default_value("roted-endemic"))
    )]
    Send {
        /// The set: a table or lines, UTF-8; `-` is standard input
        set: PathBuf,
        #[command(flatten)]
        options: SetOptions,
        /// Answer every peer that comes, side by side, until interrupted. Who comes again with other
        /// keys learns about these, too
        #[arg(long, conflicts_with_all = ["connect", "wait"])]
        serve: bool,
        #[command(flatten)]
        sessions: MostSessions,
        #[command(flatten)]
        most: MostKeys,
        #[command(flatten)]
        transport: Transport,
        #[command(flatten)]
        common: Common,
    },
    /// Tell how a file would be read: rows, keys, duplicates and rows without a key. No peer is needed
    Inspect {
        /// The set: a table or lines, UTF-8; `-` is standard input
        set: PathBuf,
        #[command(flatten)]
        options: SetOptions,
        /// Print the first N keys, before and after --normalize
        #[arg(long, value_name = "N", default_value_t = 0, conflicts_with = "left_out")]
        show: usize,
        /// Print the rows that are left out, duplicates and those without a key, as they are in the
        /// file
        #[arg(long)]
        left_out: bool,
        /// Write these rows to this file instead of standard output, which is `-`
        #[arg(short, long, value_name = "OUT", requires = "left_out")]
        output: Option<PathBuf>,
        /// Print one JSON object
        #[arg(long, conflicts_with = "left_out")]
        json: bool,
    },
}

/// Where the rows go that both sets have.
#[derive(ClapArgs)]
pub(crate) struct RowsOut {
    /// Write the rows to this file instead of standard output, which is `-`
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Print only how many keys both sets have. The receiver's program learns the rows all the same:
    /// this spares output and keeps nothing secret
    #[arg(long, conflicts_with = "output")]
    pub(crate) count: bool,
}

/// How large the peer's set may be.
#[derive(ClapArgs)]
pub(crate) struct MostKeys {
    /// Refuse a peer with more keys than that. A set much larger than expected may be a guess at ours,
    /// and takes time and memory
    #[arg(long = "max-peer", value_name = "N", default_value_t = 100_000_000, value_parser = max_keys)]
    pub(crate) keys: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Keys of 16 bytes one after another; choices packed, least significant bit first
    Raw,
    /// NumPy arrays of u8
    Npy,
}

/// How to reach the peer.
#[derive(ClapArgs)]
#[command(group(ArgGroup::new("address").required(true).args(["listen", "connect"])))]
pub(crate) struct Transport {
    /// Wait for the peer at this address, HOST:PORT; port 0 picks a free one
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) listen: Option<String>,
    /// Connect to the peer at this address, HOST:PORT
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) connect: Option<String>,
    /// Our key, as `foxtrot keygen` makes it [default: identity.pem in the user's configuration
    /// directory]
    #[arg(long, value_name = "FILE")]
    pub(crate) identity: Option<PathBuf>,
    /// Fingerprint of the peer's key, as the peer's `foxtrot keygen --show` prints it, or the name that
    /// `foxtrot peers add` gave it; repeat it to accept any of several
    #[arg(long, value_name = "PEER")]
    pub(crate) peer: Vec<Peer>,
    /// Wait so long for the peer: listening, for one that connects [default: no end]; connecting, for
    /// one that listens [default: 30]
    #[arg(long, value_name = "SECS", value_parser = clap::value_parser!(u64).range(1..=31_536_000))]
    wait: Option<u64>,
    /// Plain TCP: neither secret nor authenticated; for loopback and tests
    #[arg(long, conflicts_with_all = ["identity", "peer"])]
    pub(crate) insecure: bool,
    /// Write a record of the run to this file, one JSON object: when, with whom, what and how it ended;
    /// never keys or messages. With --serve a line is appended for each session
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
}

/// What every run takes.
#[derive(ClapArgs)]
pub(crate) struct Common {
    /// Base OT, see `foxtrot protocols`
    #[arg(long, value_name = "NAME", default_value = "roted")]
    pub(crate) base: String,
    /// OT extension: `none`, softspoken, softspoken-1 to -8, kos, iknp or (for `ot`) kos-two-round,
    /// see `foxtrot protocols`
    /// [default: softspoken; for `ot` with at most 128 transfers: none; with --one-of more than 2
    /// there is oos, the default, oos-802 and, with --semi-honest, kkrt]
    #[arg(long, value_name = "NAME")]
    pub(crate) extension: Option<String>,
    /// Be content with security against peers that follow the protocol (must be the same on both
    /// sides)
    #[arg(long)]
    pub(crate) semi_honest: bool,
    /// Threads of an extension, of roted, of `psi` and of `triples`; the peer may have another number
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = threads)]
    pub(crate) threads: usize,
    /// Print one JSON object about the run to standard output
    #[arg(long)]
    pub(crate) json: bool,
    /// Print nothing but results, errors and the address listened on
    #[arg(short, long)]
    pub(crate) quiet: bool,
    /// Tell on standard error what happens; never prints secrets
    #[arg(short, long, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Give up when the peer, once it is connected, does nothing for so many seconds
    #[arg(long, value_name = "SECS", default_value_t = 30, value_parser = clap::value_parser!(u64).range(1..=86400))]
    timeout: u64,
}

impl Command {
    /// Whether it answers all peers that come.
    pub(crate) fn serves(&self) -> bool {
        matches!(
            self,
            Self::Psi(PsiCommand::Send { serve: true, .. })
                | Self::Ot(OtCommand::Send { serve: true, .. })
        )
    }
}

impl Transport {
    /// How long to wait for the peer, if that is given.
    pub(crate) fn wait(&self) -> Option<Duration> {
        self.wait.map(Duration::from_secs)
    }
}

impl Common {
    pub(crate) fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }
}

impl MessagesOut {
    /// The file, if they do not go to standard output.
    pub(crate) fn file(&self) -> Option<&Path> {
        file(self.output.as_deref())
    }
}

impl RowsOut {
    /// The file, if they do not go to standard output.
    pub(crate) fn file(&self) -> Option<&Path> {
        file(self.output.as_deref())
    }
}

/// The file of an `-o`: without it, and for `-`, there is standard output.
pub(crate) fn file(output: Option<&Path>) -> Option<&Path> {
    output.filter(|path| *path != Path::new("-"))
}

#[derive(ClapArgs)]
pub(crate) struct ProtocolsArgs {
    /// A protocol or a family: print everything about it
    pub(crate) name: Option<String>,
    /// Print a JSON array
    #[arg(long, conflicts_with = "name")]
    pub(crate) json: bool,
    /// Print the page `docs/protocols/README.md`
    #[arg(long, conflicts_with_all = ["name", "json"])]
    pub(crate) markdown: bool,
}

#[derive(Subcommand)]
pub(crate) enum GenerateCommand {
    /// A manual page, in roff
    Man {
        /// The subcommand that it is about, say `ot send`
        subcommand: Vec<String>,
    },
    /// Completions
    Completions {
        /// For which shell
        shell: Shell,
    },
}
