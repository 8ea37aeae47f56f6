//! One party of a run, over a link.

use std::mem;

use foxtrot::{
    job::{Base, Job},
    psi::fields::{self, Fields},
};
use foxtrot_ot::Context;
use foxtrot_psi::{
    join::Joined,
    method::{
        Parameters,
        protocol::{self as method, Plan, Progress, Receiver, Sender},
    },
};
use indicatif::ProgressBar;
use zeroize::Zeroizing;

use super::agreement::Agreed;
use crate::{
    failure::Failure,
    link::{Cost, Link},
    output::Output,
    table::{Item, Set},
    workers::Workers,
};

pub(super) struct Found {
    /// Common items by each key.
    pub(super) items: Vec<Vec<usize>>,
    /// The sender's fields, by our items; nothing without columns.
    pub(super) fields: Vec<Vec<String>>,
}

enum Received {
    Alone(method::Received),
    Joined(Joined, Vec<u8>),
}

pub(super) struct Party<'a> {
    pub(super) agreed: &'a Agreed,
    pub(super) workers: &'a Workers,
    pub(super) output: Output,
}

impl Party<'_> {
    /// Lets the peer find out which of its items are among these, pass by pass. They are asked for when the base OTs
    /// are done: a peer that only connects costs no copy. Returns the items that the peer also has, if both learn.
    pub(super) fn send(
        &self,
        link: Link,
        items: impl FnOnce() -> Result<Vec<Zeroizing<Vec<Item>>>, Failure>,
        fields: Option<&Fields>,
    ) -> Result<(Vec<Vec<usize>>, Cost), Failure> {
        let join = self.agreed.join().map_err(|e| link.abandon(e))?;
        let places = match (fields, &self.agreed.terms.columns) {
            (Some(fields), Some(columns)) => fields.places(&columns.names).unwrap_or_default(),
            _ => Vec::new(),
        };
        link.run(self.workers, |mut job| {
            let base = self.base(&mut job)?;
            let (mut wanted, mut all) = (Some(items), Vec::new().into_iter());
            let mut found = Vec::new();
            for (pass, counter) in self.agreed.passes().zip(0..) {
                let (mut cx, plan) = self.begin(&job, pass, counter, &base)?;
                let sender =
                    job.play(|io| async move { Sender::set_up(&io, &mut cx, plan).await })?;
                let bar = &self.working(pass);
                if let Some(items) = wanted.take() {
                    all = items()?.into_iter();
                }
                let items = mem::take(&mut *all.next().unwrap_or_default());
                let (mut progress, places) = (|progress| show(bar, progress), &places);
                let mut payload = |item: usize, to: &mut [u8]| {
                    fields.iter().for_each(|fields| fields.write(item, places, to));
                    Ok(())
                };
                found.push(match join {
                    None => job
                        .play(|io| async move { sender.run(&io, items, &mut progress).await })
                        .map(|()| Vec::new())?,
                    Some(terms) => job.play(|io| async move {
                        sender.join(&io, items, terms, &mut payload, &mut progress).await
                    })?,
                });
                bar.finish_and_clear();
            }
            job.finish_keeping(base)?;
            Ok(found)
        })
    }

    /// The items that the peer also has, in each pass, and what it has beside them.
    pub(super) fn receive(&self, link: Link, sets: &[Set]) -> Result<(Found, Cost), Failure> {
        let join = self.agreed.join().map_err(|e| link.abandon(e))?;
        let received =
            |mut job: Job<'_>| {
                let base = self.base(&mut job)?;
                let mut all = Vec::new();
                for ((pass, set), counter) in self.agreed.passes().zip(sets).zip(0..) {
                    let (mut cx, plan) = self.begin(&job, pass, counter, &base)?;
                    let receiver =
                        job.play(|io| async move { Receiver::set_up(&io, &mut cx, plan).await })?;
                    let (bar, items) = (&self.working(pass), set.items.to_vec());
                    let mut progress = |progress| show(bar, progress);
                    all.push(match join {
                        None => Received::Alone(job.play(|io| async move {
                            receiver.run(&io, items, &mut progress).await
                        })?),
                        Some(terms) => {
                            let mut store = Vec::new();
                            let kept = &mut store;
                            let joined = job.play(|io| async move {
                                receiver.join(&io, items, terms, kept, &mut progress).await
                            })?;
                            Received::Joined(joined, store)
                        }
                    });
                    bar.finish_and_clear();
                }
                // The sender gets to know that all has come, and the connection ends, before the
                // sets are compared: how long that takes depends on them.
                job.finish_keeping(base)?;
                Ok(all)
            };
        link.run_and(self.workers, received, |all| self.open(all, sets))
    }

    fn open(&self, all: Vec<Received>, sets: &[Set]) -> Result<Found, Failure> {
        let columns = self.agreed.terms.columns.as_ref();
        let mut found = Found { items: Vec::new(), fields: Vec::new() };
        for (received, set) in all.into_iter().zip(sets) {
            found.items.push(match received {
                Received::Alone(received) => {
                    received.intersect().map_err(foxtrot_net::Error::from)?
                }
                Received::Joined(joined, mut store) => {
                    let mut are_read = true;
                    if columns.is_some() {
                        found.fields = vec![Vec::new(); set.items.len()];
                    }
                    let take = |item: usize, payload: &[u8]| match columns
                        .and_then(|it| fields::read(payload, it.padding))
                    {
                        Some(fields) => found.fields[item] = fields,
                        None => are_read = false,
                    };
                    let items = joined.open(&mut store, take);
                    let items = items.map_err(foxtrot_net::Error::from)?;
                    if !are_read {
                        return Err(Failure::peer("the peer sent columns that are not text"));
                    }
                    items
                }
            });
        }
        Ok(found)
    }

    /// The base OTs of the first pass: new ones, or those of the last session.
    fn base(&self, job: &mut Job<'_>) -> Result<Base, Failure> {
        let pass = self.agreed.passes().next();
        let (carries, n) =
            pass.map(|it| ([it.info().name, it.over()], it.base_ots())).unwrap_or_default();
        Ok(job.base(self.agreed.terms.method.base, carries, n)?)
    }

    /// Begins a pass, of which only the first is over the base OTs of the last session.
    fn begin<'a>(
        &'a self,
        job: &'a Job<'_>,
        pass: &Parameters,
        counter: u64,
        base: &'a Base,
    ) -> Result<(Context<'a>, Plan<'a>), Failure> {
        let usual = self.agreed.terms.method.base;
        let (n, name) = (pass.base_ots(), usual.info().name);
        self.output.detail(&match counter == 0 && base.is_resumed() {
            true => format!("taking up {n} base OTs {name} of an earlier session"),
            false => format!("running {n} base OTs {name}"),
        });
        let (parameters, direction) = (*pass, job.direction());
        let base = if counter == 0 { base.ot() } else { usual };
        Ok((job.context()?, Plan { parameters, base, direction, counter }))
    }

    /// Says that the base OTs are done, and shows what follows.
    fn working(&self, pass: &Parameters) -> ProgressBar {
        let (buckets, slots, threads) = (pass.buckets(), pass.slots(), self.workers.threads());
        self.output.detail(&format!(
            "base OTs done; buckets: {buckets}, slots of each: {slots}, threads: {threads}"
        ));
        self.output.progress_in_percent(pass.steps())
    }
}

pub(super) fn show(bar: &ProgressBar, progress: Progress) {
    if bar.position() == 0 {
        // What came before, encoding and the peer's part, says nothing of how long a step takes.
        bar.reset_eta();
    }
    bar.set_position(progress.done as u64);
}
