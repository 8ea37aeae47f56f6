//! Terms of random OTs, and the job that follows from them: the same for every door.

use core::future::Future;

use foxtrot_net::Connection;
use foxtrot_ot::{
    Bits, Context,
    base::{Block, Choice},
    extension::Shape,
    transfers::Method,
};

use crate::transfers::{memory_of_transfers, transfers};
use crate::{
    Error,
    job::{Hello, Job, Role, Sink},
};

/// The terms of one side of random OTs.
#[derive(Clone, Copy, Debug)]
pub struct RotTerms {
    /// The role of this side.
    pub role: Role,
    /// The protocols.
    pub method: Method,
    /// The number of OTs.
    pub n: usize,
}

impl RotTerms {
    /// The hello of this side.
    #[must_use]
    pub fn hello(&self) -> Hello {
        transfers("rot", self.role, &self.method, self.n)
    }

    /// The most bytes of memory that this side takes with so many threads, whatever its peer does. Keys are not counted.
    #[must_use]
    pub fn memory(&self, threads: usize) -> u64 {
        memory_of_transfers(&self.method, self.n, threads)
    }

    /// Makes the OTs to the end of the session. `take` puts choice bits and keys in their `place` batch after batch, in order; a
    /// sender has both keys of an OT one after the other, and no choice bits. Every batch but the last has a whole number of
    /// bytes of choice bits. `keep` says in the end that all stay there, as [`Job::finish_in_place`] does. Progress is in
    /// `transfers`; it is first told when the base OTs of an extension are done.
    ///
    /// # Errors
    /// [`Error::Session`]; errors of `take` and `keep`, of which the peer is told that there is one.
    pub fn run<P: Send, T, E: From<Error> + Send, C: Connection>(
        &self,
        job: Job<'_, C>,
        place: P,
        take: impl FnMut(&mut P, &Bits, &[Block]) -> Result<(), E> + Send,
        keep: impl FnOnce(P) -> Result<T, E>,
    ) -> C::Outcome<impl Future<Output = Result<T, E>>> {
        C::outcome(self.play(job, place, take, keep))
    }

    /// The future of [`run`](Self::run).
    pub(super) async fn play<P: Send, T, E: From<Error> + Send, C: Connection>(
        &self,
        mut job: Job<'_, C>,
        mut place: P,
        mut take: impl FnMut(&mut P, &Bits, &[Block]) -> Result<(), E> + Send,
        keep: impl FnOnce(P) -> Result<T, E>,
    ) -> Result<T, E> {
        let &Self { role, ref method, n } = self;
        let ((session, seed), direction) = (job.start()?, job.direction());
        let (tell, mut done) = (job.local().teller("transfers"), 0);
        let (failed, to) = (&Sink::new(), &mut place);
        job.run_into(failed, |io| async move {
            let mut cx = Context::new(&session, seed);
            let mut take = |choices: &Bits, keys: &[Block], some: usize| {
                failed.keep(take(to, choices, keys))?;
                done += some;
                tell(done, n);
                Ok(())
            };
            let set_up = &mut || tell(0, n);
            if role == Role::Sender {
                let none = Bits::from_bools([]);
                let sink =
                    &mut |pairs: &[[Block; 2]]| take(&none, pairs.as_flattened(), pairs.len());
                return method.send(&io, &mut cx, direction, Shape::random(n), set_up, sink).await;
            }
            let sink = &mut |choices: &Bits, keys: &[Block]| take(choices, keys, keys.len());
            method.receive(&io, &mut cx, direction, &Choice::Random(n), set_up, sink).await
        })
        .await?;
        job.end_in_place(|| keep(place)).await
    }
}
