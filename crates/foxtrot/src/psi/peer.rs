//! Private set intersection with a [`Peer`], and more: payloads for matches, matches for both sides, counts and sums.

use std::{future::Future, mem};

use foxtrot_net::{Connection, HelloError, Reason, hello::Table};
use foxtrot_ot::{Usage, erase::Secret};
use foxtrot_psi::{
    circuit::{self, Outcome},
    join,
};

use super::{
    Function, Options,
    agreement::{Columns, KeyTerms, PsiAgreement, PsiTerms, memory_of_copies},
    fields::{Fields, Matches, Padding},
    keys::{Keys, Told},
    run::{All, Beside, Found, Parts, Payloads, Receives, Set, WithPayloads},
    shards,
};
use crate::{
    Error, Peer,
    job::{Job, Role, room},
};

/// Lets the peer find out which of its items are among these.
pub fn send<T: AsRef<[u8]>, C: Connection>(
    peer: &mut Peer<C>,
    items: &[T],
) -> C::Outcome<impl Future<Output = Result<(), Error>>> {
    Options::new().send(peer, items)
}

/// Finds out which of these items the peer also has: their indices, in order. Of items that repeat, each index is there.
pub fn receive<T: AsRef<[u8]>, C: Connection>(
    peer: &mut Peer<C>,
    items: &[T],
) -> C::Outcome<impl Future<Output = Result<Vec<usize>, Error>>> {
    Options::new().receive(peer, items)
}

impl PsiTerms {
    /// Negotiates with the peer.
    pub(super) async fn meet<'p, C: Connection>(
        &self,
        peer: &'p mut Peer<C>,
    ) -> Result<(Job<'p, C>, PsiAgreement), Error> {
        let agree = |details: &Table| {
            let answer = self.agree_on_sizes(details)?.answer();
            Ok(((), answer))
        };
        let (met, ()) = peer.agree::<_, Error>(self.hello()?, agree, |_, _| Ok(())).await?;
        let suits = shards::check(&met, self.options.shard.as_ref());
        let suits = suits.map_err(|e| (Reason::OwnInput, e));
        match suits.and_then(|()| self.agree(&met.peer_details)) {
            Ok(agreed) => Ok((peer.job(met), agreed)),
            Err((reason, e)) => {
                peer.give_up(HelloError::Refused(reason));
                Err(peer.local.fail(e))
            }
        }
    }

    /// Negotiates, and runs the job with this set to its result.
    pub fn compare<C: Connection>(
        self,
        peer: &mut Peer<C>,
        set: impl Set,
    ) -> C::Outcome<impl Future<Output = Result<(Found, Told), Error>>> {
        C::outcome(self.result(peer, set))
    }

    /// [`compare`](Self::compare) for a program that only receives, of an intersection: it is smaller.
    ///
    /// # Errors
    /// [`Error::Config`] for other terms; [`Error`].
    pub fn receive<C: Connection>(
        self,
        peer: &mut Peer<C>,
        set: impl Set,
    ) -> C::Outcome<impl Future<Output = Result<(Found, Told), Error>>> {
        C::outcome(async move {
            match self.role == Role::Receiver && !self.counts() {
                true => self.played::<Receives, C>(peer, set).await,
                false => Err(Error::Config("the terms are not those of a receiver")),
            }
        })
    }

    /// The future of [`compare`](Self::compare).
    async fn result<C: Connection>(
        self,
        peer: &mut Peer<C>,
        set: impl Set,
    ) -> Result<(Found, Told), Error> {
        self.played::<All, C>(peer, set).await
    }

    async fn played<P: Parts, C: Connection>(
        self,
        peer: &mut Peer<C>,
        set: impl Set,
    ) -> Result<(Found, Told), Error> {
        let (mut job, agreed) = self.meet(peer).await?;
        let told = agreed.told(job.agreement());
        let base = agreed.base(&mut job)?;
        let compared = agreed.play::<P, C>(job, base, set).await?;
        Ok((compared.open()?, told))
    }

    /// Adds these keys.
    fn of(self, keys: &Keys) -> Self {
        let (normalize, columns) = (keys.terms().to_owned(), keys.columns.clone());
        Self { keys: vec![KeyTerms { normalize, columns, size: keys.len() }], ..self }
    }

    /// A join with payloads of so many bytes.
    fn payload(self, len: usize) -> Result<Self, Error> {
        join::JoinTerms::NONE.payload(len)?;
        Ok(Self { payload: Some(len), ..self })
    }
}

