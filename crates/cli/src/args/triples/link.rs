//! What `--link` takes.

use std::time::Duration;

use foxtrot_net::probe::Speed;

/// Networks of the paper, with bits per second and microseconds there and back.
const NAMES: [(&str, u64, u64); 3] =
    [("lan10", 10_000_000_000, 500), ("lan1", 1_000_000_000, 500), ("wan", 100_000_000, 100_000)];

const RATES: [(&str, f64); 3] = [("kbit", 1e3), ("mbit", 1e6), ("gbit", 1e9)];
const TIMES: [(&str, f64); 3] = [("us", 1e-6), ("ms", 1e-3), ("s", 1.0)];

/// A rate and, if there is one, a round trip; or a name.
pub(super) fn parse(text: &str) -> Result<Speed, String> {
    let lower = text.to_ascii_lowercase();
    if let Some((_, rate, trip)) = NAMES.iter().find(|(name, ..)| *name == lower) {
        return Ok(Speed {
            bytes_per_second: *rate as f64 / 8.0,
            round_trip: Duration::from_micros(*trip),
        });
    }
    let (rate, trip) = lower.split_once(',').unwrap_or((&lower, "0ms"));
    let wrong = || "not lan10, lan1, wan or a rate and a time like 100mbit,20ms".to_owned();
    let bits = number(rate, &RATES, 1e3..=1e15).ok_or_else(wrong)?;
    let trip = number(trip, &TIMES, 0.0..=60.0).ok_or_else(wrong)?;
    Ok(Speed { bytes_per_second: bits / 8.0, round_trip: Duration::from_secs_f64(trip) })
}

/// A decimal number and its unit.
fn number(text: &str, units: &[(&str, f64)], range: std::ops::RangeInclusive<f64>) -> Option<f64> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let (_, unit) = units.iter().find(|(unit, _)| *unit == &text[digits.len()..])?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let number = digits.parse::<f64>().ok().filter(|_| plain)? * unit;
    range.contains(&number).then_some(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<(f64, Duration)> {
        parse(text).ok().map(|speed| (speed.bytes_per_second, speed.round_trip))
    }

    #[test]
    fn links_have_a_rate_and_perhaps_a_time() {
        let ms = Duration::from_millis;
        assert_eq!(parsed("wan"), Some((12.5e6, ms(100))));
        assert_eq!(parsed("100mbit,100ms"), parsed("WAN"));
        assert_eq!(parsed("1.5gbit,0.5ms"), Some((187.5e6, Duration::from_micros(500))));
        assert_eq!(parsed("800kbit"), Some((1e5, Duration::ZERO)));
        for wrong in [
            "",
            ",",
            "mbit",
            "100",
            "100mb",
            "1e3mbit",
            "-1mbit",
            "nanmbit",
            "0mbit",
            "1mbit,",
            "1mbit,20",
            "1mbit,2min",
            "1mbit,61s",
            "1mbit,1ms,1ms",
            "lan",
            "infgbit",
            "1.2.3mbit",
        ] {
            assert_eq!(parsed(wrong), None, "{wrong}");
        }
    }
}
