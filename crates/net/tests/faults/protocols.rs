//! Whole sessions of what stands on base OTs: extensions, sets in common, triples.

use core::time::Duration;

use foxtrot_net::{
    Channel, Error, drive,
    hello::{self, Hello, Role},
};
use foxtrot_ot::{
    Bits, Direction, Seed, Session,
    base::{Adversary, Block, Choice, roted::Endemic},
    engine::Abandoned,
    extension::{self, OtKind, Shape, one_of_n, protocol, two_round},
};
use foxtrot_psi::{
    Digest,
    method::protocol::{IntersectionPlan as Agreed, Receiver, Sender},
    paxos::Parameters,
};
use foxtrot_triples::{
    Shares,
    formats::{record_len, write_records, wrong_records},
    gilboa,
    params::{TOY, TOY_LIFT},
    rlwe,
};

use crate::{
    honest::{Frame, frames_of},
    session::{LONG, bounded},
    stream::{Plan, Way, Wire},
};

/// The job of the two parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Protocol {
    /// 1-of-2 OTs of this name.
    Extension(&'static str, Adversary),
    /// 1-of-N OTs of this name.
    OneOfN(&'static str, Adversary),
    /// An extension that is one message of each party.
    TwoRound,
    /// Sets of these sizes, the receiver's and the sender's.
    Psi(Adversary, usize, usize),
    /// Triples from ring-LWE, with the MSB fix or lifted.
    Rlwe { lift: bool },
    /// Triples from OTs.
    Gilboa,
}

/// The end of a party, and what it has given away by then.
pub(crate) struct Party {
    pub(crate) result: Result<(), Error>,
    pub(crate) output: Vec<u8>,
}

/// Both, with what was written, by [`Way`].
pub(crate) struct Both {
    pub(crate) sender: Party,
    pub(crate) receiver: Party,
    pub(crate) logs: [Vec<u8>; 2],
}

/// All, small.
pub(crate) const PROTOCOLS: [Protocol; 11] = [
    Protocol::Extension("softspoken", Adversary::Malicious),
    Protocol::Extension("softspoken", Adversary::SemiHonest),
    Protocol::Extension("kos", Adversary::Malicious),
    Protocol::OneOfN("oos", Adversary::Malicious),
    Protocol::OneOfN("kkrt", Adversary::SemiHonest),
    Protocol::TwoRound,
    Protocol::Psi(Adversary::Malicious, OURS, THEIRS),
    Protocol::Psi(Adversary::SemiHonest, OURS, THEIRS),
    Protocol::Rlwe { lift: false },
    Protocol::Rlwe { lift: true },
    Protocol::Gilboa,
];

const OURS: usize = 40;
const THEIRS: usize = 30;

/// OTs, N, batches of triples from ring-LWE, triples from OTs.
const N: usize = 60;
const CHOICES: usize = 4;
const BATCHES: u64 = 4;
const TRIPLES: u64 = 70;

/// The party that opens the connection writes to the receiver, and is the sender where there is one.
pub(crate) fn run(protocol: Protocol, plan: &Plan, timeout: Duration) -> Both {
    let wire = Wire::new(plan.clone());
    let party = |way: Way| {
        let channel = wire.end(way, timeout);
        bounded(move || {
            let mut output = Vec::new();
            let result = play(protocol, channel, way == Way::ToReceiver, &mut output);
            Party { result, output }
        })
    };
    let [receiver, sender] = Way::BOTH.map(party);
    Both { sender: sender(), receiver: receiver(), logs: Way::BOTH.map(|way| wire.log(way)) }
}

/// A session without faults, and its frames: they have the same lengths in every session.
pub(crate) struct Sound {
    pub(crate) protocol: Protocol,
    pub(crate) frames: Vec<Frame>,
    /// Bytes of the outputs of sender and receiver.
    pub(crate) lens: [usize; 2],
}

impl Sound {
    pub(crate) fn of(protocol: Protocol) -> Self {
        let Both { sender, receiver, logs } = run(protocol, &Plan::default(), LONG);
        assert_eq!((sender.result, receiver.result), (Ok(()), Ok(())), "{protocol:?}");
        assert!(protocol.is_right(&sender.output, &receiver.output), "{protocol:?}");
        let lens = [sender.output.len(), receiver.output.len()];
        let frames = Way::BOTH.into_iter().zip(&logs).flat_map(|(way, log)| frames_of(way, log));
        Self { protocol, frames: frames.collect(), lens }
    }
}

impl Protocol {
    /// Returns true if the parties' complete outputs fit.
    pub(crate) fn is_right(self, sender: &[u8], receiver: &[u8]) -> bool {
        match self {
            Self::Extension(..) | Self::TwoRound => keys_fit(2, sender, receiver),
            Self::OneOfN(..) => keys_fit(CHOICES, sender, receiver),
            Self::Psi(_, ours, theirs) => {
                let both = (0..ours).filter(|&k| is_in_both(k, ours, theirs));
                sender.is_empty() && both.eq(indices(receiver))
            }
            Self::Rlwe { lift } => {
                let len = record_len(TOY.bits()) * TOY.usable() * usize::try_from(BATCHES).unwrap();
                // The toy's modulus is so short that the lift itself fails for one triple in two million.
                let most = usize::from(lift);
                sender.len() == len && wrong_records(TOY.bits(), sender, receiver).count() <= most
            }
            Self::Gilboa => {
                let len = record_len(BITS) * usize::try_from(TRIPLES).unwrap();
                sender.len() == len && wrong_records(BITS, sender, receiver).next().is_none()
            }
        }
    }

    /// Returns true if a receiver's output is at most what it may have.
    pub(crate) fn has_nothing_else(self, receiver: &[u8]) -> bool {
        match self {
            Self::Psi(_, ours, theirs) => indices(receiver).all(|k| is_in_both(k, ours, theirs)),
            _ => true,
        }
    }

    /// Returns true if a party that departs from the protocol is found out.
    pub(crate) fn is_checked(self) -> bool {
        use Adversary::Malicious;
        matches!(
            self,
            Self::Extension(_, Malicious) | Self::OneOfN(_, Malicious) | Self::Psi(Malicious, ..)
        )
    }
}

/// Records of a choice and its key, among keys of so many for each.
fn keys_fit(choices: usize, sender: &[u8], receiver: &[u8]) -> bool {
    let all = sender.chunks(16 * choices);
    all.len() == receiver.len() / 17
        && all.zip(receiver.chunks(17)).all(|(keys, of_one)| {
            let choice = usize::from(of_one[0]);
            let equal = keys.chunks(16).map(|key| key == &of_one[1..]);
            equal.enumerate().all(|(k, equal)| equal == (k == choice))
        })
}

fn indices(output: &[u8]) -> impl Iterator<Item = usize> + '_ {
    output.as_chunks().0.iter().map(|bytes| usize::from(u16::from_le_bytes(*bytes)))
}

