//! Transfers over a link, with words of how far they are: keys batch after batch into a sink, and messages.

use foxtrot::job::{Job, Sink};
use foxtrot_ot::{
    Bits,
    base::{Block, Choice},
    extension::{ROWS, Shape, one_of_n},
    transfers::Sealed,
};
use zeroize::Zeroizing;

use crate::{
    failure::Failure,
    lines::Messages,
    method::{Extension, Method},
    output::Output,
    workers::Workers,
};

/// One party of a run.
pub(crate) struct Party<'a> {
    pub(crate) job: &'a Job<'a>,
    pub(crate) method: Method,
    pub(crate) workers: &'a Workers,
    pub(crate) output: Output,
}

impl Party<'_> {
    /// The sender's key pairs.
    pub(crate) fn send(
        &self,
        shape: Shape,
        mut sink: impl FnMut(&[[Block; 2]]) -> Result<(), Failure> + Send,
    ) -> Result<(), Failure> {
        self.tell_start();
        let progress = &self.output.progress(shape.n(), "transfers");
        let (mut cx, direction) = (self.job.context()?, self.job.direction());
        let failed = &Sink::new();
        self.job.play_into(failed, |io| async move {
            let mut sink = |keys: &[[Block; 2]]| {
                failed.keep(sink(keys))?;
                progress.inc(keys.len() as u64);
                Ok(())
            };
            let mut set_up = || self.tell_set_up(shape.n());
            self.method.send(&io, &mut cx, direction, shape, &mut set_up, &mut sink).await
        })?;
        self.output.detail("all keys made");
        Ok(())
    }

    /// The receiver's choices and keys. Every batch but the last has a whole number of bytes of
    /// choices.
    pub(crate) fn receive(
        &self,
        choice: &Choice,
        mut sink: impl FnMut(&Bits, &[Block]) -> Result<(), Failure> + Send,
    ) -> Result<(), Failure> {
        self.tell_start();
        let n = Shape::of(choice).n();
        let progress = &self.output.progress(n, "transfers");
        let (mut cx, direction) = (self.job.context()?, self.job.direction());
        let failed = &Sink::new();
        self.job.play_into(failed, |io| async move {
            let mut sink = |choices: &Bits, keys: &[Block]| {
                failed.keep(sink(choices, keys))?;
                progress.inc(keys.len() as u64);
                Ok(())
            };
            let mut set_up = || self.tell_set_up(n);
            self.method.receive(&io, &mut cx, direction, choice, &mut set_up, &mut sink).await
        })?;
        self.output.detail("all keys made");
        Ok(())
    }

    /// All messages, sealed under their keys; none is longer than this.
    pub(crate) fn send_messages(
        &self,
        shape: one_of_n::protocol::Shape,
        message_len: usize,
        messages: &Messages,
    ) -> Result<(), Failure> {
        self.tell_start();
        let counted = &mut self.counter(shape.n, "sending");
        let (mut cx, direction) = (self.job.context()?, self.job.direction());
        let message = |i: usize| Ok(messages[i].as_slice());
        Ok(self.job.play(|io| async move {
            self.method
                .send_messages(&io, &mut cx, direction, shape, message_len, message, counted)
                .await
        })?)
    }

    /// The chosen messages of so many each, still sealed.
    pub(crate) fn receive_messages(
        &self,
        choices: usize,
        message_len: usize,
        picks: Zeroizing<Vec<u64>>,
    ) -> Result<Sealed, Failure> {
        self.tell_start();
        let counted = &mut self.counter(picks.len(), "receiving");
        let (mut cx, direction) = (self.job.context()?, self.job.direction());
        Ok(self.job.play(|io| async move {
            self.method
                .receive_messages(&io, &mut cx, direction, choices, message_len, picks, counted)
                .await
        })?)
    }

    /// Shows how many of all transfers have their keys, and what follows then.
    fn counter(&self, all: usize, then: &str) -> impl FnMut(usize) + Send {
        let (progress, mut left) = (self.output.progress(all, "transfers"), all);
        move |more| {
            progress.inc(more as u64);
            left = left.saturating_sub(more);
            match (more, left) {
                (0, _) => self.tell_set_up(all),
                (_, 0) => {
                    progress.finish_and_clear();
                    self.output.detail(&format!("all keys made; {then} the messages"));
                }
                _ => {}
            }
        }
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

    fn tell_set_up(&self, n: usize) {
        let largest = match self.method.extension {
            Extension::OneOfTwo(extension) => Some(extension.max_batch()),
            Extension::Silent(silent) => Some(silent.max_batch()),
            _ => None,
        };
        if let Some(largest) = largest {
            let (name, threads) = (self.method.extension_name(), self.workers.threads());
            let batches = n.div_ceil(largest);
            let done = format!("{ROWS} base OTs done, {name} set up");
            self.output.detail(&format!("{done}; batches: {batches}, threads: {threads}"));
        }
    }
}
