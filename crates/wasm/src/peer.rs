//! Jobs with a peer over an asynchronous stream: those of the library.

use foxtrot::{
    ChannelBinding, Config, Error, Side, Stream,
    job::Role,
    psi::{
        self, Function,
        agreement::{KeyTerms, PsiTerms},
        keys::{AT_ONCE, Distinct, Item},
    },
};
use foxtrot_net::{Error as NetError, HelloError, Reason, hello::token_binding, tokio::Lanes};
use foxtrot_ot::{
    Context, Direction, Seed, Session, Sid, Usage,
    engine::Engine,
    erase::Secret,
    pair::{Pair, Party},
};
use foxtrot_psi::method::protocol::{Plan, Receiver, Sender};
use tokio::io::{AsyncRead, AsyncWrite};
use zeroize::Zeroizing;

/// The number in place of an item's, for a row without a key.
const NO_ITEM: u32 = u32::MAX;

/// The most bytes that a job may take: WebAssembly has 4 GiB of addresses, and the file's rows are there also.
const MOST_MEMORY: u64 = 2 << 30;

/// A peer behind a stream, which some other layer has secured. Jobs follow one another.
pub type Peer<S> = foxtrot::Peer<Lanes<S>>;

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
    /// The normalisation of keys, as both sides compare it: `none/1`, `email/1`.
    pub normalize: String,
    /// The names of our key columns, for people.
    pub columns: Option<Vec<String>>,
    /// The name of the peer's set.
    pub set: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        let (psi, normalize) = (psi::Options::new(), "none/1".into());
        Self { psi, normalize, columns: None, set: None }
    }
}

impl Options {
    /// The terms of a job with these keys.
    #[must_use]
    pub fn terms(&self, role: Role, function: Function, keys: &Keys) -> PsiTerms {
        let (normalize, columns) = (self.normalize.clone(), self.columns.clone());
        let keys = vec![KeyTerms { normalize, columns, size: keys.len() }];
        PsiTerms { function, keys, set: self.set.clone(), ..PsiTerms::new(role, self.psi) }
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

    /// The payload of each key, of those of all rows: the first row's.
    ///
    /// # Errors
    /// [`Usage::MessageLength`] if there are not as many bytes for each row.
    pub fn firsts(&self, payloads: &[u8], len: usize) -> Result<Secret<u8>, Usage> {
        let all = len * self.of_rows.len();
        if payloads.len() != all {
            return Err(Usage::MessageLength { len: payloads.len(), max: all });
        }
        let (mut firsts, mut next) = (Secret::default(), 0);
        for (row, item) in self.of_rows.iter().enumerate() {
            // Keys are numbered in the order of their first rows.
            if *item == next {
                firsts.0.extend_from_slice(&payloads[len * row..][..len]);
                next += 1;
            }
        }
        Ok(firsts)
    }

    /// A copy of the items.
    #[must_use]
    pub fn copy(&self) -> Secret<Item> {
        Secret(self.items.to_vec())
    }
}

/// A peer behind this stream, of which nothing has been read or written. Both sides have the same token, or none.
///
/// # Errors
/// None: the configuration has no keys.
pub fn open<S: AsyncRead + AsyncWrite + Unpin>(
    stream: S,
    initiator: bool,
    token: Option<&str>,
) -> Result<Peer<S>, Error> {
    let facts = Stream::new(if initiator { Side::Initiator } else { Side::Responder });
    let facts = match token {
        Some(token) => facts.bound(ChannelBinding::from_exporter(token_binding(token))),
        None => facts,
    };
    Config::insecure().max_memory(MOST_MEMORY).over_async(stream, facts)
}

/// A word for programs that tell a person, in their language, what went wrong.
#[must_use]
pub fn code(error: &Error) -> &'static str {
    use NetError::{Channel, Frame, Hello, Protocol, Unlucky};
    use foxtrot_net::ChannelError::GivenUp;
    let error = match error {
        Error::Session(error) => error,
        Error::Full(_) | Error::OutOfMemory { .. } => return "memory",
        Error::Columns(_) => return "columns",
        Error::NotText => return "misbehaved",
        _ => return "other",
    };
    match error {
        Hello(HelloError::Terms(_)) => "terms",
        Hello(HelloError::SameRole(_)) => "role",
        Hello(HelloError::Confirmation) | Channel(GivenUp(Reason::CheckFailed)) => "token",
        Hello(HelloError::NotAHello | HelloError::Malformed) => "no-foxtrot",
        Hello(HelloError::Version { .. }) => "version",
        Hello(HelloError::TooManyKeys { .. }) => "too-many-keys",
        Hello(HelloError::TooFewKeys { .. }) => "too-few-keys",
        Hello(HelloError::TooManyPeerKeys { .. } | HelloError::TooFewPeerKeys { .. }) => {
            "peer-keys"
        }
        Hello(HelloError::Randomness(_)) => "randomness",
        Channel(GivenUp(reason)) => match reason {
            Reason::Busy => "peer-busy",
            Reason::TooManyKeys | Reason::TooFewKeys => "peer-keys",
            Reason::TooLarge => "peer-memory",
            Reason::UsedUp => "peer-used-up",
            Reason::Forbidden => "peer-forbids",
            Reason::NoSuchSet => "peer-set",
            Reason::Timeout => "peer-timeout",
            _ => "peer-gave-up",
        },
        Channel(_) => "closed",
        Unlucky => "again",
        Frame(_) | Protocol(_) | Hello(_) => "misbehaved",
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

foxtrot_ot::erase::redacted! { Keys; }

#[cfg(test)]
mod tests;
