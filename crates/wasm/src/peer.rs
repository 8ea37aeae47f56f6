//! Jobs with a peer over an asynchronous stream: those of the library.

use foxtrot::{
    ChannelBinding, Config, Error, Side, Stream,
    job::Role,
    psi::{
        self, Function,
        agreement::{KeyTerms, PsiTerms},
        keys::{Item, Keys},
    },
};
use foxtrot_net::{Error as NetError, HelloError, Reason, hello::token_binding, tokio::Lanes};
use foxtrot_ot::{
    Context, Direction, Seed, Session, Sid, Usage,
    engine::Engine,
    erase::Secret,
    pair::{Pair, PairParty},
};
use foxtrot_psi::method::protocol::{IntersectionPlan, Receiver, Sender};
use tokio::io::{AsyncRead, AsyncWrite};

/// The most bytes that a job may take: WebAssembly has 4 GiB of addresses, and the file's rows are there also.
const MOST_MEMORY: u64 = 2 << 30;

/// A peer behind a stream, which some other layer has secured. Jobs follow one another.
pub type Peer<S> = foxtrot::Peer<Lanes<S>>;

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

/// The payload of each key, of those of all rows: the first row's.
///
/// # Errors
/// [`Usage::MessageLength`] if there are not as many bytes for each row.
pub fn firsts(keys: &Keys, payloads: &[u8], len: usize) -> Result<Secret<u8>, Usage> {
    let all = len * keys.rows();
    if payloads.len() != all {
        return Err(Usage::MessageLength { len: payloads.len(), max: all });
    }
    // Without growing, which would leave copies behind.
    let mut firsts = Secret::with_capacity(len * keys.len());
    keys.firsts().for_each(|row| firsts.0.extend_from_slice(&payloads[len * row..][..len]));
    Ok(firsts)
}

/// A copy of the items.
#[must_use]
pub fn copy(keys: &Keys) -> Secret<Item> {
    Secret(keys.items().to_vec())
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
    let plan = IntersectionPlan { parameters, base: method.base, direction, counter: 0 };
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
        hasher.update(&[u8::from(party == PairParty::Receiver)]).update(&message);
        message
    });
    let ((), common) = run.map_err(|(_, e)| e.to_string())?;
    for number in common {
        hasher.update(&(number as u64).to_le_bytes());
    }
    Ok(hasher.finalize().to_string())
}

#[cfg(test)]
mod tests;
