//! Running a private set intersection over a channel: base OTs, then bucket after bucket with several
//! batches on their way at a time, then the tags (`docs/wire.md`, section 13).

#[cfg(test)]
mod tests;

use core::{fmt, mem};
use std::{collections::VecDeque, sync::Arc};

use foxtrot_ot::{
    Bits, Direction, Session, Usage,
    base::{BaseOt, Choice, Functionality, ReceiverKeys, SenderKeys},
    extension::Challenge,
    tasks::Executor,
};
use foxtrot_psi::paxos::{
    self, Absorbing, Challenged, Digest, Encoded, Joint, Next, Parameters, RowSeed, Unanswered,
    Unverified,
};
use zeroize::Zeroizing;

use crate::{
    Channel, Error, HelloError, Lane,
    channel::{QUEUE_BYTES, held_back},
    drive,
    extend::{PROOFS, WINDOW, fresh_seed},
};

/// What both sides have agreed on.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// Adversary and sizes.
    pub parameters: Parameters,
    /// What it starts from.
    pub base: &'a dyn BaseOt,
    /// The whole session.
    pub session: &'a Session,
    /// Which way it runs: the receiver learns the intersection. The base OTs run the other way.
    pub direction: Direction,
    /// Which of the intersections of the session.
    pub counter: u64,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Slots and tags so far.
    pub done: usize,
    /// All of them.
    pub of: usize,
}

/// The party that learns nothing, after the base OTs.
pub struct Sender<'a> {
    link: Link<'a>,
    base: ReceiverKeys,
}

/// The party that learns the intersection, after the base OTs.
pub struct Receiver<'a> {
    link: Link<'a>,
    base: SenderKeys,
}

/// What both have.
struct Link<'a> {
    channel: &'a Channel,
    parameters: Parameters,
    session: Session,
    executor: Option<Arc<dyn Executor>>,
}

impl<'a> Sender<'a> {
    /// Runs the base OTs. The items are not needed yet, only their numbers.
    ///
    /// # Errors
    /// [`Error::Protocol`], of which the peer is told; [`Error::Frame`], [`Error::Channel`].
    pub fn set_up(channel: &'a Channel, plan: &Plan<'_>) -> Result<Self, Error> {
        let link = Link::new(channel, plan)?;
        let rows = plan.parameters.base_ots();
        let choice = match plan.base.info().functionality {
            Functionality::Random => Choice::Random(rows),
            _ => Choice::Given(random_bits(rows)?),
        };
        let role = plan.base.receiver(plan.base_session(), choice, fresh_seed()?);
        let role = role.map_err(|e| channel.give_up(e))?;
        let base = drive::run(channel, Lane::PROTOCOL, role)?;
        Ok(Self { link, base })
    }

    /// The same, on several threads.
    #[must_use]
    pub fn with_executor(mut self, executor: Arc<dyn Executor>) -> Self {
        self.link.executor = Some(executor);
        self
    }

    /// Lets the peer find out which of its items are among these: distinct, and as many as agreed.
    ///
    /// # Errors
    /// [`Error::Protocol`] and [`Error::Unlucky`], of which the peer is told; [`Error::Frame`],
    /// [`Error::Channel`].
    pub fn run(self, items: Vec<Digest>, mut progress: impl FnMut(Progress)) -> Result<(), Error> {
        let Self { link, base } = self;
        let Link { channel, parameters, .. } = link;
        let mut count = counter(&parameters, &mut progress);
        let mut items = Zeroizing::new(items);
        let joint = link.senders_coin()?;
        let (session, seed) = (link.session, fresh_seed()?);
        let items = mem::take(&mut *items);
        let sender = paxos::Sender::new(session, parameters, base, items, joint, seed);
        let mut sender = sender.map_err(|e| channel.give_up(e))?;
        if let Some(executor) = link.executor {
            sender = sender.with_executor(executor);
        }
        let sent = loop {
            let row_seed = channel.recv(Lane::PROTOCOL, RowSeed::LEN)?;
            let mut bucket = sender.open(&row_seed).map_err(|e| channel.give_up(e))?;
            absorb(channel, &parameters, &mut bucket, &mut count)?;
            match bucket.finish().map_err(|e| channel.give_up(e))? {
                Next::Bucket(next) => sender = next,
                Next::Done(sent) => break sent,
            }
        };
        for tags in sent.frames() {
            let n = tags.len() / parameters.tag_len();
            channel.send(Lane::PROTOCOL, tags)?;
            count(n);
        }
        Ok(())
    }
}

/// The most bytes of memory that a [`Sender`] takes, whatever its peer does: what it computes, about, and what waits on
/// lanes for either side. Measured with the example `psi-peak`, where the peer follows the protocol.
#[must_use]
pub fn most_memory_of_sender(parameters: &Parameters) -> u64 {
    /// Base OTs, and what does not depend on sizes.
    const FIXED: usize = 6 << 20;
    /// Bytes of a slot's row, and what it takes beside it.
    const SLOT: usize = 128;
    /// Bytes of an item, of its tag and of its place in a bucket.
    const ITEM: usize = 96;
    let ahead = 2 * held_back(2 * WINDOW, longest(parameters));
    let tags = (parameters.tags() * parameters.tag_len()).min(QUEUE_BYTES);
    let computed = FIXED + SLOT * parameters.slots() + ITEM * parameters.sender_items();
    (computed + ahead + tags) as u64
}

