//! Transfers by any method: base OTs alone, or an extension of them.
//!
//! A [`Method`] names the protocols. [`Method::check`] is the rule of what may stand on what, and its other functions run
//! it: keys, and messages of the sender's choice under these keys (`docs/wire/chosen-messages.md`).

use alloc::{boxed::Box, vec::Vec};
use spin::Mutex;
use zeroize::Zeroizing;

use crate::{
    Bits, Context, Direction, Error, Usage,
    base::{Adversary, BaseOt, Block, Choice, Protocol},
    convert::{self, Format, Sealed, check_picks},
    engine::{Abandoned, Io, Run},
    extension::{
        self, OtKind, Shape,
        one_of_n::{self, protocol as of_n},
        protocol::{self as of_two, ExtensionPlan},
        two_round,
    },
    protocol::{Purpose, suits},
    silent::{self, Gf2, Silent},
};

/// Instances of a batch of base OTs, the last of a run excepted.
const BATCH: usize = 1024;

/// Transfers of a run of the two-round extension, the last one excepted. Its second message is one frame of 1 MiB and the
/// base OTs' answer then, as long as a batch of the other extensions: a frame has to come within one timeout, also over a
/// slow link.
pub const TWO_ROUND_RUN: usize = 1 << 16;

/// The way in which transfers are made.
#[derive(Clone, Copy)]
pub struct Method {
    /// The base OT.
    pub base: &'static dyn BaseOt,
    /// The extension, if there is one.
    pub extension: Extension,
}

/// The protocol over the base OTs.
#[derive(Clone, Copy, Debug)]
pub enum Extension {
    /// Nothing: they are the transfers.
    None,
    /// Transfers of one of two.
    OneOfTwo(extension::Extension),
    /// Transfers of one of two, from few of an extension.
    Silent(Silent<Gf2>),
    /// Transfers of one of any number.
    OneOfN(one_of_n::Extension),
}

/// The sender's sink, which gets both keys of each transfer of a batch.
pub type SendTo<'a> = &'a mut (dyn FnMut(&[[Block; 2]]) -> Result<(), Abandoned> + Send);

/// The receiver's sink, which gets the choices and keys of a batch.
pub type ReceiveTo<'a> = &'a mut (dyn FnMut(&Bits, &[Block]) -> Result<(), Abandoned> + Send);

/// A call for when the base OTs of an extension are done.
pub type SetUp<'a> = &'a mut (dyn FnMut() + Send);

/// A call that counts transfers whose keys are made.
pub type OnProgress<'a> = &'a mut (dyn FnMut(usize) + Send);

impl Extension {
    /// The extension's record.
    #[must_use]
    pub fn info(&self) -> Option<&'static Protocol> {
        match self {
            Self::None => None,
            Self::OneOfTwo(extension) => Some(extension.info()),
            Self::Silent(silent) => Some(silent.info()),
            Self::OneOfN(extension) => Some(extension.info()),
        }
    }
}

impl Method {
    /// Returns an error unless transfers of one of so many may be made so.
    ///
    /// # Errors
    /// [`Usage::Incompatible`] as [`suits`] says; [`Usage::Choices`] if there are too many to choose from, or too few.
    pub fn check(&self, purpose: Purpose, wanted: Adversary, choices: usize) -> Result<(), Usage> {
        suits(self.base.info(), self.extension.info(), purpose, wanted)
            .map_err(Usage::Incompatible)?;
        let last = (choices as u64).saturating_sub(1);
        let serves = match &self.extension {
            _ if choices < 2 => false,
            // The last index has a word if every one has.
            Extension::OneOfN(extension) => extension.parameters().word(last).is_some(),
            _ => choices == 2,
        };
        if serves { Ok(()) } else { Err(Usage::Choices { choices }) }
    }

