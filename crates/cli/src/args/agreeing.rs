//! Options about what the two sides of an intersection agree on, and who answers for it.

use std::path::PathBuf;

use clap::{
    Args as ClapArgs, ValueEnum,
    builder::{PossibleValue, TypedValueParser},
};
use foxtrot::{
    options::WIDTH,
    psi::fields::{self, Duplicates},
};

use super::{
    Column, KeyColumns, PerDay, heading,
    values::{between_of, named},
};

/// The policy, its witness, and the question before a run.
#[derive(ClapArgs)]
pub(crate) struct Agreeing {
    /// Refuse every run that this file (TOML, see docs/policy.md) does not allow; the peer needs a policy
    /// with the same rules. Without --peer, the peers are those that the policy names
    #[arg(long, help_heading = heading::SECURITY, value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// Append JSON lines to this file (mode 0600), for each run and for refused peers: time, peer, policy,
    /// function, sizes, result count, transcript, outcome; never keys. No run begins whose first line
    /// cannot be written. See docs/audit.md
    #[arg(long, help_heading = heading::OUTPUT, value_name = "FILE")]
    pub(crate) audit: Option<PathBuf>,
    /// Do not ask on the terminal before the run
    #[arg(short, long, help_heading = heading::SECURITY)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) per_day: PerDay,
}

/// The receiver's options for more than its matches.
#[derive(ClapArgs)]
#[command(next_help_heading = heading::INPUT)]
pub(crate) struct Joining {
    /// Also get these columns of the sender for each match, as in city,plan; the sender names them with
    /// --share. They stand behind the columns of the output
    #[arg(long, value_name = "COLS", conflicts_with_all = ["or_key", "both"])]
    pub(crate) with: Option<Names>,
    /// The sender also learns which of its rows match (must be the same on both sides)
    #[arg(long, conflicts_with = "or_key")]
    pub(crate) both: bool,
    #[command(flatten)]
    pub(crate) padding: Padding,
}

/// The sender's options for columns, and for matches of its own.
#[derive(ClapArgs)]
#[command(next_help_heading = heading::INPUT)]
pub(crate) struct Sharing {
    /// Let the receiver have these columns for each match, as in city,plan
    #[arg(long, value_name = "COLS", conflicts_with_all = ["or_key", "both"])]
    pub(crate) share: Option<KeyColumns>,
    /// Also learn which of our rows match (must be the same on both sides). The peer can keep matches back
    #[arg(long, conflicts_with_all = ["or_key", "serve"])]
    pub(crate) both: bool,
    /// With --both, write our rows that match to this file, which is replaced; `-` is standard output
    /// [default: -]
    #[arg(short, long, help_heading = heading::OUTPUT, value_name = "OUT", requires = "both")]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) padding: Padding,
}

/// Options of a trial on one machine.
#[derive(ClapArgs)]
#[command(next_help_heading = heading::INPUT)]
pub(crate) struct Trying {
    /// Also get these columns of B for each match, as in city,plan. They stand behind the columns of the output
    #[arg(long, value_name = "COLS", conflicts_with = "or_key")]
    pub(crate) with: Option<KeyColumns>,
    /// Print what `psi count` or `psi sum` prints, in place of rows
    #[arg(long, value_enum, value_name = "NAME", conflicts_with_all = ["with", "or_key", "count", "invert", "output"])]
    pub(crate) function: Option<Counts>,
    /// With --function sum, the column of whole numbers of B
    #[arg(long, value_name = "COL", requires = "function", required_if_eq("function", "sum"))]
    pub(crate) value: Option<Column>,
    /// With --function sum, the largest number that there may be
    #[arg(long, value_name = "N", requires = "function", default_value_t = u32::MAX.into())]
    pub(crate) largest: u64,
    /// With --function, tell nothing if fewer keys are common
    #[arg(long, value_name = "K", requires = "function", default_value_t = 0)]
    pub(crate) min_count: u64,
    #[command(flatten)]
    pub(crate) padding: Padding,
}

/// Functions that tell no rows.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Counts {
    /// Number of common keys
    Count,
    /// And the sum of the numbers of B beside these
    Sum,
}

/// The form in which columns go to the receiver.
#[derive(ClapArgs, Clone, Copy)]
#[command(next_help_heading = heading::INPUT)]
pub(crate) struct Padding {
    /// Bytes to which each field of --with and --share is padded (must be the same on both sides)
    #[arg(long, value_name = "BYTES", default_value_t = WIDTH.size(), value_parser = between_of(&WIDTH))]
    pub(crate) width: usize,
    /// With --with and --share, which of the sender's rows with the same key is taken (must be the same on
    /// both sides)
    #[arg(long, value_name = "RULE", default_value = "refuse", value_parser = duplicates())]
    pub(crate) duplicates: Duplicates,
}

/// A parser of rules for rows that have the same key.
pub(super) fn duplicates() -> impl TypedValueParser<Value = Duplicates> {
    named(Duplicates::ALL.map(|rule| {
        let help = match rule {
            Duplicates::Refuse => "There may be none",
            Duplicates::First => "The first in the file",
            Duplicates::Last => "The last in the file",
        };
        (rule, PossibleValue::new(rule.name()).help(help))
    }))
}

/// Names of columns.
#[derive(Clone, Debug)]
pub(crate) struct Names(pub(crate) Vec<String>);

impl std::str::FromStr for Names {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let names: Vec<_> = text.split(',').map(str::to_owned).collect();
        match names.iter().any(String::is_empty) {
            true => Err("a name of a column is empty"),
            false => Ok(Self(names)),
        }
    }
}

impl Padding {
    /// The form of fields.
    pub(crate) fn of_fields(self) -> fields::Padding {
        fields::Padding { width: self.width, duplicates: self.duplicates }
    }
}
