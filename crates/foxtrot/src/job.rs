//! A session with a peer: what both sides have agreed on, and the protocols that run in it.

use std::{error, future::Future, sync::Arc};

use foxtrot_net::{
    ChannelError, HelloError, drive,
    hello::{Agreement, Role},
};
use foxtrot_ot::{
    Context, Direction, Session, Usage,
    engine::Io,
    erase::{Secret, Zero},
};

use crate::{
    Error, Peer, Progress,
    peer::{Seed, lock},
};

/// An error of a caller's sink, as [`Error::Sink`] carries it.
pub trait Sink: Into<Box<dyn error::Error + Send + Sync>> + Send {}

impl<E: Into<Box<dyn error::Error + Send + Sync>> + Send> Sink for E {}

/// The error of a sink while the protocol that calls the sink ends.
pub(crate) struct Refused(drive::Sink<Error>);

pub(crate) fn not_kept() -> Refused {
    Refused(drive::Sink::new())
}

impl Refused {
    pub(crate) fn keep<T, E: Sink>(
        &self,
        said: Result<T, E>,
    ) -> Result<T, foxtrot_ot::engine::Abandoned> {
        self.0.keep(said.map_err(sink_failed))
    }
}

pub(crate) fn sink_failed(error: impl Sink) -> Error {
    Error::Sink(Arc::from(error.into()))
}

/// A session. One that is dropped before its end gives up, so that the peer waits for nothing.
pub(crate) struct Job<'p> {
    pub(crate) peer: &'p Peer,
    pub(crate) agreement: Agreement,
    pub(crate) session: Session,
    /// The unit that progress counts.
    pub(crate) unit: &'static str,
    /// For test vectors.
    pub(crate) seed: Option<Seed>,
    pub(crate) is_done: bool,
}

impl Drop for Job<'_> {
    fn drop(&mut self) {
        if !self.is_done {
            self.peer.channel.give_up(ChannelError::Abandoned);
        }
        if let Some(pass) = &mut *lock(&self.peer.pass) {
            // No bytes fit always.
            let _ = pass.takes(0);
        }
    }
}

impl Job<'_> {
    pub(crate) fn direction(&self) -> Direction {
        self.agreement.direction()
    }

    /// The randomness of the run: the system's.
    pub(crate) fn context(&self) -> Result<Context<'_>, Error> {
        match &self.seed {
            None => Ok(drive::context(&self.session)?),
            Some(seed) => Ok(Context::new(&self.session, foxtrot_ot::Seed::from_bytes(**seed))),
        }
    }

    /// Runs a protocol.
    pub(crate) fn play<'a, Out, E, F>(&self, protocol: impl FnOnce(Io) -> F) -> Result<Out, Error>
    where
        F: Future<Output = Result<Out, E>> + Send + 'a,
        E: From<Usage>,
        foxtrot_net::Error: From<E>,
    {
        drive::play(&self.peer.channel, protocol).map_err(|e| self.peer.explain(e))
    }

    /// Runs a protocol with a caller's sink.
    pub(crate) fn play_into<'a, Out, E, F>(
        &self,
        refused: &Refused,
        protocol: impl FnOnce(Io) -> F,
    ) -> Result<Out, Error>
    where
        F: Future<Output = Result<Out, E>> + Send + 'a,
        E: From<Usage>,
        foxtrot_net::Error: From<E>,
    {
        refused.0.play(&self.peer.channel, protocol).map_err(|e| match e {
            Error::Session(e) => self.peer.explain(e),
            e => e,
        })
    }

    /// Tells the caller how many of all are done, whenever some more are.
    pub(crate) fn counter(&self, of: usize) -> impl FnMut(usize) + Send + use<> {
        let (tell, unit) = (self.peer.progress.clone(), self.unit);
        let mut done = 0;
        move |more| {
            done += more;
            if let Some(tell) = &tell {
                tell(Progress { done, of, unit });
            }
        }
    }

    /// Ends the session: both sides have received what the other sent.
    pub(crate) fn finish(mut self) -> Result<(), Error> {
        self.peer.channel.finish().map_err(|e| self.peer.explain(e))?;
        self.is_done = true;
        Ok(())
    }

    /// [`finish`](Self::finish), and each side learns that the other's results are where they stay: the receiver's first.
    pub(crate) fn finish_in_place(mut self) -> Result<(), Error> {
        let channel = &self.peer.channel;
        let steps = || {
            channel.finish()?;
            match self.agreement.role {
                Role::Sender => {
                    channel.await_in_place()?;
                    channel.tell_in_place()
                }
                Role::Receiver => {
                    channel.tell_in_place()?;
                    channel.await_in_place()
                }
            }
        };
        steps().map_err(|e| self.peer.explain(e))?;
        self.is_done = true;
        Ok(())
    }

    /// Ends the session because of what the peer said of itself, and tells the peer whether that cannot be.
    pub(crate) fn refuse(&self, error: HelloError) -> Error {
        self.peer.explain(self.peer.channel.give_up(error))
    }

    /// Takes bytes of the memory that there is for jobs, until the job ends.
    ///
    /// # Errors
    /// [`Error::Session`] if there is too little; the peer is told so.
    pub(crate) fn take_memory(&self, bytes: u64) -> Result<(), Error> {
        let taken = match &mut *lock(&self.peer.pass) {
            Some(pass) => pass.takes(bytes),
            None => Ok(()),
        };
        taken.map_err(|full| {
            let refused = HelloError::Refused(full.reason());
            self.peer.explain(self.peer.channel.give_up(refused))
        })
    }
}

