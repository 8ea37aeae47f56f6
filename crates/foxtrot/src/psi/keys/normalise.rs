//! Normalisers: what is done to a key before it is compared, so that `Anna@Example.com ` and
//! `anna@example.com` are the same.
//!
//! Each has a name and a version, and both sides have to take the same. What a version does is
//! written in `docs/psi-files.md` and never changes; what should be done differently is a new version.

mod date;
mod email;
mod fold;
mod hashed;
mod number;
mod phone;
mod unseen;

use std::{borrow::Cow, fmt, str::FromStr};

use unicode_normalization::{UnicodeNormalization, is_nfc};

use date::DateFormat;
use hashed::Hash;
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
    EmailOne,
    Email,
    Gmail,
    Zeros,
    Number,
    Fold,
    Words,
    Date(DateFormat),
    PhoneOne(Country),
    Phone(Country),
    /// A hash of the text, or one that is in the file: then the steps before were taken by its author.
    Hash(Hash, bool),
}

/// Steps without a value, by their names and versions. The last version of a name is the usual one.
const PLAIN: [(&str, &str, Step); 14] = [
    ("trim", "1", Step::Trim),
    ("compact", "1", Step::Compact),
    ("lower", "1", Step::Lower),
    ("upper", "1", Step::Upper),
    ("nfc", "1", Step::Nfc),
    ("digits", "1", Step::Digits),
    ("zeros", "1", Step::Zeros),
    ("number", "1", Step::Number),
    ("name", "1", Step::Name),
    ("fold", "1", Step::Fold),
    ("words", "1", Step::Words),
    ("email", "1", Step::EmailOne),
    ("email", "2", Step::Email),
    ("gmail", "1", Step::Gmail),
];

const HASHES: [(&str, Hash); 3] =
    [("sha256", Hash::Sha256), ("sha1", Hash::Sha1), ("md5", Hash::Md5)];

const NAMES: &str = "there are trim, compact, lower, upper, nfc, digits, zeros, number, name, fold, words, email, gmail, \
                     date:DD.MM.YYYY (any format), phone:+49 (any country), sha256, sha1, md5 (with :hashed for a column of \
                     hashes) and none";

/// The versions that a name has; the last is the usual one.
fn versions(name: &str) -> &'static [&'static str] {
    match name {
        "email" | "phone" => &["1", "2"],
        _ => &["1"],
    }
}

/// Terms without versions that a name alone stands for: `email,trim` for `email/2,trim/1`.
#[must_use]
pub fn without_usual_versions(terms: &str) -> String {
    let step = |step: &str| {
        let (head, more) =
            step.split_once(':').map_or((step, None), |(head, more)| (head, Some(more)));
        let head = match head.split_once('/') {
            Some((name, version)) if versions(name).last() == Some(&version) => name,
            _ => head,
        };
        more.map_or_else(|| head.to_owned(), |more| format!("{head}:{more}"))
    };
    let part = |part: &str| part.split(',').map(step).collect::<Vec<_>>().join(",");
    terms.split(';').map(part).collect::<Vec<_>>().join(";")
}

