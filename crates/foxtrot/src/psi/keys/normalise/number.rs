//! Numbers as spreadsheets and databases write them.

use std::borrow::Cow;

/// Version 1: no zeros or white space at the beginning; `0` for zeros alone.
pub(super) fn without_zeros(text: Cow<'_, str>) -> Cow<'_, str> {
    let trimmed = text.trim();
    let rest = trimmed.trim_start_matches(|c: char| c == '0' || c.is_whitespace());
    match (trimmed.is_empty(), rest.is_empty()) {
        (false, true) => Cow::Borrowed("0"),
        _ if rest.len() == text.len() => text,
        _ => rest.to_owned().into(),
    }
}

/// Version 1: `123` for `123`, `+123`, `123.00`, `00123` and `1.23E+02`; nothing for what is no whole number.
pub(super) fn whole(text: &str) -> String {
    read(text.trim()).unwrap_or_default()
}

fn read(text: &str) -> Option<String> {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, power(exponent)?),
        None => (text, 0),
    };
    let (before, behind) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    if before.is_empty() || ![before, behind].iter().all(|it| are_digits(it)) {
        return None;
    }
    let digits = format!("{before}{}", behind.trim_end_matches('0'));
    let point = before.len().checked_add_signed(exponent);
    let digits = match point {
        Some(point) if point >= digits.len() => format!("{digits:0<point$}"),
        point => {
            let (whole, fraction) = digits.split_at(point.unwrap_or(0));
            if fraction.bytes().any(|digit| digit != b'0') {
                return None;
            }
            whole.to_owned()
        }
    };
    Some(match digits.trim_start_matches('0') {
        "" => "0".into(),
        digits if negative => format!("-{digits}"),
        digits => digits.into(),
    })
}

/// An exponent of one to three digits.
fn power(text: &str) -> Option<isize> {
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let fits = matches!(digits.len(), 1..=3) && are_digits(digits);
    if fits { text.parse().ok() } else { None }
}

fn are_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_has_one_form_in_every_spelling() {
        for text in [
            "123",
            "+123",
            "123.0",
            "123.",
            "00123",
            "1.23E+02",
            "1.23e2",
            " 12300E-2\u{a0}",
            "0.123E3",
        ] {
            assert_eq!(whole(text), "123", "{text:?}");
        }
        for (text, expected) in [
            ("1.23E+05", "123000"),
            ("-0.0", "0"),
            ("-7.00", "-7"),
            ("0E999", "0"),
            ("000", "0"),
            ("100E-2", "1"),
            ("12345678901234567890123", "12345678901234567890123"),
        ] {
            assert_eq!(whole(text), expected, "{text:?}");
        }
        assert_eq!(whole("1E999").len(), 1000);
    }

    #[test]
    fn a_text_that_is_no_whole_number_is_no_key() {
        for text in [
            "", " ", "12.5", "1E-2", "1,234", "12 3", "A-123", ".5E1", "1E", "1E+", "1E1000",
            "1.5.0", "--1", "+-1", "0x1f", "NaN", "1e5e1", "\u{661}", "1E-999", "−1",
        ] {
            assert_eq!(whole(text), "", "{text:?}");
        }
    }

    #[test]
    fn zeros_at_the_beginning_do_not_count() {
        for (text, expected) in [
            ("0000201", "201"),
            ("201", "201"),
            ("000", "0"),
            ("0", "0"),
            ("", ""),
            (" 007 ", "7"),
            ("A007", "A007"),
            ("00A7", "A7"),
            ("0 0A ", "A"),
            (" 0 0", "0"),
        ] {
            for text in [Cow::Borrowed(text), Cow::Owned(text.to_owned())] {
                assert_eq!(without_zeros(text), expected);
            }
        }
    }
}
