//! An executor with many threads.

use std::thread;

use foxtrot_ot::tasks::{Executor, Task};

/// A thread for every task.
#[derive(Debug)]
pub(crate) struct Threads(pub(crate) usize);

impl Executor for Threads {
    fn threads(&self) -> usize {
        self.0
    }

    fn run<'a>(&self, tasks: Vec<Task<'a>>) {
        thread::scope(|scope| {
            for task in tasks {
                scope.spawn(task);
            }
        });
    }
}
