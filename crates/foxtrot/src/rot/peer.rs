//! Random and correlated OTs with a [`Peer`].

use core::{convert::Infallible, future::Future};

use foxtrot_net::Connection;
use foxtrot_ot::{
    Bits, Context, Direction,
    base::Block,
    erase::{Secret, Zero},
};
use zeroize::Zeroizing;

use super::{Options, terms::RotTerms};
use crate::{
    Error, Peer,
    job::{Job, Role, Sink, SinkError, keep, room, sink_failed},
    transfers::{memory_of_transfers, transfers},
};

/// The correlation of correlated OTs, which only their sender knows. Erased on drop.
pub type Delta = Zeroizing<Block>;

/// Makes `n` random OTs as the sender: the two keys of each.
pub fn send<C: Connection>(
    peer: &mut Peer<C>,
    n: usize,
) -> C::Outcome<impl Future<Output = Result<Secret<[Block; 2]>, Error>>> {
    Options::new().send(peer, n)
}

/// Makes `n` random OTs as the receiver: the choice bits, and the chosen key of each.
pub fn receive<C: Connection>(
    peer: &mut Peer<C>,
    n: usize,
) -> C::Outcome<impl Future<Output = Result<(Bits, Secret<Block>), Error>>> {
    Options::new().receive(peer, n)
}

/// Makes `n` correlated OTs as the sender: Δ and a row of each. A receiver that cheats may guess groups of bits of Δ, and ends
/// the session if it is wrong; either party may fix its own rows. Hash each row before you use it as a key: see
/// [the module](super#correlated-ots).
///
/// ```
/// use foxtrot::{Peer, rot};
///
/// let (mut ours, mut theirs) = Peer::pair();
/// let choices = [true, false, true];
/// let receiver = std::thread::spawn(move || rot::receive_correlated(&mut theirs, &choices));
/// let (delta, rows) = rot::send_correlated(&mut ours, 3)?;
/// let received = receiver.join().expect("no panic")?;
/// let plus_delta: Vec<u8> = rows[0].iter().zip(delta.iter()).map(|(a, b)| a ^ b).collect();
/// assert_eq!(received[0][..], plus_delta);
/// assert_eq!(received[1], rows[1]);
/// # Ok::<(), foxtrot::Error>(())
/// ```
pub fn send_correlated<C: Connection>(
    peer: &mut Peer<C>,
    n: usize,
) -> C::Outcome<impl Future<Output = Result<(Delta, Secret<Block>), Error>>> {
    Options::new().send_correlated(peer, n)
}

/// Makes correlated OTs as the receiver, with these choice bits: the sender's row of each, plus Δ where the bit is 1. A sender
/// that cheats may fix its own rows: see [the module](super#correlated-ots).
pub fn receive_correlated<C: Connection>(
    peer: &mut Peer<C>,
    choices: &[bool],
) -> C::Outcome<impl Future<Output = Result<Secret<Block>, Error>>> {
    Options::new().receive_correlated(peer, choices)
}

impl Options {
    /// [`send`] with these options.
    pub fn send<C: Connection>(
        self,
        peer: &mut Peer<C>,
        n: usize,
    ) -> C::Outcome<impl Future<Output = Result<Secret<[Block; 2]>, Error>>> {
        C::outcome(async move {
            let mut all = room(n)?;
            self.send_keeping(peer, n, bytes_of(&all), |keys| {
                all.0.extend_from_slice(keys);
                Ok::<_, Infallible>(())
            })
            .await?;
            Ok(all)
        })
    }

    /// [`receive`] with these options.
    pub fn receive<C: Connection>(
        self,
        peer: &mut Peer<C>,
        n: usize,
    ) -> C::Outcome<impl Future<Output = Result<(Bits, Secret<Block>), Error>>> {
        C::outcome(async move {
            let (mut choices, mut all) = (room::<u8>(n.div_ceil(8))?, room(n)?);
            let kept = bytes_of(&choices) + bytes_of(&all);
            self.receive_keeping(peer, n, kept, |some, keys| {
                choices.0.extend_from_slice(some.as_bytes());
                all.0.extend_from_slice(keys);
                Ok::<_, Infallible>(())
            })
            .await?;
            Ok((Bits::from_bytes(&choices, n), all))
        })
    }

