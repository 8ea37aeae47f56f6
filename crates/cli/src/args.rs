//! The command line, as `clap` reads it.

mod agreeing;
mod examples;
mod keys;
mod paths;
mod peer;
mod serving;
mod set;
mod sharding;
mod triples;
mod values;

use std::{
    path::{Path, PathBuf},
    sync::LazyLock,
    time::Duration,
};

use clap::{
    Arg, ArgGroup, Args as ClapArgs, Parser, Subcommand, ValueEnum,
    builder::{PossibleValue, TypedValueParser},
};
use clap_complete::Shell;
use foxtrot::{
    options::{MAX_PEER_KEYS, MIN_COUNT, MIN_PEER_KEYS},
    psi::fields::Duplicates,
};
use foxtrot_ot::Backend;
use foxtrot_psi::method::Assumption;

use agreeing::duplicates;
pub(crate) use agreeing::{Agreeing, Counts, Joining, Sharing, Trying};
pub(crate) use keys::{KeygenArgs, PeersCommand};
pub(crate) use paths::{Use, use_of};
pub(crate) use peer::{Name, Peer};
pub(crate) use serving::{MostSessions, NamedSet, PerDay, Standing};
pub(crate) use set::{Column, Delimiter, KeyColumns, OrKeys, OtherOptions, SetFormat, SetOptions};
pub(crate) use sharding::{GatewayArgs, Sharding};
pub(crate) use triples::{TriplesCommand, TriplesMethod, TriplesOut};
pub use values::threads;
use values::{address, between, between_of, named, origin, route, seconds};

/// Seconds of a day.
const A_DAY: u64 = 86_400;

/// Headings of groups of options, the same in every command.
mod heading {
    pub(super) const INPUT: &str = "Input";
    pub(super) const OUTPUT: &str = "Output";
    pub(super) const CONNECTION: &str = "Connection";
    pub(super) const SECURITY: &str = "Security";
    pub(super) const SERVER: &str = "Server";
    pub(super) const MACHINES: &str = "Many machines";
    pub(super) const SPEED: &str = "Speed";
}

/// The version, and the backends of this processor.
pub static VERSION: LazyLock<String> = LazyLock::new(|| {
    let backends: Vec<_> = Backend::all().map(Backend::name).collect();
    let (version, backend) = (env!("CARGO_PKG_VERSION"), Backend::best().name());
    format!("{version}\nbackend: {backend} (this processor has {})", backends.join(", "))
});

/// Private set intersection, oblivious transfer and multiplication triples between two parties,
/// post-quantum by default.
///
/// Results go to standard output, everything else to standard error.
#[derive(Parser)]
#[command(
    name = "foxtrot",
    version = VERSION.as_str(),
    max_term_width = 100,
    after_help = examples::of_program(),
    mut_subcommands(examples::add)
)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one, of the whole program")]
pub(crate) enum Command {
    /// Find the rows of two files that have the same key (private set intersection)
    #[command(subcommand)]
    Psi(PsiCommand),
    /// Oblivious transfer: the receiver gets one of two messages, the sender does not learn which
    #[command(subcommand)]
    Ot(OtCommand),
    /// Random oblivious transfer: make key pairs for the sender, choice bits and chosen keys for the
    /// receiver
    #[command(subcommand)]
    Rot(RotCommand),
    /// Make multiplication triples modulo 2^8, 2^16, 2^32 or 2^64 (semi-honest)
    ///
    /// A triple is two random numbers a, b and c = a·b. Each party gets a share of every number.
    #[command(subcommand)]
    Triples(TriplesCommand),
    /// List all protocols with security, flows and bytes
    Protocols(ProtocolsArgs),
    /// Generate an identity key and print its fingerprint
    Keygen(KeygenArgs),
    /// Name the keys of peers; --peer accepts a name or a fingerprint
    #[command(subcommand)]
    Peers(PeersCommand),
    /// Print manual pages and completions for a shell
    #[command(subcommand)]
    Generate(GenerateCommand),
}

