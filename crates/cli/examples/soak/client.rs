//! The client's side of a session, in this process.

use foxtrot::{Config, Peer, ot, psi};
use foxtrot_net::hello::hexadecimal;

pub(crate) type Failure = Box<dyn std::error::Error + Send + Sync>;

/// Transfers of a session.
pub(crate) const TRANSFERS: usize = 8;

/// Both messages of a transfer.
fn messages(transfer: usize) -> [String; 2] {
    [format!("left message of transfer {transfer}"), format!("right message of {transfer}")]
}

/// The server has keys from 0 on.
fn key(k: usize) -> String {
    format!("key {k}")
}

/// A job that a server offers, and its clients want.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Job {
    /// One message of each pair.
    Messages,
    /// Intersections of the server's set of so many keys with a client's set of the same size.
    Sets(usize),
}

impl Job {
    /// Returns the command that the server runs with its file.
    pub(crate) fn command(self) -> &'static [&'static str] {
        match self {
            Self::Messages => &["ot", "send", "--hex"],
            Self::Sets(_) => &["psi", "send"],
        }
    }

    /// The server's file.
    pub(crate) fn lines(self) -> String {
        let lines: Vec<_> = match self {
            Self::Messages => (0..TRANSFERS)
                .flat_map(messages)
                .map(|message| hexadecimal(message.as_bytes()))
                .collect(),
            Self::Sets(keys) => (0..keys).map(key).collect(),
        };
        lines.join("\n")
    }

    /// KiB that a server may take for each session: the 802 base OTs of a set take 3 MB, and a key some hundred bytes.
    pub(crate) fn most_of_each(self) -> u64 {
        match self {
            Self::Messages => 128,
            Self::Sets(keys) => (3 << 10) + keys as u64 / 2,
        }
    }

    /// Runs a session, and checks its result.
    pub(crate) fn session(self, address: &str, config: &Config) -> Result<(), Failure> {
        let mut peer = config.connect(address)?;
        match self {
            Self::Messages => receive(&mut peer)?,
            Self::Sets(keys) => intersect(&mut peer, keys)?,
        }
        Ok(peer.close()?)
    }
}

/// Receives the messages of random choices, and checks that they are those.
fn receive(peer: &mut Peer) -> Result<(), Failure> {
    let mut random = [0; TRANSFERS];
    getrandom::fill(&mut random)?;
    let choices = random.map(|byte| byte % 2 == 1);
    for (i, got) in ot::receive(peer, &choices)?.iter().enumerate() {
        let expected = &messages(i)[usize::from(choices[i])];
        if got != Some(expected.as_bytes()) {
            return Err(format!("a wrong message in transfer {i}").into());
        }
    }
    Ok(())
}

/// Receives what the server has in common with as many keys as it has, of which about half are its own, and checks
/// that they are those.
fn intersect(peer: &mut Peer, keys: usize) -> Result<(), Failure> {
    let mut random = [0; 8];
    getrandom::fill(&mut random)?;
    let first = usize::try_from(u64::from_le_bytes(random) % (keys as u64 + 1))?;
    let ours: Vec<_> = (first..first + keys).map(key).collect();
    if !psi::receive(peer, &ours)?.into_iter().eq(0..keys - first) {
        return Err(format!("a wrong set from {first} on").into());
    }
    Ok(())
}
