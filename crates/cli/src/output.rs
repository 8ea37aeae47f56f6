//! Messages on standard error while a run goes on.

use std::{
    fmt::{Display, Write as _},
    io::{self, IsTerminal, Write},
    process::ExitCode,
    sync::atomic::{AtomicBool, Ordering},
    time::{Duration, SystemTime},
};

use foxtrot_net::is_shown;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use serde_json::Value;

use crate::{args::Common, clock::utc, failure::Failure};

/// True if lines begin with the time.
static STAMPED: AtomicBool = AtomicBool::new(false);

/// Begins lines with the time from now on: they are the log of a server.
pub(crate) fn stamp() {
    STAMPED.store(true, Ordering::Relaxed);
}

/// Says it in any case. That nobody reads standard error is no reason to fail.
pub fn say(message: &str) {
    let time = match STAMPED.load(Ordering::Relaxed) {
        true => utc(SystemTime::now()) + " ",
        false => String::new(),
    };
    let _ = writeln!(io::stderr(), "foxtrot: {time}{message}");
}

pub(crate) fn report(failure: Failure) -> ExitCode {
    let status = ExitCode::from(failure.status());
    if !failure.is_silent() {
        say(failure.message());
        if let Some(hint) = failure.hint {
            let _ = writeln!(io::stderr(), "hint: {hint}");
        }
    }
    status
}

pub(crate) fn print(line: impl Display) -> Result<(), Failure> {
    writeln!(io::stdout().lock(), "{line}").map_err(|e| Failure::stdout(&e))
}

/// One line of JSON in which every character can be shown as it is: a peer's text could have others that steer a terminal.
pub(crate) fn json(value: &Value) -> String {
    let mut line = String::new();
    for c in value.to_string().chars() {
        if is_shown(c) {
            line.push(c);
            continue;
        }
        // Only texts have such characters, and there an escape stands for the same.
        for unit in c.encode_utf16(&mut [0; 2]) {
            let _ = write!(line, "\\u{unit:04x}");
        }
    }
    line
}

/// Fails if standard output was closed when the process began. Rust's library then opens the null device in its place, for
/// reading and writing, and everything that is written would be lost in silence.
pub(crate) fn check_stdout() -> Result<(), Failure> {
    #[cfg(unix)]
    {
        use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat, stat};
        let out = io::stdout();
        let (flags, found, null) = (fcntl_getfl(&out), fstat(&out), stat("/dev/null"));
        let (Ok(flags), Ok(found), Ok(null)) = (flags, found, null) else { return Ok(()) };
        let is_null = FileType::from_raw_mode(found.st_mode) == FileType::CharacterDevice
            && found.st_rdev == null.st_rdev;
        if is_null && flags & OFlags::RWMODE == OFlags::RDWR {
            let why =
                "standard output is closed, or the null device opened for reading and writing";
            return Err(Failure::run(why).hint("redirect it to a file, or to /dev/null with `>`"));
        }
    }
    Ok(())
}

/// The amount of messages.
#[derive(Clone, Copy)]
pub(crate) struct Output {
    pub(crate) quiet: bool,
    pub(crate) verbose: bool,
    /// True if one JSON object about the run goes to standard output.
    pub(crate) json: bool,
}

impl Output {
    pub(crate) fn new(common: &Common) -> Self {
        Self { quiet: common.quiet, verbose: common.verbose, json: common.json }
    }

    /// Returns the output of one of several runs at the same time.
    pub(crate) fn in_background() -> Self {
        Self { quiet: true, verbose: false, json: false }
    }

    /// Prints a message for the person who runs the command.
    pub(crate) fn note(self, message: &str) {
        if !self.quiet {
            say(message);
        }
    }

    /// Prints a message for a person who wants to know more.
    pub(crate) fn detail(self, message: &str) {
        if self.verbose {
            say(message);
        }
    }

    /// Prints the listening address, in any case: scripts wait for it.
    pub(crate) fn listening_on(self, address: impl Display) {
        let _ = writeln!(io::stderr(), "foxtrot: listening on {address}");
    }

    /// A bar over n of what is named so, where it takes seconds and somebody watches.
    pub(crate) fn progress(self, n: usize, what: &str) -> ProgressBar {
        self.bar(n, &format!("{{wide_bar}} {{human_pos}} of {{human_len}} {what}, {{eta}} left"))
    }

    /// A bar over n steps, which mean nothing to who watches.
    pub(crate) fn progress_in_percent(self, n: usize) -> ProgressBar {
        self.bar(n, "{wide_bar} {percent} %, {eta} left")
    }

    /// Shows that time goes on, where somebody watches.
    pub(crate) fn waiting(self) -> ProgressBar {
        if self.quiet || !io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        bar.enable_steady_tick(Duration::from_secs(1));
        bar.with_style(
            ProgressStyle::with_template("waiting for {elapsed}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner()),
        )
    }

    fn bar(self, n: usize, style: &str) -> ProgressBar {
        /// Steps that are done before anybody would look.
        const SOON_DONE: usize = 10_000;
        if self.quiet || n < SOON_DONE || !io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::with_draw_target(Some(n as u64), ProgressDrawTarget::stderr());
        bar.with_style(
            ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_no_character_that_steers_a_terminal_and_the_same_value() {
        let value = serde_json::json!({ "a\u{202e}": "\u{9b}31m\u{7f}\u{1b}\"\\\u{e0041} ü", "b": [1, null] });
        let line = json(&value);
        assert_eq!(line, r#"{"a\u202e":"\u009b31m\u007f\u001b\"\\\udb40\udc41 ü","b":[1,null]}"#);
        assert_eq!(serde_json::from_str::<Value>(&line).unwrap(), value);
    }
}
