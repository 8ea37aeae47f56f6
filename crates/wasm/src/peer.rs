//! Jobs with a peer over an asynchronous stream.

mod more;

use std::{collections::BTreeMap, mem};

use foxtrot::{
    ot,
    psi::{
        self,
        keys::{AT_ONCE, Distinct, Item},
    },
    rot,
};
use foxtrot_net::{
    Error, HelloError, drive,
    hello::{Agreement, Heard, Hello, Role, Table, token_binding},
    jobs::{
        self, memory_of_ot_receiver, memory_of_psi_receiver, memory_of_psi_sender, peers_keys,
        peers_length,
    },
    tokio::Lanes,
};
use foxtrot_ot::{
    Bits, Context, Direction, Seed, Session, Sid, Usage,
    base::Block,
    convert::{Message, Sealed},
    engine::Engine,
    erase::Secret,
    pair::{Pair, Party},
};
use foxtrot_psi::{
    join::Terms,
    method::{
        Method, Parameters,
        protocol::{OnProgress, Plan, Receiver, Sender},
    },
};
use tokio::io::{AsyncRead, AsyncWrite};
use zeroize::Zeroizing;

pub use more::{Counting, Payloads};

/// The number in place of an item's, for a row without a key.
const NO_ITEM: u32 = u32::MAX;

/// The most bytes that a job may take: WebAssembly has 4 GiB of addresses, and the file's rows are there also.
const MOST_MEMORY: u64 = 2 << 30;

/// A peer behind a stream, which some other layer has secured. Jobs follow one another.
#[derive(Debug)]
pub struct Peer<S> {
    lanes: Lanes<S>,
    initiator: bool,
    binding: Option<[u8; 32]>,
}

/// The different keys of a list, and which row has which.
pub struct Keys {
    items: Zeroizing<Vec<Item>>,
    of_rows: Vec<u32>,
    duplicates: usize,
    empty: usize,
}

/// The terms of an intersection beside its keys.
#[derive(Clone, Debug)]
pub struct Options {
    /// The protocols and limits.
    pub psi: psi::Options,
    /// The most keys of the peer.
    pub most: usize,
    /// The fewest keys of the peer.
    pub least: usize,
    /// The normalisation of keys, as both sides compare it: `none/1`, `email/1`.
    pub normalize: String,
    /// The names of our key columns, for people.
    pub columns: Option<Vec<String>>,
    /// The name of the peer's set.
    pub set: Option<String>,
}

/// Known facts about the peer of a job.
#[derive(Clone, Debug)]
pub struct Told {
    /// The number of its keys.
    pub keys: usize,
    /// Its details. The strings are as they came.
    pub details: BTreeMap<String, String>,
    /// The session's id.
    pub session: [u8; 32],
}

impl Default for Options {
    fn default() -> Self {
        let (psi, normalize) = (psi::Options::new(), "none/1".into());
        Self { psi, most: 1 << 24, least: 0, normalize, columns: None, set: None }
    }
}

impl Options {
    fn hello(&self, role: Role, method: &Method, ours: usize) -> Hello {
        let hello = jobs::psi(role, method, &self.normalize, ours, self.most);
        let hello = hello.at_least(self.least as u64);
        let hello = jobs::key_columns(hello, 0, self.columns.as_deref());
        self.set.iter().fold(hello, |hello, set| hello.detail(jobs::SET, set))
    }

    fn peers_keys(&self, details: &Table) -> Result<usize, HelloError> {
        peers_keys(details, 0, self.least..=self.most)
    }
}

