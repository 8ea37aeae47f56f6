//! Limits per peer and day: how many runs, and with how many of the peer's keys in all. They survive a restart, in a file.
//!
//! A run counts when it is admitted, whatever comes of it: nobody can tell what a peer has learnt from a run that failed. A
//! day is one of UTC. A clock that goes back does not give a peer a second day.

use std::{
    collections::BTreeMap,
    fmt,
    fs::{self, File},
    io::{self, ErrorKind, Write},
    path::{Path, PathBuf},
    sync::Mutex,
    time::SystemTime,
};

use crate::{deadline::lock, gate::Full, jobs::decimal};

/// The first line of the file.
const TITLE: &str = "foxtrot daily limits 1";

/// Peers that are told apart in a day. Peers without keys could be any number.
const MOST_PEERS: usize = 1 << 16;

/// Bytes of the largest file.
const MOST_BYTES: u64 = 16 << 20;

/// The most that one peer may use in a day; `None` is without limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MostPerDay {
    /// Runs.
    pub runs: Option<u64>,
    /// Keys of the peer, over all its runs.
    pub keys: Option<u64>,
}

/// Counts runs and keys of each peer and day.
#[derive(Debug)]
pub struct Daily {
    most: MostPerDay,
    used: Mutex<Used>,
    file: Option<Place>,
}

/// Counts of a day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Used {
    /// Days since 1970.
    day: u64,
    /// Runs and keys.
    peers: BTreeMap<String, (u64, u64)>,
}

/// The file, and the lock that keeps another process out.
#[derive(Debug)]
struct Place {
    path: PathBuf,
    _lock: File,
}

/// Why a run is not counted, and so not admitted.
#[derive(Debug)]
pub enum Denied {
    /// The peer has used what it may.
    Full(Full),
    /// The count could not be written down.
    File(String),
}

impl Daily {
    /// Counts in memory only.
    #[must_use]
    pub fn in_memory(most: MostPerDay) -> Self {
        Self { most, used: Mutex::default(), file: None }
    }

    /// Counts in a file, which is made if it is missing, for its owner only. Another process cannot use the file meanwhile.
    ///
    /// # Errors
    /// A text if the file cannot be read or written, has other content, or another process uses it.
    pub fn open(most: MostPerDay, path: &Path) -> Result<Self, String> {
        let said = |e: &dyn fmt::Display| format!("{}: {e}", path.display());
        let lock = with_ending(path, ".lock");
        let lock = for_owner().write(true).create(true).truncate(false).open(lock);
        let lock = lock.map_err(|e| said(&e))?;
        if matches!(lock.try_lock(), Err(fs::TryLockError::WouldBlock)) {
            return Err(said(&"another process uses this file"));
        }
        let used = match fs::metadata(path) {
            Err(e) if e.kind() == ErrorKind::NotFound => Used::default(),
            Err(e) => return Err(said(&e)),
            Ok(found) if found.len() > MOST_BYTES || !found.is_file() => {
                return Err(said(&"not a file with limits per day"));
            }
            Ok(_) => {
                let text = fs::read_to_string(path).map_err(|e| said(&e))?;
                Used::parse(&text).map_err(|line| {
                    said(&format!("line {line} is not as this program writes it"))
                })?
            }
        };
        let place = Place { path: path.to_owned(), _lock: lock };
        // A place that cannot be written is found out before anybody comes.
        place.write(&used).map_err(|e| said(&e))?;
        Ok(Self { most, used: Mutex::new(used), file: Some(place) })
    }

    /// Counts a run of a peer with so many keys, if the peer may still have it now.
    ///
    /// # Errors
    /// [`Denied`]; then nothing is counted.
    pub fn take(&self, peer: &str, keys: u64, now: SystemTime) -> Result<(), Denied> {
        let mut used = lock(&self.used);
        let mut next = used.on(day(now));
        next.take(peer, keys, self.most).map_err(Denied::Full)?;
        if let Some(file) = &self.file {
            file.write(&next)
                .map_err(|e| Denied::File(format!("cannot write {}: {e}", file.path.display())))?;
        }
        *used = next;
        Ok(())
    }
}

impl Used {
    /// The counts of that day, or of a later one that has begun.
    fn on(&self, day: u64) -> Self {
        if day > self.day { Self { day, ..Self::default() } } else { self.clone() }
    }

    fn take(&mut self, peer: &str, asks: u64, most: MostPerDay) -> Result<(), Full> {
        let (runs, keys) = self.peers.get(peer).copied().unwrap_or_default();
        if let Some(most) = most.runs.filter(|&most| runs >= most) {
            return Err(Full::RunsOfToday(most));
        }
        if let Some(of) = most.keys {
            let left = of.saturating_sub(keys);
            if asks > left {
                return Err(Full::KeysOfToday { asks, left, of });
            }
        }
        if self.peers.len() >= MOST_PEERS && !self.peers.contains_key(peer) {
            return Err(Full::PeersOfToday(MOST_PEERS));
        }
        self.peers.insert(peer.to_owned(), (runs + 1, keys.saturating_add(asks)));
        Ok(())
    }

    fn text(&self) -> String {
        let mut text = format!("{TITLE}\nday {}\n", self.day);
        for (peer, (runs, keys)) in &self.peers {
            text += &format!("{peer} {runs} {keys}\n");
        }
        text
    }

