//! Session ids, which separate every hash of one run from the hashes of all others.

use alloc::sync::Arc;
use core::fmt;

use foxtrot_kernel::Backend;

use crate::{
    oracle::{Keyed, Oracle, Purpose, hash},
    tasks::{Executor, InPlace},
};

/// The id of a session, known to both parties and to anybody who watches.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Sid([u8; 32]);

impl Sid {
    /// Derives the id from the two hellos, whole, and the exporter of the secure channel, empty if
    /// there is none (`docs/wire/README.md`, section 3).
    #[must_use]
    pub fn derive(initiator_hello: &[u8], responder_hello: &[u8], exporter: &[u8]) -> Self {
        Self(hash("foxtrot v1 session", &[initiator_hello, responder_hello, exporter]))
    }

    /// Takes an id that the application has established; it must never repeat.
    #[must_use]
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The id itself.
    #[must_use]
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for Sid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sid(")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))?;
        f.write_str(")")
    }
}

/// The direction of a protocol within its session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Direction {
    /// The side that opened the connection is the protocol's sender.
    #[default]
    InitiatorSends,
    /// The side that was connected to is the protocol's sender.
    ResponderSends,
}

impl Direction {
    /// The other one.
    #[must_use]
    pub const fn reversed(self) -> Self {
        match self {
            Self::InitiatorSends => Self::ResponderSends,
            Self::ResponderSends => Self::InitiatorSends,
        }
    }
}

/// A namespace for one protocol run, and the backend and the threads that it computes with.
///
/// A protocol consumes its session, and a session cannot be copied. The same namespace can still be
/// made twice, from the same [`Sid`] by the same arguments: it is for the two parties to do once
/// each.
#[derive(Debug)]
pub struct Session {
    id: Sid,
    backend: Backend,
    executor: Option<Arc<dyn Executor>>,
}

impl Session {
    /// The whole session; protocols run in its [`Session::sub`] sessions.
    #[must_use]
    pub fn new(sid: Sid) -> Self {
        Self { id: sid, backend: Backend::best(), executor: None }
    }

    /// Returns the session with another backend.
    #[must_use]
    pub fn with_backend(self, backend: Backend) -> Self {
        Self { backend, ..self }
    }

    /// Returns the session with threads for the protocols that can use them; outputs are the same
    /// for any number.
    #[must_use]
    pub fn with_executor(self, executor: Arc<dyn Executor>) -> Self {
        Self { executor: Some(executor), ..self }
    }

    /// The namespace of one batch of one protocol; the counter must not repeat for that name and
    /// direction.
    #[must_use]
    pub fn sub(&self, protocol: &str, counter: u64, direction: Direction) -> Self {
        let (oracle, mut id) =
            (Oracle::new(const { Purpose::new("foxtrot v1 sub-session") }, &self.id.0), [0; 32]);
        oracle.answer(counter, direction as u8, &[protocol.as_bytes()], &mut id);
        Self { id: Sid(id), backend: self.backend, executor: self.executor.clone() }
    }

    /// The id that every hash of this namespace is bound to.
    #[must_use]
    pub fn id(&self) -> &Sid {
        &self.id
    }

    /// The backend that protocols of this session compute with.
    #[must_use]
    pub fn backend(&self) -> Backend {
        self.backend
    }

    /// Returns the executor that runs the tasks of protocols of this session.
    #[must_use]
    pub fn executor(&self) -> &dyn Executor {
        self.executor.as_deref().unwrap_or(&InPlace)
    }

    /// The random oracle of that purpose for many queries of one form, apart for all `fields`.
    #[must_use]
    pub fn keyed(&self, context: impl Into<Purpose>, fields: &[&[u8]]) -> Keyed {
        let mut key = [0; 32];
        self.oracle(context).answer(0, 0, fields, &mut key);
        Keyed::new(self.backend, key)
    }

    /// The random oracle of that purpose in this namespace.
    #[must_use]
    pub fn oracle(&self, context: impl Into<Purpose>) -> Oracle {
        Oracle::new(context, &self.id.0)
    }
}
