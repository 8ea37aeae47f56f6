//! Running the command, alone or against a peer.

use std::{
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

/// A command in the background that listens.
pub(crate) struct Listening {
    child: Child,
    stderr: BufReader<std::process::ChildStderr>,
    /// Where it listens.
    pub(crate) address: String,
}

impl Listening {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let listen = ["--insecure", "--listen", "127.0.0.1:0"];
        let mut child = foxtrot(&[arguments, &listen].concat())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        stderr.read_line(&mut line).unwrap();
        let address = line.trim_end().strip_prefix("foxtrot: listening on ");
        let address = address.unwrap_or_else(|| panic!("not an address: {line}")).to_owned();
        Self { child, stderr, address }
    }

    /// Waits for its end; gives status, standard output and the rest of standard error.
    pub(crate) fn end(mut self) -> (i32, String, String) {
        let mut stdout = String::new();
        self.child.stdout.take().unwrap().read_to_string(&mut stdout).unwrap();
        let mut stderr = String::new();
        self.stderr.read_to_string(&mut stderr).unwrap();
        (self.child.wait().unwrap().code().unwrap(), stdout, stderr)
    }
}

/// Runs a command against a listening one.
pub(crate) fn connect(arguments: &[&str], address: &str) -> Output {
    foxtrot(&[arguments, &["--insecure", "--connect", address]].concat()).output().unwrap()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// With every duration replaced by `…`, so that what remains is the same in every run.
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
