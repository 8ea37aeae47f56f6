//! The job of `psi`: every function of it, over any connection.

use std::{future::Future, mem, sync::Arc};

use foxtrot_net::Connection;
use foxtrot_ot::{Context, Direction, Usage, engine::Io, erase::Secret};
use foxtrot_psi::{
    circuit::{
        self, Outcome,
        protocol::{CircuitPlan, receive as receive_count, send as send_count},
    },
    join::Joined,
    method::{
        Parameters,
        protocol::{IntersectionPlan, Receiver, Sender},
    },
};

use super::{
    Digest, PsiError, Steps,
    agreement::{Protocols, PsiAgreement},
    fields::{self, Fields, Matches, Padding},
};
use crate::{
    Error,
    job::{Base, Job, Role, Sink},
};

/// A set that a job compares, however it is kept.
pub trait Set: Send + 'static {
    /// The items of the key with this number, from 0. The job asks once for each, when its base OTs are done: a peer that only
    /// connects costs no copy.
    ///
    /// # Errors
    /// [`Error::OutOfMemory`], say: the job gives up.
    fn items(&mut self, key: usize) -> Result<Secret<Digest>, Error>;

    /// Writes the payload of an item, of a sender that joins: the fields of these columns among ours, if columns were agreed on.
    fn payload(&mut self, item: usize, columns: &[usize], to: &mut [u8]) {
        let _ = (item, columns);
        to.fill(0);
    }

    /// The places of columns among ours.
    fn places(&self, columns: &[String]) -> Vec<usize> {
        let _ = columns;
        Vec::new()
    }

    /// The number of each item, of a sum's sender.
    ///
    /// # Errors
    /// As [`items`](Self::items).
    fn numbers(&mut self) -> Result<Secret<u64>, Error> {
        Ok(Secret::default())
    }
}

/// Items of one key, with nothing beside them.
impl Set for Secret<Digest> {
    fn items(&mut self, _key: usize) -> Result<Secret<Digest>, Error> {
        Ok(mem::take(self))
    }
}

/// Items, and what this side has beside each.
pub struct Beside<T> {
    /// The items.
    pub items: Secret<Digest>,
    /// The values beside them.
    pub beside: T,
}

/// Payloads, one after another, and the length of each.
pub struct Payloads(pub Secret<u8>, pub usize);

impl Set for Beside<Payloads> {
    fn items(&mut self, _key: usize) -> Result<Secret<Digest>, Error> {
        Ok(mem::take(&mut self.items))
    }

    fn payload(&mut self, item: usize, _columns: &[usize], to: &mut [u8]) {
        let Payloads(all, len) = &self.beside;
        to.copy_from_slice(&all[item * len..][..*len]);
    }
}

/// The fields of each item.
impl Set for Beside<Fields> {
    fn items(&mut self, _key: usize) -> Result<Secret<Digest>, Error> {
        Ok(mem::take(&mut self.items))
    }

    fn payload(&mut self, item: usize, columns: &[usize], to: &mut [u8]) {
        self.beside.write(item, columns, to);
    }

    fn places(&self, columns: &[String]) -> Vec<usize> {
        // They were agreed on.
        self.beside.places(columns).unwrap_or_default()
    }
}

/// A number of each item.
impl Set for Beside<Secret<u64>> {
    fn items(&mut self, _key: usize) -> Result<Secret<Digest>, Error> {
        Ok(mem::take(&mut self.items))
    }

    fn numbers(&mut self) -> Result<Secret<u64>, Error> {
        Ok(mem::take(&mut self.beside))
    }
}

/// The end of a job. The sets of a receiver are not compared yet: how long that takes depends on them, so that it comes when the
/// session, and perhaps the connection, has ended.
#[must_use = "it holds the result"]
pub struct Compared(State);

pub(super) enum State {
    /// The items that are common, for each key; none for a sender that does not learn them.
    Sent(Vec<Vec<usize>>),
    Received(Vec<(Joined, Vec<u8>)>),
    Counted(Outcome),
}

/// Numbers of items or rows in order, each with its payload.
pub type WithPayloads = Vec<(usize, Vec<u8>)>;

/// The result of a job.
#[derive(Default)]
pub struct Found {
    /// The numbers of common items in order, for each key.
    pub items: Vec<Vec<usize>>,
    /// The payloads of the first key's matches, in the order of items.
    pub payloads: WithPayloads,
    /// The outcome of a count or a sum.
    pub outcome: Option<Outcome>,
}

