//! Private set intersection with a [`Peer`].
#![expect(clippy::missing_errors_doc, reason = "most calls may end with any error: see its type")]

use std::mem;

use foxtrot_net::{
    ChannelError, HelloError, Reason,
    hello::Hello,
    jobs::{self, SET, memory_of_psi_receiver, memory_of_psi_sender, peers_keys},
};
use foxtrot_ot::erase::Secret;
use foxtrot_psi::{
    join::Terms,
    method::protocol::{Receiver, Sender},
};

use super::{
    Digest, Options, Steps,
    keys::{Keys, Told},
    shards,
};
use crate::{
    Error, Peer,
    job::{Agreed, Answer, Base, Job, Role, refused},
};

/// The part of a job beside the intersection, for the count of its memory.
#[derive(Clone, Copy)]
pub(super) struct Extras {
    pub(super) terms: Terms,
    /// Bytes that the result has for each match, beside the payload.
    pub(super) for_match: u64,
    /// Bytes that do not depend on the peer.
    pub(super) more: u64,
}

impl Extras {
    pub(super) const NONE: Self = Self::of(Terms::NONE);

    pub(super) const fn of(terms: Terms) -> Self {
        Self { terms, for_match: 0, more: 0 }
    }
}

/// Payloads, each with the number of its item.
pub(super) type Payloads = Vec<(usize, Vec<u8>)>;

/// Lets the peer find out which of its items are among these.
pub fn send<T: AsRef<[u8]>>(peer: &mut Peer, items: &[T]) -> Result<(), Error> {
    Options::new().send(peer, items)
}

/// Finds out which of these items the peer also has: their indices, in order. Of items that repeat, each index is there.
pub fn receive<T: AsRef<[u8]>>(peer: &mut Peer, items: &[T]) -> Result<Vec<usize>, Error> {
    Options::new().receive(peer, items)
}

impl Options {
    /// [`send`] with these options.
    pub fn send<T: AsRef<[u8]>>(&self, peer: &mut Peer, items: &[T]) -> Result<(), Error> {
        let items = Keys::of(items)?.into_items();
        let hello = self.hello(Role::Sender, "none/1", items.len())?;
        let (agreed, receivers) = self.negotiate(peer, hello, items.len(), Extras::NONE)?;
        self.send_items(peer.job(agreed), receivers, items, Terms::NONE, |_, _| ()).map(drop)
    }

    /// [`receive`] with these options.
    pub fn receive<T: AsRef<[u8]>>(
        &self,
        peer: &mut Peer,
        items: &[T],
    ) -> Result<Vec<usize>, Error> {
        let keys = Keys::of(items)?;
        let (common, _) = self.receive_keys(peer, &keys)?;
        Ok(keys.indices(&common))
    }

    /// [`send`] for keys of rows. Both sides have the same number of parts, and the same normalisers.
    pub fn send_keys(&self, peer: &mut Peer, keys: &Keys) -> Result<Told, Error> {
        let (job, told, items) =
            self.begin_keys(peer, Role::Sender, keys, Extras::NONE, |it| it)?;
        self.send_items(job, told.keys, items, Terms::NONE, |_, _| ())?;
        Ok(told)
    }

    /// [`receive`] for keys of rows: the numbers of the common keys, of which [`Keys::rows_of`] tells the rows.
    pub fn receive_keys(&self, peer: &mut Peer, keys: &Keys) -> Result<(Vec<usize>, Told), Error> {
        let (job, told, items) =
            self.begin_keys(peer, Role::Receiver, keys, Extras::NONE, |it| it)?;
        Ok((self.receive_items(job, told.keys, items, Terms::NONE)?.0, told))
    }

