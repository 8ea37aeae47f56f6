//! Days of UTC, by which limits and policies count.

use std::{fmt, time::SystemTime};

/// Seconds of a day.
const SECONDS: u64 = 86_400;

/// Days from the first of March of the year 0 to 1970.
const BEFORE_1970: u64 = 719_468;

/// The last year that a date may name.
const LAST_YEAR: u64 = 9999;

/// A day of UTC. It displays as `2026-11-23`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day {
    since_1970: u64,
}

impl Day {
    /// The day of this time. A clock before 1970 was never set: it shows 1970-01-01.
    #[must_use]
    pub fn of(now: SystemTime) -> Self {
        let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Self { since_1970: now.as_secs() / SECONDS }
    }

    /// The day with this date of the Gregorian calendar, from 1970 to 9999; `None` for a date that no calendar has.
    #[must_use]
    pub fn of_date(year: u64, month: u64, day: u64) -> Option<Self> {
        if !(1970..=LAST_YEAR).contains(&year) || !(1..=12).contains(&month) || day == 0 {
            return None;
        }
        // The year begins in March, so that a leap day is its last.
        let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
        let days =
            365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1;
        let made = Self { since_1970: days.checked_sub(BEFORE_1970)? };
        let (_, of_month, of_day) = made.date();
        // The 30th of February would be a day in March.
        ((of_month + 9) % 12 == month && of_day == day).then_some(made)
    }

    /// The day with this number, counted from 1970-01-01, if a clock can show it.
    pub(crate) fn numbered(since_1970: u64) -> Option<Self> {
        (since_1970 <= u64::MAX / SECONDS).then_some(Self { since_1970 })
    }

    /// The number of days since 1970-01-01.
    pub(crate) fn number(self) -> u64 {
        self.since_1970
    }

    /// Year, month and day.
    fn date(self) -> (u64, u64, u64) {
        // Days of years that begin in March, in a cycle of 400.
        let days = self.since_1970 + BEFORE_1970;
        let (cycle, day) = (days / 146_097, days % 146_097);
        let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
        let day = day - (365 * year + year / 4 - year / 100);
        let month = (5 * day + 2) / 153;
        let day = day - (153 * month + 2) / 5 + 1;
        (cycle * 400 + year + month / 10, (month + 2) % 12 + 1, day)
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.date();
        write!(f, "{year}-{month:02}-{day:02}")
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_day_has_its_date_and_all_its_seconds() {
        for (number, date) in [
            (0, (1970, 1, 1)),
            (11_015, (2000, 2, 28)),
            (11_016, (2000, 2, 29)),
            (11_017, (2000, 3, 1)),
            (20_819, (2027, 1, 1)),
            (47_540, (2100, 2, 28)),
            (47_541, (2100, 3, 1)),
        ] {
            let (year, month, day) = date;
            let made = Day::of_date(year, month, day).unwrap();
            assert_eq!((made.number(), made.date()), (number, date));
            assert_eq!(made.to_string(), format!("{year}-{month:02}-{day:02}"));
            for second in [0, SECONDS - 1] {
                let now = Duration::from_secs(number * SECONDS + second);
                assert_eq!(Day::of(SystemTime::UNIX_EPOCH + now), made);
            }
        }
    }

    #[test]
    fn a_date_that_no_calendar_has_is_no_day() {
        for (year, month, day) in [
            (2027, 2, 29),
            (2100, 2, 29),
            (2027, 2, 30),
            (2027, 4, 31),
            (2027, 1, 32),
            (2027, 13, 1),
            (2027, 0, 1),
            (2027, 1, 0),
            (1969, 12, 31),
            (10_000, 1, 1),
        ] {
            assert_eq!(Day::of_date(year, month, day), None, "{year}-{month}-{day}");
        }
        assert!(Day::of_date(2028, 2, 29).is_some() && Day::of_date(9999, 12, 31).is_some());
    }

    #[test]
    fn the_last_day_that_a_clock_can_show_has_a_date() {
        let last = Day::numbered(u64::MAX / SECONDS).unwrap();
        assert_eq!(last.to_string(), "584554051223-11-09");
        assert_eq!(Day::numbered(u64::MAX / SECONDS + 1), None);
    }
}
