//! The number of lines that are printed about strangers: a few for each address, and a few in all.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// The time that the bounds are for.
const WINDOW: Duration = Duration::from_secs(60);

/// Lines of one source within that time; what is beyond them is counted.
const LINES: usize = 3;

/// Sources that are told apart within that time.
const SOURCES: usize = 16;

/// Decides which events are told, and counts the others.
pub(super) struct Refusals {
    /// The name of the events, in the plural.
    what: &'static str,
    since: Instant,
    sources: BTreeMap<String, usize>,
    others: usize,
}

impl Refusals {
    pub(super) fn new(what: &'static str) -> Self {
        Self { what, since: Instant::now(), sources: BTreeMap::new(), others: 0 }
    }

    /// Counts an event of that source; says whether it is told by a line of its own.
    pub(super) fn count(&mut self, source: &str, now: Instant) -> bool {
        if self.sources.is_empty() {
            self.since = now;
        }
        if let Some(events) = self.sources.get_mut(source) {
            *events += 1;
            return *events <= LINES;
        }
        if self.sources.len() >= SOURCES {
            self.others += 1;
            return false;
        }
        self.sources.insert(source.to_owned(), 1);
        true
    }

    pub(super) fn due(&self) -> Option<Instant> {
        (!self.sources.is_empty()).then(|| self.since + WINDOW)
    }

    /// Summaries of what was not told, if the time for them has come.
    pub(super) fn summaries(&mut self, now: Instant) -> Vec<String> {
        if self.due().is_none_or(|due| now < due) {
            return Vec::new();
        }
        let what = self.what;
        let mut lines: Vec<_> = self
            .sources
            .iter()
            .filter(|(_, events)| **events > LINES)
            .map(|(source, events)| format!("…and {} more {what} from {source}", events - LINES))
            .collect();
        if self.others > 0 {
            lines.push(format!("…and {} more {what} from other addresses", self.others));
        }
        self.sources.clear();
        self.others = 0;
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_told_a_few_times_and_then_summarised() {
        let (mut refusals, start) = (Refusals::new("refused connections"), Instant::now());
        let told = (0..120).filter(|_| refusals.count("203.0.113.7", start)).count();
        assert_eq!(told, LINES);
        assert!(refusals.count("203.0.113.8", start));
        assert_eq!(refusals.summaries(start), [""; 0]);
        let due = refusals.due().unwrap();
        assert_eq!(refusals.summaries(due), ["…and 117 more refused connections from 203.0.113.7"]);
        // Another minute begins with the next event.
        assert_eq!(refusals.due(), None);
        assert!(refusals.count("203.0.113.7", due + WINDOW));
        assert_eq!(refusals.due(), Some(due + 2 * WINDOW));
        assert_eq!(refusals.summaries(due + 2 * WINDOW), [""; 0]);
    }

    #[test]
    fn many_addresses_lead_to_a_bounded_number_of_lines() {
        let (mut refusals, start) = (Refusals::new("refused connections"), Instant::now());
        let sources: Vec<_> = (0..10_000).map(|i| format!("source {i}")).collect();
        let all = (0..5).flat_map(|_| &sources);
        let told = all.filter(|source| refusals.count(source, start)).count();
        assert_eq!(told, SOURCES * LINES);
        let lines = refusals.summaries(start + WINDOW);
        assert_eq!(lines.len(), SOURCES + 1);
        let others = 5 * (10_000 - SOURCES);
        let last = format!("…and {others} more refused connections from other addresses");
        assert_eq!(lines.last(), Some(&last));
    }
}
