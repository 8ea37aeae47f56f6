//! Properties of every protocol between two engines when its messages are lost, late, cut or changed.
//!
//! A test of a crate includes this file and gives it each of the crate's protocols as a [`Case`].

use std::{collections::VecDeque, fmt::Debug};

use super::narrow;
use foxtrot_ot::{
    Usage,
    engine::{Engine, Progress, Stream},
    pair::{Failed, Pair, PairParty},
};

/// The run of one party: its output as bytes.
pub(crate) type Run<E> = Engine<'static, Vec<u8>, E>;

/// Says whether these outputs of sender and receiver will do.
pub(crate) type Judge = dyn Fn(&[u8], &[u8]) -> bool;

/// A protocol with fixed inputs and seeds.
pub(crate) struct Case<E> {
    pub(crate) name: &'static str,
    /// True if a peer that changes messages is found out.
    pub(crate) checked: bool,
    /// Both parties at their beginning.
    pub(crate) parties: Box<dyn Fn() -> (Run<E>, Run<E>)>,
    /// Returns true if these outputs of sender and receiver are right.
    pub(crate) right: Box<Judge>,
    /// Returns true if a party may accept these outputs after a message has changed.
    pub(crate) harmless: Box<Judge>,
    /// Returns true if the error says that a message has a wrong length.
    pub(crate) is_length: fn(&E) -> bool,
}

/// A message on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Message {
    from: PairParty,
    stream: Stream,
    bytes: Vec<u8>,
}

type Outputs = (Vec<u8>, Vec<u8>);

impl<E: Debug + PartialEq + From<Usage>> Case<E> {
    /// Checks everything below. Of many messages it loses and changes about so many.
    pub(crate) fn check(&self, most: usize) {
        let (outputs, messages) = self.transcript();
        assert!((self.right)(&outputs.0, &outputs.1), "{}: wrong outputs", self.name);
        assert!(self.transcript() == (outputs.clone(), messages.clone()), "{}: differs", self.name);
        self.reordered(&outputs, &messages);
        self.early(&outputs);
        self.narrow(&outputs);
        for i in sample(messages.len(), most) {
            self.lost(i);
            self.cut(i, messages[i].from);
            self.changed(i, messages[i].bytes.len());
        }
    }

    fn pair(&self) -> Pair<'static, Vec<u8>, Vec<u8>, E> {
        let (sender, receiver) = (self.parties)();
        Pair::new(sender, receiver)
    }

    /// A run without faults: outputs, and messages in their order.
    fn transcript(&self) -> (Outputs, Vec<Message>) {
        let mut messages = Vec::new();
        let outputs = self.pair().run_over(|from, stream, bytes| {
            messages.push(Message { from, stream, bytes: bytes.clone() });
            vec![(stream, bytes)]
        });
        (outputs.unwrap(), messages)
    }

    /// A run in which message i becomes something else, or nothing.
    fn with(
        &self,
        i: usize,
        change: impl Fn(Vec<u8>) -> Option<Vec<u8>>,
    ) -> Result<Outputs, Failed<E>> {
        let mut number = 0..;
        self.pair().run_over(|_, stream, bytes| {
            let bytes = if number.next() == Some(i) { change(bytes) } else { Some(bytes) };
            bytes.map(|bytes| (stream, bytes)).into_iter().collect()
        })
    }

    /// No two parties are done without one of the messages.
    fn lost(&self, i: usize) {
        let ended = self.with(i, |_| None);
        assert!(ended.is_err(), "{}: done without message {i}", self.name);
    }

    /// A message that is one byte shorter ends its reader.
    fn cut(&self, i: usize, from: PairParty) {
        let ended = self.with(i, |mut bytes| bytes.pop().map(|_| bytes));
        let told = match &ended {
            Err(Failed::Party(party, error)) => *party != from && (self.is_length)(error),
            _ => false,
        };
        assert!(told, "{}: message {i} cut: {ended:?}", self.name);
    }

    /// A message with another bit in it leads to an error, or does no harm.
    fn changed(&self, i: usize, len: usize) {
        for (byte, bit) in [(0, 0), (len / 3, 5), (len - 1, 0)] {
            let ended = self.with(i, |mut bytes| {
                bytes[byte] ^= 1 << bit;
                Some(bytes)
            });
            if let (true, Ok((sender, receiver))) = (self.checked, ended) {
                let harmless = (self.harmless)(&sender, &receiver);
                assert!(harmless, "{}: message {i}, byte {byte}: accepted", self.name);
            }
        }
    }

    /// A party's messages on a stream may be as late as the protocol allows, if they keep their order.
    fn reordered(&self, outputs: &Outputs, messages: &[Message]) {
        let mut flows: Vec<_> = messages.iter().map(|it| (it.from, it.stream)).collect();
        flows.sort_by_key(|(from, stream)| (*stream, *from == PairParty::Sender));
        flows.dedup();
        for flow in flows {
            let mut pair = self.pair();
            let mut held = VecDeque::new();
            loop {
                match pair.step().unwrap() {
                    Some(event) => {
                        let (from, stream) = (event.party, event.stream);
                        match event.message {
                            Some(message) if (from, stream) == flow => held.push_back(message),
                            Some(message) => pair.deliver(from, stream, message),
                            None => {}
                        }
                    }
                    None => match held.pop_front() {
                        Some(message) => pair.deliver(flow.0, flow.1, message),
                        None => break,
                    },
                }
            }
            // Nothing is left to do but to take the outputs.
            let late = pair.run_over(|_, stream, message| vec![(stream, message)]);
            assert!(late.as_ref() == Ok(outputs), "{}: {flow:?} late", self.name);
        }
    }

    /// Messages may be there before a party waits for them: each party goes on as long as it can.
    fn early(&self, outputs: &Outputs) {
        let (mut sender, mut receiver) = (self.parties)();
        let (mut ours, mut theirs) = (None, None);
        while ours.is_none() || theirs.is_none() {
            let moved = go_on(&mut sender, &mut receiver, &mut ours)
                + go_on(&mut receiver, &mut sender, &mut theirs);
            assert_ne!(moved, 0, "{}: both wait", self.name);
        }
        assert!(ours.zip(theirs).as_ref() == Some(outputs), "{}: early messages", self.name);
    }

    /// A connection needs room for one message each way, and for what a party's limits say.
    fn narrow(&self, outputs: &Outputs) {
        let (sender, receiver) = (self.parties)();
        assert!(narrow::run(sender, receiver) == *outputs, "{}: narrow connection", self.name);
    }
}

/// Runs the party until it waits, with all its messages delivered at once. Returns how many, and 1 for its output.
fn go_on<E: Debug + From<Usage>>(
    party: &mut Run<E>,
    peer: &mut Run<E>,
    output: &mut Option<Vec<u8>>,
) -> usize {
    let mut moved = 0;
    while output.is_none() {
        let progress = party.advance().unwrap();
        while let Some((stream, message)) = party.outgoing() {
            peer.deliver(stream, message);
            moved += 1;
        }
        match progress {
            Progress::Sending => {}
            Progress::Waiting { .. } => break,
            Progress::Done(out) => {
                *output = Some(out);
                moved += 1;
            }
        }
    }
    moved
}

/// About `most` numbers below n, the last one included.
fn sample(n: usize, most: usize) -> impl Iterator<Item = usize> {
    (0..n).rev().step_by(n.div_ceil(most).max(1))
}
