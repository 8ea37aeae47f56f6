//! Messages of a listener about peers that become no session, and their lines in the audit log.

use std::{sync::Arc, time::Instant};

use super::PATIENCE;
use crate::{
    audit,
    failure::{Failure, SIDES},
    output::{Output, say},
    refusals::{self, Refusals},
};

/// Says how the wait goes on, where that takes long or strangers come.
pub(super) struct Log {
    output: Output,
    refused: Refusals,
    failed: Refusals,
    /// Sessions that were refused because they could not be written down.
    unrecorded: Refusals,
    audit: Option<Arc<audit::Log>>,
}

impl Log {
    pub(super) fn new(output: Output, audit: Option<Arc<audit::Log>>) -> Self {
        let [refused, failed, unrecorded] = [(); 3].map(|()| Refusals::of_messages());
        Self { output, refused, failed, unrecorded, audit }
    }

    /// A connection that became no session. Without an address, the system did not give us the connection.
    pub(super) fn refused(&mut self, from: &audit::From<'_>, failure: &Failure) {
        let now = Instant::now();
        let audited = self.audit.as_ref().map_or(Ok(()), |log| log.refused(from, failure, now));
        let words = from.address.map(|it| format!("refused a connection from {it}: "));
        let words = words.unwrap_or_default() + failure.message();
        if failure.is_unrecorded() {
            self.unrecorded(&words);
            return;
        }
        let source = if from.address.is_some() { from.source } else { "this system" };
        if self.refused.count(source, now) || self.output.verbose {
            self.output.note(&words);
        }
        if let Err(e) = audited {
            self.unrecorded(e.message());
        }
    }

    /// Writes to the audit log that the run has ended with this peer.
    pub(super) fn audit(&mut self, from: &audit::From<'_>, failure: &Failure) {
        let log = self.audit.as_ref().filter(|_| !failure.is_unrecorded());
        if let Some(Err(e)) = log.map(|log| log.refused(from, failure, Instant::now())) {
            self.unrecorded(e.message());
        }
    }

    /// Says, also to who wants no messages, that the audit log cannot be written.
    fn unrecorded(&mut self, words: &str) {
        if self.unrecorded.count("this system", Instant::now()) || self.output.verbose {
            say(words);
        }
    }

    pub(super) fn failed(&mut self, number: usize, peer: &str, counted_as: &str, e: &Failure) {
        let words = format!("session {number} with {peer} failed: {}", e.message());
        if e.is_unrecorded() {
            self.unrecorded(&words);
        } else if self.failed.count(counted_as, Instant::now()) || self.output.verbose {
            say(&words);
        }
    }

    pub(super) fn due(&self) -> Option<Instant> {
        let audit = self.audit.as_ref().and_then(|log| log.due());
        let all = [self.refused.due(), self.failed.due(), self.unrecorded.due(), audit];
        all.into_iter().flatten().min()
    }

    pub(super) fn summarise(&mut self, now: Instant) {
        if let Some(Err(e)) = self.audit.as_ref().map(|log| log.summarise(now)) {
            self.unrecorded(e.message());
        }
        let words = |refusals: &mut Refusals, what: &str| {
            let all = refusals.summaries(now);
            all.iter().map(|more| refusals::words(more, what)).collect::<Vec<_>>()
        };
        let refused = words(&mut self.refused, "refused connections");
        let failed = words(&mut self.failed, "failed sessions");
        let unrecorded = self.unrecorded.summaries(now).into_iter();
        let unrecorded = unrecorded
            .map(|(_, count)| format!("the audit log could not be written {count} more times"));
        // With --verbose everything has been told.
        if !self.output.verbose {
            refused.iter().for_each(|line| self.output.note(line));
            failed.into_iter().chain(unrecorded).for_each(|line| say(&line));
        }
    }

    pub(super) fn still_waiting(&self, came: usize, hint: Option<&str>) {
        let seconds = PATIENCE.as_secs();
        self.output.note(&match (came, hint) {
            (0, _) => format!("no peer connected for {seconds} s: {SIDES}"),
            (1, Some(hint)) => format!("no peer connected; 1 other connection was refused: {hint}"),
            _ => return,
        });
    }
}
