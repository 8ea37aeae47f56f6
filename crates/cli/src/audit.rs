//! The audit log, `--audit FILE`: JSON lines about runs and refused peers, without keys. `docs/audit.md` has their fields.
//!
//! A run has begun only when its line is on the disk: what cannot be written down is not done.

mod file;

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant, SystemTime},
};

use serde_json::{Map, Value, json};

use crate::{
    clock::utc,
    failure::{Failure, INTERRUPTED, words},
    output::{json, say},
    refusals::{More, Refusals},
};
pub(crate) use file::check;

const FIELDS: [&str; 19] = [
    "version",
    "started",
    "ended",
    "role",
    "function",
    "policy",
    "peer",
    "session",
    "terms",
    "set",
    "normalize",
    "assumption",
    "adversary",
    "keys_receiver",
    "keys_sender",
    "results",
    "transcript",
    "outcome",
    "status",
];

/// The longest outcome of a refused peer, in characters: a part of it is the peer's.
const LONGEST: usize = 400;

/// Time for the last lines of a process that is interrupted.
const LAST: Duration = Duration::from_secs(2);

/// The log of this process.
static LOG: OnceLock<Arc<Log>> = OnceLock::new();

/// A log that is only written to.
pub(crate) struct Log {
    path: PathBuf,
    runs: Mutex<Runs>,
    /// Lines of runs that have ended, which could not be written. They come before all others.
    late: Mutex<String>,
    /// True if the last line could not be written.
    is_broken: AtomicBool,
    refused: Mutex<Refused>,
    pause: fn(Duration),
}

#[derive(Default)]
struct Runs {
    /// Runs whose outcome is not known yet.
    open: Vec<Run>,
    /// True if an interrupt has ended all.
    are_over: bool,
}

/// A run, by what is known of it so far.
#[derive(Clone)]
pub(crate) struct Run {
    pub(crate) id: String,
    pub(crate) fields: Arc<Mutex<Map<String, Value>>>,
}

/// Refused peers of the last minute: those with keys that may connect are counted apart from strangers, who may be many.
struct Refused {
    known: Refusals,
    strangers: Refusals,
}

/// A peer that is refused, as far as it is known.
pub(crate) struct From<'a> {
    pub(crate) fingerprint: Option<String>,
    pub(crate) name: Option<&'a str>,
    pub(crate) address: Option<&'a str>,
    /// The address or network by which it is counted.
    pub(crate) source: &'a str,
}

/// Locks a mutex, also after a thread that held it has panicked.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the outcome of all runs that an interrupt ends. It waits a bounded time, also if another process holds the log.
pub(crate) fn interrupted() {
    let Some(log) = LOG.get().map(Arc::clone) else { return };
    let (path, (tell, told)) = (log.path.clone(), mpsc::channel());
    let writer = thread::Builder::new().spawn(move || tell.send(log.interrupt()));
    let written = match writer {
        Ok(_) => told.recv_timeout(LAST).unwrap_or_else(|_| Err(unwritten(&path, "it takes long"))),
        Err(e) => Err(unwritten(&path, &words(&e))),
    };
    if let Err(e) = written {
        say(e.message());
    }
}

fn unwritten(path: &Path, why: &str) -> Failure {
    Failure::unrecorded(format!("cannot write the audit log {}: {why}", path.display()))
}

impl Log {
    /// The log of all runs of this process.
    pub(crate) fn at(path: &Path) -> Arc<Self> {
        let log = Arc::new(Self::new(path, thread::sleep));
        Arc::clone(LOG.get_or_init(|| log))
    }

    fn new(path: &Path, pause: fn(Duration)) -> Self {
        // A peer with a key is told apart from as many as there may be in a policy.
        let refused = Refused { known: Refusals::new(3, 64), strangers: Refusals::new(1, 16) };
        Self {
            path: path.to_owned(),
            runs: Mutex::default(),
            late: Mutex::default(),
            is_broken: AtomicBool::new(false),
            refused: Mutex::new(refused),
            pause,
        }
    }

    /// Expects the outcome of a run from now on.
    pub(crate) fn expect(&self, run: &Run) {
        let mut runs = lock(&self.runs);
        if runs.are_over {
            drop(runs);
            wait_for_the_end();
        }
        if !runs.open.iter().any(|it| it.is(run)) {
            runs.open.push(run.clone());
        }
    }

    /// Forgets a run. Returns false if its outcome was not expected.
    fn forget(&self, run: &Run) -> bool {
        let mut runs = lock(&self.runs);
        if runs.are_over {
            drop(runs);
            wait_for_the_end();
        }
        let before = runs.open.len();
        runs.open.retain(|it| !it.is(run));
        runs.open.len() < before
    }

    /// Writes that a run begins, with what is known of it. When this returns, the line is on the disk.
    pub(crate) fn begun(&self, run: &Run, fields: &Map<String, Value>) -> Result<(), Failure> {
        self.expect(run);
        self.write(&line("begun", Some(&run.id), fields, None))
    }

    /// Writes the outcome of a run, if it is expected, and if it is the last also how many peers were refused meanwhile. Lines
    /// that cannot be written now are written before anything else.
    pub(crate) fn ended(&self, run: &Run, is_last: bool) -> Result<(), Failure> {
        if !self.forget(run) {
            return Ok(());
        }
        let more = if is_last { self.more(Refusals::all).0 } else { String::new() };
        let lines = more + &line("ended", Some(&run.id), &lock(&run.fields), None);
        self.write(&lines).inspect_err(|_| *lock(&self.late) += &lines)
    }