/// One party of a job: what its protocol works on.
pub(super) struct Party<S> {
    agreed: PsiAgreement,
    base: Base,
    direction: Direction,
    set: S,
    /// Why the set gave nothing.
    failed: Arc<Sink<Error>>,
    tell: Box<dyn Fn(usize) + Send + Sync>,
}

impl PsiAgreement {
    /// The base OTs of the job: new ones, or those of the last session, for the first key.
    ///
    /// # Errors
    /// As [`Job::base`].
    pub fn base<C: Connection>(&self, job: &mut Job<'_, C>) -> Result<Base, Error> {
        let (carries, n) = match self.passes().first() {
            Some(it) => ([it.info().name, it.over()], it.base_ots()),
            None => Default::default(),
        };
        job.base(self.terms.method().base, carries, n)
    }

    /// Runs the job to the end of its session. Progress is in `steps`, of [`steps`](Self::steps); it is first told when the base
    /// OTs are done.
    ///
    /// # Errors
    /// [`Error::Session`]; errors of the set, of which the peer is told that there is one.
    pub fn run<C: Connection>(
        &self,
        job: Job<'_, C>,
        base: Base,
        set: impl Set,
    ) -> C::Outcome<impl Future<Output = Result<Compared, Error>>> {
        C::outcome(self.play::<All, C>(job, base, set))
    }

    /// The future of [`run`](Self::run), for a program that plays these parts.
    pub(super) async fn play<P: Parts, C: Connection>(
        &self,
        mut job: Job<'_, C>,
        base: Base,
        set: impl Set,
    ) -> Result<Compared, Error> {
        let ((session, seed), of, tell) = (job.start()?, self.steps(), job.local().teller("steps"));
        let (agreed, direction, tell) =
            (self.clone(), job.direction(), Box::new(move |n| tell(n, of)));
        let failed = Arc::new(Sink::new());
        let mut party = Party { agreed, base, direction, set, failed: Arc::clone(&failed), tell };
        let ran = job
            .run_owned(|io| async move {
                let mut cx = Context::new(&session, seed);
                let state = P::play(&mut party, &io, &mut cx).await?;
                Ok::<_, PsiError>((Compared(state), party.base))
            })
            .await;
        let (compared, base) = failed.result(ran)?;
        job.end_keeping(base).await?;
        Ok(compared)
    }
}

/// The parts that a program plays: what it leaves out is not compiled.
pub(super) trait Parts {
    /// Plays the part that was agreed on.
    fn play<S: Set>(
        party: &mut Party<S>,
        io: &Io,
        cx: &mut Context<'_>,
    ) -> impl Future<Output = Result<State, PsiError>> + Send;
}

/// All parts.
pub(super) struct All;

/// The receiver of an intersection.
pub(super) struct Receives;

impl Parts for All {
    async fn play<S: Set>(
        party: &mut Party<S>,
        io: &Io,
        cx: &mut Context<'_>,
    ) -> Result<State, PsiError> {
        match (&party.agreed.protocol, party.agreed.terms.role) {
            (Protocols::Circuit(parameters), _) => {
                let parameters = *parameters;
                Ok(State::Counted(party.count(io, cx, parameters).await?))
            }
            (_, Role::Sender) => Ok(State::Sent(party.send(io, cx).await?)),
            (_, Role::Receiver) => Ok(State::Received(party.receive(io, cx).await?)),
        }
    }
}

impl Parts for Receives {
    async fn play<S: Set>(
        party: &mut Party<S>,
        io: &Io,
        cx: &mut Context<'_>,
    ) -> Result<State, PsiError> {
        Ok(State::Received(party.receive(io, cx).await?))
    }
}

