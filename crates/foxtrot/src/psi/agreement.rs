//! The terms of one side of `psi`, and what follows from them and from the peer's details: the same for every door.

use foxtrot_net::{
    HelloError, Reason,
    hello::{Agreement, Hello, Role, Table, numbered},
    printable,
};
use foxtrot_ot::{
    Usage,
    base::Adversary,
    protocol::{Purpose, suits},
};
use foxtrot_psi::{
    circuit,
    join::{self, MAX_PAYLOAD},
    method::{Assumption, Method, Parameters},
};

use super::{
    Function, Options,
    fields::{Fields, Padding},
    memory::{RESULT, memory_of_count, memory_of_psi_receiver, memory_of_psi_sender},
    terms::{
        self, COLUMNS, DUPLICATES, FUNCTION, KEY_COLUMNS, LARGEST, MIN_COUNT, OR_NORMALIZE,
        PAYLOAD, SET, VALUE, WIDTH, peers_keys,
    },
};
use crate::{
    Error,
    job::{Answer, refused},
};

/// Bytes of a text beside its own: its place, and what the heap takes.
const TEXT: u64 = 48;

/// The terms of one side.
#[derive(Clone, Debug)]
pub struct PsiTerms {
    /// The role of this side.
    pub role: Role,
    /// Protocols and limits.
    pub options: Options,
    /// The keys by which rows are compared: an intersection for each, one after another.
    pub keys: Vec<KeyTerms>,
    /// The function that is computed.
    pub function: Function,
    /// Columns of the sender, of a join: those that it shares, or those that the receiver asks for.
    pub columns: Option<Columns>,
    /// The bytes of a payload, of a join without columns.
    pub payload: Option<usize>,
    /// The name of the sender's set, if it has several.
    pub set: Option<String>,
    /// The fewest common keys that a count or a sum tells.
    pub min_count: u64,
    /// The largest number of a sum.
    pub largest: Option<u64>,
    /// The name of the column that is added up, if it is ours.
    pub value: Option<String>,
    /// Bytes that the caller takes for the job beside its set.
    pub more_memory: u64,
}

/// A way to compare rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KeyTerms {
    /// The normalisers of the key's parts, as both sides compare them: `email/1;date/1`.
    pub normalize: String,
    /// The names of our columns, for people.
    pub columns: Option<Vec<String>>,
    /// The number of our keys.
    pub size: usize,
}

/// Columns of the sender that go to the receiver with a match.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Columns {
    /// Their names.
    pub names: Vec<String>,
    /// The form in which they go.
    pub padding: Padding,
}

/// The terms on which both sides agree, with the numbers of keys.
#[derive(Clone, Debug)]
pub struct PsiAgreement {
    /// Our terms, with the columns that the receiver gets and the set that it asks for.
    pub terms: PsiTerms,
    pub(super) protocol: Protocols,
    /// The peer's key columns for each key, as it wrote them.
    peer_columns: Vec<Option<String>>,
}

/// The protocols of a job.
#[derive(Clone, Debug)]
pub(super) enum Protocols {
    /// An intersection for each key.
    Intersections(Vec<Parameters>),
    /// A count, or a sum.
    Circuit(circuit::Parameters),
}

impl PsiTerms {
    /// The terms of an intersection by these options, of keys that are still to be added.
    #[must_use]
    pub const fn new(role: Role, options: Options) -> Self {
        Self {
            role,
            options,
            keys: Vec::new(),
            function: Function::Intersection,
            columns: None,
            payload: None,
            set: None,
            min_count: 0,
            largest: None,
            value: None,
            more_memory: 0,
        }
    }

    /// Puts what is ours and the peer's in the order of receiver and sender, or back.
    pub fn by_role<T>(&self, ours: T, peers: T) -> [T; 2] {
        match self.role {
            Role::Receiver => [ours, peers],
            Role::Sender => [peers, ours],
        }
    }

    /// The protocols: counts and sums have one method.
    #[must_use]
    pub fn method(&self) -> Method {
        let method = self.options.method();
        match self.counts() {
            true => {
                Method { assumption: Assumption::Lpn, adversary: Adversary::SemiHonest, ..method }
            }
            false => method,
        }
    }

    /// Returns true if both sides learn a number, and no items.
    #[must_use]
    pub fn counts(&self) -> bool {
        matches!(self.function, Function::Count | Function::Sum)
    }

