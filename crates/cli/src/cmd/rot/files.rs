//! The files of `rot`, written batch by batch while the run goes on.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use foxtrot_ot::{Bits, base::Block};

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

/// Behind the prefix, of both parties.
const KEYS: &str = "keys";
/// Of the receiver.
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
    /// For n transfers.
    pub(super) fn begin(prefix: &Path, n: usize, format: Format) -> Result<Self, Failure> {
        Ok(Self { keys: begin(prefix, KEYS, &[n, 2, 16], format)? })
    }

    pub(super) fn append(&mut self, keys: &[[Block; 2]]) -> Result<(), Failure> {
        self.keys.append(keys.as_flattened().as_flattened())
    }

    pub(super) fn drafts(self) -> Vec<Draft> {
        vec![self.keys]
    }
}

impl ReceiverFiles {
    /// For n transfers.
    pub(super) fn begin(prefix: &Path, n: usize, format: Format) -> Result<Self, Failure> {
        Ok(Self {
            keys: begin(prefix, KEYS, &[n, 16], format)?,
            choices: begin(prefix, CHOICES, &[n.div_ceil(8)], format)?,
        })
    }

    /// Choices of whole bytes, but for the last.
    pub(super) fn append(&mut self, choices: &Bits, keys: &[Block]) -> Result<(), Failure> {
        self.choices.append(choices.as_bytes())?;
        self.keys.append(keys.as_flattened())
    }

    pub(super) fn drafts(self) -> Vec<Draft> {
        vec![self.keys, self.choices]
    }
}

fn begin(prefix: &Path, suffix: &str, shape: &[usize], format: Format) -> Result<Draft, Failure> {
    let header = match format {
        Format::Raw => Vec::new(),
        Format::Npy => numpy_header(shape),
    };
    let len = shape.iter().map(|&n| n as u64).product::<u64>() + header.len() as u64;
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

/// What stands before bytes of that shape in NumPy's format, version 1.0.
fn numpy_header(shape: &[usize]) -> Vec<u8> {
    let shape: String = shape.iter().map(|n| format!("{n}, ")).collect();
    let mut text = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({shape}), }}");
    // Ten bytes before the text; it ends with a newline on a multiple of 64.
    let padded = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text.extend(std::iter::repeat_n(' ', padded - 1 - text.len()));
    text.push('\n');
    let len = u16::try_from(padded).unwrap_or(u16::MAX).to_le_bytes();
    [b"\x93NUMPY\x01\x00", &len[..], text.as_bytes()].concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numpy_files_begin_with_a_padded_header() {
        let header = numpy_header(&[1, 2, 16]);
        assert_eq!(&header[..10], b"\x93NUMPY\x01\x00\x76\x00");
        assert_eq!(header.len(), 128);
        let text = std::str::from_utf8(&header[10..]).unwrap();
        assert!(
            text.starts_with("{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2, 16, ), }")
        );
        assert!(text.ends_with(" \n"));
        assert!(numpy_header(&[1 << 32, 2, 16]).len().is_multiple_of(64));
    }

    #[test]
    fn a_suffix_is_appended_to_any_prefix() {
        assert_eq!(suffixed(Path::new("a/b.c"), "keys"), Path::new("a/b.c.keys"));
    }
}
