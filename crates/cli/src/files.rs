//! Output files, written whole or not at all.

mod beside;
mod log;
mod open;
mod place;

#[cfg(unix)]
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, fchown};
use std::{
    fs::{self, DirBuilder, File, Metadata},
    io::{self, ErrorKind, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
    time::SystemTime,
};

use tempfile::NamedTempFile;
use zeroize::Zeroizing;

use crate::failure::Failure;

pub(crate) use log::{append, log_options, open_regular};
use open::Open;
use place::Place;

/// The fate of a file that already exists.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    Replaced,
    Kept,
}

impl Existing {
    pub(crate) fn with_force(force: bool) -> Self {
        if force { Self::Replaced } else { Self::Kept }
    }
}

/// The users who may read a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Its owner only, whatever was there before.
    Secret,
    /// Users who could read the replaced file, by its mode and group; a new file has the mode of
    /// others that the user makes.
    Usual,
}

/// A file that is being written. It goes away unless [`put_in_place`] takes it.
pub(crate) struct Draft {
    /// The path as the user gave it.
    pub(crate) path: PathBuf,
    /// The final place of the file: the target of a symbolic link, rather than the link.
    place: PathBuf,
    content: Content,
    unsynced: Unsynced,
}

/// Bytes of a file that may not be on the disk yet.
#[derive(Default)]
pub(crate) struct Unsynced(u64);

/// The most bytes that are left unsynced: what remains at the end takes no longer than the peer waits.
pub(crate) const SYNC: u64 = 64 << 20;

enum Content {
    /// Content in a file beside its place.
    Beside(NamedTempFile),
    /// Content in memory: a device, a pipe or a file that is open already is written to, nothing
    /// beside it could take its place. A pipe is not opened yet, as that waits for who reads it.
    Held { to: Option<File>, bytes: Zeroizing<Vec<u8>> },
}

/// The target of a name.
enum Target {
    Open(Open),
    Place(PathBuf, Option<Metadata>),
}

/// Properties of a file that show that it has changed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stamp {
    len: u64,
    modified: Option<SystemTime>,
    #[cfg(unix)]
    inode: u64,
}

/// Files that are being written beside their places. A thread that holds the lock knows that
/// no file is being put in its place.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

impl Draft {
    pub(crate) fn begin(access: Access, path: &Path, len: u64) -> Result<Self, Failure> {
        let failed = |e: io::Error| Failure::writing(path, &e);
        let held = |place: PathBuf, to: Option<File>| {
            if to.as_ref().is_some_and(File::is_terminal) {
                return Err(Failure::usage(format!("{} is a terminal", path.display())));
            }
            // Without growing, which would leave copies behind.
            let (mut bytes, len) = (Vec::new(), usize::try_from(len).unwrap_or(usize::MAX));
            let room = bytes.try_reserve_exact(len);
            room.map_err(|_| failed(ErrorKind::OutOfMemory.into()))?;
            let content = Content::Held { to, bytes: Zeroizing::new(bytes) };
            Ok(Self { path: path.to_owned(), place, content, unsynced: Unsynced::default() })
        };
        match Target::of(path).map_err(failed)? {
            Target::Open(open) => {
                let file = open.for_writing().map_err(failed)?;
                held(path.to_owned(), Some(file))
            }
            Target::Place(_, Some(found)) if found.is_dir() => {
                let why = format!("{} is a directory", path.display());
                Err(Failure::run(why).hint("-o needs a file name"))
            }
            Target::Place(place, _) if is_a_folders_name(&place) => {
                let why = format!("{} is a directory", path.display());
                Err(Failure::usage(why).hint("-o needs a file name"))
            }
            Target::Place(place, Some(found)) if !found.is_file() => {
                let device = open_device(&place, &found).map_err(failed)?;
                held(place, device)
            }
            Target::Place(place, there) => {
                let file = begin_beside(&place, access, there).map_err(failed)?;
                let (path, content) = (path.to_owned(), Content::Beside(file));
                Ok(Self { path, place, content, unsynced: Unsynced::default() })
            }
        }
    }