    /// Begins a job on keys, to whose hello `more` is added.
    pub(super) fn begin_keys<'p>(
        &self,
        peer: &'p mut Peer,
        role: Role,
        keys: &Keys,
        extras: Extras,
        more: impl FnOnce(Hello) -> Hello,
    ) -> Result<(Job<'p>, Told, Secret<Digest>), Error> {
        let hello = self.hello(role, &keys.terms, keys.len())?;
        let hello = more(jobs::key_columns(hello, 0, keys.columns.as_deref()));
        let (agreed, theirs) = self.negotiate(peer, hello, keys.len(), extras)?;
        let (told, items) = (Told::of(&agreed, theirs), keys.copy_items()?);
        Ok((peer.job(agreed), told, items))
    }

    /// Runs the sender of an intersection, and of a join on these terms. Returns the numbers of common items, if this side learns
    /// them.
    pub(super) fn send_items(
        &self,
        mut job: Job<'_>,
        receivers: usize,
        mut items: Secret<Digest>,
        terms: Terms,
        mut payload: impl FnMut(usize, &mut [u8]) + Send,
    ) -> Result<Vec<usize>, Error> {
        let sizes = [receivers, items.len()];
        let base = self.base_of(&mut job, sizes)?;
        let plan = self.plan(job.direction(), sizes, base.ot())?;
        let (mut cx, mut tell) = (job.context()?, steps(job.teller("steps")));
        let common = job.play(|io| async move {
            let sender = Sender::set_up(&io, &mut cx, plan).await?;
            let mut payload = |item: usize, to: &mut [u8]| {
                payload(item, to);
                Ok(())
            };
            sender.join(&io, mem::take(&mut items.0), terms, &mut payload, &mut tell).await
        })?;
        job.finish_keeping(base)?;
        Ok(common)
    }

    /// Runs the receiver of an intersection, and of a join on these terms. Returns the numbers of common items, and their
    /// payloads in the order of these numbers.
    pub(super) fn receive_items(
        &self,
        mut job: Job<'_>,
        senders: usize,
        mut items: Secret<Digest>,
        terms: Terms,
    ) -> Result<(Vec<usize>, Payloads), Error> {
        let sizes = [items.len(), senders];
        let base = self.base_of(&mut job, sizes)?;
        let plan = self.plan(job.direction(), sizes, base.ot())?;
        let (mut cx, mut tell) = (job.context()?, steps(job.teller("steps")));
        let (mut store, mut payloads) = (Vec::new(), Vec::new());
        // All of it, as growing would take as much again.
        let bytes = terms.sender_bytes(plan.parameters.tags());
        store.try_reserve_exact(bytes).map_err(|_| Error::OutOfMemory { bytes })?;
        let kept = &mut store;
        let joined = job.play(|io| async move {
            let receiver = Receiver::set_up(&io, &mut cx, plan).await?;
            receiver.join(&io, mem::take(&mut items.0), terms, kept, &mut tell).await
        })?;
        // The session ends before the sets are compared: how long that takes depends on them.
        job.finish_keeping(base)?;
        let take = |item: usize, payload: &[u8]| payloads.push((item, payload.to_vec()));
        let common = joined.open(&mut store, take).map_err(foxtrot_net::Error::from)?;
        payloads.sort_unstable_by_key(|(item, _)| *item);
        Ok((common, payloads))
    }

    /// The base OTs of a job with these sizes.
    pub(super) fn base_of(
        &self,
        job: &mut Job<'_>,
        [receivers, senders]: [usize; 2],
    ) -> Result<Base, Error> {
        let parameters = self.method.parameters(receivers, senders)?;
        let carries = [parameters.info().name, parameters.over()];
        job.base(self.method.base, carries, parameters.base_ots())
    }

    pub(super) fn hello(&self, role: Role, normalize: &str, ours: usize) -> Result<Hello, Error> {
        self.method.check()?;
        let hello = jobs::psi(role, &self.method, normalize, ours, self.most);
        let hello = hello.at_least(self.least as u64);
        Ok(self.shard.iter().fold(hello, jobs::of_shard))
    }

    /// Negotiates, and learns how many items the peer has.
    pub(super) fn negotiate(
        &self,
        peer: &mut Peer,
        hello: Hello,
        ours: usize,
        extras: Extras,
    ) -> Result<(Agreed, usize), Error> {
        let role = hello.role();
        self.negotiate_for(peer, hello, ours, |theirs| self.memory(role, [ours, theirs], extras))
    }

    /// [`negotiate`](Self::negotiate) for a job that takes so much memory with so many items at the peer.
    pub(super) fn negotiate_for(
        &self,
        peer: &mut Peer,
        hello: Hello,
        ours: usize,
        memory: impl FnOnce(usize) -> Result<u64, Error>,
    ) -> Result<(Agreed, usize), Error> {
        let (role, learns) = (hello.role(), jobs::peer_learns(&hello));
        let (agreed, theirs) = peer.negotiate_by(hello, |details| {
            let theirs = peers_keys(details, 0, self.least..=self.most).map_err(refused)?;
            if role == Role::Sender && details.contains_key(SET) {
                // There is one set, without a name.
                let error = HelloError::Refused(Reason::NoSuchSet);
                return Err((Reason::NoSuchSet, Error::Session(error.into())));
            }
            let memory = memory(theirs).map_err(|e| (Reason::Other, e))?;
            let keys = match role {
                // A cheating sender has no more keys than it declares.
                Role::Receiver => theirs as u64,
                // Without a bound the peer is trusted to follow the protocol.
                Role::Sender => {
                    let parameters = self.method.parameters(theirs, ours);
                    let parameters = parameters.map_err(|e| (Reason::Other, Error::from(e)))?;
                    parameters.largest_set().unwrap_or(theirs as u64)
                }
            };
            Ok((theirs, Answer { memory, keys: learns.then_some(keys), hello: None }))
        })?;
        let suits = shards::check(&agreed, self.shard.as_ref());
        suits.inspect_err(|_| drop(peer.give_up(ChannelError::Abandoned)))?;
        Ok((agreed, theirs))
    }

    /// About the most bytes of memory that [`send`](Self::send) of `senders` different items takes with a peer that declares
    /// `receivers`, whatever the peer does: for programs that serve many. The items themselves are not counted.
    ///
    /// ```
    /// use foxtrot::psi::Options;
    ///
    /// assert!(Options::new().memory_of_sender(1 << 24, 1000)? < 512 << 20);
    /// # Ok::<(), foxtrot::Error>(())
    /// ```
    ///
    /// # Errors
    /// [`Error::Usage`] for more than [`MAX_ITEMS`](super::MAX_ITEMS).
    pub fn memory_of_sender(&self, receivers: usize, senders: usize) -> Result<u64, Error> {
        self.memory(Role::Sender, [senders, receivers], Extras::NONE)
    }

    /// About the most bytes of memory that [`receive`](Self::receive) of `receivers` different items takes with a peer that
    /// declares `senders`, whatever the peer does. The items themselves are not counted.
    ///
    /// # Errors
    /// [`Error::Usage`] for more than [`MAX_ITEMS`](super::MAX_ITEMS).
    pub fn memory_of_receiver(&self, receivers: usize, senders: usize) -> Result<u64, Error> {
        self.memory(Role::Receiver, [receivers, senders], Extras::NONE)
    }

    /// The most bytes of memory that a job takes with so many items here and at the peer.
    fn memory(&self, role: Role, [ours, theirs]: [usize; 2], extras: Extras) -> Result<u64, Error> {
        let Extras { terms, for_match, more } = extras;
        let of_party = match role {
            Role::Sender => memory_of_psi_sender(&self.method.parameters(theirs, ours)?, terms),
            Role::Receiver => memory_of_psi_receiver(&self.method.parameters(ours, theirs)?, terms),
        };
        let of_matches = for_match.saturating_mul(ours.min(theirs) as u64);
        Ok(of_party.saturating_add(of_matches).saturating_add(more))
    }
}

/// Hands on the progress of the protocol.
pub(super) fn steps(tell: impl Fn(usize, usize) + Send) -> impl FnMut(Steps) + Send {
    move |Steps { done, of }| tell(done, of)
}
