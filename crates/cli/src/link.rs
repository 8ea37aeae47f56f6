//! A peer with which both sides have agreed what to do, and what the run with it costs.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use foxtrot::{
    Canceller, Counters, Error, Peer,
    job::{Agreed, Agreement, Answer, Hello, Job, Role, Table, Who},
};

use crate::{clock, failure::Failure, output::say, workers::Workers};

/// The number of keys that count against a peer's limits per day, by its details; `None` for a peer that learns nothing. Details
/// that do not suit are refused here, before the peer learns anything: a run that counts nothing would be free.
pub(crate) type Counted = Arc<dyn Fn(&Table) -> Result<Option<u64>, Failure> + Send + Sync>;

/// Counts no run.
pub(crate) fn uncounted() -> Counted {
    Arc::new(|_| Ok(None))
}

pub(crate) struct Link {
    waits: Waits,
    pub(crate) peer: Peer,
    pub(crate) agreed: Agreed,
}

/// The peer waits for the job: if there is none, it is told that something failed here.
struct Waits(Option<Canceller>);

impl Drop for Waits {
    fn drop(&mut self) {
        self.0.iter().for_each(Canceller::cancel);
    }
}

/// The cost of a run, for one party.
pub(crate) struct Cost {
    pub(crate) wall: Duration,
    pub(crate) cpu: Duration,
    pub(crate) counters: Counters,
    pub(crate) transport: &'static str,
    /// The hash of all that went over the channel, if both sides have compared it.
    pub(crate) transcript: Option<[u8; 32]>,
}

/// Why there is no link.
pub(crate) enum Unmet {
    /// The two sides do not come together.
    Apart(Error),
    /// This side ends it: the peer's details do not suit, or the beginning of the session cannot be written down.
    Here(Failure),
}

impl From<Error> for Unmet {
    fn from(error: Error) -> Self {
        Self::Apart(error)
    }
}

impl Link {
    /// The peer with which both sides have agreed.
    pub(crate) fn new(peer: Peer, agreed: Agreed) -> Self {
        Self { waits: Waits(Some(peer.canceller())), peer, agreed }
    }

    pub(crate) fn greet(mut peer: Peer, hello: Hello) -> Result<Self, Error> {
        let (agreed, ()) = peer.negotiate::<_, Error>(hello, |_| Ok(((), 0)))?;
        Ok(Self::new(peer, agreed))
    }

    /// Greets a peer. `write` writes down that the session begins before the peer learns anything of our set.
    pub(crate) fn begin(
        mut peer: Peer,
        hello: Hello,
        counted: &Counted,
        write: impl FnOnce(&Who, Option<&Agreement>) -> Result<(), Failure>,
    ) -> Result<Self, Unmet> {
        let agree = |details: &Table| match counted(details) {
            Ok(keys) => Ok(((), Answer { keys, ..Answer::default() })),
            Err(e) => Err((e.reason(), Unmet::Here(e))),
        };
        let (agreed, ()) = peer.negotiate_recorded(hello, agree, |peer, met| {
            write(peer, met.map(|(agreed, ())| agreed)).map_err(Unmet::Here)
        })?;
        Ok(Self::new(peer, agreed))
    }

    /// Runs the job to its end, on these threads, which have done nothing yet; then ends the connection.
    pub(crate) fn run<T>(
        self,
        workers: &Workers,
        job: impl FnOnce(Job<'_>) -> Result<T, Failure>,
    ) -> Result<(T, Cost), Failure> {
        self.run_and(workers, job, Ok)
    }

    /// [`run`](Self::run), and work after the end of the connection, whose time also counts.
    pub(crate) fn run_and<T, U>(
        self,
        workers: &Workers,
        job: impl FnOnce(Job<'_>) -> Result<T, Failure>,
        then: impl FnOnce(T) -> Result<U, Failure>,
    ) -> Result<(U, Cost), Failure> {
        let Self { mut waits, mut peer, agreed } = self;
        waits.0 = None;
        agreed.erased().iter().for_each(|file| say(&format!("erased {file}")));
        if workers.threads() > 1 {
            peer.use_executor(Arc::new(workers.clone()));
        }
        let (began, cpu) = (Instant::now(), clock::thread_cpu());
        let done = job(peer.job(agreed))?;
        let (counters, transport) = (peer.counters(), transport(peer.who()));
        let transcript = peer.transcript();
        peer.close()?;
        let done = then(done)?;
        let (wall, cpu) = (began.elapsed(), clock::thread_cpu() - cpu + workers.busy());
        Ok((done, Cost { wall, cpu, counters, transport, transcript }))
    }

    /// Ends the session, and tells the peer why: what it said of itself cannot be, our own input cannot be used, or something
    /// else failed here.
    pub(crate) fn refuse(&mut self, failure: Failure) -> Failure {
        self.peer.refuse(failure.reason());
        failure
    }
}

/// The medium between the parties.
pub(crate) fn transport(peer: &Who) -> &'static str {
    match (&peer.fingerprint, &peer.address) {
        (Some(_), _) => "tls",
        (None, Some(_)) => "tcp",
        // A device.
        (None, None) if peer.name.is_some() => "serial",
        (None, None) => "memory",
    }
}

impl Cost {
    /// The costs of sender and receiver, of which this is the one with that role.
    pub(crate) fn of(&self, role: Role) -> [Option<&Self>; 2] {
        match role {
            Role::Sender => [Some(self), None],
            Role::Receiver => [None, Some(self)],
        }
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use foxtrot::engine::Io;

    use super::*;

    /// Returns what the peer reads when this side has agreed with it, and does this.
    fn peer_reads(ends: impl FnOnce(Link)) -> Failure {
        let (ours, theirs) = Peer::pair();
        let peer = thread::spawn(move || {
            let link = Link::greet(theirs, Hello::new(Role::Sender)).unwrap();
            let (workers, waits) = (Workers::new(1).unwrap(), |io: Io| async move {
                io.recv(1).await;
                Ok::<_, foxtrot_ot::Error>(())
            });
            link.run(&workers, |mut job| Ok(job.play(waits)?)).map(drop).unwrap_err()
        });
        ends(Link::greet(ours, Hello::new(Role::Receiver)).unwrap());
        peer.join().unwrap()
    }

    #[test]
    fn a_peer_that_waits_for_a_job_hears_whose_fault_it_is_that_there_is_none() {
        let refused = peer_reads(|mut link| {
            let failure = link.refuse(Failure::usage("cannot read a.csv"));
            assert_eq!((failure.status(), failure.message()), (2, "cannot read a.csv"));
        });
        let own_input = "the peer gave up: it cannot use its own input or settings";
        assert_eq!((refused.status(), refused.message()), (1, own_input));
        let forgotten = peer_reads(drop);
        let failed = "the peer gave up: something failed on its side";
        assert_eq!((forgotten.status(), forgotten.message()), (1, failed));
    }
}
