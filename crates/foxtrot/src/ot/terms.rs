//! Terms of transfers of messages (`docs/wire/README.md`, section 3), the memory that they take, and the job that follows from
//! them: the same for every door.

use core::future::Future;

use foxtrot_net::{
    Connection, Difference, HelloError, Reason,
    channel::QUEUE_BYTES,
    hello::{self, Hello, Role, Table},
};
use foxtrot_ot::{
    Context, Usage,
    base::Block,
    convert::{MAX_MESSAGE, Sealed},
    extension::one_of_n::protocol::Shape,
    transfers::Method,
};
use zeroize::Zeroizing;

use crate::transfers::{memory_of_transfers, transfers};
use crate::{
    Error,
    job::{Answer, Job, Sink, refused, room},
};

/// The detail that tells to which length the sender of `ot` pads.
const MESSAGE_LENGTH: &str = "message-length";
/// Bytes of a sealed message beside its own: padding, cipher, key and places.
const SEALED: usize = 128;

/// The terms of one side.
#[derive(Clone, Copy, Debug)]
pub struct OtTerms {
    /// The role of this side.
    pub role: Role,
    /// The protocols.
    pub method: Method,
    /// The number of transfers.
    pub n: usize,
    /// The number of messages of a transfer.
    pub choices: usize,
    /// True if messages are any bytes; false for lines of text.
    pub hex: bool,
    /// The length to which a sender pads its messages; of a receiver, the longest that it accepts.
    pub longest: usize,
}

/// The terms on which both sides agree.
#[derive(Clone, Copy, Debug)]
pub struct OtAgreement {
    /// Our terms.
    pub terms: OtTerms,
    /// The length of all messages.
    pub message_len: usize,
}

impl OtTerms {
    /// The hello of this side.
    ///
    /// # Errors
    /// [`Error::Usage`] for a sender's messages that are too long; [`Error::OutOfMemory`].
    pub fn hello(&self) -> Result<Hello, Error> {
        let &Self { role, ref method, n, choices, hex, longest } = self;
        let hello = messages(role, method, n, choices, hex);
        if role == Role::Receiver {
            return Ok(hello);
        }
        if longest > MAX_MESSAGE {
            return Err(Usage::MessageLength { len: longest, max: MAX_MESSAGE }.into());
        }
        // The protocol will have the keys of all messages in memory.
        room::<Block>(n.saturating_mul(choices))?;
        Ok(message_length(hello, longest))
    }

    /// Agrees with a peer that told these details.
    ///
    /// # Errors
    /// [`Error`], with what the peer is told.
    pub fn agree(&self, details: &Table) -> Result<OtAgreement, (Reason, Error)> {
        let agreed = |message_len| Ok(OtAgreement { terms: *self, message_len });
        if self.role == Role::Sender {
            return agreed(self.longest);
        }
        let length = peers_length(details).map_err(refused)?;
        if length <= self.longest {
            return agreed(length);
        }
        let (here, peer) = (format!("at most {}", self.longest), length.to_string());
        let key = "the length of messages".to_owned();
        let differ =
            HelloError::Terms(vec![Difference { key, here: Some(here), peer: Some(peer) }]);
        Err((Reason::OwnInput, Error::Session(differ.into())))
    }
}

impl OtAgreement {
    /// The answer of this side, which computes with so many threads, to the peer's details.
    #[must_use]
    pub fn answer(&self, threads: usize) -> Answer {
        let OtTerms { role, method, n, choices, .. } = &self.terms;
        let memory = match role {
            Role::Sender => memory_of_ot_sender(method, [*n, *choices], self.message_len, threads),
            Role::Receiver => memory_of_ot_receiver(method, *n, self.message_len, threads),
        };
        Answer { memory, ..Answer::default() }
    }

    /// Sends all messages to the end of the session. `message` gives each in order, by its number among all. Progress is in
    /// `transfers` whose keys are made; it is first told when the base OTs of an extension are done.
    ///
    /// # Errors
    /// [`Error::Session`]; errors of `message`, of which the peer is told that there is one.
    pub fn send<M: AsRef<[u8]> + Send, E: From<Error> + Send, C: Connection>(
        &self,
        job: Job<'_, C>,
        message: impl FnMut(usize) -> Result<M, E> + Send,
    ) -> C::Outcome<impl Future<Output = Result<(), E>>> {
        C::outcome(self.play_sender(job, message))
    }

