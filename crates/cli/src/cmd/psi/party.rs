//! One party of a run, over a link.

use std::mem;

use foxtrot::job::Job;
use foxtrot_psi::paxos::protocol::{Plan, Progress, Receiver, Sender};
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
    /// Lets the peer find out which of its items are among these. They are asked for when the base OTs are done:
    /// a peer that only connects costs no copy.
    pub(super) fn send(
        &self,
        link: Link,
        items: impl FnOnce() -> Result<Zeroizing<Vec<Item>>, Failure>,
    ) -> Result<Cost, Failure> {
        let ((), cost) = link.run(self.workers, |job| {
            self.tell_setup();
            let (mut cx, plan) = (job.context()?, self.plan(&job));
            let sender = job.play(|io| async move { Sender::set_up(&io, &mut cx, plan).await })?;
            self.tell_buckets();
            let (bar, mut items) = (&self.bar(), items()?);
            let items = mem::take(&mut *items);
            job.play(
                |io| async move { sender.run(&io, items, |progress| show(bar, progress)).await },
            )?;
            bar.finish_and_clear();
            Ok(job.finish()?)
        })?;
        Ok(cost)
    }

    /// The indices of the items that the peer also has.
    pub(super) fn receive(
        &self,
        link: Link,
        items: &[Item],
    ) -> Result<(Vec<usize>, Cost), Failure> {
        let (received, cost) = link.run(self.workers, |job| {
            self.tell_setup();
            let (mut cx, plan) = (job.context()?, self.plan(&job));
            let receiver =
                job.play(|io| async move { Receiver::set_up(&io, &mut cx, plan).await })?;
            self.tell_buckets();
            let (bar, items) = (&self.bar(), items.to_vec());
            let received = job.play(|io| async move {
                receiver.run(&io, items, |progress| show(bar, progress)).await
            })?;
            bar.finish_and_clear();
            // The sender gets to know that all has come, and the connection ends, before the sets are compared: how
            // long that takes depends on them.
            job.finish()?;
            Ok(received)
        })?;
        let indices = received.intersect().map_err(foxtrot_net::Error::from)?;
        Ok((indices, cost.until_now()))
    }

    fn plan(&self, job: &Job<'_>) -> Plan<'_> {
        Plan {
            parameters: self.agreed.parameters,
            base: self.agreed.method.base,
            direction: job.direction(),
            counter: 0,
        }
    }

    fn bar(&self) -> ProgressBar {
        let parameters = &self.agreed.parameters;
        let steps = parameters.buckets() * parameters.slots() + parameters.tags();
        self.output.progress_in_percent(steps)
    }

    fn tell_setup(&self) {
        let (n, base) = (self.agreed.parameters.base_ots(), self.agreed.method.base.info().name);
        self.output.detail(&format!("running {n} base OTs {base}"));
    }

    fn tell_buckets(&self) {
        let (buckets, slots) = (self.agreed.parameters.buckets(), self.agreed.parameters.slots());
        let threads = self.workers.threads();
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
