//! Threads that compute for a party.

use foxtrot_net::threads;
use foxtrot_ot::tasks::{Executor, Task};

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
pub struct Threads(threads::Threads);

impl Threads {
    /// The most threads, with the caller's own.
    pub const MOST: usize = threads::MOST;

    /// Starts threads: `n` with the caller's own, from 1 to [`MOST`](Self::MOST).
    ///
    /// # Errors
    /// [`Error::Threads`].
    pub fn new(n: usize) -> Result<Self, Error> {
        threads::Threads::new(n).map(Self).map_err(Error::Threads)
    }
}

impl Executor for Threads {
    fn threads(&self) -> usize {
        self.0.count()
    }

    fn run<'a>(&self, tasks: Vec<Task<'a>>) {
        self.0.run(tasks, |work| work());
    }
}

foxtrot_ot::erase::redacted! {
    Threads, threads => "{}", threads.threads();
}
