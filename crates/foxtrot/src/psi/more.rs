//! More than an intersection, with a [`Peer`]: payloads for matches, matches for both sides, counts and sums.

use std::mem;

use foxtrot_net::{
    Reason,
    hello::Hello,
    jobs::{FUNCTION, LARGEST, MIN_COUNT, check_least_keys, peers_keys},
};
use foxtrot_ot::{
    Usage,
    base::{Adversary, BaseOt},
    erase::Secret,
    protocol::{Purpose, suits},
};
pub use foxtrot_psi::circuit::Outcome;
use foxtrot_psi::{
    circuit::{
        self, PROTOCOL, Parameters,
        protocol::{Plan as CircuitPlan, receive as receive_count, send as send_count},
    },
    join::{MAX_PAYLOAD, Terms},
    method::protocol::{Receiver, Sender},
};

use super::{
    Assumption, Function, Options,
    peer::{Set, steps},
};
use crate::{
    Error, Peer,
    job::{Agreed, Answer, Role, refused},
};

/// The term of the bytes of a payload.
const PAYLOAD: &str = "payload";

impl Options {
    /// Lets the peer find out which of its items are among these, and read the payload of each match: `len` bytes, agreed on
    /// by both. Of items that repeat, the first one's payload goes. The peer calls [`receive_with`](Self::receive_with).
    ///
    /// ```
    /// # #[cfg(feature = "net")] {
    /// use foxtrot::{Peer, psi::Options};
    ///
    /// let (mut ours, mut theirs) = Peer::pair();
    /// let rows = [("ann", b"Bonn"), ("bob", b"Jena"), ("cid", b"Ulm ")];
    /// let sender = std::thread::spawn(move || Options::new().send_with(&mut theirs, &rows, 4));
    /// let common = Options::new().receive_with(&mut ours, &["eve", "cid", "ann"], 4)?;
    /// assert_eq!(common, [(1, b"Ulm ".to_vec()), (2, b"Bonn".to_vec())]);
    /// sender.join().expect("no panic")?;
    /// # }
    /// # Ok::<(), foxtrot::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] if a payload has another length, or there are more than 65536 bytes; [`Error`].
    pub fn send_with<T: AsRef<[u8]>, P: AsRef<[u8]>>(
        &self,
        peer: &mut Peer,
        rows: &[(T, P)],
        len: usize,
    ) -> Result<(), Error> {
        let terms = payload(len)?;
        if let Some((_, wrong)) = rows.iter().find(|(_, payload)| payload.as_ref().len() != len) {
            return Err(Usage::MessageLength { len: wrong.as_ref().len(), max: len }.into());
        }
        let items: Vec<_> = rows.iter().map(|(item, _)| item.as_ref()).collect();
        let set = Set::of(&items)?;
        let payloads: Vec<_> = set.firsts().into_iter().map(|row| rows[row].1.as_ref()).collect();
        let payload = |item: usize, to: &mut [u8]| to.copy_from_slice(payloads[item]);
        self.send_join(peer, &set, (Function::Join, terms), payload).map(drop)
    }

    /// Finds out which of these items the peer also has, with its payload for each: indices in order. Of items that
    /// repeat, each is there.
    ///
    /// # Errors
    /// [`Error`].
    pub fn receive_with<T: AsRef<[u8]>>(
        &self,
        peer: &mut Peer,
        items: &[T],
        len: usize,
    ) -> Result<Vec<(usize, Vec<u8>)>, Error> {
        let set = Set::of(items)?;
        let (common, payloads) = self.receive_join(peer, &set, (Function::Join, payload(len)?))?;
        let mut all = Vec::new();
        for (item, payload) in common.iter().zip(payloads) {
            all.extend(set.indices(&[*item]).into_iter().map(|index| (index, payload.clone())));
        }
        all.sort_unstable_by_key(|(index, _)| *index);
        Ok(all)
    }

