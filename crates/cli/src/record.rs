//! The record of a run, `--record FILE`: when, with whom, what and how it ended. It has no keys, messages or choices.
//! `docs/record.md` has its fields.

use std::{
    fmt::Display,
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use foxtrot_net::jobs::hexadecimal;
use serde_json::{Map, Value, json};

use crate::{
    args::Transport,
    audit,
    clock::utc,
    failure::{Failure, INTERRUPTED},
    files::{Existing, log_options, write_secret},
    link::{Cost, Link, transport},
    output::{json, say},
    report::Report,
};

pub(crate) struct Recorder {
    to: Option<PathBuf>,
    /// True if there is a line for each session, rather than one object.
    lines: bool,
    audit: Option<PathBuf>,
}

/// The fields of a run so far.
#[derive(Clone)]
pub(crate) struct Entry(Arc<Mutex<Map<String, Value>>>);

/// Runs that an audit log waits for, each with its log.
static OPEN: Mutex<Vec<(PathBuf, Entry)>> = Mutex::new(Vec::new());

fn open_runs() -> MutexGuard<'static, Vec<(PathBuf, Entry)>> {
    OPEN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Appends the lines of runs that an interrupt ends to their audit logs. None is added as long as the result lives.
pub(crate) fn interrupted() -> impl Drop {
    let mut open = open_runs();
    for (path, entry) in open.drain(..) {
        entry.end_with("interrupted", INTERRUPTED);
        if let Err(e) = audit::append(&path, &entry.fields()) {
            say(e.message());
        }
    }
    open
}

impl Recorder {
    /// Makes the recorder of a command that has one session: an object in place of what the file
    /// had.
    pub(crate) fn of_one(transport: &Transport, audit: Option<&Path>) -> Self {
        Self { lines: false, ..Self::of_many(transport, audit) }
    }

    /// Makes the recorder of a command that serves many peers: a line is appended for each. Another line is appended to an
    /// audit log, if there is one.
    pub(crate) fn of_many(transport: &Transport, audit: Option<&Path>) -> Self {
        let audit = audit.map(Path::to_owned);
        Self { to: transport.record.clone(), lines: true, audit }
    }

    /// Runs a session of this job in this role, and writes down what came of it, also if it failed.
    pub(crate) fn keep<T>(
        &self,
        job: &str,
        role: impl Display,
        run: impl FnOnce(&mut Entry) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut entry = Entry::begin(job, &role.to_string());
        let of_audit = self.audit.iter().map(|path| (path.clone(), entry.clone()));
        open_runs().extend(of_audit);
        let result = run(&mut entry);
        entry.end(result.as_ref().err());
        let audited = self.audit.as_ref().map_or(Ok(()), |path| {
            let mut open = open_runs();
            open.retain(|(_, it)| !Arc::ptr_eq(&it.0, &entry.0));
            audit::append(path, &entry.fields())
        });
        let kept = self.to.as_ref().map_or(Ok(()), |path| self.write(path, &entry));
        match (result, audited.and(kept)) {
            (Err(failure), kept) => {
                if let Err(e) = kept {
                    say(e.message());
                }
                Err(failure)
            }
            (Ok(result), kept) => kept.map(|()| result),
        }
    }

    fn write(&self, path: &Path, entry: &Entry) -> Result<(), Failure> {
        let text = json(&Value::Object(entry.fields().clone())) + "\n";
        match self.lines {
            true => append(path, &text).map_err(|e| Failure::writing(path, &e)),
            false => write_secret(Existing::Replaced, path, text.as_bytes()),
        }
    }
}

impl Entry {
    fn begin(job: &str, role: &str) -> Self {
        let mut entry = Self(Arc::default());
        entry.set("schema", 1);
        entry.set("version", env!("CARGO_PKG_VERSION"));
        entry.set("started", utc(SystemTime::now()));
        entry.set("job", job);
        entry.set("role", role);
        entry
    }

    pub(crate) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.fields().insert(key.into(), value.into());
    }

    fn fields(&self) -> MutexGuard<'_, Map<String, Value>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn met(&mut self, link: &Link) {
        let peer = &link.peer;
        self.set(
            "peer",
            json!({
                "fingerprint": peer.fingerprint().map(ToString::to_string),
                "name": peer.name(),
                "address": peer.address(),
            }),
        );
        self.set("transport", transport(peer));
        self.set("session", hexadecimal(link.agreed.sid.as_bytes()));
        let terms = link.agreed.terms.iter();
        let terms = terms.map(|(key, value)| (key.clone(), value.clone().into()));
        self.set("terms", terms.collect::<Map<_, _>>());
    }

    pub(crate) fn agreed(&mut self, fields: Map<String, Value>) {
        self.fields().extend(fields);
    }

    pub(crate) fn ran(&mut self, report: &Report, cost: &Cost) {
        self.set("protocol", report.name.as_str());
        self.set("params", report.params.as_str());
        self.set("security", report.security.as_str());
        self.set("transcript", cost.transcript.map(|it| hexadecimal(&it)));
        self.set("seconds", cost.wall.as_secs_f64());
        self.set("bytes_sent", cost.counters.sent);
        self.set("bytes_received", cost.counters.received);
    }

    fn end(&self, failure: Option<&Failure>) {
        // That nobody reads standard output to its end is no failure.
        let failure = failure.filter(|failure| failure.status() != 0);
        self.end_with(failure.map_or("done", Failure::message), failure.map_or(0, Failure::status));
    }

    fn end_with(&self, outcome: &str, status: u8) {
        let mut fields = self.fields();
        fields.insert("ended".into(), utc(SystemTime::now()).into());
        fields.insert("outcome".into(), outcome.into());
        fields.insert("status".into(), status.into());
    }
}