/// The longest message of a batch.
fn longest(parameters: &Parameters) -> usize {
    let extension = parameters.extension();
    let corrections = parameters.batches().map(|n| extension.corrections_len(n)).max();
    corrections.unwrap_or(0).max(extension.proof_len())
}

/// The batches of a bucket, as they come.
fn absorb(
    channel: &Channel,
    parameters: &Parameters,
    bucket: &mut Absorbing,
    count: &mut impl FnMut(usize),
) -> Result<(), Error> {
    let extension = parameters.extension();
    let mut finish = |bucket: &mut Absorbing, (batch, n): (Unverified, usize)| {
        let proof = match extension.proof_len() {
            0 => Vec::new(),
            len => channel.recv(PROOFS, len)?,
        };
        bucket.verify(batch, &proof).map_err(|e| channel.give_up(e))?;
        count(n);
        Ok::<_, Error>(())
    };
    let mut pending = VecDeque::with_capacity(WINDOW);
    for n in parameters.batches() {
        let corrections = channel.recv(Lane::PROTOCOL, extension.corrections_len(n))?;
        let absorbed = bucket.absorb(n, &corrections);
        let (batch, challenge) = absorbed.map_err(|e| channel.give_up(e))?;
        match challenge {
            Some(challenge) => {
                channel.send(Lane::PROTOCOL, challenge.to_vec())?;
                pending.push_back((batch, n));
            }
            None => finish(bucket, (batch, n))?,
        }
        if pending.len() == WINDOW
            && let Some(oldest) = pending.pop_front()
        {
            finish(bucket, oldest)?;
        }
    }
    pending.into_iter().try_for_each(|batch| finish(bucket, batch))
}

impl<'a> Receiver<'a> {
    /// Runs the base OTs. The items are not needed yet, only their numbers.
    ///
    /// # Errors
    /// [`Error::Protocol`], of which the peer is told; [`Error::Frame`], [`Error::Channel`].
    pub fn set_up(channel: &'a Channel, plan: &Plan<'_>) -> Result<Self, Error> {
        let link = Link::new(channel, plan)?;
        let rows = plan.parameters.base_ots();
        let role = plan.base.sender(plan.base_session(), rows, fresh_seed()?);
        let role = role.map_err(|e| channel.give_up(e))?;
        let base = drive::run(channel, Lane::PROTOCOL, role)?;
        Ok(Self { link, base })
    }

    /// The same, on several threads.
    #[must_use]
    pub fn with_executor(mut self, executor: Arc<dyn Executor>) -> Self {
        self.link.executor = Some(executor);
        self
    }

    /// The indices, ascending, of those items that the peer has, too: [`receive`](Self::receive), and
    /// then at once [`intersect`](paxos::Received::intersect), while the peer can still see when the
    /// channel closes, and so about how long that took.
    ///
    /// # Errors
    /// As of these.
    pub fn run(
        self,
        items: Vec<Digest>,
        progress: impl FnMut(Progress),
    ) -> Result<Vec<usize>, Error> {
        Ok(self.receive(items, progress)?.intersect()?)
    }

    /// All that comes from the peer. The items are distinct, and as many as agreed. How long it takes
    /// to intersect depends on the sets: who closes the channel before keeps that from the peer.
    ///
    /// # Errors
    /// [`Error::Protocol`] and [`Error::Unlucky`], of which the peer is told; [`Error::Frame`],
    /// [`Error::Channel`].
    pub fn receive(
        self,
        items: Vec<Digest>,
        mut progress: impl FnMut(Progress),
    ) -> Result<paxos::Received, Error> {
        let Self { link, base } = self;
        let Link { channel, parameters, .. } = link;
        let mut count = counter(&parameters, &mut progress);
        let mut items = Zeroizing::new(items);
        let joint = link.receivers_coin()?;
        // Drawn when the items are fixed.
        let (session, seed) = (link.session, fresh_seed()?);
        let items = mem::take(&mut *items);
        let receiver = paxos::Receiver::new(session, parameters, base, items, joint, seed);
        let mut receiver = receiver.map_err(|e| channel.give_up(e))?;
        if let Some(executor) = link.executor {
            receiver = receiver.with_executor(executor);
        }
        let mut received = loop {
            let (mut bucket, row_seed) = receiver.encode().map_err(|e| channel.give_up(e))?;
            channel.send(Lane::PROTOCOL, row_seed.as_bytes().to_vec())?;
            extend(channel, &parameters, &mut bucket, &mut count)?;
            match bucket.finish().map_err(|e| channel.give_up(e))? {
                Next::Bucket(next) => receiver = next,
                Next::Done(received) => break received,
            }
        };
        for len in parameters.tag_frames() {
            let tags = channel.recv(Lane::PROTOCOL, len)?;
            received.take(&tags).map_err(|e| channel.give_up(e))?;
            count(len / parameters.tag_len());
        }
        Ok(received)
    }
}

