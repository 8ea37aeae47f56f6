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

#[cfg(test)]
mod tests {
    use core::time::Duration;
    use std::thread;

    use foxtrot_triples::gilboa;

    use super::*;
    use crate::memory;

    /// Batches of shares that are all zero, and so right.
    fn batches() -> impl Iterator<Item = Shares> {
        let set = gilboa::of_bits(16, gilboa::DEFAULT_K).unwrap();
        (2..7).map(|n| set.shares(n))
    }

    #[test]
    fn batches_without_the_opened_triple_come_in_order() {
        let (here, there) = memory::pair(Duration::from_secs(20));
        let run = |channel: Channel| {
            let mut sizes = Vec::new();
            let sink = |shares: &Shares| {
                sizes.push(shares.len());
                Ok::<_, Error>(())
            };
            let mut check = Check::new(&channel, Lane::THIRD, 2, 0, sink);
            let spare = batches().filter_map(|shares| check.add(shares).unwrap()).count();
            check.finish().unwrap();
            (sizes, spare)
        };
        let other = thread::spawn(move || run(there));
        assert_eq!(run(here), (vec![1, 2, 3, 4, 5], 3));
        assert_eq!(other.join().unwrap().0, [1, 2, 3, 4, 5]);
    }

    #[test]
    fn a_wrong_triple_keeps_its_batch_from_both_sides() {
        let (here, there) = memory::pair(Duration::from_secs(20));
        let peer = thread::spawn(move || {
            // The peer's shares are (0, 0, 0), but in the second batch (0, 0, 1).
            for k in 0..3 {
                there.send(Lane::THIRD, vec![0, 0, 0, 0, k % 2, 0]).unwrap();
            }
            (0..3).map(|_| there.recv(Lane::THIRD, 6)).all(|opened| opened.is_ok())
        });
        let mut given = 0;
        let sink = |_: &Shares| {
            given += 1;
            Ok::<_, Error>(())
        };
        let mut check = Check::new(&here, Lane::THIRD, 5, 7, sink);
        for shares in batches().take(3) {
            assert!(check.add(shares).unwrap().is_none());
        }
        let error = check.finish().unwrap_err();
        assert_eq!(error, FrameError::WrongTriples { batch: 8 }.into());
        assert!(error.to_string().starts_with("the triples of batch 8 are wrong: "), "{error}");
        assert_eq!(given, 1);
        assert!(peer.join().unwrap());
    }
}
