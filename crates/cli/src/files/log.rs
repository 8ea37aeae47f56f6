//! Files to whose end lines are written, perhaps by several processes.

use std::{
    fs::{File, OpenOptions, TryLockError},
    io::{self, ErrorKind},
    path::Path,
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// Looks at a file that another process has locked, and the pause between two looks.
const TRIES: usize = 20;
const PAUSE: Duration = Duration::from_millis(50);

/// One thread at a time: a lock of a file also keeps out other threads of this process.
static WRITING: Mutex<()> = Mutex::new(());

/// Options of a file to whose end lines are written, for its owner only if it is new. To open a pipe waits for nobody.
pub(crate) fn log_options() -> OpenOptions {
    let mut options = File::options();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600).custom_flags(not_blocking());
    }
    options
}

/// Opens a file for reading only if it is a regular one: to open a pipe would wait for its writer.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, not_blocking());
    let file = options.open(path)?;
    let found = file.metadata()?;
    match (found.is_file(), found.is_dir()) {
        (true, _) => Ok(file),
        (_, true) => Err(ErrorKind::IsADirectory.into()),
        _ => Err(io::Error::other("it is not a regular file")),
    }
}

#[cfg(unix)]
fn not_blocking() -> i32 {
    rustix::fs::OFlags::NONBLOCK.bits().cast_signed()
}

/// Appends by `write`, which has the file alone. Waits by `pause`, a second at most, for another process that has locked it.
pub(crate) fn append(
    path: &Path,
    options: &OpenOptions,
    mut write: impl FnMut(&mut File) -> io::Result<()>,
    pause: impl Fn(Duration),
) -> io::Result<()> {
    for _ in 0..TRIES {
        {
            let _alone = WRITING.lock().unwrap_or_else(PoisonError::into_inner);
            let mut file = options.open(path)?;
            // Where the file system has no locks, one write is one line all the same.
            let is_free = !matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            if is_free && is_at(&file, path) {
                return write(&mut file);
            }
        }
        pause(PAUSE);
    }
    Err(io::Error::other("another process holds a lock on it"))
}

/// Returns false if another file has the name by now.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::{fs, os::unix::fs::MetadataExt};
        let id = |found: fs::Metadata| (found.dev(), found.ino());
        let (here, there) = (file.metadata().map(id), fs::metadata(path).map(id));
        matches!((here, there), (Ok(here), Ok(there)) if here == there)
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, fs, io::Write};

    use super::*;

    #[test]
    fn a_file_that_another_process_locks_is_waited_for_a_bounded_time() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let other = log_options().open(&path).unwrap();
        other.lock().unwrap();
        let waited = Cell::new(Duration::ZERO);
        let wait = |pause| waited.set(waited.get() + pause);
        let line = |file: &mut File| file.write_all(b"line\n");
        let refused = append(&path, &log_options(), line, wait).unwrap_err();
        assert_eq!(refused.to_string(), "another process holds a lock on it");
        assert_eq!(waited.get(), Duration::from_secs(1));
        assert_eq!(fs::read_to_string(&path).unwrap(), "");
        // One that ends meanwhile is no reason to refuse.
        let ends = |_| other.unlock().unwrap();
        append(&path, &log_options(), line, ends).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "line\n");
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_opened_at_once_or_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let line = |file: &mut File| file.write_all(b"line\n");
        assert!(append(&path, &log_options(), line, |_| ()).is_err());
        let refused = open_regular(&path).unwrap_err();
        assert_eq!(refused.to_string(), "it is not a regular file");
    }
}
