//! What happens on Ctrl-C, and when the system ends the process.

use std::{
    io::{self, IsTerminal},
    process,
};

use crate::{failure::INTERRUPTED, files, output::say};

/// From now on an interrupt ends the process with its own status, and leaves nothing half-written.
pub(crate) fn catch() {
    // Without a handler an interrupt still ends the process.
    let _ = ctrlc::set_handler(|| {
        let _nothing_is_put_in_place = files::discard_unfinished();
        if io::stderr().is_terminal() {
            // Behind a progress bar, or the ^C of the terminal.
            eprintln!();
        }
        say("interrupted");
        process::exit(INTERRUPTED.into());
    });
}
