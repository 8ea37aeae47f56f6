//! The protocol: base OTs, and then batch after batch, in which both parties do the same at the same time
//! (`docs/wire/gilboa.md`, section 19).
//!
//! [`gilboa`](super) has an example.

use alloc::{collections::VecDeque, vec, vec::Vec};
use foxtrot_ot::{
    Context, Usage,
    base::BaseOt,
    engine::{Abandoned, Io, Limits, Stream, batches::Turns},
    extension::{ROWS, compatible},
};

use super::{Extended, Multiplied, Set, party::base_session};
use crate::{Error, Shares, check::Check, formats::record_len};

/// Returns the number of batches between a party's corrections and its reading of the peer's, and again until it
/// reads the peer's products. As many batches are under way in either direction, and no party waits for a message
/// that has just been sent.
///
/// No two parties wait in a send for each other: if both are sending, let a be the turn of the one that is behind, g its
/// group. It has sent fewer than a + g corrections, and the peer, in turn a or later, has taken all before a − depth. So at
/// most depth + g ≤ 2·depth wait. Of products, which are on the other stream, it has sent
/// those before a − depth + g, and the peer has taken those before a − 2·depth: as many. Who receives, waits for one that is
/// behind.
fn depth(set: &Set) -> u64 {
    Turns::depth(turn_bytes(set))
}

/// Bytes of a turn in each direction.
fn turn_bytes(set: &Set) -> usize {
    set.corrections_len(set.n()) + set.products_len(set.n())
}

/// The stream whose sender is the initiator, and the other one.
const STREAMS: [Stream; 2] = [0, 1];

/// The stream of opened triples.
const CHECK: Stream = 2;

/// Terms that both parties have agreed on.
#[derive(Clone, Copy)]
pub struct GilboaPlan<'a> {
    /// The kind of triples.
    pub set: &'static Set,
    /// The base OT that the extensions start from.
    pub base: &'a dyn BaseOt,
    /// True if we opened the connection.
    pub we_are_initiator: bool,
    /// Number of triples to be made. All batches are whole but the last one, and each has one more, which is
    /// opened.
    pub count: u64,
}

/// Returns payload bytes of initiator and responder for `count` triples, base OTs and set-up included.
#[must_use]
pub fn bytes_of_run(set: &Set, base: &dyn BaseOt, count: u64) -> [u64; 2] {
    let info = base.info();
    let batch = |n| (set.corrections_len(n) + set.products_len(n)) as u64;
    let opened = record_len(set.bits()) as u64;
    let batch = |n| batch(n) + opened;
    let (whole, rest) = (count / set.usable() as u64, count % set.usable() as u64);
    let last =
        usize::try_from(rest).ok().filter(|rest| *rest > 0).map_or(0, |rest| batch(rest + 1));
    let batches = whole.saturating_mul(batch(set.n())).saturating_add(last);
    let once = [
        (info.receiver_bytes)(ROWS) + set.setup_len(),
        (info.sender_bytes)(ROWS) + set.opening_len(),
    ];
    once.map(|once| batches.saturating_add(once as u64))
}

/// A party with both extensions set up.
pub struct GilboaRun {
    state: super::GilboaParty,
    /// The stream in which we are the OTs' sender, and the other one.
    streams: [Stream; 2],
    count: u64,
    turns: Turns,
}

impl GilboaRun {
    /// Runs the base OTs, and exchanges set-ups with the peer.
    ///
    /// # Errors
    /// [`Usage::Incompatible`], [`Usage::TooManyBatches`]; errors of the steps.
    pub async fn set_up(
        io: &Io,
        cx: &mut Context<'_>,
        plan: GilboaPlan<'_>,
    ) -> Result<Self, Error> {
        let extension = plan.set.extension().info();
        compatible(plan.base.info(), extension).map_err(Usage::Incompatible)?;
        let max = plan.set.most_batches();
        if plan.set.batches(plan.count) > max {
            return Err(Usage::TooManyBatches { max }.into());
        }
        io.limit(limits(plan.set));
        let mut streams = STREAMS;
        let state = if plan.we_are_initiator {
            initiator(io, cx, plan).await?
        } else {
            streams.reverse();
            responder(io, cx, plan).await?
        };
        let turns = Turns::new(turn_bytes(plan.set), cx.session().executor());
        Ok(Self { state, streams, count: plan.count, turns })
    }

    /// Makes the batches, however many; their shares go to `sink` in order. One triple of each is opened to find
    /// accidents, and not among them.
    ///
    /// # Errors
    /// Errors of the steps; [`Usage::Abandoned`]; [`Error::WrongTriples`].
    pub async fn run(
        mut self,
        io: &Io,
        sink: impl FnMut(&Shares) -> Result<(), Abandoned>,
    ) -> Result<(), Error> {
        io.limit(limits(self.state.set()));
        let batches = self.state.set().batches(self.count);
        let (mut extended, mut multiplied) = (VecDeque::new(), VecDeque::new());
        let mut spare = Vec::new();
        // What the peer has opened a depth of turns before is there.
        let mut check = Check::new(io.on(CHECK), depth(self.state.set()), 0, sink);
        // Batch i begins in turn i; the peer's corrections for it are read in turn i + depth, and its products in turn
        // i + 2·depth. A turn waits only for what the peer sends in turns before that, whatever its group is.
        while self.turns.goes_on(batches, 2) {
            let begun = self.turns.part(batches, 0);
            extended.extend(self.extend(io, self.turns.first(), begun, &mut spare).await?);
            let answered = self.turns.part(batches, 1);
            multiplied.extend(self.multiply(io, extended.drain(..answered).collect()).await?);
            let ended = self.turns.part(batches, 2);
            for shares in self.add(io, multiplied.drain(..ended).collect()).await? {
                spare.extend(check.add(shares).await?);
            }
            self.turns.advance();
        }
        check.finish().await
    }