/// The receiver has multiples of 3, the sender of 5.
fn is_in_both(k: usize, ours: usize, theirs: usize) -> bool {
    k < ours && (3 * k).is_multiple_of(5) && 3 * k / 5 < theirs
}

fn digest(k: usize) -> Digest {
    let mut digest = [0x33; 32];
    digest[..8].copy_from_slice(&(k as u64).to_le_bytes());
    digest
}

const BITS: u32 = 64;

fn play(
    protocol: Protocol,
    channel: Channel,
    opens: bool,
    output: &mut Vec<u8>,
) -> Result<(), Error> {
    let role = if opens { Role::Sender } else { Role::Receiver };
    let agreement = hello::exchange(&channel, opens, &Hello::new(role))?;
    let session = Session::new(agreement.sid);
    match protocol {
        Protocol::Extension(name, adversary) => {
            of_two((name, adversary), &channel, &session, opens, output)?;
        }
        Protocol::OneOfN(name, adversary) => {
            of_many((name, adversary), &channel, &session, opens, output)?;
        }
        Protocol::TwoRound => in_two_rounds(&channel, &session, opens, output)?,
        Protocol::Psi(adversary, ours, theirs) => {
            return in_common((adversary, ours, theirs), channel, &session, opens, output);
        }
        Protocol::Rlwe { lift } => {
            let (set, batches) = (if lift { &TOY_LIFT } else { &TOY }, 0..BATCHES);
            let plan = rlwe::protocol::RlwePlan { set, we_are_initiator: opens, batches };
            let mut cx = drive::context(&session)?;
            drive::play(&channel, |io| async move {
                let party = rlwe::protocol::RlweRun::set_up(&io, &mut cx, plan).await?;
                party.run(&io, |shares| write(TOY.bits(), shares, output)).await
            })?;
        }
        Protocol::Gilboa => {
            let (set, count) = (gilboa::of_bits(BITS, gilboa::DEFAULT_K).unwrap(), TRIPLES);
            let plan = gilboa::protocol::GilboaPlan {
                set,
                base: &Endemic,
                we_are_initiator: opens,
                count,
            };
            let mut cx = drive::context(&session)?;
            drive::play(&channel, |io| async move {
                let party = gilboa::protocol::GilboaRun::set_up(&io, &mut cx, plan).await?;
                party.run(&io, |shares| write(BITS, shares, output)).await
            })?;
        }
    }
    channel.finish()?;
    channel.close()
}

fn write(bits: u32, shares: &Shares, output: &mut Vec<u8>) -> Result<(), Abandoned> {
    let start = output.len();
    output.resize(start + shares.len() * record_len(bits), 0);
    write_records(shares, &mut output[start..]);
    Ok(())
}

fn choices() -> impl Iterator<Item = usize> {
    (0..N).map(|i| i * i % 7 % CHOICES)
}

fn bits() -> Vec<bool> {
    choices().map(|choice| choice % 2 == 1).collect()
}

