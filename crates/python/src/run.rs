//! Long calls: on a thread of their own, so that the caller's thread answers signals and shows progress.

use std::{
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use foxtrot::Progress;
use pyo3::prelude::*;

use crate::errors::{panicked, usage};

/// The time between two looks at signals and progress.
const LOOK: Duration = Duration::from_millis(100);

/// Bytes of the thread's stack, of which it touches what it needs.
const STACK: usize = 8 << 20;

/// A caller's function of progress, and the place where a job leaves its progress.
pub(crate) struct Tell<'a, 'py> {
    pub(crate) function: Option<&'a Bound<'py, PyAny>>,
    pub(crate) progress: &'a dyn Fn() -> Option<Progress>,
}

impl Tell<'_, '_> {
    pub(crate) const NOTHING: Self = Self { function: None, progress: &|| None };

    fn tell(&self, last: &mut Option<Progress>) -> PyResult<()> {
        let (Some(function), Some(now)) = (self.function, (self.progress)()) else { return Ok(()) };
        if last.replace(now) != Some(now) {
            function.call1((now.done, now.of, now.unit))?;
        }
        Ok(())
    }
}

/// Runs `work` without the GIL. If a signal's handler or the function of progress raises, `cancel` is called, and the work
/// ends by itself.
///
/// # Errors
/// The exception that ended the wait.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    tell: &Tell<'_, '_>,
    cancel: impl Fn(),
    work: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let (done, mut result) = mpsc::channel();
    let thread = thread::Builder::new().name("foxtrot".into()).stack_size(STACK);
    let started = thread.spawn(move || {
        // The receiver is gone if the caller waits no longer.
        let _ = done.send(work());
    });
    started.map_err(|e| usage(format_args!("the system starts no thread: {e}")))?;
    let mut last = None;
    loop {
        let waited;
        (result, waited) = py.detach(move || {
            let waited = result.recv_timeout(LOOK);
            (result, waited)
        });
        let looked = match waited {
            Ok(value) => return tell.tell(&mut last).map(|()| value),
            Err(RecvTimeoutError::Disconnected) => return Err(panicked()),
            Err(RecvTimeoutError::Timeout) => {
                py.check_signals().and_then(|()| tell.tell(&mut last))
            }
        };
        if let Err(raised) = looked {
            // Cancelling waits for locks that the work may hold.
            cancel();
            return Err(raised);
        }
    }
}
