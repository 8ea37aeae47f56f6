//! Tickets: base OTs that this side keeps for its next session with the same peer, a file for each pair and role.

use std::{
    fs::{self, DirBuilder, File, OpenOptions},
    io::{self, Read, Seek, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use foxtrot_net::{
    HelloError, drive,
    hello::{
        Agreement, BASE_TICKET, FUNCTION, Hello, JOB, Role, SHARDS, hexadecimal, of_hexadecimal,
    },
};
use foxtrot_ot::{
    Session, Sid,
    base::{
        BaseOt,
        resumed::{Kept, MadeUnder, State},
    },
};
use zeroize::Zeroizing;

use crate::Error;

/// The first bytes of a file.
const MAGIC: &[u8; 8] = b"FOXTKT2\0";
/// The end of a file's name.
const ENDING: &str = ".ticket";
/// The beginning of the name of a file that is being written or erased.
const ASIDE: &str = ".foxtrot-ticket.";
/// Sessions that one run of base OTs serves.
const MOST_USES: u64 = 100;
/// The longest time that a session takes to write or to erase a file.
const SOON: Duration = Duration::from_secs(60);
/// The longest time that an unused ticket stays.
const LONGEST_KEPT: Duration = Duration::from_secs(90 * 86_400);
/// Bytes of an id, of a digest and of a hash.
const HASH: usize = 32;
/// More bytes than a ticket has.
const LONGEST: u64 = 1 << 20;
/// The value of the detail where there is no ticket.
const NONE: &str = "none";

/// A directory of tickets.
#[derive(Clone, Debug)]
pub(crate) struct Tickets(Arc<PathBuf>);

/// The sessions that a ticket serves: those with the same terms, keys and roles.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sessions {
    role: Role,
    terms: [u8; HASH],
}

/// A stored ticket.
struct Ticket {
    id: [u8; HASH],
    /// Sessions that the base OTs have served.
    uses: u64,
    made: MadeUnder,
    state: State,
}

/// The ticket that this side offers in a negotiation.
pub(crate) struct Offer {
    tickets: Tickets,
    sessions: Sessions,
    ticket: Option<Ticket>,
}

/// Base OTs of a job: as they are, or kept for the next session.
pub struct Base {
    plain: &'static dyn BaseOt,
    kept: Option<(Kept, MadeUnder)>,
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
            Some((kept, _)) => kept,
            None => self.plain,
        }
    }

    /// Returns true if the base OTs of an earlier session are taken up: no message is sent for them.
    #[must_use]
    pub fn is_resumed(&self) -> bool {
        self.kept.as_ref().is_some_and(|(kept, _)| kept.is_resumed())
    }
}

impl Sessions {
    /// The sessions with the terms of this hello, which names both keys. `None` for a job that keeps no base OTs.
    ///
    /// # Errors
    /// [`Error::Config`] for a session that is not secure against malicious peers, or of a shard.
    pub(crate) fn of(hello: &Hello) -> Result<Option<Self>, Error> {
        let term = |key| hello.term_of(key);
        if term(JOB) != Some("psi") || matches!(term(FUNCTION), Some("count" | "sum")) {
            return Ok(None);
        }
        // What a cheating peer learns of the base OTs of an unchecked session must not reach a checked one.
        if term("adversary") != Some("malicious") {
            return Err(Error::Config(
                "base OTs are kept only for sessions that are secure against malicious peers",
            ));
        }
        if term(SHARDS).is_some() {
            return Err(Error::Config("no base OTs are kept for shards"));
        }
        Ok(Some(Self { role: hello.role(), terms: hello.terms_digest(&[]) }))
    }

    fn file_name(&self) -> String {
        let role = if self.role == Role::Sender { "send" } else { "receive" };
        format!("{}-{role}{ENDING}", hexadecimal(&self.terms[..16]))
    }
}

impl Ticket {
    fn to_bytes(&self, role: Role) -> Zeroizing<Vec<u8>> {
        let Self { id, uses, made, state } = self;
        let state = state.to_bytes();
        let mut bytes = Zeroizing::new(Vec::with_capacity(512 + state.len()));
        bytes.extend_from_slice(MAGIC);
        bytes.push(u8::from(role == Role::Receiver));
        bytes.extend_from_slice(&made.terms);
        bytes.extend_from_slice(id);
        for number in [*uses, made.n as u64] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for name in [&made.protocol, &made.extension, &made.base] {
            bytes.extend_from_slice(&(name.len() as u64).to_le_bytes());
            bytes.extend_from_slice(name.as_bytes());
        }
        bytes.extend_from_slice(&state);
        let hash = checksum(&bytes);
        bytes.extend_from_slice(&hash);
        bytes
    }

