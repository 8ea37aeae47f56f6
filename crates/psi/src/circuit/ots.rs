//! The silent protocols of a run, VOLE and random OTs, one after another in the same memory. Each has base OTs and a set-up of its own.

use core::mem;

use foxtrot_ot::{
    Bits, Context, Direction, Session,
    base::{BaseOt, Block, Choice},
    engine::Io,
    erase::Secret,
    extension::Shape,
    silent::{Field, Scratch, Silent, ot_16_semi_honest, ot_semi_honest, protocol},
};
use foxtrot_triples::bits;

use super::products::words;
use crate::Error;

/// The common part of the silent protocols of a run.
pub(super) struct Ots<'a> {
    pub(super) base: &'static dyn BaseOt,
    /// The direction in which the sender of the run sends.
    pub(super) direction: Direction,
    /// The run's namespace.
    pub(super) session: &'a Session,
    /// Memory that those so far have left.
    pub(super) scratch: Scratch,
}

/// Random OTs in one direction.
#[derive(Clone, Copy)]
pub(super) struct Run {
    pub(super) name: &'static str,
    pub(super) direction: Direction,
    /// The number of triples whose OTs come first.
    pub(super) triples: usize,
    /// The number of OTs after these.
    pub(super) others: usize,
}

impl Ots<'_> {
    /// A namespace of the run.
    pub(super) fn sub(&self, name: &'static str) -> Session {
        self.session.sub(name, 0, Default::default())
    }

    /// A sender of a silent protocol, set up, with the memory.
    pub(super) async fn sender<F: Field>(
        &mut self,
        io: &Io,
        cx: &mut Context<'_>,
        (name, direction): (&'static str, Direction),
        extension: Silent<F>,
    ) -> Result<protocol::Sender<F>, Error> {
        let (session, base) = (self.sub(name), self.base);
        let plan = protocol::ExtensionPlan { extension, base, direction, counter: 0 };
        let mut cx = Context::new(&session, cx.seed());
        let mut sender = protocol::Sender::set_up(io, &mut cx, plan).await?;
        *sender.scratch() = mem::take(&mut self.scratch);
        Ok(sender)
    }

    /// A receiver of a silent protocol, set up, with the memory.
    pub(super) async fn receiver<F: Field>(
        &mut self,
        io: &Io,
        cx: &mut Context<'_>,
        (name, direction): (&'static str, Direction),
        extension: Silent<F>,
    ) -> Result<protocol::Receiver<F>, Error> {
        let (session, base) = (self.sub(name), self.base);
        let plan = protocol::ExtensionPlan { extension, base, direction, counter: 0 };
        let mut cx = Context::new(&session, cx.seed());
        let mut receiver = protocol::Receiver::set_up(io, &mut cx, plan).await?;
        *receiver.scratch() = mem::take(&mut self.scratch);
        Ok(receiver)
    }

    /// Sends n one-of-sixteen OTs for look-ups: their tables.
    pub(super) async fn send_look_ups(
        &mut self,
        io: &Io,
        cx: &mut Context<'_>,
        n: usize,
        count: &mut impl FnMut(usize),
    ) -> Result<Secret<[u8; 2]>, Error> {
        let mut tables = Secret::with_capacity(n);
        let sink = |some: &[[u8; 2]]| {
            tables.0.extend_from_slice(some);
            count(some.len());
            Ok(())
        };
        let of_look_ups = ("circuit look-ups", self.direction);
        let mut sender = self.sender(io, cx, of_look_ups, ot_16_semi_honest()).await?;
        sender.random(io, n, sink).await?;
        self.scratch = mem::take(sender.scratch());
        Ok(tables)
    }

    /// Receives n one-of-sixteen OTs for look-ups: their choices, each with 16 added if its bit is 1.
    pub(super) async fn receive_look_ups(
        &mut self,
        io: &Io,
        cx: &mut Context<'_>,
        n: usize,
        count: &mut impl FnMut(usize),
    ) -> Result<Secret<u8>, Error> {
        let mut choices = Secret::with_capacity(n);
        let sink = |some: &[u8]| {
            choices.0.extend_from_slice(some);
            count(some.len());
            Ok(())
        };
        let of_look_ups = ("circuit look-ups", self.direction);
        let mut receiver = self.receiver(io, cx, of_look_ups, ot_16_semi_honest()).await?;
        receiver.random(io, n, sink).await?;
        self.scratch = mem::take(receiver.scratch());
        Ok(choices)
    }

    /// Sends random OTs: for triples, and pairs of keys.
    pub(super) async fn send(
        &mut self,
        io: &Io,
        cx: &mut Context<'_>,
        run: Run,
        count: &mut impl FnMut(usize),
    ) -> Result<(bits::Sent, Secret<[Block; 2]>), Error> {
        let Run { name, direction, triples, others } = run;
        let (mut sent, mut pairs) = (bits::Sent::new(triples), Secret::with_capacity(others));
        let n = bits::ots(triples) + others;
        if n == 0 {
            return Ok((sent, pairs));
        }
        let sink = |some: &[[Block; 2]]| {
            pairs.0.extend_from_slice(sent.add(some));
            count(some.len());
            Ok(())
        };
        let mut sender = self.sender(io, cx, (name, direction), ot_semi_honest()).await?;
        sender.random(io, Shape::random(n), sink).await?;
        self.scratch = mem::take(sender.scratch());
        Ok((sent, pairs))
    }

    /// Receives random OTs: for triples, and of the others the choices, packed, and the keys.
    pub(super) async fn receive(
        &mut self,
        io: &Io,
        cx: &mut Context<'_>,
        run: Run,
        count: &mut impl FnMut(usize),
    ) -> Result<(bits::Received, Secret<u64>, Secret<Block>), Error> {
        let Run { name, direction, triples, others } = run;
        let (mut received, mut keys) =
            (bits::Received::new(triples), Secret::with_capacity(others));
        let mut choices = Secret::with_capacity(others / 8);
        let n = bits::ots(triples) + others;
        if n == 0 {
            return Ok((received, words(&choices), keys));
        }
        let sink = |bits: &Bits, some: &[Block]| {
            let taken = received.add(bits, some);
            choices.0.extend_from_slice(&bits.as_bytes()[taken / 8..]);
            keys.0.extend_from_slice(&some[taken..]);
            count(some.len());
            Ok(())
        };
        let mut receiver = self.receiver(io, cx, (name, direction), ot_semi_honest()).await?;
        receiver.random(io, &Choice::Random(n), sink).await?;
        self.scratch = mem::take(receiver.scratch());
        Ok((received, words(&choices), keys))
    }
}
