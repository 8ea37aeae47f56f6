//! Tickets: base OTs that this side keeps for its next session with the same peer, a file for each pair and role.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read, Write},
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use foxtrot_net::{
    HelloError,
    hello::{Agreement, BASE_TICKET, Hello, Role},
    jobs::{hexadecimal, of_hexadecimal},
};
use foxtrot_ot::{
    Session, Sid,
    base::{
        BaseOt,
        resumed::{Kept, State, ticket_id},
    },
};
use zeroize::Zeroizing;

use crate::Error;

/// The first bytes of a file.
const MAGIC: &[u8; 8] = b"FOXTKT1\0";
/// Sessions that one run of base OTs serves.
const MOST_USES: u64 = 100;
/// Bytes of an id, of a fingerprint and of a hash.
const HASH: usize = 32;
/// More bytes than a ticket has.
const LONGEST: u64 = 1 << 20;
/// The value of the detail where there is no ticket.
const NONE: &str = "none";

/// A directory of tickets.
#[derive(Clone, Debug)]
pub(crate) struct Tickets(Arc<PathBuf>);

/// The two keys of a ticket, and which of them is ours.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Pair {
    role: Role,
    ours: [u8; HASH],
    peers: [u8; HASH],
}

/// A stored ticket.
struct Ticket {
    id: [u8; HASH],
    /// Sessions that the base OTs have served.
    uses: u64,
    base: String,
    state: State,
}

/// The ticket that this side offers in a negotiation.
pub(crate) struct Offer {
    tickets: Tickets,
    pair: Pair,
    ticket: Option<Ticket>,
}

/// Base OTs of a job: as they are, or kept for the next session.
pub struct Base {
    plain: &'static dyn BaseOt,
    kept: Option<Kept>,
    uses: u64,
}

impl Base {
    pub(crate) fn plain(plain: &'static dyn BaseOt) -> Self {
        Self { plain, kept: None, uses: 0 }
    }

    /// The base OT to run.
    #[must_use]
    pub fn ot(&self) -> &dyn BaseOt {
        match &self.kept {
            Some(kept) => kept,
            None => self.plain,
        }
    }

    /// Returns true if the base OTs of an earlier session are taken up: no message is sent for them.
    #[must_use]
    pub fn is_resumed(&self) -> bool {
        self.kept.as_ref().is_some_and(Kept::is_resumed)
    }
}

impl Pair {
    pub(crate) fn new(role: Role, ours: [u8; HASH], peers: [u8; HASH]) -> Self {
        Self { role, ours, peers }
    }

    /// The keys of sender and receiver.
    fn by_role(&self) -> [&[u8; HASH]; 2] {
        match self.role {
            Role::Sender => [&self.ours, &self.peers],
            Role::Receiver => [&self.peers, &self.ours],
        }
    }

    fn file_name(&self) -> String {
        let hex = |key: &[u8; HASH]| hexadecimal(&key[..16]);
        let role = if self.role == Role::Sender { "send" } else { "receive" };
        format!("{}-{}-{role}.ticket", hex(&self.ours), hex(&self.peers))
    }

    /// The id of the ticket after a session.
    fn id(&self, sid: Sid, uses: u64, base: &str, n: usize) -> [u8; HASH] {
        ticket_id(sid, uses, &self.by_role().map(|key| *key), base, n)
    }
}

impl Ticket {
    fn to_bytes(&self, pair: &Pair) -> Zeroizing<Vec<u8>> {
        let state = self.state.to_bytes();
        let mut bytes = Zeroizing::new(Vec::with_capacity(256 + state.len()));
        bytes.extend_from_slice(MAGIC);
        pair.by_role().iter().for_each(|key| bytes.extend_from_slice(*key));
        bytes.extend_from_slice(&self.id);
        for number in [self.uses, self.state.n() as u64, self.base.len() as u64] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        bytes.extend_from_slice(self.base.as_bytes());
        bytes.extend_from_slice(&state);
        let hash = checksum(&bytes);
        bytes.extend_from_slice(&hash);
        bytes
    }

