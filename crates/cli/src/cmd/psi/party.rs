//! One party of a run, over a link.

use std::mem;

use foxtrot::job::{Base, Job};
use foxtrot_ot::base::BaseOt;
use foxtrot_psi::method::{
    Parameters,
    protocol::{Plan, Progress, Receiver, Sender},
};
use indicatif::ProgressBar;
use zeroize::Zeroizing;

use super::agreement::Agreed;
use crate::{
    failure::Failure,
    link::{Cost, Link},
    output::Output,
    table::Item,
    workers::Workers,
};

pub(super) struct Party<'a> {
    pub(super) agreed: &'a Agreed,
    pub(super) workers: &'a Workers,
    pub(super) output: Output,
}

impl Party<'_> {
    /// Lets the peer find out which of its items are among these, pass by pass. They are asked for when the base OTs
    /// are done: a peer that only connects costs no copy.
    pub(super) fn send(
        &self,
        link: Link,
        items: impl FnOnce() -> Result<Vec<Zeroizing<Vec<Item>>>, Failure>,
    ) -> Result<Cost, Failure> {
        let ((), cost) = link.run(self.workers, |mut job| {
            let base = self.base(&mut job)?;
            let (mut wanted, mut all) = (Some(items), Vec::new().into_iter());
            for (pass, counter) in self.agreed.passes().zip(0..) {
                self.tell_setup(pass, counter, &base);
                let (mut cx, plan) = (job.context()?, self.plan(&job, pass, counter, &base));
                let sender =
                    job.play(|io| async move { Sender::set_up(&io, &mut cx, plan).await })?;
                self.tell_buckets(pass);
                if let Some(items) = wanted.take() {
                    all = items()?.into_iter();
                }
                let (bar, mut items) = (&self.bar(pass), all.next().unwrap_or_default());
                let items = mem::take(&mut *items);
                job.play(|io| async move {
                    sender.run(&io, items, |progress| show(bar, progress)).await
                })?;
                bar.finish_and_clear();
            }
            Ok(job.finish_keeping(base)?)
        })?;
        Ok(cost)
    }

    /// The indices of the items that the peer also has, in each pass.
    pub(super) fn receive(
        &self,
        link: Link,
        sets: &[&[Item]],
    ) -> Result<(Vec<Vec<usize>>, Cost), Failure> {
        let (received, cost) = link.run(self.workers, |mut job| {
            let base = self.base(&mut job)?;
            let mut all = Vec::new();
            for ((pass, items), counter) in self.agreed.passes().zip(sets).zip(0..) {
                self.tell_setup(pass, counter, &base);
                let (mut cx, plan) = (job.context()?, self.plan(&job, pass, counter, &base));
                let receiver =
                    job.play(|io| async move { Receiver::set_up(&io, &mut cx, plan).await })?;
                self.tell_buckets(pass);
                let (bar, items) = (&self.bar(pass), items.to_vec());
                all.push(job.play(|io| async move {
                    receiver.run(&io, items, |progress| show(bar, progress)).await
                })?);
                bar.finish_and_clear();
            }
            // The sender gets to know that all has come, and the connection ends, before the sets are compared: how
            // long that takes depends on them.
            job.finish_keeping(base)?;
            Ok(all)
        })?;
        let found = received.into_iter().map(|it| it.intersect().map_err(foxtrot_net::Error::from));
        Ok((found.collect::<Result<_, _>>()?, cost.until_now()))
    }

    fn plan<'a>(
        &'a self,
        job: &Job<'_>,
        pass: &Parameters,
        counter: u64,
        base: &'a Base,
    ) -> Plan<'a> {
        let (parameters, direction) = (*pass, job.direction());
        Plan { parameters, base: self.base_of(counter, base), direction, counter }
    }

    fn bar(&self, pass: &Parameters) -> ProgressBar {
        self.output.progress_in_percent(pass.steps())
    }

    /// The base OTs of the first pass: new ones, or those of the last session.
    fn base(&self, job: &mut Job<'_>) -> Result<Base, Failure> {
        let n = self.agreed.passes().next().map_or(0, Parameters::base_ots);
        Ok(job.base(self.agreed.method.base, n)?)
    }

    fn base_of<'a>(&self, counter: u64, base: &'a Base) -> &'a dyn BaseOt {
        if counter == 0 { base.ot() } else { self.agreed.method.base }
    }

    fn tell_setup(&self, pass: &Parameters, counter: u64, base: &Base) {
        let (n, name) = (pass.base_ots(), self.agreed.method.base.info().name);
        self.output.detail(&match counter == 0 && base.is_resumed() {
            true => format!("taking up {n} base OTs {name} of an earlier session"),
            false => format!("running {n} base OTs {name}"),
        });
    }

    fn tell_buckets(&self, pass: &Parameters) {
        let (buckets, slots, threads) = (pass.buckets(), pass.slots(), self.workers.threads());
        self.output.detail(&format!(
            "base OTs done; buckets: {buckets}, slots of each: {slots}, threads: {threads}"
        ));
    }
}

fn show(bar: &ProgressBar, progress: Progress) {
    if bar.position() == 0 {
        // What came before, encoding and the peer's part, says nothing of how long a step takes.
        bar.reset_eta();
    }
    bar.set_position(progress.done as u64);
}