impl Options {
    fn terms(self, role: Role, function: Function) -> PsiTerms {
        PsiTerms { function, ..PsiTerms::new(role, self) }
    }

    /// [`send`] with these options.
    pub fn send<T: AsRef<[u8]>, C: Connection>(
        self,
        peer: &mut Peer<C>,
        items: &[T],
    ) -> C::Outcome<impl Future<Output = Result<(), Error>>> {
        let keys = Keys::of(items);
        C::outcome(async move {
            let keys = keys?;
            let terms = self.terms(Role::Sender, Function::Intersection).of(&keys);
            terms.result(peer, Secret(mem::take(&mut *keys.into_items()))).await.map(drop)
        })
    }

    /// [`receive`] with these options.
    pub fn receive<T: AsRef<[u8]>, C: Connection>(
        self,
        peer: &mut Peer<C>,
        items: &[T],
    ) -> C::Outcome<impl Future<Output = Result<Vec<usize>, Error>>> {
        let keys = Keys::of(items);
        C::outcome(self.indices(peer, keys, Role::Receiver, Function::Intersection))
    }

    /// The indices of common items, for a side that learns them.
    async fn indices<C: Connection>(
        self,
        peer: &mut Peer<C>,
        keys: Result<Keys, Error>,
        role: Role,
        function: Function,
    ) -> Result<Vec<usize>, Error> {
        let keys = keys?;
        let (common, _) = self.common(peer, &keys, role, function).await?;
        Ok(keys.indices(&common))
    }

    /// The numbers of common keys, for a side that learns them.
    async fn common<C: Connection>(
        self,
        peer: &mut Peer<C>,
        keys: &Keys,
        role: Role,
        function: Function,
    ) -> Result<(Vec<usize>, Told), Error> {
        let terms = self.terms(role, function).of(keys);
        let (found, told) = terms.result(peer, keys.copy_items()?).await?;
        Ok((found.first(), told))
    }

    /// [`send`] for keys of rows. Both sides have the same number of parts, and the same normalisers.
    pub fn send_keys<C: Connection>(
        self,
        peer: &mut Peer<C>,
        keys: &Keys,
    ) -> C::Outcome<impl Future<Output = Result<Told, Error>>> {
        C::outcome(async move {
            let terms = self.terms(Role::Sender, Function::Intersection).of(keys);
            Ok(terms.result(peer, keys.copy_items()?).await?.1)
        })
    }

    /// [`receive`] for keys of rows: the numbers of the common keys, of which [`Keys::rows_of`] tells the rows.
    pub fn receive_keys<C: Connection>(
        self,
        peer: &mut Peer<C>,
        keys: &Keys,
    ) -> C::Outcome<impl Future<Output = Result<(Vec<usize>, Told), Error>>> {
        C::outcome(self.common(peer, keys, Role::Receiver, Function::Intersection))
    }

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
    pub fn send_with<T: AsRef<[u8]>, P: AsRef<[u8]>, C: Connection>(
        self,
        peer: &mut Peer<C>,
        rows: &[(T, P)],
        len: usize,
    ) -> C::Outcome<impl Future<Output = Result<(), Error>>> {
        let with_payloads = || {
            if let Some((_, wrong)) = rows.iter().find(|(_, it)| it.as_ref().len() != len) {
                return Err(Usage::MessageLength { len: wrong.as_ref().len(), max: len }.into());
            }
            let items: Vec<_> = rows.iter().map(|(item, _)| item.as_ref()).collect();
            let keys = Keys::of(&items)?;
            let mut payloads = room(keys.len().saturating_mul(len))?;
            for row in keys.firsts() {
                payloads.0.extend_from_slice(rows[row].1.as_ref());
            }
            Ok::<_, Error>((keys, payloads))
        };
        let set = with_payloads();
        C::outcome(async move {
            let (keys, payloads) = set?;
            let terms = self.terms(Role::Sender, Function::Join).of(&keys).payload(len)?;
            let more_memory = payloads.len() as u64;
            let set = Beside {
                items: Secret(mem::take(&mut *keys.into_items())),
                beside: Payloads(payloads, len),
            };
            PsiTerms { more_memory, ..terms }.result(peer, set).await.map(drop)
        })
    }

