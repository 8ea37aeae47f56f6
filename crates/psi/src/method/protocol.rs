//! Either protocol between two parties, as their [`Parameters`] say.
//!
//! ```
//! use foxtrot_ot::{
//!     Context, Direction, Seed, Session, Sid,
//!     base::{Adversary, roted::Endemic},
//!     engine::Engine,
//!     pair::Pair,
//! };
//! use foxtrot_psi::method::{
//!     Assumption, Method,
//!     protocol::{Plan, Receiver, Sender},
//! };
//!
//! // Items are digests of 32 bytes; both sides know the sizes.
//! let (ours, theirs) = (vec![[1; 32], [2; 32], [3; 32]], vec![[3; 32], [5; 32]]);
//! let method =
//!     Method { base: &Endemic, assumption: Assumption::Lpn, adversary: Adversary::Malicious };
//! let parameters = method.parameters(ours.len(), theirs.len())?;
//! let plan = Plan { parameters, base: &Endemic, direction: Direction::InitiatorSends, counter: 0 };
//! // The parties have agreed on the session; each has a secret seed, which it uses once.
//! let session = || Session::new(Sid::from_bytes([7; 32]));
//!
//! let sender = Engine::new(|io| async move {
//!     let session = session();
//!     let mut cx = Context::new(&session, Seed::from_bytes([8; 32]));
//!     let sender = Sender::set_up(&io, &mut cx, plan).await?;
//!     sender.run(&io, theirs, &mut |_| ()).await
//! });
//! let receiver = Engine::new(|io| async move {
//!     let session = session();
//!     let mut cx = Context::new(&session, Seed::from_bytes([9; 32]));
//!     let receiver = Receiver::set_up(&io, &mut cx, plan).await?;
//!     receiver.run(&io, ours, &mut |_| ()).await?.intersect()
//! });
//! let ((), common) = Pair::new(sender, receiver).run().map_err(|(_party, e)| e)?;
//! assert_eq!(common, [2]);
//! # Ok::<(), foxtrot_psi::method::protocol::Error>(())
//! ```

use alloc::{boxed::Box, vec::Vec};

use foxtrot_ot::{
    Context,
    engine::{Abandoned, Io, Limits, Run},
};

use super::{Of, Parameters};
use crate::{
    join::{Joined, Store, Terms},
    paxos::{self, protocol as of_paxos},
    plan,
    vole_psi::{self, protocol as of_vole},
};
pub use crate::{
    paxos::{Digest, Error},
    plan::{OnProgress, Progress},
};

/// Terms that both parties have agreed on.
pub type Plan<'a> = plan::Plan<'a, Parameters>;

/// A call that gets the index of an item and writes all bytes of its payload.
pub type Payloads<'a> = &'a mut (dyn FnMut(usize, &mut [u8]) -> Result<(), Abandoned> + Send);

/// The party that learns nothing, after the base OTs.
#[derive(Debug)]
pub struct Sender(Either<Box<of_paxos::Sender>, Box<of_vole::Sender>>);

/// The party that learns the intersection, after the base OTs.
#[derive(Debug)]
pub struct Receiver(Either<Box<of_paxos::Receiver>, Box<of_vole::Receiver>>);

/// The receiver, to which everything has come.
#[derive(Debug)]
pub struct Received(Either<paxos::Received, vole_psi::Received>);

#[derive(Debug)]
enum Either<P, V> {
    Paxos(P),
    Vole(V),
}

impl<'a> Plan<'a> {
    fn of(self) -> Either<of_paxos::Plan<'a>, of_vole::Plan<'a>> {
        match self.parameters.of {
            Of::Paxos(parameters) => Either::Paxos(self.with(parameters)),
            Of::Vole(parameters) => Either::Vole(self.with(parameters)),
        }
    }
}

impl Sender {
    /// Runs the base OTs. The items are not needed yet, only their numbers.
    ///
    /// # Errors
    /// [`Usage::Incompatible`](foxtrot_ot::Usage::Incompatible); errors of the base OT and of the VOLE.
    pub fn set_up<'a>(io: &'a Io, cx: &'a mut Context<'_>, plan: Plan<'a>) -> Run<'a, Self, Error> {
        Box::pin(async move {
            Ok(Self(match plan.of() {
                Either::Paxos(plan) => {
                    Either::Paxos(Box::new(of_paxos::Sender::set_up(io, cx, plan).await?))
                }
                Either::Vole(plan) => {
                    Either::Vole(Box::new(of_vole::Sender::set_up(io, cx, plan).await?))
                }
            }))
        })
    }

