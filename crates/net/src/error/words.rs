//! Other people's strings, and durations, as they are shown.

use core::{fmt, time::Duration};
use std::io;

/// The system's words in lower case, without the number behind them.
pub(super) fn reason(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_lowercase().chain(chars).collect())
}

/// Makes a string safe to show to a user, also one that a peer made: control characters and whatever else
/// does not print are escaped, and all after 64 characters is left out.
#[must_use]
pub fn printable(text: &str) -> String {
    const MOST: usize = 64;
    let mut shown = String::new();
    for (i, c) in text.chars().enumerate() {
        match c {
            _ if i == MOST => {
                shown.push('…');
                break;
            }
            '\'' | '"' => shown.push(c),
            _ => shown.extend(c.escape_debug()),
        }
    }
    shown
}

pub(super) struct Words(pub(super) Duration);

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.subsec_millis() {
            0 => write!(f, "{} s", self.0.as_secs()),
            _ => write!(f, "{} ms", self.0.as_millis()),
        }
    }
}
