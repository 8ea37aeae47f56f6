//! The protocol under the tags: base OTs, then bucket after bucket with several batches on their way at a time
//! (`docs/wire/paxos.md`, section 13).

use alloc::{collections::VecDeque, vec::Vec};

use foxtrot_ot::{
    Context, Session,
    base::{ReceiverKeys, SenderKeys},
    engine::{
        Io, Limits,
        batches::{PROOFS, WINDOW, window_limits},
    },
};

use super::{
    Absorbing, Encoded, Error, Next, Parameters, Received, Receiver, RowSeed, Sender, Sent,
    Unanswered, Unverified,
};
use crate::plan::Plan;

/// Runs the base OTs in which the sender receives.
pub(crate) async fn receive_base(
    io: &Io,
    cx: &mut Context<'_>,
    session: &Session,
    plan: Plan<'_, Parameters>,
) -> Result<ReceiverKeys, Error> {
    io.limit(limits(&plan.parameters));
    let choice = cx.choice(plan.base.info(), plan.parameters.base_ots());
    Ok(io.run(plan.base.receiver(plan.of_base(session), choice, cx.seed())?).await?)
}

/// Runs the base OTs in which the receiver sends.
pub(crate) async fn send_base(
    io: &Io,
    cx: &mut Context<'_>,
    session: &Session,
    plan: Plan<'_, Parameters>,
) -> Result<SenderKeys, Error> {
    io.limit(limits(&plan.parameters));
    let n = plan.parameters.base_ots();
    Ok(io.run(plan.base.sender(plan.of_base(session), n, cx.seed())?).await?)
}

/// Takes the receiver's words of all buckets; with the tags to be sent.
pub(crate) async fn send(
    io: &Io,
    parameters: &Parameters,
    mut sender: Sender,
    count: &mut impl FnMut(usize),
) -> Result<Sent, Error> {
    loop {
        let mut bucket = sender.open(&io.recv(RowSeed::LEN).await)?;
        absorb(io, parameters, &mut bucket, count).await?;
        match bucket.finish()? {
            Next::Bucket(next) => sender = next,
            Next::Done(sent) => return Ok(sent),
        }
    }
}

/// The batches of a bucket, as they come.
async fn absorb(
    io: &Io,
    parameters: &Parameters,
    bucket: &mut Absorbing,
    count: &mut impl FnMut(usize),
) -> Result<(), Error> {
    let mut pending = VecDeque::with_capacity(WINDOW);
    for n in parameters.batches() {
        let corrections = io.recv(parameters.extension().corrections_len(n)).await;
        let (batch, challenge) = bucket.absorb(n, &corrections)?;
        if let Some(challenge) = challenge {
            io.send(challenge.to_vec()).await;
        }
        pending.push_back((batch, n));
        let len = parameters.extension().proof_len();
        if io.on(PROOFS).wait_until_due(pending.len(), 2, len).await
            && let Some((batch, n)) = pending.pop_front()
        {
            verify(io, parameters, bucket, batch).await?;
            count(n);
        }
    }
    for (batch, n) in pending {
        verify(io, parameters, bucket, batch).await?;
        count(n);
    }
    Ok(())
}

/// Takes the proof of a batch.
async fn verify(
    io: &Io,
    parameters: &Parameters,
    bucket: &mut Absorbing,
    batch: Unverified,
) -> Result<(), Error> {
    let proof = io.on(PROOFS).recv_any(parameters.extension().proof_len()).await;
    bucket.verify(batch, &proof)
}

/// Sends the words of all buckets; then tags are to come.
pub(crate) async fn receive(
    io: &Io,
    parameters: &Parameters,
    mut receiver: Receiver,
    count: &mut impl FnMut(usize),
) -> Result<Received, Error> {
    loop {
        let (mut bucket, row_seed) = receiver.encode()?;
        io.send(row_seed.as_bytes().to_vec()).await;
        extend(io, parameters, &mut bucket, count).await?;
        match bucket.finish()? {
            Next::Bucket(next) => receiver = next,
            Next::Done(received) => return Ok(received),
        }
    }
}

/// The batches of a bucket.
async fn extend(
    io: &Io,
    parameters: &Parameters,
    bucket: &mut Encoded,
    count: &mut impl FnMut(usize),
) -> Result<(), Error> {
    let mut pending = VecDeque::with_capacity(WINDOW);
    for n in parameters.batches() {
        let len = parameters.extension().challenge_len();
        if io.wait_until_due(pending.len(), 2, len).await
            && let Some((batch, n)) = pending.pop_front()
        {
            answer(io, parameters, bucket, batch).await?;
            count(n);
        }
        let mut corrections = Vec::new();
        let batch = bucket.extend(n, &mut corrections)?;
        io.send(corrections).await;
        pending.push_back((batch, n));
    }
    for (batch, n) in pending {
        answer(io, parameters, bucket, batch).await?;
        count(n);
    }
    Ok(())
}

/// Answers the challenge to a batch.
async fn answer(
    io: &Io,
    parameters: &Parameters,
    bucket: &mut Encoded,
    batch: Unanswered,
) -> Result<(), Error> {
    let challenge = io.recv_any(parameters.extension().challenge_len()).await;
    let proof = bucket.answer(batch, &challenge)?;
    io.on(PROOFS).send_any(proof).await;
    Ok(())
}

/// The bounds of what is on its way to a party: batches of a window. A party that waits for the proof of a batch has read the
/// corrections of a window, and none follow before that proof.
pub(crate) fn limits(parameters: &Parameters) -> Limits {
    window_limits(longest(parameters))
}

/// The longest message of a batch.
fn longest(parameters: &Parameters) -> usize {
    let extension = parameters.extension();
    let corrections = parameters.batches().map(|n| extension.corrections_len(n)).max();
    corrections.unwrap_or(0).max(extension.proof_len())
}

impl Plan<'_, Parameters> {
    /// The session of the base OTs of a run.
    fn of_base(&self, session: &Session) -> Session {
        session.sub(self.base.info().name, 0, self.direction.reversed())
    }
}