    /// Returns the ticket for these sessions, or why the file has none.
    fn from_bytes(sessions: &Sessions, bytes: &[u8]) -> Result<Self, &'static str> {
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
        let role = take(1).ok_or(DAMAGED)?;
        let mut hash = || take(HASH).and_then(|it| it.try_into().ok()).ok_or(DAMAGED);
        let (terms, id) = (hash()?, hash()?);
        if terms != sessions.terms || role != [u8::from(sessions.role == Role::Receiver)] {
            return Err("is a ticket of other terms, keys or roles");
        }
        let number = |bytes: Option<&[u8]>| {
            bytes.and_then(|it| it.try_into().ok()).map(u64::from_le_bytes).ok_or(DAMAGED)
        };
        let (uses, n) = (number(take(8))?, number(take(8))?);
        let mut name = || {
            let len = usize::try_from(number(take(8))?).unwrap_or(usize::MAX);
            take(len).and_then(|it| str::from_utf8(it).ok()).map(str::to_owned).ok_or(DAMAGED)
        };
        let [protocol, extension, base] = [name()?, name()?, name()?];
        let n = usize::try_from(n).unwrap_or(usize::MAX);
        let state = State::from_bytes(n, rest).map_err(|_| DAMAGED)?;
        // The sender of the job is the receiver of its base OTs.
        if state.is_receivers() != (sessions.role == Role::Sender) {
            return Err(DAMAGED);
        }
        Ok(Self { id, uses, made: MadeUnder { terms, protocol, extension, base, n }, state })
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

    /// Looks for the ticket of these sessions, and finds out that one can be kept. Erases files that cannot be used, and returns
    /// their names, each with the reason.
    pub(crate) fn offer(&self, sessions: Sessions) -> Result<(Offer, Vec<String>), Error> {
        make_folder(&self.0).map_err(|e| failed("cannot make", &self.0, &e))?;
        check_folder(&self.0)?;
        let mut erased = self.sweep().map_err(|e| failed("cannot read", &self.0, &e))?;
        let ticket = self.find(&sessions, &mut erased)?;
        Ok((Offer { tickets: self.clone(), sessions, ticket }, erased))
    }

    /// Erases leftovers of processes that were killed, tickets of earlier versions, and tickets that nobody has used for long.
    fn sweep(&self) -> io::Result<Vec<String>> {
        let mut erased = Vec::new();
        for entry in fs::read_dir(&*self.0)? {
            let entry = entry?;
            let (path, name) = (entry.path(), entry.file_name());
            let Some(name) =
                name.to_str().filter(|_| entry.file_type().is_ok_and(|it| it.is_file()))
            else {
                continue;
            };
            let age = || {
                let written = entry.metadata().and_then(|it| it.modified()).ok()?;
                SystemTime::now().duration_since(written).ok()
            };
            let is_older = |than| age().is_some_and(|age| age > than);
            let why = match name.strip_suffix(ENDING).and_then(hashes_in) {
                // A session locks its file just after it has made it.
                None if name.starts_with(ASIDE) && is_older(SOON) => None,
                // Version 1 bound tickets to two keys and a role only.
                Some(2) => Some("is a ticket of an earlier version"),
                Some(1) if is_older(LONGEST_KEPT) => Some("is too old"),
                // Files of somebody else may also lie here, say tickets of shards.
                _ => continue,
            };
            // Another session has the lock of a file that it still works on.
            if let Some(mut file) = lock_of(&path)? {
                wipe(&mut file, &path)?;
                erased.extend(why.map(|why| format!("{}: it {why}", path.display())));
            }
        }
        Ok(erased)
    }

    fn find(&self, sessions: &Sessions, erased: &mut Vec<String>) -> Result<Option<Ticket>, Error> {
        let path = self.path(sessions);
        let fails = |e: io::Error| failed("cannot read", &path, &e);
        loop {
            // To open a pipe would wait for somebody who writes to it, and a link leads to a file that is not ours to erase.
            let opened = fs::symlink_metadata(&path).and_then(|found| match found.is_file() {
                true => File::open(&path),
                false => Err(io::Error::other("it is not a regular file")),
            });
            let mut file = match opened {
                Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
                it => it.map_err(fails)?,
            };
            let why = match read(sessions, &mut file).map_err(fails)? {
                Ok(ticket) => return Ok(Some(ticket)),
                Err(why) => why,
            };
            // Another session may have taken the ticket, and overwrite the file that is open here.
            if !is_at(&file, &path) {
                continue;
            }
            if let Some(mut file) = lock_of(&path).map_err(fails)? {
                wipe(&mut file, &path).map_err(|e| failed("cannot erase", &path, &e))?;
                erased.push(format!("{}: it {why}", path.display()));
                return Ok(None);
            }
        }
    }