    /// Returns the ticket of this pair, or why the file has none.
    fn from_bytes(pair: &Pair, bytes: &[u8]) -> Result<Self, &'static str> {
        const DAMAGED: &str = "is damaged, or no ticket";
        let (bytes, hash) = bytes.split_last_chunk::<HASH>().ok_or(DAMAGED)?;
        let mut rest = bytes.strip_prefix(MAGIC).ok_or(DAMAGED)?;
        if checksum(bytes) != *hash {
            return Err(DAMAGED);
        }
        let mut take = |n: usize| {
            let (taken, left) = rest.split_at_checked(n)?;
            rest = left;
            Some(taken)
        };
        let keys = [take(HASH).ok_or(DAMAGED)?, take(HASH).ok_or(DAMAGED)?];
        if keys != pair.by_role().map(|key| key.as_slice()) {
            return Err("is a ticket of two other keys");
        }
        let id = take(HASH).and_then(|id| id.try_into().ok()).ok_or(DAMAGED)?;
        let mut number = || Some(u64::from_le_bytes(take(8)?.try_into().ok()?));
        let [uses, n, len] = [number(), number(), number()].map(|it| it.ok_or(DAMAGED));
        let [n, len] = [n?, len?].map(|it| usize::try_from(it).unwrap_or(usize::MAX));
        let base = take(len).and_then(|it| str::from_utf8(it).ok()).ok_or(DAMAGED)?;
        let state = State::from_bytes(n, rest).map_err(|_| DAMAGED)?;
        // The sender of the job is the receiver of its base OTs.
        if state.is_receivers() != (pair.role == Role::Sender) {
            return Err(DAMAGED);
        }
        Ok(Self { id, uses: uses?, base: base.to_owned(), state })
    }
}

fn checksum(bytes: &[u8]) -> [u8; HASH] {
    let session = Session::new(Sid::from_bytes([0; HASH]));
    session.oracle("foxtrot v1 base ticket file").query(0, 0).field(bytes).finish()
}

impl Tickets {
    pub(crate) fn at(folder: &Path) -> Self {
        Self(Arc::new(folder.to_owned()))
    }

    /// Looks for the ticket of this pair, and finds out that one can be kept.
    pub(crate) fn offer(&self, pair: Pair) -> Result<Offer, Error> {
        make_folder(&self.0).map_err(|e| failed("cannot make", &self.0, &e))?;
        let ticket = self.find(&pair)?;
        Ok(Offer { tickets: self.clone(), pair, ticket })
    }

    fn find(&self, pair: &Pair) -> Result<Option<Ticket>, Error> {
        let path = self.path(pair);
        loop {
            let file = match File::open(&path) {
                Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
                Err(e) => return Err(failed("cannot read", &path, &e)),
                Ok(file) => file,
            };
            match read(pair, &file, &path) {
                // Another session has taken the ticket, and overwrites the file that is open here.
                Err(_) if !is_at(&file, &path) => {}
                it => return it.map(Some),
            }
        }
    }

    fn path(&self, pair: &Pair) -> PathBuf {
        self.0.join(pair.file_name())
    }

    /// Takes the pair's ticket out of the way, for this session or for none. Returns true if it is the one with that id.
    fn take(&self, pair: &Pair, id: Option<&[u8; HASH]>) -> Result<bool, Error> {
        let path = self.path(pair);
        let aside = self.unique();
        match fs::rename(&path, &aside) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
            Err(e) => return Err(failed("cannot remove", &path, &e)),
            Ok(()) => {}
        }
        let is_it = File::open(&aside)
            .is_ok_and(|file| read(pair, &file, &aside).is_ok_and(|ticket| Some(&ticket.id) == id));
        wipe(&aside).map_err(|e| failed("cannot remove", &path, &e))?;
        Ok(is_it)
    }

    fn save(&self, pair: &Pair, ticket: &Ticket) -> io::Result<()> {
        let aside = self.unique();
        let bytes = ticket.to_bytes(pair);
        let saved = create(&aside).and_then(|mut file| {
            file.write_all(&bytes)?;
            file.sync_all()?;
            fs::rename(&aside, self.path(pair))
        });
        saved.inspect_err(|_| drop(wipe(&aside)))?;
        // So that an old ticket does not come back with the power.
        #[cfg(unix)]
        File::open(&*self.0)?.sync_all()?;
        Ok(())
    }

    /// A name that nothing has.
    fn unique(&self) -> PathBuf {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        self.0.join(format!(".foxtrot-ticket.{}.{number}", std::process::id()))
    }
}

impl Offer {
    /// Adds what the peer needs to know: the id, which says nothing of the secrets.
    pub(crate) fn describe(&self, hello: Hello) -> Hello {
        let fresh = self.ticket.as_ref().filter(|it| it.uses < MOST_USES);
        match fresh {
            Some(ticket) => hello.detail(BASE_TICKET, hexadecimal(&ticket.id)),
            None => hello.detail(BASE_TICKET, NONE),
        }
    }

