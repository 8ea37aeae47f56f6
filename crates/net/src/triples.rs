//! Making multiplication triples over a channel: a key of each party and, with the MSB fix, base OTs; then batch after
//! batch in two streams with the roles swapped, several of them on their way at a time (`docs/wire.md`, section 18).
//!
//! Against peers that follow the protocol: see [`foxtrot_triples::rlwe`].

pub mod gilboa;

mod check;
mod ots;
#[cfg(test)]
mod tests;

use core::{fmt, ops::Range};
use std::collections::VecDeque;

use foxtrot_ot::{Direction, Session, tasks::Executor};
use foxtrot_triples::{
    Shares,
    params::Set,
    rlwe::{Answering, Duplex, Receiving, Requested, Responded},
};

use crate::{Channel, ChannelError, Error, Lane, extend::fresh_seed};
use check::Check;
use ots::Ots;

/// How many batches after a request its answer is made, after that the answer is read, and after that the correction: so
/// many of each stream are on their way in either direction, and no party waits for one that has just been sent. Of its own
/// requests a party has up to two depths and a [`group`] without an answer.
///
/// At least 8, a power of two, and 3.75 MB with all messages of a batch of either stream: at 100 Mbit/s that takes 300 ms, and
/// no part of the link is idle where a message takes less, 100 ms say, to arrive.
///
/// No two parties wait in a send for each other: if both are sending, let a be the turn of the one that is behind, g its group. It
/// has sent fewer than a + g requests, and the peer, in turn a or later, has taken all before a − depth. So at most
/// depth + g ≤ 2·depth requests wait, and find room in the lane's queue. Of responses, which are smaller, it has sent those before
/// a − depth + g, and the peer has taken those before a − 2·depth: as many; and so on with corrections. Who receives,
/// waits for one that is behind.
fn depth(set: &Set) -> u64 {
    depth_for(set.batch_bytes().iter().sum())
}

/// The same for so many bytes in each direction and turn.
fn depth_for(bytes: usize) -> u64 {
    const BYTES: u64 = 3_750_000;
    BYTES.div_ceil(bytes as u64).next_power_of_two().max(MOST_AT_ONCE as u64)
}

/// The most batches that are computed at once.
const MOST_AT_ONCE: usize = 8;

/// Batches that are computed at once: one per thread, and a part of the [`depth`], which may be another one than the peer's.
fn group(executor: &dyn Executor) -> usize {
    1 << executor.threads().clamp(1, MOST_AT_ONCE).ilog2()
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
    /// Those of the MSB fix.
    ots: Option<Ots>,
    /// That of our stream, in which we request, and that of the peer's.
    lanes: [Lane; 2],
    /// The same for OTs and corrections.
    fix_lanes: [Lane; 2],
    /// That of opened triples.
    check_lane: Lane,
    batches: Range<u64>,
    group: usize,
}

impl<'a> Party<'a> {
    /// Draws a key, exchanges keys with the peer, and runs base OTs with it if the set takes OTs.
    ///
    /// # Errors
    /// [`Error::Protocol`], of which the peer is told; [`Error::Frame`], [`Error::Channel`].
    pub fn set_up(channel: &'a Channel, plan: &Plan<'_>) -> Result<Self, Error> {
        let (lanes, fix_lanes) = ([Lane::PROTOCOL, Lane::SECOND], [Lane::THIRD, Lane::FOURTH]);
        let fix = plan.set.fix();
        let check_lane = if fix.is_some() { Lane::FIFTH } else { Lane::THIRD };
        channel.use_lanes(check_lane.index() + 1);
        let (direction, lanes, fix_lanes) = if plan.we_are_initiator {
            (Direction::InitiatorSends, lanes, fix_lanes)
        } else {
            let reversed = |[first, second]: [Lane; 2]| [second, first];
            (Direction::ResponderSends, reversed(lanes), reversed(fix_lanes))
        };
        let (joining, key) = Duplex::new(plan.session, plan.set, direction, &fresh_seed()?);
        channel.send(lanes[0], key)?;
        let set_up = |extension| {
            Ots::set_up(channel, plan.set, extension, plan.session, direction, fix_lanes)
        };
        let ots = fix.map(set_up).transpose()?;
        let key = channel.recv(lanes[1], plan.set.public_key_len())?;
        let state = joining.finish(&key).map_err(|e| channel.give_up(e))?;
        let state = state.starting_at(plan.batches.start).map_err(|e| channel.give_up(e))?;
        let batches = plan.batches.clone();
        Ok(Self { channel, state, ots, lanes, fix_lanes, check_lane, batches, group: 1 })
    }