    /// [`send`] with a `sink` that takes the keys batch after batch, in order: for more OTs than fit into memory. An error of
    /// the sink ends the session, and is in the [`Error`].
    ///
    /// ```
    /// use std::io::Write;
    /// use foxtrot::{Block, Peer, rot};
    ///
    /// let (mut ours, mut theirs) = Peer::pair();
    /// let receiver = std::thread::spawn(move || rot::receive(&mut theirs, 100_000));
    /// let mut file = std::io::sink();
    /// let write = |pairs: &[[Block; 2]]| file.write_all(pairs.as_flattened().as_flattened());
    /// rot::Options::new().send_into(&mut ours, 100_000, write)?;
    /// assert_eq!(receiver.join().expect("no panic")?.1.len(), 100_000);
    /// # Ok::<(), foxtrot::Error>(())
    /// ```
    pub fn send_into<E: SinkError, C: Connection>(
        self,
        peer: &mut Peer<C>,
        n: usize,
        sink: impl FnMut(&[[Block; 2]]) -> Result<(), E> + Send,
    ) -> C::Outcome<impl Future<Output = Result<(), Error>>> {
        C::outcome(self.send_keeping(peer, n, 0, sink))
    }

    /// [`send_into`](Self::send_into) a sink that keeps so many bytes.
    async fn send_keeping<E: SinkError, C: Connection>(
        self,
        peer: &mut Peer<C>,
        n: usize,
        kept: u64,
        mut sink: impl FnMut(&[[Block; 2]]) -> Result<(), E> + Send,
    ) -> Result<(), Error> {
        let take =
            |(): &mut (), _: &Bits, keys: &[Block]| sink(keys.as_chunks().0).map_err(sink_failed);
        self.make(peer, Role::Sender, n, kept, take).await
    }

    /// [`receive`] with a `sink` that takes choice bits and keys batch after batch; every batch but the last has a whole
    /// number of bytes of choice bits.
    pub fn receive_into<E: SinkError, C: Connection>(
        self,
        peer: &mut Peer<C>,
        n: usize,
        sink: impl FnMut(&Bits, &[Block]) -> Result<(), E> + Send,
    ) -> C::Outcome<impl Future<Output = Result<(), Error>>> {
        C::outcome(self.receive_keeping(peer, n, 0, sink))
    }

    /// [`receive_into`](Self::receive_into) a sink that keeps so many bytes.
    async fn receive_keeping<E: SinkError, C: Connection>(
        self,
        peer: &mut Peer<C>,
        n: usize,
        kept: u64,
        mut sink: impl FnMut(&Bits, &[Block]) -> Result<(), E> + Send,
    ) -> Result<(), Error> {
        let take =
            |(): &mut (), choices: &Bits, keys: &[Block]| sink(choices, keys).map_err(sink_failed);
        self.make(peer, Role::Receiver, n, kept, take).await
    }

    /// Makes random OTs, of which the caller keeps so many bytes.
    async fn make<C: Connection>(
        self,
        peer: &mut Peer<C>,
        role: Role,
        n: usize,
        kept: u64,
        take: impl FnMut(&mut (), &Bits, &[Block]) -> Result<(), Error> + Send,
    ) -> Result<(), Error> {
        let terms = RotTerms { role, method: self.method(n)?, n };
        let memory = terms.memory(peer.local.threads()).saturating_add(kept);
        let job = peer.begin(terms.hello(), memory).await?;
        terms.play(job, (), take, |()| Ok(())).await
    }

    /// [`send_correlated`] with these options.
    pub fn send_correlated<C: Connection>(
        self,
        peer: &mut Peer<C>,
        n: usize,
    ) -> C::Outcome<impl Future<Output = Result<(Delta, Secret<Block>), Error>>> {
        C::outcome(async move {
            let mut all = room(n)?;
            let delta = self
                .send_correlated_keeping(peer, n, bytes_of(&all), |rows| {
                    all.0.extend_from_slice(rows);
                    Ok::<_, Infallible>(())
                })
                .await?;
            Ok((delta, all))
        })
    }

    /// [`receive_correlated`] with these options.
    pub fn receive_correlated<C: Connection>(
        self,
        peer: &mut Peer<C>,
        choices: &[bool],
    ) -> C::Outcome<impl Future<Output = Result<Secret<Block>, Error>>> {
        C::outcome(async move {
            let mut all = room(choices.len())?;
            self.receive_correlated_keeping(peer, choices, bytes_of(&all), |rows| {
                all.0.extend_from_slice(rows);
                Ok::<_, Infallible>(())
            })
            .await?;
            Ok(all)
        })
    }