    fn path(&self, sessions: &Sessions) -> PathBuf {
        self.0.join(sessions.file_name())
    }

    /// Takes the ticket of these sessions out of the way, for this session or for none. Returns true if it is the one with that
    /// id.
    fn take(&self, sessions: &Sessions, id: Option<&[u8; HASH]>) -> Result<bool, Error> {
        let path = self.path(sessions);
        let fails = |e: io::Error| failed("cannot erase", &path, &e);
        let Some(mut file) = lock_of(&path).map_err(fails)? else { return Ok(false) };
        let aside = self.unique()?;
        fs::rename(&path, &aside).map_err(fails)?;
        let is_it =
            read(sessions, &mut file).is_ok_and(|it| it.is_ok_and(|ticket| Some(&ticket.id) == id));
        wipe(&mut file, &aside).map_err(fails)?;
        Ok(is_it)
    }

    fn save(&self, sessions: &Sessions, ticket: &Ticket) -> Result<(), Error> {
        let (aside, path) = (self.unique()?, self.path(sessions));
        let bytes = ticket.to_bytes(sessions.role);
        let saved = create(&aside).and_then(|mut file| {
            let saved = file.write_all(&bytes).and_then(|()| file.sync_all());
            let saved = saved.and_then(|()| fs::rename(&aside, &path));
            saved.inspect_err(|_| drop(wipe(&mut file, &aside)))
        });
        saved.map_err(|e| failed("cannot write", &path, &e))?;
        // So that an old ticket does not come back with the power.
        #[cfg(unix)]
        let _ = File::open(&*self.0).and_then(|folder| folder.sync_all());
        Ok(())
    }

    /// A name that nothing has, also where processes of several machines or containers share the directory.
    fn unique(&self) -> Result<PathBuf, Error> {
        let mut number = [0; 16];
        drive::fill(&mut number)?;
        Ok(self.0.join(format!("{ASIDE}{}", hexadecimal(&number))))
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
        let Self { tickets, sessions, ticket } = self;
        let ticket = ticket.filter(|it| it.uses < MOST_USES && hexadecimal(&it.id) == *theirs);
        Ok(Some(Self { tickets, sessions, ticket }))
    }

    /// The base OTs of the job, of which this protocol and its extension take n. From here on the ticket is gone, whatever comes
    /// of the job.
    pub(crate) fn begin(
        &mut self,
        plain: &'static dyn BaseOt,
        [protocol, extension]: [&str; 2],
        n: usize,
    ) -> Result<Base, Error> {
        let base = plain.info().name.to_owned();
        let [protocol, extension] = [protocol, extension].map(str::to_owned);
        let made = MadeUnder { terms: self.sessions.terms, protocol, extension, base, n };
        let ticket = self.ticket.take().filter(|it| it.made == made);
        let is_there = self.tickets.take(&self.sessions, ticket.as_ref().map(|it| &it.id))?;
        let (kept, uses) = match ticket {
            Some(_) if !is_there => {
                let why = "another session has taken the ticket; try again";
                return Err(Error::Ticket(why.into()));
            }
            Some(ticket) => (Kept::resume(plain, ticket.state), ticket.uses),
            None => (Kept::fresh(plain), 0),
        };
        Ok(Base { plain, kept: Some((kept, made)), uses })
    }

    /// Keeps the base OTs of a job that has ended well. A ticket that cannot be written is none.
    pub(crate) fn keep(&self, base: Base, sid: Sid) {
        let uses = base.uses + 1;
        let Some((kept, made)) = base.kept else { return };
        if let Some(state) = kept.into_state() {
            let ticket = Ticket { id: made.ticket_id(sid, uses), uses, made, state };
            let _ = self.tickets.save(&self.sessions, &ticket);
        }
    }
}

foxtrot_ot::erase::redacted! {
    Base, base => "{}, {}", base.plain.info().name, if base.is_resumed() { "taken up" } else { "new" };
}

fn failed(what: &str, path: &Path, error: &io::Error) -> Error {
    Error::Ticket(format!("{what} {}: {error}", path.display()))
}

