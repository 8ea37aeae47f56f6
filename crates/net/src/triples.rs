//! Making multiplication triples over a channel: a key of each party, then batch after batch in two streams with the
//! roles swapped, several of them on their way at a time (`docs/wire.md`, section 18).
//!
//! Against peers that follow the protocol: see [`foxtrot_triples::rlwe`].

pub mod gilboa;

#[cfg(test)]
mod tests;

use core::{fmt, ops::Range};
use std::collections::VecDeque;

use foxtrot_ot::{Direction, Session, tasks::Executor};
use foxtrot_triples::{
    Shares,
    params::Set,
    rlwe::{Duplex, Requested},
};

use crate::{Channel, ChannelError, Error, Lane, extend::fresh_seed};

/// How many batches after a request its answer is made, and after that the answer is read: so many of each stream are
/// on their way in either direction, and no party waits for one that has just been sent. Of its own requests a party
/// has up to two depths and a [`group`] without an answer: 17 with one thread, 24 with eight.
///
/// A batch is a request and, of the other stream, a response each way, 0.48 MB at least (`rlwe-8`): eight of them are
/// 300 ms at 100 Mbit/s, and no part of the link is idle where a message takes less, 100 ms say, to arrive.
const DEPTH: usize = 8;

// No two parties wait in a send for each other: if both are sending, let a be the turn of the one that is behind, g its group. It
// has sent fewer than a + g requests, and the peer, in turn a or later, has taken all before a − DEPTH. So at most
// DEPTH + g ≤ 2·DEPTH requests wait, and find room. Of responses, which are smaller, it has sent those before
// a − DEPTH + g, and the peer has taken those before a − 2·DEPTH: as many. Who receives, waits for one that is behind.
const _: () = {
    let (sets, mut i) = (&foxtrot_triples::params::LIFT_64, 0);
    while i < sets.len() {
        assert!(2 * DEPTH * (sets[i].request_len() + 64) <= crate::channel::QUEUE_BYTES);
        i += 1;
    }
};

/// Batches that are computed at once: one per thread, and a part of [`DEPTH`], which may be another one than the peer's.
fn group(executor: &dyn Executor) -> usize {
    1 << executor.threads().clamp(1, DEPTH).ilog2()
}

/// What both sides have agreed on.
#[derive(Clone)]
pub struct Plan<'a> {
    /// The kind of triples.
    pub set: &'static Set,
    /// The whole session, which makes triples once.
    pub session: &'a Session,
    /// Whether we opened the connection.
    pub we_are_initiator: bool,
    /// The numbers of the batches to be made: a run that is continued does not begin with 0.
    pub batches: Range<u64>,
}

/// A party with its own key and the peer's.
pub struct Party<'a> {
    channel: &'a Channel,
    state: Duplex,
    /// That of our stream, in which we request, and that of the peer's.
    lanes: [Lane; 2],
    batches: Range<u64>,
    group: usize,
}

/// A party that has all its triples.
#[derive(Debug)]
#[must_use = "the peer waits until it is settled"]
pub struct Made<'a> {
    channel: &'a Channel,
}

impl<'a> Party<'a> {
    /// Draws a key, and exchanges keys with the peer.
    ///
    /// # Errors
    /// [`Error::Protocol`], of which the peer is told; [`Error::Frame`], [`Error::Channel`].
    pub fn set_up(channel: &'a Channel, plan: &Plan<'_>) -> Result<Self, Error> {
        channel.use_lanes(Lane::SECOND.index() + 1);
        let (direction, lanes) = if plan.we_are_initiator {
            (Direction::InitiatorSends, [Lane::PROTOCOL, Lane::SECOND])
        } else {
            (Direction::ResponderSends, [Lane::SECOND, Lane::PROTOCOL])
        };
        let (joining, key) = Duplex::new(plan.session, plan.set, direction, &fresh_seed()?);
        channel.send(lanes[0], key)?;
        let key = channel.recv(lanes[1], plan.set.public_key_len())?;
        let state = joining.finish(&key).map_err(|e| channel.give_up(e))?;
        let state = state.starting_at(plan.batches.start).map_err(|e| channel.give_up(e))?;
        Ok(Self { channel, state, lanes, batches: plan.batches.clone(), group: 1 })
    }

    /// The same, on several threads: one of the two computes at a time.
    #[must_use]
    pub fn with_executors(self, executors: [Box<dyn Executor>; 2]) -> Self {
        let group = group(&*executors[0]).min(group(&*executors[1]));
        Self { state: self.state.with_executors(executors), group, ..self }
    }

