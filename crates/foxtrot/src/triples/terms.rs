//! Terms of triples, the memory that they take, and the job that follows from them: the same for every door.

use core::{future::Future, ops::Range};

use foxtrot_net::{
    Connection, HelloError, Reason,
    hello::{self, Agreement, Hello, JOB, Role, Table, hexadecimal},
};
use foxtrot_ot::{Context, Session, Sid};
use foxtrot_triples::{BASE, DEFAULT_SIGMA, Shares, TripleKind, formats::triples_per_record};

use crate::{
    Error,
    job::{Job, Sink, refused},
    transfers::{ALWAYS, memory_of_transfers, most_ahead},
};

/// The term of which run of `triples` goes on.
const RUN: &str = "run";
/// The term for the method of `triples`.
const METHOD: &str = "method";
/// The offer that tells how many batches of a run of `triples` are there.
const BATCHES: &str = "whole-batches";

/// The terms of one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriplesTerms {
    /// The role of this side, which only tells the two parties apart.
    pub role: Role,
    /// The method with its parameters.
    pub kind: TripleKind,
    /// The number of triples.
    pub count: u64,
    /// The run that goes on; `None` begins one.
    pub earlier: Option<EarlierRun>,
}

/// A run of which this side has kept batches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EarlierRun {
    /// The name of the run and its first session.
    pub run: TriplesRun,
    /// Whole batches that this side has.
    pub batches: u64,
}

/// A run of one or several sessions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriplesRun {
    /// The id of its first session; records of an earlier version lack it.
    pub session: Option<[u8; 32]>,
    /// Its name: a digest of the first session and of the terms.
    pub name: String,
}

/// The terms on which both sides agree.
#[derive(Clone, Debug)]
pub struct TriplesAgreement {
    /// Our terms.
    pub terms: TriplesTerms,
    /// The run.
    pub run: TriplesRun,
    /// The batches that this session makes: all that one side lacks.
    pub batches: Range<u64>,
}

impl TriplesTerms {
    /// The hello of this side.
    #[must_use]
    pub fn hello(&self) -> Hello {
        let (run, batches) = match &self.earlier {
            Some(EarlierRun { run, batches }) => (run.name.as_str(), *batches),
            None => ("new", 0),
        };
        triples(self.role, self.kind, self.count, run, batches)
    }

    /// Agrees with the peer of a session that both sides have negotiated.
    ///
    /// # Errors
    /// [`Error`], with what the peer is told: [`Error::OtherRun`].
    pub fn agree(&self, agreement: &Agreement) -> Result<TriplesAgreement, (Reason, Error)> {
        let all = self.kind.batches(self.count);
        let theirs = peers_batches(&agreement.peer_offers, all).map_err(refused)?;
        let digest = agreement.terms_digest(&[RUN]);
        let named = |session: [u8; 32]| {
            let name = run_of(Sid::from_bytes(session), &digest);
            TriplesRun { session: Some(session), name }
        };
        let (run, ours) = match &self.earlier {
            None => (named(*agreement.sid.as_bytes()), 0),
            Some(EarlierRun { run, batches }) => {
                // It goes on only between the same keys and under the same terms.
                if run.session.map(named).as_ref() != Some(run) {
                    return Err((Reason::OwnInput, Error::OtherRun));
                }
                (run.clone(), *batches)
            }
        };
        Ok(TriplesAgreement { terms: self.clone(), run, batches: ours.min(theirs)..all })
    }
}

impl TriplesAgreement {
    /// The number of triples that this session makes.
    #[must_use]
    pub fn made(&self) -> u64 {
        let (Range { start, end }, usable) = (&self.batches, self.terms.kind.usable() as u64);
        if start == end { 0 } else { self.terms.count - start * usable }
    }

    /// Makes the batches to the end of the session. `take` gets them in order; the last may have more triples than are left.
    /// Of 1 bit, a share is a word of 64 triples. Progress is in `triples`.
    ///
    /// # Errors
    /// [`Error::Session`]; errors of `take`, of which the peer is told that there is one.
    pub fn run<E: From<Error> + Send, C: Connection>(
        &self,
        job: Job<'_, C>,
        take: impl FnMut(&Shares) -> Result<(), E> + Send,
    ) -> C::Outcome<impl Future<Output = Result<(), E>>> {
        C::outcome(self.play(job, take))
    }

