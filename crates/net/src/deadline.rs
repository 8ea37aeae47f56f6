//! Instants until which we wait, and locks.

use core::time::Duration;
use std::{
    io,
    sync::{Condvar, Mutex, MutexGuard, PoisonError},
    time::Instant,
};

/// Locks a mutex, also after a thread that held it has panicked.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Longer timeouts mean this one: a sum with it does not overflow an [`Instant`].
pub(crate) const LONGEST: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// The end of a wait that begins now.
pub(crate) fn after(timeout: Duration) -> Instant {
    Instant::now() + timeout.min(LONGEST)
}

/// The time left, not zero; `None` when it is over.
pub(crate) fn remaining(deadline: Instant) -> Option<Duration> {
    deadline.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
}

/// Waits while `so` holds of the value. Returns true when it does not, and false at the end of time.
pub(crate) fn wait_while<'a, T>(
    deadline: Instant,
    condition: &Condvar,
    mut guard: MutexGuard<'a, T>,
    mut so: impl FnMut(&mut T) -> bool,
) -> (MutexGuard<'a, T>, bool) {
    // The one of std ends with the first notification once a thread that held the lock has panicked.
    while so(&mut guard) {
        let woken;
        (guard, woken) = wait(deadline, condition, guard);
        if woken.is_err() {
            let ended = !so(&mut guard);
            return (guard, ended);
        }
    }
    (guard, true)
}

/// Waits for a notification or the end of time, which is an error of kind `TimedOut`.
pub(crate) fn wait<'a, T>(
    deadline: Instant,
    condition: &Condvar,
    guard: MutexGuard<'a, T>,
) -> (MutexGuard<'a, T>, io::Result<()>) {
    match remaining(deadline) {
        None => (guard, Err(io::ErrorKind::TimedOut.into())),
        Some(left) => {
            let woken = condition.wait_timeout(guard, left);
            (woken.unwrap_or_else(PoisonError::into_inner).0, Ok(()))
        }
    }
}
