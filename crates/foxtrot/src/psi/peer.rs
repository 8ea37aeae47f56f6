//! Private set intersection with a [`Peer`].

use std::mem;

use foxtrot_net::{
    HelloError, Reason,
    hello::Hello,
    jobs::{self, SET, check_least_keys, memory_of_psi_receiver, memory_of_psi_sender, peers_keys},
};
use foxtrot_ot::erase::Secret;

use super::{Digest, ItemHasher, MAX_ITEMS, Options, Steps, receive_by, send_by};
use crate::{
    Error, Peer,
    job::{Agreed, Answer, Base, Job, Role, refused, room},
};

/// Lets the peer find out which of its items are among these.
///
/// # Errors
/// [`Error`].
pub fn send<T: AsRef<[u8]>>(peer: &mut Peer, items: &[T]) -> Result<(), Error> {
    Options::new().send(peer, items)
}

/// Finds out which of these items the peer also has: their indices, in order. Of items that repeat, each index is there.
///
/// # Errors
/// [`Error`].
pub fn receive<T: AsRef<[u8]>>(peer: &mut Peer, items: &[T]) -> Result<Vec<usize>, Error> {
    Options::new().receive(peer, items)
}

/// The different items of a set, and who has them.
pub(crate) struct Set {
    /// Item and index of every element, in order.
    all: Secret<[u8; ITEM + INDEX]>,
    distinct: usize,
}

/// Bytes of an item, and of an index, which is big endian.
const ITEM: usize = 32;
const INDEX: usize = 4;

impl Set {
    pub(crate) fn of<T: AsRef<[u8]>>(items: &[T]) -> Result<Self, Error> {
        let n = items.len();
        if n > MAX_ITEMS {
            return Err(foxtrot_ot::Usage::BatchTooLarge { n, max: MAX_ITEMS }.into());
        }
        let (mut all, mut hasher) = (room(n)?, ItemHasher::new());
        for (index, bytes) in (0_u32..).zip(items) {
            if let Some(item) = hasher.item([bytes]) {
                let mut both = [0; ITEM + INDEX];
                both[..ITEM].copy_from_slice(&item);
                both[ITEM..].copy_from_slice(&index.to_be_bytes());
                all.0.push(both);
            }
        }
        all.sort_unstable();
        let mut set = Self { all, distinct: 0 };
        set.distinct = set.groups().count();
        Ok(set)
    }

    /// The items, each once, in order.
    pub(super) fn items(&self) -> Result<Secret<Digest>, Error> {
        let mut items = room(self.distinct)?;
        items.0.extend(self.groups().filter_map(|group| group[0].first_chunk::<ITEM>()));
        Ok(items)
    }

    /// The indices of all elements whose items are the ones with these numbers.
    pub(super) fn indices(&self, common: &[usize]) -> Vec<usize> {
        let mut is_common = vec![false; self.distinct];
        for &number in common {
            is_common[number] = true;
        }
        let groups = self.groups().zip(is_common).filter(|(_, is)| *is);
        let elements = groups.flat_map(|(group, _)| group);
        let mut indices: Vec<_> = elements.map(index).collect();
        indices.sort_unstable();
        indices
    }

    /// The index of the first element with each item.
    pub(super) fn firsts(&self) -> Vec<usize> {
        self.groups().map(|group| index(&group[0])).collect()
    }

    fn groups(&self) -> impl Iterator<Item = &[[u8; ITEM + INDEX]]> {
        self.all.chunk_by(|one, other| one[..ITEM] == other[..ITEM])
    }
}

fn index(element: &[u8; ITEM + INDEX]) -> usize {
    element.last_chunk().map_or(0, |index| u32::from_be_bytes(*index) as usize)
}

impl Options {
    /// [`send`] with these options.
    ///
    /// # Errors
    /// [`Error`].
    pub fn send<T: AsRef<[u8]>>(&self, peer: &mut Peer, items: &[T]) -> Result<(), Error> {
        let items = Set::of(items)?.items()?;
        let hello = self.hello(Role::Sender, "none/1", items.len())?;
        let (agreed, receivers) = self.negotiate(peer, hello, items.len())?;
        self.send_items(peer.job(agreed), receivers, items)
    }

    /// [`receive`] with these options.
    ///
    /// # Errors
    /// [`Error`].
    pub fn receive<T: AsRef<[u8]>>(
        &self,
        peer: &mut Peer,
        items: &[T],
    ) -> Result<Vec<usize>, Error> {
        let set = Set::of(items)?;
        let items = set.items()?;
        let hello = self.hello(Role::Receiver, "none/1", items.len())?;
        let (agreed, senders) = self.negotiate(peer, hello, items.len())?;
        Ok(set.indices(&self.receive_items(peer.job(agreed), senders, items)?))
    }

    fn send_items(
        &self,
        mut job: Job<'_>,
        receivers: usize,
        mut items: Secret<Digest>,
    ) -> Result<(), Error> {
        let base = self.base_of(&mut job, [receivers, items.len()])?;
        let plan = self.plan(job.direction(), [receivers, items.len()], base.ot())?;
        let (mut cx, tell) = (job.context()?, steps(job.teller("steps")));
        job.play(
            |io| async move { send_by(&io, &mut cx, plan, mem::take(&mut items.0), tell).await },
        )?;
        job.finish_keeping(base)
    }

