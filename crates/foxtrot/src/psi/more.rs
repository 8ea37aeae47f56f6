//! More than an intersection, with a [`Peer`]: payloads for matches, matches for both sides, counts and sums.
#![expect(clippy::missing_errors_doc, reason = "most calls may end with any error: see its type")]

use std::mem;

use foxtrot_net::{
    Reason,
    hello::Hello,
    jobs::{
        COLUMNS, DUPLICATES, FUNCTION, LARGEST, MIN_COUNT, PAYLOAD, RESULT, VALUE, WIDTH,
        key_columns, memory_of_count, peers_keys,
    },
    printable,
};
use foxtrot_ot::{
    Usage,
    base::Adversary,
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
};

use super::{
    Assumption, Function, Options,
    fields::{self, Fields, Matches, Padding},
    keys::{Keys, Told},
    peer::{Extras, steps},
};
use crate::{
    Error, Peer,
    job::{Agreed, Answer, Job, Role, refused, room},
};

/// Bytes of a text beside its own: its place, and what the heap takes.
const TEXT: u64 = 48;

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
        let terms = Terms::NONE.payload(len)?;
        let with = |hello: Hello| hello.term(FUNCTION, Function::Join).term(PAYLOAD, len);
        if let Some((_, wrong)) = rows.iter().find(|(_, payload)| payload.as_ref().len() != len) {
            return Err(Usage::MessageLength { len: wrong.as_ref().len(), max: len }.into());
        }
        let items: Vec<_> = rows.iter().map(|(item, _)| item.as_ref()).collect();
        let keys = Keys::of(&items)?;
        let payloads: Vec<_> = keys.firsts().into_iter().map(|row| rows[row].1.as_ref()).collect();
        let payload = |item: usize, to: &mut [u8]| to.copy_from_slice(payloads[item]);
        let extras = Extras { more: (size_of::<&[u8]>() * keys.len()) as u64, ..Extras::of(terms) };
        let (job, told, items) = self.begin_keys(peer, Role::Sender, &keys, extras, with)?;
        self.send_items(job, told.keys, items, terms, payload).map(drop)
    }

    /// Finds out which of these items the peer also has, with its payload for each: indices in order. Of items that
    /// repeat, each is there.
    pub fn receive_with<T: AsRef<[u8]>>(
        &self,
        peer: &mut Peer,
        items: &[T],
        len: usize,
    ) -> Result<Vec<(usize, Vec<u8>)>, Error> {
        let (keys, terms) = (Keys::of(items)?, Terms::NONE.payload(len)?);
        let with = |hello: Hello| hello.term(FUNCTION, Function::Join).term(PAYLOAD, len);
        // A payload goes to the last row of its item, and copies of it to the others.
        let copies = keys.rows().saturating_sub(keys.len()) as u64;
        let more = copies.saturating_mul(len as u64 + RESULT);
        let extras = Extras { more, ..Extras::of(terms) };
        let (job, told, items) = self.begin_keys(peer, Role::Receiver, &keys, extras, with)?;
        let (_, mut payloads) = self.receive_items(job, told.keys, items, terms)?;
        let mut last = vec![0; keys.len()];
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
    pub fn send_both<T: AsRef<[u8]>>(
        &self,
        peer: &mut Peer,
        items: &[T],
    ) -> Result<Vec<usize>, Error> {
        let keys = Keys::of(items)?;
        let (common, _) = self.send_keys_both(peer, &keys)?;
        Ok(keys.indices(&common))
    }

    /// [`receive`](Self::receive) from a peer that also learns its matches: [`send_both`](Self::send_both).
    pub fn receive_both<T: AsRef<[u8]>>(
        &self,
        peer: &mut Peer,
        items: &[T],
    ) -> Result<Vec<usize>, Error> {
        let keys = Keys::of(items)?;
        let (common, _) = self.receive_keys_both(peer, &keys)?;
        Ok(keys.indices(&common))
    }

    /// [`send_both`](Self::send_both) for keys of rows: the numbers of the common keys.
    pub fn send_keys_both(
        &self,
        peer: &mut Peer,
        keys: &Keys,
    ) -> Result<(Vec<usize>, Told), Error> {
        let terms = Terms::NONE.both();
        let extras = Extras::of(terms);
        let (job, told, items) = self.begin_keys(peer, Role::Sender, keys, extras, both)?;
        Ok((self.send_items(job, told.keys, items, terms, |_, _| ())?, told))
    }

    /// [`receive_both`](Self::receive_both) for keys of rows: the numbers of the common keys.
    pub fn receive_keys_both(
        &self,
        peer: &mut Peer,
        keys: &Keys,
    ) -> Result<(Vec<usize>, Told), Error> {
        let terms = Terms::NONE.both();
        let extras = Extras::of(terms);
        let (job, told, items) = self.begin_keys(peer, Role::Receiver, keys, extras, both)?;
        Ok((self.receive_items(job, told.keys, items, terms)?.0, told))
    }

    /// Lets the peer find out which of its keys are among these, and read the columns of each match that it asks for. The
    /// peer calls [`receive_keys_with`](Self::receive_keys_with), or runs `foxtrot psi receive --with`.
    ///
    /// # Errors
    /// [`Error::Columns`] if the peer asks for other columns; [`Error`].
    pub fn send_keys_with(
        &self,
        peer: &mut Peer,
        keys: &Keys,
        fields: &Fields,
    ) -> Result<Told, Error> {
        if fields.keys() != keys.len() {
            return Err(Error::Config("the fields are of other keys"));
        }
        let (shared, padding) = (fields.names(), fields.padding());
        let with = |hello| with_columns(hello, shared, padding);
        // The peer asks for no more columns than there are, or is refused.
        let longest = || Terms::NONE.payload(MAX_PAYLOAD);
        let all = terms_of(shared, padding).or_else(|_| longest())?;
        // A job that is dropped gives up.
        let (job, told, items) =
            self.begin_keys(peer, Role::Sender, keys, Extras::of(all), with)?;
        let asked = peers_columns(&job)?;
        if asked.len() > shared.len() {
            let why = "the peer asks for more columns than this side shares";
            return Err(job.fail(Error::Columns(why.into())));
        }
        let places = fields.places(&asked).map_err(|column| {
            let (column, all) = (printable(&column), printable(&shared.join(", ")));
            let why = format!("the peer asks for column {column}; this side shares {all}");
            job.fail(Error::Columns(why))
        })?;
        let too_long =
            |_| job.fail(Error::Columns("the peer asks for columns too long together".into()));
        let terms = terms_of(&asked, padding).map_err(too_long)?;
        let payload = |item: usize, to: &mut [u8]| fields.write(item, &places, to);
        self.send_items(job, told.keys, items, terms, payload)?;
        Ok(told)
    }

    /// Finds out which of these keys the peer also has: their numbers in order, each with the fields of these columns. The
    /// peer calls [`send_keys_with`](Self::send_keys_with), or runs `foxtrot psi send
    /// --share`.
    ///
    /// # Errors
    /// [`Error::Columns`] if the peer does not share such columns, or sends fields that are no text; [`Error`].
    pub fn receive_keys_with(
        &self,
        peer: &mut Peer,
        keys: &Keys,
        columns: &[String],
        padding: Padding,
    ) -> Result<(Matches, Told), Error> {
        let terms = terms_of(columns, padding)?;
        let with = |hello| with_columns(hello, columns, padding);
        // A field becomes a text of its own; the payload goes as its texts are made.
        let texts = (columns.len() as u64).saturating_mul(TEXT);
        let extras = Extras { for_match: texts, ..Extras::of(terms) };
        let (job, told, items) = self.begin_keys(peer, Role::Receiver, keys, extras, with)?;
        let shared = peers_columns(&job)?;
        if let Some(column) = columns.iter().find(|&column| !shared.contains(column)) {
            let (column, all) = (printable(column), printable(&shared.join(", ")));
            let why = format!("the peer does not share column {column}; it shares {all}");
            return Err(job.fail(Error::Columns(why)));
        }
        let (_, payloads) = self.receive_items(job, told.keys, items, terms)?;
        let read = |(key, payload): (usize, Vec<u8>)| Some((key, fields::read(&payload, padding)?));
        let read = payloads.into_iter().map(read);
        Ok((read.collect::<Option<_>>().ok_or(Error::NotText)?, told))
    }
}

