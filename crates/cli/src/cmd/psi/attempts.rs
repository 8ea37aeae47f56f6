//! The record of attempts at shards, a folder beside the ticket: an attempt serves once, and a finished shard is not answered
//! again without the operator. Every attempt lets a cheating peer test as many keys as the first.

use std::{
    fs::{File, OpenOptions},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use foxtrot::{job::Role, psi::shards::Shard};

use crate::{failure::Failure, files::make_folder};

pub(super) struct Attempts {
    folder: PathBuf,
    role: Role,
    shard: Shard,
}

impl Attempts {
    /// The record of this shard, beside this ticket.
    ///
    /// # Errors
    /// The attempt has begun before, or the shard is finished and `again` is not said.
    pub(super) fn of(
        ticket: &Path,
        role: Role,
        shard: Shard,
        again: bool,
    ) -> Result<Self, Failure> {
        let mut folder = ticket.as_os_str().to_owned();
        folder.push(".shards");
        let attempts = Self { folder: folder.into(), role, shard };
        if attempts.path("done").exists() && !again {
            let why = format!("shard {} is finished", shard.number);
            let hint = "with --again this side answers once more; a cheating peer can then test as many keys again";
            return Err(Failure::usage(why).hint(hint));
        }
        match attempts.this().exists() {
            true => Err(attempts.has_begun()),
            false => Ok(attempts),
        }
    }

    /// Writes down that the attempt begins, before anything is disclosed. An attempt begins once.
    pub(super) fn begin(&self) -> Result<(), Failure> {
        let path = self.this();
        make_folder(&self.folder)?;
        make(&path).map_err(|e| match e.kind() {
            ErrorKind::AlreadyExists => self.has_begun(),
            _ => Failure::writing(&path, &e),
        })
    }

    /// Writes down that the shard is finished.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        let path = self.path("done");
        match make(&path) {
            Err(e) if e.kind() != ErrorKind::AlreadyExists => Err(Failure::writing(&path, &e)),
            _ => Ok(()),
        }
    }

    fn has_begun(&self) -> Failure {
        let Shard { number, attempt } = self.shard;
        Failure::usage(format!("attempt {attempt} at shard {number} has begun before"))
            .hint(format!("both sides pass --attempt {}", attempt + 1))
    }

    fn this(&self) -> PathBuf {
        self.path(&self.shard.attempt.to_string())
    }

    fn path(&self, what: &str) -> PathBuf {
        let Self { folder, role, shard } = self;
        folder.join(format!("{role}-{}.{what}", shard.number))
    }
}

/// Makes an empty file that survives a loss of power.
fn make(path: &Path) -> io::Result<()> {
    OpenOptions::new().write(true).create_new(true).open(path)?.sync_all()?;
    #[cfg(unix)]
    if let Some(folder) = path.parent() {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn an_attempt_begins_once_and_a_finished_shard_needs_the_operator() {
        let folder = tempfile::tempdir().unwrap();
        let ticket = folder.path().join("a.ticket");
        let of = |number, attempt, again| {
            Attempts::of(&ticket, Role::Sender, Shard { number, attempt }, again)
        };
        let said = |refused: Result<Attempts, Failure>| match refused {
            Ok(_) => panic!("it is not refused"),
            Err(e) => (e.status(), e.message().to_owned()),
        };
        let (first, twin) = (of(3, 0, false).unwrap(), of(3, 0, false).unwrap());
        first.begin().unwrap();
        assert_eq!(twin.begin().unwrap_err().message(), "attempt 0 at shard 3 has begun before");
        assert_eq!(said(of(3, 0, false)), (2, "attempt 0 at shard 3 has begun before".into()));
        let second = of(3, 1, false).unwrap();
        second.begin().unwrap();
        second.finish().unwrap();
        assert_eq!(said(of(3, 2, false)), (2, "shard 3 is finished".into()));
        assert_eq!(said(of(3, 1, true)), (2, "attempt 1 at shard 3 has begun before".into()));
        of(3, 2, true).unwrap().begin().unwrap();
        // Another shard, and the other role, have records of their own.
        of(4, 0, false).unwrap();
        Attempts::of(&ticket, Role::Receiver, Shard { number: 3, attempt: 0 }, false).unwrap();
        assert_eq!(fs::read_dir(folder.path().join("a.ticket.shards")).unwrap().count(), 4);
    }
}