    /// The same, on several threads: one of the four computes at a time.
    #[must_use]
    pub fn with_executors(self, executors: [Box<dyn Executor>; 4]) -> Self {
        let group = executors.iter().map(|it| group(&**it)).min().unwrap_or(1);
        let [first, second, third, fourth] = executors;
        let ots = self.ots.map(|it| it.with_executors([third, fourth]));
        Self { state: self.state.with_executors([first, second]), ots, group, ..self }
    }

    /// Makes the batches, however many; their shares go to `sink` in the order of their numbers. One triple of each is
    /// opened to find accidents, and not among them.
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
        let Range { start, end } = self.batches;
        let all = end.saturating_sub(start);
        let ours = if self.state.asks(start) { all.div_ceil(2) } else { all / 2 };
        let depth = depth(self.state.set());
        // Both streams have a batch in a turn, and what the peer has opened a depth of turns before is there.
        let sink = Check::new(self.channel, self.check_lane, 2 * depth, start, sink);
        let mut outputs = Outputs::new(self.state.set(), start, sink);
        let (mut requested, mut answered) = (VecDeque::new(), VecDeque::new());
        let group = self.group as u64;
        // Batch i of our stream is requested in turn i; batch i of the peer's is answered in turn i + depth, the
        // answer to ours is read in turn i + 2·depth, and the correction of the peer's in turn i + 3·depth, if there is any. A
        // turn waits only for what the peer sends in turns before that, whatever its group is.
        let finished = if self.ots.is_some() { 3 * depth } else { depth };
        let steps = ours.max(all - ours).saturating_add(finished.max(2 * depth));
        let mut turn = 0;
        while turn < steps {
            requested.extend(self.request(part(ours, Some(turn), group))?);
            let n = part(all - ours, turn.checked_sub(depth), group);
            let shares = outputs.buffers(n);
            answered.extend(self.respond(shares)?);
            let n = part(ours, turn.checked_sub(2 * depth), group);
            let batches = requested.drain(..n).collect();
            let ended = self.receive(batches, outputs.buffers(n))?;
            outputs.add(OURS, ended);
            let n = part(all - ours, turn.checked_sub(finished), group);
            let ended = self.finish(answered.drain(..n).collect())?;
            outputs.add(PEERS, ended);
            outputs.give(|batch| if self.state.asks(batch) { OURS } else { PEERS })?;
            turn += group;
        }
        outputs.sink.finish()
    }

    fn request(&mut self, n: usize) -> Result<Vec<Requested>, Error> {
        let mut messages = vec![Vec::new(); n];
        let requested = self.state.request_all(messages.iter_mut().collect());
        self.send_all(self.lanes[0], messages)?;
        Ok(requested)
    }

    fn respond(&mut self, mut outputs: Vec<Shares>) -> Result<Vec<(Responded, Shares)>, Error> {
        let n = outputs.len();
        let requests = self.recv_all(self.lanes[1], n, self.state.set().request_len())?;
        let corrections = self.ots.as_mut().map_or(Ok(Vec::new()), |ots| ots.choose(n));
        let corrections = corrections.map_err(|e| self.channel.give_up(e))?;
        let mut chosen = self.ots.as_ref().map(Ots::chosen);
        let mut messages = vec![Vec::new(); n];
        let batches = requests.iter().zip(&mut outputs).zip(&mut messages);
        let batches = batches.map(|((request, shares), response)| {
            let ots = chosen.as_mut().and_then(Iterator::next);
            Answering { request, ots, shares, response }
        });
        let responded = self.state.respond_all(batches.collect());
        let responded = responded.map_err(|e| self.channel.give_up(e))?;
        self.send_all(self.fix_lanes[1], corrections)?;
        self.send_all(self.lanes[1], messages)?;
        Ok(responded.into_iter().zip(outputs).collect())
    }

    fn receive(
        &mut self,
        batches: Vec<Requested>,
        mut outputs: Vec<Shares>,
    ) -> Result<Vec<Shares>, Error> {
        let n = outputs.len();
        let ots = match self.ots.as_ref().map(Ots::corrections_len) {
            Some(len) => self.recv_all(self.fix_lanes[0], n, len)?,
            None => Vec::new(),
        };
        let responses = self.recv_all(self.lanes[0], n, self.state.set().response_len())?;
        let mut pairs = match &mut self.ots {
            Some(it) => Some(it.take(&ots).map_err(|e| self.channel.give_up(e))?),
            None => None,
        };
        let mut messages = vec![Vec::new(); n];
        let batches =
            batches.into_iter().zip(&responses).zip(outputs.iter_mut().zip(&mut messages));
        let batches = batches.map(|((requested, response), (shares, correction))| {
            let ots = pairs.as_mut().and_then(Iterator::next);
            Receiving { requested, response, ots, shares, correction }
        });
        self.state.receive_all(batches.collect()).map_err(|e| self.channel.give_up(e))?;
        drop(pairs);
        if self.ots.is_some() {
            self.send_all(self.fix_lanes[0], messages)?;
        }
        Ok(outputs)
    }

    fn finish(&mut self, batches: Vec<(Responded, Shares)>) -> Result<Vec<Shares>, Error> {
        let (responded, mut outputs): (Vec<_>, Vec<_>) = batches.into_iter().unzip();
        let corrections = match self.ots {
            Some(_) => {
                let len = self.state.set().correction_len();
                self.recv_all(self.fix_lanes[1], outputs.len(), len)?
            }
            None => vec![Vec::new(); outputs.len()],
        };
        let batches = responded.into_iter().zip(&corrections).zip(&mut outputs);
        let batches =
            batches.map(|((responded, correction), shares)| (responded, &**correction, shares));
        self.state.finish_all(batches.collect()).map_err(|e| self.channel.give_up(e))?;
        Ok(outputs)
    }

    fn send_all(&self, lane: Lane, messages: Vec<Vec<u8>>) -> Result<(), Error> {
        messages.into_iter().try_for_each(|message| self.channel.send(lane, message))
    }

    fn recv_all(&self, lane: Lane, n: usize, len: usize) -> Result<Vec<Vec<u8>>, Error> {
        (0..n).map(|_| self.channel.recv(lane, len)).collect()
    }
}

