//! Transfers over a link, with words of how far they are: keys batch after batch into a sink, and messages.

use foxtrot::{
    job::{Hello, Job, Role, Sink},
    ot::terms::{messages, transfers},
};
use foxtrot_ot::{
    Bits, Context,
    base::{Block, Choice},
    convert::Sealed,
    extension::{ROWS, Shape, one_of_n},
};
use zeroize::Zeroizing;

use crate::{
    args::Common,
    failure::Failure,
    lines::Messages,
    link::Cost,
    method::{self, Extension, Method},
    output::Output,
    report::Report,
    workers::Workers,
};

/// One party of transfers: the terms on which both sides have to agree, and where it computes.
#[derive(Clone)]
pub(crate) struct Party {
    pub(crate) method: Method,
    pub(crate) n: usize,
    /// The number of messages of which one is chosen, and whether lines are hexadecimal; nothing for random keys.
    pub(crate) messages: Option<(usize, bool)>,
    pub(crate) workers: Workers,
    pub(crate) output: Output,
}

impl Party {
    pub(crate) fn new(
        common: &Common,
        method: Method,
        n: usize,
        messages: Option<(usize, bool)>,
    ) -> Result<Self, Failure> {
        let (workers, output) = (Workers::new(common.threads)?, Output::new(common));
        Ok(Self { method, n, messages, workers, output })
    }

    /// Makes a party that says nothing, with the same terms, on the same threads.
    pub(crate) fn for_another(&self) -> Self {
        let (workers, output) = (self.workers.for_another(), Output::in_background());
        Self { workers, output, ..self.clone() }
    }

    pub(crate) fn hello(&self, role: Role) -> Hello {
        match self.messages {
            None => transfers("rot", role, &self.method, self.n),
            Some((choices, hex)) => messages(role, &self.method, self.n, choices, hex),
        }
    }

    pub(crate) fn choices(&self) -> usize {
        self.messages.map_or(2, |(choices, _)| choices)
    }

    pub(crate) fn report(&self, costs: [Option<&Cost>; 2]) -> Report {
        let (method, job) = (&self.method, if self.messages.is_some() { "ot" } else { "rot" });
        let name = format!("{job}/{}", method.name());
        let about = [name, method::params(method), method::security(method)];
        Report::of_parties(about, (self.n, self.workers.threads()), costs)
    }

    /// Makes random keys batch by batch: bytes of choices, if this side is the receiver, and of keys. Every batch but the last
    /// has whole bytes of choices.
    pub(crate) fn make(
        &self,
        job: &mut Job<'_>,
        mut sink: impl FnMut(&[u8], &[u8]) -> Result<(), Failure> + Send,
    ) -> Result<(), Failure> {
        self.tell_start();
        let (n, progress) = (self.n, &self.output.progress(self.n, "transfers"));
        let ((session, seed), direction) = (job.start()?, job.direction());
        let role = job.agreement().role;
        let failed = &Sink::new();
        job.play_into(failed, |io| async move {
            let mut cx = Context::new(&session, seed);
            let mut take = |choices: &[u8], keys: &[u8], n: usize| {
                failed.keep(sink(choices, keys))?;
                progress.inc(n as u64);
                Ok(())
            };
            let (method, set_up) = (&self.method, &mut || self.tell_set_up());
            if role == Role::Sender {
                let sink = &mut |keys: &[[Block; 2]]| {
                    take(&[], keys.as_flattened().as_flattened(), keys.len())
                };
                return method.send(&io, &mut cx, direction, Shape::random(n), set_up, sink).await;
            }
            let sink = &mut |choices: &Bits, keys: &[Block]| {
                take(choices.as_bytes(), keys.as_flattened(), keys.len())
            };
            method.receive(&io, &mut cx, direction, &Choice::Random(n), set_up, sink).await
        })?;
        self.output.detail("all keys made");
        Ok(())
    }

    /// All messages, sealed under their keys; none is longer than this.
    pub(crate) fn send_messages(
        &self,
        job: &mut Job<'_>,
        message_len: usize,
        messages: &Messages,
    ) -> Result<(), Failure> {
        self.tell_start();
        let shape = one_of_n::protocol::Shape { n: self.n, choices: self.choices() };
        let counted = &mut self.counter("sending");
        let ((session, seed), direction) = (job.start()?, job.direction());
        let message = |i: usize| Ok(messages.get(i));
        Ok(job.play(|io| async move {
            let mut cx = Context::new(&session, seed);
            self.method
                .send_messages(&io, &mut cx, direction, shape, message_len, message, counted)
                .await
        })?)
    }

    /// The chosen messages, still sealed.
    pub(crate) fn receive_messages(
        &self,
        job: &mut Job<'_>,
        message_len: usize,
        picks: Zeroizing<Vec<u64>>,
    ) -> Result<Sealed, Failure> {
        self.tell_start();
        let (choices, counted) = (self.choices(), &mut self.counter("receiving"));
        let ((session, seed), direction) = (job.start()?, job.direction());
        Ok(job.play(|io| async move {
            let mut cx = Context::new(&session, seed);
            self.method
                .receive_messages(&io, &mut cx, direction, choices, message_len, picks, counted)
                .await
        })?)
    }

    /// Shows how many of all transfers have their keys, and what follows then.
    fn counter(&self, then: &str) -> impl FnMut(usize) + Send {
        let (progress, mut left) = (self.output.progress(self.n, "transfers"), self.n);
        move |more| {
            progress.inc(more as u64);
            left = left.saturating_sub(more);
            match (more, left) {
                (0, _) => self.tell_set_up(),
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
