//! The tables of the papers, as data: `bench/tables/*.toml`.

#[cfg(test)]
mod shape;
#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, str::FromStr};

use foxtrot_cli::shared::Failure;
use serde::Deserialize;

use super::figure::Figure;
use crate::{link::Net, over::Over};

macro_rules! files {
    ($($id:literal),* $(,)?) => {
        /// All tables, in the order of the report.
        const FILES: &[(&str, &str)] = &[$((
            $id,
            include_str!(concat!("../../../../bench/tables/", $id, ".toml")),
        )),*];
    };
}

files![
    "peers-psi",
    "peers-extension",
    "peers-base",
    "peers-triples",
    "roted-1",
    "roted-2",
    "roted-3",
    "roted-4",
    "roted-5",
    "roted-fig3",
    "roted-fig4",
    "roted-fig5",
    "roted-fig6",
    "roted-fig7",
    "roted-fig8",
    "batching-1",
    "batching-2",
    "simplest-3",
    "simplest-4",
    "triples-1",
    "triples-2",
    "triples-3",
    "triples-4",
    "triples-5",
    "triples-fig4",
    "triples-fig5",
    "triples-fig6",
];

/// A table or figure of a paper, or of what others' programs come to.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    /// The name of its file.
    #[serde(skip)]
    pub(super) id: &'static str,
    pub(super) paper: String,
    /// The table's number in the paper.
    pub(super) name: String,
    pub(super) title: String,
    /// The way in which the paper's numbers were measured.
    pub(super) setting: String,
    /// The machine that ran others' programs, if it is not this one.
    pub(super) machine: Option<String>,
    /// The way in which our numbers are measured.
    pub(super) ours: String,
    /// Findings, on the machine of our record.
    pub(super) analysis: String,
    /// Title of the horizontal axis, and its measured points, of a table with series.
    pub(super) x_title: Option<String>,
    #[serde(default)]
    pub(super) xs: Vec<usize>,
    /// Quotients of another table.
    pub(super) speedup: Option<Speedup>,
    /// Processors after which groups or columns are named.
    #[serde(default)]
    pub(super) processors: Vec<String>,
    #[serde(default, rename = "column")]
    pub(super) columns: Vec<Column>,
    #[serde(default, rename = "row")]
    pub(super) rows: Vec<Row>,
    #[serde(default)]
    pub(super) series: Vec<Series>,
}

/// A kind of number.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Column {
    pub(super) key: String,
    pub(super) title: String,
    pub(super) unit: String,
    /// The figure of the measurement.
    pub(super) figure: Figure,
    /// The paper's number of threads at each party.
    pub(super) threads: Option<usize>,
    /// The column whose number in the row's `baseline` is divided by that of the row.
    pub(super) quotient: Option<String>,
}

/// Numbers of the paper, by the keys of columns, and how ours are measured.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    #[serde(default)]
    pub(super) group: String,
    pub(super) label: String,
    #[serde(default)]
    pub(super) paper: BTreeMap<String, f64>,
    /// The paper's words where it has no number, or its way to write the number.
    #[serde(default)]
    pub(super) said: BTreeMap<String, String>,
    /// Numbers of ours that are counted, not measured, and asserted by a test.
    #[serde(default)]
    pub(super) counted: BTreeMap<String, f64>,
    /// The quantity that is counted, for the test: a base OT and an operation.
    pub(super) counter: Option<String>,
    /// Our words where there is nothing to count.
    #[serde(default)]
    pub(super) ours: BTreeMap<String, String>,
    /// Another figure than that of the columns.
    pub(super) figure: Option<Figure>,
    /// The label of that row of the group that quotients are of.
    pub(super) baseline: Option<String>,
    /// The benchmark; without it there is none here.
    pub(super) bench: Option<String>,
    pub(super) n: Option<usize>,
    #[serde(default)]
    pub(super) over: Between,
    /// The backend in use if there is none here.
    pub(super) backend: Option<String>,
    /// The base OT.
    pub(super) base: Option<String>,
    /// The benchmark that this one is to overtake.
    pub(super) against: Option<String>,
    /// The reason why we are worse, if we are.
    pub(super) why: Option<String>,
    /// A few words for the row, if it stands for the table.
    pub(super) headline: Option<String>,
}

