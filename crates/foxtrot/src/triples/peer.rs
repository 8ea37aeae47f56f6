//! Multiplication triples with a [`Peer`].

use core::future::Future;

use foxtrot_net::Connection;

use super::{
    Options, Shares, Triples, Word,
    terms::{TriplesTerms, memory_of_triples},
};
use crate::{
    Error, Peer, Side,
    job::{Answer, Role, SinkError, Table, room, sink_failed},
};

/// Makes `n` triples of words of type `T`: this side's shares. Both sides make the same call.
pub fn generate<T: Word, C: Connection>(
    peer: &mut Peer<C>,
    n: usize,
) -> C::Outcome<impl Future<Output = Result<Triples<T>, Error>>> {
    Options::new().generate(peer, n)
}

impl Options {
    /// [`generate`] with these options.
    pub fn generate<T: Word, C: Connection>(
        self,
        peer: &mut Peer<C>,
        n: usize,
    ) -> C::Outcome<impl Future<Output = Result<Triples<T>, Error>>> {
        C::outcome(async move {
            let mut parts = [room(n)?, room(n)?, room(n)?];
            let all = &mut parts;
            let kept = (3 * size_of::<T>() as u64).saturating_mul(n as u64);
            self.generate_keeping(peer, T::BITS, n, kept, |shares| {
                for i in 0..shares.len().min(n - all[0].len()) {
                    let triple = shares.triple(i);
                    for (part, value) in all.iter_mut().zip(triple) {
                        part.0.push(T::of(value));
                    }
                }
                Ok::<_, core::convert::Infallible>(())
            })
            .await?;
            Ok(Triples { parts })
        })
    }

    /// [`generate`] with a `sink` that takes the shares batch after batch, for more triples than fit into memory. The last batch
    /// may have more than are left of `n`. `bits` may also be 1: [`generate_over`](Self::generate_over).
    ///
    /// ```
    /// use foxtrot::{Peer, triples::{Method, Options, Shares}};
    ///
    /// fn party(mut peer: Peer) -> Result<u64, foxtrot::Error> {
    ///     let mut products = 0_u64;
    ///     let options = Options::new().method(Method::GilboaK8);
    ///     options.generate_into(&mut peer, 32, 3000, |shares: &Shares| {
    ///         (0..shares.len()).for_each(|i| products = products.wrapping_add(shares.triple(i)[2]));
    ///         Ok::<_, std::io::Error>(())
    ///     })?;
    ///     Ok(products)
    /// }
    /// let (ours, theirs) = Peer::pair();
    /// let other = std::thread::spawn(move || party(theirs));
    /// assert_ne!(party(ours)?, other.join().expect("no panic")?);
    /// # Ok::<(), foxtrot::Error>(())
    /// ```
    pub fn generate_into<E: SinkError, C: Connection>(
        self,
        peer: &mut Peer<C>,
        bits: u32,
        n: usize,
        sink: impl FnMut(&Shares) -> Result<(), E> + Send,
    ) -> C::Outcome<impl Future<Output = Result<(), Error>>> {
        C::outcome(self.generate_keeping(peer, bits, n, 0, sink))
    }

    /// [`generate_into`](Self::generate_into) a sink that keeps so many bytes.
    async fn generate_keeping<E: SinkError, C: Connection>(
        self,
        peer: &mut Peer<C>,
        bits: u32,
        n: usize,
        kept: u64,
        mut sink: impl FnMut(&Shares) -> Result<(), E> + Send,
    ) -> Result<(), Error> {
        // The roles only tell the two parties apart.
        let role = match peer.side() {
            Side::Initiator => Role::Sender,
            Side::Responder => Role::Receiver,
        };
        let (kind, count) = (self.kind(bits, n)?, n as u64);
        let terms = TriplesTerms { role, kind, count, earlier: None };
        let memory = memory_of_triples(kind, count, peer.local.threads()).saturating_add(kept);
        let agree = |_: &Table| Ok(((), Answer { memory, ..Answer::default() }));
        let (agreed, ()) = peer.agree::<_, Error>(terms.hello(), agree, |_, _| Ok(())).await?;
        let agreement = match terms.agree(&agreed) {
            Ok(agreement) => agreement,
            Err((reason, e)) => {
                peer.connection.refuse(reason).await;
                return Err(peer.local.fail(e));
            }
        };
        agreement.play(peer.job(agreed), |shares| sink(shares).map_err(sink_failed)).await
    }
}
