//! CPU time of the calling thread, and the calendar.

use std::time::{Duration, SystemTime};

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
    // Days since the first of March of the year 0, with leap days at the end of years of a cycle of 400.
    let days = since_1970(now).as_secs() / 86_400 + 719_468;
    let (cycle, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let (year, month) = (cycle * 400 + year + month / 10, (month + 2) % 12 + 1);
    format!("{year}-{month:02}-{day:02}")
}

/// The time in UTC to the second, by RFC 3339: `2026-11-23T11:40:18Z`.
pub(crate) fn utc(now: SystemTime) -> String {
    let second = since_1970(now).as_secs() % 86_400;
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{}T{hour:02}:{minute:02}:{second:02}Z", date(now))
}

/// A clock before 1970 was never set.
fn since_1970(now: SystemTime) -> Duration {
    now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    #[test]
    fn dates_match_the_calendar() {
        for (seconds, day) in [
            (0, "1970-01-01"),
            (951_782_399, "2000-02-28"),
            (951_782_400, "2000-02-29"),
            (951_868_800, "2000-03-01"),
            (1_795_219_199, "2026-11-20"),
            (1_798_761_600, "2027-01-01"),
            (4_107_542_400, "2100-03-01"),
        ] {
            assert_eq!(date(at(seconds)), day);
        }
    }

    #[test]
    fn a_time_is_written_by_rfc_3339() {
        assert_eq!(utc(at(0)), "1970-01-01T00:00:00Z");
        assert_eq!(utc(at(1_795_219_199)), "2026-11-20T23:59:59Z");
        assert_eq!(utc(at(1_767_229_261)), "2026-01-01T01:01:01Z");
        assert_eq!(utc(SystemTime::UNIX_EPOCH - Duration::from_secs(1)), "1970-01-01T00:00:00Z");
    }
}