impl Keys {
    /// The keys of `n` rows, by their items; `None` is a row without a key.
    ///
    /// # Errors
    /// [`Usage::BatchTooLarge`] for more items than an intersection takes, or than there is memory for.
    ///
    /// # Panics
    /// If there are more than `n` rows.
    pub fn of(n: usize, all: impl Iterator<Item = Option<Item>>) -> Result<Self, Usage> {
        let max = psi::MAX_ITEMS;
        let too_large = Usage::BatchTooLarge { n, max };
        let distinct = if n > max { None } else { Distinct::with_capacity(n) };
        let mut distinct = distinct.ok_or(too_large)?;
        let (mut of_rows, mut duplicates, mut empty) = (vec![NO_ITEM; n], 0, 0);
        let mut some = Zeroizing::new(Vec::with_capacity(AT_ONCE));
        let mut whose = Vec::with_capacity(AT_ONCE);
        let mut look_up = |some: &mut Vec<Item>, whose: &mut Vec<usize>| {
            let mut rows = whose.drain(..);
            distinct.insert_all(some, |number, is_new| {
                if let Some(row) = rows.next() {
                    of_rows[row] = number;
                    duplicates += usize::from(!is_new);
                }
            });
            some.clear();
        };
        for (row, item) in all.enumerate() {
            match item {
                None => empty += 1,
                Some(item) => {
                    some.push(item);
                    whose.push(row);
                }
            }
            if some.len() == AT_ONCE {
                look_up(&mut some, &mut whose);
            }
        }
        look_up(&mut some, &mut whose);
        Ok(Self { items: distinct.into_items(), of_rows, duplicates, empty })
    }

    /// The number of different keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Returns true if no row has a key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The number of rows whose key an earlier row has, and of rows without a key.
    #[must_use]
    pub fn left_out(&self) -> [usize; 2] {
        [self.duplicates, self.empty]
    }

    /// The rows whose keys have these numbers, in order.
    #[must_use]
    pub fn rows_of(&self, common: &[usize]) -> Vec<u32> {
        let mut is_common = vec![false; self.items.len()];
        common.iter().for_each(|&number| is_common[number] = true);
        let rows = (0..).zip(&self.of_rows);
        let is = |item: u32| is_common.get(item as usize).is_some_and(|&it| it);
        rows.filter(|(_, item)| is(**item)).map(|(row, _)| row).collect()
    }

    /// For each of [`rows_of`](Self::rows_of), which of these common keys it has: a position in `common`.
    #[must_use]
    pub fn places_of(&self, common: &[usize]) -> Vec<usize> {
        let mut places = vec![None; self.items.len()];
        common.iter().enumerate().for_each(|(place, &number)| places[number] = Some(place));
        let place = |item: &u32| places.get(*item as usize).copied().flatten();
        self.of_rows.iter().filter_map(place).collect()
    }

    /// The number of each row's key; none for a row without one.
    fn number_of(&self, row: usize) -> Option<usize> {
        self.of_rows.get(row).filter(|it| **it != NO_ITEM).map(|it| *it as usize)
    }

    fn copy(&self) -> Zeroizing<Vec<Item>> {
        self.items.clone()
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Peer<S> {
    /// A peer behind this stream, of which nothing has been read or written. Both sides have the same token, or none.
    pub fn new(stream: S, initiator: bool, token: Option<&str>) -> Self {
        Self { lanes: Lanes::new(stream), initiator, binding: token.map(token_binding) }
    }

    /// Reads the peer's terms in its first message. With a token it also finds out whether the peer has the same, which
    /// begins no session there. This connection is of no further use then.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn terms(self) -> Result<Heard, Error> {
        self.lanes.look(self.binding).await
    }

    /// Finds out which of these keys the peer also has: their numbers.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn psi_receive(
        &mut self,
        options: &Options,
        keys: &Keys,
        progress: OnProgress<'_>,
    ) -> Result<(Vec<usize>, Told), Error> {
        let (agreement, parameters, told) =
            self.begin_psi(options, Role::Receiver, keys.len(), Terms::NONE, |it| it).await?;
        let (session, plan) = (Session::new(agreement.sid), plan(options, parameters, &agreement));
        let (mut cx, mut items) = (drive::context(&session)?, keys.copy());
        let run = |io| async move {
            let receiver = Receiver::set_up(&io, &mut cx, plan).await?;
            receiver.run(&io, mem::take(&mut *items), progress).await
        };
        let received = self.lanes.play(run).await?;
        // The session ends before the sets are compared: how long that takes depends on them.
        self.lanes.finish().await?;
        Ok((received.intersect()?, told))
    }

