//! The files of `rot`, written batch by batch while the run goes on.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use foxtrot_ot::{Bits, base::Block};
use foxtrot_triples::formats::numpy_header;

use crate::{
    args::Format,
    failure::Failure,
    files::{Access, Draft},
};

/// Both keys of every transfer.
pub(super) struct SenderFiles {
    keys: Draft,
}

/// Choices and chosen keys.
pub(super) struct ReceiverFiles {
    keys: Draft,
    choices: Draft,
}

/// Suffix of the files of keys, of both parties.
const KEYS: &str = "keys";
/// The receiver's file of choices.
const CHOICES: &str = "choices";

/// The names of a sender's files.
pub(super) fn of_sender(prefix: &Path) -> Vec<PathBuf> {
    vec![suffixed(prefix, KEYS)]
}

/// The names of a receiver's files.
pub(super) fn of_receiver(prefix: &Path) -> Vec<PathBuf> {
    vec![suffixed(prefix, KEYS), suffixed(prefix, CHOICES)]
}

impl SenderFiles {
    /// Begins the files of n transfers.
    pub(super) fn begin(prefix: &Path, n: usize, format: Format) -> Result<Self, Failure> {
        Ok(Self { keys: begin(prefix, KEYS, &[n as u64, 2, 16], format)? })
    }

    pub(super) fn append(&mut self, keys: &[[Block; 2]]) -> Result<(), Failure> {
        self.keys.append(keys.as_flattened().as_flattened())
    }

    /// The files, complete.
    pub(super) fn drafts(self) -> Vec<Draft> {
        vec![self.keys]
    }
}

impl ReceiverFiles {
    /// Begins the files of n transfers.
    pub(super) fn begin(prefix: &Path, n: usize, format: Format) -> Result<Self, Failure> {
        Ok(Self {
            keys: begin(prefix, KEYS, &[n as u64, 16], format)?,
            choices: begin(prefix, CHOICES, &[n.div_ceil(8) as u64], format)?,
        })
    }

    /// Choices of whole bytes, but for the last.
    pub(super) fn append(&mut self, choices: &Bits, keys: &[Block]) -> Result<(), Failure> {
        self.choices.append(choices.as_bytes())?;
        self.keys.append(keys.as_flattened())
    }

    /// The files, complete.
    pub(super) fn drafts(self) -> Vec<Draft> {
        vec![self.keys, self.choices]
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
