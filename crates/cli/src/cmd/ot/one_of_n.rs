//! One of N messages each, over a 1-of-N extension (`docs/wire.md`, section 10).

use foxtrot_net::{ChannelError, Lane, extend::one_of_n as extend};
use foxtrot_ot::{
    base::Block,
    convert::one_of_n::{self as convert, messages_per_frame},
    extension::one_of_n::Any,
};
use zeroize::Zeroizing;

use crate::{
    failure::Failure,
    lines::Messages,
    link::{Link, Terms},
    output::Output,
    workers::Workers,
};

/// One party of a run.
pub(super) struct Party<'a> {
    pub(super) link: &'a Link,
    pub(super) terms: &'a Terms,
    pub(super) extension: Any,
    pub(super) workers: &'a Workers,
    pub(super) output: Output,
}

/// What the receiver has when nothing more is to be sent.
pub(super) struct Received {
    keys: Zeroizing<Vec<Block>>,
    sealed: convert::Receiver,
}

impl Received {
    pub(super) fn open(self) -> Result<Messages, Failure> {
        Ok(self.sealed.open(&self.keys)?)
    }
}

impl Party<'_> {
    /// All messages, sealed under their keys.
    pub(super) fn send(&self, messages: &Messages, message_len: usize) -> Result<(), Failure> {
        let channel = &self.link.channel;
        self.tell_setup();
        let sender = extend::Sender::set_up(channel, &self.plan())?;
        let mut sender = match self.workers.executor() {
            Some(executor) => sender.with_executor(executor),
            None => sender,
        };
        let (shape, progress) = (self.shape(), self.output.progress(self.terms.n, "transfers"));
        // Without growing, which would leave copies behind.
        let mut keys = Zeroizing::new(Vec::<Block>::with_capacity(messages.len()));
        sender.run(shape, |some| {
            keys.extend_from_slice(some);
            progress.inc((some.len() / shape.choices) as u64);
            Ok::<_, Failure>(())
        })?;
        self.output.detail("all keys made; sending the messages");
        let session = self.link.sub("chosen-messages", 0);
        let mut sender = convert::Sender::new(session, message_len, shape.choices)?;
        let per_frame = messages_per_frame(message_len);
        for (keys, messages) in keys.chunks(per_frame).zip(messages.chunks(per_frame)) {
            let messages: Vec<_> = messages.iter().map(|message| message.as_slice()).collect();
            channel.send(Lane::PROTOCOL, sender.seal(keys, &messages)?)?;
        }
        Ok(())
    }

    /// The chosen messages, still sealed, and their keys.
    pub(super) fn receive(
        &self,
        choices: Zeroizing<Vec<u64>>,
        message_len: usize,
    ) -> Result<Received, Failure> {
        let (channel, shape) = (&self.link.channel, self.shape());
        let session = self.link.sub("chosen-messages", 0);
        let parameters = self.extension.parameters();
        let mut words = Zeroizing::new(Vec::with_capacity(choices.len() * parameters.word_len()));
        for &choice in choices.iter() {
            let word = parameters.word(choice).map(Zeroizing::new);
            let too_large = || Failure::run("the code has no word for a choice");
            words.extend_from_slice(&word.ok_or_else(too_large)?);
        }
        let mut sealed = convert::Receiver::new(session, message_len, shape.choices, choices)
            .inspect_err(|_| drop(channel.give_up(ChannelError::Abandoned)))?;
        self.tell_setup();
        let receiver = extend::Receiver::set_up(channel, &self.plan())?;
        let mut receiver = match self.workers.executor() {
            Some(executor) => receiver.with_executor(executor),
            None => receiver,
        };
        let progress = self.output.progress(shape.n, "transfers");
        let mut keys = Zeroizing::new(Vec::<Block>::with_capacity(shape.n));
        receiver.run(shape, &words, |some| {
            keys.extend_from_slice(some);
            progress.inc(some.len() as u64);
            Ok::<_, Failure>(())
        })?;
        self.output.detail("all keys made; receiving the messages");
        while let Some(len) = sealed.next_frame_len() {
            sealed.take(&channel.recv(Lane::PROTOCOL, len)?)?;
        }
        Ok(Received { keys, sealed })
    }

    fn shape(&self) -> extend::Shape {
        extend::Shape { n: self.terms.n, choices: self.terms.one_of.unwrap_or(2) }
    }

    fn plan(&self) -> extend::Plan<'_> {
        let direction = self.link.agreement.direction();
        let (base, session) = (self.terms.method.base, &self.link.session);
        extend::Plan { extension: self.extension, base, session, direction, counter: 0 }
    }

    fn tell_setup(&self) {
        let (base, extension) = (self.terms.method.base.info().name, self.extension.info());
        let (rows, name) = (extension.parameters.length, extension.name);
        self.output.detail(&format!("running {rows} base OTs {base}, to set up {name}"));
    }
}
