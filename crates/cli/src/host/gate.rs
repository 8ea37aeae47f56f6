//! Admission: how many sessions are answered at once, of one peer and in all, and in how much memory.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use foxtrot_net::Reason;

use crate::report::bytes;

/// Counts sessions from their admission to their end.
pub(crate) struct Gate {
    most: Most,
    inside: Mutex<Inside>,
}

/// The bounds.
#[derive(Clone, Copy)]
pub(crate) struct Most {
    pub(crate) sessions: usize,
    /// Of one key, or without keys of one address.
    pub(crate) of_one_peer: usize,
    /// Bytes of all sessions.
    pub(crate) memory: u64,
}

#[derive(Default)]
struct Inside {
    sessions: usize,
    memory: u64,
    of_peers: HashMap<String, usize>,
}

/// Admits one session; it ends when this is dropped.
pub(crate) struct Pass {
    gate: Arc<Gate>,
    peer: String,
    memory: u64,
}

/// Why a session is not admitted.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Full {
    Sessions(usize),
    OfThisPeer(usize),
    /// The session takes so many bytes, and so many are left now, or for all sessions.
    Memory {
        takes: u64,
        left: u64,
        of: u64,
    },
}

impl Gate {
    pub(crate) fn new(most: Most) -> Arc<Self> {
        Arc::new(Self { most, inside: Mutex::default() })
    }

    /// Admits a session of that peer, which takes at most so many bytes.
    pub(crate) fn admit(self: &Arc<Self>, peer: &str, takes: u64) -> Result<Pass, Full> {
        let Most { sessions, of_one_peer, memory } = self.most;
        let mut inside = self.inside();
        if inside.sessions >= sessions {
            return Err(Full::Sessions(sessions));
        }
        if inside.of_peers.get(peer).is_some_and(|&of_peer| of_peer >= of_one_peer) {
            return Err(Full::OfThisPeer(of_one_peer));
        }
        let left = memory.saturating_sub(inside.memory);
        if takes > left {
            return Err(Full::Memory { takes, left, of: memory });
        }
        inside.sessions += 1;
        inside.memory += takes;
        *inside.of_peers.entry(peer.to_owned()).or_default() += 1;
        Ok(Pass { gate: Arc::clone(self), peer: peer.to_owned(), memory: takes })
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut inside = self.gate.inside();
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
    pub(crate) fn reason(&self) -> Reason {
        match self {
            Self::Memory { takes, of, .. } if takes > of => Reason::TooLarge,
            _ => Reason::Busy,
        }
    }
}

impl fmt::Display for Most {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { sessions, of_one_peer, memory } = *self;
        let memory = bytes(memory);
        write!(
            f,
            "at most {sessions} sessions at once, {of_one_peer} of one peer, in {memory} of memory"
        )
    }
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Sessions(most) => {
                let open = match most {
                    1 => "1 session is".to_owned(),
                    _ => format!("{most} sessions are"),
                };
                write!(f, "{open} open, and --max-sessions allows no more")
            }
            Self::OfThisPeer(most) => {
                let open = match most {
                    1 => "1 session of this peer is".to_owned(),
                    _ => format!("{most} sessions of this peer are"),
                };
                write!(f, "{open} open, and --max-sessions-per-peer allows no more")
            }
            Self::Memory { takes, left, of } => {
                let (takes, left, all) = (bytes(takes), bytes(left), bytes(of));
                write!(
                    f,
                    "the session may take {takes} of memory, and {left} of {all} are left (--max-memory)"
                )
            }
        }
    }
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
        assert_eq!(gate.inside().of_peers.len(), 3, "a peer that has gone is remembered");
    }

    #[test]
    fn memory_is_bounded_in_all() {
        let gate = Gate::new(MOST);
        let first = gate.admit("a", 60).unwrap();
        let full = gate.admit("b", 41).err().unwrap();
        assert_eq!(full, Full::Memory { takes: 41, left: 40, of: 100 });
        assert_eq!(full.reason(), Reason::Busy);
        let _second = gate.admit("b", 40).unwrap();
        drop(first);
        let _third = gate.admit("b", 60).unwrap();
        // No time would be the right one.
        assert_eq!(gate.admit("c", 101).err().unwrap().reason(), Reason::TooLarge);
    }
}
