//! Comparisons as files say them: TOML, strict.

use std::{collections::BTreeMap, env, fs, path::Path};

use foxtrot_cli::shared::Failure;
use serde::Deserialize;

/// A file of comparisons.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct File {
    pub(super) title: String,
    /// Differences between the programs, for the reader of a record.
    #[serde(default)]
    pub(super) notes: Vec<String>,
    #[serde(default = "five")]
    pub(super) rounds: usize,
    /// Rounds before the first that counts.
    #[serde(default = "one")]
    pub(super) warm_up: usize,
    /// Seconds after which a run has failed.
    #[serde(default = "ten_minutes")]
    pub(super) timeout: u64,
    /// Environment variables that command lines use, and what each is.
    #[serde(default)]
    pub(super) needs: BTreeMap<String, String>,
    #[serde(rename = "comparison")]
    pub(super) comparisons: Vec<Comparison>,
}

/// A piece of work that several programs do.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Comparison {
    /// The kind of work, by which records group: `extension`, `base`, `psi`.
    pub(super) table: String,
    pub(super) what: String,
    pub(super) unit: Unit,
    /// Operations of a run of each program: its time is divided by them. All do as many, as the first ones in a process
    /// take longer.
    pub(super) work: f64,
    /// True if the comparison stands for the record.
    #[serde(default)]
    pub(super) headline: bool,
    pub(super) ours: Program,
    #[serde(rename = "peer")]
    pub(super) peers: Vec<Program>,
}

/// A program that does the work.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Program {
    pub(super) name: String,
    /// A line for `sh`. A run ends when all processes that it starts have ended.
    pub(super) command: String,
    #[serde(default)]
    pub(super) environment: BTreeMap<String, String>,
}

/// A unit of time for each operation: `ns per OT`.
#[derive(Clone, Debug, Deserialize)]
#[serde(try_from = "String")]
pub(super) struct Unit {
    pub(super) words: String,
    /// Units of a second.
    pub(super) per_second: f64,
}

impl TryFrom<String> for Unit {
    type Error = String;

    fn try_from(words: String) -> Result<Self, String> {
        let per_second = match words.split(' ').next() {
            Some("ns") => 1e9,
            Some("µs") => 1e6,
            Some("ms") => 1e3,
            Some("s") => 1.0,
            _ => return Err(format!("a unit begins with ns, µs, ms or s, unlike `{words}`")),
        };
        Ok(Self { words, per_second })
    }
}

fn one() -> usize {
    1
}

fn five() -> usize {
    5
}

fn ten_minutes() -> u64 {
    600
}

impl File {
    /// Reads a file, and checks that the environment has what it needs.
    ///
    /// # Errors
    /// If the file cannot be read or is not such a file, or if a variable is missing.
    pub(super) fn read(path: &Path) -> Result<Self, Failure> {
        let text = fs::read_to_string(path).map_err(|e| Failure::reading(path, &e))?;
        let file = Self::parse(&text)
            .map_err(|why| Failure::usage(format!("{}: {why}", path.display())))?;
        match file.needs.iter().find(|(name, _)| env::var_os(name).is_none()) {
            Some((name, what)) => Err(Failure::usage(format!(
                "{} needs the environment variable {name}",
                path.display()
            ))
            .hint(format!("{name} is {what}"))),
            None => Ok(file),
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let file: Self = toml::from_str(text).map_err(|e| e.to_string().trim_end().to_owned())?;
        if file.rounds == 0 {
            return Err("rounds is 0".into());
        }
        if file.comparisons.is_empty() {
            return Err("there is no comparison".into());
        }
        for comparison in &file.comparisons {
            let what = &comparison.what;
            if comparison.peers.is_empty() {
                return Err(format!("`{what}` has no peer"));
            }
            if !(comparison.work.is_finite() && comparison.work > 0.0) {
                return Err(format!("work of `{what}` is not a positive number"));
            }
        }
        Ok(file)
    }
}

impl Comparison {
    /// Returns all programs, ours first.
    pub(super) fn programs(&self) -> impl Iterator<Item = &Program> {
        [&self.ours].into_iter().chain(&self.peers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMPARISON: &str = "[[comparison]]\ntable = 't'\nwhat = 'w'\nunit = 'ns per OT'\nwork = 4.0\n\
                              ours = { name = 'a', command = 'true' }\n";
    const PEER: &str = "[[comparison.peer]]\nname = 'b'\ncommand = 'true'\n";

    fn parse(text: &str) -> Result<File, String> {
        File::parse(text)
    }

    #[test]
    fn a_file_has_defaults_for_what_it_does_not_say() {
        let file = parse(&format!("title = 't'\n{COMPARISON}{PEER}")).unwrap();
        assert_eq!((file.rounds, file.warm_up, file.timeout), (5, 1, 600));
        let comparison = &file.comparisons[0];
        assert_eq!(comparison.unit.per_second, 1e9);
        assert_eq!(comparison.programs().map(|it| &it.name[..]).collect::<Vec<_>>(), ["a", "b"]);
    }

    #[test]
    fn a_file_that_is_not_strictly_right_is_refused_with_the_reason() {
        let whole = format!("title = 't'\n{COMPARISON}{PEER}");
        for (text, why) in [
            (whole.replace("what", "which"), "unknown field `which`"),
            (whole.replace("ns per OT", "hours"), "a unit begins with ns, µs, ms or s"),
            (whole.replace("4.0", "0.0"), "work of `w` is not a positive number"),
            (whole.replace("4.0", "nan"), "work of `w` is not a positive number"),
            (format!("rounds = 0\n{whole}"), "rounds is 0"),
            (whole.replace("4.0", "-1.0"), "work of `w` is not a positive number"),
            (format!("{whole}work = 8.0\n"), "unknown field `work`"),
            (format!("title = 't'\n{COMPARISON}peer = []\n"), "`w` has no peer"),
            (format!("title = 't'\n{COMPARISON}"), "missing field `peer`"),
            ("title = 't'\ncomparison = []\n".into(), "there is no comparison"),
            (whole.replacen("title", "name", 1), "unknown field `name`"),
            (whole.replace("title = 't'\n", ""), "missing field `title`"),
        ] {
            let refused = parse(&text).unwrap_err();
            assert!(refused.contains(why), "{refused}");
        }
    }

    #[test]
    fn the_files_of_the_repository_are_right() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/beside");
        let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
        let files = files.filter(|path| path.extension().is_some_and(|it| it == "toml"));
        let mut seen = 0;
        for path in files {
            let text = fs::read_to_string(&path).unwrap();
            let file = parse(&text).unwrap_or_else(|why| panic!("{}: {why}", path.display()));
            // A folder of one machine is none of another: command lines name variables.
            assert!(file.comparisons.iter().all(|it| it.programs().all(|program| {
                !program.command.contains(" /") && !program.command.starts_with('/')
            })));
            seen += 1;
        }
        assert!(seen > 0);
    }
}