    pub(crate) fn sync(&self) -> Result<(), Failure> {
        match &self.content {
            Content::Beside(file) => {
                file.as_file().sync_data().map_err(|e| Failure::writing(&self.path, &e))
            }
            Content::Held { .. } => Ok(()),
        }
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match &mut self.content {
            Content::Beside(file) => {
                let written = file.write_all(bytes);
                written
                    .and_then(|()| self.unsynced.add(file.as_file(), bytes.len() as u64))
                    .map_err(|e| Failure::writing(&self.path, &e))
            }
            Content::Held { bytes: held, .. } => {
                held.extend_from_slice(bytes);
                Ok(())
            }
        }
    }
}

impl Stamp {
    pub(crate) fn of(found: &Metadata) -> Self {
        Self {
            len: found.len(),
            modified: found.modified().ok(),
            #[cfg(unix)]
            inode: found.ino(),
        }
    }
}

impl Unsynced {
    /// Counts bytes that were written to the file, and syncs it if there are more than [`SYNC`].
    pub(crate) fn add(&mut self, file: &File, len: u64) -> io::Result<()> {
        self.0 += len;
        if self.0 > SYNC { self.sync(file) } else { Ok(()) }
    }

    pub(crate) fn sync(&mut self, file: &File) -> io::Result<()> {
        file.sync_data()?;
        self.0 = 0;
        Ok(())
    }
}

/// Writes a file that its owner only may read, from one piece; see [`put_in_place`].
pub(crate) fn write_secret(existing: Existing, path: &Path, content: &[u8]) -> Result<(), Failure> {
    let mut draft = Draft::begin(Access::Secret, path, content.len() as u64)?;
    draft.append(content)?;
    put_in_place(existing, vec![draft])
}

/// Writes rows in pieces to a file, which is replaced and has so many bytes at most, or to standard output.
pub(crate) fn write_rows(
    file: Option<(&Path, u64)>,
    write: impl FnOnce(&mut dyn FnMut(&[u8]) -> Result<(), Failure>) -> Result<(), Failure>,
) -> Result<(), Failure> {
    if let Some((path, len)) = file {
        let mut draft = Draft::begin(Access::Usual, path, len)?;
        write(&mut |piece| draft.append(piece))?;
        return put_in_place(Existing::Replaced, vec![draft]);
    }
    let mut out = io::stdout().lock();
    write(&mut |piece| out.write_all(piece).map_err(|e| Failure::stdout(&e)))?;
    out.flush().map_err(|e| Failure::stdout(&e))
}

/// Creates a folder for its owner only, with those above it, if it is missing.
pub(crate) fn make_folder(path: &Path) -> Result<(), Failure> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path).map_err(|e| Failure::writing(path, &e))
}

/// Puts the name of a new file on the disk, where the system can.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    File::open(folder(path))?.sync_all()?;
    let _ = path;
    Ok(())
}

/// Fails where [`Draft::begin`] would.
pub(crate) fn check_place(path: &Path) -> Result<(), Failure> {
    Draft::begin(Access::Usual, path, 0).map(drop)
}

/// Fails if the path of an option is this other file, by whatever name. Another file `-` is standard input.
pub(crate) fn check_apart(
    option: &str,
    path: &Path,
    (what, other): (&str, &Path),
) -> Result<(), Failure> {
    let stdin = (other == Path::new("-")).then_some(Path::new("standard input"));
    let is_same = match stdin {
        Some(_) => Place::of(path).is_some_and(|place| Some(place) == Place::read(other)),
        None => are_one(path, other),
    };
    if !is_same {
        return Ok(());
    }
    let (path, other) = (path.display().to_string(), stdin.unwrap_or(other).display().to_string());
    let why = match path == other {
        true => format!("{option} names {what} {other}"),
        false => format!("{option} names {what} {other} as {path}"),
    };
    Err(Failure::usage(why).hint(format!("{option} needs another file")))
}

/// Returns true if two names stand for one file, which need not exist yet.
pub(crate) fn are_one(a: &Path, b: &Path) -> bool {
    let one = |a: Option<_>, b| a.is_some() && a == b;
    a == b || Place::of(a).is_some_and(|a| Some(a) == Place::of(b)) || one(resolved(a), resolved(b))
}

