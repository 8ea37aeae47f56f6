//! The most memory that each party of a set intersection has, as processes of their own.

use std::{
    env, fs,
    io::{BufRead, BufReader, Write},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
    time::Duration,
};

use super::measurement::Measurement;
use crate::failure::Failure;

/// Between two looks at a process.
const PAUSE: Duration = Duration::from_micros(500);

/// The peak of that role over sets of n keys, half of them in common; or why there is none.
pub(super) fn peak(role: &str, n: usize) -> Result<Result<Measurement, String>, Failure> {
    if !Path::new("/proc/self/status").exists() {
        return Ok(Err("this system does not tell the peak of a process".into()));
    }
    let failed = |e: std::io::Error| Failure::run(format!("cannot run two processes: {e}"));
    let folder = tempfile::tempdir().map_err(failed)?;
    let sets = [("receive.csv", 0), ("send.csv", n - n / 2)].map(|(name, first)| {
        let path = folder.path().join(name);
        write_set(&path, first, n).map(|()| path)
    });
    let [ours, theirs] = sets;
    let (ours, theirs) = (ours.map_err(failed)?, theirs.map_err(failed)?);
    let program = env::current_exe().map_err(failed)?;
    let start = |arguments: &[&str]| {
        let mut command = Command::new(&program);
        command.args(arguments).args(["--insecure", "--key", "key", "--timeout", "60"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()
    };
    let text = |path: &Path| path.to_string_lossy().into_owned();
    let mut receiver =
        start(&["psi", "receive", &text(&ours), "--listen", "127.0.0.1:0"]).map_err(failed)?;
    let address = listening(&mut receiver).map_err(failed)?;
    let mut sender =
        start(&["psi", "send", &text(&theirs), "--connect", &address]).map_err(failed)?;
    let peaks = watch([&mut sender, &mut receiver]).map_err(failed)?;
    let peak = peaks[usize::from(role == "receive")];
    Ok(Ok(Measurement { peak_bytes: Some(peak), ..Measurement::new(n, Vec::new()) }))
}

fn write_set(path: &Path, first: usize, n: usize) -> std::io::Result<()> {
    let mut file = std::io::BufWriter::new(fs::File::create(path)?);
    writeln!(file, "key")?;
    (first..first + n).try_for_each(|i| writeln!(file, "customer-{i:06}@example.org"))?;
    file.flush()
}

/// The address that it says it listens on; what it says later goes nowhere.
fn listening(child: &mut Child) -> std::io::Result<String> {
    let mut said = BufReader::new(child.stderr.take().ok_or(std::io::ErrorKind::BrokenPipe)?);
    loop {
        let mut line = String::new();
        if said.read_line(&mut line)? == 0 {
            return Err(std::io::Error::other("the receiver does not listen"));
        }
        if let Some((_, address)) = line.split_once("listening on ") {
            let address = address.trim().to_owned();
            // Else it fails with a broken pipe.
            thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
            return Ok(address);
        }
    }
}

/// The peaks of both, looked at until they have ended.
fn watch(mut both: [&mut Child; 2]) -> std::io::Result<[u64; 2]> {
    let mut peaks = [0; 2];
    loop {
        let mut running = false;
        for (child, peak) in both.iter_mut().zip(&mut peaks) {
            // Of a process that has ended the system knows no more.
            *peak = (*peak).max(high_water(child.id()).unwrap_or(0));
            match child.try_wait()? {
                None => running = true,
                Some(status) if status.success() => {}
                Some(status) => {
                    return Err(std::io::Error::other(format!("one ended with {status}")));
                }
            }
        }
        if !running {
            return Ok(peaks);
        }
        thread::sleep(PAUSE);
    }
}

fn high_water(process: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kib * 1024)
}
