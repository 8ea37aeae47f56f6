//! Threads that compute for a party.

use std::{
    fmt,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use foxtrot_ot::tasks::{Executor, Task};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::Error;

/// A pool of threads beside the caller's own, shared by its clones.
///
/// ```
/// use foxtrot::{Config, Threads};
///
/// let threads = Threads::new(4)?;
/// let config = Config::insecure().threads(&threads);
/// # let _ = config;
/// # Ok::<(), foxtrot::Error>(())
/// ```
#[derive(Clone)]
pub struct Threads {
    pool: Arc<ThreadPool>,
    /// How often the threads have been given something to do.
    rounds: Arc<AtomicU64>,
}

/// How long a thread that has nothing to do waits awake for the next tasks: what it takes to wake it.
const AWAKE: Duration = Duration::from_micros(50);

impl Threads {
    /// Starts threads: `n` with the caller's own, so at least 2.
    ///
    /// # Errors
    /// [`Error::Threads`].
    pub fn new(n: usize) -> Result<Self, Error> {
        let builder = ThreadPoolBuilder::new().num_threads(n.max(2) - 1);
        let pool = builder.thread_name(|i| format!("foxtrot-worker-{i}")).build();
        let pool = Arc::new(pool.map_err(|e| Error::Threads(e.to_string()))?);
        Ok(Self { pool, rounds: Arc::default() })
    }
}

impl Executor for Threads {
    fn threads(&self) -> usize {
        1 + self.pool.current_num_threads()
    }

    fn run<'a>(&self, tasks: Vec<Task<'a>>) {
        let others = self.pool.current_num_threads().min(tasks.len().saturating_sub(1));
        let (tasks, running) = (Mutex::new(tasks), AtomicUsize::new(others));
        // The next free thread takes the next task, so that a thread that wakes late holds up nobody.
        let next = || tasks.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let round = self.rounds.fetch_add(1, Ordering::Relaxed) + 1;
        self.pool.in_place_scope(|scope| {
            for _ in 0..others {
                scope.spawn(|_| {
                    while let Some(task) = next() {
                        task();
                    }
                    running.fetch_sub(1, Ordering::Relaxed);
                    let rounds = Arc::clone(&self.rounds);
                    rayon::spawn(move || {
                        stay_awake(|| rounds.load(Ordering::Relaxed) == round);
                    });
                });
            }
            while let Some(task) = next() {
                task();
            }
            stay_awake(|| running.load(Ordering::Relaxed) > 0);
        });
    }
}

/// Waits while that is so, and a short time at most, without going to sleep.
fn stay_awake(waiting: impl Fn() -> bool) {
    let start = Instant::now();
    while waiting() && start.elapsed() < AWAKE {
        std::hint::spin_loop();
    }
}

impl fmt::Debug for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Threads").field(&self.threads()).finish()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn as_many_tasks_as_threads_run_at_once() {
        let threads = Threads::new(2).unwrap();
        assert_eq!(threads.threads(), 2);
        let (both, done) = (Barrier::new(2), AtomicUsize::new(0));
        // Each waits for the other.
        let task = || {
            both.wait();
            done.fetch_add(1, Ordering::Relaxed);
        };
        threads.run((0..4).map(|_| Box::new(task) as Task<'_>).collect());
        assert_eq!(done.load(Ordering::Relaxed), 4);
    }
}
