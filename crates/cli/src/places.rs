//! The gate for every path of a command line: no output takes the place of a key, of another file that this program keeps,
//! of an input, or of another output. Files are compared by what they are, under any name.

#[cfg(test)]
mod tests;

use std::{
    ffi::OsString,
    fs::{self, File},
    io::Read,
    path::{Path, PathBuf},
};

use clap::ArgMatches;

use crate::{
    args::{Command, NamedSet, Use, use_of},
    audit,
    cmd::{generate, rot},
    failure::Failure,
    files::{are_one, check_apart, check_place},
    identity, output, peers, record,
};

const INPUT: &str = "the input file";
const KEY: &str = "the identity key";
const PEERS: &str = "the list of peers";
const BASE_TICKET: &str = "a ticket of --resume-base";
const TICKET: &str = "a ticket of shards";
const LIMITS: &str = "a file of limits per day";
const AUDIT: &str = "an audit log";

/// First bytes of files that this program keeps, and what they are.
const BEGINNINGS: [(&[u8], &str); 5] = [
    (b"-----BEGIN PRIVATE KEY-----", KEY),
    (b"FOXTKT", BASE_TICKET),
    (b"foxtrot shards ", TICKET),
    (b"foxtrot daily limits ", LIMITS),
    (b"{\"audit\":", AUDIT),
];

/// The paths of a command line.
pub(crate) struct Places {
    given: Vec<(Use, PathBuf)>,
    pub(crate) serves: bool,
    /// True if the result of a run goes to standard output.
    prints: bool,
}

/// A file that a command writes.
struct Output {
    option: &'static str,
    path: PathBuf,
    /// The only kind of kept file that this one may replace.
    renews: Option<&'static str>,
    /// True if a new file appears in its place at the end of the run.
    appears: bool,
}

impl Output {
    fn new(option: &'static str, path: impl Into<PathBuf>) -> Self {
        Self { option, path: path.into(), renews: None, appears: false }
    }

    fn appears(self) -> Self {
        Self { appears: true, ..self }
    }

    fn renews(self, what: &'static str) -> Self {
        Self { renews: Some(what), ..self }
    }
}

impl Places {
    /// Collects the paths of the command whose arguments these are.
    pub(crate) fn of(arguments: &ArgMatches) -> Self {
        let (mut names, mut arguments) = (Vec::new(), arguments);
        while let Some((name, inner)) = arguments.subcommand() {
            names.push(name);
            arguments = inner;
        }
        let is_given = |id| matches!(arguments.try_contains_id(id), Ok(true));
        let has = |flag: &str| matches!(arguments.try_get_one(flag), Ok(Some(true)));
        let group = names.first().copied().unwrap_or_default();
        let mut given = Vec::new();
        for id in arguments.ids().map(clap::Id::as_str) {
            let it = match use_of(group, id) {
                Some(Use::Ticket) if is_given("shard") => Use::Read,
                Some(it) => it,
                None => continue,
            };
            let paths = arguments.try_get_many::<PathBuf>(id).ok().flatten();
            given.extend(paths.into_iter().flatten().map(|path| (it, path.clone())));
            let sets = arguments.try_get_many::<NamedSet>(id).ok().flatten();
            given.extend(sets.into_iter().flatten().map(|set| (it, set.path.clone())));
        }
        let to_file = given.iter().any(|(it, path)| *it == Use::Result && path != Path::new("-"));
        let serves = has("serve");
        let prints = match names[..] {
            ["psi", "send"] => has("both") && !to_file,
            ["psi", "count" | "sum"] => !serves,
            ["psi" | "ot", "local" | "receive" | "inspect"] => !to_file,
            _ => false,
        };
        Self { given, serves, prints: prints || has("json") }
    }

    fn named(&self, it: Use) -> impl Iterator<Item = &Path> {
        self.given.iter().filter(move |(other, _)| *other == it).map(|(_, path)| path.as_path())
    }