/// Reads the ticket of these sessions, or why the file has none.
fn read(sessions: &Sessions, file: &mut File) -> io::Result<Result<Ticket, &'static str>> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        if file.metadata()?.mode() & 0o077 != 0 {
            return Ok(Err("could be read by other users"));
        }
    }
    let len = file.metadata()?.len().min(LONGEST);
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(len).unwrap_or(0) + 1));
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(Ticket::from_bytes(sessions, &bytes))
}

/// Returns the number of hashes in the name of a ticket, without its ending; `None` for a file that is not ours.
fn hashes_in(stem: &str) -> Option<usize> {
    let parts: Vec<_> = stem.split('-').collect();
    let [hashes @ .., "send" | "receive"] = &parts[..] else { return None };
    let is_digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let is_hash = |part: &&str| part.len() == 32 && part.bytes().all(is_digit);
    hashes.iter().all(is_hash).then_some(hashes.len())
}

/// Opens a file for as long as no other session does. `None` if it is gone, if another session works on it, or if the path is a
/// link to it.
fn lock_of(path: &Path) -> io::Result<Option<File>> {
    match OpenOptions::new().read(true).write(true).open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
        Ok(file) => {
            let is_ours = !matches!(file.try_lock(), Err(fs::TryLockError::WouldBlock));
            Ok((is_ours && is_at(&file, path)).then_some(file))
        }
    }
}

/// Returns false if this file no longer has the path, or has it by a link only; only Unix can tell.
#[cfg_attr(not(unix), expect(unused_variables, reason = "files have no numbers"))]
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let number = |it: fs::Metadata| (it.dev(), it.ino());
        file.metadata().ok().map(number) == fs::symlink_metadata(path).ok().map(number)
    }
    #[cfg(not(unix))]
    true
}

/// Makes a file for its owner only, and locks it.
fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    // Where the file system has no locks, a sweep can erase the file too early. Then there is no ticket.
    let _ = file.try_lock();
    Ok(file)
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

/// Fails if other users could put a ticket into the directory.
#[cfg_attr(not(unix), expect(unused_variables, reason = "there are no modes"))]
fn check_folder(path: &Path) -> Result<(), Error> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let found = fs::metadata(path).map_err(|e| failed("cannot read", path, &e))?;
        if found.mode() & 0o022 != 0 {
            let path = path.display();
            let why = format!("other users can write to {path}; run `chmod 700 {path}`");
            return Err(Error::Ticket(why));
        }
    }
    Ok(())
}

/// Overwrites a file and removes it.
fn wipe(file: &mut File, path: &Path) -> io::Result<()> {
    let len = usize::try_from(file.metadata()?.len().min(LONGEST)).unwrap_or(0);
    file.rewind()?;
    file.write_all(&vec![0; len])?;
    file.sync_all()?;
    fs::remove_file(path)
}

// Elsewhere the race that is tried here stays open, and ends in an error.
#[cfg(all(test, unix))]
mod tests {
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    const SESSIONS: Sessions = Sessions { role: Role::Receiver, terms: [1; HASH] };

    fn ticket() -> Ticket {
        let (n, name) = (128, || "name".to_owned());
        let state = State::from_bytes(n, &vec![0; 1 + 32 * n]).expect("a state of 128 base OTs");
        let made = MadeUnder {
            terms: SESSIONS.terms,
            protocol: name(),
            extension: name(),
            base: name(),
            n,
        };
        Ticket { id: [3; HASH], uses: 1, made, state }
    }

    #[test]
    fn a_ticket_made_under_semi_honest_terms_is_erased_at_the_malicious_hello() {
        let folder = tempfile::tempdir().unwrap();
        let tickets = Tickets::at(folder.path());
        let hello =
            |adversary| Hello::new(Role::Receiver).term(JOB, "psi").term("adversary", adversary);
        assert!(Sessions::of(&hello("semi-honest")).is_err());
        let unchecked = hello("semi-honest").terms_digest(&[]);
        let malicious = Sessions::of(&hello("malicious")).unwrap().unwrap();
        let mut forged = ticket();
        forged.made.terms = unchecked;
        // It lies where the ticket of the malicious session would.
        tickets.save(&malicious, &forged).unwrap();
        let (offer, erased) = tickets.offer(malicious).unwrap();
        assert!(offer.ticket.is_none());
        assert_eq!(offer.describe(hello("malicious")).details()[BASE_TICKET], NONE);
        let path = tickets.path(&malicious);
        let why = "is a ticket of other terms, keys or roles";
        assert_eq!(erased, [format!("{}: it {why}", path.display())]);
        assert!(!path.exists());
    }