    /// Lets the peer find out which of its items are among these, and finds out which these are: their indices, in order. The peer
    /// calls [`receive_both`](Self::receive_both). A peer that cheats or ends early can keep items back, and invents none: there
    /// is no fairness.
    ///
    /// ```
    /// # #[cfg(feature = "net")] {
    /// use foxtrot::{Peer, psi::Options};
    ///
    /// let (mut ours, mut theirs) = Peer::pair();
    /// let sender = std::thread::spawn(move || Options::new().send_both(&mut theirs, &["ann", "bob"]));
    /// assert_eq!(Options::new().receive_both(&mut ours, &["eve", "dan", "bob"])?, [2]);
    /// assert_eq!(sender.join().expect("no panic")?, [1]);
    /// # }
    /// # Ok::<(), foxtrot::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error`].
    pub fn send_both<T: AsRef<[u8]>>(
        &self,
        peer: &mut Peer,
        items: &[T],
    ) -> Result<Vec<usize>, Error> {
        let (set, terms) = (Set::of(items)?, Terms::NONE.both());
        let common = self.send_join(peer, &set, (Function::Both, terms), |_, _| ())?;
        Ok(set.indices(&common))
    }

    /// [`receive`](Self::receive) from a peer that also learns its matches: [`send_both`](Self::send_both).
    ///
    /// # Errors
    /// [`Error`].
    pub fn receive_both<T: AsRef<[u8]>>(
        &self,
        peer: &mut Peer,
        items: &[T],
    ) -> Result<Vec<usize>, Error> {
        let (set, terms) = (Set::of(items)?, Terms::NONE.both());
        let (common, _) = self.receive_join(peer, &set, (Function::Both, terms))?;
        Ok(set.indices(&common))
    }

    fn send_join(
        &self,
        peer: &mut Peer,
        set: &Set,
        (function, terms): (Function, Terms),
        mut payload: impl FnMut(usize, &mut [u8]) + Send,
    ) -> Result<Vec<usize>, Error> {
        let mut items = set.items()?;
        let hello = self.hello_of(Role::Sender, items.len(), function, terms)?;
        let (agreed, receivers) = self.negotiate(peer, Role::Sender, hello, items.len())?;
        let mut job = peer.job(agreed);
        let base = self.base_of(&mut job, [receivers, items.len()])?;
        let (mut cx, tell) = (job.context()?, steps(job.teller("steps")));
        let plan = self.plan(job.direction(), [receivers, items.len()], base.ot())?;
        let common = job.play(|io| async move {
            let payload = |item: usize, to: &mut [u8]| {
                payload(item, to);
                Ok(())
            };
            let sender = Sender::set_up(&io, &mut cx, plan).await?;
            sender.join(&io, mem::take(&mut items.0), terms, payload, tell).await
        })?;
        job.finish_keeping(base)?;
        Ok(common)
    }

    /// The numbers of common items, and their payloads.
    fn receive_join(
        &self,
        peer: &mut Peer,
        set: &Set,
        (function, terms): (Function, Terms),
    ) -> Result<(Vec<usize>, Vec<Vec<u8>>), Error> {
        let mut items = set.items()?;
        let hello = self.hello_of(Role::Receiver, items.len(), function, terms)?;
        let (agreed, senders) = self.negotiate(peer, Role::Receiver, hello, items.len())?;
        let mut job = peer.job(agreed);
        let base = self.base_of(&mut job, [items.len(), senders])?;
        let (mut cx, tell) = (job.context()?, steps(job.teller("steps")));
        let plan = self.plan(job.direction(), [items.len(), senders], base.ot())?;
        let (mut store, mut payloads) = (Vec::new(), Vec::new());
        let kept = &mut store;
        let joined = job.play(|io| async move {
            let receiver = Receiver::set_up(&io, &mut cx, plan).await?;
            receiver.join(&io, mem::take(&mut items.0), terms, kept, tell).await
        })?;
        // The session ends before the sets are compared: how long that takes depends on them.
        job.finish_keeping(base)?;
        let take = |item: usize, payload: &[u8]| payloads.push((item, payload.to_vec()));
        let common = joined.open(&mut store, take).map_err(foxtrot_net::Error::from)?;
        payloads.sort_unstable_by_key(|(item, _)| *item);
        Ok((common, payloads.into_iter().map(|(_, payload)| payload).collect()))
    }

