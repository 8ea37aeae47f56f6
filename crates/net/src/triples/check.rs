//! One triple of each batch is opened to find accidents: memory or a connection that has changed bits. It is no check of
//! a peer that cheats, which knows which triple that is.

use std::collections::VecDeque;

use foxtrot_triples::{Shares, formats::wrong_records};

use crate::{Channel, Error, FrameError, Lane};

/// Batches that are done here, whose opened triples the peer has not sent yet. They go to the sink when that is right.
pub(super) struct Check<'a, S> {
    channel: &'a Channel,
    lane: Lane,
    /// So many batches may wait: those of which the peer may not have heard yet.
    most: usize,
    waiting: VecDeque<(Vec<u8>, Shares)>,
    /// The number of the batch that waits longest.
    next: u64,
    sink: S,
}

impl<'a, S> Check<'a, S> {
    /// From that batch on.
    pub(super) fn new(channel: &'a Channel, lane: Lane, most: u64, next: u64, sink: S) -> Self {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Self { channel, lane, most, waiting: VecDeque::new(), next, sink }
    }

    /// Opens a triple of the next batch. Returns the buffer of a batch that the sink has had.
    pub(super) fn add<E: From<Error>>(&mut self, mut shares: Shares) -> Result<Option<Shares>, E>
    where
        S: FnMut(&Shares) -> Result<(), E>,
    {
        let opened = shares.open_last().unwrap_or_default();
        self.channel.send(self.lane, opened.clone())?;
        self.waiting.push_back((opened, shares));
        if self.waiting.len() > self.most { self.take() } else { Ok(None) }
    }

    /// The batches that wait.
    pub(super) fn finish<E: From<Error>>(mut self) -> Result<(), E>
    where
        S: FnMut(&Shares) -> Result<(), E>,
    {
        while self.take()?.is_some() {}
        Ok(())
    }

    fn take<E: From<Error>>(&mut self) -> Result<Option<Shares>, E>
    where
        S: FnMut(&Shares) -> Result<(), E>,
    {
        let Some((ours, mut shares)) = self.waiting.pop_front() else { return Ok(None) };
        let theirs = self.channel.recv(self.lane, ours.len())?;
        let bits = 8 * u32::try_from(shares.width()).unwrap_or_default();
        if wrong_records(bits, &ours, &theirs).next().is_some() {
            let wrong = FrameError::WrongTriples { batch: self.next };
            return Err(self.channel.give_up(wrong).into());
        }
        (self.sink)(&shares)?;
        self.next += 1;
        shares.restore();
        Ok(Some(shares))
    }
}