    /// The future of [`send`](Self::send).
    pub(super) async fn play_sender<M: AsRef<[u8]> + Send, E: From<Error> + Send, C: Connection>(
        &self,
        mut job: Job<'_, C>,
        mut message: impl FnMut(usize) -> Result<M, E> + Send,
    ) -> Result<(), E> {
        let Self { terms: OtTerms { method, n, choices, .. }, message_len } = *self;
        let ((session, seed), direction) = (job.start()?, job.direction());
        let counted = &mut job.local().counter(n, "transfers");
        let failed = &Sink::new();
        job.run_into(failed, |io| async move {
            let mut cx = Context::new(&session, seed);
            let (shape, message) = (Shape { n, choices }, |i| failed.keep(message(i)));
            method
                .send_messages(&io, &mut cx, direction, shape, message_len, message, counted)
                .await
        })
        .await?;
        Ok(job.end().await?)
    }

    /// Receives the messages with these indexes, still sealed: the session has ended before anything is opened. Whether that
    /// fails, and how long it takes, depends on the choices.
    ///
    /// # Errors
    /// [`Error::Session`]; [`Error::OutOfMemory`].
    #[must_use = "it is the result, or its future"]
    pub fn receive<C: Connection>(
        &self,
        job: Job<'_, C>,
        picks: Zeroizing<Vec<u64>>,
    ) -> C::Outcome<impl Future<Output = Result<Sealed, Error>>> {
        C::outcome(self.play_receiver(job, picks))
    }

    /// The future of [`receive`](Self::receive).
    pub(super) async fn play_receiver<C: Connection>(
        &self,
        mut job: Job<'_, C>,
        picks: Zeroizing<Vec<u64>>,
    ) -> Result<Sealed, Error> {
        let Self { terms: OtTerms { method, n, choices, .. }, message_len } = *self;
        // The protocol will have all chosen messages in memory, sealed.
        let each = message_len.saturating_add(SEALED);
        room::<u8>(n.saturating_mul(each))?;
        let ((session, seed), direction) = (job.start()?, job.direction());
        let counted = &mut job.local().counter(n, "transfers");
        let sealed = job
            .run(|io| async move {
                let mut cx = Context::new(&session, seed);
                method
                    .receive_messages(&io, &mut cx, direction, choices, message_len, picks, counted)
                    .await
            })
            .await?;
        job.end().await?;
        Ok(sealed)
    }
}

/// The hello of `ot`: `n` transfers of one in `choices` messages, in hexadecimal or as text. A sender adds its
/// [`message_length`].
#[must_use]
pub fn messages(role: Role, method: &Method, n: usize, choices: usize, hex: bool) -> Hello {
    let hello = transfers("ot", role, method, n).term("format", if hex { "hex" } else { "text" });
    if choices == 2 { hello } else { hello.term("one-of", choices) }
}

/// Adds to which length the sender pads.
#[must_use]
pub fn message_length(hello: Hello, len: usize) -> Hello {
    hello.detail(MESSAGE_LENGTH, len)
}

/// The length to which the sender says it pads.
///
/// # Errors
/// [`HelloError::Offer`].
pub fn peers_length(details: &Table) -> Result<usize, HelloError> {
    hello::number(details, MESSAGE_LENGTH, "the length of messages", MAX_MESSAGE)
}

/// The most bytes of memory that the sender of `n` transfers of one in `choices` messages takes, with so many threads: those of
/// [`memory_of_transfers`], keys, and sealed messages that the peer does not take.
fn memory_of_ot_sender(
    method: &Method,
    [n, choices]: [usize; 2],
    message_len: usize,
    threads: usize,
) -> u64 {
    let messages = (n as u64).saturating_mul(choices as u64);
    let sealed = messages.saturating_mul(message_len as u64 + 64).min(QUEUE_BYTES as u64);
    let keys = messages.saturating_mul(32);
    memory_of_transfers(method, n, threads).saturating_add(keys).saturating_add(sealed)
}

/// The most bytes of memory that the receiver of `n` transfers takes, with so many threads: those of [`memory_of_transfers`], and a sealed
/// message of this length for each, with its key and place.
fn memory_of_ot_receiver(method: &Method, n: usize, message_len: usize, threads: usize) -> u64 {
    let sealed = (n as u64).saturating_mul(message_len as u64 + SEALED as u64);
    memory_of_transfers(method, n, threads).saturating_add(sealed)
}