    fn hello_of(
        &self,
        role: Role,
        ours: usize,
        function: Function,
        terms: Terms,
    ) -> Result<Hello, Error> {
        let hello = self.hello(role, "none/1", ours)?.term(FUNCTION, function);
        Ok(terms.payload_len().into_iter().fold(hello, |hello, len| hello.term(PAYLOAD, len)))
    }
}

fn payload(len: usize) -> Result<Terms, Error> {
    match len {
        0..=MAX_PAYLOAD => Ok(Terms::NONE.payload(len)?),
        _ => Err(Usage::MessageLength { len, max: MAX_PAYLOAD }.into()),
    }
}

/// Counts and sums over an intersection, of which both sides learn the result and neither learns its items. Secure only if both
/// sides follow the protocol. Both sides have the same options.
///
/// ```
/// use foxtrot::{Peer, psi::{Count, Outcome}};
///
/// let (mut ours, mut theirs) = Peer::pair();
/// let sender = std::thread::spawn(move || {
///     let amounts = [("ann", 30), ("bob", 50), ("cid", 7)];
///     Count::new().at_least(2).send_sum(&mut theirs, &amounts, 100)
/// });
/// let learnt = Count::new().at_least(2).receive_sum(&mut ours, &["cid", "eve", "ann"], 100)?;
/// assert_eq!(learnt, Outcome::Released { count: 2, sum: Some(37) });
/// assert_eq!(sender.join().expect("no panic")?, learnt);
/// # Ok::<(), foxtrot::Error>(())
/// ```
///
/// [`Config::max_memory`](crate::Config::max_memory) does not count the memory of a count.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    options: Options,
    at_least: u64,
}

impl Count {
    /// Counts of any size, with peers of up to 2^20 items.
    #[must_use]
    pub const fn new() -> Self {
        let options = Options::new().most_items(circuit::MAX_ITEMS);
        Self { options, at_least: 0 }
    }

    /// Tells nothing if there are fewer common items: [`Outcome::Withheld`].
    #[must_use]
    pub const fn at_least(self, common: u64) -> Self {
        Self { at_least: common, ..self }
    }

    /// The most and the fewest items that the peer may have.
    #[must_use]
    pub const fn items(self, least: usize, most: usize) -> Self {
        Self { options: self.options.least_items(least).most_items(most), ..self }
    }

    /// Counts the items that both have; the peer calls [`receive`](Self::receive).
    ///
    /// # Errors
    /// [`Error`].
    pub fn send<T: AsRef<[u8]>>(&self, peer: &mut Peer, items: &[T]) -> Result<Outcome, Error> {
        self.run(peer, Role::Sender, &Set::of(items)?, None, Secret::default())
    }

    /// Counts the items that both have; the peer calls [`send`](Self::send).
    ///
    /// # Errors
    /// [`Error`].
    pub fn receive<T: AsRef<[u8]>>(&self, peer: &mut Peer, items: &[T]) -> Result<Outcome, Error> {
        self.run(peer, Role::Receiver, &Set::of(items)?, None, Secret::default())
    }

