//! `foxtrot triples`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};
use foxtrot_triples::formats;

use super::{Common, Transport};

#[derive(Subcommand)]
pub(crate) enum TriplesCommand {
    /// Both parties in this process; DIR gets the files of both, P0 and P1
    #[command(
        mut_arg("base", |it| it.hide(true)),
        mut_arg("extension", |it| it.hide(true)),
        mut_arg("semi_honest", |it| it.hide(true))
    )]
    Local {
        #[command(flatten)]
        out: TriplesOut,
        #[command(flatten)]
        common: Common,
    },
    /// Make triples with a peer that runs `triples generate`, too
    ///
    /// Semi-honest: secret from a peer that follows the protocol, and right only if it does. Nothing
    /// finds out a peer that departs from it
    #[command(
        mut_arg("base", |it| it.hide(true)),
        mut_arg("extension", |it| it.hide(true)),
        mut_arg("semi_honest", |it| it.hide(true))
    )]
    Generate {
        /// Which party this side is; the peer is the other one
        #[arg(long, value_name = "0|1", value_parser = clap::value_parser!(u8).range(0..=1))]
        party: u8,
        #[command(flatten)]
        out: TriplesOut,
        #[command(flatten)]
        transport: Transport,
        #[command(flatten)]
        common: Common,
    },
    /// Check that the triples of two parties are right, and name the first that is not. It takes the
    /// secrets of both, so it is for tests
    Verify {
        /// Directory with the triples of one party, or of both
        first: PathBuf,
        /// Directory with those of the other [default: the same]
        second: Option<PathBuf>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

/// What is to be made, and where it goes.
#[derive(ClapArgs)]
pub(crate) struct TriplesOut {
    /// Number of triples (must be the same on both sides)
    #[arg(short = 'n', long = "count", value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1 << 40))]
    pub(crate) count: u64,
    /// Bits of a share: 8, 16, 32 or 64 (must be the same on both sides)
    #[arg(long, value_name = "BITS", value_parser = bits)]
    pub(crate) bits: u32,
    /// For --method rlwe and auto: statistical security per batch of 4095 to 32767 triples, 40 or 64 bits (must be the same on
    /// both sides); what a run has is said when it begins
    #[arg(long, value_name = "BITS", default_value = "40", value_parser = sigma)]
    pub(crate) sigma: u32,
    /// How they are made (must be the same on both sides)
    #[arg(long, value_enum, default_value_t = TriplesMethod::Rlwe)]
    pub(crate) method: TriplesMethod,
    /// For --method rlwe and auto: no random OT per triple, but more bytes, and one triple in 2^41 is wrong, with
    /// --sigma 64 in 2^67 (must be the same on both sides)
    #[arg(long)]
    pub(crate) lift: bool,
    /// Directory to make, with files of mode 0600; until they are complete it is DIR.partial
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// File format, triple after triple a, b and c; the peer may have another one
    #[arg(long, value_enum, default_value_t = TriplesFormat::Raw)]
    pub(crate) format: TriplesFormat,
    /// Continue the run that left DIR.partial (on both sides); all else as then
    #[arg(long)]
    pub(crate) resume: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TriplesMethod {
    /// Ring-LWE with rounding, and a random OT per triple
    Rlwe,
    /// Oblivious transfer: any number of triples, and most bytes; for few triples, and where ring-LWE is not trusted
    Gilboa,
    /// The same with less computing and more bytes
    GilboaK2,
    /// The same with fewer bytes and more computing
    GilboaK8,
    /// Up to 2048 triples gilboa, more rlwe: for who trusts both
    Auto,
}

impl TriplesMethod {
    /// Its name.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Rlwe => "rlwe",
            Self::Gilboa => "gilboa",
            Self::GilboaK2 => "gilboa-k2",
            Self::GilboaK8 => "gilboa-k8",
            Self::Auto => "auto",
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TriplesFormat {
    /// Numbers, little endian, and nothing else
    Raw,
    /// A NumPy array of N × 3 unsigned numbers
    Npy,
    /// As MP-SPDZ's semi2k reads it: 2-DR-64/Triples-DR-P0 and -P1
    MpSpdz,
}

impl From<TriplesFormat> for formats::Format {
    fn from(format: TriplesFormat) -> Self {
        match format {
            TriplesFormat::Raw => Self::Raw,
            TriplesFormat::Npy => Self::Npy,
            TriplesFormat::MpSpdz => Self::MpSpdz,
        }
    }
}

fn bits(text: &str) -> Result<u32, String> {
    one_of(text, &[8, 16, 32, 64]).ok_or_else(|| "not 8, 16, 32 or 64".into())
}

fn sigma(text: &str) -> Result<u32, String> {
    one_of(text, &[40, 64]).ok_or_else(|| "not 40 or 64".into())
}

fn one_of(text: &str, numbers: &[u32]) -> Option<u32> {
    text.parse().ok().filter(|number| numbers.contains(number))
}
