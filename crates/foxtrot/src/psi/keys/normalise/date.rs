//! Dates in the form of ISO 8601.

use std::{fmt, str::FromStr};

/// The format of dates in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DateFormat {
    parts: Vec<Part>,
    /// Years of two digits are of the 20th century from this one on, of the 21st below it.
    pivot: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// Four digits.
    Year,
    /// Two digits, read by the pivot.
    ShortYear,
    Month(Digits),
    Day(Digits),
    /// A mark between numbers.
    Mark(u8),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Digits {
    Two,
    OneOrTwo,
}

/// Marks between numbers: none that means something in a list of normalisers.
const MARKS: &[u8] = b"./- _";

impl DateFormat {
    /// Version 1: `1990-02-01` for `01.02.1990` by `DD.MM.YYYY`; nothing for what is not a day of the calendar in this
    /// form, but for white space around it.
    pub(super) fn iso(&self, text: &str) -> String {
        self.read(text.trim().as_bytes()).unwrap_or_default()
    }

    fn read(&self, mut text: &[u8]) -> Option<String> {
        let (mut year, mut month, mut day) = (0, 0, 0);
        for part in &self.parts {
            match part {
                Part::Year => year = number(&mut text, 4, 4)?,
                Part::ShortYear => {
                    let short = number(&mut text, 2, 2)?;
                    year = short + if short < self.pivot { 2000 } else { 1900 };
                }
                Part::Month(digits) => month = digits.read(&mut text)?,
                Part::Day(digits) => day = digits.read(&mut text)?,
                Part::Mark(mark) => text = text.strip_prefix(&[*mark])?,
            }
        }
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
            4 | 6 | 9 | 11 => 30,
            2 if leap => 29,
            2 => 28,
            _ => return None,
        };
        let is_one = text.is_empty() && year > 0 && (1..=days).contains(&day);
        is_one.then(|| format!("{year:04}-{month:02}-{day:02}"))
    }
}

impl Digits {
    fn read(self, text: &mut &[u8]) -> Option<u32> {
        let least = if self == Self::Two { 2 } else { 1 };
        number(text, least, 2)
    }
}

/// Takes as many digits as there are, up to `most`.
fn number(text: &mut &[u8], least: usize, most: usize) -> Option<u32> {
    let len = text.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(len);
    *text = rest;
    (len >= least).then(|| digits.iter().fold(0, |n, digit| 10 * n + u32::from(digit - b'0')))
}

/// `YYYY-MM-DD`.
impl Default for DateFormat {
    fn default() -> Self {
        let (month, day) = (Part::Month(Digits::Two), Part::Day(Digits::Two));
        Self { parts: vec![Part::Year, Part::Mark(b'-'), month, Part::Mark(b'-'), day], pivot: 0 }
    }
}

/// Numbers by their words, the longer ones first.
const WORDS: [(&str, Part); 6] = [
    ("YYYY", Part::Year),
    ("YY", Part::ShortYear),
    ("MM", Part::Month(Digits::Two)),
    ("DD", Part::Day(Digits::Two)),
    ("M", Part::Month(Digits::OneOrTwo)),
    ("D", Part::Day(Digits::OneOrTwo)),
];

/// The format as it is typed.
impl fmt::Display for DateFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.parts.iter().try_for_each(|part| match part {
            Part::Mark(mark) => write!(f, "{}", char::from(*mark)),
            _ => f.write_str(WORDS.iter().find(|(_, it)| it == part).map_or("", |(word, _)| word)),
        })?;
        let has_pivot = self.parts.contains(&Part::ShortYear);
        if has_pivot { write!(f, ":year2:{}", self.pivot) } else { Ok(()) }
    }
}

impl FromStr for DateFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (text, pivot) = match text.split_once(":year2:") {
            None => (text, None),
            Some((text, pivot)) => match pivot.parse() {
                Ok(year @ 0..=100) => (text, Some(year)),
                _ => return Err(format!("{pivot} is no pivot of years, which is from 0 to 100")),
            },
        };
        let (mut parts, mut rest) = (Vec::new(), text);
        while let Some(first) = rest.bytes().next() {
            let word = WORDS.into_iter().find(|(word, _)| rest.starts_with(word));
            let (len, part) = match word {
                Some((word, part)) => (word.len(), part),
                None if MARKS.contains(&first) => (1, Part::Mark(first)),
                None => {
                    return Err(format!(
                        "{text}: {EACH_ONCE}, and `.`, `/`, `-`, `_` or a space between them"
                    ));
                }
            };
            parts.push(part);
            rest = &rest[len..];
        }
        let count = |is: fn(&Part) -> bool| parts.iter().filter(|part| is(part)).count();
        let each = [
            count(|part| matches!(part, Part::Year | Part::ShortYear)),
            count(|part| matches!(part, Part::Month(_))),
            count(|part| matches!(part, Part::Day(_))),
        ];
        if each != [1, 1, 1] {
            return Err(EACH_ONCE.into());
        }
        let open =
            |part| matches!(part, Part::Month(Digits::OneOrTwo) | Part::Day(Digits::OneOrTwo));
        if parts.windows(2).any(|two| open(two[0]) && !matches!(two[1], Part::Mark(_))) {
            return Err(format!(
                "{text}: behind M or D there has to be something else than a number"
            ));
        }
        match (parts.contains(&Part::ShortYear), pivot) {
            (true, None) => Err(format!(
                "{text}: years of two digits need a pivot, as in {text}:year2:30: years below 30 are 20YY, others 19YY"
            )),
            (false, Some(_)) => Err(format!("{text}: year2 is for years of two digits, YY")),
            (_, pivot) => Ok(Self { parts, pivot: pivot.unwrap_or_default() }),
        }
    }
}