    /// Lets the peer find out which of its keys are among these.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn psi_send(
        &mut self,
        options: &Options,
        keys: &Keys,
        progress: OnProgress<'_>,
    ) -> Result<Told, Error> {
        let (agreement, parameters, told) =
            self.begin_psi(options, Role::Sender, keys.len(), Terms::NONE, |it| it).await?;
        let (session, plan) = (Session::new(agreement.sid), plan(options, parameters, &agreement));
        let (mut cx, mut items) = (drive::context(&session)?, keys.copy());
        let run = |io| async move {
            let sender = Sender::set_up(&io, &mut cx, plan).await?;
            sender.run(&io, mem::take(&mut *items), progress).await
        };
        self.lanes.play(run).await?;
        self.lanes.finish().await?;
        Ok(told)
    }

    /// Makes `n` random OTs as the sender: the two keys of each.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn rot_send(&mut self, n: usize) -> Result<Secret<[Block; 2]>, Error> {
        let options = rot::Options::new();
        let hello = jobs::transfers("rot", Role::Sender, &options.method(n)?, n);
        let agreement = self.agree(hello, |_| Ok(())).await?.0;
        let (session, direction) = (Session::new(agreement.sid), agreement.direction());
        let (mut cx, mut all) = (drive::context(&session)?, Secret::default());
        all.0.reserve_exact(n);
        let keys = &mut all;
        let run = |io| async move {
            let sink = |some: &[_]| {
                keys.0.extend_from_slice(some);
                Ok(())
            };
            options.send_over(&io, &mut cx, direction, n, sink).await
        };
        self.lanes.play(run).await?;
        self.lanes.finish_in_place(true).await?;
        Ok(all)
    }

    /// Makes `n` random OTs as the receiver: choice bits, and the chosen key of each.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn rot_receive(&mut self, n: usize) -> Result<(Secret<u8>, Secret<Block>), Error> {
        let options = rot::Options::new();
        let hello = jobs::transfers("rot", Role::Receiver, &options.method(n)?, n);
        let agreement = self.agree(hello, |_| Ok(())).await?.0;
        let (session, direction) = (Session::new(agreement.sid), agreement.direction());
        let (mut cx, mut bits, mut all) =
            (drive::context(&session)?, Secret::default(), Secret::default());
        bits.0.reserve_exact(n.div_ceil(8));
        all.0.reserve_exact(n);
        let (choices, keys) = (&mut bits, &mut all);
        let run = |io| async move {
            let sink = |some: &Bits, of: &[_]| {
                choices.0.extend_from_slice(some.as_bytes());
                keys.0.extend_from_slice(of);
                Ok(())
            };
            options.receive_over(&io, &mut cx, direction, n, sink).await
        };
        self.lanes.play(run).await?;
        self.lanes.finish_in_place(false).await?;
        Ok((bits, all))
    }

    /// Sends one message of each pair: the one that the receiver chooses.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn ot_send(&mut self, messages: &[[Vec<u8>; 2]]) -> Result<(), Error> {
        let (options, n) = (ot::Options::new(), messages.len());
        let longest = messages.as_flattened().iter().map(Vec::len).max().unwrap_or(0);
        let hello = jobs::messages(Role::Sender, &options.method(n, 2)?, n, 2, true);
        let agreement = self.agree(jobs::message_length(hello, longest), |_| Ok(())).await?.0;
        let (session, direction) = (Session::new(agreement.sid), agreement.direction());
        let mut cx = drive::context(&session)?;
        let run = |io| async move {
            options.send_over(&io, &mut cx, direction, longest, messages, &mut |_| ()).await
        };
        self.lanes.play(run).await?;
        self.lanes.finish().await?;
        Ok(())
    }

    /// Receives a message of each pair: the first for `false`. A message that does not open is `None`; the peer must not
    /// learn whether one did.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn ot_receive(&mut self, choices: &[bool]) -> Result<Vec<Option<Message>>, Error> {
        let (options, n) = (ot::Options::new(), choices.len());
        let picks = Zeroizing::new(choices.iter().map(|&it| u64::from(it)).collect::<Vec<_>>());
        let method = options.method(n, 2)?;
        let hello = jobs::messages(Role::Receiver, &method, n, 2, true);
        let (agreement, len) = self.agree(hello, peers_length).await?;
        if memory_of_ot_receiver(&method, n, len, 1) > MOST_MEMORY {
            return Err(self.lanes.give_up(HelloError::Refused(foxtrot_net::Reason::TooLarge)));
        }
        let (session, direction) = (Session::new(agreement.sid), agreement.direction());
        let mut cx = drive::context(&session)?;
        let run = |io| async move {
            options.receive_over(&io, &mut cx, direction, len, picks, &mut |_| ()).await
        };
        let sealed: Sealed = self.lanes.play(run).await?;
        // The session ends before anything is opened: whether that fails, and how long it takes, depends on the choices.
        self.lanes.finish().await?;
        Ok(sealed.open().collect())
    }

    /// Agrees on an intersection, or on more: `more` adds to the hello.
    async fn begin_psi(
        &mut self,
        options: &Options,
        role: Role,
        ours: usize,
        terms: Terms,
        more: impl FnOnce(Hello) -> Hello,
    ) -> Result<(Agreement, Parameters, Told), Error> {
        let method = options.psi.method();
        method.check()?;
        let hello = more(options.hello(role, &method, ours));
        let (agreement, (parameters, keys)) = self
            .agree(hello, |details| {
                let theirs = options.peers_keys(details)?;
                let [receivers, senders] = sizes(role, ours, theirs);
                let too_large = HelloError::Refused(foxtrot_net::Reason::TooLarge);
                let parameters = method.parameters(receivers, senders).map_err(|_| too_large)?;
                let memory = match role {
                    Role::Receiver => memory_of_psi_receiver(&parameters, terms),
                    Role::Sender => memory_of_psi_sender(&parameters, terms),
                };
                match memory > MOST_MEMORY {
                    true => Err(HelloError::Refused(foxtrot_net::Reason::TooLarge)),
                    false => Ok((parameters, theirs)),
                }
            })
            .await?;
        let told = told(&agreement, keys);
        Ok((agreement, parameters, told))
    }

    async fn agree<T>(
        &mut self,
        hello: Hello,
        agree: impl FnOnce(&Table) -> Result<T, HelloError>,
    ) -> Result<(Agreement, T), Error> {
        let hello = hello.side(self.initiator);
        let hello = self.binding.iter().fold(hello, |hello, it| hello.bound_by(*it));
        self.lanes.greet(self.initiator, &hello, agree).await
    }
}

