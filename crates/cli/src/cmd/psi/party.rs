//! One party of a run, over a link.

use std::{
    mem,
    sync::{Arc, OnceLock},
};

use foxtrot::{
    Error, Progress,
    psi::run::{Found, Set},
};
use foxtrot_ot::erase::Secret;
use indicatif::ProgressBar;

use super::{
    agreement::Agreed,
    shelf::{Stock, copy},
};
use crate::{
    failure::Failure,
    link::{Cost, Link},
    output::Output,
    table::Item,
    workers::Workers,
};

/// A set that one session compares: its own, or one for all peers that come.
pub(super) struct Lent(pub(super) Arc<Stock>);

impl Set for Lent {
    fn items(&mut self, key: usize) -> Result<Secret<Item>, Error> {
        if let Some(own) = Arc::get_mut(&mut self.0) {
            return Ok(Secret(mem::take(&mut *own.items[key])));
        }
        copy(&self.0.items[key])
    }

    fn payload(&mut self, item: usize, columns: &[usize], to: &mut [u8]) {
        self.0.fields.iter().for_each(|fields| fields.write(item, columns, to));
    }

    fn places(&self, columns: &[String]) -> Vec<usize> {
        // They were agreed on.
        let places = self.0.fields.as_ref().and_then(|it| it.places(columns).ok());
        places.unwrap_or_default()
    }

    fn numbers(&mut self) -> Result<Secret<u64>, Error> {
        copy(&self.0.numbers)
    }
}

/// Runs what was agreed, and then ends the connection. The sets are compared behind that: how long it takes depends on them.
pub(super) fn run(
    agreed: &Agreed,
    mut link: Link,
    set: impl Set,
    workers: &Workers,
    output: Output,
) -> Result<(Found, Cost), Failure> {
    let shown = Arc::new(Shown::of(agreed, workers.threads(), output));
    let shows = Arc::clone(&shown);
    link.peer.on_progress(move |progress| shows.progress(progress));
    let ran = link.run_and(
        workers,
        |mut job| {
            let base = agreed.psi.base(&mut job)?;
            if let Some(pass) = agreed.psi.passes().first() {
                let (n, name) = (pass.base_ots(), agreed.psi.terms.method().base.info().name);
                output.detail(&match base.is_resumed() {
                    true => format!("taking up {n} base OTs {name} of an earlier session"),
                    false => format!("running {n} base OTs {name}"),
                });
            }
            Ok(agreed.psi.run(job, base, set)?)
        },
        |compared| Ok(compared.open()?),
    );
    shown.bar.get().into_iter().for_each(ProgressBar::finish_and_clear);
    ran
}

/// The progress of a run as a bar, from when its base OTs are done.
struct Shown {
    steps: usize,
    details: Option<String>,
    output: Output,
    bar: OnceLock<ProgressBar>,
}

impl Shown {
    fn of(agreed: &Agreed, threads: usize, output: Output) -> Self {
        let details = agreed.psi.passes().first().map(|pass| {
            let (buckets, slots) = (pass.buckets(), pass.slots());
            format!("base OTs done; buckets: {buckets}, slots of each: {slots}, threads: {threads}")
        });
        Self { steps: agreed.psi.steps(), details, output, bar: OnceLock::new() }
    }

    fn progress(&self, progress: Progress) {
        let bar = self.bar.get_or_init(|| {
            self.details.iter().for_each(|details| self.output.detail(details));
            self.output.progress_in_percent(self.steps)
        });
        if bar.position() == 0 {
            // What came before, encoding and the peer's part, says nothing of how long a step takes.
            bar.reset_eta();
        }
        bar.set_position(progress.done as u64);
    }
}