    fn receive_items(
        &self,
        mut job: Job<'_>,
        senders: usize,
        mut items: Secret<Digest>,
    ) -> Result<Vec<usize>, Error> {
        let base = self.base_of(&mut job, [items.len(), senders])?;
        let plan = self.plan(job.direction(), [items.len(), senders], base.ot())?;
        let (mut cx, tell) = (job.context()?, steps(job.teller("steps")));
        let received = job.play(|io| async move {
            receive_by(&io, &mut cx, plan, mem::take(&mut items.0), tell).await
        })?;
        // The session ends before the sets are compared: how long that takes depends on them.
        job.finish_keeping(base)?;
        Ok(received.intersect().map_err(foxtrot_net::Error::from)?)
    }

    /// The base OTs of a job with these sizes.
    pub(super) fn base_of(
        &self,
        job: &mut Job<'_>,
        [receivers, senders]: [usize; 2],
    ) -> Result<Base, Error> {
        let n = self.method.parameters(receivers, senders)?.base_ots();
        job.base(self.method.base, n)
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
    ) -> Result<(Agreed, usize), Error> {
        let role = hello.role();
        peer.negotiate_by(hello, |details| {
            let theirs = peers_keys(details, self.most).map_err(refused)?;
            check_least_keys(theirs, self.least).map_err(refused)?;
            if role == Role::Sender && details.contains_key(SET) {
                // There is one set, without a name.
                let error = HelloError::Refused(Reason::NoSuchSet);
                return Err((Reason::NoSuchSet, Error::Session(error.into())));
            }
            let memory = match role {
                Role::Sender => self.memory_of_sender(theirs, ours),
                Role::Receiver => self.memory_of_receiver(ours, theirs),
            };
            let memory = memory.map_err(|e| (Reason::Other, e))?;
            let keys = (role == Role::Sender).then_some(theirs as u64);
            Ok((theirs, Answer { memory, keys, hello: None }))
        })
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
    /// [`Error::Usage`] for more than [`MAX_ITEMS`].
    pub fn memory_of_sender(&self, receivers: usize, senders: usize) -> Result<u64, Error> {
        Ok(memory_of_psi_sender(&self.method.parameters(receivers, senders)?))
    }

    /// About the most bytes of memory that [`receive`](Self::receive) of `receivers` different items takes with a peer that
    /// declares `senders`, whatever the peer does. The items themselves are not counted.
    ///
    /// # Errors
    /// [`Error::Usage`] for more than [`MAX_ITEMS`].
    pub fn memory_of_receiver(&self, receivers: usize, senders: usize) -> Result<u64, Error> {
        Ok(memory_of_psi_receiver(&self.method.parameters(receivers, senders)?))
    }
}

#[cfg(feature = "keys")]
pub(super) use of_keys::{items_of, told};

/// Calls for keys of rows.
#[cfg(feature = "keys")]
mod of_keys {
    use foxtrot_net::jobs::KEY_COLUMNS;

    use super::{
        super::keys::{Keys, Told},
        *,
    };

    impl Options {
        /// [`send`] for keys of rows. Both sides have the same number of parts, and the same normalisers.
        ///
        /// # Errors
        /// [`Error`].
        pub fn send_keys(&self, peer: &mut Peer, keys: &Keys) -> Result<Told, Error> {
            let (job, told, items) = self.begin_keys(peer, Role::Sender, keys, |it| it)?;
            self.send_items(job, told.keys, items)?;
            Ok(told)
        }

        /// [`receive`] for keys of rows: the numbers of the common keys, of which [`Keys::rows_of`] tells the rows.
        ///
        /// # Errors
        /// [`Error`].
        pub fn receive_keys(
            &self,
            peer: &mut Peer,
            keys: &Keys,
        ) -> Result<(Vec<usize>, Told), Error> {
            let (job, told, items) = self.begin_keys(peer, Role::Receiver, keys, |it| it)?;
            Ok((self.receive_items(job, told.keys, items)?, told))
        }

        /// Begins a job on keys, to whose hello `more` is added.
        pub(crate) fn begin_keys<'p>(
            &self,
            peer: &'p mut Peer,
            role: Role,
            keys: &Keys,
            more: impl FnOnce(Hello) -> Hello,
        ) -> Result<(Job<'p>, Told, Secret<Digest>), Error> {
            let hello = self.hello(role, &keys.terms, keys.items.len())?;
            let hello = more(jobs::key_columns(hello, keys.columns.as_deref()));
            let (agreed, theirs) = self.negotiate(peer, hello, keys.items.len())?;
            let (told, items) = (told(&agreed, theirs), items_of(keys)?);
            Ok((peer.job(agreed), told, items))
        }
    }

    pub(crate) fn told(agreed: &Agreed, keys: usize) -> Told {
        let columns = agreed.peer_details.get(KEY_COLUMNS).cloned();
        Told { keys, columns, session: *agreed.sid.as_bytes() }
    }

    pub(crate) fn items_of(keys: &Keys) -> Result<Secret<Digest>, Error> {
        let mut items = room(keys.items.len())?;
        items.0.extend_from_slice(&keys.items);
        Ok(items)
    }
}

/// Hands on the progress of the protocol.
pub(super) fn steps(tell: impl Fn(usize, usize) + Send) -> impl FnMut(Steps) + Send {
    move |Steps { done, of }| tell(done, of)
}
