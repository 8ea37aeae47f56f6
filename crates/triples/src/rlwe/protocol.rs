//! The protocol: a key of each party and, with the MSB fix, base OTs; then batch after batch in two streams with the
//! roles swapped, several of them on their way at a time (`docs/wire/rlwe.md`, section 18).
//!
//! [`rlwe`](super) has an example.

use alloc::{collections::VecDeque, vec, vec::Vec};
use core::ops::Range;

use foxtrot_ot::{
    Context, Direction,
    engine::{Abandoned, Io, Limits, Stream, batches::Turns},
};

use super::{Answering, Duplex, Receiving, Requested, Responded, ots::Ots};
use crate::{Error, Shares, check::Check, params::Set};

/// Returns the number of batches between a request and its answer, again until the answer is read, and again until
/// the correction. As many batches of each stream are under way in either direction, and no party waits for a
/// message that has just been sent. Of its own requests a party has up to two depths and a group without an answer.
///
/// No two parties wait in a send for each other: if both are sending, let a be the turn of the one that is behind, g its group. It
/// has sent fewer than a + g requests, and the peer, in turn a or later, has taken all before a − depth. So at most
/// depth + g ≤ 2·depth requests wait. Of responses, which are smaller, it has sent those before
/// a − depth + g, and the peer has taken those before a − 2·depth: as many; and so on with corrections. Who receives,
/// waits for one that is behind.
fn depth(set: &Set) -> u64 {
    Turns::depth(turn_bytes(set))
}

/// Bytes of a turn in each direction.
fn turn_bytes(set: &Set) -> usize {
    set.batch_bytes().iter().sum()
}

/// The stream in which the initiator requests, and the other one.
const STREAMS: [Stream; 2] = [0, 1];

/// The streams of OTs and corrections, in the same order.
const FIX: [Stream; 2] = [2, 3];

/// Terms that both parties have agreed on.
#[derive(Clone)]
pub struct RlwePlan {
    /// The kind of triples.
    pub set: &'static Set,
    /// True if we opened the connection.
    pub we_are_initiator: bool,
    /// The numbers of the batches to be made: a run that is continued does not begin with 0.
    pub batches: Range<u64>,
}

/// A party with its own key and the peer's.
pub struct RlweRun {
    state: Duplex,
    /// OTs of the MSB fix.
    ots: Option<Ots>,
    /// Our stream, in which we request, and the peer's.
    streams: [Stream; 2],
    /// The streams of OTs and corrections, in the same order.
    fix: [Stream; 2],
    batches: Range<u64>,
    turns: Turns,
}

impl RlweRun {
    /// Draws a key, exchanges keys with the peer, and runs base OTs with it if the set takes OTs.
    ///
    /// # Errors
    /// Errors of the steps.
    pub async fn set_up(io: &Io, cx: &mut Context<'_>, plan: RlwePlan) -> Result<Self, Error> {
        let RlwePlan { set, we_are_initiator, batches } = plan;
        io.limit(limits(set));
        let (mut streams, mut fix) = (STREAMS, FIX);
        let mut direction = Direction::InitiatorSends;
        if !we_are_initiator {
            streams.reverse();
            fix.reverse();
            direction = direction.reversed();
        }
        let seed = cx.seed();
        let (join, key) = Duplex::new(cx.session(), set, direction, &seed, batches.start);
        io.on(streams[0]).send(key).await;
        let ots = match set.fix() {
            Some(extension) => {
                let io = fix.map(|stream| io.on(stream));
                Some(Ots::set_up(&io, cx, set, extension, direction).await?)
            }
            None => None,
        };
        let key = io.on(streams[1]).recv(set.public_key_len()).await;
        let state = join(&key)?;
        let turns = Turns::new(turn_bytes(set), cx.session().executor());
        Ok(Self { state, ots, streams, fix, batches, turns })
    }