const EACH_ONCE: &str = "a date has YYYY (or YY), MM (or M) and DD (or D), each once";

#[cfg(test)]
mod tests {
    use super::*;

    fn iso(format: &str, text: &str) -> String {
        format.parse::<DateFormat>().unwrap().iso(text)
    }

    #[test]
    fn a_date_has_one_form_in_every_input_format() {
        for (format, text) in [
            ("YYYY-MM-DD", "1990-02-01"),
            ("DD.MM.YYYY", "01.02.1990"),
            ("D.M.YYYY", "1.2.1990"),
            ("D.M.YYYY", "01.02.1990"),
            ("MM/DD/YYYY", "\u{a0}02/01/1990\t"),
            ("YYYYMMDD", "19900201"),
            ("D M YYYY", "1 02 1990"),
        ] {
            assert_eq!(iso(format, text), "1990-02-01", "{format} {text}");
        }
        assert_eq!(iso("DD.MM.YYYY", "29.02.2000"), "2000-02-29");
        assert_eq!(iso("YYYY-MM-DD", "0001-12-31"), "0001-12-31");
    }

    #[test]
    fn years_of_two_digits_are_read_by_the_pivot_of_their_file() {
        for (format, text, date) in [
            ("DD.MM.YY:year2:30", "01.02.29", "2029-02-01"),
            ("DD.MM.YY:year2:30", "01.02.30", "1930-02-01"),
            ("YYMMDD:year2:0", "000201", "1900-02-01"),
            ("M/D/YY:year2:100", "2/1/99", "2099-02-01"),
            ("DD.MM.YY:year2:30", "01.02.1990", ""),
            ("DD.MM.YY:year2:30", "29.02.00", "2000-02-29"),
            ("DD.MM.YY:year2:0", "29.02.00", ""),
        ] {
            assert_eq!(iso(format, text), date, "{format} {text}");
            assert_eq!(format.parse::<DateFormat>().unwrap().to_string(), format);
        }
        for (format, why) in [
            ("DD.MM.YY", "DD.MM.YY: years of two digits need a pivot, as in DD.MM.YY:year2:30"),
            ("DD.MM.YYYY:year2:30", "DD.MM.YYYY: year2 is for years of two digits"),
            ("DD.MM.YY:year2:101", "101 is no pivot"),
            ("DD.MM.YY:year2:", " is no pivot"),
            ("DD.MM.YY.YYYY:year2:1", "a date has"),
        ] {
            let error = format.parse::<DateFormat>().unwrap_err();
            assert!(error.starts_with(why), "{error}");
        }
    }

    #[test]
    fn an_invalid_date_is_no_key() {
        for (format, text) in [
            ("DD.MM.YYYY", "1990-02-01"),
            ("DD.MM.YYYY", "1.2.1990"),
            ("DD.MM.YYYY", "01.02.90"),
            ("DD.MM.YYYY", "01.02.19900"),
            ("DD.MM.YYYY", "29.02.1900"),
            ("DD.MM.YYYY", "29.02.2023"),
            ("DD.MM.YYYY", "31.04.2020"),
            ("DD.MM.YYYY", "00.01.2020"),
            ("DD.MM.YYYY", "01.13.2020"),
            ("DD.MM.YYYY", "01. 2.1990"),
            ("DD.MM.YYYY", "+1.02.1990"),
            ("DD.MM.YYYY", "\u{661}1.02.1990"),
            ("D.M.YYYY", "001.2.1990"),
            ("YYYY-MM-DD", "0000-01-01"),
            ("YYYY-MM-DD", "1990-02-01T00:00"),
            ("YYYY-MM-DD", ""),
        ] {
            assert_eq!(iso(format, text), "", "{format} {text}");
        }
    }

    #[test]
    fn ambiguous_date_formats_are_refused() {
        for format in [
            "",
            "DD.MM",
            "DD.MM.YY",
            "DD.MM.YYYY.DD",
            "DD,MM,YYYY",
            "DDMYYYY",
            "YYYYDM",
            "dd.mm.yyyy",
        ] {
            assert!(format.parse::<DateFormat>().is_err(), "{format}");
        }
    }
}