    /// Returns true if the peer learns something of our set.
    #[must_use]
    pub fn peer_learns(&self) -> bool {
        self.role == Role::Sender || self.counts() || self.function == Function::Both
    }

    /// The hello of this side.
    ///
    /// # Errors
    /// [`Error::Usage`] for protocols that do not go together, or more keys than the function takes.
    pub fn hello(&self) -> Result<Hello, Error> {
        let method = self.method();
        let sizes = self.keys.iter().map(|key| key.size);
        match self.counts() {
            true => {
                let base = method.base.info();
                let (protocol, purpose) = (Some(&circuit::PROTOCOL), Purpose::Messages);
                suits(base, protocol, purpose, method.adversary).map_err(Usage::Incompatible)?;
                let max = circuit::MAX_ITEMS;
                if let Some(n) = sizes.clone().find(|n| *n > max) {
                    return Err(Usage::BatchTooLarge { n, max }.into());
                }
            }
            false => method.check()?,
        }
        let first = self.keys.first().map_or("", |key| &key.normalize);
        let size = sizes.clone().next().unwrap_or(0);
        let hello = terms::psi(self.role, &method, first, size, self.most());
        let hello = sizes.skip(1).fold(hello, |hello, size| hello.also_keys(size as u64));
        let hello = hello.at_least(self.options.least as u64);
        let hello = self.options.shard.iter().fold(hello, terms::of_shard);
        let set = self.set.iter().filter(|_| self.role == Role::Receiver);
        let hello = set.fold(hello, |hello, name| hello.detail(SET, name));
        let hello = match self.function {
            Function::Intersection => hello,
            function => hello.term(FUNCTION, function),
        };
        let hello = if self.counts() { hello.term(MIN_COUNT, self.min_count) } else { hello };
        let hello = self.largest.iter().fold(hello, |hello, it| hello.term(LARGEST, it));
        let hello = self.value.iter().fold(hello, |hello, name| hello.detail(VALUE, name));
        let hello = self.payload.iter().fold(hello, |hello, it| hello.term(PAYLOAD, it));
        let hello = self.columns.iter().fold(hello, |hello, Columns { names, padding }| {
            hello
                .term(WIDTH, padding.width)
                .term(DUPLICATES, padding.duplicates.name())
                .detail(COLUMNS, names.join("\n"))
        });
        let others: Vec<_> = self.keys.iter().skip(1).map(|key| key.normalize.as_str()).collect();
        let hello = match &others[..] {
            [] => hello,
            others => hello.term(OR_NORMALIZE, others.join(" | ")),
        };
        Ok(self.keys.iter().enumerate().fold(hello, |hello, (number, key)| {
            terms::key_columns(hello, number, key.columns.as_deref())
        }))
    }

    /// The most keys of the peer that this side accepts.
    fn most(&self) -> usize {
        match self.counts() {
            true => self.options.most.min(circuit::MAX_ITEMS),
            false => self.options.most,
        }
    }

    /// The number of the peer's keys for the key with this number, if this side accepts it.
    ///
    /// # Errors
    /// Errors of [`peers_keys`].
    pub fn peers_keys(&self, details: &Table, number: usize) -> Result<usize, HelloError> {
        peers_keys(details, number, self.options.least..=self.most())
    }

    /// Agrees with a peer that told these details. Whether our set is too large for it was found out before it learnt the size.
    ///
    /// # Errors
    /// [`Error`], with what the peer is told.
    pub fn agree(&self, details: &Table) -> Result<PsiAgreement, (Reason, Error)> {
        let columns = self.columns.as_ref();
        let columns = columns.map(|it| it.agree(self.role, details)).transpose()?;
        Self { columns, ..self.clone() }.agree_on_sizes(details)
    }

