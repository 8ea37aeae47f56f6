//! `--serve` of counts and sums: one set for all peers that come.

use std::sync::Arc;

use foxtrot::job::{Answer, Table};
use foxtrot_net::jobs::memory_of_count;

use super::{
    super::{
        OUR_NORMALIZE,
        serve::Server,
        shelf::{Shelf, Stock},
    },
    Agreed, Reader,
};
use crate::{
    args::Counting,
    failure::Failure,
    link::Link,
    output::{self, Output},
    policy,
    reach::Way,
    record::Recorder,
    workers::Workers,
};

pub(super) fn answer_all(
    options: &Counting,
    reader: Reader,
    way: Way<'_>,
    normalize: Vec<String>,
) -> Result<(), Failure> {
    let Counting { set, standing, sessions, agreeing, transport, common, .. } = options;
    let output = reader.output;
    let stock = move |path: &_| {
        let stock = reader.read(path)?;
        policy::check(stock.terms.policy.as_deref(), &stock.terms.hello())?;
        Ok(stock)
    };
    let shelf = Shelf::open(vec![(None, set.clone())], standing.reload, stock)?;
    let recorder = Recorder::of_many(transport, agreeing.audit.as_deref());
    let workers = Workers::new(common.threads)?;
    let server = Server { shelf, workers, output, recorder, normalize };
    let first = server.first()?;
    let (per_day, policy) = (&agreeing.per_day, &first.terms.policy);
    let is_limited = per_day.max_runs_per_day.is_some() || per_day.max_keys_per_day.is_some();
    if !is_limited && policy.as_ref().is_none_or(|it| it.most_per_day().is_none()) {
        output.note(
            "warning: no limit per day: a peer that asks again with one key more learns from the difference whether that key \
             is here; --max-runs-per-day N --limits FILE bounds how often it asks",
        );
    }
    let least = |stock: Arc<Stock>| {
        let theirs = stock.terms.least.max(1);
        Agreed::new(stock, theirs).map_or(0, |agreed| memory_of_count(&agreed.parameters))
    };
    let least_memory = server.shelf.all().map(least).min().unwrap_or(0);
    let shelf = Arc::clone(&server.shelf);
    let agree = move |details: &Table| {
        let agreed = Agreed::with(shelf.asked(details)?, details)?;
        let [_, theirs] = agreed.sizes();
        let memory = memory_of_count(&agreed.parameters);
        let hello = Some(agreed.stock.terms.hello());
        Ok((agreed, Answer { memory, keys: Some(theirs as u64), hello }))
    };
    let (recorder, normalize) = (server.recorder.clone(), server.normalize.clone());
    let begin = move |agreed: &Agreed| {
        let mut entry = recorder.begin("psi", agreed.stock.terms.role)?;
        entry.set(OUR_NORMALIZE, normalize.clone());
        entry.agreed(agreed.json());
        Ok(entry)
    };
    output::stamp();
    let host = way.host(common, first.terms.hello().without_keys(), &server.recorder)?;
    let answer = move |link: Link, agreed: Agreed, entry: &mut _| {
        server.tell(&link.peer.to_string(), &agreed.words());
        let ran =
            agreed.run(link, entry, &server.workers.for_another(), Output::in_background())?;
        Ok((agreed, ran))
    };
    host.all_peers(sessions, least_memory, agree, begin, answer, |number, peer, (agreed, ran)| {
        let [_, theirs] = agreed.sizes();
        agreed.deliver(ran, output, &format!("session {number} with {peer}, {theirs} keys: "))
    })
}
