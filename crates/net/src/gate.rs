//! Admission: how many sessions are answered at once, of one peer and in all, and in how much memory.
//!
//! A server admits a peer within [`exchange_by`](crate::hello::exchange_by): when it has the peer's proof that it is there, and
//! before it says anything of its own data.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use crate::{Reason, day::Day, deadline::lock, words::texts};

/// Counts sessions from their admission to their end.
#[derive(Debug)]
pub struct Gate {
    most: Most,
    inside: Mutex<Inside>,
}

/// The bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Most {
    /// Sessions at once.
    pub sessions: usize,
    /// The most sessions of one key, or without keys of one address.
    pub of_one_peer: usize,
    /// Bytes of all sessions.
    pub memory: u64,
}

#[derive(Debug, Default)]
struct Inside {
    sessions: usize,
    memory: u64,
    of_peers: HashMap<String, usize>,
}

/// Admits one session; it ends when this is dropped.
#[derive(Debug)]
pub struct Pass {
    gate: Arc<Gate>,
    peer: String,
    memory: u64,
}

/// Why a session is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Full {
    /// The most sessions that there may be are open.
    Sessions(usize),
    /// The most sessions of this peer that there may be are open.
    OfThisPeer(usize),
    /// The memory for sessions is too little, or taken.
    Memory {
        /// Bytes that the session takes.
        takes: u64,
        /// Bytes that are left now.
        left: u64,
        /// Bytes for all sessions.
        of: u64,
    },
    /// The peer has had the most runs that it may have in a day.
    RunsOfToday(u64),
    /// The peer could test more keys than it may in a day.
    KeysOfToday {
        /// Keys that it can test in this run.
        asks: u64,
        /// Keys that are left of this day.
        left: u64,
        /// Keys of a day.
        of: u64,
    },
    /// No more peers are told apart today.
    PeersOfToday(usize),
    /// The peer has used what it may of a day that is later than the clock's, and whose counts go on applying.
    OfALaterDay {
        /// The day of the counts.
        counts: Day,
        /// The day that the clock shows.
        clock: Day,
    },
}

impl Gate {
    /// A gate with these bounds, which nobody has passed.
    #[must_use]
    pub fn new(most: Most) -> Arc<Self> {
        Arc::new(Self { most, inside: Mutex::default() })
    }

    /// Admits a session of that peer, which takes at most so many bytes.
    ///
    /// # Errors
    /// [`Full`].
    pub fn admit(self: &Arc<Self>, peer: &str, takes: u64) -> Result<Pass, Full> {
        let Most { sessions, of_one_peer, memory } = self.most;
        let mut inside = lock(&self.inside);
        if inside.sessions >= sessions {
            return Err(Full::Sessions(sessions));
        }
        if inside.of_peers.get(peer).is_some_and(|&of_peer| of_peer >= of_one_peer) {
            return Err(Full::OfThisPeer(of_one_peer));
        }
        inside.take(takes, memory)?;
        inside.sessions += 1;
        *inside.of_peers.entry(peer.to_owned()).or_default() += 1;
        Ok(Pass { gate: Arc::clone(self), peer: peer.to_owned(), memory: takes })
    }
}

impl Inside {
    fn take(&mut self, takes: u64, of: u64) -> Result<(), Full> {
        let left = of.saturating_sub(self.memory);
        if takes > left {
            return Err(Full::Memory { takes, left, of });
        }
        self.memory += takes;
        Ok(())
    }
}

impl Pass {
    /// Changes how many bytes the session takes at most.
    ///
    /// # Errors
    /// [`Full::Memory`]; then it takes none.
    pub fn takes(&mut self, bytes: u64) -> Result<(), Full> {
        let mut inside = lock(&self.gate.inside);
        inside.memory -= std::mem::take(&mut self.memory);
        inside.take(bytes, self.gate.most.memory)?;
        self.memory = bytes;
        Ok(())
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut inside = lock(&self.gate.inside);
        inside.sessions -= 1;
        inside.memory -= self.memory;
        if let Some(of_peer) = inside.of_peers.get_mut(&self.peer) {
            *of_peer -= 1;
            if *of_peer == 0 {
                inside.of_peers.remove(&self.peer);
            }
        }
    }
}

impl Full {
    /// The reason that the peer is told.
    #[must_use]
    pub fn reason(&self) -> Reason {
        match self {
            Self::Memory { takes, of, .. } if takes > of => Reason::TooLarge,
            Self::RunsOfToday(_)
            | Self::KeysOfToday { .. }
            | Self::PeersOfToday(_)
            | Self::OfALaterDay { .. } => Reason::UsedUp,
            _ => Reason::Busy,
        }
    }
}

texts! { Full:
    Self::Sessions(most) => "no room for the session: {most} are open";
    Self::OfThisPeer(most) => "no room for the session: {most} of this peer are open";
    Self::Memory { takes, left, of } =>
        "the session may take {takes} bytes, and {left} of {of} are left";
    Self::RunsOfToday(most) => "this peer has had {most} runs today, and may have no more";
    Self::KeysOfToday { asks, left, of } =>
        "this peer can test {asks} keys in this run, and {left} of {of} are left for today";
    Self::PeersOfToday(most) => "{most} peers came today, and no more are counted";
    Self::OfALaterDay { counts, clock } =>
        "this peer has used up its limits of {counts}, which apply until the end of that day (UTC); \
         this machine's clock shows {clock}: check the clock";
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Most = Most { sessions: 4, of_one_peer: 2, memory: 100 };

    #[test]
    fn sessions_are_bounded_in_all_and_of_one_peer_until_they_end() {
        let gate = Gate::new(MOST);
        let a = [gate.admit("a", 1), gate.admit("a", 1)].map(Result::unwrap);
        assert_eq!(gate.admit("a", 1).err(), Some(Full::OfThisPeer(2)));
        let _b = gate.admit("b", 1).unwrap();
        let c = gate.admit("c", 1).unwrap();
        assert_eq!(gate.admit("d", 1).err(), Some(Full::Sessions(4)));
        drop(c);
        let _d = gate.admit("d", 1).unwrap();
        drop(a);
        let _a = gate.admit("a", 1).unwrap();
        assert_eq!(lock(&gate.inside).of_peers.len(), 3, "a peer that has gone is remembered");
    }

    #[test]
    fn memory_is_bounded_in_all() {
        let gate = Gate::new(MOST);
        let first = gate.admit("a", 60).unwrap();
        let full = gate.admit("b", 41).err().unwrap();
        assert_eq!(full, Full::Memory { takes: 41, left: 40, of: 100 });
        assert_eq!(full.reason(), Reason::Busy);
        let second = gate.admit("b", 40).unwrap();
        drop(first);
        let third = gate.admit("b", 60).unwrap();
        drop((second, third));
        let mut fourth = gate.admit("a", 0).unwrap();
        fourth.takes(100).unwrap();
        assert_eq!(gate.admit("b", 1).err().unwrap().reason(), Reason::Busy);
        assert_eq!(fourth.takes(101).unwrap_err().reason(), Reason::TooLarge);
        let _fifth = gate.admit("b", 100).unwrap();
        // No time would be the right one.
        assert_eq!(gate.admit("c", 101).err().unwrap().reason(), Reason::TooLarge);
    }
}
