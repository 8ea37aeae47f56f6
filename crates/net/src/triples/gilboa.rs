//! Triples from oblivious transfer over a channel: base OTs, and then batch after batch, in which both parties do the
//! same at the same time (`docs/wire.md`, section 19).
//!
//! Against peers that follow the protocol: see [`foxtrot_triples::gilboa`].

#[cfg(test)]
mod tests;

use core::fmt;
use std::collections::VecDeque;

use foxtrot_ot::{
    Session, Usage,
    base::BaseOt,
    extension::{Any, ROWS, compatible},
    tasks::Executor,
};
use foxtrot_triples::{
    Shares,
    formats::record_len,
    gilboa::{self, Extended, Multiplied, Set, base_session},
};

use super::{check::Check, depth_for, give_up_unless_done, group, part};
use crate::{
    Channel, Error, Lane, drive,
    extend::{fresh_seed, secret_choice},
};

/// How many batches after its corrections those of the peer are read, and after that its products: so many are on their
/// way in either direction, and no party waits for one that has just been sent. Bytes are those of [`super::depth`].
///
/// No two parties wait in a send for each other: if both are sending, let a be the turn of the one that is behind, g its
/// group. It has sent fewer than a + g corrections, and the peer, in turn a or later, has taken all before a − depth. So at
/// most depth + g ≤ 2·depth wait, and find room in the lane's queue. Of products, which are on the other lane, it has sent
/// those before a − depth + g, and the peer has taken those before a − 2·depth: as many. Who receives, waits for one that is
/// behind.
fn depth(set: &Set) -> u64 {
    depth_for(set.corrections_len(set.n()) + set.products_len(set.n()))
}

/// That of the stream whose sender is the initiator, and of the other one.
const LANES: [Lane; 2] = [Lane::PROTOCOL, Lane::SECOND];

/// That of opened triples.
const CHECK: Lane = Lane::THIRD;

/// What both sides have agreed on.
#[derive(Clone, Copy)]
pub struct Plan<'a> {
    /// The kind of triples.
    pub set: &'static Set,
    /// What the extensions start from.
    pub base: &'a dyn BaseOt,
    /// The whole session, which makes triples once.
    pub session: &'a Session,
    /// Whether we opened the connection.
    pub we_are_initiator: bool,
    /// How many triples are to be made. All batches are whole but the last one, and each has one more, which is opened.
    pub count: u64,
}

/// Payload bytes of initiator and responder for so many triples, base OTs and set-up included.
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
pub struct Party<'a> {
    channel: &'a Channel,
    state: gilboa::Party,
    /// That of the stream in which we are the OTs' sender, and that of the other one.
    lanes: [Lane; 2],
    count: u64,
    group: usize,
}

impl<'a> Party<'a> {
    /// Runs the base OTs, and exchanges set-ups with the peer.
    ///
    /// # Errors
    /// [`Error::Protocol`], of which the peer is told; [`Error::Frame`], [`Error::Channel`].
    pub fn set_up(channel: &'a Channel, plan: &Plan<'_>) -> Result<Self, Error> {
        let extension = Any::SemiHonest(plan.set.extension()).info();
        let compatible = compatible(plan.base.info(), &extension).map_err(Usage::Incompatible);
        compatible.map_err(|e| channel.give_up(e))?;
        let max = plan.set.most_batches();
        if plan.set.batches(plan.count) > max {
            return Err(channel.give_up(Usage::TooManyBatches { max }));
        }
        channel.use_lanes(CHECK.index() + 1);
        let state =
            if plan.we_are_initiator { initiator(channel, plan) } else { responder(channel, plan) };
        let mut lanes = LANES;
        if !plan.we_are_initiator {
            lanes.reverse();
        }
        Ok(Self { channel, state: state?, lanes, count: plan.count, group: 1 })
    }

    /// The same, on several threads; one of the three computes at a time.
    #[must_use]
    pub fn with_executors(self, executors: [Box<dyn Executor>; 3]) -> Self {
        let group = executors.iter().map(|it| group(&**it)).min().unwrap_or(1);
        Self { state: self.state.with_executors(executors), group, ..self }
    }

    /// Makes the batches, however many; their shares go to `sink` in order. One triple of each is opened to find
    /// accidents, and not among them.
    ///
    /// # Errors
    /// Those of the sink, and [`Error::Protocol`], of which the peer is told; [`Error::Frame`], [`Error::Channel`].
    pub fn run<E: From<Error>>(self, sink: impl FnMut(&Shares) -> Result<(), E>) -> Result<(), E> {
        let channel = self.channel;
        give_up_unless_done(channel, self.run_batches(sink))
    }