    /// Fails, before anything is read or anybody met, if an output could not be written where the user wants it, or would
    /// replace a file that it must not replace.
    pub(crate) fn check(&self, command: &Command) -> Result<(), Failure> {
        if self.prints {
            output::check_stdout()?;
        }
        if self.named(Use::Record).any(|path| path == Path::new("-")) {
            return Err(Failure::usage("--record needs a file; it cannot use standard output"));
        }
        let (kept, mut outputs) = (self.kept(), self.outputs(command)?);
        // What is wrong with another output is said of that one.
        outputs.sort_by_key(|output| output.option != "-o");
        for (i, output) in outputs.iter().enumerate() {
            let Output { option, path, .. } = output;
            let others = kept.iter().filter(|(what, _)| output.renews != Some(*what));
            for (what, other) in others {
                check_apart(option, path, (what, other))?;
            }
            if let Some(other) = outputs[..i].iter().find(|other| are_one(&other.path, path)) {
                let why = format!("{option} and {} both name {}", other.option, path.display());
                return Err(Failure::usage(why).hint(format!("{option} needs another file")));
            }
            if let Some(what) = kind_of(path).filter(|what| output.renews != Some(*what)) {
                let why = format!("{option} names {}, which looks like {what}", path.display());
                let hint = format!("{option} needs another file, or remove this one");
                return Err(Failure::usage(why).hint(hint));
            }
            if output.appears {
                check_place(path)
                    .map_err(|e| e.rename_options(&[("-o ", &format!("{option} "))]))?;
            }
        }
        if let Some(path) = self.named(Use::Audit).next() {
            audit::check(path)?;
        }
        match self.named(Use::Record).next() {
            Some(path) if self.serves => record::check_log(path),
            Some(path) => record::check_last(path),
            None => Ok(()),
        }
    }

    /// Files that no output replaces, and what they are.
    fn kept(&self) -> Vec<(&'static str, PathBuf)> {
        let inputs = self.named(Use::Read).map(|path| (INPUT, path.to_owned()));
        // Without a usual place there is no key there.
        let keys = identity::default_path().into_iter();
        let keys = keys.chain(self.named(Use::Identity).map(Path::to_owned));
        let keys = keys.flat_map(|key| [(PEERS, peers::file_beside(&key)), (KEY, key)]);
        let folders = self.named(Use::BaseTickets).filter_map(|folder| fs::read_dir(folder).ok());
        let tickets = folders.flatten().flatten().map(|entry| (BASE_TICKET, entry.path()));
        inputs.chain(keys).chain(tickets).collect()
    }

    /// All files that the command writes.
    fn outputs(&self, command: &Command) -> Result<Vec<Output>, Failure> {
        let mut outputs = Vec::new();
        for (it, path) in &self.given {
            match it {
                Use::Read | Use::BaseTickets | Use::Device => {}
                Use::Result if path == Path::new("-") => {}
                Use::Result => outputs.push(Output::new("-o", path).appears()),
                Use::Prefix => {
                    let Command::Rot(command) = command else { continue };
                    let files = rot::outputs(command)?.into_iter();
                    outputs.extend(files.map(|path| Output::new("-o", path).appears()));
                }
                Use::Folder => {
                    let path: PathBuf = path.components().collect();
                    let partial = with_ending(&path, ".partial");
                    outputs.extend([path, partial].map(|path| Output::new("-o", path)));
                }
                Use::Pages => {
                    let pages = generate::pages_in(path).into_iter();
                    outputs.extend(pages.map(|(path, _)| Output::new("--all", path)));
                }
                Use::Key if path == Path::new("-") => {}
                Use::Key => outputs.push(Output::new("-o", path).renews(KEY).appears()),
                Use::Identity => {}
                Use::Record => {
                    let record = Output::new("--record", path);
                    outputs.push(if self.serves { record } else { record.appears() });
                }
                Use::Audit => outputs.push(Output::new("--audit", path).renews(AUDIT)),
                Use::Limits => {
                    let all = ["", ".lock"].map(|ending| with_ending(path, ending));
                    outputs.extend(all.map(|path| Output::new("--limits", path).renews(LIMITS)));
                }
                Use::Ticket => outputs.push(Output::new("--ticket", path).renews(TICKET)),
            }
        }
        match command {
            Command::Keygen(keygen) if keygen.output.is_none() && keygen.show.is_none() => {
                // Its folder may not be there yet.
                let key = identity::default_path().into_iter();
                outputs.extend(key.map(|path| Output::new("keygen", path).renews(KEY)));
            }
            Command::Peers(_) => {
                let key = identity::path(self.named(Use::Identity).next())?;
                outputs.push(Output::new("--identity", peers::file_beside(&key)).renews(PEERS));
            }
            _ => {}
        }
        Ok(outputs)
    }
}

/// The kind of a kept file that its first bytes show.
fn kind_of(path: &Path) -> Option<&'static str> {
    // To open a pipe is to wait for its writer.
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    let mut first = Vec::new();
    File::open(path).ok()?.take(32).read_to_end(&mut first).ok()?;
    BEGINNINGS.iter().find(|(beginning, _)| first.starts_with(beginning)).map(|(_, what)| *what)
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    name.into()
}
