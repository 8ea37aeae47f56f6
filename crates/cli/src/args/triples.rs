//! `foxtrot triples`.

use std::path::PathBuf;

use clap::{
    Arg, Args as ClapArgs, Subcommand, ValueEnum,
    builder::{PossibleValue, TypedValueParser},
};
use foxtrot_triples::formats::Format;

use super::{
    Common, Transport, heading,
    values::{among, between, named},
};

/// Options as triples have them: the method chooses all protocols.
fn for_triples(option: Arg) -> Arg {
    let is_chosen = matches!(option.get_id().as_str(), "base" | "extension" | "semi_honest");
    if is_chosen { option.hide(true) } else { option }
}

#[derive(Subcommand)]
#[expect(clippy::large_enum_variant, reason = "there is one, of the whole program")]
pub(crate) enum TriplesCommand {
    /// Run both parties in one process; write the files of both, P0 and P1, into DIR
    #[command(mut_args(for_triples))]
    Local {
        #[command(flatten)]
        out: TriplesOut,
        #[command(flatten)]
        common: Common,
    },
    /// Make triples with a peer that also runs `triples generate`
    ///
    /// Semi-honest: the triples are secret and correct only if the peer follows the protocol. A
    /// cheating peer is not detected.
    #[command(mut_args(for_triples))]
    Generate {
        /// Number of this party; the peer is the other one
        #[arg(long, help_heading = heading::CONNECTION, value_name = "0|1", value_parser = among([0_u8, 1], "must be 0 or 1"))]
        party: u8,
        #[command(flatten)]
        out: TriplesOut,
        #[command(flatten)]
        transport: Transport,
        #[command(flatten)]
        common: Common,
    },
    /// Check the triples of two parties and name the first wrong one; for tests, as it reads the
    /// secrets of both
    Verify {
        /// Directory with the triples of one party, or of both
        first: PathBuf,
        /// Directory with the other party's triples [default: FIRST]
        second: Option<PathBuf>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
}

/// The triples to make, and their place.
#[derive(ClapArgs)]
#[command(next_help_heading = heading::OUTPUT)]
pub(crate) struct TriplesOut {
    /// Number of triples (must be the same on both sides)
    #[arg(short = 'n', long = "count", value_name = "N", value_parser = between::<u64>(1..=1 << 40))]
    pub(crate) count: u64,
    /// Bits of a share: 8, 16, 32 or 64, or 1 for XOR shares of AND triples (must be the same on both sides)
    #[arg(long, value_name = "BITS", value_parser = among([1_u32, 8, 16, 32, 64], "must be 1, 8, 16, 32 or 64"))]
    pub(crate) bits: u32,
    /// Statistical security of rlwe and auto per batch of 4095 to 32767 triples, 40 or 64 bits; the run
    /// prints its total (must be the same on both sides)
    #[arg(long, help_heading = heading::SECURITY, value_name = "BITS", default_value = "40", value_parser = among([40_u32, 64], "must be 40 or 64"))]
    pub(crate) sigma: u32,
    /// Protocol (must be the same on both sides) [default: auto; with --sigma 64 or --lift, rlwe; with --bits 1, gilboa]
    #[arg(long, help_heading = heading::SECURITY, value_enum)]
    pub(crate) method: Option<TriplesMethod>,
    /// With rlwe and auto: use no random OT per triple. A triple takes more bytes and is wrong with
    /// probability 2^-41, or 2^-67 with --sigma 64 (must be the same on both sides)
    #[arg(long, help_heading = heading::SECURITY)]
    pub(crate) lift: bool,
    /// New directory for the triples (files of mode 0600); DIR.partial until they are complete
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: PathBuf,
    /// File format of the triples a, b, c; the peer may use another one
    #[arg(long, default_value = "raw", value_parser = format())]
    pub(crate) format: Format,
    /// Continue the run that left DIR.partial, on both sides. Use the same options as in the first run
    #[arg(long)]
    pub(crate) resume: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum TriplesMethod {
    /// Ring-LWE with rounding and a random OT per triple
    Rlwe,
    /// Oblivious transfer only: fast for few triples, more bytes for many
    Gilboa,
    /// gilboa with less computation and more bytes
    GilboaK2,
    /// gilboa with fewer bytes and more computation
    GilboaK8,
    /// gilboa for up to 2048 triples, rlwe above
    Auto,
    /// With --bits 1: silent OTs, which send little and assume LPN
    Silent,
}

impl TriplesMethod {
    /// Its name.
    pub(crate) fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |it| it.get_name().to_owned())
    }
}

/// A parser of file formats.
fn format() -> impl TypedValueParser<Value = Format> {
    named(Format::ALL.map(|format| {
        let help = match format {
            Format::Raw => "Little-endian numbers without a header",
            Format::Npy => {
                "A NumPy array of N × 3 unsigned numbers; with --bits 1, N/64 × 3 words"
            }
            Format::MpSpdz => {
                "Files for MP-SPDZ's semi2k: 2-DR-64/Triples-DR-P0 and -P1; with --bits 1 for semi-bin: \
                 2-DB-64/Triples-DB-P0 and -P1"
            }
        };
        (format, PossibleValue::new(format.name()).help(help))
    }))
}
