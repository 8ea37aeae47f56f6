//! The protocol under the tags: base OTs, then a VOLE and the receiver's sums for bucket after bucket
//! (`docs/wire/vole-psi.md`, section 21).

use foxtrot_ot::{
    Context, Seed, Session,
    engine::{Io, Limits, batches::window_limits},
    silent::{Gf64, Gf128, Silent, protocol as vole},
};

use super::{Field, Mask, Parameters, Planned, Receiver, Sender};
use crate::{Error, FRAME, Next, Received, RowSeed, Sent, plan::PsiPlan};

/// The sender of a VOLE, set up.
pub(crate) type SenderBelow = Field<vole::Sender<Gf128>, vole::Sender<Gf64>>;

/// The receiver of a VOLE, set up.
pub(crate) type ReceiverBelow = Field<vole::Receiver<Gf128>, vole::Receiver<Gf64>>;

/// Sets up the sender's VOLE, with all its randomness from `seed`.
pub(crate) async fn set_up_sender(
    io: &Io,
    session: &Session,
    seed: Seed,
    plan: PsiPlan<'_, Parameters>,
) -> Result<SenderBelow, Error> {
    let cx = &mut Context::new(session, seed);
    Ok(match plan.parameters.vole().field() {
        Field::Large(silent) => {
            Field::Large(vole::Sender::set_up(io, cx, plan.of_vole(silent)).await?)
        }
        Field::Small(silent) => {
            Field::Small(vole::Sender::set_up(io, cx, plan.of_vole(silent)).await?)
        }
    })
}

/// Sets up the receiver's VOLE, with all its randomness from `seed`.
pub(crate) async fn set_up_receiver(
    io: &Io,
    session: &Session,
    seed: Seed,
    plan: PsiPlan<'_, Parameters>,
) -> Result<ReceiverBelow, Error> {
    let cx = &mut Context::new(session, seed);
    Ok(match plan.parameters.vole().field() {
        Field::Large(silent) => {
            Field::Large(vole::Receiver::set_up(io, cx, plan.of_vole(silent)).await?)
        }
        Field::Small(silent) => {
            Field::Small(vole::Receiver::set_up(io, cx, plan.of_vole(silent)).await?)
        }
    })
}

/// Takes the receiver's sums of all buckets; with the tags to be sent.
pub(crate) async fn send(
    io: &Io,
    parameters: &Parameters,
    mut vole: SenderBelow,
    mut sender: Sender,
    count: &mut impl FnMut(usize),
) -> Result<Sent, Error> {
    let m = parameters.slots();
    loop {
        let (delta, w) = match &mut vole {
            Field::Large(vole) => {
                let w = vole.vole(io, m).await?;
                (vole.delta()?, w)
            }
            Field::Small(vole) => {
                let w = vole.vole(io, m).await?;
                (vole.delta()?, w)
            }
        };
        io.limit(limits(parameters));
        let mut bucket = sender.open(&io.recv(RowSeed::LEN).await)?;
        for len in parameters.sum_frames() {
            bucket.take(&io.recv(len).await)?;
        }
        let next = bucket.finish(&delta, w)?;
        count(m);
        match next {
            Next::Bucket(next) => sender = next,
            Next::Done(sent) => return Ok(sent),
        }
    }
}

/// Sends the sums of all buckets; then tags are to come.
pub(crate) async fn receive(
    io: &Io,
    parameters: &Parameters,
    mut vole: ReceiverBelow,
    mut receiver: Receiver,
    count: &mut impl FnMut(usize),
) -> Result<Received, Error> {
    let m = parameters.slots();
    loop {
        let plan = || receiver.plan();
        let encode = |planned: Result<Planned, Error>| planned?.encode();
        let (u, v, encoded) = match &mut vole {
            Field::Large(vole) => {
                let (u, v, encoded) = vole.vole_beside(io, m, plan, encode).await?;
                (Mask::Large(u), v, encoded)
            }
            Field::Small(vole) => {
                let (u, v, encoded) = vole.vole_beside(io, m, plan, encode).await?;
                (Mask::Small(u), v, encoded)
            }
        };
        io.limit(limits(parameters));
        let (bucket, row_seed, sums) = encoded?.mask(u, v)?;
        io.send(row_seed.as_bytes().to_vec()).await;
        for frame in sums.chunks(FRAME) {
            io.send(frame.to_vec()).await;
        }
        drop(sums);
        let next = bucket.finish()?;
        count(m);
        match next {
            Next::Bucket(next) => receiver = next,
            Next::Done(received) => return Ok(received),
        }
    }
}

/// The bounds of what is on its way to a party between the VOLE's batches.
pub(crate) fn limits(parameters: &Parameters) -> Limits {
    let frames = parameters.sum_frames().take(1).chain(parameters.tag_frames().take(1));
    window_limits(frames.max().unwrap_or(0).max(RowSeed::LEN))
}

/// The bounds of a whole run: of the VOLE's batches, and between them.
pub(crate) fn most_ahead(parameters: &Parameters) -> Limits {
    let between = limits(parameters);
    let within = match parameters.vole().field() {
        Field::Large(silent) => vole::limits(&silent),
        Field::Small(silent) => vole::limits(&silent),
    };
    Limits { len: between.len.max(within.len), ..within }
}

impl<'a> PsiPlan<'a, Parameters> {
    fn of_vole<F>(&self, silent: Silent<F>) -> vole::ExtensionPlan<'a, Silent<F>> {
        vole::ExtensionPlan {
            extension: silent,
            base: self.base,
            direction: self.direction,
            counter: 0,
        }
    }
}
