//! Groups of processes, and the CPU time of all of them.

use std::{
    fs,
    io::{self, Read, Seek},
    os::unix::process::CommandExt,
    process::{Command, Stdio},
    sync::atomic::{AtomicI32, Ordering},
    thread,
    time::{Duration, Instant},
};

use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process_group, set_child_subreaper, waitpgid,
};

use super::file::Program;

/// The system counts times in hundredths of a second, for every program on Linux.
pub(super) const TICK: Duration = Duration::from_millis(10);

/// The pause between two looks at the processes.
const PAUSE: Duration = Duration::from_millis(5);

/// The group that runs, for an interrupt; 0 if there is none.
static RUNNING: AtomicI32 = AtomicI32::new(0);

/// Times of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Times {
    /// User and system time of all processes.
    pub(super) cpu: Duration,
    pub(super) wall: Duration,
}

/// Lets this process wait for orphans of its children, so that the time of a process in the background counts.
pub(super) fn adopt_orphans() -> io::Result<()> {
    Ok(set_child_subreaper(Some(getpid()))?)
}

/// Ends the group that runs, if there is one.
pub(super) fn end_running() {
    if let Some(group) = Pid::from_raw(RUNNING.load(Ordering::Relaxed)) {
        // Of a group that has ended nothing is left to end.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Runs a program's command line until all processes of its group have ended.
///
/// # Errors
/// The reason why there are no times: a process failed, or one ran too long.
pub(super) fn run(program: &Program, timeout: Duration) -> Result<Times, String> {
    let words = |e: io::Error| format!("cannot run it: {e}");
    let mut said = tempfile::tempfile().map_err(words)?;
    let itself = std::env::current_exe().map_err(words)?;
    let before = of_children().map_err(words)?;
    let started = Instant::now();
    let child = Command::new("sh")
        .args(["-c", &program.command])
        .env("FOXTROT_BENCH", itself)
        .envs(&program.environment)
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(said.try_clone().map_err(words)?)
        .spawn()
        .map_err(words)?;
    let group = Pid::from_child(&child);
    RUNNING.store(group.as_raw_nonzero().get(), Ordering::Relaxed);
    let ended = wait(group, started + timeout);
    RUNNING.store(0, Ordering::Relaxed);
    let wall = started.elapsed();
    ended.map_err(|why| match last_words(&mut said) {
        said if said.is_empty() => why,
        said => format!("{why}: {said}"),
    })?;
    let after = of_children().map_err(words)?;
    Ok(Times { cpu: after.saturating_sub(before), wall })
}

/// Waits for all processes of a group; kills those that are left when one has failed or the time is over.
fn wait(group: Pid, deadline: Instant) -> Result<(), String> {
    let mut failed = None;
    loop {
        match waitpgid(group, WaitOptions::NOHANG) {
            Err(rustix::io::Errno::CHILD) => return failed.map_or(Ok(()), Err),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(format!("cannot wait for it: {}", io::Error::from(error))),
            Ok(Some((_, status))) if status.exit_status() == Some(0) => continue,
            // After the first failure the others fail by our signal.
            Ok(Some((_, status))) => drop(failed.get_or_insert_with(|| {
                match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => format!("a process ended with status {code}"),
                    (_, signal) => format!("a process ended by signal {}", signal.unwrap_or(0)),
                }
            })),
            Ok(None) if failed.is_none() && Instant::now() >= deadline => {
                failed = Some("it ran too long".into());
            }
            Ok(None) => thread::sleep(PAUSE),
        }
        if failed.is_some() {
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

/// The last line that a program wrote to standard error.
fn last_words(said: &mut fs::File) -> String {
    let mut text = Vec::new();
    // Words that cannot be read are as good as none.
    let _ = said.rewind().and_then(|()| said.read_to_end(&mut text));
    let text = String::from_utf8_lossy(&text);
    text.lines().rfind(|line| !line.trim().is_empty()).unwrap_or_default().trim().to_owned()
}

/// CPU time of all children that have been waited for, and of theirs.
fn of_children() -> io::Result<Duration> {
    of_stat(&fs::read_to_string("/proc/self/stat")?)
        .ok_or_else(|| io::Error::other("this system does not tell the time of processes"))
}

/// Reads the times from proc_pid_stat(5): behind the name are, as the fourteenth and fifteenth, ticks of children in
/// the program and in the system.
fn of_stat(stat: &str) -> Option<Duration> {
    let (_, behind) = stat.rsplit_once(") ")?;
    let ticks = |i: usize| behind.split(' ').nth(i)?.parse::<u32>().ok();
    Some(TICK * (ticks(13)? + ticks(14)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn times(command: &str, timeout: Duration) -> Result<Times, String> {
        let command = command.into();
        let name = "a program".into();
        run(&Program { name, command, environment: [].into() }, timeout)
    }

    #[test]
    fn a_run_is_all_processes_of_its_command_line() {
        adopt_orphans().unwrap();
        let burn = "i=0; while [ $i -lt 40000 ]; do i=$((i+1)); done";
        let minute = Duration::from_secs(60);
        let idle = times("sleep 0.1", minute).unwrap();
        assert!(idle.cpu <= 3 * TICK && idle.wall >= Duration::from_millis(100), "{idle:?}");
        // Nobody waits for the process in the background but we.
        let background = times(&format!("({burn}) &"), minute).unwrap();
        assert!(background.cpu >= 2 * TICK && background.wall >= 2 * TICK, "{background:?}");

        let failed = times("echo one >&2; echo two >&2; exit 3", minute).unwrap_err();
        assert_eq!(failed, "a process ended with status 3: two");
        let failed = times("(exit 4) &", minute).unwrap_err();
        assert_eq!(failed, "a process ended with status 4");
        let failed = times("sleep 60 & sleep 60", Duration::from_millis(20)).unwrap_err();
        assert_eq!(failed, "it ran too long");
    }

    #[test]
    fn times_of_children_are_read_behind_the_name() {
        let stat = "17 (a b) c) R 1 17 17 0 -1 4194560 900 0 0 0 21 4 30 5 20 0 1 0 9 0 0";
        assert_eq!(of_stat(stat), Some(Duration::from_millis(350)));
        assert_eq!(of_stat("17 (a"), None);
    }
}
