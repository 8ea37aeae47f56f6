//! Both parties of a set intersection as processes of their own, from files to files.

use std::{
    env, fs,
    io::{self, BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, ExitStatus, Stdio},
    thread,
    time::{Duration, Instant},
};

use foxtrot_cli::shared::Failure;
use serde_json::Value;

use super::measurement::Measurement;
use crate::{
    effort::{self, Effort},
    ext::{RECEIVER, SENDER, Sample},
};

/// The name of the benchmark.
pub(super) const NAME: &str = "processes/psi";

/// The argument with which this program is the command `foxtrot`.
pub(crate) const COMMAND: &str = "foxtrot";

/// The time to measure for, and the least number of runs.
const MEASURE_FOR: Duration = Duration::from_secs(1);
const AT_LEAST: usize = 3;

/// Pause between two looks at a process.
const PAUSE: Duration = Duration::from_micros(500);

/// The system counts a process's time in hundredths of a second, for every program on Linux.
const TICK: Duration = Duration::from_millis(10);

/// `foxtrot psi send` and `foxtrot psi receive` over loopback TCP, CSV files of n keys to a CSV file with the rows of the
/// half that they have in common; or why that cannot be measured.
pub(super) fn measure(n: usize, effort: Effort) -> Result<Result<Measurement, String>, Failure> {
    if !Path::new("/proc/self/stat").exists() {
        return Ok(Err("this system does not tell the time and memory of a process".into()));
    }
    let failed = |e: io::Error| Failure::run(format!("cannot run two processes: {e}"));
    let folder = tempfile::tempdir().map_err(failed)?;
    let common = n - n / 2;
    write_set(&folder.path().join("receive.csv"), 0, n).map_err(failed)?;
    write_set(&folder.path().join("send.csv"), common, n).map_err(failed)?;
    let once = || run(folder.path(), n - common).map_err(failed);
    Ok(Ok(Measurement::new(n, effort::repeat(effort, (MEASURE_FOR, AT_LEAST), once)?)))
}

fn write_set(path: &Path, first: usize, n: usize) -> io::Result<()> {
    let mut file = io::BufWriter::new(fs::File::create(path)?);
    writeln!(file, "key")?;
    (first..first + n).try_for_each(|i| writeln!(file, "customer-{i:07}@example.org"))?;
    file.flush()
}

/// One run over the files of that folder.
fn run(folder: &Path, common: usize) -> io::Result<Sample> {
    let program = env::current_exe()?;
    let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let start = |arguments: &[&str], report: &str| {
        let mut command = Command::new(&program);
        command.arg(COMMAND).args(arguments);
        command.args(["--insecure", "--key", "key", "--timeout", "60", "--json"]);
        command.stdin(Stdio::null()).stdout(fs::File::create(file(report))?).stderr(Stdio::piped());
        command.spawn().map(Running)
    };
    let started = Instant::now();
    let (ours, out) = (file("receive.csv"), file("out.csv"));
    let arguments = ["psi", "receive", &ours, "-o", &out, "--listen", "127.0.0.1:0"];
    let mut receiver = start(&arguments, "receive.json")?;
    let address = receiver.listening()?;
    let arguments = ["psi", "send", &file("send.csv"), "--connect", &address];
    let sender = start(&arguments, "send.json")?;
    let mut both = [sender, receiver];
    let used = watch(&mut both)?;
    let wall = started.elapsed();
    let rows = fs::read_to_string(&out)?.lines().count();
    if rows != common + 1 {
        return Err(io::Error::other(format!("there are {rows} rows in the result")));
    }
    let cpu = used.map(|it| it.cpu);
    Ok(Sample {
        wall,
        cpu,
        slower: cpu[SENDER].max(cpu[RECEIVER]),
        bytes: [
            sent(&file("send.json"), "bytes_sender")?,
            sent(&file("receive.json"), "bytes_receiver")?,
        ],
        peaks: used.map(|it| it.peak),
        ..Sample::default()
    })
}

