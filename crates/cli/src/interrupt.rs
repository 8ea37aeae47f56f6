//! Handling of Ctrl-C, and of the system's signal to end the process.

use std::{
    io::{self, IsTerminal, Write},
    process,
    sync::{Mutex, PoisonError},
};

use crate::{audit, failure::INTERRUPTED, files, output::say};

/// The hint after an interrupt.
static HINT: Mutex<Option<&str>> = Mutex::new(None);

/// More to do at an interrupt.
static THEN: Mutex<Option<fn()>> = Mutex::new(None);

/// Does more at an interrupt from now on: it ends processes that this one has started.
pub fn on_interrupt(then: fn()) {
    *THEN.lock().unwrap_or_else(PoisonError::into_inner) = Some(then);
}

/// Adds a hint to an interrupt from now on: it leaves something to go on with.
pub(crate) fn hint(hint: &'static str) {
    *HINT.lock().unwrap_or_else(PoisonError::into_inner) = Some(hint);
}

/// Ends the process at an interrupt from now on, with its own status, and leaves nothing
/// half-written.
pub fn catch() {
    // Without a handler an interrupt still ends the process.
    let _ = ctrlc::set_handler(|| {
        let _nothing_is_put_in_place = files::discard_unfinished();
        audit::interrupted();
        THEN.lock().unwrap_or_else(PoisonError::into_inner).iter().for_each(|then| then());
        if io::stderr().is_terminal() {
            // Behind a progress bar, or the ^C of the terminal.
            eprintln!();
        }
        say("interrupted");
        if let Some(hint) = HINT.lock().unwrap_or_else(PoisonError::into_inner).as_ref() {
            // That nobody reads it changes nothing.
            let _ = writeln!(io::stderr(), "hint: {hint}");
        }
        process::exit(INTERRUPTED.into());
    });
}