fn add_keys(output: &mut Vec<u8>, choices: impl Iterator<Item = u8>, keys: &[Block]) {
    for (choice, key) in choices.zip(keys) {
        output.push(choice);
        output.extend(key);
    }
}

fn of_two(
    (name, adversary): (&str, Adversary),
    channel: &Channel,
    session: &Session,
    sends: bool,
    output: &mut Vec<u8>,
) -> Result<(), Error> {
    let extension = extension::find(name, adversary).unwrap();
    let direction = Direction::InitiatorSends;
    let plan = protocol::ExtensionPlan { extension, base: &Endemic, direction, counter: 0 };
    let mut cx = drive::context(session)?;
    if sends {
        return drive::play(channel, |io| async move {
            let mut sender = protocol::Sender::set_up(&io, &mut cx, plan).await?;
            let sink = |keys: &[[Block; 2]]| {
                output.extend(keys.as_flattened().as_flattened());
                Ok(())
            };
            sender.random(&io, Shape::given(N), sink).await
        });
    }
    drive::play(channel, |io| async move {
        let choice = Choice::Given(Bits::from_bools(bits()));
        let mut receiver = protocol::Receiver::set_up(&io, &mut cx, plan).await?;
        let sink = |bits: &Bits, keys: &[Block]| {
            add_keys(output, (0..bits.len()).map(|i| u8::from(bool::from(bits.get(i)))), keys);
            Ok(())
        };
        receiver.run(&io, &choice, OtKind::Random, sink).await
    })
}

fn of_many(
    (name, adversary): (&str, Adversary),
    channel: &Channel,
    session: &Session,
    sends: bool,
    output: &mut Vec<u8>,
) -> Result<(), Error> {
    let extension = one_of_n::find(name, adversary).unwrap();
    let direction = Direction::InitiatorSends;
    let plan = one_of_n::protocol::OneOfNPlan { extension, base: &Endemic, direction, counter: 0 };
    let shape = one_of_n::protocol::Shape { n: N, choices: CHOICES };
    let mut cx = drive::context(session)?;
    if sends {
        return drive::play(channel, |io| async move {
            let mut sender = one_of_n::protocol::Sender::set_up(&io, &mut cx, plan).await?;
            let sink = |keys: &[Block]| {
                output.extend(keys.as_flattened());
                Ok(())
            };
            sender.run(&io, shape, sink).await
        });
    }
    drive::play(channel, |io| async move {
        let word = |choice: usize| extension.parameters().word(choice as u64).unwrap();
        let words: Vec<u8> = choices().flat_map(word).collect();
        let mut receiver = one_of_n::protocol::Receiver::set_up(&io, &mut cx, plan).await?;
        let sink = |keys: &[Block]| {
            add_keys(output, choices().map(|choice| u8::try_from(choice).unwrap()), keys);
            Ok(())
        };
        receiver.run(&io, shape, &words, sink).await
    })
}

fn in_two_rounds(
    channel: &Channel,
    session: &Session,
    sends: bool,
    output: &mut Vec<u8>,
) -> Result<(), Error> {
    let base = two_round::find("roted").unwrap();
    let session = session.sub(base.info().name, 0, Direction::InitiatorSends);
    let seed = Seed::from_bytes([if sends { 1 } else { 2 }; 32]);
    if sends {
        let keys = drive::run(channel, base.sender(session, N, seed)?)?;
        output.extend(keys.pairs().as_flattened().as_flattened());
    } else {
        let choice = Choice::Given(Bits::from_bools(bits()));
        let keys = drive::run(channel, base.receiver(session, choice, seed)?)?;
        add_keys(output, bits().into_iter().map(u8::from), keys.keys());
    }
    Ok(())
}

fn in_common(
    (adversary, ours, theirs): (Adversary, usize, usize),
    channel: Channel,
    session: &Session,
    sends: bool,
    output: &mut Vec<u8>,
) -> Result<(), Error> {
    let parameters = Parameters::new(adversary, ours, theirs)?.into();
    let direction = Direction::InitiatorSends;
    let plan = Agreed { parameters, base: &Endemic, direction, counter: 0 };
    let mut cx = drive::context(session)?;
    if sends {
        let items = (0..theirs).map(|k| digest(5 * k)).collect();
        drive::play(&channel, |io| async move {
            Sender::set_up(&io, &mut cx, plan).await?.run(&io, items, &mut |_| ()).await
        })?;
        channel.finish()?;
        return channel.close();
    }
    let items = (0..ours).map(|k| digest(3 * k)).collect();
    let received = drive::play(&channel, |io| async move {
        Receiver::set_up(&io, &mut cx, plan).await?.run(&io, items, &mut |_| ()).await
    })?;
    channel.finish()?;
    channel.close()?;
    let indices = received.intersect().map_err(foxtrot_ot::Error::from)?;
    output.extend(indices.iter().flat_map(|&k| u16::try_from(k).unwrap().to_le_bytes()));
    Ok(())
}
