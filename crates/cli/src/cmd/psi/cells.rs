//! Fields that the peer wrote, on their way to a terminal or a spreadsheet.

use std::borrow::Cow;

use foxtrot::psi::cells::safe;
use foxtrot_net::escaped;

/// The form of the peer's fields in the output.
#[derive(Clone, Copy)]
pub(super) struct Form {
    /// True if no field may steer the terminal that shows it.
    pub(super) is_shown: bool,
    /// True if a spreadsheet must take no field for a formula.
    pub(super) is_safe: bool,
}

impl Form {
    /// The field in this form; by default as it came.
    pub(super) fn of(self, field: &str) -> Cow<'_, str> {
        let field = if self.is_safe { safe(field) } else { field.into() };
        if self.is_shown { escaped(&field).into() } else { field }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_shows_what_it_would_obey() {
        let form = |is_shown, is_safe| Form { is_shown, is_safe };
        let field = "=\u{1b}[2J\u{202e}";
        assert_eq!(form(false, false).of(field), field);
        assert_eq!(form(true, false).of(field), "=\\u{1b}[2J\\u{202e}");
        assert_eq!(form(true, true).of(field), "'=\\u{1b}[2J\\u{202e}");
    }
}
