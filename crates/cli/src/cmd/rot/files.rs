//! The files of `rot`, written batch by batch while the run goes on.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use foxtrot::{Bits, Block, job::Role};
use foxtrot_triples::formats::numpy_header;

use crate::{
    args::Format,
    failure::Failure,
    files::{Access, Draft},
};

/// The files of a party: its keys and, of the receiver, its choices.
pub(super) struct Files {
    keys: Draft,
    choices: Option<Draft>,
    /// Keys that are still to come.
    left: usize,
}

const KEYS: &str = "keys";
const CHOICES: &str = "choices";

pub(super) fn names(role: Role, prefix: &Path) -> Vec<PathBuf> {
    match role {
        Role::Sender => vec![suffixed(prefix, KEYS)],
        Role::Receiver => vec![suffixed(prefix, KEYS), suffixed(prefix, CHOICES)],
    }
}

impl Files {
    pub(super) fn begin(
        role: Role,
        prefix: &Path,
        n: usize,
        format: Format,
    ) -> Result<Self, Failure> {
        let of = n as u64;
        Ok(match role {
            Role::Sender => Self {
                keys: begin(prefix, KEYS, &[of, 2, 16], format)?,
                choices: None,
                left: 2 * n,
            },
            Role::Receiver => Self {
                keys: begin(prefix, KEYS, &[of, 16], format)?,
                choices: Some(begin(prefix, CHOICES, &[of.div_ceil(8)], format)?),
                left: n,
            },
        })
    }

    /// Appends the keys of a batch and, for a receiver, its choices. The last batch brings all to the disk: only then does the
    /// peer hear that everything came.
    pub(super) fn append(&mut self, choices: &Bits, keys: &[Block]) -> Result<(), Failure> {
        self.choices.iter_mut().try_for_each(|file| file.append(choices.as_bytes()))?;
        self.keys.append(keys.as_flattened())?;
        self.left -= keys.len();
        match self.left {
            0 => self.choices.iter().chain([&self.keys]).try_for_each(Draft::sync),
            _ => Ok(()),
        }
    }

    /// The files.
    pub(super) fn into_drafts(self) -> Vec<Draft> {
        [self.keys].into_iter().chain(self.choices).collect()
    }
}

fn begin(prefix: &Path, suffix: &str, shape: &[u64], format: Format) -> Result<Draft, Failure> {
    let header = match format {
        Format::Raw => Vec::new(),
        Format::Npy => numpy_header("|u1", shape),
    };
    let len = shape.iter().product::<u64>() + header.len() as u64;
    let mut draft = Draft::begin(Access::Secret, &suffixed(prefix, suffix), len)?;
    draft.append(&header)?;
    Ok(draft)
}

/// The name with `.suffix` appended, whatever it looks like.
pub(super) fn suffixed(prefix: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(prefix);
    name.push(".");
    name.push(suffix);
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suffix_is_appended_to_any_prefix() {
        assert_eq!(suffixed(Path::new("a/b.c"), "keys"), Path::new("a/b.c.keys"));
    }
}