    #[test]
    fn leftovers_old_versions_and_old_files_are_erased_and_files_in_use_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let tickets = Tickets::at(folder.path());
        let write = |name: &str| {
            let path = folder.path().join(name);
            create(&path).unwrap().write_all(b"secret").unwrap();
            path
        };
        let left = write(".foxtrot-ticket.7.0");
        let first = write(&format!("{}-{}-send.ticket", "0".repeat(32), "1".repeat(32)));
        let named = |digit: &str| format!("{}-send.ticket", digit.repeat(32));
        let (aged, young) = (write(&named("2")), write(&named("3")));
        let others = ["a.ticket", "x-send.ticket", "2-send.ticket", "notes.txt"].map(write);
        let age = |path: &Path, age| {
            let file = File::options().write(true).open(path).unwrap();
            file.set_modified(SystemTime::now() - age - SOON).unwrap();
        };
        age(&left, SOON);
        others.iter().chain([&aged]).for_each(|it| age(it, LONGEST_KEPT));
        let used = folder.path().join(".foxtrot-ticket.8.0");
        let in_use = create(&used).unwrap();
        age(&used, SOON);
        let just_made = write(".foxtrot-ticket.9.0");
        let (_, erased) = tickets.offer(SESSIONS).unwrap();
        let there = |path: &Path| path.exists();
        assert!(!there(&left) && !there(&first) && !there(&aged));
        assert!([young, used.clone(), just_made].iter().all(|it| there(it)));
        assert!(others.iter().all(|it| fs::read(it).unwrap() == b"secret"));
        let mut said = erased;
        said.sort();
        let expected = [(first, "is a ticket of an earlier version"), (aged, "is too old")];
        let mut expected = expected.map(|(path, why)| format!("{}: it {why}", path.display()));
        expected.sort();
        assert_eq!(said, expected);
        drop(in_use);
        tickets.offer(SESSIONS).unwrap();
        assert!(!there(&used));
    }

    #[test]
    fn a_pipe_in_place_of_a_ticket_ends_the_session_at_once() {
        let folder = tempfile::tempdir().unwrap();
        let tickets = Tickets::at(folder.path());
        let path = tickets.path(&SESSIONS);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        let Err(error) = tickets.offer(SESSIONS) else { panic!("a pipe is a ticket") };
        let why = format!("cannot read {}: it is not a regular file", path.display());
        assert_eq!(error.to_string(), why);
    }

    #[test]
    fn a_link_in_place_of_a_ticket_is_not_followed_and_its_file_stays_as_it_is() {
        let [folder, other] = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let (tickets, elsewhere) = (Tickets::at(folder.path()), Tickets::at(other.path()));
        let path = tickets.path(&SESSIONS);
        let link = |to: &Path| {
            let _ = fs::remove_file(&path);
            std::os::unix::fs::symlink(to, &path).unwrap();
        };
        let notes = other.path().join("notes.txt");
        fs::write(&notes, "not a ticket").unwrap();
        elsewhere.save(&SESSIONS, &ticket()).unwrap();
        let bytes = |path: &Path| fs::read(path).unwrap();
        let theirs = elsewhere.path(&SESSIONS);
        let before = [bytes(&notes), bytes(&theirs)];
        for to in [&notes, &theirs, Path::new("/dev/zero"), Path::new("missing")] {
            link(to);
            let Err(error) = tickets.offer(SESSIONS) else {
                panic!("{} is followed", to.display())
            };
            let why = format!("cannot read {}: it is not a regular file", path.display());
            assert_eq!(error.to_string(), why);
            // Also one that was put there since.
            assert!(!tickets.take(&SESSIONS, Some(&[3; HASH])).unwrap_or(false));
            assert!(path.is_symlink());
        }
        assert_eq!([bytes(&notes), bytes(&theirs)], before);
    }

    #[test]
    fn a_ticket_that_another_session_takes_is_gone_and_not_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let tickets = Tickets::at(folder.path());
        let ends = AtomicBool::new(false);
        std::thread::scope(|scope| {
            // More threads than cores, so that some stop between opening the file and reading it.
            let readers: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        while !ends.load(Ordering::Relaxed) {
                            let (_, erased) = tickets.offer(SESSIONS)?;
                            assert!(erased.is_empty(), "{erased:?}");
                        }
                        Ok::<_, Error>(())
                    })
                })
                .collect();
            let all_taken = (0..200).all(|_| {
                tickets.save(&SESSIONS, &ticket()).is_ok()
                    && matches!(tickets.take(&SESSIONS, Some(&[3; HASH])), Ok(true))
            });
            ends.store(true, Ordering::Relaxed);
            assert!(all_taken);
            for reader in readers {
                reader.join().unwrap().unwrap();
            }
        });
    }
}
