//! Names as people compare them: without case, accents, and ways to write apostrophes and dashes.

use unicode_normalization::{UnicodeNormalization, char::canonical_combining_class};

use super::unseen::{is_unseen, one_mark};

/// Version 1: `o'neill-muller` for `O’Neill–Müller`, `strasse` for `STRAẞE`.
pub(super) fn fold(text: &str) -> String {
    let seen = text.chars().filter(|&c| !is_unseen(c)).map(one_mark);
    let bare = |c: &char| !is_accent(*c);
    let folded: String = seen.nfkd().filter(bare).flat_map(fold_case).collect();
    let folded: String =
        folded.nfkd().filter(bare).map(one_mark).filter(|&c| !is_unseen(c)).collect();
    let words: Vec<_> = folded.split_whitespace().collect();
    words.join(" ")
}

/// Version 1: the words of [`fold`] in the order of their bytes: `eva meyer` for `Meyer, Eva`.
pub(super) fn words(text: &str) -> String {
    let folded = fold(text);
    let is_between = |c: char| c == ' ' || c.is_ascii_punctuation() && c != '\'';
    let mut words: Vec<_> = folded.split(is_between).filter(|word| !word.is_empty()).collect();
    words.sort_unstable();
    words.join(" ")
}

/// Lower, upper and lower case again: so `ẞ`, `ß` and `ss` are the same, and no rule looks at neighbours.
fn fold_case(c: char) -> impl Iterator<Item = char> {
    c.to_lowercase().flat_map(char::to_uppercase).flat_map(char::to_lowercase)
}

/// Returns true for accents, and for the points of Hebrew and Arabic. Vowel signs of Indic scripts, the voicing of Kana and
/// tones of Thai are of other classes: they make other words.
fn is_accent(c: char) -> bool {
    matches!(canonical_combining_class(c), 10..=36 | 200..)
}