    /// Finds out which of these items the peer also has, with its payload for each: indices in order. Of items that
    /// repeat, each is there.
    pub fn receive_with<T: AsRef<[u8]>, C: Connection>(
        self,
        peer: &mut Peer<C>,
        items: &[T],
        len: usize,
    ) -> C::Outcome<impl Future<Output = Result<WithPayloads, Error>>> {
        let keys = Keys::of(items);
        C::outcome(async move {
            let keys = keys?;
            let terms = self.terms(Role::Receiver, Function::Join).of(&keys).payload(len)?;
            // A payload goes to the last row of its item, and copies of it to the others.
            let more_memory = memory_of_copies(keys.rows().saturating_sub(keys.len()), len);
            let terms = PsiTerms { more_memory, ..terms };
            let (found, _) = terms.result(peer, keys.copy_items()?).await?;
            let (mut payloads, mut last) = (found.payloads, vec![0; keys.len()]);
            for row in 0..keys.rows() {
                keys.key_of(row).into_iter().for_each(|key| last[key] = row);
            }
            let rows = (0..keys.rows()).filter_map(|row| {
                let key = keys.key_of(row)?;
                let at = payloads.binary_search_by_key(&key, |(key, _)| *key).ok()?;
                let payload = &mut payloads[at].1;
                Some((row, if last[key] == row { mem::take(payload) } else { payload.clone() }))
            });
            Ok(rows.collect())
        })
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
    pub fn send_both<T: AsRef<[u8]>, C: Connection>(
        self,
        peer: &mut Peer<C>,
        items: &[T],
    ) -> C::Outcome<impl Future<Output = Result<Vec<usize>, Error>>> {
        let keys = Keys::of(items);
        C::outcome(self.indices(peer, keys, Role::Sender, Function::Both))
    }

    /// [`receive`](Self::receive) from a peer that also learns its matches: [`send_both`](Self::send_both).
    pub fn receive_both<T: AsRef<[u8]>, C: Connection>(
        self,
        peer: &mut Peer<C>,
        items: &[T],
    ) -> C::Outcome<impl Future<Output = Result<Vec<usize>, Error>>> {
        let keys = Keys::of(items);
        C::outcome(self.indices(peer, keys, Role::Receiver, Function::Both))
    }

    /// [`send_both`](Self::send_both) for keys of rows: the numbers of the common keys.
    pub fn send_keys_both<C: Connection>(
        self,
        peer: &mut Peer<C>,
        keys: &Keys,
    ) -> C::Outcome<impl Future<Output = Result<(Vec<usize>, Told), Error>>> {
        C::outcome(self.common(peer, keys, Role::Sender, Function::Both))
    }

    /// [`receive_both`](Self::receive_both) for keys of rows: the numbers of the common keys.
    pub fn receive_keys_both<C: Connection>(
        self,
        peer: &mut Peer<C>,
        keys: &Keys,
    ) -> C::Outcome<impl Future<Output = Result<(Vec<usize>, Told), Error>>> {
        C::outcome(self.common(peer, keys, Role::Receiver, Function::Both))
    }

    /// Lets the peer find out which of its keys are among these, and read the columns of each match that it asks for. The
    /// peer calls [`receive_keys_with`](Self::receive_keys_with), or runs `foxtrot psi receive --with`.
    ///
    /// # Errors
    /// [`Error::Columns`] if the peer asks for other columns; [`Error`].
    pub fn send_keys_with<C: Connection>(
        self,
        peer: &mut Peer<C>,
        keys: &Keys,
        fields: &Fields,
    ) -> C::Outcome<impl Future<Output = Result<Told, Error>>> {
        C::outcome(async move {
            if fields.keys() != keys.len() {
                return Err(Error::Config("the fields are of other keys"));
            }
            let terms = self.terms(Role::Sender, Function::Join).of(keys);
            let terms = PsiTerms { columns: Some(Columns::of(fields)), ..terms };
            let set = Beside { items: keys.copy_items()?, beside: fields.clone() };
            Ok(terms.result(peer, set).await?.1)
        })
    }

    /// Finds out which of these keys the peer also has: their numbers in order, each with the fields of these columns. The
    /// peer calls [`send_keys_with`](Self::send_keys_with), or runs `foxtrot psi send
    /// --share`.
    ///
    /// # Errors
    /// [`Error::Columns`] if the peer does not share such columns, or sends fields that are no text; [`Error`].
    pub fn receive_keys_with<C: Connection>(
        self,
        peer: &mut Peer<C>,
        keys: &Keys,
        columns: &[String],
        padding: Padding,
    ) -> C::Outcome<impl Future<Output = Result<(Matches, Told), Error>>> {
        C::outcome(async move {
            let columns = Columns { names: columns.to_vec(), padding };
            // Nothing is sent if they are too long together.
            join::JoinTerms::NONE.payload(columns.payload())?;
            let terms = self.terms(Role::Receiver, Function::Join).of(keys);
            let terms = PsiTerms { columns: Some(columns), ..terms };
            let (found, told) = terms.result(peer, keys.copy_items()?).await?;
            Ok((found.fields(padding)?, told))
        })
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
///     Count::new().min_count(2).send_sum(&mut theirs, &amounts, 100)
/// });
/// let learnt = Count::new().min_count(2).receive_sum(&mut ours, &["cid", "eve", "ann"], 100)?;
/// assert_eq!(learnt, Outcome::Released { count: 2, sum: Some(37) });
/// assert_eq!(sender.join().expect("no panic")?, learnt);
/// # Ok::<(), foxtrot::Error>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Count {
    options: Options,
    min_count: u64,
}

impl Count {
    /// Counts of any size, with peers of up to 2^20 items.
    #[must_use]
    pub const fn new() -> Self {
        let options = Options::new().max_peer_keys(circuit::MAX_ITEMS);
        Self { options, min_count: 0 }
    }

    /// Tells nothing if there are fewer common items: [`Outcome::Withheld`].
    #[must_use]
    pub const fn min_count(self, common: u64) -> Self {
        Self { min_count: common, ..self }
    }

    /// The most items that the peer may have.
    #[must_use]
    pub const fn max_peer_keys(self, most: usize) -> Self {
        Self { options: self.options.max_peer_keys(most), ..self }
    }

    /// The fewest items that the peer may have.
    #[must_use]
    pub const fn min_peer_keys(self, least: usize) -> Self {
        Self { options: self.options.min_peer_keys(least), ..self }
    }

    /// Counts the items that both have; the peer calls [`receive`](Self::receive).
    pub fn send<T: AsRef<[u8]>, C: Connection>(
        self,
        peer: &mut Peer<C>,
        items: &[T],
    ) -> C::Outcome<impl Future<Output = Result<Outcome, Error>>> {
        let keys = Keys::of(items).map(|keys| (keys, Secret::default()));
        C::outcome(self.of_items(peer, Role::Sender, keys, None))
    }

    /// Counts the items that both have; the peer calls [`send`](Self::send).
    pub fn receive<T: AsRef<[u8]>, C: Connection>(
        self,
        peer: &mut Peer<C>,
        items: &[T],
    ) -> C::Outcome<impl Future<Output = Result<Outcome, Error>>> {
        let keys = Keys::of(items).map(|keys| (keys, Secret::default()));
        C::outcome(self.of_items(peer, Role::Receiver, keys, None))
    }

    /// Counts items, and adds up the numbers beside these, none of which is above `largest`. Of items that repeat, the
    /// first one counts. The peer calls [`receive_sum`](Self::receive_sum).
    ///
    /// # Errors
    /// [`Error::Usage`] for a larger number, and if the sum could be 2^64; [`Error`].
    pub fn send_sum<T: AsRef<[u8]>, C: Connection>(
        self,
        peer: &mut Peer<C>,
        rows: &[(T, u64)],
        largest: u64,
    ) -> C::Outcome<impl Future<Output = Result<Outcome, Error>>> {
        let items: Vec<_> = rows.iter().map(|(item, _)| item.as_ref()).collect();
        let keys = match rows.iter().any(|(_, number)| *number > largest) {
            true => Err(Usage::NumberTooLarge { largest }.into()),
            false => Keys::of(&items),
        };
        let chosen = keys.and_then(|keys| {
            let mut numbers = room(keys.len())?;
            numbers.0.extend(keys.firsts().map(|row| rows[row].1));
            Ok((keys, numbers))
        });
        C::outcome(self.of_items(peer, Role::Sender, chosen, Some(largest)))
    }

    /// Counts items, and learns the sum of the peer's numbers: [`send_sum`](Self::send_sum).
    pub fn receive_sum<T: AsRef<[u8]>, C: Connection>(
        self,
        peer: &mut Peer<C>,
        items: &[T],
        largest: u64,
    ) -> C::Outcome<impl Future<Output = Result<Outcome, Error>>> {
        let keys = Keys::of(items).map(|keys| (keys, Secret::default()));
        C::outcome(self.of_items(peer, Role::Receiver, keys, Some(largest)))
    }

    /// [`send`](Self::send) for keys of rows.
    pub fn send_keys<C: Connection>(
        self,
        peer: &mut Peer<C>,
        keys: &Keys,
    ) -> C::Outcome<impl Future<Output = Result<(Outcome, Told), Error>>> {
        C::outcome(self.of_keys(peer, Role::Sender, keys, None, (None, Secret::default())))
    }

    /// [`receive`](Self::receive) for keys of rows.
    pub fn receive_keys<C: Connection>(
        self,
        peer: &mut Peer<C>,
        keys: &Keys,
    ) -> C::Outcome<impl Future<Output = Result<(Outcome, Told), Error>>> {
        C::outcome(self.of_keys(peer, Role::Receiver, keys, None, (None, Secret::default())))
    }

    /// [`send_sum`](Self::send_sum) for keys of rows: a number of each key, by the key's number, of a column with this
    /// name.
    ///
    /// # Errors
    /// [`Error::Usage`] for a larger number, and if the sum could be 2^64; [`Error`].
    pub fn send_keys_sum<C: Connection>(
        self,
        peer: &mut Peer<C>,
        keys: &Keys,
        (column, numbers): (Option<&str>, &[u64]),
        largest: u64,
    ) -> C::Outcome<impl Future<Output = Result<(Outcome, Told), Error>>> {
        C::outcome(async move {
            if numbers.len() != keys.len() {
                return Err(Error::Config("there is not a number for each key"));
            }
            if numbers.iter().any(|number| *number > largest) {
                return Err(Usage::NumberTooLarge { largest }.into());
            }
            let mut copied = room(numbers.len())?;
            copied.0.extend_from_slice(numbers);
            self.of_keys(peer, Role::Sender, keys, Some(largest), (column, copied)).await
        })
    }

    /// [`receive_sum`](Self::receive_sum) for keys of rows.
    pub fn receive_keys_sum<C: Connection>(
        self,
        peer: &mut Peer<C>,
        keys: &Keys,
        largest: u64,
    ) -> C::Outcome<impl Future<Output = Result<(Outcome, Told), Error>>> {
        C::outcome(self.of_keys(
            peer,
            Role::Receiver,
            keys,
            Some(largest),
            (None, Secret::default()),
        ))
    }

    async fn of_items<C: Connection>(
        self,
        peer: &mut Peer<C>,
        role: Role,
        keys: Result<(Keys, Secret<u64>), Error>,
        largest: Option<u64>,
    ) -> Result<Outcome, Error> {
        let (keys, numbers) = keys?;
        Ok(self.of_keys(peer, role, &keys, largest, (None, numbers)).await?.0)
    }

    async fn of_keys<C: Connection>(
        self,
        peer: &mut Peer<C>,
        role: Role,
        keys: &Keys,
        largest: Option<u64>,
        (column, numbers): (Option<&str>, Secret<u64>),
    ) -> Result<(Outcome, Told), Error> {
        let function = if largest.is_some() { Function::Sum } else { Function::Count };
        let terms = self.options.terms(role, function).of(keys);
        let (min_count, value) = (self.min_count, column.map(str::to_owned));
        let terms = PsiTerms { min_count, largest, value, ..terms };
        let set = Beside { items: keys.copy_items()?, beside: numbers };
        let (found, told) = terms.result(peer, set).await?;
        Ok((found.outcome.ok_or(Error::Config("both sides learn the result"))?, told))
    }
}

impl Default for Count {
    fn default() -> Self {
        Self::new()
    }
}
