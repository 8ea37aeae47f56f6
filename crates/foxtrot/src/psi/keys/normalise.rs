//! Normalisers: what is done to a key before it is compared, so that `Anna@Example.com ` and
//! `anna@example.com` are the same.
//!
//! Each has a name and a version, and both sides have to take the same. What a version does is
//! written in `docs/psi-files.md` and never changes; what should be done differently is a new version.

mod date;
mod phone;

use std::{borrow::Cow, fmt, str::FromStr};

use unicode_normalization::{UnicodeNormalization, is_nfc};

use date::DateFormat;
use phone::Country;

/// The normalisation of a key, one step after the other; no step with `none`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Normaliser(Vec<Step>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Trim,
    Compact,
    Lower,
    Upper,
    Nfc,
    Digits,
    Name,
    Email,
    Date(DateFormat),
    Phone(Country),
}

/// Steps without a value, by their names.
const PLAIN: [(&str, Step); 8] = [
    ("trim", Step::Trim),
    ("compact", Step::Compact),
    ("lower", Step::Lower),
    ("upper", Step::Upper),
    ("nfc", Step::Nfc),
    ("digits", Step::Digits),
    ("name", Step::Name),
    ("email", Step::Email),
];

const NAMES: &str = "there are trim, compact, lower, upper, nfc, digits, name, email, date:DD.MM.YYYY (any format), \
                     phone:+49 (any country) and none";

impl Normaliser {
    /// The text as it is compared. What is empty then is no key.
    #[must_use]
    pub fn apply<'a>(&self, text: Cow<'a, str>) -> Cow<'a, str> {
        self.0.iter().fold(text, |text, step| step.apply(text))
    }
}

impl Step {
    fn apply<'a>(&self, text: Cow<'a, str>) -> Cow<'a, str> {
        match self {
            Self::Trim => trim(text),
            Self::Compact => keep(text, |c| !c.is_whitespace()),
            Self::Lower => lower(text),
            Self::Upper => upper(text),
            Self::Nfc => nfc(text),
            Self::Name => name(&text).into(),
            Self::Digits => keep(text, |c| c.is_ascii_digit()),
            Self::Email if text.contains('@') => nfc(lower(trim(text))),
            Self::Email => Cow::Borrowed(""),
            Self::Date(format) => format.iso(&text).into(),
            Self::Phone(country) => country.international(&text).into(),
        }
    }
}

fn trim(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => text.trim().into(),
        Cow::Owned(text) if text.trim().len() == text.len() => text.into(),
        Cow::Owned(text) => text.trim().to_owned().into(),
    }
}

