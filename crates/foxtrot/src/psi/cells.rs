//! Fields that the peer wrote, on their way to a spreadsheet.

use std::borrow::Cow;

/// Puts `'` in front of a field that a spreadsheet would take for a formula, and behind every separator in it: a program
/// with another separator than the file's begins a field there.
#[must_use]
pub fn safe(field: &str) -> Cow<'_, str> {
    let is_separator = |c| matches!(c, ',' | ';' | '|' | '\t' | '\r' | '\n');
    let begins_blank = field.starts_with(['\t', '\r', '\n']);
    if !begins_blank && !field.split_inclusive(is_separator).any(is_formula) {
        return field.into();
    }
    let mut text = String::new();
    for (i, piece) in field.split_inclusive(is_separator).enumerate() {
        if is_formula(piece) || (i == 0 && begins_blank) {
            text.push('\'');
        }
        text.push_str(piece);
    }
    text.into()
}

/// Returns true if the text begins with `=`, `+`, `-` or `@`, also in their wide forms, behind quotes and blanks. A sign in
/// front of a number is none: spreadsheets compute nothing from digits.
fn is_formula(text: &str) -> bool {
    let text = text.trim_start_matches(|c: char| c.is_whitespace() || c == '"');
    let rest = text.strip_prefix(['+', '-']);
    let is_number = |rest: &str| {
        let is_part = |c: char| c.is_ascii_digit() || " .,;|\t\r\n".contains(c);
        rest.contains(|c: char| c.is_ascii_digit()) && rest.chars().all(is_part)
    };
    let begins = ['=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}'];
    text.starts_with(begins) && !rest.is_some_and(is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_that_begins_like_a_formula_gets_an_apostrophe() {
        for (field, expected) in [
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("+A1", "'+A1"),
            ("-2+3", "'-2+3"),
            ("-", "'-"),
            ("\tx", "'\tx"),
            ("\rx", "'\rx"),
            ("  =1", "'  =1"),
            ("\"=1", "'\"=1"),
            ("\u{a0}=1", "'\u{a0}=1"),
            ("＝1", "'＝1"),
            ("＠x", "'＠x"),
            ("x;=1", "x;'=1"),
            ("x\n=1\t@y", "x\n'=1\t'@y"),
        ] {
            assert_eq!(safe(field), expected, "{field:?}");
        }
    }

    #[test]
    fn numbers_and_texts_stay_as_they_are() {
        for field in [
            "",
            "-5",
            "+49 30 1234",
            "-1,234.50",
            "-5;-6",
            "+1",
            "a=b",
            "a@b.example",
            "x; y",
            "'=1",
        ] {
            assert_eq!(safe(field), field);
        }
    }
}