/// What a run came to; the peer of one that failed is told.
fn give_up_unless_done<E>(channel: &Channel, done: Result<(), E>) -> Result<(), E> {
    // Unless the channel knows of an earlier error, it was the sink's.
    done.inspect_err(|_| drop(channel.give_up(ChannelError::Abandoned)))
}

/// How many batches of a stream of n are in the group that begins with that one.
fn part(n: u64, first: Option<u64>, group: u64) -> usize {
    let rest = first.map_or(0, |first| n.saturating_sub(first));
    usize::try_from(rest.min(group)).unwrap_or(usize::MAX)
}

/// The streams, as indices.
const OURS: usize = 0;
const PEERS: usize = 1;

/// Batches that are done but not yet their turn: those of one stream are done earlier than those of the other, the peer's
/// without the fix, ours with it.
struct Outputs<'a, S> {
    set: &'static Set,
    sink: Check<'a, S>,
    /// The number of the batch that the sink gets next.
    next: u64,
    done: [VecDeque<Shares>; 2],
    spare: Vec<Shares>,
}

impl<'a, S> Outputs<'a, S> {
    fn new(set: &'static Set, next: u64, sink: Check<'a, S>) -> Self {
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
    fn give<E: From<Error>>(&mut self, stream_of: impl Fn(u64) -> usize) -> Result<(), E>
    where
        S: FnMut(&Shares) -> Result<(), E>,
    {
        while let Some(shares) = self.done[stream_of(self.next)].pop_front() {
            self.spare.extend(self.sink.add(shares)?);
            self.next += 1;
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
