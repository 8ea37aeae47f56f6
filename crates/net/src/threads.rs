//! Threads that compute for a party beside its own (feature `threads`).

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use foxtrot_ot::tasks::Task;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::deadline::lock;

/// The most threads of a party, with the caller's own. No machine has so many processors, and each takes memory.
pub const MOST: usize = 1024;

/// The time for which an idle thread waits awake for the next task: what it takes to wake it.
const AWAKE: Duration = Duration::from_micros(50);

/// A pool of threads, shared by its clones. The caller's own thread does its part: to wake another one takes as long as
/// many a task.
///
/// ```
/// use std::sync::atomic::{AtomicU32, Ordering};
/// use foxtrot_net::threads::Threads;
///
/// let (threads, done) = (Threads::new(3).expect("the system starts threads"), AtomicU32::new(0));
/// assert_eq!(threads.count(), 3);
/// let task = || drop(done.fetch_add(1, Ordering::Relaxed));
/// threads.run(vec![Box::new(task), Box::new(task)], |work| work());
/// assert_eq!(done.load(Ordering::Relaxed), 2);
/// ```
#[derive(Clone, Debug)]
pub struct Threads {
    /// Nothing if the caller's own thread is the only one.
    pool: Option<Arc<ThreadPool>>,
    /// The number of times that the threads have been given work.
    rounds: Arc<AtomicU64>,
}

impl Threads {
    /// Starts threads: `n` with the caller's own, from 1 to [`MOST`].
    ///
    /// # Errors
    /// The system's words, if it starts none; that there cannot be so many.
    pub fn new(n: usize) -> Result<Self, String> {
        if !(1..=MOST).contains(&n) {
            return Err(format!("their number is from 1 to {MOST}, and not {n}"));
        }
        let start = || {
            let builder = ThreadPoolBuilder::new().num_threads(n - 1);
            builder.thread_name(|i| format!("foxtrot-worker-{i}")).build()
        };
        let pool = (n > 1).then(start).transpose().map_err(|e| e.to_string())?;
        Ok(Self { pool: pool.map(Arc::new), rounds: Arc::default() })
    }

    /// Returns the number of threads, with the caller's own.
    #[must_use]
    pub fn count(&self) -> usize {
        1 + self.pool.as_ref().map_or(0, |pool| pool.current_num_threads())
    }

    /// Runs all tasks, and returns when they have ended. What the threads of the pool do, also their waiting awake, they do
    /// through `measure`.
    pub fn run<'a>(
        &self,
        tasks: Vec<Task<'a>>,
        measure: impl Fn(&mut dyn FnMut()) + Clone + Send + Sync + 'static,
    ) {
        let Some(pool) = &self.pool else {
            return tasks.into_iter().for_each(|task| task());
        };
        let others = pool.current_num_threads().min(tasks.len().saturating_sub(1));
        let (tasks, running) = (Mutex::new(tasks), AtomicUsize::new(others));
        // The next free thread takes the next task, so that a thread that wakes late holds up nobody.
        let next = || lock(&tasks).pop();
        let work = || {
            while let Some(task) = next() {
                task();
            }
        };
        let round = self.rounds.fetch_add(1, Ordering::Relaxed) + 1;
        pool.in_place_scope(|scope| {
            for _ in 0..others {
                scope.spawn(|_| {
                    measure(&mut || work());
                    running.fetch_sub(1, Ordering::Relaxed);
                    let (rounds, measure) = (Arc::clone(&self.rounds), measure.clone());
                    rayon::spawn(move || {
                        measure(&mut || stay_awake(|| rounds.load(Ordering::Relaxed) == round));
                    });
                });
            }
            work();
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

#[cfg(test)]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn there_is_at_least_one_thread_and_no_more_than_the_most() {
        for wrong in [0, MOST + 1, usize::MAX] {
            let refused = Threads::new(wrong).unwrap_err();
            assert!(refused.ends_with(&format!("from 1 to 1024, and not {wrong}")), "{refused}");
        }
        let (alone, done) = (Threads::new(1).unwrap(), AtomicUsize::new(0));
        assert_eq!(alone.count(), 1);
        let task = || {
            done.fetch_add(1, Ordering::Relaxed);
        };
        alone.run(vec![Box::new(task), Box::new(task)], |work| work());
        assert_eq!(done.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn as_many_tasks_as_threads_run_at_once() {
        let threads = Threads::new(2).unwrap();
        let (both, done) = (Barrier::new(2), AtomicUsize::new(0));
        // Each waits for the other.
        let task = || {
            both.wait();
            done.fetch_add(1, Ordering::Relaxed);
        };
        threads.run((0..4).map(|_| Box::new(task) as Task<'_>).collect(), |work| work());
        assert_eq!(done.load(Ordering::Relaxed), 4);
    }
}