    /// Lets the peer find out which of its items are among these: distinct, and as many as agreed.
    ///
    /// # Errors
    /// Errors of the steps; [`Error::Unlucky`].
    pub fn run<'a>(
        self,
        io: &'a Io,
        items: Vec<Digest>,
        progress: OnProgress<'a>,
    ) -> Run<'a, (), Error> {
        Box::pin(async move {
            match self.0 {
                Either::Paxos(sender) => sender.run(io, items, progress).await,
                Either::Vole(sender) => sender.run(io, items, progress).await,
            }
        })
    }

    /// Runs as [`run`](Self::run), and then what follows the tags of a [join](crate::join). `payload` gets the index of an item and
    /// writes all bytes of its payload. Returns the indices, ascending, of the items that the receiver also has, if that was
    /// agreed on.
    ///
    /// # Errors
    /// Errors of the steps; [`Error::Unlucky`]; [`Usage::Abandoned`](foxtrot_ot::Usage::Abandoned).
    pub fn join<'a>(
        self,
        io: &'a Io,
        items: Vec<Digest>,
        terms: Terms,
        payload: Payloads<'a>,
        progress: OnProgress<'a>,
    ) -> Run<'a, Vec<usize>, Error> {
        Box::pin(async move {
            match self.0 {
                Either::Paxos(sender) => sender.join(io, items, terms, payload, progress).await,
                Either::Vole(sender) => sender.join(io, items, terms, payload, progress).await,
            }
        })
    }
}

impl Receiver {
    /// Runs the base OTs. The items are not needed yet, only their numbers.
    ///
    /// # Errors
    /// [`Usage::Incompatible`](foxtrot_ot::Usage::Incompatible); errors of the base OT.
    pub fn set_up<'a>(io: &'a Io, cx: &'a mut Context<'_>, plan: Plan<'a>) -> Run<'a, Self, Error> {
        Box::pin(async move {
            Ok(Self(match plan.of() {
                Either::Paxos(plan) => {
                    Either::Paxos(Box::new(of_paxos::Receiver::set_up(io, cx, plan).await?))
                }
                Either::Vole(plan) => {
                    Either::Vole(Box::new(of_vole::Receiver::set_up(io, cx, plan).await?))
                }
            }))
        })
    }

    /// All that comes from the peer; [`Received::intersect`] is the rest. The items are distinct, and as many as agreed.
    /// How long it takes to intersect depends on the sets: who closes the channel before keeps that from the peer.
    ///
    /// # Errors
    /// Errors of the steps; [`Error::Unlucky`].
    pub fn run<'a>(
        self,
        io: &'a Io,
        items: Vec<Digest>,
        progress: OnProgress<'a>,
    ) -> Run<'a, Received, Error> {
        Box::pin(async move {
            Ok(Received(match self.0 {
                Either::Paxos(receiver) => Either::Paxos(receiver.run(io, items, progress).await?),
                Either::Vole(receiver) => Either::Vole(receiver.run(io, items, progress).await?),
            }))
        })
    }

    /// Runs as [`run`](Self::run), and then what follows the tags of a [join](crate::join). The payloads come into the store, which is
    /// empty; [`Joined::open`] is the rest.
    ///
    /// # Errors
    /// Errors of the steps; [`Error::Unlucky`]; [`Usage::Abandoned`](foxtrot_ot::Usage::Abandoned).
    pub fn join<'a>(
        self,
        io: &'a Io,
        items: Vec<Digest>,
        terms: Terms,
        store: &'a mut (dyn Store + Send),
        progress: OnProgress<'a>,
    ) -> Run<'a, Joined, Error> {
        Box::pin(async move {
            match self.0 {
                Either::Paxos(receiver) => receiver.join(io, items, terms, store, progress).await,
                Either::Vole(receiver) => receiver.join(io, items, terms, store, progress).await,
            }
        })
    }
}

impl Received {
    /// The indices, ascending, of the items that the sender also has. After the last message: its time depends on the sets.
    ///
    /// # Errors
    /// [`Usage::CountMismatch`](foxtrot_ot::Usage::CountMismatch) if not all tags have come.
    pub fn intersect(self) -> Result<Vec<usize>, Error> {
        match self.0 {
            Either::Paxos(received) => received.intersect(),
            Either::Vole(received) => received.intersect(),
        }
    }
}

/// The most that is on its way to a party after the base OTs.
#[must_use]
pub fn limits(parameters: &Parameters) -> Limits {
    match &parameters.of {
        Of::Paxos(parameters) => of_paxos::limits(parameters),
        Of::Vole(parameters) => of_vole::most_ahead(parameters),
    }
}
