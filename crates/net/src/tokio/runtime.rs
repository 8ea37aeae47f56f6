//! tokio's clock and threads.

use core::time::Duration;
use std::panic::resume_unwind;

use tokio::{task::spawn_blocking, time::sleep};

use super::{Later, Runtime};

/// The clock of the tokio runtime around, and its blocking threads. Using it panics outside of a runtime.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tokio;

impl Runtime for Tokio {
    fn sleep(&self, time: Duration) -> Later {
        Box::pin(sleep(time))
    }

    fn offload(&self, step: Box<dyn FnOnce() + Send>) -> Later {
        Box::pin(async {
            if let Err(e) = spawn_blocking(step).await
                && let Ok(panic) = e.try_into_panic()
            {
                resume_unwind(panic);
            }
        })
    }
}