    /// Makes the batches, however many; their shares go to `sink` in the order of their numbers. One triple of each is
    /// opened to find accidents, and not among them.
    ///
    /// # Errors
    /// Errors of the steps; [`Usage::Abandoned`](foxtrot_ot::Usage::Abandoned); [`Error::WrongTriples`].
    pub async fn run(
        mut self,
        io: &Io,
        sink: impl FnMut(&Shares) -> Result<(), Abandoned>,
    ) -> Result<(), Error> {
        io.limit(limits(self.state.set()));
        let Range { start, end } = self.batches;
        let all = end.saturating_sub(start);
        let ours = if self.state.asks(start) { all.div_ceil(2) } else { all / 2 };
        // Both streams have a batch in a turn, and what the peer has opened a depth of turns before is there.
        let most = 2 * depth(self.state.set());
        let check = Check::new(io.on(check_stream(self.state.set())), most, start, sink);
        let mut outputs = Outputs::new(self.state.set(), start, check);
        let (mut requested, mut answered) = (VecDeque::new(), VecDeque::new());
        // Batch i of our stream is requested in turn i; batch i of the peer's is answered in turn i + depth, the
        // answer to ours is read in turn i + 2·depth, and the correction of the peer's in turn i + 3·depth, if there is any. A
        // turn waits only for what the peer sends in turns before that, whatever its group is.
        let finished = if self.ots.is_some() { 3 } else { 1 };
        while self.turns.goes_on(ours.max(all - ours), finished.max(2)) {
            requested.extend(self.request(io, self.turns.part(ours, 0)).await);
            let n = self.turns.part(all - ours, 1);
            let shares = outputs.buffers(n);
            answered.extend(self.respond(io, shares).await?);
            let n = self.turns.part(ours, 2);
            let batches = requested.drain(..n).collect();
            let ended = self.receive(io, batches, outputs.buffers(n)).await?;
            outputs.add(OURS, ended);
            let n = self.turns.part(all - ours, finished);
            let ended = self.finish(io, answered.drain(..n).collect()).await?;
            outputs.add(PEERS, ended);
            outputs.give(|batch| if self.state.asks(batch) { OURS } else { PEERS }).await?;
            self.turns.advance();
        }
        outputs.check.finish().await
    }

    /// Step 2 of n batches.
    async fn request(&mut self, io: &Io, n: usize) -> Vec<Requested> {
        let mut messages = vec![Vec::new(); n];
        let requested = self.state.p0.request(messages.iter_mut().collect());
        io.on(self.streams[0]).send_all(messages).await;
        requested
    }

    /// Steps 3 and 4 of as many batches of the peer's.
    async fn respond(
        &mut self,
        io: &Io,
        mut outputs: Vec<Shares>,
    ) -> Result<Vec<(Responded, Shares)>, Error> {
        let (n, len) = (outputs.len(), self.state.set().request_len());
        let requests = recv_all(io, self.streams[1], n, len).await;
        let corrections = self.ots.as_mut().map_or(Ok(Vec::new()), |ots| ots.choose(n))?;
        let mut messages = vec![Vec::new(); n];
        let responded = {
            let mut chosen = self.ots.as_ref().map(Ots::chosen);
            let batches = requests.iter().zip(&mut outputs).zip(&mut messages);
            let batches = batches.map(|((request, shares), response)| {
                let ots = chosen.as_mut().and_then(Iterator::next);
                Answering { request, ots, shares, response }
            });
            self.state.p1.respond(batches.collect())?
        };
        io.on(self.fix[1]).send_all(corrections).await;
        io.on(self.streams[1]).send_all(messages).await;
        Ok(responded.into_iter().zip(outputs).collect())
    }