impl Table {
    /// Returns the place and manner in which the numbers beside ours were measured.
    pub(super) fn theirs(&self) -> String {
        match &self.machine {
            Some(machine) => format!("on {machine}, {}", self.setting),
            None => self.setting.clone(),
        }
    }
}

impl Row {
    /// The base OT that it is of, if it is of one.
    pub(super) fn base_ot(&self) -> Option<&str> {
        let measured = self.bench.as_deref().and_then(|bench| bench.strip_prefix("base/"));
        measured.or_else(|| self.counter.as_deref()?.split(' ').next())
    }
}

/// A row with a value for every x.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Series {
    #[serde(default)]
    pub(super) group: String,
    pub(super) label: String,
    /// The paper's values by x.
    #[serde(default)]
    pub(super) paper: BTreeMap<String, f64>,
    pub(super) figure: Figure,
    pub(super) bench: Option<String>,
    #[serde(default)]
    pub(super) over: Between,
    pub(super) why: Option<String>,
    /// A few words for the last point, if it stands for the table.
    pub(super) headline: Option<String>,
}

/// Speed-ups over a row of another table: all other rows of these groups are divided into it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Speedup {
    pub(super) of: String,
    pub(super) column: String,
    pub(super) groups: Vec<String>,
    pub(super) baseline: String,
    pub(super) baseline_group: String,
}

/// [`Over`], as it stands in a file.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Between(pub(super) Over);

impl Default for Between {
    fn default() -> Self {
        Self(Over::Memory)
    }
}

impl TryFrom<String> for Between {
    type Error = String;

    fn try_from(name: String) -> Result<Self, String> {
        let net = || <Net as clap::ValueEnum>::from_str(&name, false).map(Over::Net);
        match name.as_str() {
            "memory" => Ok(Over::Memory),
            "tcp" => Ok(Over::Tcp),
            _ => net(),
        }
        .map(Self)
    }
}

/// All of them.
///
/// # Errors
/// If a file is not what it should be, which a test rules out.
pub(super) fn all() -> Result<Vec<Table>, Failure> {
    FILES.iter().map(|(id, text)| parse(id, text)).collect()
}

fn parse(id: &'static str, text: &str) -> Result<Table, Failure> {
    let table = toml::from_str(text)
        .map_err(|e| Failure::run(format!("the table {id} cannot be read: {e}")))?;
    Ok(Table { id, ..table })
}

/// Selects the tables that are named, or whose names begin with a given one, and the tables that these are
/// computed from; all if none is named.
///
/// # Errors
/// If there is none of such a name.
pub(super) fn select(names: &[String]) -> Result<Vec<Table>, Failure> {
    let all = all()?;
    let named = |id: &str, name: &String| id == name || id.starts_with(&format!("{name}-"));
    for name in names {
        if !all.iter().any(|table| named(table.id, name)) {
            let ids: Vec<_> = all.iter().map(|table| table.id).collect();
            return Err(Failure::usage(format!("there is no table named {name}"))
                .hint(format!("there are {}", ids.join(", "))));
        }
    }
    let wanted = |id: &str| names.is_empty() || names.iter().any(|name| named(id, name));
    let needed: Vec<_> = all
        .iter()
        .filter(|table| wanted(table.id))
        .flat_map(|table| {
            [Some(table.id.to_owned()), table.speedup.as_ref().map(|it| it.of.clone())]
        })
        .flatten()
        .collect();
    Ok(all.into_iter().filter(|table| needed.iter().any(|id| id == table.id)).collect())
}

/// A number of a series.
pub(super) fn at_x(paper: &BTreeMap<String, f64>, x: usize) -> Option<f64> {
    paper.iter().find(|(key, _)| usize::from_str(key) == Ok(x)).map(|(_, value)| *value)
}
