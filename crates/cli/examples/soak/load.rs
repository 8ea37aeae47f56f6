//! Sessions one after another and at once, and what they did to the server.

use std::{
    fmt, fs,
    path::Path,
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use foxtrot::{Config, Identity};

use crate::{
    client::{Failure, Job, TRANSFERS},
    server::Server,
};

/// Times that all concurrent sessions are run.
const WAVES: usize = 3;

/// Looks at the memory while sessions go one after another.
const LOOKS: usize = 10;

/// The largest growth of memory in KiB from the first look on, beside what a session takes.
const MOST_GROWTH: u64 = 2 << 10;

/// KiB that the system's allocator may keep of sessions at once, beside what these take.
const KEPT: u64 = 16 << 10;

/// The longest wait for the server.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Figures of a number of sessions.
struct Phase {
    name: String,
    wall: Duration,
    /// Latencies of sessions that went well, sorted.
    latencies: Vec<Duration>,
    failures: Vec<String>,
    /// KiB.
    memory: Vec<u64>,
    /// The most that it may be.
    most: u64,
}

/// Both phases.
pub(crate) struct Report {
    job: Job,
    transport: &'static str,
    /// KiB before the first session.
    before: Option<u64>,
    phases: [Phase; 2],
}

/// Starts the server and loads it.
pub(crate) fn run(
    binary: &Path,
    job: Job,
    sequential: usize,
    concurrent: usize,
    tls: bool,
) -> Result<Report, Failure> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("lines.txt");
    fs::write(&file, job.lines())?;
    let (transport, config) = if tls {
        let [server, client] = [Identity::generate()?, Identity::generate()?];
        let key = folder.path().join("key");
        fs::write(&key, server.to_pem().as_bytes())?;
        #[cfg(unix)]
        fs::set_permissions(&key, std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
        let config = Config::tls(&client, &[server.fingerprint()])?;
        let peer = client.fingerprint().to_string();
        let key = key.to_str().ok_or("not a path in UTF-8")?.to_owned();
        (vec!["--identity".to_owned(), key, "--peer".to_owned(), peer], config)
    } else {
        (vec!["--insecure".to_owned()], Config::insecure())
    };
    let config = config.timeout(TIMEOUT);
    let server = Server::start(binary, job.command(), &file, &transport)?;
    // It has read it, once and for all sessions.
    fs::remove_file(&file)?;
    let before = server.memory();
    let one = || timed(|| job.session(&server.address, &config));
    let mut phases =
        [one_after_another(sequential, &server, one), at_once(concurrent, &server, one)];
    let (of_each, first) = (job.most_of_each(), phases[0].memory.first().copied());
    phases[0].most = first.unwrap_or_default() + MOST_GROWTH + of_each;
    phases[1].most = before.unwrap_or_default() + KEPT + of_each * concurrent as u64;
    Ok(Report { job, transport: if tls { "tls" } else { "tcp" }, before, phases })
}

/// Runs the session, and returns the time that it took.
fn timed(run: impl FnOnce() -> Result<(), Failure>) -> Result<Duration, Failure> {
    let start = Instant::now();
    run().map(|()| start.elapsed())
}

fn one_after_another(
    sessions: usize,
    server: &Server,
    one: impl Fn() -> Result<Duration, Failure>,
) -> Phase {
    let start = Instant::now();
    let mut phase = Phase::new(format!("{sessions} sessions one after another"));
    let (mut next, step) = (sessions.div_ceil(LOOKS), sessions.div_ceil(LOOKS));
    for i in 1..=sessions {
        phase.add(one());
        if i == next || i == sessions {
            phase.memory.extend(server.memory());
            next += step;
        }
    }
    phase.end(start)
}

fn at_once(
    sessions: usize,
    server: &Server,
    one: impl Fn() -> Result<Duration, Failure> + Sync,
) -> Phase {
    let start = Instant::now();
    let mut phase = Phase::new(format!("{WAVES} times {sessions} sessions at once"));
    for _ in 0..WAVES {
        let barrier = Barrier::new(sessions);
        let results: Vec<_> = thread::scope(|scope| {
            let client = || {
                barrier.wait();
                one()
            };
            let clients: Vec<_> = (0..sessions).map(|_| scope.spawn(client)).collect();
            let panicked = |_| Err("the client panicked".into());
            clients.into_iter().map(|client| client.join().unwrap_or_else(panicked)).collect()
        });
        results.into_iter().for_each(|result| phase.add(result));
        phase.memory.extend(server.memory());
    }
    phase.end(start)
}

impl Phase {
    fn new(name: String) -> Self {
        let (latencies, failures, memory) = (Vec::new(), Vec::new(), Vec::new());
        Self { name, wall: Duration::ZERO, latencies, failures, memory, most: 0 }
    }

    fn add(&mut self, result: Result<Duration, Failure>) {
        match result {
            Ok(latency) => self.latencies.push(latency),
            Err(e) => self.failures.push(e.to_string()),
        }
    }

    fn end(mut self, start: Instant) -> Self {
        self.wall = start.elapsed();
        self.latencies.sort_unstable();
        self
    }

    fn passed(&self) -> bool {
        self.failures.is_empty() && self.memory.iter().all(|memory| *memory <= self.most)
    }

    /// The latency that so many of a thousand sessions do not exceed.
    fn latency(&self, per_mille: usize) -> Duration {
        let last = self.latencies.len().saturating_sub(1);
        self.latencies.get(last * per_mille / 1000).copied().unwrap_or_default()
    }
}

impl Report {
    /// Returns true if no session failed, and the memory stayed.
    pub(crate) fn passed(&self) -> bool {
        self.phases.iter().all(Phase::passed)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.job {
            Job::Messages => write!(f, "foxtrot ot send --serve, {TRANSFERS} transfers each")?,
            Job::Sets(keys) => write!(f, "foxtrot psi send --serve, {keys} keys on both sides")?,
        }
        writeln!(f, ", {}; resident KiB before: {}", self.transport, self.before.unwrap_or(0))?;
        for phase in &self.phases {
            let milliseconds = |per_mille| phase.latency(per_mille).as_secs_f64() * 1e3;
            let rate = phase.latencies.len() as f64 / phase.wall.as_secs_f64();
            writeln!(f, "{}: {rate:.0}/s", phase.name)?;
            writeln!(
                f,
                "  latency: median {:.2} ms, p99 {:.2} ms, most {:.2} ms",
                milliseconds(500),
                milliseconds(990),
                milliseconds(1000)
            )?;
            writeln!(f, "  resident KiB: {:?}, at most {}", phase.memory, phase.most)?;
            writeln!(f, "  failures: {}", phase.failures.len())?;
            phase.failures.iter().take(5).try_for_each(|failure| writeln!(f, "    {failure}"))?;
        }
        writeln!(f, "{}", if self.passed() { "passed" } else { "FAILED" })
    }
}
