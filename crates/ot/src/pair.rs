//! Both parties of a base OT in memory, in one thread, step by step: for tests, benchmarks and
//! transcripts.

use alloc::{collections::VecDeque, vec::Vec};
use core::fmt;

use crate::{
    Error,
    base::{ReceiverKeys, SenderKeys},
    engine::{Engine, Progress},
};

/// One of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    /// Gets both keys.
    Sender,
    /// Gets one key.
    Receiver,
}

/// Both parties and the messages on their way.
pub struct Pair {
    sender: Side<SenderKeys>,
    receiver: Side<ReceiverKeys>,
}

struct Side<Out> {
    engine: Engine<'static, Out>,
    /// What the engine said last; `None` before it has begun.
    progress: Option<Progress<Out>>,
    /// With the flow that each message belongs to.
    inbox: VecDeque<(usize, Vec<u8>)>,
    /// The flow of the last message read or sent.
    flow: usize,
    /// The flow of the last message delivered.
    delivered: usize,
}

/// What an event of the run was.
#[derive(Debug)]
pub struct Event {
    /// Who computed.
    pub party: Party,
    /// The message that it sent, if any.
    pub message: Option<Vec<u8>>,
}

impl Pair {
    /// A sender and a receiver that have not spoken yet.
    #[must_use]
    pub fn new(
        sender: Engine<'static, SenderKeys>,
        receiver: Engine<'static, ReceiverKeys>,
    ) -> Self {
        Self { sender: Side::new(sender), receiver: Side::new(receiver) }
    }

    /// Lets the party compute that has what it needs; says what it sent, but does not deliver
    /// it: that is [`Pair::deliver`]. `None` when neither can go on.
    ///
    /// # Errors
    /// The party's error, and whose it is.
    pub fn step(&mut self) -> Result<Option<Event>, (Party, Error)> {
        for party in [Party::Sender, Party::Receiver] {
            let taken = match party {
                Party::Sender => self.sender.step(),
                Party::Receiver => self.receiver.step(),
            };
            if let Some(message) = taken.map_err(|e| (party, e))? {
                return Ok(Some(Event { party, message }));
            }
        }
        Ok(None)
    }

    /// Puts a message of `from` into the other's inbox.
    pub fn deliver(&mut self, from: Party, message: Vec<u8>) {
        match from {
            Party::Sender => self.receiver.receive(self.sender.next_flow(), message),
            Party::Receiver => self.sender.receive(self.receiver.next_flow(), message),
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
    pub fn run(self) -> Result<(SenderKeys, ReceiverKeys), (Party, Error)> {
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
        mut self,
        mut channel: impl FnMut(Party, Vec<u8>) -> Vec<u8>,
    ) -> Result<(SenderKeys, ReceiverKeys), (Party, Error)> {
        while let Some(Event { party, message }) = self.step()? {
            if let Some(message) = message {
                self.deliver(party, channel(party, message));
            }
        }
        match (self.sender.progress, self.receiver.progress) {
            (Some(Progress::Done(sender)), Some(Progress::Done(receiver))) => {
                Ok((sender, receiver))
            }
            _ => panic!("both parties wait"),
        }
    }
}

impl<Out> Side<Out> {
    fn new(engine: Engine<'static, Out>) -> Self {
        Self { engine, progress: None, inbox: VecDeque::new(), flow: 0, delivered: 0 }
    }

    fn next_flow(&mut self) -> usize {
        self.flow += 1;
        self.flow
    }

    fn receive(&mut self, flow: usize, message: Vec<u8>) {
        self.inbox.push_back((flow, message));
        self.delivered = flow;
    }

    /// `None` if the party cannot go on, else the message that it sends, if any.
    fn step(&mut self) -> Result<Option<Option<Vec<u8>>>, Error> {
        if let Some((_, message)) = self.engine.outgoing() {
            return Ok(Some(Some(message)));
        }
        match self.progress {
            None => {}
            Some(Progress::Waiting { stream, .. }) => {
                let Some((flow, message)) = self.inbox.pop_front() else { return Ok(None) };
                self.flow = flow;
                self.engine.deliver(stream, message);
            }
            Some(Progress::Done(_)) => return Ok(None),
        }
        self.progress = Some(self.engine.advance()?);
        Ok(Some(self.engine.outgoing().map(|(_, message)| message)))
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

impl fmt::Debug for Pair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Pair")
    }
}
