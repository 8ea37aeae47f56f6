//! Other people's strings, and durations, as they are shown.

use core::{fmt, time::Duration};
use std::io;

/// Writes `Display` for an error: a pattern of its variants and a text, one after another.
macro_rules! texts {
    ($error:ty: $($pattern:pat $(if $guard:expr)? => $text:literal $(, $arg:expr)*;)+) => {
        impl core::fmt::Display for $error {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                match self {
                    $($pattern $(if $guard)? => write!(f, $text $(, $arg)*),)+
                }
            }
        }
    };
}
pub(crate) use texts;

/// The system's words in lower case, without the number behind them.
pub(crate) fn reason(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::UnexpectedEof {
        // The library's own words are about buffers.
        return "the other end closed the connection".to_owned();
    }
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// The most characters of a [`printable`] string.
const MOST: usize = 64;

/// Returns true if a character can be shown as it is. Control characters steer a terminal; formatting characters such as
/// U+202E and separators such as U+2028 change how others are shown, or are not seen at all.
#[must_use]
pub fn is_shown(c: char) -> bool {
    if c.is_ascii() {
        return !c.is_ascii_control();
    }
    // Letters and marks that no font draws, and the blank of Braille: two names that differ by them look the same.
    if matches!(
        c,
        '\u{34f}'
            | '\u{115f}'..='\u{1160}'
            | '\u{17b4}'..='\u{17b5}'
            | '\u{180b}'..='\u{180f}'
            | '\u{2800}'
            | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}'
            | '\u{ffa0}'
            | '\u{e0100}'..='\u{e01ef}'
    ) {
        return false;
    }
    let mut two = [b'a'; 5];
    let len = 1 + c.encode_utf8(&mut two[1..]).len();
    // Accents and the like are escaped alone, and not behind a letter.
    str::from_utf8(&two[..len]).is_ok_and(|two| two.escape_debug().count() == 2)
}

/// Makes a text of any length safe to show, also one that a peer made: characters that are not [shown](is_shown), and `\`,
/// are escaped as in Rust: `\u{202e}`.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => shown.push_str("\\\\"),
            _ if is_shown(c) => shown.push(c),
            '\0' | '\t' | '\n' | '\r' => shown.extend(c.escape_debug()),
            _ => shown.extend(c.escape_unicode()),
        }
    }
    shown
}

/// [`escaped`] without everything behind the first 64 characters.
#[must_use]
pub fn printable(text: &str) -> String {
    match text.char_indices().nth(MOST) {
        Some((end, _)) => escaped(&text[..end]) + "…",
        None => escaped(text),
    }
}

pub(crate) struct Words(pub(crate) Duration);

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.subsec_millis() {
            0 => write!(f, "{} s", self.0.as_secs()),
            _ => write!(f, "{} ms", self.0.as_millis()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_steers_a_terminal_or_hides_is_escaped() {
        for (text, shown) in [
            ("\x1b]0;x\x07", "\\u{1b}]0;x\\u{7}"),
            ("a\tb\r\n\0", "a\\tb\\r\\n\\0"),
            ("\u{7f}\u{85}\u{9b}31m", "\\u{7f}\\u{85}\\u{9b}31m"),
            ("\u{202a}\u{202e}\u{2066}\u{2069}", "\\u{202a}\\u{202e}\\u{2066}\\u{2069}"),
            ("\u{200e}\u{200f}\u{61c}", "\\u{200e}\\u{200f}\\u{61c}"),
            (
                "\u{200b}\u{200c}\u{200d}\u{2060}\u{feff}\u{ad}",
                "\\u{200b}\\u{200c}\\u{200d}\\u{2060}\\u{feff}\\u{ad}",
            ),
            ("\u{2028}\u{2029}\u{a0}\u{3000}", "\\u{2028}\\u{2029}\\u{a0}\\u{3000}"),
            ("\u{e0041}\u{e000}\u{fff9}", "\\u{e0041}\\u{e000}\\u{fff9}"),
            (
                "a\u{3164}b\u{115f}\u{1160}\u{ffa0}\u{2800}",
                "a\\u{3164}b\\u{115f}\\u{1160}\\u{ffa0}\\u{2800}",
            ),
            (
                "a\u{34f}\u{17b4}\u{180e}\u{fe0f}\u{e01ef}",
                "a\\u{34f}\\u{17b4}\\u{180e}\\u{fe0f}\\u{e01ef}",
            ),
            ("C:\\u{41}", "C:\\\\u{41}"),
        ] {
            assert_eq!(escaped(text), shown);
        }
        // Names of all scripts, also with marks of their own.
        for text in ["O'Neill \"x\"", "Zoë Mu\u{308}ller", "हिन्दी", "ไทยที่", "שלום", "日本", "🦊"]
        {
            assert_eq!(escaped(text), text);
        }
    }

    #[test]
    fn a_long_text_is_cut_behind_64_characters() {
        assert_eq!(printable(&"ü".repeat(64)), "ü".repeat(64));
        assert_eq!(printable(&"\n".repeat(65)), "\\n".repeat(64) + "…");
    }
}
