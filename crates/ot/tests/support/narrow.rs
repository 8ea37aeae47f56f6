//! Two engines over a connection that holds back as little as a driver may.

use std::fmt::Debug;

use foxtrot_ot::{
    Usage,
    engine::{Engine, Limits, Progress, Stream},
};

/// A party, and the messages that have come to it.
struct End<'a, Out, E> {
    engine: Engine<'a, Out, E>,
    /// The connection carries one message at a time.
    wire: Option<(Stream, Vec<u8>)>,
    /// Messages that the driver has read and the party does not wait for: no more than its limits say.
    held: Vec<(Stream, Vec<u8>)>,
    output: Option<Out>,
}

impl<'a, Out, E: Debug + From<Usage>> End<'a, Out, E> {
    fn new(engine: Engine<'a, Out, E>) -> Self {
        Self { engine, wire: None, held: Vec::new(), output: None }
    }

    /// Reads, computes and writes, each at most once. Says whether anything has changed.
    fn step<Other>(&mut self, peer: &mut End<'_, Other, E>) -> bool {
        let read = self.read() | self.compute();
        if peer.wire.is_some() {
            return read;
        }
        peer.wire = self.engine.outgoing();
        read || peer.wire.is_some()
    }

    fn read(&mut self) -> bool {
        let limits = self.engine.limits();
        let read = self.wire.take_if(|(stream, message)| {
            let held = self.held.iter().filter(|(of, _)| of == stream).count();
            assert!(limits == Limits::default() || *stream < limits.streams, "stream {stream}");
            assert!(held == 0 || message.len() <= limits.len, "{} bytes", message.len());
            held < limits.messages.max(1)
        });
        let has_read = read.is_some();
        self.held.extend(read);
        has_read
    }

    fn compute(&mut self) -> bool {
        if self.output.is_some() {
            return false;
        }
        match self.engine.advance().unwrap() {
            Progress::Sending => return false,
            Progress::Done(output) => self.output = Some(output),
            Progress::Waiting { .. } => {
                let awaited = self.engine.awaited();
                let is_awaited = |stream| awaited.iter().any(|(of, _)| *of == stream);
                let next = self.held.iter().position(|(stream, _)| is_awaited(*stream));
                let Some(next) = next else { return false };
                let (stream, message) = self.held.remove(next);
                self.engine.deliver(stream, message);
            }
        }
        true
    }
}

/// The outputs of both parties.
pub(crate) fn run<S, R, E: Debug + From<Usage>>(
    sender: Engine<'_, S, E>,
    receiver: Engine<'_, R, E>,
) -> (S, R) {
    let (mut ours, mut theirs) = (End::new(sender), End::new(receiver));
    while ours.step(&mut theirs) | theirs.step(&mut ours) {}
    let outputs = ours.output.zip(theirs.output);
    outputs.expect("both parties wait: for each other, or for room to send")
}
