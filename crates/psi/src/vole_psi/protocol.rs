//! The protocol: base OTs, then a VOLE and the receiver's sums for bucket after bucket, then the tags
//! (`docs/wire/vole-psi.md`, section 21).
//!
//! Both parties in one program, over a [`Pair`](foxtrot_ot::pair::Pair); between two programs a driver takes its place:
//!
//! ```
//! use foxtrot_ot::{
//!     Context, Direction, Seed, Session, Sid,
//!     base::{Adversary, roted::Endemic},
//!     engine::Engine,
//!     pair::Pair,
//! };
//! use foxtrot_psi::vole_psi::{
//!     Parameters,
//!     protocol::{Plan, Receiver, Sender},
//! };
//!
//! // Items are digests of 32 bytes; both sides know the sizes.
//! let (ours, theirs) = (vec![[1; 32], [2; 32], [3; 32]], vec![[3; 32], [5; 32]]);
//! let parameters = Parameters::new(Adversary::Malicious, ours.len(), theirs.len())?;
//! let plan = Plan { parameters, base: &Endemic, direction: Direction::InitiatorSends, counter: 0 };
//! // The parties have agreed on the session; each has a secret seed, which it uses once.
//! let session = || Session::new(Sid::from_bytes([7; 32]));
//!
//! let sender = Engine::new(|io| async move {
//!     let session = session();
//!     let mut cx = Context::new(&session, Seed::from_bytes([8; 32]));
//!     let sender = Sender::set_up(&io, &mut cx, plan).await?;
//!     sender.run(&io, theirs, |_| ()).await
//! });
//! let receiver = Engine::new(|io| async move {
//!     let session = session();
//!     let mut cx = Context::new(&session, Seed::from_bytes([9; 32]));
//!     let receiver = Receiver::set_up(&io, &mut cx, plan).await?;
//!     receiver.run(&io, ours, |_| ()).await?.intersect()
//! });
//! let ((), common) = Pair::new(sender, receiver).run().map_err(|(_party, e)| e)?;
//! assert_eq!(common, [2]);
//! # Ok::<(), foxtrot_psi::vole_psi::Error>(())
//! ```

use alloc::vec::Vec;
use core::mem;

use foxtrot_ot::{
    Context, Seed, Session,
    engine::{Abandoned, Io, Limits, batches::window_limits},
    silent::{self, Gf64, Gf128, Silent, protocol as vole},
};
use zeroize::Zeroizing;

use super::{Digest, Error, Mask, Next, Parameters, Planned, Received, Sent, Vole};
pub use crate::plan::Progress;
use crate::{
    join::{self, Join, Joined, Store, Terms},
    paxos::{
        RowSeed,
        protocol::{receivers_coin, senders_coin},
    },
    plan::{self, counter},
};

/// Terms that both parties have agreed on.
pub type Plan<'a> = plan::Plan<'a, Parameters>;

/// A VOLE of either field.
#[derive(Debug)]
enum Field<L, S> {
    Large(L),
    Small(S),
}

/// The party that learns nothing, after the base OTs.
pub struct Sender {
    parameters: Parameters,
    session: Session,
    /// Seeds for the coin, and for the run.
    seeds: [Seed; 2],
    vole: Field<vole::Sender<Gf128>, vole::Sender<Gf64>>,
}

/// The party that learns the intersection, after the base OTs.
pub struct Receiver {
    parameters: Parameters,
    session: Session,
    /// Seeds for the coin, and for the run.
    seeds: [Seed; 2],
    vole: Field<vole::Receiver<Gf128>, vole::Receiver<Gf64>>,
}

impl Sender {
    /// Runs the base OTs. The items are not needed yet, only their numbers.
    ///
    /// # Errors
    /// [`Usage::Incompatible`](foxtrot_ot::Usage::Incompatible); errors of the base OT and of the VOLE.
    pub async fn set_up(io: &Io, cx: &mut Context<'_>, plan: Plan<'_>) -> Result<Self, Error> {
        let session = plan.begin(cx.session(), plan.parameters.info(), "vole-psi")?;
        let seed = cx.seed();
        let mut of_vole = Context::new(&session, seed);
        let vole = match plan.field() {
            Field::Large(silent) => {
                Field::Large(vole::Sender::set_up(io, &mut of_vole, plan.of_vole(silent)).await?)
            }
            Field::Small(silent) => {
                Field::Small(vole::Sender::set_up(io, &mut of_vole, plan.of_vole(silent)).await?)
            }
        };
        drop(of_vole);
        Ok(Self { parameters: plan.parameters, session, seeds: [cx.seed(), cx.seed()], vole })
    }

