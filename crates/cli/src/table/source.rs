//! The file with a set. It is read twice, at the beginning and for the output, and has to stay the
//! same in between.

use std::{
    fs::File,
    io::{self, ErrorKind, Read, Seek},
    path::{Path, PathBuf},
};

use crate::{failure::Failure, files::Stamp};

pub(super) const CHUNK: usize = 1 << 18;

/// A file that can be read again. Another file in its place changes nothing: this one stays
/// open.
pub(super) struct Source {
    file: File,
    pub(super) path: PathBuf,
    found: Stamp,
}

impl Source {
    /// Opens a file; `-` is standard input. What is no regular file goes to a temporary one, without
    /// a name, as it cannot be read again.
    pub(super) fn open(path: &Path) -> Result<Self, Failure> {
        let failed = |e: io::Error| Failure::reading(path, &e);
        let (file, path) = if path == Path::new("-") {
            (spool(io::stdin().lock())?, PathBuf::from("standard input"))
        } else {
            let file = File::open(path).map_err(failed)?;
            let found = file.metadata().map_err(failed)?;
            if found.is_dir() {
                return Err(failed(ErrorKind::IsADirectory.into()));
            }
            (if found.is_file() { file } else { spool(file)? }, path.to_owned())
        };
        let found = Stamp::of(&file.metadata().map_err(|e| Failure::reading(&path, &e))?);
        Ok(Self { file, path, found })
    }

    pub(super) fn rewound(&self) -> Result<&File, Failure> {
        (&self.file).rewind().map_err(|e| Failure::reading(&self.path, &e))?;
        Ok(&self.file)
    }

    /// Fails if somebody has written to the file since it was opened.
    pub(super) fn check_unchanged(&self) -> Result<(), Failure> {
        let now = self.file.metadata().map_err(|e| Failure::reading(&self.path, &e))?;
        if Stamp::of(&now) == self.found { Ok(()) } else { Err(self.changed()) }
    }

    pub(super) fn changed(&self) -> Failure {
        Failure::run(format!("{} has changed since it was read", self.path.display()))
            .hint("read a copy of the file")
    }

    /// Rows of text are at most one more.
    pub(super) fn line_ends(&self) -> Result<usize, Failure> {
        let (mut file, mut chunk, mut count) = (self.rewound()?, vec![0; CHUNK], 0);
        loop {
            match file.read(&mut chunk) {
                Ok(0) => return Ok(count),
                Ok(len) => count += line_ends(&chunk[..len]),
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                Err(e) => return Err(Failure::reading(&self.path, &e)),
            }
        }
    }
}

pub(super) fn line_ends(bytes: &[u8]) -> usize {
    // In runs that a byte can count: much faster.
    let in_run = |run: &[u8]| run.iter().map(|&byte| u8::from(byte == b'\n')).sum::<u8>();
    bytes.chunks(usize::from(u8::MAX)).map(|run| usize::from(in_run(run))).sum()
}

fn spool(mut from: impl Read) -> Result<File, Failure> {
    let failed = |e: io::Error| Failure::writing(&std::env::temp_dir(), &e);
    let mut file = tempfile::tempfile().map_err(failed)?;
    io::copy(&mut from, &mut file).map_err(failed)?;
    Ok(file)
}
