//! Output files, written whole or not at all.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use tempfile::NamedTempFile;
use zeroize::Zeroizing;

use crate::failure::Failure;

/// What becomes of a file that is there already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// It gives way.
    Replaced,
    /// Nothing is written.
    Kept,
}

/// A file that is being written, readable by its owner only. It goes away unless
/// [`put_in_place`] takes it.
pub(crate) struct Draft {
    path: PathBuf,
    content: Content,
}

enum Content {
    /// In a file beside its place.
    Beside(NamedTempFile),
    /// In memory: a device or a pipe is written to, there is nothing beside it to rename.
    Held(Zeroizing<Vec<u8>>),
}

/// Files that are being written beside their places. Whoever holds the lock knows that no file
/// is being put in its place.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

impl Draft {
    /// For a file of so many bytes.
    pub(crate) fn begin(path: &Path, len: u64) -> Result<Self, Failure> {
        let failed = |e: io::Error| Failure::writing(path, &e);
        let content = match fs::metadata(path) {
            Ok(found) if found.is_dir() => return Err(failed(ErrorKind::IsADirectory.into())),
            Ok(found) if !found.is_file() => {
                // Without growing, which would leave copies behind.
                let (mut held, len) = (Vec::new(), usize::try_from(len).unwrap_or(usize::MAX));
                let room = held.try_reserve_exact(len);
                room.map_err(|_| failed(ErrorKind::OutOfMemory.into()))?;
                Content::Held(Zeroizing::new(held))
            }
            _ => Content::Beside(begin_beside(path).map_err(failed)?),
        };
        Ok(Self { path: path.to_owned(), content })
    }

    /// Where it is to be.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match &mut self.content {
            Content::Beside(file) => {
                file.write_all(bytes).map_err(|e| Failure::writing(&self.path, &e))
            }
            Content::Held(held) => {
                held.extend_from_slice(bytes);
                Ok(())
            }
        }
    }
}

/// Writes a file from one piece; see [`put_in_place`].
pub(crate) fn write_file(existing: Existing, path: &Path, content: &[u8]) -> Result<(), Failure> {
    let mut draft = Draft::begin(path, content.len() as u64)?;
    draft.append(content)?;
    put_in_place(existing, vec![draft])
}

/// Fails where [`Draft::begin`] would.
pub(crate) fn try_place(path: &Path) -> Result<(), Failure> {
    Draft::begin(path, 0).map(drop)
}

/// Makes a set of files appear. None does before all are complete on the disk beside their places,
/// and at no time is there a mixture of old and new ones.
pub(crate) fn put_in_place(existing: Existing, drafts: Vec<Draft>) -> Result<(), Failure> {
    let mut ready = Vec::new();
    for Draft { path, content } in drafts {
        let written = match content {
            Content::Beside(file) => file.as_file().sync_all().map(|()| Some(file)),
            Content::Held(content) => {
                let mut device = File::options()
                    .write(true)
                    .open(&path)
                    .map_err(|e| Failure::writing(&path, &e))?;
                if device.is_terminal() {
                    return Err(Failure::usage(format!("{} is a terminal", path.display())));
                }
                device.write_all(&content).map(|()| None)
            }
        };
        if let Some(file) = written.map_err(|e| Failure::writing(&path, &e))? {
            ready.push((path, file));
        }
    }
    rename_all(existing, ready)
}

/// A new file in the folder of `path`. Its mode is 0600, and it goes away if it gets no further.
fn begin_beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    };
    let mut unfinished = unfinished();
    let file = NamedTempFile::new_in(folder)?;
    unfinished.push(file.path().to_owned());
    Ok(file)
}

fn rename_all(existing: Existing, ready: Vec<(PathBuf, NamedTempFile)>) -> Result<(), Failure> {
    let mut unfinished = unfinished();
    if existing == Existing::Replaced {
        // Between two renames the second file is missing rather than that of another run.
        for (path, _) in ready.iter().skip(1) {
            match fs::remove_file(path) {
                Err(e) if e.kind() != ErrorKind::NotFound => {
                    return Err(Failure::writing(path, &e));
                }
                _ => {}
            }
        }
    }
    let mut placed = Vec::new();
    for (path, file) in ready {
        let renamed = match existing {
            Existing::Replaced => file.persist(&path),
            Existing::Kept => file.persist_noclobber(&path),
        };
        if let Err(e) = renamed {
            // A part of the set would be taken for all of it.
            placed.iter().for_each(|path| drop(fs::remove_file(path)));
            return Err(Failure::writing(&path, &e.error));
        }
        placed.push(path);
    }
    unfinished.clear();
    Ok(())
}

/// Removes files that are not complete. As long as the guard lives, no file is put in its place.
pub(crate) fn discard_unfinished() -> impl Drop {
    let unfinished = unfinished();
    for path in unfinished.iter() {
        // One that failed is gone already.
        let _ = fs::remove_file(path);
    }
    unfinished
}

fn unfinished() -> MutexGuard<'static, Vec<PathBuf>> {
    UNFINISHED.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write_set(set: &[(PathBuf, &[u8])]) -> Result<(), Failure> {
        let begin = |(path, content): &(PathBuf, &[u8])| {
            let mut draft = Draft::begin(path, content.len() as u64)?;
            // In pieces, as they come.
            content.chunks(2).try_for_each(|piece| draft.append(piece))?;
            Ok::<_, Failure>(draft)
        };
        put_in_place(Existing::Replaced, set.iter().map(begin).collect::<Result<_, _>>()?)
    }

    #[test]
    fn no_file_appears_when_one_of_them_cannot() {
        let folder = tempfile::tempdir().unwrap();
        let good = folder.path().join("good");
        let bad = folder.path().join("missing").join("bad");
        assert!(write_set(&[(good.clone(), b"x"), (bad, b"y")]).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        write_set(&[(good.clone(), b"x")]).unwrap();
        assert_eq!(fs::read(good).unwrap(), b"x");
    }

    #[test]
    fn a_set_replaces_another() {
        let folder = tempfile::tempdir().unwrap();
        let set = |content: &'static [u8]| {
            ["a", "b", "c"].map(|name| (folder.path().join(name), content))
        };
        write_set(&set(b"old")).unwrap();
        write_set(&set(b"new")).unwrap();
        for (path, content) in set(b"new") {
            assert_eq!(fs::read(path).unwrap(), content);
        }
        let [first, ..] = set(b"other");
        assert!(write_file(Existing::Kept, &first.0, first.1).is_err());
        assert_eq!(fs::read(first.0).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[cfg(unix)]
    #[test]
    fn files_are_readable_by_their_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        write_set(&[(path.clone(), b"x")]).unwrap();
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_draft_that_is_given_up_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        let mut draft = Draft::begin(&path, 2).unwrap();
        draft.append(b"xy").unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        drop(draft);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }
}
