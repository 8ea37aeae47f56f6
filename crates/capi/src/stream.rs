//! Streams: a job on a thread of its own, whose results the caller draws into its buffers.
#![forbid(unsafe_code)]

use std::{
    fmt, mem,
    sync::{
        Mutex, PoisonError,
        mpsc::{self, Receiver, SyncSender},
    },
    thread::{self, JoinHandle},
};

use foxtrot::{Block, Canceller};
use zeroize::Zeroizing;

use crate::{
    failure::{Failure, Result},
    peer::{Peer, Place, exclusively},
};

/// A job of random OTs, correlated OTs or triples, of which the caller draws one batch after another.
pub struct Stream(Mutex<State>);

struct State {
    kind: Kind,
    /// Results that are not yet drawn.
    left: usize,
    batches: Option<Receiver<Batch>>,
    batch: Batch,
    /// Results of the batch that are drawn.
    drawn: usize,
    job: Option<JoinHandle<(foxtrot::Peer, Finished)>>,
    /// The result of the job, once it has ended. Every call after a failed one tells the same failure.
    ended: Option<Result>,
    /// The place that the peer comes back to.
    place: Place,
    canceller: Canceller,
    delta: Option<Zeroizing<Block>>,
}

/// The results of a stream. Both sides agree on kind and number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    RotSender,
    RotReceiver,
    CotSender,
    CotReceiver,
    /// Triples of words of that many bytes.
    Triples(usize),
    /// Triples of bits.
    Bits,
}

/// The result of a job: delta, if there is one.
type Finished = std::result::Result<Option<Zeroizing<Block>>, foxtrot::Error>;

/// Results in columns, which are erased.
#[derive(Default)]
struct Batch {
    n: usize,
    columns: Vec<Zeroizing<Vec<u8>>>,
}

/// The end of a job at which its batches go out.
pub(crate) struct Out {
    batches: SyncSender<Batch>,
    left: usize,
}

impl Kind {
    /// Bytes of a unit in each column.
    fn widths(self) -> &'static [usize] {
        match self {
            Self::RotSender => &[32],
            Self::RotReceiver => &[1, 16],
            Self::CotSender | Self::CotReceiver => &[16],
            Self::Triples(2) => &[2; 3],
            Self::Triples(4) => &[4; 3],
            Self::Triples(8) => &[8; 3],
            Self::Triples(_) | Self::Bits => &[1; 3],
        }
    }

    /// Results of a unit.
    fn per_unit(self) -> usize {
        if self == Self::Bits { 8 } else { 1 }
    }

    /// The units of so many results.
    pub(crate) fn units(self, n: usize) -> usize {
        n.div_ceil(self.per_unit())
    }

    /// Bytes of the buffers for so many results.
    pub(crate) fn sizes(self, n: usize) -> Result<Vec<usize>> {
        let size = |width: &usize| self.units(n).checked_mul(*width);
        let sizes: Option<Vec<_>> = self.widths().iter().map(size).collect();
        sizes.ok_or_else(|| Failure::caller(format!("no buffer holds {n} results")))
    }

    /// The function that draws.
    fn draws(self) -> &'static str {
        match self {
            Self::RotSender => "foxtrot_rot_send",
            Self::RotReceiver => "foxtrot_rot_receive",
            Self::CotSender => "foxtrot_cot_send",
            Self::CotReceiver => "foxtrot_cot_receive",
            Self::Triples(_) | Self::Bits => "foxtrot_triples",
        }
    }
}

impl Out {
    /// Hands on a batch, as many of its units as are wanted. An error says that nobody draws any more.
    pub(crate) fn put<const N: usize>(
        &mut self,
        n: usize,
        columns: [Vec<u8>; N],
    ) -> std::result::Result<(), &'static str> {
        let n = n.min(self.left);
        self.left -= n;
        let batch = Batch { n, columns: columns.into_iter().map(Zeroizing::new).collect() };
        self.batches.send(batch).map_err(|_| "the stream was freed before its end")
    }
}

