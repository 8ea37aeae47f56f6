//! The server's process.

use std::{
    env, fs,
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    thread,
};

use crate::client::Failure;

/// A running server; ends when dropped.
pub(crate) struct Server {
    child: Child,
    pub(crate) address: String,
}

impl Server {
    /// Starts it with what is in that file.
    pub(crate) fn start(
        binary: &Path,
        command: &[&str],
        file: &Path,
        transport: &[String],
    ) -> Result<Self, Failure> {
        let mut child = Command::new(binary)
            .args(command)
            .args(["--serve", "--quiet", "--listen", "127.0.0.1:0"])
            // All clients are one peer.
            .args(["--max-sessions", "1000", "--max-sessions-per-peer", "1000"])
            .args(transport)
            .arg(file)
            // glibc adds an arena, of 5 MB with sets, when threads allocate at once: one arena keeps that out of the growth.
            .env("MALLOC_ARENA_MAX", env::var_os("MALLOC_ARENA_MAX").unwrap_or("1".into()))
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|e| format!("cannot start {}: {e}", binary.display()))?;
        let stderr = child.stderr.take().ok_or("no standard error")?;
        // Ends the child whatever comes.
        let mut server = Self { child, address: String::new() };
        let mut lines = BufReader::new(stderr).lines();
        while server.address.is_empty() {
            let line = lines.next().ok_or("the server ended at once")??;
            match line.strip_prefix("foxtrot: listening on ") {
                Some(address) => address.clone_into(&mut server.address),
                None => eprintln!("{line}"),
            }
        }
        // Failed sessions, if any.
        thread::spawn(move || lines.map_while(Result::ok).for_each(|line| eprintln!("{line}")));
        Ok(server)
    }

    /// Resident memory in KiB, where the system tells.
    pub(crate) fn memory(&self) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
        line.split_whitespace().next()?.parse().ok()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
