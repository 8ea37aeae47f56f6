//! Running the command, alone or against a peer.

use std::{
    fs,
    io::{BufRead, BufReader, Read},
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
};

/// The repository's root, where the README's commands are run.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).unwrap().to_owned()
}

/// The command with these arguments, to be run in the repository's root.
pub(crate) fn foxtrot(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_foxtrot"));
    command.args(arguments).current_dir(root()).stdin(Stdio::null());
    command
}

/// Runs the command on a system that lets it write files of so many blocks of 512 bytes only: as on a disk that
/// is full, a write fails.
#[cfg(unix)]
pub(crate) fn on_full_disk(blocks: u32, arguments: &[&str]) -> Command {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$@\"");
    let mut command = Command::new("sh");
    command.args(["-c", &script, "sh", env!("CARGO_BIN_EXE_foxtrot")]).args(arguments);
    command.current_dir(root()).stdin(Stdio::null());
    command
}

/// A command in the background.
pub(crate) struct Running {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
}

impl Running {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::of(foxtrot(arguments))
    }

    pub(crate) fn of(mut command: Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let stderr = BufReader::new(child.stderr.take().unwrap());
        Self { child, stderr }
    }

    /// The next line on standard error.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.stderr.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The id of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// Presses Ctrl-C.
    #[cfg(unix)]
    pub(crate) fn interrupt(&self) {
        self.signal("-INT");
    }

    pub(crate) fn signal(&self, signal: &str) {
        let id = self.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
    }

    /// Closes the pipe that its standard output is.
    pub(crate) fn stop_reading(&mut self) {
        self.child.stdout.take();
    }

    /// Waits for its end; gives status, standard output and the rest of standard error.
    pub(crate) fn end(mut self) -> (i32, String, String) {
        let mut stdout = String::new();
        if let Some(mut pipe) = self.child.stdout.take() {
            pipe.read_to_string(&mut stdout).unwrap();
        }
        let mut stderr = String::new();
        self.stderr.read_to_string(&mut stderr).unwrap();
        // A signal that nobody handled is as good as none.
        (self.child.wait().unwrap().code().unwrap_or(-1), stdout, stderr)
    }
}

/// A test that fails leaves no process.
impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended needs neither.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command in the background that listens.
pub(crate) struct Listening {
    pub(crate) running: Running,
    /// The address on which the process listens.
    pub(crate) address: String,
}

impl Listening {
    /// Starts the process over plain TCP.
    pub(crate) fn start(arguments: &[&str]) -> Self {
        Self::with(arguments, &["--insecure"])
    }

    /// Starts the process with these arguments about the transport.
    pub(crate) fn with(arguments: &[&str], transport: &[&str]) -> Self {
        let listen = ["--listen", "127.0.0.1:0"];
        let mut running = Running::start(&[arguments, transport, &listen].concat());
        // What was read is told before.
        let mut line = running.line();
        while line.starts_with("foxtrot: read ") || line.starts_with("foxtrot: warning: ") {
            line = running.line();
        }
        let address = line.strip_prefix("foxtrot: listening on ");
        let address = address.unwrap_or_else(|| panic!("not an address: {line}")).to_owned();
        Self { running, address }
    }

    /// The next line on standard error with these words.
    pub(crate) fn line_with(&mut self, words: &str) -> String {
        loop {
            let line = self.running.line();
            assert!(!line.is_empty(), "the process has ended");
            if line.contains(words) {
                return line;
            }
        }
    }

    pub(crate) fn end(self) -> (i32, String, String) {
        self.running.end()
    }
}

/// Runs a command against a listening one, over plain TCP.
pub(crate) fn connect(arguments: &[&str], address: &str) -> Output {
    connect_with(arguments, &["--insecure"], address)
}

pub(crate) fn connect_with(arguments: &[&str], transport: &[&str], address: &str) -> Output {
    foxtrot(&[arguments, transport, &["--connect", address]].concat()).output().unwrap()
}

/// A key of `foxtrot keygen`.
pub(crate) struct Key {
    pub(crate) file: String,
    pub(crate) fingerprint: String,
}

impl Key {
    pub(crate) fn generate(folder: &Path, name: &str) -> Self {
        let file = folder.join(name).to_str().unwrap().to_owned();
        let output = foxtrot(&["keygen", "-o", &file]).output().unwrap();
        assert_eq!(stderr(&output), format!("foxtrot: wrote {file}\n"));
        Self { fingerprint: stdout(&output).trim_end().to_owned(), file }
    }

    /// The arguments of a party that has this key and expects the peer's.
    pub(crate) fn expecting<'a>(&'a self, peer: &'a Self) -> [&'a str; 4] {
        ["--identity", &self.file, "--peer", &peer.fingerprint]
    }
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Returns true for a time as in logs and records.
pub(crate) fn is_time(text: &str) -> bool {
    let digits = |c: char| if c.is_ascii_digit() { '0' } else { c };
    text.chars().map(digits).collect::<String>() == "0000-00-00T00:00:00Z"
}

/// Returns the messages that the receiver of the examples gets.
pub(crate) fn expected_messages() -> String {
    let files = ["examples/messages.txt", "examples/choices.txt"];
    stdout(&foxtrot(&["ot", "local", files[0], files[1]]).output().unwrap())
}

/// Replaces every duration by `…`, so that what remains is the same in every run.
pub(crate) fn without_times(text: &str) -> String {
    let mut words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    for i in 1..words.len() {
        let unit = words[i].trim_end_matches(|c: char| !c.is_alphanumeric());
        if ["µs", "ms", "s"].contains(&unit) && words[i - 1].parse::<f64>().is_ok() {
            words[i] = words[i].replacen(unit, "…", 1);
            words[i - 1].clear();
        }
    }
    words.join(" ")
}

/// Returns the names in a folder.
pub(crate) fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

/// Runs the command on a terminal with this answer; `None` where no terminal can be imitated.
#[cfg(unix)]
pub(crate) fn on_a_terminal(arguments: &str, answer: &str) -> Option<String> {
    let command = format!("{} {arguments}", env!("CARGO_BIN_EXE_foxtrot"));
    let script = format!("(sleep 1; echo {answer}; sleep 1) | script -qefc '{command}' /dev/null");
    let output = Command::new("sh").args(["-c", &script]).current_dir(root()).output().ok()?;
    let said = stdout(&output);
    if stderr(&output).contains("not found") {
        eprintln!("skipped: there is no program `script`");
        return None;
    }
    Some(said)
}
