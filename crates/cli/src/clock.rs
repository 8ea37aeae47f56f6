//! CPU time of the calling thread, and the calendar.

use std::time::{Duration, SystemTime};

use foxtrot_net::day::Day;

/// CPU time since the thread began. Where the system does not tell, the time of the clock on the wall.
#[must_use]
pub fn thread_cpu() -> Duration {
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

/// The day, as in `2026-11-23`.
#[must_use]
pub fn date(now: SystemTime) -> String {
    Day::of(now).to_string()
}

/// The time in UTC to the second, by RFC 3339: `2026-11-23T11:40:18Z`.
pub(crate) fn utc(now: SystemTime) -> String {
    // A clock before 1970 was never set.
    let since_1970 = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let second = since_1970.as_secs() % 86_400;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{}T{hour:02}:{minute:02}:{second:02}Z", date(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn a_time_is_written_by_rfc_3339() {
        assert_eq!(utc(at(0)), "1970-01-01T00:00:00Z");
        assert_eq!(utc(at(1_795_219_199)), "2026-11-20T23:59:59Z");
        assert_eq!(utc(at(1_767_229_261)), "2026-01-01T01:01:01Z");
        assert_eq!(utc(SystemTime::UNIX_EPOCH - Duration::from_secs(1)), "1970-01-01T00:00:00Z");
    }
}
