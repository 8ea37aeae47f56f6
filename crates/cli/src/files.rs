//! Output files, written whole or not at all.

#[cfg(unix)]
use std::os::unix::fs::PermissionsExt;
use std::{
    fs::{self, File, Metadata},
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

/// Who may read a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Its owner only, whatever was there before.
    Secret,
    /// Whoever could read the one that it replaces; a new one is as others that the user makes.
    Usual,
}

/// A file that is being written. It goes away unless [`put_in_place`] takes it.
pub(crate) struct Draft {
    /// As the user calls it.
    path: PathBuf,
    /// Where it is to be: what a symbolic link stands for, rather than the link.
    place: PathBuf,
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
    pub(crate) fn begin(access: Access, path: &Path, len: u64) -> Result<Self, Failure> {
        let failed = |e: io::Error| Failure::writing(path, &e);
        let there = match fs::metadata(path) {
            Ok(found) => Some(found),
            Err(e) if e.kind() == ErrorKind::NotFound => None,
            Err(e) => return Err(failed(e)),
        };
        let mut place = path.to_owned();
        let content = match there {
            Some(found) if found.is_dir() => return Err(failed(ErrorKind::IsADirectory.into())),
            Some(found) if !found.is_file() => {
                // Without growing, which would leave copies behind.
                let (mut held, len) = (Vec::new(), usize::try_from(len).unwrap_or(usize::MAX));
                let room = held.try_reserve_exact(len);
                room.map_err(|_| failed(ErrorKind::OutOfMemory.into()))?;
                Content::Held(Zeroizing::new(held))
            }
            there => {
                place = behind_links(path).map_err(failed)?;
                let file = begin_beside(&place, access, there).map_err(failed)?;
                Content::Beside(file)
            }
        };
        Ok(Self { path: path.to_owned(), place, content })
    }

    /// Where it is to be, as the user calls it.
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

/// Writes a file that its owner only may read, from one piece; see [`put_in_place`].
pub(crate) fn write_secret(existing: Existing, path: &Path, content: &[u8]) -> Result<(), Failure> {
    let mut draft = Draft::begin(Access::Secret, path, content.len() as u64)?;
    draft.append(content)?;
    put_in_place(existing, vec![draft])
}

/// Fails where [`Draft::begin`] would, and if the file is one of those that are read, by whatever
/// name. An input `-` is standard input.
pub(crate) fn check_place(path: &Path, inputs: &[&Path]) -> Result<(), Failure> {
    let place = Place::of(path);
    if let Some(input) = inputs.iter().find(|input| place.is_some() && Place::read(input) == place)
    {
        let input = if *input == Path::new("-") { Path::new("standard input") } else { input };
        let (path, input) = (path.display(), input.display());
        let why = format!("cannot write {path}: {input}, which is read, is the same file");
        return Err(Failure::usage(why).hint("-o takes another name"));
    }
    Draft::begin(Access::Usual, path, 0).map(drop)
}

/// By which a file is known, whatever it is called.
#[derive(PartialEq, Eq)]
struct Place(#[cfg(unix)] (u64, u64), #[cfg(not(unix))] PathBuf);

impl Place {
    /// Of a regular file that there is.
    #[cfg(unix)]
    fn of(path: &Path) -> Option<Self> {
        Self::found(&fs::metadata(path).ok()?)
    }

    #[cfg(not(unix))]
    fn of(path: &Path) -> Option<Self> {
        fs::canonicalize(path).ok().filter(|path| path.is_file()).map(Self)
    }

    /// Of an input.
    fn read(path: &Path) -> Option<Self> {
        #[cfg(unix)]
        if path == Path::new("-") {
            use std::os::fd::AsFd;
            let input = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
            return Self::found(&input.metadata().ok()?);
        }
        Self::of(path)
    }

    #[cfg(unix)]
    fn found(found: &Metadata) -> Option<Self> {
        use std::os::unix::fs::MetadataExt;
        found.is_file().then(|| Self((found.dev(), found.ino())))
    }
}

/// Makes a set of files appear. None does before all are complete on the disk beside their places,
/// and at no time is there a mixture of old and new ones.
pub(crate) fn put_in_place(existing: Existing, drafts: Vec<Draft>) -> Result<(), Failure> {
    let mut ready = Vec::new();
    for Draft { place: path, content, .. } in drafts {
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

/// A new file in the folder of `path`, for the place of the one that may be `there`. It goes away if
/// it gets no further.
fn begin_beside(path: &Path, access: Access, there: Option<Metadata>) -> io::Result<NamedTempFile> {
    let mut unfinished = unfinished();
    // Without permissions of its own it is its owner's only.
    #[cfg_attr(not(unix), allow(unused_mut, reason = "there are no modes"))]
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    if access == Access::Usual && there.is_none() {
        // From which the system takes what the user's umask says.
        builder.permissions(PermissionsExt::from_mode(0o666));
    }
    let file = builder.tempfile_in(folder(path))?;
    #[cfg(unix)]
    if let (Access::Usual, Some(there)) = (access, there) {
        let mode = there.permissions().mode() & 0o777;
        file.as_file().set_permissions(PermissionsExt::from_mode(mode))?;
    }
    #[cfg(not(unix))]
    let _ = (access, there);
    unfinished.push(file.path().to_owned());
    Ok(file)
}

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// What is behind a symbolic link, or a chain of them; there may be nothing yet.
fn behind_links(path: &Path) -> io::Result<PathBuf> {
    /// As many as Linux follows.
    const MOST: usize = 40;
    let mut place = path.to_owned();
    for _ in 0..MOST {
        match fs::symlink_metadata(&place) {
            Ok(found) if found.is_symlink() => {
                place = folder(&place).join(fs::read_link(&place)?);
            }
            _ => return Ok(place),
        }
    }
    Err(io::Error::other("too many levels of symbolic links"))
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
mod tests;
