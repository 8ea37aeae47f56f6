//! Random and correlated OTs with a [`Peer`].

use core::convert::Infallible;

use foxtrot_net::hello::{Hello, JOB, Role};
use foxtrot_ot::{Bits, base::Block, engine::Abandoned, erase::Secret};
use zeroize::Zeroizing;

use super::Options;
use crate::{
    Error, Peer,
    job::{Job, Sink, not_kept, room},
};

/// The correlation of correlated OTs, which only their sender knows. Erased on drop.
pub type Delta = Zeroizing<Block>;

/// Makes `n` random OTs as the sender: the two keys of each.
///
/// # Errors
/// [`Error`].
pub fn send(peer: &mut Peer, n: usize) -> Result<Secret<[Block; 2]>, Error> {
    Options::new().send(peer, n)
}

/// Makes `n` random OTs as the receiver: the choice bits, and the chosen key of each.
///
/// # Errors
/// [`Error`].
pub fn receive(peer: &mut Peer, n: usize) -> Result<(Bits, Secret<Block>), Error> {
    Options::new().receive(peer, n)
}

/// Makes `n` correlated OTs as the sender: Δ and a row of each.
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
///
/// # Errors
/// [`Error`].
pub fn send_correlated(peer: &mut Peer, n: usize) -> Result<(Delta, Secret<Block>), Error> {
    Options::new().send_correlated(peer, n)
}

/// Makes correlated OTs as the receiver, with these choice bits: the sender's row of each, plus Δ where the bit is 1.
///
/// # Errors
/// [`Error`].
pub fn receive_correlated(peer: &mut Peer, choices: &[bool]) -> Result<Secret<Block>, Error> {
    Options::new().receive_correlated(peer, choices)
}

impl Options {
    /// [`send`] with these options.
    ///
    /// # Errors
    /// [`Error`].
    pub fn send(&self, peer: &mut Peer, n: usize) -> Result<Secret<[Block; 2]>, Error> {
        let mut all = room(n)?;
        self.send_into(peer, n, |keys| {
            all.0.extend_from_slice(keys);
            Ok::<_, Infallible>(())
        })?;
        Ok(all)
    }

    /// [`receive`] with these options.
    ///
    /// # Errors
    /// [`Error`].
    pub fn receive(&self, peer: &mut Peer, n: usize) -> Result<(Bits, Secret<Block>), Error> {
        let (mut choices, mut all) = (room::<u8>(n.div_ceil(8))?, room(n)?);
        self.receive_into(peer, n, |some, keys| {
            choices.0.extend_from_slice(some.as_bytes());
            all.0.extend_from_slice(keys);
            Ok::<_, Infallible>(())
        })?;
        Ok((Bits::from_bytes(&choices, n), all))
    }

    /// [`send`] with a `sink` that takes the keys batch after batch, in order: for more OTs than fit into memory. An error of
    /// the sink ends the session, and is in the [`Error`].
    ///
    /// # Errors
    /// [`Error`].
    pub fn send_into<E: Sink>(
        &self,
        peer: &mut Peer,
        n: usize,
        mut sink: impl FnMut(&[[Block; 2]]) -> Result<(), E> + Send,
    ) -> Result<(), Error> {
        let job = self.begin(peer, "rot", Role::Sender, n)?;
        let (mut cx, direction, mut counted) = (job.context()?, job.direction(), job.counter(n));
        let refused = &not_kept();
        job.play_into(refused, |io| async move {
            let sink = |keys: &[[Block; 2]]| {
                counted(keys.len());
                refused.keep(sink(keys))
            };
            self.send_over(&io, &mut cx, direction, n, sink).await
        })?;
        job.finish_in_place()
    }

    /// [`receive`] with a `sink` that takes choice bits and keys batch after batch; every batch but the last has a whole
    /// number of bytes of choice bits.
    ///
    /// # Errors
    /// [`Error`].
    pub fn receive_into<E: Sink>(
        &self,
        peer: &mut Peer,
        n: usize,
        mut sink: impl FnMut(&Bits, &[Block]) -> Result<(), E> + Send,
    ) -> Result<(), Error> {
        let job = self.begin(peer, "rot", Role::Receiver, n)?;
        let (mut cx, direction, mut counted) = (job.context()?, job.direction(), job.counter(n));
        let refused = &not_kept();
        job.play_into(refused, |io| async move {
            let sink = |choices: &Bits, keys: &[Block]| {
                counted(keys.len());
                refused.keep(sink(choices, keys))
            };
            self.receive_over(&io, &mut cx, direction, n, sink).await
        })?;
        job.finish_in_place()
    }

    /// [`send_correlated`] with these options.
    ///
    /// # Errors
    /// [`Error`].
    pub fn send_correlated(
        &self,
        peer: &mut Peer,
        n: usize,
    ) -> Result<(Delta, Secret<Block>), Error> {
        let job = self.begin(peer, "cot", Role::Sender, n)?;
        let (mut cx, direction, mut counted) = (job.context()?, job.direction(), job.counter(n));
        let (mut delta, mut all) = (Delta::default(), room(n)?);
        let (correlation, rows) = (&mut delta, &mut all);
        job.play(|io| async move {
            let sink = |some: &[Block]| {
                counted(some.len());
                keep(rows, some)
            };
            let correlation = |delta: &Block| correlation.copy_from_slice(delta);
            self.send_correlated_over(&io, &mut cx, direction, n, correlation, sink).await
        })?;
        job.finish()?;
        Ok((delta, all))
    }

    /// [`receive_correlated`] with these options.
    ///
    /// # Errors
    /// [`Error`].
    pub fn receive_correlated(
        &self,
        peer: &mut Peer,
        choices: &[bool],
    ) -> Result<Secret<Block>, Error> {
        let n = choices.len();
        let job = self.begin(peer, "cot", Role::Receiver, n)?;
        let (mut cx, direction, mut counted) = (job.context()?, job.direction(), job.counter(n));
        let choices = Bits::from_bools(choices.iter().copied());
        let mut all = room(n)?;
        let rows = &mut all;
        job.play(|io| async move {
            let sink = |some: &[Block]| {
                counted(some.len());
                keep(rows, some)
            };
            self.receive_correlated_over(&io, &mut cx, direction, choices, sink).await
        })?;
        job.finish()?;
        Ok(all)
    }

    fn begin<'p>(
        &self,
        peer: &'p mut Peer,
        job: &str,
        role: Role,
        n: usize,
    ) -> Result<Job<'p>, Error> {
        let (extension, base) = self.protocols()?;
        let hello = Hello::new(role)
            .term(JOB, job)
            .term("base", base.info().name)
            .term("extension", extension.info().name)
            .term("adversary", extension.info().adversary)
            .term("count", n);
        peer.begin(hello, "transfers")
    }
}

fn keep(all: &mut Secret<Block>, some: &[Block]) -> Result<(), Abandoned> {
    all.0.extend_from_slice(some);
    Ok(())
}
