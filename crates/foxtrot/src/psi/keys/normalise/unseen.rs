//! Characters that nobody sees, and people's ways to write one mark.

/// Returns true for a character that nobody sees: soft hyphens, zero-width characters, marks of direction, joiners,
/// variation selectors.
pub(super) fn is_unseen(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}')
}

/// Writes all apostrophes as `'` and all dashes as `-`.
pub(super) fn one_mark(c: char) -> char {
    match c {
        '`'
        | '\u{b4}'
        | '\u{2b9}'..='\u{2bd}'
        | '\u{2018}'
        | '\u{2019}'
        | '\u{201b}'
        | '\u{2032}' => '\'',
        '\u{ff07}' | '\u{ff40}' => '\'',
        '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{fe58}' | '\u{fe63}' | '\u{ff0d}' => '-',
        c => c,
    }
}
