//! DIR and DIR.partial: triples are written where they stay readable after an interrupt, and become DIR
//! when they are complete.

use std::{
    ffi::OsString,
    fs::{self, DirBuilder, File, OpenOptions},
    io::{ErrorKind, Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use foxtrot_triples::{Shares, formats::write_records};
use zeroize::Zeroizing;

use super::record::Record;
use crate::failure::Failure;

/// Bytes that are written before they are brought to the disk: what is left to do at the end takes no longer than
/// the peer waits.
const SYNC: u64 = 64 << 20;

/// Where a run's files go.
pub(super) struct Folder {
    place: PathBuf,
    partial: PathBuf,
    found: Found,
}

/// What there was when the run began.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    /// What an interrupted run has left.
    Partial,
    /// All triples: the peer may not know that it has its own.
    All,
}

/// A party's file, batch after batch.
pub(super) struct Output {
    record: Record,
    path: PathBuf,
    file: File,
    /// Whole batches in it.
    batches: u64,
    buffer: Zeroizing<Vec<u8>>,
    unsynced: u64,
}

impl Folder {
    /// Finds out what there is; makes nothing yet.
    pub(super) fn find(place: &Path, resume: bool) -> Result<Self, Failure> {
        let place: PathBuf = place.components().collect();
        let Some(name) = place.file_name() else {
            return Err(Failure::usage(format!("{} is no new directory", place.display())));
        };
        let mut partial_name = OsString::from(name);
        partial_name.push(".partial");
        let partial = place.with_file_name(partial_name);
        let (there, begun) = (is_there(&place)?, is_there(&partial)?);
        let (at, begun_at) = (place.display(), partial.display());
        let found = match (resume, begun, there) {
            (false, false, false) => Found::Nothing,
            (false, true, _) => {
                let why = format!("{begun_at} is there, which an interrupted run has left");
                return Err(Failure::usage(why).hint("--resume continues it; or remove it"));
            }
            (true, true, false) => Found::Partial,
            (true, false, true) => Found::All,
            (true, false, false) => {
                let why = format!("there is no {begun_at} to continue");
                return Err(Failure::usage(why).hint("without --resume a new run begins"));
            }
            (_, _, true) => {
                let why = format!("{at} is there already");
                return Err(Failure::usage(why).hint("-o takes the name of a new directory"));
            }
        };
        Ok(Self { place, partial, found })
    }

    /// What the party has of an earlier run: its record and its whole batches.
    pub(super) fn earlier(&self, party: u8) -> Result<Option<(Record, u64)>, Failure> {
        let folder = match self.found {
            Found::Nothing => return Ok(None),
            Found::Partial => &self.partial,
            Found::All => &self.place,
        };
        let record = Record::read(folder, party)?;
        let path = record.path(folder);
        let mut file = File::open(&path).map_err(|e| Failure::reading(&path, &e))?;
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
            let why = format!("{place} is complete, and the peer has {batches} batches of {all}");
            return Err(Failure::run(why).hint("begin a new run, on both sides"));
        }
        let path = record.path(&self.partial);
        let failed = |e| Failure::writing(&path, &e);
        make_folder(path.parent().unwrap_or(&self.partial)).map_err(failed)?;
        let mut options = OpenOptions::new();
        options.read(true).write(true);
        match self.found {
            Found::Nothing => options.create_new(true),
            _ => &mut options,
        };
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(&path).map_err(failed)?;
        // The batches behind are the earlier session's: they go before the first of this one can be there, at the
        // peer, too.
        if batches == 0 {
            file.set_len(0).and_then(|()| file.write_all(&record.header())).map_err(failed)?;
        }
        file.set_len(record.len_of(batches)).map_err(failed)?;
        file.sync_all().map_err(failed)?;
        file.seek(SeekFrom::End(0)).map_err(failed)?;
        if self.found == Found::Nothing {
            record.write(&self.partial)?;
        }
        let buffer = Zeroizing::new(vec![0; record.batch_len()]);
        Ok(Some(Output { record, path, file, batches, buffer, unsynced: 0 }))
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
        self.unsynced += len;
        written
            .and_then(|()| if self.unsynced > SYNC { self.sync_data() } else { Ok(()) })
            .map_err(|e| self.failed(&e))
    }

    /// All batches are there.
    pub(super) fn sync(&mut self) -> Result<(), Failure> {
        self.sync_data().map_err(|e| self.failed(&e))
    }

    fn sync_data(&mut self) -> std::io::Result<()> {
        self.unsynced = 0;
        self.file.sync_data()
    }

    fn failed(&self, error: &std::io::Error) -> Failure {
        Failure::writing(&self.path, error)
            .hint("what is there stays: --resume, on both sides, continues it")
    }
}

/// Whether there is something by that name; an empty folder is nothing.
fn is_there(path: &Path) -> Result<bool, Failure> {
    match fs::read_dir(path) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(e) if e.kind() == ErrorKind::NotFound => Ok(false),
        Err(e) if e.kind() == ErrorKind::NotADirectory => Ok(true),
        Err(e) => Err(Failure::reading(path, &e)),
    }
}

/// A folder for its owner only, with those above it.
fn make_folder(path: &Path) -> std::io::Result<()> {
    let mut builder = DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
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
    let len = file.metadata()?.len();
    let (mut whole, mut more) = (0, record.batches() + 1);
    // The greatest number of batches that fits.
    while whole + 1 < more {
        let middle = whole + (more - whole) / 2;
        if record.len_of(middle) <= len { whole = middle } else { more = middle }
    }
    Ok(whole)
}