/// Room for so many, so that no growing leaves copies of secrets behind.
///
/// # Errors
/// [`Error::OutOfMemory`].
pub(crate) fn room<T: Zero>(n: usize) -> Result<Secret<T>, Error> {
    let mut all = Secret::default();
    let bytes = n.saturating_mul(size_of::<T>());
    all.0.try_reserve_exact(n).map_err(|_| Error::OutOfMemory { bytes })?;
    Ok(all)
}

#[cfg(test)]
mod tests {
    use std::thread;

    use foxtrot_net::{
        Error as NetError, Reason,
        hello::{Hello, JOB},
    };

    use super::*;
    use crate::{Blame, Config, Side};

    fn hello(role: Role) -> Hello {
        Hello::new(role).term(JOB, "test")
    }

    #[test]
    fn a_job_that_takes_too_much_memory_is_refused_and_the_peer_is_told() {
        let (near, far) = foxtrot_net::memory::pair(crate::TIMEOUT);
        let mut ours = Config::insecure().max_memory(100).peer(near, Side::Initiator);
        let mut theirs = Config::insecure().peer(far, Side::Responder);
        let other = thread::spawn(move || {
            let job = theirs.begin(hello(Role::Receiver), "tests").unwrap();
            job.take_memory(u64::MAX).unwrap();
            job.finish().unwrap();
            let job = theirs.begin(hello(Role::Receiver), "tests").unwrap();
            job.finish().unwrap_err()
        });
        let job = ours.begin(hello(Role::Sender), "tests").unwrap();
        job.take_memory(60).unwrap();
        job.take_memory(100).unwrap();
        job.finish().unwrap();
        let job = ours.begin(hello(Role::Sender), "tests").unwrap();
        let error = job.take_memory(101).unwrap_err();
        let refused = HelloError::Refused(Reason::TooLarge);
        assert!(matches!(&error, Error::Session(NetError::Hello(e)) if *e == refused), "{error}");
        let told = other.join().unwrap();
        let too_large = NetError::from(ChannelError::GivenUp(Reason::TooLarge));
        assert!(matches!(&told, Error::Session(e) if *e == too_large), "{told}");
        assert_eq!(told.blame(), Blame::Agreement);
    }
}