    /// Agrees on all but the columns: two sides that want different ones both get to know them.
    ///
    /// # Errors
    /// As [`agree`](Self::agree).
    pub fn agree_on_sizes(&self, details: &Table) -> Result<PsiAgreement, (Reason, Error)> {
        let here = |e: Usage| (Reason::OwnInput, Error::from(e));
        let asked = details.get(SET);
        if self.role == Role::Sender && asked != self.set.as_ref() {
            let error = HelloError::Refused(Reason::NoSuchSet);
            return Err((Reason::NoSuchSet, Error::Session(error.into())));
        }
        let sizes = |(number, key): (usize, &KeyTerms)| {
            let theirs = self.peers_keys(details, number).map_err(refused)?;
            Ok(self.by_role(key.size, theirs))
        };
        let sizes = self.keys.iter().enumerate().map(sizes).collect::<Result<Vec<_>, _>>()?;
        let protocol = match (self.counts(), &sizes[..]) {
            (true, [[receivers, senders], ..]) => {
                let (largest, at_least) = (self.largest, self.min_count);
                let wanted = circuit::CircuitTerms { largest, at_least, both: true };
                let parameters = circuit::Parameters::new(wanted, *receivers, *senders);
                Protocols::Circuit(parameters.map_err(here)?)
            }
            (_, sizes) => {
                let method = self.method();
                let of =
                    |[receivers, senders]: &[usize; 2]| method.parameters(*receivers, *senders);
                let all: Result<_, _> = sizes.iter().map(of).collect();
                Protocols::Intersections(all.map_err(here)?)
            }
        };
        let peer_columns = (0..self.keys.len())
            .map(|number| details.get(&numbered(KEY_COLUMNS, number)).cloned())
            .collect();
        Ok(PsiAgreement { terms: self.clone(), protocol, peer_columns })
    }
}

impl Columns {
    /// The columns of these fields.
    #[must_use]
    pub fn of(fields: &Fields) -> Self {
        Self { names: fields.names().to_vec(), padding: fields.padding() }
    }

    /// Bytes of a payload with all of them.
    #[must_use]
    pub fn payload(&self) -> usize {
        self.names.len().saturating_mul(self.padding.slot())
    }

    /// The columns that the receiver gets: those that it asks for, if the sender shares them.
    fn agree(&self, role: Role, details: &Table) -> Result<Self, (Reason, Error)> {
        let nothing = || refused(HelloError::Offer { key: "its columns", value: None });
        let told = details.get(COLUMNS).ok_or_else(nothing)?;
        let peers: Vec<_> = told.split('\n').map(str::to_owned).collect();
        let (asked, shared) = match role {
            Role::Receiver => (&self.names, &peers),
            Role::Sender => (&peers, &self.names),
        };
        let forbidden = |why: String| (Reason::Forbidden, Error::Columns(why));
        if let Some(column) = asked.iter().find(|&column| !shared.contains(column)) {
            let (column, all) = (printable(column), printable(&shared.join(", ")));
            return Err(forbidden(match role {
                Role::Receiver => {
                    format!("the peer does not share column {column}; it shares {all}")
                }
                Role::Sender => {
                    format!("the peer asks for column {column}; this side shares {all}")
                }
            }));
        }
        if asked.len() > shared.len() {
            return Err(forbidden("the peer asks for more columns than this side shares".into()));
        }
        let agreed = Self { names: asked.clone(), padding: self.padding };
        match agreed.payload() > MAX_PAYLOAD {
            true => {
                let why = "the columns of a row are too long together";
                Err((Reason::Forbidden, Error::Columns(why.into())))
            }
            false => Ok(agreed),
        }
    }
}

impl PsiAgreement {
    /// The sizes and protocols of the intersection for each key; none of a count or a sum.
    #[must_use]
    pub fn passes(&self) -> &[Parameters] {
        match &self.protocol {
            Protocols::Intersections(passes) => passes,
            Protocols::Circuit(_) => &[],
        }
    }

    /// The sizes and protocol of a count or a sum.
    #[must_use]
    pub fn circuit(&self) -> Option<&circuit::Parameters> {
        match &self.protocol {
            Protocols::Intersections(_) => None,
            Protocols::Circuit(parameters) => Some(parameters),
        }
    }

    /// The peer's key columns for the key with this number, as the peer wrote them.
    #[must_use]
    pub fn peer_columns(&self, number: usize) -> Option<&str> {
        self.peer_columns.get(number)?.as_deref()
    }

    /// The numbers of keys of receiver and sender, of all keys together.
    #[must_use]
    pub fn sizes(&self) -> [usize; 2] {
        match &self.protocol {
            Protocols::Circuit(it) => [it.receiver_items(), it.sender_items()],
            Protocols::Intersections(passes) => [
                passes.iter().map(|it| it.receiver_items()).sum(),
                passes.iter().map(|it| it.sender_items()).sum(),
            ],
        }
    }