/// Returns the bytes that a party sent, by its report.
fn sent(report: &str, key: &str) -> io::Result<u64> {
    let report: Value = serde_json::from_str(&fs::read_to_string(report)?)?;
    report[key].as_u64().ok_or_else(|| io::Error::other("a report has no bytes"))
}

/// A process that does not outlive what is known of it.
struct Running(Child);

impl Running {
    /// The address that it says it listens on; what it says later goes nowhere.
    fn listening(&mut self) -> io::Result<String> {
        let stderr = self.0.stderr.take().ok_or(io::ErrorKind::BrokenPipe)?;
        let mut said = BufReader::new(stderr);
        loop {
            let mut line = String::new();
            if said.read_line(&mut line)? == 0 {
                return Err(io::Error::other("the receiver does not listen"));
            }
            if let Some((_, address)) = line.split_once("listening on ") {
                let address = address.trim().to_owned();
                // Else it fails with a broken pipe.
                thread::spawn(move || io::copy(&mut said, &mut io::sink()));
                return Ok(address);
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // Of one that has ended and was waited for both do nothing.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Time and memory that a process used.
#[derive(Clone, Copy, Default)]
struct Used {
    cpu: Duration,
    peak: u64,
}

/// Looks at both until they have ended. The peak is gone when a process ends, so that it may be that of half a
/// millisecond before; its time stays until it is waited for.
fn watch(both: &mut [Running; 2]) -> io::Result<[Used; 2]> {
    let (mut used, mut ended) = ([Used::default(); 2], [None::<ExitStatus>; 2]);
    while ended.contains(&None) {
        for ((Running(child), used), ended) in both.iter_mut().zip(&mut used).zip(&mut ended) {
            if ended.is_some() {
                continue;
            }
            used.peak = used.peak.max(high_water(child.id()).unwrap_or(0));
            if let Some(cpu) = time_of_zombie(child.id()) {
                used.cpu = cpu;
                let status = child.wait()?;
                if !status.success() {
                    return Err(io::Error::other(format!("one ended with {status}")));
                }
                *ended = Some(status);
            }
        }
        thread::sleep(PAUSE);
    }
    Ok(used)
}

fn high_water(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}

/// CPU time of all threads of a process that has ended. `None` if it has not.
fn time_of_zombie(process: u32) -> Option<Duration> {
    of_stat(&fs::read_to_string(format!("/proc/{process}/stat")).ok()?)
}

/// Reads the time from proc_pid_stat(5): behind the name, which may have anything in it, are the state, and as the
/// twelfth and thirteenth the ticks in the program and in the system.
fn of_stat(stat: &str) -> Option<Duration> {
    let (_, behind) = stat.rsplit_once(") ")?;
    let fields: Vec<_> = behind.split(' ').collect();
    if fields.first() != Some(&"Z") {
        return None;
    }
    let ticks = |i: usize| fields.get(i)?.parse::<u32>().ok();
    Some(TICK * (ticks(11)? + ticks(12)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_of_a_process_is_read_after_its_end() {
        let stat = |state| {
            format!("17 (a b) c) {state} 1 17 17 0 -1 4194560 900 0 0 0 21 4 0 0 20 0 1 0 9 0 0")
        };
        assert_eq!(of_stat(&stat("Z")), Some(Duration::from_millis(250)));
        assert_eq!(of_stat(&stat("R")), None);
        assert_eq!(of_stat("17 (a"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn dropping_a_process_ends_it() {
        let sleeping = || Command::new("sleep").arg("60").spawn().map(Running).unwrap();
        let alive = |process: u32| Path::new(&format!("/proc/{process}")).exists();
        let child = sleeping();
        let process = child.0.id();
        assert!(alive(process));
        drop(child);
        assert!(!alive(process));

        // Of two of which one fails, the other does not go on.
        let mut both = [Command::new("false").spawn().map(Running).unwrap(), sleeping()];
        let process = both[1].0.id();
        let failed = watch(&mut both).map(|_| ()).unwrap_err();
        assert!(failed.to_string().contains("one ended with"), "{failed}");
        drop(both);
        assert!(!alive(process));
    }
}
