//! The protocol: base OTs, then bucket after bucket with several batches on their way at a time, then the tags
//! (`docs/wire/paxos.md`, section 13).
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
//! use foxtrot_psi::paxos::{
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
//! # Ok::<(), foxtrot_psi::paxos::Error>(())
//! ```

use alloc::{collections::VecDeque, vec::Vec};
use core::mem;

use foxtrot_ot::{
    Context, Seed, Session, Usage,
    base::{ReceiverKeys, SenderKeys},
    engine::{
        Abandoned, Io, Limits,
        batches::{PROOFS, WINDOW, window_limits},
    },
    extension::Challenge,
};
use zeroize::Zeroizing;

use super::{
    Absorbing, Challenged, Digest, Encoded, Error, Joint, Next, Parameters, Received, RowSeed,
    Sent, Unanswered, Unverified, commit,
};
pub use crate::plan::Progress;
use crate::{
    join::{self, Join, Joined, Store, Terms},
    plan::{self, counter},
};

/// Terms that both parties have agreed on.
pub type Plan<'a> = plan::Plan<'a, Parameters>;

/// The party that learns nothing, after the base OTs.
pub struct Sender {
    parameters: Parameters,
    session: Session,
    /// Seeds for the coin, and for the run.
    seeds: [Seed; 2],
    base: ReceiverKeys,
}

/// The party that learns the intersection, after the base OTs.
pub struct Receiver {
    parameters: Parameters,
    session: Session,
    /// Seeds for the coin, and for the run.
    seeds: [Seed; 2],
    base: SenderKeys,
}

impl Sender {
    /// Runs the base OTs. The items are not needed yet, only their numbers.
    ///
    /// # Errors
    /// [`Usage::Incompatible`]; errors of the base OT.
    pub async fn set_up(io: &Io, cx: &mut Context<'_>, plan: Plan<'_>) -> Result<Self, Error> {
        let session = plan.begin_paxos(io, cx.session())?;
        let choice = cx.choice(plan.base.info(), plan.parameters.base_ots());
        let base = plan.base.receiver(plan.base_session(&session), choice, cx.seed())?;
        let base = io.run(base).await?;
        let seeds = [cx.seed(), cx.seed()];
        Ok(Self { parameters: plan.parameters, session, seeds, base })
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
    /// Errors of the steps; [`Error::Unlucky`]; [`Usage::Abandoned`].
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
        let Self { parameters, session, seeds: [of_coin, of_run], base } = self;
        io.limit(limits(&parameters));
        let mut items = Zeroizing::new(items);
        let joint = match parameters.buckets() {
            1 => None,
            _ => Some(senders_coin(io, &session, &of_coin).await?),
        };
        let items = mem::take(&mut *items);
        let mut sender = super::Sender::new(session, parameters, base, items, joint, of_run)?;
        if keyed {
            sender = sender.keep_keys();
        }
        let sent = loop {
            let mut bucket = sender.open(&io.recv(RowSeed::LEN).await)?;
            absorb(io, &parameters, &mut bucket, count).await?;
            match bucket.finish()? {
                Next::Bucket(next) => sender = next,
                Next::Done(sent) => break sent,
            }
        };
        sent.send_all(io, count).await;
        Ok(sent)
    }
}

/// The batches of a bucket, as they come.
async fn absorb(
    io: &Io,
    parameters: &Parameters,
    bucket: &mut Absorbing,
    count: &mut impl FnMut(usize),
) -> Result<(), Error> {
    let mut pending = VecDeque::with_capacity(WINDOW);
    for n in parameters.batches() {
        let corrections = io.recv(parameters.extension().corrections_len(n)).await;
        let (batch, challenge) = bucket.absorb(n, &corrections)?;
        if let Some(challenge) = challenge {
            io.send(challenge.to_vec()).await;
        }
        pending.push_back((batch, n));
        let len = parameters.extension().proof_len();
        if io.on(PROOFS).wait_until_due(pending.len(), 2, len).await
            && let Some((batch, n)) = pending.pop_front()
        {
            verify(io, parameters, bucket, batch).await?;
            count(n);
        }
    }
    for (batch, n) in pending {
        verify(io, parameters, bucket, batch).await?;
        count(n);
    }
    Ok(())
}

/// Takes the proof of a batch.
async fn verify(
    io: &Io,
    parameters: &Parameters,
    bucket: &mut Absorbing,
    batch: Unverified,
) -> Result<(), Error> {
    let proof = io.on(PROOFS).recv_any(parameters.extension().proof_len()).await;
    bucket.verify(batch, &proof)
}

