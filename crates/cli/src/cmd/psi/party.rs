//! One party of a run, over a link.

use std::mem;

use foxtrot::job::Job;
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
        let ((), cost) = link.run(self.workers, |job| {
            let (mut wanted, mut all) = (Some(items), Vec::new().into_iter());
            for (pass, counter) in self.agreed.passes().zip(0..) {
                self.tell_setup(pass);
                let (mut cx, plan) = (job.context()?, self.plan(&job, pass, counter));
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
            Ok(job.finish()?)
        })?;
        Ok(cost)
    }

    /// The indices of the items that the peer also has, in each pass.
    pub(super) fn receive(
        &self,
        link: Link,
        sets: &[&[Item]],
    ) -> Result<(Vec<Vec<usize>>, Cost), Failure> {
        let (received, cost) = link.run(self.workers, |job| {
            let mut all = Vec::new();
            for ((pass, items), counter) in self.agreed.passes().zip(sets).zip(0..) {
                self.tell_setup(pass);
                let (mut cx, plan) = (job.context()?, self.plan(&job, pass, counter));
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
            job.finish()?;
            Ok(all)
        })?;
        let found = received.into_iter().map(|it| it.intersect().map_err(foxtrot_net::Error::from));
        Ok((found.collect::<Result<_, _>>()?, cost.until_now()))
    }

    fn plan(&self, job: &Job<'_>, pass: &Parameters, counter: u64) -> Plan<'_> {
        let (parameters, base, direction) = (*pass, self.agreed.method.base, job.direction());
        Plan { parameters, base, direction, counter }
    }

    fn bar(&self, pass: &Parameters) -> ProgressBar {
        self.output.progress_in_percent(pass.steps())
    }

    fn tell_setup(&self, pass: &Parameters) {
        let (n, base) = (pass.base_ots(), self.agreed.method.base.info().name);
        self.output.detail(&format!("running {n} base OTs {base}"));
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