    /// Returns the number of triples in batch i, with the one that is opened.
    fn size(&self, i: u64) -> usize {
        let usable = self.state.set().usable();
        let rest = self.count.saturating_sub(i.saturating_mul(usable as u64));
        usize::try_from(rest).unwrap_or(usable).min(usable) + 1
    }

    /// Begins n batches from that one on, and sends their corrections.
    async fn extend(
        &mut self,
        io: &Io,
        first: u64,
        n: usize,
        spare: &mut Vec<Shares>,
    ) -> Result<Vec<Extended>, Error> {
        let set = self.state.set();
        let sizes = (first..).take(n).map(|i| self.size(i));
        let shares: Vec<_> = sizes
            .map(|size| {
                let used = spare.pop().filter(|shares| shares.len() == size);
                used.unwrap_or_else(|| set.shares(size))
            })
            .collect();
        let mut messages = vec![Vec::new(); n];
        let begun = self.state.extend(shares.into_iter().zip(&mut messages).collect())?;
        io.on(self.streams[1]).send_all(messages).await;
        Ok(begun)
    }

    /// Takes the peer's corrections for batches, and sends products.
    async fn multiply(
        &mut self,
        io: &Io,
        batches: Vec<Extended>,
    ) -> Result<Vec<Multiplied>, Error> {
        let (set, ours) = (self.state.set(), io.on(self.streams[0]));
        let lens = batches.iter().map(|batch| set.corrections_len(batch.0.shares.len()));
        let corrections = ours.recv_all(lens.collect()).await;
        let mut messages = vec![Vec::new(); batches.len()];
        let batches = batches.into_iter().zip(&corrections).zip(&mut messages);
        let batches = batches.map(|((batch, received), message)| (batch, &**received, message));
        let multiplied = self.state.multiply(batches.collect())?;
        ours.send_all(messages).await;
        Ok(multiplied)
    }

    /// Takes the peer's products for batches.
    async fn add(&mut self, io: &Io, batches: Vec<Multiplied>) -> Result<Vec<Shares>, Error> {
        let set = self.state.set();
        let lens = batches.iter().map(|batch| set.products_len(batch.0.shares.len()));
        let products = io.on(self.streams[1]).recv_all(lens.collect()).await;
        let batches = batches.into_iter().zip(products.iter().map(Vec::as_slice));
        Ok(self.state.add(batches.collect())?)
    }
}

async fn initiator(
    io: &Io,
    cx: &mut Context<'_>,
    plan: GilboaPlan<'_>,
) -> Result<super::GilboaParty, Error> {
    let [first, second] = STREAMS.map(|stream| io.on(stream));
    let GilboaPlan { set, base, .. } = plan;
    let choice = cx.choice(base.info(), ROWS);
    let session = base_session(cx.session(), set, base.info().name);
    let base = base.receiver(session, choice, cx.seed())?;
    let keys = first.run(base).await?;
    let opening = first.recv(set.opening_len()).await;
    let seed = cx.seed();
    let (state, setup) = super::GilboaParty::initiator(cx.session(), set, keys, seed, &opening)?;
    second.send(setup).await;
    Ok(state)
}

async fn responder(
    io: &Io,
    cx: &mut Context<'_>,
    plan: GilboaPlan<'_>,
) -> Result<super::GilboaParty, Error> {
    let [first, second] = STREAMS.map(|stream| io.on(stream));
    let GilboaPlan { set, base, .. } = plan;
    let session = base_session(cx.session(), set, base.info().name);
    let base = base.sender(session, ROWS, cx.seed())?;
    let keys = first.run(base).await?;
    let seed = cx.seed();
    let (join, opening) = super::GilboaParty::responder(cx.session(), set, keys, seed)?;
    first.send(opening).await;
    Ok(join(&second.recv(set.setup_len()).await)?)
}

/// The bounds of what is on its way; see [`depth`].
pub(crate) fn limits(set: &Set) -> Limits {
    let longest = set.corrections_len(set.n()).max(set.products_len(set.n()));
    let longest = longest.max(set.opening_len()).max(set.setup_len());
    let messages = usize::try_from(2 * depth(set)).unwrap_or(usize::MAX);
    Limits { streams: CHECK + 1, messages, len: longest }
}

foxtrot_kernel::redacted! {
    GilboaPlan<'_>, plan => "{} {:?} from {}", plan.count, plan.set, plan.base.info().name;
    GilboaRun, party => "{} {:?}, <redacted>", party.count, party.state.set();
}
