//! Limits per peer and day: how many runs, and with how many keys in all. They survive a restart, in a file.
//!
//! A run counts when it is admitted, whatever comes of it: nobody can tell what a peer has learnt from a run that failed. A
//! day is one of UTC. A clock that goes back does not give a peer a second day: the counts of the later day go on applying.

mod file;

#[cfg(test)]
mod tests;

use std::{collections::BTreeMap, fmt, path::Path, sync::Mutex, time::SystemTime};

use crate::{day::Day, deadline::lock, gate::Full};
use file::Place;
pub use file::Unusable;

/// Peers that are told apart in a day. Peers without keys could be any number.
const MOST_PEERS: usize = 1 << 16;

/// The most that one peer may use in a day; `None` is without limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MostPerDay {
    /// Runs.
    pub runs: Option<u64>,
    /// Keys that the peer can test, over all its runs.
    pub keys: Option<u64>,
}

/// Counts runs and keys of each peer and day.
pub struct Daily {
    most: MostPerDay,
    state: Mutex<State>,
    file: Option<Place>,
    on_turn: Option<Box<dyn Fn(Turn) + Send + Sync>>,
}

#[derive(Default)]
struct State {
    used: Used,
    /// The day that the clock has shown last.
    clock: Option<Day>,
}

/// Counts of a day.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Used {
    day: Day,
    /// Runs and keys.
    peers: BTreeMap<String, (u64, u64)>,
}

/// A clock that shows another day than that of the counts. It displays as a sentence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The day of the counts.
    pub counts: Day,
    /// The day of the clock. If it is the later one, new counts begin; otherwise those of the later day go on applying.
    pub clock: Day,
}

/// Why a run is not counted, and so not admitted.
#[derive(Debug)]
pub enum Denied {
    /// The peer has used what it may.
    Full(Full),
    /// The count could not be written down.
    File(String),
}

impl MostPerDay {
    /// The smaller of each limit.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let smaller = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        Self { runs: smaller(self.runs, other.runs), keys: smaller(self.keys, other.keys) }
    }
}

impl Daily {
    /// Counts in memory only.
    #[must_use]
    pub fn in_memory(most: MostPerDay) -> Self {
        Self { most, state: Mutex::default(), file: None, on_turn: None }
    }

    /// Counts in a file, which is made if it is missing, for its owner only. Another process cannot use the file meanwhile,
    /// also by another name.
    ///
    /// # Errors
    /// [`Unusable`] if the file cannot be read or written, has other content or several hard links, or another process uses it.
    pub fn open(most: MostPerDay, path: &Path) -> Result<Self, Unusable> {
        let (place, used) = Place::open(path)?;
        let state = Mutex::new(State { used, clock: None });
        Ok(Self { file: Some(place), state, ..Self::in_memory(most) })
    }

    /// Has `tell` called when the clock shows another day than that of the counts: now, and then at the first run after each
    /// such change. A clock that jumps is noticed so, in either direction.
    #[must_use]
    pub fn on_turn(self, now: SystemTime, tell: impl Fn(Turn) + Send + Sync + 'static) -> Self {
        let daily = Self { on_turn: Some(Box::new(tell)), ..self };
        let turn = lock(&daily.state).look(Day::of(now));
        daily.tell(turn);
        daily
    }

    /// Returns true if the counts survive a restart.
    #[must_use]
    pub fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// Counts a run in which a peer can test this number of keys, if the peer may still have the run now. `also` are limits beside
    /// those that hold for all.
    ///
    /// # Errors
    /// [`Denied`]; then nothing is counted.
    pub fn take(
        &self,
        peer: &str,
        keys: u64,
        also: MostPerDay,
        now: SystemTime,
    ) -> Result<(), Denied> {
        let today = Day::of(now);
        let (turn, taken) = {
            let mut state = lock(&self.state);
            let turn = state.look(today);
            let next = state.used.on(today).take(peer, keys, self.most.and(also));
            let next = next.map_err(|full| Denied::Full(state.used.explain(full, today)));
            (turn, next.and_then(|next| self.keep(&mut state, next)))
        };
        self.tell(turn);
        taken
    }

    fn keep(&self, state: &mut State, next: Used) -> Result<(), Denied> {
        if let Some(file) = &self.file {
            file.write(&next).map_err(|e| Denied::File(format!("cannot write {file}: {e}")))?;
        }
        state.used = next;
        Ok(())
    }

    fn tell(&self, turn: Option<Turn>) {
        self.on_turn.iter().for_each(|tell| turn.into_iter().for_each(tell));
    }
}

impl State {
    /// Looks at the clock. Returns a turn if the clock shows another day than before, which is not that of the counts.
    fn look(&mut self, today: Day) -> Option<Turn> {
        let counts = self.used.day;
        let is_told = self.clock.replace(today) == Some(today);
        // Nobody misses counts of days without runs.
        let has_counts = today < counts || !self.used.peers.is_empty();
        (today != counts && has_counts && !is_told).then_some(Turn { counts, clock: today })
    }
}

impl Used {
    /// The counts of that day, or of a later one that has begun.
    fn on(&self, day: Day) -> Self {
        if day > self.day { Self { day, ..Self::default() } } else { self.clone() }
    }

    fn take(mut self, peer: &str, asks: u64, most: MostPerDay) -> Result<Self, Full> {
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
        Ok(self)
    }

    /// Names the day of the counts where it is not today's: the peer waits longer than until tomorrow.
    fn explain(&self, full: Full, today: Day) -> Full {
        match self.day > today {
            true => Full::OfALaterDay { counts: self.day, clock: today },
            false => full,
        }
    }
}

impl fmt::Display for Turn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { counts, clock } = self;
        match counts > clock {
            true => write!(
                f,
                "the limits per day have counts of {counts}, and this machine's clock shows {clock} (UTC): these counts apply until \
                 the end of {counts}"
            ),
            false => write!(
                f,
                "the limits per day begin new counts for {clock} (UTC); the last were those of {counts}"
            ),
        }
    }
}

impl fmt::Debug for Daily {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { most, file, .. } = self;
        f.debug_struct("Daily").field("most", most).field("file", file).finish_non_exhaustive()
    }
}
