//! `psi send --serve`: sets for all peers that come.

use std::{path::PathBuf, sync::Arc};

use foxtrot::job::{Answer, Role, Table};
use foxtrot_net::hello::{KEYS, numbered};
use zeroize::Zeroizing;

use super::{
    OUR_NORMALIZE,
    agreement::Agreed,
    party::Party,
    shelf::{Shelf, Stock},
};
use crate::{
    args::{Common, MostSessions, NamedSet},
    failure::Failure,
    link::Link,
    output::{self, Output},
    reach::Way,
    record::{Entry, Recorder},
    report::Report,
    table::Item,
    workers::Workers,
};

pub(super) struct Server {
    pub(super) shelf: Arc<Shelf>,
    pub(super) workers: Workers,
    pub(super) output: Output,
    pub(super) recorder: Recorder,
    pub(super) normalize: Vec<String>,
}

impl Stock {
    fn copy(&self) -> Result<Vec<Zeroizing<Vec<Item>>>, Failure> {
        let copy = |items: &Zeroizing<Vec<Item>>| {
            let mut copy = Zeroizing::new(Vec::new());
            copy.try_reserve_exact(items.len())
                .map_err(|_| Failure::run("not enough memory for a copy of the set"))?;
            copy.extend_from_slice(items);
            Ok(copy)
        };
        self.items.iter().map(copy).collect()
    }
}

impl Server {
    /// Returns the first set, and says which policy holds.
    pub(super) fn first(&self) -> Result<Arc<Stock>, Failure> {
        let first = self.shelf.all().next();
        let first = first.ok_or_else(|| Failure::usage("there is no set to serve"))?;
        if let Some(policy) = &first.terms.policy {
            self.output.note(&format!("policy of every session: {}", policy.words()));
        }
        Ok(first)
    }

    /// Says what was agreed with a peer; what follows the first line is for those who want to know more.
    pub(super) fn tell(&self, peer: &str, lines: &[String]) {
        let mut lines = lines.iter().map(|line| format!("with {peer}: {line}"));
        lines.next().into_iter().for_each(|line| self.output.note(&line));
        lines.for_each(|line| self.output.detail(&line));
    }

    pub(super) fn answer_all(
        self,
        way: Way<'_>,
        most: &MostSessions,
        common: &Common,
    ) -> Result<(), Failure> {
        let output = self.output;
        let first = self.first()?;
        let least = |stock: Arc<Stock>| {
            let keys = stock.terms.least.max(1);
            let detail = |number| (numbered(KEYS, number), keys.to_string());
            let details: Table = (0..stock.items.len()).map(detail).collect();
            Agreed::with(&stock.terms, &details).map_or(0, |agreed| agreed.memory_of_sender())
        };
        let least_memory = self.shelf.all().map(least).min().unwrap_or(0);
        let shelf = Arc::clone(&self.shelf);
        let agree = move |details: &Table| {
            let stock = shelf.asked(details)?;
            let agreed = Agreed::with(&stock.terms, details)?;
            let answer = Answer {
                memory: agreed.memory_of_sender(),
                keys: Some(agreed.counted_keys()),
                hello: Some(stock.terms.hello()),
            };
            Ok(((agreed, stock), answer))
        };
        let (recorder, normalize) = (self.recorder.clone(), self.normalize.clone());
        let begin = move |(agreed, _): &(Agreed, _)| {
            let mut entry = recorder.begin("psi", "sender")?;
            entry.set(OUR_NORMALIZE, normalize.clone());
            entry.agreed(agreed.json());
            Ok(entry)
        };
        output::stamp();
        let host = way.host(common, first.terms.hello().without_keys(), &self.recorder)?;
        let answer = move |link: Link, (agreed, stock): (_, Arc<_>), entry: &mut _| {
            self.answer(link, agreed, &stock, entry)
        };
        host.all_peers(most, least_memory, agree, begin, answer, |number, peer, done| {
            let (agreed, report) = done;
            let (keys, figures) = (agreed.receivers_keys(), report.figures());
            output.note(&format!("session {number} with {peer}, {keys} keys: {figures}"));
            report.print(output, agreed.json())
        })
    }

    fn answer(
        &self,
        link: Link,
        agreed: Agreed,
        stock: &Stock,
        entry: &mut Entry,
    ) -> Result<(Agreed, Report), Failure> {
        let (workers, peer) = (self.workers.for_another(), link.peer.to_string());
        let output = Output::in_background();
        let party = Party { agreed: &agreed, workers: &workers, output };
        let items = || {
            let mut lines = agreed.words(Some(Role::Sender), workers.threads());
            lines.push(agreed.details());
            self.tell(&peer, &lines);
            stock.copy()
        };
        let (_, cost) = party.send(link, items, stock.fields.as_ref())?;
        let report = agreed.report(workers.threads(), cost.of(Role::Sender));
        entry.ran(&report, &cost);
        Ok((agreed, report))
    }
}

pub(super) fn files(set: Option<&PathBuf>, named: &[NamedSet]) -> Vec<(Option<String>, PathBuf)> {
    let named = named.iter().map(|it| (Some(it.name.to_string()), it.path.clone()));
    set.map(|path| (None, path.clone())).into_iter().chain(named).collect()
}