#[derive(Subcommand)]
pub(crate) enum OtCommand {
    /// Run both parties in one process
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
        #[arg(long, help_heading = heading::INPUT)]
        hex: bool,
        /// Answer all peers concurrently until interrupted. Each session transfers one message of each
        /// pair, so a peer that connects twice may get both
        #[arg(long, help_heading = heading::SERVER, conflicts_with_all = ["connect", "behind", "wait"])]
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

/// The number of messages of which one is chosen.
#[derive(ClapArgs)]
pub(crate) struct OneOf {
    /// Transfer one of N messages each, 2 to 65536 (must be the same on both sides)
    #[arg(help_heading = heading::INPUT, id = "one_of", long = "one-of", value_name = "N", default_value_t = 2, value_parser = between::<usize>(2..=1 << 16))]
    pub(crate) choices: usize,
}

/// The place of received messages.
#[derive(ClapArgs)]
#[command(next_help_heading = heading::OUTPUT)]
pub(crate) struct MessagesOut {
    /// Write the received messages to this file, which is replaced; `-` is standard output [default: -]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Lines are hexadecimal (must be the same on both sides)
    #[arg(long)]
    pub(crate) hex: bool,
}

#[derive(Subcommand)]
pub(crate) enum RotCommand {
    /// Run both parties in one process; write PREFIX.sender.* and PREFIX.receiver.*
    Local {
        #[command(flatten)]
        out: KeysOut,
        #[command(flatten)]
        common: Common,
    },
    /// Make both keys of each pair; write PREFIX.keys
    Send(RotParty),
    /// Make the choice bits and the chosen keys; write PREFIX.keys and PREFIX.choices
    Receive(RotParty),
}

/// Options of one party of `rot`.
#[derive(ClapArgs)]
pub(crate) struct RotParty {
    #[command(flatten)]
    pub(crate) out: KeysOut,
    #[command(flatten)]
    pub(crate) transport: Transport,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// The number of keys, and their place.
#[derive(ClapArgs)]
#[command(next_help_heading = heading::OUTPUT)]
pub(crate) struct KeysOut {
    /// Number of transfers (must be the same on both sides)
    #[arg(short, value_name = "N", value_parser = between::<u64>(1..=1 << 32))]
    pub(crate) n: u64,
    /// Prefix of the output files (mode 0600)
    #[arg(short, long, value_name = "PREFIX")]
    pub(crate) output: PathBuf,
    /// File format
    #[arg(long, value_enum, default_value_t = Format::Raw)]
    pub(crate) format: Format,
    /// Replace existing files
    #[arg(long)]
    pub(crate) force: bool,
}

/// Options as an intersection has them: it chooses its extension by itself.
fn for_psi(option: Arg) -> Arg {
    match option.get_id().as_str() {
        "base" => option.default_value("roted-endemic"),
        "extension" => option.hide(true),
        _ => option,
    }
}

#[derive(Subcommand)]
pub(crate) enum PsiCommand {
    /// Run both parties in one process; print the rows of A whose keys are also in B
    #[command(mut_args(for_psi))]
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
        or_keys: OrKeys,
        #[command(flatten)]
        trying: Trying,
        #[command(flatten)]
        out: RowsOut,
        #[command(flatten)]
        rests: RestsOn,
        #[command(flatten)]
        common: Common,
    },
    /// Compare a file with the peer's file; the peer runs `psi send`
    #[command(mut_args(for_psi))]
    Receive {
        /// The set: a table or lines, UTF-8; `-` is standard input
        set: PathBuf,
        #[command(flatten)]
        options: SetOptions,
        #[command(flatten)]
        or_keys: OrKeys,
        /// Compare with the peer's set of this name
        #[arg(long = "set", id = "asked", help_heading = heading::CONNECTION, value_name = "NAME")]
        asked: Option<Name>,
        #[command(flatten)]
        joining: Joining,
        #[command(flatten)]
        out: RowsOut,
        #[command(flatten)]
        meeting: Meeting,
    },
    /// Answer a peer that runs `psi receive`; this side learns only the size of the peer's set and the
    /// names of its key columns
    #[command(mut_args(for_psi))]
    Send {
        /// The set: a table or lines, UTF-8; `-` is standard input
        #[arg(required_unless_present = "named")]
        set: Option<PathBuf>,
        #[command(flatten)]
        options: SetOptions,
        #[command(flatten)]
        or_keys: OrKeys,
        #[command(flatten)]
        sharing: Sharing,
        /// Answer all peers concurrently until interrupted. A peer that returns with other keys learns
        /// about those keys also
        #[arg(long, help_heading = heading::SERVER, conflicts_with_all = ["connect", "behind", "shards", "wait"])]
        serve: bool,
        /// Serve this file under a name, to receivers that pass --set NAME. Repeat for several sets, which are
        /// read by the same options
        #[arg(long = "set", id = "named", help_heading = heading::SERVER, value_name = "NAME=FILE", requires = "serve")]
        named: Vec<NamedSet>,
        #[command(flatten)]
        standing: Standing,
        #[command(flatten)]
        sessions: MostSessions,
        #[command(flatten)]
        meeting: Meeting,
    },
    /// Count the common keys of two files; neither side learns which they are. Both sides run this command
    /// (semi-honest)
    #[command(mut_args(for_psi))]
    Count(Counting),
    /// Count the common keys of two files and add up numbers of one side beside them; neither side learns
    /// which keys they are (semi-honest)
    #[command(mut_args(for_psi))]
    Sum {
        #[command(flatten)]
        counting: Counting,
        #[command(flatten)]
        summing: Summing,
    },
    /// Join the machines of two companies on one port, for an intersection of many machines
    ///
    /// Connections with the same --route meet: one from outside, with --connect, and one of our machines, with --behind. The
    /// gateway has no keys; TLS is between the two machines.
    Gateway(GatewayArgs),
    /// Show how a file is read: rows, keys, duplicates, rows without a key
    Inspect {
        /// The set: a table or lines, UTF-8; `-` is standard input
        set: PathBuf,
        #[command(flatten)]
        options: SetOptions,
        /// Print the first N keys, before and after --normalize
        #[arg(long, help_heading = heading::OUTPUT, value_name = "N", default_value_t = 0, conflicts_with = "left_out")]
        show: usize,
        /// Print the skipped rows as they are in the file: duplicates and rows without a key
        #[arg(long, help_heading = heading::OUTPUT)]
        left_out: bool,
        /// Write the skipped rows to this file; `-` is standard output [default: -]
        #[arg(short, long, help_heading = heading::OUTPUT, value_name = "OUT", requires = "left_out")]
        output: Option<PathBuf>,
        /// Print one JSON object
        #[arg(long, help_heading = heading::OUTPUT, conflicts_with = "left_out")]
        json: bool,
    },
}

/// Options of an intersection with a peer.
#[derive(ClapArgs)]
pub(crate) struct Meeting {
    #[command(flatten)]
    pub(crate) most: MostKeys,
    #[command(flatten)]
    pub(crate) agreeing: Agreeing,
    #[command(flatten)]
    pub(crate) rests: RestsOn,
    /// Keep base OTs in this directory for the next session with the same peer, which has to do the same. Saves
    /// about 0.4 MB in later sessions. The sender's secret then stays on disk between sessions
    #[arg(help_heading = heading::SECURITY, long, value_name = "DIR", conflicts_with_all = ["insecure", "websocket", "semi_honest"])]
    pub(crate) resume_base: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) sharding: Sharding,
    #[command(flatten)]
    pub(crate) transport: Transport,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Options of counts and sums.
#[derive(ClapArgs)]
pub(crate) struct Counting {
    /// The set: a table or lines, UTF-8; `-` is standard input
    pub(crate) set: PathBuf,
    #[command(flatten)]
    pub(crate) options: SetOptions,
    #[arg(long, help_heading = heading::SECURITY, value_name = "K", help = MIN_COUNT.help, default_value_t = MIN_COUNT.number())]
    pub(crate) min_count: u64,
    /// Answer all peers concurrently until interrupted. A peer that returns with one key more learns from the
    /// difference whether this side has that key
    #[arg(long, help_heading = heading::SERVER, conflicts_with_all = ["connect", "behind", "wait"])]
    pub(crate) serve: bool,
    #[command(flatten)]
    pub(crate) standing: Standing,
    #[command(flatten)]
    pub(crate) sessions: MostSessions,
    #[command(flatten)]
    pub(crate) most: MostKeys,
    #[command(flatten)]
    pub(crate) agreeing: Agreeing,
    #[command(flatten)]
    pub(crate) transport: Transport,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Numbers that are added up.
#[derive(ClapArgs)]
#[command(next_help_heading = heading::INPUT)]
pub(crate) struct Summing {
    /// Our column of whole numbers, at one of the two sides
    #[arg(long, value_name = "COL")]
    pub(crate) value: Option<Column>,
    /// The largest number that there may be (must be the same on both sides). Sums stay below 2^64
    #[arg(long, value_name = "N", default_value_t = u32::MAX.into())]
    pub(crate) largest: u64,
    /// The row that has the number, of rows with the same key
    #[arg(long, value_name = "RULE", default_value = "refuse", value_parser = duplicates())]
    pub(crate) duplicates: Duplicates,
}

/// The place of the rows that both sets have.
#[derive(ClapArgs, Default)]
#[command(next_help_heading = heading::OUTPUT)]
pub(crate) struct RowsOut {
    /// Write the rows to this file, which is replaced; `-` is standard output [default: -]
    #[arg(short, long, value_name = "OUT")]
    pub(crate) output: Option<PathBuf>,
    /// Print only the number of common keys. The receiver's program still learns the rows
    #[arg(long, conflicts_with = "output")]
    pub(crate) count: bool,
    /// Write the rows without a match instead, rows without a key included
    #[arg(long, conflicts_with = "count")]
    pub(crate) invert: bool,
    /// Put ' in front of fields of --with that a spreadsheet would take for a formula; see docs/psi-files.md. Our own
    /// columns stay as they are
    #[arg(long, requires = "with")]
    pub(crate) safe_cells: bool,
}

/// The assumption of an intersection.
#[derive(ClapArgs)]
pub(crate) struct RestsOn {
    /// Assumption besides that of the base OTs (must be the same on both sides): hashes and ciphers, or
    /// also LPN, a younger assumption that sends far fewer bytes for large sets
    #[arg(help_heading = heading::SECURITY, long, value_name = "NAME", default_value_t, value_parser = assumption())]
    pub(crate) assumption: Assumption,
}

/// A parser of the names of assumptions.
fn assumption() -> impl TypedValueParser<Value = Assumption> {
    named(Assumption::ALL.map(|it| (it, PossibleValue::new(it.name()))))
}

/// The largest and the smallest set that the peer may have.
#[derive(ClapArgs)]
pub(crate) struct MostKeys {
    #[arg(help_heading = heading::SECURITY, long = "max-peer-keys", alias = "max-peer", value_name = "N", help = MAX_PEER_KEYS.help, default_value_t = MAX_PEER_KEYS.size(), value_parser = between_of(&MAX_PEER_KEYS))]
    pub(crate) keys: usize,
    #[arg(help_heading = heading::SECURITY, long = "min-peer-keys", alias = "min-size", value_name = "N", help = MIN_PEER_KEYS.help, default_value_t = MIN_PEER_KEYS.size(), value_parser = between_of(&MIN_PEER_KEYS))]
    pub(crate) least: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Keys of 16 bytes without separators; packed choice bits, least significant bit first
    Raw,
    /// NumPy arrays of u8
    Npy,
}

/// Options that say how to reach the peer.
#[derive(ClapArgs)]
#[command(next_help_heading = heading::CONNECTION)]
#[command(group(ArgGroup::new("address").required(true).args(["listen", "connect", "behind", "serial", "websocket"])))]
pub(crate) struct Transport {
    /// Wait for the peer at this address, HOST:PORT; port 0 picks a free one
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) listen: Option<String>,
    /// Connect to the peer at this address, HOST:PORT
    #[arg(long, value_name = "ADDR", value_parser = address)]
    pub(crate) connect: Option<String>,
    /// Wait for a browser at this address, HOST:PORT, over WebSocket. What goes over the network is not encrypted
    /// here: let a proxy with TLS stand before it, or use it on one machine
    #[arg(long, value_name = "ADDR", value_parser = address, conflicts_with_all = ["identity", "peer", "insecure"])]
    pub(crate) websocket: Option<String>,
    /// Also serve the page that opens a file and runs `psi receive` in the browser
    #[arg(long, requires = "websocket")]
    pub(crate) page: bool,
    /// Accept pages of this origin, for example https://psi.example.org. Repeat for several; with --page, pages of
    /// ADDR are accepted
    #[arg(long, value_name = "ORIGIN", requires = "websocket", value_parser = origin)]
    pub(crate) allow_origin: Vec<String>,
    /// File with the token that browsers need, readable by its owner only; or with lines NAME TOKEN, one for each
    /// peer [default: a new token, which is printed]
    #[arg(long, help_heading = heading::SECURITY, value_name = "FILE", requires = "websocket")]
    pub(crate) tokens: Option<PathBuf>,
    /// Meet the peer behind the gateway whose inner address is this, HOST:PORT; the peer connects to its outer
    /// address. See `foxtrot psi gateway`
    #[arg(long, value_name = "ADDR", requires = "route", value_parser = address)]
    pub(crate) behind: Option<String>,
    /// The name on which both sides meet at a gateway
    #[arg(long, value_name = "NAME", conflicts_with_all = ["listen", "serial", "websocket"], value_parser = route)]
    pub(crate) route: Option<String>,
    /// Reach a device over this serial line: a device file, or the UNIX socket of an emulator. `ot` and `rot`
    /// without extension only
    #[arg(long, value_name = "DEVICE|SOCKET", requires = "psk", conflicts_with_all = ["identity", "peer", "insecure"])]
    pub(crate) serial: Option<PathBuf>,
    /// Bits per second of the serial line
    #[arg(long, value_name = "BAUD", default_value_t = 115_200, requires = "serial")]
    pub(crate) baud: u32,
    /// File with the key of the serial line, the same as the device's: 64 hexadecimal digits, readable by its owner
    /// only
    #[arg(long, help_heading = heading::SECURITY, value_name = "FILE", requires = "serial")]
    pub(crate) psk: Option<PathBuf>,
    /// Identity key file, made by `foxtrot keygen` [default: identity.pem in the user's configuration
    /// directory]
    #[arg(long, help_heading = heading::SECURITY, value_name = "FILE")]
    pub(crate) identity: Option<PathBuf>,
    /// The peer's key: a fingerprint, which `foxtrot keygen --show` prints at the peer, or a name from
    /// `foxtrot peers add`. Repeat to accept several peers
    #[arg(long, help_heading = heading::SECURITY, value_name = "PEER")]
    pub(crate) peer: Vec<Peer>,
    /// Seconds to wait until the peer appears [default: 30 when connecting, unlimited when listening]
    #[arg(long, value_name = "SECS", value_parser = seconds(1..=365 * A_DAY))]
    pub(crate) wait: Option<Duration>,
    /// Plain TCP without encryption or authentication, for one machine and for tests
    #[arg(long, help_heading = heading::SECURITY, conflicts_with_all = ["identity", "peer"])]
    pub(crate) insecure: bool,
    /// Write an audit record to this file, one JSON object: time, peer, job, outcome; never keys or
    /// messages. With --serve each session appends a line
    #[arg(long, help_heading = heading::OUTPUT, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
}

/// Options of every run.
#[derive(ClapArgs)]
pub(crate) struct Common {
    /// Base OT, see `foxtrot protocols` (must be the same on both sides)
    #[arg(long, help_heading = heading::SECURITY, value_name = "NAME", default_value = "roted")]
    pub(crate) base: String,
    /// OT extension: none, softspoken, softspoken-1 to -8, kos, iknp, silent; for `ot` also kos-two-round, and
    /// with --one-of oos, oos-802 or kkrt; see `foxtrot protocols` (must be the same on both sides)
    /// [default: softspoken; none for `ot` with at most 128 transfers; oos or kkrt with --one-of]
    #[arg(long, help_heading = heading::SECURITY, value_name = "NAME")]
    pub(crate) extension: Option<String>,
    /// Use cheaper protocols that are secure only if the peer follows them (must be the same on both
    /// sides)
    #[arg(long, help_heading = heading::SECURITY)]
    pub(crate) semi_honest: bool,
    /// Number of threads; the peer may use another number
    #[arg(long, help_heading = heading::SPEED, value_name = "N", default_value_t = 1, value_parser = threads)]
    pub(crate) threads: usize,
    /// Print one JSON object about the run to standard output
    #[arg(long, help_heading = heading::OUTPUT)]
    pub(crate) json: bool,
    /// Print only results, errors and the listening address
    #[arg(short, long, help_heading = heading::OUTPUT)]
    pub(crate) quiet: bool,
    /// Print protocols and progress details to standard error; never prints secrets
    #[arg(short, long, help_heading = heading::OUTPUT, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Abort if a connected peer is silent for this many seconds
    #[arg(long, help_heading = heading::CONNECTION, value_name = "SECS", default_value = "30", value_parser = seconds(1..=A_DAY))]
    pub(crate) timeout: Duration,
}

/// The file of an `-o`: without it, and for `-`, there is standard output.
pub(crate) fn file(output: &Option<PathBuf>) -> Option<&Path> {
    output.as_deref().filter(|path| *path != Path::new("-"))
}

#[derive(ClapArgs)]
pub(crate) struct ProtocolsArgs {
    /// A protocol or a family, about which everything is printed
    pub(crate) name: Option<String>,
    /// Print a row for each protocol instead of a row for each family
    #[arg(long, conflicts_with_all = ["name", "json", "markdown"])]
    pub(crate) all: bool,
    /// Print a JSON array
    #[arg(long, conflicts_with = "name")]
    pub(crate) json: bool,
    /// Print the page `docs/protocols/README.md`
    #[arg(long, conflicts_with_all = ["name", "json"])]
    pub(crate) markdown: bool,
}

#[derive(Subcommand)]
pub(crate) enum GenerateCommand {
    /// Print a manual page
    Man {
        /// Subcommand, for example `ot send`
        subcommand: Vec<String>,
        /// Write the page of every subcommand into this directory, which is made
        #[arg(long, value_name = "DIR", conflicts_with = "subcommand")]
        all: Option<PathBuf>,
    },
    /// Print completions
    Completions {
        /// Shell
        shell: Shell,
    },
}