/// A word for programs that tell a person, in their language, what went wrong.
#[must_use]
pub fn code(error: &Error) -> &'static str {
    use foxtrot_net::{ChannelError::GivenUp, Reason};
    match error {
        Error::Hello(HelloError::Terms(_)) => "terms",
        Error::Hello(HelloError::SameRole(_)) => "role",
        Error::Hello(HelloError::Confirmation) | Error::Channel(GivenUp(Reason::CheckFailed)) => {
            "token"
        }
        Error::Hello(HelloError::NotAHello | HelloError::Malformed) => "no-foxtrot",
        Error::Hello(HelloError::Version { .. }) => "version",
        Error::Hello(HelloError::TooManyKeys { .. }) => "too-many-keys",
        Error::Hello(HelloError::TooFewKeys { .. }) => "too-few-keys",
        Error::Hello(HelloError::TooManyPeerKeys { .. } | HelloError::TooFewPeerKeys { .. }) => {
            "peer-keys"
        }
        Error::Hello(HelloError::Refused(Reason::TooLarge)) => "memory",
        Error::Hello(HelloError::Randomness(_)) => "randomness",
        Error::Channel(GivenUp(reason)) => match reason {
            Reason::Busy => "peer-busy",
            Reason::TooManyKeys | Reason::TooFewKeys => "peer-keys",
            Reason::TooLarge => "peer-memory",
            Reason::UsedUp => "peer-used-up",
            Reason::Forbidden => "peer-forbids",
            Reason::NoSuchSet => "peer-set",
            Reason::Timeout => "peer-timeout",
            _ => "peer-gave-up",
        },
        Error::Channel(_) => "closed",
        Error::Unlucky => "again",
        Error::Frame(_) | Error::Protocol(_) | Error::Hello(_) => "misbehaved",
        _ => "other",
    }
}

