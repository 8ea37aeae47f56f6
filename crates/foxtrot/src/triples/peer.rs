//! Multiplication triples with a [`Peer`].

use foxtrot_net::hello::{Hello, JOB, Role};

use super::{Kind, Options, SIGMA, Shares, Triples, Word};
use crate::{
    Error, Peer, Side,
    job::{Sink, not_kept, room},
};

/// Makes `n` triples of words of type `T`: this side's shares. Both sides make the same call.
///
/// # Errors
/// [`Error`].
pub fn generate<T: Word>(peer: &mut Peer, n: usize) -> Result<Triples<T>, Error> {
    Options::new().generate(peer, n)
}

impl Options {
    /// [`generate`] with these options.
    ///
    /// # Errors
    /// [`Error`].
    pub fn generate<T: Word>(&self, peer: &mut Peer, n: usize) -> Result<Triples<T>, Error> {
        let mut parts = [room(n)?, room(n)?, room(n)?];
        let all = &mut parts;
        self.generate_into(peer, T::BITS, n, |shares| {
            for i in 0..shares.len().min(n - all[0].len()) {
                let triple = shares.triple(i);
                for (part, value) in all.iter_mut().zip(triple) {
                    part.0.push(T::of(value));
                }
            }
            Ok::<_, core::convert::Infallible>(())
        })?;
        Ok(Triples { parts })
    }

    /// [`generate`] with a `sink` that takes the shares batch after batch, for more triples than fit into memory. The last batch
    /// may have more than are left of `n`.
    ///
    /// # Errors
    /// [`Error`].
    pub fn generate_into<E: Sink>(
        &self,
        peer: &mut Peer,
        bits: u32,
        n: usize,
        mut sink: impl FnMut(&Shares) -> Result<(), E> + Send,
    ) -> Result<(), Error> {
        let kind = self.kind(bits, n)?;
        let we_are_initiator = peer.side() == Side::Initiator;
        // The roles only tell the two parties apart.
        let hello = Hello::new(if we_are_initiator { Role::Sender } else { Role::Receiver })
            .term(JOB, "triples")
            .term("method", kind.method())
            .term("adversary", "semi-honest")
            .term("bits", bits)
            .term("sigma", kind.sigma())
            .term("count", n)
            .term("run", "new")
            .offer("whole-batches", 0);
        let job = peer.begin(hello, "triples")?;
        let (mut cx, mut counted, refused) = (job.context()?, job.counter(n), &not_kept());
        job.play_into(refused, |io| async move {
            let sink = |shares: &Shares| {
                counted(shares.len());
                refused.keep(sink(shares))
            };
            self.generate_over(&io, &mut cx, we_are_initiator, bits, n, sink).await
        })?;
        job.finish()
    }
}

impl Kind {
    /// The term of the negotiation that names it.
    fn method(self) -> &'static str {
        match self {
            Self::Rlwe(_) => "rlwe",
            Self::Gilboa(_) => "gilboa",
        }
    }

    /// σ in the negotiation, also of the method that has none.
    fn sigma(self) -> u32 {
        match self {
            Self::Rlwe(set) => set.sigma(),
            Self::Gilboa(_) => SIGMA,
        }
    }
}