fn both(hello: Hello) -> Hello {
    hello.term(FUNCTION, Function::Both)
}

fn with_columns(hello: Hello, names: &[String], padding: Padding) -> Hello {
    hello
        .term(FUNCTION, Function::Join)
        .term(WIDTH, padding.width)
        .term(DUPLICATES, padding.duplicates.name())
        .detail(COLUMNS, names.join("\n"))
}

fn peers_columns(job: &Job<'_>) -> Result<Vec<String>, Error> {
    let told = job.agreement().peer_details.get(COLUMNS);
    let nothing = || job.fail(Error::Columns("the peer names no columns".into()));
    let told = told.ok_or_else(nothing)?;
    Ok(told.split('\n').map(str::to_owned).collect())
}

fn terms_of(columns: &[String], padding: Padding) -> Result<Terms, Error> {
    Ok(Terms::NONE.payload(columns.len().saturating_mul(padding.slot()))?)
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
    pub fn send<T: AsRef<[u8]>>(&self, peer: &mut Peer, items: &[T]) -> Result<Outcome, Error> {
        Ok(self.send_keys(peer, &Keys::of(items)?)?.0)
    }

    /// Counts the items that both have; the peer calls [`send`](Self::send).
    pub fn receive<T: AsRef<[u8]>>(&self, peer: &mut Peer, items: &[T]) -> Result<Outcome, Error> {
        Ok(self.receive_keys(peer, &Keys::of(items)?)?.0)
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
        let keys = Keys::of(&items)?;
        let numbers = Secret(keys.firsts().into_iter().map(|row| rows[row].1).collect());
        Ok(self.run(peer, Role::Sender, &keys, Some(largest), (None, numbers))?.0)
    }

    /// Counts items, and learns the sum of the peer's numbers: [`send_sum`](Self::send_sum).
    pub fn receive_sum<T: AsRef<[u8]>>(
        &self,
        peer: &mut Peer,
        items: &[T],
        largest: u64,
    ) -> Result<Outcome, Error> {
        Ok(self.receive_keys_sum(peer, &Keys::of(items)?, largest)?.0)
    }

    /// [`send`](Self::send) for keys of rows.
    pub fn send_keys(&self, peer: &mut Peer, keys: &Keys) -> Result<(Outcome, Told), Error> {
        self.run(peer, Role::Sender, keys, None, (None, Secret::default()))
    }

    /// [`receive`](Self::receive) for keys of rows.
    pub fn receive_keys(&self, peer: &mut Peer, keys: &Keys) -> Result<(Outcome, Told), Error> {
        self.run(peer, Role::Receiver, keys, None, (None, Secret::default()))
    }

    /// [`send_sum`](Self::send_sum) for keys of rows: a number of each key, by the key's number, of a column with this
    /// name.
    ///
    /// # Errors
    /// [`Error::Usage`] for a larger number, and if the sum could be 2^64; [`Error`].
    pub fn send_keys_sum(
        &self,
        peer: &mut Peer,
        keys: &Keys,
        (column, numbers): (Option<&str>, &[u64]),
        largest: u64,
    ) -> Result<(Outcome, Told), Error> {
        if numbers.len() != keys.len() {
            return Err(Error::Config("there is not a number for each key"));
        }
        if numbers.iter().any(|number| *number > largest) {
            return Err(Usage::NumberTooLarge { largest }.into());
        }
        let mut copied = room(numbers.len())?;
        copied.0.extend_from_slice(numbers);
        self.run(peer, Role::Sender, keys, Some(largest), (column, copied))
    }

    /// [`receive_sum`](Self::receive_sum) for keys of rows.
    pub fn receive_keys_sum(
        &self,
        peer: &mut Peer,
        keys: &Keys,
        largest: u64,
    ) -> Result<(Outcome, Told), Error> {
        self.run(peer, Role::Receiver, keys, Some(largest), (None, Secret::default()))
    }

    fn run(
        &self,
        peer: &mut Peer,
        role: Role,
        keys: &Keys,
        largest: Option<u64>,
        (column, numbers): (Option<&str>, Secret<u64>),
    ) -> Result<(Outcome, Told), Error> {
        let hello = self.hello(role, &keys.terms, keys.len(), largest)?;
        let hello = key_columns(hello, 0, keys.columns.as_deref());
        let hello = column.into_iter().fold(hello, |hello, name| hello.detail(VALUE, name));
        let (agreed, parameters) = self.agree(peer, hello, keys.len(), largest)?;
        let theirs = match role {
            Role::Receiver => parameters.sender_items(),
            Role::Sender => parameters.receiver_items(),
        };
        let (told, mut items) = (Told::of(&agreed, theirs), keys.copy_items()?);
        let job = peer.job(agreed);
        let (mut cx, mut tell) = (job.context()?, steps(job.teller("steps")));
        let (base, direction) = (self.options.method.base, job.direction());
        let plan = CircuitPlan { parameters, base, direction, counter: 0 };
        let outcome = job.play(|io| async move {
            let items = mem::take(&mut items.0);
            match role {
                Role::Sender => send_count(&io, &mut cx, plan, items, &numbers, &mut tell).await,
                Role::Receiver => {
                    receive_count(&io, &mut cx, plan, items, &mut tell).await.map(Some)
                }
            }
        })?;
        job.finish()?;
        Ok((outcome.ok_or(Error::Config("both sides learn the result"))?, told))
    }

    fn hello(
        &self,
        role: Role,
        normalize: &str,
        ours: usize,
        largest: Option<u64>,
    ) -> Result<Hello, Error> {
        if ours > circuit::MAX_ITEMS {
            return Err(Usage::BatchTooLarge { n: ours, max: circuit::MAX_ITEMS }.into());
        }
        let (assumption, adversary) = (Assumption::Lpn, Adversary::SemiHonest);
        suits(self.options.method.base.info(), Some(&PROTOCOL), Purpose::Messages, adversary)
            .map_err(Usage::Incompatible)?;
        let options = self.options.assumption(assumption).semi_honest();
        let function = if largest.is_some() { Function::Sum } else { Function::Count };
        let hello = options.hello(role, normalize, ours)?;
        let hello = hello.term(FUNCTION, function).term(MIN_COUNT, self.at_least);
        Ok(largest.into_iter().fold(hello, |hello, it| hello.term(LARGEST, it)))
    }

    fn agree(
        &self,
        peer: &mut Peer,
        hello: Hello,
        ours: usize,
        largest: Option<u64>,
    ) -> Result<(Agreed, Parameters), Error> {
        let (role, allowed) = (hello.role(), self.options.least..=self.options.most);
        peer.negotiate_by(hello, |details| {
            let theirs = peers_keys(details, 0, allowed).map_err(refused)?;
            let (receivers, senders) = match role {
                Role::Receiver => (ours, theirs),
                Role::Sender => (theirs, ours),
            };
            let terms = circuit::Terms { largest, at_least: self.at_least, both: true };
            let parameters = Parameters::new(terms, receivers, senders);
            let parameters = parameters.map_err(|e| (Reason::Other, Error::from(e)))?;
            // Both sides learn the result, and are trusted to follow the protocol.
            let keys = Some(theirs as u64);
            let memory = memory_of_count(&parameters);
            Ok((parameters, Answer { memory, keys, hello: None }))
        })
    }
}

impl Default for Count {
    fn default() -> Self {
        Self::new()
    }
}
