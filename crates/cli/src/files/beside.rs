//! Files that are written beside their places: `.foxtrot-NAME.XXXXXX` for NAME. The process that writes one holds a
//! lock on it. One without a lock was left by a process that was killed, and goes away when NAME is written again.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, ErrorKind},
    path::Path,
};

use tempfile::NamedTempFile;

/// Random characters at the end of a name.
const RANDOM: usize = 6;

/// The most bytes of NAME in a name, which has at most 255.
const MOST: usize = 200;

/// The names of files for this place, without their random end.
pub(super) fn beginning(place: &Path) -> OsString {
    let name = place.file_name().unwrap_or_default();
    let mut beginning = OsString::from(".foxtrot-");
    if name.len() <= MOST {
        beginning.push(name);
    } else {
        let text = name.to_string_lossy();
        let end = (0..=MOST).rev().find(|&end| text.is_char_boundary(end));
        beginning.push(&text[..end.unwrap_or_default()]);
    }
    beginning.push(".");
    beginning
}

/// A new file in the folder, locked, for its owner only unless a mode is given. Removes those that earlier processes
/// have left for the same place.
pub(super) fn create(
    folder: &Path,
    beginning: &OsStr,
    mode: Option<u32>,
) -> io::Result<NamedTempFile> {
    /// Another process that cleans up may take a new file for one that was left, before it is locked.
    const TRIES: usize = 16;
    remove_stale(folder, beginning);
    let mut builder = tempfile::Builder::new();
    builder.prefix(beginning).rand_bytes(RANDOM);
    #[cfg(unix)]
    if let Some(mode) = mode {
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
    }
    #[cfg(not(unix))]
    let _ = mode;
    for _ in 0..TRIES {
        let file = builder.tempfile_in(folder)?;
        // Where the file system has no locks nobody takes it away.
        let locked = !matches!(file.as_file().try_lock(), Err(fs::TryLockError::WouldBlock));
        if locked && is_at(file.as_file(), file.path()) {
            return Ok(file);
        }
    }
    Err(io::Error::other("another process takes away what this one begins"))
}

/// Removes our own files of these names that no process has locked. One that cannot be removed stays.
fn remove_stale(folder: &Path, beginning: &OsStr) {
    let beginning = beginning.as_encoded_bytes();
    let is_ours = |name: &OsStr| {
        let rest = name.as_encoded_bytes().strip_prefix(beginning);
        rest.is_some_and(|rest| rest.len() == RANDOM && rest.iter().all(u8::is_ascii_alphanumeric))
    };
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| is_ours(&entry.file_name())) {
        // An error leaves the file where it is.
        let _ = remove_unlocked(&entry.path());
    }
}

fn remove_unlocked(path: &Path) -> io::Result<()> {
    let found = fs::symlink_metadata(path)?;
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::uid(&found) != rustix::process::geteuid().as_raw() {
        return Err(ErrorKind::PermissionDenied.into());
    }
    if !found.is_file() {
        return Err(ErrorKind::InvalidInput.into());
    }
    // NFS locks only what is open for writing; elsewhere reading is enough, as for a file of mode 0444.
    let file = File::options().read(true).write(true).open(path).or_else(|_| File::open(path))?;
    file.try_lock()?;
    if is_at(&file, path) { fs::remove_file(path) } else { Ok(()) }
}

/// Returns true if the file still has this name.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let id = |found: fs::Metadata| (found.dev(), found.ino());
        let (here, there) = (file.metadata().map(id), fs::symlink_metadata(path).map(id));
        matches!((here, there), (Ok(here), Ok(there)) if here == there)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        path.exists()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<OsString> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn files_left_by_a_killed_process_are_removed_and_no_others() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in [
            ".foxtrot-out.csv.aB3xYz",
            ".foxtrot-out.csv.aB3xY",
            ".foxtrot-out.csv.aB3.Yz",
            ".foxtrot-out.aB3xYz",
            ".foxtrot-other.csv.aB3xYz",
            "out.csv",
        ] {
            fs::write(at(name), "rows").unwrap();
        }
        fs::create_dir(at(".foxtrot-out.csv.folder")).unwrap();
        let before = names(folder.path());
        let live = create(folder.path(), &beginning(&at("out.csv")), None).unwrap();
        let another = create(folder.path(), &beginning(&at("out.csv")), None).unwrap();
        assert!(live.path().exists() && another.path().exists());
        drop((live, another));
        let mut expected = before;
        expected.retain(|name| name != ".foxtrot-out.csv.aB3xYz");
        assert_eq!(names(folder.path()), expected);
    }

    /// The superuser may write to it all the same; for all others it failed.
    #[cfg(unix)]
    #[test]
    fn a_leftover_that_can_only_be_read_goes() {
        let folder = tempfile::tempdir().unwrap();
        let (place, left) =
            (folder.path().join("out.csv"), folder.path().join(".foxtrot-out.csv.aB3xYz"));
        fs::write(&left, "rows").unwrap();
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o444);
        fs::set_permissions(&left, mode).unwrap();
        drop(create(folder.path(), &beginning(&place), None).unwrap());
        assert!(!left.exists());
    }

    #[test]
    fn a_file_name_of_any_length_has_a_temporary_name_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["ü".repeat(127), "x".repeat(255), "x".repeat(200), "y".into()] {
            let place = folder.path().join(name);
            let file = create(folder.path(), &beginning(&place), None).unwrap();
            file.persist(&place).unwrap();
            assert!(place.exists());
        }
        assert_eq!(names(folder.path()).len(), 4);
    }
}