    fn run_batches<E: From<Error>>(
        mut self,
        sink: impl FnMut(&Shares) -> Result<(), E>,
    ) -> Result<(), E> {
        let (group, depth) = (self.group as u64, depth(self.state.set()));
        let batches = self.state.set().batches(self.count);
        let (mut extended, mut multiplied) = (VecDeque::new(), VecDeque::new());
        let mut spare = Vec::new();
        // What the peer has opened a depth of turns before is there.
        let mut check = Check::new(self.channel, CHECK, depth, 0, sink);
        // Batch i begins in turn i; the peer's corrections for it are read in turn i + depth, and its products in turn
        // i + 2·depth. A turn waits only for what the peer sends in turns before that, whatever its group is.
        let steps = if batches == 0 { 0 } else { batches.saturating_add(2 * depth) };
        let mut turn = 0;
        while turn < steps {
            let begun = part(batches, Some(turn), group);
            extended.extend(self.extend(turn, begun, &mut spare)?);
            let answered = part(batches, turn.checked_sub(depth), group);
            multiplied.extend(self.multiply(extended.drain(..answered).collect())?);
            let ended = part(batches, turn.checked_sub(2 * depth), group);
            for shares in self.add(multiplied.drain(..ended).collect())? {
                spare.extend(check.add(shares)?);
            }
            turn += group;
        }
        check.finish()
    }

    /// How many triples batch i has, with the one that is opened.
    fn size(&self, i: u64) -> usize {
        let usable = self.state.set().usable();
        let rest = self.count.saturating_sub(i.saturating_mul(usable as u64));
        usize::try_from(rest).unwrap_or(usable).min(usable) + 1
    }

    fn extend(
        &mut self,
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
        let begun = self.state.extend_all(shares.into_iter().zip(&mut messages).collect());
        let begun = begun.map_err(|e| self.channel.give_up(e))?;
        self.send_all(self.lanes[1], messages)?;
        Ok(begun)
    }

    fn multiply(&mut self, batches: Vec<Extended>) -> Result<Vec<Multiplied>, Error> {
        let set = self.state.set();
        let lens = batches.iter().map(|batch| set.corrections_len(batch.len()));
        let corrections = self.recv_all(self.lanes[0], lens)?;
        let mut messages = vec![Vec::new(); batches.len()];
        let batches = batches.into_iter().zip(&corrections).zip(&mut messages);
        let batches = batches.map(|((batch, received), message)| (batch, &**received, message));
        let multiplied = self.state.multiply_all(batches.collect());
        let multiplied = multiplied.map_err(|e| self.channel.give_up(e))?;
        self.send_all(self.lanes[0], messages)?;
        Ok(multiplied)
    }

    fn add(&mut self, batches: Vec<Multiplied>) -> Result<Vec<Shares>, Error> {
        let set = self.state.set();
        let lens = batches.iter().map(|batch| set.products_len(batch.len()));
        let products = self.recv_all(self.lanes[1], lens)?;
        let batches = batches.into_iter().zip(products.iter().map(Vec::as_slice));
        self.state.add_all(batches.collect()).map_err(|e| self.channel.give_up(e))
    }

    fn send_all(&self, lane: Lane, messages: Vec<Vec<u8>>) -> Result<(), Error> {
        messages.into_iter().try_for_each(|message| self.channel.send(lane, message))
    }

    fn recv_all(
        &self,
        lane: Lane,
        lens: impl Iterator<Item = usize>,
    ) -> Result<Vec<Vec<u8>>, Error> {
        lens.map(|len| self.channel.recv(lane, len)).collect()
    }
}

fn initiator(channel: &Channel, plan: &Plan<'_>) -> Result<gilboa::Party, Error> {
    let Plan { set, base, session, .. } = *plan;
    let role = base.receiver(plan.base_session(), secret_choice(base)?, fresh_seed()?);
    let keys = drive::run(channel, LANES[0], role.map_err(|e| channel.give_up(e))?)?;
    let opening = channel.recv(LANES[0], set.opening_len())?;
    let joined = gilboa::Party::initiator(session, set, keys, fresh_seed()?, &opening);
    let (state, setup) = joined.map_err(|e| channel.give_up(e))?;
    channel.send(LANES[1], setup)?;
    Ok(state)
}

fn responder(channel: &Channel, plan: &Plan<'_>) -> Result<gilboa::Party, Error> {
    let Plan { set, base, session, .. } = *plan;
    let role = base.sender(plan.base_session(), ROWS, fresh_seed()?);
    let keys = drive::run(channel, LANES[0], role.map_err(|e| channel.give_up(e))?)?;
    let joining = gilboa::Party::responder(session, set, keys, fresh_seed()?);
    let (joining, opening) = joining.map_err(|e| channel.give_up(e))?;
    channel.send(LANES[0], opening)?;
    let setup = channel.recv(LANES[1], set.setup_len())?;
    joining.finish(&setup).map_err(|e| channel.give_up(e))
}

impl Plan<'_> {
    fn base_session(&self) -> Session {
        base_session(self.session, self.set, self.base.info().name)
    }
}

impl fmt::Debug for Plan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let base = self.base.info().name;
        write!(f, "Plan({} {:?} from {base})", self.count, self.set)
    }
}

impl fmt::Debug for Party<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Party({} {:?}, <redacted>)", self.count, self.state.set())
    }
}