/// The name behind all links, in a folder that is there.
fn resolved(path: &Path) -> Option<PathBuf> {
    match Target::of(path).ok()? {
        Target::Place(place, _) => {
            Some(fs::canonicalize(folder(&place)).ok()?.join(place.file_name()?))
        }
        Target::Open(_) => None,
    }
}

/// Makes a set of files appear. None does before all are complete on the disk beside their places,
/// and at no time is there a mixture of old and new ones.
pub(crate) fn put_in_place(existing: Existing, drafts: Vec<Draft>) -> Result<(), Failure> {
    let mut ready = Vec::new();
    for Draft { place: path, content, .. } in drafts {
        let written = match content {
            Content::Beside(file) => file.as_file().sync_all().map(|()| Some(file)),
            Content::Held { to, bytes } => to
                .map_or_else(|| File::options().write(true).open(&path), Ok)
                .and_then(|mut file| file.write_all(&bytes))
                .map(|()| None),
        };
        if let Some(file) = written.map_err(|e| Failure::writing(&path, &e))? {
            ready.push((path, file));
        }
    }
    rename_all(existing, ready)
}

/// A new file beside `path`, for the place of the one that may be `there`. It goes away if it gets no further.
fn begin_beside(path: &Path, access: Access, there: Option<Metadata>) -> io::Result<NamedTempFile> {
    let mut unfinished = unfinished();
    let permissions = (access == Access::Usual && there.is_none()).then_some(AS_USUAL);
    let file = beside::create(folder(path), &beside::beginning(path), permissions)?;
    #[cfg(unix)]
    if let (Access::Usual, Some(there)) = (access, there) {
        let gid = there.gid();
        let same_group = file.as_file().metadata()?.gid() == gid
            || fchown(file.as_file(), None, Some(gid)).is_ok();
        let mode = kept_mode(there.permissions().mode(), same_group);
        file.as_file().set_permissions(PermissionsExt::from_mode(mode))?;
    }
    unfinished.push(file.path().to_owned());
    Ok(file)
}

/// The mode from which the system takes what the user's umask says.
const AS_USUAL: u32 = 0o666;

fn folder(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// The permissions of a file in place of one with this mode.
#[cfg(unix)]
fn kept_mode(mode: u32, same_group: bool) -> u32 {
    let (owner, group, others) = (mode & 0o700, mode & 0o070, mode & 0o007);
    if same_group {
        return owner | group | others;
    }
    // The old group's members are others now, and may do no more than before; the new one's were
    // others.
    owner | others & group >> 3
}

/// A device that writing to would not block, opened: so that one that cannot be is seen at once.
fn open_device(path: &Path, found: &Metadata) -> io::Result<Option<File>> {
    #[cfg(unix)]
    {
        if found.file_type().is_socket() {
            return Err(io::Error::other("it is a socket"));
        }
        if found.file_type().is_char_device() {
            return File::options().write(true).open(path).map(Some);
        }
    }
    let _ = (path, found);
    Ok(None)
}

/// Returns true if a file could not have this name: `new/`, `new/.` or `new/..`.
fn is_a_folders_name(path: &Path) -> bool {
    let is_separator = |&byte: &u8| std::path::is_separator(char::from(byte));
    let last = path.as_os_str().as_encoded_bytes().rsplit(is_separator).next();
    matches!(last, None | Some(b"" | b"." | b".."))
}

impl Target {
    /// Finds the target of a name that may be a symbolic link, or a chain of them; the target need
    /// not exist yet.
    fn of(path: &Path) -> io::Result<Self> {
        /// The number of links that Linux follows.
        const MOST: usize = 40;
        let mut place = path.to_owned();
        for _ in 0..MOST {
            if let Some(open) = Open::named(&place) {
                return Ok(Self::Open(open));
            }
            match fs::symlink_metadata(&place) {
                Ok(found) if found.is_symlink() => {
                    place = folder(&place).join(fs::read_link(&place)?);
                }
                Ok(found) => return Ok(Self::Place(place, Some(found))),
                Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Self::Place(place, None)),
                Err(e) => return Err(e),
            }
        }
        Err(io::Error::other("too many levels of symbolic links"))
    }
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
