//! Oblivious transfer of messages with a [`Peer`].

use core::future::Future;

use foxtrot_net::Connection;
use foxtrot_ot::{
    Usage,
    convert::{Message, Sealed, check_picks},
    extension::one_of_n::protocol::Shape,
};
use zeroize::Zeroizing;

use super::{
    Options,
    terms::{OtAgreement, OtTerms},
};
use crate::{
    Error, Peer,
    job::{Job, Role, SinkError, Table, sink_failed},
};

/// The messages that the receiver chose, erased on drop. One that does not open is `None`: see [the module](super).
#[derive(Debug, Default)]
pub struct Messages(Vec<Option<Message>>);

impl Messages {
    /// The number of transfers.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns true if there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The message of transfer `i`; `None` if it does not open, or there is no such transfer.
    #[must_use]
    pub fn get(&self, i: usize) -> Option<&[u8]> {
        Some(self.0.get(i)?.as_ref()?.as_slice())
    }

    /// The messages in order.
    #[must_use]
    pub fn iter(&self) -> impl ExactSizeIterator<Item = Option<&[u8]>> {
        self.0.iter().map(|message| message.as_ref().map(|it| it.as_slice()))
    }
}

impl IntoIterator for Messages {
    type Item = Option<Message>;
    type IntoIter = std::vec::IntoIter<Option<Message>>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Sends one message of each pair: the one that the receiver chooses, which this side does not learn.
pub fn send<M: AsRef<[u8]> + Sync, C: Connection>(
    peer: &mut Peer<C>,
    messages: &[[M; 2]],
) -> C::Outcome<impl Future<Output = Result<(), Error>>> {
    Options::new().send(peer, messages)
}

/// Receives a message of each pair: the first for `false`, the second for `true`.
///
/// # Errors
/// [`Error`]. A message that does not open is none: it is `None` in the result.
pub fn receive<C: Connection>(
    peer: &mut Peer<C>,
    choices: &[bool],
) -> C::Outcome<impl Future<Output = Result<Messages, Error>>> {
    Options::new().receive(peer, choices)
}

impl Options {
    /// [`send`] with these options.
    pub fn send<M: AsRef<[u8]> + Sync, C: Connection>(
        self,
        peer: &mut Peer<C>,
        messages: &[[M; 2]],
    ) -> C::Outcome<impl Future<Output = Result<(), Error>>> {
        self.send_one_of(peer, 2, messages.as_flattened())
    }

    /// [`receive`] with these options.
    pub fn receive<C: Connection>(
        self,
        peer: &mut Peer<C>,
        choices: &[bool],
    ) -> C::Outcome<impl Future<Output = Result<Messages, Error>>> {
        C::outcome(async move {
            Ok(Messages(self.receive_sealed(peer, 2, picks(choices)).await?.open().collect()))
        })
    }

    /// [`send`] with a `source` of messages in place of a list, for more than fit into memory: `source(i, branch)` is asked
    /// for both messages of each of `n` transfers, in order. None is longer than `longest` bytes, which the receiver learns.
    /// An error of the source ends the session, and is in the [`Error`].
    ///
    /// ```
    /// use foxtrot::{Peer, ot};
    ///
    /// let (options, choices) = (ot::Options::new(), [true, false, true]);
    /// let (mut ours, mut theirs) = Peer::pair();
    /// let sender = std::thread::spawn(move || {
    ///     options.send_from(&mut theirs, 3, 8, |i, branch| Ok::<_, std::io::Error>(format!("{i}/{branch}")))
    /// });
    /// let mut lines = Vec::new();
    /// options.receive_into(&mut ours, &choices, |message| {
    ///     lines.extend_from_slice(message.unwrap_or_default());
    ///     Ok::<_, std::io::Error>(lines.push(b' '))
    /// })?;
    /// assert_eq!(lines, b"0/1 1/0 2/1 ");
    /// sender.join().expect("no panic")?;
    /// # Ok::<(), foxtrot::Error>(())
    /// ```
    pub fn send_from<M: AsRef<[u8]> + Send, E: SinkError, C: Connection>(
        self,
        peer: &mut Peer<C>,
        n: usize,
        longest: usize,
        mut source: impl FnMut(usize, usize) -> Result<M, E> + Send,
    ) -> C::Outcome<impl Future<Output = Result<(), Error>>> {
        let source = move |i| source(i / 2, i % 2);
        C::outcome(self.send_each(peer, Shape { n, choices: 2 }, longest, source))
    }

    /// [`receive`] with a `sink` that takes the messages one by one, in order, and none twice in memory. The session has ended
    /// by then, so its errors are not the sender's business; an error of the sink is in the [`Error`].
    pub fn receive_into<E: SinkError, C: Connection>(
        self,
        peer: &mut Peer<C>,
        choices: &[bool],
        mut sink: impl FnMut(Option<&[u8]>) -> Result<(), E>,
    ) -> C::Outcome<impl Future<Output = Result<(), Error>>> {
        C::outcome(async move {
            let sealed = self.receive_sealed(peer, 2, picks(choices)).await?;
            let mut messages = sealed.open();
            messages
                .try_for_each(|message| sink(message.as_ref().map(|it| it.as_slice())))
                .map_err(sink_failed)
        })
    }

