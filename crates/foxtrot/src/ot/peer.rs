//! Oblivious transfer of messages with a [`Peer`].

use foxtrot_net::hello::{Hello, JOB, Role};
use foxtrot_ot::{Bits, Usage, convert::MAX_MESSAGE};
use zeroize::Zeroizing;

use super::Options;
use crate::{Error, Peer, job::Job};

/// The messages that the receiver chose, erased on drop.
pub type Messages = Vec<Zeroizing<Vec<u8>>>;

/// The detail that tells the length of the longest message.
const MESSAGE_LENGTH: &str = "message-length";

/// Sends one message of each pair: the one that the receiver chooses, which this side does not learn.
///
/// # Errors
/// [`Error`].
pub fn send<M: AsRef<[u8]> + Sync>(peer: &mut Peer, messages: &[[M; 2]]) -> Result<(), Error> {
    Options::new().send(peer, messages)
}

/// Receives a message of each pair: the first for `false`, the second for `true`.
///
/// # Errors
/// [`Error`]; [`Error::Unopened`] must not be told to the peer.
pub fn receive(peer: &mut Peer, choices: &[bool]) -> Result<Messages, Error> {
    Options::new().receive(peer, choices)
}

impl Options {
    /// [`send`] with these options.
    ///
    /// # Errors
    /// [`Error`].
    pub fn send<M: AsRef<[u8]> + Sync>(
        &self,
        peer: &mut Peer,
        messages: &[[M; 2]],
    ) -> Result<(), Error> {
        let longest = longest(messages.as_flattened())?;
        let hello = self.hello(Role::Sender, messages.len())?.detail(MESSAGE_LENGTH, longest);
        let job = peer.begin(hello, "transfers")?;
        let (mut cx, direction) = (job.context()?, job.direction());
        job.play(
            |io| async move { self.send_over(&io, &mut cx, direction, longest, messages).await },
        )?;
        job.finish()
    }

    /// [`receive`] with these options.
    ///
    /// # Errors
    /// [`Error`].
    pub fn receive(&self, peer: &mut Peer, choices: &[bool]) -> Result<Messages, Error> {
        let choices = &Bits::from_bools(choices.iter().copied());
        let job = peer.begin(self.hello(Role::Receiver, choices.len())?, "transfers")?;
        let longest = offered_length(&job)?;
        let (mut cx, direction) = (job.context()?, job.direction());
        let sealed = job.play(|io| async move {
            self.receive_over(&io, &mut cx, direction, longest, choices).await
        })?;
        // The session ends before anything is opened: whether that fails, and how long it takes, depends on the choices.
        job.finish()?;
        sealed.open().map_err(unopened)
    }

    fn hello(&self, role: Role, n: usize) -> Result<Hello, Error> {
        let (base, extension) = (self.choice.base_for_given().info(), self.extension_for(n)?);
        let extension = extension.map(|extension| extension.info());
        let adversary = extension.map_or(base.adversary, |extension| extension.adversary);
        Ok(Hello::new(role)
            .term(JOB, "ot")
            .term("base", base.name)
            .term("extension", extension.map_or("none", |extension| extension.name))
            .term("adversary", adversary)
            .term("count", n)
            .term("format", "hex"))
    }

    fn hello_of_n(&self, role: Role, n: usize, choices: usize) -> Hello {
        let extension = self.extension_of_n().info();
        Hello::new(role)
            .term(JOB, "ot")
            .term("base", self.choice.base_for_given().info().name)
            .term("extension", extension.name)
            .term("adversary", extension.adversary)
            .term("count", n)
            .term("one-of", choices)
            .term("format", "hex")
    }
}

/// Calls for one in N messages.
pub(super) mod one_of_n {
    use super::*;

    /// Sends, of each `choices` messages in a row, the one that the receiver picks.
    ///
    /// # Errors
    /// [`Error`].
    pub fn send<M: AsRef<[u8]> + Sync>(
        peer: &mut Peer,
        choices: usize,
        messages: &[M],
    ) -> Result<(), Error> {
        Options::new().send_one_of(peer, choices, messages)
    }

    /// Receives, of each `choices` messages in a row, the one with the index in `picks`.
    ///
    /// # Errors
    /// [`Usage::NoSuchChoice`] for an index that is not below `choices`; [`Error`].
    pub fn receive(peer: &mut Peer, choices: usize, picks: &[u64]) -> Result<Messages, Error> {
        Options::new().receive_one_of(peer, choices, picks)
    }

    impl Options {
        /// [`send`] with these options.
        ///
        /// # Errors
        /// [`Error`].
        pub fn send_one_of<M: AsRef<[u8]> + Sync>(
            &self,
            peer: &mut Peer,
            choices: usize,
            messages: &[M],
        ) -> Result<(), Error> {
            let (n, longest) = (messages.len() / choices.max(1), longest(messages)?);
            if choices < 2 {
                return Err(Usage::Choices { choices }.into());
            }
            let (expected, got) = (n * choices, messages.len());
            if expected != got {
                return Err(Usage::CountMismatch { what: "messages", expected, got }.into());
            }
            let hello = self.hello_of_n(Role::Sender, n, choices);
            let job = peer.begin(hello.detail(MESSAGE_LENGTH, longest), "transfers")?;
            let (mut cx, direction) = (job.context()?, job.direction());
            job.play(|io| async move {
                self.send_one_of_over(&io, &mut cx, direction, choices, longest, messages).await
            })?;
            job.finish()
        }

        /// [`receive`] with these options.
        ///
        /// # Errors
        /// [`Error`].
        pub fn receive_one_of(
            &self,
            peer: &mut Peer,
            choices: usize,
            picks: &[u64],
        ) -> Result<Messages, Error> {
            // Without an early end, which would tell where.
            let outside = picks.iter().fold(0, |all, &pick| all | u8::from(pick >= choices as u64));
            if choices < 2 {
                return Err(Usage::Choices { choices }.into());
            }
            if outside != 0 {
                return Err(Usage::NoSuchChoice { choices: choices as u64 }.into());
            }
            let picks = Zeroizing::new(picks.to_vec());
            let job =
                peer.begin(self.hello_of_n(Role::Receiver, picks.len(), choices), "transfers")?;
            let longest = offered_length(&job)?;
            let (mut cx, direction) = (job.context()?, job.direction());
            let sealed = job.play(|io| async move {
                self.receive_one_of_over(&io, &mut cx, direction, choices, longest, picks).await
            })?;
            job.finish()?;
            sealed.open().map_err(unopened)
        }
    }
}

/// The length of the longest message, to which all are padded.
fn longest<M: AsRef<[u8]>>(messages: &[M]) -> Result<usize, Error> {
    let longest = messages.iter().map(|message| message.as_ref().len()).max().unwrap_or(0);
    match longest {
        0..=MAX_MESSAGE => Ok(longest),
        len => Err(Usage::MessageLength { len, max: MAX_MESSAGE }.into()),
    }
}

fn offered_length(job: &Job<'_>) -> Result<usize, Error> {
    let length = job.number(MESSAGE_LENGTH).filter(|&length| length <= MAX_MESSAGE);
    length.ok_or_else(|| job.abandon(Error::Offer { what: "length of messages" }))
}

/// The only error of opening: whatever is wrong is the peer's doing.
fn unopened(_: foxtrot_ot::Error) -> Error {
    Error::Unopened
}
