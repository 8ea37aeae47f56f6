//! `foxtrot psi gateway`: one port for the machines of a party.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::{Duration, Instant},
};

use foxtrot_net::gateway::{Event, Gateway, Limits};

use crate::{
    args::GatewayArgs,
    failure::Failure,
    output::say,
    refusals::{Refusals, words},
};

/// The time between two looks whether refused connections are to be summarised.
const LOOK: Duration = Duration::from_secs(10);

/// Messages about connections. Strangers cause a bounded number of them, however often they come.
struct Messages(Mutex<Refusals>);

impl Messages {
    fn new() -> Self {
        Self(Mutex::new(Refusals::of_messages()))
    }

    fn refused(&self) -> MutexGuard<'_, Refusals> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The message about an event, unless it is one of too many.
    fn about(&self, event: Event, now: Instant) -> Option<String> {
        Some(match event {
            Event::Joined(route, source) => format!("joined {route}, from {source}"),
            Event::Ended(route, [into, out]) => {
                format!("ended {route}: {into} bytes in, {out} bytes out")
            }
            Event::Refused(source, why) => {
                let is_told = self.refused().count(&source, now);
                return is_told.then(|| format!("refused {source}: {why}"));
            }
        })
    }

    /// Messages about refused connections that had none, if the time for them has come.
    fn more(&self, now: Instant) -> Vec<String> {
        let all = self.refused().summaries(now);
        all.iter().map(|more| words(more, "refused connections")).collect()
    }
}

/// Joins connections until it is interrupted.
pub(super) fn run(args: &GatewayArgs) -> Result<(), Failure> {
    let (quiet, messages) = (args.quiet, Arc::new(Messages::new()));
    let tell = {
        let messages = Arc::clone(&messages);
        move |event| {
            if !quiet && let Some(words) = messages.about(event, Instant::now()) {
                say(&words);
            }
        }
    };
    let limits = Limits::of(args.max_routes, Duration::from_secs(args.wait));
    let gateway = Gateway::open(&args.listen, &args.inside, limits, tell)?;
    say(&format!("listening on {} for the peer", gateway.outside()));
    say(&format!("listening on {} for our machines", gateway.inside()));
    loop {
        // The threads of the gateway do all work.
        thread::sleep(LOOK);
        messages.more(Instant::now()).iter().for_each(|words| say(words));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_strangers_cause_a_bounded_number_of_messages_and_are_counted() {
        let (messages, now) = (Messages::new(), Instant::now());
        let refused = |source: &str| Event::Refused(source.into(), "it names no route");
        let told = |event| messages.about(event, now);
        let all: Vec<_> = (0..10_000).filter_map(|_| told(refused("203.0.113.7"))).collect();
        assert_eq!(all, ["refused 203.0.113.7: it names no route"; 3]);
        let others = (0..10_000).filter_map(|i| told(refused(&format!("source {i}"))));
        assert_eq!(others.count(), 15);
        // Routes are told all the same.
        let joined = told(Event::Joined("run".into(), "203.0.113.7".into()));
        assert_eq!(joined.as_deref(), Some("joined run, from 203.0.113.7"));
        assert!(messages.more(now).is_empty());
        let more = messages.more(now + Duration::from_secs(60));
        let expected = [
            "9997 more refused connections from 203.0.113.7",
            "9985 more refused connections from other addresses",
        ];
        assert_eq!(more, expected.map(|words| format!("…and {words}")));
    }
}
