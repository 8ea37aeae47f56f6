//! Sessions without faults: their results, and their bytes on the wire.

use core::ops::Range;

use crate::{
    session::{BATCHES, Ended, Job, LONG, Pairs, Received, run},
    stream::{Plan, Way},
};

/// A run without faults.
pub(crate) struct Honest {
    pub(crate) job: Job,
    pub(crate) pairs: Pairs,
    pub(crate) received: Received,
    pub(crate) logs: [Vec<u8>; 2],
    answered: [usize; 2],
}

/// A frame of a run without faults.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) way: Way,
    /// Its place among the frames of its way; 0 is the hello, 1 the details.
    pub(crate) index: usize,
    pub(crate) last: bool,
    /// Place of the frame with its header.
    pub(crate) bytes: Range<usize>,
}

impl Frame {
    pub(crate) const HEADER: usize = 5;

    /// The number of frames each way before the protocol's.
    pub(crate) const HELLOS: usize = 2;

    pub(crate) fn is_hello(&self) -> bool {
        self.index < Self::HELLOS
    }
}

/// The frames in what was written that way.
pub(crate) fn frames_of(way: Way, log: &[u8]) -> Vec<Frame> {
    let (mut frames, mut start) = (Vec::new(), 0);
    while start < log.len() {
        let length = log[start..].first_chunk().copied().map_or(0, u32::from_le_bytes);
        let end = start + Frame::HEADER + usize::try_from(length).unwrap();
        let (index, last) = (frames.len(), end == log.len());
        frames.push(Frame { way, index, last, bytes: start..end });
        start = end;
    }
    frames
}

impl Honest {
    pub(crate) fn of(job: Job) -> Self {
        let Ended { sender, receiver, logs, answered } = run(job, &Plan::default(), LONG);
        Self { job, pairs: sender.unwrap(), received: receiver.unwrap(), logs, answered }
    }

    /// Bytes of one way.
    pub(crate) fn total(&self, way: Way) -> usize {
        self.logs[way as usize].len()
    }

    /// Returns true if the side that writes this way awaits nothing any more when it writes byte k.
    pub(crate) fn is_last_word(&self, way: Way, k: usize) -> bool {
        k >= self.answered[way as usize]
    }

    pub(crate) fn frames(&self, way: Way) -> Vec<Frame> {
        frames_of(way, &self.logs[way as usize])
    }

    /// The frames of both ways.
    pub(crate) fn all_frames(&self) -> impl Iterator<Item = Frame> {
        Way::BOTH.into_iter().flat_map(|way| self.frames(way))
    }

    /// Returns true if the frame carries sealed messages.
    pub(crate) fn is_sealed(&self, frame: &Frame) -> bool {
        let all = self.frames(frame.way).len();
        self.job.messages && frame.way == Way::ToReceiver && frame.index >= all - BATCHES
    }
}
