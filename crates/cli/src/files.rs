//! Input files, read strictly, and output files, written whole or not at all.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, IsTerminal, Write},
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use foxtrot_ot::{Bits, convert::MAX_MESSAGE};
use tempfile::NamedTempFile;
use zeroize::Zeroizing;

use crate::failure::Failure;

/// Both messages of a transfer.
pub(crate) type MessagePair = [Zeroizing<Vec<u8>>; 2];

/// Reads 2n lines: lines 2i − 1 and 2i are the messages of transfer i.
pub(crate) fn read_messages(path: &Path, hex: bool) -> Result<Vec<MessagePair>, Failure> {
    let content = read(path)?;
    let mut messages = Vec::new();
    for (number, line) in lines(&content) {
        let message = if hex {
            decode_hex(line).map_err(|why| input(path, number, why))?
        } else if line.ends_with(b"\r") {
            return Err(input(path, number, "the message ends with a carriage return")
                .hint("--hex takes any bytes"));
        } else {
            line.to_vec()
        };
        if message.len() > MAX_MESSAGE {
            let why = format!("{} bytes, more than the {MAX_MESSAGE} of a message", message.len());
            return Err(input(path, number, &why));
        }
        messages.push(Zeroizing::new(message));
    }
    if messages.len() % 2 == 1 {
        let why = "the last message has no second one to choose from";
        return Err(input(path, messages.len(), why).hint("each transfer takes two lines"));
    }
    let mut messages = messages.into_iter();
    let mut pairs = Vec::new();
    while let (Some(first), Some(second)) = (messages.next(), messages.next()) {
        pairs.push([first, second]);
    }
    not_empty(path, &pairs)?;
    Ok(pairs)
}

/// Reads n lines of `0` or `1`.
pub(crate) fn read_choices(path: &Path) -> Result<Bits, Failure> {
    let content = read(path)?;
    let mut choices = Zeroizing::new(Vec::new());
    for (number, line) in lines(&content) {
        choices.push(match line {
            b"0" => false,
            b"1" => true,
            _ => {
                return Err(input(path, number, "a choice is 0 or 1")
                    .hint("without spaces, blank lines or a byte order mark"));
            }
        });
    }
    not_empty(path, &choices)?;
    Ok(Bits::from_bools(choices.iter().copied()))
}

/// One message per line, as it came or in hexadecimal.
pub(crate) fn write_lines(
    messages: &[Zeroizing<Vec<u8>>],
    hex: bool,
    to: &mut impl Write,
) -> io::Result<()> {
    for message in messages {
        if hex {
            to.write_all(encode_hex(message).as_bytes())?;
        } else {
            to.write_all(message)?;
        }
        to.write_all(b"\n")?;
    }
    to.flush()
}

/// What becomes of a file that is there already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Existing {
    /// It gives way.
    Replaced,
    /// Nothing is written.
    Kept,
}

/// Files that are being written beside their places. Whoever holds the lock knows that no file
/// is being put in its place.
static UNFINISHED: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// Writes a set of files, readable by their owner only. None appears before all are complete on
/// the disk beside their places, and at no time is there a mixture of old and new ones.
pub(crate) fn write_files(files: &[(PathBuf, &[u8])]) -> Result<(), Failure> {
    write_files_over(Existing::Replaced, files)
}

/// As [`write_files`], with a word about files that are there already.
pub(crate) fn write_files_over(
    existing: Existing,
    files: &[(PathBuf, &[u8])],
) -> Result<(), Failure> {
    let mut ready = Vec::new();
    for (path, content) in files {
        let failed = |e: io::Error| Failure::writing(path, &e);
        // A device or a pipe is written to; there is nothing beside it to rename.
        if fs::metadata(path).is_ok_and(|found| !found.is_file()) {
            let mut device = File::options().write(true).open(path).map_err(failed)?;
            if device.is_terminal() {
                return Err(Failure::usage(format!("{} is a terminal", path.display())));
            }
            device.write_all(content).map_err(failed)?;
            continue;
        }
        let mut file = begin_beside(path).map_err(failed)?;
        file.write_all(content).and_then(|()| file.as_file().sync_all()).map_err(failed)?;
        ready.push((path, file));
    }
    put_in_place(existing, ready)
}

