//! This side's part of a connection: its limits and its policy, which admit jobs.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::SystemTime,
};

#[cfg(feature = "policy")]
use foxtrot_net::hello::POLICY;
use foxtrot_net::{
    HelloError, Reason,
    daily::{Denied, MostPerDay},
    gate::{Full, Gate, Pass},
    hello::{Hello, Table},
    listen::Silent,
};
use foxtrot_ot::Session;

use super::{
    Bound, ChannelBinding, Offer, Progress, Seed, Sessions, Settings, Side, Tell, Who, lock,
};
use crate::Error;
#[cfg(feature = "policy")]
use crate::{
    policy::Forbidden,
    psi_terms::{FUNCTION, peer_learns},
};

/// This side's part of a connection: its limits, and what it knows of the peer.
pub(crate) struct Local {
    pub(crate) progress: Option<Tell>,
    /// The right to run jobs, once it is there; it counts the memory of the job.
    pub(crate) pass: Mutex<Option<Pass>>,
    /// For test vectors: the seed of all jobs.
    pub(super) seed: Option<Seed>,
    pub(super) side: Side,
    pub(super) who: Who,
    pub(super) bound: Bound,
    /// The source of the right to run jobs, and the peer under which it is counted.
    pub(super) gate: Option<(Arc<Gate>, String)>,
    pub(crate) settings: Settings,
    /// Bits of the puzzle that a stranger solves.
    pub(super) puzzle: u8,
    pub(super) silent: Option<Silent>,
    /// The number of jobs that have begun.
    pub(super) jobs: u64,
    pub(super) is_cancelled: Arc<AtomicBool>,
    /// The first error of this side that ended the connection; the connection knows only that it ended.
    pub(super) failed: Mutex<Option<Error>>,
}

/// The reason why this side ends a negotiation.
pub(super) struct Refusal<E> {
    pub(super) told: Told,
    pub(super) error: E,
}

/// The word to the peer about it.
pub(super) enum Told {
    GivenUp(HelloError),
    /// The peer has done nothing wrong, and what it sends meanwhile is dropped.
    Refused(Reason),
}

/// This side refuses the session for that reason.
pub(super) const fn told(reason: Reason) -> Told {
    Told::GivenUp(HelloError::Refused(reason))
}

impl<E: From<Error>> From<(Told, Error)> for Refusal<E> {
    fn from((told, error): (Told, Error)) -> Self {
        Self { told, error: error.into() }
    }
}

impl Local {
    /// Looks for base OTs that were kept of an earlier session with this peer under the same terms. Returns also which files
    /// were erased in place of that.
    pub(super) fn offer(&self, hello: &Hello) -> Result<(Option<Offer>, Vec<String>), Error> {
        let Some(tickets) = &self.settings.tickets else { return Ok(Default::default()) };
        let Some(sessions) = Sessions::of(hello)? else { return Ok(Default::default()) };
        if !matches!(self.bound, Bound::Tls(_)) {
            return Err(Error::Config("base OTs are kept for peers with keys only"));
        }
        let (offer, erased) = tickets.offer(sessions)?;
        Ok((Some(offer), erased))
    }

    /// Fails, before anything is sent, if the policy forbids what the hello says, this peer or this day. Returns the policy's
    /// limits per day, if it has some for the peer of such a job. With the error comes what the peer is told.
    #[cfg(feature = "policy")]
    pub(super) fn keep_policy(
        &self,
        hello: &Hello,
    ) -> Result<Option<MostPerDay>, (Option<Reason>, Error)> {
        let Some(policy) = &self.settings.policy else { return Ok(None) };
        policy.check_hello(hello).map_err(|why| (None, Error::Forbidden(why)))?;
        let allowed = policy.check_day(SystemTime::now());
        #[cfg(feature = "tls")]
        let allowed =
            allowed.and(policy.check_key(hello.role().other(), self.who.fingerprint.as_ref()));
        let forbid = |why| (Some(Reason::OwnInput), self.fail(Error::Forbidden(why)));
        allowed.map_err(forbid)?;
        let Some(most) = policy.most_per_day().filter(|_| peer_learns(hello)) else {
            return Ok(None);
        };
        match &self.settings.daily {
            Some(daily) if daily.has_file() => Ok(Some(most)),
            _ => Err((
                None,
                Error::Config(
                    "the policy has limits per day, and no file keeps their counts; `Config::per_day` takes one",
                ),
            )),
        }
    }

    #[cfg(not(feature = "policy"))]
    #[expect(clippy::unnecessary_wraps, clippy::unused_self, reason = "there are no policies")]
    pub(super) fn keep_policy(
        &self,
        _hello: &Hello,
    ) -> Result<Option<MostPerDay>, (Option<Reason>, Error)> {
        Ok(None)
    }