/// Runs both sides of an intersection of `n` and 2n/3 keys in memory with fixed seeds, and returns a hash of all messages
/// and of the result: the same on every machine.
///
/// # Errors
/// Errors of the protocol, in words.
pub fn self_test(n: u32) -> Result<String, String> {
    let items = |numbers: &mut dyn Iterator<Item = u32>| -> Vec<Item> {
        let mut hasher = psi::ItemHasher::new();
        numbers.filter_map(|number| hasher.item([number.to_string()])).collect()
    };
    let ours = items(&mut (0..n));
    let theirs = items(&mut (0..n).filter(|number| number % 3 > 0));
    let method = psi::Options::new().method();
    let parameters = method.parameters(ours.len(), theirs.len()).map_err(|e| e.to_string())?;
    let direction = Direction::InitiatorSends;
    let plan = Plan { parameters, base: method.base, direction, counter: 0 };
    let session = || Session::new(Sid::from_bytes([7; 32]));
    let [first, second] = [8, 9].map(|byte| Seed::from_bytes([byte; 32]));
    let sender = Engine::new(|io| async move {
        let session = session();
        let mut cx = Context::new(&session, first);
        let sender = Sender::set_up(&io, &mut cx, plan).await?;
        sender.run(&io, theirs, &mut |_| ()).await
    });
    let receiver = Engine::new(|io| async move {
        let session = session();
        let mut cx = Context::new(&session, second);
        let receiver = Receiver::set_up(&io, &mut cx, plan).await?;
        receiver.run(&io, ours, &mut |_| ()).await?.intersect()
    });
    let mut hasher = blake3::Hasher::new();
    let run = Pair::new(sender, receiver).run_through(|party, message| {
        hasher.update(&[u8::from(party == Party::Receiver)]).update(&message);
        message
    });
    let ((), common) = run.map_err(|(_, e)| e.to_string())?;
    for number in common {
        hasher.update(&(number as u64).to_le_bytes());
    }
    Ok(hasher.finalize().to_string())
}

/// The numbers of keys of receiver and sender.
fn sizes(role: Role, ours: usize, theirs: usize) -> [usize; 2] {
    match role {
        Role::Receiver => [ours, theirs],
        Role::Sender => [theirs, ours],
    }
}

fn told(agreement: &Agreement, keys: usize) -> Told {
    let details = agreement.peer_details.clone();
    Told { keys, details, session: *agreement.sid.as_bytes() }
}

fn plan(options: &Options, parameters: Parameters, agreement: &Agreement) -> Plan<'static> {
    let (base, direction) = (options.psi.method().base, agreement.direction());
    Plan { parameters, base, direction, counter: 0 }
}

foxtrot_ot::erase::redacted! { Keys; }

#[cfg(test)]
mod tests;
