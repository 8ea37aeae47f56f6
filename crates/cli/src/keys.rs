//! Keys over a link, batch after batch into a sink: base OTs alone (`docs/wire.md`, section 5), or an
//! extension of them (sections 7 and 11).

use foxtrot_net::drive;
use foxtrot_ot::{
    Bits,
    base::{BaseOt, Block, Choice},
    extension::{
        self, Kind, ROWS, Shape,
        protocol::{Plan, Receiver, Sender},
    },
};

use crate::{
    failure::Failure,
    link::Link,
    method::{Extension, Method},
    output::Output,
    workers::Workers,
};

/// One party of a run.
pub(crate) struct Party<'a> {
    pub(crate) link: &'a Link,
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
        let (channel, base) = (&self.link.channel, self.method.base);
        let progress = self.output.progress(shape.n(), "transfers");
        let mut sink = |keys: &[[Block; 2]]| {
            sink(keys).map_err(|e| self.link.abandon(e))?;
            progress.inc(keys.len() as u64);
            Ok::<_, Failure>(())
        };
        match self.method.extension {
            Extension::OneOfTwo(extension) => {
                self.tell_setup(base, &extension);
                let (mut cx, plan) = (drive::context(&self.link.session)?, self.plan(extension));
                let mut sender =
                    drive::play(
                        channel,
                        |io| async move { Sender::set_up(&io, &mut cx, plan).await },
                    )?;
                self.tell_batches(&extension, shape);
                let kept = &drive::Sink::new();
                kept.play(channel, |io| async move {
                    sender.random(&io, shape, |keys| kept.keep(sink(keys))).await
                })?;
            }
            _ => {
                self.tell_threads();
                for (counter, batch) in shape.batches(self.method.batch()).enumerate() {
                    let session = self.link.sub(base.info().name, counter);
                    let role = base.sender(session, batch.n(), drive::fresh_seed()?)?;
                    sink(drive::run(channel, role)?.pairs())?;
                }
            }
        }
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
        let (channel, base) = (&self.link.channel, self.method.base);
        let shape = Shape::of(choice);
        let progress = self.output.progress(shape.n(), "transfers");
        let mut sink = |choices: &Bits, keys: &[Block]| {
            sink(choices, keys).map_err(|e| self.link.abandon(e))?;
            progress.inc(keys.len() as u64);
            Ok::<_, Failure>(())
        };
        match self.method.extension {
            Extension::OneOfTwo(extension) => {
                self.tell_setup(base, &extension);
                let (mut cx, plan) = (drive::context(&self.link.session)?, self.plan(extension));
                let mut receiver = drive::play(channel, |io| async move {
                    Receiver::set_up(&io, &mut cx, plan).await
                })?;
                self.tell_batches(&extension, shape);
                let kept = &drive::Sink::new();
                kept.play(channel, |io| async move {
                    let sink = |choices: &Bits, keys: &[Block]| kept.keep(sink(choices, keys));
                    receiver.run(&io, choice, Kind::Random, sink).await
                })?;
            }
            _ => {
                self.tell_threads();
                for (counter, batch) in shape.batches(self.method.batch()).enumerate() {
                    let start = counter * self.method.batch();
                    let choice = match choice {
                        Choice::Given(bits) => Choice::Given(bits.slice(start..start + batch.n())),
                        Choice::Random(_) => Choice::Random(batch.n()),
                    };
                    let session = self.link.sub(base.info().name, counter);
                    let role = base.receiver(session, choice, drive::fresh_seed()?)?;
                    let keys = drive::run(channel, role)?;
                    sink(keys.choices(), keys.keys())?;
                }
            }
        }
        self.output.detail("all keys made");
        Ok(())
    }

    fn plan(&self, extension: extension::Extension) -> Plan<'_> {
        let direction = self.link.agreement.direction();
        Plan { extension, base: self.method.base, direction, counter: 0 }
    }

    /// A run of the two-round extension is one batch, whose rows are made in one thread; its base OTs
    /// may use all.
    fn tell_threads(&self) {
        if self.method.is_two_round() && self.workers.threads() > 1 {
            let name = self.method.extension_name();
            self.output.note(&format!("{name} computes in one thread, but for its base OTs"));
        }
    }

    fn tell_setup(&self, base: &dyn BaseOt, extension: &extension::Extension) {
        let (base, extension) = (base.info().name, extension.info().name);
        self.output.detail(&format!("running {ROWS} base OTs {base}, to set up {extension}"));
    }

    fn tell_batches(&self, extension: &extension::Extension, shape: Shape) {
        let (name, threads) = (extension.info().name, self.workers.threads());
        let batches = shape.n().div_ceil(extension.max_batch());
        let done = format!("{ROWS} base OTs done, {name} set up");
        self.output.detail(&format!("{done}; batches: {batches}, threads: {threads}"));
    }
}
