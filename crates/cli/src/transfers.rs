//! Transfers of `rot` and `ot`: what is told of them while they run, and their figures.

use foxtrot::Progress;
use foxtrot_ot::extension::ROWS;

use crate::{
    args::Common,
    failure::Failure,
    link::{Cost, Link},
    method::{self, Extension, Method},
    output::Output,
    report::Report,
    workers::Workers,
};

/// Transfers of one party: their protocols, and where it computes.
#[derive(Clone)]
pub(crate) struct Transfers {
    job: &'static str,
    pub(crate) method: Method,
    pub(crate) n: usize,
    pub(crate) workers: Workers,
    pub(crate) output: Output,
}

impl Transfers {
    pub(crate) fn new(
        common: &Common,
        job: &'static str,
        method: Method,
        n: usize,
    ) -> Result<Self, Failure> {
        let (workers, output) = (Workers::new(common.threads)?, Output::new(common));
        Ok(Self { job, method, n, workers, output })
    }

    /// Transfers as these, of another party, which says nothing, on the same threads.
    pub(crate) fn for_another(&self) -> Self {
        let (workers, output) = (self.workers.for_another(), Output::in_background());
        Self { workers, output, ..self.clone() }
    }

    pub(crate) fn report(&self, costs: [Option<&Cost>; 2]) -> Report {
        let method = &self.method;
        let name = format!("{}/{}", self.job, method.name());
        let about = [name, method::params(method), method::security(method)];
        Report::of_parties(about, (self.n, self.workers.threads()), costs)
    }

    /// Tells of the job on this link: how many transfers have their keys, and what follows then.
    pub(crate) fn watch(&self, link: &mut Link, then: &'static str) {
        self.tell_start();
        let (this, bar) = (self.clone(), self.output.progress(self.n, "transfers"));
        link.peer.on_progress(move |Progress { done, of, .. }| {
            bar.set_position(done as u64);
            if done == 0 {
                this.tell_set_up();
            } else if done == of {
                bar.finish_and_clear();
                this.output.detail(&format!("all keys made{then}"));
            }
        });
    }

    /// A run of the two-round extension is one batch, whose rows are made in one thread; its base OTs
    /// may use all.
    fn tell_start(&self) {
        let name = self.method.extension_name();
        let rows = match self.method.extension {
            Extension::None if self.method.is_two_round() && self.workers.threads() > 1 => {
                return self
                    .output
                    .note(&format!("{name} computes in one thread, but for its base OTs"));
            }
            Extension::None => return,
            Extension::OneOfTwo(_) | Extension::Silent(_) => ROWS,
            Extension::OneOfN(extension) => extension.parameters().length,
        };
        let base = self.method.base.info().name;
        self.output.detail(&format!("running {rows} base OTs {base}, to set up {name}"));
    }

    fn tell_set_up(&self) {
        let largest = match self.method.extension {
            Extension::OneOfTwo(extension) => Some(extension.max_batch()),
            Extension::Silent(silent) => Some(silent.max_batch()),
            _ => None,
        };
        if let Some(largest) = largest {
            let (name, threads) = (self.method.extension_name(), self.workers.threads());
            let batches = self.n.div_ceil(largest);
            let done = format!("{ROWS} base OTs done, {name} set up");
            self.output.detail(&format!("{done}; batches: {batches}, threads: {threads}"));
        }
    }
}
