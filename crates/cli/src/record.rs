//! The record of a run, `--record FILE`: when, with whom, what and how it ended. It has no keys, messages or choices.
//! `docs/record.md` has its fields.

use std::{
    fmt::Display,
    fs::{self, File},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::{Arc, MutexGuard, PoisonError},
    thread,
    time::SystemTime,
};

use foxtrot::job::{Agreement, Who};
use foxtrot_net::hello::hexadecimal;
use serde_json::{Map, Value, json};

use crate::{
    args::Transport,
    audit::{self, Run},
    clock::utc,
    failure::Failure,
    files::{self, Existing, log_options, write_secret},
    link::{Cost, transport},
    output::{json, say},
    report::{Report, object},
};

#[derive(Clone)]
pub(crate) struct Recorder {
    to: Option<PathBuf>,
    /// True if there is a line for each session, rather than one object.
    lines: bool,
    audit: Option<Arc<audit::Log>>,
}

/// A run, and the places of what is known of it. One that is dropped before its end has failed.
pub(crate) struct Entry {
    recorder: Recorder,
    run: Run,
}

/// Writes to the audit log that a run begins. It is called before the peer learns anything of our set.
#[derive(Clone)]
pub(crate) struct Begins {
    audit: Option<Arc<audit::Log>>,
    run: Run,
    more: Arc<More>,
}

/// Fields that follow from what both sides agree on, or from our side alone.
type More = dyn Fn(Option<&Agreement>) -> Map<String, Value> + Send + Sync;

impl Recorder {
    /// Makes the recorder of a command that has one session: an object in place of what the file
    /// had.
    pub(crate) fn of_one(transport: &Transport, audit: Option<&Path>) -> Self {
        Self { lines: false, ..Self::of_many(transport, audit) }
    }

    /// Makes the recorder of a command that serves many peers: a line is appended for each. Other lines are appended to an
    /// audit log, if there is one.
    pub(crate) fn of_many(transport: &Transport, audit: Option<&Path>) -> Self {
        let audit = audit.map(audit::Log::at);
        Self { to: transport.record.clone(), lines: true, audit }
    }

    pub(crate) fn audit(&self) -> Option<&Arc<audit::Log>> {
        self.audit.as_ref()
    }

    /// Runs a session of this job in this role, and writes down what came of it, also if it failed.
    pub(crate) fn keep<T>(
        &self,
        job: &str,
        role: impl Display,
        run: impl FnOnce(&mut Entry) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut entry = self.begin(job, role)?;
        if let Some(log) = &self.audit {
            log.expect(&entry.run);
        }
        let result = run(&mut entry);
        entry.finish(result)
    }

    /// Makes the entry of a run of this job in this role.
    pub(crate) fn begin(&self, job: &str, role: impl Display) -> Result<Entry, Failure> {
        let mut id = [0; 8];
        if self.audit.is_some() {
            let drawn = getrandom::fill(&mut id);
            drawn.map_err(|e| Failure::run(format!("the system has no randomness: {e}")))?;
        }
        let run = Run { id: hexadecimal(&id), fields: Arc::default() };
        let mut entry = Entry { recorder: self.clone(), run };
        entry.set("schema", 1);
        entry.set("version", env!("CARGO_PKG_VERSION"));
        entry.set("started", utc(SystemTime::now()));
        entry.set("job", job);
        entry.set("role", role.to_string());
        Ok(entry)
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        if let Some(log) = &self.recorder.audit {
            self.run.end_with("the run ended without an outcome", 1);
            if let Err(e) = log.ended(&self.run, false) {
                say(e.message());
            }
        }
    }
}

impl Entry {
    pub(crate) fn set(&mut self, key: &str, value: impl Into<Value>) {
        self.fields().insert(key.into(), value.into());
    }

    fn fields(&self) -> MutexGuard<'_, Map<String, Value>> {
        self.run.fields.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn met(&mut self, peer: &Who, agreed: &Agreement) {
        self.fields().extend(of_peer(peer));
        self.fields().extend(of_agreement(agreed));
        self.set("transport", transport(peer));
        let terms = agreed.terms.iter();
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

    /// Has the beginning of the run written, with these fields more, when a peer is met.
    pub(crate) fn begins(
        &self,
        more: impl Fn(Option<&Agreement>) -> Map<String, Value> + Send + Sync + 'static,
    ) -> Begins {
        Begins { audit: self.recorder.audit.clone(), run: self.run.clone(), more: Arc::new(more) }
    }

    /// Writes to the audit log that the run begins.
    pub(crate) fn begun(&self) -> Result<(), Failure> {
        let Some(log) = &self.recorder.audit else { return Ok(()) };
        let fields = self.fields().clone();
        log.begun(&self.run, &fields).inspect_err(|_| log.never_began(&self.run))
    }

    /// Writes down what came of the run.
    pub(crate) fn finish<T>(self, result: Result<T, Failure>) -> Result<T, Failure> {
        // That nobody reads standard output to its end is no failure.
        let failure = result.as_ref().err().filter(|failure| failure.status() != 0);
        let (outcome, status) = failure.map_or(("done", 0), |it| (it.message(), it.status()));
        self.run.end_with(outcome, status);
        let Recorder { to, audit, lines } = &self.recorder;
        let audited = audit.as_ref().map_or(Ok(()), |log| log.ended(&self.run, !lines));
        let kept = to.as_ref().map_or(Ok(()), |path| self.write(path));
        match (result, audited.and(kept)) {
            (Err(failure), kept) => {
                // The failure says it already, where it is the same.
                if let Err(e) = kept
                    && e.message() != failure.message()
                {
                    say(e.message());
                }
                Err(failure)
            }
            (Ok(result), kept) => kept.map(|()| result),
        }
    }

    fn write(&self, path: &Path) -> Result<(), Failure> {
        let text = json(&Value::Object(self.fields().clone())) + "\n";
        match self.recorder.lines {
            true => append(path, &text).map_err(|e| Failure::writing(path, &e)),
            false => write_secret(Existing::Replaced, path, text.as_bytes()),
        }
    }
}

impl Begins {
    /// Writes that the run begins with this peer; a side that opened the connection does not know yet what both agree on.
    pub(crate) fn with(&self, peer: &Who, agreed: Option<&Agreement>) -> Result<(), Failure> {
        let Some(log) = &self.audit else { return Ok(()) };
        let mut fields = self.run.fields.lock().unwrap_or_else(PoisonError::into_inner).clone();
        fields.extend(of_peer(peer));
        agreed.into_iter().for_each(|agreed| fields.extend(of_agreement(agreed)));
        fields.extend((self.more)(agreed));
        log.begun(&self.run, &fields)
    }

    pub(crate) fn audit(&self) -> Option<&Arc<audit::Log>> {
        self.audit.as_ref()
    }
}

fn of_peer(peer: &Who) -> Map<String, Value> {
    object(json!({ "peer": {
        "fingerprint": peer.fingerprint.as_ref().map(ToString::to_string),
        "name": peer.name,
        "address": peer.address,
    } }))
}

fn of_agreement(agreed: &Agreement) -> Map<String, Value> {
    object(json!({
        "session": hexadecimal(agreed.sid.as_bytes()),
        "terms_digest": hexadecimal(&agreed.terms_digest(&[])),
    }))
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
    let write = |file: &mut File| file.write_all(line.as_bytes());
    files::append(path, &log_options(), write, thread::sleep)
}
