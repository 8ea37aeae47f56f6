//! Either protocol between two parties, as their [`Parameters`] say: base OTs, bucket after bucket, then the tags, and what follows
//! them in a [join]. The pages of [`paxos`] and [`vole-psi`](crate::vole_psi)
//! have examples.

use alloc::{boxed::Box, vec::Vec};
use core::mem;

use foxtrot_ot::{
    Context, Seed, Session,
    base::{ReceiverKeys, SenderKeys},
    engine::{Abandoned, Io, Limits, Run},
};
use zeroize::Zeroizing;

use super::{Of, Parameters};
pub use crate::plan::{OnProgress, Progress};
use crate::{
    Digest, Error, Received, Sent,
    join::{self, Join, JoinTerms, Joined, Store},
    paxos::{self, protocol as of_paxos},
    plan::{self, counter},
    receivers_coin, senders_coin,
    vole_psi::{self, protocol as of_vole},
};

/// Terms that both parties have agreed on.
pub type IntersectionPlan<'a> = plan::PsiPlan<'a, Parameters>;

/// A call that gets the index of an item and writes all bytes of its payload.
pub type Payloads<'a> = &'a mut (dyn FnMut(usize, &mut [u8]) -> Result<(), Abandoned> + Send);

/// The party that learns nothing, after the base OTs.
pub struct Sender(Party<ReceiverKeys, of_vole::SenderBelow>);

/// The party that learns the intersection, after the base OTs.
pub struct Receiver(Party<SenderKeys, of_vole::ReceiverBelow>);

/// A party after the base OTs.
struct Party<P, V> {
    parameters: Parameters,
    session: Session,
    /// Seeds for the coin, and for the run.
    seeds: [Seed; 2],
    below: Below<P, V>,
}

/// The base OTs' keys, or the VOLE, that the parameters are of.
enum Below<P, V> {
    Paxos(paxos::Parameters, P),
    Vole(vole_psi::Parameters, Box<V>),
}

