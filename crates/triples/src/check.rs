//! One triple of each batch is opened to find accidents: memory or a connection that has changed bits. It is no check of
//! a peer that cheats, which knows which triple that is.

use alloc::{collections::VecDeque, vec::Vec};

use foxtrot_ot::{
    engine::{Abandoned, Io},
    expect_len,
};

use crate::{Error, Shares, formats::wrong_records};

/// Batches that are done here, whose opened triples the peer has not sent yet. They go to the sink when that is right.
pub(crate) struct Check<S> {
    io: Io,
    /// The most batches that may wait: the peer may not have received their opened triples yet.
    most: usize,
    waiting: VecDeque<(Vec<u8>, Shares)>,
    /// The number of the batch that waits longest.
    next: u64,
    sink: S,
}

impl<S: FnMut(&Shares) -> Result<(), Abandoned>> Check<S> {
    /// Starts at this batch.
    pub(crate) fn new(io: Io, most: u64, next: u64, sink: S) -> Self {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        Self { io, most, waiting: VecDeque::new(), next, sink }
    }

    /// Opens a triple of the next batch. Returns the buffer of a batch that the sink has had.
    pub(crate) async fn add(&mut self, mut shares: Shares) -> Result<Option<Shares>, Error> {
        let opened = shares.open_last().unwrap_or_default();
        self.io.send(opened.clone()).await;
        self.waiting.push_back((opened, shares));
        if self.waiting.len() > self.most { self.take().await } else { Ok(None) }
    }

    /// The batches that wait.
    pub(crate) async fn finish(mut self) -> Result<(), Error> {
        while self.take().await?.is_some() {}
        Ok(())
    }

    async fn take(&mut self) -> Result<Option<Shares>, Error> {
        let Some((ours, mut shares)) = self.waiting.pop_front() else { return Ok(None) };
        let theirs = self.io.recv(ours.len()).await;
        expect_len("Opened", &theirs, ours.len()).map_err(foxtrot_ot::Error::from)?;
        let bits = 8 * u32::try_from(shares.width()).unwrap_or_default();
        if wrong_records(bits, &ours, &theirs).next().is_some() {
            return Err(Error::WrongTriples { batch: self.next });
        }
        (self.sink)(&shares)?;
        self.next += 1;
        shares.restore();
        Ok(Some(shares))
    }
}

#[cfg(test)]
mod tests {
    use alloc::{string::ToString, vec};

    use foxtrot_ot::{
        engine::Engine,
        pair::{Pair, PairParty},
    };

    use super::*;
    use crate::gilboa;

    /// Batches of shares that are all zero, and so right.
    fn batches() -> impl Iterator<Item = Shares> {
        let set = gilboa::of_bits(16, gilboa::DEFAULT_K).unwrap();
        (2..7).map(|n| set.shares(n))
    }

    /// Checks the batches; the sizes that the sink gets, and how many buffers come back before the end.
    fn checked<'a>(most: u64) -> Engine<'a, (Vec<usize>, usize), Error> {
        Engine::new(move |io| async move {
            let (mut sizes, mut spare) = (Vec::new(), 0);
            let sink = |shares: &Shares| {
                sizes.push(shares.len());
                Ok(())
            };
            let mut check = Check::new(io, most, 7, sink);
            for shares in batches() {
                spare += usize::from(check.add(shares).await?.is_some());
            }
            check.finish().await?;
            Ok((sizes, spare))
        })
    }

    #[test]
    fn batches_without_the_opened_triple_come_in_order() {
        let outputs = Pair::new(checked(2), checked(2)).run().unwrap();
        let expected = (vec![1, 2, 3, 4, 5], 3);
        assert_eq!(outputs, (expected.clone(), expected));
    }

    #[test]
    fn a_wrong_triple_keeps_its_batch_from_the_sink() {
        // The sender's share of the second batch arrives as (0, 0, 1).
        let (mut opened, mut given) = (0, Vec::new());
        let sink = &mut given;
        let receiver = Engine::new(move |io| async move {
            let sink = |shares: &Shares| {
                sink.push(shares.len());
                Ok(())
            };
            let mut check = Check::new(io, 5, 7, sink);
            for shares in batches() {
                check.add(shares).await?;
            }
            check.finish().await
        });
        let wrong = Pair::new(checked(5), receiver).run_through(|from, mut message| {
            if from == PairParty::Sender {
                opened += 1;
                message[4] = u8::from(opened == 2);
            }
            message
        });
        let error = Error::WrongTriples { batch: 8 };
        assert_eq!(wrong.unwrap_err(), (PairParty::Receiver, error));
        assert_eq!(given, [1]);
        assert!(error.to_string().starts_with("the triples of batch 8 are wrong: "));
    }
}