/// Fails unless the file is missing, empty or the record of one run: nothing else is replaced.
pub(crate) fn check_last(path: &Path) -> Result<(), Failure> {
    match begins(path)? {
        Some((true, false)) | None => Ok(()),
        Some((true, true)) => Err(no_record(path, "the record of one run")),
        Some((false, _)) => Err(no_record(path, "a record")),
    }
}

/// Fails if lines cannot be appended to the file, which is made if it is missing, or if it has something other than
/// records.
pub(crate) fn check_log(path: &Path) -> Result<(), Failure> {
    if begins(path)?.is_some_and(|(ours, _)| !ours) {
        return Err(no_record(path, "a record"));
    }
    match fs::metadata(path) {
        // To open a pipe is to wait for its reader.
        Ok(found) if !found.is_file() && !found.is_dir() => Ok(()),
        _ => log_options().open(path).map(drop).map_err(|e| Failure::writing(path, &e)),
    }
}

fn no_record(path: &Path, what: &str) -> Failure {
    let why = format!("{} is not {what}", path.display());
    Failure::usage(why).hint("--record needs a new file, or a record file")
}

/// Tells if a file begins with a record, and if there is more behind its line. `None` if it is empty or no file.
fn begins(path: &Path) -> Result<Option<(bool, bool)>, Failure> {
    /// More bytes than a record has.
    const MOST: u64 = 1 << 20;
    if !fs::metadata(path).is_ok_and(|found| found.is_file()) {
        return Ok(None);
    }
    let mut text = Vec::new();
    let read = File::open(path).and_then(|file| file.take(MOST).read_to_end(&mut text));
    read.map_err(|e| Failure::reading(path, &e))?;
    let Some(line) = text.split_inclusive(|&byte| byte == b'\n').next() else { return Ok(None) };
    let object: Value = serde_json::from_slice(line).unwrap_or_default();
    let ours = object["schema"].is_u64() && object["job"].is_string();
    Ok(Some((ours && object["started"].is_string(), text.len() > line.len())))
}

/// Sessions that end at the same time write one after the other.
fn append(path: &Path, line: &str) -> io::Result<()> {
    let mut file = log_options().open(path)?;
    // Where the file system has no locks, one write is one line all the same.
    let _ = file.lock();
    file.write_all(line.as_bytes())
}