impl Receiver {
    /// Runs the base OTs. The items are not needed yet, only their numbers.
    ///
    /// # Errors
    /// [`Usage::Incompatible`]; errors of the base OT.
    pub async fn set_up(io: &Io, cx: &mut Context<'_>, plan: Plan<'_>) -> Result<Self, Error> {
        let session = plan.begin_paxos(io, cx.session())?;
        let rows = plan.parameters.base_ots();
        let base = plan.base.sender(plan.base_session(&session), rows, cx.seed())?;
        let base = io.run(base).await?;
        let seeds = [cx.seed(), cx.seed()];
        Ok(Self { parameters: plan.parameters, session, seeds, base })
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
    /// Errors of the steps; [`Error::Unlucky`]; [`Usage::Abandoned`].
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
        let Self { parameters, session, seeds: [of_coin, of_run], base } = self;
        io.limit(limits(&parameters));
        let mut items = Zeroizing::new(items);
        let joint = match parameters.buckets() {
            1 => None,
            _ => Some(receivers_coin(io, &session, &of_coin).await?),
        };
        let items = mem::take(&mut *items);
        let mut receiver = super::Receiver::new(session, parameters, base, items, joint, of_run)?;
        if keyed {
            receiver = receiver.keep_keys();
        }
        let mut received = loop {
            let (mut bucket, row_seed) = receiver.encode()?;
            io.send(row_seed.as_bytes().to_vec()).await;
            extend(io, &parameters, &mut bucket, count).await?;
            match bucket.finish()? {
                Next::Bucket(next) => receiver = next,
                Next::Done(received) => break received,
            }
        };
        received.take_all(io, count).await?;
        Ok(received)
    }
}

/// The batches of a bucket.
async fn extend(
    io: &Io,
    parameters: &Parameters,
    bucket: &mut Encoded,
    count: &mut impl FnMut(usize),
) -> Result<(), Error> {
    let mut pending = VecDeque::with_capacity(WINDOW);
    for n in parameters.batches() {
        let len = parameters.extension().challenge_len();
        if io.wait_until_due(pending.len(), 2, len).await
            && let Some((batch, n)) = pending.pop_front()
        {
            answer(io, parameters, bucket, batch).await?;
            count(n);
        }
        let mut corrections = Vec::new();
        let batch = bucket.extend(n, &mut corrections)?;
        io.send(corrections).await;
        pending.push_back((batch, n));
    }
    for (batch, n) in pending {
        answer(io, parameters, bucket, batch).await?;
        count(n);
    }
    Ok(())
}

/// Answers the challenge to a batch.
async fn answer(
    io: &Io,
    parameters: &Parameters,
    bucket: &mut Encoded,
    batch: Unanswered,
) -> Result<(), Error> {
    let challenge = io.recv_any(parameters.extension().challenge_len()).await;
    let proof = bucket.answer(batch, &challenge)?;
    io.on(PROOFS).send_any(proof).await;
    Ok(())
}

/// The sender's part of the joint coin.
pub(crate) async fn senders_coin(io: &Io, session: &Session, seed: &Seed) -> Result<Joint, Error> {
    const LEN: usize = size_of::<Challenge>();
    let (challenged, coin) = Challenged::new(session, &io.recv(LEN).await, seed)?;
    io.send(coin.to_vec()).await;
    challenged.check(&io.recv(LEN).await)
}

/// The receiver's part of it.
pub(crate) async fn receivers_coin(
    io: &Io,
    session: &Session,
    seed: &Seed,
) -> Result<Joint, Error> {
    let (committed, commitment) = commit(session, seed);
    io.send(commitment.to_vec()).await;
    let (joint, opening) = committed.open(&io.recv(commitment.len()).await)?;
    io.send(opening.to_vec()).await;
    Ok(joint)
}

/// The bounds of what is on its way to a party: batches of a window.
#[must_use]
pub fn limits(parameters: &Parameters) -> Limits {
    window_limits(longest(parameters))
}

/// The longest message of a batch.
fn longest(parameters: &Parameters) -> usize {
    let extension = parameters.extension();
    let corrections = parameters.batches().map(|n| extension.corrections_len(n)).max();
    corrections.unwrap_or(0).max(extension.proof_len())
}

impl Plan<'_> {
    fn begin_paxos(&self, io: &Io, session: &Session) -> Result<Session, Usage> {
        let session = self.begin(session, self.parameters.info(), "paxos")?;
        // Who waits for the proof of a batch has read the corrections of a window, and none follow before that proof.
        io.limit(limits(&self.parameters));
        Ok(session)
    }

    fn base_session(&self, of_protocol: &Session) -> Session {
        of_protocol.sub(self.base.info().name, 0, self.direction.reversed())
    }
}

foxtrot_kernel::redacted! {
    Sender, sender => "{:?}", sender.parameters;
    Receiver, receiver => "{:?}", receiver.parameters;
}