/// The batches of a bucket.
fn extend(
    channel: &Channel,
    parameters: &Parameters,
    bucket: &mut Encoded,
    count: &mut impl FnMut(usize),
) -> Result<(), Error> {
    let challenge_len = parameters.extension().challenge_len();
    let mut finish = |bucket: &mut Encoded, (batch, n): (Unanswered, usize)| {
        let challenge = match challenge_len {
            0 => Vec::new(),
            len => channel.recv(Lane::PROTOCOL, len)?,
        };
        let proof = bucket.answer(batch, &challenge).map_err(|e| channel.give_up(e))?;
        if !proof.is_empty() {
            channel.send(PROOFS, proof)?;
        }
        count(n);
        Ok::<_, Error>(())
    };
    let mut pending = VecDeque::with_capacity(WINDOW);
    for n in parameters.batches() {
        if pending.len() == WINDOW
            && let Some(oldest) = pending.pop_front()
        {
            finish(bucket, oldest)?;
        }
        let mut corrections = Vec::new();
        let extended = bucket.extend(n, &mut corrections);
        let batch = extended.map_err(|e| channel.give_up(e))?;
        channel.send(Lane::PROTOCOL, corrections)?;
        if challenge_len == 0 {
            finish(bucket, (batch, n))?;
        } else {
            pending.push_back((batch, n));
        }
    }
    pending.into_iter().try_for_each(|batch| finish(bucket, batch))
}

impl<'a> Link<'a> {
    fn new(channel: &'a Channel, plan: &Plan<'_>) -> Result<Self, Error> {
        let compatible = plan.parameters.compatible(plan.base.info());
        compatible.map_err(|e| channel.give_up(Usage::Incompatible(e)))?;
        channel.use_lanes(PROOFS.index() + 1);
        // Who waits for the proof of a batch has read the corrections of a window, and none follow before that proof.
        channel.hold_back(2 * WINDOW, longest(&plan.parameters));
        let (parameters, session) = (plan.parameters, plan.of_protocol());
        Ok(Self { channel, parameters, session, executor: None })
    }

    /// The sender's part of the joint coin, if there is one.
    fn senders_coin(&self) -> Result<Option<Joint>, Error> {
        if self.parameters.buckets() == 1 {
            return Ok(None);
        }
        const LEN: usize = size_of::<Challenge>();
        let channel = self.channel;
        let commitment = channel.recv(Lane::PROTOCOL, LEN)?;
        let (challenged, coin) = Challenged::new(&self.session, &commitment, &fresh_seed()?)
            .map_err(|e| channel.give_up(e))?;
        channel.send(Lane::PROTOCOL, coin.to_vec())?;
        let opening = channel.recv(Lane::PROTOCOL, LEN)?;
        challenged.check(&opening).map(Some).map_err(|e| channel.give_up(e))
    }

    /// The receiver's part of it.
    fn receivers_coin(&self) -> Result<Option<Joint>, Error> {
        if self.parameters.buckets() == 1 {
            return Ok(None);
        }
        let channel = self.channel;
        let (committed, commitment) = paxos::commit(&self.session, &fresh_seed()?);
        channel.send(Lane::PROTOCOL, commitment.to_vec())?;
        let coin = channel.recv(Lane::PROTOCOL, commitment.len())?;
        let (joint, opening) = committed.open(&coin).map_err(|e| channel.give_up(e))?;
        channel.send(Lane::PROTOCOL, opening.to_vec())?;
        Ok(Some(joint))
    }
}

impl Plan<'_> {
    fn of_protocol(&self) -> Session {
        self.session.sub("paxos", self.counter, self.direction)
    }

    fn base_session(&self) -> Session {
        self.of_protocol().sub(self.base.info().name, 0, self.direction.reversed())
    }
}

impl fmt::Debug for Plan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = self.base.info().name;
        write!(f, "Plan({:?} from {base}, counter {})", self.parameters, self.counter)
    }
}

impl fmt::Debug for Sender<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Sender({:?})", self.link.parameters)
    }
}

impl fmt::Debug for Receiver<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Receiver({:?})", self.link.parameters)
    }
}

/// Tells how many more slots or tags are done.
fn counter(parameters: &Parameters, progress: &mut impl FnMut(Progress)) -> impl FnMut(usize) {
    let of = parameters.buckets() * parameters.slots() + parameters.tags();
    let mut done = 0;
    move |more| {
        done += more;
        progress(Progress { done, of });
    }
}

/// Secret random bits.
fn random_bits(n: usize) -> Result<Bits, Error> {
    let mut bytes = Zeroizing::new(vec![0; n.div_ceil(8)]);
    getrandom::fill(&mut bytes).map_err(|e| HelloError::Randomness(e.to_string()))?;
    Ok(Bits::from_bytes(&bytes, n))
}
