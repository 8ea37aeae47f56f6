//! The connections that wait at a gateway.
//!
//! Nobody who waits makes place for another: one that comes when there is no place is told to try again, and meets
//! its other end then. Strangers who fill the outer port so hold up nobody whose other end already waits inside.

use std::{
    collections::HashMap,
    io::{ErrorKind, Write},
    net::TcpStream,
    time::Instant,
};

use super::{End, Limits, NotJoined, REFUSALS};

#[derive(Default)]
pub(super) struct Routes {
    /// Connections that wait, by end and name.
    waiting: [HashMap<String, Waiting>; 2],
    pub(super) joined: usize,
}

pub(super) struct Waiting {
    pub(super) socket: TcpStream,
    pub(super) source: String,
    pub(super) since: Instant,
}

pub(super) enum Met {
    /// The connections from outside and from inside.
    Joined(Waiting, Waiting),
    /// Waits for the other end.
    Waits,
    /// There is no place for this connection, for this reason.
    Full(Waiting, &'static str),
}

impl Routes {
    /// Joins a connection with its other end, or has it wait.
    pub(super) fn meet(&mut self, end: End, name: &str, ours: Waiting, limits: Limits) -> Met {
        self.forget(limits);
        let theirs = &mut self.waiting[end.other() as usize];
        let Some(theirs) = theirs.remove(name).filter(Waiting::is_there) else {
            return self.wait(end, name, ours, limits);
        };
        if self.joined >= limits.joined {
            self.waiting[end.other() as usize].insert(name.to_owned(), theirs);
            return Met::Full(ours, "there are too many routes");
        }
        self.joined += 1;
        match end {
            End::Outside => Met::Joined(ours, theirs),
            End::Inside => Met::Joined(theirs, ours),
        }
    }

    /// Has a connection wait, if there is a place. A machine that was started again takes its former connection's place.
    fn wait(&mut self, end: End, name: &str, ours: Waiting, limits: Limits) -> Met {
        let waiting = &mut self.waiting[end as usize];
        let full = |waiting: &HashMap<String, Waiting>| {
            let others = || waiting.iter().filter(|(other, _)| *other != name);
            let of_source = || others().filter(|(_, it)| it.source == ours.source).count();
            match end {
                _ if others().count() >= limits.waiting.max(1) => Some("too many connections wait"),
                // Our own machines may all have one address.
                End::Outside if of_source() >= limits.of_one_source.max(1) => {
                    Some("too many connections of this source wait")
                }
                _ => None,
            }
        };
        if full(waiting).is_some() {
            waiting.retain(|_, it| it.is_there());
        }
        if let Some(why) = full(waiting) {
            return Met::Full(ours, why);
        }
        if let Some(former) = waiting.insert(name.to_owned(), ours) {
            former.answer(NotJoined::Taken);
        }
        Met::Waits
    }

    /// Ends connections that have waited too long.
    fn forget(&mut self, limits: Limits) {
        for waiting in &mut self.waiting {
            for (_, late) in waiting.extract_if(|_, it| it.since.elapsed() >= limits.wait) {
                late.answer(NotJoined::Late);
            }
        }
    }
}

impl Waiting {
    /// Says why the connection ends.
    pub(super) fn answer(mut self, why: NotJoined) {
        let line = REFUSALS.iter().find(|(_, it)| *it == why);
        // It has sent nothing that would be lost, and nothing was sent to it: this does not wait.
        let _ = line.map(|(line, _)| self.socket.write_all(line));
    }

    /// Returns true if a connection that waits has not gone.
    fn is_there(&self) -> bool {
        let look = || {
            self.socket.set_nonblocking(true)?;
            let seen = self.socket.peek(&mut [0]);
            self.socket.set_nonblocking(false)?;
            seen
        };
        // Nothing was said since, and nothing was due.
        look().is_err_and(|e| e.kind() == ErrorKind::WouldBlock)
    }
}
