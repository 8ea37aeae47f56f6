//! One of N messages each, over a 1-of-N extension (`docs/wire.md`, section 10).

use foxtrot_net::{ChannelError, Lane, drive};
use foxtrot_ot::{
    base::Block,
    convert::one_of_n::{self as convert, messages_per_frame},
    extension::one_of_n::{
        Extension,
        protocol::{self, Plan, Shape},
    },
};
use zeroize::Zeroizing;

use crate::{
    failure::Failure,
    lines::Messages,
    link::{Link, Terms},
    output::Output,
};

/// One party of a run.
pub(super) struct Party<'a> {
    pub(super) link: &'a Link,
    pub(super) terms: &'a Terms,
    pub(super) extension: Extension,
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
        let (mut cx, plan) = (drive::context(&self.link.session)?, self.plan());
        let mut sender = drive::play(channel, |io| async move {
            protocol::Sender::set_up(&io, &mut cx, plan).await
        })?;
        let (shape, progress) = (self.shape(), &self.output.progress(self.terms.n, "transfers"));
        // Without growing, which would leave copies behind.
        let mut keys = Zeroizing::new(Vec::<Block>::with_capacity(messages.len()));
        let all = &mut keys;
        drive::play(channel, |io| async move {
            let sink = |some: &[Block]| {
                all.extend_from_slice(some);
                progress.inc((some.len() / shape.choices) as u64);
                Ok(())
            };
            sender.run(&io, shape, sink).await
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
        let (mut cx, plan) = (drive::context(&self.link.session)?, self.plan());
        let mut receiver = drive::play(channel, |io| async move {
            protocol::Receiver::set_up(&io, &mut cx, plan).await
        })?;
        let (words, progress) = (&words, &self.output.progress(shape.n, "transfers"));
        let mut keys = Zeroizing::new(Vec::<Block>::with_capacity(shape.n));
        let all = &mut keys;
        drive::play(channel, |io| async move {
            let sink = |some: &[Block]| {
                all.extend_from_slice(some);
                progress.inc(some.len() as u64);
                Ok(())
            };
            receiver.run(&io, shape, words, sink).await
        })?;
        self.output.detail("all keys made; receiving the messages");
        while let Some(len) = sealed.next_frame_len() {
            sealed.take(&channel.recv(Lane::PROTOCOL, len)?)?;
        }
        Ok(Received { keys, sealed })
    }

    fn shape(&self) -> Shape {
        Shape { n: self.terms.n, choices: self.terms.one_of.unwrap_or(2) }
    }

    fn plan(&self) -> Plan<'_> {
        let (base, direction) = (self.terms.method.base, self.link.agreement.direction());
        Plan { extension: self.extension, base, direction, counter: 0 }
    }

    fn tell_setup(&self) {
        let (base, extension) = (self.terms.method.base.info().name, self.extension);
        let (rows, name) = (extension.parameters().length, extension.name());
        self.output.detail(&format!("running {rows} base OTs {base}, to set up {name}"));
    }
}