impl Sender {
    /// Runs the base OTs. The items are not needed yet, only their numbers.
    ///
    /// # Errors
    /// [`Usage::Incompatible`](foxtrot_ot::Usage::Incompatible); errors of the base OT and of the VOLE.
    pub fn set_up<'a>(
        io: &'a Io,
        cx: &'a mut Context<'_>,
        plan: IntersectionPlan<'a>,
    ) -> Run<'a, Self, Error> {
        Box::pin(async move {
            let parameters = plan.parameters;
            let session = plan.begin(cx.session(), parameters.info())?;
            let below = match parameters.of {
                Of::Paxos(it) => {
                    io.limit(of_paxos::limits(&it));
                    let choice = cx.choice(plan.base.info(), it.base_ots());
                    let of_base = plan.of_base(&session);
                    let keys = io.run(plan.base.receiver(of_base, choice, cx.seed())?).await?;
                    Below::Paxos(it, keys)
                }
                Of::Vole(it) => {
                    let vole = of_vole::set_up_sender(io, &session, cx.seed(), plan.with(it));
                    Below::Vole(it, Box::new(vole.await?))
                }
            };
            Ok(Self(Party { parameters, session, seeds: [cx.seed(), cx.seed()], below }))
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
            let mut count = counter(self.0.parameters.steps(), progress);
            self.send_tags(io, items, false, &mut count).await?;
            Ok(())
        })
    }

    /// Runs as [`run`](Self::run), and then what follows the tags of a [join], if anything does. `payload` gets the index of an item and
    /// writes all bytes of its payload. Returns the indices, ascending, of the items that the receiver also has, if that was
    /// agreed on.
    ///
    /// # Errors
    /// Errors of the steps; [`Error::Unlucky`]; [`Usage::Abandoned`](foxtrot_ot::Usage::Abandoned).
    pub fn join<'a>(
        self,
        io: &'a Io,
        items: Vec<Digest>,
        terms: JoinTerms,
        payload: Payloads<'a>,
        progress: OnProgress<'a>,
    ) -> Run<'a, Vec<usize>, Error> {
        Box::pin(async move {
            let (parameters, join) = (self.0.parameters, Join::new(&self.0.session, terms));
            let mut count = counter(parameters.steps_of_join(terms), progress);
            let sent = self.send_tags(io, items, terms != JoinTerms::NONE, &mut count).await?;
            if terms == JoinTerms::NONE {
                return Ok(Vec::new());
            }
            let keys = sent.keys()?;
            let sizes = [parameters.receiver_items(), parameters.tags()];
            join::protocol::send(io, &join, &keys, sizes, payload, count).await
        })
    }

    /// All up to the tags; with the keys of items, if they are wanted.
    async fn send_tags(
        self,
        io: &Io,
        items: Vec<Digest>,
        keyed: bool,
        count: &mut (impl FnMut(usize) + Send),
    ) -> Result<Sent, Error> {
        let mut items = Zeroizing::new(items);
        let Party { parameters, session, seeds: [of_coin, of_run], below } = self.0;
        io.limit(parameters.limits_of_tags());
        let joint = match parameters.buckets() {
            1 => None,
            _ => Some(senders_coin(io, &session, &of_coin).await?),
        };
        let sent = match below {
            Below::Paxos(it, base) => {
                let ots = it.ots_sender(&session, base, &of_run)?;
                let items = mem::take(&mut *items);
                let sender = paxos::Sender::new(session, it, items, joint, of_run)?;
                let sender = if keyed { sender.keep_keys() } else { sender };
                of_paxos::send(io, &it, ots, sender, count).await?
            }
            Below::Vole(it, vole) => {
                let items = mem::take(&mut *items);
                let sender = vole_psi::Sender::new(session, it, items, joint, of_run)?;
                let sender = if keyed { sender.keep_keys() } else { sender };
                of_vole::send(io, &it, *vole, sender, count).await?
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
    pub fn set_up<'a>(
        io: &'a Io,
        cx: &'a mut Context<'_>,
        plan: IntersectionPlan<'a>,
    ) -> Run<'a, Self, Error> {
        Box::pin(async move {
            let parameters = plan.parameters;
            let session = plan.begin(cx.session(), parameters.info())?;
            let below = match parameters.of {
                Of::Paxos(it) => {
                    io.limit(of_paxos::limits(&it));
                    let (of_base, n) = (plan.of_base(&session), it.base_ots());
                    let keys = io.run(plan.base.sender(of_base, n, cx.seed())?).await?;
                    Below::Paxos(it, keys)
                }
                Of::Vole(it) => {
                    let vole = of_vole::set_up_receiver(io, &session, cx.seed(), plan.with(it));
                    Below::Vole(it, Box::new(vole.await?))
                }
            };
            Ok(Self(Party { parameters, session, seeds: [cx.seed(), cx.seed()], below }))
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
            let mut count = counter(self.0.parameters.steps(), progress);
            self.receive_tags(io, items, false, &mut count).await
        })
    }

    /// Runs as [`run`](Self::run), and then what follows the tags of a [join], if anything does. The payloads come into the store, which is
    /// empty; [`Joined::open`] is the rest.
    ///
    /// # Errors
    /// Errors of the steps; [`Error::Unlucky`]; [`Usage::Abandoned`](foxtrot_ot::Usage::Abandoned).
    pub fn join<'a>(
        self,
        io: &'a Io,
        items: Vec<Digest>,
        terms: JoinTerms,
        store: &'a mut (dyn Store + Send),
        progress: OnProgress<'a>,
    ) -> Run<'a, Joined, Error> {
        Box::pin(async move {
            let (parameters, join) = (self.0.parameters, Join::new(&self.0.session, terms));
            let mut count = counter(parameters.steps_of_join(terms), progress);
            let keyed = terms != JoinTerms::NONE;
            let received = self.receive_tags(io, items, keyed, &mut count).await?;
            join::protocol::receive(io, join, parameters.tags(), received, store, count).await
        })
    }

    /// All up to the tags; with the keys of items, if they are wanted.
    async fn receive_tags(
        self,
        io: &Io,
        items: Vec<Digest>,
        keyed: bool,
        count: &mut (impl FnMut(usize) + Send),
    ) -> Result<Received, Error> {
        let mut items = Zeroizing::new(items);
        let Party { parameters, session, seeds: [of_coin, of_run], below } = self.0;
        io.limit(parameters.limits_of_tags());
        let joint = match parameters.buckets() {
            1 => None,
            _ => Some(receivers_coin(io, &session, &of_coin).await?),
        };
        let mut received = match below {
            Below::Paxos(it, base) => {
                let ots = it.ots_receiver(&session, base, &of_run)?;
                let items = mem::take(&mut *items);
                let receiver = paxos::Receiver::new(session, it, items, joint, of_run)?;
                let receiver = if keyed { receiver.keep_keys() } else { receiver };
                of_paxos::receive(io, &it, ots, receiver, count).await?
            }
            Below::Vole(it, vole) => {
                let items = mem::take(&mut *items);
                let receiver = vole_psi::Receiver::new(session, it, items, joint, of_run)?;
                let receiver = if keyed { receiver.keep_keys() } else { receiver };
                of_vole::receive(io, &it, *vole, receiver, count).await?
            }
        };
        received.take_all(io, count).await?;
        Ok(received)
    }
}

impl Parameters {
    /// Steps of a join on these terms: slots, tags and payloads.
    #[must_use]
    pub fn steps_of_join(&self, terms: JoinTerms) -> usize {
        self.steps() + terms.payloads(self.tags())
    }

    /// The bounds of what is on its way to a party between base OTs, or batches of a VOLE, and the end of the tags.
    fn limits_of_tags(&self) -> Limits {
        match &self.of {
            Of::Paxos(parameters) => of_paxos::limits(parameters),
            Of::Vole(parameters) => of_vole::limits(parameters),
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

foxtrot_kernel::redacted! {
    Sender, sender => "{:?}", sender.0.parameters;
    Receiver, receiver => "{:?}", receiver.0.parameters;
}