/// Fails where [`write_files`] would, as far as that can be known before there is anything to
/// write.
pub(crate) fn try_places(paths: &[PathBuf]) -> Result<(), Failure> {
    for path in paths {
        let tried = match fs::metadata(path) {
            Ok(found) if found.is_dir() => Err(ErrorKind::IsADirectory.into()),
            Ok(found) if !found.is_file() => Ok(()),
            _ => begin_beside(path).map(drop),
        };
        tried.map_err(|e| Failure::writing(path, &e))?;
    }
    Ok(())
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

fn put_in_place(existing: Existing, ready: Vec<(&PathBuf, NamedTempFile)>) -> Result<(), Failure> {
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
            Existing::Replaced => file.persist(path),
            Existing::Kept => file.persist_noclobber(path),
        };
        if let Err(e) = renamed {
            // A part of the set would be taken for all of it.
            placed.iter().for_each(|path| drop(fs::remove_file(path)));
            return Err(Failure::writing(path, &e.error));
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

pub(crate) fn encode_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn decode_hex(line: &[u8]) -> Result<Vec<u8>, &'static str> {
    if !line.len().is_multiple_of(2) {
        return Err("an odd number of hexadecimal digits");
    }
    let digit = |c: u8| char::from(c).to_digit(16).and_then(|d| u8::try_from(d).ok());
    line.chunks_exact(2)
        .map(|two| Some(digit(two[0])? << 4 | digit(two[1])?))
        .collect::<Option<_>>()
        .ok_or("not hexadecimal")
}

fn read(path: &Path) -> Result<Zeroizing<Vec<u8>>, Failure> {
    fs::read(path).map(Zeroizing::new).map_err(|e| Failure::reading(path, &e))
}

/// The lines with their numbers, from 1, without LF or CRLF.
fn lines(content: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let some = !content.is_empty();
    let content = content.strip_suffix(b"\n").unwrap_or(content);
    let lines = content.split(|&byte| byte == b'\n').filter(move |_| some);
    lines.enumerate().map(|(i, line)| (i + 1, line.strip_suffix(b"\r").unwrap_or(line)))
}

fn not_empty<T>(path: &Path, entries: &[T]) -> Result<(), Failure> {
    if entries.is_empty() {
        return Err(Failure::usage(format!("{} is empty", path.display())));
    }
    Ok(())
}

fn input(path: &Path, line: usize, why: &str) -> Failure {
    Failure::usage(format!("{}, line {line}: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn collected(content: &str) -> Vec<(usize, String)> {
        lines(content.as_bytes())
            .map(|(i, l)| (i, String::from_utf8(l.to_vec()).unwrap()))
            .collect()
    }

    #[test]
    fn lines_end_with_lf_or_crlf_or_the_file() {
        for content in ["a\nb\n", "a\r\nb\r\n", "a\nb", "a\r\nb"] {
            assert_eq!(collected(content), [(1, "a".into()), (2, "b".into())]);
        }
        assert_eq!(collected(""), []);
        assert_eq!(collected("\n"), [(1, String::new())]);
        assert_eq!(collected("a\n\n"), [(1, "a".into()), (2, String::new())]);
    }

    #[test]
    fn hexadecimal_is_decoded_strictly() {
        assert_eq!(decode_hex(b"00fFa1"), Ok(vec![0, 255, 161]));
        assert_eq!(decode_hex(b""), Ok(vec![]));
        for wrong in ["0", "0g", " 0", "+1", "é"] {
            assert!(decode_hex(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn no_file_appears_when_one_of_them_cannot() {
        let folder = tempfile::tempdir().unwrap();
        let good = folder.path().join("good");
        let bad = folder.path().join("missing").join("bad");
        assert!(write_files(&[(good.clone(), b"x"), (bad, b"y")]).is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        write_files(&[(good.clone(), b"x")]).unwrap();
        assert_eq!(fs::read(good).unwrap(), b"x");
    }

    #[test]
    fn a_set_replaces_another() {
        let folder = tempfile::tempdir().unwrap();
        let set = |content: &'static [u8]| {
            ["a", "b", "c"].map(|name| (folder.path().join(name), content))
        };
        write_files(&set(b"old")).unwrap();
        write_files(&set(b"new")).unwrap();
        for (path, content) in set(b"new") {
            assert_eq!(fs::read(path).unwrap(), content);
        }
        let [first, ..] = set(b"other");
        assert!(write_files_over(Existing::Kept, std::slice::from_ref(&first)).is_err());
        assert_eq!(fs::read(first.0).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 3);
    }

    #[cfg(unix)]
    #[test]
    fn files_are_readable_by_their_owner_only() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("keys");
        write_files(&[(path.clone(), b"x")]).unwrap();
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