    /// Makes the batches, however many; their shares go to `sink` in the order of their numbers.
    ///
    /// # Errors
    /// Those of the sink, and [`Error::Protocol`], of which the peer is told; [`Error::Frame`], [`Error::Channel`].
    pub fn run<E: From<Error>>(
        self,
        sink: impl FnMut(&Shares) -> Result<(), E>,
    ) -> Result<Made<'a>, E> {
        let channel = self.channel;
        give_up_unless_done(channel, self.run_batches(sink))
    }

    fn run_batches<E: From<Error>>(
        mut self,
        sink: impl FnMut(&Shares) -> Result<(), E>,
    ) -> Result<(), E> {
        let Range { start, end } = self.batches;
        let all = end.saturating_sub(start);
        let ours = if self.state.asks(start) { all.div_ceil(2) } else { all / 2 };
        let mut outputs = Outputs::new(self.state.set(), start, sink);
        let mut requested = VecDeque::new();
        let (group, depth) = (self.group as u64, DEPTH as u64);
        // Batch i of our stream is requested in turn i; batch i of the peer's is answered in turn i + DEPTH, and the
        // answer to ours is read in turn i + 2·DEPTH. A turn waits only for what the peer sends in turns before that,
        // whatever its group is.
        let steps = ours.max(all - ours).saturating_add(2 * depth);
        let mut turn = 0;
        while turn < steps {
            requested.extend(self.request(part(ours, Some(turn), group))?);
            let answered = part(all - ours, turn.checked_sub(depth), group);
            let answered = self.respond(outputs.buffers(answered))?;
            outputs.add(PEERS, answered);
            let ended = part(ours, turn.checked_sub(2 * depth), group);
            let batches = requested.drain(..ended).collect();
            let ended = self.receive(batches, outputs.buffers(ended))?;
            outputs.add(OURS, ended);
            outputs.give(|batch| if self.state.asks(batch) { OURS } else { PEERS })?;
            turn += group;
        }
        Ok(())
    }

    fn request(&mut self, n: usize) -> Result<Vec<Requested>, Error> {
        let mut messages = vec![Vec::new(); n];
        let requested = self.state.request_all(messages.iter_mut().collect());
        self.send_all(self.lanes[0], messages)?;
        Ok(requested)
    }

    fn respond(&mut self, mut outputs: Vec<Shares>) -> Result<Vec<Shares>, Error> {
        let requests = self.recv_all(self.lanes[1], outputs.len(), Set::request_len)?;
        let mut messages = vec![Vec::new(); outputs.len()];
        let batches = requests.iter().zip(&mut outputs).zip(&mut messages);
        let batches = batches.map(|((request, shares), response)| (&**request, shares, response));
        self.state.respond_all(batches.collect()).map_err(|e| self.channel.give_up(e))?;
        self.send_all(self.lanes[1], messages)?;
        Ok(outputs)
    }

    fn receive(
        &mut self,
        batches: Vec<Requested>,
        mut outputs: Vec<Shares>,
    ) -> Result<Vec<Shares>, Error> {
        let responses = self.recv_all(self.lanes[0], outputs.len(), Set::response_len)?;
        let batches = batches.into_iter().zip(&responses).zip(&mut outputs);
        let batches =
            batches.map(|((requested, response), shares)| (requested, &**response, shares));
        self.state.receive_all(batches.collect()).map_err(|e| self.channel.give_up(e))?;
        Ok(outputs)
    }

    fn send_all(&self, lane: Lane, messages: Vec<Vec<u8>>) -> Result<(), Error> {
        messages.into_iter().try_for_each(|message| self.channel.send(lane, message))
    }

    fn recv_all(
        &self,
        lane: Lane,
        n: usize,
        len: fn(&Set) -> usize,
    ) -> Result<Vec<Vec<u8>>, Error> {
        let len = len(self.state.set());
        (0..n).map(|_| self.channel.recv(lane, len)).collect()
    }
}

impl Made<'_> {
    /// Tells the peer that this side's triples are where they stay, and waits until the peer says so. Who gets
    /// `Ok` knows that the peer has all of its shares.
    ///
    /// # Errors
    /// [`Error::Frame`], [`Error::Channel`].
    pub fn settle(self) -> Result<(), Error> {
        self.channel.send(Lane::PROTOCOL, Vec::new())?;
        self.channel.recv(Lane::PROTOCOL, 0).map(drop)
    }
}

/// What a run came to; the peer of one that failed is told.
fn give_up_unless_done<E>(channel: &Channel, done: Result<(), E>) -> Result<Made<'_>, E> {
    // Unless the channel knows of an earlier error, it was the sink's.
    done.inspect_err(|_| drop(channel.give_up(ChannelError::Abandoned)))?;
    Ok(Made { channel })
}

/// How many batches of a stream of n are in the group that begins with that one.
fn part(n: u64, first: Option<u64>, group: u64) -> usize {
    let rest = first.map_or(0, |first| n.saturating_sub(first));
    usize::try_from(rest.min(group)).unwrap_or(usize::MAX)
}

/// The streams, as indices.
const OURS: usize = 0;
const PEERS: usize = 1;

/// Batches that are done but not yet their turn: those of the peer's stream are done earlier than ours.
struct Outputs<S> {
    set: &'static Set,
    sink: S,
    /// The number of the batch that the sink gets next.
    next: u64,
    done: [VecDeque<Shares>; 2],
    spare: Vec<Shares>,
}

impl<S> Outputs<S> {
    fn new(set: &'static Set, next: u64, sink: S) -> Self {
        Self { set, sink, next, done: Default::default(), spare: Vec::new() }
    }

    /// Room for so many batches, used again.
    fn buffers(&mut self, n: usize) -> Vec<Shares> {
        let set = self.set;
        (0..n).map(|_| self.spare.pop().unwrap_or_else(|| Shares::new(set))).collect()
    }

    fn add(&mut self, stream: usize, batches: Vec<Shares>) {
        self.done[stream].extend(batches);
    }

    /// Gives the sink the batches whose turn it is.
    fn give<E>(&mut self, stream_of: impl Fn(u64) -> usize) -> Result<(), E>
    where
        S: FnMut(&Shares) -> Result<(), E>,
    {
        while let Some(shares) = self.done[stream_of(self.next)].pop_front() {
            (self.sink)(&shares)?;
            self.next += 1;
            self.spare.push(shares);
        }
        Ok(())
    }
}

impl fmt::Debug for Plan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Plan({}, batches {:?})", self.set.name(), self.batches)
    }
}

impl fmt::Debug for Party<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Party({}, batches {:?}, <redacted>)", self.state.set().name(), self.batches)
    }
}
