//! The record of attempts at shards, a folder beside the ticket: attempts go up, and a finished shard is not answered again
//! without the operator. Every attempt lets a cheating peer test as many keys as the first.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use foxtrot::{job::Role, psi::terms::Shard};
use foxtrot_net::hello::hexadecimal;

use crate::{failure::Failure, files::make_folder};

pub(super) struct Attempts {
    folder: PathBuf,
    role: Role,
    shard: u32,
    attempt: u32,
}

impl Attempts {
    /// The record of this shard, beside this ticket.
    ///
    /// # Errors
    /// This attempt or a later one has begun before, or the shard is finished and `again` is not said.
    pub(super) fn of(
        ticket: &Path,
        role: Role,
        shard: &Shard,
        again: bool,
    ) -> Result<Self, Failure> {
        // The name is that of the agreement: a file of tickets can be written anew, and be renamed.
        let folder =
            ticket.with_file_name(format!("{}.shards", hexadecimal(&shard.division[..16])));
        let attempts = Self { folder, role, shard: shard.number, attempt: shard.attempt };
        if attempts.path("done").exists() && !again {
            let why = format!("shard {} is finished", shard.number);
            let hint = "with --again this side answers once more; a cheating peer can then test as many keys again";
            return Err(Failure::usage(why).hint(hint));
        }
        match attempts.last()? {
            Some(last) if last >= shard.attempt => Err(attempts.has_begun(last)),
            _ => Ok(attempts),
        }
    }

    /// Writes down that the attempt begins, before anything is disclosed. An attempt begins once, and none after a later one: its
    /// number says how many there were.
    pub(super) fn begin(&self) -> Result<(), Failure> {
        let path = self.path(&self.attempt.to_string());
        make_folder(&self.folder)?;
        make(&path).map_err(|e| match e.kind() {
            ErrorKind::AlreadyExists => self.has_begun(self.attempt),
            _ => Failure::writing(&path, &e),
        })?;
        // Of two processes the one that looks last sees both.
        match self.last()? {
            Some(last) if last > self.attempt => Err(self.has_begun(last)),
            _ => Ok(()),
        }
    }

    /// Writes down that the shard is finished.
    pub(super) fn finish(&self) -> Result<(), Failure> {
        let path = self.path("done");
        match make(&path) {
            Err(e) if e.kind() != ErrorKind::AlreadyExists => Err(Failure::writing(&path, &e)),
            _ => Ok(()),
        }
    }

    /// The last attempt that has begun.
    fn last(&self) -> Result<Option<u32>, Failure> {
        let failed = |e: io::Error| Failure::reading(&self.folder, &e);
        let entries = match fs::read_dir(&self.folder) {
            Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
            it => it.map_err(failed)?,
        };
        let (prefix, mut last) = (self.name(""), None);
        for entry in entries {
            let name = entry.map_err(failed)?.file_name();
            let number = name.to_str().and_then(|it| it.strip_prefix(&prefix)?.parse().ok());
            last = last.max(number);
        }
        Ok(last)
    }

    fn has_begun(&self, last: u32) -> Failure {
        Failure::usage(format!("attempt {last} at shard {} has begun before", self.shard))
            .hint(format!("both sides pass --attempt {}", last + 1))
    }

    fn path(&self, what: &str) -> PathBuf {
        self.folder.join(self.name(what))
    }

    fn name(&self, what: &str) -> String {
        format!("{}-{}.{what}", self.role, self.shard)
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

    fn shard(division: u8, number: u32, attempt: u32) -> Shard {
        Shard { division: [division; 32], of: 9, number, attempt, terms: [0; 32] }
    }

    fn said(refused: Result<Attempts, Failure>) -> (u8, String) {
        match refused {
            Ok(_) => panic!("it is not refused"),
            Err(e) => (e.status(), e.message().to_owned()),
        }
    }

    #[test]
    fn an_attempt_begins_once_and_a_finished_shard_needs_the_operator() {
        let folder = tempfile::tempdir().unwrap();
        let ticket = folder.path().join("a.ticket");
        let of = |number, attempt, again| {
            Attempts::of(&ticket, Role::Sender, &shard(1, number, attempt), again)
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
        of(33, 0, false).unwrap();
        Attempts::of(&ticket, Role::Receiver, &shard(1, 3, 0), false).unwrap();
        let records = folder.path().join("01".repeat(16) + ".shards");
        assert_eq!(fs::read_dir(records).unwrap().count(), 4);
    }

    #[test]
    fn attempts_go_up_so_that_their_number_says_how_many_there_were() {
        let folder = tempfile::tempdir().unwrap();
        let ticket = folder.path().join("a.ticket");
        let of = |attempt| Attempts::of(&ticket, Role::Sender, &shard(1, 3, attempt), false);
        let (early, late) = (of(9).unwrap(), of(10).unwrap());
        late.begin().unwrap();
        assert_eq!(early.begin().unwrap_err().message(), "attempt 10 at shard 3 has begun before");
        assert_eq!(said(of(2)), (2, "attempt 10 at shard 3 has begun before".into()));
        of(11).unwrap().begin().unwrap();
    }

    #[test]
    fn a_record_is_of_an_agreement_and_not_of_the_name_of_its_file() {
        let folder = tempfile::tempdir().unwrap();
        let [one, renamed] = ["a.ticket", "b.ticket"].map(|name| folder.path().join(name));
        let of =
            |path: &Path, division| Attempts::of(path, Role::Sender, &shard(division, 0, 0), false);
        let first = of(&one, 1).unwrap();
        first.begin().unwrap();
        first.finish().unwrap();
        assert_eq!(said(of(&renamed, 1)), (2, "shard 0 is finished".into()));
        // A new agreement in the same file.
        of(&one, 2).unwrap().begin().unwrap();
    }
}
