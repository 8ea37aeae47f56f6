//! DIR and DIR.partial: triples are written where they stay readable after an interrupt, and become DIR
//! when they are complete.

use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions, TryLockError},
    io::{ErrorKind, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use foxtrot_triples::{Shares, formats::write_records};
use zeroize::Zeroizing;

use super::record::Record;
use crate::{
    failure::Failure,
    files::{SYNC, Unsynced, make_folder},
};

pub(super) struct Folder {
    place: PathBuf,
    partial: PathBuf,
    found: Found,
}

/// The files that existed when the run began.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    Partial,
    /// All triples: the peer may not know that it has its own.
    All,
}

/// A party's file, batch after batch.
pub(super) struct Output {
    record: Record,
    path: PathBuf,
    file: File,
    batches: u64,
    buffer: Zeroizing<Vec<u8>>,
    unsynced: Unsynced,
}

impl Folder {
    /// Finds out what there is; makes nothing yet.
    pub(super) fn find(place: &Path, resume: bool) -> Result<Self, Failure> {
        let place: PathBuf = place.components().collect();
        let Some(name) = place.file_name() else {
            return Err(Failure::usage(format!("{} cannot be a new directory", place.display())));
        };
        let mut partial_name = OsString::from(name);
        partial_name.push(".partial");
        let partial = place.with_file_name(partial_name);
        let (there, begun) = (is_there(&place)?, is_there(&partial)?);
        let (at, begun_at) = (place.display(), partial.display());
        let refused = |why: String, hint: &str| Err(Failure::usage(why).hint(hint));
        let found = match (resume, begun, there) {
            (false, false, false) => Found::Nothing,
            (_, true, _) if (0..=1).all(|party| !Record::is_there(&partial, party)) => {
                let why = format!("{begun_at} exists without triples to continue");
                return refused(why, "remove the directory and start again on both sides");
            }
            (false, true, _) => {
                let why = format!("an interrupted run left {begun_at}");
                return refused(why, "continue with --resume, or remove the directory");
            }
            (true, true, false) => Found::Partial,
            (true, false, true) => Found::All,
            (true, false, false) => {
                let why = format!("{begun_at} not found; there is no run to continue");
                return refused(why, "start a new run without --resume");
            }
            (_, _, true) => {
                let why = format!("directory {at} exists");
                return refused(why, "-o needs the name of a new directory");
            }
        };
        Ok(Self { place, partial, found })
    }

    /// Returns the record of the party's earlier run, and the number of its whole batches.
    pub(super) fn earlier(&self, party: u8) -> Result<Option<(Record, u64)>, Failure> {
        let folder = match self.found {
            Found::Nothing => return Ok(None),
            Found::Partial => &self.partial,
            Found::All => &self.place,
        };
        let record = Record::read(folder, party)?;
        let path = record.path(folder);
        let mut file = File::open(&path).map_err(|e| Failure::reading(&path, &e))?;
        lock(&file, &path)?;
        let batches = batches_in(&record, &mut file).map_err(|e| Failure::reading(&path, &e))?;
        Ok(Some((record, batches)))
    }

    /// The party's file with so many batches, to which others can be appended. `None` if none are missing.
    pub(super) fn open(&self, record: Record, batches: u64) -> Result<Option<Output>, Failure> {
        if self.found == Found::All {
            if batches == record.batches() {
                return Ok(None);
            }
            let (place, all) = (self.place.display(), record.batches());
            let why = format!("{place} is complete; the peer has {batches} of {all} batches");
            return Err(Failure::run(why).hint("start a new run on both sides"));
        }
        let path = record.path(&self.partial);
        let file = self.create(&path).inspect_err(|_| self.discard_folders(&path))?;
        let begun = self.begin(&record, batches, &file);
        if begun.is_err() && self.found == Found::Nothing {
            // There would be nothing to continue with.
            let _ = fs::remove_file(&path);
            self.discard_folders(&path);
        }
        begun?;
        let buffer = Zeroizing::new(vec![0; record.batch_len()]);
        Ok(Some(Output { record, path, file, batches, buffer, unsynced: Unsynced::default() }))
    }

    /// The party's file: one of our own, unless there is one to be continued.
    fn create(&self, path: &Path) -> Result<File, Failure> {
        let failed = |e| Failure::writing(path, &e);
        make_folder(path.parent().unwrap_or(&self.partial))?;
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        match self.found {
            Found::Nothing => options.create_new(true),
            _ => &mut options,
        };
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options.open(path).map_err(failed)?;
        lock(&file, path).inspect_err(|_| {
            if self.found == Found::Nothing {
                // It was made just now, and nobody else has it.
                let _ = fs::remove_file(path);
            }
        })?;
        Ok(file)
    }

