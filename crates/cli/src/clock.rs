//! CPU time of the calling thread.

use std::time::Duration;

/// Since the thread began. Where the system does not tell, the time of the clock on the wall.
pub(crate) fn thread_cpu() -> Duration {
    #[cfg(unix)]
    {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
        let seconds = u64::try_from(now.tv_sec).unwrap_or_default();
        Duration::new(seconds, u32::try_from(now.tv_nsec).unwrap_or_default())
    }
    #[cfg(not(unix))]
    {
        static START: std::sync::LazyLock<std::time::Instant> =
            std::sync::LazyLock::new(std::time::Instant::now);
        START.elapsed()
    }
}
