//! Chosen-message OT: the sender's messages are its input. What needs one, like
//! [`super::rot_from_ot`], is generic over [`ChosenMessageOt`].

use super::{BaseOt, Choice, Protocol, ReceiverKeys, Run, SenderKeys, check_batch};
use crate::{
    Bits, Error, Seed, Session,
    engine::{Engine, Io},
};

/// A protocol that realises 1-of-2 OT of messages of one [`super::Block`] in the UC framework:
/// whatever a corrupt party sends, a simulator can tell the messages or the choices that it stands
/// for. Protocols without that (selective failure, choices that are extracted too late) must not
/// implement this.
///
/// As a [`BaseOt`] it transfers messages that are drawn from the sender's seed. The trait is sealed:
/// a claim of that weight is made in this crate only, with its proof in `docs/`.
pub trait ChosenMessageOt: sealed::Sealed + Copy + Sync + 'static {
    /// Description of the protocol.
    const INFO: &'static Protocol;

    /// The name of [`super::rot_from_ot`] over it.
    const NAME_AS_ROT: &'static str;

    /// The caveat of that one.
    const CAVEAT_AS_ROT: &'static str;

    /// Transfers these messages, and returns them when the receiver has chosen.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`](crate::Usage::BatchTooLarge); [`Error`] if the peer is at fault.
    fn send(
        io: &Io,
        session: Session,
        messages: SenderKeys,
        seed: Seed,
    ) -> impl Future<Output = Result<Sent, Error>> + Send;

    /// Receives the messages of these choices.
    ///
    /// # Errors
    /// As for [`ChosenMessageOt::send`].
    fn receive(
        io: &Io,
        session: Session,
        choices: Bits,
        seed: Seed,
    ) -> impl Future<Output = Result<ReceiverKeys, Error>> + Send;
}

pub(super) mod sealed {
    pub trait Sealed {}
}

/// The messages of an OT whose sender is finished, and whose receiver therefore has chosen. Only such
/// senders give one, and the double [`ideal::sent`](crate::ideal::sent).
#[derive(Debug, PartialEq, Eq)]
pub struct Sent(SenderKeys);

impl Sent {
    pub(crate) fn new(messages: SenderKeys) -> Self {
        Self(messages)
    }

    /// The messages.
    #[must_use]
    pub fn into_messages(self) -> SenderKeys {
        self.0
    }
}

impl<T: ChosenMessageOt> BaseOt for T {
    fn info(&self) -> &'static Protocol {
        T::INFO
    }

    fn sender(&self, session: Session, n: usize, seed: Seed) -> Run<SenderKeys> {
        check_batch(n)?;
        let messages = drawn_messages(&session, n, &seed);
        Ok(Engine::new(move |io| async move {
            Ok(T::send(&io, session, messages, seed).await?.into_messages())
        }))
    }

    fn receiver(&self, session: Session, choice: Choice, seed: Seed) -> Run<ReceiverKeys> {
        let choices = choice.given(T::INFO.name)?;
        check_batch(choices.len())?;
        Ok(Engine::new(move |io| async move { T::receive(&io, session, choices, seed).await }))
    }
}

/// n pairs of uniform messages.
#[must_use]
pub fn drawn_messages(session: &Session, n: usize, seed: &Seed) -> SenderKeys {
    let oracle = session.oracle("foxtrot v1 drawn messages");
    let pair = |i| [0, 1].map(|j| oracle.query(i, j).field(seed.as_bytes()).finish());
    SenderKeys::new((0..n as u64).map(pair).collect())
}