    /// Fails if the policy forbids what the peer's details say.
    #[cfg_attr(
        not(feature = "policy"),
        expect(
            unused_variables,
            clippy::unnecessary_wraps,
            clippy::unused_self,
            reason = "there are no policies"
        )
    )]
    pub(super) fn check_details<E: From<Error>>(
        &self,
        hello: &Hello,
        details: &Table,
    ) -> Result<(), Refusal<E>> {
        #[cfg(feature = "policy")]
        if let Some(policy) = &self.settings.policy {
            let checked =
                policy.check_details(hello.term_of(FUNCTION), hello.role().other(), details);
            checked.map_err(|why| self.forbid(why))?;
        }
        Ok(())
    }

    /// Fails if the policy forbids the details that this side would tell.
    #[cfg_attr(
        not(feature = "policy"),
        expect(
            unused_variables,
            clippy::unnecessary_wraps,
            clippy::unused_self,
            reason = "there are no policies"
        )
    )]
    pub(super) fn check_answer<E: From<Error>>(&self, answer: &Hello) -> Result<(), Refusal<E>> {
        #[cfg(feature = "policy")]
        if let Some(policy) = &self.settings.policy {
            policy.check_hello(answer).map_err(|why| self.forbid(why))?;
        }
        Ok(())
    }

    /// The policy forbids the job, of which the peer is told.
    #[cfg(feature = "policy")]
    pub(super) fn forbid<E: From<Error>>(&self, why: Forbidden) -> Refusal<E> {
        (told(Reason::Forbidden), self.fail(Error::Forbidden(why))).into()
    }

    /// The hello of a job with what this connection adds to it.
    pub(super) fn describe(&self, hello: Hello, seed: Option<&[u8; 32]>) -> Hello {
        let hello = match &self.settings.application {
            Some(application) => hello.term("application", application),
            None => hello,
        };
        #[cfg(feature = "policy")]
        let hello = match &self.settings.policy {
            Some(policy) => {
                let hello = hello.term(POLICY, policy.id());
                // Hashes of a few words can be guessed: strangers do not see them.
                match self.bound {
                    Bound::Tls(_) => hello.rules(policy.rules_by_name()),
                    _ => hello,
                }
            }
            None => hello,
        };
        let hello = match &self.bound {
            Bound::No => hello,
            Bound::Stream(exporter) => {
                let hello = hello.side(self.side == Side::Initiator);
                match exporter {
                    Some(ChannelBinding(exporter)) => hello.bound_by(*exporter),
                    None => hello,
                }
            }
            Bound::Tls(binding) => hello.bound_to(*binding),
        };
        let hello = if self.puzzle > 0 { hello.puzzle(self.puzzle) } else { hello };
        match seed {
            Some(seed) => hello.with_nonce(nonce_of(seed, self.side)),
            None => hello,
        }
    }

    /// Admits a job that takes so many bytes, and in which the peer can test so many keys, by the limits of this side, and by
    /// these of its policy per day.
    pub(super) fn admit(
        &self,
        memory: u64,
        keys: Option<u64>,
        also: Option<MostPerDay>,
    ) -> Result<(), (Told, Error)> {
        self.pass_gate(memory).map_err(|full| self.refuse(full))?;
        let (daily, keys) = match (&self.settings.daily, keys) {
            (Some(daily), Some(keys)) => (daily, keys),
            (_, None) if also.is_some() => {
                let why = "the policy has limits per day, and the job counts no keys";
                return Err((told(Reason::Other), self.fail(Error::Config(why))));
            }
            _ => return Ok(()),
        };
        let also = also.unwrap_or_default();
        let counted = daily.take(&self.who.learns_as(), keys, also, SystemTime::now());
        counted.map_err(|denied| match denied {
            Denied::Full(full) => self.refuse(full),
            Denied::File(why) => (told(Reason::Other), self.fail(Error::Limits(why))),
        })
    }

    pub(super) fn refuse(&self, full: Full) -> (Told, Error) {
        (Told::Refused(full.reason()), self.fail(Error::Full(full)))
    }

    pub(super) fn pass_gate(&self, bytes: u64) -> Result<(), Full> {
        let pass = &mut *lock(&self.pass);
        match (&mut *pass, &self.gate) {
            (Some(pass), _) => pass.takes(bytes)?,
            (None, Some((gate, counted_as))) => *pass = Some(gate.admit(counted_as, bytes)?),
            (None, None) => {}
        }
        Ok(())
    }

    /// Counts no memory any more: there is no job.
    pub(crate) fn release(&self) {
        if let Some(pass) = &mut *lock(&self.pass) {
            // No bytes fit always.
            let _ = pass.takes(0);
        }
    }

    /// The error of the job: that it was cancelled, if it was, or the error of this side that ended the connection.
    pub(crate) fn explain(&self, error: foxtrot_net::Error) -> Error {
        match self.is_cancelled.load(Ordering::SeqCst) {
            true => Error::Cancelled,
            false => lock(&self.failed).clone().unwrap_or(Error::Session(error)),
        }
    }

    /// Keeps an error of this side that ends the connection: later jobs return it.
    pub(crate) fn fail(&self, error: Error) -> Error {
        lock(&self.failed).get_or_insert(error).clone()
    }

    /// Tells the caller how many of all are done, whenever some more are.
    pub(crate) fn counter(
        &self,
        of: usize,
        unit: &'static str,
    ) -> impl FnMut(usize) + Send + use<> {
        let (tell, mut done) = (self.teller(unit), 0);
        move |more| {
            done += more;
            tell(done, of);
        }
    }

    /// Tells the caller how many of how many are done.
    pub(crate) fn teller(&self, unit: &'static str) -> impl Fn(usize, usize) + Send + Sync + use<> {
        let tell = self.progress.clone();
        move |done, of| {
            if let Some(tell) = &tell {
                tell(Progress { done, of, unit });
            }
        }
    }

    /// The number of threads that compute for this side.
    pub(crate) fn threads(&self) -> usize {
        self.settings.executor.as_ref().map_or(1, |it| it.threads())
    }
}

/// A nonce for vectors: of both sides different, also with one seed.
fn nonce_of(seed: &[u8; 32], side: Side) -> [u8; 32] {
    let session = Session::new(foxtrot_ot::Sid::from_bytes(*seed));
    session.oracle("foxtrot v1 vectors").query(0, u8::from(side == Side::Responder)).finish()
}