    /// The name of the protocol that yields the keys.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.extension.info().unwrap_or(self.base.info()).name
    }

    /// The extension's name in the hello.
    #[must_use]
    pub fn extension_name(&self) -> &'static str {
        match self.extension.info() {
            Some(info) => info.name,
            None if self.is_two_round() => two_round::FAMILY,
            None => "none",
        }
    }

    /// Returns true if the base OT is an extension with its base OTs.
    #[must_use]
    pub fn is_two_round(&self) -> bool {
        self.base.info().family == two_round::FAMILY
    }

    /// The most transfers of one run of the base OT, where there is no other extension.
    #[must_use]
    pub fn batch(&self) -> usize {
        if self.is_two_round() { TWO_ROUND_RUN } else { BATCH }
    }

    /// Against whom the whole is secure: the adversary of its weaker part.
    #[must_use]
    pub fn adversary(&self) -> Adversary {
        match self.extension.info().map(|info| info.adversary) {
            Some(Adversary::SemiHonest) => Adversary::SemiHonest,
            _ => self.base.info().adversary,
        }
    }

    /// Sends random OTs: both keys of each go to `sink`, batch after batch. `set_up` is called when the extension's base
    /// OTs are done.
    ///
    /// # Errors
    /// Errors of the protocols; [`Usage::Abandoned`].
    pub fn send<'a>(
        &'a self,
        io: &'a Io,
        cx: &'a mut Context<'_>,
        direction: Direction,
        shape: Shape,
        set_up: SetUp<'a>,
        sink: SendTo<'a>,
    ) -> Run<'a, ()> {
        Box::pin(async move {
            match self.extension {
                Extension::None => {}
                Extension::OneOfTwo(extension) => {
                    let plan = self.plan(extension, direction);
                    let mut sender = of_two::Sender::set_up(io, cx, plan).await?;
                    set_up();
                    return sender.random(io, shape, sink).await;
                }
                Extension::Silent(silent) => {
                    let plan = self.plan(silent, direction);
                    let mut sender = silent::protocol::Sender::set_up(io, cx, plan).await?;
                    set_up();
                    return sender.random(io, shape, sink).await;
                }
                Extension::OneOfN(_) => return Err(Usage::Choices { choices: 2 }.into()),
            }
            for (counter, batch) in (0..).zip(shape.batches(self.batch())) {
                let session = cx.session().sub(self.base.info().name, counter, direction);
                let keys = io.run(self.base.sender(session, batch.n(), cx.seed())?).await?;
                sink(keys.pairs())?;
            }
            Ok(())
        })
    }

    /// Receives random OTs: choices and keys go to `sink`, batch after batch. Every batch but the last has a whole number
    /// of bytes of choices.
    ///
    /// # Errors
    /// As of [`send`](Self::send).
    pub fn receive<'a>(
        &'a self,
        io: &'a Io,
        cx: &'a mut Context<'_>,
        direction: Direction,
        choice: &'a Choice,
        set_up: SetUp<'a>,
        sink: ReceiveTo<'a>,
    ) -> Run<'a, ()> {
        Box::pin(async move {
            match self.extension {
                Extension::None => {}
                Extension::OneOfTwo(extension) => {
                    let plan = self.plan(extension, direction);
                    let mut receiver = of_two::Receiver::set_up(io, cx, plan).await?;
                    set_up();
                    return receiver.run(io, choice, OtKind::Random, sink).await;
                }
                Extension::Silent(silent) => {
                    let plan = self.plan(silent, direction);
                    let mut receiver = silent::protocol::Receiver::set_up(io, cx, plan).await?;
                    set_up();
                    return receiver.random(io, choice, sink).await;
                }
                Extension::OneOfN(_) => return Err(Usage::Choices { choices: 2 }.into()),
            }
            let mut start = 0;
            for (counter, batch) in (0..).zip(Shape::of(choice).batches(self.batch())) {
                let choice = match choice {
                    Choice::Given(bits) => Choice::Given(bits.slice(start..start + batch.n())),
                    Choice::Random(_) => Choice::Random(batch.n()),
                };
                start += batch.n();
                let session = cx.session().sub(self.base.info().name, counter, direction);
                let keys = io.run(self.base.receiver(session, choice, cx.seed())?).await?;
                sink(keys.choices(), keys.keys())?;
            }
            Ok(())
        })
    }

    /// Sends messages, `shape.choices` to a transfer, of which the receiver gets one. `message` gives each in order, by its
    /// number among all, when the keys are made. `progress` counts transfers whose keys are made; it is told 0 when the
    /// extension's base OTs are done.
    ///
    /// # Errors
    /// [`Usage`] for a message that is longer than `message_len`; errors of the protocols.
    #[expect(clippy::too_many_arguments, reason = "the session, its terms, and two calls back")]
    pub async fn send_messages<M: AsRef<[u8]>>(
        &self,
        io: &Io,
        cx: &mut Context<'_>,
        direction: Direction,
        shape: of_n::Shape,
        message_len: usize,
        mut message: impl FnMut(usize) -> Result<M, Abandoned>,
        progress: OnProgress<'_>,
    ) -> Result<(), Error> {
        let of_messages = cx.session().sub("chosen-messages", 0, direction);
        // Without growing, which would leave copies behind.
        let mut keys = Zeroizing::new(Vec::<Block>::with_capacity(shape.n * shape.choices));
        let format = self.format(shape.choices);
        let mut sender = convert::Sender::new(of_messages, format, message_len)?;
        self.send_all(io, cx, direction, shape, &mut keys, progress).await?;
        let per_frame = format.messages_per_frame(message_len);
        for (frame, keys) in keys.chunks(per_frame).enumerate() {
            let numbers = frame * per_frame..;
            let messages = keys.iter().zip(numbers).map(|(_, i)| message(i));
            let messages = messages.collect::<Result<Vec<_>, _>>()?;
            io.send(sender.seal(keys, &messages)?).await;
        }
        Ok(())
    }

    /// All keys of all transfers.
    fn send_all<'a>(
        &'a self,
        io: &'a Io,
        cx: &'a mut Context<'_>,
        direction: Direction,
        shape: of_n::Shape,
        keys: &'a mut Vec<Block>,
        progress: OnProgress<'a>,
    ) -> Run<'a, ()> {
        Box::pin(async move {
            let Extension::OneOfN(extension) = self.extension else {
                let progress = Mutex::new(progress);
                let sink = &mut |some: &[[Block; 2]]| {
                    keys.extend_from_slice(some.as_flattened());
                    (progress.lock())(some.len());
                    Ok(())
                };
                let set_up = &mut || (progress.lock())(0);
                return self.send(io, cx, direction, Shape::given(shape.n), set_up, sink).await;
            };
            let plan = self.plan(extension, direction);
            let mut sender = of_n::Sender::set_up(io, cx, plan).await?;
            progress(0);
            let sink = |some: &[Block]| {
                keys.extend_from_slice(some);
                progress(some.len() / shape.choices.max(1));
                Ok(())
            };
            sender.run(io, shape, sink).await
        })
    }

    /// Receives of each transfer the message with the index in `picks`, which are below `choices`. Opens nothing: end the
    /// session first, then [`Sealed::open`]. `progress` is as of [`send_messages`](Self::send_messages).
    ///
    /// # Errors
    /// [`Usage::NoSuchChoice`], without saying where; errors of the protocols.
    #[expect(clippy::too_many_arguments, reason = "the session, its terms, and a call back")]
    pub fn receive_messages<'a>(
        &'a self,
        io: &'a Io,
        cx: &'a mut Context<'_>,
        direction: Direction,
        choices: usize,
        message_len: usize,
        picks: Zeroizing<Vec<u64>>,
        progress: OnProgress<'a>,
    ) -> Run<'a, Sealed> {
        Box::pin(async move {
            check_picks(&picks, choices)?;
            let (n, of_messages) = (picks.len(), cx.session().sub("chosen-messages", 0, direction));
            let format = self.format(choices);
            convert::MessageTerms::new(&of_messages, format, message_len)?;
            let mut keys = Zeroizing::new(Vec::<Block>::with_capacity(n));
            if let Extension::OneOfN(extension) = self.extension {
                let parameters = extension.parameters();
                let mut words = Zeroizing::new(Vec::with_capacity(n * parameters.word_len()));
                for &pick in picks.iter() {
                    let word = parameters.word(pick).map(Zeroizing::new);
                    words.extend_from_slice(&word.ok_or(Usage::Choices { choices })?);
                }
                let plan = self.plan(extension, direction);
                let mut receiver = of_n::Receiver::set_up(io, cx, plan).await?;
                progress(0);
                let sink = |some: &[Block]| {
                    keys.extend_from_slice(some);
                    progress(some.len());
                    Ok(())
                };
                receiver.run(io, of_n::Shape { n, choices }, &words, sink).await?;
            } else {
                let bits = Bits::from_bools(picks.iter().map(|&pick| pick == 1));
                let progress = Mutex::new(progress);
                let sink = &mut |_: &Bits, some: &[Block]| {
                    keys.extend_from_slice(some);
                    (progress.lock())(some.len());
                    Ok(())
                };
                let set_up = &mut || (progress.lock())(0);
                self.receive(io, cx, direction, &Choice::Given(bits), set_up, sink).await?;
            }
            let mut receiver =
                convert::Receiver::new(of_messages, format, message_len, picks, keys)?;
            while let Some(len) = receiver.next_frame_len() {
                receiver.take(&io.recv(len).await)?;
            }
            Ok(receiver.finish()?)
        })
    }

    /// The format of messages under the keys of the transfers.
    fn format(&self, choices: usize) -> Format {
        match self.extension {
            Extension::OneOfN(_) => Format::OneOf(choices),
            _ => Format::Pairs,
        }
    }

    fn plan<E>(&self, extension: E, direction: Direction) -> ExtensionPlan<'static, E> {
        ExtensionPlan { extension, base: self.base, direction, counter: 0 }
    }
}

foxtrot_kernel::redacted! {
    Method, method => "{} from {}", method.extension_name(), method.base.info().name;
}
