extern crate std;

mod attacks;
mod reference;

use alloc::{vec, vec::Vec};

use foxtrot_ot::{
    Context, Direction, Seed, Session, Sid,
    base::{Adversary, BaseOt, roted::Endemic},
    engine::Engine,
    pair::{Failed, Pair, PairParty},
};

use super::*;
use crate::{
    Digest, Error,
    erase::Secret,
    method::{
        Parameters,
        protocol::{IntersectionPlan, Progress, Receiver, Sender},
    },
    paxos,
    vole_psi::{self, Vole},
};

/// Either protocol with its sizes.
#[derive(Clone, Copy, Debug)]
struct Below(Parameters);

impl Below {
    /// All protocols for these sizes and buckets.
    fn all(ours: usize, theirs: usize, buckets: usize) -> Vec<Self> {
        let paxos = [Adversary::Malicious, Adversary::SemiHonest].map(|adversary| {
            let it = paxos::Parameters::with_buckets(adversary, ours, theirs, buckets);
            Self(it.unwrap().into())
        });
        let vole = [Vole::Silent, Vole::Small, Vole::Packed].map(|vole| {
            let it = vole_psi::Parameters::with_buckets(vole, ours, theirs, buckets);
            Self(it.unwrap().into())
        });
        paxos.into_iter().chain(vole).collect()
    }

    /// The cheapest of each family against malicious peers.
    fn malicious(ours: usize, theirs: usize) -> [Self; 2] {
        let packed = vole_psi::Parameters::of(Vole::Packed, ours, theirs).unwrap();
        let paxos = paxos::Parameters::new(Adversary::Malicious, ours, theirs).unwrap();
        [packed.into(), paxos.into()].map(Self)
    }

    /// Bytes of sender and receiver, base OTs included, without those of a join.
    fn bytes(&self) -> [usize; 2] {
        let (info, n) = (Endemic.info(), self.0.base_ots());
        let [sender, receiver] = [self.0.sender_bytes(), self.0.receiver_bytes()];
        [sender + (info.receiver_bytes)(n), receiver + (info.sender_bytes)(n)]
    }

    fn sizes(&self) -> [usize; 2] {
        [self.0.receiver_items(), self.0.sender_items()]
    }
}

fn seed(byte: u8) -> Seed {
    Seed::from_bytes([byte; 32])
}

fn digests(range: core::ops::Range<usize>) -> Vec<Digest> {
    let digest = |k: usize| core::array::from_fn(|i| k.to_le_bytes().get(i).copied().unwrap_or(7));
    range.map(digest).collect()
}

/// The payload of the sender's item k.
fn payload(k: usize, len: usize) -> Vec<u8> {
    (0..len).map(|i| u8::try_from((k * 131 + i * 7 + 3) % 251).unwrap()).collect()
}

/// A run's outputs: the sender's matches, the receiver's, and payloads with the indices of the receiver's items.
type Outputs = (Vec<usize>, Vec<usize>, Vec<(usize, Vec<u8>)>);

/// The receiver has items 0, 1, …; the sender's begin in the middle of these.
fn first_of_sender(below: &Below) -> usize {
    below.sizes()[0] / 2
}

/// Both parties over a channel that may change messages.
#[expect(clippy::panic_in_result_fn, reason = "both have told all their steps")]
fn run_over(
    below: Below,
    terms: JoinTerms,
    mut channel: impl FnMut(PairParty, &mut Vec<u8>),
) -> Result<Outputs, Failed<Error>> {
    let [ours, theirs] = below.sizes();
    let first = first_of_sender(&below);
    let (ours, theirs) = (digests(0..ours), digests(first..first + theirs));
    let direction = Direction::InitiatorSends;
    let plan = IntersectionPlan { parameters: below.0, base: &Endemic, direction, counter: 0 };
    let session = || Session::new(Sid::from_bytes([8; 32]));
    let mut fill = |k: usize, to: &mut [u8]| {
        to.copy_from_slice(&payload(k, to.len()));
        Ok(())
    };
    let sender = Engine::new(|io| async move {
        let session = session();
        let mut cx = Context::new(&session, seed(1));
        let sender = Sender::set_up(&io, &mut cx, plan).await?;
        sender.join(&io, theirs, terms, &mut fill, &mut |_| ()).await
    });
    let receiver = Engine::new(|io| async move {
        let session = session();
        let mut cx = Context::new(&session, seed(2));
        let mut store = Vec::new();
        let mut of = 0;
        let steps = &mut |steps: Progress| of = steps.of - steps.done;
        let receiver = Receiver::set_up(&io, &mut cx, plan).await?;
        let joined = receiver.join(&io, ours, terms, &mut store, steps).await?;
        Ok((joined, store, of))
    });
    let (sent, (joined, mut store, left)) =
        Pair::new(sender, receiver).run_over(|party, stream, mut message| {
            channel(party, &mut message);
            vec![(stream, message)]
        })?;
    assert_eq!(left, 0, "all steps are counted");
    let mut payloads = Vec::new();
    let found = joined.open(&mut store, |k, payload| payloads.push((k, payload.to_vec())));
    let found = found.map_err(|e| Failed::Party(PairParty::Receiver, e))?;
    payloads.sort_unstable();
    Ok((sent, found, payloads))
}