    /// Lets the peer find out which of its items are among these: distinct, and as many as agreed.
    ///
    /// # Errors
    /// Errors of the steps; [`Error::Unlucky`].
    pub async fn run(
        self,
        io: &Io,
        items: Vec<Digest>,
        progress: impl FnMut(Progress),
    ) -> Result<(), Error> {
        let mut count = counter(self.parameters.steps(Terms::NONE), progress);
        self.send_tags(io, items, false, &mut count).await?;
        Ok(())
    }

    /// Does what [`run`](Self::run) does, and what follows the tags of a [join]. `payload` gets the index of an item
    /// and writes all bytes of its payload. If both learn, returns the indices, ascending, of the items that the receiver also has.
    ///
    /// # Errors
    /// Errors of the steps; [`Error::Unlucky`]; [`Usage::Abandoned`](foxtrot_ot::Usage::Abandoned).
    pub async fn join(
        self,
        io: &Io,
        items: Vec<Digest>,
        terms: Terms,
        payload: impl FnMut(usize, &mut [u8]) -> Result<(), Abandoned>,
        progress: impl FnMut(Progress),
    ) -> Result<Vec<usize>, Error> {
        let (parameters, join) = (self.parameters, Join::new(&self.session, terms));
        let mut count = counter(parameters.steps(terms), progress);
        let keys = self.send_tags(io, items, true, &mut count).await?.keys()?;
        let sizes = [parameters.receiver_items(), parameters.tags()];
        join::protocol::send(io, &join, &keys, sizes, payload, count).await
    }

    /// All up to the tags; with the keys of items, if they are wanted.
    async fn send_tags(
        self,
        io: &Io,
        items: Vec<Digest>,
        keyed: bool,
        count: &mut impl FnMut(usize),
    ) -> Result<Sent, Error> {
        let Self { parameters, session, seeds: [of_coin, of_run], mut vole } = self;
        let mut items = Zeroizing::new(items);
        io.limit(limits(&parameters));
        let joint = match parameters.buckets() {
            1 => None,
            _ => Some(senders_coin(io, &session, &of_coin).await?),
        };
        let items = mem::take(&mut *items);
        let mut sender = super::Sender::new(session, parameters, items, joint, of_run)?;
        if keyed {
            sender = sender.keep_keys();
        }
        let m = parameters.slots();
        let sent = loop {
            let (delta, w) = match &mut vole {
                Field::Large(vole) => {
                    let w = vole.vole(io, m).await?;
                    (vole.delta()?, w)
                }
                Field::Small(vole) => {
                    let w = vole.vole(io, m).await?;
                    (vole.delta()?, w)
                }
            };
            io.limit(limits(&parameters));
            let mut bucket = sender.open(&io.recv(RowSeed::LEN).await)?;
            for len in parameters.sum_frames() {
                bucket.take(&io.recv(len).await)?;
            }
            let next = bucket.finish(&delta, w)?;
            count(m);
            match next {
                Next::Bucket(next) => sender = next,
                Next::Done(sent) => break sent,
            }
        };
        sent.send_all(io, count).await;
        Ok(sent)
    }
}

impl Receiver {
    /// Runs the base OTs. The items are not needed yet, only their numbers.
    ///
    /// # Errors
    /// [`Usage::Incompatible`](foxtrot_ot::Usage::Incompatible); errors of the base OT.
    pub async fn set_up(io: &Io, cx: &mut Context<'_>, plan: Plan<'_>) -> Result<Self, Error> {
        let session = plan.begin(cx.session(), plan.parameters.info(), "vole-psi")?;
        let seed = cx.seed();
        let mut of_vole = Context::new(&session, seed);
        let vole = match plan.field() {
            Field::Large(silent) => {
                Field::Large(vole::Receiver::set_up(io, &mut of_vole, plan.of_vole(silent)).await?)
            }
            Field::Small(silent) => {
                Field::Small(vole::Receiver::set_up(io, &mut of_vole, plan.of_vole(silent)).await?)
            }
        };
        drop(of_vole);
        Ok(Self { parameters: plan.parameters, session, seeds: [cx.seed(), cx.seed()], vole })
    }

    /// All that comes from the peer; [`Received::intersect`] is the rest. The items are distinct, and as many as agreed.
    /// How long it takes to intersect depends on the sets: who closes the channel before keeps that from the peer.
    ///
    /// # Errors
    /// Errors of the steps; [`Error::Unlucky`].
    pub async fn run(
        self,
        io: &Io,
        items: Vec<Digest>,
        progress: impl FnMut(Progress),
    ) -> Result<Received, Error> {
        let mut count = counter(self.parameters.steps(Terms::NONE), progress);
        self.receive_tags(io, items, false, &mut count).await
    }

