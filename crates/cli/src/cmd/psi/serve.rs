//! `--serve`: sets for all peers that come.

use std::{path::PathBuf, sync::Arc};

use foxtrot::{
    job::{Answer, Table},
    psi::{
        Outcome,
        run::Found,
        terms::{COLUMNS, SET},
    },
};
use foxtrot_net::hello::{KEYS, numbered};

use super::{
    OUR_NORMALIZE,
    agreement::Agreed,
    party::{Lent, run},
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
    workers::Workers,
};

pub(super) struct Server {
    pub(super) shelf: Arc<Shelf>,
    pub(super) workers: Workers,
    pub(super) output: Output,
    pub(super) recorder: Recorder,
    pub(super) normalize: Vec<String>,
}

/// A session that has ended well.
pub(super) struct Served {
    pub(super) agreed: Agreed,
    pub(super) found: Found,
    pub(super) report: Report,
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

    /// Answers all peers; `done` is told of each session with its number.
    pub(super) fn answer_all(
        self,
        way: Way<'_>,
        most: &MostSessions,
        common: &Common,
        done: impl Fn(usize, &str, Served) -> Result<(), Failure>,
    ) -> Result<(), Failure> {
        let first = self.first()?;
        let least = |stock: Arc<Stock>| {
            let terms = &stock.terms.psi;
            let keys = terms.options.least().max(1).to_string();
            let keys = (0..terms.keys.len()).map(|number| (numbered(KEYS, number), keys.clone()));
            let set = terms.set.iter().map(|name| (SET.to_owned(), name.clone()));
            let columns = terms.columns.iter().map(|it| (COLUMNS.to_owned(), it.names.join("\n")));
            let details: Table = keys.chain(set).chain(columns).collect();
            terms.agree(&details).map_or(0, |agreed| agreed.memory())
        };
        let least_memory = self.shelf.all().map(least).min().unwrap_or(0);
        let shelf = Arc::clone(&self.shelf);
        let agree = move |details: &Table| {
            let stock = shelf.asked(details)?;
            let agreed = Agreed::with(&stock.terms, details)?;
            let answer = Answer { hello: Some(stock.terms.hello()?), ..agreed.psi.answer() };
            Ok(((agreed, stock), answer))
        };
        let (recorder, normalize) = (self.recorder.clone(), self.normalize.clone());
        let begin = move |(agreed, _): &(Agreed, _)| {
            let mut entry = recorder.begin("psi", agreed.psi.terms.role)?;
            entry.set(OUR_NORMALIZE, normalize.clone());
            entry.agreed(agreed.json());
            Ok(entry)
        };
        output::stamp();
        let host = way.host(common, first.terms.hello()?.without_keys(), &self.recorder)?;
        let answer = move |link: Link, (agreed, stock): (_, Arc<_>), entry: &mut _| {
            self.answer(link, agreed, stock, entry)
        };
        host.all_peers(most, least_memory, agree, begin, answer, done)
    }

    fn answer(
        &self,
        link: Link,
        agreed: Agreed,
        stock: Arc<Stock>,
        entry: &mut Entry,
    ) -> Result<Served, Failure> {
        let (workers, role) = (self.workers.for_another(), agreed.psi.terms.role);
        let peer = link.peer.to_string();
        let mut lines = agreed.words(Some(role), workers.threads());
        lines.push(agreed.details());
        let mut lines = lines.iter().map(|line| format!("with {peer}: {line}"));
        lines.next().into_iter().for_each(|line| self.output.note(&line));
        lines.for_each(|line| self.output.detail(&line));
        let (found, cost) = run(&agreed, link, Lent(stock), &workers, Output::in_background())?;
        let report = agreed.report(workers.threads(), cost.of(role));
        entry.ran(&report, &cost);
        if let Some(Outcome::Released { count, .. }) = found.outcome {
            entry.set("results", count);
        }
        Ok(Served { agreed, found, report })
    }
}

pub(super) fn files(set: Option<&PathBuf>, named: &[NamedSet]) -> Vec<(Option<String>, PathBuf)> {
    let named = named.iter().map(|it| (Some(it.name.to_string()), it.path.clone()));
    set.map(|path| (None, path.clone())).into_iter().chain(named).collect()
}
