//! The file of limits per day: a title, the day, and a line for each peer with its name in percent-encoding, its runs and its
//! keys.

use std::{
    collections::BTreeMap,
    error, fmt,
    fs::{self, File},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
};

use super::{MOST_PEERS, Used};
use crate::{
    day::Day,
    hello::{decimal, hexadecimal},
    percent,
};

/// The first line of the file.
pub(super) const TITLE: &str = "foxtrot daily limits 2";

/// The first line of a file in which names stand as they are.
pub(super) const OLD_TITLE: &str = "foxtrot daily limits 1";

/// The end of the name of a file that is being written, behind 16 hexadecimal digits.
const NEW: &str = ".new";

/// Bytes of the largest file.
const MOST_BYTES: u64 = 16 << 20;

/// The parts of a peer's line, for people who repair one.
const LINE: &str = "a line has a peer's name, its runs and its keys, as in `token%20acme 1 350`";

/// Why a file with limits per day cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unusable {
    /// The file, and what is wrong with it.
    pub why: String,
    /// The remedy.
    pub hint: &'static str,
}

/// The file, and the lock that keeps another process out.
#[derive(Debug)]
pub(super) struct Place {
    path: PathBuf,
    _lock: File,
}

impl Place {
    /// Reads the file, and writes it again: a place that cannot be written is found out before anybody comes.
    pub(super) fn open(named: &Path) -> Result<(Self, Used), Unusable> {
        let refused = |why: &dyn fmt::Display, hint| Unusable {
            why: format!("{}: {why}", named.display()),
            hint,
        };
        let failed = |e: io::Error| {
            refused(&e, "name a file that this user can write, in a directory that exists")
        };
        // A link has another name for a lock, and would be replaced by a file.
        let path = resolved(named).map_err(failed)?;
        let lock = with_ending(&path, ".lock");
        let lock = for_owner().write(true).create(true).truncate(false).open(lock);
        let lock = lock.map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => {
                let hint = "end the other process; two servers need a file each";
                return Err(refused(&"another process uses this file", hint));
            }
            Err(fs::TryLockError::Error(e)) => {
                return Err(refused(&format!("cannot lock: {e}"), "use a file on a local disk"));
            }
        }
        let used = match fs::metadata(&path) {
            Err(e) if e.kind() == ErrorKind::NotFound => Used::default(),
            Err(e) => return Err(failed(e)),
            Ok(found) if found.len() > MOST_BYTES || !found.is_file() => {
                let hint = "name a new file, or one that was made for limits per day";
                return Err(refused(&"not a file with limits per day", hint));
            }
            // It is replaced as a whole, and the other name would keep the old counts.
            Ok(found) if has_other_names(&found) => {
                let hint = "remove the other name of the file, and keep this one";
                return Err(refused(&"the file has several names (hard links)", hint));
            }
            Ok(_) => {
                let text = fs::read_to_string(&path).map_err(failed)?;
                let hint =
                    "repair this line by hand; a new file would give every peer a second day";
                let at = |(line, why)| refused(&format!("line {line} is damaged: {why}"), hint);
                Used::parse(&text).map_err(at)?
            }
        };
        let place = Self { path, _lock: lock };
        place.write(&used).map_err(failed)?;
        Ok((place, used))
    }

    /// Replaces the file at once, when all is on the disk.
    pub(super) fn write(&self, used: &Used) -> io::Result<()> {
        // A name that nothing has: a file of somebody else beside this one stays as it is.
        let mut number = [0; 8];
        getrandom::fill(&mut number).map_err(io::Error::other)?;
        let beside = with_ending(&self.path, &format!(".{}{NEW}", hexadecimal(&number)));
        let mut file = for_owner().write(true).create_new(true).open(&beside)?;
        let written = file.write_all(used.text().as_bytes()).and_then(|()| file.sync_all());
        let written = written.and_then(|()| fs::rename(&beside, &self.path));
        written.inspect_err(|_| drop(fs::remove_file(&beside)))?;
        #[cfg(unix)]
        if let Some(folder) = self.path.parent().filter(|it| !it.as_os_str().is_empty()) {
            File::open(folder)?.sync_all()?;
        }
        Ok(())
    }
}

