//! Numbers for people.

use std::time::Duration;

/// Three digits that mean something, and no more behind the point than they need.
pub(crate) fn number(x: f64) -> String {
    if x.is_infinite() {
        return "–".into();
    }
    let magnitude = x.abs();
    if magnitude == 0.0 {
        return "0".into();
    }
    if magnitude >= 99.95 || x.fract() == 0.0 {
        return grouped(x.round());
    }
    let digits = match magnitude {
        10.0.. => 1,
        1.0.. => 2,
        0.1.. => 3,
        _ => 4,
    };
    let text = format!("{x:.digits$}");
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Writes a number with a narrow space between thousands.
fn grouped(x: f64) -> String {
    let digits = format!("{:.0}", x.abs());
    let mut text = String::from(if x < 0.0 { "−" } else { "" });
    for (i, digit) in digits.chars().enumerate() {
        // Four digits are easily read.
        if i > 0 && digits.len() > 4 && (digits.len() - i) % 3 == 0 {
            text.push('\u{202f}');
        }
        text.push(digit);
    }
    text
}

/// A ratio of theirs to ours.
pub(crate) fn ratio(x: f64) -> String {
    if (0.995..1.005).contains(&x) { "=".into() } else { format!("× {}", number(two_digits(x))) }
}

/// Ratios of noisy figures have no third one.
fn two_digits(x: f64) -> f64 {
    let scale = 10f64.powf(1.0 - x.abs().log10().floor());
    (x * scale).round() / scale
}

/// A power of two where it is one.
pub(super) fn count(n: usize) -> String {
    if n >= 1 << 11 && n.is_power_of_two() {
        let exponent = n.ilog2().to_string();
        let digits = "⁰¹²³⁴⁵⁶⁷⁸⁹";
        let high = |digit: char| digits.chars().nth(digit as usize - '0' as usize).unwrap_or(digit);
        return format!("2{}", exponent.chars().map(high).collect::<String>());
    }
    number(n as f64)
}

/// Formats a duration.
pub(super) fn minutes(time: Duration) -> String {
    let seconds = (time + Duration::from_millis(500)).as_secs();
    match (seconds / 60, seconds % 60) {
        (0, seconds) => format!("{seconds} s"),
        (minutes, seconds) => format!("{minutes} min {seconds} s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits_and_ratios_two() {
        let all = [0.0, 0.02, 0.1234, 1.5, 2.0, 12.34, 123.4, 1234.5, 36765.0];
        let texts = ["0", "0.02", "0.123", "1.5", "2", "12.3", "123", "1235", "36\u{202f}765"];
        assert_eq!(all.map(number), texts);
        assert_eq!(number(f64::INFINITY), "–");
        assert_eq!(
            [1.0, 1.234, 12.34, 0.4567, 345.0].map(ratio),
            ["=", "× 1.2", "× 12", "× 0.46", "× 350"]
        );
        let took = [0.4, 59.4, 59.6, 754.0].map(|s| minutes(Duration::from_secs_f64(s)));
        assert_eq!(took, ["0 s", "59 s", "1 min 0 s", "12 min 34 s"]);
        assert_eq!([1024, 2048, 1 << 20, 1000].map(count), ["1024", "2¹¹", "2²⁰", "1000"]);
    }
}