    /// Parses what [`text`](Self::text) writes; otherwise tells the number of the wrong line.
    fn parse(text: &str) -> Result<Self, usize> {
        let number = |text: &str| decimal(text.as_bytes());
        let mut lines = text.split_inclusive('\n').enumerate();
        let mut next = || {
            let line = lines.next();
            line.map(|(i, line)| line.strip_suffix('\n').map(|line| (i + 1, line)).ok_or(i + 1))
        };
        let (_, title) = next().ok_or(1_usize)??;
        let (_, day) = (title == TITLE).then(&mut next).flatten().ok_or(1_usize)??;
        let day = day.strip_prefix("day ").and_then(number).ok_or(2_usize)?;
        let mut used = Self { day, peers: BTreeMap::new() };
        while let Some(line) = next() {
            let (i, line) = line?;
            let words: Vec<_> = line.split(' ').collect();
            let [peer, runs, keys] = words[..] else { return Err(i) };
            let counts = number(runs).zip(number(keys)).ok_or(i)?;
            let is_new = used.peers.insert(peer.to_owned(), counts).is_none();
            if peer.is_empty() || !is_new || used.peers.len() > MOST_PEERS {
                return Err(i);
            }
        }
        Ok(used)
    }
}

impl Place {
    /// Replaces the file at once, when all is on the disk.
    fn write(&self, used: &Used) -> io::Result<()> {
        let beside = with_ending(&self.path, ".new");
        // The lock is ours: what is there was left by a process that was killed.
        match fs::remove_file(&beside) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(e),
            _ => {}
        }
        let mut file = for_owner().write(true).create_new(true).open(&beside)?;
        file.write_all(used.text().as_bytes())?;
        file.sync_all()?;
        fs::rename(&beside, &self.path)?;
        #[cfg(unix)]
        if let Some(folder) = self.path.parent().filter(|it| !it.as_os_str().is_empty()) {
            File::open(folder)?.sync_all()?;
        }
        Ok(())
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

/// Days since 1970; a clock before was never set.
fn day(now: SystemTime) -> u64 {
    now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_secs() / 86_400
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const MOST: MostPerDay = MostPerDay { runs: Some(2), keys: Some(100) };

    fn on(day: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(day * 86_400 + 86_399)
    }

    fn full(denied: Result<(), Denied>) -> Full {
        match denied {
            Err(Denied::Full(full)) => full,
            other => panic!("{other:?}"),
        }
    }

    /// A folder of a test, removed at the end.
    struct Folder(PathBuf);

    impl Folder {
        fn new(name: &str) -> Self {
            let path = std::env::temp_dir().join(format!("foxtrot-{}-{name}", std::process::id()));
            fs::create_dir_all(&path).unwrap();
            Self(path)
        }
    }

    impl Drop for Folder {
        fn drop(&mut self) {
            let _ = fs::remove_dir_all(&self.0);
        }
    }

    #[test]
    fn runs_and_keys_of_each_peer_end_with_the_day() {
        let daily = Daily::in_memory(MOST);
        daily.take("a", 60, on(7)).unwrap();
        let keys = full(daily.take("a", 41, on(7)));
        assert_eq!(keys, Full::KeysOfToday { asks: 41, left: 40, of: 100 });
        daily.take("a", 40, on(7)).unwrap();
        assert_eq!(full(daily.take("a", 0, on(7))), Full::RunsOfToday(2));
        daily.take("b", 100, on(7)).unwrap();
        daily.take("a", 100, on(8)).unwrap();
        // A clock that goes back gives nobody a second day.
        assert_eq!(full(daily.take("a", 1, on(7))).reason(), crate::Reason::UsedUp);
    }

    #[test]
    fn counts_survive_a_restart_and_one_process_has_the_file() {
        let folder = Folder::new("restart");
        let path = folder.0.join("state");
        let first = Daily::open(MOST, &path).unwrap();
        first.take("a", 99, on(7)).unwrap();
        let second = Daily::open(MOST, &path).unwrap_err();
        assert!(second.ends_with("another process uses this file"), "{second}");
        drop(first);
        let again = Daily::open(MOST, &path).unwrap();
        assert_eq!(
            full(again.take("a", 2, on(7))),
            Full::KeysOfToday { asks: 2, left: 1, of: 100 }
        );
        again.take("a", 1, on(7)).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text, format!("{TITLE}\nday 7\na 2 100\n"));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn a_count_that_cannot_be_written_admits_nobody() {
        let folder = Folder::new("unwritable");
        let daily = Daily::open(MOST, &folder.0.join("state")).unwrap();
        fs::create_dir(folder.0.join("state.new")).unwrap();
        assert!(matches!(daily.take("a", 1, on(7)), Err(Denied::File(_))));
        fs::remove_dir(folder.0.join("state.new")).unwrap();
        daily.take("a", 100, on(7)).unwrap();
    }

    #[test]
    fn a_file_with_other_content_is_refused_by_its_line() {
        let good = format!("{TITLE}\nday 7\na 1 2\nb 3 4\n");
        assert_eq!(Used::parse(&good).unwrap().text(), good);
        for (text, line) in [
            (String::new(), 1),
            ("x\nday 7\n".into(), 1),
            (format!("{TITLE}\n"), 1),
            (format!("{TITLE}\nday 07\n"), 2),
            (format!("{TITLE}\nday 7"), 2),
            (format!("{TITLE}\nday 7\na 1\n"), 3),
            (format!("{TITLE}\nday 7\na 1 2\na 1 2\n"), 4),
            (format!("{TITLE}\nday 7\na 1 2 3\n"), 3),
            (format!("{TITLE}\nday 7\na 1 2"), 3),
            (format!("{TITLE}\nday 7\n 1 2\n"), 3),
        ] {
            assert_eq!(Used::parse(&text), Err(line), "{text:?}");
        }
    }
}
