//! Audit logs: nothing is told to a peer that is not on record, also when the log cannot be written.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::{Duration, Instant},
};

use foxtrot_net::{
    Channel, ChannelError, Error, Reason,
    hello::{self, Hello, Role},
    tcp,
};
use serde_json::Value;

use super::support::{
    Key, Listening, Running, connect, connect_with, on_full_disk, stderr, stdout,
};

pub(crate) const A: [&str; 6] =
    ["psi", "receive", "examples/customers-a.csv", "--key", "email", "--normalize=email"];
pub(crate) const B: [&str; 6] =
    ["psi", "send", "examples/customers-b.csv", "--key", "E-Mail", "--normalize=email"];
pub(crate) const LONG: Duration = Duration::from_secs(20);

/// A log in a folder of its own.
pub(crate) struct Log {
    _folder: tempfile::TempDir,
    pub(crate) folder: PathBuf,
    pub(crate) path: String,
}

impl Log {
    pub(crate) fn new() -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let folder = temporary.path().join("logs");
        fs::create_dir(&folder).unwrap();
        let path = folder.join("audit.jsonl").to_str().unwrap().to_owned();
        Self { _folder: temporary, folder, path }
    }

    pub(crate) fn lines(&self) -> Vec<Value> {
        lines(&self.path)
    }

    /// The lines of this event, when there are so many.
    pub(crate) fn wait_for(&self, event: &str, count: usize) -> Vec<Value> {
        let start = Instant::now();
        loop {
            let mut lines = if Path::new(&self.path).exists() { self.lines() } else { vec![] };
            lines.retain(|line| line["event"] == event);
            if lines.len() >= count {
                assert_eq!(lines.len(), count, "{lines:?}");
                return lines;
            }
            assert!(start.elapsed() < LONG, "{event}: {lines:?}");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

fn lines(path: &str) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

pub(crate) fn serve(log: &Log, more: &[&str]) -> Listening {
    Listening::start(&[&B[..], &["--serve", "--audit", &log.path], more].concat())
}

/// The hello of a receiver with so many keys.
pub(crate) fn receiver(keys: u64) -> Hello {
    Hello::new(Role::Receiver)
        .term("job", "psi")
        .term("base", "roted-endemic")
        .term("assumption", "symmetric")
        .term("adversary", "malicious")
        .term("normalize", "email/2")
        .keys(keys, 1000)
}

/// Greets the server, and does nothing more.
pub(crate) fn greet(address: &str, hello: &Hello) -> Result<Channel, Error> {
    let channel = tcp::connect(address, LONG).unwrap().open().unwrap();
    hello::exchange(&channel, true, hello).map(|_| channel)
}

/// Asserts that a peer learns neither rows nor how many keys the server has, but that the session does not begin.
fn assert_tells_nothing(address: &str) {
    let told = greet(address, &receiver(20)).map(drop).unwrap_err();
    assert_eq!(told, ChannelError::GivenUp(Reason::Other).into());
    let asked = connect(&A, address);
    assert_eq!((asked.status.code(), stdout(&asked).as_str()), (Some(1), ""));
    let said = stderr(&asked);
    assert!(said.contains("the peer gave up: something failed on its side"), "{said}");
    assert!(!said.contains("agreed: "), "{said}");
}

#[test]
fn every_run_has_a_line_before_anything_is_told_and_one_at_its_end() {
    let [ours, theirs] = [Log::new(), Log::new()];
    let server = serve(&ours, &[]);
    let asked = connect(&[&A[..], &["--audit", &theirs.path]].concat(), &server.address);
    assert_eq!(stdout(&asked).lines().count(), 16, "{}", stderr(&asked));
    let [sent, received] = [&ours, &theirs].map(|log| {
        log.wait_for("ended", 1);
        let lines = log.lines();
        assert_eq!(lines.len(), 2);
        let [begun, ended] = [&lines[0], &lines[1]];
        assert_eq!((&begun["audit"], &begun["event"]), (&2.into(), &"begun".into()));
        assert_eq!(begun["run"], ended["run"]);
        assert_eq!(begun["run"].as_str().unwrap().len(), 16);
        for key in ["started", "role", "function", "policy", "normalize", "assumption", "adversary"]
        {
            assert_eq!(begun[key], ended[key], "{key}");
        }
        for key in ["ended", "outcome", "status", "results", "transcript"] {
            assert!(begun[key].is_null(), "{key}");
        }
        assert_eq!(begun["peer"], ended["peer"]);
        assert_eq!((&ended["outcome"], &ended["status"]), (&"done".into(), &0.into()));
        lines
    });
    // The side that listens knows the session and both sizes by then, the side that connects its own size.
    assert_eq!(sent[0]["session"], sent[1]["session"]);
    assert_eq!(sent[0]["terms"].as_str().unwrap().len(), 64);
    assert_eq!((&sent[0]["terms"], &sent[1]["terms"]), (&sent[1]["terms"], &received[1]["terms"]));
    assert_eq!((&sent[0]["keys_receiver"], &sent[0]["keys_sender"]), (&20.into(), &20.into()));
    assert!(received[0]["session"].is_null() && received[0]["keys_sender"].is_null());
    assert_eq!(received[0]["keys_receiver"], 20);
    assert_eq!(sent[1]["session"], received[1]["session"]);
}

/// A fault of a log while a server runs: its name, how it comes and goes, and the words for it.
type Fault = (&'static str, fn(&Log), fn(&Log), &'static str);

#[test]
fn a_server_whose_log_cannot_be_written_tells_nothing_until_it_can() {
    let aside = |log: &Log| fs::rename(&log.folder, log.folder.with_extension("away")).unwrap();
    let back = |log: &Log| fs::rename(log.folder.with_extension("away"), &log.folder).unwrap();
    fn keep(log: &Log) {
        fs::rename(&log.path, log.folder.join("old")).unwrap();
    }
    fn restore(log: &Log) {
        fs::remove_file(&log.path).unwrap();
        fs::rename(log.folder.join("old"), &log.path).unwrap();
    }
    let fifo = |log: &Log| {
        keep(log);
        assert!(Command::new("mkfifo").arg(&log.path).status().unwrap().success());
    };
    let other = |log: &Log| {
        keep(log);
        fs::write(&log.path, "id,name\n").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        fs::set_permissions(&log.path, mode).unwrap();
    };
    let open_to_all = |log: &Log| {
        keep(log);
        fs::write(&log.path, "").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        fs::set_permissions(&log.path, mode).unwrap();
    };
    let faults: [Fault; 4] = [
        ("folder", aside, back, "no such file or directory"),
        ("fifo", fifo, restore, "it is not a regular file, which --audit needs"),
        ("other file", other, restore, "it is not an audit log"),
        ("file of others", open_to_all, restore, "it can be read or written by other users"),
    ];
    for (what, breaks, repairs, why) in faults {
        let log = Log::new();
        // Also with --quiet it says so.
        let mut server = serve(&log, &["--quiet"]);
        assert_eq!(stdout(&connect(&A, &server.address)).lines().count(), 16, "{what}");
        log.wait_for("ended", 1);
        breaks(&log);
        assert_tells_nothing(&server.address);
        let said = server.line_with("cannot write the audit log");
        assert!(
            said.contains(&format!("cannot write the audit log {}: {why}", log.path)),
            "{said}"
        );
        assert!(said.contains("refused a connection from 127.0.0.1:"), "{said}");
        repairs(&log);
        assert_eq!(stdout(&connect(&A, &server.address)).lines().count(), 16, "{what}");
        log.wait_for("ended", 2);
        log.wait_for("begun", 2);
        server.running.interrupt();
        assert_eq!(server.end().0, 130, "{what}");
        // The refused attempts are on record since then, or since the end.
        let refused: u64 = log.lines().iter().filter_map(|line| line["count"].as_u64()).sum();
        assert_eq!(refused, 2, "{what}");
    }
}

#[test]
fn counts_are_told_to_nobody_either() {
    let log = Log::new();
    let count = ["psi", "count", "examples/customers-b.csv", "--key", "E-Mail"];
    let serve = ["--serve", "--normalize=email", "--audit", &log.path];
    let listen = ["--listen", "127.0.0.1:0", "--insecure"];
    let mut server = Running::start(&[&count[..], &serve, &listen].concat());
    let address = loop {
        let line = server.line();
        if let Some(address) = line.strip_prefix("foxtrot: listening on ") {
            break address.to_owned();
        }
    };
    fs::remove_dir_all(&log.folder).unwrap();
    let ask = ["psi", "count", "examples/customers-a.csv", "--key", "email", "--normalize=email"];
    let asked = connect(&ask, &address);
    assert_eq!((asked.status.code(), stdout(&asked).as_str()), (Some(1), ""));
    assert!(stderr(&asked).contains("something failed on its side"), "{}", stderr(&asked));
    server.interrupt();
    let (_, printed, said) = server.end();
    assert_eq!(printed, "", "{said}");
    assert!(said.contains("cannot write the audit log"), "{said}");
}

/// A log that leaves room for so many bytes on a disk of 8 blocks.
fn nearly_full(log: &Log, left: usize) {
    let (begin, end) = ("{\"audit\":1,\"pad\":\"", "\"}\n");
    let pad = "x".repeat(8 * 512 - left - begin.len() - end.len());
    fs::write(&log.path, format!("{begin}{pad}{end}")).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    fs::set_permissions(&log.path, mode).unwrap();
}

fn serve_on_full_disk(log: &Log) -> Listening {
    let serve = ["--serve", "--audit", &log.path, "--insecure", "--listen", "127.0.0.1:0"];
    let mut running = Running::of(on_full_disk(8, &[&B[..], &serve].concat()));
    let address = loop {
        let line = running.line();
        if let Some(address) = line.strip_prefix("foxtrot: listening on ") {
            break address.to_owned();
        }
    };
    Listening { running, address }
}

#[test]
fn a_full_disk_refuses_every_peer_of_a_server() {
    let log = Log::new();
    nearly_full(&log, 100);
    let mut server = serve_on_full_disk(&log);
    let before = fs::read(&log.path).unwrap();
    assert_tells_nothing(&server.address);
    let said = server.line_with("cannot write the audit log");
    assert!(said.ends_with(&format!("{}: file too large", log.path)), "{said}");
    assert_eq!(fs::read(&log.path).unwrap(), before);
    server.running.interrupt();
    assert_eq!(server.end().0, 130);
}

#[test]
fn a_disk_that_is_full_after_the_first_line_refuses_the_next_peer() {
    let log = Log::new();
    nearly_full(&log, 900);
    let mut server = serve_on_full_disk(&log);
    // Its line is on record; its outcome cannot be.
    assert_eq!(stdout(&connect(&A, &server.address)).lines().count(), 16);
    let said = server.line_with(" session 1 with ");
    let why = format!("cannot write the audit log {}: file too large", log.path);
    assert!(said.contains("failed: ") && said.contains(&why), "{said}");
    assert_tells_nothing(&server.address);
    server.line_with("refused a connection from ");
    let events: Vec<_> = log.lines()[1..].iter().map(|line| line["event"].clone()).collect();
    assert_eq!(events, ["begun"]);
    // Room again: the outcome comes first.
    let text = fs::read_to_string(&log.path).unwrap();
    let (_, rest) = text.split_once('\n').unwrap();
    fs::write(&log.path, rest).unwrap();
    assert_eq!(stdout(&connect(&A, &server.address)).lines().count(), 16);
    log.wait_for("ended", 2);
    let lines = log.lines();
    assert_eq!((&lines[0]["run"], &lines[0]["event"]), (&lines[1]["run"], &"begun".into()));
    assert_eq!((&lines[1]["event"], &lines[1]["outcome"]), (&"ended".into(), &"done".into()));
}

#[test]
fn a_run_whose_log_cannot_be_written_fails_before_the_peer_learns_anything() {
    for connects in [false, true] {
        let log = Log::new();
        nearly_full(&log, 100);
        let audit = ["--audit", &log.path, "--insecure"];
        let (ours, peer, status);
        if connects {
            let mut other = Listening::start(&B);
            let connect = ["--connect", &other.address];
            ours = Running::of(on_full_disk(8, &[&A[..], &audit, &connect].concat())).end();
            // It goes on waiting for its peer.
            peer = other.line_with("refused a connection from ");
            other.running.interrupt();
            status = other.end().0;
        } else {
            let listen = ["--listen", "127.0.0.1:0"];
            let mut running = Running::of(on_full_disk(8, &[&A[..], &audit, &listen].concat()));
            let address = loop {
                let line = running.line();
                if let Some(address) = line.strip_prefix("foxtrot: listening on ") {
                    break address.to_owned();
                }
            };
            let other = connect(&B, &address);
            ours = running.end();
            (status, peer) = (other.status.code().unwrap(), stderr(&other));
        }
        assert_eq!((ours.0, ours.1.as_str()), (1, ""), "{}", ours.2);
        let why = format!("cannot write the audit log {}: file too large\n", log.path);
        assert_eq!(ours.2.matches(&why).count(), 1, "{}", ours.2);
        assert_ne!(status, 0);
        assert!(peer.contains("something failed on its side"), "{peer}");
        assert!(!peer.contains("20 at the peer") && !peer.contains("agreed: "), "{peer}");
    }
}

#[test]
fn refused_peers_have_lines() {
    let log = Log::new();
    let folder = tempfile::tempdir().unwrap();
    let [ours, friend, foreign] = ["a", "b", "c"].map(|name| Key::generate(folder.path(), name));
    let limits = folder.path().join("limits").to_str().unwrap().to_owned();
    let serve = ["--serve", "--audit", &log.path, "--min-peer-keys", "5", "--limits", &limits];
    let server = Listening::with(
        &[&B[..], &serve, &["--max-runs-per-day", "1"]].concat(),
        &ours.expecting(&friend),
    );
    let small = folder.path().join("small.csv");
    fs::write(&small, "email\na@example.org\n").unwrap();
    let small = [&A[..2], &[small.to_str().unwrap()], &A[3..]].concat();
    let terms = [&A[..], &["--assumption", "lpn"]].concat();
    let ask = |arguments: &[&str], key: &Key| {
        let asked = connect_with(arguments, &key.expecting(&ours), &server.address);
        assert_ne!(asked.status.code(), Some(0), "{}", stderr(&asked));
    };
    ask(&A, &foreign);
    ask(&terms, &friend);
    ask(&small, &friend);
    log.wait_for("refused", 3);
    let asked = connect_with(&A, &friend.expecting(&ours), &server.address);
    assert_eq!(asked.status.code(), Some(0), "{}", stderr(&asked));
    ask(&A, &friend);
    let refused = log.wait_for("refused", 4);
    let friends = Value::from(friend.fingerprint.as_str());
    for (line, (key, why)) in refused.iter().zip([
        (&Value::Null, &*foreign.fingerprint),
        (&friends, "assumption is symmetric here and lpn at the peer"),
        (&friends, "fewer keys"),
        (&friends, "this peer has had 1 run today"),
    ]) {
        assert_eq!(&line["peer"]["fingerprint"], key, "{line}");
        assert!(line["peer"]["address"].as_str().unwrap().starts_with("127.0.0.1:"), "{line}");
        assert!(line["outcome"].as_str().unwrap().contains(why), "{why}: {line}");
        assert_eq!(line["count"], 1);
        assert!(line["run"].is_null() && line["session"].is_null());
    }
    // The rest of a minute is counted, and told at the end at the latest.
    for _ in 0..3 {
        ask(&A, &friend);
    }
    server.running.interrupt();
    let (status, _, said) = server.end();
    assert_eq!(status, 130, "{said}");
    let all = log.lines();
    let refused: Vec<_> = all.iter().filter(|line| line["event"] == "refused").collect();
    let counts: u64 = refused.iter().map(|line| line["count"].as_u64().unwrap()).sum();
    assert_eq!(counts, 7, "{refused:?}");
    assert!(refused.len() < 7, "{refused:?}");
}

#[test]
fn a_peer_that_a_full_server_refuses_has_a_line() {
    let log = Log::new();
    let server = serve(&log, &["--max-sessions", "1"]);
    let open = greet(&server.address, &receiver(20)).unwrap();
    let told = greet(&server.address, &receiver(20)).map(drop).unwrap_err();
    assert_eq!(told, ChannelError::GivenUp(Reason::Busy).into());
    let refused = log.wait_for("refused", 1);
    assert!(refused[0]["outcome"].as_str().unwrap().contains("--max-sessions"), "{refused:?}");
    log.wait_for("begun", 1);
    drop(open);
    log.wait_for("ended", 1);
}

#[test]
fn a_listener_for_one_peer_writes_down_whom_it_refuses() {
    let log = Log::new();
    let folder = tempfile::tempdir().unwrap();
    let [ours, friend, foreign] = ["a", "b", "c"].map(|name| Key::generate(folder.path(), name));
    let listening =
        Listening::with(&[&B[..], &["--audit", &log.path]].concat(), &ours.expecting(&friend));
    for _ in 0..5 {
        let asked = connect_with(&A, &foreign.expecting(&ours), &listening.address);
        assert_eq!(asked.status.code(), Some(1));
    }
    let asked = connect_with(&A, &friend.expecting(&ours), &listening.address);
    assert_eq!((asked.status.code(), listening.end().0), (Some(0), 0), "{}", stderr(&asked));
    let lines = log.lines();
    let events: Vec<_> = lines.iter().map(|line| line["event"].as_str().unwrap()).collect();
    assert_eq!(events, ["refused", "begun", "refused", "ended"]);
    assert_eq!((&lines[0]["count"], &lines[2]["count"]), (&1.into(), &4.into()));
    assert_eq!(lines[1]["session"], lines[3]["session"]);
}

#[test]
fn another_process_that_locks_the_log_stalls_neither_sessions_nor_an_interrupt() {
    let log = Log::new();
    let mut server = serve(&log, &[]);
    let two = [(); 2].map(|()| greet(&server.address, &receiver(20)).unwrap());
    log.wait_for("begun", 2);
    let other = File::options().append(true).open(&log.path).unwrap();
    other.lock().unwrap();
    assert_tells_nothing(&server.address);
    let said = server.line_with("cannot write the audit log");
    assert!(said.ends_with("another process holds a lock on it"), "{said}");
    let start = Instant::now();
    server.running.interrupt();
    let (status, _, said) = server.end();
    assert_eq!(status, 130, "{said}");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
    // Both are on record as runs that have begun.
    let events: Vec<_> = log.lines().iter().map(|line| line["event"].clone()).collect();
    assert_eq!(events, ["begun", "begun"]);
    drop(two);
}

#[test]
fn another_process_that_locks_the_record_does_not_stall_a_session() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record").to_str().unwrap().to_owned();
    let mut server = Listening::start(&[&B[..], &["--serve", "--record", &record]].concat());
    let other = File::options().append(true).open(&record).unwrap();
    other.lock().unwrap();
    assert_eq!(stdout(&connect(&A, &server.address)).lines().count(), 16);
    let said = server.line_with(" session 1 with ");
    assert!(said.contains("another process holds a lock on it"), "{said}");
    server.running.interrupt();
    assert_eq!(server.end().0, 130);
}

#[test]
fn a_log_that_is_renamed_goes_on_in_a_new_file() {
    let log = Log::new();
    let server = serve(&log, &[]);
    for _ in 0..2 {
        assert_eq!(stdout(&connect(&A, &server.address)).lines().count(), 16);
        log.wait_for("ended", 1);
        fs::rename(&log.path, log.folder.join("old")).unwrap();
    }
    assert_eq!(lines(log.folder.join("old").to_str().unwrap()).len(), 2);
}