    /// The future of [`run`](Self::run).
    pub(super) async fn play<E: From<Error> + Send, C: Connection>(
        &self,
        mut job: Job<'_, C>,
        mut take: impl FnMut(&Shares) -> Result<(), E> + Send,
    ) -> Result<(), E> {
        let TriplesTerms { kind, count, .. } = self.terms;
        let (batches, mut left) = (self.batches.clone(), self.made());
        if batches.is_empty() {
            return Ok(job.end().await?);
        }
        let ((session, seed), initiator) = (job.start()?, job.agreement().we_are_initiator);
        let (tell, made, failed) = (job.local().teller("triples"), left, &Sink::new());
        let told = |left: u64| usize::try_from(left).unwrap_or(usize::MAX);
        job.run_into(failed, |io| async move {
            let mut cx = Context::new(&session, seed);
            let mut sink = |shares: &Shares| {
                failed.keep(take(shares))?;
                left = left.saturating_sub((shares.len() * triples_per_record(kind.bits())) as u64);
                tell(told(made - left), told(made));
                Ok(())
            };
            kind.generate(&io, &mut cx, initiator, batches, count, &mut sink).await
        })
        .await?;
        Ok(job.end().await?)
    }
}

/// The name of a run of triples, after the first session of the run. The run goes on only under the same terms between the
/// same keys: `digest` is the [`Agreement::terms_digest`](crate::job::Agreement::terms_digest) without [`RUN`].
fn run_of(first: Sid, digest: &[u8; 32]) -> String {
    hexadecimal(
        &Session::new(first)
            .oracle("foxtrot v1 triples run")
            .query(0, 0)
            .field(digest)
            .finish::<32>(),
    )
}

/// The hello of `count` triples, of a run with this name of which so many batches are there. The roles only tell the
/// parties apart.
#[must_use]
pub fn triples(role: Role, kind: TripleKind, count: u64, run: &str, batches: u64) -> Hello {
    Hello::new(role)
        .term(JOB, "triples")
        .term(METHOD, kind.method())
        .term("adversary", "semi-honest")
        .term("bits", kind.bits())
        .term("sigma", kind.sigma().unwrap_or(DEFAULT_SIGMA))
        .term("count", count)
        .term(RUN, run)
        .offer(BATCHES, batches)
}

/// Returns the number of whole batches that the peer says it has, at most a given one.
///
/// # Errors
/// [`HelloError::Offer`].
pub fn peers_batches(offers: &Table, most: u64) -> Result<u64, HelloError> {
    hello::number(offers, BATCHES, "its number of whole batches", most)
}

/// The most bytes of memory that either side of so many triples takes, with so many threads, whatever its peer does: base OTs, batches at
/// work, and what the peer sends ahead. Shares that the caller keeps are not counted. For 10^6 triples of `rlwe-64` it is 113 MB; the
/// command's whole process took 55 MB.
pub(super) fn memory_of_triples(kind: TripleKind, count: u64, threads: usize) -> u64 {
    /// Batches at work at once, beside one for each thread, and how much more one takes there than its longest message.
    const BATCHES: u64 = 4;
    const WORK: u64 = 8;
    match kind {
        TripleKind::Bits(set) => {
            let ots = usize::try_from(count).map_or(usize::MAX, |n| n.saturating_mul(2));
            memory_of_transfers(&set.method(BASE), ots, threads) + set.usable() as u64
        }
        TripleKind::Rlwe(_) | TripleKind::Gilboa(_) => {
            let limits = kind.limits();
            let work = WORK * limits.len as u64 * (BATCHES + threads as u64);
            ALWAYS + work + most_ahead(&limits)
        }
    }
}

#[cfg(test)]
mod tests {
    use foxtrot_net::hello::of_hexadecimal;

    use super::*;

    #[test]
    fn a_run_has_the_name_of_the_schoolbook_implementation() {
        // Of another package, which has it in the repository only.
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../ot/tests/vectors/resumed.json");
        let vectors = std::fs::read_to_string(path).unwrap();
        let vectors: serde_json::Value = serde_json::from_str(&vectors).unwrap();
        let run = &vectors["triples"][0];
        let bytes = |key: &str| of_hexadecimal(run[key].as_str().unwrap()).unwrap();
        let named = run_of(Sid::from_bytes(bytes("sid")), &bytes("digest"));
        assert_eq!(named, run["run"].as_str().unwrap());
    }
}