fn lower(text: Cow<'_, str>) -> Cow<'_, str> {
    let is_lower = |byte: u8| byte.is_ascii() && !byte.is_ascii_uppercase();
    if text.bytes().all(is_lower) { text } else { text.to_lowercase().into() }
}

fn upper(text: Cow<'_, str>) -> Cow<'_, str> {
    let is_upper = |byte: u8| byte.is_ascii() && !byte.is_ascii_lowercase();
    if text.bytes().all(is_upper) { text } else { text.to_uppercase().into() }
}

/// Compatible forms, case and white space do not matter.
fn name(text: &str) -> String {
    let text = text.nfkc().collect::<String>().to_lowercase();
    let text: String = text.nfkc().collect();
    let words: Vec<_> = text.split_whitespace().collect();
    words.join(" ")
}

fn nfc(text: Cow<'_, str>) -> Cow<'_, str> {
    if text.is_ascii() || is_nfc(&text) { text } else { text.nfc().collect::<String>().into() }
}

fn keep(text: Cow<'_, str>, wanted: impl Fn(char) -> bool) -> Cow<'_, str> {
    if text.chars().all(&wanted) {
        return text;
    }
    text.chars().filter(|&c| wanted(c)).collect::<String>().into()
}

/// `email`, `trim,lower`, `phone:+49`; versions may be given, as in `email/1`.
impl FromStr for Normaliser {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let steps = text.split(',').map(|step| match step {
            "none" | "none/1" => Ok(None),
            _ => step.parse().map(Some),
        });
        let steps: Vec<Option<Step>> = steps.collect::<Result<_, String>>()?;
        match steps.len() {
            1 => Ok(Self(steps.into_iter().flatten().collect())),
            _ if steps.contains(&None) => Err("none cannot be combined with others".into()),
            _ => Ok(Self(steps.into_iter().flatten().collect())),
        }
    }
}

impl FromStr for Step {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, more) = match text.split_once(':') {
            Some((name, more)) => (name, Some(more)),
            None => (text, None),
        };
        let (name, version) = name.split_once('/').unwrap_or((name, "1"));
        let plain = PLAIN.into_iter().find(|(it, _)| *it == name);
        let step = match (name, plain, more) {
            (_, Some((_, step)), None) => step,
            (_, Some(_), Some(_)) => return Err(format!("{name} takes no value after a colon")),
            ("date", _, None) => Self::Date(DateFormat::default()),
            ("date", _, Some(format)) => Self::Date(format.parse()?),
            ("phone", _, Some(country)) => Self::Phone(country.parse()?),
            ("phone", _, None) => {
                return Err("phone needs a country code, for example phone:+49".into());
            }
            _ => return Err(format!("unknown normaliser {name}; {NAMES}")),
        };
        match version {
            "1" => Ok(step),
            _ => Err(format!("unknown version {version} of {name}; the version is 1")),
        }
    }
}

/// The form in which both sides compare it: `trim/1,lower/1`, `phone/1:+49`, `none/1`. With `{:#}` also the format of
/// dates, which each side has for itself: `date/1:DD.MM.YYYY`.
impl fmt::Display for Normaliser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, step) in self.0.iter().enumerate() {
            f.write_str(if i > 0 { "," } else { "" })?;
            step.fmt(f)?;
        }
        if self.0.is_empty() { f.write_str("none/1") } else { Ok(()) }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Date(format) if f.alternate() => write!(f, "date/1:{format}"),
            Self::Date(_) => f.write_str("date/1"),
            Self::Phone(country) => write!(f, "phone/1:{country}"),
            plain => {
                let name = PLAIN.iter().find(|(_, it)| it == plain).map_or("", |(name, _)| name);
                write!(f, "{name}/1")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_normaliser_in_full_can_be_typed_again() {
        for text in ["trim/1,date/1:D. M.YYYY", "date/1:YYYY-MM-DD", "phone/1:+49", "none/1"] {
            let normaliser: Normaliser = text.parse().unwrap();
            assert_eq!(format!("{normaliser:#}"), text);
        }
        let short = "trim,date:DD.MM.YYYY".parse::<Normaliser>().unwrap();
        assert_eq!(short.to_string(), "trim/1,date/1");
    }

    fn normalised(by: &str, text: &str) -> String {
        by.parse::<Normaliser>().unwrap().apply(text.into()).into_owned()
    }

    /// These never change: a version means the same in every release.
    #[test]
    fn each_normaliser_version_follows_its_documentation() {
        for (by, text, expected) in [
            ("none/1", " Ä\t", " Ä\t"),
            ("trim/1", "\u{a0}\t Ab c\u{2003}\r\n", "Ab c"),
            ("trim/1", "\u{200b}a", "\u{200b}a"),
            ("lower/1", "ÄÖÜ ẞ ΟΔΟΣ İ", "äöü ß οδος i\u{307}"),
            ("nfc/1", "Mu\u{308}ller \u{212b} ﬁ", "Müller Å ﬁ"),
            ("digits/1", "DE 12-3\u{664}", "123"),
            ("email/1", " Anna.Mu\u{308}LLER@Example.COM\u{a0}", "anna.müller@example.com"),
            ("email/1", "a b+c@x", "a b+c@x"),
            ("email/1", "n/a", ""),
            ("trim/1,lower/1", " Ab ", "ab"),
            ("compact/1", " DE12\u{a0}3456\t78\u{200b} ", "DE12345678\u{200b}"),
            ("upper/1", "straße ŉ ǆ ές", "STRASSE ʼN Ǆ ΈΣ"),
            ("name/1", "\u{a0} ＡNNA\u{3000}  Mu\u{308}LLER\n-Weiß ", "anna müller -weiß"),
            ("name/1", "Łukasz O’Neill ﬁ İ ΟΔΟΣ", "łukasz o’neill fi i\u{307} οδος"),
            ("name/1", " \u{2003} ", ""),
            ("date/1:D.M.YYYY", " 1.2.1990\n", "1990-02-01"),
            ("date/1", "1990-02-01", "1990-02-01"),
        ] {
            assert_eq!(normalised(by, text), expected, "{by} {text:?}");
        }
    }

    #[test]
    fn names_are_read_and_written_in_one_form() {
        for (text, written) in [
            ("email", "email/1"),
            ("trim,lower/1", "trim/1,lower/1"),
            ("phone:+49", "phone/1:+49"),
            ("phone/1:+1", "phone/1:+1"),
            ("none", "none/1"),
            ("date:DD/MM/YYYY", "date/1"),
            ("compact,upper,name", "compact/1,upper/1,name/1"),
        ] {
            assert_eq!(text.parse::<Normaliser>().unwrap().to_string(), written);
            assert_eq!(written.parse::<Normaliser>().unwrap().to_string(), written);
        }
    }

    #[test]
    fn unknown_normalisers_list_the_known_ones() {
        for (text, why) in [
            ("emial", "unknown normaliser emial; there are trim, compact, lower"),
            ("", "unknown normaliser ; there are"),
            ("email/2", "unknown version 2 of email; the version is 1"),
            ("email:+49", "email takes no value after a colon"),
            ("trim,none", "none cannot be combined with others"),
            ("date:MM/DD", "a date has YYYY, MM (or M) and DD (or D), each once"),
            ("phone", "phone needs a country code"),
            ("phone:49", "49 is not a country code"),
            ("phone:+0", "+0 is not a country code"),
            ("phone:+4930", "+4930 is not a country code"),
        ] {
            let error = text.parse::<Normaliser>().unwrap_err();
            assert!(error.starts_with(why), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn normalising_a_normalised_key_changes_nothing(
            text in "(?s).{0,12}|[ +0-9()A-Zİσ\u{307}\u{308}\u{323}@./-]{0,12}",
        ) {
            for by in [
                "none", "trim", "compact", "lower", "upper", "nfc", "digits", "name", "email", "date",
                "phone:+49", "phone:+1",
            ] {
                let once = normalised(by, &text);
                prop_assert_eq!(normalised(by, &once), once, "{}", by);
            }
        }
    }
}
