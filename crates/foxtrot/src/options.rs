//! The options of jobs and servers that every door has: one name, one default and one range for each.
//!
//! The command, Python, C and the page spell the names their own way, and take defaults and ranges from here or have them
//! checked against these. So two doors with no option given agree.

use alloc::string::{String, ToString};
use core::ops::RangeInclusive;

/// A value of an option.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number, and the first and the last that it may be.
    Number(u64, (u64, u64)),
    /// One of several words.
    Word(&'static str, &'static [&'static str]),
    /// A choice that is not taken.
    Off,
}

/// An option of a job or a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobOption {
    /// The name, of words with `_` between them: the builder's and Python's.
    pub name: &'static str,
    /// The value that it has unless a caller says otherwise, and those that it may have.
    pub value: Value,
    /// The help: what it does, in a line.
    pub help: &'static str,
}

/// The most keys that the peer may have.
pub const MAX_PEER_KEYS: JobOption = JobOption {
    name: "max_peer_keys",
    value: Value::Number(100_000_000, (1, 1 << 30)),
    help: "Refuse a peer with more than N keys. A set much larger than expected may be a guess at our keys",
};
/// The fewest keys that the peer may have.
pub const MIN_PEER_KEYS: JobOption = JobOption {
    name: "min_peer_keys",
    value: Value::Number(0, (0, 1 << 30)),
    help: "Refuse a peer with fewer than N keys. A very small set may be a question about one person",
};
/// The assumption beside that of the base OTs.
pub const ASSUMPTION: JobOption = JobOption {
    name: "assumption",
    value: Value::Word("symmetric", &["symmetric", "lpn"]),
    help: "Assumption besides that of the base OTs (must be the same on both sides): hashes and ciphers, or \
           also LPN, a younger assumption that sends far fewer bytes for large sets",
};
/// The choice to trust the peer to follow the protocol.
pub const SEMI_HONEST: JobOption = JobOption {
    name: "semi_honest",
    value: Value::Off,
    help: "Accept protocols without protection against a cheating peer (must be the same on both sides)",
};
/// The bytes of a field.
pub const WIDTH: JobOption = JobOption {
    name: "width",
    value: Value::Number(64, (1, 4096)),
    help: "Bytes to which each field is padded (must be the same on both sides)",
};
/// The row that is taken of several with one key.
pub const DUPLICATES: JobOption = JobOption {
    name: "duplicates",
    value: Value::Word("refuse", &["refuse", "first", "last"]),
    help: "Which of the sender's rows with the same key is taken (must be the same on both sides)",
};
/// The fewest common keys that a count tells.
pub const MIN_COUNT: JobOption = JobOption {
    name: "min_count",
    value: Value::Number(0, (0, u64::MAX)),
    help: "Tell nothing if fewer keys are common (must be the same on both sides)",
};

/// The most sessions of a server at once.
pub const MAX_SESSIONS: JobOption = JobOption {
    name: "max_sessions",
    value: Value::Number(64, (1, 1 << 16)),
    help: "Concurrent sessions; another peer is told to try again later",
};
/// The most sessions of a server with one peer at once.
pub const MAX_SESSIONS_PER_PEER: JobOption = JobOption {
    name: "max_sessions_per_peer",
    value: Value::Number(8, (1, 1 << 16)),
    help: "Concurrent sessions of one peer: one key or, without keys, one IPv4 address or IPv6 /64 network",
};

/// Options of servers.
pub const SERVER_OPTIONS: [JobOption; 2] = [MAX_SESSIONS, MAX_SESSIONS_PER_PEER];

/// Options of jobs.
pub const JOB_OPTIONS: [JobOption; 7] =
    [MAX_PEER_KEYS, MIN_PEER_KEYS, ASSUMPTION, SEMI_HONEST, WIDTH, DUPLICATES, MIN_COUNT];

impl JobOption {
    /// The default of an option that is a number.
    ///
    /// # Panics
    /// If it is none.
    #[must_use]
    pub const fn number(&self) -> u64 {
        match self.value {
            Value::Number(default, _) => default,
            Value::Word(..) | Value::Off => panic!("the option is no number"),
        }
    }

    /// The default of an option that is a number of things in memory.
    ///
    /// # Panics
    /// If it is none, or there could not be as many.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "it is compared first")]
    pub const fn size(&self) -> usize {
        let number = self.number();
        assert!(number <= usize::MAX as u64, "there are fewer addresses");
        number as usize
    }

    /// The numbers that it may be.
    ///
    /// # Panics
    /// If it is none.
    #[must_use]
    pub const fn range(&self) -> RangeInclusive<u64> {
        match self.value {
            Value::Number(_, (first, last)) => first..=last,
            Value::Word(..) | Value::Off => panic!("the option is no number"),
        }
    }

    /// The default as text: `100000000`, `symmetric`, `false`.
    #[must_use]
    pub fn default_text(&self) -> String {
        match self.value {
            Value::Number(default, _) => default.to_string(),
            Value::Word(default, _) => default.into(),
            Value::Off => "false".into(),
        }
    }

    /// The name as a flag: `max-peer-keys`.
    #[must_use]
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// The name as JavaScript writes it: `maxPeerKeys`.
    #[must_use]
    pub fn camel(&self) -> String {
        camel(self.name)
    }
}

/// The name of an option as JavaScript writes it.
///
/// # Panics
/// If one of its words begins with a letter beyond ASCII.
#[must_use]
pub fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let first = words.next().unwrap_or_default().into();
    words.fold(first, |name: String, word| {
        let (head, rest) = word.split_at(1);
        name + &head.to_uppercase() + rest
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_spelled_as_each_door_spells_them() {
        assert_eq!(MAX_PEER_KEYS.flag(), "max-peer-keys");
        assert_eq!(MAX_PEER_KEYS.camel(), "maxPeerKeys");
        assert_eq!(WIDTH.camel(), "width");
        assert_eq!(SEMI_HONEST.default_text(), "false");
        for option in JOB_OPTIONS.into_iter().chain(SERVER_OPTIONS) {
            if let Value::Number(default, (first, last)) = option.value {
                assert!((first..=last).contains(&default), "{}", option.name);
            }
            if let Value::Word(default, all) = option.value {
                assert!(all.contains(&default), "{}", option.name);
            }
        }
    }
}
