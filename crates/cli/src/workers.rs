//! Threads on which a party computes.

use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use foxtrot_net::threads::Threads;
use foxtrot_ot::{
    Session,
    tasks::{Executor, Task},
};

use crate::{clock::thread_cpu, failure::Failure};

/// A party's access to the threads beside its own.
#[derive(Clone, Debug)]
pub struct Workers {
    pool: Option<Threads>,
    /// Nanoseconds of CPU that this party's tasks took.
    busy: Arc<AtomicU64>,
}

impl Workers {
    /// Starts the threads of a party that has so many with its own.
    ///
    /// # Errors
    /// If the system does not give them.
    pub fn new(threads: usize) -> Result<Self, Failure> {
        let failed = |e| Failure::run(format!("cannot start {threads} threads: {e}"));
        let pool = (threads > 1).then(|| Threads::new(threads)).transpose().map_err(failed)?;
        Ok(Self { pool, busy: Arc::default() })
    }

    /// Returns the same threads for another party, whose time is counted apart.
    #[must_use]
    pub fn for_another(&self) -> Self {
        Self { busy: Arc::default(), ..self.clone() }
    }

    /// Returns the number of threads, with the party's own.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.pool.as_ref().map_or(1, Threads::count)
    }

    /// The session whose protocols use the threads, if there is more than the party's own.
    #[must_use]
    pub fn in_session(&self, session: Session) -> Session {
        match &self.pool {
            Some(_) => session.with_executor(Arc::new(self.clone())),
            None => session,
        }
    }

    /// CPU time of the tasks so far and of waiting awake, without that of the party's own thread.
    #[must_use]
    pub fn busy(&self) -> Duration {
        Duration::from_nanos(self.busy.load(Ordering::Relaxed))
    }
}

impl Executor for Workers {
    fn threads(&self) -> usize {
        self.threads()
    }

    fn run<'a>(&self, tasks: Vec<Task<'a>>) {
        let Some(pool) = &self.pool else {
            return tasks.into_iter().for_each(|task| task());
        };
        let busy = Arc::clone(&self.busy);
        pool.run(tasks, move |work| {
            let start = thread_cpu();
            work();
            let took = u64::try_from((thread_cpu() - start).as_nanos()).unwrap_or(u64::MAX);
            busy.fetch_add(took, Ordering::Relaxed);
        });
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use super::*;

    #[test]
    fn every_task_has_ended_when_the_call_returns() {
        for threads in [1, 2, 5] {
            let workers = Workers::new(threads).unwrap();
            assert_eq!(workers.threads(), threads);
            let done = AtomicUsize::new(0);
            let task = || {
                done.fetch_add(1, Ordering::Relaxed);
            };
            workers.run((0..7).map(|_| Box::new(task) as Task<'_>).collect());
            assert_eq!(done.load(Ordering::Relaxed), 7);
        }
    }

    #[test]
    fn as_many_tasks_as_threads_run_at_once() {
        let both = std::sync::Barrier::new(2);
        // Each waits for the other.
        let task = || {
            both.wait();
        };
        Workers::new(2).unwrap().run(vec![Box::new(task), Box::new(task)]);
    }

    #[test]
    fn the_time_of_tasks_is_their_partys() {
        let ours = Workers::new(2).unwrap();
        let theirs = ours.for_another();
        let both = std::sync::Barrier::new(2);
        let task = || {
            // One of the two is in this thread, for each waits for the other.
            both.wait();
            let start = thread_cpu();
            while thread_cpu() - start < Duration::from_millis(2) {}
        };
        ours.run(vec![Box::new(task), Box::new(task)]);
        assert!(ours.busy() >= Duration::from_millis(2));
        assert_eq!(theirs.busy(), Duration::ZERO);
    }
}