    /// Forgets a run of which nothing is told, as its beginning could not be written.
    pub(crate) fn never_began(&self, run: &Run) {
        self.forget(run);
    }

    /// Fails if the last line could not be written, and lines still cannot.
    pub(crate) fn ready(&self) -> Result<(), Failure> {
        match self.is_broken.load(Ordering::SeqCst) {
            true => self.write_more(self.more(Refusals::all)),
            false => Ok(()),
        }
    }

    /// Writes that a peer was refused, or counts it among others of a minute.
    pub(crate) fn refused(
        &self,
        from: &From<'_>,
        failure: &Failure,
        now: Instant,
    ) -> Result<(), Failure> {
        let counted = |refused: &mut Refused| match &from.fingerprint {
            Some(key) => refused.known.count(key, now),
            None => refused.strangers.count(from.source, now),
        };
        if !counted(&mut lock(&self.refused)) {
            return Ok(());
        }
        let From { fingerprint, name, address, .. } = from;
        let peer = json!({ "fingerprint": fingerprint, "name": name, "address": address });
        let outcome: String = failure.message().chars().take(LONGEST).collect();
        let line = refused_line(peer, &outcome, failure.status(), 1);
        self.write(&line).inspect_err(|_| lock(&self.refused).strangers.miss(1))
    }

    /// The time at which refused peers are summarised.
    pub(crate) fn due(&self) -> Option<Instant> {
        let refused = lock(&self.refused);
        [refused.known.due(), refused.strangers.due()].into_iter().flatten().min()
    }

    /// Writes how many more peers were refused, if the time has come.
    pub(crate) fn summarise(&self, now: Instant) -> Result<(), Failure> {
        match self.more(|refusals| refusals.summaries(now)) {
            (lines, _) if lines.is_empty() => Ok(()),
            more => self.write_more(more),
        }
    }

    /// Lines about peers of which nothing is written yet, and how many these are.
    fn more(&self, take: impl Fn(&mut Refusals) -> Vec<More>) -> (String, usize) {
        let refused = &mut *lock(&self.refused);
        let (known, strangers) = (take(&mut refused.known), take(&mut refused.strangers));
        let lines = known.iter().map(|more| more_refused(more, true));
        let lines = lines.chain(strangers.iter().map(|more| more_refused(more, false))).collect();
        (lines, known.iter().chain(&strangers).map(|(_, count)| count).sum())
    }

    fn write_more(&self, (lines, count): (String, usize)) -> Result<(), Failure> {
        self.write(&lines).inspect_err(|_| lock(&self.refused).strangers.miss(count))
    }

    fn interrupt(&self) -> Result<(), Failure> {
        let open = {
            let mut runs = lock(&self.runs);
            runs.are_over = true;
            std::mem::take(&mut runs.open)
        };
        let lines = open.iter().map(|run| {
            run.end_with("interrupted", INTERRUPTED);
            line("ended", Some(&run.id), &lock(&run.fields), None)
        });
        let lines = lines.collect::<String>() + &self.more(Refusals::all).0;
        match lines.is_empty() && lock(&self.late).is_empty() {
            true => Ok(()),
            false => self.write(&lines),
        }
    }

    /// Appends lines, all or none, behind those that are late.
    fn write(&self, lines: &str) -> Result<(), Failure> {
        let written = file::append(&self.path, &self.late, lines, self.pause);
        self.is_broken.store(written.is_err(), Ordering::SeqCst);
        written.map_err(|e| unwritten(&self.path, &words(&e)))
    }
}

impl Run {
    fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.fields, &other.fields)
    }

    pub(crate) fn end_with(&self, outcome: &str, status: u8) {
        let mut fields = lock(&self.fields);
        fields.insert("ended".into(), utc(SystemTime::now()).into());
        fields.insert("outcome".into(), outcome.into());
        fields.insert("status".into(), status.into());
    }
}

/// The interrupt has written the last line, and is about to end the process.
fn wait_for_the_end() -> ! {
    loop {
        thread::park();
    }
}

fn line(
    event: &str,
    id: Option<&str>,
    fields: &Map<String, Value>,
    count: Option<usize>,
) -> String {
    let all = FIELDS.iter().map(|&field| {
        // A record has all terms by this name.
        let key = if field == "terms" { "terms_digest" } else { field };
        let value = json(&fields.get(key).cloned().unwrap_or_default());
        format!(",\"{field}\":{value}")
    });
    let [event, id, count] = [json!(event), json!(id), json!(count)];
    let all: String = all.collect();
    format!("{}2,\"event\":{event},\"run\":{id}{all},\"count\":{count}}}\n", file::BEGINNING)
}

fn refused_line(peer: Value, outcome: &str, status: u8, count: usize) -> String {
    let mut fields = Map::new();
    fields.insert("version".into(), env!("CARGO_PKG_VERSION").into());
    fields.insert("started".into(), utc(SystemTime::now()).into());
    fields.insert("peer".into(), peer);
    fields.insert("outcome".into(), outcome.into());
    fields.insert("status".into(), status.into());
    line("refused", None, &fields, Some(count))
}

fn more_refused((source, count): &More, has_key: bool) -> String {
    let (key, address) = if has_key { (source, &None) } else { (&None, source) };
    let peer = json!({ "fingerprint": key, "name": null, "address": address });
    let outcome = match source {
        Some(_) => "refused again",
        None => "other peers were refused",
    };
    refused_line(peer, outcome, 1, *count)
}

#[cfg(test)]
mod tests;
