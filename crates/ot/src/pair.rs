//! Both parties of a protocol in memory, in one thread, step by step and always in the same order: for tests, benchmarks
//! and transcripts.

use alloc::{collections::VecDeque, vec, vec::Vec};

use crate::{
    Error, Usage,
    base::{ReceiverKeys, SenderKeys},
    engine::{Engine, Progress, Stream},
};

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PairParty {
    /// Gets both keys.
    Sender,
    /// Gets one key.
    Receiver,
}

/// Both parties and the messages on their way.
pub struct Pair<'a, S = SenderKeys, R = ReceiverKeys, E = Error> {
    sender: Side<'a, S, E>,
    receiver: Side<'a, R, E>,
}

struct Side<'a, Out, E> {
    engine: Engine<'a, Out, E>,
    /// The engine's last progress; `None` before it has begun.
    progress: Option<Progress<Out>>,
    /// Messages under way, with the flow that each belongs to.
    inbox: VecDeque<(usize, Stream, Vec<u8>)>,
    flow: usize,
    /// The flow of the last message delivered.
    delivered: usize,
}

/// The message of a step, with its stream, if there is one.
type Said = Option<(Stream, Vec<u8>)>;

/// An event of the run.
#[derive(Debug)]
pub struct Event {
    /// The party that computed.
    pub party: PairParty,
    /// The stream of its message.
    pub stream: Stream,
    /// The message that it sent, if any.
    pub message: Option<Vec<u8>>,
}

/// The reason why a run between two parties had no output.
#[derive(Debug, PartialEq, Eq)]
pub enum Failed<E> {
    /// A party ended with an error.
    Party(PairParty, E),
    /// Both parties wait: messages were lost, or the protocol is wrong.
    Stalled,
}

impl<'a, S, R, E: From<Usage>> Pair<'a, S, R, E> {
    /// A sender and a receiver that have not spoken yet.
    #[must_use]
    pub fn new(sender: Engine<'a, S, E>, receiver: Engine<'a, R, E>) -> Self {
        Self { sender: Side::new(sender), receiver: Side::new(receiver) }
    }

    /// Lets the party compute that has what it needs; says what it sent, but does not deliver
    /// it: that is [`Pair::deliver`]. `None` when neither can go on.
    ///
    /// # Errors
    /// The party's error, and whose it is.
    pub fn step(&mut self) -> Result<Option<Event>, (PairParty, E)> {
        for party in [PairParty::Sender, PairParty::Receiver] {
            let taken = match party {
                PairParty::Sender => self.sender.step(),
                PairParty::Receiver => self.receiver.step(),
            };
            if let Some(sent) = taken.map_err(|e| (party, e))? {
                let (stream, message) = sent.unzip();
                return Ok(Some(Event { party, stream: stream.unwrap_or(0), message }));
            }
        }
        Ok(None)
    }

    /// Puts a message of `from` into the other's inbox.
    pub fn deliver(&mut self, from: PairParty, stream: Stream, message: Vec<u8>) {
        match from {
            PairParty::Sender => self.receiver.receive(self.sender.next_flow(), stream, message),
            PairParty::Receiver => self.sender.receive(self.receiver.next_flow(), stream, message),
        }
    }

    /// Flows so far: messages one after another. Two that cross are one.
    #[must_use]
    pub fn flows(&self) -> usize {
        self.sender.delivered.max(self.receiver.delivered)
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// The error of the party that fails, and whose it is.
    pub fn run(self) -> Result<(S, R), (PairParty, E)> {
        self.run_through(|_, message| message)
    }

    /// Runs to the end over a channel that may change messages.
    ///
    /// # Errors
    /// The error of the party that fails, and whose it is.
    ///
    /// # Panics
    /// If both parties wait for each other, which no protocol here does.
    #[expect(clippy::panic_in_result_fn, reason = "a protocol of this crate would be wrong")]
    pub fn run_through(
        self,
        mut channel: impl FnMut(PairParty, Vec<u8>) -> Vec<u8>,
    ) -> Result<(S, R), (PairParty, E)> {
        match self.run_over(|party, stream, message| vec![(stream, channel(party, message))]) {
            Ok(outputs) => Ok(outputs),
            Err(Failed::Party(party, e)) => Err((party, e)),
            Err(Failed::Stalled) => panic!("both parties wait"),
        }
    }

    /// Runs to the end over a channel that makes any messages of a message: it may change them, lose them, hold them back
    /// and let others pass.
    ///
    /// # Errors
    /// [`Failed`].
    pub fn run_over(
        mut self,
        mut channel: impl FnMut(PairParty, Stream, Vec<u8>) -> Vec<(Stream, Vec<u8>)>,
    ) -> Result<(S, R), Failed<E>> {
        while let Some(event) = self.step().map_err(|(party, e)| Failed::Party(party, e))? {
            let Event { party, stream, message: Some(message) } = event else { continue };
            for (stream, message) in channel(party, stream, message) {
                self.deliver(party, stream, message);
            }
        }
        match (self.sender.progress, self.receiver.progress) {
            (Some(Progress::Done(sender)), Some(Progress::Done(receiver))) => {
                Ok((sender, receiver))
            }
            _ => Err(Failed::Stalled),
        }
    }
}

impl<'a, Out, E: From<Usage>> Side<'a, Out, E> {
    fn new(engine: Engine<'a, Out, E>) -> Self {
        Self { engine, progress: None, inbox: VecDeque::new(), flow: 0, delivered: 0 }
    }

    fn next_flow(&mut self) -> usize {
        self.flow += 1;
        self.flow
    }

    fn receive(&mut self, flow: usize, stream: Stream, message: Vec<u8>) {
        self.inbox.push_back((flow, stream, message));
        self.delivered = flow;
    }

    /// `None` if the party cannot go on, else what it sends.
    fn step(&mut self) -> Result<Option<Said>, E> {
        if let Some(message) = self.engine.outgoing() {
            return Ok(Some(Some(message)));
        }
        match self.progress {
            None | Some(Progress::Sending) => {}
            Some(Progress::Waiting { .. }) => {
                let awaited = self.engine.awaited();
                let awaits = |stream: Stream| awaited.iter().any(|(of, _)| *of == stream);
                let next = self.inbox.iter().position(|(_, stream, _)| awaits(*stream));
                let Some((flow, stream, message)) = next.and_then(|at| self.inbox.remove(at))
                else {
                    return Ok(None);
                };
                self.flow = flow;
                self.engine.deliver(stream, message);
            }
            Some(Progress::Done(_)) => return Ok(None),
        }
        self.progress = Some(self.engine.advance()?);
        Ok(Some(self.engine.outgoing()))
    }
}

/// Asserts the correlation law of random OT: the receiver has the key of its choice, and no key
/// occurs twice.
///
/// # Panics
/// If it does not hold.
pub fn assert_rot(sender: &SenderKeys, receiver: &ReceiverKeys) {
    assert_eq!(sender.pairs().len(), receiver.keys().len());
    for (i, (pair, key)) in sender.pairs().iter().zip(receiver.keys()).enumerate() {
        let choice = usize::from(receiver.choices().get(i).unwrap_u8());
        assert_eq!(&pair[choice], key, "instance {i}: not the chosen key");
    }
    let mut keys = sender.pairs().as_flattened().to_vec();
    keys.sort_unstable();
    assert!(keys.windows(2).all(|two| two[0] != two[1]), "a key occurs twice");
}

foxtrot_kernel::redacted! {
    [S, R, E] Pair<'_, S, R, E>;
}