/// The outputs that a run of these terms has.
fn expected(below: &Below, terms: JoinTerms) -> Outputs {
    let ([ours, theirs], first) = (below.sizes(), first_of_sender(below));
    let common: Vec<usize> = (first..ours.min(first + theirs)).collect();
    let senders = match terms.both {
        true => common.iter().map(|k| k - first).collect(),
        false => Vec::new(),
    };
    let payloads = common.iter().filter_map(|&k| Some((k, payload(k - first, terms.payload?))));
    let payloads = payloads.collect();
    (senders, common, payloads)
}

#[test]
fn the_receiver_gets_the_payloads_of_its_matches_and_the_sender_its_matches_where_agreed() {
    let terms = [
        JoinTerms::NONE,
        JoinTerms::NONE.both(),
        JoinTerms::NONE.payload(0).unwrap(),
        JoinTerms::NONE.payload(21).unwrap(),
        JoinTerms::NONE.payload(100).unwrap().both(),
    ];
    for (ours, theirs, buckets) in [(0, 5, 1), (5, 0, 1), (1, 1, 1), (60, 80, 1), (60, 80, 3)] {
        for below in Below::all(ours, theirs, buckets) {
            for terms in terms {
                let mut sent = [0; 2];
                let found = run_over(below, terms, |party, message| {
                    sent[usize::from(party == PairParty::Receiver)] += message.len();
                });
                let expected = expected(&below, terms);
                let tags = if ours == 0 { 0 } else { theirs };
                let [sender, receiver] = below.bytes();
                let receiver = receiver + terms.receiver_bytes(tags, expected.1.len());
                assert_eq!(found.unwrap(), expected, "{below:?} {terms:?}");
                assert_eq!(sent, [sender + terms.sender_bytes(tags), receiver], "{below:?}");
            }
        }
    }
}

#[test]
fn long_payloads_come_in_several_frames() {
    for len in [2000, 2017, 3000, MAX_PAYLOAD] {
        let terms = JoinTerms::NONE.payload(len).unwrap();
        let [below, _] = Below::malicious(30, 40);
        let (frame, mut frames) = (terms.sender_bytes(FRAME / (len + 8)), 0);
        let found =
            run_over(below, terms, |_, message| frames += usize::from(message.len() == frame));
        assert_eq!(found.unwrap(), expected(&below, terms));
        assert_eq!(frames > 0, len == MAX_PAYLOAD);
    }
    let max = MAX_PAYLOAD;
    assert_eq!(JoinTerms::NONE.payload(max + 1), Err(Usage::MessageLength { len: max + 1, max }));
}

#[test]
fn a_store_or_a_source_that_fails_ends_the_run() {
    struct Full;
    impl Store for Full {
        fn keep(&mut self, _: Vec<u8>) -> Result<(), Abandoned> {
            Err(Abandoned)
        }
        fn read(&mut self, _: u64, _: &mut [u8]) -> Result<(), Abandoned> {
            Err(Abandoned)
        }
    }
    let join =
        Join::new(&Session::new(Sid::from_bytes([1; 32])), JoinTerms::NONE.payload(4).unwrap());
    let keys = Keys { keys: Secret(vec![[1; 32]; 2]), owners: Secret(vec![0, 1]) };
    let abandoned = Err(Usage::Abandoned.into());
    assert_eq!(join.seal(&keys, 0..2, |_, _| Err(Abandoned)), abandoned);
    let matches =
        Matches { places: Secret(vec![0]), owners: Secret(vec![0]), keys: Secret(vec![[1; 32]]) };
    assert_eq!(join.open(&matches, &mut Full, |_, _| ()), Err(Usage::Abandoned.into()));
    assert_eq!(join.open(&matches, &mut Vec::new(), |_, _| ()), Err(Usage::Abandoned.into()));
    // More tags than there are keys.
    assert!(join.seal(&keys, 0..3, |_, _| Ok(())).is_err());
    let none = Join::new(&Session::new(Sid::from_bytes([1; 32])), JoinTerms::NONE);
    assert!(none.seal(&keys, 0..2, |_, _| Ok(())).is_err());
    assert_eq!(none.payload_frames(2).count(), 0);
}

#[test]
fn threads_change_nothing() {
    #[derive(Debug)]
    struct Reversed;
    impl foxtrot_ot::tasks::Executor for Reversed {
        fn threads(&self) -> usize {
            3
        }
        fn run<'a>(&self, tasks: Vec<foxtrot_ot::tasks::Task<'a>>) {
            tasks.into_iter().rev().for_each(|task| task());
        }
    }
    let session = || Session::new(Sid::from_bytes([1; 32]));
    let many = session().with_executor(alloc::sync::Arc::new(Reversed));
    let n = 2 * TOGETHER + 5;
    let keys = Keys {
        keys: Secret(digests(0..n)),
        owners: Secret((0..u32::try_from(n).unwrap()).collect()),
    };
    let sealed = [session(), many].map(|session| {
        let join = Join::new(&session, JoinTerms::NONE.payload(9).unwrap());
        let fill = |k: usize, to: &mut [u8]| {
            to.copy_from_slice(&payload(k, 9));
            Ok(())
        };
        join.seal(&keys, 0..n, fill).unwrap()
    });
    assert_eq!(sealed[0], sealed[1]);
}
