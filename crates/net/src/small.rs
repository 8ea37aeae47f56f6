//! Small files that are read whole: keys, policies, tickets, tokens. The bound keeps a wrong name, such as that of a device or
//! of a database, from filling memory.

use std::{
    fs::{self, File, FileType},
    io::{self, ErrorKind, Read},
    mem,
    path::Path,
};

use zeroize::Zeroizing;

/// Bytes of the largest small file.
pub const MOST: usize = 1 << 20;

/// Reads a file or a pipe of [`MOST`] bytes at most. The bytes are erased when dropped, and leave no copies behind.
///
/// # Errors
/// If it is a device, has more bytes, or cannot be read.
pub fn read(path: &Path) -> io::Result<Zeroizing<Vec<u8>>> {
    read_at_most(path, MOST)
}

/// [`read`] for text in UTF-8.
///
/// # Errors
/// As of [`read`], and if the bytes are no such text.
pub fn read_text(path: &Path) -> io::Result<Zeroizing<String>> {
    text_at_most(path, MOST)
}

/// [`read_text`] with another bound.
///
/// # Errors
/// As of [`read_text`].
pub fn text_at_most(path: &Path, most: usize) -> io::Result<Zeroizing<String>> {
    let text = String::from_utf8(mem::take(&mut *read_at_most(path, most)?));
    let text = text.map(Zeroizing::new).map_err(|e| Zeroizing::new(e.into_bytes()));
    text.map_err(|_| io::Error::new(ErrorKind::InvalidData, "it is not UTF-8 text"))
}

fn read_at_most(path: &Path, most: usize) -> io::Result<Zeroizing<Vec<u8>>> {
    let found = fs::metadata(path)?;
    if is_device(found.file_type()) {
        return Err(io::Error::other("it is a device"));
    }
    // A pipe has no length, nor do some files of the system. A list that grows would leave copies behind.
    let len = usize::try_from(found.len()).unwrap_or(usize::MAX);
    let room = if found.is_file() && len > 0 { len.min(most) } else { most } + 1;
    let mut bytes = Zeroizing::new(Vec::with_capacity(room));
    File::open(path)?.take(most as u64 + 1).read_to_end(&mut bytes)?;
    match bytes.len() > most {
        true => Err(io::Error::other(format!("it has more than {most} bytes"))),
        false => Ok(bytes),
    }
}

/// Returns true for a device, which may have no end, and do something when it is opened.
#[must_use]
pub fn is_device(kind: FileType) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        kind.is_char_device() || kind.is_block_device()
    }
    #[cfg(not(unix))]
    {
        let _ = kind;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_the_largest_size_is_read_and_a_larger_one_refused() {
        let path = std::env::temp_dir().join(format!("foxtrot-{}-small", std::process::id()));
        fs::write(&path, vec![b'x'; MOST]).unwrap();
        assert_eq!(read_text(&path).unwrap().len(), MOST);
        fs::write(&path, vec![b'x'; MOST + 1]).unwrap();
        assert_eq!(read(&path).unwrap_err().to_string(), "it has more than 1048576 bytes");
        fs::write(&path, b"\xff").unwrap();
        assert_eq!(read_text(&path).unwrap_err().to_string(), "it is not UTF-8 text");
        fs::write(&path, b"").unwrap();
        assert_eq!(read(&path).unwrap().len(), 0);
        fs::remove_file(&path).unwrap();
        assert_eq!(read(&path).unwrap_err().kind(), ErrorKind::NotFound);
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_refused() {
        assert_eq!(read(Path::new("/dev/zero")).unwrap_err().to_string(), "it is a device");
    }
}