    /// Step 5 of batches.
    async fn receive(
        &mut self,
        io: &Io,
        batches: Vec<Requested>,
        mut outputs: Vec<Shares>,
    ) -> Result<Vec<Shares>, Error> {
        let n = outputs.len();
        let ots = match self.ots.as_ref().map(Ots::corrections_len) {
            Some(len) => recv_all(io, self.fix[0], n, len).await,
            None => Vec::new(),
        };
        let responses = recv_all(io, self.streams[0], n, self.state.set().response_len()).await;
        let mut messages = vec![Vec::new(); n];
        {
            let mut pairs = match &mut self.ots {
                Some(it) => Some(it.take(&ots)?),
                None => None,
            };
            let batches =
                batches.into_iter().zip(&responses).zip(outputs.iter_mut().zip(&mut messages));
            let batches = batches.map(|((requested, response), (shares, correction))| {
                let ots = pairs.as_mut().and_then(Iterator::next);
                Receiving { requested, response, ots, shares, correction }
            });
            self.state.p0.receive(batches.collect())?;
        }
        if self.ots.is_some() {
            io.on(self.fix[0]).send_all(messages).await;
        }
        Ok(outputs)
    }

    /// Step 6 of batches of the peer's.
    async fn finish(
        &mut self,
        io: &Io,
        batches: Vec<(Responded, Shares)>,
    ) -> Result<Vec<Shares>, Error> {
        let (responded, mut outputs): (Vec<_>, Vec<_>) = batches.into_iter().unzip();
        let corrections = match self.ots {
            Some(_) => {
                let len = self.state.set().correction_len();
                recv_all(io, self.fix[1], outputs.len(), len).await
            }
            None => vec![Vec::new(); outputs.len()],
        };
        let batches = responded.into_iter().zip(&corrections).zip(&mut outputs);
        let batches =
            batches.map(|((responded, correction), shares)| (responded, &**correction, shares));
        self.state.p1.finish(batches.collect())?;
        Ok(outputs)
    }
}

/// n messages of that length.
async fn recv_all(io: &Io, stream: Stream, n: usize, len: usize) -> Vec<Vec<u8>> {
    io.on(stream).recv_all(vec![len; n]).await
}

/// The stream of opened triples.
fn check_stream(set: &Set) -> Stream {
    if set.fix().is_some() { 4 } else { 2 }
}

/// The bounds of what is on its way; see [`depth`].
pub(crate) fn limits(set: &Set) -> Limits {
    let messages = usize::try_from(2 * depth(set)).unwrap_or(usize::MAX);
    let once = set.public_key_len().max(set.fix().map_or(0, |ots| ots.setup_len()));
    let len = set.batch_bytes().into_iter().fold(once, usize::max);
    Limits { streams: check_stream(set) + 1, messages, len }
}

/// The streams, as indices.
const OURS: usize = 0;
const PEERS: usize = 1;

/// Batches that are done but not yet their turn: those of one stream are done earlier than those of the other, the peer's
/// without the fix, ours with it.
struct Outputs<S> {
    set: &'static Set,
    check: Check<S>,
    /// The number of the batch that the sink gets next.
    next: u64,
    done: [VecDeque<Shares>; 2],
    spare: Vec<Shares>,
}

impl<S: FnMut(&Shares) -> Result<(), Abandoned>> Outputs<S> {
    fn new(set: &'static Set, next: u64, check: Check<S>) -> Self {
        Self { set, check, next, done: Default::default(), spare: Vec::new() }
    }

    /// Makes room for several batches, used again.
    fn buffers(&mut self, n: usize) -> Vec<Shares> {
        let set = self.set;
        (0..n).map(|_| self.spare.pop().unwrap_or_else(|| Shares::new(set))).collect()
    }

    fn add(&mut self, stream: usize, batches: Vec<Shares>) {
        self.done[stream].extend(batches);
    }

    /// Gives the sink the batches whose turn it is.
    async fn give(&mut self, stream_of: impl Fn(u64) -> usize) -> Result<(), Error> {
        while let Some(shares) = self.done[stream_of(self.next)].pop_front() {
            self.spare.extend(self.check.add(shares).await?);
            self.next += 1;
        }
        Ok(())
    }
}

foxtrot_kernel::redacted! {
    RlwePlan, plan => "{}, batches {:?}", plan.set.name(), plan.batches;
    RlweRun, party => "{}, batches {:?}, <redacted>", party.state.set().name(), party.batches;
}