impl Normaliser {
    /// The text as it is compared. What is empty then is no key.
    #[must_use]
    pub fn apply<'a>(&self, text: Cow<'a, str>) -> Cow<'a, str> {
        // What is hashed in the file was normalised before.
        let from = self.0.iter().rposition(|step| matches!(step, Step::Hash(_, true))).unwrap_or(0);
        self.0[from..].iter().fold(text, |text, step| step.apply(text))
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
            Self::EmailOne if text.contains('@') => nfc(lower(trim(text))),
            Self::EmailOne => Cow::Borrowed(""),
            Self::Email => email::second(&text).into(),
            Self::Gmail => email::gmail(&text).into(),
            Self::Zeros => number::without_zeros(text),
            Self::Number => number::whole(&text).into(),
            Self::Fold => fold::fold(&text).into(),
            Self::Words => fold::words(&text).into(),
            Self::Date(format) => format.iso(&text).into(),
            Self::PhoneOne(country) => country.international(&text).into(),
            Self::Phone(country) => country.second(&text).into(),
            Self::Hash(hash, false) => hash.of(&text).into(),
            Self::Hash(hash, true) => hash.read(&text).into(),
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
        let hash = HASHES.into_iter().find(|(it, _)| *it == name.split('/').next().unwrap_or(name));
        let (name, version) = match name.split_once('/') {
            Some(both) => both,
            None => (name, *versions(name).last().unwrap_or(&"1")),
        };
        let is_plain = PLAIN.iter().any(|(it, ..)| *it == name);
        if !is_plain && hash.is_none() && !["date", "phone"].contains(&name) {
            return Err(format!("unknown normaliser {name}; {NAMES}"));
        }
        if !versions(name).contains(&version) {
            let all = versions(name).join(" and ");
            let are = if versions(name).len() == 1 { "version is" } else { "versions are" };
            return Err(format!("unknown version {version} of {name}; the {are} {all}"));
        }
        let plain = PLAIN.into_iter().find(|(it, number, _)| (*it, *number) == (name, version));
        match (plain, hash, more) {
            (Some((.., step)), _, None) => Ok(step),
            (_, Some((_, hash)), None) => Ok(Self::Hash(hash, false)),
            (_, Some((_, hash)), Some("hashed")) => Ok(Self::Hash(hash, true)),
            (_, Some(_), Some(_)) => {
                Err(format!("{name} takes nothing but :hashed, for a column of hashes"))
            }
            (Some(_), ..) => Err(format!("{name} takes no value after a colon")),
            (.., None) if name == "date" => Ok(Self::Date(DateFormat::default())),
            (.., Some(format)) if name == "date" => format.parse().map(Self::Date),
            (.., None) => Err("phone needs a country code, for example phone:+49".into()),
            (.., Some(country)) if version == "1" => country.parse().map(Self::PhoneOne),
            (.., Some(country)) => country.parse().map(Self::Phone),
        }
    }
}