    /// Compares the peer's details; `None` if the peer keeps no base OTs.
    ///
    /// # Errors
    /// [`HelloError::Offer`] if the peer says what cannot be.
    pub(crate) fn agree(self, agreement: &Agreement) -> Result<Option<Self>, HelloError> {
        let Some(theirs) = agreement.peer_details.get(BASE_TICKET) else { return Ok(None) };
        if of_hexadecimal(theirs).is_none() && theirs != NONE {
            let value = Some(theirs.clone());
            return Err(HelloError::Offer { key: "its ticket", value });
        }
        let Self { tickets, pair, ticket } = self;
        let ticket = ticket.filter(|it| it.uses < MOST_USES && hexadecimal(&it.id) == *theirs);
        Ok(Some(Self { tickets, pair, ticket }))
    }

    /// The base OTs of the job. From here on the ticket is gone, whatever comes of the job.
    pub(crate) fn begin(&mut self, plain: &'static dyn BaseOt, n: usize) -> Result<Base, Error> {
        let suits = |it: &Ticket| it.base == plain.info().name && it.state.n() == n;
        let ticket = self.ticket.take().filter(suits);
        let is_there = self.tickets.take(&self.pair, ticket.as_ref().map(|it| &it.id))?;
        let (kept, uses) = match ticket {
            Some(_) if !is_there => {
                let why = "another session has taken the ticket; try again";
                return Err(Error::Ticket(why.into()));
            }
            Some(ticket) => (Kept::resume(plain, ticket.state), ticket.uses),
            None => (Kept::fresh(plain), 0),
        };
        Ok(Base { plain, kept: Some(kept), uses })
    }

    /// Keeps the base OTs of a job that has ended well. A ticket that cannot be written is none.
    pub(crate) fn keep(&self, base: Base, sid: Sid) {
        let (uses, name) = (base.uses + 1, base.plain.info().name);
        if let Some(state) = base.kept.and_then(Kept::into_state) {
            let id = self.pair.id(sid, uses, name, state.n());
            let ticket = Ticket { id, uses, base: name.to_owned(), state };
            let _ = self.tickets.save(&self.pair, &ticket);
        }
    }
}

foxtrot_ot::erase::redacted! {
    Base, base => "{}, {}", base.plain.info().name, if base.is_resumed() { "taken up" } else { "new" };
}

fn failed(what: &str, path: &Path, error: &io::Error) -> Error {
    Error::Ticket(format!("{what} {}: {error}", path.display()))
}

fn read(pair: &Pair, file: &File, path: &Path) -> Result<Ticket, Error> {
    let wrong = |why: &str| Error::Ticket(format!("{} {why}; delete it", path.display()));
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let found = file.metadata().map_err(|e| failed("cannot read", path, &e))?;
        if found.mode() & 0o077 != 0 {
            return Err(wrong("can be read by other users"));
        }
    }
    let len = file.metadata().map_or(0, |it| it.len().min(LONGEST));
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(len).unwrap_or(0) + 1));
    file.take(LONGEST).read_to_end(&mut bytes).map_err(|e| failed("cannot read", path, &e))?;
    Ticket::from_bytes(pair, &bytes).map_err(wrong)
}

/// Returns false if the path no longer leads to this file, which only Unix can tell.
#[cfg_attr(not(unix), expect(unused_variables, reason = "files have no numbers"))]
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let number = |it: fs::Metadata| (it.dev(), it.ino());
        file.metadata().ok().map(number) == fs::metadata(path).ok().map(number)
    }
    #[cfg(not(unix))]
    true
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn make_folder(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    #[cfg_attr(not(unix), expect(unused_mut, reason = "there are no modes"))]
    let mut builder = DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

/// Overwrites a file and removes it.
fn wipe(path: &Path) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).open(path)?;
    let len = usize::try_from(file.metadata()?.len().min(LONGEST)).unwrap_or(0);
    file.write_all(&vec![0; len])?;
    file.sync_all()?;
    fs::remove_file(path)
}

// Elsewhere the race that is tried here stays open, and ends in an error.
#[cfg(all(test, unix))]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::*;

    #[test]
    fn a_ticket_that_another_session_takes_is_gone_and_not_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let tickets = Tickets::at(folder.path());
        let pair = Pair::new(Role::Receiver, [1; HASH], [2; HASH]);
        let n = 128;
        let state = || State::from_bytes(n, &vec![0; 1 + 32 * n]).unwrap();
        let ends = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // More threads than cores, so that some stop between opening the file and reading it.
            let readers: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        while !ends.load(Ordering::Relaxed) {
                            tickets.offer(pair)?;
                        }
                        Ok::<_, Error>(())
                    })
                })
                .collect();
            for _ in 0..200 {
                let ticket = Ticket { id: [3; HASH], uses: 1, base: "name".into(), state: state() };
                tickets.save(&pair, &ticket).unwrap();
                assert!(tickets.take(&pair, Some(&[3; HASH])).unwrap());
            }
            ends.store(true, Ordering::Relaxed);
            for reader in readers {
                reader.join().unwrap().unwrap();
            }
        });
    }
}