    /// The number of the peer's keys.
    #[must_use]
    pub fn peers_keys(&self) -> usize {
        let [receivers, senders] = self.sizes();
        let [_, theirs] = self.terms.by_role(receivers, senders);
        theirs
    }

    /// The steps of progress of the whole job.
    #[must_use]
    pub fn steps(&self) -> usize {
        let join = self.join();
        match &self.protocol {
            Protocols::Circuit(it) => it.steps(),
            Protocols::Intersections(all) => all.iter().map(|it| it.steps_of_join(join)).sum(),
        }
    }

    /// The terms of what follows the tags of an intersection.
    pub(super) fn join(&self) -> join::JoinTerms {
        let PsiTerms { function, columns, payload, .. } = &self.terms;
        let payload = columns.as_ref().map(Columns::payload).or(*payload);
        match (function, payload) {
            (Function::Both, _) => join::JoinTerms::NONE.both(),
            // Of columns that are longer together, the receiver gets a part.
            (_, Some(len)) => {
                let terms = join::JoinTerms::NONE.payload(len.min(MAX_PAYLOAD));
                terms.unwrap_or(join::JoinTerms::NONE)
            }
            _ => join::JoinTerms::NONE,
        }
    }

    /// The most bytes of memory that this side of the job takes, whatever the peer does.
    #[must_use]
    pub fn memory(&self) -> u64 {
        let join = self.join();
        let of_protocol = match (&self.protocol, self.terms.role) {
            (Protocols::Circuit(parameters), _) => memory_of_count(parameters),
            // One after another.
            (Protocols::Intersections(passes), Role::Sender) => {
                passes.iter().map(|it| memory_of_psi_sender(it, join)).max().unwrap_or(0)
            }
            // What was received of each stays until all are done.
            (Protocols::Intersections(passes), Role::Receiver) => {
                passes.iter().map(|it| memory_of_psi_receiver(it, join)).sum()
            }
        };
        // A field becomes a text of its own; the payload goes as its texts are made.
        let columns = self.terms.columns.as_ref().filter(|_| self.terms.role == Role::Receiver);
        let of_match = columns.map_or(0, |it| (it.names.len() as u64).saturating_mul(TEXT));
        let matches = self.sizes().into_iter().min().unwrap_or(0) as u64;
        let of_texts = of_match.saturating_mul(matches);
        of_protocol.saturating_add(of_texts).saturating_add(self.terms.more_memory)
    }

    /// The most keys that a cheating receiver can test, in all keys of this attempt and of earlier ones; `None` if nothing
    /// bounds them.
    #[must_use]
    pub fn largest_set(&self) -> Option<u64> {
        let Protocols::Intersections(passes) = &self.protocol else { return None };
        let of_one: u64 = passes.iter().map(Parameters::largest_set).sum::<Option<_>>()?;
        Some(of_one.saturating_mul(self.attempts()))
    }

    /// The number of attempts at a shard, this one included.
    #[must_use]
    pub fn attempts(&self) -> u64 {
        1 + self.terms.options.shard.map_or(0, |shard| u64::from(shard.attempt))
    }

    /// The keys that the peer can test, which count against its limits per day: as many as it declares if it is trusted to follow
    /// the protocol, or is the sender. `None` if it learns nothing of our set.
    #[must_use]
    pub fn counted_keys(&self) -> Option<u64> {
        let declared = self.peers_keys() as u64;
        self.terms.peer_learns().then(|| match self.terms.role {
            Role::Sender => self.largest_set().unwrap_or(declared),
            // A cheating sender has no more keys than it declares.
            Role::Receiver => declared,
        })
    }

    /// The answer of this side to the peer's details.
    #[must_use]
    pub fn answer(&self) -> Answer {
        Answer { memory: self.memory(), keys: self.counted_keys(), hello: None }
    }

    /// Facts that the peer has told in this session.
    #[must_use]
    pub fn told(&self, agreement: &Agreement) -> super::keys::Told {
        let columns = self.peer_columns(0).map(str::to_owned);
        super::keys::Told { keys: self.peers_keys(), columns, session: *agreement.sid.as_bytes() }
    }
}

/// Bytes that copies of a payload of this length take for so many rows.
pub(super) fn memory_of_copies(copies: usize, len: usize) -> u64 {
    (copies as u64).saturating_mul(len as u64 + RESULT)
}
