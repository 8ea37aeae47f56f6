//! Counting bytes and flows.

/// The traffic of a channel, without hello and frame headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Payload bytes given to `send`.
    pub sent: u64,
    /// Payload bytes returned by `recv`.
    pub received: u64,
    /// Maximal runs of messages in one direction, in the order of this side's calls. Both sides
    /// count the same when they take turns, and when each sends one message before it receives.
    pub flows: u64,
}

#[derive(Debug, Default)]
pub(crate) struct Meter {
    pub(crate) counters: Counters,
    last: Option<Way>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    Out,
    In,
}

impl Meter {
    pub(crate) fn sent(&mut self, len: usize) {
        self.counters.sent += len as u64;
        self.turn(Way::Out);
    }

    pub(crate) fn received(&mut self, len: usize) {
        self.counters.received += len as u64;
        self.turn(Way::In);
    }

    fn turn(&mut self, way: Way) {
        if self.last.replace(way) != Some(way) {
            self.counters.flows += 1;
        }
    }
}
