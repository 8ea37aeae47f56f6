//! `silent/vole`: one batch of silent VOLE; `silent/cot`: random OTs of silent OT. From nothing, base OTs included; the tables
//! of the code are made once for a process.

use std::{hint::black_box, time::Instant};

use foxtrot_cli::shared::{Extension, Failure, Method, Workers, params, security};
use foxtrot_kernel::gf::gf128;
use foxtrot_net::drive;
use foxtrot_ot::{
    Backend, Bits, Context, Direction, Seed, Session, Sid,
    base::{BaseOt, Block, Choice},
    engine::Engine,
    erase::Secret,
    extension::{ROWS, Shape},
    pair::{Pair, PairParty},
    silent::{
        self, Silent,
        protocol::{ExtensionPlan, Receiver, Sender},
    },
};

use super::{
    Measured, Setting, effort,
    ext::{
        AT_LEAST, MEASURE_FOR, RECEIVER, SENDER, Sample, check_bytes,
        memory::{Meter, seed},
    },
    over::{Over, both},
};

/// The correlation that is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    Vole,
    Cot,
}

impl Protocol {
    pub(super) const ALL: [Self; 2] = [Self::Vole, Self::Cot];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Vole => "vole",
            Self::Cot => "cot",
        }
    }

    /// Outputs; a million items of set intersection take the last one of VOLE.
    pub(super) fn sizes(self) -> &'static [usize] {
        match self {
            Self::Vole => &[1 << 12, 1 << 16, 1_179_648],
            Self::Cot => &[1 << 20, 1 << 22, 1 << 24],
        }
    }
}

pub(super) fn run(protocol: Protocol, setting: &Setting<'_>) -> Result<Measured, Failure> {
    let Setting { n, base, .. } = *setting;
    let (info, announced) = match protocol {
        Protocol::Vole => {
            let it = silent::vole();
            (it.info(), [it.sender_bytes(n), it.receiver_bytes(n)])
        }
        Protocol::Cot => {
            let it = silent::ot();
            (it.info(), [it.sender_bytes(n), it.receiver_bytes(n)])
        }
    };
    let samples = effort::repeat(setting.effort, (MEASURE_FOR, AT_LEAST), || {
        let sample = match protocol {
            Protocol::Vole => sample(setting, vole_sender, vole_receiver, relation)?,
            Protocol::Cot => sample(setting, cot_sender, cot_receiver, |(), ()| true)?,
        };
        check_bytes(info.name, (base, ROWS), announced, sample.bytes)?;
        Ok(sample)
    })?;
    let method = Method { base, extension: Extension::Silent(silent::ot()) };
    let params = params(&method).replace(silent::ot().info().params, info.params);
    let name = format!("silent/{}", protocol.name());
    Ok(Measured::of_both(name, params, security(&method), setting, samples))
}

/// A party's run of n outputs over that base OT.
type Start<Out> = fn(Session, Seed, usize, &'static dyn BaseOt) -> Engine<'static, Out>;

/// One run, over nothing or a channel; `fit` looks at both outputs of the former.
fn sample<S, R>(
    setting: &Setting<'_>,
    sender: Start<S>,
    receiver: Start<R>,
    fit: fn(S, R) -> bool,
) -> Result<Sample, Failure> {
    let Setting { n, over, base, workers, .. } = *setting;
    let session = |workers: &Workers| workers.in_session(Session::new(Sid::from_bytes([0; 32])));
    if over != Over::Memory {
        return both(
            over,
            workers,
            |end| {
                let engine = sender(session(end.workers), drive::fresh_seed()?, n, base);
                drive::run(end.channel, engine).map(|out| drop(black_box(out)))
            },
            |end| {
                let engine = receiver(session(end.workers), drive::fresh_seed()?, n, base);
                drive::run(end.channel, engine).map(|out| drop(black_box(out)))
            },
        );
    }
    let started = Instant::now();
    let workers = [workers.for_another(), workers.for_another()];
    let sender = sender(session(&workers[SENDER]), seed(1), n, base);
    let receiver = receiver(session(&workers[RECEIVER]), seed(2), n, base);
    let (mut meter, mut last) = (Meter::start(), SENDER);
    let outputs = Pair::new(sender, receiver).run_through(|party, message| {
        last = match party {
            PairParty::Sender => SENDER,
            PairParty::Receiver => RECEIVER,
        };
        meter.end(last);
        meter.sent(last, message.len());
        meter.begin();
        message
    });
    // Who got the last message has the last step.
    meter.end(1 - last);
    let (sent, received) = outputs.map_err(|(_, error)| error)?;
    if !fit(sent, received) {
        return Err(Failure::run("the parties' outputs do not fit"));
    }
    Ok(meter.sample(started, &workers))
}

fn plan<F>(extension: Silent<F>, base: &'static dyn BaseOt) -> ExtensionPlan<'static, Silent<F>> {
    ExtensionPlan { extension, base, direction: Direction::InitiatorSends, counter: 0 }
}

/// Δ and W.
type Sent = (u128, Secret<u128>);

fn vole_sender(
    session: Session,
    seed: Seed,
    n: usize,
    base: &'static dyn BaseOt,
) -> Engine<'static, Sent> {
    Engine::new(move |io| async move {
        let mut cx = Context::new(&session, seed);
        let mut sender = Sender::set_up(&io, &mut cx, plan(silent::vole(), base)).await?;
        let w = sender.vole(&io, n).await?;
        Ok((*sender.delta()?, w))
    })
}

/// U and V.
type Received = (Secret<u128>, Secret<u128>);

fn vole_receiver(
    session: Session,
    seed: Seed,
    n: usize,
    base: &'static dyn BaseOt,
) -> Engine<'static, Received> {
    Engine::new(move |io| async move {
        let mut cx = Context::new(&session, seed);
        let mut receiver = Receiver::set_up(&io, &mut cx, plan(silent::vole(), base)).await?;
        receiver.vole(&io, n).await
    })
}

/// Looks at some of the outputs.
fn relation((delta, w): Sent, (u, v): Received) -> bool {
    let mut all = u.iter().zip(v.iter()).zip(w.iter()).step_by(97);
    all.all(|((u, v), w)| *v == w ^ gf128::mul(Backend::best(), *u, delta))
}

fn cot_sender(
    session: Session,
    seed: Seed,
    n: usize,
    base: &'static dyn BaseOt,
) -> Engine<'static, ()> {
    Engine::new(move |io| async move {
        let mut cx = Context::new(&session, seed);
        let mut sender = Sender::set_up(&io, &mut cx, plan(silent::ot(), base)).await?;
        let sink = |keys: &[[Block; 2]]| {
            black_box(keys);
            Ok(())
        };
        sender.random(&io, Shape::random(n), sink).await
    })
}

fn cot_receiver(
    session: Session,
    seed: Seed,
    n: usize,
    base: &'static dyn BaseOt,
) -> Engine<'static, ()> {
    Engine::new(move |io| async move {
        let mut cx = Context::new(&session, seed);
        let mut receiver = Receiver::set_up(&io, &mut cx, plan(silent::ot(), base)).await?;
        let sink = |choices: &Bits, keys: &[Block]| {
            black_box((choices, keys));
            Ok(())
        };
        receiver.random(&io, &Choice::Random(n), sink).await
    })
}