impl Stream {
    /// Begins a job for `n` results; the peer is away until its end.
    pub(crate) fn open(
        peer: &Peer,
        kind: Kind,
        n: usize,
        job: impl FnOnce(&mut foxtrot::Peer, Out) -> Finished + Send + 'static,
    ) -> Result<Self> {
        // One batch waits while the next is made.
        let (batches, drawn) = mpsc::sync_channel(1);
        let (place, canceller) = (peer.place.clone(), peer.canceller());
        let mut taken = peer.take()?;
        let out = Out { batches, left: kind.units(n) };
        let run = move || {
            let finished = job(&mut taken, out);
            (taken, finished)
        };
        let started = thread::Builder::new().name("foxtrot-stream".into()).spawn(run);
        let job = started.map_err(|e| {
            let failure = Failure::caller(format!("cannot start a thread: {e}"));
            *peer.place.lock().unwrap_or_else(PoisonError::into_inner) = Err(failure.clone());
            failure
        })?;
        Ok(Self(Mutex::new(State {
            kind,
            left: n,
            batches: Some(drawn),
            batch: Batch::default(),
            drawn: 0,
            job: Some(job),
            ended: None,
            place,
            canceller,
            delta: None,
        })))
    }

    /// The kind of its results, if it is one that the caller's function draws.
    pub(crate) fn kind(&self, expected: impl Fn(Kind) -> bool) -> Result<Kind> {
        exclusively(&self.0, |state| match expected(state.kind) {
            true => Ok(state.kind),
            false => Err(Failure::caller(format!("this stream is for {}", state.kind.draws()))),
        })
    }

    /// Fills buffers with the next `n` results; each has exactly the bytes that they take.
    pub(crate) fn draw(&self, n: usize, buffers: &mut [&mut [u8]]) -> Result {
        exclusively(&self.0, |state| state.draw(n, buffers))
    }

    /// Ends the job, whose results are all drawn. The peer comes back.
    pub(crate) fn end(&self) -> Result {
        exclusively(&self.0, |state| {
            state.has_not_failed()?;
            if state.left > 0 {
                return Err(Failure::caller(format!("{} results are not yet drawn", state.left)));
            }
            // The job may make more than are wanted, which nobody waits for.
            if let Some(batches) = &state.batches {
                batches.iter().for_each(drop);
            }
            state.finish()
        })
    }

    /// The correlation of correlated OTs.
    pub(crate) fn delta(&self) -> Result<Zeroizing<Block>> {
        exclusively(&self.0, |state| {
            state.has_not_failed()?;
            let why = "only a sender's stream of correlated OTs has a delta, when it has ended";
            state.delta.clone().ok_or_else(|| Failure::caller(why))
        })
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stream(<redacted>)")
    }
}

impl State {
    /// The failure of the job, if it has failed.
    fn has_not_failed(&self) -> Result {
        match &self.ended {
            Some(ended) => ended.clone(),
            None => Ok(()),
        }
    }

    fn draw(&mut self, n: usize, buffers: &mut [&mut [u8]]) -> Result {
        self.has_not_failed()?;
        let (kind, left) = (self.kind, self.left);
        if n > left {
            return Err(Failure::caller(format!("{n} results are wanted, and {left} are left")));
        }
        if n < left && !n.is_multiple_of(kind.per_unit()) {
            return Err(Failure::caller("bits are drawn by multiples of 8, until the last draw"));
        }
        let (mut at, units) = (0, kind.units(n));
        while at < units {
            if self.drawn == self.batch.n {
                self.batch = self.next()?;
                self.drawn = 0;
            }
            let some = (units - at).min(self.batch.n - self.drawn);
            for ((width, column), to) in
                kind.widths().iter().zip(&self.batch.columns).zip(buffers.iter_mut())
            {
                let from = &column[self.drawn * width..][..some * width];
                to[at * width..][..some * width].copy_from_slice(from);
            }
            (self.drawn, at) = (self.drawn + some, at + some);
        }
        self.left -= n;
        Ok(())
    }

    /// Waits for a batch; the job's error if there is none.
    fn next(&mut self) -> Result<Batch> {
        if let Some(batch) = self.batches.as_ref().and_then(|it| it.recv().ok()) {
            return Ok(batch);
        }
        self.finish()?;
        Err(Failure::caller("the stream has ended"))
    }

    /// Waits for the job's end.
    fn finish(&mut self) -> Result {
        self.batches = None;
        let Some(job) = self.job.take() else {
            return Err(Failure::caller("the stream has ended"));
        };
        // A job that panicked has no peer to bring back.
        let (peer, finished) = match job.join() {
            Ok((peer, finished)) => (Ok(peer), finished.map_err(Failure::from)),
            Err(panic) => {
                mem::forget(panic);
                (Err(Failure::panicked()), Err(Failure::panicked()))
            }
        };
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = peer;
        let ended = finished.map(|delta| self.delta = delta);
        self.ended = Some(ended.clone());
        ended
    }
}

impl Drop for State {
    fn drop(&mut self) {
        if self.job.is_some() {
            self.canceller.cancel();
            // Nobody hears how a job ended that was cancelled.
            let _ = self.finish();
        }
    }
}