/// The form in which both sides compare it: `trim/1,lower/1`, `phone/2`, `none/1`. With `{:#}` also what each side has for
/// itself: formats of dates, countries of numbers, whether the file has hashes: `date/1:DD.MM.YYYY`, `sha256/1:hashed`.
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
        let in_full = f.alternate();
        match self {
            Self::Date(format) if in_full => write!(f, "date/1:{format}"),
            Self::Date(_) => f.write_str("date/1"),
            Self::PhoneOne(country) => write!(f, "phone/1:{country}"),
            Self::Phone(country) if in_full => write!(f, "phone/2:{country}"),
            Self::Phone(_) => f.write_str("phone/2"),
            Self::Hash(hash, hashed) => {
                let name = HASHES.iter().find(|(_, it)| it == hash).map_or("", |(name, _)| name);
                write!(f, "{name}/1{}", if in_full && *hashed { ":hashed" } else { "" })
            }
            plain => match PLAIN.iter().find(|(.., it)| it == plain) {
                Some((name, version, _)) => write!(f, "{name}/{version}"),
                None => Ok(()),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_normaliser_in_full_can_be_typed_again() {
        for text in [
            "trim/1,date/1:D. M.YYYY",
            "date/1:YYYY-MM-DD",
            "date/1:DD.MM.YY:year2:30",
            "phone/1:+49",
            "phone/2:+49",
            "email/2,sha256/1:hashed",
            "none/1",
        ] {
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
            ("date/1:DD.MM.YY:year2:30", "01.02.90", "1990-02-01"),
            ("email/2", " Ann\u{200b}a.Mu\u{308}LLER@Example.COM\u{a0}", "anna.müller@example.com"),
            (
                "email/2",
                "ＡNN\u{ad}A@ΟΔΟΣ.ＭÜLLER。example",
                "anna@xn--pxavbq.xn--mller-kva.example",
            ),
            ("email/2", "Anna <anna@example.com>", ""),
            ("email/2", "a@x.org; b@x.org", ""),
            ("email/2", "@example.com", ""),
            ("email/2", "a@@b", ""),
            ("gmail/1", "Anna.Maria+shop@Googlemail.com", "annamaria@gmail.com"),
            ("gmail/1", "anna.maria+shop@example.com", "anna.maria+shop@example.com"),
            ("gmail/1", "+shop@gmail.com", ""),
            ("zeros/1", " 0000201", "201"),
            ("number/1", "1.23E+05", "123000"),
            ("fold/1", "Ｏ’NEILL–MU\u{308}LLER\u{200b}  Stra\u{df}e", "o'neill-muller strasse"),
            ("fold/1", "STRAẞE Łukasz ΟΔΟΣ", "strasse łukasz οδοσ"),
            ("fold/1", "ﬁ e\u{301}İı ʼn ŉ", "fi eii 'n 'n"),
            (
                "fold/1",
                "\u{5e9}\u{5b8}\u{5dc}\u{5d5}\u{5b9}\u{5dd} مُحَمَّد",
                "\u{5e9}\u{5dc}\u{5d5}\u{5dd} محمد",
            ),
            ("fold/1", "が राम् ไม้", "か\u{3099} राम् ไม้"),
            ("words/1", "Müller, Eva", "eva muller"),
            ("words/1", "Eva  MÜLLER", "eva muller"),
            ("words/1", "O’Neill-Meyer, Dr. Eva", "dr eva meyer o'neill"),
            ("phone/2:+39", "06 1234567", "+39061234567"),
            ("email,md5", " A@b.example", "d3ce9fe2208376bd39cf85fbcc2a90c7"),
            ("email,md5", "none", ""),
            (
                "email,sha1:hashed",
                " A9993E364706816ABA3E25717850C26C9CD0D89D",
                "a9993e364706816aba3e25717850c26c9cd0d89d",
            ),
            ("email,sha1:hashed", "a@b.example", ""),
        ] {
            assert_eq!(normalised(by, text), expected, "{by} {text:?}");
        }
    }

    #[test]
    fn names_are_read_and_written_in_one_form() {
        for (text, written) in [
            ("email", "email/2"),
            ("email/1", "email/1"),
            ("email,sha256:hashed", "email/2,sha256/1"),
            ("trim,lower/1", "trim/1,lower/1"),
            ("phone/1:+1", "phone/1:+1"),
            ("none", "none/1"),
            ("date:DD/MM/YYYY", "date/1"),
            ("compact,upper,name", "compact/1,upper/1,name/1"),
        ] {
            assert_eq!(text.parse::<Normaliser>().unwrap().to_string(), written);
            assert_eq!(written.parse::<Normaliser>().unwrap().to_string(), written);
        }
        // The country is of this side's file only.
        assert_eq!("phone:+49".parse::<Normaliser>().unwrap().to_string(), "phone/2");
    }

    #[test]
    fn terms_are_shown_without_the_versions_that_a_name_stands_for() {
        for (terms, shown) in [
            ("email/2;phone/2", "email;phone"),
            ("email/1;phone/1:+49", "email/1;phone/1:+49"),
            ("trim/2,lower/1;none/1", "trim/2,lower;none"),
            ("email/2,sha256/1", "email,sha256"),
        ] {
            assert_eq!(without_usual_versions(terms), shown);
        }
    }

    #[test]
    fn unknown_normalisers_list_the_known_ones() {
        for (text, why) in [
            ("emial", "unknown normaliser emial; there are trim, compact, lower"),
            ("", "unknown normaliser ; there are"),
            ("email/3", "unknown version 3 of email; the versions are 1 and 2"),
            ("trim/2", "unknown version 2 of trim; the version is 1"),
            ("sha256:HASHED", "sha256 takes nothing but :hashed"),
            ("email:+49", "email takes no value after a colon"),
            ("trim,none", "none cannot be combined with others"),
            ("date:MM/DD", "a date has YYYY (or YY), MM (or M) and DD (or D), each once"),
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
                "phone/1:+49", "phone/1:+1", "phone:+49", "phone:+1", "phone:+39", "email/1", "gmail", "zeros", "number",
                "fold", "words", "sha256:hashed",
            ] {
                let once = normalised(by, &text);
                prop_assert_eq!(normalised(by, &once), once, "{}", by);
            }
        }
    }
}