    async fn send_each<M: AsRef<[u8]> + Send, E: SinkError, C: Connection>(
        self,
        peer: &mut Peer<C>,
        shape: Shape,
        longest: usize,
        mut source: impl FnMut(usize) -> Result<M, E> + Send,
    ) -> Result<(), Error> {
        if longest > self.longest {
            return Err(Usage::MessageLength { len: longest, max: self.longest }.into());
        }
        let terms = self.terms(Role::Sender, shape, longest)?;
        let (job, agreed) = meet(peer, &terms).await?;
        agreed.play_sender(job, |i| source(i).map_err(sink_failed)).await
    }

    async fn receive_sealed<C: Connection>(
        self,
        peer: &mut Peer<C>,
        choices: usize,
        picks: Zeroizing<Vec<u64>>,
    ) -> Result<Sealed, Error> {
        let shape = Shape { n: picks.len(), choices };
        let terms = self.terms(Role::Receiver, shape, self.longest)?;
        check_picks(&picks, choices)?;
        let (job, agreed) = meet(peer, &terms).await?;
        agreed.play_receiver(job, picks).await
    }

    fn terms(self, role: Role, shape: Shape, longest: usize) -> Result<OtTerms, Usage> {
        let Shape { n, choices } = shape;
        let method = self.method(n, choices)?;
        Ok(OtTerms { role, method, n, choices, hex: true, longest })
    }
}

/// Negotiates these terms, and begins the job.
async fn meet<'p, C: Connection>(
    peer: &'p mut Peer<C>,
    terms: &OtTerms,
) -> Result<(Job<'p, C>, OtAgreement), Error> {
    let threads = peer.local.threads();
    let agree = |details: &Table| {
        let agreed = terms.agree(details)?;
        Ok((agreed, agreed.answer(threads)))
    };
    let (agreed, terms) = peer.agree::<_, Error>(terms.hello()?, agree, |_, _| Ok(())).await?;
    Ok((peer.job(agreed), terms))
}

/// The index of the message that each choice means.
fn picks(choices: &[bool]) -> Zeroizing<Vec<u64>> {
    Zeroizing::new(choices.iter().map(|&choice| u64::from(choice)).collect())
}

/// Calls for one in N messages.
pub(super) mod one_of_n {
    use super::{super::shape, *};

    /// Sends, of each `choices` messages in a row, the one that the receiver picks.
    pub fn send<M: AsRef<[u8]> + Sync, C: Connection>(
        peer: &mut Peer<C>,
        choices: usize,
        messages: &[M],
    ) -> C::Outcome<impl Future<Output = Result<(), Error>>> {
        Options::new().send_one_of(peer, choices, messages)
    }

    /// Receives, of each `choices` messages in a row, the one with the index in `picks`.
    ///
    /// # Errors
    /// [`Usage::NoSuchChoice`] for an index that is not below `choices`; [`Error`].
    pub fn receive<C: Connection>(
        peer: &mut Peer<C>,
        choices: usize,
        picks: &[u64],
    ) -> C::Outcome<impl Future<Output = Result<Messages, Error>>> {
        Options::new().receive_one_of(peer, choices, picks)
    }

    impl Options {
        /// [`send`] with these options.
        ///
        /// ```
        /// use foxtrot::{Peer, extension::kkrt, ot};
        ///
        /// // A code for more to choose from, against a peer that follows the protocol.
        /// let options = ot::Options::new().semi_honest().extension_of_n(kkrt::semi_honest());
        /// let messages: Vec<_> = (0..1000).map(|i| i.to_string()).collect();
        /// let (mut ours, mut theirs) = Peer::pair();
        /// let sender = std::thread::spawn(move || options.send_one_of(&mut theirs, 1000, &messages));
        /// assert_eq!(options.receive_one_of(&mut ours, 1000, &[345])?.get(0), Some(&b"345"[..]));
        /// sender.join().expect("no panic")?;
        /// # Ok::<(), foxtrot::Error>(())
        /// ```
        pub fn send_one_of<M: AsRef<[u8]> + Sync, C: Connection>(
            self,
            peer: &mut Peer<C>,
            choices: usize,
            messages: &[M],
        ) -> C::Outcome<impl Future<Output = Result<(), Error>>> {
            C::outcome(async move {
                let shape = shape(messages.len(), choices)?;
                let longest =
                    messages.iter().map(|message| message.as_ref().len()).max().unwrap_or(0);
                self.send_each(peer, shape, longest, |i| Ok::<_, &str>(&messages[i])).await
            })
        }

        /// [`receive`] with these options.
        pub fn receive_one_of<C: Connection>(
            self,
            peer: &mut Peer<C>,
            choices: usize,
            picks: &[u64],
        ) -> C::Outcome<impl Future<Output = Result<Messages, Error>>> {
            C::outcome(async move {
                let picks = Zeroizing::new(picks.to_vec());
                Ok(Messages(self.receive_sealed(peer, choices, picks).await?.open().collect()))
            })
        }
    }
}
