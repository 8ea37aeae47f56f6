//! The file of the audit log: only lines of ours, only for its owner, and every line on the disk.

use std::{
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom, Write},
    path::Path,
    sync::Mutex,
    time::Duration,
};

use super::lock;
use crate::{
    failure::Failure,
    files::{self, log_options},
};

/// The beginning of every line, before its version.
pub(super) const BEGINNING: &str = "{\"audit\":";

const NOT_REGULAR: &str = "is not a regular file, which --audit needs";
const OF_OTHERS: &str = "can be read or written by other users";
const NO_LOG: &str = "is not an audit log";

/// Fails unless the file can be made, or is a log that only its owner can read and write.
pub(crate) fn check(path: &Path) -> Result<(), Failure> {
    if path == Path::new("-") {
        return Err(Failure::usage("--audit needs a file; it cannot use standard output"));
    }
    let refused = |why: &str| {
        let failure = Failure::usage(format!("{} {why}", path.display()));
        match why {
            OF_OTHERS => failure.hint(format!("run `chmod 600 {}`", path.display())),
            NO_LOG => failure.hint("--audit needs a new file, or its log"),
            _ => failure,
        }
    };
    if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(refused(NOT_REGULAR));
    }
    let opened = log_options().read(true).open(path);
    let mut file = opened.map_err(|e| Failure::writing(path, &e))?;
    match fault(&mut file).map_err(|e| Failure::reading(path, &e))? {
        Some(why) => Err(refused(why)),
        None => Ok(()),
    }
}

/// Returns why the file is no log of ours, if it is none.
fn fault(file: &mut File) -> io::Result<Option<&'static str>> {
    let found = file.metadata()?;
    if !found.is_file() {
        return Ok(Some(NOT_REGULAR));
    }
    #[cfg(unix)]
    if std::os::unix::fs::MetadataExt::mode(&found) & 0o077 != 0 {
        return Ok(Some(OF_OTHERS));
    }
    // Also a log whose first line a crash has cut off is one.
    let mut bytes = Vec::new();
    file.rewind()?;
    file.take(BEGINNING.len() as u64).read_to_end(&mut bytes)?;
    Ok((!BEGINNING.as_bytes().starts_with(&bytes)).then_some(NO_LOG))
}

/// Appends lines behind those that are late, whole or not at all.
pub(super) fn append(
    path: &Path,
    late: &Mutex<String>,
    lines: &str,
    pause: fn(Duration),
) -> io::Result<()> {
    let write = |file: &mut File| {
        if let Some(why) = fault(file)? {
            return Err(io::Error::other(format!("it {why}")));
        }
        let mut late = lock(late);
        append_to(file, path, &format!("{late}{lines}"))?;
        late.clear();
        Ok(())
    };
    files::append(path, log_options().read(true), write, pause)
}

fn append_to(file: &mut File, path: &Path, lines: &str) -> io::Result<()> {
    let len = file.metadata()?.len();
    let mut whole = String::new();
    if len > 0 {
        let mut last = [0];
        file.seek(SeekFrom::End(-1))?;
        file.read_exact(&mut last)?;
        // A line that a crash has cut off stays alone.
        if last != *b"\n" {
            whole.push('\n');
        }
    }
    whole += lines;
    let written = file.write_all(whole.as_bytes()).and_then(|()| file.sync_data());
    // The name of a new file is on the disk only with its folder.
    let written = written.and_then(|()| if len == 0 { files::sync_folder(path) } else { Ok(()) });
    if written.is_err() {
        let _ = file.set_len(len);
    }
    written
}