    /// Does what [`run`](Self::run) does, and what follows the tags of a [join]. The payloads come into the store, which
    /// is empty; [`Joined::open`] is the rest.
    ///
    /// # Errors
    /// Errors of the steps; [`Error::Unlucky`]; [`Usage::Abandoned`](foxtrot_ot::Usage::Abandoned).
    pub async fn join(
        self,
        io: &Io,
        items: Vec<Digest>,
        terms: Terms,
        store: &mut (impl Store + ?Sized),
        progress: impl FnMut(Progress),
    ) -> Result<Joined, Error> {
        let (tags, join) = (self.parameters.tags(), Join::new(&self.session, terms));
        let mut count = counter(self.parameters.steps(terms), progress);
        let received = self.receive_tags(io, items, true, &mut count).await?;
        join::protocol::receive(io, join, tags, received, store, count).await
    }

    /// All up to the tags; with the keys of items, if they are wanted.
    async fn receive_tags(
        self,
        io: &Io,
        items: Vec<Digest>,
        keyed: bool,
        count: &mut impl FnMut(usize),
    ) -> Result<Received, Error> {
        let Self { parameters, session, seeds: [of_coin, of_run], mut vole } = self;
        let mut items = Zeroizing::new(items);
        io.limit(limits(&parameters));
        let joint = match parameters.buckets() {
            1 => None,
            _ => Some(receivers_coin(io, &session, &of_coin).await?),
        };
        let items = mem::take(&mut *items);
        let mut receiver = super::Receiver::new(session, parameters, items, joint, of_run)?;
        if keyed {
            receiver = receiver.keep_keys();
        }
        let m = parameters.slots();
        let mut received = loop {
            let plan = || receiver.plan();
            let encode = |planned: Result<Planned, Error>| planned?.encode();
            let (u, v, encoded) = match &mut vole {
                Field::Large(vole) => {
                    let (u, v, encoded) = vole.vole_beside(io, m, plan, encode).await?;
                    (Mask::Large(u), v, encoded)
                }
                Field::Small(vole) => {
                    let (u, v, encoded) = vole.vole_beside(io, m, plan, encode).await?;
                    (Mask::Small(u), v, encoded)
                }
            };
            io.limit(limits(&parameters));
            let (bucket, row_seed, sums) = encoded?.mask(u, v)?;
            io.send(row_seed.as_bytes().to_vec()).await;
            for frame in sums.chunks(super::FRAME) {
                io.send(frame.to_vec()).await;
            }
            drop(sums);
            let next = bucket.finish()?;
            count(m);
            match next {
                Next::Bucket(next) => receiver = next,
                Next::Done(received) => break received,
            }
        };
        received.take_all(io, count).await?;
        Ok(received)
    }
}

/// The bounds of what is on its way to a party between the VOLE's batches.
#[must_use]
pub fn limits(parameters: &Parameters) -> Limits {
    let frames = parameters.sum_frames().take(1).chain(parameters.tag_frames().take(1));
    window_limits(frames.max().unwrap_or(0).max(RowSeed::LEN))
}

/// The bounds of a whole run: of the VOLE's batches, and between them.
#[must_use]
pub fn most_ahead(parameters: &Parameters) -> Limits {
    let between = limits(parameters);
    let within = match parameters.vole() {
        Vole::Silent => vole::limits(&silent::vole()),
        Vole::Packed => vole::limits(&silent::vole_packed()),
        Vole::Small => vole::limits(&silent::vole_semi_honest()),
    };
    Limits { len: between.len.max(within.len), ..within }
}

impl Plan<'_> {
    fn field(&self) -> Field<Silent<Gf128>, Silent<Gf64>> {
        match self.parameters.vole() {
            Vole::Silent => Field::Large(silent::vole()),
            Vole::Packed => Field::Large(silent::vole_packed()),
            Vole::Small => Field::Small(silent::vole_semi_honest()),
        }
    }
}

impl<'a> Plan<'a> {
    fn of_vole<F>(&self, silent: Silent<F>) -> vole::Plan<'a, Silent<F>> {
        vole::Plan { extension: silent, base: self.base, direction: self.direction, counter: 0 }
    }
}

foxtrot_kernel::redacted! {
    Sender, sender => "{:?}", sender.parameters;
    Receiver, receiver => "{:?}", receiver.parameters;
}