impl<S: Set> Party<S> {
    fn plan(&self, number: usize, parameters: Parameters) -> IntersectionPlan<'_> {
        // Only the first intersection is over the base OTs of the last session.
        let base = if number == 0 { self.base.ot() } else { self.agreed.terms.method().base };
        IntersectionPlan { parameters, base, direction: self.direction, counter: number as u64 }
    }

    fn items(&mut self, key: usize) -> Result<Vec<Digest>, PsiError> {
        let items = self.failed.keep(self.set.items(key)).map_err(|_| Usage::Abandoned);
        Ok(mem::take(&mut items?.0))
    }

    /// Lets the peer find out which of its items are among these, key by key. Returns the items that the peer also has, if both
    /// learn.
    async fn send(&mut self, io: &Io, cx: &mut Context<'_>) -> Result<Vec<Vec<usize>>, PsiError> {
        let (join, passes) = (self.agreed.join(), self.agreed.passes().to_vec());
        let names = self.agreed.terms.columns.as_ref().map_or(&[][..], |it| &it.names);
        let (places, mut common, mut before) = (self.set.places(names), Vec::new(), 0);
        for (number, parameters) in passes.into_iter().enumerate() {
            let sender = Sender::set_up(io, cx, self.plan(number, parameters)).await?;
            (self.tell)(before);
            let items = self.items(number)?;
            let Self { set, tell, .. } = self;
            let mut payload = |item: usize, to: &mut [u8]| {
                set.payload(item, &places, to);
                Ok(())
            };
            let mut progress = |Steps { done, .. }| tell(before + done);
            common.push(sender.join(io, items, join, &mut payload, &mut progress).await?);
            before += parameters.steps_of_join(join);
        }
        Ok(common)
    }

    /// Finds out which of its items the peer also has, key by key.
    async fn receive(
        &mut self,
        io: &Io,
        cx: &mut Context<'_>,
    ) -> Result<Vec<(Joined, Vec<u8>)>, PsiError> {
        let (join, passes) = (self.agreed.join(), self.agreed.passes().to_vec());
        let (mut all, mut before) = (Vec::new(), 0);
        for (number, parameters) in passes.into_iter().enumerate() {
            let receiver = Receiver::set_up(io, cx, self.plan(number, parameters)).await?;
            (self.tell)(before);
            let (items, mut store) = (self.items(number)?, Vec::new());
            // All of it, as growing would take as much again.
            let bytes = join.sender_bytes(parameters.tags());
            let has_room = store.try_reserve_exact(bytes);
            let has_room = has_room.map_err(|_| Error::OutOfMemory { bytes });
            self.failed.keep(has_room).map_err(|_| Usage::Abandoned)?;
            let tell = &self.tell;
            let mut progress = |Steps { done, .. }| tell(before + done);
            let joined = receiver.join(io, items, join, &mut store, &mut progress).await?;
            all.push((joined, store));
            before += parameters.steps_of_join(join);
        }
        Ok(all)
    }

    /// Counts common items, and adds up the sender's numbers if there are some.
    async fn count(
        &mut self,
        io: &Io,
        cx: &mut Context<'_>,
        parameters: circuit::Parameters,
    ) -> Result<Outcome, PsiError> {
        let items = self.items(0)?;
        let numbers = self.failed.keep(self.set.numbers()).map_err(|_| Usage::Abandoned)?;
        let base = self.agreed.terms.method().base;
        let plan = CircuitPlan { parameters, base, direction: self.direction, counter: 0 };
        let tell = &self.tell;
        let mut progress = |Steps { done, .. }| tell(done);
        match self.agreed.terms.role {
            Role::Sender => {
                let outcome = send_count(io, cx, plan, items, &numbers, &mut progress).await?;
                // Both sides learn it.
                Ok(outcome.ok_or(Usage::Abandoned)?)
            }
            Role::Receiver => receive_count(io, cx, plan, items, &mut progress).await,
        }
    }
}

impl Compared {
    /// Compares the sets.
    ///
    /// # Errors
    /// [`Error::Session`] if the peer's payloads do not belong to their items.
    pub fn open(self) -> Result<Found, Error> {
        let received = match self.0 {
            State::Sent(items) => return Ok(Found { items, ..Found::default() }),
            State::Counted(outcome) => {
                return Ok(Found { outcome: Some(outcome), ..Found::default() });
            }
            State::Received(received) => received,
        };
        let mut found = Found::default();
        for (joined, mut store) in received {
            let payloads = &mut found.payloads;
            let take = |item: usize, payload: &[u8]| payloads.push((item, payload.to_vec()));
            found.items.push(joined.open(&mut store, take).map_err(foxtrot_ot::Error::from)?);
        }
        found.payloads.sort_unstable_by_key(|(item, _)| *item);
        Ok(found)
    }
}

impl Found {
    /// The common items of the first key, or the only one.
    #[must_use]
    pub fn first(self) -> Vec<usize> {
        self.items.into_iter().next().unwrap_or_default()
    }

    /// The fields of each match, of columns that came in this form.
    ///
    /// # Errors
    /// [`Error::NotText`].
    pub fn fields(self, padding: Padding) -> Result<Matches, Error> {
        let read = |(key, payload): (usize, Vec<u8>)| Some((key, fields::read(&payload, padding)?));
        self.payloads.into_iter().map(read).collect::<Option<_>>().ok_or(Error::NotText)
    }
}

foxtrot_ot::erase::redacted! {
    Compared; Found; Payloads;
    [T] Beside<T>, set => "{} items, <redacted>", set.items.len();
}
