//! The functions of an intersection.

use core::fmt;

/// The function that two parties compute of their sets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Function {
    /// The receiver learns which of its items the sender has.
    #[default]
    Intersection,
    /// The receiver also learns what the sender has beside its items.
    Join,
    /// Each side learns which of its items the other has.
    Both,
    /// Both learn only how many items are common.
    Count,
    /// Both learn how many items are common, and the sum of values that the sender has beside them.
    Sum,
}

impl Function {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Intersection, Self::Join, Self::Both, Self::Count, Self::Sum];

    /// The name in hellos, policies and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Intersection => "intersection",
            Self::Join => "join",
            Self::Both => "both",
            Self::Count => "count",
            Self::Sum => "sum",
        }
    }
}

impl fmt::Display for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
