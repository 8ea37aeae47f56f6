//! Comparison of names: which of them stand for the same file.

use std::path::Path;
#[cfg(not(unix))]
use std::{fs, path::PathBuf};
#[cfg(unix)]
use std::{
    fs::{self, File, Metadata},
    io,
    os::{fd::AsFd, unix::fs::MetadataExt},
};

/// The identity of a file, whatever it is called.
#[derive(PartialEq, Eq)]
pub(super) struct Place(#[cfg(unix)] (u64, u64), #[cfg(not(unix))] PathBuf);

impl Place {
    /// Returns the place of a regular file that exists.
    #[cfg(unix)]
    pub(super) fn of(path: &Path) -> Option<Self> {
        Self::found(&fs::metadata(path).ok()?)
    }

    #[cfg(not(unix))]
    pub(super) fn of(path: &Path) -> Option<Self> {
        fs::canonicalize(path).ok().filter(|path| path.is_file()).map(Self)
    }

    pub(super) fn read(path: &Path) -> Option<Self> {
        #[cfg(unix)]
        if path == Path::new("-") {
            let input = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
            return Self::found(&input.metadata().ok()?);
        }
        Self::of(path)
    }

    #[cfg(unix)]
    fn found(found: &Metadata) -> Option<Self> {
        found.is_file().then(|| Self((found.dev(), found.ino())))
    }
}
