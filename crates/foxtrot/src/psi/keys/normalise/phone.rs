//! Telephone numbers in their international form.

use std::{fmt, str::FromStr};

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
}