impl Used {
    pub(super) fn text(&self) -> String {
        let mut text = format!("{TITLE}\nday {}\n", self.day.number());
        for (peer, (runs, keys)) in &self.peers {
            text += &format!("{} {runs} {keys}\n", percent::encode(peer));
        }
        text
    }

    /// Parses what [`text`](Self::text) writes, and what earlier versions wrote; otherwise tells the number of the wrong
    /// line, and what is wrong.
    pub(super) fn parse(text: &str) -> Result<Self, (usize, &'static str)> {
        let number = |text: &str| decimal(text.as_bytes());
        let mut lines = (1..).zip(text.split_inclusive('\n'));
        let mut next = || {
            lines.next().map(|(i, line)| {
                let line = line.strip_suffix('\n').ok_or((i, "the end of the line is missing"));
                line.map(|line| (i, line))
            })
        };
        let peer_of: fn(&str) -> Option<(String, &str, &str)> = match next().transpose()? {
            Some((_, TITLE)) => peer_by_code,
            Some((_, OLD_TITLE)) => peer_as_is,
            _ => return Err((1, "the first line is `foxtrot daily limits 2`")),
        };
        let no_day = (2, "the second line has the day, as in `day 20785`, counted from 1970-01-01");
        let (_, day) = next().transpose()?.ok_or(no_day)?;
        let day = day.strip_prefix("day ").and_then(number).and_then(Day::numbered);
        let mut used = Self { day: day.ok_or(no_day)?, peers: BTreeMap::new() };
        while let Some((i, line)) = next().transpose()? {
            let (peer, runs, keys) = peer_of(line).ok_or((i, LINE))?;
            let counts = number(runs).zip(number(keys)).ok_or((i, LINE))?;
            if used.peers.insert(peer, counts).is_some() {
                return Err((i, "the peer has a line before"));
            }
            if used.peers.len() > MOST_PEERS {
                return Err((i, "there are too many peers"));
            }
        }
        Ok(used)
    }
}

/// Splits a line into a name, which has one encoding only, and the two numbers.
fn peer_by_code(line: &str) -> Option<(String, &str, &str)> {
    let words: Vec<_> = line.split(' ').collect();
    let [word, runs, keys] = words[..] else { return None };
    let peer = percent::decode(word).filter(|peer| percent::encode(peer) == word)?;
    Some((peer, runs, keys))
}

/// Splits a line of the first version, in which a name may have spaces.
fn peer_as_is(line: &str) -> Option<(String, &str, &str)> {
    let (rest, keys) = line.rsplit_once(' ')?;
    let (peer, runs) = rest.rsplit_once(' ').filter(|(peer, _)| !peer.is_empty())?;
    Some((peer.to_owned(), runs, keys))
}

/// The name behind all links. The file itself may be missing.
fn resolved(path: &Path) -> io::Result<PathBuf> {
    if fs::symlink_metadata(path).is_ok() {
        return fs::canonicalize(path);
    }
    let folder = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let name = path.file_name().ok_or(ErrorKind::InvalidFilename)?;
    Ok(fs::canonicalize(folder)?.join(name))
}

fn has_other_names(found: &fs::Metadata) -> bool {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::nlink(found) > 1;
    #[cfg(not(unix))]
    {
        let _ = found;
        false
    }
}

fn with_ending(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Options of a file for its owner only, if it is new.
fn for_owner() -> fs::OpenOptions {
    let mut options = File::options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.read(true);
    options
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.path.display().fmt(f)
    }
}

impl fmt::Display for Unusable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.why, self.hint)
    }
}

impl error::Error for Unusable {}
