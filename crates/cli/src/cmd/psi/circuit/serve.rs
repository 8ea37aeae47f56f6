//! `--serve` of counts and sums: one set for all peers that come.

use std::sync::Arc;

use foxtrot::job::{Answer, Table};
use foxtrot_net::jobs::memory_of_count;
use foxtrot_psi::circuit::{Outcome, Parameters};

use super::{
    super::{
        OUR_NORMALIZE,
        serve::{Server, open},
        shelf::Stock,
    },
    Reader, Side,
};
use crate::{
    args::Counting,
    failure::Failure,
    host::Service,
    link::Link,
    output::{self, Output},
    policy,
    reach::Way,
    record::Recorder,
    report::Report,
    workers::Workers,
};

/// A server that counts.
struct Counter {
    side: Side,
    server: Server,
}

/// A set, and its agreement with a peer.
type Admitted = (Arc<Stock>, Parameters);

impl Service for Counter {
    type Agreed = Admitted;
    type Done = (Admitted, (Outcome, Report));

    fn agree(&self, details: &Table) -> Result<Admitted, Failure> {
        let stock = self.server.shelf.asked(details)?;
        let parameters = self.side.agree(&stock, details)?;
        Ok((stock, parameters))
    }

    fn least_memory(&self) -> u64 {
        let least = |stock: Arc<Stock>| {
            let parameters = self.side.parameters(&stock, stock.terms.least.max(1));
            parameters.map_or(0, |parameters| memory_of_count(&parameters))
        };
        self.server.shelf.all().map(least).min().unwrap_or(0)
    }

    fn terms(&self, (stock, parameters): &Admitted) -> Answer {
        let [_, theirs] = self.side.sizes(parameters);
        let (memory, hello) = (memory_of_count(parameters), Some(self.side.hello(stock)));
        Answer { memory, keys: Some(theirs as u64), hello }
    }

    fn answer(&self, link: Link, admitted: Admitted) -> Result<Self::Done, Failure> {
        let (Self { side, server }, (stock, parameters)) = (self, &admitted);
        let ran = server.recorder.keep("psi", &side.role.to_string(), |entry| {
            entry.set(OUR_NORMALIZE, server.normalize.clone());
            entry.met(&link);
            let (workers, output) = (server.workers.for_another(), Output::in_background());
            entry.agreed(side.json(&stock.terms, parameters));
            server.tell(&link.peer.to_string(), &side.words(&stock.terms, parameters));
            let ran = side.play(link, stock, parameters, &workers, output)?;
            Ok(side.ended(entry, ran, (&stock.terms, parameters), &workers))
        })?;
        Ok((admitted, ran))
    }
}

/// Answers all peers that come.
pub(super) fn answer_all(
    options: &Counting,
    reader: Reader,
    way: Way<'_>,
    normalize: Vec<String>,
) -> Result<(), Failure> {
    let Counting { set, standing, sessions, agreeing, transport, common, .. } = options;
    let (side, output) = (reader.side, reader.output);
    let stock = move |path: &_| {
        let stock = reader.read(path)?;
        policy::check(stock.terms.policy(), &side.hello(&stock))?;
        Ok(stock)
    };
    let shelf = open(vec![(None, set.clone())], standing.reload, stock)?;
    let recorder = Recorder::of_many(transport, agreeing.audit.as_deref());
    let workers = Workers::new(common.threads)?;
    let server = Server { shelf, workers, output, recorder, normalize };
    let first = server.first()?;
    if standing.max_runs_per_day.is_none() && standing.max_keys_per_day.is_none() {
        output.note(
            "warning: no limit per day: a peer that asks again with one key more learns from the difference whether that key \
             is here; --max-runs-per-day N --limits FILE bounds how often it asks",
        );
    }
    output::stamp();
    let hello = side.hello(&first).without_keys();
    let service = Counter { side, server };
    way.all_peers(common, sessions, hello, service, |number, peer, ((stock, parameters), ran)| {
        let [_, theirs] = side.sizes(&parameters);
        let session = format!("session {number} with {peer}, {theirs} keys: ");
        side.deliver(ran, (&stock.terms, &parameters), common, &session)
    })
}