    /// Counts items, and adds up the numbers beside these, none of which is above `largest`. Of items that repeat, the
    /// first one counts. The peer calls [`receive_sum`](Self::receive_sum).
    ///
    /// # Errors
    /// [`Error::Usage`] for a larger number, and if the sum could be 2^64; [`Error`].
    pub fn send_sum<T: AsRef<[u8]>>(
        &self,
        peer: &mut Peer,
        rows: &[(T, u64)],
        largest: u64,
    ) -> Result<Outcome, Error> {
        if rows.iter().any(|(_, number)| *number > largest) {
            return Err(Usage::NumberTooLarge { largest }.into());
        }
        let items: Vec<_> = rows.iter().map(|(item, _)| item.as_ref()).collect();
        let set = Set::of(&items)?;
        let numbers = set.firsts().into_iter().map(|row| rows[row].1).collect();
        self.run(peer, Role::Sender, &set, Some(largest), Secret(numbers))
    }

    /// Counts items, and learns the sum of the peer's numbers: [`send_sum`](Self::send_sum).
    ///
    /// # Errors
    /// [`Error`].
    pub fn receive_sum<T: AsRef<[u8]>>(
        &self,
        peer: &mut Peer,
        items: &[T],
        largest: u64,
    ) -> Result<Outcome, Error> {
        self.run(peer, Role::Receiver, &Set::of(items)?, Some(largest), Secret::default())
    }

    fn run(
        &self,
        peer: &mut Peer,
        role: Role,
        set: &Set,
        largest: Option<u64>,
        numbers: Secret<u64>,
    ) -> Result<Outcome, Error> {
        let mut items = set.items()?;
        if items.len() > circuit::MAX_ITEMS {
            let (n, max) = (items.len(), circuit::MAX_ITEMS);
            return Err(Usage::BatchTooLarge { n, max }.into());
        }
        let base = self.options.method.base;
        let (agreed, parameters) = self.agree(peer, role, items.len(), largest, base)?;
        let job = peer.job(agreed);
        let (mut cx, direction) = (job.context()?, job.direction());
        let plan = CircuitPlan { parameters, base, direction, counter: 0 };
        let outcome = job.play(|io| async move {
            let items = mem::take(&mut items.0);
            match role {
                Role::Sender => send_count(&io, &mut cx, plan, items, &numbers).await,
                Role::Receiver => receive_count(&io, &mut cx, plan, items).await.map(Some),
            }
        })?;
        job.finish()?;
        outcome.ok_or(Error::Config("both sides learn the result"))
    }

    fn agree(
        &self,
        peer: &mut Peer,
        role: Role,
        ours: usize,
        largest: Option<u64>,
        base: &'static dyn BaseOt,
    ) -> Result<(Agreed, Parameters), Error> {
        let (assumption, adversary) = (Assumption::Lpn, Adversary::SemiHonest);
        suits(base.info(), Some(&PROTOCOL), Purpose::Messages, adversary)
            .map_err(Usage::Incompatible)?;
        let options = self.options.assumption(assumption).semi_honest();
        let function = if largest.is_some() { Function::Sum } else { Function::Count };
        let hello = options.hello(role, "none/1", ours)?;
        let hello = hello.term(FUNCTION, function).term(MIN_COUNT, self.at_least);
        let hello = largest.into_iter().fold(hello, |hello, it| hello.term(LARGEST, it));
        let (most, least) = (options.most, options.least);
        peer.negotiate_by(hello, |details| {
            let theirs = peers_keys(details, most).map_err(refused)?;
            check_least_keys(theirs, least).map_err(refused)?;
            let (receivers, senders) = match role {
                Role::Receiver => (ours, theirs),
                Role::Sender => (theirs, ours),
            };
            let terms = circuit::Terms::default().at_least(self.at_least).both();
            let terms = largest.map_or(terms, |largest| terms.sum(largest));
            let parameters = Parameters::new(terms, receivers, senders);
            let parameters = parameters.map_err(|e| (Reason::Other, Error::from(e)))?;
            let keys = (role == Role::Sender).then_some(theirs as u64);
            Ok((parameters, Answer { keys, ..Answer::default() }))
        })
    }
}

impl Default for Count {
    fn default() -> Self {
        Self::new()
    }
}
