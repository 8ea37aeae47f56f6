//! Telephone numbers in their international form.

use std::{fmt, ops::RangeInclusive, str::FromStr};

use super::unseen::is_unseen;

/// A country's code, by which numbers without one are completed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Country(String);

impl FromStr for Country {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.strip_prefix('+').unwrap_or_default();
        let is_code = matches!(digits.len(), 1..=3)
            && !digits.starts_with('0')
            && digits.bytes().all(|byte| byte.is_ascii_digit());
        if is_code {
            Ok(Self(text.into()))
        } else {
            Err(format!("{text} is not a country code: + and 1 to 3 digits, for example phone:+49"))
        }
    }
}

impl fmt::Display for Country {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Country {
    /// Version 1: `+49301234567` for `030 / 123 45-67` and `0049 (0)30 1234567`; nothing for what has
    /// no digit.
    pub(super) fn international(&self, text: &str) -> String {
        let mut number: String = text.chars().filter(|&c| !is_gap(c)).collect();
        // The 0 in brackets is dialled within the country only.
        let beginning = number.trim_start_matches('(');
        if (beginning.starts_with('+') || beginning.starts_with("00"))
            && let Some(at) = number.find("(0)")
        {
            number.replace_range(at..at + 3, "");
        }
        number.retain(|c| !matches!(c, '(' | ')'));
        let (prefix, rest) = if let Some(rest) = number.strip_prefix("00") {
            ("+", rest)
        } else if let Some(rest) = number.strip_prefix('0') {
            (self.0.as_str(), rest)
        } else {
            ("", number.as_str())
        };
        if rest.bytes().any(|byte| byte.is_ascii_digit()) {
            format!("{prefix}{rest}")
        } else {
            String::new()
        }
    }
}

/// Codes of countries that dial the 0 at the beginning of a number from abroad also: Italy, Ivory Coast, the Congo, San
/// Marino, the Vatican.
const KEEP_ZERO: [&str; 5] = ["39", "225", "242", "378", "379"];

/// Codes of other countries whose numbers have no digit in front that is dialled within the country only.
const WITHOUT_ZERO: [&str; 29] = [
    "1", "30", "34", "45", "47", "48", "65", "351", "352", "354", "356", "357", "371", "372",
    "376", "377", "420", "502", "503", "504", "505", "506", "507", "852", "853", "965", "968",
    "973", "974",
];

/// The digits of a number: fewer are of no subscriber, and E.164 has no more.
const LEN: RangeInclusive<usize> = 5..=15;

impl Country {
    /// Version 2: `+49301234567` for `030 / 123 45-67`, `+39061234567` for `06 1234567` in Italy; nothing for what does not
    /// become a number with a country's code.
    pub(super) fn second(&self, text: &str) -> String {
        self.in_full(text).unwrap_or_default()
    }

    fn in_full(&self, text: &str) -> Option<String> {
        let mut number: String = text.chars().filter(|&c| !is_gap(c) && !is_unseen(c)).collect();
        let beginning = number.trim_start_matches('(');
        let abroad = beginning.strip_prefix('+').or_else(|| beginning.strip_prefix("00"));
        if let (Some(rest), Some(at)) = (abroad, number.find("(0)")) {
            let keeps = KEEP_ZERO.iter().any(|code| rest.starts_with(code));
            number.replace_range(at..at + 3, if keeps { "0" } else { "" });
        }
        number.retain(|c| !matches!(c, '(' | ')'));
        let code = self.0.trim_start_matches('+');
        let digits = match number.strip_prefix('+').or_else(|| number.strip_prefix("00")) {
            Some(rest) => rest.to_owned(),
            None if KEEP_ZERO.contains(&code) => format!("{code}{number}"),
            None => match (number.strip_prefix('0'), WITHOUT_ZERO.contains(&code)) {
                (Some(rest), false) => format!("{code}{rest}"),
                // In North America 1 may stand in front of ten digits.
                (None, true) if code == "1" && number.len() == 11 && number.starts_with('1') => {
                    number
                }
                (None, true) => format!("{code}{number}"),
                _ => return None,
            },
        };
        let is_number =
            digits.bytes().all(|byte| byte.is_ascii_digit()) && !digits.starts_with('0');
        (is_number && LEN.contains(&digits.len())).then(|| format!("+{digits}"))
    }
}

/// Returns true for a character that people write between digits, and for invisible marks that come
/// along when they copy.
fn is_gap(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '-' | '.' | '/' | '\u{2010}'..='\u{2015}' | '\u{2212}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phone_number_has_one_form_in_every_spelling() {
        let germany: Country = "+49".parse().unwrap();
        for text in [
            "+49301234567",
            "0049301234567",
            "030 / 123 45-67",
            "(030) 123.45.67",
            " +49 (0)30 1234567",
            "0049 (0) 30 1234567",
            "(+49) (0)30 1234567",
            "\u{202a}+49 30 1234567\u{202c}",
            "030\u{a0}123\u{2013}4567",
        ] {
            assert_eq!(germany.international(text), "+49301234567", "{text:?}");
        }
    }

    #[test]
    fn phone_numbers_that_cannot_be_completed_stay_unchanged() {
        let germany: Country = "+49".parse().unwrap();
        for (text, expected) in [
            ("1234567", "1234567"),
            ("+1 (415) 555-0123", "+14155550123"),
            ("030 1234 ext 5", "+49301234ext5"),
            ("n/a", ""),
            ("-", ""),
            ("0", ""),
            ("+", ""),
        ] {
            assert_eq!(germany.international(text), expected, "{text:?}");
        }
    }

    #[test]
    fn a_number_of_version_2_has_its_countrys_code_or_is_no_key() {
        for (country, text, expected) in [
            ("+49", "030 / 123 45-67", "+49301234567"),
            ("+49", "(+49) (0)30 1234567", "+49301234567"),
            ("+49", "0049 30\u{ad}1234567", "+49301234567"),
            ("+49", "+39 (0)6 1234567", "+39061234567"),
            ("+39", "06 1234567", "+39061234567"),
            ("+39", "347 1234567", "+393471234567"),
            ("+39", "0039 06 1234567", "+39061234567"),
            ("+39", "+49 (0)30 1234567", "+49301234567"),
            ("+1", "(415) 555-0123", "+14155550123"),
            ("+1", "1-415-555-0123", "+14155550123"),
            ("+34", "912 345 678", "+34912345678"),
            ("+34", "0912 345 678", ""),
            ("+49", "1234567", ""),
            ("+49", "4.91705E+11", ""),
            ("+49", "030 1234 ext 5", ""),
            ("+49", "030 1234+5", ""),
            ("+49", "+0301234567", ""),
            ("+49", "0", ""),
            ("+49", "+4930123456789012", ""),
            ("+49", "n/a", ""),
            ("+49", "030 \u{661}2345", ""),
        ] {
            assert_eq!(
                country.parse::<Country>().unwrap().second(text),
                expected,
                "{country} {text:?}"
            );
        }
    }
}
