//! Events that strangers cause: which of them are told one by one, a few for each source and a few in all, and how many more
//! there were.

use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

/// The time that the bounds are for.
const WINDOW: Duration = Duration::from_secs(60);

/// Decides which events are told, and counts the others.
pub(crate) struct Refusals {
    /// Events of one source that are told within that time; what is beyond them is counted.
    each: usize,
    /// Sources that are told apart within that time.
    most: usize,
    since: Instant,
    sources: BTreeMap<String, usize>,
    others: usize,
}

/// Events that were not told, of one source or of all others.
pub(crate) type More = (Option<String>, usize);

/// Says how many more there were of what strangers cause.
pub(crate) fn words((source, count): &More, what: &str) -> String {
    let source = source.as_deref().unwrap_or("other addresses");
    format!("…and {count} more {what} from {source}")
}

impl Refusals {
    /// Bounds of messages on standard error: three of a source within a minute, and sixteen sources.
    pub(crate) fn of_messages() -> Self {
        Self::new(3, 16)
    }

    pub(crate) fn new(each: usize, most: usize) -> Self {
        Self { each, most, since: Instant::now(), sources: BTreeMap::new(), others: 0 }
    }

    /// Counts an event of that source; says whether it is told by itself.
    pub(crate) fn count(&mut self, source: &str, now: Instant) -> bool {
        if self.sources.is_empty() {
            self.since = now;
        }
        if let Some(events) = self.sources.get_mut(source) {
            *events += 1;
            return *events <= self.each;
        }
        if self.sources.len() >= self.most {
            self.others += 1;
            return false;
        }
        self.sources.insert(source.to_owned(), 1);
        true
    }

    /// Counts events that were to be told, and could not be.
    pub(crate) fn miss(&mut self, events: usize) {
        self.others += events;
    }

    pub(crate) fn due(&self) -> Option<Instant> {
        (!self.sources.is_empty()).then(|| self.since + WINDOW)
    }

    /// The numbers of events that were not told, if the time for them has come.
    pub(crate) fn summaries(&mut self, now: Instant) -> Vec<More> {
        match self.due() {
            Some(due) if now >= due => self.all(),
            _ => Vec::new(),
        }
    }

    /// The numbers of events that were not told so far.
    pub(crate) fn all(&mut self) -> Vec<More> {
        let (each, others) = (self.each, std::mem::take(&mut self.others));
        let sources = std::mem::take(&mut self.sources).into_iter();
        let more = sources.filter(|(_, events)| *events > each);
        let more = more.map(|(source, events)| (Some(source), events - each));
        more.chain((others > 0).then_some((None, others))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_told_a_few_times_and_then_summarised() {
        let (mut refusals, start) = (Refusals::new(3, 16), Instant::now());
        let told = (0..120).filter(|_| refusals.count("203.0.113.7", start)).count();
        assert_eq!(told, 3);
        assert!(refusals.count("203.0.113.8", start));
        assert_eq!(refusals.summaries(start), []);
        let due = refusals.due().unwrap();
        assert_eq!(refusals.summaries(due), [(Some("203.0.113.7".into()), 117)]);
        // Another minute begins with the next event.
        assert_eq!(refusals.due(), None);
        assert!(refusals.count("203.0.113.7", due + WINDOW));
        assert_eq!(refusals.due(), Some(due + 2 * WINDOW));
        assert_eq!(refusals.summaries(due + 2 * WINDOW), []);
    }

    #[test]
    fn many_addresses_lead_to_a_bounded_number_of_lines() {
        let (mut refusals, start) = (Refusals::new(3, 16), Instant::now());
        let sources: Vec<_> = (0..10_000).map(|i| format!("source {i}")).collect();
        let all = (0..5).flat_map(|_| &sources);
        let told = all.filter(|source| refusals.count(source, start)).count();
        assert_eq!(told, 16 * 3);
        let lines = refusals.summaries(start + WINDOW);
        assert_eq!(lines.len(), 16 + 1);
        assert_eq!(lines.last(), Some(&(None, 5 * (10_000 - 16))));
    }
}