    /// Leaves so many batches in the file, and makes its record.
    fn begin(&self, record: &Record, batches: u64, mut file: &File) -> Result<(), Failure> {
        // The batches behind are the earlier session's: they go before the first of this one can be there, also
        // at the peer.
        let mut begin = || {
            if batches == 0 {
                file.set_len(0).and_then(|()| file.write_all(&record.header()))?;
            }
            file.set_len(record.len_of(batches))?;
            file.sync_all()?;
            file.seek(SeekFrom::End(0)).map(drop)
        };
        let path = record.path(&self.partial);
        begin().map_err(|e| Failure::writing(&path, &e))?;
        if self.found == Found::Nothing { record.write(&self.partial) } else { Ok(()) }
    }

    fn discard_folders(&self, path: &Path) {
        let _ = path.parent().map(fs::remove_dir);
        let _ = fs::remove_dir(&self.partial);
    }

    /// Everything is complete: DIR.partial becomes DIR. Returns the files of the parties.
    pub(super) fn finish(self, records: &[Record]) -> Result<Vec<String>, Failure> {
        if self.found != Found::All {
            let failed = |e| Failure::writing(&self.place, &e);
            fs::rename(&self.partial, &self.place).map_err(failed)?;
            #[cfg(unix)]
            {
                let parent = self.place.parent().filter(|parent| *parent != Path::new(""));
                let parent = File::open(parent.unwrap_or(Path::new(".")));
                parent.and_then(|parent| parent.sync_all()).map_err(failed)?;
            }
        }
        let name = |record: &Record| record.path(&self.place).display().to_string();
        Ok(records.iter().map(name).collect())
    }
}

impl Output {
    /// The next batch, of which the last one may have more than there are to be.
    pub(super) fn append(&mut self, shares: &Shares) -> Result<(), Failure> {
        let len = self.record.len_of(self.batches + 1) - self.record.len_of(self.batches);
        let buffer = &mut self.buffer[..usize::try_from(len).unwrap_or(usize::MAX)];
        write_records(shares, buffer);
        let written = self.file.write_all(buffer);
        self.batches += 1;
        let written = written.and_then(|()| self.unsynced.add(&self.file, len));
        // The peer is told that all has come only when it is on the disk.
        let is_last = self.batches == self.record.batches();
        let synced = written.and_then(|()| match is_last {
            true => self.unsynced.sync(&self.file),
            false => Ok(()),
        });
        synced.map_err(|e| Failure::writing(&self.path, &e).hint(super::RESUME))
    }

    /// Removes what is behind so many batches: it is not known which of the others are right.
    pub(super) fn forget(&mut self, batches: u64) -> Result<(), Failure> {
        let forgotten = self.file.set_len(self.record.len_of(batches));
        let synced = forgotten.and_then(|()| self.unsynced.sync(&self.file));
        synced.map_err(|e| Failure::writing(&self.path, &e))
    }
}

/// Keeps other processes from a file for as long as this one has it open.
fn lock(file: &File, path: &Path) -> Result<(), Failure> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let why = format!("another process is at work on {}", path.display());
            Err(Failure::usage(why).hint("wait until it ends, or pass another -o"))
        }
        // Where the file system has no locks there are none.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(()),
    }
}

/// Returns true if the name exists; an empty folder counts as missing.
fn is_there(path: &Path) -> Result<bool, Failure> {
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
        Err(e) if e.kind() == ErrorKind::NotADirectory => Ok(true),
        Err(e) => Err(Failure::reading(path, &e)),
    }
}

/// Whole batches of a file; none if it does not begin as it should.
fn batches_in(record: &Record, file: &mut File) -> std::io::Result<u64> {
    let mut header = record.header();
    let expected = header.clone();
    match file.read_exact(&mut header) {
        Ok(()) if header == expected => {}
        Err(e) if e.kind() != ErrorKind::UnexpectedEof => return Err(e),
        _ => return Ok(0),
    }
    let whole = record.batches_of(file.metadata()?.len());
    // What was not brought to the disk before the system went down may read as zeros.
    let end = record.len_of(whole);
    let unsynced = end.saturating_sub(SYNC + record.batch_len() as u64).max(record.len_of(0));
    Ok(hole(file, unsynced, end)?.map_or(whole, |hole| record.batches_of(hole)))
}