    /// [`send_correlated`] with a `sink` that takes the rows batch after batch, in order. Δ comes when the session has ended.
    ///
    /// ```
    /// use foxtrot::{Peer, rot};
    ///
    /// let (options, choices) = (rot::Options::new(), vec![true; 1000]);
    /// let (mut ours, mut theirs) = Peer::pair();
    /// let receiver = std::thread::spawn(move || {
    ///     let mut received = 0;
    ///     options.receive_correlated_into(&mut theirs, &choices, |rows| {
    ///         received += rows.len();
    ///         Ok::<_, std::io::Error>(())
    ///     })?;
    ///     Ok::<_, foxtrot::Error>(received)
    /// });
    /// let mut file = Vec::new();
    /// let write = |rows: &[[u8; 16]]| std::io::Write::write_all(&mut file, rows.as_flattened());
    /// let delta = options.send_correlated_into(&mut ours, 1000, write)?;
    /// assert_eq!((file.len(), receiver.join().expect("no panic")?), (16_000, 1000));
    /// # assert_ne!(*delta, [0; 16]);
    /// # Ok::<(), foxtrot::Error>(())
    /// ```
    pub fn send_correlated_into<E: SinkError, C: Connection>(
        self,
        peer: &mut Peer<C>,
        n: usize,
        sink: impl FnMut(&[Block]) -> Result<(), E> + Send,
    ) -> C::Outcome<impl Future<Output = Result<Delta, Error>>> {
        C::outcome(self.send_correlated_keeping(peer, n, 0, sink))
    }

    async fn send_correlated_keeping<E: SinkError, C: Connection>(
        self,
        peer: &mut Peer<C>,
        n: usize,
        kept: u64,
        mut sink: impl FnMut(&[Block]) -> Result<(), E> + Send,
    ) -> Result<Delta, Error> {
        self.plan(n, Direction::default())?;
        let mut job = self.begin(peer, Role::Sender, n, kept).await?;
        let ((session, seed), direction, mut counted) =
            (job.start()?, job.direction(), job.local().counter(n, "transfers"));
        let (mut delta, refused) = (Delta::default(), &Sink::new());
        let correlation = |it: &Block| delta.copy_from_slice(it);
        job.run_into(refused, |io| async move {
            let mut cx = Context::new(&session, seed);
            let sink = |rows: &[Block]| {
                counted(rows.len());
                keep(refused, sink(rows))
            };
            self.send_correlated_over(&io, &mut cx, direction, n, correlation, sink).await
        })
        .await?;
        job.end().await?;
        Ok(delta)
    }

    /// [`receive_correlated`] with a `sink` that takes the rows batch after batch, in order.
    pub fn receive_correlated_into<E: SinkError, C: Connection>(
        self,
        peer: &mut Peer<C>,
        choices: &[bool],
        sink: impl FnMut(&[Block]) -> Result<(), E> + Send,
    ) -> C::Outcome<impl Future<Output = Result<(), Error>>> {
        C::outcome(self.receive_correlated_keeping(peer, choices, 0, sink))
    }

    async fn receive_correlated_keeping<E: SinkError, C: Connection>(
        self,
        peer: &mut Peer<C>,
        choices: &[bool],
        kept: u64,
        mut sink: impl FnMut(&[Block]) -> Result<(), E> + Send,
    ) -> Result<(), Error> {
        let n = choices.len();
        self.plan(n, Direction::default())?;
        let mut job = self.begin(peer, Role::Receiver, n, kept).await?;
        let choices = Bits::from_bools(choices.iter().copied());
        let ((session, seed), direction, mut counted) =
            (job.start()?, job.direction(), job.local().counter(n, "transfers"));
        let refused = &Sink::new();
        job.run_into(refused, |io| async move {
            let mut cx = Context::new(&session, seed);
            let sink = |rows: &[Block]| {
                counted(rows.len());
                keep(refused, sink(rows))
            };
            self.receive_correlated_over(&io, &mut cx, direction, choices, sink).await
        })
        .await?;
        job.end().await
    }

    /// Begins a job of correlated OTs, of which the caller keeps so many bytes.
    async fn begin<'p, C: Connection>(
        self,
        peer: &'p mut Peer<C>,
        role: Role,
        n: usize,
        kept: u64,
    ) -> Result<Job<'p, C>, Error> {
        let method = self.method(n)?;
        let memory = memory_of_transfers(&method, n, peer.local.threads()).saturating_add(kept);
        peer.begin(transfers("cot", role, &method, n), memory).await
    }
}

/// Bytes of a list that has room and nothing in it.
fn bytes_of<T: Zero>(room: &Secret<T>) -> u64 {
    (room.0.capacity() * size_of::<T>()) as u64
}