/// Finds the first sixteen bytes that are all zero in a part of the file: shares never have so many. Then the part
/// is not what was written.
fn hole(file: &mut File, start: u64, end: u64) -> std::io::Result<Option<u64>> {
    const ZEROS: u64 = 16;
    file.seek(SeekFrom::Start(start))?;
    let mut buffer = Zeroizing::new(vec![0; 1 << 16]);
    let (mut place, mut zeros) = (start, 0);
    while place < end {
        let len = usize::try_from(end - place).unwrap_or(usize::MAX).min(buffer.len());
        let bytes = &mut buffer[..len];
        file.read_exact(bytes)?;
        for byte in bytes.iter() {
            place += 1;
            zeros = if *byte == 0 { zeros + 1 } else { 0 };
            if zeros == ZEROS {
                return Ok(Some(place - ZEROS));
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use foxtrot::triples::terms::TriplesRun;
    use foxtrot_triples::formats::Format;

    use super::{super::kind::TripleKind, *};

    const COUNT: u64 = 30_000;

    fn record(party: u8) -> Record {
        let kind = TripleKind::find("rlwe-lift-8").unwrap();
        Record {
            party,
            kind,
            count: COUNT,
            format: Format::Npy,
            run: TriplesRun { session: Some([0; 32]), name: "0".repeat(64) },
        }
    }

    /// A directory that an interrupted run has left, with all triples of party 0 but without the last batch, bytes 1 to 255.
    fn left(dir: &Path) -> (PathBuf, Vec<u8>) {
        let folder = Folder::find(&dir.join("t"), false).unwrap();
        let output = folder.open(record(0), 0).unwrap().unwrap();
        let len = usize::try_from(record(0).len_of(3)).unwrap();
        let mut bytes = record(0).header();
        bytes.extend((bytes.len()..len).map(|k| u8::try_from(k % 255 + 1).unwrap()));
        fs::write(&output.path, &bytes).unwrap();
        (output.path.clone(), bytes)
    }

    fn batches(dir: &Path) -> Result<u64, Failure> {
        let folder = Folder::find(&dir.join("t"), true)?;
        Ok(folder.earlier(0)?.unwrap().1)
    }

    #[test]
    fn a_batch_of_which_a_part_reads_as_zeros_is_made_anew() {
        let dir = tempfile::tempdir().unwrap();
        let (path, bytes) = left(dir.path());
        assert_eq!(batches(dir.path()).unwrap(), 3);
        for (batch, places) in [(0, 0..16), (0, 100..4096), (1, 24_576 - 8..24_576 + 8), (2, 0..16)]
        {
            let start = usize::try_from(record(0).len_of(batch)).unwrap();
            let mut lost = bytes.clone();
            lost[start + places.start..start + places.end].fill(0);
            fs::write(&path, &lost).unwrap();
            assert_eq!(batches(dir.path()).unwrap(), batch);
        }
        let mut short = bytes.clone();
        let last = short.len() - 15;
        short[last..].fill(0);
        fs::write(&path, &short).unwrap();
        assert_eq!(batches(dir.path()).unwrap(), 3, "shares may have some zeros");
    }

    #[test]
    fn a_second_process_is_kept_out() {
        let dir = tempfile::tempdir().unwrap();
        drop(left(dir.path()));
        let first = Folder::find(&dir.path().join("t"), true).unwrap();
        let output = first.open(record(0), 3).unwrap().unwrap();
        let said = batches(dir.path()).unwrap_err();
        assert!(said.message().starts_with("another process is at work on "), "{}", said.message());
        let second = Folder::find(&dir.path().join("t"), true).unwrap();
        assert!(second.open(record(0), 3).is_err());
        assert_eq!(fs::metadata(&output.path).unwrap().len(), record(0).len_of(3));
        drop(output);
        assert_eq!(batches(dir.path()).unwrap(), 3);
    }

    #[test]
    fn a_run_without_triples_cannot_be_resumed() {
        let dir = tempfile::tempdir().unwrap();
        drop(left(dir.path()));
        fs::remove_file(dir.path().join("t.partial/P0.json")).unwrap();
        for resume in [false, true] {
            let said = Folder::find(&dir.path().join("t"), resume).err().unwrap();
            assert!(said.message().ends_with("exists without triples to continue"));
            assert_eq!(said.hint.unwrap(), "remove the directory and start again on both sides");
        }
    }
}
